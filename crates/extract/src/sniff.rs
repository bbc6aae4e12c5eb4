//! What kind of document is this? The bytes decide; the header is a hint.
//!
//! Servers send sitemaps as HTML, PDFs as text and feeds as anything. So signatures that no text
//! can have come first, then the first element of markup, and the header's word last.

use std::borrow::Cow;

/// What a document is, as far as it decides how to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentKind {
    /// HTML.
    Html,
    /// HTML in the syntax of XML.
    Xhtml,
    /// A sitemap that lists pages.
    Sitemap,
    /// A sitemap that lists sitemaps.
    SitemapIndex,
    /// RSS of any version.
    Rss,
    /// Atom.
    Atom,
    /// JSON Feed.
    JsonFeed,
    /// Other XML.
    Xml,
    /// Other JSON.
    Json,
    /// Text of any kind.
    Text,
    /// The robots.txt of a host.
    Robots,
    /// No text; of this type, as far as the first bytes tell.
    Other(&'static str),
}

impl ContentKind {
    /// The type by its standard name, as indexes record it.
    pub fn mime(self) -> &'static str {
        match self {
            ContentKind::Html => "text/html",
            ContentKind::Xhtml => "application/xhtml+xml",
            ContentKind::Sitemap | ContentKind::SitemapIndex | ContentKind::Xml => {
                "application/xml"
            }
            ContentKind::Rss => "application/rss+xml",
            ContentKind::Atom => "application/atom+xml",
            ContentKind::JsonFeed => "application/feed+json",
            ContentKind::Json => "application/json",
            ContentKind::Text | ContentKind::Robots => "text/plain",
            ContentKind::Other(mime) => mime,
        }
    }

    /// Whether it lists pages with the times they changed.
    pub(crate) fn is_listing(self) -> bool {
        matches!(
            self,
            ContentKind::Sitemap
                | ContentKind::SitemapIndex
                | ContentKind::Rss
                | ContentKind::Atom
                | ContentKind::JsonFeed
        )
    }
}

/// Bytes that are looked at.
const WINDOW: usize = 4096;
/// Where the signature of a PDF may begin at the latest.
const LATEST_PDF: usize = 1024;
const UNKNOWN: &str = "application/octet-stream";
pub(crate) const PDF: &str = "application/pdf";
pub(crate) const GZIP: &str = "application/gzip";

/// Tells what `bytes` are, received from `url` with that `Content-Type`.
pub fn sniff(bytes: &[u8], content_type: Option<&str>, url: &str) -> ContentKind {
    let window = bytes.get(..WINDOW).unwrap_or(bytes);
    if let Some(mime) = signature(window) {
        return ContentKind::Other(mime);
    }
    if is_late_pdf(window, content_type) {
        return ContentKind::Other(PDF);
    }
    let text = utf16_as_ascii(window);
    let markup = first_element(&text);
    if let Some(kind) = markup.and_then(|name| listing_kind(name, &text)) {
        return kind;
    }
    match declared(content_type) {
        Declared::Html => ContentKind::Html,
        Declared::Xhtml => ContentKind::Xhtml,
        Declared::Xml if markup.is_some_and(|name| name.eq_ignore_ascii_case(b"html")) => {
            ContentKind::Xhtml
        }
        Declared::Xml => ContentKind::Xml,
        Declared::Json => json_kind(&text),
        Declared::Binary => ContentKind::Other(UNKNOWN),
        Declared::Text if is_binary(&text) => ContentKind::Other(UNKNOWN),
        Declared::Text => text_kind(url),
        Declared::Nothing => undeclared_kind(&text, markup, url),
    }
}

/// Whether this is a PDF with other bytes before it, as all readers of PDFs take it where its server calls it one.
fn is_late_pdf(window: &[u8], content_type: Option<&str>) -> bool {
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    let start = window.get(..LATEST_PDF).unwrap_or(window);
    essence.trim().eq_ignore_ascii_case(PDF) && memchr::memmem::find(start, b"%PDF-").is_some()
}

/// What the header says, in broad classes.
enum Declared {
    Html,
    Xhtml,
    Xml,
    Json,
    Text,
    Binary,
    Nothing,
}

fn declared(content_type: Option<&str>) -> Declared {
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    let (class, subtype) = essence.split_once('/').unwrap_or_default();
    match (class, subtype) {
        ("text", "html") => Declared::Html,
        ("application", "xhtml+xml") => Declared::Xhtml,
        ("image", _) | ("audio" | "video" | "font" | "model", _) => Declared::Binary,
        (_, "xml") => Declared::Xml,
        (_, kind) if kind.ends_with("+xml") => Declared::Xml,
        (_, "json") => Declared::Json,
        (_, kind) if kind.ends_with("+json") => Declared::Json,
        ("text", _) | ("application", "javascript" | "x-javascript" | "ecmascript") => {
            Declared::Text
        }
        ("application", "pdf" | "zip" | "gzip" | "x-gzip" | "wasm" | "msword") => Declared::Binary,
        ("application", kind) if kind.starts_with("vnd.") => Declared::Binary,
        _ => Declared::Nothing,
    }
}

