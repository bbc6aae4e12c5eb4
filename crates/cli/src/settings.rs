//! Which value does each setting have, and where was it set?
//!
//! A flag wins over an environment variable, that over a configuration file, that over what an earlier
//! command on this data directory set, and that over the default.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use evercrawl_engine::data_dir::replace_file;

use crate::exit::Failure;

/// A setting: its name, its default, and what it means.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) default: &'static str,
    pub(crate) help: &'static str,
    pub(crate) kind: Kind,
}

/// What a setting's value looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One value.
    One,
    /// Any number of values.
    List,
}

const fn one(name: &'static str, default: &'static str, help: &'static str) -> Key {
    Key { name, default, help, kind: Kind::One }
}

const fn list(name: &'static str, default: &'static str, help: &'static str) -> Key {
    Key { name, default, help, kind: Kind::List }
}

/// Every setting there is. An empty default means: none.
pub(crate) const KEYS: &[Key] = &[
    one("identity.user_agent", "evercrawl", "product token in the User-Agent and in robots.txt"),
    one("identity.contact", "", "URL or email address where site operators can reach you"),
    one("crawl.scope", "host", "how far around each seed: page, prefix, host, domain or any"),
    list("crawl.include", "", "regular expressions; crawl only URLs that match one"),
    list("crawl.exclude", "", "regular expressions; skip URLs that match one"),
    list("crawl.deny_hosts", "", "hosts to skip, with all their subdomains"),
    list(
        "crawl.skip_extensions",
        "default",
        "file extensions to skip; `none` skips none, `default,-pdf` all defaults but one",
    ),
    list("crawl.skip_types", "", "content types to skip, e.g. `image/` or `application/pdf`"),
    one("crawl.depth", "", "maximum link distance from a seed"),
    one(
        "crawl.preset",
        "",
        "settings for a purpose, where you set no others; archive: pages with all that they show",
    ),
    one(
        "crawl.requisites_from",
        "scope",
        "where page requisites may lie: scope, or any (also other hosts, at any depth)",
    ),
    one(
        "crawl.page_requisites",
        "false",
        "also fetch what pages are made of: images, scripts, stylesheets, fonts, media",
    ),
    one(
        "crawl.links",
        "pages",
        "where to look for links: pages (markup) or all (also scripts, JSON, comments, text, forms; includes page requisites)",
    ),
    one("crawl.sitemaps", "true", "read sitemaps named in robots.txt, and /sitemap.xml"),
    one("crawl.page_directives", "true", "obey nofollow and noarchive of pages and links"),
    one("crawl.max_redirects", "10", "maximum redirects in a row"),
    one("crawl.max_url_length", "2048", "skip longer URLs"),
    one("crawl.max_pages_per_host", "", "maximum known pages per host"),
    one(
        "crawl.max_similar_urls",
        "10000",
        "maximum URLs per host that differ only in parameters or dates",
    ),
    list("crawl.url_normalization", "default", "steps that normalize URLs; `-step` turns one off"),
    one(
        "crawl.mirrors",
        "skip",
        "pages that a mirror shares with its original: skip (fetch the original only) or fetch",
    ),
    one("links.keep", "true", "store which page links to which, for `evercrawl rank`"),
    one(
        "links.memory",
        "1GiB",
        "memory for the link graph while a running crawl ranks or looks for spam; a larger graph is only counted",
    ),
    one("links.anchors", "false", "store the text of links, up to 64 bytes each"),
    one(
        "importance.method",
        "none",
        "what makes a page weigh more: none (all weigh the same), pagerank or opic",
    ),
    one("importance.every", "6h", "how often a running crawl recomputes importance"),
    one(
        "discover.order",
        "breadth",
        "which new pages come first: breadth (nearest to a seed), indegree, pagerank, opic, larger-sites or topic",
    ),
    list("discover.topic", "", "words that new pages should contain, and `tag:NAME` of seeds"),
    one("spam.action", "report", "what to do with spam hosts: report (nothing), lower or exclude"),
    one("spam.threshold", "95%", "minimum spam probability of a host before acting on it"),
    one("spam.every", "6h", "how often a running crawl looks for spam, unless spam.action=report"),
    one("pace.delay", "1s", "pause between requests to one host; 0 only for your own server"),
    one("pace.ip_delay", "250ms", "pause between requests to one IP address"),
    one("pace.max_crawl_delay", "30s", "longest Crawl-delay of robots.txt to obey"),
    one(
        "pace.slow_factor",
        "1",
        "pause at least this many times as long as the last response took",
    ),
    one("pace.per_host", "1", "maximum concurrent requests per host"),
    one("budget.rate", "", "request budget over all hosts, e.g. 5/s"),
    one("budget.bytes_per_day", "", "maximum content received in any 24 hours, e.g. 2GB"),
    one(
        "budget.discovery_share",
        "50%",
        "share of requests for new pages while known pages are due",
    ),
    one("budget.concurrency", "256", "maximum concurrent requests, all hosts"),
    one(
        "schedule.revisit_every",
        "auto",
        "fixed revisit interval; auto: the policy decides within the budget, or 1d without one",
    ),
    one(
        "schedule.policy",
        "index",
        "how to divide the budget among known pages: index, gamma or uniform",
    ),
    one("schedule.goal", "freshness", "what to optimize: freshness, coverage or age"),
    one("schedule.min_interval", "1m", "shortest revisit interval that the policy may choose"),
    one("schedule.max_interval", "", "longest revisit interval that the policy may choose"),
    one(
        "schedule.audits",
        "2%",
        "share of requests for randomly sampled pages, to measure freshness",
    ),
    one("schedule.min_change", "0.1%", "smallest share of a page's text that counts as a change"),
    one(
        "schedule.recheck_reverted",
        "",
        "how soon to revisit a page that changed back to an earlier version",
    ),
    one(
        "schedule.second_look",
        "70s",
        "how soon to look again where a difference may be noise; 0s: never",
    ),
    one("schedule.tries", "3", "attempts at a first visit before a page is scheduled like others"),
    list(
        "compare.noise_off",
        "",
        "pages on which noise counts as a change: regular expressions, and `tag:NAME` of seeds",
    ),
    one("push.listen", "", "address and port on which a crawl accepts pushes over HTTP"),
    one("push.token", "", "token that callers must send; required beyond loopback"),
    one("push.secret", "", "secret with which WebSub notifications must be signed"),
    one("limits.min_free_disk", "1GiB", "stop cleanly when less disk space is free"),
    one("limits.body", "20MiB", "longest response body; the rest is cut off and marked"),
    one("limits.unpacked", "32MiB", "longest body after decompression"),
    one("limits.unpack_ratio", "250", "highest compression ratio of a body"),
    one("fetch.timeout_connect", "10s", "time limit for opening a connection"),
    one("fetch.timeout_answer", "30s", "time limit from the request to the response headers"),
    one("fetch.timeout_idle", "20s", "time limit between two parts of a body"),
    one("fetch.timeout_total", "2m", "time limit for a whole request"),
    one("fetch.http2", "false", "use HTTP/2 where servers offer it"),
    list(
        "fetch.accept_invalid_certificates",
        "false",
        "continue despite invalid certificates, and record the fault: false, true, or host patterns",
    ),
    list(
        "fetch.allow_private",
        "",
        "private networks to allow; loopback: this machine; .NAME: a name behind a proxy",
    ),
    one(
        "fetch.proxy",
        "",
        "proxy: http://HOST:PORT, socks5://HOST:PORT, @env:NAME, @file:PATH, or env (http_proxy and its like)",
    ),
    one("fetch.proxy_credentials", "", "user:password of the proxy, as @env:NAME or @file:PATH"),
    list("fetch.no_proxy", "", "host patterns that are fetched without a proxy"),
    one("fetch.cookies", "off", "cookies: off, session (for one run) or keep (over runs)"),
    one("fetch.cookies_file", "", "cookies.txt to import, e.g. of a browser that is logged in"),
    list("fetch.ca_file", "", "PEM files with root certificates to trust besides the usual ones"),
    list(
        "fetch.connect_to",
        "",
        "HOST1:PORT1:HOST2:PORT2: connect to HOST2:PORT2 instead; an empty part matches any",
    ),
    one("fetch.dns", "own", "resolver: own (caching), system, or addresses of name servers"),
    one(
        "render.mode",
        "never",
        "whether a crawl runs the scripts of pages in a browser: never or always",
    ),
    one("render.cpu", "50%", "most CPU of the browser in a crawl, as a share of all cores"),
    one(
        "render.browser",
        "",
        "the browser's program; empty: chromium-headless-shell where it is installed",
    ),
    one(
        "render.sandbox",
        "on",
        "the browser's own sandbox: on, or off where this system cannot have it",
    ),
    one("render.assets", "skip", "images, fonts and media of rendered pages: skip or request"),
    one(
        "render.clicks",
        "0",
        "how many elements of a rendered page are clicked to find more links",
    ),
    one("render.max_cpu", "3s", "most CPU time of the browser for one page"),
    one("render.max_requests", "200", "most requests that one rendered page may cause"),
    one("archive.level", "1", "gzip level, 1 to 12"),
    one("archive.roll", "1GB", "size at which a new WARC file is started"),
    one("archive.requests", "true", "store the request with each response"),
    one("archive.prefix", "evercrawl", "prefix of WARC file names"),
    list(
        "retention.archive",
        "all",
        "which captures to keep: all, last 5 (versions), 90d, daily, daily 365d; or several",
    ),
    list("retention.visits", "all", "which visits to keep in the log, besides archived ones"),
    one("retention.every", "1d", "how often a running crawl deletes the rest"),
    one("engine.workers", "0", "threads that process pages; 0: one per core"),
    one("engine.max_active_hosts", "10000", "maximum hosts crawled at the same time"),
    one("engine.store_cache", "96MiB", "memory for reading the state"),
    one("engine.store_buffer", "8MiB", "memory per kind of row before it is written"),
];

