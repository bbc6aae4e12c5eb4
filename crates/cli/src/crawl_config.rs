//! How do settings become the configuration of a crawl?

mod preset;
pub(crate) mod rendering;

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evercrawl_engine::config::{
    ArchiveConfig, CrawlConfig, RankingConfig, ReadingConfig, RecordConfig, RunLimits, Take,
    WalkConfig,
};
use evercrawl_engine::importance::CrawlOrder;
use evercrawl_engine::retention::Keep;
use evercrawl_engine::suspicion::{SpamConfig, SuspectAction};
use evercrawl_engine::{FrontierConfig, Pace, PlannerConfig, RetentionConfig, Schedule};
use evercrawl_extract::decode::DecodeLimits;
use evercrawl_fetch::{self as fetch, ConnectTo, NameServers};
use evercrawl_rank::Topic;
use evercrawl_state::StoreLimits;
use evercrawl_urls::{CanonicalStep, CanonicalSteps, Scope, ScopeKind, UrlFilter};

use crate::args::{Common, CrawlRules, RunArgs};
use crate::exit::Failure;
use crate::settings::{Origin, Settings};
use crate::units;
use crate::url_rules::{filter_rules, link_sources};

/// The file in the data directory with what earlier commands set.
pub(crate) fn remembered(data: &Path) -> PathBuf {
    data.join("remembered.toml")
}

/// The settings in force for a command on a data directory.
pub(crate) fn settings(common: &Common, rules: Option<&CrawlRules>) -> anyhow::Result<Settings> {
    let mut settings = Settings::defaults();
    let remembered = remembered(&common.data);
    if remembered.exists() {
        settings.read_file(&remembered, &Origin::Remembered)?;
        // What `--allow-private` without a value meant in earlier versions.
        if settings.items("fetch.allow_private") == ["all"] {
            settings.set("fetch.allow_private", vec!["loopback".to_owned()], Origin::Remembered)?;
        }
    }
    if let Some(path) = config_file(common) {
        settings.read_file(&path, &Origin::File(path.clone()))?;
    }
    settings.read_environment(std::env::vars())?;
    if let Some(rules) = rules {
        take_flags(&mut settings, rules)?;
    }
    for pair in &common.set {
        settings.set_pair(pair)?;
    }
    preset::apply(&mut settings)?;
    // A wrong value is the same mistake for every verb, also for one that does not use it.
    store_limits(&settings)?;
    let config = crawl_config(&settings, &RunArgs::default())?;
    UrlFilter::new(Scope::default(), config.walk.rules)
        .map_err(|error| Failure::config(error.to_string()))?;
    Ok(settings)
}

fn config_file(common: &Common) -> Option<PathBuf> {
    let usual = [common.data.join("evercrawl.toml"), PathBuf::from("evercrawl.toml")];
    common.config.clone().or_else(|| usual.into_iter().find(|path| path.exists()))
}

fn take_flags(settings: &mut Settings, rules: &CrawlRules) -> anyhow::Result<()> {
    let single = [
        ("crawl.scope", rules.scope.clone()),
        ("crawl.depth", rules.depth.clone()),
        ("crawl.page_requisites", rules.embeds.then(|| "true".to_owned())),
        ("crawl.preset", rules.archive.then(|| "archive".to_owned())),
        ("crawl.links", rules.links.clone()),
        ("budget.rate", rules.budget.clone()),
        ("budget.bytes_per_day", rules.max_bytes_per_day.clone()),
        ("budget.concurrency", rules.concurrency.clone()),
        ("pace.delay", rules.delay.clone()),
        ("pace.ip_delay", rules.ip_delay.clone()),
        ("pace.per_host", rules.per_host.clone()),
        ("budget.discovery_share", rules.discover.clone()),
        ("schedule.goal", rules.goal.clone()),
        ("schedule.policy", rules.policy.clone()),
        ("schedule.revisit_every", rules.recrawl.clone()),
        ("identity.user_agent", rules.agent.clone()),
        ("identity.contact", rules.contact.clone()),
        ("fetch.proxy", rules.ways_in.proxy.clone()),
        ("fetch.cookies", rules.ways_in.cookies.clone()),
        ("fetch.cookies_file", rules.ways_in.cookies_file.as_deref().map(absolute)),
    ];
    for (name, value) in single {
        if let Some(value) = value {
            settings.set(name, vec![value], Origin::Flag)?;
        }
    }
    let ca_files = rules.ways_in.ca_file.iter().map(|path| absolute(path)).collect();
    let lists = [
        ("crawl.include", &rules.include),
        ("crawl.exclude", &rules.exclude),
        ("fetch.allow_private", &rules.allow_private),
        ("fetch.connect_to", &rules.connect_to),
        ("fetch.no_proxy", &rules.ways_in.no_proxy),
        ("fetch.ca_file", &ca_files),
    ];
    for (name, items) in lists {
        if !items.is_empty() {
            settings.set(name, items.clone(), Origin::Flag)?;
        }
    }
    Ok(())
}

