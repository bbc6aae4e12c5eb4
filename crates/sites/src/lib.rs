//! How does a server divide into sites with top pages, and which pages depend on which?
//!
//! A server's author announces news near the front: when the top page of a part changes, its
//! members have often changed too. Kumagai and Yamana (2004) cut a server into such parts by
//! directory ([`PartitionMethod::A`]) or by links ([`PartitionMethod::B`], [`PartitionMethod::C`]); Hiromichi et al.
//! (2010)
//! measured how closely members follow their top. Both papers leave cases open; what was chosen
//! stands with each function.
//!
//! # Layout
//!
//! | module | question |
//! |---|---|
//! | `lists` | which numbers belong to row i? (the one container used here) |
//! | `server` | which pages, directories and links does a server have, how deep is each page? |
//! | `partition` | what are the sites, their tops, members and upper sites? |
//! | `directories` | method A |
//! | `links` | methods B and C, as printed and as recommended |
//! | `coupling` | how likely did a member change, given its top? |
//! | `dependence` | how closely do a member's updates follow those of its top? |
//! | `groups` | which members belong together by that value? |
//! | `group_keys` | to which groups of related pages does a page belong, by address and hub? |

mod coupling;
mod dependence;
mod directories;
mod group_keys;
mod groups;
mod links;
mod lists;
mod partition;
mod server;

pub use coupling::Coupling;
pub use dependence::{Pairing, dependence, mean_gap};
pub use group_keys::{GroupKeys, NO_KIN};
pub use groups::{DependenceHeap, DependenceInterval, pivot_groups, width_groups};
pub use lists::Lists;
pub use partition::{Partition, PartitionMethod};
pub use server::{Server, UNREACHED, directory_of, roots_of};
