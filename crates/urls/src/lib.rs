//! Which URL is this really, is it in scope, is it a trap?
//!
//! A link on a page becomes a [`Canonical`] by the page's [`Base`] and the [`CanonicalSteps`] in force, or a
//! refusal. A [`UrlFilter`] holds
//! the crawl's [`Scope`] and [`FilterRules`] and checks canonical URLs. A [`UrlFamily`] names the family a
//! URL belongs to, so that the store can count families that grow without end. Seed lists are read
//! line by line with [`parse_seed_line`].
//!
//! Everything here is a pure function of its arguments, and none of it panics on any input.

mod base;
mod calendar;
mod canonical;
mod escapes;
mod explain;
mod filter;
mod parameters;
mod read;
mod rules;
mod scope;
mod seed;
mod sessions;
mod shape;
mod steps;
mod traps;

pub use base::Base;
pub use canonical::Canonical;
pub use filter::UrlFilter;
pub use rules::{DEFAULT_EXTENSIONS, FilterRules, Patterns, RuleError};
pub use scope::{Scope, ScopeKind};
pub use seed::{Seed, SeedError, SeedTarget, parse_seed_line};
pub use shape::{Risk, UrlFamily, family_of};
pub use steps::{CanonicalStep, CanonicalSteps};
pub use url::Url;
