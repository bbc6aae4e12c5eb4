//! Which attributes of which elements are links, and of what kind?

use super::links::{LinkKind, Rel};
use super::names::{Attr, Tag};
use super::start_tag::Attributes;
use super::values::{refresh, srcset};
use super::{HtmlOptions, HtmlPage};
use crate::address::{clean, leads_nowhere};

/// Takes what a start tag says into the page.
pub(super) fn collect_from_tag(
    tag: Tag,
    attributes: &Attributes<'_>,
    page: &mut HtmlPage,
    options: &HtmlOptions,
) {
    let mut taker = LinkCollector { attributes, page, max_links: options.max_links };
    match tag {
        Tag::A => taker.anchor(LinkKind::Anchor),
        Tag::Area => taker.anchor(LinkKind::Area),
        Tag::Link => taker.link(),
        Tag::Img | Tag::Sourced | Tag::Script => taker.media(),
        Tag::Video => {
            taker.media();
            taker.url(Attr::Poster, LinkKind::Embed);
        }
        Tag::Image | Tag::Use => taker.graphic(),
        Tag::Iframe | Tag::Frame => taker.url(Attr::Src, LinkKind::Frame),
        Tag::Object => taker.url(Attr::Data, LinkKind::Embed),
        Tag::Input if taker.has_word(Attr::Type, "password") => {
            taker.page.password_fields = taker.page.password_fields.saturating_add(1);
        }
        Tag::Input if taker.has_word(Attr::Type, "image") => taker.url(Attr::Src, LinkKind::Embed),
        Tag::Backed | Tag::Body => taker.url(Attr::Background, LinkKind::Embed),
        Tag::Form
            if !taker.has_word(Attr::Method, "post") && !taker.has_word(Attr::Method, "dialog") =>
        {
            taker.url(Attr::Action, LinkKind::Form);
        }
        Tag::Blockquote | Tag::Cited => taker.url(Attr::Cite, LinkKind::Cite),
        Tag::Meta => taker.meta(options),
        Tag::Base => taker.base(),
        Tag::Html => taker.language(Attr::Lang),
        _ => {}
    }
}

struct LinkCollector<'a> {
    attributes: &'a Attributes<'a>,
    page: &'a mut HtmlPage,
    max_links: usize,
}

