//! Which requests are there?
//!
//! - `about`: what is this server, and does it work?
//! - `changes`: how is a crawl steered?
//! - `collection_screens`: which screens does a collection have, and what do their forms do?
//! - `collections`: which collections are there, and what are they doing?
//! - `pages`: what is known of pages and hosts, and why is it so?
//! - `screens`: which pages are there for people?
//! - `tokens`: who may ask?

mod about;
mod changes;
mod collection_screens;
mod collections;
mod pages;
mod screens;
mod tokens;

use crate::route::Route;

/// Every request there is, by what it is about.
pub const ROUTES: &[&[Route]] = &[
    about::ABOUT,
    collections::COLLECTIONS,
    pages::PAGES,
    changes::CHANGES,
    tokens::TOKENS,
    screens::SCREENS,
    collection_screens::COLLECTION_SCREENS,
];
