//! Is what the state says true of itself? Every row is read, and whatever follows from other rows
//! is compared with them.
//!
//! Spaces are walked in the order of their keys, and what one row says of another is looked up: so
//! memory does not grow with what is known.

use std::collections::BTreeMap;

use evercrawl_model::{HostKey, LifeState, LogNotice, PageKey, RecordAt, Visit};

use crate::StateError;
use crate::apply::counted_as;
use crate::counters::Counters;
use crate::keys;
use crate::likeness;
use crate::link_evidence;
use crate::links;
use crate::meta;
use crate::position::{POSITION, Position};
use crate::reading::decode_first_seen;
use crate::rows::{self, HostRow, Logged, PageRow, Place};
use crate::salvage;
use crate::spending::Spending;
use crate::store::{Slice, Space, Store};
use crate::suspicion;
use crate::view::{COUNTERS, FILES, SETTINGS, SPENDING, TAGS, View, known_by};

/// Something that is wrong with the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The space it was found in.
    pub space: Space,
    /// The URL, host or number that it is about.
    pub subject: String,
    /// What is wrong.
    pub what: String,
}

impl<S: Store> View<S> {
    /// Reads every row; `report` is called with each fault.
    pub fn inspect(&self, report: &mut dyn FnMut(Fault)) -> Result<(), StateError> {
        let files = self.archive().unwrap_or_default();
        let files = files.into_iter().map(|file| (file.serial, file.warc_len)).collect();
        let mut inspection =
            Inspection { view: self, report, counted: Counters::counting(), logged: 0, files };
        inspection.pages()?;
        inspection.known()?;
        inspection.queues()?;
        inspection.hosts()?;
        inspection.links()?;
        inspection.visits()?;
        inspection.content()?;
        inspection.meta()?;
        inspection.walk(Space::Machine, ALL, |_, _, _| {})?;
        inspection.counters();
        Ok(())
    }

    /// Every visit that can be read, in the order of their numbers.
    pub fn for_each_visit(&self, mut see: impl FnMut(u64, &Visit)) -> Result<(), StateError> {
        let row = |key: &Slice, value: &Slice| {
            let number = key.as_ref().try_into().map(u64::from_be_bytes);
            if let (Ok(number), Ok(logged)) = (number, Logged::decode(value)) {
                see(number, &logged.visit);
            }
            Ok(())
        };
        salvage::for_each(&self.layers, Space::Visits, ALL, row, |_| {})
    }
}

struct Inspection<'a, S> {
    view: &'a View<S>,
    report: &'a mut dyn FnMut(Fault),
    counted: Counters,
    /// Visits in the log.
    logged: u64,
    /// Lengths of the archive's files.
    files: BTreeMap<u32, u64>,
}

/// What the pages of a host add up to.
#[derive(Default)]
struct HostSum {
    host: HostKey,
    known: u32,
    waiting: u32,
    queued: bool,
}

/// All keys of a space lie between these.
pub(crate) const ALL: (&[u8], &[u8]) = (&[], &[0xff; 32]);

