//! What is this server, and does it work?

use evercrawl_httpd::Response;
use evercrawl_metrics::{CollectionSamples, Metric, MetricsSnapshot, prometheus_text};
use evercrawl_query::{Answer, Request};
use serde::Serialize;

use super::ROUTES;
use crate::collections::{Flow, RunState};
use crate::openapi::describe;
use crate::problem::{Problem, ProblemCode};
use crate::route::{Access, Answers, Call, Kind, Route, json};

pub(super) const ABOUT: &[Route] = &[
    Route::get("/api/v1/", "List all requests of the API", &[], Answers::Json("Index"), index)
        .of(Access::Open),
    Route::get(
        "/api/v1/openapi.json",
        "Describe all requests as OpenAPI 3.1",
        &[],
        Answers::Json("OpenApi"),
        openapi,
    )
    .of(Access::Open),
    Route::get(
        "/api/v1/system",
        "Show version and crawl process",
        &[],
        Answers::Json("System"),
        system,
    ),
    Route::get(
        "/healthz",
        "Tell whether the server answers",
        &[],
        Answers::Media("text/plain"),
        healthy,
    )
    .of(Access::Open),
    Route::get(
        "/metrics",
        "Show the figures of all running crawls in Prometheus's form",
        &[],
        Answers::Media("text/plain"),
        metrics,
    ),
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

fn openapi(_: &Call<'_>) -> Result<Response, Problem> {
    json(&describe(ROUTES))
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
        collections: call.resources.collections.list().len(),
        crawl_process: call.resources.collections.process(),
    })
}

fn text(words: &str) -> Response {
    Response::new(200).with("content-type", "text/plain; charset=utf-8").body(format!("{words}\n"))
}

fn healthy(_: &Call<'_>) -> Result<Response, Problem> {
    Ok(text("ok"))
}

fn ready(call: &Call<'_>) -> Result<Response, Problem> {
    match call.resources.collections.process() {
        Some(process) if process.is_needed && process.pid.is_none() => {
            Err(Problem::new(ProblemCode::Unavailable, "the crawl process does not run").after(2))
        }
        _ => Ok(text("ready")),
    }
}

/// Crawls that do not run are left out: their figures stand still, and reading them costs more than asking a crawl.
fn metrics(call: &Call<'_>) -> Result<Response, Problem> {
    let mut program = MetricsSnapshot::default();
    program.add_count(Metric::BuildInfo, &[env!("CARGO_PKG_VERSION")], 1);
    let mut snapshots = Vec::new();
    for one in call.resources.collections.list() {
        if one.state != RunState::Running {
            continue;
        }
        // Where one does not answer, the others still count.
        let _ = call.resources.collections.ask(&one.name, Request::Metrics, &mut |answer| {
            if let Answer::Metrics(view) = answer {
                snapshots.push((one.name.clone(), view.snapshot()));
            }
            Flow::Enough
        });
    }
    let of_program = CollectionSamples { collection: None, snapshot: &program };
    let of_crawls = snapshots
        .iter()
        .map(|(name, snapshot)| CollectionSamples { collection: Some(name), snapshot });
    let samples: Vec<_> = std::iter::once(of_program).chain(of_crawls).collect();
    let text = prometheus_text(&samples);
    Ok(Response::new(200)
        .with("content-type", "text/plain; version=0.0.4; charset=utf-8")
        .body(text))
}
