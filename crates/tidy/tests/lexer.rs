//! Which characters of a Rust file are code, rather than comments or text?

/// The file with the same lines, but with spaces for comments and for the content of literals.
pub(crate) fn code_only(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut code = String::with_capacity(source.len());
    let mut at = 0;
    while at < chars.len() {
        let end = end_of_token(&chars, at);
        let is_code = end == at + 1;
        for &c in &chars[at..end] {
            code.push(if is_code || c == '\n' { c } else { ' ' });
        }
        at = end;
    }
    code
}

/// Where the comment or literal that begins here ends; elsewhere, the next character.
fn end_of_token(chars: &[char], at: usize) -> usize {
    let next = chars.get(at + 1).copied();
    let after_name = at > 0 && is_name(chars[at - 1]);
    match (chars[at], next) {
        ('/', Some('/')) => at + chars[at..].iter().take_while(|c| **c != '\n').count(),
        ('/', Some('*')) => end_of_block_comment(chars, at),
        ('"', _) => end_of_text(chars, at + 1),
        ('r', Some('"' | '#')) if !after_name || chars[at - 1] == 'b' => end_of_raw(chars, at),
        ('\'', _) => end_of_char(chars, at),
        _ => at + 1,
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn end_of_block_comment(chars: &[char], start: usize) -> usize {
    let (mut depth, mut at) = (0, start);
    while at + 1 < chars.len() {
        match (chars[at], chars[at + 1]) {
            ('/', '*') => (depth, at) = (depth + 1, at + 2),
            ('*', '/') if depth == 1 => return at + 2,
            ('*', '/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    chars.len()
}

fn end_of_text(chars: &[char], start: usize) -> usize {
    let mut at = start;
    while at < chars.len() {
        match chars[at] {
            '"' => return at + 1,
            '\\' => at += 2,
            _ => at += 1,
        }
    }
    chars.len()
}

/// `r"…"`, `r#"…"#`; but `r#name` is a name.
fn end_of_raw(chars: &[char], start: usize) -> usize {
    let hashes = chars[start + 1..].iter().take_while(|c| **c == '#').count();
    let begin = start + 1 + hashes;
    if chars.get(begin) != Some(&'"') {
        return start + 1;
    }
    let closes =
        |at: usize| chars[at] == '"' && (1..=hashes).all(|n| chars.get(at + n) == Some(&'#'));
    (begin + 1..chars.len()).find(|&at| closes(at)).map_or(chars.len(), |at| at + hashes + 1)
}

/// A character, or a lifetime, which is code.
fn end_of_char(chars: &[char], start: usize) -> usize {
    if chars.get(start + 1) == Some(&'\\') {
        let rest = chars.get(start + 3..).unwrap_or_default();
        return start + 4 + rest.iter().take_while(|c| **c != '\'').count();
    }
    if chars.get(start + 2) == Some(&'\'') { start + 3 } else { start + 1 }
}

/// Where the bracket that opens at `open` is closed; the end of the code where it is not.
pub(crate) fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0_i32;
    for (at, c) in code[open..].char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return open + at;
        }
    }
    code.len()
}

/// The code without the items that only tests have, with the same lines.
pub(crate) fn without_tests(code: &str) -> String {
    let mut kept = code.to_owned();
    while let Some(start) = kept.find("#[cfg(test)]") {
        let end = end_of_item(&kept, start + "#[cfg(test)]".len());
        let blank: String =
            kept[start..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        kept.replace_range(start..end, &blank);
    }
    kept
}

/// An item ends with its block, or with a semicolon where it has none.
fn end_of_item(code: &str, start: usize) -> usize {
    let mut at = start;
    while let Some(found) = code[at..].find(['{', ';', '[']) {
        let open = at + found;
        match code.as_bytes()[open] {
            b';' => return open + 1,
            b'{' => return (closing(code, open) + 1).min(code.len()),
            _ => at = (closing(code, open) + 1).min(code.len()),
        }
    }
    code.len()
}

/// The name that begins here, if one does.
pub(crate) fn name_at(code: &str, at: usize) -> &str {
    let rest = &code[at..];
    &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())]
}

/// Where a word stands by itself, not inside a name.
pub(crate) fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        !(before.is_some_and(is_name) || word.ends_with(is_name) && after.is_some_and(is_name))
    })
}

pub(crate) fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

#[test]
fn comments_and_literals_are_no_code() {
    let source =
        "let a = \"x { \\\" y\"; // {\nlet b: &'a u8 = '{'; /* { /* { */ */ r#\"\"{\"# b'\\''";
    let code = code_only(source);
    assert_eq!(code.matches('{').count(), 0, "{code}");
    assert!(code.contains("&'a u8 ="), "{code}");
    assert_eq!(code.lines().count(), 2);
}

#[test]
fn items_of_tests_are_left_out() {
    let code = without_tests(
        "fn a() {}\n#[cfg(test)]\n#[allow(x[1])]\nmod tests { fn b() {} }\nfn c() {}",
    );
    assert!(!code.contains("fn b") && code.contains("fn a") && code.contains("fn c"), "{code}");
    assert_eq!(without_tests("#[cfg(test)]\nmod t;\nfn c() {}").trim(), "fn c() {}");
}
