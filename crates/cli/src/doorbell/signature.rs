//! Was a request signed with our secret? `X-Hub-Signature` of WebSub.

use ring::hmac;

/// Whether `header`, as in `sha256=0a1b..`, signs `body` with `secret`.
pub(super) fn signs(header: &str, body: &[u8], secret: &str) -> bool {
    let Some((method, digits)) = header.trim().split_once('=') else { return false };
    let algorithm = match method {
        "sha1" => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        "sha256" => hmac::HMAC_SHA256,
        "sha384" => hmac::HMAC_SHA384,
        "sha512" => hmac::HMAC_SHA512,
        _ => return false,
    };
    let Some(tag) = unhex(digits) else { return false };
    let key = hmac::Key::new(algorithm, secret.as_bytes());
    hmac::verify(&key, body, &tag).is_ok()
}

/// Whether two words are the same, in a time that does not tell where they differ.
pub(super) fn same(one: &str, other: &str) -> bool {
    let key = |word: &str| hmac::Key::new(hmac::HMAC_SHA256, word.as_bytes());
    hmac::verify(&key(one), b"", hmac::sign(&key(other), b"").as_ref()).is_ok()
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        digits.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From RFC 2202 and RFC 4231, test case 2.
    #[test]
    fn signatures_are_those_of_the_standards() {
        let body = b"what do ya want for nothing?";
        let sha1 = "sha1=effcdf6ae5eb2fa2d27416d5f184df9c259a7c79";
        let sha256 = "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        for good in [sha1, sha256, &sha256.to_uppercase().replace("SHA", "sha")] {
            assert!(signs(good, body, "Jefe"), "{good}");
        }
        let cut = &sha256[..sha256.len() - 2];
        let wrong = sha256.replace("5bdc", "5bdd");
        for bad in [cut, &wrong, "sha256=", "sha256", "", "md5=00", "sha256=5", "sha1=zz", "=é"] {
            assert!(!signs(bad, body, "Jefe"), "{bad}");
        }
        assert!(!signs(sha256, body, "other") && !signs(sha256, b"other", "Jefe"));
    }

    #[test]
    fn words_are_compared_whole() {
        assert!(same("abc", "abc"));
        for (one, other) in [("abc", "abd"), ("abc", "ab"), ("", "a")] {
            assert!(!same(one, other), "{one} {other}");
        }
    }
}
