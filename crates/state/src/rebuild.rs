//! What can be saved of a damaged state, and what follows from it?
//!
//! Facts are copied into a new store as far as they can be read: pages, visits, what is known of
//! hosts, overrides. Whatever follows from facts is made anew: known URLs, queues, the
//! chain of a page's visits, totals. So it does not matter what was damaged, and the result
//! agrees with itself. Memory does not grow with what is known.

use std::sync::Arc;

use evercrawl_model::{
    Band, Change, HostKey, HostUpdate, Importance, LogNotice, Outcome, PageKey, PolicyNotes,
    RecordAt, Time, Validators, Visit, Visited,
};

use xxhash_rust::xxh3::xxh3_64;

use crate::StateError;
use crate::apply::{authority, counted_as, learn};
use crate::check::{ALL, Fault, hex, shown};
use crate::counters::Counters;
use crate::keys;
use crate::layers::Layers;
use crate::likeness;
use crate::links;
use crate::machine::{self, MachineRow};
use crate::meta::{self, ArchiveFile, Settings};
use crate::position::{POSITION, Position};
use crate::reading::{decode_first_seen, encode_first_seen};
use crate::rows::{self, HostRow, Logged, PageRow, PageStatus, Past, Place};
use crate::salvage;
use crate::store::{Slice, Space, Store};
use crate::suspicion;
use crate::view::{COUNTERS, FILES, KeySlot, SETTINGS, SPENDING, View, known_by};

/// Changed keys after which they are committed.
const BATCH: usize = 50_000;
/// Rows that are read before they are written back.
const CHUNK: usize = 5_000;
/// A page whose latest visit was not found yet.
const NO_VISIT: u64 = u64::MAX;

/// A state being made anew in an empty store.
pub struct Rebuild<'a, S> {
    view: View<S>,
    /// True when every visit comes from a record, since no old state is left.
    from_records: bool,
    report: &'a mut dyn FnMut(Fault),
}

/// A record of the archive that no visit speaks of.
#[derive(Clone, Debug)]
pub struct FoundRecord {
    /// The host of its page.
    pub host: HostKey,
    /// The canonical URL of its page.
    pub url: String,
    /// The visit, as far as the record tells; its page is not read.
    pub visit: Visit,
    /// The visit whose record lies before it, where there is one.
    pub after: Option<u64>,
    /// True when the record has the content itself.
    pub holds: bool,
}

impl<'a, S: Store> Rebuild<'a, S> {
    /// Begins with nothing known; `report` is called with everything that is lost.
    pub fn begin(
        store: Arc<S>,
        settings: Settings,
        report: &'a mut dyn FnMut(Fault),
    ) -> Result<Self, StateError> {
        let mut view = View::with(Layers::new(store), settings)?;
        view.layers.put(Space::Meta, SETTINGS, &meta::encode_settings(settings));
        // Where no old state is left, nobody knows its generation: this one repeats none.
        let generation = xxh3_64(&settings.seed.to_le_bytes());
        view.layers.continue_from(Position { generation: generation >> 1, number: 0 });
        Ok(Rebuild { view, from_records: true, report })
    }

    /// What is known by now; whatever follows from it is made at the end.
    pub fn view(&self) -> &View<S> {
        &self.view
    }

    /// Takes over every fact of an old state; `place` says where the record of a visit lies now.
    pub fn copy<O: Store>(
        &mut self,
        old: &View<O>,
        mut place: impl FnMut(u64, &Visit) -> Option<RecordAt>,
    ) -> Result<(), StateError> {
        self.from_records = false;
        self.view.layers.continue_from(old.position());
        self.view.counters = old.counters.clone();
        self.view.spending = old.spending.clone();
        self.each(old, Space::Pages, |this, key, value| this.copy_page(key, value))?;
        self.rescue_pages(old)?;
        self.each(old, Space::Hosts, |this, key, value| this.copy_host(key, value))?;
        self.each(old, Space::Links, |this, key, value| {
            // Link evidence is gathered anew.
            let (page, anchors) = match key {
                [keys::LINK_EVIDENCE, ..] => return Ok(()),
                [keys::ANCHORS, page @ ..] => (page, true),
                page => (page, false),
            };
            let page = PageKey::from_bytes(page).ok_or_else(|| keys::bad("link"))?;
            match anchors {
                true => drop(links::decode_anchors(value)?),
                false => drop(links::decode(page.host, value)?),
            }
            match this.view.page(page)? {
                Some(_) => this.put(Space::Links, key, value),
                None => Ok(()),
            }
        })?;
        self.each(old, Space::Visits, |this, key, value| this.copy_visit(key, value, &mut place))?;
        for number in 0..old.counters.logged {
            let key = number.to_be_bytes();
            if self.view.layers.get(Space::Visits, &key)?.is_none()
                && let Ok(Some(row)) = old.layers.get(Space::Visits, &key)
            {
                match self.copy_visit(&key, &row, &mut place) {
                    // It was reported when the scan passed its row.
                    Err(StateError::Corrupt(_)) => {}
                    other => other?,
                }
            }
        }
        self.each(old, Space::Content, |this, key, value| this.copy_content(key, value))?;
        self.each(old, Space::Meta, |this, key, value| match key {
            [FILES | keys::LINK_EVIDENCE_TOTALS, ..]
            | SETTINGS
            | COUNTERS
            | SPENDING
            | POSITION => Ok(()),
            key if machine::is_of_earlier_version(key) => Ok(()),
            _ => this.put(Space::Meta, key, value),
        })
    }

