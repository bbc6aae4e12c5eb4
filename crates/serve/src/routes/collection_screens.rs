//! Which screens does a collection have, and what do their forms do?

use evercrawl_httpd::Response;
use evercrawl_query::{
    Answer, BudgetRequest, ChangeView, DiffRequest, DiffView, DroppedView, ExclusionCount,
    HistoryView, HostsRequest, LatestRequest, LatestView, OverrideRequest, OverrideView,
    OverridesView, PagesRequest, PagesView, PlanRequest, PlanView, PushRequest, QueueRequest,
    Request, Status, TallyRequest, TallyView, TrendRequest, TrendView, UrlRequest,
};
use evercrawl_screens::analytics::Analytics;
use evercrawl_screens::changes::Changes;
use evercrawl_screens::diff::Diff;
use evercrawl_screens::frame::Frame;
use evercrawl_screens::overview::Overview;
use evercrawl_screens::page::Page;
use evercrawl_screens::period::Period;
use evercrawl_screens::queue::{Exclusion, Queue};
use evercrawl_screens::settings::Setting;
use evercrawl_screens::words::in_query;
use evercrawl_screens::{
    analytics, archive, budget, changes, diff, overview, page, queue, refusals, settings, sites,
};

use crate::access::Scope;
use crate::collections::{AskError, Flow, RunState};
use crate::problem::{Problem, ProblemCode};
use crate::route::{Access, Call, Kind, Parameter, Route, Value, problem};
use crate::screens::{html, one_of};

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
const PERIODS: &[&str] = &["1h", "24h", "30d"];
const PERIOD: Parameter = Parameter::new("period", Value::Word(PERIODS), "How far back curves go");
const AFTER: Parameter = Parameter::new("after", Value::Text(200), "Where to go on");
const URL: Parameter = Parameter::new("url", Value::Text(8192), "The page's URL");
const URL_NEEDED: Parameter = Parameter::needed("url", Value::Text(8192), "The page's URL");

pub(super) const COLLECTION_SCREENS: &[Route] = &[
    Route::screen(
        "/c/{name}/",
        "Show whether all is well, and how fresh it is",
        &[PERIOD],
        show_overview,
    ),
    Route::screen(
        "/c/{name}/changes",
        "Show what is new",
        &[
            Parameter::new("change", Value::Text(20), "Only changes of this kind"),
            Parameter::new("host", Value::Text(300), "Only changes on this host"),
            Parameter::new("score", Value::Text(20), "Only changes with at least this score"),
            Parameter::new("unread", Value::Flag, "Only changes not seen yet"),
            Parameter::new("sort", Value::Word(&["score"]), "The greatest changes first"),
            Parameter::new("before", Value::Count(u64::MAX), "Only changes before this number"),
        ],
        show_changes,
    ),
    Route::screen(
        "/c/{name}/page",
        "Show what is known of a page, what comes next, and why; or pages by state",
        &[URL, Parameter::new("state", Value::Word(STATES), "Only pages in this state"), AFTER],
        show_page,
    ),
    Route::screen(
        "/c/{name}/diff",
        "Show which words changed between two versions",
        &[
            URL_NEEDED,
            Parameter::new("from", Value::Time, "The version known then"),
            Parameter::new("to", Value::Time, "The version known then"),
            Parameter::new("as", Value::Word(&["inline", "beside"]), "Both versions side by side"),
            Parameter::new("unmask", Value::Flag, "Mask nothing as noise"),
        ],
        show_diff,
    ),
    Route::screen(
        "/c/{name}/sites",
        "Show which servers hold the crawl up",
        &[Parameter::new("troubled", Value::Flag, "Only hosts in trouble"), AFTER],
        show_sites,
    ),
    Route::screen(
        "/c/{name}/queue",
        "Show what comes next, and preview exclusions",
        &[Parameter::new("pattern", Value::Text(1000), "What would be excluded")],
        show_queue,
    ),
    Route::screen("/c/{name}/budget", "Show whether the budget is spent well", &[], show_budget),
    Route::screen(
        "/c/{name}/refusals",
        "Show why pages are not crawled",
        &[Parameter::new("reason", Value::Text(100), "Samples of this reason"), AFTER],
        show_refusals,
    ),
    Route::screen("/c/{name}/archive", "Show what is archived", &[], show_archive),
    Route::screen(
        "/c/{name}/settings",
        "Show what holds, and who said so",
        &[Parameter::new("only", Value::Word(&["set"]), "Only settings that somebody set")],
        show_settings,
    ),
    Route::screen("/c/{name}/analytics", "Show what the figures say", &[PERIOD], show_analytics),
    Route::form("/c/{name}/check", "Visit a page soon", Scope::Write, check),
    Route::form("/c/{name}/pin", "Visit a page at least this often", Scope::Write, pin),
    Route::form("/c/{name}/unpin", "Remove the pin of a page", Scope::Write, unpin),
    Route::form("/c/{name}/pause", "Pause a host", Scope::Write, pause),
    Route::form("/c/{name}/unpause", "Resume a host", Scope::Write, unpause),
    Route::form("/c/{name}/exclude", "Exclude pages", Scope::Write, exclude),
    Route::form("/c/{name}/unset", "Remove an override", Scope::Write, unset),
    Route::form("/c/{name}/budget", "Change the budget", Scope::Write, set_budget),
    Route::form("/c/{name}/seen", "Mark all changes up to a number as seen", Scope::Write, seen),
    Route {
        kind: Kind::Asset,
        ..Route::screen("/assets/{file}", "Send a file that screens are made of", &[], asset)
    }
    .of(Access::Open),
];

