//! How much of everything is there? Totals kept as events are applied, so that nobody has to scan.

use evercrawl_model::{Change, Outcome, Refusal, Visit};

use crate::StateError;
use crate::codec::{Reader, Writer};
use crate::rows::Standing;

const FORMAT: u8 = 1;

/// Totals over the whole data directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Hosts known.
    pub hosts: u64,
    /// Pages known.
    pub pages: u64,
    /// Pages by standing: new, live, gone, refused.
    pub standing: [u64; 4],
    /// Visits, and so the number of the next one.
    pub visits: u64,
    /// Visits by what they told.
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
    /// Pages and links refused for `reason`.
    pub fn refused(&self, reason: Refusal) -> u64 {
        self.refusals[usize::from(reason.number())]
    }

    /// Visits that told `change`.
    pub fn changed(&self, change: Change) -> u64 {
        self.changes[usize::from(change.number())]
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
        self.standing[slot(Standing::New)] += count;
    }

    pub(crate) fn move_standing(&mut self, from: Option<Standing>, to: Standing) {
        if let Some(from) = from {
            self.leave_standing(from);
        }
        self.standing[slot(to)] += 1;
    }

    pub(crate) fn leave_standing(&mut self, from: Standing) {
        let count = &mut self.standing[slot(from)];
        *count = count.saturating_sub(1);
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
        ];
        for list in [&single[..], &self.standing, &self.changes, &self.outcomes, &self.refusals] {
            out.number(list.len() as u64);
            list.iter().for_each(|&n| out.number(n));
        }
        out.finish()
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, StateError> {
        let mut row = Reader::new(row, FORMAT)?;
        let mut counters = Counters::default();
        let mut single = [0; 10];
        read_list(&mut row, &mut single)?;
        read_list(&mut row, &mut counters.standing)?;
        read_list(&mut row, &mut counters.changes)?;
        read_list(&mut row, &mut counters.outcomes)?;
        read_list(&mut row, &mut counters.refusals)?;
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
            ..counters
        })
    }
}

fn slot(standing: Standing) -> usize {
    match standing {
        Standing::New => 0,
        Standing::Live => 1,
        Standing::Gone => 2,
        Standing::Refused(_) => 3,
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
        counters.move_standing(None, Standing::New);
        counters.move_standing(Some(Standing::New), Standing::Gone);
        assert_eq!(counters.standing, [0, 0, 1, 0]);
        assert_eq!(Counters::decode(&counters.encode()).unwrap(), counters);
    }
}