fn undeclared_kind(text: &[u8], markup: Option<&[u8]>, url: &str) -> ContentKind {
    if markup.is_some_and(is_html_element) || starts_with_doctype_html(text) {
        return ContentKind::Html;
    }
    if is_binary(text) {
        return ContentKind::Other(UNKNOWN);
    }
    match text.first() {
        Some(b'<') if text.starts_with(b"<?xml") || markup.is_some() => ContentKind::Xml,
        Some(b'{' | b'[') => json_kind(text),
        _ => text_kind(url),
    }
}

fn text_kind(url: &str) -> ContentKind {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = after_scheme.find('/').map_or("", |slash| &after_scheme[slash..]);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    if path == "/robots.txt" { ContentKind::Robots } else { ContentKind::Text }
}

fn json_kind(text: &[u8]) -> ContentKind {
    let version = memchr::memmem::find(text, b"//jsonfeed.org/version/")
        .or_else(|| memchr::memmem::find(text, br"\/\/jsonfeed.org\/version\/"));
    if version.is_some() { ContentKind::JsonFeed } else { ContentKind::Json }
}

fn listing_kind(element: &[u8], text: &[u8]) -> Option<ContentKind> {
    const ROOTS: [(&[u8], ContentKind); 4] = [
        (b"urlset", ContentKind::Sitemap),
        (b"sitemapindex", ContentKind::SitemapIndex),
        (b"rss", ContentKind::Rss),
        (b"feed", ContentKind::Atom),
    ];
    if element.eq_ignore_ascii_case(b"rdf") {
        return ["purl.org/rss/", "my.netscape.com/rdf", "channel.netscape.com/rdf"]
            .iter()
            .any(|namespace| memchr::memmem::find(text, namespace.as_bytes()).is_some())
            .then_some(ContentKind::Rss);
    }
    ROOTS.iter().find(|(root, _)| element.eq_ignore_ascii_case(root)).map(|(_, kind)| *kind)
}

/// The bytes as ASCII-compatible text from the first character on: without a byte order mark and
/// leading white space, and without the zero bytes of UTF-16.
fn utf16_as_ascii(window: &[u8]) -> Cow<'_, [u8]> {
    let wide = match window {
        [0xff, 0xfe, rest @ ..] | [0xfe, 0xff, rest @ ..] => rest,
        [b'<', 0, ..] | [0, b'<', ..] => window,
        [0xef, 0xbb, 0xbf, rest @ ..] => return Cow::Borrowed(rest.trim_ascii_start()),
        _ => return Cow::Borrowed(window.trim_ascii_start()),
    };
    let text: Vec<u8> = wide.iter().copied().filter(|byte| *byte != 0).collect();
    Cow::Owned(text.trim_ascii_start().to_vec())
}

/// The local name of the first element, past declarations, comments and the document type.
fn first_element(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_start();
        rest = match rest {
            [b'<', b'!', b'-', b'-', ..] => after(rest, b"-->")?,
            [b'<', b'!', ..] if has_subset(rest) => after(after(rest, b"]")?, b">")?,
            [b'<', b'?', ..] if rest.starts_with(b"<?xml") => after(rest, b"?>")?,
            [b'<', b'!' | b'?', ..] => after(rest, b">")?,
            [b'<', name @ ..] if name.first().is_some_and(u8::is_ascii_alphabetic) => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/');
                return name.split(ends).next()?.rsplit(|byte| *byte == b':').next();
            }
            _ => return None,
        };
    }
}

fn after<'a>(text: &'a [u8], end: &[u8]) -> Option<&'a [u8]> {
    Some(&text[memchr::memmem::find(text, end)? + end.len()..])
}

/// Whether a document type declares entities of its own, between brackets.
fn has_subset(doctype: &[u8]) -> bool {
    memchr::memchr2(b'[', b'>', doctype).is_some_and(|at| doctype[at] == b'[')
}

fn starts_with_doctype_html(text: &[u8]) -> bool {
    text.get(..14).is_some_and(|start| start.eq_ignore_ascii_case(b"<!doctype html"))
}

/// The elements that the MIME sniffing standard takes as a sign of HTML.
fn is_html_element(name: &[u8]) -> bool {
    const NAMES: [&str; 18] = [
        "html", "head", "script", "iframe", "h1", "div", "font", "table", "a", "style", "title",
        "b", "body", "br", "p", "meta", "link", "center",
    ];
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// Whether there are control characters that text does not have.
fn is_binary(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f))
}