/// A path that a later run finds too, wherever it is started.
fn absolute(path: &str) -> String {
    let absolute = std::path::absolute(path);
    absolute.map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}

/// The configuration of a crawl, from the settings and the limits of this run.
pub(crate) fn crawl_config(settings: &Settings, run: &RunArgs) -> anyhow::Result<CrawlConfig> {
    let walk = walk_config(settings, run)?;
    let ranking = match ranks(&walk.plan) {
        true => Some(settings.need("importance.every", at_least_a_second)?),
        false => None,
    };
    Ok(CrawlConfig {
        walk,
        fetch: fetch_config(settings)?,
        limits: limits(settings, run)?,
        workers: match settings.number("engine.workers")? {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        },
        archive: archive(settings)?,
        ranking: RankingConfig { every: ranking, kept_in: None },
        rendering: rendering::of_crawl(settings)?,
        cookie_file: None,
    })
}

/// What the walk decides by.
pub(crate) fn walk_config(settings: &Settings, run: &RunArgs) -> anyhow::Result<WalkConfig> {
    let plan = plan(settings)?;
    Ok(WalkConfig {
        reading: reading(settings, plan.order)?,
        scope: settings.need("crawl.scope", |text| {
            ScopeKind::from_name(text).ok_or_else(|| {
                format!("`{text}` is not a scope; use page, prefix, host, domain or any")
            })
        })?,
        rules: filter_rules(settings)?,
        frontier: frontier(settings, run)?,
        schedule: Schedule {
            recrawl: recrawl(settings)?.unwrap_or(Schedule::default().recrawl),
            tries: settings.number("schedule.tries")?,
            least_change: settings.need("schedule.min_change", units::share)?,
            confirm: settings.get("schedule.recheck_reverted", units::duration)?,
            second_look: settings
                .get("schedule.second_look", units::duration)?
                .filter(|pause| !pause.is_zero()),
            ..Schedule::default()
        },
        plan,
        sitemaps: settings.flag("crawl.sitemaps")?,
        hold_mirrors: settings.need("crawl.mirrors", |text| match text {
            // `hold` is the name up to 0.1.
            "skip" | "hold" => Ok(true),
            "fetch" => Ok(false),
            _ => Err(format!("`{text}` is not valid; use skip or fetch")),
        })?,
        topic_tags: topic_items(settings).1,
        noise_off: noise_off(settings)?,
        retention: retention(settings)?,
    })
}

/// On which pages nothing is masked.
fn noise_off(settings: &Settings) -> anyhow::Result<Vec<String>> {
    let items = settings.items("compare.noise_off");
    evercrawl_engine::unmasked::Unmasked::new(items)
        .map_err(|error| Failure::config(format!("compare.noise_off: {error}")))?;
    Ok(items.to_vec())
}

/// How answers are read.
fn reading(settings: &Settings, order: CrawlOrder) -> anyhow::Result<ReadingConfig> {
    let topic = topic(settings)?;
    Ok(ReadingConfig {
        agent: agent(settings)?,
        steps: steps(settings)?,
        skip_types: settings.items("crawl.skip_types").to_vec(),
        unpack: DecodeLimits {
            bytes: settings.need("limits.unpacked", size)?,
            ratio: settings.number("limits.unpack_ratio")?,
        },
        take: take(settings)?,
        topic: (order == CrawlOrder::Topic).then_some(topic),
        regions: crate::regions::declared(settings)?,
        records: RecordConfig {
            level: settings.number("archive.level")?,
            requests: settings.flag("archive.requests")?,
        },
    })
}

fn size(text: &str) -> Result<usize, String> {
    usize::try_from(units::size(text)?).map_err(|_| format!("`{text}` is too large"))
}

fn agent(settings: &Settings) -> anyhow::Result<String> {
    settings.need("identity.user_agent", |text| {
        let token = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        let named = token && text.starts_with(|c: char| c.is_ascii_alphabetic());
        if named {
            Ok(text.to_owned())
        } else {
            Err(format!(
                "`{text}` is not a product token; use letters, digits, `-`, `_` and `.`, e.g. \
                 `examplebot` (version and contact are added)"
            ))
        }
    })
}

