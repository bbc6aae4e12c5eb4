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
mod css;
pub mod decode;
mod documents;
pub mod html;
mod link_header;
pub mod listing;
mod pdf;
pub mod sniff;
mod strings;
mod web_manifest;

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;

use charset::{decode_text, header_charset};
pub use css::read_css;
use decode::{DecodeLimits, decode};
use html::NO_LINKS;
pub use html::{
    Extractor, HtmlOptions, HtmlPage, LinkKind, LinkPlace, LinkRef, LinkSources, Links, Rel,
    TextPlace, refresh_target,
};
pub use link_header::HeaderLinks;
pub use listing::{Listing, ListingEntry};
pub use pdf::Unreadable;
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
    /// Where it leads: the links of a page, or the addresses in a style sheet, a script or data where those are looked
    /// for. A listing has its entries instead.
    pub links: &'a Links,
    /// Why nothing was read from a document that is of a kind which is read.
    pub unreadable: Option<Unreadable>,
}

/// What was read from a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Content<'a> {
    /// An HTML page, or a PDF.
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
            ContentKind::Other(sniff::PDF) => self.extract_pdf(kind, document, options),
            ContentKind::Other(_) => self.extract_unreadable(kind, document, options),
            _ => self.extract_text(kind, document, options),
        }
    }

    fn extract_pdf<'a>(
        &'a mut self,
        kind: ContentKind,
        document: &Document<'_>,
        options: &HtmlOptions,
    ) -> Extraction<'a> {
        // A mistake in reading one file must not end the crawl: no other format is as intricate.
        let page = &mut self.page;
        let read = || pdf::read_pdf(document.bytes, options, page);
        let read = std::panic::catch_unwind(AssertUnwindSafe(read));
        match read.unwrap_or(Err(Unreadable::Failed)) {
            Ok(()) => {
                let (content, links) = (Content::Page(&self.page), &self.page.links);
                Extraction { content, links, ..nothing(kind) }
            }
            Err(why) => Extraction { unreadable: Some(why), ..nothing(kind) },
        }
    }

    /// What has no text for us; an image made of markup may still lead somewhere.
    fn extract_unreadable<'a>(
        &'a mut self,
        kind: ContentKind,
        document: &Document<'_>,
        options: &HtmlOptions,
    ) -> Extraction<'a> {
        if options.sources == LinkSources::Pages || !documents::is_svg(document) {
            return nothing(kind);
        }
        self.read_links_of_svg(document, options);
        Extraction { links: &self.page.links, ..nothing(kind) }
    }

    fn extract_text<'a>(
        &'a mut self,
        kind: ContentKind,
        document: &Document<'a>,
        options: &HtmlOptions,
    ) -> Extraction<'a> {
        let header = document.content_type.and_then(header_charset);
        let Some(decoded) = decode_text(document.bytes, header, host_of(document.url)) else {
            return nothing(kind);
        };
        let charset = Some(decoded.charset);
        let page = match kind {
            ContentKind::Html => self.extract_html(&decoded.text, options),
            ContentKind::Xhtml => self.extract_xhtml(&decoded.text, options),
            _ if kind.is_listing() => {
                let listing = Box::new(Listing::read_text(kind, &decoded.text));
                let content = Content::Listing(listing);
                return Extraction { charset, content, ..nothing(kind) };
            }
            _ => {
                self.read_links_of_text(kind, document, &decoded.text, options);
                let content = Content::Text(decoded.text);
                let links = &self.page.links;
                return Extraction { charset, content, links, ..nothing(kind) };
            }
        };
        let content = Content::Page(page);
        Extraction { charset, content, links: &page.links, ..nothing(kind) }
    }

    /// Reads a sitemap that is packed as a file; other packed files hold nothing for us.
    fn extract_packed<'a>(document: &Document<'_>) -> Extraction<'a> {
        let peek =
            decode("gzip", document.bytes, DecodeLimits { bytes: PEEK, ..DecodeLimits::default() });
        if sniff::sniff(&peek.bytes, None, "").is_listing() {
            let listing = Box::new(Listing::read_listing(document));
            let kind = listing.kind;
            return Extraction { content: Content::Listing(listing), ..nothing(kind) };
        }
        nothing(ContentKind::Other(sniff::GZIP))
    }
}

/// A document of a kind from which nothing was read.
fn nothing<'a>(kind: ContentKind) -> Extraction<'a> {
    Extraction {
        kind,
        charset: None,
        content: Content::Nothing,
        links: &NO_LINKS,
        unreadable: None,
    }
}

/// How much of a packed file is unpacked to see what it is.
const PEEK: usize = 4096;

/// The host in an address, as a hint to guess an encoding by.
pub fn host_of(url: &str) -> Option<&str> {
    let authority = url.split_once("://")?.1.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    Some(host.split(':').next().unwrap_or(host))
}