/// Names of settings up to 0.1, which files, variables and `-s` may still use until 0.2.
const OLD_NAMES: [(&str, &str); 9] = [
    ("identity.agent", "identity.user_agent"),
    ("crawl.embeds", "crawl.page_requisites"),
    ("crawl.max_per_shape", "crawl.max_similar_urls"),
    ("crawl.url_steps", "crawl.url_normalization"),
    ("budget.discover", "budget.discovery_share"),
    ("schedule.recrawl", "schedule.revisit_every"),
    ("schedule.least_change", "schedule.min_change"),
    ("schedule.confirm", "schedule.recheck_reverted"),
    ("engine.active_hosts", "engine.max_active_hosts"),
];

/// The setting of this name, or of this name in an earlier version.
fn find_key(name: &str) -> Option<&'static Key> {
    let renamed = OLD_NAMES.iter().find(|(old, _)| *old == name);
    let name = renamed.map_or(name, |(_, new)| new);
    KEYS.iter().find(|key| key.name == name)
}

/// The setting of an environment variable.
fn key_of_variable(wanted: &str) -> Option<&'static Key> {
    let names = KEYS.iter().map(|key| key.name).chain(OLD_NAMES.map(|(old, _)| old));
    names.into_iter().find(|name| variable(name) == wanted).and_then(find_key)
}

