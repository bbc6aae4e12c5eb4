//! Which pages matter, and which only pretend to?
//!
//! A page matters when pages that matter link to it. The [`Graph`] holds who links to whom in a
//! little over four bytes a link; every method here is a few sweeps over it. Sums are taken in an
//! order that does not depend on the number of threads, so results agree to the last bit on any
//! machine.
//!
//! # Layout
//!
//! | module | question |
//! |---|---|
//! | `graph` | who links to whom, page by page or host by host? |
//! | `compact` | how is a graph written in few bytes? |
//! | `blocks` | how is a sweep divided over threads and still gives the same bits? |
//! | `pagerank` | how much does each page matter, for everybody or from some pages' point of view? |
//! | `hits` | which pages point to what matters, and which are pointed to? |
//! | `trust` | how much is a page worth by the word of pages known to be good, or bad? |
//! | `hosts` | where does a ranking best begin, given which host each page is on? |
//! | `opic` | how much does a page matter, while the graph is still being discovered? |
//! | `discover` | in which order are pages fetched, so that what matters comes first? |
//! | `topic` | how much is a text about what the user looks for? |
//! | `top` | which nodes come first by a score? |
//! | `quality` | how good is a page, whether or not many know it yet? |

mod blocks;
pub mod compact;
mod discover;
mod graph;
mod hits;
mod hosts;
mod opic;
mod pagerank;
mod quality;
#[cfg(test)]
mod testing;
mod top;
pub mod topic;
mod trust;

pub use discover::{DiscoveryOrder, DiscoverySimulation};
pub use graph::{Graph, Repeats};
pub use hits::{Hits, hits};
pub use hosts::host_start;
pub use opic::{OpicAccount, OpicSimulation, OpicTotals};
pub use pagerank::{JumpWeights, RankSettings, Ranking, pagerank, pagerank_from};
pub use quality::Attention;
pub use top::top_nodes;
pub use topic::Topic;
pub use trust::{distrust, reach, trust};
