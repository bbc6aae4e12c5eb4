//! Which of the pages that a crawl knows matter, by the links that it has found?
//!
//! - `graph`: who links to whom?
//! - `groups`: which pages belong together?
//! - `ranking`: which pages matter otherwise than is written down?
//! - `order`: where does a page wait that nobody has visited yet?
//! - `cash`: how is cash kept, one visit at a time?
//! - `snapshot`: how did pages rank before, and which are on their way up?
//! - `weight`: how much does that count when visits are planned?

pub mod cash;
mod graph;
mod groups;
mod order;
mod ranking;
mod snapshot;
mod usual;
mod weight;

pub use graph::{Fitting, LinkGraph};
pub use groups::{Groups, domain_of};
pub use order::{Order, band, band_on_topic};
pub use ranking::{Basis, Ranks};
pub use snapshot::{Snapshot, Snapshots};
pub use usual::UsualOfHost;
pub use weight::{passed_on, weight};
