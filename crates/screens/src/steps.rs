//! What do the steps of `why` say, in words?

use evercrawl_query::{
    HostView, Inputs, OverrideKind, RobotsStep, ScheduleStep, Step, VolatileStep, WaitsFor,
};

use crate::codes;
use crate::words::{count, figures, percent, plural, seconds, utc};

/// The name of a step.
pub(crate) fn name_of(what: &Inputs) -> &'static str {
    match what {
        Inputs::Known(_) => "Known",
        Inputs::Scope(_) => "Scope",
        Inputs::Robots(_) => "robots.txt",
        Inputs::Override(_) => "Override",
        Inputs::Formerly(_) => "Former addresses",
        Inputs::Moved(_) => "Moved",
        Inputs::Substitute(_) => "Substitute",
        Inputs::Visits(_) => "Visits",
        Inputs::Volatile(_) => "Noise",
        Inputs::Next(_) => "Next",
        Inputs::Mirror(_) => "Mirror",
        Inputs::ChangeRate(_) => "Change rate",
        Inputs::Importance(_) => "Importance",
        Inputs::NewLinks(_) => "New links",
        Inputs::Signals(_) => "Signals",
        Inputs::Value(_) => "Value",
        Inputs::Schedule(_) => "Schedule",
        Inputs::Spam(_) => "Spam",
        Inputs::Host(_) => "Host",
    }
}

/// What a step says, in a sentence.
pub(crate) fn words_of(step: &Step) -> String {
    match &step.what {
        Inputs::Known(known) if !known.known => "It was never seen.".to_owned(),
        Inputs::Known(known) => match &known.reason {
            Some(reason) => format!(
                "It is known; {}.",
                codes::refusal(reason).0.trim_end_matches('.').to_lowercase()
            ),
            None => format!(
                "It is known, {} from a seed.",
                plural(known.depth.unwrap_or(0).into(), "link")
            ),
        },
        Inputs::Scope(scope) => match (&scope.reason, &scope.rule) {
            (None, _) => "It lies within scope, and no rule refuses it.".to_owned(),
            (Some(reason), Some(rule)) => {
                format!("{} The rule: {rule}.", codes::refusal(reason.text()).0)
            }
            (Some(reason), None) => codes::refusal(reason.text()).0.to_owned(),
        },
        Inputs::Robots(robots) => robots_words(robots),
        Inputs::Override(set) => override_words(&set.what),
        Inputs::Formerly(formerly) => {
            format!("Pages that moved here: {}.", formerly.urls.join(", "))
        }
        Inputs::Moved(moved) => match &moved.to {
            Some(to) => format!("It moved to {to} (status {}).", moved.status),
            None => format!("It moved (status {}).", moved.status),
        },
        Inputs::Substitute(other) => format!(
            "{} is shown in its place{}{}.",
            codes::outcome(other.outcome.text()),
            if other.confirmed { ", confirmed" } else { ", not confirmed yet" },
            if other.copy_kept { "; the last good copy is kept" } else { "" }
        ),
        Inputs::Visits(visits) => format!(
            "{}; the last one ended with: {}. Of {} that could see a change, {} did.",
            plural(visits.visits.into(), "visit"),
            codes::outcome(visits.outcome.text()),
            count(visits.checks.into()),
            count(visits.changes.into())
        ),
        _ => words_of_schedule(step),
    }
}

/// What is known of the noise of a page.
fn volatile_words(volatile: &VolatileStep) -> String {
    let places = format!("What stands at {} is taken for noise.", plural(volatile.places, "place"));
    let doubt = "The last visit waits for a second look.";
    match (volatile.places, volatile.in_doubt) {
        (0, true) => doubt.to_owned(),
        (_, true) => format!("{places} {doubt}"),
        (_, false) => places,
    }
}