/// Where a value was set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// Nowhere: the default.
    Default,
    /// A setting that stands for several.
    Preset(&'static str),
    /// An earlier command on this data directory.
    Remembered,
    /// A configuration file.
    File(PathBuf),
    /// An environment variable.
    Environment(String),
    /// The command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Preset(name) => f.write_str(name),
            Origin::Remembered => f.write_str("an earlier command on this data directory"),
            Origin::File(path) => write!(f, "{}", path.display()),
            Origin::Environment(name) => write!(f, "${name}"),
            Origin::Flag => f.write_str("command line"),
        }
    }
}

/// A value and where it was set.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) items: Vec<String>,
    pub(crate) origin: Origin,
}

/// The value of every setting.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    values: BTreeMap<&'static str, Value>,
    /// Rules for some hosts, and where they were set.
    tables: BTreeMap<&'static str, (Vec<toml::Table>, Origin)>,
}

/// Rules that a file may have any number of, as `[[request]]`.
pub(crate) const TABLES: [&str; 3] = ["proxy", "region", "request"];

impl Settings {
    pub(crate) fn defaults() -> Self {
        let value = |key: &Key| {
            let items =
                if key.default.is_empty() { Vec::new() } else { vec![key.default.to_owned()] };
            (key.name, Value { items, origin: Origin::Default })
        };
        Settings { values: KEYS.iter().map(value).collect(), tables: BTreeMap::new() }
    }

