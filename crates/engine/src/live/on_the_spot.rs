//! What is read where it comes in? Answers that take no longer to read than to hand on: "not modified", a redirect, a
//! page of a few words.
//!
//! Who hands something on wakes whoever sleeps, and two cores then take turns at it. For an answer without a body that is a
//! fifth of all that it costs.

use std::cell::{Cell, RefCell};

use evercrawl_state::Store;
use tokio::sync::Notify;

use super::Report;
use super::handover::Sender;
use super::worker::Reader;
use crate::process::Job;

/// Reads short pages on the fetcher's thread.
pub(super) struct OnTheSpot<S> {
    reader: RefCell<Reader<S>>,
    /// How much was read.
    read: Cell<u64>,
    has_read: Notify,
}

impl<S: Store> OnTheSpot<S> {
    pub(super) fn new(reader: Reader<S>) -> Self {
        OnTheSpot { reader: reader.into(), read: Cell::new(0), has_read: Notify::new() }
    }

    /// Reads a page that is short.
    pub(super) fn read(&self, job: Job) {
        // If nobody hears of it, the run is over.
        let _ = self.reader.borrow_mut().read(job);
        self.read.set(self.read.get() + 1);
        self.has_read.notify_one();
    }

    /// Lets the walk know what was read, once the sockets have brought nothing more to read: to wake it for each answer
    /// would let both run and rest by turns.
    pub(super) async fn tell(&self, walk: &Sender<Report>) {
        loop {
            self.has_read.notified().await;
            while self.reads_more().await {}
            walk.wake();
        }
    }

    /// Whether what the sockets bring next is read here too.
    async fn reads_more(&self) -> bool {
        let before = self.read.get();
        tokio::task::yield_now().await;
        self.read.get() > before
    }
}
