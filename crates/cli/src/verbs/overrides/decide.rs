//! Which changes does an override verb make, or why can it not make them?

use std::sync::{Arc, RwLock};
use std::time::Duration;

use evercrawl_engine::config::WalkConfig;
use evercrawl_engine::links::LinkReader;
use evercrawl_engine::live::SystemClock;
use evercrawl_engine::overrides::Overrides as OverridesInForce;
use evercrawl_engine::walk::{OverrideChange, read_robots, scope};
use evercrawl_model::{HostKey, Override as OverrideSet, Time};
use evercrawl_query::{
    self as query, ChangedOverride, ExclusionCount, ListedOverrides, OverrideKind, OverrideNote,
    OverrideNow, OverrideRequest, OverrideView, OverridesView,
};
use evercrawl_state::PageStatus;
use evercrawl_urls::{Canonical, Patterns, UrlFilter};

use super::Opened;
use crate::args::RunArgs;
use crate::exit::{self, Failure};
use crate::units::show_duration;
use crate::verbs::{canonical, host_of};
use crate::{crawl_config, print};

/// The codes of all kinds of overrides.
const EVERY_KIND: [&str; 5] = ["pin", "boost", "pause", "trust", "exclude"];

/// Pages shown as examples.
const EXAMPLES: usize = 10;
/// The bounds of a pin's interval.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(366 * 86_400);

/// What a verb changes, and what is answered once that is done.
pub(super) struct Decided {
    /// To be made in one commit; none where the verb only shows something.
    pub(super) changes: Vec<OverrideChange>,
    pub(super) view: OverridesView,
}

impl Decided {
    /// Nothing is changed.
    fn shown(view: OverridesView) -> Self {
        Decided { changes: Vec::new(), view }
    }
}

/// Decides what a request comes to, by what is known.
pub(super) fn decide(asked: &OverrideRequest, opened: &Opened) -> anyhow::Result<Decided> {
    match asked {
        OverrideRequest::Pin { url, every_seconds } => {
            let every = every_seconds.map(Duration::try_from_secs_f64).transpose();
            pin(opened, url, every.map_err(|error| Failure::usage(error.to_string()))?)
        }
        OverrideRequest::Boost { pattern, times } => boost(opened, pattern, *times),
        OverrideRequest::Pause { host } => {
            let (host, authority) = known_host(opened, host, "pause")?;
            begin(opened, OverrideSet::Pause { host, authority }, None)
        }
        OverrideRequest::Trust { host } => {
            let (host, authority) = known_host(opened, host, "trust")?;
            begin(opened, OverrideSet::Trust { host, authority }, None)
        }
        OverrideRequest::Exclude { pattern, dry_run, force } => {
            exclude(opened, pattern, *dry_run, *force)
        }
        OverrideRequest::Noise { url, forget } => noise(opened, url, *forget),
        OverrideRequest::Remove { what, kind: Some(kind) } if kind == "pin" => {
            end(opened, canonical(&opened.settings, what)?.as_str(), &["pin"])
        }
        OverrideRequest::Remove { what, kind: Some(kind) } => end(opened, what, &[kind]),
        OverrideRequest::Remove { what, kind: None } => end(opened, what, &EVERY_KIND),
        OverrideRequest::List { kind } => list(opened, kind.as_deref()),
    }
}

/// What was learned of a page's noise, which may be forgotten.
fn noise(opened: &Opened, url: &str, forget: bool) -> anyhow::Result<Decided> {
    let url = canonical(&opened.settings, url)?;
    let noise = query::noise(&opened.source(SystemClock.now()), &url)?;
    let (page, _) = opened.state.keyer().page(host_of(&opened.state, &url), url.as_str());
    let changes = if forget { vec![OverrideChange::ForgetNoise(page)] } else { Vec::new() };
    let view = OverridesView::Noise { noise: Box::new(noise), forgotten: forget };
    Ok(Decided { changes, view })
}

/// The overrides in force, of one kind or all.
fn list(opened: &Opened, kind: Option<&str>) -> anyhow::Result<Decided> {
    let mut stand = opened.state.overrides()?;
    stand.retain(|(user_override, _)| kind.is_none_or(|kind| kind == user_override.code()));
    let view =
        |(user_override, since): &(OverrideSet, Time)| OverrideView::new(user_override, *since);
    Ok(Decided::shown(OverridesView::Listed(ListedOverrides {
        kind: kind.map(str::to_owned),
        overrides: stand.iter().map(view).collect(),
    })))
}

