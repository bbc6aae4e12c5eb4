//! How do values of the crawl look in a view? Codes as text, times as RFC 3339, digests as WARC writes them.

use std::fmt;

use evercrawl_model::{Cause, Change, LifeState, Outcome, PageKind, Refusal, Time};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A value that users know by a code.
pub trait Coded: Copy + 'static {
    /// Every value there is.
    const VALUES: &'static [Self];

    /// The code of this one.
    fn code_text(self) -> &'static str;
}

macro_rules! coded {
    ($($type:ty => $values:expr),+ $(,)?) => {$(
        impl Coded for $type {
            const VALUES: &'static [Self] = &$values;

            fn code_text(self) -> &'static str {
                self.code()
            }
        }
    )+};
}

coded! {
    Change => Change::ALL,
    Outcome => Outcome::ALL,
    Cause => Cause::ALL,
    Refusal => Refusal::ALL,
    LifeState => LifeState::ALL,
    PageKind => [PageKind::Page, PageKind::Sitemap, PageKind::Feed, PageKind::Probe],
}

/// A value that travels as its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code<T>(pub T);

impl<T: Coded> Code<T> {
    /// The code as text.
    pub fn text(self) -> &'static str {
        self.0.code_text()
    }
}

impl<T: Coded> fmt::Display for Code<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl<T: Coded> Serialize for Code<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.text())
    }
}

impl<'de, T: Coded> Deserialize<'de> for Code<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let found = T::VALUES.iter().find(|value| value.code_text() == text);
        found
            .map(|&value| Code(value))
            .ok_or_else(|| de::Error::custom(format!("`{text}` is not a known code")))
    }
}

/// A time that travels as RFC 3339 text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct At(pub Time);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.rfc3339())
    }
}

impl Serialize for At {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0.rfc3339())
    }
}

impl<'de> Deserialize<'de> for At {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Time::parse_iso(&text).map(At).map_err(de::Error::custom)
    }
}

/// A digest as WARC writes it.
pub fn digest_text(bytes: [u8; 20]) -> String {
    format!("sha1:{}", evercrawl_compare::Digest::from_bytes(bytes))
}

/// Bytes as hexadecimal digits, as cursors have them.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads what [`hex`] wrote.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = |at: usize| text.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
    (0..text.len()).step_by(2).map(digits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_times_come_back_as_they_went() {
        for outcome in Outcome::ALL {
            let text = serde_json::to_string(&Code(outcome)).unwrap();
            assert_eq!(text, format!("\"{}\"", outcome.code()));
            assert_eq!(serde_json::from_str::<Code<Outcome>>(&text).unwrap().0, outcome);
        }
        let unknown = serde_json::from_str::<Code<LifeState>>("\"asleep\"").unwrap_err();
        assert!(unknown.to_string().contains("`asleep` is not a known code"));
        let at = At(Time::from_millis(1_763_000_000_123));
        let text = serde_json::to_string(&at).unwrap();
        assert_eq!(serde_json::from_str::<At>(&text).unwrap(), at);
    }
}
