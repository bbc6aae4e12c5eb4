//! Which of the pages that a crawl knows matter, by the links that it has found?
//!
//! - `graph`: who links to whom?

mod graph;

pub use graph::LinkGraph;