/// Formats known by their first bytes, none of which text begins with.
fn signature(bytes: &[u8]) -> Option<&'static str> {
    const SIGNATURES: [(&[u8], &str); 24] = [
        (b"%PDF-", PDF),
        (b"%!PS-Adobe-", "application/postscript"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"\0\0\x01\0", "image/x-icon"),
        (b"II*\0", "image/tiff"),
        (b"MM\0*", "image/tiff"),
        (b"\x1f\x8b", GZIP),
        (b"PK\x03\x04", "application/zip"),
        (b"PK\x05\x06", "application/zip"),
        (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
        (b"Rar!\x1a\x07", "application/vnd.rar"),
        (b"BZh", "application/x-bzip2"),
        (b"\xfd7zXZ\0", "application/x-xz"),
        (b"\x28\xb5\x2f\xfd", "application/zstd"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
        (b"\0asm", "application/wasm"),
        (b"\x7fELF", "application/x-elf"),
        (b"OggS\0", "application/ogg"),
        (b"ID3", "audio/mpeg"),
        (b"\x1aE\xdf\xa3", "video/webm"),
        (b"wOF2", "font/woff2"),
    ];
    match bytes {
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => Some("audio/wav"),
        [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', b'f', ..] => Some("image/avif"),
        [0, _, _, _, b'f', b't', b'y', b'p', ..] => Some("video/mp4"),
        _ => SIGNATURES.iter().find(|(sign, _)| bytes.starts_with(sign)).map(|(_, mime)| *mime),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_header_together_tell_the_kind() {
        let html = Some("text/html; charset=utf-8");
        for (bytes, header, want) in [
            (&b"<p>x"[..], html, ContentKind::Html),
            (b"hello", html, ContentKind::Html),
            (b"<?xml version='1.0'?>\n<urlset xmlns='x'>", html, ContentKind::Sitemap),
            (b"\xef\xbb\xbf \n<!-- a > b -->\n<sm:sitemapindex>", None, ContentKind::SitemapIndex),
            (
                b"<?xml version='1.0'?><?xml-stylesheet href='a'?><rss version='2.0'>",
                None,
                ContentKind::Rss,
            ),
            (b"<rdf:RDF xmlns='http://purl.org/rss/1.0/'>", Some("text/xml"), ContentKind::Rss),
            (b"<rdf:RDF xmlns='http://example.org/'>", Some("text/xml"), ContentKind::Xml),
            (b"<feed xmlns='http://www.w3.org/2005/Atom'>", Some("text/plain"), ContentKind::Atom),
            (b"\xff\xfe<\0r\0s\0s\0>\0", None, ContentKind::Rss),
            (b"<!DOCTYPE html><html>", None, ContentKind::Html),
            (b"<!DOCTYPE html PUBLIC 'x'>text", None, ContentKind::Html),
            (b"<?xml version='1.0'?><html xmlns='x'>", Some("application/xml"), ContentKind::Xhtml),
            (b"<html>", Some("application/xhtml+xml"), ContentKind::Xhtml),
            (b"<!DOCTYPE rss [<!ENTITY a '>'>] ><rss>", None, ContentKind::Rss),
            (b"<svg xmlns='x'>", Some("image/svg+xml"), ContentKind::Other(UNKNOWN)),
            (b"<other/>", Some("application/foo+xml"), ContentKind::Xml),
            (b"<other/>", None, ContentKind::Xml),
            (
                b"{\"version\": \"https://jsonfeed.org/version/1.1\"}",
                Some("application/json"),
                ContentKind::JsonFeed,
            ),
            (
                b"{\"version\":\"https:\\/\\/jsonfeed.org\\/version\\/1\"}",
                None,
                ContentKind::JsonFeed,
            ),
            (b"{}", None, ContentKind::Json),
            (b"[1]", Some("application/ld+json"), ContentKind::Json),
            (b"%PDF-1.4", html, ContentKind::Other("application/pdf")),
            (b"\r\njunk %PDF-1.4", Some("application/pdf"), ContentKind::Other("application/pdf")),
            (b"about %PDF-1.4", Some("text/plain"), ContentKind::Text),
            (b"\x1f\x8b\x08", Some("text/xml"), ContentKind::Other(GZIP)),
            (b"<p>x", Some("text/plain"), ContentKind::Text),
            (b"a\0b", Some("text/plain"), ContentKind::Other(UNKNOWN)),
            (b"a\0b", None, ContentKind::Other(UNKNOWN)),
            (b"plain words", None, ContentKind::Text),
            (b"plain words", Some("application/bogus"), ContentKind::Text),
            (b"words", Some("image/png"), ContentKind::Other(UNKNOWN)),
            (b"", None, ContentKind::Text),
        ] {
            let found = sniff(bytes, header, "https://example.org/x");
            assert_eq!(found, want, "{:?} {header:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn robots_txt_is_known_by_its_address() {
        for (url, want) in [
            ("https://example.org/robots.txt", ContentKind::Robots),
            ("https://example.org/robots.txt?x=/y", ContentKind::Robots),
            ("https://example.org/a/robots.txt", ContentKind::Text),
            ("https://example.org", ContentKind::Text),
            ("", ContentKind::Text),
        ] {
            assert_eq!(sniff(b"User-agent: *", Some("text/plain"), url), want, "{url}");
        }
    }

    #[test]
    fn every_kind_has_a_type() {
        assert_eq!(ContentKind::Html.mime(), "text/html");
        assert_eq!(ContentKind::Other("image/png").mime(), "image/png");
        assert!(ContentKind::Rss.is_listing() && !ContentKind::Xml.is_listing());
    }
}
