//! Where do the threads that all walks share find what belongs to one walk?
//!
//! Every order, page and commit carries the port of its walk: by it the page is read as that walk is configured, and the
//! report goes to that walk. Once nobody holds the port any more, nothing can reach the walk.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evercrawl_archive::FileId;
use evercrawl_state::Store;

use super::handover::{Disconnected, Receiver, Sender, queue};
use super::worker::Busy;
use super::{Report, SystemClock};
use crate::EngineError;
use crate::cookie_file::CookieFile;
use crate::process::{Job, Processor};
use crate::recent::Recent;
use crate::walk::Walk;

/// The way to one walk.
pub(super) struct WalkPort<S> {
    reports: Sender<Report>,
    recent: Arc<Recent>,
    /// The archive file that records are made for.
    current_file: Mutex<FileId>,
    /// Processors that nobody uses now; there is one for each thread that reads.
    idle: Mutex<Vec<Processor<S>>>,
    is_closed: AtomicBool,
    cookies: SharedCookies,
    /// Sends nothing: its receiver learns when the last holder of the port is gone.
    _holder: Sender<Never>,
}

/// Where a walk keeps its cookies, if it does.
pub(super) type SharedCookies = Arc<Mutex<Option<CookieFile>>>;

/// What is never sent.
pub(super) enum Never {}

/// Why a page was not read: nobody would hear of it.
pub(super) struct WalkGone;

impl<S: Store> WalkPort<S> {
    /// The port of `walk`, for so many threads that read; and what tells when nobody holds it any more.
    pub(super) fn open(
        walk: &Walk<S>,
        readers: usize,
        reports: Sender<Report>,
        cookies: SharedCookies,
    ) -> (Arc<Self>, Receiver<Never>) {
        let (holder, gone) = queue();
        let idle = (0..readers as u64).map(|n| walk.processor(n)).collect();
        let port = WalkPort {
            reports,
            recent: walk.recent(),
            current_file: Mutex::new(walk.file()),
            idle: Mutex::new(idle),
            is_closed: AtomicBool::new(false),
            cookies,
            _holder: holder,
        };
        (Arc::new(port), gone)
    }

    /// Where reports for the walk go.
    pub(super) fn reports(&self) -> &Sender<Report> {
        &self.reports
    }

    /// Writes the walk's cookies, if they changed.
    pub(super) fn save_cookies(&self) -> Result<(), EngineError> {
        save_cookies(&self.cookies)
    }

    /// From now on records are made for this file.
    pub(super) fn set_file(&self, file: FileId) {
        *lock(&self.current_file) = file;
    }

    /// The walk leaves: what waits to be read is not.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    /// Tells the walk that a thread stopped working for it.
    pub(super) fn fail(&self, thread: &'static str) {
        self.recent.abandon();
        let _ = self.reports.send(Report::Broken(EngineError::Broken(thread)));
    }

    /// Reads a page on one of the threads that read, and leaves what was found for the walk.
    pub(super) fn read(&self, job: Job, busy: &mut Busy) {
        if self.is_closed.load(Ordering::Relaxed) {
            return;
        }
        let Some(mut processor) = lock(&self.idle).pop() else { return };
        let read = self.read_with(&mut processor, job, busy);
        // After an error the walk is over.
        if read.is_ok() {
            lock(&self.idle).push(processor);
        }
    }

    /// Reads a page with this processor, and leaves what was found for the walk.
    pub(super) fn read_with(
        &self,
        processor: &mut Processor<S>,
        job: Job,
        busy: &mut Busy,
    ) -> Result<(), WalkGone> {
        let began = SystemClock.passed();
        let file = *lock(&self.current_file);
        let mut processed = processor.process(job, file).map_err(|error| {
            // Whoever waits for what this page was to store must not wait for ever.
            self.recent.abandon();
            let _ = self.reports.send(Report::Broken(error.into()));
            WalkGone
        })?;
        let passed = SystemClock.passed().saturating_sub(began);
        processed.reading = busy.with_page(passed, || SystemClock.thread_time());
        let claim = processed.claim.map(|digest| (digest, processed.records.is_some()));
        self.reports.leave(Report::Page(Box::new(processed))).map_err(|Disconnected| WalkGone)?;
        // Only now: records that refer to this one must come after it.
        if let Some((digest, stored)) = claim {
            self.recent.settle(digest, stored);
        }
        Ok(())
    }
}

/// Writes a walk's cookies, if it has any and they changed.
pub(super) fn save_cookies(cookies: &SharedCookies) -> Result<(), EngineError> {
    lock(cookies).as_mut().map_or(Ok(()), CookieFile::save)
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
