//! What is read where it comes in? Answers that take no longer to read than to hand on: "not modified", a redirect, a
//! page of a few words; and, where no other request is out, every page that is not large.
//!
//! Handing something on wakes a sleeping thread, and two cores then take turns at it. For an answer without a body that is a
//! fifth of all that it costs.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use evercrawl_state::Store;
use tokio::sync::Notify;

use super::walk_port::WalkPort;
use super::worker::Busy;
use crate::process::{Job, Processor};

/// Reads short pages of a walk on the fetcher's thread.
pub(super) struct OnTheSpot<S> {
    walk: Arc<WalkPort<S>>,
    reader: RefCell<(Processor<S>, Busy)>,
    /// How much was read.
    read: Cell<u64>,
    has_read: Notify,
}

impl<S: Store> OnTheSpot<S> {
    pub(super) fn new(walk: Arc<WalkPort<S>>, processor: Processor<S>) -> Self {
        let reader = RefCell::new((processor, Busy::default()));
        OnTheSpot { walk, reader, read: Cell::new(0), has_read: Notify::new() }
    }

    /// Reads a page that is short.
    pub(super) fn read(&self, job: Job) {
        let (processor, busy) = &mut *self.reader.borrow_mut();
        // If nobody hears of it, the walk is over.
        let _ = self.walk.read_with(processor, job, busy);
        self.read.set(self.read.get() + 1);
        self.has_read.notify_one();
    }

    /// Lets the walk know what was read, once the sockets have brought nothing more to read: to wake it for each answer
    /// would let both run and rest by turns.
    pub(super) async fn wake_walk_after_reads(&self) {
        loop {
            self.has_read.notified().await;
            while self.reads_more().await {}
            self.walk.reports().wake();
        }
    }

    /// Whether what the sockets bring next is read here too.
    async fn reads_more(&self) -> bool {
        let before = self.read.get();
        tokio::task::yield_now().await;
        self.read.get() > before
    }
}
