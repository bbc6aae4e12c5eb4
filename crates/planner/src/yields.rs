//! Where are new pages found? New links by the kind of page that they stood on.

use evercrawl_model::Kind;

/// Visits of a kind after which older ones begin to count less.
const MEMORY: f64 = 10_000.0;

/// What visits to known pages of one kind led to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Yield {
    /// Visits.
    pub visits: f64,
    /// Links that were not known before.
    pub links: f64,
}

impl Yield {
    /// New links a visit; `None` before the first.
    pub fn a_visit(&self) -> Option<f64> {
        (self.visits > 0.0).then(|| self.links / self.visits)
    }
}

/// The same of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Yields([Yield; 3]);

impl Yields {
    const KINDS: [Kind; 3] = [Kind::Page, Kind::Sitemap, Kind::Feed];

    /// A page of that kind was visited again, and led to so many new ones.
    pub(super) fn add(&mut self, kind: Kind, links: u32) {
        let row = &mut self.0[usize::from(kind.number()).min(2)];
        if row.visits >= MEMORY {
            *row = Yield { visits: row.visits / 2.0, links: row.links / 2.0 };
        }
        row.visits += 1.0;
        row.links += f64::from(links);
    }

    /// What each kind led to.
    pub fn by_kind(&self) -> impl Iterator<Item = (Kind, Yield)> + use<> {
        Self::KINDS.into_iter().zip(self.0)
    }

    /// Writes it down behind what is in `out`.
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
        let mut yields = Yields::default();
        for row in &mut yields.0 {
            *row = Yield { visits: number()?, links: number()? };
        }
        Some(yields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_counted_apart_and_kept() {
        let mut yields = Yields::default();
        (0..4).for_each(|links| yields.add(Kind::Feed, links));
        yields.add(Kind::Page, 0);
        let mut bytes = Vec::new();
        yields.write(&mut bytes);
        assert_eq!(Yields::read(&mut bytes.as_slice()), Some(yields));
        assert_eq!(Yields::read(&mut &bytes[1..]), None);
        let each: Vec<_> = yields.by_kind().map(|(kind, of)| (kind, of.a_visit())).collect();
        let want = [(Kind::Page, Some(0.0)), (Kind::Sitemap, None), (Kind::Feed, Some(1.5))];
        assert_eq!(each, want);
    }
}