/// Rows of a list on a screen, and how many parts of an answer are read for it.
const ROWS: u64 = 50;
const PARTS: usize = 8;
/// Visits of a page that are read for its history.
const VISITS: usize = 5_000;
/// Changes whose words are shown in the list, and how long they may take to find.
const DIFFS: usize = 12;
const DIFFS_MS: u64 = 80;
/// How far ahead plans look, in seconds.
const AHEAD: f64 = 86_400.0;
const MONTH: f64 = 30.0 * 86_400.0;

/// What a screen needs beside its views.
struct Around {
    names: Vec<String>,
    running: Option<bool>,
    form_token: String,
    may_write: bool,
}

impl Around {
    fn of(call: &Call<'_>) -> Result<Self, Problem> {
        let all = call.resources.collections.list();
        let name = call.collection();
        let here = all.iter().find(|one| one.name == name);
        let here = here.ok_or_else(|| problem(name, AskError::NoCollection))?;
        let granted = call.granted.as_ref();
        Ok(Around {
            running: Some(matches!(here.state, RunState::Running | RunState::Starting)),
            names: all.iter().map(|one| one.name.clone()).collect(),
            form_token: granted.map(|granted| granted.form_token()).unwrap_or_default(),
            may_write: granted.is_some_and(|granted| granted.scope >= Scope::Write),
        })
    }

    fn frame<'a>(&'a self, call: &'a Call<'_>) -> Frame<'a> {
        Frame {
            collection: call.collection(),
            collections: &self.names,
            running: self.running,
            form_token: &self.form_token,
            may_write: self.may_write,
            now: call.resources.now(),
            replay: None,
        }
    }
}

