//! What stands in the JSON-LD of a page? Also in what is no JSON by the letter: with line breaks in its texts, in
//! comments, with commas too many.

use serde_json::Value;

use crate::tree::PageTree;

/// Scripts that are read, and bytes of each.
const MOST_SCRIPTS: usize = 50;
const MOST_BYTES: usize = 2 << 20;

/// The nodes at the top, in the order of the page.
pub(super) fn read(tree: &PageTree<'_>) -> Vec<Value> {
    let is_json_ld = |kind: &str| {
        kind.split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .eq_ignore_ascii_case("application/ld+json")
    };
    let scripts = (0..tree.elements.len()).filter(|id| {
        let element = &tree.elements[*id];
        &*element.name == "script" && element.attribute("type").is_some_and(is_json_ld)
    });
    let mut nodes = Vec::new();
    for id in scripts.take(MOST_SCRIPTS) {
        let text = tree.content(id);
        if text.len() <= MOST_BYTES {
            nodes.extend(parse(text));
        }
    }
    nodes
}

fn parse(text: &str) -> Vec<Value> {
    let text = bare(text);
    let strict = all_values(text);
    match strict.is_empty() {
        false => strict,
        true => all_values(&mended(text)),
    }
}

/// The text without a comment or a CDATA section around it.
fn bare(text: &str) -> &str {
    let is_junk = |c: char| c.is_whitespace() || matches!(c, '\u{feff}' | ';');
    let mut text = text.trim_matches(is_junk);
    for (start, end) in [
        ("<!--", "-->"),
        ("//<![CDATA[", "//]]>"),
        ("/*<![CDATA[*/", "/*]]>*/"),
        ("<![CDATA[", "]]>"),
    ] {
        if let Some(rest) = text.strip_prefix(start) {
            text = rest.strip_suffix(end).unwrap_or(rest).trim_matches(is_junk);
        }
    }
    text
}

/// Values one after another; what follows a broken one is left out.
fn all_values(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text).into_iter().map_while(Result::ok).collect()
}

/// Control characters in strings as spaces, and no comma before a bracket that closes.
fn mended(text: &str) -> String {
    let (mut mended, mut in_string, mut escaped) =
        (String::with_capacity(text.len()), false, false);
    for c in text.chars() {
        match c {
            '"' if !escaped => in_string = !in_string,
            '}' | ']' if !in_string => {
                let kept = mended.trim_end().strip_suffix(',').map(str::len);
                mended.truncate(kept.unwrap_or(mended.len()));
            }
            _ => {}
        }
        escaped = in_string && c == '\\' && !escaped;
        mended.push(if c.is_control() { ' ' } else { c });
    }
    mended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_almost_json_is_read() {
        let want = serde_json::json!({"a": "b c", "d": [1]});
        for text in [
            r#"{"a":"b c","d":[1]}"#,
            "\u{feff} <!-- {\"a\":\"b c\",\"d\":[1]} -->",
            "//<![CDATA[\n{\"a\":\"b c\",\"d\":[1]}\n//]]>",
            "{\"a\":\"b\nc\",\"d\":[1]};",
            "{\"a\":\"b c\",\"d\":[1, ],\n}",
        ] {
            assert_eq!(parse(text), std::slice::from_ref(&want), "{text}");
        }
        assert_eq!(parse(r#"{"a":1}{"b":"\","}"#).len(), 2);
        assert_eq!(parse(r#"{"a":"x\"},]"}"#), [serde_json::json!({"a": "x\"},]"})]);
        assert!(parse("{").is_empty() && parse("").is_empty());
        assert!(parse(&"[".repeat(100_000)).is_empty());
    }
}