    /// Puts a record that no visit speaks of back into the log: where its visit was, if nothing
    /// else is there, or at the end. Gives the visit's number.
    pub fn adopt(&mut self, found: &FoundRecord) -> Result<u64, StateError> {
        let (key, check) = self.view.keyer.page(found.host, &found.url);
        let page = match self.view.probe(key, check)? {
            KeySlot::Known(page) => page,
            KeySlot::Free(page) => {
                let row = unvisited(found.url.clone(), found.visit.at);
                self.put(Space::Pages, &page.to_bytes(), &row.encode())?;
                self.put(Space::Known, &page.to_bytes(), &known_by(check))?;
                page
            }
        };
        let end = self.view.counters.logged;
        let gap = found.after.map_or(0, |after| after + 1);
        let taken = |number: u64| self.view.layers.get(Space::Visits, &number.to_be_bytes());
        let free = gap < end && taken(gap)?.is_none();
        let number = if free { gap } else { end };
        if !free {
            self.view.counters.logged = end + 1;
            self.view.counters.visits += 1;
        }
        let visit = Visit { page, ..found.visit.clone() };
        let logged = Logged { visit: visit.clone(), before: None, turn: None };
        self.put(Space::Visits, &number.to_be_bytes(), &logged.encode())?;
        if let (Some(digest), true) = (visit.digest, found.holds) {
            let first = encode_first_seen(page, visit.at, number);
            self.put(Space::Content, &keys::digest(&digest), &first)?;
        }
        Ok(number)
    }

    /// Makes everything that follows from what is known by now, and ends as a clean run does.
    pub fn finish(mut self, files: &[ArchiveFile]) -> Result<Counters, StateError> {
        let counted = self.chain_visits()?;
        self.settle_pages()?;
        self.settle_hosts()?;
        let tag_sets = self.view.tag_sets()?.len();
        let counters = &mut self.view.counters;
        counters.tag_sets = tag_sets as u64;
        if counted.visits == counters.visits {
            counters.changes = counted.changes;
            counters.outcomes = counted.outcomes;
            counters.bytes = counted.bytes;
            counters.near_duplicates = counted.near_duplicates;
        }
        for file in files {
            let key = keys::numbered(FILES, file.serial.into());
            self.view.layers.put(Space::Meta, &key, &meta::encode_file(file));
        }
        self.view.layers.put(Space::Meta, COUNTERS, &self.view.counters.encode());
        self.view.layers.put(Space::Meta, SPENDING, &self.view.spending.encode());
        self.view.layers.put_machine_row(MachineRow::CleanMark, b"");
        // No batch leads from the old state to this one.
        self.view.layers.raise_generation();
        self.flush()?;
        self.view.layers.store().settle()?;
        Ok(self.view.counters)
    }

    fn copy_page(&mut self, key: &[u8], value: &[u8]) -> Result<(), StateError> {
        let page = PageKey::from_bytes(key).ok_or_else(|| keys::bad("page"))?;
        let mut row = PageRow::decode(value)?;
        if let Some(past) = &mut row.past {
            past.log = NO_VISIT;
        }
        let (_, check) = self.view.keyer.page(page.host, &row.url);
        self.put(Space::Known, key, &known_by(check))?;
        self.put(Space::Pages, key, &row.encode())
    }

