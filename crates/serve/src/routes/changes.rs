//! How is a crawl steered?

use evercrawl_httpd::Response;
use evercrawl_query::{AddRequest, Answer, BudgetRequest, OverrideRequest, PushRequest, Request};
use serde::Serialize;

use crate::access::Scope;
use crate::collections::{AskError, NewCollection};
use crate::problem::Problem;
use crate::route::{Access, Answers, Body, Call, Method, Parameter, Route, Value, json, problem};

/// Lists of seeds may be long.
const LIST_BYTES: usize = 16 << 20;

pub(super) const CHANGES: &[Route] = &[
    Route::change(
        Method::Post,
        "/api/v1/collections",
        "Make a collection and begin to crawl it",
        Body::Json("NewCollection"),
        Answers::Json("Collection"),
        create,
    )
    .of(Access::Scope(Scope::Admin))
    .up_to(LIST_BYTES),
    Route::change(
        Method::Post,
        "/api/v1/collections/preview",
        "Look at seeds before they are crawled: robots.txt, sitemaps, pages listed",
        Body::Json("NewCollection"),
        Answers::List("SeedPreview"),
        preview,
    )
    .up_to(LIST_BYTES),
    Route::change(
        Method::Post,
        "/api/v1/collections/{name}/actions/start",
        "Begin to crawl a collection, now and whenever the server starts",
        Body::None,
        Answers::Json("Collection"),
        start,
    ),
    Route::change(
        Method::Post,
        "/api/v1/collections/{name}/actions/stop",
        "Stop crawling a collection, now and whenever the server starts",
        Body::None,
        Answers::Json("Collection"),
        stop,
    ),
    Route::change(
        Method::Post,
        "/api/v1/collections/{name}/urls",
        "Add seeds, as `evercrawl add`",
        Body::Json("AddRequest"),
        Answers::Json("Added"),
        add,
    )
    .up_to(LIST_BYTES),
    Route::change(
        Method::Post,
        "/api/v1/collections/{name}/push",
        "Report changed URLs, as `evercrawl push`",
        Body::Json("PushRequest"),
        Answers::Json("Pushed"),
        push,
    )
    .up_to(2 << 20),
    Route::get(
        "/api/v1/collections/{name}/overrides",
        "List the overrides, as `evercrawl overrides`",
        &[Parameter::new("kind", Value::Word(KINDS), "Only overrides of this kind")],
        Answers::Json("Overrides"),
        overrides,
    ),
    Route::change(
        Method::Post,
        "/api/v1/collections/{name}/overrides",
        "Set, preview or remove an override, as `evercrawl pin`, `boost`, `pause`, `trust`, `exclude`",
        Body::Json("OverrideRequest"),
        Answers::Json("Overrides"),
        set_override,
    ),
    Route::get(
        "/api/v1/collections/{name}/budget",
        "Show the request budget in force",
        &[],
        Answers::Json("PlanSettings"),
        budget,
    ),
    Route::change(
        Method::Put,
        "/api/v1/collections/{name}/budget",
        "Change the request budget, as `evercrawl budget`",
        Body::Json("BudgetRequest"),
        Answers::Json("Budget"),
        set_budget,
    ),
];

const KINDS: &[&str] = &["pin", "boost", "pause", "trust", "exclude"];

fn create(call: &Call<'_>) -> Result<Response, Problem> {
    let asked: NewCollection = call.json()?;
    let made = call.resources.collections.create(&asked);
    let view = made.map_err(|error| problem(asked.name.as_deref().unwrap_or_default(), error))?;
    let place = format!("/api/v1/collections/{}", view.name);
    let mut response = json(&view)?.with("location", &place);
    response.status = 201;
    Ok(response)
}

#[derive(Serialize)]
struct Items<T> {
    items: Vec<T>,
    next: Option<String>,
}

fn preview(call: &Call<'_>) -> Result<Response, Problem> {
    let asked: NewCollection = call.json()?;
    let items = call.resources.collections.preview(&asked).map_err(|error| problem("", error))?;
    json(&Items { items, next: None })
}

fn start(call: &Call<'_>) -> Result<Response, Problem> {
    acted(call, call.resources.collections.start(call.collection()))
}

fn stop(call: &Call<'_>) -> Result<Response, Problem> {
    acted(call, call.resources.collections.stop(call.collection()))
}

/// The collection after an action.
fn acted(call: &Call<'_>, done: Result<(), AskError>) -> Result<Response, Problem> {
    let name = call.collection();
    done.map_err(|error| problem(name, error))?;
    let found = call.resources.collections.list().into_iter().find(|one| one.name == name);
    json(&found.ok_or_else(|| problem(name, AskError::NoCollection))?)
}

fn add(call: &Call<'_>) -> Result<Response, Problem> {
    let asked: AddRequest = call.json()?;
    json(&call.ask(Request::Add(asked), |answer| match answer {
        Answer::Added(view) => Some(view),
        _ => None,
    })?)
}

fn push(call: &Call<'_>) -> Result<Response, Problem> {
    let asked: PushRequest = call.json()?;
    json(&call.ask(Request::Push(asked), |answer| match answer {
        Answer::Pushed(view) => Some(view),
        _ => None,
    })?)
}

fn overrides(call: &Call<'_>) -> Result<Response, Problem> {
    answered(call, OverrideRequest::List { kind: call.text("kind") })
}

fn set_override(call: &Call<'_>) -> Result<Response, Problem> {
    answered(call, call.json()?)
}

fn answered(call: &Call<'_>, asked: OverrideRequest) -> Result<Response, Problem> {
    json(&call.ask(Request::Override(asked), |answer| match answer {
        Answer::Overrides(view) => Some(view),
        _ => None,
    })?)
}

fn budget(call: &Call<'_>) -> Result<Response, Problem> {
    json(&call.ask(Request::Status, |answer| match answer {
        Answer::Status(status) => Some(status.plan.clone()),
        _ => None,
    })?)
}

fn set_budget(call: &Call<'_>) -> Result<Response, Problem> {
    let asked: BudgetRequest = call.json()?;
    json(&call.ask(Request::SetBudget(asked), |answer| match answer {
        Answer::Budget(view) => Some(view),
        _ => None,
    })?)
}
