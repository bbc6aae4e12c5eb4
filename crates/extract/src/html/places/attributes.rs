//! Which attributes hold addresses that the first pass does not read?

use super::super::links::{LinkKind, LinkPlace};
use super::super::values::srcset;
use super::{PlaceReader, json_links};
use crate::address::has_scheme;
use crate::strings::{Context, is_address, looks_like_media};

/// More attributes than any honest tag has.
const MOST: usize = 128;
/// The longest value that is kept.
const LONGEST: usize = 256 << 10;

/// A start tag with all its attributes.
#[derive(Default)]
pub(super) struct Attributes {
    pub(super) tag: String,
    all: Vec<(String, String)>,
    /// Whether the attribute being read is kept.
    kept: bool,
}

impl Attributes {
    pub(super) fn begin(&mut self, tag: &[u8]) {
        self.tag.clear();
        self.tag.push_str(&String::from_utf8_lossy(tag));
        self.all.clear();
    }

    pub(super) fn name(&mut self, name: &[u8]) {
        let name = String::from_utf8_lossy(name);
        // The first of two attributes with one name counts.
        self.kept = self.all.len() < MOST && self.get(&name).is_none();
        if self.kept {
            self.all.push((name.into_owned(), String::new()));
        }
    }

    pub(super) fn value(&mut self, value: &[u8]) {
        if let (true, Some((_, last)), true) =
            (self.kept, self.all.last_mut(), value.len() <= LONGEST)
        {
            last.push_str(&String::from_utf8_lossy(value));
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.all.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn is(&self, name: &str, word: &str) -> bool {
        self.get(name).is_some_and(|value| value.trim_ascii().eq_ignore_ascii_case(word))
    }
}

/// Elements whose `src`, `srcset`, `href` or `data` the first pass reads.
const SOURCED: [&str; 11] = [
    "audio", "embed", "frame", "iframe", "image", "img", "script", "source", "track", "use",
    "video",
];
const LINKED: [&str; 7] = ["a", "area", "base", "image", "link", "script", "use"];

impl PlaceReader<'_> {
    pub(super) fn take_attributes(&mut self, tag: &Attributes) {
        match tag.tag.as_str() {
            "meta" => return self.take_meta(tag),
            "applet" | "object" => self.take_plugin(tag),
            "param" => self.take_param(tag),
            _ => {}
        }
        for (name, value) in &tag.all {
            self.take_attribute(tag, name, value);
        }
    }

    fn take_attribute(&mut self, tag: &Attributes, name: &str, value: &str) {
        let element = tag.tag.as_str();
        match name {
            "style" => self.style(value),
            "srcdoc" => self.inner(value, LinkPlace::Inner),
            "ping" => self.each(value, LinkKind::Ping),
            "longdesc" | "pluginspage" | "pluginurl" => self.part(value, LinkKind::Related),
            "profile" if element == "head" => self.each(value, LinkKind::Related),
            "manifest" if element == "html" => self.part(value, LinkKind::Embed),
            "lowsrc" | "dynsrc" | "implementation" | "icon" => self.part(value, LinkKind::Embed),
            "usemap" => self.part(value, LinkKind::Related),
            "background" => self.part(value, LinkKind::Embed),
            "poster" if element != "video" => self.part(value, LinkKind::Embed),
            "src" if value.starts_with("data:") => self.data_address(value),
            "src" if !SOURCED.contains(&element) || self.in_noframes => {
                self.part(value, LinkKind::Embed);
            }
            "srcset" | "imagesrcset" if !SOURCED.contains(&element) && element != "link" => {
                self.sources(value, LinkPlace::Markup);
            }
            "href" if self.in_noframes => self.part(value, LinkKind::Anchor),
            "href" | "xlink:href" if has_scheme(value.trim_ascii(), "javascript:") => {
                self.handler(&unpercent(&value.trim_ascii()["javascript:".len()..]));
            }
            "href" | "xlink:href" if value.starts_with("data:") => self.data_address(value),
            // What links are relative to is mostly a page, too.
            "href" if element == "base" && self.reads_all() && value.starts_with(['/', 'h']) => {
                self.part(value, LinkKind::Mention);
            }
            "xlink:href" if element == "script" => self.part(value, LinkKind::Embed),
            "href" if element == "script" => self.part(value, LinkKind::Embed),
            "href" | "xlink:href" if !LINKED.contains(&element) => {
                self.part(value, LinkKind::Embed);
            }
            _ if value.contains("url(") && !name.starts_with("on") => self.style(value),
            _ => self.take_other(name, value),
        }
    }

    /// An attribute that no standard knows as an address.
    fn take_other(&mut self, name: &str, value: &str) {
        let value = value.trim_ascii();
        let lazy = name.strip_prefix("data-").map(LazyAttribute::of).unwrap_or_default();
        match lazy {
            LazyAttribute::Sources => return self.sources(value, LinkPlace::Attribute),
            LazyAttribute::Source if looks_like_media(value) => {
                return self.sink.add(value, LinkKind::Embed, LinkPlace::Attribute);
            }
            _ => {}
        }
        if !self.reads_all() || value.len() < 2 {
            return;
        }
        if name.starts_with("on") {
            return self.handler(value);
        }
        if name.starts_with("data-") && value.starts_with(['{', '[']) {
            return json_links(value, &mut self.sink);
        }
        // `xmlns` and the like name formats.
        let context = if names_address(name) { Context::Named } else { Context::Bare };
        if !name.starts_with("xmlns") && !is_first_pass(name) && is_address(value, context) {
            self.sink.add(value, LinkKind::Mention, LinkPlace::Attribute);
        }
    }

    fn handler(&mut self, script: &str) {
        if self.reads_all() {
            self.script(script);
        }
    }

    /// Something that the page is made of or refers to.
    fn part(&mut self, value: &str, kind: LinkKind) {
        self.sink.add(value, kind, LinkPlace::Markup);
    }

    /// Addresses with spaces between them.
    fn each(&mut self, value: &str, kind: LinkKind) {
        value.split_ascii_whitespace().for_each(|one| self.part(one, kind));
    }

    pub(super) fn sources(&mut self, value: &str, place: LinkPlace) {
        for source in srcset(value).filter(|source| looks_like_media(source)) {
            self.sink.add(source, LinkKind::Embed, place);
        }
    }

    /// `<applet>` and `<object>`: archives and code are relative to `codebase`.
    fn take_plugin(&mut self, tag: &Attributes) {
        let codebase = tag.get("codebase").unwrap_or_default().trim_ascii();
        self.part(codebase, LinkKind::Embed);
        let archives = tag.get("archive").unwrap_or_default();
        let archives = archives.split(|c: char| c == ',' || c.is_ascii_whitespace());
        let code = tag.get("code").filter(|code| code.contains('.')).into_iter();
        let data = tag.get("data").filter(|_| !codebase.is_empty()).into_iter();
        for one in archives.chain(code).chain(data).filter(|one| !one.is_empty()) {
            self.part(&below(codebase, one), LinkKind::Embed);
        }
        tag.get("movie").into_iter().for_each(|movie| self.part(movie, LinkKind::Embed));
        let class = tag.get("classid").filter(|class| is_address(class, Context::Bare));
        class.into_iter().for_each(|class| self.part(class, LinkKind::Embed));
    }

    fn take_param(&mut self, tag: &Attributes) {
        const ADDRESSES: [&str; 8] =
            ["movie", "src", "url", "filename", "data", "href", "file", "source"];
        let name = tag.get("name").unwrap_or_default().trim_ascii().to_ascii_lowercase();
        let Some(value) = tag.get("value") else { return };
        if ADDRESSES.contains(&name.as_str()) || tag.is("valuetype", "ref") {
            self.part(value, LinkKind::Embed);
        }
    }

    /// A picture or document that an address holds itself may name others.
    fn data_address(&mut self, value: &str) {
        if !self.reads_all() {
            return;
        }
        let Some((head, content)) = value["data:".len()..].split_once(',') else { return };
        let head = head.to_ascii_lowercase();
        if !head.starts_with("image/svg+xml") && !head.starts_with("text/html") {
            return;
        }
        let content = unpercent(content);
        let content = if head.ends_with(";base64") { from_base64(&content) } else { content };
        self.inner(&content, LinkPlace::Inner);
    }
}

/// What an attribute is for that pages use to load something late.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum LazyAttribute {
    /// `data-src` and its like.
    Source,
    /// `data-srcset` and its like.
    Sources,
    #[default]
    Other,
}