impl<S: Store> Inspection<'_, S> {
    fn pages(&mut self) -> Result<(), StateError> {
        let mut sum = HostSum::default();
        self.walk(Space::Pages, ALL, |this, key, value| {
            let Some(key) = PageKey::from_bytes(key) else {
                return this.fault(Space::Pages, hex(key), "its key is unreadable");
            };
            if key.host != sum.host {
                this.host_sum(&std::mem::replace(
                    &mut sum,
                    HostSum { host: key.host, ..HostSum::default() },
                ));
            }
            match PageRow::decode(value) {
                Ok(row) => {
                    sum.known += 1;
                    sum.waiting += u32::from(matches!(row.place, Some(Place::New(..))));
                    sum.queued |= row.place.is_some();
                    this.page(key, &row);
                }
                Err(error) => this.fault(Space::Pages, hex(&key.to_bytes()), error),
            }
        })?;
        self.host_sum(&sum);
        Ok(())
    }

    fn page(&mut self, key: PageKey, row: &PageRow) {
        self.counted.pages += 1;
        self.counted.arrives(counted_as(row));
        let (expected, check) = self.view.keyer.page(key.host, &row.url);
        if key.url.wrapping_sub(expected.url) > 1 << 16 {
            self.fault(Space::Pages, &row.url, "it is stored under the key of another URL");
        }
        let known = self.get(Space::Known, &key.to_bytes());
        if known.is_some_and(|known| known.is_none_or(|known| *known != known_by(check))) {
            self.fault(Space::Known, &row.url, "it is missing in the filter of known URLs");
        }
        if let Some(place) = row.place {
            let queued = self.get(Space::Queues, &keys::queue(key, place));
            if queued.is_some_and(|queued| queued.is_none()) {
                self.fault(Space::Queues, &row.url, "it waits, but is not in its queue");
            }
        }
        if let Some(Place::New(_, turn)) = row.place {
            self.counted.turns = self.counted.turns.max(turn);
        }
        let log = row.past.as_ref().map(|past| past.log);
        let visit = log.map(|log| self.visit(log).filter(|visit| visit.0.page == key));
        if visit.is_some_and(|visit| visit.is_none()) {
            self.fault(Space::Visits, &row.url, "its latest visit is not in the log");
        }
    }

    /// All pages of a host were seen.
    fn host_sum(&mut self, sum: &HostSum) {
        if sum.known == 0 {
            return;
        }
        let row = match self.view.host(sum.host) {
            Ok(Some(row)) => row,
            Ok(None) => {
                return self.fault(Space::Hosts, hex(&sum.host.to_bytes()), "it has no row");
            }
            Err(error) => return self.fault(Space::Hosts, hex(&sum.host.to_bytes()), error),
        };
        if (row.known, row.waiting) != (sum.known, sum.waiting) {
            let HostSum { known, waiting, .. } = sum;
            let what = format!(
                "{known} known pages and {waiting} waiting pages, but its counts are {} and {}",
                row.known, row.waiting
            );
            self.fault(Space::Hosts, &row.authority, what);
        }
        if sum.queued && row.front.is_none() {
            self.fault(Space::Hosts, &row.authority, "pages wait, but it is in no front queue");
        }
    }

    fn known(&mut self) -> Result<(), StateError> {
        self.walk(Space::Known, ALL, |this, key, _| {
            if this.get(Space::Pages, key).is_some_and(|row| row.is_none()) {
                this.fault(Space::Known, hex(key), "there is no such page");
            }
        })
    }

    fn queues(&mut self) -> Result<(), StateError> {
        self.walk(Space::Queues, ALL, |this, key, _| {
            let page = HostKey::from_bytes(key).zip(keys::parse_queue(key));
            let page = page.map(|(host, (_, url))| PageKey { host, url });
            let row = page.and_then(|page| this.view.page(page).ok().flatten());
            let place = row.as_ref().and_then(|row| row.place);
            match (page, place) {
                (Some(page), Some(place)) if **key == keys::queue(page, place) => {}
                _ => {
                    let subject = row.map_or_else(|| hex(key), |row| row.url);
                    this.fault(Space::Queues, subject, "it is in a queue where it does not wait");
                }
            }
        })
    }

    fn hosts(&mut self) -> Result<(), StateError> {
        self.walk(Space::Hosts, ALL, |this, key, value| {
            let read = match key.first() {
                Some(b'h') => this.host(key, value),
                Some(b'f') => this.front(key),
                Some(b'r') => rows::decode_robots(value).map(drop),
                Some(b'p') => rows::decode_soft_404(value).map(drop),
                Some(b'm') => likeness::decode(value).map(drop),
                Some(b'v') => suspicion::decode(value).map(drop),
                Some(b's') if value.len() != 4 => Err(StateError::Corrupt("no count".into())),
                _ => Ok(()),
            };
            if let Err(error) = read {
                this.fault(Space::Hosts, shown(key), error);
            }
        })
    }

    fn host(&mut self, key: &Slice, value: &Slice) -> Result<(), StateError> {
        let row = HostRow::decode(value)?;
        let host = HostKey::from_bytes(&key[1..]).ok_or_else(|| keys::bad("host"))?;
        self.counted.hosts += 1;
        if let Some((band, wake)) = row.front {
            let front = self.get(Space::Hosts, &keys::front(band, wake, host));
            if front.is_some_and(|front| front.is_none()) {
                self.fault(Space::Hosts, &row.authority, "it is not in its front queue");
            }
        }
        let (from, to) = (host.to_bytes(), [&host.to_bytes()[..], &[0xff; 9]].concat());
        if row.known > 0 && self.view.layers.scan(Space::Pages, &from, &to).next().is_none() {
            self.fault(Space::Hosts, &row.authority, "it has no pages");
        }
        Ok(())
    }

    fn front(&mut self, key: &Slice) -> Result<(), StateError> {
        let (_, host) = keys::parse_front(key).ok_or_else(|| keys::bad("front queue"))?;
        let front = self.view.host(host)?.and_then(|row| row.front);
        if front.is_none_or(|(band, wake)| keys::front(band, wake, host) != **key) {
            self.fault(Space::Hosts, hex(key), "a host is in a front queue where it does not wait");
        }
        Ok(())
    }

    fn links(&mut self) -> Result<(), StateError> {
        self.walk(Space::Links, ALL, |this, key, value| {
            let read = match key.first() {
                Some(&keys::LINK_EVIDENCE) => link_evidence::decode(value).map(drop),
                Some(&keys::ANCHORS) => links::decode_anchors(value).map(drop),
                _ => return this.links_of(key, value),
            };
            if read.is_err() {
                this.fault(Space::Links, hex(key), "its row is unreadable");
            }
        })
    }

    fn links_of(&mut self, key: &Slice, value: &[u8]) {
        let page = PageKey::from_bytes(key);
        if page.is_none_or(|page| links::decode(page.host, value).is_err()) {
            self.fault(Space::Links, hex(key), "its row is unreadable");
        } else if self.get(Space::Known, key).is_some_and(|known| known.is_none()) {
            self.fault(Space::Links, hex(key), "there is no such page");
        }
    }

    fn visits(&mut self) -> Result<(), StateError> {
        self.walk(Space::Visits, ALL, |this, key, value| {
            let number = key.as_ref().try_into().map(u64::from_be_bytes);
            if rows::is_notice(value) {
                return this.notice(number.ok(), value);
            }
            this.logged += 1;
            match (number, Logged::decode(value)) {
                (Ok(number), Ok(Logged { visit, before, .. })) => {
                    this.counted.count_visit(&visit, true);
                    for what in this.wrong_with_visit(number, &visit, before) {
                        let url = this.view.page(visit.page).ok().flatten();
                        let subject = url.map_or(String::new(), |row| format!(" of {}", row.url));
                        this.fault(Space::Visits, format!("visit {number}{subject}"), what);
                    }
                }
                (Err(_), _) => this.fault(Space::Visits, hex(key), "its key is unreadable"),
                (Ok(number), Err(error)) => {
                    this.fault(Space::Visits, format!("visit {number}"), error);
                }
            }
        })
    }

    fn notice(&mut self, number: Option<u64>, value: &Slice) {
        let subject = number.map_or(String::new(), |number| format!("number {number}"));
        if number.is_none_or(|number| number >= self.view.counters.logged) {
            self.fault(Space::Visits, &subject, "its number was never assigned");
        }
        match rows::decode_notice(value) {
            Ok(LogNotice::LifeChanged { page, .. })
                if self.get(Space::Known, &page.to_bytes()) == Some(None) =>
            {
                self.fault(Space::Visits, subject, "its page is unknown");
            }
            Ok(_) => {}
            Err(error) => self.fault(Space::Visits, subject, error),
        }
    }

    fn wrong_with_visit(
        &self,
        number: u64,
        visit: &Visit,
        before: Option<u64>,
    ) -> Vec<&'static str> {
        let mut wrong = Vec::new();
        let latest = match self.view.page(visit.page) {
            Ok(Some(row)) => row.past.map(|past| past.log),
            _ => {
                wrong.push("its page is unknown");
                Some(number)
            }
        };
        if latest.is_none_or(|latest| latest < number) {
            wrong.push("its page does not refer to it");
        }
        let earlier = |before: u64| {
            before < number && self.visit(before).is_some_and(|(other, _)| other.page == visit.page)
        };
        if before.is_some_and(|before| !earlier(before)) {
            wrong.push("the page's visit before it is not in the log");
        }
        let inside = |at: &RecordAt| {
            let end = at.offset.saturating_add(at.length.into());
            self.files.get(&at.file).is_some_and(|length| end <= *length)
        };
        if visit.record.as_ref().is_some_and(|at| !inside(at)) {
            wrong.push("its record is beyond the end of the archive");
        }
        if number >= self.view.counters.logged {
            wrong.push("more visits are in the log than were counted");
        }
        wrong
    }

    fn content(&mut self) -> Result<(), StateError> {
        self.walk(Space::Content, ALL, |this, key, value| {
            let wrong = match key.first() {
                Some(b'd') => this.wrong_with_content(key, value),
                _ => PageKey::from_bytes(value).is_none().then_some("it names no page"),
            };
            if let Some(what) = wrong {
                this.fault(Space::Content, hex(key), what);
            }
        })
    }

    fn wrong_with_content(&self, key: &[u8], value: &[u8]) -> Option<&'static str> {
        let Ok(first) = decode_first_seen(value) else { return Some("its row is unreadable") };
        let number = first.visit?;
        match self.visit(number) {
            None => Some("the visit that found this content is not in the log"),
            Some((visit, _)) if visit.record.is_none() => {
                Some("the record of this content is gone")
            }
            Some((visit, _)) if visit.digest.is_none_or(|digest| digest != key[1..]) => {
                Some("the visit that it names found other content")
            }
            Some(_) => None,
        }
    }

    fn meta(&mut self) -> Result<(), StateError> {
        self.walk(Space::Meta, ALL, |this, key, value| {
            let read = match (key.first(), key.as_ref()) {
                (_, SETTINGS) => meta::decode_settings(value).map(drop),
                (_, COUNTERS) => Counters::decode(value).map(drop),
                (_, SPENDING) => Spending::decode(value).map(drop),
                (_, POSITION) => Position::decode(value).map(drop),
                (Some(&FILES), _) => meta::decode_file(value).map(drop),
                (Some(&TAGS), _) => {
                    this.counted.tag_sets += 1;
                    Ok(())
                }
                _ => Ok(()),
            };
            if let Err(error) = read {
                this.fault(Space::Meta, shown(key), error);
            }
        })?;
        let overrides = self.view.overrides().map(drop);
        let dropped = self.view.dropped().try_for_each(|dropped| dropped.map(drop));
        for error in [overrides, dropped].into_iter().filter_map(Result::err) {
            self.fault(Space::Meta, "overrides and the log of deletions", error);
        }
        Ok(())
    }

    /// Totals say what was counted, as far as it can be: visits may have been dropped since.
    fn counters(&mut self) {
        let (said, found) = (&self.view.counters, &self.counted);
        let mut pairs = vec![
            ("hosts", said.hosts, found.hosts),
            ("pages", said.pages, found.pages),
            ("sets of tags", said.tag_sets, found.tag_sets),
            ("turns", said.turns, said.turns.max(found.turns)),
        ];
        let statuses = ["new pages", "live pages", "gone pages", "refused pages"];
        let each = statuses.into_iter().zip(said.by_status).zip(found.by_status);
        pairs.extend(each.map(|((name, said), found)| (name, said, found)));
        let lives = said.lives.iter().flatten().zip(found.lives.iter().flatten());
        let lives =
            lives.zip(LifeState::ALL).map(|((said, found), life)| (life.code(), *said, *found));
        pairs.extend(lives);
        if self.logged == said.visits {
            pairs.push(("bytes", said.bytes, found.bytes));
            pairs.push(("near duplicates", said.near_duplicates, found.near_duplicates));
            let each = said.changes.iter().zip(&found.changes);
            pairs.extend(each.map(|(said, found)| ("visits by change", *said, *found)));
            let each = said.outcomes.iter().zip(&found.outcomes);
            pairs.extend(each.map(|(said, found)| ("visits by outcome", *said, *found)));
        }
        for (name, said, found) in pairs.into_iter().filter(|(_, said, found)| said != found) {
            self.fault(Space::Meta, name, format!("{found} exist, but the count is {said}"));
        }
    }

    /// Reads every row between two keys; what cannot be read is reported and skipped.
    fn walk(
        &mut self,
        space: Space,
        range: (&[u8], &[u8]),
        mut row: impl FnMut(&mut Self, &Slice, &Slice),
    ) -> Result<(), StateError> {
        let mut damage = Vec::new();
        let view = self.view;
        let each = |key: &Slice, value: &Slice| {
            row(self, key, value);
            Ok(())
        };
        salvage::for_each(&view.layers, space, range, each, |error| {
            damage.push(error.to_string())
        })?;
        for error in damage {
            self.fault(space, "", format!("a part is unreadable: {error}"));
        }
        Ok(())
    }

    /// What lies at a key, or that nothing does; `None` where that cannot be read, which is reported
    /// when its own space is walked.
    fn get(&self, space: Space, key: &[u8]) -> Option<Option<Slice>> {
        self.view.layers.get(space, key).ok()
    }

    fn visit(&self, number: u64) -> Option<(Visit, Option<u64>)> {
        let row = self.get(Space::Visits, &number.to_be_bytes())??;
        Logged::decode(&row).ok().map(|logged| (logged.visit, logged.before))
    }

    fn fault(&mut self, space: Space, subject: impl Into<String>, what: impl ToString) {
        (self.report)(Fault { space, subject: subject.into(), what: what.to_string() });
    }
}

/// A key that means nothing to people.
pub(crate) fn hex(key: &[u8]) -> String {
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A key of which a part may be text.
pub(crate) fn shown(key: &[u8]) -> String {
    match std::str::from_utf8(key) {
        Ok(text) if !text.contains(char::is_control) => text.to_owned(),
        _ => hex(key),
    }
}
