//! Which value holds for each setting, and who said so? Flag over environment over file over what
//! an earlier command on this data directory said over default.

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
    one("identity.agent", "evercrawl", "product token that robots.txt and the User-Agent name"),
    one("identity.contact", "", "URL or mail where the crawl's operator can be reached"),
    one("crawl.scope", "host", "page | prefix | host | domain | any, around each seed"),
    list("crawl.include", "", "patterns (regular expressions), one of which must match a URL"),
    list("crawl.exclude", "", "patterns of URLs to leave out"),
    list("crawl.deny_hosts", "", "hosts to leave out, with all below them"),
    list("crawl.skip_extensions", "default", "file extensions to leave out; `none` for none"),
    list("crawl.skip_types", "", "content types to leave out, as in `image/` or `application/pdf`"),
    one("crawl.depth", "", "most links away from a seed"),
    one("crawl.embeds", "false", "also fetch what pages are made of: images, scripts, styles"),
    one("crawl.sitemaps", "true", "look for sitemaps in robots.txt and at /sitemap.xml"),
    one("crawl.page_directives", "true", "heed nofollow and noarchive of pages and links"),
    one("crawl.max_redirects", "10", "redirects in a row before giving up"),
    one("crawl.max_url_length", "2048", "longer URLs are left out"),
    one("crawl.max_pages_per_host", "", "known pages of a host before more are left out"),
    one("crawl.max_per_shape", "10000", "URLs of one host that differ only in parameters or dates"),
    list("crawl.url_steps", "default", "steps that make URLs canonical; `-step` leaves one out"),
    one(
        "crawl.mirrors",
        "hold",
        "what a mirror and its original both have: hold (fetched from the original alone) or fetch",
    ),
    one("links.keep", "true", "keep which page links to which, for `evercrawl rank`"),
    one(
        "links.memory",
        "1GiB",
        "memory for all links at once where a running crawl ranks pages or looks for spam; else links are only counted",
    ),
    one("links.anchors", "false", "keep the words that links are put in, up to 64 bytes each"),
    one(
        "importance.method",
        "none",
        "what makes a page's freshness count more: none (all alike), pagerank or opic (links)",
    ),
    one("importance.every", "6h", "how often a running crawl ranks its pages anew"),
    one(
        "discover.order",
        "breadth",
        "which new pages come first: breadth (nearest to a seed), indegree, pagerank, opic, larger-sites, topic",
    ),
    list("discover.topic", "", "words that new pages should be about, and `tag:NAME` of seeds"),
    one(
        "spam.action",
        "report",
        "what is done about hosts that are spam: report (nothing), lower or exclude",
    ),
    one("spam.threshold", "95%", "how likely a host must be spam before anything is done about it"),
    one("spam.every", "6h", "how often a running crawl looks for spam, where something is done"),
    one("pace.delay", "1s", "pause after each request to a host; 0 for your own server only"),
    one("pace.ip_delay", "250ms", "pause after each request to an address"),
    one("pace.max_crawl_delay", "30s", "longest Crawl-delay of a robots.txt that is honoured"),
    one("pace.slow_factor", "1", "a slow host gets a pause of so many times its last answer"),
    one("pace.per_host", "1", "requests to one host at once"),
    one("budget.rate", "", "requests over all hosts, as in 5/s"),
    one("budget.bytes_per_day", "", "content received in any 24 hours, over all runs, as in 2GB"),
    one("budget.discover", "50%", "share of requests for new pages, while others are due too"),
    one("budget.concurrency", "256", "requests out at once over all hosts"),
    one(
        "schedule.recrawl",
        "auto",
        "a fixed interval; auto: the policy's choice with a budget, else 1d",
    ),
    one(
        "schedule.policy",
        "index",
        "how a budget is divided over known pages: index, gamma or uniform",
    ),
    one("schedule.goal", "freshness", "what the policy aims at: freshness, coverage or age"),
    one("schedule.min_interval", "1m", "no page is visited again sooner by the policy"),
    one(
        "schedule.audits",
        "2%",
        "share of requests for pages drawn by lot, to know how fresh all are",
    ),
    one(
        "schedule.least_change",
        "0.1%",
        "a visit that finds less of a page's text to be news found no change",
    ),
    one(
        "schedule.confirm",
        "",
        "how soon a page that changed to what it was before is looked at again, to see if that holds",
    ),
    one("schedule.max_interval", "", "no page waits longer by the policy"),
    one("schedule.tries", "3", "attempts at a first visit before the page waits like any other"),
    one("push.listen", "", "address and port where a crawl is told over HTTP that pages changed"),
    one("push.token", "", "word that whoever calls there must know; needed beyond loopback"),
    one("push.secret", "", "secret that WebSub notifications must be signed with"),
    one("limits.min_free_disk", "1GiB", "stop cleanly when less is free"),
    one("limits.body", "20MiB", "longest body that is taken; the rest is cut and marked"),
    one("limits.unpacked", "32MiB", "longest body after unpacking"),
    one("limits.unpack_ratio", "250", "most times a body may grow by unpacking"),
    one("fetch.timeout_connect", "10s", "for opening a connection"),
    one("fetch.timeout_answer", "30s", "from the request to the head of the answer"),
    one("fetch.timeout_idle", "20s", "between two parts of a body"),
    one("fetch.timeout_total", "2m", "for everything"),
    one("fetch.http2", "false", "speak HTTP/2 where it is offered"),
    one("fetch.accept_invalid_certificates", "false", "go on, and record what is wrong"),
    list(
        "fetch.allow_private",
        "",
        "networks outside the public internet to allow; loopback: this machine's own",
    ),
    list("fetch.connect_to", "", "HOST1:PORT1:HOST2:PORT2 as curl's; empty parts mean any"),
    one("fetch.dns", "own", "own (cached, refreshed ahead) | system | addresses of name servers"),
    one("archive.level", "1", "gzip level, 1 to 12"),
    one("archive.roll", "1GB", "size at which a WARC file is closed and the next begun"),
    one("archive.requests", "true", "keep the request beside the response"),
    one("archive.prefix", "evercrawl", "what WARC file names begin with"),
    list(
        "retention.archive",
        "all",
        "what stays of the archive: all | last 5 (versions) | 90d | daily | daily 365d; or several",
    ),
    list("retention.visits", "all", "what stays of the visit log besides what is in the archive"),
    one("retention.every", "1d", "how often a running crawl drops the rest"),
    one("engine.workers", "0", "threads that read pages; 0: one a core"),
    one("engine.active_hosts", "10000", "hosts that are crawled at once"),
    one("engine.store_cache", "96MiB", "memory for reading the state"),
    one("engine.store_buffer", "8MiB", "memory for each kind of row before it is written"),
];

