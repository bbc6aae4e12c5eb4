//! Who reads pages and writes commits? Threads of their own, away from the sockets.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use evercrawl_archive::FileId;
use evercrawl_state::Store;

use super::handover::{Disconnected, Receiver, Sender};
use super::{Report, SystemClock};
use crate::cookie_file::CookieFile;
use crate::process::{Job, Processor};
use crate::recent::Recent;
use crate::walk::{Commit, Walk};

/// Reads pages, away from the sockets.
pub(super) struct Worker<S> {
    reader: Reader<S>,
    /// Large pages are behind the others, and some workers do not take them, so that small ones never
    /// wait for them.
    jobs: Receiver<Job>,
}

impl<S: Store> Worker<S> {
    /// Reads pages until no more can come.
    pub(super) fn run(mut self) {
        while let Some(job) = self.next_job() {
            if self.reader.read(job).is_err() {
                return;
            }
        }
    }

    /// The next page to read, small ones first; `None` when no more can come. Whoever would have to
    /// wait for one, or begins with a large one, first lets the walk know what was done.
    fn next_job(&self) -> Option<Job> {
        self.jobs.try_recv().or_else(|| {
            self.reader.reports.wake();
            self.jobs.recv()
        })
    }
}

/// Reads a page, and tells the walk.
pub(super) struct Reader<S> {
    processor: Processor<S>,
    reports: Sender<Report>,
    recent: Arc<Recent>,
    current_file: Arc<Mutex<FileId>>,
    busy: Busy,
}

/// Why somebody reads no more pages: nobody would hear of it.
pub(super) struct WalkGone;

impl<S: Store> Reader<S> {
    /// Reads a page, and leaves what was found for the walk.
    pub(super) fn read(&mut self, job: Job) -> Result<(), WalkGone> {
        let began = SystemClock.passed();
        let file = *self.current_file.lock().map_err(|_| WalkGone)?;
        let mut processed = self.processor.process(job, file).map_err(|error| {
            let _ = self.reports.send(Report::Broken(error.into()));
            WalkGone
        })?;
        let passed = SystemClock.passed().saturating_sub(began);
        processed.reading = self.busy.with_page(passed, || SystemClock.thread_time());
        let claim = processed.claim.map(|digest| (digest, processed.records.is_some()));
        self.reports.leave(Report::Page(Box::new(processed))).map_err(|Disconnected| WalkGone)?;
        // Only now: whoever refers to the record must come after it.
        if let Some((digest, stored)) = claim {
            self.recent.settle(digest, stored);
        }
        Ok(())
    }
}

/// What all who read pages share.
pub(super) struct Readers {
    pub(super) reports: Sender<Report>,
    pub(super) current_file: Arc<Mutex<FileId>>,
}

impl Readers {
    /// One more that reads pages.
    pub(super) fn reader<S: Store>(&self, walk: &Walk<S>, number: usize) -> Reader<S> {
        Reader {
            processor: walk.processor(number as u64),
            reports: self.reports.clone(),
            recent: walk.recent(),
            current_file: self.current_file.clone(),
            busy: Busy::default(),
        }
    }

    /// So many that read pages, one for each thread.
    pub(super) fn workers<S: Store>(
        &self,
        walk: &Walk<S>,
        count: usize,
        jobs: &Receiver<Job>,
    ) -> Vec<Worker<S>> {
        let worker = |n| Worker { reader: self.reader(walk, n), jobs: jobs.another(2 * n < count) };
        (0..count).map(worker).collect()
    }
}

/// For how long do pages keep a core busy?
#[derive(Default)]
pub(super) struct Busy {
    /// For how long the thread had had a core when that was last asked for: a call to the system, which is
    /// saved where a page took no time to speak of.
    asked: Duration,
    /// What was told of pages since.
    told: Duration,
}

/// A page that was read within this time did not keep a core from others.
const SOON_READ: Duration = Duration::from_millis(5);

impl Busy {
    /// The time of a core that a page took which was read while so much `passed`.
    fn with_page(&mut self, passed: Duration, thread_time: impl FnOnce() -> Duration) -> Duration {
        if passed < SOON_READ {
            self.told += passed;
            return passed;
        }
        let now = thread_time();
        let took = now.saturating_sub(self.asked).saturating_sub(self.told);
        *self = Busy { asked: now, told: Duration::ZERO };
        // The thread may have done other work besides.
        took.min(passed)
    }
}

/// Makes commits last, one after another. Cookies come first: what a page showed may depend on them.
pub(super) fn commit_all<S: Store>(
    commits: &Receiver<Commit<S>>,
    reports: &Sender<Report>,
    mut cookies: Option<CookieFile>,
) {
    let mut save_cookies = || cookies.as_mut().map_or(Ok(()), CookieFile::save);
    while let Some(commit) = commits.recv() {
        let began = SystemClock.passed();
        let report = match save_cookies().and_then(|()| commit.run()) {
            Ok(done) => {
                commit.observe(SystemClock.passed().saturating_sub(began), SystemClock.now());
                Report::Committed(done)
            }
            Err(error) => Report::Uncommitted(error),
        };
        if reports.send(report).is_err() {
            return;
        }
    }
    if let Err(error) = save_cookies() {
        let _ = reports.send(Report::Uncommitted(error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_page_that_takes_long_is_measured_by_the_core() {
        let ms = Duration::from_millis;
        let mut busy = Busy { asked: ms(100), told: ms(0) };
        let unasked = || unreachable!("short pages take no call");
        assert_eq!(busy.with_page(ms(1), unasked), ms(1));
        assert_eq!(busy.with_page(ms(2), unasked), ms(2));
        // It had to wait for a core for most of the time.
        assert_eq!(busy.with_page(ms(500), || ms(143)), ms(40));
        assert_eq!(busy.with_page(ms(90), || ms(223)), ms(80));
        // What was told of short pages was more than they took.
        assert_eq!(busy.with_page(ms(4), unasked), ms(4));
        assert_eq!(busy.with_page(ms(6), || ms(226)), ms(0));
    }
}
