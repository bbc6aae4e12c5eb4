//! Which passages appeared and which disappeared since the last visit, when only a hundred bytes were kept?
//!
//! An invertible Bloom lookup table. Each passage is added (exclusive or) to three cells. Adding the
//! passages of the page as it is now takes out all that stayed, so that what is left is the
//! difference. A cell that holds one passage alone names it; taking that one out bares others. The
//! table need only be as large as the difference, however long the page is.
//!
//! Which of the passages found are new needs no count: the page at hand tells.
//!
//! A difference that is too large is left as it is: the cells of what differs. Two such of different
//! pages, one taken out of the other, leave what the pages do not share. So a change of template, however
//! large, is seen to be the same on two pages though neither can be told alone.

use crate::words::mix;

/// The passages of a page, as far as they are remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sketch {
    cells: Vec<u32>,
}

/// How many cells a sketch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SketchSize {
    /// For pages of which little differs at a time: up to a dozen passages.
    Small,
    /// For pages of which more differs: up to some two dozen.
    Large,
    /// Until a second look: up to some seventy.
    Huge,
}

impl SketchSize {
    pub(crate) const fn cells(self) -> usize {
        match self {
            SketchSize::Small => 24,
            SketchSize::Large => 39,
            SketchSize::Huge => 96,
        }
    }

    pub(crate) fn number(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        [SketchSize::Small, SketchSize::Large, SketchSize::Huge].into_iter().nth(number.into())
    }
}

/// The passages that were added and removed, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) added: Vec<u32>,
    pub(crate) removed: Vec<u32>,
}

impl Difference {
    pub(crate) fn len(&self) -> usize {
        self.added.len() + self.removed.len()
    }
}

impl Sketch {
    /// The sketch of passages, each given once.
    pub(crate) fn of_ids(ids: &[u32], size: SketchSize) -> Self {
        let mut sketch = Sketch { cells: vec![0; size.cells()] };
        ids.iter().for_each(|&id| sketch.toggle(id));
        sketch
    }

    pub(crate) fn size(&self) -> SketchSize {
        let sizes = [SketchSize::Large, SketchSize::Huge];
        let size = sizes.into_iter().find(|size| size.cells() == self.cells.len());
        size.unwrap_or(SketchSize::Small)
    }

    /// Tells what differs from the passages that are there `now`, in the order of their ids; where it is too much to
    /// be told, what differs as a sketch.
    pub(crate) fn difference(&self, now: &[u32]) -> Result<Difference, Sketch> {
        let mut rest = self.clone();
        now.iter().for_each(|&id| rest.toggle(id));
        rest.decode(now).ok_or(rest)
    }

    /// What differs by two sketches of differences, of the page at hand and of another: the passages
    /// that only one of both has; `None` when that is too much to be told.
    pub(crate) fn difference_beside(&self, other: &Sketch, now: &[u32]) -> Option<Difference> {
        if self.size() != other.size() {
            return None;
        }
        let cells = self.cells.iter().zip(&other.cells).map(|(cell, other)| cell ^ other);
        Sketch { cells: cells.collect() }.decode(now)
    }

    /// The passages that a sketch of a difference holds; `None` when they are too many.
    fn decode(&self, now: &[u32]) -> Option<Difference> {
        let (mut rest, mut came, mut went) = (self.clone(), Vec::new(), Vec::new());
        // Random bits that look like passages could go round forever.
        for _ in 0..self.cells.len() {
            let Some(id) = rest.find_single().or_else(|| rest.find_pair(now)) else { break };
            rest.toggle(id);
            if now.binary_search(&id).is_ok() { came.push(id) } else { went.push(id) }
        }
        rest.cells
            .iter()
            .all(|&cell| cell == 0)
            .then_some(Difference { added: came, removed: went })
    }

    fn toggle(&mut self, id: u32) {
        for place in self.unordered_cells_of(id) {
            self.cells[place] ^= with_checksum(id);
        }
    }

    /// A passage that has a cell to itself.
    fn find_single(&self) -> Option<u32> {
        let names = |place: usize| {
            self.decode_cell(self.cells[place]).filter(|&id| self.cells_of(id).contains(&place))
        };
        (0..self.cells.len()).find_map(names)
    }

    /// A passage of the page that shares its cells with just one other that differs too.
    fn find_pair(&self, now: &[u32]) -> Option<u32> {
        now.iter().copied().find(|&id| {
            let places = self.cells_of(id);
            let [a, b, c] = places.map(|place| self.cells[place]);
            let other = self.decode_cell(a ^ with_checksum(id));
            a != 0 && a == b && b == c && other.is_some_and(|other| self.cells_of(other) == places)
        })
    }

    /// The passage that a cell's content stands for, if it can be one.
    fn decode_cell(&self, content: u32) -> Option<u32> {
        let id = content & ID;
        (content != 0 && with_checksum(id) == content).then_some(id)
    }

    /// The three cells of a passage, in order.
    fn cells_of(&self, id: u32) -> [usize; 3] {
        let mut places = self.unordered_cells_of(id);
        places.sort_unstable();
        places
    }

