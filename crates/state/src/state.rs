//! What do we know? The state as readers and the frontier see it; `apply` changes it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evercrawl_model::{Band, HostKey, Keyer, PageKey, RobotsCopy, Time, Visit};

use crate::StateError;
use crate::counters::Counters;
use crate::keys::{self, Lane};
use crate::layers::Layers;
use crate::meta::{self, ArchiveFile, Settings};
use crate::reading::Reading;
use crate::rows::{self, HostRow, PageRow};
use crate::seen::{self, Filter, Seen};
use crate::store::{Overlay, Slice, Space, Store};

const SETTINGS: &[u8] = b"k";
const COUNTERS: &[u8] = b"c";
const CLEAN: &[u8] = b"x";
const NEW_PAGES: u8 = b'n';
const FILES: u8 = b'f';
const TAGS: u8 = b't';

/// How many host rows are kept in memory besides those that changed.
const HOSTS_KEPT: usize = 20_000;
/// How many batches of new pages may pile up before the filter is saved.
const FILTER_EVERY: u64 = 2_000_000;

/// A page's place in a lane of its host's back queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The turn (new pages) or the due time in milliseconds (known pages).
    pub position: u64,
    /// The page.
    pub page: PageKey,
}

/// Everything the crawler knows.
pub struct State<S> {
    pub(crate) layers: Layers<S>,
    pub(crate) keyer: Keyer,
    pub(crate) counters: Counters,
    pub(crate) seen: Seen,
    pub(crate) hosts: HashMap<HostKey, CachedHost>,
    /// New pages since the last freeze, for the filter's log.
    pub(crate) new_pages: Vec<u8>,
    pub(crate) dirty: bool,
    batch: u64,
    filter_path: Option<PathBuf>,
    filter_batch: u64,
    filter_behind: u64,
    was_clean: bool,
    tags: HashMap<String, u32>,
}

/// A host row in memory; written back at the next freeze when it changed.
pub(crate) struct CachedHost {
    pub(crate) row: HostRow,
    pub(crate) dirty: bool,
}

impl<S: Store> State<S> {
    /// Opens the state in `store`, or begins one there with `fresh` settings. `filter_path` is
    /// where the seen filter is kept between runs; without one it is rebuilt by a scan.
    pub fn open(
        store: Arc<S>,
        fresh: Settings,
        filter_path: Option<&Path>,
    ) -> Result<Self, StateError> {
        let mut layers = Layers::new(store);
        let stored = layers.get(Space::Meta, SETTINGS)?;
        let was_clean = stored.is_none() || layers.get(Space::Meta, CLEAN)?.is_some();
        let settings = match stored {
            Some(row) => meta::decode_settings(&row)?,
            None => {
                layers.put(Space::Meta, SETTINGS, &meta::encode_settings(fresh));
                fresh
            }
        };
        let counters = match layers.get(Space::Meta, COUNTERS)? {
            Some(row) => Counters::decode(&row)?,
            None => Counters::default(),
        };
        layers.remove(Space::Meta, CLEAN);
        let (filter, filter_batch, batch) = load_filter(&layers, filter_path)?;
        Ok(State {
            layers,
            keyer: Keyer::new(settings.seed, settings.shards),
            counters,
            seen: Seen::new(filter),
            hosts: HashMap::new(),
            new_pages: Vec::new(),
            dirty: true,
            batch,
            filter_path: filter_path.map(Path::to_owned),
            filter_batch,
            filter_behind: 0,
            was_clean,
            tags: HashMap::new(),
        })
    }

    /// False when the last run ended without saying goodbye.
    pub fn was_clean(&self) -> bool {
        self.was_clean
    }

    /// What makes keys here.
    pub fn keyer(&self) -> Keyer {
        self.keyer
    }

    /// Totals.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The store below, for readers on other threads; it lags behind by what is not committed.
    pub fn reading(&self) -> Reading<S> {
        Reading(self.layers.store().clone())
    }

    /// The page at `key`.
    pub fn page(&self, key: PageKey) -> Result<Option<PageRow>, StateError> {
        let row = self.layers.get(Space::Pages, &key.to_bytes())?;
        row.map(|row| PageRow::decode(&row)).transpose()
    }

