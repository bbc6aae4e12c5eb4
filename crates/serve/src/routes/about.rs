//! What is this server, and does it work?

use evercrawl_httpd::Response;
use serde::Serialize;

use super::ROUTES;
use crate::call::{Call, json};
use crate::problem::{Problem, ProblemCode};
use crate::route::{Access, Answers, Kind, Route};

pub(super) const ABOUT: &[Route] = &[
    Route::get(
        "/api/v1/",
        "List all requests of the API",
        &[],
        Answers::Json("Index"),
        index,
    )
    .of(Access::Open),
    Route::get("/api/v1/system", "Show version and crawl process", &[], Answers::Json("System"), system),
    Route::get("/healthz", "Tell whether the server answers", &[], Answers::Media("text/plain"), healthy)
        .of(Access::Open),
    Route::get(
        "/readyz",
        "Tell whether the crawl process runs that this server supervises",
        &[],
        Answers::Media("text/plain"),
        ready,
    )
    .of(Access::Open),
];

#[derive(Serialize)]
struct Index {
    requests: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    method: &'static str,
    path: &'static str,
    scope: Option<&'static str>,
    about: &'static str,
}

fn index(_: &Call<'_>) -> Result<Response, Problem> {
    let routes = ROUTES.iter().flat_map(|some| some.iter());
    let requests = routes
        .filter(|route| route.kind == Kind::Api)
        .map(|route| Entry {
            method: route.method.code(),
            path: route.path,
            scope: match route.access {
                Access::Scope(scope) => Some(scope.code()),
                Access::Open | Access::OwnKey => None,
            },
            about: route.about,
        })
        .collect();
    json(&Index { requests })
}

#[derive(Serialize)]
struct System {
    version: &'static str,
    collections: usize,
    crawl_process: Option<crate::collections::CrawlProcessView>,
}

fn system(call: &Call<'_>) -> Result<Response, Problem> {
    json(&System {
        version: env!("CARGO_PKG_VERSION"),
        collections: call.app.collections.list().len(),
        crawl_process: call.app.collections.process(),
    })
}

fn text(words: &str) -> Response {
    Response::new(200).with("content-type", "text/plain; charset=utf-8").body(format!("{words}\n"))
}

fn healthy(_: &Call<'_>) -> Result<Response, Problem> {
    Ok(text("ok"))
}

fn ready(call: &Call<'_>) -> Result<Response, Problem> {
    match call.app.collections.process() {
        Some(process) if process.is_needed && process.pid.is_none() => {
            Err(Problem::new(ProblemCode::Unavailable, "the crawl process does not run").after(2))
        }
        _ => Ok(text("ready")),
    }
}
