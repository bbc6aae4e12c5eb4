//! Which requests are there?
//!
//! - `about`: what is this server, and does it work?
//! - `collections`: which collections are there, and what are they doing?
//! - `screens`: which pages are there for people?

mod about;
mod collections;
mod screens;

use crate::route::Route;

/// Every request there is, by what it is about.
pub const ROUTES: &[&[Route]] = &[about::ABOUT, collections::COLLECTIONS, screens::SCREENS];
