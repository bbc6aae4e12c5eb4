//! `evercrawl why`: where a URL is in the walk and why; also for URLs never seen.

use std::io::Write;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use evercrawl_compare::PageMemory;
use evercrawl_engine::frontier::AUDIT_DUE;
use evercrawl_engine::importance::weight_of_importance;
use evercrawl_engine::links::LinkReader;
use evercrawl_engine::live::SystemClock;
use evercrawl_engine::mirrors::{Mirrors, find_stand_in};
use evercrawl_engine::overrides::Overrides;
use evercrawl_engine::walk::{keeps_waiting, read_robots, scope};
use evercrawl_engine::{Planner, PlannerConfig};
use evercrawl_model::{Outcome, PageKey, Refusal, Time};
use evercrawl_state::{HostRow, Lane, PageRow, PageStatus, Place};
use evercrawl_urls::{Canonical, Scope, UrlFilter};
use serde_json::{Value, json};

use super::Opened;
use super::moved;
use super::overrides;
use super::suspected::Suspected;
use super::urls::{self, Pages};
use crate::args::{RunArgs, Why};
use crate::units::{show_count, show_duration};
use crate::{crawl_config, exit, knowledge, print};

/// Seeds up to this number are read to tell whether a page that is known is still in scope.
const SEEDS_READ: usize = 1000;

