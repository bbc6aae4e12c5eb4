//! Where on a page does a passage stand, so that the same place is known again with other words in it?
//!
//! A place is known by the tags around it ([`LinePlace`]), and where several lines have the same tags, by what
//! stands before or after it. A passage with numbers is also known by its words without the numbers. So one
//! passage has several keys: what is learned of one place does not depend on a single way to name it.

use std::collections::HashMap;

use crate::outline::{Outline, Passage};
use crate::shape::PassageShape;
use crate::words::mix;

/// Where a line of a text begins, and between which tags it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinePlace {
    /// Its first byte in the text.
    pub start: u32,
    /// A hash of the tags around it, with their classes.
    pub path: u16,
    /// Whether it stands in a menu, header, footer, sidebar or notice, and not in the content proper.
    pub aside: bool,
}

/// A name of a place: its kind, the path, and what tells places of the same path apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PlaceKey(pub(crate) u32);

/// How a key names its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// The only line with these tags.
    Path = 0,
    /// One of several lines with these tags.
    Several = 1,
    /// So many passages after one that stays.
    After = 2,
    /// So many passages before one that stays.
    Before = 3,
    /// Words with other numbers.
    Shape = 4,
    /// Any words with numbers, in the only line with these tags.
    Digits = 5,
    /// A passage that only disappeared: nobody knows where it stood.
    Removal = 6,
    /// So many lines after the first of a row of lines with the same tags.
    FromStart = 7,
    /// So many lines before the last of such a row.
    FromEnd = 8,
    /// No place but a text, by its id: a place of noise showed it.
    Text = 9,
}

impl KeyKind {
    const ALL: [KeyKind; 10] = [
        KeyKind::Path,
        KeyKind::Several,
        KeyKind::After,
        KeyKind::Before,
        KeyKind::Shape,
        KeyKind::Digits,
        KeyKind::Removal,
        KeyKind::FromStart,
        KeyKind::FromEnd,
        KeyKind::Text,
    ];
}

const PATH_BITS: u32 = 12;
const REST_BITS: u32 = 16;

impl PlaceKey {
    /// The key of passages that disappear.
    pub(crate) const REMOVAL: PlaceKey =
        PlaceKey((KeyKind::Removal as u32) << (PATH_BITS + REST_BITS));

    fn new(kind: KeyKind, path: u16, rest: u64) -> Self {
        let rest = (mix(rest ^ 0x6C8E_9CF5_7093_2BD5, 0x9FB2_1C65_1E98_DF25) >> 40) as u32;
        let rest = rest & ((1 << REST_BITS) - 1);
        let path = u32::from(path) & ((1 << PATH_BITS) - 1);
        PlaceKey((kind as u32) << (PATH_BITS + REST_BITS) | path << REST_BITS | rest)
    }

    /// The key of a text that a place of noise showed.
    pub(crate) fn of_text(id: u32) -> Self {
        PlaceKey((KeyKind::Text as u32) << (PATH_BITS + REST_BITS) | id & 0xFF_FFFF)
    }

    /// The text that it is the key of.
    pub(crate) fn text(self) -> Option<u32> {
        (self.kind() == KeyKind::Text).then_some(self.0 & 0xFF_FFFF)
    }

    pub(crate) fn kind(self) -> KeyKind {
        let number = (self.0 >> (PATH_BITS + REST_BITS)) as usize;
        KeyKind::ALL.get(number).copied().unwrap_or(KeyKind::Removal)
    }

    /// The path of the place.
    pub(crate) fn path(self) -> u16 {
        (self.0 >> REST_BITS & ((1 << PATH_BITS) - 1)) as u16
    }

    /// Sixteen bits of it, as a page remembers it.
    pub(crate) fn short(self) -> u16 {
        (mix(self.0.into(), 0x8803_55F2_1E6D_1965) >> 48) as u16
    }

    /// The key of a place by its tags alone.
    fn of_path(path: u16, lines: u16) -> Self {
        let kind = if lines > 1 { KeyKind::Several } else { KeyKind::Path };
        Self::new(kind, path, 0)
    }
}

/// The farthest passage that a place is told by.
const FARTHEST: usize = 8;

/// The passages of a text with their places.
pub(crate) struct Layout<'a> {
    text: &'a str,
    passages: &'a [Passage],
    /// The place of each passage.
    of_passage: Vec<LinePlace>,
    /// How many lines have a path, and how many passages.
    lines: HashMap<u16, (u16, u16)>,
    /// Where each passage stands in its row.
    rows: Vec<RowPlace>,
}

/// Where a passage stands in a row of lines with the same tags.
#[derive(Clone, Copy, Default)]
struct RowPlace {
    from_start: u16,
    from_end: u16,
    /// The paths before and after the row.
    before: u16,
    after: u16,
}

/// Lines of a row that are told apart by their number.
const FARTHEST_IN_ROW: u16 = 12;

/// Where each passage stands in its row, by the path and the line of each.
fn rows(of_passage: &[LinePlace]) -> Vec<RowPlace> {
    let mut rows = vec![RowPlace::default(); of_passage.len()];
    let mut start = 0;
    for row in of_passage.chunk_by(|one, next| one.path == next.path) {
        let end = start + row.len();
        let before = start.checked_sub(1).and_then(|at| of_passage.get(at)).map_or(0, |p| p.path);
        let after = of_passage.get(end).map_or(0, |place| place.path);
        let lines = row.chunk_by(|one, next| one.start == next.start).count();
        let (mut at, mut line) = (start, 0);
        for passages in row.chunk_by(|one, next| one.start == next.start) {
            let [from_start, from_end] =
                [line, lines - 1 - line].map(|far| u16::try_from(far).unwrap_or(u16::MAX));
            rows[at..at + passages.len()].fill(RowPlace { from_start, from_end, before, after });
            at += passages.len();
            line += 1;
        }
        start = end;
    }
    rows
}

