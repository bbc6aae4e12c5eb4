//! Which page looks the same from the replay, runs nothing and loads nothing from elsewhere?
//!
//! A page is written anew out of its tokens: elements and attributes by known-good names, text escaped, comments left
//! out. Only the content of `style` is not escaped; it is written as a style sheet in which no `<` stands. So a browser
//! reads what was written as it was meant, however odd the page is.

use html5gum::{StartTag, Token, Tokenizer};

use crate::css::rewrite_css;

/// Makes addresses of the replay out of addresses of a page.
pub(crate) trait Addresses {
    /// The address by which the replay has what `address` leads to; `None` where nothing may be loaded or followed.
    fn link(&self, address: &str) -> Option<String>;
    /// From now on addresses are relative to this one.
    fn rebase(&mut self, address: &str);
}

/// Elements that are left out with all that is in them.
const DROPPED: [&[u8]; 4] = [b"script", b"object", b"applet", b"noembed"];
/// Elements that are left out, but for what is in them.
const UNWRAPPED: [&[u8]; 14] = [
    b"base",
    b"embed",
    b"frameset",
    b"noframes",
    b"noscript",
    b"param",
    b"plaintext",
    b"portal",
    b"template",
    b"xmp",
    b"foreignobject",
    b"animate",
    b"set",
    b"fencedframe",
];
/// Attributes with an address that is loaded or followed.
const ADDRESSES: [&[u8]; 9] = [
    b"href",
    b"src",
    b"poster",
    b"background",
    b"xlink:href",
    b"cite",
    b"longdesc",
    b"data",
    b"lowsrc",
];
/// Attributes that say what is to be done elsewhere, or that are about scripts.
const LEFT_OUT: [&[u8]; 17] = [
    b"action",
    b"formaction",
    b"ping",
    b"srcdoc",
    b"integrity",
    b"nonce",
    b"crossorigin",
    b"target",
    b"download",
    b"manifest",
    b"codebase",
    b"archive",
    b"classid",
    b"attributionsrc",
    b"http-equiv",
    b"usemap",
    b"is",
];

/// Writes a page anew, with a bar that says `bar`.
pub(crate) fn rewrite_html(text: &str, addresses: &mut dyn Addresses, bar: &str) -> String {
    let mut writer = HtmlWriter {
        out: String::with_capacity(text.len() + 1024),
        addresses,
        dropped: None,
        in_style: false,
        style: String::new(),
    };
    writer.out.push_str("<!DOCTYPE html>");
    writer.bar(bar);
    for Ok(token) in Tokenizer::new(text) {
        writer.token(token);
    }
    writer.end_style();
    writer.out
}

/// Text in which nothing acts as markup.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_escaped(text, &mut out);
    out
}

fn push_escaped(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\0' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

struct HtmlWriter<'a> {
    out: String,
    addresses: &'a mut dyn Addresses,
    /// The element that is being left out.
    dropped: Option<Vec<u8>>,
    in_style: bool,
    style: String,
}

