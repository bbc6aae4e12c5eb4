//! Where does a page lead? Its links, in one buffer instead of a string each.

use std::ops::Range;

use crate::address::{clean, leads_nowhere};

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkKind {
    /// `<a>`: the reader may go there.
    Anchor,
    /// `<area>` of an image map.
    Area,
    /// `<iframe>` or `<frame>`: a page inside this one.
    Frame,
    /// `<meta http-equiv=refresh>`: the reader is sent there.
    Refresh,
    /// `<link rel=canonical>`: the page's true address.
    Canonical,
    /// `<link rel=alternate>`: the page in another language or form; labelled with the language.
    Alternate,
    /// `<link rel=amphtml>`.
    Amp,
    /// `<link rel=alternate>` of a feed's type; labelled with the type.
    Feed,
    /// `<link rel=next>`.
    Next,
    /// `<link rel=prev>`.
    Previous,
    /// `<link rel=hub>`: where to subscribe to changes.
    Hub,
    /// `<link rel=self>`: the topic to subscribe to.
    Topic,
    /// Any other `<link>` that names a document: author, license, search and so on.
    Related,
    /// `<form>` sent by GET. Forms sent by POST are no links: following one may change something.
    Form,
    /// What the page is made of: images, scripts, style sheets, media.
    Embed,
    /// The source of a quotation or an edit.
    Cite,
    /// `ping`: told when a reader follows the link.
    Ping,
    /// `<form>` sent by GET that has nothing left to fill in: the address that its button leads to.
    Submission,
    /// An address that stands as a string in a script, in data, in a comment or in text.
    Mention,
}

/// What kind of place a link was found in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LinkPlace {
    /// An attribute that HTML or SVG defines for an address.
    #[default]
    Markup,
    /// A style sheet or a `style` attribute.
    Style,
    /// Markup inside an attribute: `srcdoc`, a `data:` address.
    Inner,
    /// Any other attribute, such as `data-src`.
    Attribute,
    /// A comment.
    Comment,
    /// The text of a page, or a document of plain text.
    Text,
    /// A script, or an attribute such as `onclick`.
    Script,
    /// A string in JSON.
    Json,
    /// A web application manifest.
    Manifest,
    /// A header of the response.
    Header,
    /// A PDF.
    Pdf,
}

impl LinkPlace {
    /// How many there are.
    pub const COUNT: usize = LinkPlace::Pdf as usize + 1;

    /// Its name in output.
    pub fn name(self) -> &'static str {
        match self {
            LinkPlace::Markup => "markup",
            LinkPlace::Style => "style",
            LinkPlace::Inner => "inner_markup",
            LinkPlace::Attribute => "attribute",
            LinkPlace::Comment => "comment",
            LinkPlace::Text => "text",
            LinkPlace::Script => "script",
            LinkPlace::Json => "json",
            LinkPlace::Manifest => "manifest",
            LinkPlace::Header => "header",
            LinkPlace::Pdf => "pdf",
        }
    }

    /// Whether what stands there may be no address at all: it is fetched as long as that proves to be worth it.
    pub fn is_guess(self) -> bool {
        use LinkPlace::{Attribute, Comment, Inner, Json, Script, Text};
        matches!(self, Inner | Attribute | Comment | Text | Script | Json)
    }
}

impl LinkKind {
    /// Its name in output.
    pub fn name(self) -> &'static str {
        match self {
            LinkKind::Anchor => "anchor",
            LinkKind::Area => "area",
            LinkKind::Frame => "frame",
            LinkKind::Refresh => "refresh",
            LinkKind::Canonical => "canonical",
            LinkKind::Alternate => "alternate",
            LinkKind::Amp => "amp",
            LinkKind::Feed => "feed",
            LinkKind::Next => "next",
            LinkKind::Previous => "previous",
            LinkKind::Hub => "hub",
            LinkKind::Topic => "topic",
            LinkKind::Related => "related",
            LinkKind::Form => "form",
            LinkKind::Embed => "requisite",
            LinkKind::Cite => "cite",
            LinkKind::Ping => "ping",
            LinkKind::Submission => "submission",
            LinkKind::Mention => "mention",
        }
    }

    /// Whether it leads to a page that a reader could open.
    pub fn leads_to_page(self) -> bool {
        use LinkKind::{
            Alternate, Amp, Anchor, Area, Canonical, Frame, Next, Previous, Refresh, Related,
        };
        matches!(
            self,
            Anchor
                | Area
                | Frame
                | Refresh
                | Canonical
                | Alternate
                | Amp
                | Next
                | Previous
                | Related
        )
    }
}