/// An override that holds from now on, with a note for the user.
fn begin(
    opened: &Opened,
    user_override: OverrideSet,
    note: Option<OverrideNote>,
) -> anyhow::Result<Decided> {
    let stands = opened.state.overrides()?.into_iter().map(|(user_override, _)| user_override);
    let before = stands.into_iter().find(|other| {
        (other.code(), other.subject()) == (user_override.code(), user_override.subject())
    });
    let what = OverrideKind::from(&user_override);
    let before = before.map(|before| OverrideKind::from(&before)).filter(|before| *before != what);
    let changed = ChangedOverride { what, now: OverrideNow::Holds, before, note };
    Ok(Decided {
        changes: vec![OverrideChange::Begin(user_override)],
        view: OverridesView::Changed(vec![changed]),
    })
}

/// Removes the overrides of these kinds on `what`.
fn end(opened: &Opened, what: &str, kinds: &[&str]) -> anyhow::Result<Decided> {
    let mut stand: Vec<OverrideSet> =
        opened.state.overrides()?.into_iter().map(|(user_override, _)| user_override).collect();
    stand.retain(|user_override| kinds.contains(&user_override.code()));
    let address = canonical(&opened.settings, what).ok();
    let named = |user_override: &OverrideSet| user_override.subject() == what;
    let meant = |user_override: &OverrideSet| match (user_override, &address) {
        (OverrideSet::Pin { url, .. }, Some(address)) => url == address.as_str(),
        (
            OverrideSet::Pause { authority, .. } | OverrideSet::Trust { authority, .. },
            Some(address),
        ) => authority == address.authority() && address.path_and_query() == "/",
        _ => false,
    };
    if stand.iter().any(named) {
        stand.retain(named);
    } else {
        stand.retain(meant);
    }
    if stand.is_empty() {
        let message = format!(
            "no {} matches `{}`; `evercrawl overrides` lists all",
            names(kinds),
            print::plain(what)
        );
        return Err(Failure { code: exit::UNEXPECTED, message }.into());
    }
    let ended = |user_override: &OverrideSet| ChangedOverride {
        what: user_override.into(),
        now: OverrideNow::Ended,
        before: None,
        note: None,
    };
    Ok(Decided {
        view: OverridesView::Changed(stand.iter().map(ended).collect()),
        changes: stand.into_iter().map(OverrideChange::End).collect(),
    })
}

