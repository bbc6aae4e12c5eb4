//! The pure half: what is there, at any moment, and what is true about it? Everything is computed from the seed.

mod answer;
mod arrivals;
mod bytes;
mod dates;
mod dice;
mod history;
mod host;
mod html;
mod instead;
mod leading;
mod life;
mod links;
mod listings;
mod noise;
mod page;
mod paths;
mod prose;
mod reach;
mod rings;
mod spam;
mod storefront;
mod traps;
mod truth;

pub use answer::{WorldAnswer, WorldRequest};
pub(crate) use bytes::{push, push_number};
pub(crate) use dates::push_http_date;
pub use host::{
    Charset, Decline, Edit, Host, HostClass, HostFault, HostLayout, HostRobots, HostValidators,
    InsteadOfNotFound, Limit, Noise, RetryAfter, Sitemap, Trap,
};
pub use life::LifeSpan;
pub use page::{Fate, PageId};
pub(crate) use paths::split_port;
pub use reach::ReachScope;
pub use spam::Spam;
pub use storefront::ChangingPart;
pub use truth::PageTruth;

use crate::WorldConfig;
use prose::Prose;

/// A web that follows from its configuration. It holds no pages, only the sentences that pages are made of.
#[derive(Debug)]
pub struct World {
    config: WorldConfig,
    prose: Prose,
}

impl World {
    /// Creates a world. Sizes of zero and senseless scales are raised to the least that makes sense.
    pub fn new(mut config: WorldConfig) -> Self {
        config.hosts = config.hosts.max(1);
        config.pages = config.pages.max(1);
        config.fanout = config.fanout.max(2);
        config.external_links = config.external_links.clamp(0.0, MOST_EXTERNAL_LINKS);
        if !(config.time_scale.is_finite() && config.time_scale > 0.0) {
            config.time_scale = 1.0;
        }
        World { prose: Prose::new(config.seed), config }
    }

    /// The configuration, as corrected.
    pub fn config(&self) -> &WorldConfig {
        &self.config
    }
}

/// More on one page would only be a way to hang.
const MOST_EXTERNAL_LINKS: f64 = 1_000.0;
