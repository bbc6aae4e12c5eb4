//! Which pages does this sitemap or feed list, and when does it claim that they changed?
//!
//! Sitemaps, sitemap indexes, RSS, Atom and JSON Feed all are lists of addresses with dates, so they
//! become one type. Whatever can be read of a broken one is kept, and the listing is marked.

mod fields;
mod json;
mod xml;

use std::borrow::Cow;

use evercrawl_model::Time;

use crate::Document;
use crate::address::has_scheme;
use crate::charset::{decode_text, header_charset};
use crate::decode::{DecodeLimits, Truncation, decode};
use crate::sniff::{ContentKind, sniff};

/// Most addresses and bytes that a sitemap may have by its protocol.
const MAX_ENTRIES: usize = 50_000;
const MAX_BYTES: usize = 50 << 20;

/// The addresses of a sitemap or feed.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// What it is: one of the listing kinds, or [`ContentKind::Text`] for a plain list of addresses.
    pub kind: ContentKind,
    /// What it lists, in order.
    pub entries: Vec<ListingEntry>,
    /// Where to subscribe to changes of a feed.
    pub hubs: Vec<String>,
    /// The address that a feed gives itself, which is the topic to subscribe to.
    pub topic: Option<String>,
    /// Whether it is broken, so that entries may be missing.
    pub damaged: bool,
    /// Whether it is longer than the protocol allows, so that entries were dropped.
    pub cut: bool,
}

/// One address of a listing, as written: not yet resolved against the listing's own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListingEntry {
    /// The address of the page, or of the sitemap in an index.
    pub url: String,
    /// When it changed, according to the listing.
    pub modified: Option<Time>,
    /// When it was published, according to the listing.
    pub published: Option<Time>,
    /// How often it changes, according to the listing.
    pub frequency: Option<Frequency>,
    /// Its weight among the pages of its site, from 0 to 1, as its owner sees it.
    pub priority: Option<f32>,
    /// The same page in other languages.
    pub alternates: Vec<AlternateLink>,
    /// Its images and videos, according to the listing.
    pub media: Vec<String>,
}

/// The same page in another language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlternateLink {
    /// The language, such as `de-CH`.
    pub lang: String,
    /// The address.
    pub url: String,
}

/// The `changefreq` of a sitemap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Frequency {
    /// At every look.
    Always,
    /// Every hour.
    Hourly,
    /// Every day.
    Daily,
    /// Every week.
    Weekly,
    /// Every month.
    Monthly,
    /// Every year.
    Yearly,
    /// No more.
    Never,
}

impl Listing {
    /// Reads a document that is known to be a sitemap or feed, whatever its type is said to be:
    /// packed with gzip or not, XML, JSON, or plain text with an address a line.
    pub fn read_listing(document: &Document<'_>) -> Listing {
        let (bytes, cut) = unpacked(document.bytes);
        let header = document.content_type.and_then(header_charset);
        let Some(text) = decode_text(&bytes, header, None) else {
            return Listing { damaged: true, ..Listing::new(ContentKind::Text) };
        };
        let kind = sniff(&bytes, document.content_type, document.url);
        let mut listing = Self::read_text(kind, &text.text);
        listing.damaged |= matches!(cut, Some(Truncation::Corrupt { .. }));
        listing.cut |= matches!(cut, Some(Truncation::Size | Truncation::Ratio));
        listing
    }

    /// Reads a text sitemap, with an address a line, packed with gzip or not. `None` for any other document; if
    /// `strict`, also where a line is no address.
    pub fn of_text_sitemap(document: &Document<'_>, strict: bool) -> Option<Listing> {
        let (bytes, cut) = unpacked(document.bytes);
        if !is_list_of_addresses(&bytes, strict) {
            return None;
        }
        let header = document.content_type.and_then(header_charset);
        let mut listing = read_lines(&decode_text(&bytes, header, None)?.text);
        listing.damaged |= matches!(cut, Some(Truncation::Corrupt { .. }));
        listing.cut |= matches!(cut, Some(Truncation::Size | Truncation::Ratio));
        (!listing.entries.is_empty()).then_some(listing)
    }

    /// Reads the text of a listing whose kind is known.
    pub(crate) fn read_text(kind: ContentKind, text: &str) -> Listing {
        match kind {
            ContentKind::JsonFeed => json::read(text),
            // Markup with an error message before it passes for HTML.
            ContentKind::Html if !text.contains('<') => read_lines(text),
            ContentKind::Html | ContentKind::Xhtml | ContentKind::Xml => xml::read(kind, text),
            _ if kind.is_listing() => xml::read(kind, text),
            _ => read_lines(text),
        }
    }

    fn new(kind: ContentKind) -> Self {
        Listing {
            kind,
            entries: Vec::new(),
            hubs: Vec::new(),
            topic: None,
            damaged: false,
            cut: false,
        }
    }

    /// Takes an entry, unless the listing is full. Tells whether there is room for more.
    fn push(&mut self, entry: ListingEntry) -> bool {
        if self.entries.len() >= MAX_ENTRIES {
            self.cut = true;
            return false;
        }
        self.entries.push(entry);
        true
    }
}

/// The bytes without gzip, and at most as many as a sitemap may have.
fn unpacked(bytes: &[u8]) -> (Cow<'_, [u8]>, Option<Truncation>) {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let caps = DecodeLimits { bytes: MAX_BYTES, ..DecodeLimits::default() };
        let decoded = decode("gzip", bytes, caps);
        return (decoded.bytes, decoded.cut);
    }
    let kept = bytes.get(..MAX_BYTES).unwrap_or(bytes);
    (Cow::Borrowed(kept), (kept.len() < bytes.len()).then_some(Truncation::Size))
}

/// Bytes that are looked at to tell whether a text is a list of addresses.
const LOOKED_AT: usize = 64 * 1024;

/// Reads a text sitemap: the lines that are addresses.
fn read_lines(text: &str) -> Listing {
    let mut listing = Listing::new(ContentKind::Text);
    for line in text.split(['\n', '\r']) {
        let line = trimmed(line);
        if is_web_address(line)
            && !listing.push(ListingEntry { url: line.to_owned(), ..ListingEntry::default() })
        {
            break;
        }
    }
    listing
}

/// Whether a text has lines that are addresses: at least one, or if `strict` all that are not empty. Markup, and what
/// is no text, has none.
fn is_list_of_addresses(bytes: &[u8], strict: bool) -> bool {
    let text = String::from_utf8_lossy(bytes.get(..LOOKED_AT).unwrap_or(bytes));
    let lines = || text.split(['\n', '\r']).map(trimmed).filter(|line| !line.is_empty());
    let is_list = lines().any(is_web_address) && (!strict || lines().all(is_web_address));
    is_list && !trimmed(&text).starts_with('<') && !text.contains('\0')
}

fn is_web_address(text: &str) -> bool {
    (has_scheme(text, "http://") || has_scheme(text, "https://"))
        && !text.contains(char::is_whitespace)
}

/// Without white space around it, including the invisible kinds that editors leave behind.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '\u{feff}' | '\u{200b}')
    })
}
