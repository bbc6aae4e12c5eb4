//! Which links does a page have? An emitter that keeps `href` of `a` and `area` and nothing else.

use std::borrow::Cow;
use std::convert::Infallible;

use html5gum::emitters::naive_next_state;
use html5gum::{Emitter, Error, State, Tokenizer};

/// Longest name that means anything here.
const LONGEST_NAME: usize = 10;

/// Reads the links of pages, one page after another.
#[derive(Default)]
pub(crate) struct Links {
    hrefs: Vec<u8>,
    ends: Vec<usize>,
}

impl Links {
    /// The links of a page that lead to another place than the page itself.
    pub(crate) fn read(&mut self, page: &[u8]) -> impl Iterator<Item = Cow<'_, str>> {
        self.hrefs.clear();
        self.ends.clear();
        let sink = Sink {
            links: self,
            tag: Name::default(),
            attribute: Name::default(),
            is_end: false,
            raw: None,
            begun: 0,
        };
        let Ok(()) = Tokenizer::new_with_emitter(page, sink).finish();
        let (hrefs, mut from) = (&self.hrefs, 0);
        let links = self.ends.iter().map(move |&to| {
            let href = String::from_utf8_lossy(&hrefs[from..to]);
            from = to;
            href
        });
        links.filter(|href| !href.starts_with('#'))
    }
}

/// A name as far as it matters.
#[derive(Clone, Copy, Default, PartialEq)]
struct Name {
    bytes: [u8; LONGEST_NAME],
    length: usize,
}

impl Name {
    fn push(&mut self, piece: &[u8]) {
        let end = self.length + piece.len();
        if let Some(free) = self.bytes.get_mut(self.length..end) {
            free.copy_from_slice(piece);
        }
        self.length = end;
    }

    fn get(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

struct Sink<'a> {
    links: &'a mut Links,
    tag: Name,
    attribute: Name,
    is_end: bool,
    /// The element whose end tag ends raw text.
    raw: Option<Name>,
    /// Where the link of the current tag begins.
    begun: usize,
}

impl Sink<'_> {
    fn is_link(&self) -> bool {
        matches!(self.tag.get(), b"a" | b"area") && self.attribute.get() == b"href" && !self.is_end
    }
}

impl Emitter for Sink<'_> {
    type Token = Infallible;

    fn init_start_tag(&mut self) {
        (self.tag, self.is_end, self.begun) = (Name::default(), false, self.links.hrefs.len());
    }
    fn init_end_tag(&mut self) {
        (self.tag, self.is_end, self.begun) = (Name::default(), true, self.links.hrefs.len());
    }
    fn push_tag_name(&mut self, piece: &[u8]) {
        self.tag.push(piece);
    }
    fn init_attribute(&mut self) {
        self.attribute = Name::default();
    }
    fn push_attribute_name(&mut self, piece: &[u8]) {
        self.attribute.push(piece);
    }
    fn push_attribute_value(&mut self, piece: &[u8]) {
        if self.is_link() {
            self.links.hrefs.extend_from_slice(piece);
        }
    }
    fn emit_current_tag(&mut self) -> Option<State> {
        if self.links.hrefs.len() > self.begun {
            self.links.ends.push(self.links.hrefs.len());
        }
        if self.is_end {
            return None;
        }
        let state = naive_next_state(self.tag.get());
        self.raw = state.is_some().then_some(self.tag);
        state
    }
    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.is_end && self.raw == Some(self.tag)
    }
    fn should_emit_errors(&mut self) -> bool {
        false
    }
    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn set_last_start_tag(&mut self, _: Option<&[u8]>) {}
    fn emit_eof(&mut self) {}
    fn emit_error(&mut self, _: Error) {}
    fn emit_string(&mut self, _: &[u8]) {}
    fn init_comment(&mut self) {}
    fn emit_current_comment(&mut self) {}
    fn emit_current_doctype(&mut self) {}
    fn set_self_closing(&mut self) {}
    fn set_force_quirks(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn init_doctype(&mut self) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
}
