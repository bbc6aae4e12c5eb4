//! How long may a fetch, or a phase of it, still take?

use std::time::Duration;

use tokio::time::Instant;

use crate::failure::{Failure, FetchPhase};

/// How long the whole fetch may still take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadlines {
    end: Instant,
}

impl Deadlines {
    pub(crate) fn new(total: Duration) -> Self {
        Deadlines { end: after(total) }
    }

    /// The deadline of something that may take `limit` from now.
    pub(crate) fn until(self, limit: Duration) -> Instant {
        after(limit).min(self.end)
    }

    /// The failure of a phase whose deadline has passed.
    pub(crate) fn timed_out(self, phase: FetchPhase) -> Failure {
        Failure::Timeout(if Instant::now() >= self.end { FetchPhase::Total } else { phase })
    }

    /// Waits for `work`, but not for longer than `limit`.
    pub(crate) async fn wait<T>(
        self,
        phase: FetchPhase,
        limit: Duration,
        work: impl Future<Output = T>,
    ) -> Result<T, Failure> {
        tokio::time::timeout_at(self.until(limit), work).await.map_err(|_| self.timed_out(phase))
    }
}

/// `limit` from now, or in a year if that is sooner: moments cannot be arbitrarily far away.
pub(crate) fn after(limit: Duration) -> Instant {
    Instant::now() + limit.min(Duration::from_secs(365 * 24 * 60 * 60))
}
