//! Which known pages matter, judged by links?
//!
//! - `graph`: which pages link to which?
//! - `groups`: which pages belong together?
//! - `ranking`: which pages have another importance than their rows say?
//! - `order`: in which front queue does a new page wait?
//! - `cash`: how is OPIC cash accounted for?
//! - `snapshot`: how did pages rank before, and which are rising?
//! - `host_mean`: how important are a host's pages on average?
//! - `weight`: how much does importance count in planning?

pub mod cash;
mod graph;
mod groups;
mod host_mean;
mod order;
mod ranking;
mod snapshot;
mod weight;

pub use graph::{LinkGraph, ReadWithin};
pub use groups::{PageGroups, domain_of};
pub use host_mean::MeanHostImportance;
pub use order::{CrawlOrder, band_of_importance, band_on_topic};
pub use ranking::{RankBasis, Ranks};
pub use snapshot::{RankSnapshot, RankSnapshots};
pub use weight::{importance_passed_on, weight_of_importance};
