//! An evolving, misbehaving web on loopback, for tests, demo and benchmarks.
//!
//! Two halves. [`World`] is pure: from one seed it computes any page of any host at any moment, and what is true about
//! it
//! (when it changed, whether robots allow it, which pages a perfect crawler would reach), without storing a page. The
//! server half, [`serve`], puts a world behind sockets, misbehaves as the world says, and logs every request so that
//! [`check_access_log`] can tell whether the caller was polite.
//!
//! ```
//! use evercrawl_testweb::{WorldConfig, ReachScope, World};
//!
//! let world = World::new(WorldConfig { hosts: 3, pages: 10, ..WorldConfig::calm() });
//! let at_ms = world.config().origin_ms;
//! let reached: Vec<String> = world.reachable(["http://h0.test/"], ReachScope::Host, false, at_ms).collect();
//! assert!(reached.iter().all(|url| url.starts_with("http://h0.test/")));
//! ```

mod check;
mod config;
mod options;
mod server;
mod world;

pub use check::{LogCheckReport, check_access_log};
pub use config::{HostShares, PageLayout, PageShares, WorldConfig};
pub use options::{UnknownPreset, WorldOptions};
pub use server::{Error, ServeConfig, TROUBLES, TestServer, Trouble, serve};
pub use world::{
    ChangingPart, Charset, Decline, Edit, Fate, Host, HostClass, HostFault, HostLayout, HostRobots,
    HostValidators, InsteadOfNotFound, LifeSpan, Limit, Noise, PageId, PageTruth, ReachScope,
    RetryAfter, Sitemap, Spam, Trap, World, WorldAnswer, WorldRequest,
};
