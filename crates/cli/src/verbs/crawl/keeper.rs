//! When is what the planner learned saved?

use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use evercrawl_engine::live::SystemClock;
use evercrawl_engine::walk::Walk;
use evercrawl_engine::{DataDir, EngineError};
use evercrawl_model::Time;
use evercrawl_state::DiskStore;

use super::Label;

/// Keeps what the planner learns, now and then and at the end: it can be learned again, but that takes
/// as long as it took.
pub(super) struct Keeper<'a> {
    dir: &'a Path,
    label: &'a Label,
    began: Time,
    kept: Time,
    /// Who is writing it: the crawl does not wait for the disk.
    writing: Option<JoinHandle<Result<(), EngineError>>>,
    failed: bool,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(dir: &'a Path, label: &'a Label) -> Self {
        let now = SystemClock.now();
        Keeper { dir, label, began: now, kept: now, writing: None, failed: false }
    }

    pub(super) fn keep(&mut self, walk: &Walk<DiskStore>, now: Time) {
        // Soon at first, when every minute doubles what is known.
        let every = (now.since(self.began) / 4).clamp(KEEP_FIRST, KEEP_EVERY);
        let busy = self.writing.as_ref().is_some_and(|writing| !writing.is_finished());
        if now.since(self.kept) < every || busy {
            return;
        }
        self.kept = now;
        self.settle();
        let (dir, learned) = (self.dir.to_owned(), walk.planner().encode_learned());
        self.writing = Some(std::thread::spawn(move || DataDir::keep_learned(&dir, &learned)));
    }

    /// Waits for what is being written.
    fn settle(&mut self) {
        let written = self.writing.take().map(JoinHandle::join);
        // Said once: the crawl continues, and a full disk will stop it soon enough.
        if let (Some(Ok(Err(error))), false) = (written, self.failed) {
            self.failed = true;
            self.label.print(&format!("cannot save the learned change rates: {error}"));
        }
    }
}

impl Drop for Keeper<'_> {
    fn drop(&mut self) {
        self.settle();
    }
}

/// How often what the planner learns is kept.
const KEEP_EVERY: Duration = Duration::from_secs(60);
const KEEP_FIRST: Duration = Duration::from_secs(3);