    /// A row in a damaged place may have been written again elsewhere: a read of its exact
    /// key finds it, though no scan does.
    fn rescue_pages<O: Store>(&mut self, old: &View<O>) -> Result<(), StateError> {
        self.each(old, Space::Known, |this, key, _| {
            if this.view.layers.get(Space::Pages, key)?.is_some() {
                return Ok(());
            }
            match old.layers.get(Space::Pages, key) {
                Ok(Some(row)) => this.copy_page(key, &row),
                _ => Err(StateError::Corrupt("its row is unreadable".to_owned())),
            }
        })
    }

    fn copy_visit(
        &mut self,
        key: &[u8],
        value: &[u8],
        place: &mut impl FnMut(u64, &Visit) -> Option<RecordAt>,
    ) -> Result<(), StateError> {
        let number = u64::from_be_bytes(key.try_into().map_err(|_| keys::bad("visit"))?);
        self.view.counters.logged = self.view.counters.logged.max(number + 1);
        if rows::is_notice(value) {
            return self.copy_notice(key, value);
        }
        let mut logged = Logged::decode(value)?;
        if self.view.page(logged.visit.page)?.is_none() {
            let what =
                format!("visit {number}: its page is lost; it can be recovered only from a record");
            return Err(StateError::Corrupt(what));
        }
        logged.visit.record = place(number, &logged.visit);
        self.put(Space::Visits, key, &logged.encode())
    }

    fn copy_notice(&mut self, key: &[u8], value: &[u8]) -> Result<(), StateError> {
        match rows::decode_notice(value)? {
            LogNotice::LifeChanged { page, .. } if self.view.page(page)?.is_none() => Ok(()),
            _ => self.put(Space::Visits, key, value),
        }
    }

    fn copy_host(&mut self, key: &[u8], value: &[u8]) -> Result<(), StateError> {
        match key {
            [b'f', ..] => return Ok(()),
            [b'h', ..] => {
                let row = HostRow { known: 0, waiting: 0, ..HostRow::decode(value)? };
                return self.put(Space::Hosts, key, &row.encode());
            }
            [b'r', ..] => drop(rows::decode_robots(value)?),
            [b'p', ..] => drop(rows::decode_soft_404(value)?),
            [b'm', ..] => drop(likeness::decode(value)?),
            [b'v', ..] => drop(suspicion::decode(value)?),
            _ => {}
        }
        self.put(Space::Hosts, key, value)
    }

    /// Content whose record is gone is stored again when it is met again.
    fn copy_content(&mut self, key: &[u8], value: &[u8]) -> Result<(), StateError> {
        if let [b'd', digest @ ..] = key
            && let Some(number) = decode_first_seen(value)?.visit
        {
            let visit = self.visit(number)?.filter(|visit| visit.record.is_some());
            if visit.and_then(|visit| visit.digest).is_none_or(|held| held != digest) {
                return Ok(());
            }
        }
        self.put(Space::Content, key, value)
    }

    /// Every page leads to its latest visit, and every visit to the one before.
    fn chain_visits(&mut self) -> Result<Counters, StateError> {
        let mut counted = Counters::default();
        self.each_of_mine(Space::Visits, ALL.0, ALL.1, |this, key, value| {
            let number = u64::from_be_bytes(key.try_into().map_err(|_| keys::bad("visit"))?);
            if rows::is_notice(value) {
                return Ok(());
            }
            let Logged { mut visit, turn, .. } = Logged::decode(value)?;
            // Visits are copied and adopted only with their pages.
            let Some(mut row) = this.view.page(visit.page)? else { return Ok(()) };
            if this.from_records {
                visit.change = change_told_by(&visit, row.past.as_ref());
            }
            let before = row.past.as_ref().map(|past| past.log).filter(|log| *log != NO_VISIT);
            learn_of(&mut row, &visit, number);
            counted.count_visit(&visit, true);
            this.put(Space::Visits, key, &Logged { visit: visit.clone(), before, turn }.encode())?;
            this.put(Space::Pages, &visit.page.to_bytes(), &row.encode())
        })?;
        Ok(counted)
    }

