//! Who ranks pages while a crawl runs? A thread of its own, from time to time; the walk takes over what it
//! has found, a piece at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Sender, bounded};
use evercrawl_model::{Importance, PageKey, Time};
use evercrawl_state::{Reading, StateError, Store};

use super::Report;
use super::driver::spawn;
use crate::EngineError;
use crate::importance::Ranks;
use crate::walk::{Told, Walk};

/// How long after its start a crawl first ranks its pages.
const FIRST: Duration = Duration::from_secs(60);
/// A ranking is followed by a pause of so many times what it took: at most a fiftieth of one core.
const PAUSE: u32 = 49;

/// Pages that matter otherwise than was known, and whoever waits until that is committed.
pub(super) struct Weighing {
    pub(super) pages: Vec<(PageKey, Importance)>,
    pub(super) done: Sender<Result<Told, EngineError>>,
}

/// Starts the thread when it is time.
pub(super) struct Ranker {
    every: Option<Duration>,
    next: Time,
    /// What had been found new or changed when pages were last ranked: without more, links are as they were.
    found: Option<u64>,
    /// `None` when nothing is to be started any more.
    reports: Option<Sender<Report>>,
    thread: Option<(JoinHandle<()>, Time)>,
    stop: Arc<AtomicBool>,
}

impl Ranker {
    /// Ranks so often; never where that is `None`.
    pub(super) fn new(every: Option<Duration>, reports: Sender<Report>, now: Time) -> Self {
        let next = now.after(every.unwrap_or_default().min(FIRST));
        let stop = Arc::default();
        Ranker { every, next, found: None, reports: Some(reports), thread: None, stop }
    }

    /// Starts to rank, unless it is too early, nothing was found since, or the last ranking goes on.
    pub(super) fn start_if_due<S: Store + 'static>(
        &mut self,
        walk: &Walk<S>,
        now: Time,
    ) -> Result<(), EngineError> {
        self.rest_after_work(now);
        let Some(every) = self.every.filter(|_| now >= self.next) else { return Ok(()) };
        let Some(reports) = self.reports.clone().filter(|_| !self.is_busy()) else { return Ok(()) };
        self.next = now.after(every);
        let found = Some(walk.tally().first + walk.tally().changes);
        if self.found == found {
            return Ok(());
        }
        self.found = found;
        let (reading, stop) = (walk.state().reading(), self.stop.clone());
        let thread = spawn("ranking", move || rank_all(&reading, stop, &reports))?;
        self.thread = Some((thread, now));
        Ok(())
    }

    /// The longer a ranking took, the longer the next one waits.
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

/// Ranks all pages, and hands out what is new one piece after another, each once the one before is
/// committed.
fn rank_all<S: Store>(reading: &Reading<S>, stop: Arc<AtomicBool>, reports: &Sender<Report>) {
    if let Err(error) = hand_out(reading, stop, reports) {
        drop(reports.send(Report::Broken(error.into())));
    }
}

fn hand_out<S: Store>(
    reading: &Reading<S>,
    stop: Arc<AtomicBool>,
    reports: &Sender<Report>,
) -> Result<(), StateError> {
    let mut ranks = Ranks::compute(reading, stop)?;
    while let Some(pages) = ranks.next_piece()? {
        let (done, committed) = bounded(1);
        let weighing = Report::Weighing(Box::new(Weighing { pages, done }));
        if reports.send(weighing).is_err() || committed.recv().is_err() {
            return Ok(());
        }
    }
    Ok(())
}
