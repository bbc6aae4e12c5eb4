//! What does a browser or a program get that asks about crawls over HTTP, and who may ask what?
//!
//! ```text
//! request -> Host (httpd) -> route -> origin -> token and scope -> parameters -> handler -> collections -> view
//! ```
//!
//! Every request there is stands in one table ([`ROUTES`]). A handler asks the [`Collections`] what a verb would ask
//! (`evercrawl_query::Request`), and returns the view that the verb prints with `--json`, or a screen made of it.
//!
//! - `app`: what becomes of a request?
//! - `access`: who may ask what?
//! - `collections`: what does the server need from those who run the crawls?
//! - `events`: how does a page hear of what is new?
//! - `openapi`: what does the API look like to a program?
//! - `orders`: how does the server talk with the crawl process?
//! - `problem`: what is a caller told who gets no answer?
//! - `resources`: what do handlers work with?
//! - `route`, `routes`: which requests are there?
//! - `screens`: what do people see?
//! - `supervisor`: how does one crawl process come to drive all collections that should run?

mod access;
mod app;
mod collections;
mod events;
mod openapi;
mod orders;
mod problem;
mod resources;
mod route;
mod routes;
mod screens;
mod supervisor;

pub use access::{Granted, Keyring, Refused, Scope, TokenView, write_whole};
pub use app::App;
pub use collections::{
    AskError, CollectionView, Collections, CrawlProcessView, Flow, NewCollection, Parts, PushKeys,
    RunState, SeedPreview,
};
pub use orders::{CrawlNews, CrawlOrder};
pub use problem::{Problem, ProblemCode};
pub use route::{Access, Answers, Body, Call, Kind, Method, Parameter, Route, Value};
pub use routes::ROUTES;
pub use supervisor::{MakeCommand, Supervisor};
