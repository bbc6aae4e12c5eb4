//! How does a step of `why` read?

use evercrawl_model::{Outcome, Time};
use evercrawl_query::{
    ChangeRateStep, HostView, ImportanceBasis, ImportanceStep, Inputs, KnownStep, MirrorStep,
    NextStep, OverrideKind, OverrideView, RobotsStep, ScheduleStep, ScopeStep, SignalsStep,
    SpamAction, SpamEffect, SpamStep, Step, SubstituteStep, ValueStep, VisitsStep, VolatileStep,
    WaitsFor,
};

use crate::units::{show_count, show_counted, show_duration, show_seconds};

type Line = (&'static str, String);

/// What the words of a step need besides the step.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// When it was asked.
    pub(super) now: Time,
    /// The page's host, where it is taken for spam.
    pub(super) spam_host: Option<&'a str>,
}

/// The lines of a step.
pub(super) fn of_step(step: &Step, context: Context<'_>) -> Vec<Line> {
    let now = context.now;
    match &step.what {
        Inputs::Known(of) => known(of),
        Inputs::Scope(of) => vec![("rules", scope(of))],
        Inputs::Robots(of) => vec![("robots", robots(of))],
        Inputs::Override(of) => vec![("override", user_override(of))],
        Inputs::Formerly(of) => {
            vec![("formerly", format!("{}, which moved here permanently", of.urls.join(", ")))]
        }
        Inputs::Moved(of) => {
            let to = of.to.as_deref().unwrap_or("an unknown address");
            vec![("moved", format!("permanently ({}) to {to}; its own history is kept", of.status))]
        }
        Inputs::Substitute(of) => vec![("in its place", substitute(of))],
        Inputs::Visits(of) => vec![("visits", visits(of, now))],
        Inputs::Volatile(of) => vec![("ignored", volatile(of))],
        Inputs::Next(of) => vec![("next", next(of, context))],
        Inputs::Mirror(of) => vec![("on hold", mirror(of))],
        Inputs::ChangeRate(of) => change_rate(of),
        Inputs::Importance(of) => vec![("importance", importance(of))],
        Inputs::NewLinks(of) => {
            vec![("leads", format!("to about {:.2} new pages a day", of.new_links_a_day))]
        }
        Inputs::Signals(of) => vec![("signals", signals(of))],
        Inputs::Value(of) => vec![("value", value(of))],
        Inputs::Schedule(of) => vec![("bound by", schedule(of))],
        Inputs::Spam(of) => vec![("spam", spam(of))],
        Inputs::Host(of) => host(of, now),
    }
}

fn known(of: &KnownStep) -> Vec<Line> {
    let mut lines = Vec::new();
    lines.extend(of.reason.as_ref().map(|reason| ("reason", reason.clone())));
    if let (Some(found), Some(depth)) = (of.found, of.depth) {
        let origin = of.via.as_ref().map(|via| format!("a link on {via}"));
        let origin = origin.unwrap_or("a seed or a list".to_owned());
        let links = show_counted(depth.into(), "link");
        lines.push(("found", format!("{found} by {origin}, {links} from a seed")));
    }
    lines
}

fn scope(of: &ScopeStep) -> String {
    match (of.reason, &of.rule) {
        (None, _) => "in scope, and no filter or trap rule refuses it".to_owned(),
        (Some(reason), Some(rule)) => format!("refused: {reason} ({rule})"),
        (Some(reason), None) => format!("refused: {reason}"),
    }
}

fn robots(of: &RobotsStep) -> String {
    let Some(fetched) = of.fetched else {
        return "not fetched yet; requested before the first page".to_owned();
    };
    let status =
        of.status.map_or("no usable answer".to_owned(), |status| format!("status {status}"));
    let Some(allowed) = of.allowed else {
        let retry = of.retry_at.map_or(String::new(), |at| format!("; next try at {at}"));
        return format!("robots_unreachable: {status} at {fetched}{retry}");
    };
    let allowed = if allowed { "allowed" } else { "disallowed" };
    let line = of.line.as_ref().map_or("no rule applies".to_owned(), |line| {
        format!("line {} `{}`", line.number, line.text)
    });
    format!("{allowed}: {line} ({status}, fetched {fetched})")
}