/// What the page's author says about a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rel {
    /// `nofollow`: not endorsed.
    pub nofollow: bool,
    /// `ugc`: put there by a visitor.
    pub ugc: bool,
    /// `sponsored`: paid for.
    pub sponsored: bool,
}

impl Rel {
    /// Reads a `rel` attribute. Commas separate too: many authors write them.
    pub fn parse(value: &str) -> Self {
        let mut rel = Rel::default();
        for token in value.split(|c: char| c.is_ascii_whitespace() || c == ',') {
            rel.nofollow |= token.eq_ignore_ascii_case("nofollow");
            rel.ugc |= token.eq_ignore_ascii_case("ugc");
            rel.sponsored |= token.eq_ignore_ascii_case("sponsored");
        }
        rel
    }
}

/// One link, borrowed from its [`Links`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkRef<'a> {
    /// The address as written: character references decoded, tabs and line ends removed, not yet
    /// resolved against the page's base.
    pub href: &'a str,
    /// What the link is for.
    pub kind: LinkKind,
    /// What the author says about it.
    pub rel: Rel,
    /// The words the link is put in, an alternate's language or a feed's type; often empty.
    pub label: &'a str,
    /// Where it stands.
    pub place: LinkPlace,
}

/// The links of a page, in the order of the markup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    arena: String,
    links: Vec<StoredLink>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct StoredLink {
    href: Range<u32>,
    label: Range<u32>,
    kind: LinkKind,
    rel: Rel,
    place: LinkPlace,
}

/// No links.
pub(crate) static NO_LINKS: Links = Links { arena: String::new(), links: Vec::new() };

/// Takes links up to a number, and notes that there were more.
pub(crate) struct LinkSink<'a> {
    pub(crate) links: &'a mut Links,
    pub(crate) max: usize,
    pub(crate) cut: &'a mut bool,
}

impl LinkSink<'_> {
    /// Adds a link, unless its address leads nowhere or to the page itself.
    pub(crate) fn add(&mut self, href: &str, kind: LinkKind, place: LinkPlace) {
        let href = clean(href);
        // What a program fills in later is no address yet.
        let is_open = ["{{", "{%", "${", "<%"].iter().any(|mark| href.contains(mark));
        if href.is_empty() || href.starts_with('#') || leads_nowhere(&href) || is_open {
            return;
        }
        if self.links.len() >= self.max {
            *self.cut = true;
            return;
        }
        self.links.push_at(&href, kind, place);
    }
}

impl Links {
    /// The links, one after another.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = LinkRef<'_>> {
        self.links.iter().map(|link| LinkRef {
            href: self.slice(&link.href),
            kind: link.kind,
            rel: link.rel,
            label: self.slice(&link.label),
            place: link.place,
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Forgets all links, keeping the buffers.
    pub(crate) fn clear(&mut self) {
        self.arena.clear();
        self.links.clear();
    }

    /// Adds a link.
    pub(super) fn push(&mut self, href: &str, kind: LinkKind, rel: Rel) {
        let Some(href) = self.store(href) else { return };
        let place = LinkPlace::Markup;
        self.links.push(StoredLink { href, label: 0..0, kind, rel, place });
    }

    /// Adds a link that stands in another place than markup.
    fn push_at(&mut self, href: &str, kind: LinkKind, place: LinkPlace) {
        self.push(href, kind, Rel::default());
        self.links.last_mut().into_iter().for_each(|link| link.place = place);
    }

    /// Labels the link at `index`.
    pub(super) fn label(&mut self, index: usize, label: &str) {
        let stored = self.store(label);
        if let (Some(link), Some(label)) = (self.links.get_mut(index), stored) {
            link.label = label;
        }
    }

    /// Copies `text` into the arena; nothing beyond the four gigabytes that offsets can name.
    fn store(&mut self, text: &str) -> Option<Range<u32>> {
        let start = u32::try_from(self.arena.len()).ok()?;
        let end = start.checked_add(u32::try_from(text.len()).ok()?)?;
        self.arena.push_str(text);
        Some(start..end)
    }

    fn slice(&self, range: &Range<u32>) -> &str {
        self.arena.get(range.start as usize..range.end as usize).unwrap_or_default()
    }
}