/// Who set a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// Nobody.
    Default,
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
            Origin::Remembered => f.write_str("an earlier command on this data directory"),
            Origin::File(path) => write!(f, "{}", path.display()),
            Origin::Environment(name) => write!(f, "${name}"),
            Origin::Flag => f.write_str("command line"),
        }
    }
}

/// A value and who set it.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) items: Vec<String>,
    pub(crate) origin: Origin,
}

/// The settings in force.
#[derive(Clone, Debug)]
pub(crate) struct Settings(BTreeMap<&'static str, Value>);

impl Settings {
    pub(crate) fn defaults() -> Self {
        let value = |key: &Key| {
            let items =
                if key.default.is_empty() { Vec::new() } else { vec![key.default.to_owned()] };
            (key.name, Value { items, origin: Origin::Default })
        };
        Settings(KEYS.iter().map(value).collect())
    }

    /// Takes over the values of a file.
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

    /// Takes over `EVERCRAWL_SECTION_KEY` variables; lists are separated by commas.
    pub(crate) fn read_environment(
        &mut self,
        variables: impl Iterator<Item = (String, String)>,
    ) -> anyhow::Result<()> {
        for (name, value) in variables {
            let Some(rest) = name.strip_prefix("EVERCRAWL_") else { continue };
            if matches!(rest, "CONFIG" | "DATA") || rest.starts_with("TEST_") {
                continue;
            }
            let key = KEYS.iter().find(|key| variable(key.name) == name);
            let Some(key) = key else {
                let nearest = nearest(&name, KEYS.iter().map(|key| variable(key.name)));
                return Err(Failure::config(format!("${name} is no setting{nearest}")));
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
        let Some(key) = KEYS.iter().find(|key| key.name == name) else {
            let nearest = nearest(name, KEYS.iter().map(|key| key.name.to_owned()));
            return Err(Failure::config(format!("`{name}` is no setting{nearest}")));
        };
        if key.kind == Kind::One && items.len() > 1 {
            return Err(Failure::config(format!("`{name}` takes one value, not a list")));
        }
        let items = items.into_iter().filter(|item| !item.is_empty()).collect();
        self.0.insert(key.name, Value { items, origin });
        Ok(())
    }

    /// Reads `name=value` of `-s`.
    pub(crate) fn set_pair(&mut self, pair: &str) -> anyhow::Result<()> {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| Failure::usage(format!("-s takes NAME=VALUE, not `{pair}`")))?;
        if SECRETS.contains(&name) {
            let variable = variable(name);
            return Err(Failure::usage(format!(
                "every user of this machine can read a command line: put {name} into evercrawl.toml, or into {variable}"
            )));
        }
        let many = KEYS.iter().any(|key| key.name == name && key.kind == Kind::List);
        let items = if many {
            value.split(',').map(str::to_owned).collect()
        } else {
            vec![value.to_owned()]
        };
        self.set(name, items, Origin::Flag)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static Key, &Value)> {
        KEYS.iter().filter_map(|key| Some((key, self.0.get(key.name)?)))
    }

    pub(crate) fn items(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], |value| &value.items)
    }

    /// The value of a setting as it may be shown; of a secret only that there is one.
    pub(crate) fn shown(&self, key: &Key) -> String {
        let items = self.items(key.name);
        let secret = SECRETS.contains(&key.name) && !items.is_empty();
        if secret { "(hidden)".to_owned() } else { items.join(", ") }
    }

    /// The value of a setting, read by `parse`; an error names the setting and who set it.
    pub(crate) fn get<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> anyhow::Result<Option<T>> {
        let Some(value) = self.0.get(name) else { return Ok(None) };
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
            text.parse().map_err(|_| format!("`{text}` is neither true nor false"))
        })
    }

    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> anyhow::Result<T> {
        self.need(name, |text| text.parse().map_err(|_| format!("`{text}` is no fitting number")))
    }

    /// A number of things without which nothing is done.
    pub(crate) fn one_or_more(&self, name: &str) -> anyhow::Result<usize> {
        self.need(name, |text| match text.parse() {
            Ok(0) => Err("with `0` nothing is fetched: give 1 or more".to_owned()),
            Ok(number) => Ok(number),
            Err(_) => Err(format!("`{text}` is no fitting number")),
        })
    }

    /// Writes what flags and earlier commands said, so that the next command on the same data
    /// directory goes on alike.
    pub(crate) fn remember(&self, path: &Path) -> anyhow::Result<()> {
        let mut table = toml::Table::new();
        for (name, value) in &self.0 {
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
        let head = "# What was said on the command line, so that the next run goes on alike.\n";
        // A crawl that is killed right here must not forget where it was told to stay.
        Ok(replace_file(path, format!("{head}{table}").as_bytes())?)
    }
}

