//! What is the answer to each request that only reads? The same for a running crawl and a stopped one.

use evercrawl_engine::config::WalkConfig;
use evercrawl_model::Time;
use evercrawl_query::{
    self as query, Answer, ChangesRequest, ChangesView, HistoryView, HostsRequest, LinksRequest,
    LogRequest, MetricsView, PagesRequest, RatesRequest, RatesView, Request, Status, UrlRequest,
    VisitView,
};
use evercrawl_urls::Canonical;

use crate::args::RunArgs;
use crate::exit::Failure;
use crate::verbs::{self, Opened};
use crate::{crawl_config, units};

/// Where the parts of an answer go.
pub(crate) type Reply<'a> = dyn FnMut(Answer) -> anyhow::Result<()> + 'a;

/// Visits in one part of an answer.
const VISITS_A_PART: usize = 500;
/// Rows of rates in one part of an answer.
const ROWS_A_PART: usize = 2_000;

/// Answers a request at `now` by what is committed.
pub(crate) fn answer(
    opened: &Opened,
    request: Request,
    now: Time,
    reply: &mut Reply<'_>,
) -> anyhow::Result<()> {
    let source = opened.source(now);
    let plan = || crawl_config::plan(&opened.settings);
    match request {
        Request::Status => reply(Answer::Status(Box::new(status(opened, now)?))),
        Request::Metrics => {
            reply(Answer::Metrics(Box::new(MetricsView::of(&status(opened, now)?, None))))
        }
        Request::Page(asked) => {
            let url = canonical(opened, &asked)?;
            reply(Answer::Page(Box::new(query::page(&source, &url)?)))
        }
        Request::Why(asked) => {
            let url = canonical(opened, &asked)?;
            reply(Answer::Why(Box::new(query::why(&source, &config(opened)?, &url)?)))
        }
        Request::History(asked) => history(opened, &asked, now, reply),
        Request::Diff(asked) => {
            let url = verbs::canonical(&opened.settings, &asked.url)?;
            reply(Answer::Diff(Box::new(query::diff(&source, &url, &asked)?)))
        }
        Request::Pages(asked) => pages(opened, asked, now, reply),
        Request::Links(asked) => links(opened, asked, now, reply),
        Request::Changes(asked) => changes(opened, asked, now, reply).map(drop),
        Request::Log(mut asked) => log(opened, &mut asked, now, reply),
        Request::Hosts(asked) => hosts(opened, asked, now, reply),
        Request::Queue(asked) => reply(Answer::Queue(query::queue(&source, &asked)?)),
        Request::Plan(asked) => {
            let time = std::time::Duration::try_from_secs_f64(asked.seconds);
            let time = time.map_err(|error| Failure::usage(format!("seconds: {error}")))?;
            reply(Answer::Plan(Box::new(query::plan(&source, plan()?, time)?)))
        }
        Request::Rates(asked) => rates(&source, &asked, reply),
        Request::Freshness => reply(Answer::Freshness(query::freshness(&source, plan()?)?)),
        Request::Archive => reply(Answer::Archive(query::archive(&source)?)),
        Request::Rank(asked) => reply(verbs::rank::answer(&asked, opened)?),
        Request::Spam(asked) => reply(Answer::Spam(verbs::spam::answer(&asked, opened)?)),
        Request::Dropped => reply(Answer::Dropped(query::dropped(&source)?)),
        Request::RetentionPreview => {
            reply(Answer::RetentionPreview(verbs::retain::preview(opened, now)?))
        }
        Request::SetBudget(_) | Request::Push(_) | Request::Override(_) => {
            Err(Failure::usage("this request changes a crawl, and none runs here"))
        }
    }
}

/// The rates of all sections, and the checks that they follow from where those are asked for, part by part.
fn rates(
    source: &query::Source<'_, evercrawl_state::DiskStore>,
    asked: &RatesRequest,
    reply: &mut Reply<'_>,
) -> anyhow::Result<()> {
    let all = query::rates(source, asked)?;
    if asked.checks {
        for checks in all.checks.chunks(ROWS_A_PART) {
            reply(Answer::Rates(RatesView { checks: checks.to_vec(), ..all.without_rows() }))?;
        }
        return Ok(());
    }
    let mut rows = all.rows.chunks(ROWS_A_PART);
    let first = rows.next().unwrap_or_default();
    reply(Answer::Rates(RatesView { rows: first.to_vec(), ..all.without_rows() }))?;
    rows.try_for_each(|rows| {
        reply(Answer::Rates(RatesView { rows: rows.to_vec(), ..all.without_rows() }))
    })
}

