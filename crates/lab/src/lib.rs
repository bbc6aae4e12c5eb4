//! What does the theory look like, and how does each policy do, by the very code that crawls?
//!
//! A [`LabWorld`] is pages and when they change; a run drives a policy through it and yields a [`ResultRow`].
//! [`drawings`] computes the curves of the documentation, the crate `draw` writes them as SVG, [`page`] makes
//! a report of figures and tables.

mod cache;
mod dice;
pub mod discover;
pub mod drawings;
mod judge;
mod malformed;
mod measure;
pub mod microsoft;
pub mod page;
pub mod recorded;
pub mod report;
mod row;
pub mod run;
mod score;
mod source;
mod summary;
pub mod synthetic;
pub mod table;
#[cfg(test)]
mod testing;
pub mod visit_log;
pub mod whatif;
mod world;

pub use cache::OutcomeCache;
pub use judge::PageClassifier;
pub use malformed::Malformed;
pub use row::{PartScores, ResultRow, RowScores, Tallied, Week};
pub use source::{WorldError, WorldSource};
pub use summary::{RunSummary, SummaryLine};
pub use world::{ChangeCursor, ChangeTruth, HostFacts, LabWorld, NO_KIN, PageFact, Span};