pub(crate) fn fetch_config(settings: &Settings) -> anyhow::Result<fetch::FetchConfig> {
    let contact = settings.get("identity.contact", crate::contact::contact)?;
    let mail = contact.as_deref().filter(|text| !text.contains("://"));
    let from = mail.map(|text| text.trim_start_matches("mailto:").to_owned());
    let product = format!("{}/{}", agent(settings)?, env!("CARGO_PKG_VERSION"));
    let mut config = fetch::FetchConfig::new(fetch::Identity { product, contact, from });
    let time = |name| settings.need(name, units::duration);
    config.limits.connect = time("fetch.timeout_connect")?;
    config.limits.head = time("fetch.timeout_answer")?;
    config.limits.idle = time("fetch.timeout_idle")?;
    config.limits.total = time("fetch.timeout_total")?;
    config.limits.body_bytes = settings.need("limits.body", size)?;
    config.pool.per_host = settings.one_or_more("pace.per_host")?;
    config.http2 = settings.flag("fetch.http2")?;
    config.tls.extra_roots = crate::access::roots(settings)?;
    config.allow_private = crate::access::allow_private(settings)?;
    config.connect_to = connect_to(settings)?;
    config.dns.servers = settings.need("fetch.dns", |text| match text {
        "own" => Ok(NameServers::FromSystem),
        "system" => Ok(NameServers::SystemResolver),
        servers => name_servers(servers),
    })?;
    Ok(config)
}

/// Name servers as `192.0.2.1` or `127.0.0.1:5353`, with commas between them.
fn name_servers(text: &str) -> Result<NameServers, String> {
    let server = |text: &str| {
        let with_port = text.parse().or_else(|_| text.parse().map(|ip: IpAddr| (ip, 53).into()));
        with_port.map_err(|_| {
            format!(
                "`{text}` is not a resolver; use own, system, or name servers, e.g. `192.0.2.1`"
            )
        })
    };
    text.split(',')
        .map(|text| server(text.trim()))
        .collect::<Result<_, _>>()
        .map(NameServers::These)
}

pub(crate) fn connect_to(settings: &Settings) -> anyhow::Result<Vec<ConnectTo>> {
    let name = "fetch.connect_to";
    let rules: Result<_, _> = settings.items(name).iter().map(|item| item.parse()).collect();
    rules.map_err(|error: fetch::BadConnectTo| {
        let origin = settings.origin(name);
        Failure::config(format!("{name} (from {origin}): {error}"))
    })
}

pub(crate) fn steps(settings: &Settings) -> anyhow::Result<CanonicalSteps> {
    let mut steps = CanonicalSteps::default();
    for word in settings.items("crawl.url_normalization") {
        let (off, name) =
            word.strip_prefix('-').map_or((false, word.as_str()), |name| (true, name));
        if name == "default" {
            continue;
        }
        let step = CanonicalStep::from_name(name).ok_or_else(|| {
            Failure::config(format!("crawl.url_normalization: `{name}` is not a step"))
        })?;
        steps = if off { steps.without(step) } else { steps.with(step) };
    }
    Ok(steps)
}

fn take(settings: &Settings) -> anyhow::Result<Take> {
    Ok(Take {
        embeds_from_any_host: settings.need("crawl.requisites_from", |text| match text {
            "scope" => Ok(false),
            "any" => Ok(true),
            _ => Err(format!("`{text}` is not valid; use scope or any")),
        })?,
        sources: link_sources(settings)?,
        page_directives: settings.flag("crawl.page_directives")?,
        keep_links: settings.flag("links.keep")?,
        keep_anchors: settings.flag("links.anchors")?,
        max_redirects: settings.number("crawl.max_redirects")?,
        pages_per_host: settings.get("crawl.max_pages_per_host", |text| {
            text.parse().map_err(|_| format!("`{text}` is not a valid number"))
        })?,
        shape_cap: settings.number("crawl.max_similar_urls")?,
        ..Take::default()
    })
}

fn frontier(settings: &Settings, run: &RunArgs) -> anyhow::Result<FrontierConfig> {
    let time = |name| settings.need(name, units::duration);
    let asked = settings
        .iter()
        .any(|(key, value)| key.name == "pace.ip_delay" && value.origin != Origin::Default);
    Ok(FrontierConfig {
        active_hosts: settings.one_or_more("engine.max_active_hosts")?,
        per_host: settings.one_or_more("pace.per_host")?,
        quantum: 100,
        new_only: run.once,
        discover: settings.need("budget.discovery_share", units::share)?,
        larger_first: order(settings)? == CrawlOrder::Sites,
        pace: Pace {
            host: time("pace.delay")?,
            address: time("pace.ip_delay")?,
            address_on_loopback: asked,
            max_crawl_delay: time("pace.max_crawl_delay")?,
            slow_factor: settings.number("pace.slow_factor")?,
            ..Pace::default()
        },
    })
}