    /// Pages take their places in the queues, and are counted.
    fn settle_pages(&mut self) -> Result<(), StateError> {
        let fresh = Counters::counting();
        let counters = &mut self.view.counters;
        (counters.pages, counters.by_status, counters.lives) = (0, fresh.by_status, fresh.lives);
        let mut sum: Option<(HostKey, HostRow)> = None;
        self.each_of_mine(Space::Pages, ALL.0, ALL.1, |this, key, value| {
            let page = PageKey::from_bytes(key).ok_or_else(|| keys::bad("page"))?;
            let mut row = PageRow::decode(value)?;
            if row.past.as_ref().is_some_and(|past| past.log == NO_VISIT) {
                this.lost(Space::Visits, &row.url, "all its visits; it will be visited again");
                row = unvisited_again(row);
            }
            if let Some(Place::New(_, turn)) = &mut row.place {
                let turns = &mut this.view.counters.turns;
                *turn = if *turn == 0 { *turns + 1 } else { *turn };
                *turns = (*turns).max(*turn);
            }
            this.view.counters.pages += 1;
            this.view.counters.arrives(counted_as(&row));
            if sum.as_ref().is_none_or(|(host, _)| *host != page.host) {
                this.put_host(sum.take())?;
                sum = Some((page.host, this.host_of(page.host, &row.url)?));
            }
            if let Some((_, host)) = &mut sum {
                count_page(host, &row);
            }
            if let Some(place) = row.place {
                this.put(Space::Queues, &keys::queue(page, place), b"")?;
            }
            this.put(Space::Pages, key, &row.encode())
        })?;
        self.put_host(sum)
    }

    fn host_of(&self, key: HostKey, url: &str) -> Result<HostRow, StateError> {
        let row = self.view.host(key)?;
        Ok(row.unwrap_or_else(|| HostRow::new(authority(url).to_owned())))
    }

    fn put_host(&mut self, host: Option<(HostKey, HostRow)>) -> Result<(), StateError> {
        let Some((key, row)) = host else { return Ok(()) };
        self.put(Space::Hosts, &keys::host(key), &row.encode())
    }

    /// Hosts take their places in the front queues, and are counted.
    fn settle_hosts(&mut self) -> Result<(), StateError> {
        self.view.counters.hosts = 0;
        self.each_of_mine(Space::Hosts, b"h", &keys::HOSTS_END, |this, key, value| {
            let host = HostKey::from_bytes(&key[1..]).ok_or_else(|| keys::bad("host"))?;
            let mut row = HostRow::decode(value)?;
            row.front = row.front.filter(|_| row.known > 0);
            this.view.counters.hosts += 1;
            if let Some((band, wake)) = row.front {
                this.put(Space::Hosts, &keys::front(band, wake, host), b"")?;
            }
            this.put(Space::Hosts, key, &row.encode())
        })
    }

    /// Every row of an old space; what cannot be read is reported and skipped.
    fn each<O: Store>(
        &mut self,
        old: &View<O>,
        space: Space,
        mut row: impl FnMut(&mut Self, &[u8], &[u8]) -> Result<(), StateError>,
    ) -> Result<(), StateError> {
        let mut damage = Vec::new();
        let each = |key: &Slice, value: &Slice| match row(self, key, value) {
            Err(StateError::Corrupt(what)) => {
                let subject = if space == Space::Hosts { shown(key) } else { hex(key) };
                self.lost(space, subject, what);
                Ok(())
            }
            other => other,
        };
        let damaged = |error: &StateError| damage.push(error.to_string());
        salvage::for_each(&old.layers, space, ALL, each, damaged)?;
        damage.into_iter().for_each(|error| self.lost(space, "rows", error));
        Ok(())
    }

    /// Every row of a space of the new state, in pieces, so that each can be changed.
    fn each_of_mine(
        &mut self,
        space: Space,
        from: &[u8],
        to: &[u8],
        mut row: impl FnMut(&mut Self, &[u8], &[u8]) -> Result<(), StateError>,
    ) -> Result<(), StateError> {
        let mut from = from.to_vec();
        loop {
            let chunk = self.view.layers.scan(space, &from, to).take(CHUNK);
            let chunk: Vec<(Slice, Slice)> = chunk.collect::<Result<_, _>>()?;
            let Some((last, _)) = chunk.last() else { return Ok(()) };
            from = keys::after(last);
            for (key, value) in &chunk {
                row(self, key, value)?;
            }
        }
    }

    fn visit(&self, number: u64) -> Result<Option<Visit>, StateError> {
        let row = self.view.layers.get(Space::Visits, &number.to_be_bytes())?;
        let row = row.filter(|row| !rows::is_notice(row));
        row.map(|row| Logged::decode(&row).map(|logged| logged.visit)).transpose()
    }

