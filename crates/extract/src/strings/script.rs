//! Which addresses does a program name? A reader of its literals, which tells strings from comments and patterns.

use std::borrow::Cow;

use super::judge::{Context, is_address};
use super::text::read_text;

/// What addresses in a program are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScriptBase {
    /// The page that the program stands in.
    Page,
    /// Some page that the program is loaded by, nobody knows which.
    Unknown,
}

/// Templates within templates that are told apart.
const DEEPEST: usize = 32;
/// How much of a program before a string tells what it is for.
const LOOK_BACK: usize = 48;

/// Hands every address that stands as a string in a program to `found`. Strings that are joined to others are pieces,
/// and no addresses. Takes time linear in the length of `script`.
pub(crate) fn read_script(script: &str, base: ScriptBase, found: &mut dyn FnMut(&str)) {
    let mut reader = ScriptReader { script, at: 0, base, templates: Vec::new(), found };
    while let Some(&byte) = script.as_bytes().get(reader.at) {
        reader.token(byte);
    }
}

struct ScriptReader<'a, 'f> {
    script: &'a str,
    at: usize,
    base: ScriptBase,
    /// For each template whose `${` is open, how many braces are open within.
    templates: Vec<usize>,
    found: &'f mut dyn FnMut(&str),
}

impl<'a> ScriptReader<'a, '_> {
    fn token(&mut self, byte: u8) {
        match byte {
            b'"' | b'\'' => self.string(byte),
            b'`' => {
                self.at += 1;
                self.template(true);
            }
            b'/' => self.slash(),
            b'{' | b'}' => self.brace(byte),
            _ => self.at += 1,
        }
    }

    fn rest(&self) -> &'a str {
        self.script.get(self.at..).unwrap_or_default()
    }

    /// A comment, a pattern or a division.
    fn slash(&mut self) {
        let rest = self.rest();
        let comment = match rest.as_bytes().get(1) {
            Some(b'/') => Some(rest.find('\n').unwrap_or(rest.len())),
            Some(b'*') => Some(rest[2..].find("*/").map_or(rest.len(), |length| length + 4)),
            _ => None,
        };
        if let Some(length) = comment {
            read_text(&rest[..length], true, self.found);
            self.at += length;
        } else if self.begins_pattern() {
            self.at += pattern_length(rest);
        } else {
            self.at += 1;
        }
    }

    /// A `/` divides what ends with a value, and begins a pattern anywhere else.
    fn begins_pattern(&self) -> bool {
        let before = self.script[..self.at].trim_ascii_end();
        match before.bytes().next_back() {
            None => true,
            Some(b')' | b']' | b'"' | b'\'' | b'`') => false,
            Some(byte)
                if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80 =>
            {
                const BEFORE_VALUES: [&str; 9] =
                    ["return", "typeof", "case", "in", "of", "delete", "void", "throw", "else"];
                BEFORE_VALUES.contains(&last_word(before))
            }
            Some(_) => true,
        }
    }

    fn string(&mut self, quote: u8) {
        let start = self.at;
        let Some(length) = literal_length(&self.rest()[1..], quote) else {
            // A line end cuts it off: what looked like a quotation mark was none.
            self.at += 1;
            return;
        };
        let inside = &self.script[start + 1..start + 1 + length];
        self.at = start + length + 2;
        self.literal(start, inside);
    }

    /// A template from here on; whole where nothing was put into it before.
    fn template(&mut self, whole: bool) {
        let start = self.at;
        let bytes = self.script.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'\\' => self.at = next_char(self.script, self.at + 1),
                b'`' => {
                    let inside = &self.script[start..self.at];
                    self.at += 1;
                    if whole {
                        self.literal(start - 1, inside);
                    }
                    return;
                }
                b'$' if bytes.get(self.at + 1) == Some(&b'{') => {
                    self.at += 2;
                    if self.templates.len() < DEEPEST {
                        self.templates.push(0);
                    }
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    fn brace(&mut self, byte: u8) {
        self.at += 1;
        let Some(open) = self.templates.last_mut() else { return };
        match (byte, *open) {
            (b'{', _) => *open += 1,
            (_, 0) => {
                self.templates.pop();
                self.template(false);
            }
            _ => *open -= 1,
        }
    }

    /// A whole literal whose quotation mark stands at `start`.
    fn literal(&mut self, start: usize, inside: &str) {
        if inside.len() > 4096 {
            return;
        }
        let before = self.script[..start].trim_ascii_end();
        let after = self.rest().trim_ascii_start();
        if before.ends_with('+') || after.starts_with('+') || after.starts_with(".concat(") {
            return;
        }
        let value = unescaped(inside);
        let is_wanted = match purpose(before) {
            Purpose::Module => is_module(&value),
            Purpose::Sent => false,
            Purpose::Of(context) => is_address(&value, context) && self.is_resolvable(&value),
        };
        if is_wanted {
            (self.found)(&value);
        }
    }

    /// Whether it is known what the address is relative to.
    fn is_resolvable(&self, value: &str) -> bool {
        self.base == ScriptBase::Page || value.starts_with('/') || value.contains("://")
    }
}

/// What a program does with a string.
#[derive(Debug, PartialEq, Eq)]
enum Purpose {
    /// Loads it as another program.
    Module,
    /// Sends something there: to fetch it would be another request.
    Sent,
    Of(Context),
}

/// What the program before a string says it is for.
fn purpose(before: &str) -> Purpose {
    const OPENS: [&str; 10] = [
        "location=",
        "location.href=",
        "location.assign(",
        "location.replace(",
        "window.open(",
        "fetch(",
        "\"GET\",",
        "'GET',",
        "getJSON(",
        "importScripts(",
    ];
    const NAMES: [&str; 12] = [
        "href=",
        "href:",
        "\"href\":",
        "src=",
        "src:",
        "\"src\":",
        "url=",
        "url:",
        "\"url\":",
        "'url':",
        "'href':",
        "newURL(",
    ];
    const SENDS: [&str; 8] = [
        "\"POST\",",
        "'POST',",
        "\"PUT\",",
        "'PUT',",
        "\"DELETE\",",
        "'DELETE',",
        ".post(",
        "sendBeacon(",
    ];
    let start = before.ceil_char_boundary(before.len().saturating_sub(LOOK_BACK));
    let near: String = before[start..].chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let ends = |list: &[&str]| list.iter().any(|end| near.ends_with(end));
    match () {
        () if near.ends_with("import(") || matches!(last_word(before), "import" | "from") => {
            Purpose::Module
        }
        () if ends(&SENDS) => Purpose::Sent,
        () if ends(&OPENS) => Purpose::Of(Context::Opened),
        () if ends(&NAMES) => Purpose::Of(Context::Named),
        () => Purpose::Of(Context::Bare),
    }
}

/// Modules are named by their address from the program on; others by a name that is no address.
fn is_module(value: &str) -> bool {
    let program = value.ends_with(".js") || value.ends_with(".mjs") || value.ends_with(".css");
    program
        && (value.starts_with(['.', '/']) || value.starts_with("http"))
        && is_address(value, Context::Named)
}

fn last_word(text: &str) -> &str {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    text.trim_end_matches(is_word).len().checked_sub(0).map_or("", |start| &text[start..])
}

fn next_char(text: &str, at: usize) -> usize {
    at + text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
}

/// How long a literal is up to its quotation mark; `None` where its line ends before.
fn literal_length(inside: &str, quote: u8) -> Option<usize> {
    let bytes = inside.as_bytes();
    let mut at = 0;
    loop {
        match *bytes.get(at)? {
            b'\\' => at = next_char(inside, at + 1),
            b'\n' => return None,
            byte if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
}

/// How long a pattern is with its slashes; 1 where its line ends before it does.
fn pattern_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let (mut at, mut in_class) = (1, false);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at = next_char(rest, at + 1) - 1,
            b'\n' => return 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => return at + 1,
            _ => {}
        }
        at += 1;
    }
    1
}

