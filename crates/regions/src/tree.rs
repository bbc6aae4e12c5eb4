//! Which elements has a page, and where in its source does each stand? A tree that is built in time linear in the
//! page: elements in the order of the page, each with its place, its parent and its range of bytes.
//!
//! The rules are those of the HTML standard for pages that people write: ends of paragraphs, items, options and cells
//! that are left out, and rows, bodies of tables, `head` and `body` that are implied, so that a selector copied out of
//! a browser finds what it found there. Formatting elements that overlap are closed where the outer one ends.

use std::collections::HashMap;
use std::ops::Range;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{EndTag, StartTag, Token, Tokenizer};

use crate::implied::{self, Boundary};

/// The most bytes of a page that are read, elements that are kept, how deep they nest, and attributes of each.
/// Elements beyond the bounds are passed over; their text belongs to the element around them.
const MOST_BYTES: usize = 8 << 20;
const MOST_ELEMENTS: usize = 300_000;
const DEEPEST: usize = 512;
const MOST_ATTRIBUTES: usize = 100;

/// An element's number, in the order of the page.
pub(crate) type Id = usize;

/// An element of a page.
#[derive(Debug)]
pub(crate) struct Element {
    /// In lower case.
    pub(crate) name: Box<str>,
    attributes: Vec<(Box<str>, Box<str>)>,
    pub(crate) parent: Option<Id>,
    pub(crate) previous: Option<Id>,
    /// Its place among its siblings, and among those of its name; from 1.
    pub(crate) place: u32,
    pub(crate) place_of_name: u32,
    /// How many siblings there are with it, and how many of its name.
    pub(crate) siblings: u32,
    pub(crate) siblings_of_name: u32,
    /// Whether it stands in a template, and is no part of the page.
    pub(crate) inert: bool,
    /// Where it stands in the source, with its tags.
    pub(crate) outer: Range<usize>,
    /// Where its content stands.
    pub(crate) inner: Range<usize>,
    /// The first element after it that is not inside it.
    pub(crate) after: Id,
}

impl Element {
    /// The value of an attribute, by its name in lower case.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(has, _)| **has == *name);
        found.map(|(_, value)| &**value)
    }
}

/// The elements of a page.
#[derive(Debug)]
pub struct PageTree<'a> {
    pub(crate) html: &'a str,
    pub(crate) elements: Vec<Element>,
}

impl<'a> PageTree<'a> {
    /// Reads a page. Anything is read; of a page of more than 8 MiB, its beginning.
    pub fn read(html: &'a str) -> Self {
        let cut = (0..=MOST_BYTES.min(html.len())).rev().find(|at| html.is_char_boundary(*at));
        let html = &html[..cut.unwrap_or(0)];
        let mut emitter = DefaultEmitter::<usize>::new_with_span();
        emitter.naively_switch_states(true);
        let mut builder = Builder::default();
        for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
            match token {
                Token::StartTag(tag) => builder.start(&tag),
                Token::EndTag(tag) => builder.end(&tag),
                Token::String(text) => builder.text(&text.value, text.span.start),
                _ => {}
            }
        }
        builder.close_to(0, html.len());
        count_siblings(&mut builder.elements);
        PageTree { html, elements: builder.elements }
    }

    /// The source of an element, with its tags.
    pub(crate) fn source(&self, id: Id) -> &'a str {
        self.html.get(self.elements[id].outer.clone()).unwrap_or_default()
    }

    /// The source of what is in an element.
    pub(crate) fn content(&self, id: Id) -> &'a str {
        self.html.get(self.elements[id].inner.clone()).unwrap_or_default()
    }
}

#[derive(Default)]
struct Builder {
    elements: Vec<Element>,
    open: Vec<Id>,
    /// How many elements of a name are open: what is not open needs no search.
    open_names: HashMap<Box<str>, u32>,
    /// The last child of each open element, and how many children of each name it has.
    children: Vec<Children>,
    has_body: bool,
}

#[derive(Default)]
struct Children {
    last: Option<Id>,
    count: u32,
    by_name: HashMap<Box<str>, u32>,
}

impl Builder {
    fn text(&mut self, text: &[u8], at: usize) {
        let in_head =
            self.open.last().is_none_or(|id| matches!(&*self.elements[*id].name, "html" | "head"));
        if in_head && !text.trim_ascii().is_empty() {
            self.ensure_body(at);
        }
    }

