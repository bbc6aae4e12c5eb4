//! Which element of a listing holds what? Identified by local names, whatever the prefixes.

use quick_xml::XmlVersion;
use quick_xml::events::BytesStart;

use super::{AlternateLink, Frequency, Listing, ListingEntry, is_web_address, trimmed};
use crate::address::clean;
use crate::claimed_date;
use crate::sniff::ContentKind;

/// Longest name of interest.
const LONGEST_NAME: usize = 16;
/// Most images, videos and languages of one entry, and most hubs of a feed.
const MOST_EXTRAS: usize = 1000;

/// An element, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    /// `<urlset>`, `<sitemapindex>`, `<rss>`, `<rdf:RDF>`, `<channel>`, `<feed>`: holds entries.
    List,
    /// `<item>` or `<entry>` of a feed.
    Entry,
    /// `<url>` or `<sitemap>` of a sitemap.
    Url,
    /// `<image:image>` or `<video:video>` in a sitemap, or the image of an RSS channel.
    Media,
    News,
    Loc,
    LastMod,
    ChangeFreq,
    Priority,
    /// `<video:content_loc>` and the like.
    MediaLoc,
    /// `<news:publication_date>`.
    PublicationDate,
    /// `<link>` of RSS with text, of Atom and XHTML with an attribute.
    Link,
    /// `<guid>` and `<id>`: often the address too.
    Id,
    /// `<pubDate>`, `<published>`, `<issued>`, `<dc:date>`.
    Published,
    /// `<updated>` and `<modified>`.
    Updated,
    Other,
}

impl Element {
    pub(super) fn named(local_name: &str) -> Element {
        let mut lower = [0; LONGEST_NAME];
        let Some(lower) = lower.get_mut(..local_name.len()) else { return Element::Other };
        lower.copy_from_slice(local_name.as_bytes());
        lower.make_ascii_lowercase();
        match &*lower {
            b"urlset" | b"sitemapindex" | b"rss" | b"rdf" | b"channel" | b"feed" => Element::List,
            b"item" | b"entry" => Element::Entry,
            b"url" | b"sitemap" => Element::Url,
            b"image" | b"video" => Element::Media,
            b"news" => Element::News,
            b"loc" => Element::Loc,
            b"lastmod" => Element::LastMod,
            b"changefreq" => Element::ChangeFreq,
            b"priority" => Element::Priority,
            b"content_loc" | b"thumbnail_loc" | b"player_loc" => Element::MediaLoc,
            b"publication_date" => Element::PublicationDate,
            b"link" => Element::Link,
            b"guid" | b"id" => Element::Id,
            b"pubdate" | b"published" | b"issued" | b"date" => Element::Published,
            b"updated" | b"modified" => Element::Updated,
            _ => Element::Other,
        }
    }

    /// Whether an `inner` element inside it shows that its end tag was forgotten.
    pub(super) fn cannot_hold(self, inner: Element) -> bool {
        let same_entry = self.is_entry() && self == inner;
        same_entry || (self.is_field() && (inner.is_field() || inner.is_entry()))
    }

    fn is_entry(self) -> bool {
        matches!(self, Element::Entry | Element::Url)
    }

    /// Whether it holds only text.
    fn is_field(self) -> bool {
        use Element::{List, Media, News, Other};
        !self.is_entry() && !matches!(self, List | Media | News | Other)
    }
}

/// Puts a listing together from its elements.
pub(super) struct Builder {
    listing: Listing,
    entry: Option<ListingEntry>,
    /// The identifier of the entry, in case that it has no link.
    id: String,
    full: bool,
}

impl Builder {
    pub(super) fn new(kind: ContentKind) -> Self {
        Builder { listing: Listing::new(kind), entry: None, id: String::new(), full: false }
    }

    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Takes the start of an element.
    pub(super) fn begin(
        &mut self,
        element: Element,
        parent: Option<Element>,
        start: &BytesStart<'_>,
    ) {
        match (element, parent) {
            (Element::Entry | Element::Url, None | Some(Element::List)) => {
                self.end_entry();
                self.entry = Some(ListingEntry::default());
            }
            (Element::Link, Some(Element::List | Element::Entry | Element::Url)) => {
                self.link(start)
            }
            // A name for the entry that is expressly no address must not pass for one.
            (Element::Id, Some(Element::Entry)) if says_no_permalink(start) => {
                self.id = "not an address".to_owned();
            }
            _ => {}
        }
    }

