//! What is kept of the queue of a parked host? Its windows, for when the host is activated again.
//!
//! Reading a queue from its beginning passes over every marker that the store keeps for an entry taken lately. A host
//! that is activated and parked with every page would read all of them each time.

use std::collections::HashMap;

use evercrawl_model::{HostKey, PageKey};
use evercrawl_state::Place;

use super::back_queue::BackQueue;

/// The most queues that are kept: some kilobytes each.
const MAX_PARKED_QUEUES: usize = 1024;

/// The queues of the hosts that were parked last.
#[derive(Default)]
pub(super) struct ParkedQueues(HashMap<HostKey, BackQueue>);

impl ParkedQueues {
    /// Keeps the queue of a host that is parked.
    pub(super) fn keep(&mut self, host: HostKey, queue: BackQueue) {
        if self.0.len() >= MAX_PARKED_QUEUES {
            // All can be read again, and which is needed next is unknown.
            self.0.clear();
        }
        self.0.insert(host, queue);
    }

    /// The queue of a host that is activated.
    pub(super) fn take(&mut self, host: HostKey) -> BackQueue {
        self.0.remove(&host).unwrap_or_else(|| BackQueue::new(host))
    }

    /// Inserts a page of a host that may be parked.
    pub(super) fn insert_page(&mut self, page: PageKey, place: Place) {
        if let Some(queue) = self.0.get_mut(&page.host) {
            queue.insert(page, place);
        }
    }
}