    fn start(&mut self, tag: &StartTag<usize>) {
        let name = String::from_utf8_lossy(&tag.name);
        let at = tag.span.start;
        if self.is_foreign() && implied::BLOCKS.contains(&&*name) {
            // A block is no drawing: what was drawn ends.
            for drawing in ["svg", "math"] {
                self.close_nearest(drawing, &Boundary::none(), at, at);
            }
        }
        if !self.is_foreign() && !self.make_place(&name, at) {
            return;
        }
        let attributes = tag.attributes.iter().take(MOST_ATTRIBUTES).map(|(name, value)| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned().into_boxed_str();
            (text(name), text(&value.value))
        });
        let ends_at_once = match self.is_foreign() || matches!(&*name, "svg" | "math") {
            true => tag.self_closing,
            false => implied::is_void(&name),
        };
        if self.push(&name, attributes.collect(), tag.span.start..tag.span.end) && ends_at_once {
            self.pop(tag.span.end, tag.span.end);
        }
    }

    /// Closes what an element ends without saying so, and opens what it needs around it. Whether it is to be added.
    fn make_place(&mut self, name: &str, at: usize) -> bool {
        match name {
            "html" | "head" | "body" if self.open_names.contains_key(name) || self.has_body => {
                return false;
            }
            "html" => return true,
            "head" => self.ensure_html(at),
            "body" => {
                self.ensure_html(at);
                self.close_to(1, at);
                self.has_body = true;
            }
            "title" | "meta" | "link" | "base" | "script" | "style" | "noscript" | "template"
                if !self.has_body =>
            {
                self.ensure_html(at);
                if self.open.len() < 2 {
                    self.push("head", Vec::new(), at..at);
                }
            }
            _ => {
                self.ensure_body(at);
                self.imply_ends(name, at);
                self.imply_rows(name, at);
            }
        }
        true
    }

    fn ensure_html(&mut self, at: usize) {
        if self.open.is_empty() {
            self.push("html", Vec::new(), at..at);
        }
    }

    fn ensure_body(&mut self, at: usize) {
        let inside_head = self.open.len() > 2;
        if !self.has_body && !inside_head {
            self.ensure_html(at);
            self.close_to(1, at);
            self.has_body = true;
            self.push("body", Vec::new(), at..at);
        }
    }

    fn imply_ends(&mut self, name: &str, at: usize) {
        for (ended, boundary) in implied::ends(name) {
            for name in ended {
                self.close_nearest(name, &boundary, at, at);
            }
        }
    }

    fn imply_rows(&mut self, name: &str, at: usize) {
        let around = |builder: &Self| {
            builder.open.last().map(|id| builder.elements[*id].name.clone()).unwrap_or_default()
        };
        if matches!(name, "tr" | "td" | "th") && &*around(self) == "table" {
            self.push("tbody", Vec::new(), at..at);
        }
        if matches!(name, "td" | "th") && matches!(&*around(self), "tbody" | "thead" | "tfoot") {
            self.push("tr", Vec::new(), at..at);
        }
    }

    fn is_foreign(&self) -> bool {
        ["svg", "math"].iter().any(|name| self.open_names.contains_key(*name))
            && !["foreignobject", "desc", "annotation-xml"]
                .iter()
                .any(|name| self.open_names.contains_key(*name))
    }

    fn end(&mut self, tag: &EndTag<usize>) {
        let name = String::from_utf8_lossy(&tag.name);
        if matches!(&*name, "html" | "body") {
            return;
        }
        let boundary = implied::boundary_of_end(&name);
        self.close_nearest(&name, &boundary, tag.span.start, tag.span.end);
    }

    /// Closes the nearest open element of a name, and all in it, unless a boundary stands between. The element ends
    /// at `end`, what is in it at `start`.
    fn close_nearest(&mut self, name: &str, boundary: &Boundary, start: usize, end: usize) {
        if !self.open_names.contains_key(name) {
            return;
        }
        for index in (0..self.open.len()).rev() {
            let open = &self.elements[self.open[index]].name;
            if **open == *name {
                self.close_to(index + 1, start);
                return self.pop(start, end);
            }
            if boundary.stops_at(open) {
                return;
            }
        }
    }

    fn close_to(&mut self, depth: usize, at: usize) {
        while self.open.len() > depth {
            self.pop(at, at);
        }
    }

    fn push(
        &mut self,
        name: &str,
        attributes: Vec<(Box<str>, Box<str>)>,
        tag: Range<usize>,
    ) -> bool {
        if self.elements.len() >= MOST_ELEMENTS || self.open.len() >= DEEPEST {
            return false;
        }
        let id = self.elements.len();
        let parent = self.open.last().copied();
        let inert = parent.is_some_and(|parent| {
            self.elements[parent].inert || &*self.elements[parent].name == "template"
        });
        let (previous, place, place_of_name) = self.add_child(name, id);
        self.elements.push(Element {
            name: name.into(),
            attributes,
            parent,
            previous,
            place,
            place_of_name,
            siblings: 0,
            siblings_of_name: 0,
            inert,
            inner: tag.end..tag.end,
            outer: tag,
            after: id + 1,
        });
        self.open.push(id);
        self.children.push(Children::default());
        *self.open_names.entry(name.into()).or_default() += 1;
        true
    }

    fn add_child(&mut self, name: &str, id: Id) -> (Option<Id>, u32, u32) {
        let Some(around) = self.children.last_mut() else { return (None, 1, 1) };
        around.count += 1;
        let of_name = around.by_name.entry(name.into()).or_default();
        *of_name += 1;
        (around.last.replace(id), around.count, *of_name)
    }

    fn pop(&mut self, inner_end: usize, outer_end: usize) {
        let (Some(id), Some(_)) = (self.open.pop(), self.children.pop()) else { return };
        let after = self.elements.len();
        let element = &mut self.elements[id];
        element.after = after;
        element.inner.end = inner_end.max(element.inner.start);
        element.outer.end = outer_end.max(element.outer.end);
        if let Some(count) = self.open_names.get_mut(&element.name) {
            *count -= 1;
            if *count == 0 {
                self.open_names.remove(&element.name);
            }
        }
    }
}

/// Tells every element how many siblings it has.
fn count_siblings(elements: &mut [Element]) {
    let mut of_name: HashMap<(Option<Id>, Box<str>), u32> = HashMap::new();
    let mut all: HashMap<Option<Id>, u32> = HashMap::new();
    for element in elements.iter() {
        *all.entry(element.parent).or_default() += 1;
        *of_name.entry((element.parent, element.name.clone())).or_default() += 1;
    }
    for element in elements {
        element.siblings = all.get(&element.parent).copied().unwrap_or(1);
        let key = (element.parent, element.name.clone());
        element.siblings_of_name = of_name.get(&key).copied().unwrap_or(1);
    }
}
