//! What does the theory look like, and how does each policy do, by the very code that crawls?
//!
//! A [`World`] is pages and when they change; a run drives a policy through it and yields a [`Row`].
//! [`drawings`] computes the curves of the documentation, [`figure`] writes them as SVG.

pub mod drawings;
pub mod figure;
mod row;
mod world;

pub use row::{Part, Row, Week};
pub use world::{Cursor, Fact, HostFacts, NO_KIN, Span, Truth, World};