/// Shows a screen.
fn shown(
    call: &Call<'_>,
    draw: impl FnOnce(&Frame<'_>) -> Result<String, Problem>,
) -> Result<Response, Problem> {
    let around = Around::of(call)?;
    Ok(html(200, draw(&around.frame(call))?))
}

fn status(call: &Call<'_>) -> Result<Box<Status>, Problem> {
    call.ask(Request::Status, one_of!(Status))
}

fn trend(call: &Call<'_>, seconds: f64) -> Result<TrendView, Problem> {
    call.ask(Request::Trend(TrendRequest { seconds }), one_of!(Trend))
}

fn tally(call: &Call<'_>) -> Result<Box<TallyView>, Problem> {
    call.ask(Request::Tally(TallyRequest::default()), one_of!(Tally))
}

fn plan(call: &Call<'_>) -> Result<Box<PlanView>, Problem> {
    call.ask(Request::Plan(PlanRequest { seconds: AHEAD }), one_of!(Plan))
}

fn latest(call: &Call<'_>, asked: &LatestRequest) -> Result<LatestView, Problem> {
    call.ask(Request::Latest(asked.clone()), one_of!(Latest))
}

/// Some pages, and where to go on: a part of an answer may be empty.
fn some_pages(call: &Call<'_>, asked: PagesRequest) -> Result<PagesView, Problem> {
    let (mut found, mut parts) = (PagesView::default(), 0);
    call.ask_parts(Request::Pages(asked), &mut |answer| {
        if let Answer::Pages(part) = answer {
            found.pages.extend(part.pages);
            found.next = part.next;
        }
        parts += 1;
        let enough = found.next.is_none() || !found.pages.is_empty() || parts >= PARTS;
        if enough { Flow::Enough } else { Flow::More }
    })?;
    Ok(found)
}

fn history(call: &Call<'_>, url: &str) -> Result<HistoryView, Problem> {
    let mut all: Option<HistoryView> = None;
    call.ask_parts(Request::History(UrlRequest { url: url.to_owned() }), &mut |answer| {
        if let Answer::History(part) = answer {
            match &mut all {
                Some(all) => all.visits.extend(part.visits),
                None => all = Some(part),
            }
        }
        let read = all.as_ref().map_or(0, |all| all.visits.len());
        if read >= VISITS { Flow::Enough } else { Flow::More }
    })?;
    Ok(all.unwrap_or(HistoryView { url: url.to_owned(), visits: Vec::new() }))
}

fn period(call: &Call<'_>) -> Period {
    call.text("period").and_then(|code| Period::named(&code)).unwrap_or(Period::Day)
}

fn show_overview(call: &Call<'_>) -> Result<Response, Problem> {
    let period = period(call);
    let (status, trend) = (status(call)?, trend(call, period.seconds())?);
    let asked = LatestRequest { limit: Some(6), ..LatestRequest::default() };
    let latest = latest(call, &asked)?.changes;
    let view = Overview { status: &status, trend: &trend, period, latest: &latest };
    shown(call, |frame| Ok(overview::overview(frame, &view)))
}

/// The cookie that holds up to which number of the log somebody has seen all.
fn seen_cookie(call: &Call<'_>) -> Option<u64> {
    let lines = call.request.head.headers("cookie").flat_map(|line| line.split(';'));
    let mut values = lines.filter_map(|pair| pair.trim().strip_prefix("seen=").map(str::to_owned));
    values.next()?.parse().ok()
}

fn show_changes(call: &Call<'_>) -> Result<Response, Problem> {
    let (seen, unread) = (seen_cookie(call), call.flag("unread"));
    let score = call.text("score").map(|text| text.parse::<f64>());
    let score = score.transpose().map_err(|_| Problem::bad("`score`: a number from 0 to 1"))?;
    let asked = LatestRequest {
        before: call.count("before"),
        after: seen.filter(|_| unread),
        host: call.text("host"),
        change: call.text("change"),
        score,
        limit: Some(ROWS),
    };
    let found = latest(call, &asked)?;
    let diffs = some_diffs(call, &found.changes);
    let by_score = call.text("sort").is_some();
    let view = Changes { asked: &asked, found: &found, diffs: &diffs, seen, unread, by_score };
    shown(call, |frame| Ok(changes::changes(frame, &view)))
}

/// The words of the first changes in a list, as far as they are found quickly.
fn some_diffs(call: &Call<'_>, changes: &[ChangeView]) -> Vec<(u64, DiffView)> {
    let began = call.resources.now();
    let mut diffs = Vec::new();
    for change in changes.iter().filter(|change| change.code() == "changed").take(DIFFS) {
        if call.resources.now().since(began).as_millis() > u128::from(DIFFS_MS) {
            break;
        }
        let Some(url) = change.url() else { continue };
        let asked =
            DiffRequest { url: url.to_owned(), from: None, to: Some(change.at()), unmask: false };
        // A change without words to show is listed without them.
        if let Ok(diff) = call.ask(Request::Diff(asked), one_of!(Diff)) {
            diffs.push((change.number, *diff));
        }
    }
    diffs
}

fn show_page(call: &Call<'_>) -> Result<Response, Problem> {
    let Some(url) = call.text("url") else {
        let asked = PagesRequest {
            state: call.word("state")?,
            after: call.text("after"),
            limit: Some(ROWS),
            ..PagesRequest::default()
        };
        let (found, state) = (some_pages(call, asked)?, call.text("state"));
        return shown(call, |frame| {
            Ok(page::lookup(frame, &found.pages, state.as_deref(), found.next.as_deref()))
        });
    };
    let why = call.ask(Request::Why(UrlRequest { url: url.clone() }), one_of!(Why))?;
    let history = match &why.page {
        Some(page) if page.visits > 0 => Some(history(call, &url)?),
        _ => None,
    };
    let view = Page { why: &why, history: history.as_ref() };
    shown(call, |frame| Ok(page::page(frame, &view)))
}

fn show_diff(call: &Call<'_>) -> Result<Response, Problem> {
    let url = call.needed("url")?;
    let unmask = call.flag("unmask");
    let asked =
        DiffRequest { url: url.clone(), from: call.time("from"), to: call.time("to"), unmask };
    let found = call.ask(Request::Diff(asked), one_of!(Diff));
    let history = history(call, &url).ok();
    let view = Diff {
        found: found.as_deref().map_err(|problem| problem.detail.as_str()),
        url: &url,
        history: history.as_ref(),
        beside: call.text("as").as_deref() == Some("beside"),
        unmask,
    };
    shown(call, |frame| Ok(diff::diff(frame, &view)))
}

fn show_sites(call: &Call<'_>) -> Result<Response, Problem> {
    let asked = HostsRequest { after: call.text("after"), limit: Some(ROWS) };
    let hosts = call.ask(Request::Hosts(asked), one_of!(Hosts))?;
    let tally = tally(call)?;
    let view = sites::Sites { hosts: &hosts, tally: &tally, troubled: call.flag("troubled") };
    shown(call, |frame| Ok(sites::sites(frame, &view)))
}

fn overrides(call: &Call<'_>, asked: OverrideRequest) -> Result<OverridesView, Problem> {
    call.ask(Request::Override(asked), one_of!(Overrides))
}

fn listed(call: &Call<'_>) -> Result<Vec<OverrideView>, Problem> {
    Ok(match overrides(call, OverrideRequest::List { kind: None })? {
        OverridesView::Listed(listed) => listed.overrides,
        _ => Vec::new(),
    })
}

/// What an exclusion would do.
fn counted(call: &Call<'_>, pattern: &str) -> Result<ExclusionCount, String> {
    let asked =
        OverrideRequest::Exclude { pattern: pattern.to_owned(), dry_run: true, force: false };
    match overrides(call, asked) {
        Ok(OverridesView::Counted(counted)) => Ok(counted),
        Ok(_) => Err("the crawl gave another answer".to_owned()),
        Err(problem) => Err(problem.detail),
    }
}

fn show_queue(call: &Call<'_>) -> Result<Response, Problem> {
    let queue = call.ask(Request::Queue(QueueRequest { limit: Some(10) }), one_of!(Queue))?;
    let (plan, overrides) = (plan(call)?, listed(call)?);
    let pattern = call.text("pattern");
    let counted = pattern.as_deref().map(|pattern| counted(call, pattern));
    let exclusion = pattern.as_deref().zip(counted.as_ref());
    let exclusion = exclusion.map(|(pattern, counted)| Exclusion {
        pattern,
        counted: counted.as_ref().map_err(String::as_str),
    });
    let view = Queue { queue: &queue, plan: &plan, overrides: &overrides, exclusion };
    shown(call, |frame| Ok(queue::queue(frame, &view)))
}

fn show_budget(call: &Call<'_>) -> Result<Response, Problem> {
    let (status, plan) = (status(call)?, plan(call)?);
    let view = budget::Budget { status: &status, plan: &plan };
    shown(call, |frame| Ok(budget::budget(frame, &view)))
}

fn show_refusals(call: &Call<'_>) -> Result<Response, Problem> {
    let (status, reason) = (status(call)?, call.text("reason"));
    let samples = match &reason {
        Some(reason) => {
            let reason = Some(reason.clone());
            some_pages(
                call,
                PagesRequest {
                    reason,
                    after: call.text("after"),
                    limit: Some(ROWS),
                    ..PagesRequest::default()
                },
            )?
        }
        None => PagesView::default(),
    };
    let view = refusals::Refusals {
        by_reason: &status.total.refused_by_reason,
        reason: reason.as_deref(),
        samples: &samples.pages,
        next: samples.next.as_deref(),
    };
    shown(call, |frame| Ok(refusals::refusals(frame, &view)))
}

fn show_archive(call: &Call<'_>) -> Result<Response, Problem> {
    let files = call.ask(Request::Archive, one_of!(Archive))?;
    let dropped: Vec<DroppedView> = call.ask(Request::Dropped, one_of!(Dropped))?;
    let (status, trend) = (status(call)?, trend(call, MONTH)?);
    let view = archive::Archive {
        archive: &files,
        dropped: &dropped,
        status: &status,
        trend: &trend,
        most: 50,
    };
    shown(call, |frame| Ok(archive::archive(frame, &view)))
}

fn show_settings(call: &Call<'_>) -> Result<Response, Problem> {
    let name = call.collection();
    let value = call.resources.collections.settings(name).map_err(|error| problem(name, error))?;
    let read: Result<Vec<Setting>, _> = serde_json::from_value(value);
    let all = read.map_err(|error| Problem::new(ProblemCode::Internal, error.to_string()))?;
    let only_set = call.text("only").is_some();
    shown(call, |frame| Ok(settings::settings(frame, &all, only_set)))
}

fn show_analytics(call: &Call<'_>) -> Result<Response, Problem> {
    let period = period(call);
    let (status, trend) = (status(call)?, trend(call, period.seconds())?);
    let (tally, plan) = (tally(call)?, plan(call)?);
    let view =
        Analytics { status: &status, trend: &trend, tally: &tally, plan: &plan, rates: None };
    shown(call, |frame| Ok(analytics::analytics(frame, &view, period)))
}

/// Back to a screen of the collection after a form was dealt with.
fn back_to(call: &Call<'_>, rest: &str) -> Response {
    Response::new(303).with("location", &format!("/c/{}/{rest}", in_query(call.collection())))
}

fn field(call: &Call<'_>, name: &str) -> Result<String, Problem> {
    call.field(name).ok_or_else(|| Problem::bad(format!("the field `{name}` is missing")))
}

/// Back to the screen of a page.
fn back_to_page(call: &Call<'_>, url: &str) -> Response {
    back_to(call, &format!("page?url={}", in_query(url)))
}

fn check(call: &Call<'_>) -> Result<Response, Problem> {
    let url = field(call, "url")?;
    call.ask(Request::Push(PushRequest { urls: vec![url.clone()] }), one_of!(Pushed))?;
    Ok(back_to_page(call, &url))
}

/// A length of time as people write it: `90s`, `15m`, `1h`, `7d`.
fn seconds_of(text: &str) -> Option<f64> {
    let text = text.trim();
    let units = [("s", 1.0), ("m", 60.0), ("h", 3_600.0), ("d", 86_400.0)];
    let (number, unit) =
        units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))?;
    let number: f64 = number.trim().parse().ok()?;
    (number.is_finite() && number > 0.0).then_some(number * unit)
}

