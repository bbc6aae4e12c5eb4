//! Which records stay, in which files? One look at everything; it changes nothing.

use std::collections::BTreeMap;

use evercrawl_model::{Outcome, Time, Visit};
use evercrawl_state::{PageRow, StateError, Store, View};

use super::Keep;
use crate::EngineError;

/// What is to become of the archive.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Visits whose records stay, one bit a visit: a log of a hundred million takes 12 MB.
    keep: Bits,
    /// The files that have something to drop, those with the latest visits last.
    pub(super) files: Vec<FilePlan>,
    /// Numbers that the log had given out.
    pub(super) visits: u64,
}

/// What is to become of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FilePlan {
    pub(super) serial: u32,
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
        let visits = state.counters().logged;
        let mut plan = Plan { visits, ..Plan::default() };
        for page in state.pages() {
            plan.keep_of(state, &page?.1, keep, now)?;
        }
        let mut files = BTreeMap::new();
        for entry in state.visits(0).take_while(|entry| is_before(entry, visits)) {
            let (number, visit) = entry?;
            plan.count(number, &visit, &mut files);
        }
        plan.files.extend(files.into_values().filter(|file| file.dropped > 0));
        plan.files.sort_by_key(|file| file.last);
        Ok(plan)
    }

    /// True when the record of a visit stays.
    pub(super) fn keeps(&self, visit: u64) -> bool {
        visit >= self.visits || self.keep.has(visit)
    }

    /// A file stays as it is: so do the records that its records refer to. These are earlier than
    /// they, and lie in files whose turn has not come.
    pub(super) fn spare<S: Store>(
        &mut self,
        state: &View<S>,
        file: FilePlan,
    ) -> Result<(), EngineError> {
        for entry in file.visits(state) {
            let (number, visit) = entry?;
            self.keep.set(number);
            if let Some(digest) = visit.digest {
                self.keep_holder(state, &digest)?;
            }
        }
        Ok(())
    }

    fn keep_holder<S: Store>(
        &mut self,
        state: &View<S>,
        digest: &[u8; 20],
    ) -> Result<(), EngineError> {
        if let Some(holder) = state.holding(digest)? {
            self.keep.set(holder);
        }
        Ok(())
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
        if let Some(latest) = visits.iter().position(|visit| is_content(visit, row.held_cut())) {
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
        digests.iter().try_for_each(|digest| self.keep_holder(state, digest))
    }

    fn count(&self, number: u64, visit: &Visit, files: &mut BTreeMap<u32, FilePlan>) {
        let Some(at) = visit.record else { return };
        let kept = self.keep.has(number);
        let fresh = FilePlan { serial: at.file, first: number, ..FilePlan::default() };
        let file = files.entry(at.file).or_insert(fresh);
        file.last = number;
        file.records += 1;
        if !kept {
            file.dropped += 1;
            file.bytes += u64::from(at.length);
        }
    }
}

impl FilePlan {
    /// The visits that have their records in the file.
    pub(super) fn visits<S: Store>(
        self,
        state: &View<S>,
    ) -> impl Iterator<Item = Result<(u64, Visit), StateError>> + '_ {
        let end = self.last.saturating_add(1);
        let ours = move |visit: &Visit| visit.record.is_some_and(|at| at.file == self.serial);
        let visits = state.visits(self.first).take_while(move |entry| is_before(entry, end));
        visits.filter(move |entry| entry.as_ref().map_or(true, |(_, visit)| ours(visit)))
    }
}

/// Whether a visit brought what is held of its page: content, or what is held as long as nothing whole came.
fn is_content(visit: &Visit, held_cut: bool) -> bool {
    matches!(visit.outcome, Outcome::Ok | Outcome::NotModified)
        || held_cut && visit.outcome == Outcome::Cut
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