/// The fixed interval of every page; `None` where the policy chooses.
fn recrawl(settings: &Settings) -> anyhow::Result<Option<Duration>> {
    settings.need("schedule.revisit_every", |text| match text {
        "auto" => Ok(None),
        text => match units::duration(text)? {
            Duration::ZERO => {
                Err(format!("`{text}` would revisit pages without end; use 1s or more, or auto"))
            }
            interval => Ok(Some(interval)),
        },
    })
}

/// The shortest and, if there is one, the longest time from visit to visit.
fn intervals(settings: &Settings) -> anyhow::Result<(Duration, Option<Duration>)> {
    let shortest = settings.need("schedule.min_interval", units::duration)?;
    let longest = settings.get("schedule.max_interval", units::duration)?;
    match longest.filter(|longest| *longest < shortest) {
        Some(longest) => Err(Failure::config(format!(
            "schedule.max_interval ({}) is shorter than schedule.min_interval ({})",
            units::show_duration(longest),
            units::show_duration(shortest)
        ))),
        None => Ok((shortest, longest)),
    }
}

/// How visits are planned.
pub(crate) fn plan(settings: &Settings) -> anyhow::Result<PlannerConfig> {
    let (rate, fixed) = (settings.get("budget.rate", units::rate)?, recrawl(settings)?.is_some());
    let (shortest, longest) = intervals(settings)?;
    Ok(PlannerConfig {
        policy: settings.need("schedule.policy", |text| {
            let known = LIVE_POLICIES.iter().find(|name| **name == text).copied();
            known.ok_or_else(|| {
                format!("`{text}` is not a policy; use {}", LIVE_POLICIES.join(", "))
            })
        })?,
        goal: settings.need("schedule.goal", units::goal)?,
        rate: rate.filter(|_| !fixed),
        fixed,
        shortest,
        longest,
        audits: settings.need("schedule.audits", units::share)?,
        importance: importance_method(settings)?.is_some(),
        link_memory: settings.need("links.memory", units::size)?,
        by_cash: importance_method(settings)? == Some(Method::Opic),
        order: order(settings)?,
        spam: spam(settings)?,
    })
}

/// Whether pages are ranked now and then.
fn ranks(plan: &PlannerConfig) -> bool {
    plan.importance && !plan.by_cash || plan.order == CrawlOrder::Rank
}

/// Which new pages come first.
fn order(settings: &Settings) -> anyhow::Result<CrawlOrder> {
    let order = settings.need("discover.order", |text| match text {
        // As it was called before there were others.
        "importance" => Ok(CrawlOrder::Rank),
        name => CrawlOrder::from_name(name).ok_or_else(|| {
            let names = CrawlOrder::NAMES.map(|(name, _)| name).join(", ");
            format!("`{name}` is not an order; use {names}")
        }),
    })?;
    if order == CrawlOrder::Topic && settings.items("discover.topic").is_empty() {
        let why = "discover.order=topic needs words or tags; set discover.topic";
        return Err(Failure::config(why.to_owned()));
    }
    if matches!(order, CrawlOrder::Links | CrawlOrder::Cash | CrawlOrder::Rank)
        && !settings.flag("links.keep")?
    {
        let why = format!("discover.order={} needs links; set links.keep=true", order.name());
        return Err(Failure::config(why));
    }
    Ok(order)
}

/// What new pages should be about, by words.
fn topic(settings: &Settings) -> anyhow::Result<Topic> {
    let (words, _) = topic_items(settings);
    for word in &words {
        if Topic::new([word.as_str()]).is_empty() {
            let why = format!(
                "discover.topic: `{word}` is not a word; use letters, with an optional `*` at the end"
            );
            return Err(Failure::config(why));
        }
    }
    Ok(Topic::new(words.iter().map(String::as_str)))
}

/// The words of `discover.topic`, and the tags behind `tag:`.
fn topic_items(settings: &Settings) -> (Vec<String>, Vec<String>) {
    let (mut words, mut tags) = (Vec::new(), Vec::new());
    for item in settings.items("discover.topic") {
        match item.strip_prefix("tag:") {
            Some(tag) => tags.push(tag.to_owned()),
            None => words.push(item.clone()),
        }
    }
    (words, tags)
}

