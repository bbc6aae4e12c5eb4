//! How is the run doing, by its own last word? The walk's thread puts it up once a second.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use evercrawl_metrics::{Distribution, Meters};
use evercrawl_query::{MetricsView, Status, Watched};

/// How long the first word of a run that begins is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a run is doing.
pub(crate) struct Posted {
    pub(crate) status: Status,
    /// How long it took to decide what to fetch next.
    pub(crate) next: Distribution,
    /// What is counted while it happens.
    pub(crate) meters: Arc<Meters>,
}

impl Posted {
    /// The figures, one by one.
    pub(super) fn metrics(&self) -> MetricsView {
        let watched = Watched { meters: &self.meters, next: &self.next };
        MetricsView::of(&self.status, Some(watched))
    }
}

/// Where a run puts up how it is doing.
#[derive(Clone, Default)]
pub(crate) struct StatusBoard(Arc<(Mutex<Option<Arc<Posted>>>, Condvar)>);

impl StatusBoard {
    /// Puts up how the run is doing.
    pub(crate) fn put(&self, posted: Posted) {
        let (last, changed) = &*self.0;
        *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(posted));
        changed.notify_all();
    }

    /// How the run was doing when it last said so; `None` where it says nothing for a while.
    pub(super) fn last(&self) -> Option<Arc<Posted>> {
        let (last, changed) = &*self.0;
        let last = last.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(last, PATIENCE, |last| last.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }
}