impl LazyAttribute {
    /// By the name without `data-`.
    fn of(name: &str) -> Self {
        const SOURCES: [&str; 14] = [
            "src",
            "original",
            "lazy",
            "image",
            "img",
            "bg",
            "background",
            "poster",
            "thumb",
            "thumbnail",
            "large",
            "full",
            "hi-res",
            "retina",
        ];
        let is = |word: &str| name == word || name.strip_suffix(word).is_some_and(ends_word);
        match name {
            _ if name.ends_with("srcset") => LazyAttribute::Sources,
            _ if SOURCES.iter().any(|word| is(word)) => LazyAttribute::Source,
            _ => LazyAttribute::Other,
        }
    }
}

fn ends_word(before: &str) -> bool {
    before.ends_with(['-', '_'])
}

/// Whether a name says that its value is an address: `data-href`, `formurl`, `hx-get`.
fn names_address(name: &str) -> bool {
    const ENDS: [&str; 10] = [
        "href",
        "url",
        "link",
        "uri",
        "hx-get",
        "ng-src",
        "data-remote",
        "data-target-page",
        "data-page",
        "data-file",
    ];
    ENDS.iter().any(|end| name.ends_with(end))
}

/// Attributes that the first pass reads, or that send something.
fn is_first_pass(name: &str) -> bool {
    const READ: [&str; 16] = [
        "action",
        "cite",
        "content",
        "data",
        "formaction",
        "href",
        "poster",
        "rel",
        "src",
        "srcset",
        "imagesrcset",
        "value",
        "hx-post",
        "hx-put",
        "hx-delete",
        "hx-patch",
    ];
    READ.contains(&name)
}

