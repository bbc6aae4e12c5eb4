//! Which passages appeared or disappeared on several pages of a site, and so are no news on any of them?
//!
//! A new footer, the day's date in the header, advertisements and lists of other pages that take
//! turns: what one page after another shows in the same words belongs to the site. The first few
//! pages to show it count as changed; from then on it is known.
//!
//! Another template is too much to be told passage by passage. What differs is then kept as a sketch, and
//! a page on which the same differs has another template too; only what differs besides is its own.

use crate::sketch::{Difference, Sketch, SketchSize};

/// Passages that differed lately on the pages of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteMemory {
    /// The latest last.
    entries: Vec<PassagePages>,
    /// Differences too large to list their passages, the latest last.
    templates: Vec<Template>,
}

/// A difference too large to list its passages, and the pages that had it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Template {
    rest: Sketch,
    /// A bit for each page.
    pages: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PassagePages {
    id: u32,
    /// A bit for each page that it differed on, by the page's hash.
    pages: u32,
}

impl PassagePages {
    /// Whether it differed on enough pages, `page` aside.
    fn is_common(self, but: u32) -> bool {
        (self.pages & !but).count_ones() >= COMMON
    }
}

impl SiteMemory {
    /// The most passages that are remembered.
    pub(crate) const CAPACITY: usize = 64;

    /// The most bytes that it takes as it is stored, however long a site is watched.
    pub const MOST_BYTES: usize =
        ENTRY * Self::CAPACITY + TEMPLATES * (5 + 4 * SketchSize::Large.cells()) + 3;

    /// Whether a passage differed on several pages besides `page`.
    pub(crate) fn is_common(&self, id: u32, page: u64) -> bool {
        self.entries.iter().any(|entry| entry.id == id && entry.is_common(bit(page)))
    }

    /// Whether a passage differed on any page besides `page`.
    pub(crate) fn is_elsewhere(&self, id: u32, page: u64) -> bool {
        self.entries.iter().any(|entry| entry.id == id && entry.pages & !bit(page) != 0)
    }

    /// The part of a page's difference that other pages of the site did not have, if it can be listed. Which page a
    /// removed passage belonged to is unknown: none counts.
    pub(crate) fn difference_besides(
        &self,
        rest: &Sketch,
        now: &[u32],
        page: u64,
    ) -> Option<Difference> {
        let others = self.templates.iter().filter(|template| template.pages & !bit(page) != 0);
        let own = others.rev().find_map(|template| rest.difference_beside(&template.rest, now))?;
        Some(Difference { removed: Vec::new(), ..own })
    }

    /// Remembers a large difference on a page; returns true when it turns out to be the site's.
    pub fn record_large_difference(&mut self, page: u64, untold: &[u8]) -> bool {
        let Some(rest) = Sketch::from_bytes(untold) else { return false };
        let alike = |template: &Template| rest.difference_beside(&template.rest, &[]).is_some();
        let known = self.templates.iter().rposition(alike).map(|at| self.templates.remove(at));
        let mut template = known.unwrap_or(Template { rest, pages: 0 });
        let before = template.pages;
        template.pages |= bit(page);
        let event = before.count_ones() < COMMON && template.pages.count_ones() >= COMMON;
        if self.templates.len() >= TEMPLATES {
            let single = self.templates.iter().position(|template| template.pages.count_ones() < 2);
            self.templates.remove(single.unwrap_or(0));
        }
        self.templates.push(template);
        event
    }

    /// Remembers that passages differed on a page; returns how many turn out to be the site's.
    pub fn record_passages(&mut self, page: u64, passages: &[u32]) -> u32 {
        let mut common = 0;
        for &id in passages {
            let known = self.entries.iter().position(|entry| entry.id == id);
            let before = known.map_or(0, |at| self.entries.remove(at).pages);
            let entry = PassagePages { id, pages: before | bit(page) };
            let turned = entry.is_common(0) && !PassagePages { id, pages: before }.is_common(0);
            common += u32::from(turned);
            if self.entries.len() >= Self::CAPACITY {
                // What one page showed once is forgotten before what belongs to the site.
                let single = self.entries.iter().position(|entry| !entry.is_common(0));
                self.entries.remove(single.unwrap_or(0));
            }
            self.entries.push(entry);
        }
        common
    }

