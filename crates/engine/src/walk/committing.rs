//! How does what was done last? The archive first, then the state, in one commit.

use std::sync::Arc;
use std::time::Duration;

use evercrawl_archive as archive;
use evercrawl_metrics::Meters;
use evercrawl_model::Time;
use evercrawl_state::{ArchiveFile, Counters, Overlay, Reading, State, Store, encode_batch};
use tracing::{debug, debug_span};

use super::Walk;
use crate::EngineError;

/// A commit on its way: to be synced, committed and finished in this order, on any thread.
pub struct Commit<S> {
    checkpoint: archive::Checkpoint,
    changes: Arc<Overlay>,
    reading: Reading<S>,
    batch: u64,
    meters: Arc<Meters>,
}

impl<S: Store> Commit<S> {
    /// What it changes in the state, as a batch that brings a copy of the state up to date. Nothing is encoded unless this
    /// is asked for.
    pub fn batch(&self) -> Vec<u8> {
        encode_batch(&self.changes)
    }

    /// Makes the archive last, then the state; then closes archive files that are full.
    pub fn run(&self) -> Result<Committed, EngineError> {
        let _commit = debug_span!("commit", batch = self.batch).entered();
        self.checkpoint.sync()?;
        self.reading.commit(&self.changes)?;
        Ok(Committed { finished: self.checkpoint.seal_full()?, batch: self.batch })
    }

    /// Counts that it took so long, and ended at `now`.
    pub fn observe(&self, took: Duration, now: Time) {
        let rows = self.changes.len();
        debug!(batch = self.batch, rows, took_us = took.as_micros() as u64, "committed");
        self.meters.observe_commit(took, now);
    }
}

/// A commit that is done.
#[derive(Debug)]
pub struct Committed {
    finished: Vec<u32>,
    batch: u64,
}

impl<S: Store> Walk<S> {
    /// Keys that changed since the last commit began.
    pub fn pending(&self) -> usize {
        self.ledger.state.pending()
    }

    /// Begins a commit of all that was applied so far; `None` when there is nothing to commit or
    /// the last commit is not done.
    pub fn begin_commit(&mut self) -> Result<Option<Commit<S>>, EngineError> {
        if !self.ledger.state.can_freeze() {
            return Ok(None);
        }
        let checkpoint = checkpoint(&mut self.recorder.writer, &mut self.ledger.state)?;
        let Some(changes) = self.ledger.state.freeze() else { return Ok(None) };
        let batch = self.recorder.recent.begin_batch();
        let (reading, meters) = (self.ledger.state.reading(), self.meters());
        Ok(Some(Commit { checkpoint, changes, reading, batch, meters }))
    }

    /// A commit is done.
    pub fn end_commit(&mut self, done: &Committed) -> Result<(), EngineError> {
        self.recorder.writer.forget(&done.finished);
        self.recorder.recent.committed(done.batch);
        self.ledger.state.flushed()?;
        Ok(self.ledger.state.finish_archive(&done.finished)?)
    }

    /// Commits what was applied so far, here and now.
    pub fn commit_now(&mut self) -> Result<(), EngineError> {
        match self.begin_commit()? {
            Some(commit) => self.end_commit(&commit.run()?),
            None => Ok(()),
        }
    }

    /// Sorts what was added in bulk into the rest of the state, so that the next crawl need not.
    pub fn merge(&mut self) -> Result<(), EngineError> {
        self.commit_now()?;
        Ok(self.ledger.state.merge()?)
    }

    /// Commits everything, closes the archive and marks the end of a clean run, unless some host may have
    /// been asked a moment ago without this being on record. Nothing is built on a commit that failed: what
    /// a disk refused once it may only seem to take the second time.
    pub fn close(mut self) -> Result<Counters, EngineError> {
        if self.ledger.state.is_committing() {
            return Err(EngineError::Broken("the last commit"));
        }
        let checkpoint = checkpoint(&mut self.recorder.writer, &mut self.ledger.state)?;
        checkpoint.sync()?;
        self.ledger.state.flush_now()?;
        self.recorder.writer.close(&checkpoint)?;
        let files = checkpoint.files.iter().chain(&checkpoint.leaving);
        let serials: Vec<u32> = files.map(|file| file.serial).collect();
        self.ledger.state.finish_archive(&serials)?;
        self.ledger.state.close(self.ledger.frontier.has_recorded_pauses())?;
        Ok(self.ledger.view().counters().clone())
    }
}

/// How far the archive has come; the state keeps it as part of the next commit.
fn checkpoint<S: Store>(
    writer: &mut archive::Writer,
    state: &mut State<S>,
) -> Result<archive::Checkpoint, EngineError> {
    let checkpoint = writer.checkpoint()?;
    let files: Vec<ArchiveFile> = checkpoint.files.iter().map(archive_file).collect();
    state.set_archive(&files);
    Ok(checkpoint)
}

fn archive_file(file: &archive::FilePosition) -> ArchiveFile {
    ArchiveFile {
        serial: file.serial,
        name: file.name.clone(),
        warc_len: file.warc_len,
        cdxj_len: file.cdxj_len,
        open: file.open,
        finished: false,
        leaving: false,
    }
}
