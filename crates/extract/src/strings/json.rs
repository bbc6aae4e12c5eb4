//! Which strings does a JSON document hold, and under which keys? Broken documents give what they hold.

use std::borrow::Cow;

/// A string that is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JsonString<'a> {
    /// The key that it stands under: its own, or that of the list it is in.
    pub(crate) key: &'a str,
    /// The string.
    pub(crate) value: &'a str,
}

/// Hands every string that is a value to `found`, in order. Takes time linear in the length of `json`.
pub(crate) fn read_json(json: &str, found: &mut dyn FnMut(JsonString<'_>)) {
    let mut key = Cow::Borrowed("");
    let mut rest = json;
    while let Some(start) = rest.find('"') {
        let inside = &rest[start + 1..];
        let Some(length) = string_length(inside) else { return };
        let value = unescaped(&inside[..length]);
        rest = &inside[length + 1..];
        if rest.trim_ascii_start().starts_with(':') {
            key = value;
        } else {
            found(JsonString { key: &key, value: &value });
        }
    }
}

fn string_length(inside: &str) -> Option<usize> {
    let bytes = inside.as_bytes();
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

fn unescaped(inside: &str) -> Cow<'_, str> {
    if !inside.contains('\\') {
        return Cow::Borrowed(inside);
    }
    let whole: Result<String, _> = serde_json::from_str(&format!("\"{inside}\""));
    whole.map_or(Cow::Borrowed(inside), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_with_their_keys() {
        let json = r#"{"a": "x", "b": ["y", "z\/\u00e9"], "c": {"d": 1, "e": "\"q\""}} "open"#;
        let mut all = Vec::new();
        read_json(json, &mut |s| all.push(format!("{}={}", s.key, s.value)));
        assert_eq!(all, ["a=x", "b=y", "b=z/é", "e=\"q\""]);
        for broken in ["\"\\", "\"\\\"", "\"é\\é\"", "\"\\uD800\"", "\""] {
            read_json(broken, &mut |_| {});
        }
    }
}
