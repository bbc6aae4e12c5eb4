//! How is XML read that may be broken anywhere? Elements are closed as their authors meant it.
//!
//! Nothing is expanded but the five named references of XML and character references: document
//! types are skipped, inclusions are not followed.

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use super::Listing;
use super::fields::{Builder, Element};
use crate::sniff::ContentKind;

/// Deepest nesting that is followed; what lies deeper is skipped.
const DEEPEST: usize = 32;
/// Longest text of an element that is kept: longer than any address or date.
const LONGEST_TEXT: usize = 8 << 10;

/// Reads a sitemap or an RSS or Atom feed.
pub(super) fn read(kind: ContentKind, text: &str) -> Listing {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let mut walk = ListingParser::new(kind);
    walk.run(text);
    Listing { damaged: walk.damaged, ..walk.builder.finish() }
}

struct ListingParser {
    open: Vec<Element>,
    /// How many elements are open below the deepest that is followed.
    too_deep: usize,
    /// The text of the innermost element.
    text: String,
    builder: Builder,
    damaged: bool,
}

impl ListingParser {
    fn new(kind: ContentKind) -> Self {
        let builder = Builder::new(kind);
        ListingParser {
            open: Vec::new(),
            too_deep: 0,
            text: String::new(),
            builder,
            damaged: false,
        }
    }

    fn run(&mut self, text: &str) {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        let mut position = None;
        while !self.builder.is_full() {
            match reader.read_event() {
                Ok(Event::Eof) => {
                    self.damaged |= !self.open.is_empty();
                    return;
                }
                Ok(event) => self.take(&event),
                Err(_) => {
                    self.damaged = true;
                    // Reading continues after the error, as long as there is progress.
                    if position == Some(reader.buffer_position()) {
                        return;
                    }
                }
            }
            position = Some(reader.buffer_position());
        }
    }

    fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(start) => self.begin(start),
            Event::Empty(start) => {
                self.begin(start);
                self.end(Element::named(start.local_name().as_ref()));
            }
            Event::End(end) => self.end(Element::named(end.local_name().as_ref())),
            Event::Text(text) => self.add(text),
            Event::CData(text) => self.add(text),
            Event::GeneralRef(reference) => self.add_reference(reference),
            _ => {}
        }
    }

    fn begin(&mut self, start: &BytesStart<'_>) {
        let element = Element::named(start.local_name().as_ref());
        if self.too_deep > 0 || self.open.len() >= DEEPEST {
            self.too_deep += 1;
            return;
        }
        if self.open.last().is_some_and(|open| open.cannot_hold(element)) {
            self.damaged = true;
            self.close();
        }
        self.text.clear();
        self.builder.begin(element, self.open.last().copied(), start);
        self.open.push(element);
    }

    /// Closes the innermost element of that name and all inside it.
    fn end(&mut self, element: Element) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        let open = self.open.iter().rposition(|open| *open == element);
        self.damaged |= open.is_none_or(|index| index + 1 < self.open.len());
        while open.is_some_and(|index| self.open.len() > index) {
            self.close();
        }
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
