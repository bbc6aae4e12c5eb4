//! How did it go? The same figures in words and as JSON.

use std::io::Write;
use std::time::Duration;

use evercrawl_engine::PlannerConfig;
use evercrawl_engine::freshness::Freshness;
use evercrawl_engine::importance::RankBasis;
use evercrawl_engine::live::Progress;
use evercrawl_engine::today::Today;
use evercrawl_engine::waiting::{Held, Waiting};
use evercrawl_engine::walk::Walk;
use evercrawl_model::{Change, LifeState, Outcome, Refusal, Time};
use evercrawl_state::{Counters, Store, View};
use serde_json::{Map, Value, json};

use crate::units::{show_count, show_duration, show_size};
use crate::{knowledge, print};

/// Totals of a data directory as JSON.
pub(crate) fn counters_json(counters: &Counters) -> Value {
    json!({
        "hosts": counters.hosts,
        "pages": counters.pages,
        "pages_by_state": states_json(counters),
        "visits": counters.visits,
        "visits_by_change": by_code(Change::ALL.map(|c| (c.code(), counters.changed(c)))),
        "visits_by_outcome": by_code(Outcome::ALL.map(|o| (o.code(), counters.ended(o)))),
        "unchanged": unchanged_json(counters),
        "refused_by_reason": by_code(Refusal::ALL.map(|r| (r.code(), counters.refused(r)))),
        "duplicates": counters.duplicates,
        "near_duplicates": counters.near_duplicates,
        "site_events": counters.site_events,
        "bytes_received": counters.bytes,
    })
}

/// Pages by where they are in their lives; by less where an earlier version counted.
fn states_json(counters: &Counters) -> Value {
    let [new, live, gone, refused] = counters.by_status;
    if counters.lives.is_none() {
        return json!({"new": new, "live": live, "gone": gone, "refused": refused});
    }
    let states = LifeState::ALL.map(|life| (life.code(), counters.living(life).unwrap_or(0)));
    states
        .into_iter()
        .map(|(code, count)| (code.to_owned(), count.into()))
        .collect::<Map<_, _>>()
        .into()
}

/// The same in words: those that pages usually are in, and what else there is.
pub(crate) fn states_line(states: &Value) -> String {
    let usual = ["live", "new", "gone", "refused"];
    let all =
        ["live", "failing", "new", "gone", "moved", "soft_404", "login_wall", "parked", "refused"];
    let told = all.into_iter().filter_map(|state| {
        let count = states[state].as_u64().unwrap_or(0);
        let shown = count > 0 || usual.contains(&state);
        shown.then(|| format!("{} {state}", show_count(count)))
    });
    told.collect::<Vec<_>>().join(", ")
}

fn unchanged_json(counters: &Counters) -> Value {
    let not_modified = counters.ended(Outcome::NotModified);
    let same_digest = same_digest(counters);
    json!({"not_modified": not_modified, "same_digest": same_digest, "noise": counters.noise})
}

/// Visits that brought the bytes that were held.
fn same_digest(counters: &Counters) -> u64 {
    let other = counters.ended(Outcome::NotModified) + counters.noise;
    counters.changed(Change::Same).saturating_sub(other)
}

