//! Can it be done as asked, and what is to be changed for it?

use std::sync::{Arc, RwLock};
use std::time::Duration;

use evercrawl_engine::config::WalkConfig;
use evercrawl_engine::links::LinkReader;
use evercrawl_engine::live::SystemClock;
use evercrawl_engine::overrides::Overrides;
use evercrawl_engine::walk::{OverrideChange, read_robots, scope};
use evercrawl_model::{HostKey, Override as OverrideSet};
use evercrawl_query::{OverrideRequest, OverridesView};
use evercrawl_state::PageStatus;
use evercrawl_urls::{Canonical, Patterns, UrlFilter};
use serde_json::{Value, json};

use super::Opened;
use super::show::{describe, words};
use crate::args::RunArgs;
use crate::exit::{self, Failure};
use crate::units::{show_count, show_duration};
use crate::verbs::{canonical, host_of};
use crate::{crawl_config, print};

/// Pages shown as examples.
const EXAMPLES: usize = 10;
/// No page is pinned to be visited more often, nor more rarely.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(366 * 86_400);

/// What a verb comes to.
#[derive(Default)]
pub(super) struct Decided {
    /// To be made in one commit; none where the verb only shows something.
    pub(super) changes: Vec<OverrideChange>,
    /// What is said once they are made, for people and for programs.
    pub(super) words: Vec<String>,
    pub(super) json: Vec<Value>,
}

impl Decided {
    /// What is said once the changes are made.
    pub(super) fn view(self) -> OverridesView {
        OverridesView { words: self.words, json: self.json }
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
        OverrideRequest::Remove { what, kind: Some(kind) } if kind == "pin" => {
            end(opened, canonical(&opened.settings, what)?.as_str(), &["pin"])
        }
        OverrideRequest::Remove { what, kind: Some(kind) } => end(opened, what, &[kind]),
        OverrideRequest::Remove { what, kind: None } => {
            end(opened, what, &["pin", "boost", "pause", "trust", "exclude"])
        }
        OverrideRequest::List { kind } => list(opened, kind.as_deref()),
    }
}

/// What stands, of one kind or all.
fn list(opened: &Opened, kind: Option<&str>) -> anyhow::Result<Decided> {
    let mut decided = Decided::default();
    for (user_override, since) in opened.state.overrides()? {
        if kind.is_none_or(|kind| kind == user_override.code()) {
            decided.words.push(format!("{} since {since}", words(&user_override)));
            decided.json.push(describe(&user_override, Some(since)));
        }
    }
    if decided.words.is_empty() {
        let what = kind.map_or("nothing is wished".to_owned(), |kind| format!("no {kind} stands"));
        decided.words.push(what);
    }
    Ok(decided)
}

/// A wish that holds from now on, and what is to be said besides.
fn begin(
    opened: &Opened,
    user_override: OverrideSet,
    note: Option<String>,
) -> anyhow::Result<Decided> {
    let stands = opened.state.overrides()?.into_iter().map(|(user_override, _)| user_override);
    let before = stands.into_iter().find(|other| {
        (other.code(), other.subject()) == (user_override.code(), user_override.subject())
    });
    let mut said = words(&user_override);
    if let Some(before) = before.filter(|before| words(before) != said) {
        said = format!("{said} (before: {})", words(&before));
    }
    let mut json = describe(&user_override, None);
    json["now"] = json!("holds");
    json["note"] = json!(note);
    let words = std::iter::once(said).chain(note).collect();
    Ok(Decided { changes: vec![OverrideChange::Begin(user_override)], words, json: vec![json] })
}

/// Wishes of these kinds about `what`, which hold no more.
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
            "nothing stands for `{}` that could end; `evercrawl wishes` lists what does",
            print::plain(what)
        );
        return Err(Failure { code: exit::UNEXPECTED, message }.into());
    }
    let mut decided = Decided::default();
    for user_override in stand {
        decided.words.push(format!("no more: {}", words(&user_override)));
        let mut json = describe(&user_override, None);
        json["now"] = json!("ended");
        decided.json.push(json);
        decided.changes.push(OverrideChange::End(user_override));
    }
    Ok(decided)
}

