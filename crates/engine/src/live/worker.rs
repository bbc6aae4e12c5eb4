//! Who reads pages and writes commits? Threads of their own, away from the sockets.

use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, Sender, select_biased};
use evercrawl_archive::FileId;
use evercrawl_state::Store;

use super::{Report, SystemClock};
use crate::process::{Job, Processor};
use crate::recent::Recent;
use crate::walk::Commit;

/// Reads pages, away from the sockets.
pub(super) struct Worker<S> {
    pub(super) processor: Processor<S>,
    pub(super) jobs: Receiver<Job>,
    /// Large pages, where it reads such: some workers do not, so that small ones never wait behind them.
    pub(super) large_jobs: Option<Receiver<Job>>,
    pub(super) reports: Sender<Report>,
    pub(super) recent: Arc<Recent>,
    pub(super) current_file: Arc<Mutex<FileId>>,
}

impl<S: Store> Worker<S> {
    pub(super) fn run(mut self) {
        // To ask for it is a call of the kernel: once a page, since waiting for the next takes no time of a core.
        let mut began = SystemClock.thread_time();
        while let Some(job) = self.next_job() {
            let Ok(file) = self.current_file.lock().map(|file| *file) else { return };
            match self.processor.process(job, file) {
                Ok(mut processed) => {
                    let ended = SystemClock.thread_time();
                    processed.reading = ended.saturating_sub(std::mem::replace(&mut began, ended));
                    let claim = processed.claim.map(|d| (d, processed.records.is_some()));
                    if self.reports.send(Report::Page(Box::new(processed))).is_err() {
                        return;
                    }
                    // Only now: whoever refers to the record must come after it.
                    if let Some((digest, stored)) = claim {
                        self.recent.settle(digest, stored);
                    }
                }
                Err(error) => {
                    let _ = self.reports.send(Report::Broken(error.into()));
                    return;
                }
            }
        }
    }

    /// The next page to read, small ones first; `None` when no more can come.
    fn next_job(&self) -> Option<Job> {
        let Some(large) = &self.large_jobs else { return self.jobs.recv().ok() };
        select_biased! {
            recv(self.jobs) -> job => job.or_else(|_| large.recv()).ok(),
            recv(large) -> job => job.or_else(|_| self.jobs.recv()).ok(),
        }
    }
}

/// Makes commits last, one after another.
pub(super) fn commit_all<S: Store>(commits: &Receiver<Commit<S>>, reports: &Sender<Report>) {
    while let Ok(commit) = commits.recv() {
        let report = match commit.run() {
            Ok(done) => Report::Committed(done),
            Err(error) => Report::Uncommitted(error),
        };
        if reports.send(report).is_err() {
            return;
        }
    }
}