/// How spam is treated.
pub(crate) fn spam(settings: &Settings) -> anyhow::Result<SpamConfig> {
    Ok(SpamConfig {
        action: settings.need("spam.action", |text| match text {
            "report" => Ok(SuspectAction::Report),
            "lower" => Ok(SuspectAction::Lower),
            "exclude" => Ok(SuspectAction::Exclude),
            _ => Err(format!("`{text}` is not an action; use report, lower or exclude")),
        })?,
        threshold: settings.need("spam.threshold", units::share)?,
        every: settings.need("spam.every", at_least_a_second)?,
    })
}

/// How the importance of pages is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Pagerank,
    Opic,
}

/// How the importance of pages is computed; `None` when all pages weigh the same.
fn importance_method(settings: &Settings) -> anyhow::Result<Option<Method>> {
    settings.need("importance.method", |text| match text {
        "none" => Ok(None),
        "pagerank" => Ok(Some(Method::Pagerank)),
        "opic" => Ok(Some(Method::Opic)),
        _ => Err(format!("`{text}` is not a method; use none, pagerank or opic")),
    })
}

/// Policies that decide page by page, so that the pages can stay on disk.
const LIVE_POLICIES: [&str; 3] = ["index", "gamma", "uniform"];

fn limits(settings: &Settings, run: &RunArgs) -> anyhow::Result<RunLimits> {
    Ok(RunLimits {
        bytes_per_day: settings.get("budget.bytes_per_day", day_of_bytes)?,
        budget: settings.get("budget.rate", units::rate)?,
        concurrency: settings.one_or_more("budget.concurrency")?,
        min_free_disk: settings.need("limits.min_free_disk", units::size)?,
        ..run_limits(run)?
    })
}

/// The limits that hold for one run.
pub(crate) fn run_limits(run: &RunArgs) -> anyhow::Result<RunLimits> {
    let flag = |name: &str, error: String| Failure::usage(format!("--{name}: {error}"));
    let time = run.time.as_deref().map(units::duration).transpose();
    let bytes = run.max_bytes.as_deref().map(units::size).transpose();
    Ok(RunLimits {
        once: run.once,
        pages: run.max_pages,
        time: time.map_err(|error| flag("max-time", error))?,
        bytes: bytes.map_err(|error| flag("max-bytes", error))?,
        ..RunLimits::default()
    })
}

/// Reads a limit of bytes per day.
pub(crate) fn day_of_bytes(text: &str) -> Result<u64, String> {
    match units::size(text)? {
        0 => Err(format!("`{text}` per day fetches nothing; use more than 0")),
        bytes => Ok(bytes),
    }
}

fn archive(settings: &Settings) -> anyhow::Result<ArchiveConfig> {
    Ok(ArchiveConfig {
        prefix: settings.need("archive.prefix", |text| Ok(text.to_owned()))?,
        roll_at: settings.need("archive.roll", units::size)?,
        machine: machine(),
        operator: settings.get("identity.contact", crate::contact::contact)?.unwrap_or_default(),
    })
}

/// Which captures and visits are kept.
pub(crate) fn retention(settings: &Settings) -> anyhow::Result<RetentionConfig> {
    Ok(RetentionConfig {
        archive: keep(settings, "retention.archive")?,
        visits: keep(settings, "retention.visits")?,
        every: settings.need("retention.every", at_least_a_second)?,
    })
}

fn at_least_a_second(text: &str) -> Result<Duration, String> {
    let every = units::duration(text)?;
    let long = every >= Duration::from_secs(1);
    if long { Ok(every) } else { Err(format!("`{text}` is too short; use 1s or more")) }
}

fn keep(settings: &Settings, name: &str) -> anyhow::Result<Keep> {
    let items = settings.items(name);
    let rules: Result<Vec<_>, _> = items.iter().map(|item| units::keep_rule(item)).collect();
    let rules = rules.map_err(|error| Failure::config(format!("{name}: {error}")))?;
    // `all` makes every other rule redundant.
    let rules =
        if rules.contains(&None) { Vec::new() } else { rules.into_iter().flatten().collect() };
    Ok(Keep { rules, text: items.join(", ") })
}

/// This machine's name, for WARC file names.
fn machine() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    let name: String = name.chars().filter(|&c| plain(c)).collect();
    if name.is_empty() { "localhost".to_owned() } else { name }
}

/// How much memory the store may use.
pub(crate) fn store_limits(settings: &Settings) -> anyhow::Result<StoreLimits> {
    Ok(StoreLimits {
        cache: settings.need("engine.store_cache", units::size)?,
        memtable: settings.need("engine.store_buffer", units::size)?.max(1 << 20),
    })
}

#[cfg(test)]
mod tests;
