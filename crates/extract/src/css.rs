//! Which addresses does a style sheet name? A reader of its tokens, as the CSS syntax standard divides them.
//!
//! Found are `url(...)`, `src(...)`, the targets of `@import` and the images of `image-set(...)`, with escapes
//! resolved. Addresses of `@namespace` and `@document` are names that nobody fetches, and are left out.

use std::borrow::Cow;

/// Functions within functions that are told apart; what is deeper is read as if it were flat.
const DEEPEST: usize = 32;

/// Hands every address in a style sheet, or in the value of a `style` attribute, to `found`. Takes time linear in the
/// length of `css`, whatever it holds.
pub fn read_css(css: &str, found: &mut dyn FnMut(&str)) {
    let mut reader =
        CssReader { css, at: 0, rule: AtRule::None, functions: Vec::new(), too_deep: 0, found };
    while let Some(&byte) = css.as_bytes().get(reader.at) {
        reader.token(byte);
    }
}

/// The at-rule whose beginning is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtRule {
    None,
    /// The next string is a style sheet.
    Import,
    /// Addresses are names.
    Naming,
}

/// The innermost function or parenthesis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Function {
    Url,
    ImageSet,
    Other,
}

struct CssReader<'a, 'f> {
    css: &'a str,
    at: usize,
    rule: AtRule,
    functions: Vec<Function>,
    /// How many functions are open beyond the deepest that is told apart.
    too_deep: usize,
    found: &'f mut dyn FnMut(&str),
}

impl<'a> CssReader<'a, '_> {
    fn token(&mut self, byte: u8) {
        match byte {
            b'/' if self.rest().starts_with("/*") => self.comment(),
            b'"' | b'\'' => self.string(byte),
            b'@' => self.at_rule(),
            b'(' => self.open(Function::Other),
            b')' => self.close(),
            b';' | b'{' | b'}' => self.end_statement(),
            _ if begins_name(byte) => self.name(),
            _ => self.at += 1,
        }
    }

    fn rest(&self) -> &'a str {
        self.css.get(self.at..).unwrap_or_default()
    }

    fn comment(&mut self) {
        let end = self.rest().get(2..).and_then(|inside| inside.find("*/"));
        self.at = end.map_or(self.css.len(), |length| self.at + 2 + length + 2);
    }

    /// A string; one that a line end cuts off is no string.
    fn string(&mut self, quote: u8) {
        self.at += 1;
        let inside = self.rest();
        let end = end_of(inside, |byte| byte == quote || matches!(byte, b'\n' | b'\r' | 0x0c));
        self.at += end;
        if inside.as_bytes().get(end) != Some(&quote) {
            return;
        }
        self.at += 1;
        let wanted = match self.functions.last() {
            Some(Function::Url | Function::ImageSet) => self.rule != AtRule::Naming,
            Some(Function::Other) => false,
            None => self.rule == AtRule::Import,
        };
        if wanted {
            self.report(&inside[..end]);
        }
    }

    fn report(&mut self, address: &str) {
        if self.rule == AtRule::Import {
            self.rule = AtRule::None;
        }
        let address = unescaped(address);
        let address = address.trim();
        if !address.is_empty() {
            (self.found)(address);
        }
    }

    fn at_rule(&mut self) {
        self.at += 1;
        let name = self.take_name();
        self.rule = match name.to_ascii_lowercase().as_str() {
            "import" => AtRule::Import,
            "namespace" | "document" | "-moz-document" => AtRule::Naming,
            _ => AtRule::None,
        };
    }

    fn end_statement(&mut self) {
        self.at += 1;
        // A `;` within parentheses belongs to a broken or custom value.
        if self.functions.is_empty() {
            self.rule = AtRule::None;
        }
    }

    /// An identifier, or the function that it names.
    fn name(&mut self) {
        let name = self.take_name();
        if !self.rest().starts_with('(') {
            return;
        }
        match name.to_ascii_lowercase().as_str() {
            "url" => self.url(),
            "src" => self.open(Function::Url),
            "image-set" | "-webkit-image-set" => self.open(Function::ImageSet),
            _ => self.open(Function::Other),
        }
    }

    fn take_name(&mut self) -> Cow<'a, str> {
        let rest = self.rest();
        let length = end_of(rest, |byte| !continues_name(byte));
        self.at += length;
        unescaped(&rest[..length])
    }

    /// `url(`, whose address may stand without quotation marks.
    fn url(&mut self) {
        let inside = self.rest().get(1..).unwrap_or_default();
        let spaces = inside.len() - inside.trim_ascii_start().len();
        let address = &inside[spaces..];
        if address.starts_with(['"', '\'']) {
            return self.open(Function::Url);
        }
        self.at += 1 + spaces;
        let end = end_of(address, |byte| byte == b')');
        self.at += (end + 1).min(address.len());
        let address = address[..end].trim_ascii_end();
        let is_bad = |c: char| c.is_ascii_whitespace() || matches!(c, '"' | '\'' | '(');
        let has_bad = !address.contains('\\') && address.contains(is_bad);
        if self.rule != AtRule::Naming && !has_bad {
            self.report(address);
        }
    }

    fn open(&mut self, function: Function) {
        self.at += 1;
        if self.functions.len() < DEEPEST {
            self.functions.push(function);
        } else {
            self.too_deep += 1;
        }
    }

    fn close(&mut self) {
        self.at += 1;
        if self.too_deep > 0 {
            self.too_deep -= 1;
        } else {
            self.functions.pop();
        }
    }
}

