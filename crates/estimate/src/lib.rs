//! How often does this page change, and how sure are we?

pub mod curve;
pub mod gamma;
mod index;
pub mod prior;
pub mod signal;
pub mod special;
#[cfg(test)]
mod testing;

pub use gamma::Gamma;
pub use prior::{Evidence, GroupRates};
