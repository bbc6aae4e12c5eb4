//! May a URL be fetched that no page of the crawl links to: a list, a part of a page, one that a user asks about?

use std::sync::PoisonError;

use evercrawl_model::{Refusal, Time};
use evercrawl_urls::Canonical;

use super::{LinkReader, packed_allowed};

impl LinkReader {
    /// Whether a page of the crawl that is rendered may ask for this: as for a page requisite.
    pub(crate) fn sub_request_verdict(&self, url: &Canonical, at: Time) -> Result<(), Refusal> {
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        if !self.take.embeds_from_any_host && !gate.scope().contains(url) {
            return Err(Refusal::OutOfScope);
        }
        gate.check_requisite(url, at)
    }

    /// Whether a list of pages may be fetched.
    pub(crate) fn list_verdict(&self, url: &Canonical, at: Time) -> Result<(), Refusal> {
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        packed_allowed(gate.check_url(url, 0, at))
    }

    /// The verdict that a URL would get, `depth` links away from a seed.
    pub fn verdict(&self, url: &Canonical, depth: u16, at: Time) -> Result<(), (Refusal, String)> {
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        let words = || gate.explain(url, depth, at).unwrap_or_default();
        gate.check_url(url, depth, at).map_err(|reason| (reason, words()))
    }
}
