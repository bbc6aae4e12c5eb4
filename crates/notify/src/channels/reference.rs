//! Which secrets does an address refer to?

use super::SecretReader;

/// The address with the secrets that `@env:NAME` and `@file:PATH` name. A path ends at `@` or `?`.
pub(super) fn resolved(url: &str, secrets: SecretReader<'_>) -> Result<String, String> {
    let (mut resolved, mut rest) = (String::new(), url);
    loop {
        let found =
            ["@env:", "@file:"].iter().filter_map(|kind| Some((rest.find(kind)?, *kind))).min();
        let Some((at, kind)) = found else { return Ok(resolved + rest) };
        resolved.push_str(&rest[..at]);
        let after = &rest[at + kind.len()..];
        let is_end = |c: char| match kind {
            "@env:" => !c.is_ascii_alphanumeric() && c != '_',
            _ => matches!(c, '@' | '?'),
        };
        let length = after.find(is_end).unwrap_or(after.len());
        resolved.push_str(&secrets(&format!("{kind}{}", &after[..length]))?);
        rest = &after[length..];
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_put_where_they_are_named() {
        let secrets = |name: &str| match name {
            "@env:A_1" => Ok("x".to_owned()),
            "@file:/run/b" => Ok("y".to_owned()),
            other => Err(format!("no {other}")),
        };
        for (url, want) in [
            ("slack://@env:A_1", "slack://x"),
            ("mailtos://me:@env:A_1@h:25?to=z", "mailtos://me:x@h:25?to=z"),
            ("tgram://@file:/run/b?chat=1", "tgram://y?chat=1"),
            ("@env:A_1", "x"),
            ("https://a/", "https://a/"),
        ] {
            assert_eq!(resolved(url, &secrets).unwrap(), want);
        }
        assert_eq!(resolved("slack://@env:B", &secrets).unwrap_err(), "no @env:B");
    }
}
