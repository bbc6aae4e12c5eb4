//! What to do with each token? The tokenizer's callbacks, without an allocation a token.
//!
//! This is the hot path of the crawler. Names go into small arrays, attribute values only when they
//! are of interest and then into one reused buffer, text straight into the page's.

use std::convert::Infallible;

use html5gum::{Emitter, Error, State};

use super::context::Context;
use super::line_places::OpenBlocks;
use super::names::{Attr, Name, Tag, ends_foreign_content};
use super::rules;
use super::start_tag::{Attributes, CurrentTag};
use super::text::TextBuffer;
use super::{HtmlOptions, HtmlPage, LinkSources};

/// Longest text of a link.
const LONGEST_LABEL: usize = 256;

/// Receives the tokens of one page.
pub(super) struct Sink<'a> {
    output: PageOutput<'a>,
    syntax: Syntax,
    options: &'a HtmlOptions,
    context: Context,
    target: AttributeTarget,
    /// Where text goes outside of raw text: nowhere once a frameset took the place of the body.
    ground: AttributeTarget,
    body_began: bool,
    tag: CurrentTag,
    attributes: Attributes<'a>,
    /// The element whose end tag ends raw text.
    last_start: Tag,
    /// The blocks around the text, where lines are to have places.
    blocks: Option<OpenBlocks>,
    /// The link whose words are being gathered, and where they began.
    anchor: Option<(usize, usize)>,
}

/// What the tokens are gathered in.
pub(super) struct PageOutput<'a> {
    pub(super) page: &'a mut HtmlPage,
    pub(super) text: &'a mut TextBuffer,
    pub(super) title: &'a mut TextBuffer,
}

/// Which rules the markup was written by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Html,
    Xml,
}

/// Where text goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AttributeTarget {
    Text,
    Title,
    Nowhere,
}

impl<'a> Sink<'a> {
    pub(super) fn new(
        output: PageOutput<'a>,
        values: &'a mut Vec<u8>,
        syntax: Syntax,
        options: &'a HtmlOptions,
    ) -> Self {
        Sink {
            output,
            syntax,
            options,
            context: Context::default(),
            target: AttributeTarget::Text,
            ground: AttributeTarget::Text,
            body_began: false,
            tag: CurrentTag::default(),
            attributes: Attributes::new(values, options.places),
            last_start: Tag::Inline,
            blocks: options.places.then(OpenBlocks::default),
            anchor: None,
        }
    }

    /// The element that began last: the one whose raw text may be read now.
    pub(super) fn last_start(&self) -> Tag {
        self.last_start
    }

    /// Gives the tag being read its whole name.
    #[inline]
    pub(super) fn set_tag_name(&mut self, name: Name) {
        self.tag.set_name(name);
    }

    /// Begins an attribute; true when its name is wanted.
    #[inline]
    pub(super) fn begin_attribute(&mut self) -> bool {
        self.attributes.end_attribute();
        let marks = |tag: Tag| self.options.places && tag.separates();
        let wanted = !self.tag.is_end && {
            let tag = self.tag.tag();
            tag.may_hold_text() || marks(tag)
        };
        self.attributes.begin_attribute(wanted);
        wanted
    }

    /// Gives the attribute being read its whole name.
    #[inline]
    pub(super) fn set_attribute_name(&mut self, name: Name) {
        self.attributes.set_name(name);
    }

    /// Begins the value of an attribute; true when it is wanted.
    #[inline]
    pub(super) fn begin_value(&mut self) -> bool {
        self.attributes.begin_value()
    }

    fn start_tag(&mut self) -> Option<State> {
        let tag = self.tag.tag();
        if self.context.is_foreign() && ends_foreign_content(self.tag.name()) {
            self.context.leave_foreign();
        }
        if tag.separates() {
            self.output.text.end_line();
            if let Some(blocks) = &mut self.blocks {
                blocks.begin(self.tag.name(), &self.attributes);
                if self.tag.self_closing && self.syntax == Syntax::Xml {
                    blocks.end(self.tag.name());
                }
            }
        }
        if tag.may_hold_text() && (!self.context.is_inert() || self.reads_templates()) {
            self.take_links(tag);
        }
        self.last_start = tag;
        self.next_state(tag)
    }

    /// Whether links are wanted that only a script would put into the page.
    fn reads_templates(&self) -> bool {
        self.options.sources == LinkSources::All
    }

    fn take_links(&mut self, tag: Tag) {
        let before = self.output.page.links.len();
        if tag == Tag::A {
            self.end_anchor();
        }
        rules::collect_from_tag(tag, &self.attributes, self.output.page, self.options);
        if tag == Tag::A && self.options.anchor_text && self.output.page.links.len() > before {
            self.anchor = Some((before, self.output.text.len()));
        }
    }

