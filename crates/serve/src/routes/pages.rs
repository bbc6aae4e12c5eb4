//! What is known of pages and hosts, and why is it so?

use evercrawl_httpd::Response;
use evercrawl_query::{
    Answer, ChangesRequest, DiffRequest, HostsRequest, PagesRequest, PlanRequest, QueueRequest,
    RatesBy, RatesRequest, Request, TallyRequest, TrendRequest, UrlRequest, VisitView,
};

use crate::collections::{AskError, Flow};
use crate::events::MOST_STREAMS;
use crate::problem::{Problem, ProblemCode};
use crate::route::{Answers, Call, Page, Parameter, Route, Value, json, problem};

/// The states of a page.
const STATES: &[&str] = &[
    "new",
    "due",
    "resting",
    "failing",
    "gone",
    "moved",
    "soft_404",
    "login_wall",
    "parked",
    "refused",
];
const LIMIT: Parameter =
    Parameter::new("limit", Value::Count(1000), "At most so many; 100 if not given");
const CURSOR: Parameter = Parameter::new("cursor", Value::Text(200), "`next` of the page before");
const URL: Parameter = Parameter::needed("url", Value::Text(8192), "The page's URL");

pub(super) const PAGES: &[Route] = &[
    Route::get(
        "/api/v1/collections/{name}/urls",
        "List known URLs, as `evercrawl urls`",
        &[
            Parameter::new("state", Value::Word(STATES), "Only pages in this state"),
            Parameter::new("reason", Value::Text(100), "Only pages with this reason"),
            Parameter::new("tag", Value::Text(200), "Only pages with this tag"),
            Parameter::new("host", Value::Text(300), "Only pages of this host"),
            Parameter::new("spam", Value::Flag, "Only pages of hosts that are taken for spam"),
            LIMIT,
            CURSOR,
        ],
        Answers::List("Page"),
        urls,
    ),
    Route::get(
        "/api/v1/collections/{name}/hosts",
        "List known hosts and what holds them up, as `evercrawl hosts`",
        &[LIMIT, CURSOR],
        Answers::List("Host"),
        hosts,
    ),
    Route::get(
        "/api/v1/collections/{name}/page",
        "Explain one URL, as `evercrawl why`",
        &[URL],
        Answers::Json("Why"),
        why,
    ),
    Route::get(
        "/api/v1/collections/{name}/page/history",
        "List the visits to one page, as `evercrawl history`",
        &[URL, LIMIT],
        Answers::List("Visit"),
        history,
    ),
    Route::get(
        "/api/v1/collections/{name}/page/diff",
        "Show which words changed between two versions, as `evercrawl diff`",
        &[
            URL,
            Parameter::new("from", Value::Time, "The version held at this time"),
            Parameter::new("to", Value::Time, "The version held at this time"),
        ],
        Answers::Json("Diff"),
        diff,
    ),
    Route::get(
        "/api/v1/collections/{name}/changes",
        "List what was found to be new, changed or gone, as `evercrawl changes`",
        &[
            Parameter::new("after", Value::Count(u64::MAX), "Only entries after this number"),
            Parameter::new("since", Value::Time, "Only entries from this time on"),
            Parameter::new("states", Value::Flag, "Also pages that came to another state"),
            Parameter::new("noise", Value::Flag, "Also visits that found nothing but noise"),
            Parameter::new("all", Value::Flag, "Everything, also visits that found nothing new"),
            LIMIT,
            Parameter::new("cursor", Value::Count(u64::MAX), "`next` of the page before"),
        ],
        Answers::List("Change"),
        changes,
    ),
    Route::get(
        "/api/v1/collections/{name}/changes/stream",
        "Follow a running crawl as server-sent events: `status`, `change`, `lagged`",
        &[Parameter::new(
            "after",
            Value::Count(u64::MAX),
            "Begin after this number, as Last-Event-ID",
        )],
        Answers::Media("text/event-stream"),
        follow,
    ),
    Route::get(
        "/api/v1/collections/{name}/queue",
        "Show what waits to be fetched, as `evercrawl queue`",
        &[LIMIT],
        Answers::Json("Queue"),
        queue,
    ),
    Route::get(
        "/api/v1/collections/{name}/plan",
        "Preview the schedule, as `evercrawl plan`",
        &[Parameter::new("seconds", Value::Seconds, "So far ahead; an hour if not given")],
        Answers::Json("Plan"),
        plan,
    ),
    Route::get(
        "/api/v1/collections/{name}/reasons",
        "Count refused pages by reason",
        &[],
        Answers::Json("Counts"),
        reasons,
    ),
    Route::get(
        "/api/v1/collections/{name}/freshness",
        "Show how fresh the stored pages are",
        &[],
        Answers::Json("Freshness"),
        freshness,
    ),
    Route::get(
        "/api/v1/collections/{name}/rates",
        "Estimate how often pages change, as `evercrawl rates`",
        &[
            Parameter::new("by", Value::Word(&["host", "dir", "tag"]), "By host, directory or tag"),
            LIMIT,
        ],
        Answers::Json("Rates"),
        rates,
    ),
    Route::get(
        "/api/v1/collections/{name}/archive",
        "List the WARC files, as `evercrawl archive`",
        &[],
        Answers::Json("Archive"),
        archive,
    ),
    Route::get(
        "/api/v1/collections/{name}/metrics",
        "Show the figures of a crawl one by one, as `evercrawl status --metrics`",
        &[],
        Answers::Json("Metrics"),
        metrics,
    ),
    Route::get(
        "/api/v1/collections/{name}/settings",
        "Show the settings in force, as `evercrawl config show`",
        &[],
        Answers::List("Setting"),
        settings,
    ),
    Route::get(
        "/api/v1/collections/{name}/trend",
        "Show how the figures moved over time",
        &[Parameter::new("seconds", Value::Seconds, "How far back; a day if not given")],
        Answers::Json("Trend"),
        trend,
    ),
    Route::get(
        "/api/v1/collections/{name}/tally",
        "Show what the last visits brought, by host and by outcome",
        &[],
        Answers::Json("Tally"),
        tally,
    ),
];