/// `pin, boost, pause, trust or exclusion`.
fn names(kinds: &[&str]) -> String {
    let name = |kind: &&str| if *kind == "exclude" { "exclusion" } else { *kind }.to_owned();
    let names: Vec<String> = kinds.iter().map(name).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

fn pin(opened: &Opened, url: &str, every: Option<Duration>) -> anyhow::Result<Decided> {
    let every =
        every.ok_or_else(|| Failure::usage("pin: no interval given; add e.g. --every 1h"))?;
    let url = canonical(&opened.settings, url)?;
    let config = crawl_config::walk_config(&opened.settings, &RunArgs::default())?;
    within_bounds(opened, &config, &url, every)?;
    let host = host_of(&opened.state, &url);
    let overrides = OverridesInForce::read(&opened.state)?;
    let note = match opened.state.find(host, url.as_str())? {
        None => {
            in_scope(opened, &config, &overrides, &url)?;
            Some(OverrideNote::NewSeed)
        }
        Some(_) if overrides.is_excluded(url.as_str()) => Some(OverrideNote::Excluded),
        Some(_) if overrides.is_paused(host) => Some(OverrideNote::HostPaused),
        Some((_, row)) => match row.status {
            PageStatus::Refused(reason) => {
                Some(OverrideNote::Refused { reason: reason.code().to_owned() })
            }
            _ => None,
        },
    };
    let (page, _) = opened.state.keyer().page(host, url.as_str());
    begin(opened, OverrideSet::Pin { page, url: url.into_string(), every }, note)
}

/// A pin must respect the pause of the page's host.
fn within_bounds(
    opened: &Opened,
    config: &WalkConfig,
    url: &Canonical,
    every: Duration,
) -> anyhow::Result<()> {
    let robots = opened.state.robots(url.origin())?;
    let crawl_delay =
        robots.and_then(|copy| read_robots(&copy, &config.reading.agent).crawl_delay());
    let pace = config.frontier.pace.host_pause(crawl_delay, Duration::ZERO);
    let shortest = SHORTEST.max(pace);
    let asked = show_duration(every);
    if every < shortest {
        let least = show_duration(shortest);
        let why = if pace > SHORTEST {
            format!("its host gets at most one request per {least}")
        } else {
            "the shortest interval is 1s".to_owned()
        };
        return Err(Failure::usage(format!(
            "--every {asked} is too short: {why}; use --every {} or more",
            least.replace(' ', "")
        )));
    }
    if every > LONGEST {
        return Err(Failure::usage(format!(
            "--every {asked} is too long; use --every 365d or less"
        )));
    }
    Ok(())
}

/// An unknown page becomes a seed if it is in scope.
fn in_scope(
    opened: &Opened,
    config: &WalkConfig,
    overrides: &OverridesInForce,
    url: &Canonical,
) -> anyhow::Result<()> {
    let scope = scope(config.scope, &opened.state)?;
    let gate = Arc::new(RwLock::new(UrlFilter::new(scope, overrides.rules(&config.rules))?));
    let links = LinkReader::new(&config.reading, gate, opened.state.keyer());
    links.verdict(url, 0, SystemClock.now()).map_err(|(reason, words)| {
        let url = print::plain(url.as_str());
        Failure::usage(format!(
            "{url} is unknown, and the crawl would refuse it ({reason}: {words}); \
             use `evercrawl add {url}` to make it a seed anyway"
        ))
    })
}

fn boost(opened: &Opened, pattern: &str, times: Option<f32>) -> anyhow::Result<Decided> {
    let times = times.ok_or_else(|| {
        Failure::usage("boost: no factor given; add e.g. --weight 5, or --weight 0.2 for less")
    })?;
    usable("boost", pattern)?;
    let config = crawl_config::walk_config(&opened.settings, &RunArgs::default())?;
    let note = config.plan.rate.is_none().then_some(OverrideNote::NoBudget);
    begin(opened, OverrideSet::Boost { pattern: pattern.to_owned(), times }, note)
}

/// A pattern, alone and compiled.
fn usable(list: &'static str, pattern: &str) -> anyhow::Result<Patterns> {
    Patterns::new(list, &[pattern.to_owned()]).map_err(|error| {
        Failure::usage(format!(
            "{error}; a pattern is a regular expression matched anywhere in a URL, e.g. `/news/`"
        ))
    })
}

/// A host of which at least one page is known, and its name.
fn known_host(opened: &Opened, host: &str, verb: &str) -> anyhow::Result<(HostKey, String)> {
    let url = canonical(&opened.settings, host)?;
    let (host, authority) = (host_of(&opened.state, &url), url.authority().to_owned());
    if opened.state.host(host)?.is_none() {
        let message =
            format!("cannot {verb} {}: no page of this host is known", print::plain(&authority));
        return Err(Failure { code: exit::UNEXPECTED, message }.into());
    }
    Ok((host, authority))
}

fn exclude(opened: &Opened, pattern: &str, dry_run: bool, force: bool) -> anyhow::Result<Decided> {
    let alone = usable("exclude", pattern)?;
    if dry_run {
        return count(opened, pattern, &alone);
    }
    let overrides = OverridesInForce::read(&opened.state)?;
    let excluded = |url: &str| alone.is_match(url) || overrides.is_excluded(url);
    let mut pages = opened.state.pages();
    let stays = pages.find(|page| !matches!(page, Ok((_, row)) if excluded(&row.url)));
    let all = stays.transpose()?.is_none() && opened.state.counters().pages > 0;
    if all && !force {
        return Err(Failure::usage(format!(
            "`{}` would exclude every known page; add --force to do it anyway",
            print::plain(pattern)
        )));
    }
    begin(opened, OverrideSet::Exclude { pattern: pattern.to_owned() }, None)
}

/// What an exclusion would do, without doing it.
fn count(opened: &Opened, pattern: &str, alone: &Patterns) -> anyhow::Result<Decided> {
    let (mut known, mut matching, mut examples) = (0, 0, Vec::new());
    for page in opened.state.pages() {
        let (_, row) = page?;
        known += 1;
        if alone.is_match(&row.url) {
            matching += 1;
            if examples.len() < EXAMPLES {
                examples.push(row.url);
            }
        }
    }
    let pattern = pattern.to_owned();
    let count = ExclusionCount { pattern, matching, known, examples };
    Ok(Decided::shown(OverridesView::Counted(count)))
}
