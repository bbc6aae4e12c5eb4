//! What do handlers work with?

use std::sync::Arc;

use evercrawl_engine::live::SystemClock;
use evercrawl_model::Time;

use crate::access::Keyring;
use crate::collections::Collections;
use crate::events::EventHub;

/// The collections, who may ask about them, and who listens.
pub struct Resources {
    pub(crate) collections: Arc<dyn Collections>,
    pub(crate) keyring: Keyring,
    pub(crate) events: EventHub,
}

impl Resources {
    pub(crate) fn new(collections: Arc<dyn Collections>, keyring: Keyring) -> Self {
        let events = EventHub::new(collections.clone());
        Resources { collections, keyring, events }
    }

    /// The present time.
    pub(crate) fn now(&self) -> Time {
        SystemClock.now()
    }
}