impl HtmlWriter<'_> {
    /// A bar above the page, which is no part of its text.
    fn bar(&mut self, words: &str) {
        let words = rewrite_css(&css_string(words), &|address| address.to_owned());
        self.out.push_str(
            "<style>html::before{display:block;box-sizing:border-box;width:100%;padding:4px 8px;background:#223;\
             color:#fff;font:13px/1.4 sans-serif;text-align:left;direction:ltr;unicode-bidi:isolate;content:",
        );
        self.out.push_str(&words);
        self.out.push_str("}</style>");
    }

    fn token(&mut self, token: Token<()>) {
        match token {
            Token::StartTag(tag) => self.start(&tag),
            Token::EndTag(tag) => self.end(&tag.name),
            Token::String(text) => self.text(&String::from_utf8_lossy(&text.value)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        match (&self.dropped, self.in_style) {
            (Some(_), _) => {}
            (None, true) => self.style.push_str(text),
            (None, false) => push_escaped(text, &mut self.out),
        }
    }

    fn start(&mut self, tag: &StartTag<()>) {
        let name: &[u8] = &tag.name;
        if self.dropped.is_some() {
            return;
        }
        self.end_style();
        if name == b"base" {
            if let Some(address) = attribute(tag, b"href") {
                self.addresses.rebase(&address);
            }
            return;
        }
        if DROPPED.contains(&name) {
            self.dropped = (!tag.self_closing || name == b"script").then(|| name.to_vec());
            return;
        }
        if UNWRAPPED.contains(&name) || !is_plain_name(name) {
            return;
        }
        match name {
            b"meta" => return self.meta(tag),
            b"link" if !is_shown(tag) => return,
            _ => {}
        }
        self.out.push('<');
        self.out.push_str(&String::from_utf8_lossy(name));
        for (attribute, value) in &tag.attributes {
            self.attribute(name, attribute, &String::from_utf8_lossy(&value.value));
        }
        if tag.self_closing {
            self.out.push('/');
        }
        self.out.push('>');
        // What is in it is shown only where frames are not.
        if name == b"iframe" {
            self.out.push_str("</iframe>");
            self.dropped = (!tag.self_closing).then(|| name.to_vec());
        }
        self.in_style = name == b"style" && !tag.self_closing;
    }

    fn end(&mut self, name: &[u8]) {
        if let Some(dropped) = &self.dropped {
            if dropped == name {
                self.dropped = None;
            }
            return;
        }
        let was_style = self.in_style;
        self.end_style();
        let unwrapped = UNWRAPPED.contains(&name) || DROPPED.contains(&name) || name == b"iframe";
        if (was_style && name == b"style") || unwrapped || !is_plain_name(name) {
            return;
        }
        self.out.push_str("</");
        self.out.push_str(&String::from_utf8_lossy(name));
        self.out.push('>');
    }

    /// A style sheet is written as a whole.
    fn end_style(&mut self) {
        if !self.in_style {
            return;
        }
        self.in_style = false;
        let style = std::mem::take(&mut self.style);
        let style = self.css(&style);
        self.out.push_str(&style);
        self.out.push_str("</style>");
    }

    fn css(&self, css: &str) -> String {
        rewrite_css(css, &|address| self.addresses.link(address).unwrap_or_default())
    }

    /// Of what `meta` says, only where a page leads after a while is kept, and how wide it is.
    fn meta(&mut self, tag: &StartTag<()>) {
        let content = attribute(tag, b"content").unwrap_or_default();
        let is = |name: &[u8], want: &str| {
            attribute(tag, name).is_some_and(|value| value.trim().eq_ignore_ascii_case(want))
        };
        if is(b"http-equiv", "refresh") {
            let Some(target) = evercrawl_extract::refresh_target(&content) else { return };
            let Some(address) = self.addresses.link(target) else { return };
            let seconds: String =
                content.trim().chars().take_while(char::is_ascii_digit).take(6).collect();
            self.out.push_str("<meta http-equiv=\"refresh\" content=\"");
            push_escaped(
                &format!("{};url={address}", if seconds.is_empty() { "0" } else { &seconds }),
                &mut self.out,
            );
            self.out.push_str("\">");
        } else if is(b"name", "viewport") {
            self.out.push_str("<meta name=\"viewport\" content=\"");
            push_escaped(&content, &mut self.out);
            self.out.push_str("\">");
        }
    }

    fn attribute(&mut self, element: &[u8], name: &[u8], value: &str) {
        if name.starts_with(b"on") || LEFT_OUT.contains(&name) || !is_plain_name(name) {
            return;
        }
        let value = if name == b"style" {
            self.css(value)
        } else if name == b"srcset" || name == b"imagesrcset" {
            self.srcset(value)
        } else if ADDRESSES.contains(&name) {
            match self.address(element, value) {
                Some(address) => address,
                None => return,
            }
        } else if is_paint(value) {
            // `fill`, `mask`, `filter` and others of SVG may name an address.
            self.css(value)
        } else {
            value.to_owned()
        };
        self.out.push(' ');
        self.out.push_str(&String::from_utf8_lossy(name));
        self.out.push_str("=\"");
        push_escaped(&value, &mut self.out);
        self.out.push('"');
    }

    fn address(&self, element: &[u8], value: &str) -> Option<String> {
        let value = value.trim();
        let is_image = matches!(element, b"img" | b"image" | b"input" | b"source" | b"feimage");
        if is_image && is_data_image(value) {
            return Some(value.to_owned());
        }
        if value.starts_with('#') {
            return Some(value.to_owned());
        }
        self.addresses.link(value)
    }

    fn srcset(&self, value: &str) -> String {
        let candidates = value.split(", ").flat_map(|part| part.split(",\n")).filter_map(|part| {
            let part = part.trim().trim_end_matches(',');
            let (address, size) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
            let address = match is_data_image(address) {
                true => address.to_owned(),
                false => self.addresses.link(address).filter(|_| !address.is_empty())?,
            };
            // A comma in an address would end it.
            Some(format!("{} {}", address.replace(',', "%2C"), size.trim()))
        });
        candidates.collect::<Vec<_>>().join(", ")
    }
}

/// Whether a value holds what a style sheet would load.
fn is_paint(value: &str) -> bool {
    let small = value.to_ascii_lowercase();
    small.contains("url(") || small.contains('\\') && small.contains('(')
}

fn is_data_image(value: &str) -> bool {
    value.get(..11).is_some_and(|start| start.eq_ignore_ascii_case("data:image/"))
}

/// Whether a `link` is part of how the page looks.
fn is_shown(tag: &StartTag<()>) -> bool {
    let rel = attribute(tag, b"rel").unwrap_or_default().to_ascii_lowercase();
    let words: Vec<&str> = rel.split_ascii_whitespace().collect();
    let loads_ahead = [
        "preload",
        "prefetch",
        "preconnect",
        "dns-prefetch",
        "modulepreload",
        "prerender",
        "import",
    ];
    (words.contains(&"stylesheet") || words.contains(&"icon"))
        && !words.iter().any(|word| loads_ahead.contains(word))
}

fn attribute(tag: &StartTag<()>, name: &[u8]) -> Option<String> {
    Some(String::from_utf8_lossy(&tag.attributes.get(name)?.value).into_owned())
}

fn is_plain_name(name: &[u8]) -> bool {
    let plain =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.');
    name.first().is_some_and(u8::is_ascii_alphabetic) && name.iter().all(plain)
}

/// A string of CSS that shows these words.
fn css_string(words: &str) -> String {
    let quoted = words.replace(['\\', '\n', '\r'], " ").replace('"', "\\22 ");
    format!("\"{quoted}\"")
}
