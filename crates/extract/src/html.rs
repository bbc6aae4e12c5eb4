//! What does this HTML page say and where does it lead? One pass over the markup.
//!
//! The pass is a tokenizer's (`markup`), not a tree builder's: a third of the cost, and the same answer for
//! all but odd markup. Of the 1,592 tree construction cases of html5lib, 1,589 have the same links
//! in the same order (all have the same set) and 1,575 the same text. The others are:
//!
//! - what a table pushes out before itself comes in source order, not before it (5 texts);
//! - an `<a>` that the tree opens again after it was left open comes once (3 lists of links);
//! - what `<selectedcontent>` copies is not copied (4 texts);
//! - a `<noscript>` in the head is hidden like any other, though the tree takes its text for the
//!   beginning of the body (4 texts): it is what browsers with scripts do not show;
//! - zero bytes inside SVG, and its `<title>` left open (4 texts).

mod context;
mod emitter;
mod line_places;
mod links;
mod markup;
mod names;
mod places;
mod references;
mod rules;
mod start_tag;
mod text;
mod values;

pub use values::refresh_target;

use emitter::{PageOutput, Sink, Syntax};
pub use line_places::TextPlace;
pub use links::{LinkKind, LinkPlace, LinkRef, Links, Rel};
pub(crate) use links::{LinkSink, NO_LINKS};
pub(crate) use places::json_links;
pub(crate) use rules::kind_of_link;
use text::TextBuffer;

/// How much to take from a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtmlOptions {
    /// Most links; the rest are dropped and the page is marked.
    pub max_links: usize,
    /// Most bytes of text; the rest is dropped and the page is marked.
    pub max_text: usize,
    /// Most bytes of title.
    pub max_title: usize,
    /// Whether links carry their text. Costs a copy, so it is off.
    pub anchor_text: bool,
    /// Whether lines of text have places. Costs some of the time, so it is off.
    pub places: bool,
    /// Names of `<meta>` elements with directives for us, besides `robots`; in lower case.
    pub robots_names: Vec<String>,
    /// In which places links are looked for.
    pub sources: LinkSources,
}

/// In which places links are looked for. Each takes in those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkSources {
    /// Where markup names pages, and the images, scripts and style sheets that everybody knows of.
    #[default]
    Pages,
    /// Wherever a document names what it is made of: style sheets, fonts, headers, manifests, old and rare attributes.
    Requisites,
    /// Wherever an address stands: scripts, JSON, comments, text, forms that need no filling in.
    All,
}

impl Default for HtmlOptions {
    fn default() -> Self {
        HtmlOptions {
            max_links: 20_000,
            max_text: 1 << 20,
            max_title: 1024,
            anchor_text: false,
            places: false,
            robots_names: Vec::new(),
            sources: LinkSources::Pages,
        }
    }
}

/// What an HTML page holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HtmlPage {
    /// The first `<title>`, its white space collapsed.
    pub title: Option<String>,
    /// The text a reader sees: white space collapsed, a line a block, no scripts, styles, templates.
    pub text: String,
    /// Where the lines of the text stand, in order, if wanted.
    pub places: Vec<TextPlace>,
    /// The `href` of the first `<base>`, against which the links are to be resolved.
    pub base: Option<String>,
    /// The language that the page claims, such as `en-GB`.
    pub lang: Option<String>,
    /// Name and content of each `<meta>` that directs robots, in order.
    pub robots: Vec<(String, String)>,
    /// Seconds after which the page sends its reader on, where a link of kind
    /// [`LinkKind::Refresh`] says whither.
    pub refresh_after: Option<u32>,
    /// Fields of forms that ask for a password.
    pub password_fields: u16,
    /// Everything the page points to, in the order of the markup.
    pub links: Links,
    /// Whether links were dropped.
    pub links_cut: bool,
    /// Whether text was dropped.
    pub text_cut: bool,
}

impl HtmlPage {
    /// The address that the page says is its true one.
    pub fn canonical(&self) -> Option<&str> {
        self.first_link(LinkKind::Canonical)
    }

    /// The first link of a kind.
    pub fn first_link(&self, kind: LinkKind) -> Option<&str> {
        self.links.iter().find(|link| link.kind == kind).map(|link| link.href)
    }

    /// Empties the page, keeping its buffers.
    pub(crate) fn clear(&mut self) {
        let HtmlPage { text, places, links, robots, .. } = std::mem::take(self);
        *self = HtmlPage { text, places, links, robots, ..HtmlPage::default() };
        self.places.clear();
        self.text.clear();
        self.links.clear();
        self.robots.clear();
    }
}

/// Reads pages one after another, with the same buffers for all.
#[derive(Debug, Default)]
pub struct Extractor {
    pub(crate) page: HtmlPage,
    values: Vec<u8>,
    text: Vec<u8>,
}

impl Extractor {
    /// An extractor with empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a page. What it returns lives until the next page is read; clone what must last.
    pub fn extract_html(&mut self, html: &str, options: &HtmlOptions) -> &HtmlPage {
        self.read(html, Syntax::Html, options);
        places::read_places(html, Syntax::Html, options, &mut self.page);
        &self.page
    }

    /// Reads a page that was sent as XML, where `<script/>` is complete.
    pub fn extract_xhtml(&mut self, xhtml: &str, options: &HtmlOptions) -> &HtmlPage {
        self.read(xhtml, Syntax::Xml, options);
        places::read_places(xhtml, Syntax::Xml, options, &mut self.page);
        &self.page
    }

    fn read(&mut self, markup: &str, syntax: Syntax, options: &HtmlOptions) {
        self.read_with(markup, syntax, options, markup::read);
    }

    fn read_with(
        &mut self,
        markup: &str,
        syntax: Syntax,
        options: &HtmlOptions,
        reader: impl FnOnce(&str, Sink<'_>),
    ) -> &HtmlPage {
        self.page.clear();
        let mut text = TextBuffer::reusing(std::mem::take(&mut self.text), options.max_text);
        let mut title = TextBuffer::new(options.max_title);
        let output = PageOutput { page: &mut self.page, text: &mut text, title: &mut title };
        let sink = Sink::new(output, &mut self.values, syntax, options);
        reader(markup, sink);
        self.page.text_cut = text.is_cut();
        self.page.text.push_str(text.finish());
        self.page.title = Some(title.finish().to_owned()).filter(|title| !title.is_empty());
        self.text = text.into_buffer();
        &self.page
    }
}
