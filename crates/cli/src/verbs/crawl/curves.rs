//! Who notes how the figures move, while the walk goes on?

use std::path::Path;
use std::sync::mpsc::{self, SyncSender};
use std::thread::JoinHandle;
use std::time::Duration;

use evercrawl_model::Time;
use evercrawl_query::{Status, TrendKeeper};

/// The shortest distance of two points.
const EVERY: Duration = Duration::from_secs(10);

/// Notes the figures of a run now and then, on a thread of its own: the crawl does not wait for the disk.
/// Without curves the crawl is as good, so what cannot be written is left out.
pub(super) struct Curves {
    noted: Time,
    /// `None` once it is being dropped.
    to: Option<SyncSender<Status>>,
    writing: Option<JoinHandle<()>>,
}

impl Curves {
    /// Goes on with the curves of a data directory; the message says why they cannot be kept.
    pub(super) fn of(dir: &Path) -> Result<Self, String> {
        let mut keeper = TrendKeeper::open(dir).map_err(|error| error.to_string())?;
        let (to, statuses) = mpsc::sync_channel::<Status>(1);
        let writing = std::thread::spawn(move || {
            for status in statuses {
                if let Err(error) = keeper.note(&status) {
                    tracing::warn!(target: "evercrawl", %error, "cannot note the figures of the crawl");
                }
            }
        });
        Ok(Curves { noted: Time::EPOCH, to: Some(to), writing: Some(writing) })
    }

    /// Notes how the run is doing, where the last time is long enough ago.
    pub(super) fn note(&mut self, status: &Status) {
        let now = status.at.0;
        if now >= self.noted && now.since(self.noted) < EVERY {
            return;
        }
        // Where the last one is still being written, this one is left out.
        if self.to.as_ref().is_some_and(|to| to.try_send(status.clone()).is_ok()) {
            self.noted = now;
        }
    }
}

impl Drop for Curves {
    fn drop(&mut self) {
        self.to = None;
        if let Some(writing) = self.writing.take() {
            let _ = writing.join();
        }
    }
}