    /// The page with canonical URL `url` on `host`.
    pub fn find(&self, host: HostKey, url: &str) -> Result<Option<(PageKey, PageRow)>, StateError> {
        let (key, check) = self.keyer.page(host, url);
        match self.probe(key, check)? {
            Probe::Known(key) => Ok(self.page(key)?.map(|row| (key, row))),
            Probe::Free(_) => Ok(None),
        }
    }

    /// Follows the chain of colliding URLs to the one with hash `check`, or to the place where it
    /// would go.
    pub(crate) fn probe(&self, mut key: PageKey, check: u64) -> Result<Probe, StateError> {
        loop {
            match self.layers.get(Space::Known, &key.to_bytes())? {
                None => return Ok(Probe::Free(key)),
                Some(row) if *row == known_by(check) => return Ok(Probe::Known(key)),
                Some(_) => key = key.next_probe(),
            }
        }
    }

    /// Every page, in the order of their keys.
    pub fn pages(&self) -> impl Iterator<Item = Result<(PageKey, PageRow), StateError>> + '_ {
        self.layers.scan(Space::Pages, &[], &[0xff; 19]).map(|row| {
            let (key, row) = row?;
            let key = PageKey::from_bytes(&key).ok_or_else(|| keys::bad("page"))?;
            Ok((key, PageRow::decode(&row)?))
        })
    }

    /// The row of a host.
    pub fn host(&self, key: HostKey) -> Result<Option<HostRow>, StateError> {
        if let Some(cached) = self.hosts.get(&key) {
            return Ok(Some(cached.row.clone()));
        }
        let row = self.layers.get(Space::Hosts, &keys::host(key))?;
        row.map(|row| HostRow::decode(&row)).transpose()
    }

    /// Every host that was committed.
    pub fn hosts(&self) -> impl Iterator<Item = Result<(HostKey, HostRow), StateError>> + '_ {
        self.layers.scan(Space::Hosts, b"h", &keys::HOSTS_END).map(|row| {
            let (key, row) = row?;
            let key = HostKey::from_bytes(&key[1..]).ok_or_else(|| keys::bad("host"))?;
            Ok((key, HostRow::decode(&row)?))
        })
    }

    /// At most `limit` pages of a lane, at `from` (position, URL hash) or after it, and before
    /// position `until`.
    pub fn lane(
        &self,
        host: HostKey,
        lane: Lane,
        from: (u64, u64),
        until: u64,
        limit: usize,
    ) -> Result<Vec<Queued>, StateError> {
        let from = keys::queue_at(host, lane, from.0, from.1);
        let until = keys::queue_at(host, lane, until, 0);
        let rows = self.layers.scan(Space::Queues, &from, &until).take(limit);
        rows.map(|row| {
            let (position, url) =
                keys::parse_queue(&row?.0).ok_or_else(|| keys::bad("back queue"))?;
            Ok(Queued { position, page: PageKey { host, url } })
        })
        .collect()
    }

    /// At most `limit` hosts of a front queue that have something to fetch at `from` or later.
    pub fn front(
        &self,
        band: Band,
        from: (Time, HostKey),
        limit: usize,
    ) -> Result<Vec<(Time, HostKey)>, StateError> {
        let from = keys::front(band, from.0, from.1);
        let rows = self.layers.scan(Space::Hosts, &from, &keys::front_end(band)).take(limit);
        rows.map(|row| keys::parse_front(&row?.0).ok_or_else(|| keys::bad("front queue"))).collect()
    }

    /// The copy held of an origin's robots.txt.
    pub fn robots(&self, origin: &str) -> Result<Option<RobotsCopy>, StateError> {
        let row = self.layers.get(Space::Hosts, &keys::robots(origin))?;
        row.map(|row| rows::decode_robots(&row)).transpose()
    }

    /// A page's visits, latest first, with their numbers.
    pub fn history(
        &self,
        page: &PageRow,
    ) -> impl Iterator<Item = Result<(u64, Visit), StateError>> + '_ {
        let mut next = page.past.as_ref().map(|past| past.log);
        std::iter::from_fn(move || {
            let number = next.take()?;
            let row = match self.layers.get(Space::Visits, &number.to_be_bytes()) {
                Ok(row) => row?,
                Err(error) => return Some(Err(error)),
            };
            Some(rows::decode_visit(&row).map(|(visit, before)| {
                next = before;
                (number, visit)
            }))
        })
    }

    /// Every visit from number `from` on, in the order of their commits.
    pub fn visits(&self, from: u64) -> impl Iterator<Item = Result<(u64, Visit), StateError>> + '_ {
        self.layers.scan(Space::Visits, &from.to_be_bytes(), &[0xff; 9]).map(|row| {
            let (key, row) = row?;
            let number = key.as_ref().try_into().map(u64::from_be_bytes);
            Ok((number.map_err(|_| keys::bad("visit"))?, rows::decode_visit(&row)?.0))
        })
    }

    /// The number of a set of tags; a new set is given one.
    pub fn tag_set(&mut self, tags: &str) -> Result<u32, StateError> {
        if tags.is_empty() {
            return Ok(0);
        }
        if self.tags.is_empty() {
            self.tags = self.tag_sets()?.into_iter().map(|(id, tags)| (tags, id)).collect();
        }
        if let Some(&id) = self.tags.get(tags) {
            return Ok(id);
        }
        self.counters.tag_sets += 1;
        let id = u32::try_from(self.counters.tag_sets).unwrap_or(u32::MAX);
        let key = keys::numbered(TAGS, id.into());
        self.layers.put(Space::Meta, &key, tags.as_bytes());
        self.dirty = true;
        self.tags.insert(tags.to_owned(), id);
        Ok(id)
    }

    /// Every set of tags, by number.
    pub fn tag_sets(&self) -> Result<HashMap<u32, String>, StateError> {
        let rows = self.layers.scan(Space::Meta, &[TAGS], &[TAGS + 1]);
        rows.map(|row| {
            let (key, tags) = row?;
            let id = number_of(&key)?;
            let id = u32::try_from(id).map_err(|_| keys::bad("tag set"))?;
            Ok((id, String::from_utf8_lossy(&tags).into_owned()))
        })
        .collect()
    }

    /// Every URL that the user gave.
    pub fn seeds(&self) -> impl Iterator<Item = Result<String, StateError>> + '_ {
        self.layers.scan(Space::Meta, keys::SEED, keys::SEEDS_END).map(|row| {
            let url = row?.0[keys::SEED.len()..].to_vec();
            String::from_utf8(url).map_err(|_| keys::bad("seed"))
        })
    }

    /// Records how far the archive's files are written; part of the next commit.
    pub fn set_archive(&mut self, files: &[ArchiveFile]) {
        for file in files {
            let key = keys::numbered(FILES, file.serial.into());
            self.layers.put(Space::Meta, &key, &meta::encode_file(file));
        }
    }

    /// Files of the archive got their final names; part of the next commit.
    pub fn finish_archive(&mut self, serials: &[u32]) -> Result<(), StateError> {
        for mut file in self.archive()?.into_iter().filter(|file| serials.contains(&file.serial)) {
            file.finished = true;
            file.open = false;
            self.set_archive(&[file]);
            self.dirty = true;
        }
        Ok(())
    }

    /// The archive's files as last committed.
    pub fn archive(&self) -> Result<Vec<ArchiveFile>, StateError> {
        let rows = self.layers.scan(Space::Meta, &[FILES], &[FILES + 1]);
        rows.map(|row| meta::decode_file(&row?.1)).collect()
    }

    /// How many keys changed since the last freeze.
    pub fn pending(&self) -> usize {
        self.layers.pending().len()
    }

    /// True when something changed and no earlier part is on its way.
    pub fn can_freeze(&self) -> bool {
        self.dirty && !self.layers.is_flushing()
    }

    /// Hands out what changed, to be committed elsewhere; `None` when nothing did or an earlier
    /// part is still on its way. Call [`flushed`](Self::flushed) when it is committed.
    pub fn freeze(&mut self) -> Option<Arc<Overlay>> {
        if !self.dirty {
            return None;
        }
        self.write_back();
        let frozen = self.layers.freeze()?;
        self.dirty = false;
        Some(frozen)
    }

    /// The part that was handed out is committed.
    pub fn flushed(&mut self) -> Result<(), StateError> {
        self.layers.flushed();
        if self.filter_behind >= FILTER_EVERY {
            self.save_filter()?;
        }
        Ok(())
    }

    /// Commits everything and marks the end of a clean run.
    pub fn close(&mut self) -> Result<(), StateError> {
        self.flush_now()?;
        self.save_filter()?;
        self.layers.put(Space::Meta, CLEAN, b"");
        self.dirty = true;
        self.flush_now()?;
        self.layers.store().settle()
    }

    /// Commits everything here and now.
    pub fn flush_now(&mut self) -> Result<(), StateError> {
        if let Some(frozen) = self.freeze() {
            self.layers.store().commit(&frozen)?;
            self.flushed()?;
        }
        Ok(())
    }

    /// Merges what was added into what was there. Worth its time after much was added at once.
    pub fn merge(&mut self) -> Result<(), StateError> {
        self.flush_now()?;
        self.layers.store().merge()
    }

    /// Bytes that the state takes on disk.
    pub fn disk_bytes(&self) -> u64 {
        self.layers.store().disk_bytes()
    }

    fn write_back(&mut self) {
        self.batch += 1;
        for (key, host) in self.hosts.iter_mut().filter(|(_, host)| host.dirty) {
            self.layers.put(Space::Hosts, &keys::host(*key), &host.row.encode());
            host.dirty = false;
        }
        if self.hosts.len() > HOSTS_KEPT {
            self.hosts.clear();
        }
        if !self.new_pages.is_empty() {
            let key = keys::numbered(NEW_PAGES, self.batch);
            self.layers.put(Space::Meta, &key, &self.new_pages);
            self.filter_behind += self.new_pages.len() as u64 / 8;
            self.new_pages.clear();
        }
        self.layers.put(Space::Meta, COUNTERS, &self.counters.encode());
    }

    /// Saves the filter and drops the log of what it did not have yet. Only right after a commit:
    /// what the filter has must be in the store.
    fn save_filter(&mut self) -> Result<(), StateError> {
        let Some(path) = &self.filter_path else { return Ok(()) };
        self.seen.filter().save(path, self.batch)?;
        for batch in self.filter_batch + 1..=self.batch {
            self.layers.remove(Space::Meta, &keys::numbered(NEW_PAGES, batch));
        }
        self.filter_batch = self.batch;
        self.filter_behind = 0;
        self.dirty = true;
        Ok(())
    }
}

