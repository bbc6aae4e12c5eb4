//! How is XML read that may be broken anywhere? Elements are closed as their authors meant it.
//!
//! Nothing is expanded but the five named references of XML and character references: document
//! types are skipped, inclusions are not followed.

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use super::Listing;
use super::fields::{Builder, Element};
use crate::sniff::Kind;

/// Deepest nesting that is followed; what lies deeper is skipped.
const DEEPEST: usize = 32;
/// Longest text of an element that is kept: longer than any address or date.
const LONGEST_TEXT: usize = 8 << 10;

/// Reads a sitemap or an RSS or Atom feed.
pub(super) fn read(kind: Kind, text: &str) -> Listing {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let mut walk = Walk { open: Vec::new(), too_deep: 0, text: String::new(), builder: Builder::new(kind) };
    let damaged = walk.run(text);
    let mut listing = walk.builder.finish();
    listing.damaged |= damaged;
    listing
}

struct Walk {
    open: Vec<Element>,
    /// How many elements are open below the deepest that is followed.
    too_deep: usize,
    /// The text of the innermost element.
    text: String,
    builder: Builder,
}

impl Walk {
    /// Walks the document, and tells whether it was damaged.
    fn run(&mut self, text: &str) -> bool {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        let mut damaged = false;
        let mut position = None;
        while !self.builder.is_full() {
            match reader.read_event() {
                Ok(Event::Eof) => return damaged || !self.open.is_empty(),
                Ok(event) => damaged |= !self.take(event),
                // Reading goes on behind the fault, as long as there is a way forward.
                Err(_) if position == Some(reader.buffer_position()) => return true,
                Err(_) => damaged = true,
            }
            position = Some(reader.buffer_position());
        }
        damaged
    }

    /// Takes one event; tells whether it fitted.
    fn take(&mut self, event: Event<'_>) -> bool {
        match event {
            Event::Start(start) => self.begin(&start),
            Event::Empty(start) => {
                self.begin(&start);
                self.end(Element::named(start.local_name().as_ref()));
            }
            Event::End(end) => return self.end(Element::named(end.local_name().as_ref())),
            Event::Text(text) => self.add(&text),
            Event::CData(text) => self.add(&text),
            Event::GeneralRef(reference) => self.add_reference(&reference),
            _ => {}
        }
        true
    }

    fn begin(&mut self, start: &BytesStart<'_>) {
        let element = Element::named(start.local_name().as_ref());
        if self.too_deep > 0 || self.open.len() >= DEEPEST {
            self.too_deep += 1;
            return;
        }
        // A field inside a field: the end tag of the first was forgotten.
        if element.is_field() && self.open.last().is_some_and(|open| open.is_field()) {
            self.close();
        }
        self.text.clear();
        self.builder.begin(element, self.open.last().copied(), start);
        self.open.push(element);
    }

    /// Closes the innermost element of that name and all inside it; tells whether there was one.
    fn end(&mut self, element: Element) -> bool {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return true;
        }
        let Some(index) = self.open.iter().rposition(|open| *open == element) else { return false };
        let fits = index + 1 == self.open.len();
        while self.open.len() > index {
            self.close();
        }
        fits
    }

    fn close(&mut self) {
        if let Some(element) = self.open.pop() {
            self.builder.end(element, self.open.last().copied(), &self.text);
            self.text.clear();
        }
    }

    fn add(&mut self, text: &str) {
        if self.too_deep == 0 && self.text.len() + text.len() <= LONGEST_TEXT {
            self.text.push_str(text);
        }
    }

    /// Adds what a reference stands for; an unknown one is an ampersand that was not escaped.
    fn add_reference(&mut self, reference: &BytesRef<'_>) {
        let named = match &**reference {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => reference.resolve_char_ref().ok().flatten(),
        };
        match named {
            Some(character) => self.add(character.encode_utf8(&mut [0; 4])),
            None => self.add(&format!("&{};", &**reference)),
        }
    }
}