    /// Reads the values of a file.
    pub(crate) fn read_file(&mut self, path: &Path, origin: &Origin) -> anyhow::Result<()> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::config(format!("cannot read {}: {error}", path.display())))?;
        let table: toml::Table = toml::from_str(&text).map_err(|error| {
            Failure::config(format!("{}: {}", path.display(), error.to_string().trim()))
        })?;
        self.read_table("", &table, origin)
            .map_err(|error| Failure::config(format!("{}: {error}", path.display())))
    }

    fn read_table(
        &mut self,
        prefix: &str,
        table: &toml::Table,
        origin: &Origin,
    ) -> anyhow::Result<()> {
        for (name, value) in table {
            if let Some(kind) = TABLES.iter().find(|kind| prefix.is_empty() && **kind == name) {
                self.tables.insert(kind, (host_rules(kind, value)?, origin.clone()));
                continue;
            }
            let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            match value {
                toml::Value::Table(table) => self.read_table(&name, table, origin)?,
                toml::Value::Array(items) => {
                    self.set(&name, items.iter().map(plain).collect(), origin.clone())?;
                }
                value => self.set(&name, vec![plain(value)], origin.clone())?,
            }
        }
        Ok(())
    }

    /// Reads `EVERCRAWL_SECTION_KEY` variables; lists are separated by commas.
    pub(crate) fn read_environment(
        &mut self,
        variables: impl Iterator<Item = (String, String)>,
    ) -> anyhow::Result<()> {
        for (name, value) in variables {
            let Some(rest) = name.strip_prefix("EVERCRAWL_") else { continue };
            if matches!(rest, "CONFIG" | "DATA") || rest.starts_with("TEST_") {
                continue;
            }
            let Some(key) = key_of_variable(&name) else {
                let nearest = nearest(&name, KEYS.iter().map(|key| variable(key.name)));
                return Err(Failure::config(format!("${name} is not a setting{nearest}")));
            };
            let items = match key.kind {
                Kind::One => vec![value],
                Kind::List => value.split(',').map(|item| item.trim().to_owned()).collect(),
            };
            self.set(key.name, items, Origin::Environment(name))?;
        }
        Ok(())
    }

    pub(crate) fn set(
        &mut self,
        name: &str,
        items: Vec<String>,
        origin: Origin,
    ) -> anyhow::Result<()> {
        let Some(key) = find_key(name) else {
            let nearest = nearest(name, KEYS.iter().map(|key| key.name.to_owned()));
            return Err(Failure::config(format!("`{name}` is not a setting{nearest}")));
        };
        if key.kind == Kind::One && items.len() > 1 {
            return Err(Failure::config(format!("`{name}` takes one value, not a list")));
        }
        let items = items.into_iter().filter(|item| !item.is_empty()).collect();
        self.values.insert(key.name, Value { items, origin });
        Ok(())
    }

    /// Reads `name=value` of `-s`.
    pub(crate) fn set_pair(&mut self, pair: &str) -> anyhow::Result<()> {
        let (name, value) = pair.split_once('=').ok_or_else(|| {
            Failure::usage(format!("`{pair}` is not a setting; use -s NAME=VALUE"))
        })?;
        if SECRETS.contains(&name) && !crate::secret::is_reference(value) {
            let variable = variable(name);
            return Err(Failure::usage(format!(
                "{name} is a secret, and other users can read command lines; put it into evercrawl.toml or the variable {variable}"
            )));
        }
        let many = find_key(name).is_some_and(|key| key.kind == Kind::List);
        let items = if many {
            value.split(',').map(str::to_owned).collect()
        } else {
            vec![value.to_owned()]
        };
        self.set(name, items, Origin::Flag)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static Key, &Value)> {
        KEYS.iter().filter_map(|key| Some((key, self.values.get(key.name)?)))
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(find_key(name)?.name)
    }

    /// Whether nothing but the default was set.
    pub(crate) fn is_default(&self, name: &str) -> bool {
        self.value(name).is_none_or(|value| value.origin == Origin::Default)
    }

    pub(crate) fn items(&self, name: &str) -> &[String] {
        self.value(name).map_or(&[], |value| &value.items)
    }

    /// The value of a setting for display; secrets are hidden.
    pub(crate) fn shown(&self, key: &Key) -> String {
        let items = self.items(key.name);
        let is_reference = items.iter().all(|item| crate::secret::is_reference(item));
        // The URL of a proxy may have a password by mistake.
        let may_hide = key.name == "fetch.proxy" && items.iter().any(|item| item.contains('@'));
        let secret = (SECRETS.contains(&key.name) || may_hide) && !is_reference;
        if secret && !items.is_empty() { "(hidden)".to_owned() } else { items.join(", ") }
    }

    /// Where a setting was set.
    pub(crate) fn origin(&self, name: &str) -> String {
        self.value(name).map(|value| value.origin.to_string()).unwrap_or_default()
    }

    /// The rules of one kind for some hosts, and where they were set.
    pub(crate) fn host_rules(&self, kind: &str) -> (&[toml::Table], Option<&Origin>) {
        let found = self.tables.get(kind);
        found.map_or((&[], None), |(rules, origin)| (rules, Some(origin)))
    }

    /// The value of a setting, read by `parse`; an error names the setting and where it was set.
    pub(crate) fn get<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> anyhow::Result<Option<T>> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let Some(text) = value.items.first() else { return Ok(None) };
        let read = parse(text);
        read.map(Some).map_err(|error| {
            let origin = &value.origin;
            Failure::config(format!("{name} (from {origin}): {error}"))
        })
    }

    /// The value of a setting that always has one.
    pub(crate) fn need<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> anyhow::Result<T> {
        self.get(name, parse)?.ok_or_else(|| Failure::config(format!("{name} must not be empty")))
    }

    pub(crate) fn flag(&self, name: &str) -> anyhow::Result<bool> {
        self.need(name, |text| {
            text.parse().map_err(|_| format!("`{text}` is not valid; use true or false"))
        })
    }

    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> anyhow::Result<T> {
        self.need(name, |text| text.parse().map_err(|_| format!("`{text}` is not a valid number")))
    }

    /// A number that must not be 0.
    pub(crate) fn one_or_more(&self, name: &str) -> anyhow::Result<usize> {
        self.need(name, |text| match text.parse() {
            Ok(0) => Err("`0` fetches nothing; use 1 or more".to_owned()),
            Ok(number) => Ok(number),
            Err(_) => Err(format!("`{text}` is not a valid number")),
        })
    }

    /// Writes what flags and earlier commands set, so that the next command on the same data
    /// directory uses it too.
    pub(crate) fn remember(&self, path: &Path) -> anyhow::Result<()> {
        let mut table = toml::Table::new();
        for (name, value) in &self.values {
            if !matches!(value.origin, Origin::Flag | Origin::Remembered) {
                continue;
            }
            let Some((section, key)) = name.split_once('.') else { continue };
            if OF_ONE_RUN.contains(&section) {
                continue;
            }
            let items = value.items.iter().cloned().map(toml::Value::String).collect();
            let section = table.entry(section).or_insert_with(|| toml::Table::new().into());
            if let toml::Value::Table(section) = section {
                section.insert(key.to_owned(), toml::Value::Array(items));
            }
        }
        if table.is_empty() {
            return Ok(());
        }
        let head = "# Settings given on the command line; the next run uses them too.\n";
        // A crawl that is killed right here must not forget its scope.
        Ok(replace_file(path, format!("{head}{table}").as_bytes())?)
    }
}