impl LinkCollector<'_> {
    fn has_word(&self, attr: Attr, word: &str) -> bool {
        self.attributes.get(attr).is_some_and(|value| value.trim_ascii().eq_ignore_ascii_case(word))
    }

    /// `<a>` and `<area>`. An empty address leads to the page itself and is one; SVG's `<a>` may
    /// still spell its address the old way.
    fn anchor(&mut self, kind: LinkKind) {
        let href = self.attributes.get(Attr::Href).or(self.attributes.get(Attr::XlinkHref));
        let Some(href) = href else { return };
        let rel = self.attributes.get(Attr::Rel).map(Rel::parse).unwrap_or_default();
        self.push(&clean(href), kind, rel);
    }

    fn link(&mut self) {
        let rel = self.attributes.get(Attr::Rel).unwrap_or_default();
        let media_type = self.attributes.get(Attr::Type).unwrap_or_default().trim_ascii();
        let Some(kind) = kind_of_link(rel, media_type) else { return };
        let before = self.page.links.len();
        self.url(Attr::Href, kind);
        let label = match kind {
            LinkKind::Alternate => self.attributes.get(Attr::Hreflang).unwrap_or_default(),
            LinkKind::Feed => media_type,
            _ => "",
        };
        if !label.is_empty() && self.page.links.len() > before {
            self.page.links.label(before, label.trim_ascii());
        }
        self.sources(Attr::ImageSrcset);
    }

    fn media(&mut self) {
        self.url(Attr::Src, LinkKind::Embed);
        self.sources(Attr::Srcset);
    }

    /// SVG's `<image>` and `<use>`; most uses point into their own page and are no links.
    fn graphic(&mut self) {
        let href = self.attributes.get(Attr::Href).or(self.attributes.get(Attr::XlinkHref));
        let Some(href) = href.or(self.attributes.get(Attr::Src)) else { return };
        let href = clean(href);
        if !href.is_empty() && !href.starts_with('#') {
            self.push(&href, LinkKind::Embed, Rel::default());
        }
    }

    fn url(&mut self, attr: Attr, kind: LinkKind) {
        let Some(value) = self.attributes.get(attr) else { return };
        let href = clean(value);
        if !href.is_empty() {
            self.push(&href, kind, Rel::default());
        }
    }

    fn sources(&mut self, attr: Attr) {
        for source in self.attributes.get(attr).into_iter().flat_map(srcset) {
            self.push(&clean(source), LinkKind::Embed, Rel::default());
        }
    }

    fn meta(&mut self, options: &HtmlOptions) {
        let Some(content) = self.attributes.get(Attr::Content) else { return };
        if self.has_word(Attr::HttpEquiv, "refresh") {
            self.refresh(content);
        } else if self.has_word(Attr::HttpEquiv, "content-language") {
            self.language(Attr::Content);
        }
        let name = self.attributes.get(Attr::Name).unwrap_or_default().trim_ascii();
        let is_ours = |ours: &String| name.eq_ignore_ascii_case(ours);
        if name.eq_ignore_ascii_case("robots") || options.robots_names.iter().any(is_ours) {
            self.page.robots.push((name.to_ascii_lowercase(), content.to_owned()));
        }
    }

    fn refresh(&mut self, content: &str) {
        if let Some((seconds, Some(target))) = refresh(content) {
            self.page.refresh_after.get_or_insert(seconds);
            self.push(&clean(target), LinkKind::Refresh, Rel::default());
        }
    }

    fn base(&mut self) {
        if let (None, Some(href)) = (&self.page.base, self.attributes.get(Attr::Href)) {
            self.page.base = Some(clean(href).into_owned());
        }
    }

    fn language(&mut self, attr: Attr) {
        let value = self.attributes.get(attr).unwrap_or_default().trim_ascii();
        if self.page.lang.is_none() && !value.is_empty() && value.len() <= LONGEST_LANGUAGE {
            self.page.lang = Some(value.to_owned());
        }
    }

    fn push(&mut self, href: &str, kind: LinkKind, rel: Rel) {
        if leads_nowhere(href) {
            return;
        }
        if self.page.links.len() >= self.max_links {
            self.page.links_cut = true;
            return;
        }
        self.page.links.push(href, kind, rel);
    }
}

/// Longest language tag that is believed.
const LONGEST_LANGUAGE: usize = 35;

/// What a `<link>` is for; nothing for those that only warm up a connection.
pub(crate) fn kind_of_link(rel: &str, media_type: &str) -> Option<LinkKind> {
    let has = |word: &str| rel.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case(word));
    let any = |words: &[&str]| words.iter().any(|word| has(word));
    let is_icon = || {
        rel.split_ascii_whitespace().any(|one| {
            one.len() >= 4
                && one.get(one.len() - 4..).is_some_and(|end| end.eq_ignore_ascii_case("icon"))
        })
    };
    Some(if any(&["stylesheet", "preload", "modulepreload", "manifest"]) || is_icon() {
        LinkKind::Embed
    } else if has("canonical") {
        LinkKind::Canonical
    } else if has("amphtml") {
        LinkKind::Amp
    } else if has("alternate") || has("feed") {
        if is_feed_type(media_type) { LinkKind::Feed } else { LinkKind::Alternate }
    } else if has("next") {
        LinkKind::Next
    } else if any(&["prev", "previous"]) {
        LinkKind::Previous
    } else if has("hub") {
        LinkKind::Hub
    } else if has("self") {
        LinkKind::Topic
    } else if any(&["preconnect", "dns-prefetch"]) || rel.trim_ascii().is_empty() {
        return None;
    } else {
        LinkKind::Related
    })
}

fn is_feed_type(media_type: &str) -> bool {
    const TYPES: [&str; 4] = [
        "application/rss+xml",
        "application/atom+xml",
        "application/rdf+xml",
        "application/feed+json",
    ];
    let essence = media_type.split(';').next().unwrap_or_default().trim_ascii();
    TYPES.iter().any(|known| essence.eq_ignore_ascii_case(known))
}
