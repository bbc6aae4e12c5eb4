//! What is found in a file?

use std::fmt;
use std::io;
use std::time::Duration;

use evercrawl_engine::walk::Seen;
use evercrawl_model::Time;

/// Where something stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a line, counted from 1.
    Line(u64),
    /// At a byte, counted from 0.
    Byte(u64),
    /// In an entry of a package.
    Entry(String),
    /// Nowhere in particular.
    File,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(number) => write!(f, ", line {number}"),
            Place::Byte(offset) => write!(f, ", byte {offset}"),
            Place::Entry(name) => write!(f, ", {name}"),
            Place::File => Ok(()),
        }
    }
}

/// A page that somebody wants to be visited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundSeed {
    /// Its address as it stands there, or a bare domain.
    pub url: String,
    /// What it is about. Tags have no spaces.
    pub tags: Vec<String>,
    /// How often it is to be visited at least.
    pub every: Option<Duration>,
}

impl FoundSeed {
    pub(crate) fn new(url: impl Into<String>) -> Self {
        FoundSeed { url: url.into(), ..FoundSeed::default() }
    }
}

/// A visit that somebody made, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundVisit {
    /// The address as it stands there.
    pub url: String,
    /// When.
    pub at: Time,
    /// What came.
    pub seen: Seen,
    /// The media type, where it is known.
    pub media_type: Option<String>,
}

/// Takes what is found in a file.
pub trait Taker {
    /// Takes a seed.
    fn seed(&mut self, place: Place, seed: FoundSeed);
    /// Takes a visit without its content.
    fn visit(&mut self, place: Place, visit: FoundVisit) -> io::Result<()>;
    /// Something is not taken, for this reason.
    fn refuse(&mut self, place: Place, why: &str);
}

/// A name as a tag: in small letters, without spaces.
pub(crate) fn tag_of(name: &str) -> Option<String> {
    let words = name.split(|c: char| c.is_whitespace() || c.is_control() || c == ',');
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    let tag: String = words.join("-").chars().take(64).collect();
    (!tag.is_empty()).then_some(tag)
}

/// A time span as lists of URLs write it: `90s`, `15m`, `6h`, `1d`, `2w`, or seconds.
pub(crate) fn span(text: &str) -> Option<Duration> {
    let text = text.trim();
    let (number, unit) =
        text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let seconds = match unit.trim() {
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    let span = Duration::from_secs(number.parse::<u64>().ok()?.checked_mul(seconds)?);
    (!span.is_zero()).then_some(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_tags_are_read() {
        for (text, want) in [("90", Some(90)), ("15m", Some(900)), (" 2 w", Some(1_209_600))] {
            assert_eq!(span(text), want.map(Duration::from_secs), "{text}");
        }
        for text in ["", "m", "0s", "-1", "1y", "99999999999999999999d", "1.5h"] {
            assert_eq!(span(text), None, "{text}");
        }
        assert_eq!(tag_of(" Legal, Terms\tof Use "), Some("legal-terms-of-use".to_owned()));
        assert_eq!(tag_of(" \n"), None);
    }
}