/// One thing to know about a URL: what about it, and in words.
struct Fact(&'static str, String);

/// Shows where the URL is and why.
pub(crate) fn show(args: &Why, opened: &Opened, out: &mut dyn Write) -> anyhow::Result<u8> {
    let url = super::canonical(&opened.settings, &args.url)?;
    let now = SystemClock.now();
    let host = super::host_of(&opened.state, &url);
    let (key, page) = opened.state.find(host, url.as_str())?.unzip();
    let mut facts = vec![Fact("url", url.as_str().to_owned())];
    facts.push(match &page {
        Some(row) => Fact("state", urls::state_of(row, now).to_owned()),
        None => Fact("state", "never seen".to_owned()),
    });
    let overrides = Overrides::read(&opened.state)?;
    facts.push(scope_fact(opened, &url, page.as_ref(), &overrides, now)?);
    facts.push(robots_fact(opened, &url)?);
    let standing = overrides::standing(opened, url.as_str(), host, key)?;
    if !standing.is_empty() {
        facts.push(Fact("wishes", standing.join("; ")));
    }
    let suspected = Suspected::read(opened, host)?;
    let mut pages = Pages::new(&opened.state, now)?;
    let mut described = Value::Null;
    if let (Some(key), Some(row)) = (key, &page) {
        if let Some(reason) = pages.reason(key, row)? {
            facts.push(Fact("reason", reason.to_owned()));
        }
        let waits = next_words(row, now);
        let left_out = suspected.as_ref().and_then(|host| host.next(key, row, &overrides, &waits));
        facts.extend(page_facts(opened, key, row, now)?);
        facts.push(Fact("next", left_out.clone().unwrap_or(waits)));
        facts.extend(held_fact(opened, key, row)?);
        facts.extend(plan_facts(opened, key, row, now, left_out.is_none())?);
        described = pages.describe(key, row)?;
        if left_out.is_some() {
            described["next_due"] = Value::Null;
        }
    }
    facts.extend(suspected.map(|host| Fact("spam", host.words())));
    if let Some(row) = opened.state.host(host)? {
        facts.extend(host_facts(&row, now));
    }
    write(args, &facts, described, out)
}

/// Words for people; for programs also the page as `urls` describes it.
fn write(args: &Why, facts: &[Fact], described: Value, out: &mut dyn Write) -> anyhow::Result<u8> {
    if args.json {
        let mut object: serde_json::Map<String, Value> =
            facts.iter().map(|Fact(name, words)| ((*name).to_owned(), json!(words))).collect();
        object.insert("page".to_owned(), described);
        print::json_line(out, &object.into())?;
    } else {
        for Fact(name, words) in facts {
            writeln!(out, "{name:<12} {}", print::plain(words))?;
        }
    }
    Ok(exit::OK)
}

fn scope_fact(
    opened: &Opened,
    url: &Canonical,
    page: Option<&PageRow>,
    overrides: &Overrides,
    now: Time,
) -> anyhow::Result<Fact> {
    let config = crawl_config::walk_config(&opened.settings, &RunArgs::default())?;
    // A seed is in scope by itself, and where there are too many seeds to read, so is what was found.
    let found = page.is_some_and(|row| row.seed || opened.state.seeds().nth(SEEDS_READ).is_some());
    let scope = if found {
        let mut alone = Scope::new(config.scope);
        alone.add(url);
        alone
    } else {
        scope(config.scope, &opened.state)?
    };
    let gate = Arc::new(RwLock::new(UrlFilter::new(scope, overrides.rules(&config.rules))?));
    let links = LinkReader::new(&config.reading, gate, opened.state.keyer());
    let depth = page.map_or(0, |row| row.depth);
    Ok(Fact(
        "rules",
        match links.verdict(url, depth, now) {
            Ok(()) => "in scope, and no filter or trap rule refuses it".to_owned(),
            Err((reason, words)) => format!("refused: {reason} ({words})"),
        },
    ))
}

fn robots_fact(opened: &Opened, url: &Canonical) -> anyhow::Result<Fact> {
    let Some(copy) = opened.state.robots(url.origin())? else {
        return Ok(Fact("robots", "not fetched yet; asked before the first page".to_owned()));
    };
    let agent = opened.settings.items("identity.agent").first().cloned().unwrap_or_default();
    let robots = read_robots(&copy, &agent);
    let verdict = robots.verdict(url.path_and_query());
    let allowed = if verdict.allowed { "allowed" } else { "disallowed" };
    let line = verdict.line.map_or("no line applies".to_owned(), |line| {
        format!("line {} `{}`", line.number, line.text)
    });
    let status =
        if copy.status == 0 { "no answer".to_owned() } else { format!("status {}", copy.status) };
    if keeps_waiting(&copy) {
        let until = format!("asked for again at {}", copy.expires);
        return Ok(Fact("robots", format!("robots_unreachable: {status} at {}; {until}", copy.at)));
    }
    Ok(Fact("robots", format!("{allowed}: {line} ({status}, fetched {})", copy.at)))
}

fn page_facts(
    opened: &Opened,
    key: PageKey,
    row: &PageRow,
    now: Time,
) -> anyhow::Result<Vec<Fact>> {
    let mut facts = Vec::new();
    let via = match row.via {
        Some(key) => opened.state.reading().url(key)?,
        None => None,
    };
    let origin = via.map_or("a seed or a list".to_owned(), |via| format!("a link on {via}"));
    let links = if row.depth == 1 { "link" } else { "links" };
    let found = format!("{} by {origin}, {} {links} from a seed", row.found, row.depth);
    facts.push(Fact("found", found));
    let formers = moved::formers(opened, key, row)?;
    let formers: Vec<&str> = formers.iter().map(|(_, former)| former.url.as_str()).collect();
    if !formers.is_empty() {
        facts.push(Fact("formerly", format!("{}, which moved here for good", formers.join(", "))));
    }
    facts.extend(elsewhere(opened, row)?);
    if let Some(past) = &row.past {
        facts.push(Fact(
            "visits",
            format!(
                "{}, the last {} ago: {} {}; {} of {} checks saw a change",
                past.visits,
                show_duration(now.since(past.last_visit)),
                past.outcome.code(),
                past.status,
                past.changes,
                past.checks,
            ),
        ));
    }
    let memory = row.past.as_ref().and_then(|past| past.memory.as_deref());
    if let Some(noise) = memory.and_then(PageMemory::from_bytes).and_then(|memory| noise(&memory)) {
        facts.push(Fact("overlooked", noise));
    }
    Ok(facts)
}

/// When a page is visited next.
fn next_words(row: &PageRow, now: Time) -> String {
    match row.place {
        Some(Place::New(band, turn)) => {
            let visit = if row.past.is_some() { "a new" } else { "its first" };
            format!("waits for {visit} visit in front queue {} (turn {turn})", band.number())
        }
        Some(Place::Due(AUDIT_DUE)) => {
            "before all others of its host: it was drawn for an audit".to_owned()
        }
        Some(Place::Due(at) | Place::Recheck(at)) if at <= now => {
            format!("due since {}", show_duration(now.since(at)))
        }
        Some(Place::Due(at)) => format!("due at {at}, in {}", show_duration(at.since(now))),
        Some(Place::Recheck(at)) => {
            format!("looked for again at {at}, in {}", show_duration(at.since(now)))
        }
        None => "never by itself".to_owned(),
    }
}

/// For which page of another host a page of a mirror waits.
fn held_fact(opened: &Opened, key: PageKey, row: &PageRow) -> anyhow::Result<Option<Fact>> {
    let waits = row.status == PageStatus::Refused(Refusal::Mirror);
    let Some(likeness) = opened.state.likeness(key.host)?.filter(|_| waits) else {
        return Ok(None);
    };
    let name = |host| -> anyhow::Result<String> {
        Ok(opened.state.host(host)?.map_or_else(String::new, |row| row.authority))
    };
    let (mirror, original) = (name(key.host)?, name(likeness.compared_with)?);
    let mirrors = Mirrors::read(&opened.state)?;
    let instead = match find_stand_in(&opened.state, &mirrors, key, row, |_| true)? {
        Some(other) => format!("{} is fetched instead", other.url),
        None => "it comes back with the next crawl".to_owned(),
    };
    let words = format!(
        "{mirror} mirrors {original} ({} of {} pages compared are alike); {instead}; \
         `evercrawl trust {mirror}` fetches both",
        likeness.alike_pages, likeness.compared_pages
    );
    Ok(Some(Fact("on hold", words)))
}

/// What is in the page's place, or where it went.
fn elsewhere(opened: &Opened, row: &PageRow) -> anyhow::Result<Option<Fact>> {
    let Some(past) = &row.past else { return Ok(None) };
    if row.is_moved() {
        let target = moved::target(opened, row)?;
        let target = target.map_or("an unknown address".to_owned(), Canonical::into_string);
        let words = format!("for good ({}) to {target}; its own history is kept", past.status);
        return Ok(Some(Fact("moved", words)));
    }
    let words = match past.outcome {
        Outcome::SoftGone => "what its host shows for an address that does not exist",
        Outcome::LoginWall => "a form that asks for a password",
        Outcome::Parked => "the offer of a parked domain",
        _ => return Ok(None),
    };
    let sure = if row.status == PageStatus::Gone { "" } else { "perhaps " };
    let held = if past.digest.is_some() { "; the last good copy is kept" } else { "" };
    Ok(Some(Fact("in its place", format!("{sure}{words}{held}"))))
}

/// What of a page differs again and again and is no change, in words.
fn noise(memory: &PageMemory) -> Option<String> {
    let parts = [
        (memory.ticking_passages(), "passages that tick, as clocks and counters do"),
        (memory.rotating_places(), "places where passages take turns"),
    ];
    let told = parts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = told.map(|(count, what)| format!("{count} {what}")).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// What the planner says of a page, by name.
struct Reasons(Vec<(&'static str, f64)>);

impl Reasons {
    fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
    }
}

/// What is believed of the page, and why it is visited when it is, if it is.
fn plan_facts(
    opened: &Opened,
    key: PageKey,
    row: &PageRow,
    now: Time,
    visited: bool,
) -> anyhow::Result<Vec<Fact>> {
    let planner = super::planner_at_once(opened)?;
    let reasons = Reasons(planner.explain_policy(key, row, now));
    let mut facts = change_facts(&reasons, row);
    facts.extend(importance(planner.plan(), row));
    if let Some(links) = reasons.get("new links a day").filter(|links| *links >= 0.01) {
        facts.push(Fact("leads", format!("to about {links:.2} new pages a day")));
    }
    if let Some(line) = knowledge::signals_line(&planner, key.host) {
        facts.push(Fact("signals", line));
    }
    // Else its turn among new pages, or that it is not to be visited, is told already.
    if visited && matches!(row.place, Some(Place::Due(_))) {
        facts.extend(worth(&planner, &reasons, key, row, now));
        facts.push(Fact("bound by", bound_by(opened, &planner, key, row, now)?));
    }
    Ok(facts)
}

/// How often the page changes, and how much of it.
fn change_facts(reasons: &Reasons, row: &PageRow) -> Vec<Fact> {
    let rates = ["rate", "rate high", "rate low"].map(|name| reasons.get(name));
    let ([Some(rate), Some(high), Some(low)], true) = (rates, row.held()) else {
        return Vec::new();
    };
    let [usual, often, seldom] = [rate, high, low].map(|rate| show_duration(days(1.0 / rate)));
    let changed = 100.0 * reasons.get("chance of a change").unwrap_or_default();
    let words = format!(
        "about every {usual} (90 %: {often} to {seldom}); {changed:.0} % likely to have changed by now"
    );
    let mut facts = vec![Fact("changes", words)];
    let news = row.past.as_ref().map_or(0.0, |past| past.noted.news);
    if news > 0.0 {
        let share = format!("{:.1} % of its text is news when it changes", 100.0 * news);
        facts.push(Fact("a change", share));
    }
    facts
}

/// What a fetch is worth now against what it must be, where a budget is divided.
fn worth(
    planner: &Planner,
    reasons: &Reasons,
    key: PageKey,
    row: &PageRow,
    now: Time,
) -> Option<Fact> {
    planner.plan().rate.filter(|_| row.held())?;
    // As if it had just been visited: how long it waits from then on.
    let visited = row.past.as_ref().and_then(|past| past.last_look).unwrap_or(now);
    let interval = Reasons(planner.explain_policy(key, row, visited)).get("interval")?;
    let share = match 100.0 * reasons.get("worth now")? / reasons.get("threshold")? {
        share if share < 1000.0 => format!("{share:.0} % of what"),
        _ => "far more than".to_owned(),
    };
    let interval = show_duration(days(interval));
    let words =
        format!("a fetch now is worth {share} it must be; that takes {interval} after a visit");
    Some(Fact("worth", words))
}

/// What the page waits for.
fn bound_by(
    opened: &Opened,
    planner: &Planner,
    key: PageKey,
    row: &PageRow,
    now: Time,
) -> anyhow::Result<String> {
    if planner.overrides().is_paused(key.host) {
        return Ok("the pause of its host; `evercrawl resume` with the host ends it".to_owned());
    }
    if let Some(every) = binding_pin(planner.overrides(), key, row) {
        return Ok(format!("its pin: every {}", show_duration(every)));
    }
    let Some(rate) = planner.plan().rate else {
        return Ok("the fixed interval (schedule.recrawl)".to_owned());
    };
    let interval =
        || bound_of_interval(planner.plan(), planner.revisit_interval(key, row, now), rate);
    Ok(host_pace(opened, key, row, now)?.unwrap_or_else(interval))
}

/// How much the page matters by links, where that counts.
fn importance(plan: &PlannerConfig, row: &PageRow) -> Option<Fact> {
    let words = match row.importance.ratio().filter(|_| plan.importance) {
        Some(times) => format!(
            "{times:.2} times the average page's, by {}; its freshness counts x{:.2}",
            match (plan.by_cash, row.past.is_some()) {
                (true, true) => "OPIC over the links kept",
                (true, false) => "the cash that it has so far (OPIC)",
                (false, _) => "the links kept",
            },
            weight_of_importance(row.importance)
        ),
        None if plan.importance => {
            "not ranked yet; its freshness counts as the average page's".to_owned()
        }
        None => return None,
    };
    Some(Fact("importance", words))
}

/// Pages of a host that are counted before one of them.
const COUNTED: usize = 10_000;

/// The pace of a page's host, where that is what the page waits for: those of its host that are due before
/// it take longer at that pace than it has to wait, and not less than it has waited already.
fn host_pace(
    opened: &Opened,
    key: PageKey,
    row: &PageRow,
    now: Time,
) -> anyhow::Result<Option<String>> {
    let (Some(Place::Due(due)), Some(host)) = (row.place, opened.state.host(key.host)?) else {
        return Ok(None);
    };
    let before = opened.state.lane(key.host, Lane::Due, (0, 0), due.millis(), COUNTED)?.len();
    let config = crawl_config::walk_config(&opened.settings, &RunArgs::default())?;
    let url = Canonical::from_trusted(row.url.clone());
    let copy = url.map(|url| opened.state.robots(url.origin())).transpose()?.flatten();
    let asked = copy.and_then(|copy| read_robots(&copy, &config.reading.agent).crawl_delay());
    let pause = config.frontier.pace.host_pause(asked, host.answer_time);
    let takes = pause.saturating_mul(u32::try_from(before).unwrap_or(u32::MAX));
    let waits = now.after(takes) > due && now.since(due) <= takes.saturating_add(pause);
    let (before, pause) = (show_count(before as u64), show_duration(pause));
    let words =
        format!("the pace of its host: {before} of its pages are due before, one every {pause}");
    Ok((waits && before != "0").then_some(words))
}

/// What decides how long a page waits from visit to visit, where that is `interval`.
fn bound_of_interval(plan: &PlannerConfig, interval: Duration, rate: f64) -> String {
    if interval <= plan.shortest {
        return format!("schedule.min_interval, {}", show_duration(plan.shortest));
    }
    match plan.longest {
        Some(longest) if interval >= longest => {
            format!("schedule.max_interval, {}", show_duration(longest))
        }
        _ => format!("the budget of {rate}/s, by policy {}", plan.policy),
    }
}

/// The interval of a page's pin, where the page would wait longer without it.
fn binding_pin(overrides: &Overrides, key: PageKey, row: &PageRow) -> Option<Duration> {
    let (every, past) = (overrides.pin_interval(key)?, row.past.as_ref()?);
    let Some(Place::Due(due)) = row.place else { return None };
    (due.since(past.last_visit) >= every).then_some(every)
}

fn days(days: f64) -> Duration {
    Duration::try_from_secs_f64(days * 86_400.0).unwrap_or(Duration::MAX)
}

fn host_facts(row: &HostRow, now: Time) -> Vec<Fact> {
    let mut facts = vec![Fact(
        "host",
        format!(
            "{}: {} pages known, {} never visited, last answer took {}",
            row.authority,
            row.known,
            row.waiting,
            show_duration(row.answer_time),
        ),
    )];
    if row.blocked_until > now {
        let pause = show_duration(row.blocked_until.since(now));
        facts.push(Fact(
            "blocked",
            format!("left alone for {pause} more after {} failures", row.failures),
        ));
    } else if row.next_allowed > now {
        let pause = show_duration(row.next_allowed.since(now));
        facts.push(Fact("politeness", format!("may be asked again in {pause}")));
    }
    facts
}
