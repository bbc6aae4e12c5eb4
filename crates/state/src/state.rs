//! How does what is known change, and when does it reach the disk? `apply` changes it.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evercrawl_model::{HostKey, LifeState, PageKey};
use tracing::{debug, debug_span, info};

use crate::StateError;
use crate::blocks::Blocks;
use crate::keys;
use crate::layers::Layers;
use crate::machine::{self, MachineRow};
use crate::meta::{self, ArchiveFile, Settings};
use crate::position::Position;
use crate::reading::Reading;
use crate::seen::{Gathering, Seen, SeenAnswer, Trace};
use crate::store::{Overlay, Space, Store};
use crate::view::{COUNTERS, FILES, KeySlot, SETTINGS, SPENDING, TAGS, View, number_of};

/// How many URLs may be logged before all are saved.
const SAVE_EVERY: u64 = 2_000_000;

/// Everything the crawler knows, and the only way to change it. It is read through a
/// [`view`](Self::view), which shows all that was applied, committed or not.
pub struct State<S> {
    pub(crate) view: View<S>,
    pub(crate) seen: Seen,
    pub(crate) blocks: Blocks,
    /// What was seen since the last freeze, for the log.
    seen_log: Vec<u8>,
    pub(crate) dirty: bool,
    batch: u64,
    seen_path: Option<PathBuf>,
    /// The last batch that is in the file of URLs seen, and how many it lacks that were logged since.
    saved_batch: u64,
    logged: u64,
    tags: HashMap<String, u32>,
}

impl<S: Store> State<S> {
    /// Opens the state in `store`, or begins one there with `fresh` settings. `seen_path` is
    /// where the URLs seen are kept between runs; without one they are read from the store.
    pub fn open(
        store: Arc<S>,
        fresh: Settings,
        seen_path: Option<&Path>,
    ) -> Result<Self, StateError> {
        let _span = debug_span!("open state").entered();
        machine::move_rows(store.as_ref())?;
        let is_numbered = Position::of_store(store.as_ref())?.is_some();
        let mut view = View::with(Layers::of_writer(store), fresh)?;
        if view.layers.get(Space::Meta, SETTINGS)?.is_none() {
            view.layers.put(Space::Meta, SETTINGS, &meta::encode_settings(fresh));
        } else if !is_numbered {
            // Earlier versions did not number what they committed: nothing leads from an empty state to this one.
            view.layers.raise_generation();
        }
        view.layers.remove_machine_row(MachineRow::CleanMark);
        if view.counters.lives.is_none() {
            view.counters.lives = Some(count_lives(&view)?);
        }
        let Loaded { seen, saved_batch, batch, logged } = load_seen(&mut view, seen_path)?;
        info!(pages = view.counters.pages, hosts = view.counters.hosts, "state opened");
        Ok(State {
            view,
            seen,
            blocks: Blocks::default(),
            seen_log: Vec::new(),
            dirty: true,
            batch,
            seen_path: seen_path.map(Path::to_owned),
            saved_batch,
            logged,
            tags: HashMap::new(),
        })
    }

    /// [`View::reading`], which knows besides of much content that it is not there.
    pub fn reading(&self) -> Reading<S> {
        Reading { blocks: Some(self.blocks.clone()), ..self.view.reading() }
    }

    /// Everything that can be read, as changed so far.
    pub fn view(&self) -> &View<S> {
        &self.view
    }

    /// All URLs that are known, for those who read links on other threads.
    pub fn seen(&self) -> Seen {
        self.seen.clone()
    }

    /// Where a URL is, or would go.
    pub(crate) fn look_up(&self, page: PageKey, check: u64) -> Result<KeySlot, StateError> {
        match self.seen.ask(page, check) {
            SeenAnswer::Known => Ok(KeySlot::Known(page)),
            SeenAnswer::New => Ok(KeySlot::Free(page)),
            SeenAnswer::Unsure => self.view.probe(page, check),
        }
    }

    /// A URL came into the store, or left it.
    pub(crate) fn note_seen(&mut self, trace: Trace) {
        self.seen.note(trace);
        self.seen_log.extend_from_slice(&trace.to_bytes());
    }

