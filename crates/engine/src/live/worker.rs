//! Who reads pages and writes commits? Threads of their own, away from the sockets.

use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, Sender};
use evercrawl_archive::FileId;
use evercrawl_state::Store;

use super::Report;
use crate::process::{Job, Processor};
use crate::recent::Recent;
use crate::walk::Commit;

/// Reads pages, away from the sockets.
pub(super) struct Worker<S> {
    pub(super) processor: Processor<S>,
    pub(super) jobs: Receiver<Job>,
    pub(super) reports: Sender<Report>,
    pub(super) recent: Arc<Recent>,
    pub(super) current_file: Arc<Mutex<FileId>>,
}

impl<S: Store> Worker<S> {
    pub(super) fn run(mut self) {
        while let Ok(job) = self.jobs.recv() {
            let Ok(file) = self.current_file.lock().map(|file| *file) else { return };
            match self.processor.process(job, file) {
                Ok(processed) => {
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
}

/// Makes commits last, one after another.
pub(super) fn commit_all<S: Store>(commits: &Receiver<Commit<S>>, reports: &Sender<Report>) {
    while let Ok(commit) = commits.recv() {
        let report = match commit.run() {
            Ok(done) => Report::Committed(done),
            Err(error) => Report::Broken(error),
        };
        if reports.send(report).is_err() {
            return;
        }
    }
}