/// The part of a URL's second hash that tells it from others with the same key. With the key that
/// makes 96 bits within a host: no two URLs ever met are the same in all.
pub(crate) fn known_by(check: u64) -> [u8; 4] {
    let [a, b, c, d, ..] = check.to_be_bytes();
    [a, b, c, d]
}

/// Where a URL is, or would go.
pub(crate) enum Probe {
    Known(PageKey),
    Free(PageKey),
}

fn load_filter<S: Store>(
    layers: &Layers<S>,
    path: Option<&Path>,
) -> Result<(Filter, u64, u64), StateError> {
    let saved = path.and_then(Filter::load);
    let (mut filter, from) = match saved {
        Some(saved) => saved,
        None => (scan_filter(layers)?, 0),
    };
    let mut batch = from;
    for row in layers.scan(Space::Meta, &keys::numbered(NEW_PAGES, from + 1), &[NEW_PAGES + 1]) {
        let (key, hashes) = row?;
        batch = number_of(&key)?;
        for hash in hashes.as_chunks::<8>().0 {
            filter.insert(u64::from_le_bytes(*hash));
        }
    }
    Ok((filter, from, batch))
}

fn scan_filter<S: Store>(layers: &Layers<S>) -> Result<Filter, StateError> {
    let mut filter = Filter::empty();
    for row in layers.scan(Space::Pages, &[], &[0xff; 19]) {
        let key = PageKey::from_bytes(&row?.0).ok_or_else(|| keys::bad("page"))?;
        filter.insert(seen::filter_hash(key));
    }
    Ok(filter)
}

fn number_of(key: &Slice) -> Result<u64, StateError> {
    let bytes = key.get(1..9).and_then(|bytes| bytes.try_into().ok());
    bytes.map(u64::from_be_bytes).ok_or_else(|| keys::bad("numbered"))
}
