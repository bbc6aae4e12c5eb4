//! Who drops what need not be kept while a crawl runs? A thread of its own, from time to time; the
//! walk takes over what it has prepared, a piece at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use evercrawl_model::Time;
use evercrawl_state::Store;

use super::Report;
use super::driver::spawn;
use super::handover::{Sender, queue};
use crate::EngineError;
use crate::retention::{Piece, Retention, RetentionConfig};
use crate::walk::{SignalCounts, Walk};

/// A file is written anew when this share of its records goes: copying a gigabyte for one record
/// is not worth it.
const WORTH: f64 = 0.2;
/// How long after its start a crawl first looks for what to drop.
const FIRST: Duration = Duration::from_secs(60);

/// A piece that is to be dropped, and who is answered once that is committed.
pub(super) struct Dropping {
    pub(super) piece: Piece,
    pub(super) done: Sender<Result<SignalCounts, EngineError>>,
}

/// Starts the thread when it is time.
pub(super) struct Retainer {
    every: Option<Duration>,
    next: Time,
    /// `None` when nothing is to be started any more.
    reports: Option<Sender<Report>>,
    thread: Option<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
}

impl Retainer {
    pub(super) fn new(config: &RetentionConfig, reports: Sender<Report>, now: Time) -> Self {
        let every = (!config.is_all()).then_some(config.every);
        let next = now.after(FIRST.min(config.every));
        Retainer { every, next, reports: Some(reports), thread: None, stop: Arc::default() }
    }

    /// Starts to look for what to drop, unless it is too early or the last look is still running.
    pub(super) fn start_if_due<S: Store + 'static>(
        &mut self,
        walk: &Walk<S>,
        now: Time,
    ) -> Result<(), EngineError> {
        let Some(every) = self.every.filter(|_| now >= self.next) else { return Ok(()) };
        let Some(reports) = self.reports.clone().filter(|_| !self.is_busy()) else { return Ok(()) };
        self.next = now.after(every);
        let retention = walk.retention(WORTH, now, self.stop.clone());
        self.thread = Some(spawn("retention", move || drop_all(retention, &reports))?);
        Ok(())
    }

    /// Lets the thread come to its end.
    pub(super) fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.reports = None;
    }

    /// True while the thread runs.
    pub(super) fn is_busy(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }
}

/// Prepares one piece after another, each once the one before is committed.
fn drop_all<S: Store>(mut retention: Retention<S>, reports: &Sender<Report>) {
    loop {
        let piece = match retention.next_piece() {
            Ok(Some(piece)) => piece,
            Ok(None) => return,
            Err(error) => return drop(reports.send(Report::Broken(error))),
        };
        let (done, committed) = queue();
        let dropping = Report::Dropping(Box::new(Dropping { piece, done }));
        if reports.send(dropping).is_err() || committed.recv().is_none() {
            return;
        }
    }
}
