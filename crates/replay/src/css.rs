//! Which style sheet loads the same from the replay? Every address in it is replaced; what cannot be read as one is
//! made harmless.

use std::fmt::Write;

/// Writes a style sheet, or the value of a `style` attribute, with what `replace` makes of each address. Takes time
/// linear in its length. `<` never stands in the result, so that it cannot end the element that it is in.
pub(crate) fn rewrite_css(css: &str, replace: &dyn Fn(&str) -> String) -> String {
    let mut writer = CssWriter {
        css,
        at: 0,
        out: String::with_capacity(css.len() + 64),
        import: false,
        replace,
    };
    while let Some(c) = writer.rest().chars().next() {
        writer.token(c);
    }
    writer.out
}

struct CssWriter<'a> {
    css: &'a str,
    at: usize,
    out: String,
    /// Whether the next string is the address of a style sheet, or the strings of this statement may be addresses.
    import: bool,
    replace: &'a dyn Fn(&str) -> String,
}

impl<'a> CssWriter<'a> {
    fn rest(&self) -> &'a str {
        self.css.get(self.at..).unwrap_or_default()
    }

    fn token(&mut self, c: char) {
        let rest = self.rest();
        match c {
            '/' if rest.starts_with("/*") => {
                let end = rest.get(2..).and_then(|inside| inside.find("*/"));
                self.at += end.map_or(rest.len(), |end| end + 4);
                self.out.push(' ');
            }
            '"' | '\'' => self.string(c),
            ';' | '{' | '}' => {
                self.import = false;
                self.copy(c);
            }
            '@' => {
                self.copy(c);
                let name = self.name();
                self.import = name.eq_ignore_ascii_case("import");
                self.out.push_str(&name);
            }
            c if is_name(c) || c == '\\' => self.word(),
            c => self.copy(c),
        }
    }

    fn copy(&mut self, c: char) {
        self.at += c.len_utf8();
        match c {
            '<' => self.out.push_str("\\3c "),
            c => self.out.push(c),
        }
    }

    /// A name with its escapes resolved, so that none is hidden in them.
    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.rest().chars().next() {
            if c == '\\' {
                let (character, length) = escape(self.rest());
                self.at += length;
                name.extend(character);
            } else if is_name(c) {
                self.at += c.len_utf8();
                name.push(c);
            } else {
                break;
            }
        }
        name
    }

    fn word(&mut self) {
        let start = self.at;
        let name = self.name();
        if self.at == start {
            self.at += 1;
            return;
        }
        let opens = self.rest().starts_with('(');
        let small = name.to_ascii_lowercase();
        match small.as_str() {
            "url" | "src" if opens => {
                self.at += 1;
                self.address();
            }
            // Strings in it are addresses.
            "image-set" | "-webkit-image-set" | "image" | "cross-fade" if opens => {
                self.import = true;
                self.out.push_str(&small);
            }
            // What runs or binds in some browsers.
            "expression" | "behavior" | "-moz-binding" => self.out.push_str("x-removed"),
            _ => write_name(&name, &mut self.out),
        }
    }

    /// What stands in `url(`, which is read to its end.
    fn address(&mut self) {
        let rest = self.rest();
        let inner = rest.trim_start();
        self.at += rest.len() - inner.len();
        let address = match inner.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                self.at += 1;
                let text = self.until(|c| c == quote);
                self.at += usize::from(self.rest().starts_with(quote));
                text
            }
            _ => self.until(|c| c == ')').trim().to_owned(),
        };
        let end = self.rest().find(')').map_or(self.rest().len(), |end| end + 1);
        self.at += end;
        let address = (self.replace)(&address);
        self.out.push_str("url(");
        write_string(&address, &mut self.out);
        self.out.push(')');
    }

    fn string(&mut self, quote: char) {
        self.at += 1;
        let text = self.until(|c| c == quote || matches!(c, '\n' | '\r' | '\u{c}'));
        self.at += usize::from(self.rest().starts_with(quote));
        let text = if self.import { (self.replace)(&text) } else { text };
        write_string(&text, &mut self.out);
    }

    /// Text up to a character, with its escapes resolved.
    fn until(&mut self, ends: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while let Some(c) = self.rest().chars().next() {
            if ends(c) {
                break;
            }
            if c == '\\' {
                let (character, length) = escape(self.rest());
                self.at += length;
                text.extend(character);
            } else {
                self.at += c.len_utf8();
                text.push(c);
            }
        }
        text
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || !c.is_ascii()
}

/// What an escape at the beginning of `text` stands for, and how long it is.
fn escape(text: &str) -> (Option<char>, usize) {
    let after = &text[1..];
    let digits = after.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
    if digits == 0 {
        return match after.chars().next() {
            None => (None, 1),
            Some(c) if matches!(c, '\n' | '\r' | '\u{c}') => (None, 1 + c.len_utf8()),
            Some(c) => (Some(c), 1 + c.len_utf8()),
        };
    }
    let code = u32::from_str_radix(&after[..digits], 16).unwrap_or(0);
    let character = char::from_u32(code).filter(|c| *c != '\0').unwrap_or('\u{fffd}');
    let space = after[digits..].starts_with([' ', '\t', '\n', '\r', '\u{c}']);
    (Some(character), 1 + digits + usize::from(space))
}

/// A string that means this text, whatever is in it.
fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' | '<' | '>' | '&' | '\'' => drop(write!(out, "\\{:x} ", u32::from(c))),
            c if c.is_control() => drop(write!(out, "\\{:x} ", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// A name that means this text.
fn write_name(name: &str, out: &mut String) {
    for c in name.chars() {
        match c {
            c if is_name(c) => out.push(c),
            c => drop(write!(out, "\\{:x} ", u32::from(c))),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rewrite(css: &str) -> String {
        rewrite_css(css, &|address| format!("/r/{address}"))
    }

    #[test]
    fn every_address_is_replaced_and_the_rest_stays() {
        for (css, want) in [
            ("a{color:red;background:URL( b.png )}", "a{color:red;background:url(\"/r/b.png\")}"),
            (
                "a{b:url('c.png') no-repeat,url(\"d\")}",
                "a{b:url(\"/r/c.png\") no-repeat,url(\"/r/d\")}",
            ),
            (
                "@import 'a.css' screen;b{content:'c'}",
                "@import \"/r/a.css\" screen;b{content:\"c\"}",
            ),
            ("a{b:u\\72l(c)}", "a{b:url(\"/r/c\")}"),
            ("a{b:url(x\\29 y)}", "a{b:url(\"/r/x)y\")}"),
            ("a{b:image-set('c' 1x)}", "a{b:image-set(\"/r/c\" 1x)}"),
            ("/* url(a) */b{}", " b{}"),
            ("a{b:url(c", "a{b:url(\"/r/c\")"),
            ("</style><script>", "\\3c /style>\\3c script>"),
            ("a{width:expression(alert(1))}", "a{width:x-removed(alert(1))}"),
        ] {
            assert_eq!(rewrite(css), want, "{css}");
        }
    }

    proptest! {
        #[test]
        fn nothing_ends_the_element_or_escapes(css in "[ -~\u{e9}\n]{0,80}") {
            let out = rewrite(&css);
            prop_assert!(!out.contains('<'));
            // What was written reads the same.
            let again = rewrite_css(&out, &|address| address.to_owned());
            prop_assert!(!again.contains('<'));
        }
    }
}
