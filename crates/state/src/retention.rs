//! What do rules of retention do to the visit log, and what did they drop so far?

use std::time::Duration;

use evercrawl_model::{Dropped, RecordAt, Rewritten, Time, VisitsDropped};

use crate::StateError;
use crate::apply::Applied;
use crate::codec::{Reader, Writer};
use crate::keys;
use crate::reading::{FirstSeen, decode_first_seen};
use crate::rows::{Logged, PageRow, is_notice};
use crate::state::State;
use crate::store::{Space, Store};
use crate::view::View;

pub(crate) const DROPPED: u8 = 1;

impl<S: Store> View<S> {
    /// Everything that was ever dropped, the earliest first.
    pub fn dropped(&self) -> impl Iterator<Item = Result<Dropped, StateError>> + '_ {
        let rows = self.layers.scan(Space::Meta, keys::DROPPED, keys::DROPPED_END);
        rows.map(|row| decode_dropped(&row?.1))
    }

    /// Where content with this digest was first seen, as changed so far.
    pub fn first_seen(&self, digest: &[u8; 20]) -> Result<Option<FirstSeen>, StateError> {
        let row = self.layers.get(Space::Content, &keys::digest(digest))?;
        row.map(|row| decode_first_seen(&row)).transpose()
    }

    /// The number of the visit whose record holds this content.
    pub fn holding(&self, digest: &[u8; 20]) -> Result<Option<u64>, StateError> {
        let Some(first) = self.first_seen(digest)? else { return Ok(None) };
        if first.visit.is_some() {
            return Ok(first.visit);
        }
        let Some(row) = self.page(first.page)? else { return Ok(None) };
        for visit in self.history(&row) {
            let (number, visit) = visit?;
            if visit.at == first.at {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }
}

impl<S: Store> State<S> {
    pub(crate) fn rewritten(&mut self, rewritten: &Rewritten) -> Result<Applied, StateError> {
        for (number, at) in &rewritten.moved {
            self.set_record(*number, Some(*at))?;
        }
        for number in &rewritten.emptied {
            self.set_record(*number, None)?;
        }
        for digest in &rewritten.contents {
            self.view.layers.remove(Space::Content, &keys::digest(digest));
        }
        self.note_dropped(&rewritten.dropped)
    }

    fn set_record(&mut self, number: u64, record: Option<RecordAt>) -> Result<(), StateError> {
        let key = number.to_be_bytes();
        let Some(row) = self.view.layers.get(Space::Visits, &key)? else { return Ok(()) };
        let mut logged = Logged::decode(&row)?;
        logged.visit.record = record;
        self.view.layers.put(Space::Visits, &key, &logged.encode());
        Ok(())
    }

    pub(crate) fn visits_dropped(&mut self, event: &VisitsDropped) -> Result<Applied, StateError> {
        for (page, numbers) in &event.visits {
            if let Some(row) = self.view.page(*page)? {
                self.cut(&row, numbers)?;
            }
        }
        for number in &event.notices {
            let key = number.to_be_bytes();
            if self.view.layers.get(Space::Visits, &key)?.is_some_and(|row| is_notice(&row)) {
                self.view.layers.remove(Space::Visits, &key);
            }
        }
        self.note_dropped(&event.dropped)
    }

    /// Takes visits out of the chain that leads from a page's latest visit to its first.
    fn cut(&mut self, row: &PageRow, numbers: &[u64]) -> Result<(), StateError> {
        let mut next = row.past.as_ref().map(|past| past.log);
        let mut later: Option<u64> = None;
        while let Some(number) = next {
            let key = number.to_be_bytes();
            let Some(stored) = self.view.layers.get(Space::Visits, &key)? else { break };
            let before = Logged::decode(&stored)?.before;
            next = before;
            match later {
                // The row leads to the latest, so that one stays.
                Some(later) if numbers.binary_search(&number).is_ok() => {
                    self.view.layers.remove(Space::Visits, &key);
                    self.link(later, before)?;
                }
                _ => later = Some(number),
            }
        }
        Ok(())
    }

    fn link(&mut self, number: u64, before: Option<u64>) -> Result<(), StateError> {
        let key = number.to_be_bytes();
        let Some(row) = self.view.layers.get(Space::Visits, &key)? else { return Ok(()) };
        let logged = Logged { before, ..Logged::decode(&row)? };
        self.view.layers.put(Space::Visits, &key, &logged.encode());
        Ok(())
    }

    /// Adds to the record of what was dropped; one entry a time and a file, for a year.
    fn note_dropped(&mut self, dropped: &Dropped) -> Result<Applied, StateError> {
        let key = keys::dropped(dropped.at, &dropped.from);
        let before = self.view.layers.get(Space::Meta, &key)?;
        let before = before.map(|row| decode_dropped(&row)).transpose()?;
        let mut sum = dropped.clone();
        sum.count += before.as_ref().map_or(0, |before| before.count);
        sum.bytes += before.as_ref().map_or(0, |before| before.bytes);
        self.view.layers.put(Space::Meta, &key, &encode_dropped(&sum));
        self.gather_dropped(dropped.at)?;
        Ok(Applied::default())
    }

    /// Entries of more than a year ago become one, a few with each new one, so that a crawl may go on for ever.
    fn gather_dropped(&mut self, now: Time) -> Result<(), StateError> {
        let is_old = |entry: &Result<Dropped, StateError>| {
            entry.as_ref().is_ok_and(|entry| now.since(entry.at) > TOLD_APART)
        };
        let old: Result<Vec<_>, _> = self.view.dropped().take(3).take_while(is_old).collect();
        let old = old?;
        let Some(latest) = old.last().filter(|_| old.len() > 1) else { return Ok(()) };
        let (count, bytes) = old
            .iter()
            .fold((0, 0), |(count, bytes), entry| (count + entry.count, bytes + entry.bytes));
        let all = Dropped { from: GATHERED.into(), count, bytes, ..latest.clone() };
        for entry in &old {
            self.view.layers.remove(Space::Meta, &keys::dropped(entry.at, &entry.from));
        }
        self.view.layers.put(Space::Meta, &keys::dropped(all.at, &all.from), &encode_dropped(&all));
        Ok(())
    }
}

/// For how long it is told what was dropped from which file.
const TOLD_APART: Duration = Duration::from_secs(366 * 86_400);

/// What all that was dropped before is told to be from.
const GATHERED: &str = "all files and the log until then";

fn encode_dropped(dropped: &Dropped) -> Vec<u8> {
    let mut out = Writer::new(DROPPED);
    out.time(dropped.at);
    out.text(&dropped.rule);
    out.text(&dropped.from);
    out.number(dropped.count);
    out.number(dropped.bytes);
    out.finish()
}

fn decode_dropped(row: &[u8]) -> Result<Dropped, StateError> {
    let mut row = Reader::new(row, DROPPED)?;
    Ok(Dropped {
        at: row.time()?,
        rule: row.text()?.to_owned(),
        from: row.text()?.to_owned(),
        count: row.number()?,
        bytes: row.number()?,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use evercrawl_model::Event;

    use super::*;
    use crate::{MemoryStore, Settings};

    const DAY: u64 = 86_400;

    #[test]
    fn what_was_dropped_long_ago_is_told_as_one_sum() {
        let settings = Settings { seed: 7, shards: 64 };
        let mut state = State::open(Arc::new(MemoryStore::default()), settings, None).unwrap();
        for day in 1..=1200 {
            let at = Time::from_secs(day * DAY);
            let (rule, from) = ("30d".to_owned(), format!("file {day}"));
            let dropped = Dropped { at, rule, from, count: 2, bytes: 10 };
            let event = VisitsDropped { visits: Vec::new(), notices: Vec::new(), dropped };
            state.apply(&Event::VisitsDropped(Box::new(event))).unwrap();
        }
        let told: Vec<Dropped> = state.view.dropped().map(Result::unwrap).collect();
        assert_eq!((told.len(), told[0].from.as_str()), (368, GATHERED));
        assert_eq!(told[0].at, Time::from_secs((1200 - 367) * DAY));
        assert_eq!(told.iter().map(|entry| entry.count).sum::<u64>(), 2 * 1200);
        assert_eq!(told.iter().map(|entry| entry.bytes).sum::<u64>(), 10 * 1200);
    }
}
