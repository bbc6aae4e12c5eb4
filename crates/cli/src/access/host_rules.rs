//! Which rules for some hosts does a file have? `[[request]]` and `[[proxy]]`.

use evercrawl_fetch::{BadHeader, ProxyRule, RequestRule};

use super::{pattern, proxy};
use crate::exit::Failure;
use crate::secret;
use crate::settings::{Settings, TABLES};

/// One rule, and where it stands, for messages.
struct Rule<'a> {
    kind: &'static str,
    number: usize,
    table: &'a toml::Table,
}

/// Headers and credentials by host.
pub(super) fn requests(settings: &Settings) -> anyhow::Result<Vec<RequestRule>> {
    let mut rules = Vec::new();
    for rule in rules_of(settings, "request") {
        rule.knows(&["host", "headers", "basic", "bearer", "plain_http"])?;
        let plain_http = rule.flag("plain_http")?;
        for host in rule.hosts()? {
            let hosts = pattern(&rule.place("host"), &host)?;
            let made =
                RequestRule::new(hosts, plain_http).map_err(|error| rule.bad("host", error))?;
            rules.push(rule.fill(made)?);
        }
    }
    Ok(rules)
}

/// Proxies by host.
pub(super) fn proxies(settings: &Settings) -> anyhow::Result<Vec<ProxyRule>> {
    let mut rules = Vec::new();
    for rule in rules_of(settings, "proxy") {
        rule.knows(&["host", "url", "credentials"])?;
        let url = rule.text("url")?;
        let url =
            url.ok_or_else(|| rule.bad("url", "is missing; use http://, socks5:// or none"))?;
        let login = rule.secret("credentials")?;
        let proxy = match url.as_str() {
            "none" => None,
            url => Some(proxy(url, login.as_deref()).map_err(|error| rule.bad("url", error))?),
        };
        for host in rule.hosts()? {
            let hosts = pattern(&rule.place("host"), &host)?;
            rules.push(ProxyRule { hosts, scheme: None, proxy: proxy.clone() });
        }
    }
    Ok(rules)
}

/// The rules as they may be shown: name, content, without anything that may be secret.
pub(crate) fn shown(settings: &Settings) -> Vec<(String, String, String)> {
    let mut lines = Vec::new();
    for kind in TABLES {
        let origin = settings.host_rules(kind).1.map(ToString::to_string).unwrap_or_default();
        for rule in rules_of(settings, kind) {
            let parts: Vec<String> = rule
                .table
                .iter()
                .map(|(key, value)| format!("{key}={}", show(key, value)))
                .collect();
            lines.push((format!("{kind}[{}]", rule.number), parts.join(", "), origin.clone()));
        }
    }
    lines
}

/// A value; where it could be a secret, only a reference to one.
fn show(key: &str, value: &toml::Value) -> String {
    match value {
        toml::Value::Table(headers) => {
            let each = headers.iter().map(|(name, value)| format!("{name}: {}", show("", value)));
            each.collect::<Vec<_>>().join("; ")
        }
        toml::Value::Array(items) => {
            items.iter().map(|item| show(key, item)).collect::<Vec<_>>().join(" ")
        }
        toml::Value::String(text) => {
            let is_open = match key {
                "host" | "css" | "without" => true,
                "url" => !text.contains('@'),
                _ => false,
            };
            if is_open || secret::is_reference(text) { text.clone() } else { "(hidden)".to_owned() }
        }
        other => other.to_string(),
    }
}

fn rules_of<'a>(settings: &'a Settings, kind: &'static str) -> impl Iterator<Item = Rule<'a>> {
    let (tables, _) = settings.host_rules(kind);
    tables.iter().enumerate().map(move |(at, table)| Rule { kind, number: at + 1, table })
}

impl Rule<'_> {
    /// Adds the headers and credentials of the rule.
    fn fill(&self, mut made: RequestRule) -> anyhow::Result<RequestRule> {
        for (name, value) in self.headers()? {
            let is_secret = secret::is_reference(&value);
            let text = if is_secret {
                secret::read(&value).map_err(|error| self.bad(&name, error))?
            } else {
                value
            };
            made =
                made.with_header(&name, &text, is_secret).map_err(|it| self.bad("headers", it))?;
        }
        let bad = |key: &'static str| move |error: BadHeader| self.bad(key, &error);
        if let Some(login) = self.secret("basic")? {
            made = made.with_basic(&login).map_err(bad("basic"))?;
        }
        if let Some(token) = self.secret("bearer")? {
            made = made.with_bearer(&token).map_err(bad("bearer"))?;
        }
        Ok(made)
    }

    fn headers(&self) -> anyhow::Result<Vec<(String, String)>> {
        let Some(value) = self.table.get("headers") else { return Ok(Vec::new()) };
        let wrong = || self.bad("headers", "is not a table of texts; use { Name = \"value\" }");
        let headers = value.as_table().ok_or_else(wrong)?.iter();
        let text = |(name, value): (&String, &toml::Value)| {
            Some((name.clone(), value.as_str()?.to_owned()))
        };
        headers.map(text).collect::<Option<_>>().ok_or_else(wrong)
    }

    fn hosts(&self) -> anyhow::Result<Vec<String>> {
        let wrong = || self.bad("host", "is missing; use e.g. host = \"*.example.org\"");
        match self.table.get("host") {
            Some(toml::Value::String(host)) => Ok(vec![host.clone()]),
            Some(toml::Value::Array(hosts)) if !hosts.is_empty() => {
                let texts = hosts.iter().map(|host| host.as_str().map(str::to_owned));
                texts.collect::<Option<_>>().ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }

    fn text(&self, key: &str) -> anyhow::Result<Option<String>> {
        let value = self.table.get(key);
        let text = |value: &toml::Value| value.as_str().map(str::to_owned);
        value.map(|value| text(value).ok_or_else(|| self.bad(key, "is not a text"))).transpose()
    }

    fn secret(&self, key: &str) -> anyhow::Result<Option<String>> {
        let reference = self.text(key)?;
        let read = |text: String| secret::read(&text).map_err(|error| self.bad(key, error));
        reference.map(read).transpose()
    }

    fn flag(&self, key: &str) -> anyhow::Result<bool> {
        let value = self.table.get(key).map(toml::Value::as_bool);
        value.unwrap_or(Some(false)).ok_or_else(|| self.bad(key, "is not true or false"))
    }

    /// Refuses a key that does not exist.
    fn knows(&self, keys: &[&str]) -> anyhow::Result<()> {
        match self.table.keys().find(|key| !keys.contains(&key.as_str())) {
            Some(unknown) => {
                let why = format!("is not a key of a rule; use {}", keys.join(", "));
                Err(self.bad(unknown, &why))
            }
            None => Ok(()),
        }
    }

    fn place(&self, key: &str) -> String {
        format!("[[{}]] number {}, {key}", self.kind, self.number)
    }

    fn bad(&self, key: &str, why: impl std::fmt::Display) -> anyhow::Error {
        Failure::config(format!("{}: {why}", self.place(key)))
    }
}
