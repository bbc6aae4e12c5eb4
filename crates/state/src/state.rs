//! How does what is known change, and when does it reach the disk? `apply` changes it.

use std::collections::HashMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evercrawl_model::{HostKey, Life, PageKey};

use crate::StateError;
use crate::blocks::Blocks;
use crate::keys;
use crate::layers::Layers;
use crate::meta::{self, ArchiveFile, Settings};
use crate::reading::Reading;
use crate::rows::HostRow;
use crate::seen::{self, Filter, LatelyKnown, Seen};
use crate::store::{Overlay, Space, Store};
use crate::view::{CLEAN, COUNTERS, FILES, SETTINGS, SPENDING, TAGS, View, number_of};

pub(crate) const NEW_PAGES: u8 = b'n';

/// How many host rows are kept in memory besides those that changed.
const HOSTS_KEPT: usize = 20_000;
/// How many batches of new pages may pile up before the filter is saved.
const FILTER_EVERY: u64 = 2_000_000;

/// Everything the crawler knows, and the only way to change it. What can be read of it is read as
/// of any [`View`].
pub struct State<S> {
    pub(crate) view: View<S>,
    pub(crate) seen: Seen,
    pub(crate) blocks: Blocks,
    pub(crate) hosts: HashMap<HostKey, CachedHost>,
    /// New pages since the last freeze, for the filter's log.
    pub(crate) new_pages: Vec<u8>,
    pub(crate) dirty: bool,
    batch: u64,
    filter_path: Option<PathBuf>,
    filter_batch: u64,
    filter_behind: u64,
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
        let mut view = View::with(Layers::of_writer(store), fresh)?;
        if view.layers.get(Space::Meta, SETTINGS)?.is_none() {
            view.layers.put(Space::Meta, SETTINGS, &meta::encode_settings(fresh));
        }
        view.layers.remove(Space::Meta, CLEAN);
        if view.counters.lives.is_none() {
            view.counters.lives = Some(count_lives(&view)?);
        }
        let (filter, filter_batch, batch) = load_filter(&view.layers, filter_path)?;
        let blocks = Blocks::read(&view.layers)?;
        Ok(State {
            view,
            seen: Seen::new(filter),
            blocks,
            hosts: HashMap::new(),
            new_pages: Vec::new(),
            dirty: true,
            batch,
            filter_path: filter_path.map(Path::to_owned),
            filter_batch,
            filter_behind: 0,
            tags: HashMap::new(),
        })
    }

    /// [`View::reading`], which knows besides of much content that it is not there.
    pub fn reading(&self) -> Reading<S> {
        Reading { blocks: Some(self.blocks.clone()), ..self.view.reading() }
    }

    /// The row of a host, as changed so far.
    pub fn host(&self, key: HostKey) -> Result<Option<HostRow>, StateError> {
        match self.hosts.get(&key) {
            Some(cached) => Ok(Some(cached.row.clone())),
            None => self.view.host(key),
        }
    }

    /// URLs that are surely known, for those who read links on other threads.
    pub fn lately_known(&self) -> LatelyKnown {
        self.seen.lately().clone()
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
        self.view.counters.tag_sets += 1;
        let id = u32::try_from(self.view.counters.tag_sets).unwrap_or(u32::MAX);
        let key = keys::numbered(TAGS, id.into());
        self.view.layers.put(Space::Meta, &key, tags.as_bytes());
        self.dirty = true;
        self.tags.insert(tags.to_owned(), id);
        Ok(id)
    }

    /// Records how far the archive's files are written; part of the next commit.
    pub fn set_archive(&mut self, files: &[ArchiveFile]) {
        for file in files {
            let key = keys::numbered(FILES, file.serial.into());
            self.view.layers.put(Space::Meta, &key, &meta::encode_file(file));
        }
    }

    /// Files of the archive got their final names, or were removed; part of the next commit.
    pub fn finish_archive(&mut self, serials: &[u32]) -> Result<(), StateError> {
        let ours = |file: &ArchiveFile| serials.contains(&file.serial);
        for file in self.archive_files()?.into_iter().filter(ours) {
            if file.leaving {
                let key = keys::numbered(FILES, file.serial.into());
                self.view.layers.remove(Space::Meta, &key);
            } else {
                self.set_archive(&[ArchiveFile { finished: true, open: false, ..file }]);
            }
            self.dirty = true;
        }
        Ok(())
    }

    /// Another file took the place of this one; part of the next commit.
    pub fn leave_archive(&mut self, serial: u32) -> Result<(), StateError> {
        for file in self.archive()?.into_iter().filter(|file| file.serial == serial) {
            self.set_archive(&[ArchiveFile { leaving: true, ..file }]);
            self.dirty = true;
        }
        Ok(())
    }

    /// How many keys changed since the last freeze.
    pub fn pending(&self) -> usize {
        self.view.layers.pending().len()
    }

    /// True while a part that was handed out is not known to be committed.
    pub fn is_committing(&self) -> bool {
        self.view.layers.is_flushing()
    }

    /// True when something changed and no earlier part is on its way.
    pub fn can_freeze(&self) -> bool {
        self.dirty && !self.is_committing()
    }

    /// Hands out what changed, to be committed elsewhere; `None` when nothing did or an earlier
    /// part is still on its way. Call [`flushed`](Self::flushed) when it is committed.
    pub fn freeze(&mut self) -> Option<Arc<Overlay>> {
        if !self.dirty {
            return None;
        }
        self.write_back();
        let frozen = self.view.layers.freeze()?;
        self.dirty = false;
        Some(frozen)
    }

    /// The part that was handed out is committed.
    pub fn flushed(&mut self) -> Result<(), StateError> {
        self.view.layers.flushed();
        if self.filter_behind >= FILTER_EVERY {
            self.save_filter()?;
        }
        Ok(())
    }

    /// Commits everything, and marks the end of a run that was `clean`.
    pub fn close(&mut self, clean: bool) -> Result<(), StateError> {
        self.flush_now()?;
        self.save_filter()?;
        if clean {
            self.view.layers.put(Space::Meta, CLEAN, b"");
            self.dirty = true;
            self.flush_now()?;
        }
        self.view.layers.store().settle()
    }

    /// Commits everything here and now.
    pub fn flush_now(&mut self) -> Result<(), StateError> {
        if let Some(frozen) = self.freeze() {
            self.view.layers.store().commit(&frozen)?;
            self.flushed()?;
        }
        Ok(())
    }

    /// Merges what was added into what was there. Worth its time after much was added at once.
    pub fn merge(&mut self) -> Result<(), StateError> {
        self.flush_now()?;
        self.view.layers.store().merge()
    }

    fn write_back(&mut self) {
        self.batch += 1;
        for (key, host) in self.hosts.iter_mut().filter(|(_, host)| host.dirty) {
            self.view.layers.put(Space::Hosts, &keys::host(*key), &host.row.encode());
            host.dirty = false;
        }
        if self.hosts.len() > HOSTS_KEPT {
            self.hosts.clear();
        }
        if !self.new_pages.is_empty() {
            let key = keys::numbered(NEW_PAGES, self.batch);
            self.view.layers.put(Space::Meta, &key, &self.new_pages);
            self.filter_behind += self.new_pages.len() as u64 / 8;
            self.new_pages.clear();
        }
        self.view.layers.put(Space::Meta, COUNTERS, &self.view.counters.encode());
        self.view.layers.put(Space::Meta, SPENDING, &self.view.spending.encode());
    }

    /// Saves the filter and drops the log of what it did not have yet. A page that it has and the store
    /// does not costs a look-up, no more.
    pub(crate) fn save_filter(&mut self) -> Result<(), StateError> {
        let Some(path) = &self.filter_path else { return Ok(()) };
        self.seen.filter().save(path, self.batch)?;
        for batch in self.filter_batch + 1..=self.batch {
            self.view.layers.remove(Space::Meta, &keys::numbered(NEW_PAGES, batch));
        }
        self.filter_batch = self.batch;
        self.filter_behind = 0;
        self.dirty = true;
        Ok(())
    }
}

impl<S> Deref for State<S> {
    type Target = View<S>;

    fn deref(&self) -> &View<S> {
        &self.view
    }
}

/// Where all pages are in their lives: earlier versions did not count that.
fn count_lives<S: Store>(view: &View<S>) -> Result<[u64; Life::ALL.len()], StateError> {
    let mut lives = [0; Life::ALL.len()];
    for page in view.pages() {
        lives[usize::from(page?.1.life().number())] += 1;
    }
    Ok(lives)
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