/// Settings that nobody else may read.
const SECRETS: [&str; 2] = ["push.token", "push.secret"];

/// Sections that say nothing of what a crawl is about, and so hold for one run only.
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

/// `; did you mean ...?`, where something is near enough.
fn nearest(wrong: &str, names: impl Iterator<Item = String>) -> String {
    let scored = names.map(|name| (strsim::jaro_winkler(wrong, &name), name));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((score, name)) if score > 0.8 => format!("; did you mean `{name}`?"),
        _ => "; `evercrawl config show` lists them all".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: anyhow::Result<()>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn later_sources_win_and_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("evercrawl.toml");
        std::fs::write(
            &path,
            "[pace]\ndelay = \"2s\"\nper_host = 3\n[crawl]\nexclude = [\"/a\", \"/b\"]\n",
        )
        .unwrap();
        let mut settings = Settings::defaults();
        settings.read_file(&path, &Origin::File(path.clone())).unwrap();
        let environment = [("EVERCRAWL_PACE_DELAY".to_owned(), "3s".to_owned())];
        settings.read_environment(environment.into_iter()).unwrap();
        assert_eq!(settings.items("pace.delay"), ["3s"]);
        assert_eq!(settings.items("pace.per_host"), ["3"]);
        assert_eq!(settings.items("crawl.exclude"), ["/a", "/b"]);
        settings.set_pair("pace.delay=4s").unwrap();
        assert_eq!(settings.items("pace.delay"), ["4s"]);
        assert_eq!(settings.0["pace.delay"].origin, Origin::Flag);
    }

    #[test]
    fn mistakes_are_named_with_what_was_meant() {
        let mut settings = Settings::defaults();
        assert!(message(settings.set_pair("pace.dealy=1s")).contains("did you mean `pace.delay`?"));
        assert!(message(settings.set_pair("pace.delay")).contains("NAME=VALUE"));
        let unknown = [("EVERCRAWL_PACE_DELAI".to_owned(), "1s".to_owned())];
        let error = message(settings.read_environment(unknown.into_iter()));
        assert!(error.contains("did you mean `EVERCRAWL_PACE_DELAY`?"), "{error}");
        settings.set_pair("pace.delay=soon").unwrap();
        let error = settings.need("pace.delay", crate::units::duration).unwrap_err().to_string();
        assert!(error.contains("pace.delay (from command line)"), "{error}");
    }

    #[test]
    fn what_flags_said_is_remembered_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("remembered.toml");
        let mut settings = Settings::defaults();
        settings.set_pair("crawl.exclude=/a,/b").unwrap();
        settings.remember(&path).unwrap();
        let mut again = Settings::defaults();
        again.read_file(&path, &Origin::Remembered).unwrap();
        assert_eq!(again.items("crawl.exclude"), ["/a", "/b"]);
        assert_eq!(again.0.values().filter(|v| v.origin != Origin::Default).count(), 1);
    }
}
