//! Which of the pages that a crawl knows matter, by the links that it has found?
//!
//! - `graph`: who links to whom?
//! - `ranking`: which pages matter otherwise than is written down?
//! - `weight`: how much does that count when visits are planned?

mod graph;
mod ranking;
mod weight;

pub use graph::LinkGraph;
pub use ranking::Ranks;
pub use weight::{passed_on, weight};