fn user_override(of: &OverrideView) -> String {
    let what = match &of.what {
        OverrideKind::Pin { every_seconds, .. } => {
            format!("pinned: visited at least every {}", show_seconds(*every_seconds))
        }
        OverrideKind::Boost { pattern, times } => {
            format!("boosted: pages matching `{pattern}` weigh {times}x")
        }
        OverrideKind::Pause { host } => format!("{host} is paused"),
        OverrideKind::Trust { host } => format!("{host} is trusted"),
        OverrideKind::Exclude { pattern } => format!("excluded: matches `{pattern}`"),
    };
    format!("{what}, since {}", of.since)
}

fn substitute(of: &SubstituteStep) -> String {
    let what = match of.outcome.0 {
        Outcome::SoftGone => "what its host shows for an address that does not exist",
        Outcome::LoginWall => "a form that asks for a password",
        _ => "the offer of a parked domain",
    };
    let sure = if of.confirmed { "" } else { "perhaps " };
    let kept = if of.copy_kept { "; the last good copy is kept" } else { "" };
    format!("{sure}{what}{kept}")
}

fn visits(of: &VisitsStep, now: Time) -> String {
    format!(
        "{}, the last {} ago: {} {}{}; {} of {} saw a change{}",
        show_count(of.visits.into()),
        show_duration(now.since(of.last_visit.0)),
        of.outcome,
        of.status.unwrap_or(0),
        of.cause.map_or(String::new(), |cause| format!(" ({cause}: {})", cause.0.words())),
        show_count(of.changes.into()),
        show_counted(of.checks.into(), "check"),
        if of.cut {
            "; the copy held is cut, and is replaced once the page arrives whole"
        } else {
            ""
        },
    )
}

fn volatile(of: &VolatileStep) -> String {
    let places = format!("differences in {} of noise", show_counted(of.places, "place"));
    let doubt = "the last visit is in doubt: a second look decides";
    let parts = [(of.places > 0, places), (of.in_doubt, doubt.to_owned())];
    let parts: Vec<String> = parts.into_iter().filter(|part| part.0).map(|part| part.1).collect();
    parts.join("; ")
}

fn next(of: &NextStep, context: Context<'_>) -> String {
    let usual = next_visit(of, context.now);
    let host = context.spam_host.unwrap_or("its host");
    let until = format!("not fetched while {host} is taken for spam");
    match of.spam {
        None => usual,
        Some(SpamEffect::PutAside) => format!(
            "{until}: it is put aside, and what was archived of it stays; `evercrawl trust {host}` brings it \
             back to where it was"
        ),
        Some(SpamEffect::ToBePutAside) => format!(
            "{until}: it is put aside when it comes up ({usual}); `evercrawl trust {host}` lets it be fetched then"
        ),
        Some(SpamEffect::Returns) => "comes back to where it was once a crawl runs".to_owned(),
    }
}

fn next_visit(of: &NextStep, now: Time) -> String {
    let at = of.at.map_or(now, |at| at.0);
    let (late, wait) = (show_duration(now.since(at)), show_duration(at.since(now)));
    let queue = of.band.zip(of.sequence).map_or(String::new(), |(band, sequence)| {
        format!(" in front queue {band} (sequence {sequence})")
    });
    match of.waits {
        WaitsFor::FirstVisit => format!("waits for its first visit{queue}"),
        WaitsFor::NewVisit => format!("waits for a new visit{queue}"),
        WaitsFor::Audit => "before all other pages of its host: sampled for an audit".to_owned(),
        WaitsFor::Due | WaitsFor::Recheck if at <= now => format!("due {late} ago"),
        WaitsFor::Due => format!("due at {at}, in {wait}"),
        WaitsFor::Recheck => format!("tried again at {at}, in {wait}"),
        WaitsFor::Nothing => "never by itself".to_owned(),
    }
}

fn mirror(of: &MirrorStep) -> String {
    let MirrorStep { host, original, alike, compared, instead } = of;
    let instead = instead.as_ref().map_or("it comes back with the next crawl".to_owned(), |url| {
        format!("{url} is fetched instead")
    });
    let compared = show_counted((*compared).into(), "compared page");
    format!(
        "{host} mirrors {original} ({alike} of {compared} are alike); {instead}; \
         `evercrawl trust {host}` fetches both"
    )
}

