//! Who works beside a crawl from time to time? A thread of its own, over what was committed; it rests for
//! long after it has worked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use evercrawl_model::Time;
use evercrawl_state::Store;

use super::Report;
use super::driver::spawn;
use super::handover::Sender;
use crate::EngineError;
use crate::walk::Walk;

/// How long after its start a crawl first does such work.
const FIRST: Duration = Duration::from_secs(60);
/// Work is followed by a pause of so many times what it took: at most a fiftieth of one core.
const PAUSE: u32 = 49;

/// Starts the thread when it is time.
pub(super) struct BackgroundJob {
    name: &'static str,
    every: Option<Duration>,
    next: Time,
    /// What had been found new or changed when it last worked: without more, all is as it was.
    found: Option<u64>,
    /// `None` when nothing is to be started any more.
    reports: Option<Sender<Report>>,
    thread: Option<(JoinHandle<()>, Time)>,
    stop: Arc<AtomicBool>,
}

impl BackgroundJob {
    /// Works so often; never where that is `None`.
    pub(super) fn new(
        name: &'static str,
        every: Option<Duration>,
        reports: Sender<Report>,
        now: Time,
    ) -> Self {
        let next = now.after(every.unwrap_or_default().min(FIRST));
        let stop = Arc::default();
        BackgroundJob { name, every, next, found: None, reports: Some(reports), thread: None, stop }
    }

    /// Starts the work that `prepare` gives, unless it is too early, nothing was found since, or the last
    /// one runs. The work is told where its reports go, and when to stop.
    pub(super) fn start_if_due<S: Store, W>(
        &mut self,
        walk: &Walk<S>,
        now: Time,
        prepare: impl FnOnce(&Walk<S>) -> W,
    ) -> Result<(), EngineError>
    where
        W: FnOnce(Arc<AtomicBool>, Sender<Report>) + Send + 'static,
    {
        self.rest_after_work(now);
        let Some(every) = self.every.filter(|_| now >= self.next) else { return Ok(()) };
        let Some(reports) = self.reports.clone().filter(|_| !self.is_busy()) else { return Ok(()) };
        self.next = now.after(every);
        let found = Some(walk.tally().first + walk.tally().changes);
        if self.found == found {
            return Ok(());
        }
        self.found = found;
        let (work, stop) = (prepare(walk), self.stop.clone());
        let thread = spawn(self.name, move || work(stop, reports))?;
        self.thread = Some((thread, now));
        Ok(())
    }

    /// The longer it worked, the longer it waits.
    fn rest_after_work(&mut self, now: Time) {
        if let Some((_, began)) = self.thread.take_if(|(thread, _)| thread.is_finished()) {
            self.next = self.next.max(now.after(now.since(began) * PAUSE));
        }
    }

    /// Lets the thread come to its end. It only reads, so nobody need wait for that.
    pub(super) fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.reports = None;
    }

    fn is_busy(&self) -> bool {
        self.thread.is_some()
    }
}
