//! Where are new pages found? New links, by the kind of page that held them.

use evercrawl_model::PageKind;

/// After this many visits to pages of a kind, older ones count less.
const MEMORY: f64 = 10_000.0;

/// New links found on known pages of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkYield {
    /// Visits.
    pub visits: f64,
    /// Links to pages that were unknown before.
    pub links: f64,
}

impl LinkYield {
    /// New links per visit; `None` before the first.
    pub fn per_visit(&self) -> Option<f64> {
        (self.visits > 0.0).then(|| self.links / self.visits)
    }
}

/// The yield of each kind of page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkYields([LinkYield; 3]);

impl LinkYields {
    const KINDS: [PageKind; 3] = [PageKind::Page, PageKind::Sitemap, PageKind::Feed];

    /// Records a revisit of a page of this kind, with this many new links.
    pub(super) fn add(&mut self, kind: PageKind, links: u32) {
        let row = &mut self.0[usize::from(kind.number()).min(2)];
        if row.visits >= MEMORY {
            *row = LinkYield { visits: row.visits / 2.0, links: row.links / 2.0 };
        }
        row.visits += 1.0;
        row.links += f64::from(links);
    }

    /// The yield by kind of page.
    pub fn by_kind(&self) -> impl Iterator<Item = (PageKind, LinkYield)> + use<> {
        Self::KINDS.into_iter().zip(self.0)
    }

    /// Appends the encoding to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let numbers = self.0.iter().flat_map(|row| [row.visits, row.links]);
        out.extend(numbers.flat_map(|number| (number as f32).to_le_bytes()));
    }

    /// Reads what [`write`](Self::write) wrote.
    pub(super) fn read(from: &mut &[u8]) -> Option<Self> {
        let mut number = || {
            let (head, rest) = from.split_first_chunk()?;
            *from = rest;
            Some(f64::from(f32::from_le_bytes(*head)))
        };
        let mut yields = LinkYields::default();
        for row in &mut yields.0 {
            *row = LinkYield { visits: number()?, links: number()? };
        }
        Some(yields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_counted_apart_and_kept() {
        let mut yields = LinkYields::default();
        (0..4).for_each(|links| yields.add(PageKind::Feed, links));
        yields.add(PageKind::Page, 0);
        let mut bytes = Vec::new();
        yields.write(&mut bytes);
        assert_eq!(LinkYields::read(&mut bytes.as_slice()), Some(yields));
        assert_eq!(LinkYields::read(&mut &bytes[1..]), None);
        let each: Vec<_> = yields.by_kind().map(|(kind, of)| (kind, of.per_visit())).collect();
        let want =
            [(PageKind::Page, Some(0.0)), (PageKind::Sitemap, None), (PageKind::Feed, Some(1.5))];
        assert_eq!(each, want);
    }
}