/// The value of a literal: `\/`, `\x2f`, `\u002f` and `\u{2f}` are `/`.
fn unescaped(inside: &str) -> Cow<'_, str> {
    if !inside.contains('\\') {
        return Cow::Borrowed(inside);
    }
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut chars = escape.chars();
        let code = match chars.next() {
            Some('x') => coded(escape.get(1..3)).map(|code| (code, 3)),
            Some('u') => braced(escape).or_else(|| coded(escape.get(1..5)).map(|code| (code, 5))),
            Some('n' | 'r' | 't' | 'b' | 'f' | 'v' | '0') => Some(('\n', 1)),
            _ => None,
        };
        if let Some((character, length)) = code {
            out.push(character);
            rest = &escape[length..];
        } else {
            out.extend(escape.chars().next());
            rest = chars.as_str();
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn coded(digits: Option<&str>) -> Option<char> {
    char::from_u32(u32::from_str_radix(digits?, 16).ok()?)
}

fn braced(escape: &str) -> Option<(char, usize)> {
    let digits = escape.strip_prefix("u{")?.split_once('}')?.0;
    Some((coded(Some(digits))?, digits.len() + 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(script: &str, base: ScriptBase) -> Vec<String> {
        let mut all = Vec::new();
        read_script(script, base, &mut |address| all.push(address.to_owned()));
        all
    }

    #[test]
    fn whole_strings_that_are_addresses_are_found() {
        for (script, want) in [
            ("var a = '/a/b.html', b = \"text/html\";", &["/a/b.html"][..]),
            ("x(`/a/b.php`)", &["/a/b.php"]),
            ("x('\\/a\\/b'); y('\\x2fc\\u002fd'); z(\"\\u{2f}e/f\")", &["/a/b", "/c/d", "/e/f"]),
            ("location = 'next'", &["next"]),
            ("window.location.href = \"/login\"; open('/g')", &["/login"]),
            (
                "fetch('/data'); x.open(\"GET\", 'list'); x.open('POST', '/api/send')",
                &["/data", "list"],
            ),
            ("$.post('/api/vote'); navigator.sendBeacon('/api/ping')", &[]),
            (
                "import a from './a.js'; import('/b.mjs'); import c from 'react'",
                &["./a.js", "/b.mjs"],
            ),
            ("{url: '/feed', \"href\": '/x', method: '/y'}", &["/feed", "/x"]),
            ("'/api/' + id; a + '/b/c'; '/d/e'.concat(x); '/f/g' + 1", &[]),
            ("`/a/${id}/b.html`; `${'/c/d.html'}`; '/e/f'", &["/c/d.html", "/e/f"]),
            ("`${a ? {b: '/c/d'} : `x${1}`}`; '/e/f'", &["/c/d", "/e/f"]),
            ("a = /['\"]/; b = '/c/d'", &["/c/d"]),
            ("return /[/'\"]x/.test(b) || '/c/d'", &["/c/d"]),
            ("a = b / c; d = '/e/f' / 2", &["/e/f"]),
            (
                "// see https://a.test/docs, '/not/this'\n/* http://b.test/ */ '/c/d'",
                &["https://a.test/docs", "http://b.test/", "/c/d"],
            ),
            ("don't; '/c/d'\n'/e/f'", &["/e/f"]),
            ("'/a/b", &[]),
        ] {
            assert_eq!(found(script, ScriptBase::Page), want, "{script}");
        }
    }

    #[test]
    fn what_a_foreign_script_is_relative_to_is_not_guessed() {
        let script = "location = 'next.html'; a('./x.html'); b('/c/d'); c('http://a.test/')";
        assert_eq!(found(script, ScriptBase::Unknown), ["/c/d", "http://a.test/"]);
    }

    #[test]
    fn broken_programs_are_read_to_their_end() {
        for script in [
            "\\", "'\\", "`\\", "`${", "/\\", "/[", "\"\\u{", "'\\u12'", "}}}`", "é/é", "'\\é'",
            "/*", "`é\\",
        ] {
            let _ = found(script, ScriptBase::Page);
        }
    }
}