/// Settings that other users must not read.
const SECRETS: [&str; 3] = ["push.token", "push.secret", "fetch.proxy_credentials"];

/// The rules of `[[request]]`, `[[proxy]]` or `[[region]]`.
fn host_rules(kind: &str, value: &toml::Value) -> anyhow::Result<Vec<toml::Table>> {
    let rules: Option<Vec<toml::Table>> =
        value.as_array().and_then(|rules| rules.iter().map(|it| it.as_table().cloned()).collect());
    rules.ok_or_else(|| {
        Failure::config(format!("`{kind}` is a list of rules; begin each with a line [[{kind}]]"))
    })
}

/// Sections that hold for one run only: they do not define what is crawled.
const OF_ONE_RUN: [&str; 3] = ["limits", "engine", "push"];

/// The environment variable of a setting.
pub(crate) fn variable(name: &str) -> String {
    format!("EVERCRAWL_{}", name.replace('.', "_").to_ascii_uppercase())
}

fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// `; did you mean ...?`, where a name is similar enough.
fn nearest(wrong: &str, names: impl Iterator<Item = String>) -> String {
    let scored = names.map(|name| (strsim::jaro_winkler(wrong, &name), name));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((score, name)) if score > 0.8 => format!("; did you mean `{name}`?"),
        _ => "; `evercrawl config show` lists all".to_owned(),
    }
}

#[cfg(test)]
mod tests;
