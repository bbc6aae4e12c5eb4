//! Bytes to links, text, title, canonical address, language, sitemap and feed entries.
//!
//! The way through: [`decode::decode`] undoes the `Content-Encoding`, [`sniff::sniff`] tells the
//! kind, [`charset::decode_text`] makes it UTF-8, and then [`html`] or [`listing`] reads it.
//! [`Extractor::extract`] does the last three in one call. Nothing here fails: any bytes give an
//! answer, in time linear in their number and within stated caps.
//!
//! ```
//! use evercrawl_extract::{Content, Document, Extractor, HtmlOptions};
//!
//! let document = Document {
//!     bytes: b"<title>Hello</title><a href=/next rel=nofollow>on</a>",
//!     content_type: Some("text/html"),
//!     url: "https://example.org/",
//! };
//! let mut extractor = Extractor::new();
//! let extracted = extractor.extract(&document, &HtmlOptions::default());
//! let Content::Page(page) = extracted.content else { unreachable!() };
//! assert_eq!(page.title.as_deref(), Some("Hello"));
//! assert_eq!(page.text, "on");
//! let link = page.links.iter().next().unwrap();
//! assert!(link.href == "/next" && link.rel.nofollow);
//! ```

mod address;
pub mod charset;
mod claimed_date;
pub mod decode;
pub mod html;
pub mod listing;
pub mod sniff;

use std::borrow::Cow;

use charset::{decode_text, header_charset};
use decode::{DecodeLimits, decode};
pub use html::{Extractor, HtmlOptions, HtmlPage, LinkKind, LinkRef, Links, Rel, TextPlace};
pub use listing::{Listing, ListingEntry};
pub use sniff::ContentKind;

/// A document as it was received, its content codings already undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Document<'a> {
    /// The body.
    pub bytes: &'a [u8],
    /// The `Content-Type` header.
    pub content_type: Option<&'a str>,
    /// Where it came from.
    pub url: &'a str,
}

/// What a document holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Extraction<'a> {
    /// What it is.
    pub kind: ContentKind,
    /// The encoding it was written in, if it is text.
    pub charset: Option<&'static str>,
    /// What was read from it.
    pub content: Content<'a>,
}

/// What was read from a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Content<'a> {
    /// An HTML page.
    Page(&'a HtmlPage),
    /// A sitemap or feed.
    Listing(Box<Listing>),
    /// Text that leads nowhere: plain, or of a format without links for us.
    Text(Cow<'a, str>),
    /// Nothing that could be read.
    Nothing,
}

impl Extractor {
    /// Reads a document of any kind.
    pub fn extract<'a>(
        &'a mut self,
        document: &Document<'a>,
        options: &HtmlOptions,
    ) -> Extraction<'a> {
        let kind = sniff::sniff(document.bytes, document.content_type, document.url);
        match kind {
            ContentKind::Other(sniff::GZIP) => Self::extract_packed(document),
            ContentKind::Other(_) => Extraction { kind, charset: None, content: Content::Nothing },
            _ => self.extract_text(kind, document, options),
        }
    }

    fn extract_text<'a>(
        &'a mut self,
        kind: ContentKind,
        document: &Document<'a>,
        options: &HtmlOptions,
    ) -> Extraction<'a> {
        let header = document.content_type.and_then(header_charset);
        let Some(decoded) = decode_text(document.bytes, header, host_of(document.url)) else {
            return Extraction { kind, charset: None, content: Content::Nothing };
        };
        let content = match kind {
            ContentKind::Html => Content::Page(self.extract_html(&decoded.text, options)),
            ContentKind::Xhtml => Content::Page(self.extract_xhtml(&decoded.text, options)),
            _ if kind.is_listing() => {
                Content::Listing(Box::new(Listing::read_text(kind, &decoded.text)))
            }
            _ => Content::Text(decoded.text),
        };
        Extraction { kind, charset: Some(decoded.charset), content }
    }

    /// Reads a sitemap that is packed as a file; other packed files hold nothing for us.
    fn extract_packed<'a>(document: &Document<'_>) -> Extraction<'a> {
        let peek =
            decode("gzip", document.bytes, DecodeLimits { bytes: PEEK, ..DecodeLimits::default() });
        if sniff::sniff(&peek.bytes, None, "").is_listing() {
            let listing = Box::new(Listing::read_listing(document));
            let kind = listing.kind;
            return Extraction { kind, charset: None, content: Content::Listing(listing) };
        }
        Extraction {
            kind: ContentKind::Other(sniff::GZIP),
            charset: None,
            content: Content::Nothing,
        }
    }
}

/// How much of a packed file is unpacked to see what it is.
const PEEK: usize = 4096;

/// The host in an address, as a hint to guess an encoding by.
fn host_of(url: &str) -> Option<&str> {
    let authority = url.split_once("://")?.1.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    Some(host.split(':').next().unwrap_or(host))
}