fn pin(opened: &Opened, url: &str, every: Option<Duration>) -> anyhow::Result<Decided> {
    let every = every.ok_or_else(|| Failure::usage("how often? Give a time, as in --every 1h"))?;
    let url = canonical(&opened.settings, url)?;
    let config = crawl_config::walk_config(&opened.settings, &RunArgs::default())?;
    within_bounds(opened, &config, &url, every)?;
    let host = host_of(&opened.state, &url);
    let overrides = Overrides::read(&opened.state)?;
    let note = match opened.state.find(host, url.as_str())? {
        None => {
            in_scope(opened, &config, &overrides, &url)?;
            Some("it was not known, and is a seed from now on".to_owned())
        }
        Some(_) if overrides.is_excluded(url.as_str()) => {
            Some("it is excluded, and not visited until that ends".to_owned())
        }
        Some(_) if overrides.is_paused(host) => {
            Some("its host is paused, and it is not visited until that ends".to_owned())
        }
        Some((_, row)) => match row.status {
            PageStatus::Refused(reason) => {
                Some(format!("it is refused now ({reason}), and not visited while it is"))
            }
            _ => None,
        },
    };
    let (page, _) = opened.state.keyer().page(host, url.as_str());
    begin(opened, OverrideSet::Pin { page, url: url.into_string(), every }, note)
}

/// A pin can ask for no more than the page's host allows.
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
            format!("its host is asked at most once in {least}")
        } else {
            "no page is visited more often than once a second".to_owned()
        };
        return Err(Failure::usage(format!(
            "a page cannot be visited every {asked}: {why}; give --every {} or more",
            least.replace(' ', "")
        )));
    }
    if every > LONGEST {
        return Err(Failure::usage(format!(
            "every {asked} is hardly ever: give --every 365d or less, or no pin at all"
        )));
    }
    Ok(())
}

/// A page that is not known becomes a seed, but widens no scope.
fn in_scope(
    opened: &Opened,
    config: &WalkConfig,
    overrides: &Overrides,
    url: &Canonical,
) -> anyhow::Result<()> {
    let scope = scope(config.scope, &opened.state)?;
    let gate = Arc::new(RwLock::new(UrlFilter::new(scope, overrides.rules(&config.rules))?));
    let links = LinkReader::new(&config.reading, gate, opened.state.keyer());
    links.verdict(url, 0, SystemClock.now()).map_err(|(reason, words)| {
        let url = print::plain(url.as_str());
        Failure::usage(format!(
            "{url} is not known, and the crawl would not take it ({reason}: {words}); \
             `evercrawl add {url}` makes it a seed all the same"
        ))
    })
}

fn boost(opened: &Opened, pattern: &str, times: Option<f32>) -> anyhow::Result<Decided> {
    let times = times
        .ok_or_else(|| Failure::usage("by how much? Give a factor, as in x5, or x0.2 for less"))?;
    usable("boost", pattern)?;
    let config = crawl_config::walk_config(&opened.settings, &RunArgs::default())?;
    let note = config.plan.rate.is_none().then(|| {
        "it takes effect once there is a budget to divide: `evercrawl crawl --budget 5/s`"
            .to_owned()
    });
    begin(opened, OverrideSet::Boost { pattern: pattern.to_owned(), times }, note)
}

/// A pattern, alone and compiled.
fn usable(list: &'static str, pattern: &str) -> anyhow::Result<Patterns> {
    Patterns::new(list, &[pattern.to_owned()]).map_err(|error| {
        Failure::usage(format!(
            "{error}; patterns are regular expressions that match anywhere in a URL, as in `/news/`"
        ))
    })
}

/// A host of which at least one page is known, and its name.
fn known_host(opened: &Opened, host: &str, verb: &str) -> anyhow::Result<(HostKey, String)> {
    let url = canonical(&opened.settings, host)?;
    let (host, authority) = (host_of(&opened.state, &url), url.authority().to_owned());
    if opened.state.host(host)?.is_none() {
        let message = format!(
            "no page of {} is known, so there is nothing to {verb}",
            print::plain(&authority)
        );
        return Err(Failure { code: exit::UNEXPECTED, message }.into());
    }
    Ok((host, authority))
}

fn exclude(opened: &Opened, pattern: &str, dry_run: bool, force: bool) -> anyhow::Result<Decided> {
    let alone = usable("exclude", pattern)?;
    if dry_run {
        return count(opened, pattern, &alone);
    }
    let overrides = Overrides::read(&opened.state)?;
    let excluded = |url: &str| alone.is_match(url) || overrides.is_excluded(url);
    let mut pages = opened.state.pages();
    let stays = pages.find(|page| !matches!(page, Ok((_, row)) if excluded(&row.url)));
    let all = stays.transpose()?.is_none() && opened.state.counters().pages > 0;
    if all && !force {
        return Err(Failure::usage(format!(
            "`{}` would exclude every page that is known; add --force if that is what you want",
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
    let (some, all) = (show_count(matching), show_count(known));
    let mut words =
        vec![format!("{some} of {all} known pages match `{pattern}`; none was excluded")];
    words.extend(examples.iter().map(|url| format!("  {url}")));
    let json = json!({
        "pattern": pattern,
        "matching": matching,
        "known": known,
        "examples": examples,
        "now": "unchanged",
    });
    Ok(Decided { changes: Vec::new(), words, json: vec![json] })
}
