//! How much of everything is there? Totals kept as events are applied, so that no scan is needed.

use evercrawl_model::{Change, LifeState, Outcome, Refusal, Visit};

use crate::StateError;
use crate::codec::{Reader, Writer};
use crate::rows::PageStatus;

pub(crate) const FORMAT: u8 = 1;

/// Totals over the whole data directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Hosts known.
    pub hosts: u64,
    /// Pages known.
    pub pages: u64,
    /// Pages by status: new, live, gone, refused.
    pub by_status: [u64; 4],
    /// Pages by where they are in their lives; `None` in what earlier versions counted.
    pub lives: Option<[u64; LifeState::ALL.len()]>,
    /// Visits.
    pub visits: u64,
    /// Numbers given out in the log, to visits and notices: the number of the next one.
    pub logged: u64,
    /// Visits by the change that they found.
    pub changes: [u64; Change::ALL.len()],
    /// Visits by how they ended.
    pub outcomes: [u64; Outcome::ALL.len()],
    /// Pages and links refused, by reason.
    pub refusals: [u64; Refusal::ALL.len()],
    /// Visits that brought new content of a page which was already held from elsewhere, and so
    /// was not stored again.
    pub duplicates: u64,
    /// Visits whose text nearly repeats another page's.
    pub near_duplicates: u64,
    /// Visits that brought other bytes, and nothing but noise in them.
    pub noise: u64,
    /// How often it turned out that something came to or went from the pages of a whole site.
    pub site_events: u64,
    /// Payload bytes received.
    pub bytes: u64,
    /// Turns given out to new pages.
    pub turns: u64,
    /// Sets of tags.
    pub tag_sets: u64,
}

impl Counters {
    /// Totals of which every page is yet to be counted.
    pub(crate) fn counting() -> Self {
        Counters { lives: Some([0; LifeState::ALL.len()]), ..Counters::default() }
    }

    /// Pages and links refused for `reason`.
    pub fn refused(&self, reason: Refusal) -> u64 {
        self.refusals[usize::from(reason.number())]
    }

    /// Visits that found `change`.
    pub fn changed(&self, change: Change) -> u64 {
        self.changes[usize::from(change.number())]
    }

    /// Pages that are so far in their lives; `None` where that was not counted.
    pub fn living(&self, life: LifeState) -> Option<u64> {
        Some(self.lives?[usize::from(life.number())])
    }

    /// Visits that ended as `outcome`.
    pub fn ended(&self, outcome: Outcome) -> u64 {
        self.outcomes[usize::from(outcome.number())]
    }

    pub(crate) fn refuse(&mut self, reason: Refusal, count: u64) {
        self.refusals[usize::from(reason.number())] += count;
    }

    pub(crate) fn count_visit(&mut self, visit: &Visit, first_of_digest: bool) {
        self.visits += 1;
        self.changes[usize::from(visit.change.number())] += 1;
        self.outcomes[usize::from(visit.outcome.number())] += 1;
        let fresh = matches!(visit.change, Change::New | Change::Changed | Change::Near);
        let copied = visit.outcome == Outcome::Ok && visit.record.is_some() && !first_of_digest;
        let copied = copied && visit.bytes > 0;
        self.duplicates += u64::from(fresh && copied);
        self.near_duplicates += u64::from(visit.near.is_some());
        self.bytes += visit.bytes;
    }

    /// So many pages came in.
    pub(crate) fn new_pages(&mut self, count: u64) {
        self.pages += count;
        self.by_status[slot(PageStatus::New)] += count;
        if let Some(lives) = &mut self.lives {
            lives[usize::from(LifeState::New.number())] += count;
        }
    }

    /// A page is here from now on.
    pub(crate) fn arrives(&mut self, (status, life): CountedAs) {
        self.by_status[slot(status)] += 1;
        if let Some(lives) = &mut self.lives {
            lives[usize::from(life.number())] += 1;
        }
    }

    /// A page is here no more.
    pub(crate) fn leaves(&mut self, (status, life): CountedAs) {
        let take = |count: &mut u64| *count = count.saturating_sub(1);
        take(&mut self.by_status[slot(status)]);
        if let Some(lives) = &mut self.lives {
            take(&mut lives[usize::from(life.number())]);
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new(FORMAT);
        let single = [
            self.hosts,
            self.pages,
            self.visits,
            self.duplicates,
            self.near_duplicates,
            self.bytes,
            self.turns,
            self.tag_sets,
            self.noise,
            self.site_events,
            self.logged,
        ];
        for list in [&single[..], &self.by_status, &self.changes, &self.outcomes, &self.refusals] {
            out.number(list.len() as u64);
            list.iter().for_each(|&n| out.number(n));
        }
        if let Some(lives) = &self.lives {
            out.number(lives.len() as u64);
            lives.iter().for_each(|&n| out.number(n));
        }
        out.finish()
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, StateError> {
        let mut row = Reader::new(row, FORMAT)?;
        let mut counters = Counters::default();
        let mut single = [0; 11];
        read_list(&mut row, &mut single)?;
        read_list(&mut row, &mut counters.by_status)?;
        read_list(&mut row, &mut counters.changes)?;
        read_list(&mut row, &mut counters.outcomes)?;
        read_list(&mut row, &mut counters.refusals)?;
        if !row.is_empty() {
            let mut lives = [0; LifeState::ALL.len()];
            read_list(&mut row, &mut lives)?;
            counters.lives = Some(lives);
        }
        let [
            hosts,
            pages,
            visits,
            duplicates,
            near_duplicates,
            bytes,
            turns,
            tag_sets,
            noise,
            events,
            logged,
        ] = single;
        Ok(Counters {
            hosts,
            pages,
            visits,
            duplicates,
            near_duplicates,
            bytes,
            turns,
            tag_sets,
            noise,
            site_events: events,
            // Earlier versions gave numbers to visits alone.
            logged: logged.max(visits),
            ..counters
        })
    }
}

/// Where a page is.
pub(crate) type CountedAs = (PageStatus, LifeState);

fn slot(status: PageStatus) -> usize {
    match status {
        PageStatus::New => 0,
        PageStatus::Live => 1,
        PageStatus::Gone => 2,
        PageStatus::Refused(_) => 3,
    }
}

/// Lists may grow at their end with later versions; what an older one did not write is zero.
fn read_list(row: &mut Reader<'_>, into: &mut [u64]) -> Result<(), StateError> {
    let written: usize = row.small()?;
    for n in 0..written {
        let value = row.number()?;
        if let Some(slot) = into.get_mut(n) {
            *slot = value;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_round_trip() {
        let mut counters = Counters { pages: 5, turns: 1 << 40, ..Counters::default() };
        counters.refuse(Refusal::ErrorHistory, 3);
        for lives in [None, Some([0; 9])] {
            counters.lives = lives;
            counters.by_status = [0; 4];
            counters.arrives((PageStatus::New, LifeState::New));
            counters.leaves((PageStatus::New, LifeState::New));
            counters.arrives((PageStatus::Gone, LifeState::Parked));
            assert_eq!(counters.by_status, [0, 0, 1, 0]);
            assert_eq!(counters.living(LifeState::Parked), lives.map(|_| 1));
            assert_eq!(Counters::decode(&counters.encode()).unwrap(), counters);
        }
    }
}