/// What a step says about noise, the next visit and the host.
fn words_of_schedule(step: &Step) -> String {
    match &step.what {
        Inputs::Volatile(volatile) => volatile_words(volatile),
        Inputs::Next(next) => next_words(next.waits, next.at.map(|at| utc(at.0))),
        Inputs::Mirror(mirror) => format!(
            "{} mirrors {}: {} of {} compared pages are alike.",
            mirror.host, mirror.original, mirror.alike, mirror.compared
        ),
        Inputs::ChangeRate(rate) => format!(
            "It changes about every {} (90\u{202f}%: {} to {}); by now it has changed with probability {}.",
            seconds(rate.interval_seconds),
            seconds(rate.interval_low_seconds),
            seconds(rate.interval_high_seconds),
            percent(rate.changed_probability)
        ),
        Inputs::Importance(importance) => match importance.times_average {
            Some(times) => format!("{} times the average page, by links.", figures(times)),
            None => format!("Not ranked yet; its freshness counts {}.", figures(importance.weight)),
        },
        Inputs::NewLinks(links) => {
            format!("It leads to {} new links a day.", figures(links.new_links_a_day))
        }
        Inputs::Signals(signals) => match signals.sources.is_empty() {
            true => "Nobody reports its changes.".to_owned(),
            false => signals
                .sources
                .iter()
                .map(|one| {
                    format!(
                        "{} is right {} of the time, and reports {} of the changes. ",
                        one.kind,
                        percent(one.precision),
                        percent(one.recall)
                    )
                })
                .collect(),
        },
        Inputs::Value(value) => match value.value_over_threshold {
            Some(times) => {
                format!("A visit now is worth {} times the threshold price.", figures(times))
            }
            None => "There is no threshold price yet.".to_owned(),
        },
        Inputs::Schedule(step) => format!("The time follows from this: {}.", schedule_words(step)),
        Inputs::Spam(spam) => format!(
            "Its host is taken for spam with probability {}: {}.",
            percent(spam.probability),
            spam.evidence
        ),
        Inputs::Host(host) => host_words(host),
        // The others were dealt with before.
        _ => String::new(),
    }
}

fn robots_words(robots: &RobotsStep) -> String {
    let line = robots
        .line
        .as_ref()
        .map(|line| format!(" Line {}: {}", line.number, line.text))
        .unwrap_or_default();
    match (robots.allowed, robots.fetched) {
        (Some(true), _) => format!("It allows the page.{line}"),
        (Some(false), _) => format!("It forbids the page.{line}"),
        (None, None) => "It was not fetched yet.".to_owned(),
        (None, Some(_)) => "It could not be fetched, so the host waits.".to_owned(),
    }
}

fn override_words(what: &OverrideKind) -> String {
    match what {
        OverrideKind::Pin { every_seconds, .. } => {
            format!("You pinned it: at least every {}.", seconds(*every_seconds))
        }
        OverrideKind::Boost { pattern, times } => {
            format!("You let `{pattern}` count {times} times.")
        }
        OverrideKind::Pause { host } => format!("You paused {host}."),
        OverrideKind::Trust { host } => format!("You trust {host}."),
        OverrideKind::Exclude { pattern } => format!("You excluded `{pattern}`."),
    }
}

fn next_words(waits: WaitsFor, at: Option<String>) -> String {
    let what = match waits {
        WaitsFor::FirstVisit => "It waits for its first visit",
        WaitsFor::NewVisit => "It waits for a new first visit",
        WaitsFor::Audit => "It was sampled for an audit, and comes first on its host",
        WaitsFor::Due => "It waits for its next visit",
        WaitsFor::Recheck => "There is little hope, but it is tried again",
        WaitsFor::Nothing => "It is not visited by itself",
    };
    at.map_or_else(|| format!("{what}."), |at| format!("{what}: {at}."))
}

fn host_words(host: &HostView) -> String {
    let until = host.blocked_until.or(host.next_allowed);
    match until {
        Some(until) => format!("{} may be asked again at {}.", host.host, utc(until.0)),
        None => format!(
            "{} may be asked now; its last answer took {}.",
            host.host,
            seconds(host.answer_ms as f64 / 1000.0)
        ),
    }
}

/// What bounds the time of the next visit.
pub(crate) fn schedule_words(step: &ScheduleStep) -> String {
    match step {
        ScheduleStep::Pause => "you paused its host".to_owned(),
        ScheduleStep::Pin { every_seconds } => {
            format!("your pin: at least every {}", seconds(*every_seconds))
        }
        ScheduleStep::FixedInterval => "all pages have the same fixed interval".to_owned(),
        ScheduleStep::HostPace { pages_before, pause_seconds } => format!(
            "its host is asked every {} and {} come before",
            seconds(*pause_seconds),
            plural(*pages_before, "page")
        ),
        ScheduleStep::MinInterval { seconds: length } => {
            format!("schedule.min_interval is {}", seconds(*length))
        }
        ScheduleStep::MaxInterval { seconds: length } => {
            format!("schedule.max_interval is {}", seconds(*length))
        }
        ScheduleStep::Budget { a_second, policy } => format!(
            "the policy {policy} divides {} requests a second by what a visit is worth",
            figures(*a_second)
        ),
    }
}