fn by_code<const N: usize>(counts: [(&'static str, u64); N]) -> Value {
    let counted = counts.into_iter().filter(|(_, count)| *count > 0);
    counted
        .map(|(code, count)| (code.to_owned(), Value::from(count)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Freshness as JSON.
pub(crate) fn freshness_json(freshness: &Freshness) -> Value {
    json!({
        "pages_held": freshness.held,
        "fresh_estimated": freshness.fresh,
        "fresh_error": freshness.error,
        "audits": freshness.audits,
        "age_seconds_estimated": freshness.age_seconds,
        "changes_a_day_estimated": freshness.changes_a_day,
    })
}

/// What may be spent, and how it is divided.
pub(crate) fn plan_json(plan: &PlannerConfig, budget: Option<f64>) -> Value {
    json!({"policy": plan.policy, "budget_a_second": budget, "fixed_interval": plan.fixed})
}

fn basis(ranked_by: RankBasis) -> &'static str {
    match ranked_by {
        RankBasis::Links => "pagerank",
        RankBasis::Counts => "indegree",
        RankBasis::Nothing => "nothing",
    }
}

/// How a run is doing, as JSON: what is known at once, put beside what [`slow_json`] found out.
/// `lately` is how many requests a second there were.
pub(crate) fn run_json<S: Store>(
    progress: &Progress,
    walk: &Walk<S>,
    lately: f64,
    slow: &Value,
) -> Value {
    let mut run = progress_json(progress);
    let (plan, tally) = (walk.planner().plan(), &progress.tally);
    run["plan"] = plan_json(plan, progress.budget);
    run["plan"]["budget_used"] = json!(progress.budget.map(|rate| (lately / rate).min(1.0)));
    run["requests_a_second_lately"] = json!(lately);
    run["bytes_last_day"] = json!(walk.state().spending().received(progress.at));
    run["bytes_used_up_until"] = json!(progress.day_used_up.map(Time::rfc3339));
    run["first_visits"] = json!(tally.first);
    run["changes_found"] = json!(tally.changes);
    run["requests"] = json!({
        "due": tally.due,
        "ahead_of_time": tally.ahead,
        "audits": tally.audits,
        "mean_lag_seconds": tally.late_ms as f64 / 1000.0 / (tally.due.max(1)) as f64,
    });
    run["today"] = today_json(&walk.today(), walk.state());
    for (name, value) in slow.as_object().into_iter().flatten() {
        run[name] = value.clone();
    }
    run
}

/// What takes a walk through the sample or the front queues to find out: how fresh what a run holds is,
/// what waits, and what was learned.
pub(crate) fn slow_json<S: Store>(progress: &Progress, walk: &Walk<S>) -> Value {
    let [_, live, ..] = progress.counters.by_status;
    let fresh = walk.planner().freshness(live, progress.at);
    let mut slow = json!({
        "freshness": fresh.as_ref().map_or(Value::Null, freshness_json),
        "waiting": walk.waiting(progress.at).as_ref().map_or(Value::Null, waiting_json),
    });
    slow["mirrors"] = json!(walk.mirrors().count());
    slow["suspects"] = json!(walk.suspects().count());
    knowledge::add(&mut slow, walk.planner());
    slow
}

/// What was found today, as JSON.
pub(crate) fn today_json<S: Store>(today: &Today, state: &View<S>) -> Value {
    let last = today.last_site.and_then(|host| state.host(host).ok().flatten());
    json!({
        "site_events": today.site_events,
        "last_site": last.map(|row| row.authority),
        "visits": today.visits,
        "first_visits": today.first,
        "changes": today.changes,
        "gone": today.gone,
        "complete": today.complete,
    })
}

/// The same in words.
pub(crate) fn today_line(today: &Value) -> String {
    let count = |name: &str| show_count(today[name].as_u64().unwrap_or(0));
    let least = if today["complete"] == false { " at least" } else { "" };
    let (changes, gone) = (count("changes"), count("gone"));
    let (first, visits) = (count("first_visits"), count("visits"));
    let sites = match (today["site_events"].as_u64(), today["last_site"].as_str()) {
        (Some(1..), Some(host)) => {
            let events = count("site_events");
            format!(
                "; {events} times what all pages of a host show, last on {}",
                print::plain(host)
            )
        }
        _ => String::new(),
    };
    format!(
        "{changes} changes, {gone} gone, {first} first visits, of {visits} visits{least}{sites}"
    )
}

/// What waits, and for what, as JSON.
pub(crate) fn waiting_json(waiting: &Waiting) -> Value {
    let held = |held: Held| json!({"hosts": held.hosts, "new_pages": held.new_pages});
    json!({
        "turn": held(waiting.turn),
        "pace": held(waiting.pace),
        "back_off": held(waiting.back_off),
        "robots": held(waiting.robots),
        "paused": held(waiting.paused),
        "not_due": held(waiting.later),
        "complete": waiting.complete,
    })
}

/// The same in words: only what there is.
pub(crate) fn waiting_line(waiting: &Value) -> String {
    let reasons = [
        ("turn", "for the budget or their turn"),
        ("pace", "for their pace"),
        ("back_off", "in back-off"),
        ("robots", "for robots.txt"),
        ("paused", "paused"),
        ("not_due", "with nothing due yet"),
    ];
    let told = hosts_told(waiting, &reasons);
    match (told.is_empty(), waiting["complete"] == false) {
        (true, _) => "nothing".to_owned(),
        (false, false) => format!("hosts: {}", told.join(", ")),
        (false, true) => format!("hosts, at least: {}", told.join(", ")),
    }
}

/// How many hosts wait for each of these reasons, where any do.
fn hosts_told(waiting: &Value, reasons: &[(&str, &str)]) -> Vec<String> {
    let told = reasons.iter().filter_map(|(name, words)| {
        let hosts = waiting[*name]["hosts"].as_u64().filter(|hosts| *hosts > 0)?;
        Some(format!("{} {words}", show_count(hosts)))
    });
    told.collect()
}

/// How many hosts mirror others, where any do.
pub(crate) fn mirrors_line(count: u64) -> Option<String> {
    let hosts = match count {
        0 => return None,
        1 => "1 host holds".to_owned(),
        _ => format!("{} hosts hold", show_count(count)),
    };
    Some(format!(
        "  mirrors    {hosts} what another does; `evercrawl urls --reason mirror` lists what waits"
    ))
}

/// What the budget is, what becomes of it, and how fresh that keeps the pages.
pub(crate) fn plan_lines(run: &Value) -> Vec<String> {
    let float = |path: &str| run.pointer(path).and_then(Value::as_f64);
    let count = |path: &str| show_count(run.pointer(path).and_then(Value::as_u64).unwrap_or(0));
    let mut lines = Vec::new();
    if let (Some(fresh), Some(error)) =
        (float("/freshness/fresh_estimated"), float("/freshness/fresh_error"))
    {
        let (held, audits) = (count("/freshness/pages_held"), count("/freshness/audits"));
        let (fresh, error) = (100.0 * fresh, 100.0 * error);
        let age = float("/freshness/age_seconds_estimated").unwrap_or(0.0);
        let age = show_duration(Duration::try_from_secs_f64(age).unwrap_or_default());
        lines.push(format!(
            "  freshness  {fresh:.1} % \u{b1} {error:.1} of {held} pages, {audits} audits (mean age {age})"
        ));
    }
    lines.push(match (float("/plan/budget_a_second"), float("/plan/budget_used")) {
        (Some(rate), Some(used)) => {
            let (used, by) = (100.0 * used, divided_by(run));
            format!("  budget     {rate}/s, {used:.0} % of it used in the last minute, {by}")
        }
        _ => "  budget     none: every page waits as long as every other".to_owned(),
    });
    let lag = float("/requests/mean_lag_seconds").unwrap_or(0.0);
    lines.push(format!(
        "  spent      {} on new pages, {} on due ones ({} late on average), {} ahead of their time, \
         {} on audits",
        count("/first_visits"),
        count("/requests/due"),
        show_duration(Duration::try_from_secs_f64(lag).unwrap_or_default()),
        count("/requests/ahead_of_time"),
        count("/requests/audits"),
    ));
    lines.extend(left_line(run));
    let (new, changes) = (count("/first_visits"), count("/changes_found"));
    lines.push(format!("  found      {new} new pages and {changes} changes in this run"));
    lines
}

/// How a budget is divided over pages, in words; `status` has the plan.
pub(crate) fn divided_by(status: &Value) -> String {
    if status.pointer("/plan/fixed_interval") == Some(&Value::Bool(true)) {
        return "as a bound: every page has the same interval (schedule.recrawl)".to_owned();
    }
    let policy = status.pointer("/plan/policy").and_then(Value::as_str).unwrap_or("?");
    format!("by policy {policy}")
}

/// What of the budget is not spent, and why, where it is more than a little.
fn left_line(run: &Value) -> Option<String> {
    let left = 100.0 * (1.0 - run.pointer("/plan/budget_used")?.as_f64()?);
    if left < 2.0 {
        return None;
    }
    let reasons = [
        ("turn", "waiting for their turn"),
        ("pace", "at their pace"),
        ("back_off", "in back-off"),
        ("robots", "waiting for robots.txt"),
        ("paused", "paused"),
        ("not_due", "without a page that is worth a visit by now"),
    ];
    let told = hosts_told(&run["waiting"], &reasons);
    let why = match (run["bytes_used_up_until"].is_string(), told.is_empty()) {
        (true, _) => "the bytes of a day are used up".to_owned(),
        (false, true) => "nothing waits to be fetched".to_owned(),
        (false, false) => format!("hosts: {}", told.join(", ")),
    };
    Some(format!("  left       {left:.0} % of the budget: {why}"))
}

/// How a run is doing, as JSON.
pub(crate) fn progress_json(progress: &Progress) -> Value {
    let seconds = progress.at.since(progress.began).as_secs_f64();
    let within = |share| u64::try_from(progress.next.within(share).as_micros()).unwrap_or(u64::MAX);
    json!({
        "at": progress.at.rfc3339(),
        "seconds": seconds,
        "pages": progress.tally.pages,
        "pages_a_second": progress.tally.pages as f64 / seconds.max(0.001),
        "robots": progress.tally.robots,
        "bytes": progress.tally.bytes,
        "bytes_archived": progress.tally.archived,
        "in_flight": progress.in_flight,
        "next_us": {"p50": within(0.5), "p99": within(0.99), "most": within(1.0)},
        "active_hosts": progress.active_hosts,
        "ranked_by": progress.ranked_by.map(basis),
        "total": counters_json(&progress.counters),
    })
}

/// Pauses shorter than this are not worth a word.
const PAUSE: Duration = Duration::from_secs(2);

const CENTURY: Duration = Duration::from_secs(100 * 366 * 86_400);

/// How pages are ranked otherwise than was asked for, since links take more memory than they may.
pub(crate) fn short_of_memory(ranked_by: &str) -> Option<&'static str> {
    match ranked_by {
        "indegree" => {
            Some("pages count by how many link to them: all links take more than `links.memory`")
        }
        "nothing" => Some("pages are not ranked: so many take more than `links.memory`"),
        _ => None,
    }
}

/// One line for a terminal or a log.
pub(crate) fn progress_line(progress: &Progress) -> String {
    let counters = &progress.counters;
    let seconds = progress.at.since(progress.began);
    let rate = progress.tally.pages as f64 / seconds.as_secs_f64().max(0.001);
    let changed = counters.changed(Change::Changed) + counters.changed(Change::Near);
    let waiting = progress.waiting_until.filter(|until| until.since(progress.at) > PAUSE);
    let waiting = match waiting {
        Some(until) if progress.day_used_up.is_some() => format!(
            "; the bytes of a day are used up, it goes on in {}",
            show_duration(until.since(progress.at))
        ),
        Some(Time::NEVER) | None => String::new(),
        // Only a paused host waits without an end.
        Some(until) if until.since(progress.at) > CENTURY => {
            "; all that is due is paused".to_owned()
        }
        Some(until) => format!("; nothing is due for {}", show_duration(until.since(progress.at))),
    };
    let short = progress.ranked_by.map(basis).and_then(short_of_memory);
    let short = short.map_or_else(String::new, |why| format!("; {why}"));
    format!(
        "{}: {} known, {} waiting; this run {} visited at {rate:.1}/s, {} archived, {} hosts active; \
         {} changed in all{waiting}{short}",
        show_duration(seconds),
        show_count(counters.pages),
        show_count(counters.by_status[0]),
        show_count(progress.tally.pages),
        show_size(progress.tally.archived),
        show_count(progress.active_hosts as u64),
        show_count(changed),
    )
}

/// The totals in words.
pub(crate) fn write_counters(out: &mut impl Write, counters: &Counters) -> std::io::Result<()> {
    let count = |change| show_count(counters.changed(change));
    let not_modified = counters.ended(Outcome::NotModified);
    let (pages, hosts) = (show_count(counters.pages), show_count(counters.hosts));
    writeln!(out, "  found      {pages} pages on {hosts} hosts")?;
    writeln!(out, "  state      {}", states_line(&states_json(counters)))?;
    writeln!(
        out,
        "  visits     {}: {} first, {} changed, {} nearly the same, {} gone, {} failed",
        show_count(counters.visits),
        count(Change::New),
        count(Change::Changed),
        count(Change::Near),
        count(Change::Gone),
        count(Change::Failed),
    )?;
    let by_304 = show_count(not_modified);
    let (by_digest, noise) = (show_count(same_digest(counters)), show_count(counters.noise));
    writeln!(
        out,
        "  unchanged  {by_304} by 304, {by_digest} by equal digest, {noise} but for noise"
    )?;
    let (exact, near) = (show_count(counters.duplicates), show_count(counters.near_duplicates));
    writeln!(out, "  duplicates {exact} exact (not stored again), {near} near (marked)")?;
    write_refusals(out, counters)
}

fn write_refusals(out: &mut impl Write, counters: &Counters) -> std::io::Result<()> {
    let mut reasons: Vec<(u64, &str)> =
        Refusal::ALL.iter().map(|&r| (counters.refused(r), r.code())).collect();
    reasons.retain(|(count, _)| *count > 0);
    reasons.sort_unstable_by(|a, b| b.cmp(a));
    let words: Vec<String> =
        reasons.iter().map(|(count, code)| format!("{code} {}", show_count(*count))).collect();
    let words = if words.is_empty() { "nothing".to_owned() } else { words.join(", ") };
    writeln!(out, "  refused    {words}")
}

/// How fresh the collection is, in words.
pub(crate) fn freshness_line(freshness: &Freshness) -> String {
    if freshness.held == 0 {
        return "no page is held yet".to_owned();
    }
    let age = Duration::try_from_secs_f64(freshness.age_seconds).unwrap_or_default();
    format!(
        "{:.1} % ± {:.1} of {} pages held are as on the web now, by estimate{} (mean age {})",
        100.0 * freshness.fresh,
        100.0 * freshness.error,
        show_count(freshness.held),
        match freshness.audits {
            0 => String::new(),
            audits => format!(" and {audits} audits"),
        },
        show_duration(age)
    )
}
