//! What does the theory look like, computed by the very code that crawls?
//!
//! [`drawings`] computes the curves of the documentation, [`figure`] writes them as SVG.

pub mod drawings;
pub mod figure;
