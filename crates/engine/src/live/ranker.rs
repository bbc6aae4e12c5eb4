//! How are pages ranked while a crawl runs? All at once, beside it; the walk takes over what was found a
//! piece at a time.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crossbeam_channel::{Sender, bounded};
use evercrawl_model::{Importance, PageKey};
use evercrawl_state::{Reading, StateError, Store};

use super::Report;
use crate::EngineError;
use crate::importance::Ranks;
use crate::suspicion::Suspects;
use crate::walk::{Told, Walk};

/// Pages that matter otherwise than was known, and whoever waits until that is committed.
pub(super) struct Weighing {
    pub(super) pages: Vec<(PageKey, Importance)>,
    pub(super) done: Sender<Result<Told, EngineError>>,
}

/// Ranks all pages, and hands out what is new one piece after another, each once the one before is
/// committed.
pub(super) fn ranking<S: Store + 'static>(
    walk: &Walk<S>,
) -> impl FnOnce(Arc<AtomicBool>, Sender<Report>) + Send + use<S> + 'static {
    let (reading, suspects) = (walk.state().reading(), walk.suspects());
    move |stop, reports| {
        if let Err(error) = hand_out(&reading, &suspects, stop, &reports) {
            drop(reports.send(Report::Broken(error.into())));
        }
    }
}

fn hand_out<S: Store>(
    reading: &Reading<S>,
    suspects: &Suspects,
    stop: Arc<AtomicBool>,
    reports: &Sender<Report>,
) -> Result<(), StateError> {
    let mut ranks = Ranks::compute(reading, suspects, stop)?;
    while let Some(pages) = ranks.next_piece()? {
        let (done, committed) = bounded(1);
        let weighing = Report::Weighing(Box::new(Weighing { pages, done }));
        if reports.send(weighing).is_err() || committed.recv().is_err() {
            return Ok(());
        }
    }
    Ok(())
}