/// How a crawl is doing that does not run.
fn status(opened: &Opened, now: Time) -> anyhow::Result<Status> {
    let budget = opened.settings.get("budget.rate", units::rate)?;
    Ok(query::status(&opened.source(now), crawl_config::plan(&opened.settings)?, budget)?)
}

fn config(opened: &Opened) -> anyhow::Result<WalkConfig> {
    crawl_config::walk_config(&opened.settings, &RunArgs::default())
}

fn canonical(opened: &Opened, asked: &UrlRequest) -> anyhow::Result<Canonical> {
    verbs::canonical(&opened.settings, &asked.url)
}

fn history(
    opened: &Opened,
    asked: &UrlRequest,
    now: Time,
    reply: &mut Reply<'_>,
) -> anyhow::Result<()> {
    let (url, steps) = (canonical(opened, asked)?, crawl_config::steps(&opened.settings)?);
    let HistoryView { url, visits } = query::history(&opened.source(now), steps, &url)?;
    let mut visits = visits.into_iter();
    loop {
        let part: Vec<VisitView> = visits.by_ref().take(VISITS_A_PART).collect();
        if part.is_empty() {
            return Ok(());
        }
        reply(Answer::History(HistoryView { url: url.clone(), visits: part }))?;
    }
}

/// All pages that are asked for, part by part. A part may be empty: so it is noticed in time where the caller
/// has left.
fn pages(
    opened: &Opened,
    mut asked: PagesRequest,
    now: Time,
    reply: &mut Reply<'_>,
) -> anyhow::Result<()> {
    let source = opened.source(now);
    loop {
        let part = query::pages(&source, &asked)?;
        asked.limit = asked.limit.map(|limit| limit.saturating_sub(part.pages.len() as u64));
        asked.after = part.next.clone();
        reply(Answer::Pages(part))?;
        if asked.after.is_none() || asked.limit == Some(0) {
            return Ok(());
        }
    }
}

/// All links that are asked for, part by part.
fn links(
    opened: &Opened,
    mut asked: LinksRequest,
    now: Time,
    reply: &mut Reply<'_>,
) -> anyhow::Result<()> {
    let source = opened.source(now);
    loop {
        let part = query::links(&source, &asked)?;
        asked.after = part.next.clone();
        reply(Answer::Links(part))?;
        if asked.after.is_none() {
            return Ok(());
        }
    }
}

/// All hosts that are asked for, part by part.
fn hosts(
    opened: &Opened,
    mut asked: HostsRequest,
    now: Time,
    reply: &mut Reply<'_>,
) -> anyhow::Result<()> {
    let source = opened.source(now);
    loop {
        let part = query::hosts(&source, &asked)?;
        asked.limit = asked.limit.map(|limit| limit.saturating_sub(part.hosts.len() as u64));
        asked.after = part.next.clone();
        reply(Answer::Hosts(part))?;
        if asked.after.is_none() || asked.limit == Some(0) {
            return Ok(());
        }
    }
}

/// All that the log has by now, part by part; returns the number up to which it was read. Nothing is sent where
/// there is nothing.
pub(super) fn changes(
    opened: &Opened,
    mut asked: ChangesRequest,
    now: Time,
    reply: &mut Reply<'_>,
) -> anyhow::Result<Option<u64>> {
    let source = opened.source(now);
    loop {
        let part = query::changes(&source, &asked)?;
        let ChangesView { last, complete, .. } = part;
        asked.limit = asked.limit.map(|limit| limit.saturating_sub(part.changes.len() as u64));
        asked.after = last.or(asked.after);
        if !part.changes.is_empty() || part.masked > 0 || !complete {
            reply(Answer::Changes(part))?;
        }
        if complete || asked.limit == Some(0) {
            return Ok(asked.after);
        }
    }
}

/// All that the log has by now, with what is known of its pages, part by part. `asked` then stands for what may
/// come after it.
pub(super) fn log(
    opened: &Opened,
    asked: &mut LogRequest,
    now: Time,
    reply: &mut Reply<'_>,
) -> anyhow::Result<()> {
    let source = opened.source(now);
    loop {
        let part = query::log(&source, asked)?;
        let complete = part.complete;
        asked.limit = asked.limit.map(|limit| limit.saturating_sub(part.rows.len() as u64));
        asked.after = part.last.or(asked.after);
        if !part.rows.is_empty() || !complete {
            reply(Answer::Log(part))?;
        }
        if complete || asked.limit == Some(0) {
            return Ok(());
        }
    }
}