fn pin(call: &Call<'_>) -> Result<Response, Problem> {
    let (url, every) = (field(call, "url")?, field(call, "every")?);
    let seconds = seconds_of(&every);
    let seconds = seconds
        .ok_or_else(|| Problem::bad(format!("`{every}` is not a length of time; use e.g. `1h`")))?;
    overrides(call, OverrideRequest::Pin { url: url.clone(), every_seconds: Some(seconds) })?;
    Ok(back_to_page(call, &url))
}

fn unpin(call: &Call<'_>) -> Result<Response, Problem> {
    let url = field(call, "what")?;
    remove(call, &url, "pin")?;
    Ok(back_to_page(call, &url))
}

fn remove(call: &Call<'_>, what: &str, kind: &str) -> Result<OverridesView, Problem> {
    overrides(call, OverrideRequest::Remove { what: what.to_owned(), kind: Some(kind.to_owned()) })
}

fn pause(call: &Call<'_>) -> Result<Response, Problem> {
    overrides(call, OverrideRequest::Pause { host: field(call, "host")? })?;
    Ok(back_to(call, "sites"))
}

fn unpause(call: &Call<'_>) -> Result<Response, Problem> {
    remove(call, &field(call, "host")?, "pause")?;
    Ok(back_to(call, "sites"))
}

