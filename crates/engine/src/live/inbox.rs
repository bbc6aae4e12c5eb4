//! How do others change what a running crawl does? They leave a request; the walk's thread takes
//! it, commits it, and only then answers.

use evercrawl_urls::Canonical;

use super::handover::{Receiver, Sender, queue};
use crate::EngineError;
use crate::walk::{Told, WishChange};

/// Where requests to a running crawl are left.
#[derive(Clone, Debug)]
pub struct Inbox {
    requests: Sender<Request>,
    waiting: Receiver<Request>,
}

/// What is done together, and whoever waits for it.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) what: What,
    pub(super) done: Sender<Result<Told, EngineError>>,
}

/// What a crawl can be asked for.
#[derive(Debug)]
pub(super) enum What {
    /// The user wishes something, or wishes it no more.
    Wishes(Vec<WishChange>),
    /// Somebody says that these pages changed.
    Signals(Vec<Canonical>),
    /// So many requests a second from now on.
    Budget(f64),
}

impl Default for Inbox {
    fn default() -> Self {
        let (requests, waiting) = queue();
        Inbox { requests, waiting }
    }
}

impl Inbox {
    /// Has the crawl make these changes, in one commit; returns once they are committed.
    pub fn ask(&self, changes: Vec<WishChange>) -> Result<(), EngineError> {
        self.leave(What::Wishes(changes)).map(drop)
    }

    /// Tells the crawl that these pages changed; returns once it has committed what that means.
    pub fn signal(&self, urls: Vec<Canonical>) -> Result<Told, EngineError> {
        self.leave(What::Signals(urls))
    }

    /// Has the crawl keep to another budget, in requests a second, from now on.
    pub fn set_budget(&self, rate: f64) -> Result<(), EngineError> {
        self.leave(What::Budget(rate)).map(drop)
    }

    fn leave(&self, what: What) -> Result<Told, EngineError> {
        let (done, committed) = queue();
        let ended = || EngineError::Broken("the crawl");
        self.requests.send(Request { what, done }).map_err(|_| ended())?;
        committed.recv().ok_or_else(ended)?
    }

    /// The next request, where one waits.
    pub(super) fn take(&self) -> Option<Request> {
        self.waiting.try_recv()
    }
}
