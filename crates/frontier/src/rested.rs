//! What is known of a queue whose host rests? The windows on it, kept for when the host wakes.
//!
//! A queue that is read from its beginning is read through all that was taken from it lately: the store
//! keeps a mark where a page was, and passes over them one by one. A host that wakes and rests with every
//! page would read them all each time.

use std::collections::HashMap;

use evercrawl_model::{HostKey, PageKey};
use evercrawl_state::Place;

use super::back_queue::BackQueue;

/// Queues that are kept at most: some kilobytes each.
const MOST: usize = 1024;

/// The queues of hosts that rested last.
#[derive(Default)]
pub(super) struct Rested(HashMap<HostKey, BackQueue>);

impl Rested {
    /// Keeps the queue of a host that is laid to rest.
    pub(super) fn keep(&mut self, host: HostKey, queue: BackQueue) {
        if self.0.len() >= MOST {
            // All can be read anew: which of them wakes next, nobody knows.
            self.0.clear();
        }
        self.0.insert(host, queue);
    }

    /// The queue of a host that wakes.
    pub(super) fn take(&mut self, host: HostKey) -> BackQueue {
        self.0.remove(&host).unwrap_or_else(|| BackQueue::new(host))
    }

    /// A page of a host that may be resting came to wait.
    pub(super) fn noticed(&mut self, page: PageKey, place: Place) {
        if let Some(queue) = self.0.get_mut(&page.host) {
            queue.noticed(page, place);
        }
    }
}
