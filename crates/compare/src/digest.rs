//! Are these the same bytes?

use std::fmt;
use std::str::FromStr;

use data_encoding::{BASE32_NOPAD, BASE32_NOPAD_NOCASE};
use sha1::{Digest as _, Sha1};

/// The SHA-1 of a payload, by which WARC files and their indexes know content.
///
/// Displayed in base 32 (32 capitals and digits) without the `sha1:` that WARC puts before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; Digest::LEN]);

/// The text is not a digest. Expected are 32 letters A to Z and digits 2 to 7, with or without `sha1:` before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a SHA-1 digest: give 32 letters A to Z and digits 2 to 7, with or without \"sha1:\"")]
pub struct NotADigest;

impl Digest {
    /// Bytes of a digest.
    pub const LEN: usize = 20;

    /// Digests a payload.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha1::digest(bytes).into())
    }

    /// Takes a digest as it is stored.
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// Returns the digest as it is stored.
    pub const fn to_bytes(self) -> [u8; Self::LEN] {
        self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&BASE32_NOPAD.encode(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let base32 = text.strip_prefix("sha1:").unwrap_or(text);
        let bytes = BASE32_NOPAD_NOCASE.decode(base32.as_bytes()).map_err(|_| NotADigest)?;
        bytes.try_into().map(Self).map_err(|_| NotADigest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_payloads_have_known_digests() {
        let table =
            [("", "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"), ("abc", "VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5")];
        for (payload, expected) in table {
            let digest = Digest::of_bytes(payload.as_bytes());
            assert_eq!(digest.to_string(), expected);
            assert_eq!(expected.parse(), Ok(digest));
            assert_eq!(format!("sha1:{}", expected.to_lowercase()).parse(), Ok(digest));
        }
    }

    #[test]
    fn what_is_no_digest_is_refused() {
        for text in
            ["", "sha1:", "VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE", "VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE51"]
        {
            assert_eq!(text.parse::<Digest>(), Err(NotADigest), "{text}");
        }
        assert!("VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE1".parse::<Digest>().is_err());
        assert!("md5:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5".parse::<Digest>().is_err());
    }

    proptest! {
        #[test]
        fn digests_survive_text_and_bytes(bytes in any::<[u8; 20]>()) {
            let digest = Digest::from_bytes(bytes);
            prop_assert_eq!(digest.to_string().parse(), Ok(digest));
            prop_assert_eq!(digest.to_bytes(), bytes);
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in "(sha1:)?\\PC{0,40}") {
            if let Ok(digest) = text.parse::<Digest>() {
                let base32 = text.strip_prefix("sha1:").unwrap_or(&text);
                prop_assert_eq!(digest.to_string(), base32.to_ascii_uppercase());
            }
        }
    }
}