    /// The three cells of a passage.
    #[inline]
    fn unordered_cells_of(&self, id: u32) -> [usize; 3] {
        let hash = mix(u64::from(id) ^ 0xC2B2_AE3D_27D4_EB4F, 0x9FB2_1C65_1E98_DF25);
        let draw =
            |part: u32, below: usize| ((hash >> (16 * part) & 0xFFFF) as usize * below) >> 16;
        let cells = self.cells.len();
        let first = draw(0, cells);
        let second = other_than(first, draw(1, cells - 1));
        let (low, high) = (first.min(second), first.max(second));
        let third = other_than(high, other_than(low, draw(2, cells - 2)));
        [first, second, third]
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.cells.iter().flat_map(|cell| cell.to_le_bytes()));
    }

    /// The cells alone.
    pub(crate) fn to_bytes(&self) -> Box<[u8]> {
        let mut out = Vec::with_capacity(4 * self.cells.len());
        self.write(&mut out);
        out.into()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) gave.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let sizes = [SketchSize::Small, SketchSize::Large, SketchSize::Huge];
        let size = sizes.into_iter().find(|size| bytes.len() == 4 * size.cells())?;
        Some(Self::read(bytes, size)?.0)
    }

    /// Reads what [`write`](Self::write) wrote, and returns what follows it.
    pub(crate) fn read(bytes: &[u8], size: SketchSize) -> Option<(Self, &[u8])> {
        let (cells, rest) = bytes.split_at_checked(4 * size.cells())?;
        let cells = cells.as_chunks().0.iter().map(|&cell| u32::from_le_bytes(cell)).collect();
        Some((Sketch { cells }, rest))
    }
}

/// The bits by which a passage is known.
const ID: u32 = (1 << 24) - 1;

/// A passage with eight bits more, by which it is told from several in one cell. Never 0, for an
/// empty cell is.
fn with_checksum(id: u32) -> u32 {
    let check = mix(u64::from(id) ^ 0x2127_599B_F432_5C37, 0x8803_55F2_1E6D_1965) as u32;
    id & ID | (check | 1) << 24
}

/// Counts `n` places, leaving one out.
fn other_than(taken: usize, n: usize) -> usize {
    n + usize::from(n >= taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::outline::Outline;

    fn page(lines: impl Iterator<Item = u32>) -> Outline {
        Outline::of_text(&lines.map(|n| format!("line {n}\n")).collect::<String>())
    }

    /// How many of 500 differences of `n` passages can be told by a sketch.
    fn decoded_count(n: u32, size: SketchSize) -> usize {
        (0..500)
            .filter(|run| {
                let start = run * 1000;
                let before = page(start..start + 200);
                let now = page(start + n / 2..start + 200 + n.div_ceil(2));
                let found = Sketch::of_ids(before.ids(), size).difference(now.ids());
                found.is_ok_and(|found| found.len() == n as usize)
            })
            .count()
    }

    #[test]
    fn small_differences_are_told() {
        let table = [
            (4, SketchSize::Small, 498),
            (8, SketchSize::Small, 490),
            (12, SketchSize::Small, 465),
            (12, SketchSize::Large, 497),
            (20, SketchSize::Large, 475),
            (26, SketchSize::Large, 400),
        ];
        for (n, size, least) in table {
            let decoded_count = decoded_count(n, size);
            eprintln!("{n} {size:?}: {decoded_count}");
            assert!(decoded_count >= least, "{n} of {size:?}: {decoded_count}");
        }
    }

    #[test]
    fn a_difference_too_large_is_not_made_up() {
        assert_eq!(decoded_count(200, SketchSize::Large), 0);
        let (before, now) = (page(0..300), page(1000..1300));
        assert!(Sketch::of_ids(before.ids(), SketchSize::Large).difference(now.ids()).is_err());
    }

    #[test]
    fn what_two_pages_share_need_not_be_told_to_be_known_as_the_same() {
        let shown =
            |template: std::ops::Range<u32>, own: std::ops::Range<u32>| page(template.chain(own));
        let changed = |own: std::ops::Range<u32>, edited: u32| {
            let before = Sketch::of_ids(shown(0..60, own.clone()).ids(), SketchSize::Small);
            let now = shown(100..170, own.start..own.end - edited);
            (before.difference(now.ids()).unwrap_err(), now)
        };
        let ((first, _), (second, now)) = (changed(1000..1050, 0), changed(2000..2040, 3));
        let own = second.difference_beside(&first, now.ids()).unwrap();
        assert_eq!((own.added.len(), own.removed.len()), (0, 3));
        let other = Sketch::of_ids(shown(300..350, 3000..3010).ids(), SketchSize::Small);
        let other = other.difference(shown(400..450, 3000..3010).ids()).unwrap_err();
        assert_eq!(second.difference_beside(&other, now.ids()), None);
    }

    proptest! {
        #[test]
        fn what_is_told_is_true(gone in prop::collection::hash_set(0..50u32, 0..5), new in prop::collection::hash_set(50..90u32, 0..5)) {
            let before = page(0..50);
            let now = page((0..50).filter(|n| !gone.contains(n)).chain(new.iter().copied()));
            let sketch = Sketch::of_ids(before.ids(), SketchSize::Large);
            if let Ok(found) = sketch.difference(now.ids()) {
                prop_assert_eq!((found.removed.len(), found.added.len()), (gone.len(), new.len()));
                prop_assert!(found.removed.iter().all(|&id| before.contains(id) && !now.contains(id)));
                prop_assert!(found.added.iter().all(|&id| now.contains(id) && !before.contains(id)));
            }
        }

        #[test]
        fn places_are_three(id in 0u32..1 << 24) {
            for size in [SketchSize::Small, SketchSize::Large] {
                let [a, b, c] = Sketch::of_ids(&[], size).cells_of(id);
                prop_assert!(a < b && b < c && c < size.cells());
            }
        }

        #[test]
        fn sketches_survive_bytes(lines in 0..100u32, tail: u8) {
            for size in [SketchSize::Small, SketchSize::Large] {
                let sketch = Sketch::of_ids(page(0..lines).ids(), size);
                let mut bytes = Vec::new();
                sketch.write(&mut bytes);
                bytes.push(tail);
                prop_assert_eq!(Sketch::read(&bytes, size), Some((sketch, &[tail][..])));
            }
        }
    }
}
