//! Given estimates, importance and a budget: when should each page be fetched next?

pub mod allocate;
pub mod index;
pub mod registry;
pub mod schedulers;

mod agenda;
mod page;
mod policy;
mod random;
#[cfg(test)]
mod testing;
mod truth;

pub use agenda::Agenda;
pub use page::{Days, Found, NEVER, Page, Seen, Visit};
pub use policy::{Policy, Round};
pub use random::SplitMix64;
pub use truth::Changes;