    /// The number of a set of tags; a new set is given one.
    pub fn tag_set(&mut self, tags: &str) -> Result<u32, StateError> {
        if tags.is_empty() {
            return Ok(0);
        }
        if self.tags.is_empty() {
            self.tags = self.view.tag_sets()?.into_iter().map(|(id, tags)| (tags, id)).collect();
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
        for file in self.view.archive_files()?.into_iter().filter(ours) {
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
        for file in self.view.archive()?.into_iter().filter(|file| file.serial == serial) {
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
        if !self.can_freeze() {
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
        if self.logged >= SAVE_EVERY {
            self.save_seen()?;
        }
        Ok(())
    }

    /// Commits everything, and marks the end of a run that was `clean`.
    pub fn close(&mut self, clean: bool) -> Result<(), StateError> {
        self.flush_now()?;
        if self.logged > 0 {
            self.save_seen()?;
        }
        if clean {
            self.view.layers.put_machine_row(MachineRow::CleanMark, b"");
            self.dirty = true;
        }
        self.flush_now()?;
        self.view.layers.store().settle()
    }

    /// Commits everything here and now.
    pub fn flush_now(&mut self) -> Result<(), StateError> {
        if let Some(frozen) = self.freeze() {
            let _span = debug_span!("commit rows", rows = frozen.len()).entered();
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
        if !self.seen_log.is_empty() {
            self.view.layers.put_machine_row(MachineRow::SeenLog(self.batch), &self.seen_log);
            self.logged += (self.seen_log.len() / Trace::LEN) as u64;
            self.seen_log.clear();
        }
        self.view.layers.put(Space::Meta, COUNTERS, &self.view.counters.encode());
        self.view.layers.put(Space::Meta, SPENDING, &self.view.spending.encode());
    }

    /// Saves what was seen and drops the log of it. The file is believed from the next commit on, with which
    /// the last of its pages come in.
    pub(crate) fn save_seen(&mut self) -> Result<(), StateError> {
        let Some(path) = &self.seen_path else { return Ok(()) };
        let sum = self.seen.save(path, self.batch)?;
        debug!(batch = self.batch, logged = self.logged, "seen file saved");
        self.view.layers.put_machine_row(MachineRow::SeenSum, &sum.to_le_bytes());
        for batch in self.saved_batch + 1..=self.batch {
            self.view.layers.remove_machine_row(MachineRow::SeenLog(batch));
        }
        self.saved_batch = self.batch;
        self.logged = 0;
        self.dirty = true;
        Ok(())
    }

    /// What is noted as seen is not, or will not be, in the store.
    pub(crate) fn never_save_seen(&mut self) {
        self.seen_path = None;
    }
}

/// Where all pages are in their lives: earlier versions did not count that.
fn count_lives<S: Store>(view: &View<S>) -> Result<[u64; LifeState::ALL.len()], StateError> {
    let mut lives = [0; LifeState::ALL.len()];
    for page in view.pages() {
        lives[usize::from(page?.1.life().number())] += 1;
    }
    Ok(lives)
}

/// What was seen, and how far the file of it goes.
struct Loaded {
    seen: Seen,
    saved_batch: u64,
    batch: u64,
    logged: u64,
}

fn load_seen<S: Store>(view: &mut View<S>, path: Option<&Path>) -> Result<Loaded, StateError> {
    let layers = &view.layers;
    let vouched = layers.machine_row(MachineRow::SeenSum)?;
    let is_vouched = |sum: u64| vouched.as_deref() == Some(&sum.to_le_bytes());
    let saved = path.and_then(Seen::load).filter(|saved| is_vouched(saved.sum));
    let from = saved.as_ref().map_or(0, |saved| saved.batch);
    let mut loaded = Loaded { seen: Seen::default(), saved_batch: from, batch: from, logged: 0 };
    for row in layers.seen_log(from + 1) {
        let (key, traces) = row?;
        loaded.batch = number_of(&key)?;
        let Some(saved) = &saved else { continue };
        for trace in traces.as_chunks().0 {
            saved.seen.note(Trace::from_bytes(*trace));
            loaded.logged += 1;
        }
    }
    match saved {
        Some(saved) => {
            debug!(batch = from, logged = loaded.logged, "seen file read");
            Ok(Loaded { seen: saved.seen, ..loaded })
        }
        None => {
            let _span = debug_span!("seen file").entered();
            info!(pages = view.counters.pages, "no usable seen file: reading all known URLs");
            // Should the file come back, it lacks what is logged from now on.
            view.layers.remove_machine_row(MachineRow::SeenSum);
            Ok(Loaded { seen: scan_seen(view)?, logged: view.counters.pages, ..loaded })
        }
    }
}

/// Reads what is known from the store, two parts at a time: it is read whole where no file says it.
fn scan_seen<S: Store>(view: &View<S>) -> Result<Seen, StateError> {
    const ENDS: [u8; PageKey::LEN + 1] = [0xff; PageKey::LEN + 1];
    let gathering = Gathering::new();
    let gather = |from: &[u8], to: &[u8]| {
        view.layers.store().scan(Space::Known, from, to).try_for_each(|row| {
            let (key, check) = row?;
            let page = PageKey::from_bytes(&key).ok_or_else(|| keys::bad("page"))?;
            let check = check.as_ref().try_into();
            let check = check.map_err(|_| StateError::Corrupt("what a page is known by".into()))?;
            gathering.take(Trace::new(page, check));
            Ok(())
        })
    };
    let middle = HostKey { shard: view.keyer.shards() / 2, host: 0 }.to_bytes();
    let gathered = std::thread::scope(|scope| {
        let first = scope.spawn(|| gather(&[], &middle));
        let second = gather(&middle, &ENDS);
        first.join().unwrap_or_else(|panic| resume_unwind(panic)).and(second)
    });
    gathered.map(|()| gathering.finish())
}
