//! Which records stay, in which files? One look at everything; it changes nothing.

use std::collections::BTreeMap;

use evercrawl_model::{Outcome, Time, Visit};
use evercrawl_state::{PageRow, Store, View};

use super::Keep;
use crate::EngineError;

/// What is to become of the archive.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Visits whose records stay, one bit a visit: a log of a hundred million takes 12 MB.
    keep: Bits,
    /// The files that have something to drop.
    pub(super) files: BTreeMap<u32, FilePlan>,
    /// Visits that there were.
    pub(super) visits: u64,
}

/// What is to become of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FilePlan {
    /// The first and the last visit that have their records in it.
    pub(super) first: u64,
    pub(super) last: u64,
    /// Records of visits in it.
    pub(super) records: u64,
    /// Those that go.
    pub(super) dropped: u64,
    /// What they take, requests not counted.
    pub(super) bytes: u64,
}

impl Plan {
    /// Looks at every page and its visits.
    pub(super) fn make<S: Store>(
        state: &View<S>,
        keep: &Keep,
        now: Time,
    ) -> Result<Self, EngineError> {
        let visits = state.counters().visits;
        let mut plan = Plan { visits, ..Plan::default() };
        for page in state.pages() {
            plan.keep_of(state, &page?.1, keep, now)?;
        }
        for entry in state.visits(0).take_while(|entry| is_before(entry, visits)) {
            let (number, visit) = entry?;
            plan.count(number, &visit);
        }
        plan.files.retain(|_, file| file.dropped > 0);
        Ok(plan)
    }

    /// True when the record of a visit stays.
    pub(super) fn keeps(&self, visit: u64) -> bool {
        visit >= self.visits || self.keep.has(visit)
    }

    /// Marks what stays of a page: what the rules say, the latest content, and whatever record
    /// holds the content of these.
    fn keep_of<S: Store>(
        &mut self,
        state: &View<S>,
        row: &PageRow,
        keep: &Keep,
        now: Time,
    ) -> Result<(), EngineError> {
        let history: Result<Vec<_>, _> = state.history(row).collect();
        let mut history = history?;
        history.retain(|(_, visit)| visit.record.is_some());
        let visits: Vec<&Visit> = history.iter().map(|(_, visit)| visit).collect();
        let mut kept = keep.of(&visits, now);
        if let Some(latest) = visits.iter().position(|visit| is_content(visit)) {
            kept[latest] = true;
        }
        let held = row.past.as_ref().and_then(|past| past.digest);
        let stay = history.iter().zip(kept).filter(|(_, kept)| *kept).map(|(visit, _)| visit);
        let mut digests: Vec<[u8; 20]> = held.into_iter().collect();
        for (number, visit) in stay {
            self.keep.set(*number);
            digests.extend(visit.digest);
        }
        digests.sort_unstable();
        digests.dedup();
        for digest in digests {
            if let Some(holder) = state.holding(&digest)? {
                self.keep.set(holder);
            }
        }
        Ok(())
    }

    fn count(&mut self, number: u64, visit: &Visit) {
        let Some(at) = visit.record else { return };
        let kept = self.keep.has(number);
        let fresh = FilePlan { first: number, ..FilePlan::default() };
        let file = self.files.entry(at.file).or_insert(fresh);
        file.last = number;
        file.records += 1;
        if !kept {
            file.dropped += 1;
            file.bytes += u64::from(at.length);
        }
    }
}

fn is_content(visit: &Visit) -> bool {
    matches!(visit.outcome, Outcome::Ok | Outcome::NotModified)
}

fn is_before<E>(entry: &Result<(u64, Visit), E>, end: u64) -> bool {
    entry.as_ref().map_or(true, |(number, _)| *number < end)
}

/// A set of numbers that are close together.
#[derive(Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn set(&mut self, number: u64) {
        let Ok(word) = usize::try_from(number / 64) else { return };
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % 64);
    }

    fn has(&self, number: u64) -> bool {
        let word = usize::try_from(number / 64).ok().and_then(|word| self.0.get(word));
        word.is_some_and(|word| word & 1 << (number % 64) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_where_they_were_set() {
        let mut bits = Bits::default();
        for number in [0, 63, 64, 1000] {
            bits.set(number);
        }
        let found: Vec<u64> = (0..2000).filter(|&number| bits.has(number)).collect();
        assert_eq!(found, [0, 63, 64, 1000]);
    }
}
