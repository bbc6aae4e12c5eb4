//! How do others change what a running crawl does? They leave a request; the walk's thread takes
//! it, commits it, and only then answers.

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use crate::EngineError;
use crate::walk::WishChange;

/// Where requests to a running crawl are left.
#[derive(Clone, Debug)]
pub struct Inbox {
    requests: Sender<Request>,
    waiting: Receiver<Request>,
}

/// Changes that are made together, and whoever waits for them.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) changes: Vec<WishChange>,
    pub(super) done: Sender<Result<(), EngineError>>,
}

impl Default for Inbox {
    fn default() -> Self {
        let (requests, waiting) = unbounded();
        Inbox { requests, waiting }
    }
}

impl Inbox {
    /// Has the crawl make these changes, in one commit; returns once they are committed.
    pub fn ask(&self, changes: Vec<WishChange>) -> Result<(), EngineError> {
        let (done, committed) = bounded(1);
        let ended = || EngineError::Broken("the crawl");
        self.requests.send(Request { changes, done }).map_err(|_| ended())?;
        committed.recv().map_err(|_| ended())?
    }

    /// The next request, where one waits.
    pub(super) fn take(&self) -> Option<Request> {
        self.waiting.try_recv().ok()
    }
}
