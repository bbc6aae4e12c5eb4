//! Which numbers belong to row i? Many short lists, packed into one.

/// Lists of `u32`, one a row, packed: links of a page, members of a site, sites of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    starts: Vec<usize>,
    values: Vec<u32>,
}

impl Lists {
    /// Packs `(row, value)` pairs into `rows` lists, each in the order of the pairs.
    ///
    /// Pairs whose row does not exist are left out.
    pub fn new<I>(rows: usize, pairs: I) -> Self
    where
        I: Iterator<Item = (u32, u32)> + Clone,
    {
        let known = pairs.filter(|&(row, _)| (row as usize) < rows);
        let mut starts = vec![0; rows + 1];
        for (row, _) in known.clone() {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut values = vec![0; starts[rows]];
        let mut next = starts.clone();
        for (row, value) in known {
            values[next[row as usize]] = value;
            next[row as usize] += 1;
        }
        Lists { starts, values }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is no row at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many values all rows hold together.
    pub fn total(&self) -> usize {
        self.values.len()
    }

    /// The values of `row`; none for a row that does not exist.
    pub fn row(&self, row: u32) -> &[u32] {
        let row = row as usize;
        if row >= self.len() {
            return &[];
        }
        &self.values[self.starts[row]..self.starts[row + 1]]
    }

    /// All pairs, row by row.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + Clone {
        self.rows().flat_map(|row| self.row(row).iter().map(move |&value| (row, value)))
    }

    /// The same pairs seen from the other side: for each of `rows` values, the rows that hold it,
    /// ascending.
    pub fn reversed(&self, rows: usize) -> Self {
        Lists::new(rows, self.pairs().map(|(row, value)| (value, row)))
    }

    /// Sorts every list and drops what it repeats.
    pub(crate) fn into_sets(mut self) -> Self {
        let mut kept = 0;
        let mut read = 0;
        for row in 0..self.len() {
            let end = self.starts[row + 1];
            self.values[read..end].sort_unstable();
            let start = kept;
            for at in read..end {
                if kept == start || self.values[kept - 1] != self.values[at] {
                    self.values[kept] = self.values[at];
                    kept += 1;
                }
            }
            self.starts[row + 1] = kept;
            read = end;
        }
        self.values.truncate(kept);
        self
    }

    fn rows(&self) -> std::ops::Range<u32> {
        0..u32::try_from(self.len()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_reverses_and_drops_repeats() {
        let pairs = [(2, 1), (0, 2), (0, 1), (0, 2), (9, 0)];
        let lists = Lists::new(3, pairs.iter().copied());
        assert_eq!(lists.row(0), [2, 1, 2]);
        assert_eq!(lists.row(1), [0; 0]);
        assert_eq!(lists.row(2), [1]);
        assert_eq!(lists.row(7), [0; 0]);
        let sets = lists.reversed(3).into_sets();
        assert_eq!(sets.row(1), [0, 2]);
        assert_eq!(sets.row(2), [0]);
        assert_eq!(sets.total(), 3);
        assert_eq!(lists.clone().into_sets().row(0), [1, 2]);
        assert_eq!(sets.reversed(3).row(0), [1, 2]);
        assert!(Lists::default().is_empty() && Lists::default().row(0).is_empty());
    }
}
