//! Which tag is being read, and with which attributes of interest?

use super::names::{Attr, Name, Tag};

/// Longest attribute value that is kept: longer than any address that a server takes, and room for
/// a long list of image sizes.
const LONGEST_VALUE: usize = 32 << 10;

/// The tag being read.
#[derive(Default)]
pub(super) struct CurrentTag {
    name: Name,
    known: Option<Tag>,
    pub(super) is_end: bool,
    pub(super) self_closing: bool,
}

impl CurrentTag {
    #[inline]
    pub(super) fn begin(&mut self, is_end: bool) {
        self.name.clear();
        self.known = None;
        self.is_end = is_end;
        self.self_closing = false;
    }

    #[inline]
    pub(super) fn push_name(&mut self, piece: &[u8]) {
        self.name.push(piece);
    }

    #[inline]
    pub(super) fn set_name(&mut self, name: Name) {
        self.name = name;
    }

    pub(super) fn name(&self) -> &Name {
        &self.name
    }

    /// Which element it is. Asked only once the name is complete, or while looking for the end of
    /// raw text, so that the answer is kept only then.
    #[inline]
    pub(super) fn tag(&mut self) -> Tag {
        if self.is_end {
            return Tag::of(&self.name);
        }
        *self.known.get_or_insert_with(|| Tag::of(&self.name))
    }
}

/// The attributes of interest of the tag being read.
pub(super) struct Attributes<'a> {
    values: &'a mut Vec<u8>,
    spans: [(usize, usize); Attr::COUNT],
    present: u32,
    name: Name,
    reading: AttributeState,
    /// Whether classes and ids are of interest.
    marks: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AttributeState {
    Nothing,
    Name,
    Value(Attr),
}

impl<'a> Attributes<'a> {
    pub(super) fn new(values: &'a mut Vec<u8>, marks: bool) -> Self {
        Attributes {
            values,
            spans: [(0, 0); Attr::COUNT],
            present: 0,
            name: Name::default(),
            reading: AttributeState::Nothing,
            marks,
        }
    }

    /// The value of an attribute; nothing when it is absent or too long to mean anything.
    pub(super) fn get(&self, attr: Attr) -> Option<&str> {
        if self.present & (1 << attr as u32) == 0 {
            return None;
        }
        let (start, end) = self.spans[attr as usize];
        if end - start > LONGEST_VALUE {
            return None;
        }
        std::str::from_utf8(self.values.get(start..end)?).ok()
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.present = 0;
        self.reading = AttributeState::Nothing;
    }

    #[inline]
    pub(super) fn begin_attribute(&mut self, wanted: bool) {
        if wanted {
            self.name.clear();
            self.reading = AttributeState::Name;
        }
    }

    #[inline]
    pub(super) fn push_name(&mut self, piece: &[u8]) {
        if self.reading == AttributeState::Name {
            self.name.push(piece);
        }
    }

    #[inline]
    pub(super) fn set_name(&mut self, name: Name) {
        self.name = name;
    }

    /// Turns to the value, if the attribute is of interest and the first of its name; true when
    /// it is.
    #[inline]
    pub(super) fn begin_value(&mut self) -> bool {
        if self.reading != AttributeState::Name {
            return false;
        }
        self.reading = match Attr::of(&self.name) {
            Some(Attr::Class | Attr::Id) if !self.marks => AttributeState::Nothing,
            Some(attr) if self.present & (1 << attr as u32) == 0 => {
                self.spans[attr as usize].0 = self.values.len();
                AttributeState::Value(attr)
            }
            _ => AttributeState::Nothing,
        };
        self.reading != AttributeState::Nothing
    }

    /// Adds to the value; one byte beyond the longest is kept to tell that it was too long.
    #[inline]
    pub(super) fn push_value(&mut self, piece: &[u8]) {
        if let AttributeState::Value(attr) = self.reading {
            let length = self.values.len() - self.spans[attr as usize].0;
            let room = (LONGEST_VALUE + 1).saturating_sub(length);
            self.values.extend_from_slice(&piece[..piece.len().min(room)]);
        }
    }

    #[inline]
    pub(super) fn end_attribute(&mut self) {
        self.begin_value();
        if let AttributeState::Value(attr) = self.reading {
            self.spans[attr as usize].1 = self.values.len();
            self.present |= 1 << attr as u32;
        }
        self.reading = AttributeState::Nothing;
    }
}