/// Parts of an answer that are read for one request: each reads some thousand rows at most.
const MOST_PARTS: usize = 4;

fn urls(call: &Call<'_>) -> Result<Response, Problem> {
    let limit = call.limit();
    let request = PagesRequest {
        state: call.word("state")?,
        reason: call.text("reason"),
        tag: call.text("tag"),
        host: call.text("host"),
        spam: call.flag("spam"),
        after: call.text("cursor"),
        limit: Some(limit as u64),
    };
    let (mut items, mut next, mut parts) = (Vec::new(), None, 0);
    call.ask_parts(Request::Pages(request), &mut |answer| {
        if let Answer::Pages(part) = answer {
            items.extend(part.pages);
            next = part.next;
        }
        parts += 1;
        enough(items.len() >= limit || parts >= MOST_PARTS)
    })?;
    json(&Page { items, next })
}

fn enough(is_enough: bool) -> Flow {
    if is_enough { Flow::Enough } else { Flow::More }
}

fn hosts(call: &Call<'_>) -> Result<Response, Problem> {
    let limit = call.limit();
    let request = HostsRequest { after: call.text("cursor"), limit: Some(limit as u64) };
    let (mut items, mut next, mut parts) = (Vec::new(), None, 0);
    call.ask_parts(Request::Hosts(request), &mut |answer| {
        if let Answer::Hosts(part) = answer {
            items.extend(part.hosts);
            next = part.next;
        }
        parts += 1;
        enough(items.len() >= limit || parts >= MOST_PARTS)
    })?;
    json(&Page { items, next })
}

fn url_of(call: &Call<'_>) -> Result<UrlRequest, Problem> {
    Ok(UrlRequest { url: call.needed("url")? })
}

fn why(call: &Call<'_>) -> Result<Response, Problem> {
    json(&call.ask(Request::Why(url_of(call)?), |answer| match answer {
        Answer::Why(why) => Some(why),
        _ => None,
    })?)
}

/// The last visits, the latest first.
fn history(call: &Call<'_>) -> Result<Response, Problem> {
    let mut items: Vec<VisitView> = Vec::new();
    call.ask_parts(Request::History(url_of(call)?), &mut |answer| {
        if let Answer::History(part) = answer {
            items.extend(part.visits);
        }
        Flow::More
    })?;
    items.reverse();
    items.truncate(call.limit());
    json(&Page { items, next: None })
}

fn diff(call: &Call<'_>) -> Result<Response, Problem> {
    let request = DiffRequest {
        url: call.needed("url")?,
        from: call.time("from"),
        to: call.time("to"),
        unmask: false,
    };
    json(&call.ask(Request::Diff(request), |answer| match answer {
        Answer::Diff(diff) => Some(diff),
        _ => None,
    })?)
}