impl<'a> Layout<'a> {
    pub(crate) fn new(text: &'a str, outline: &'a Outline, places: &[LinePlace]) -> Self {
        let passages = outline.passages();
        let mut next = 0;
        let mut lines = HashMap::new();
        let mut of_passage = Vec::with_capacity(passages.len());
        let mut counted = None;
        for passage in passages {
            let start = passage.range.start;
            while places.get(next).is_some_and(|place| place.start as usize <= start) {
                next += 1;
            }
            let line = next.checked_sub(1);
            let place = line.and_then(|line| places.get(line)).copied().unwrap_or_default();
            if line.is_none() || counted != Some(line) {
                counted = Some(line);
                lines.entry(place.path).or_insert((0_u16, 0_u16)).0 += 1;
            }
            let passages = &mut lines.entry(place.path).or_insert((0, 0)).1;
            *passages = passages.saturating_add(1);
            of_passage.push(place);
        }
        let rows = rows(&of_passage);
        Layout { text, passages, of_passage, lines, rows }
    }

    pub(crate) fn passages(&self) -> &'a [Passage] {
        self.passages
    }

    pub(crate) fn is_aside(&self, number: usize) -> bool {
        self.of_passage.get(number).is_some_and(|place| place.aside)
    }

    /// The paths of the text, and how many passages have each.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (PlaceKey, u16)> + '_ {
        let path = |(&path, &(lines, passages)): (&u16, &(u16, u16))| {
            (PlaceKey::of_path(path, lines), passages)
        };
        self.lines.iter().map(path)
    }

    fn path(&self, number: usize) -> u16 {
        self.of_passage.get(number).map_or(0, |place| place.path)
    }

    /// The path of a passage, as keys have it.
    pub(crate) fn path_bits(&self, number: usize) -> u16 {
        self.path(number) & ((1 << PATH_BITS) - 1)
    }

    fn lines_like(&self, number: usize) -> u16 {
        self.lines.get(&self.path(number)).map_or(1, |(lines, _)| *lines)
    }

    /// What is left of a passage without its numbers; `None` where it has none.
    pub(crate) fn shape(&self, number: usize) -> Option<PassageShape> {
        let passage = self.passages.get(number)?;
        let before = number.checked_sub(1).and_then(|at| self.passages.get(at));
        Some(PassageShape::of_passage(self.text, passage, before)).filter(|shape| shape.passing)
    }

    /// The key of a passage by the tags around it.
    pub(crate) fn path_key(&self, number: usize) -> PlaceKey {
        PlaceKey::of_path(self.path(number), self.lines_like(number))
    }

    /// The keys of a passage by its words without numbers.
    pub(crate) fn number_keys(&self, number: usize) -> Vec<PlaceKey> {
        let Some(shape) = self.shape(number) else { return Vec::new() };
        let path = self.path(number);
        let mut keys = vec![PlaceKey::new(KeyKind::Shape, path, shape.id.into())];
        if self.lines_like(number) == 1 {
            keys.push(PlaceKey::new(KeyKind::Digits, path, 0));
        }
        keys
    }

    /// The keys of a passage by its place, where `stays` tells the passages that stayed by their numbers.
    pub(crate) fn word_keys(&self, number: usize, stays: impl Fn(usize) -> bool) -> Vec<PlaceKey> {
        let path_key = self.path_key(number);
        if path_key.kind() == KeyKind::Path {
            return vec![path_key];
        }
        let mut keys = Vec::with_capacity(3);
        let before = (1..=FARTHEST).find(|&far| far <= number && stays(number - far));
        let after =
            (1..=FARTHEST).find(|&far| number + far < self.passages.len() && stays(number + far));
        keys.extend(before.map(|far| self.beside(KeyKind::After, number, number - far, far)));
        keys.extend(after.map(|far| self.beside(KeyKind::Before, number, number + far, far)));
        keys.extend(self.row_keys(number));
        keys.push(path_key);
        keys
    }

    /// The keys of a passage by how far it stands from the ends of its row, and how long it is.
    pub(crate) fn row_keys(&self, number: usize) -> impl Iterator<Item = PlaceKey> {
        let path = self.path(number);
        let words = self.passages.get(number).map_or(0, |passage| passage.words);
        let length = u64::from(words > 4) + u64::from(words > 12);
        let row = self.rows.get(number).copied().unwrap_or_default();
        let key = |kind, far: u16, other: u16| {
            let rest = u64::from(other) << 16 | u64::from(far) << 2 | length;
            (far < FARTHEST_IN_ROW).then(|| PlaceKey::new(kind, path, rest))
        };
        let start = key(KeyKind::FromStart, row.from_start, row.before);
        start.into_iter().chain(key(KeyKind::FromEnd, row.from_end, row.after))
    }

    /// Every key by a passage before or after that a passage may have been given.
    pub(crate) fn possible_keys(&self, number: usize) -> impl Iterator<Item = PlaceKey> + '_ {
        let (first, last) = (number.saturating_sub(FARTHEST), number + FARTHEST);
        let last = last.min(self.passages.len().saturating_sub(1));
        let before = (first..number).map(move |at| (KeyKind::After, at, number - at));
        let after = (number + 1..=last).map(move |at| (KeyKind::Before, at, at - number));
        before.chain(after).map(move |(kind, at, far)| self.beside(kind, number, at, far))
    }

    fn beside(&self, kind: KeyKind, number: usize, other: usize, far: usize) -> PlaceKey {
        let id = self.passages.get(other).map_or(0, |passage| passage.id);
        PlaceKey::new(kind, self.path(number), u64::from(id) << 4 | far as u64)
    }
}
