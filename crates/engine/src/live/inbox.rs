//! How do others change what a running crawl does? They leave a request; the walk's thread takes
//! it, commits it, and only then answers.

use evercrawl_urls::Canonical;

use super::handover::{Receiver, Sender, queue};
use crate::EngineError;
use crate::walk::{OverrideChange, SignalCounts};

/// Where requests to a running crawl are left.
#[derive(Clone, Debug)]
pub struct Inbox {
    requests: Sender<Request>,
    waiting: Receiver<Request>,
}

/// What is done together, and who waits for it.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) what: Command,
    pub(super) done: Sender<Result<SignalCounts, EngineError>>,
}

/// What a crawl can be asked for.
#[derive(Debug)]
pub(super) enum Command {
    /// The user wishes something, or wishes it no more.
    Overrides(Vec<OverrideChange>),
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
    pub fn ask(&self, changes: Vec<OverrideChange>) -> Result<(), EngineError> {
        self.leave(Command::Overrides(changes)).map(drop)
    }

    /// Tells the crawl that these pages changed; returns once it has committed what that means.
    pub fn signal(&self, urls: Vec<Canonical>) -> Result<SignalCounts, EngineError> {
        self.leave(Command::Signals(urls))
    }

    /// Has the crawl keep to another budget, in requests a second, from now on.
    pub fn set_budget(&self, rate: f64) -> Result<(), EngineError> {
        self.leave(Command::Budget(rate)).map(drop)
    }

    fn leave(&self, what: Command) -> Result<SignalCounts, EngineError> {
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