/// An address below a code base, as plugins resolve it.
fn below(codebase: &str, address: &str) -> String {
    let is_whole = codebase.is_empty() || address.starts_with('/') || address.contains("://");
    let slash = if codebase.ends_with('/') { "" } else { "/" };
    if is_whole { address.to_owned() } else { format!("{codebase}{slash}{address}") }
}

/// The text with its `%41` as characters.
fn unpercent(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = digits.filter(|_| byte == b'%').and_then(|two| u8::from_str_radix(two, 16).ok());
        out.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What a text in base64 stands for, up to the first character that has no place in one.
fn from_base64(text: &str) -> String {
    let (mut bits, mut count, mut out) = (0_u32, 0, Vec::new());
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        (bits, count) = (bits << 6 | u32::from(value), count + 6);
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xFF) as u8);
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_markup_is_unpacked() {
        assert_eq!(unpercent("%3Ca%20b%3d'%zz%"), "<a b='%zz%");
        assert_eq!(from_base64("PHN2Zz4="), "<svg>");
        assert_eq!(from_base64("PHN2\nZz4"), "<svg>");
    }

    #[test]
    fn archives_lie_below_their_code_base() {
        assert_eq!(below("", "a.jar"), "a.jar");
        assert_eq!(below("/x", "a.jar"), "/x/a.jar");
        assert_eq!(below("/x/", "/a.jar"), "/a.jar");
    }
}