    fn put(&mut self, space: Space, key: &[u8], value: &[u8]) -> Result<(), StateError> {
        self.view.layers.put(space, key, value);
        if self.view.layers.pending().len() >= BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), StateError> {
        if let Some(frozen) = self.view.layers.freeze() {
            self.view.layers.store().commit(&frozen)?;
            self.view.layers.flushed();
        }
        Ok(())
    }

    fn lost(&mut self, space: Space, subject: impl Into<String>, what: impl ToString) {
        (self.report)(Fault { space, subject: subject.into(), what: what.to_string() });
    }
}

/// A page of which nothing but its URL is left.
fn unvisited(url: String, found: Time) -> PageRow {
    PageRow {
        url,
        kind: evercrawl_model::PageKind::Page,
        depth: 0,
        hops: 0,
        via: None,
        hub: None,
        tags: 0,
        seed: false,
        guess: false,
        found,
        claimed_change: None,
        status: PageStatus::New,
        place: Some(visited_anew()),
        past: None,
        importance: Importance::UNKNOWN,
    }
}

/// Among the pages to be visited, last; its turn is given when all are known.
fn visited_anew() -> Place {
    Place::New(Band::LAST, 0)
}

/// A page whose visits are all lost: what it taught is not believed without them.
fn unvisited_again(row: PageRow) -> PageRow {
    let waits = row.place.is_some();
    let status = if waits { PageStatus::New } else { row.status };
    let place = waits.then(visited_anew);
    PageRow { status, place, past: None, ..row }
}

/// A visit follows in the log; a row that is behind learns from it.
///
/// What else the visit brought, such as pages that were first linked to from there, went with what
/// the row lacks: the page is visited anew, as one that was never visited.
fn learn_of(row: &mut PageRow, visit: &Visit, number: u64) {
    match &mut row.past {
        Some(past) if past.last_visit >= visit.at => past.log = number,
        _ => {
            let mut visited = plain(visit);
            if visit.outcome == Outcome::Cut
                && row.past.as_ref().and_then(Past::whole_digest).is_some()
            {
                visited.identity = None;
            }
            row.past = Some(learn(row.past.take(), &visited, number));
            let gone = visit.change == Change::Gone;
            row.status = if gone { PageStatus::Gone } else { PageStatus::Live };
            row.place = Some(if gone { Place::Recheck(visit.at) } else { visited_anew() });
        }
    }
}

/// What a record says about a change, after the visits before it. Content that is cut is not held.
fn change_told_by(visit: &Visit, past: Option<&Past>) -> Change {
    let held = past.and_then(Past::whole_digest);
    let repeats = past.is_some_and(|past| past.status == visit.status);
    match visit.outcome {
        Outcome::Ok if held.is_none() => Change::New,
        Outcome::Ok if held == visit.digest => Change::Same,
        Outcome::Ok => Change::Changed,
        Outcome::ClientError if visit.status == 410 => Change::Gone,
        Outcome::ClientError if visit.status == 404 && (held.is_none() || repeats) => Change::Gone,
        _ => visit.change,
    }
}

/// What a visit alone says.
fn plain(visit: &Visit) -> Visited {
    Visited {
        visit: visit.clone(),
        // What a server sends with an error is not the page's content.
        identity: visit.digest.filter(|_| matches!(visit.outcome, Outcome::Ok | Outcome::Cut)),
        next: evercrawl_model::NextVisit::Due(visit.at),
        policy_notes: PolicyNotes::default(),
        // The whole page is asked for, since what it linked to is lost.
        validators: Some(Validators::default()),
        simhash: None,
        memory: None,
        links: None,
        differing: Vec::new(),
        anchors: Vec::new(),
        untold: None,
        observed: None,
        first_of_digest: false,
        kind: evercrawl_model::PageKind::Page,
        host: HostUpdate::default(),
    }
}

/// A page of a host counts, and its host waits no longer than it does.
fn count_page(host: &mut HostRow, row: &PageRow) {
    host.known += 1;
    host.seed |= row.seed;
    let front = match row.place {
        None => return,
        Some(Place::New(band, _)) => {
            host.waiting += 1;
            (band, row.found)
        }
        Some(Place::Due(at)) => (Band::REVISITS, at),
        Some(Place::Recheck(at)) => (Band::BLOCKED, at),
    };
    host.front =
        Some(host.front.map_or(front, |found| if found.1 <= front.1 { found } else { front }));
}
