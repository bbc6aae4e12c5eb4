//! Given estimates, importance and a budget: when should each page be fetched next?
//!
//! One trait, [`Policy`], answers this for the lab and the live crawler alike. A policy in continuous time sets a
//! page's due time from the page itself and a few numbers of its own, so that it needs no more than a row on disk. A
//! policy in rounds names pages, sees the results, and names more. [`Agenda`] drives either kind over pages held in
//! memory.
//!
//! | module | question |
//! |---|---|
//! | [`registry`] | which policies are there, by name? |
//! | [`schedulers`] | how does each of them decide? |
//! | [`index`] | when is a page worth fetching, by its own row and a threshold? |
//! | [`allocate`] | how is a budget divided over pages whose rates are known? |
//!
//! ```
//! use evercrawl_policy::registry::{Setup, find};
//! use evercrawl_policy::{Agenda, Finding, Page, Round, Visit};
//!
//! let policy = find("index")?.make(&Setup::default())?;
//! let mut agenda = Agenda::new(policy, (0..10).map(Page::new).collect(), 0.0);
//! agenda.begin_round(&Round { start: 0.0, length: 1.0, fetches: 3 });
//! let mut fetched = 0;
//! while let Some(page) = agenda.next_page(0.5) {
//!     agenda.record_visit(page, &Visit::new(0.5, Finding::Changed));
//!     fetched += 1;
//! }
//! assert_eq!(fetched, 3);
//! # Ok::<(), evercrawl_policy::registry::Unfit>(())
//! ```

pub mod allocate;
pub mod index;
pub mod registry;
pub mod schedulers;

mod agenda;
mod members;
mod numbers;
mod page;
mod persist;
mod policy;
mod queue;
mod random;
mod rotation;
#[cfg(test)]
mod testing;
mod truth;

pub use agenda::Agenda;
pub use page::{Days, Finding, Group, NEVER, Page, PageKind, Visit, VisitEvidence};
pub use policy::{Outlook, Policy, Round};
pub use random::SplitMix64;
pub use rotation::RevisitRotation;
pub use truth::ChangeTimes;