fn change_rate(of: &ChangeRateStep) -> Vec<Line> {
    let [usual, low, high] =
        [of.interval_seconds, of.interval_low_seconds, of.interval_high_seconds].map(show_seconds);
    let changed = 100.0 * of.changed_probability;
    let rate = format!(
        "about every {usual} (90 %: {low} to {high}); {changed:.0} % likely to have changed by now"
    );
    let news = of.news_share.map(|share| {
        ("a change", format!("{:.1} % of its text is new when it changes", 100.0 * share))
    });
    [("changes", rate)].into_iter().chain(news).collect()
}

fn importance(of: &ImportanceStep) -> String {
    let Some(times) = of.times_average else {
        return "not ranked yet; its freshness counts as the average page's".to_owned();
    };
    let by = match of.by {
        ImportanceBasis::Links => "the links kept",
        ImportanceBasis::OpicLinks => "OPIC over the links kept",
        ImportanceBasis::OpicCash => "the OPIC cash that it has so far",
    };
    format!("{times:.2} times the average page's, by {by}; its freshness counts {:.2}x", of.weight)
}

fn signals(of: &SignalsStep) -> String {
    let sources = of.sources.iter().map(|source| {
        let (precision, recall) = (100.0 * source.precision, 100.0 * source.recall);
        format!("{}: precision {precision:.0} %, recall {recall:.0} %", source.kind)
    });
    sources.collect::<Vec<_>>().join("; ")
}

fn value(of: &ValueStep) -> String {
    let compared = match of.value_over_threshold.map(|ratio| 100.0 * ratio) {
        Some(share) if share < 1000.0 => format!("{share:.0} % of the threshold for a fetch now"),
        _ => "well above the threshold for a fetch now".to_owned(),
    };
    let after = show_seconds(of.reached_after_seconds);
    format!("{compared} (threshold is reached {after} after a visit)")
}

fn schedule(of: &ScheduleStep) -> String {
    match of {
        ScheduleStep::Pause => {
            "the pause of its host; `evercrawl resume` with the host ends it".to_owned()
        }
        ScheduleStep::Pin { every_seconds } => {
            format!("its pin: every {}", show_seconds(*every_seconds))
        }
        ScheduleStep::FixedInterval => "the fixed interval (schedule.revisit_every)".to_owned(),
        ScheduleStep::HostPace { pages_before, pause_seconds } => {
            let is = if *pages_before == 1 { "page is" } else { "pages are" };
            let (before, pause) = (show_count(*pages_before), show_seconds(*pause_seconds));
            format!("the pace of its host: {before} other {is} due before, one every {pause}")
        }
        ScheduleStep::MinInterval { seconds } => {
            format!("schedule.min_interval, {}", show_seconds(*seconds))
        }
        ScheduleStep::MaxInterval { seconds } => {
            format!("schedule.max_interval, {}", show_seconds(*seconds))
        }
        ScheduleStep::Budget { a_second, policy } => {
            format!("the budget of {a_second}/s, by policy {policy}")
        }
    }
}

fn spam(of: &SpamStep) -> String {
    let SpamStep { host, evidence, seen, .. } = of;
    let (done, undo) = match of.action {
        SpamAction::Lower => ("it counts less and is rarely requested", true),
        SpamAction::Exclude => ("its pages are left out, except seeds and pinned pages", true),
        SpamAction::Report => ("nothing is done about it", false),
    };
    let undo = if undo { format!("; `evercrawl trust {host}` undoes that") } else { String::new() };
    format!("{:.0} % likely as of {seen}: {evidence}; {done}{undo}", 100.0 * of.probability)
}

fn host(of: &HostView, now: Time) -> Vec<Line> {
    let known = show_counted(of.pages, "known page");
    let facts = format!(
        "{}: {known}, {} never visited, last answer took {}",
        of.host,
        show_count(of.new_pages),
        show_seconds(of.answer_ms as f64 / 1000.0),
    );
    let mut lines = vec![("host", facts)];
    if let Some(until) = of.blocked_until {
        let pause = show_duration(until.0.since(now));
        let failures = show_counted(of.failures.into(), "failure");
        lines.push(("blocked", format!("no request for another {pause}, after {failures}")));
    } else if let Some(at) = of.next_allowed {
        let pause = show_duration(at.0.since(now));
        lines.push(("politeness", format!("next request allowed in {pause}")));
    }
    lines
}