    /// How the tokenizer is to read on, as the tree builder would tell it without scripting.
    fn next_state(&mut self, tag: Tag) -> Option<State> {
        if self.context.is_foreign() || matches!(tag, Tag::Svg | Tag::Math) {
            if !self.tag.self_closing {
                self.enter_foreign(tag);
            }
            return None;
        }
        if self.tag.self_closing && self.syntax == Syntax::Xml {
            return None;
        }
        match tag {
            Tag::Title => {
                let first = self.output.title.len() == 0 && !self.context.is_hidden();
                self.target = if first { AttributeTarget::Title } else { AttributeTarget::Nowhere };
                Some(State::RcData)
            }
            Tag::Script | Tag::Style => {
                self.target = AttributeTarget::Nowhere;
                Some(if tag == Tag::Script { State::ScriptData } else { State::RawText })
            }
            Tag::Textarea => Some(State::RcData),
            Tag::Iframe | Tag::Noembed | Tag::Xmp => Some(State::RawText),
            Tag::Noframes => {
                self.target = AttributeTarget::Text;
                Some(State::RawText)
            }
            Tag::Plaintext => Some(State::PlainText),
            // A template that makes a shadow root is shown where it stands.
            Tag::Template if self.attributes.get(Attr::ShadowRootMode).is_some() => None,
            Tag::Body => {
                self.body_began = true;
                None
            }
            Tag::Frameset => {
                self.enter_frameset();
                None
            }
            _ => {
                self.context.enter(tag);
                None
            }
        }
    }

    /// A frameset instead of a body shows no text of its own; after a body it means nothing.
    fn enter_frameset(&mut self) {
        if !self.body_began && self.output.text.len() == 0 && !self.context.is_inert() {
            self.ground = AttributeTarget::Nowhere;
            self.target = AttributeTarget::Nowhere;
        }
    }

    fn enter_foreign(&mut self, tag: Tag) {
        let holds_html = |encoding: &str| {
            encoding.eq_ignore_ascii_case("text/html")
                || encoding.eq_ignore_ascii_case("application/xhtml+xml")
        };
        let is_plain = tag == Tag::AnnotationXml
            && !self.attributes.get(Attr::Encoding).is_some_and(holds_html);
        if !is_plain {
            self.context.enter(tag);
        }
    }

    fn end_tag(&mut self) {
        let tag = self.tag.tag();
        self.target = self.ground;
        if tag.separates() {
            self.output.text.end_line();
            if let Some(blocks) = &mut self.blocks {
                blocks.end(self.tag.name());
            }
        }
        if tag == Tag::A {
            self.end_anchor();
        }
        if self.context.is_foreign()
            && (tag == Tag::Backed || ends_foreign_content(self.tag.name()))
        {
            self.context.leave_foreign();
        }
        self.context.leave(tag);
    }

    fn end_anchor(&mut self) {
        if let Some((link, start)) = self.anchor.take() {
            let words = self.output.text.since(start, LONGEST_LABEL).replace('\n', " ");
            self.output.page.links.label(link, &words);
        }
    }
}

impl Emitter for Sink<'_> {
    type Token = Infallible;

    #[inline]
    fn emit_string(&mut self, bytes: &[u8]) {
        match self.target {
            AttributeTarget::Text if self.context.is_hidden() => {}
            // The tokenizer hands a NUL over by itself; HTML drops it.
            AttributeTarget::Text if bytes == b"\0" => {
                if self.context.is_foreign() {
                    self.output.text.push("\u{fffd}".as_bytes());
                }
            }
            AttributeTarget::Text => {
                if let Some(blocks) = &self.blocks
                    && self.output.text.is_at_line_start()
                    && !bytes.iter().all(u8::is_ascii_whitespace)
                {
                    self.output.page.places.push(blocks.place(self.output.text.len()));
                }
                self.output.text.push(bytes);
            }
            AttributeTarget::Title => self.output.title.push(bytes),
            AttributeTarget::Nowhere => {}
        }
    }

    #[inline]
    fn init_start_tag(&mut self) {
        self.tag.begin(false);
        self.attributes.clear();
    }

    #[inline]
    fn init_end_tag(&mut self) {
        self.tag.begin(true);
        self.attributes.clear();
    }

    #[inline]
    fn push_tag_name(&mut self, piece: &[u8]) {
        self.tag.push_name(piece);
    }

    #[inline]
    fn init_attribute(&mut self) {
        self.begin_attribute();
    }

    #[inline]
    fn push_attribute_name(&mut self, piece: &[u8]) {
        self.attributes.push_name(piece);
    }

    #[inline]
    fn init_attribute_value(&mut self) {
        self.begin_value();
    }

    #[inline]
    fn push_attribute_value(&mut self, piece: &[u8]) {
        self.attributes.push_value(piece);
    }

    #[inline]
    fn set_self_closing(&mut self) {
        self.tag.self_closing = true;
    }

    #[inline]
    fn emit_current_tag(&mut self) -> Option<State> {
        self.attributes.end_attribute();
        if self.tag.is_end {
            self.end_tag();
            return None;
        }
        self.start_tag()
    }

    #[inline]
    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.tag.is_end && self.tag.tag() == self.last_start
    }

    #[inline]
    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.syntax == Syntax::Xml || self.context.is_foreign()
    }

    fn emit_eof(&mut self) {
        self.end_anchor();
    }

    #[inline]
    fn should_emit_errors(&mut self) -> bool {
        false
    }

    #[inline]
    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn set_last_start_tag(&mut self, _: Option<&[u8]>) {}
    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    fn emit_current_comment(&mut self) {}
    fn emit_current_doctype(&mut self) {}
    fn set_force_quirks(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn init_doctype(&mut self) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
}
