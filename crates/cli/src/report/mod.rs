//! How does a crawl's status look in words? The same lines for `status`, and at the end of `crawl`.

mod learned;
mod run;
pub(crate) mod run_end;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use evercrawl_engine::live::Progress;
use evercrawl_model::{Change, LifeState, Outcome, Time};
use evercrawl_query::{
    FreshnessView, LearnedView, PlanSettings, RankedBy, Run, Status, TodayView, Totals,
    WaitingHosts, WaitingView,
};

use crate::print;
use crate::units::{show_count, show_counted, show_duration, show_seconds, show_size};

/// Where the text of a line begins.
const COLUMN: usize = 13;

/// Writes a line of a status: what it is about, and what is to be said of it.
pub(crate) fn write_line(out: &mut dyn Write, label: &str, text: &str) -> io::Result<()> {
    print::labelled(out, &format!("  {label}"), COLUMN, text)
}

/// Pages by state: those that pages usually are in, and what else there is.
fn states_text(total: &Totals) -> String {
    use LifeState::{Failing, Gone, Live, LoginWall, Moved, New, Parked, Refused, SoftGone};
    let usual = [Live, New, Gone, Refused];
    let all = [Live, Failing, New, Gone, Moved, SoftGone, LoginWall, Parked, Refused];
    let shown = all.into_iter().filter_map(|state| {
        let count = total.in_state(state);
        let shown = count > 0 || usual.contains(&state);
        shown.then(|| format!("{} {}", show_count(count), state.code()))
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// The totals of a data directory.
pub(crate) fn write_totals(out: &mut dyn Write, total: &Totals) -> io::Result<()> {
    let (pages, hosts) = (show_counted(total.pages, "page"), show_counted(total.hosts, "host"));
    write_line(out, "found", &format!("{pages} on {hosts}"))?;
    write_line(out, "state", &states_text(total))?;
    let count = |change| show_count(total.changed(change));
    let visits = format!(
        "{}: {} first, {} changed, {} nearly the same, {} gone, {} failed",
        show_count(total.visits),
        count(Change::New),
        count(Change::Changed),
        count(Change::Near),
        count(Change::Gone),
        count(Change::Failed),
    );
    write_line(out, "visits", &visits)?;
    let same = total.unchanged;
    let unchanged = format!(
        "{} not modified (304), {} identical bytes, {} noise only",
        show_count(same.not_modified),
        show_count(same.same_digest),
        show_count(same.noise),
    );
    write_line(out, "unchanged", &unchanged)?;
    let (exact, near) = (show_count(total.duplicates), show_count(total.near_duplicates));
    write_line(
        out,
        "duplicates",
        &format!("{exact} exact (not stored again), {near} near (marked)"),
    )?;
    write_line(out, "refused", &refusals_text(&total.refused_by_reason))
}

/// Refusals by reason, the most frequent first.
fn refusals_text(refused: &BTreeMap<String, u64>) -> String {
    let mut reasons: Vec<(u64, &str)> = refused.iter().map(|(code, n)| (*n, &**code)).collect();
    reasons.sort_unstable_by(|a, b| b.cmp(a));
    let words = reasons.iter().map(|(count, code)| format!("{code} {}", show_count(*count)));
    let words: Vec<String> = words.collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

/// How fresh the stored pages are.
pub(crate) fn freshness_text(of: &FreshnessView) -> String {
    let pages = show_counted(of.pages_held, "stored page");
    if of.pages_held == 0 {
        return "no page is stored yet".to_owned();
    }
    let (Some(share), Some(error)) = (of.freshness, of.freshness_error) else {
        return format!("not yet known ({pages}, too few revisits)");
    };
    let are = if of.pages_held == 1 { "is" } else { "are" };
    let audits = match of.audits {
        0 => String::new(),
        audits => format!("{}, ", show_counted(audits, "audit")),
    };
    format!(
        "about {:.1} % (\u{b1}{:.1}) of {pages} {are} current ({audits}mean age {})",
        100.0 * share,
        100.0 * error,
        show_seconds(of.age_seconds),
    )
}

/// What was found today.
fn today_text(today: &TodayView) -> String {
    let least = if today.complete { "" } else { " at least" };
    let sites = match (today.site_events, &today.last_site) {
        (1.., Some(host)) => format!(
            "; {} on all pages of a host, last on {}",
            show_counted(today.site_events, "change"),
            print::plain(host)
        ),
        _ => String::new(),
    };
    format!(
        "{}, {} gone, {}, in {}{least}{sites}",
        show_counted(today.changes, "change"),
        show_count(today.gone),
        show_counted(today.first_visits, "first visit"),
        show_counted(today.visits, "visit"),
    )
}

/// What hosts wait for, for one host and for more.
fn reasons(waiting: &WaitingView) -> [(WaitingHosts, &'static str, &'static str); 6] {
    [
        (
            waiting.turn,
            "is queued (budget exhausted or other hosts first)",
            "are queued (budget exhausted or other hosts first)",
        ),
        (waiting.pace, "pauses between requests", "pause between requests"),
        (waiting.back_off, "is in backoff", "are in backoff"),
        (waiting.robots, "waits for robots.txt", "wait for robots.txt"),
        (waiting.paused, "is paused by you", "are paused by you"),
        (waiting.not_due, "has nothing due yet", "have nothing due yet"),
    ]
}

/// Hosts by what they wait for: only what there is.
pub(crate) fn waiting_text(waiting: &WaitingView) -> String {
    let parts = reasons(waiting).into_iter().filter(|(held, ..)| held.hosts > 0);
    let parts: Vec<String> = parts
        .map(|(held, one, more)| {
            let does = if held.hosts == 1 { one } else { more };
            format!("{} {does}", show_counted(held.hosts, "host"))
        })
        .collect();
    let least = if waiting.complete { "" } else { " (at least)" };
    if parts.is_empty() { "nothing".to_owned() } else { format!("{}{least}", parts.join("; ")) }
}

fn mirrors_text(hosts: u64) -> String {
    let mirror = if hosts == 1 { "mirrors another" } else { "mirror others" };
    let hosts = show_counted(hosts, "host");
    format!("{hosts} {mirror}; `evercrawl urls --reason mirror` lists what waits")
}

/// How a budget is divided over pages.
fn divided_by(plan: &PlanSettings) -> String {
    if plan.fixed_interval {
        return "as an upper limit: every page has the same interval (schedule.revisit_every)"
            .to_owned();
    }
    format!("by policy {}", plan.policy)
}

/// The budget, and how much of it is used.
fn budget_text(plan: &PlanSettings, run: Option<&Run>) -> Option<String> {
    let by = divided_by(plan);
    match (plan.budget_a_second, run) {
        (Some(rate), None) => Some(format!("{rate}/s for the next run, {by}")),
        (Some(rate), Some(run)) => {
            let used = 100.0 * run.budget_used.unwrap_or(0.0);
            Some(format!("{rate}/s, {used:.0} % used in the last minute, {by}"))
        }
        (None, Some(_)) => Some("none: every page has the same interval".to_owned()),
        (None, None) => None,
    }
}

fn spent_text(run: &Run) -> String {
    format!(
        "{} on new pages, {} on due ones ({} late on average), {} ahead of time, {} on audits",
        show_count(run.first_visits),
        show_count(run.requests.due),
        show_seconds(run.requests.mean_lag_seconds),
        show_count(run.requests.ahead_of_time),
        show_count(run.requests.audits),
    )
}

/// How much of the budget is left over, and why, where it is more than a little.
fn left_text(run: &Run, waiting: &WaitingView) -> Option<String> {
    let left = 100.0 * (1.0 - run.budget_used?);
    if left < 2.0 {
        return None;
    }
    let why = match (run.bytes_used_up_until, waiting_text(waiting)) {
        (Some(_), _) => "the day's bytes are used up".to_owned(),
        (None, nothing) if nothing == "nothing" => "nothing waits to be fetched".to_owned(),
        (None, hosts) => hosts,
    };
    Some(format!("{left:.0} % of the budget: {why}"))
}

/// What was received in a day, and whether that is all that may be.
fn received_text(status: &Status) -> String {
    let received = format!("{} in the last 24 hours", show_size(status.bytes_last_day));
    let until = status.run.as_ref().and_then(|run| run.bytes_used_up_until);
    match until {
        Some(until) => format!("{received}, the limit for a day; the crawl continues at {until}"),
        None => received,
    }
}

/// How pages are ranked otherwise than was asked for, since links take more memory than they may.
fn short_of_memory(ranked_by: RankedBy) -> Option<&'static str> {
    match ranked_by {
        RankedBy::Indegree => {
            Some("by the number of links to a page: all links exceed `links.memory`")
        }
        RankedBy::Nothing => Some("pages are not ranked: they exceed `links.memory`"),
        RankedBy::Pagerank => None,
    }
}

/// A status in words.
pub(crate) fn write_status(out: &mut dyn Write, status: &Status) -> io::Result<()> {
    if let Some(run) = &status.run {
        write_run(out, run)?;
    }
    write_totals(out, &status.total)?;
    let survey = &status.survey;
    if let Some(fresh) = &survey.freshness {
        write_line(out, "freshness", &freshness_text(fresh))?;
    }
    if let Some(budget) = budget_text(&status.plan, status.run.as_ref()) {
        write_line(out, "budget", &budget)?;
    }
    if let Some(run) = &status.run {
        write_line(out, "spent", &spent_text(run))?;
        if let Some(left) = left_text(run, &survey.waiting) {
            write_line(out, "left", &left)?;
        }
        let (new, changes) = (run.first_visits, run.changes_found);
        let (new, changes) = (show_counted(new, "new page"), show_counted(changes, "change"));
        write_line(out, "results", &format!("{new} and {changes} in this run"))?;
        if let Some(short) = run.progress.ranked_by.and_then(short_of_memory) {
            write_line(out, "importance", short)?;
        }
        write_line(out, "received", &received_text(status))?;
    }
    write_line(out, "today", &today_text(&status.today))?;
    write_line(out, "waiting", &waiting_text(&survey.waiting))?;
    if survey.mirrors > 0 {
        write_line(out, "mirrors", &mirrors_text(survey.mirrors))?;
    }
    write_learned(out, &survey.learned)?;
    let each = survey.bytes_state / status.total.pages.max(1);
    let (archived, state) = (show_size(survey.bytes_archived), show_size(survey.bytes_state));
    let disk = format!("{archived} archived, {state} state ({each} bytes per known page)");
    write_line(out, "disk", &disk)
}

fn write_run(out: &mut dyn Write, run: &Run) -> io::Result<()> {
    let of = &run.progress;
    let pages = show_counted(of.pages, "page");
    write_line(out, "this run", &format!("{pages} at {:.1}/s", of.pages_a_second))?;
    let requests = show_counted(of.in_flight, "request");
    let hosts = format!("{} active, {requests} in flight", show_count(of.active_hosts));
    write_line(out, "hosts", &hosts)?;
    run::lines(run).iter().try_for_each(|(label, text)| write_line(out, label, text))
}

fn write_learned(out: &mut dyn Write, learned: &LearnedView) -> io::Result<()> {
    learned::lines(learned).iter().try_for_each(|(label, text)| write_line(out, label, text))
}

/// Pauses shorter than this are not worth a word.
const PAUSE: Duration = Duration::from_secs(2);

const CENTURY: Duration = Duration::from_secs(100 * 366 * 86_400);

/// One line for a terminal or a log.
pub(crate) fn progress_line(progress: &Progress) -> String {
    let counters = &progress.counters;
    let seconds = progress.at.since(progress.began);
    let rate = progress.tally.pages as f64 / seconds.as_secs_f64().max(0.001);
    let changed = counters.changed(Change::Changed) + counters.changed(Change::Near);
    let waiting = progress.waiting_until.filter(|until| until.since(progress.at) > PAUSE);
    let waiting = match waiting {
        Some(until) if progress.day_used_up.is_some() => format!(
            "; the day's bytes are used up, the crawl continues in {}",
            show_duration(until.since(progress.at))
        ),
        Some(Time::NEVER) | None => String::new(),
        // Only a paused host waits without an end.
        Some(until) if until.since(progress.at) > CENTURY => {
            "; all that is due is paused".to_owned()
        }
        Some(until) => format!("; nothing is due for {}", show_duration(until.since(progress.at))),
    };
    let silent = silent_text(&progress.silent_hosts);
    let short = progress.ranked_by.map(RankedBy::from).and_then(short_of_memory);
    let short = short.map_or_else(String::new, |why| format!("; ranked {why}"));
    format!(
        "{}: {} known, {} waiting; this run {} visited at {rate:.1}/s, {} archived, {} active; \
         {} changed in all{silent}{waiting}{short}",
        show_duration(seconds),
        show_count(counters.pages),
        show_count(counters.by_status[0]),
        show_count(progress.tally.pages),
        show_size(progress.tally.archived),
        show_counted(progress.active_hosts as u64, "host"),
        show_count(changed),
    )
}

/// Hosts that do not answer, and why.
fn silent_text((named, all): &(Vec<(String, Outcome)>, usize)) -> String {
    let names: Vec<String> = named
        .iter()
        .map(|(host, outcome)| {
            format!("{} ({})", print::plain(host), run_end::cause_words(outcome.code()))
        })
        .collect();
    match (names.is_empty(), all.saturating_sub(names.len())) {
        (true, _) => String::new(),
        (false, 0) => format!("; no answer from {}", names.join(", ")),
        (false, more) => format!("; no answer from {} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(hosts: u64) -> WaitingHosts {
        WaitingHosts { hosts, new_pages: 0 }
    }

    #[test]
    fn what_hosts_wait_for_agrees_with_how_many_there_are() {
        let mut waiting = WaitingView { complete: true, ..WaitingView::default() };
        assert_eq!(waiting_text(&waiting), "nothing");
        waiting.turn = held(1);
        assert_eq!(
            waiting_text(&waiting),
            "1 host is queued (budget exhausted or other hosts first)"
        );
        (waiting.turn, waiting.paused, waiting.not_due) = (held(0), held(2), held(1));
        waiting.complete = false;
        let expected = "2 hosts are paused by you; 1 host has nothing due yet (at least)";
        assert_eq!(waiting_text(&waiting), expected);
    }

    #[test]
    fn hosts_that_do_not_answer_are_named_with_the_cause() {
        let silent = |hosts: &[(&str, Outcome)], all| {
            let hosts = hosts.iter().map(|(host, outcome)| ((*host).to_owned(), *outcome));
            silent_text(&(hosts.collect(), all))
        };
        assert_eq!(silent(&[], 0), "");
        let two = [("a.test", Outcome::Dns), ("b.test", Outcome::Tls)];
        let want = "; no answer from a.test (name not found), b.test (TLS failed)";
        assert_eq!(silent(&two, 2), want);
        assert_eq!(silent(&two, 9), format!("{want} and 7 more"));
    }

    #[test]
    fn freshness_is_given_only_where_it_means_something() {
        let mut fresh = FreshnessView {
            pages_held: 31,
            freshness: None,
            freshness_error: None,
            measurable: false,
            audits: 0,
            age_seconds: 0.0,
            changes_a_day: 0.0,
        };
        assert_eq!(freshness_text(&fresh), "not yet known (31 stored pages, too few revisits)");
        (fresh.freshness, fresh.freshness_error, fresh.measurable) = (Some(0.93), Some(0.21), true);
        fresh.audits = 1;
        assert_eq!(
            freshness_text(&fresh),
            "about 93.0 % (\u{b1}21.0) of 31 stored pages are current (1 audit, mean age 0 ms)"
        );
        fresh.pages_held = 0;
        assert_eq!(freshness_text(&fresh), "no page is stored yet");
    }
}
