//! Which pages matter, judged by links, and which of them are spam?
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
//! | `graph` | which pages or hosts link to which? |
//! | `compact` | how is a graph with named nodes encoded in few bytes? |
//! | `blocks` | how is a sweep divided over threads with bit-identical results? |
//! | `pagerank` | how important is each page, in general or from the point of view of some pages? |
//! | `hits` | which pages point to important pages, and which are pointed to? |
//! | `trust` | how far is a page vouched for by pages known to be good, or bad? |
//! | `hosts` | from which scores should a ranking start, given the host of each page? |
//! | `opic` | how important is a page, while the graph is still being discovered? |
//! | `discover` | in which order should linked pages be fetched, so that important ones come first? |
//! | `topic` | how relevant is a text to the topic? |
//! | `top` | which nodes come first by a score? |
//! | `quality` | how good is a page, whether it is widely known or not? |

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