fn exclude(call: &Call<'_>) -> Result<Response, Problem> {
    let pattern = field(call, "pattern")?;
    overrides(call, OverrideRequest::Exclude { pattern, dry_run: false, force: false })?;
    Ok(back_to(call, "queue"))
}

fn unset(call: &Call<'_>) -> Result<Response, Problem> {
    remove(call, &field(call, "what")?, &field(call, "kind")?)?;
    Ok(back_to(call, "queue"))
}

fn set_budget(call: &Call<'_>) -> Result<Response, Problem> {
    let rate = field(call, "rate")?;
    call.ask(Request::SetBudget(BudgetRequest { rate }), one_of!(Budget))?;
    Ok(back_to(call, "budget"))
}

/// Notes in this browser that all changes up to a number were seen.
fn seen(call: &Call<'_>) -> Result<Response, Problem> {
    let number: u64 =
        field(call, "number")?.parse().map_err(|_| Problem::bad("`number`: a whole number"))?;
    let path = format!("/c/{}/", in_query(call.collection()));
    let cookie = format!("seen={number}; Path={path}; Max-Age=31536000; HttpOnly; SameSite=Strict");
    Ok(back_to(call, "changes").with("set-cookie", &cookie))
}

fn asset(call: &Call<'_>) -> Result<Response, Problem> {
    let found = evercrawl_screens::assets::named(call.path("file"));
    let asset =
        found.ok_or_else(|| Problem::new(ProblemCode::NotFound, "there is no such file"))?;
    let response = Response::new(200).with("content-type", asset.media);
    Ok(response.with("cache-control", "private, max-age=31536000, immutable").body(asset.bytes))
}
