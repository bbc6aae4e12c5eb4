//! Which of the pages that a crawl knows matter, by the links that it has found?
//!
//! - `graph`: who links to whom?
//! - `groups`: which pages belong together?
//! - `ranking`: which pages matter otherwise than is written down?
//! - `weight`: how much does that count when visits are planned?

mod graph;
mod groups;
mod ranking;
mod weight;

pub use graph::LinkGraph;
pub use groups::{Groups, domain_of};
pub use ranking::Ranks;
pub use weight::{band, passed_on, weight};
