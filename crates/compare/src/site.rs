//! Which passages came or went on several pages of a site, and so say nothing of any one of them?
//!
//! A new footer, the day's date in the header, advertisements and lists of other pages that take
//! turns: what one page after another shows in the same words belongs to the site. The first few
//! pages to show it count as changed; from then on it is known.

/// Passages that differed lately on the pages of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteMemory {
    /// The latest last.
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    id: u32,
    /// A bit for each page that it differed on, by the page's hash.
    pages: u32,
}

impl Entry {
    /// Whether it differed on enough pages, `page` aside.
    fn is_common(self, but: u32) -> bool {
        (self.pages & !but).count_ones() >= COMMON
    }
}

impl SiteMemory {
    /// The most passages that are remembered.
    pub const CAPACITY: usize = 64;

    /// Whether a passage differed on several pages besides `page`.
    pub(crate) fn is_common(&self, id: u32, page: u64) -> bool {
        self.entries.iter().any(|entry| entry.id == id && entry.is_common(bit(page)))
    }

    /// Remembers that passages differed on a page; true when some turn out to be the site's.
    pub fn note(&mut self, page: u64, passages: &[u32]) -> bool {
        let mut event = false;
        for &id in passages {
            let known = self.entries.iter().position(|entry| entry.id == id);
            let before = known.map_or(0, |at| self.entries.remove(at).pages);
            let entry = Entry { id, pages: before | bit(page) };
            event |= entry.is_common(0) && !Entry { id, pages: before }.is_common(0);
            if self.entries.len() >= Self::CAPACITY {
                // What one page showed once is forgotten before what belongs to the site.
                let single = self.entries.iter().position(|entry| !entry.is_common(0));
                self.entries.remove(single.unwrap_or(0));
            }
            self.entries.push(entry);
        }
        event
    }

    /// The memory as it is stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = |entry: &Entry| {
            let [a, b, c, _] = entry.id.to_le_bytes();
            let [d, e, f, g] = entry.pages.to_le_bytes();
            [a, b, c, d, e, f, g]
        };
        self.entries.iter().flat_map(bytes).collect()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) gave; bytes that are too many or too few are left.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let entry = |&[a, b, c, d, e, f, g]: &[u8; 7]| Entry {
            id: u32::from_le_bytes([a, b, c, 0]),
            pages: u32::from_le_bytes([d, e, f, g]),
        };
        let entries = bytes.as_chunks().0.iter().take(Self::CAPACITY).map(entry).collect();
        SiteMemory { entries }
    }
}

/// On how many pages a passage must have differed to be the site's.
const COMMON: u32 = 3;

fn bit(page: u64) -> u32 {
    1 << (page % 32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_differs_on_three_pages_belongs_to_the_site() {
        let mut site = SiteMemory::default();
        for page in 1..=3 {
            assert_eq!(site.note(page, &[7]), page == 3);
            assert!(!site.note(1, &[8]));
        }
        assert!(site.is_common(7, 9) && !site.is_common(7, 3), "a page does not count for itself");
        assert!(!site.is_common(8, 9) && !site.is_common(6, 9));
        assert!(!site.note(4, &[7]), "it is told once");
    }

    #[test]
    fn what_belongs_to_the_site_outlasts_the_rest() {
        let mut site = SiteMemory::default();
        for page in 1..=3 {
            site.note(page, &[7]);
        }
        for id in 0..1000 {
            site.note(4, &[id + 100]);
        }
        assert!(site.is_common(7, 9));
        assert_eq!(site.entries.len(), SiteMemory::CAPACITY);
        for (id, page) in (0..100).flat_map(|id| [(id, 1), (id, 2), (id, 3)]) {
            site.note(page, &[id + 100]);
        }
        assert!(!site.is_common(7, 9) && site.is_common(199, 9));
    }

    proptest! {
        #[test]
        fn memories_survive_bytes(notes in prop::collection::vec((any::<u64>(), 0u32..1 << 24), 0..100)) {
            let mut site = SiteMemory::default();
            for (page, id) in notes {
                site.note(page, &[id]);
            }
            let bytes = site.to_bytes();
            prop_assert!(bytes.len() <= 7 * SiteMemory::CAPACITY);
            prop_assert_eq!(SiteMemory::from_bytes(&bytes), site);
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            prop_assert!(SiteMemory::from_bytes(&bytes).entries.len() <= SiteMemory::CAPACITY);
        }
    }
}