/// How many bytes stand before the first that ends the token; an escaped byte ends nothing.
fn end_of(text: &str, ends: impl Fn(u8) -> bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            _ if ends(byte) => return at,
            _ => at += 1,
        }
    }
    text.len()
}

fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_' | b'\\') || byte >= 0x80
}

fn continues_name(byte: u8) -> bool {
    begins_name(byte) || byte.is_ascii_digit()
}

/// The text with its escapes resolved: `\66 oo` is `foo`, `\"` is `"`, and an escaped line end is nothing.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split('\\');
    out.push_str(pieces.next().unwrap_or_default());
    while let Some(piece) = pieces.next() {
        if piece.is_empty() {
            // The escaped character is itself a backslash.
            out.extend(["\\", pieces.next().unwrap_or_default()]);
        } else {
            escape(piece, &mut out);
        }
    }
    Cow::Owned(out)
}

/// Appends what follows a backslash.
fn escape(piece: &str, out: &mut String) {
    let digits = piece.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
    let (number, rest) = piece.split_at(digits);
    if digits == 0 {
        let end = ["\r\n", "\n", "\r", "\x0c"].iter().find_map(|end| piece.strip_prefix(end));
        return out.push_str(end.unwrap_or(piece));
    }
    let code = u32::from_str_radix(number, 16).ok().filter(|code| *code != 0);
    out.push(code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER));
    out.push_str(rest.strip_prefix(|c: char| c.is_ascii_whitespace()).unwrap_or(rest));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(css: &str) -> Vec<String> {
        let mut all = Vec::new();
        read_css(css, &mut |address| all.push(address.to_owned()));
        all
    }

    #[test]
    fn addresses_are_found_wherever_css_may_name_them() {
        for (css, want) in [
            ("a{background:url(a.png)}", &["a.png"][..]),
            ("a{background:URL( \"a b.png\" )}", &["a b.png"]),
            ("a{background:url('a.png'),url( b.png )}", &["a.png", "b.png"]),
            ("@import 'a.css';", &["a.css"]),
            (
                "@IMPORT\"a.css\"screen;@import url(b.css) layer(x) supports(a:b);",
                &["a.css", "b.css"],
            ),
            ("@import url(\"a.css\") print;@charset \"utf-8\";", &["a.css"]),
            ("@font-face{src:local(\"X\"),url(x.woff2)format(\"woff2\")}", &["x.woff2"]),
            (
                "a{b:image-set(\"a.png\" 1x, url(b.png) 2x, \"c.png\" type(\"image/png\"))}",
                &["a.png", "b.png", "c.png"],
            ),
            ("a{b:-webkit-image-set(url(a.png) 1x)}", &["a.png"]),
            ("a{b:src(\"a.png\")}", &["a.png"]),
            ("a{content:\"url(no.png)\"} /* url(no.png) */", &[]),
            ("a{b:u\\72l(a.png)}", &["a.png"]),
            ("a{b:url(a\\)b\\28 c.png)}", &["a)b(c.png"]),
            ("a{b:url(\"a\\\nb.png\")}", &["ab.png"]),
            ("a{b:url('\\61\\62 c.png')}", &["abc.png"]),
            ("a{b:url(a b.png)}c{d:url(e.png)}", &["e.png"]),
            ("a{b:url()}c{d:url(\"\")}", &[]),
            ("@namespace svg url(http://a.test/ns);@namespace \"b\";a{b:url(c)}", &["c"]),
            ("@document url(http://a.test/){a{b:url(c)}}", &["c"]),
            ("@import url(a.css", &["a.css"]),
            ("a{b:url(\"a.png)}\n c{d:url(e.png)}", &["e.png"]),
            ("@media x{@import 'late.css';a{b:url(c.png)}}", &["late.css", "c.png"]),
            ("background:url(a.png)", &["a.png"]),
            ("a{--x:url(a.png)}é{b:url(ü.png)}", &["a.png", "ü.png"]),
            ("a{b:xurl(no.png)}", &[]),
        ] {
            assert_eq!(found(css), want, "{css}");
        }
    }

    #[test]
    fn nesting_without_end_and_broken_escapes_are_read_to_their_end() {
        let deep = format!("a{{b:{}url(\"x\"){}}}c{{d:url(y)}}", "f(".repeat(100), ")".repeat(100));
        assert_eq!(found(&deep), ["y"]);
        for css in ["\\", "url(\\", "\"\\", "@", "@import \\", "url(\"\\é", "/*", "url(é\\"] {
            let _ = found(css);
        }
    }
}
