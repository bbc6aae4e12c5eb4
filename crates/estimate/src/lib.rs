//! How often does this page change, and how sure are we?
//!
//! Pages are taken to change as a Poisson process whose rate is unknown. [`gamma`] is the belief
//! that the live crawler keeps for every page, [`prior`] where that belief starts. [`regular`],
//! [`last_modified`], [`irregular`], [`classes`] and [`online`] are the estimators of the
//! literature, by name, with [`bias`] telling how far off they are. [`poisson`] and [`order`] say
//! what a rate means for freshness and age, [`curve`] what a fetch is worth, [`signal`] and
//! [`profile`] how hints and working hours bend the clock.
//!
//! All times are in the caller's unit, all rates per that unit. Nothing here panics, and nothing
//! returns NaN unless it says so.

pub mod bias;
pub mod classes;
pub mod curve;
pub mod gamma;
pub mod history;
mod index;
pub mod irregular;
pub mod last_modified;
pub mod observation;
pub mod online;
pub mod order;
pub mod poisson;
pub mod prior;
pub mod profile;
pub mod quick;
pub mod regular;
pub mod root;
pub mod signal;
pub mod special;
#[cfg(test)]
mod testing;

pub use gamma::Gamma;
pub use observation::Observation;
pub use order::VisitOrder;
pub use prior::{Evidence, GroupRates};