fn changes(call: &Call<'_>) -> Result<Response, Problem> {
    let limit = call.limit();
    let request = ChangesRequest {
        after: call.count("cursor").or(call.count("after")),
        since: call.time("since"),
        states: call.flag("states"),
        noise: call.flag("noise"),
        all: call.flag("all"),
        limit: Some(limit as u64),
        ..Default::default()
    };
    let (mut items, mut last, mut complete, mut parts) = (Vec::new(), None, true, 0);
    call.ask_parts(Request::Changes(request), &mut |answer| {
        if let Answer::Changes(part) = answer {
            items.extend(part.changes);
            (last, complete) = (part.last, part.complete);
        }
        parts += 1;
        enough(items.len() >= limit || parts >= MOST_PARTS)
    })?;
    let next = last.filter(|_| !complete).map(|last| last.to_string());
    json(&Page { items, next })
}

fn follow(call: &Call<'_>) -> Result<Response, Problem> {
    let name = call.collection();
    if !call.resources.collections.list().iter().any(|one| one.name == name) {
        return Err(problem(name, AskError::NoCollection));
    }
    let last = call.request.head.header("last-event-id").and_then(|text| text.parse().ok());
    let body =
        call.resources.events.listen(name, last.or(call.count("after"))).ok_or_else(|| {
            let why = format!("{MOST_STREAMS} streams are open already");
            Problem::new(ProblemCode::Unavailable, why).after(10)
        })?;
    let response = Response::new(200).with("content-type", "text/event-stream");
    Ok(response.with("x-accel-buffering", "no").streaming(body))
}

fn queue(call: &Call<'_>) -> Result<Response, Problem> {
    let request = QueueRequest { limit: Some(call.limit() as u64) };
    json(&call.ask(Request::Queue(request), |answer| match answer {
        Answer::Queue(queue) => Some(queue),
        _ => None,
    })?)
}

fn plan(call: &Call<'_>) -> Result<Response, Problem> {
    let seconds = call.text("seconds").and_then(|text| text.parse().ok()).unwrap_or(3600.0);
    json(&call.ask(Request::Plan(PlanRequest { seconds }), |answer| match answer {
        Answer::Plan(plan) => Some(plan),
        _ => None,
    })?)
}

fn reasons(call: &Call<'_>) -> Result<Response, Problem> {
    json(&call.ask(Request::Status, |answer| match answer {
        Answer::Status(status) => Some(status.total.refused_by_reason.clone()),
        _ => None,
    })?)
}

fn freshness(call: &Call<'_>) -> Result<Response, Problem> {
    json(&call.ask(Request::Freshness, |answer| match answer {
        Answer::Freshness(view) => Some(view),
        _ => None,
    })?)
}

fn rates(call: &Call<'_>) -> Result<Response, Problem> {
    let by = call.word("by")?.unwrap_or(RatesBy::Host);
    let request = RatesRequest { by, since: None, level: 0.95, checks: false };
    let mut rates = call.ask(Request::Rates(request), |answer| match answer {
        Answer::Rates(rates) => Some(rates),
        _ => None,
    })?;
    rates.rows.truncate(call.limit());
    json(&rates)
}

fn archive(call: &Call<'_>) -> Result<Response, Problem> {
    json(&call.ask(Request::Archive, |answer| match answer {
        Answer::Archive(view) => Some(view),
        _ => None,
    })?)
}

fn metrics(call: &Call<'_>) -> Result<Response, Problem> {
    json(&call.ask(Request::Metrics, |answer| match answer {
        Answer::Metrics(view) => Some(view),
        _ => None,
    })?)
}

fn settings(call: &Call<'_>) -> Result<Response, Problem> {
    let name = call.collection();
    let settings = call.resources.collections.settings(name);
    let items = settings.map_err(|error| problem(name, error))?;
    json(&serde_json::json!({ "items": items, "next": null }))
}

fn trend(call: &Call<'_>) -> Result<Response, Problem> {
    let seconds = call.text("seconds").and_then(|text| text.parse().ok()).unwrap_or(86_400.0);
    json(&call.ask(Request::Trend(TrendRequest { seconds }), |answer| match answer {
        Answer::Trend(view) => Some(view),
        _ => None,
    })?)
}

fn tally(call: &Call<'_>) -> Result<Response, Problem> {
    json(&call.ask(Request::Tally(TallyRequest::default()), |answer| match answer {
        Answer::Tally(view) => Some(view),
        _ => None,
    })?)
}