    /// The memory as it is stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = |entry: &PassagePages| {
            let [a, b, c, _] = entry.id.to_le_bytes();
            let [d, e, f, g] = entry.pages.to_le_bytes();
            [a, b, c, d, e, f, g]
        };
        let mut out: Vec<u8> = self.entries.iter().flat_map(bytes).collect();
        out.extend(self.templates_to_bytes());
        out
    }

    /// Nothing where there are none; else their number of bytes stands last, and there are never as
    /// many that entries could be taken for them.
    fn templates_to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for template in &self.templates {
            let cells = template.rest.to_bytes();
            out.push(u8::try_from(cells.len()).unwrap_or(0));
            out.extend(template.pages.to_le_bytes());
            out.extend_from_slice(&cells);
        }
        if out.is_empty() {
            return out;
        }
        if (out.len() + 2).is_multiple_of(ENTRY) {
            out.push(0);
        }
        let length = u16::try_from(out.len() + 2).unwrap_or(0);
        out.extend(length.to_le_bytes());
        out
    }

    /// Reads what [`to_bytes`](Self::to_bytes) gave; bytes that are too many or too few are left.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let (bytes, templates) = split_templates(bytes);
        let entry = |&[a, b, c, d, e, f, g]: &[u8; 7]| PassagePages {
            id: u32::from_le_bytes([a, b, c, 0]),
            pages: u32::from_le_bytes([d, e, f, g]),
        };
        let entries = bytes.as_chunks().0.iter().take(Self::CAPACITY).map(entry).collect();
        SiteMemory { entries, templates: read_templates(templates) }
    }
}

/// The bytes of entries and those of templates.
fn split_templates(bytes: &[u8]) -> (&[u8], &[u8]) {
    let nothing: (&[u8], &[u8]) = (bytes, &[]);
    let Some((_, length)) = bytes.split_last_chunk().filter(|_| !bytes.len().is_multiple_of(ENTRY))
    else {
        return nothing;
    };
    let length = usize::from(u16::from_le_bytes(*length));
    let entries = bytes.len().checked_sub(length);
    entries.and_then(|at| bytes.split_at_checked(at)).unwrap_or(nothing)
}

fn read_templates(mut bytes: &[u8]) -> Vec<Template> {
    let mut templates = Vec::new();
    while let Some((&[length, a, b, c, d], rest)) = bytes.split_first_chunk()
        && let Some((cells, rest)) = rest.split_at_checked(usize::from(length))
        && let Some(sketch) = Sketch::from_bytes(cells)
        && templates.len() < TEMPLATES
    {
        templates.push(Template { rest: sketch, pages: u32::from_le_bytes([a, b, c, d]) });
        bytes = rest;
    }
    templates
}

/// Bytes of an entry.
const ENTRY: usize = 7;

/// The most large differences that are remembered.
const TEMPLATES: usize = 3;

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
            assert_eq!(site.record_passages(page, &[7]), u32::from(page == 3));
            assert_eq!(site.record_passages(1, &[8]), 0);
        }
        assert!(site.is_common(7, 9) && !site.is_common(7, 3), "a page does not count for itself");
        assert!(!site.is_common(8, 9) && !site.is_common(6, 9));
        assert_eq!(site.record_passages(4, &[7]), 0, "it is told once");
    }

    #[test]
    fn what_belongs_to_the_site_outlasts_the_rest() {
        let mut site = SiteMemory::default();
        for page in 1..=3 {
            site.record_passages(page, &[7]);
        }
        for id in 0..1000 {
            site.record_passages(4, &[id + 100]);
        }
        assert!(site.is_common(7, 9));
        assert_eq!(site.entries.len(), SiteMemory::CAPACITY);
        for (id, page) in (0..100).flat_map(|id| [(id, 1), (id, 2), (id, 3)]) {
            site.record_passages(page, &[id + 100]);
        }
        assert!(!site.is_common(7, 9) && site.is_common(199, 9));
    }

    proptest! {
        #[test]
        fn memories_survive_bytes(
            notes in prop::collection::vec((any::<u64>(), 0u32..1 << 24), 0..100),
            templates in prop::collection::vec((any::<u64>(), any::<[u8; 32]>(), any::<bool>()), 0..5),
        ) {
            let mut site = SiteMemory::default();
            for (page, id) in notes {
                site.record_passages(page, &[id]);
            }
            for (page, cells, large) in templates {
                let cells = cells.repeat(5);
                site.record_large_difference(page, &cells[..if large { 156 } else { 96 }]);
            }
            let bytes = site.to_bytes();
            prop_assert!(bytes.len() <= SiteMemory::MOST_BYTES);
            prop_assert_eq!(SiteMemory::from_bytes(&bytes), site);
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            prop_assert!(SiteMemory::from_bytes(&bytes).entries.len() <= SiteMemory::CAPACITY);
        }
    }
}