    /// Takes an element's text when it ends.
    pub(super) fn end(&mut self, element: Element, parent: Option<Element>, text: &str) {
        let text = trimmed(text);
        match (element, parent) {
            (Element::Entry | Element::Url, None | Some(Element::List)) => self.end_entry(),
            _ if text.is_empty() => {}
            (_, Some(Element::Entry | Element::Url)) => self.field(element, text),
            (Element::PublicationDate, Some(Element::News)) => self.field(element, text),
            (Element::Loc | Element::MediaLoc, Some(Element::Media)) => {
                self.field(Element::MediaLoc, text);
            }
            _ => {}
        }
    }

    /// Takes a field of the open entry; where there are several, the first that can be read counts.
    fn field(&mut self, element: Element, text: &str) {
        let Some(entry) = &mut self.entry else { return };
        match element {
            Element::Loc | Element::Link => set_address(&mut entry.url, text),
            Element::Id => set_address(&mut self.id, text),
            Element::LastMod | Element::Updated => {
                entry.modified = entry.modified.or_else(|| claimed_date::parse(text));
            }
            Element::Published | Element::PublicationDate => {
                entry.published = entry.published.or_else(|| claimed_date::parse(text));
            }
            Element::ChangeFreq => entry.frequency = entry.frequency.or_else(|| frequency(text)),
            Element::Priority => entry.priority = entry.priority.or_else(|| priority(text)),
            Element::MediaLoc if entry.media.len() < MOST_EXTRAS => {
                entry.media.push(clean(text).into_owned());
            }
            _ => {}
        }
    }

    /// The listing. An entry that was cut off counts when its address is complete.
    pub(super) fn finish(mut self) -> Listing {
        self.end_entry();
        self.listing
    }

    fn end_entry(&mut self) {
        let id = std::mem::take(&mut self.id);
        let Some(mut entry) = self.entry.take() else { return };
        if entry.url.is_empty() && is_web_address(&id) {
            entry.url = id;
        }
        if !entry.url.is_empty() {
            self.full = !self.listing.push(entry);
        }
    }

    /// A link by attribute: Atom's to the page, a feed's to itself and its hubs, a sitemap's to
    /// other languages.
    fn link(&mut self, start: &BytesStart<'_>) {
        let Some(href) = attribute(start, "href") else { return };
        let href = clean(trimmed(&href)).into_owned();
        let rel = attribute(start, "rel").unwrap_or_else(|| "alternate".to_owned());
        let lang = attribute(start, "hreflang");
        match (rel.trim(), &mut self.entry) {
            ("hub", None) if self.listing.hubs.len() < MOST_EXTRAS => self.listing.hubs.push(href),
            ("self", None) => self.listing.topic = self.listing.topic.take().or(Some(href)),
            ("alternate", Some(entry)) if self.listing.kind != ContentKind::Sitemap => {
                set_address(&mut entry.url, &href);
            }
            ("alternate", Some(entry)) if entry.alternates.len() < MOST_EXTRAS => {
                entry.alternates.push(AlternateLink { lang: lang.unwrap_or_default(), url: href });
            }
            _ => {}
        }
    }
}

/// Sets an address that is not set: the first counts.
fn set_address(slot: &mut String, text: &str) {
    if slot.is_empty() {
        *slot = clean(text).into_owned();
    }
}

fn says_no_permalink(start: &BytesStart<'_>) -> bool {
    attribute(start, "isPermaLink").is_some_and(|value| value.trim().eq_ignore_ascii_case("false"))
}

/// The value of an attribute by local name, its references resolved where they are known.
fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = start.html_attributes();
    let found = attributes
        .with_checks(false)
        .flatten()
        .find(|attribute| attribute.key.local_name().as_ref().eq_ignore_ascii_case(name))?;
    let plain = found.value.as_ref().to_owned();
    Some(found.normalized_value(XmlVersion::Implicit1_0).map_or(plain, |value| value.into_owned()))
}

fn frequency(text: &str) -> Option<Frequency> {
    const NAMES: [(&str, Frequency); 7] = [
        ("always", Frequency::Always),
        ("hourly", Frequency::Hourly),
        ("daily", Frequency::Daily),
        ("weekly", Frequency::Weekly),
        ("monthly", Frequency::Monthly),
        ("yearly", Frequency::Yearly),
        ("never", Frequency::Never),
    ];
    NAMES.iter().find(|(name, _)| text.eq_ignore_ascii_case(name)).map(|(_, frequency)| *frequency)
}

fn priority(text: &str) -> Option<f32> {
    text.replace(',', ".").parse().ok().filter(|value| (0.0..=1.0).contains(value))
}
