//! Which collections are there, and what are they doing?

use evercrawl_httpd::Response;
use evercrawl_query::{Answer, Request};

use crate::problem::{Problem, ProblemCode};
use crate::route::{Answers, Call, Page, Route, json};

pub(super) const COLLECTIONS: &[Route] = &[
    Route::get(
        "/api/v1/collections",
        "List the collections",
        &[],
        Answers::List("Collection"),
        list,
    ),
    Route::get(
        "/api/v1/collections/{name}",
        "Show one collection",
        &[],
        Answers::Json("Collection"),
        show,
    ),
    Route::get(
        "/api/v1/collections/{name}/status",
        "Show how a crawl is doing, as `evercrawl status`",
        &[],
        Answers::Json("Status"),
        status,
    ),
];

fn list(call: &Call<'_>) -> Result<Response, Problem> {
    json(&Page { items: call.resources.collections.list(), next: None })
}

fn show(call: &Call<'_>) -> Result<Response, Problem> {
    let name = call.collection();
    let found = call.resources.collections.list().into_iter().find(|one| one.name == name);
    let none = || Problem::new(ProblemCode::NotFound, format!("there is no collection `{name}`"));
    json(&found.ok_or_else(none)?)
}

fn status(call: &Call<'_>) -> Result<Response, Problem> {
    let status = call.ask(Request::Status, |answer| match answer {
        Answer::Status(status) => Some(status),
        _ => None,
    })?;
    json(&status)
}
