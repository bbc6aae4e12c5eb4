//! Where does a page lead? Its links, in one buffer instead of a string each.

use std::ops::Range;

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
}

impl LinkKind {
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
}

impl Links {
    /// The links, one after another.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = LinkRef<'_>> {
        self.links.iter().map(|link| LinkRef {
            href: self.slice(&link.href),
            kind: link.kind,
            rel: link.rel,
            label: self.slice(&link.label),
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
    pub(super) fn clear(&mut self) {
        self.arena.clear();
        self.links.clear();
    }

    /// Adds a link.
    pub(super) fn push(&mut self, href: &str, kind: LinkKind, rel: Rel) {
        let Some(href) = self.store(href) else { return };
        self.links.push(StoredLink { href, label: 0..0, kind, rel });
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
