//! What stands in `rules.toml`? Read as a whole, with every mistake at its place.

use std::collections::BTreeMap;

use evercrawl_regions::Region;
use regex::Regex;
use serde::Deserialize;

use crate::condition::Condition;
use crate::nearest::nearest;
use crate::units::duration;
use crate::watch::{Chosen, Watch};

/// What a user wants to be told of, and where.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The watches, by name.
    pub watches: Vec<Watch>,
    /// The channels, by name.
    pub channels: Vec<ChannelRule>,
}

/// What goes to one channel, and when.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelRule {
    /// Its name.
    pub name: String,
    /// Where it is; may be, or hold, a reference to a secret.
    pub url: String,
    /// The watches whose hits go there; `None`: all.
    pub rules: Option<Vec<String>>,
    /// Watches whose hits wait for nothing.
    pub urgent: Vec<String>,
    /// Seconds for which hits are gathered into one message.
    pub batch: Option<f64>,
    /// When nothing is sent.
    pub quiet: Option<Quiet>,
    /// Whether faults go there, such as a region that is missing.
    pub faults: bool,
    /// Whether it may be at a private address.
    pub private: bool,
    /// Where the secret is that signs messages; two during a change.
    pub secrets: Vec<String>,
}

/// A time of the day in which nothing is sent, in a time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quiet {
    /// From this minute of the day on.
    pub from: u16,
    /// To this one.
    pub to: u16,
    /// The name of the zone.
    pub zone: String,
}

/// What is wrong with rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct BadRules(pub Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn list(self) -> Vec<String> {
        match self {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        }
    }
}

#[derive(Default, Deserialize)]
struct ChosenTable {
    tag: Option<OneOrMany>,
    host: Option<OneOrMany>,
    url: Option<OneOrMany>,
}

#[derive(Deserialize)]
struct RegionTable {
    css: String,
    without: Option<OneOrMany>,
}

const TOP: [&str; 2] = ["watch", "channel"];
const WATCH: [&str; 9] =
    ["tag", "host", "url", "region", "when", "confirm", "phrases", "works", "except"];
const REGION: [&str; 2] = ["css", "without"];
const CHOSEN: [&str; 3] = ["tag", "host", "url"];
const CHANNEL: [&str; 8] =
    ["url", "rules", "urgent", "batch", "quiet", "faults", "private", "secret"];

impl Rules {
    /// Reads the text of `rules.toml`. All mistakes are told, not only the first.
    pub fn read(text: &str) -> Result<Self, BadRules> {
        let table: toml::Table = toml::from_str(text)
            .map_err(|error| BadRules(vec![error.to_string().trim().to_owned()]))?;
        let (mut rules, mut wrong) = (Rules::default(), unknown("", &table, &TOP));
        for (name, table) in tables(&table, "watch", &mut wrong) {
            match watch(&name, table) {
                Ok(watch) => rules.watches.push(watch),
                Err(why) => {
                    wrong.extend(why.into_iter().map(|why| format!("[watch.{name}] {why}")))
                }
            }
        }
        let names: Vec<String> = tables(&table, "watch", &mut Vec::new()).into_keys().collect();
        for (name, table) in tables(&table, "channel", &mut wrong) {
            match channel(&name, table, &names) {
                Ok(channel) => rules.channels.push(channel),
                Err(why) => {
                    wrong.extend(why.into_iter().map(|why| format!("[channel.{name}] {why}")))
                }
            }
        }
        if wrong.is_empty() { Ok(rules) } else { Err(BadRules(wrong)) }
    }

    /// The watch of a name.
    pub fn watch(&self, name: &str) -> Option<&Watch> {
        self.watches.iter().find(|watch| watch.name == name)
    }

    /// The channel of a name.
    pub fn channel(&self, name: &str) -> Option<&ChannelRule> {
        self.channels.iter().find(|channel| channel.name == name)
    }
}

impl ChannelRule {
    /// Whether hits of a watch go there.
    pub fn takes(&self, watch: &str, is_fault: bool) -> bool {
        match is_fault {
            true => self.faults,
            false => match &self.rules {
                Some(rules) => rules.iter().any(|rule| rule == watch),
                // A channel for faults alone takes nothing else.
                None => !self.faults,
            },
        }
    }
}

fn tables<'a>(
    table: &'a toml::Table,
    kind: &str,
    wrong: &mut Vec<String>,
) -> BTreeMap<String, &'a toml::Table> {
    let mut found = BTreeMap::new();
    let Some(value) = table.get(kind) else { return found };
    let Some(all) = value.as_table() else {
        wrong.push(format!("`{kind}` is a table; begin each with a line [{kind}.NAME]"));
        return found;
    };
    for (name, value) in all {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        match value.as_table() {
            Some(table) if name.len() <= 60 && !name.is_empty() && name.chars().all(is_plain) => {
                found.insert(name.clone(), table);
            }
            Some(_) => {
                wrong.push(format!("`{name}` is not a name; use letters, digits, `-` and `_`"))
            }
            None => wrong
                .push(format!("`{kind}.{name}` is a table; begin it with a line [{kind}.NAME]")),
        }
    }
    found
}

fn unknown(place: &str, table: &toml::Table, known: &[&str]) -> Vec<String> {
    let wrong = table.keys().filter(|name| !known.contains(&name.as_str()));
    wrong
        .map(|name| {
            let hint = match nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known are {}", known.join(", ")),
            };
            format!("`{place}{name}` is not known; {hint}")
        })
        .collect()
}

/// Reads one value; `None` where it is not there or is wrong.
fn field<T: serde::de::DeserializeOwned>(
    table: &toml::Table,
    name: &str,
    what: &str,
    wrong: &mut Vec<String>,
) -> Option<T> {
    let value = table.get(name)?.clone();
    value.try_into().map_err(|_| wrong.push(format!("`{name}` is {what}"))).ok()
}

fn chosen(table: &toml::Table, wrong: &mut Vec<String>) -> Chosen {
    let mut list = |name: &str| {
        let read: Option<OneOrMany> = field(table, name, "a text, or a list of texts", wrong);
        read.map(OneOrMany::list).unwrap_or_default()
    };
    let read = ChosenTable {
        tag: Some(OneOrMany::Many(list("tag"))),
        host: Some(OneOrMany::Many(list("host"))),
        url: Some(OneOrMany::Many(list("url"))),
    };
    let of = |list: Option<OneOrMany>| list.map(OneOrMany::list).unwrap_or_default();
    let urls = of(read.url).into_iter().filter_map(|pattern| {
        Regex::new(&pattern)
            .map_err(|error| {
                let why = error.to_string();
                let why = why.lines().last().unwrap_or_default();
                wrong.push(format!("`{pattern}` is not a regular expression: {why}"));
            })
            .ok()
    });
    let urls = urls.collect();
    Chosen { tags: of(read.tag), hosts: of(read.host), urls }
}

fn watch(name: &str, table: &toml::Table) -> Result<Watch, Vec<String>> {
    let mut wrong = unknown("", table, &WATCH);
    let of = chosen(table, &mut wrong);
    let except = match table.get("except").map(toml::Value::as_table) {
        Some(Some(except)) => {
            wrong.extend(unknown("except.", except, &CHOSEN));
            chosen(except, &mut wrong)
        }
        Some(None) => {
            wrong.push("`except` is a table, such as { host = [\"example.org\"] }".to_owned());
            Chosen::default()
        }
        None => Chosen::default(),
    };
    let (region, region_css) = region(table, &mut wrong);
    let path = "the path of a file or folder";
    let phrases: Option<String> = field(table, "phrases", path, &mut wrong);
    let works: Option<String> = field(table, "works", path, &mut wrong);
    let default = match (&phrases, &works) {
        (Some(_), Some(_)) => "phrase or copied_words >= 60",
        (Some(_), None) => "phrase",
        (None, Some(_)) => "copied_words >= 60",
        (None, None) => "change",
    };
    let when: Option<String> = field(table, "when", "a condition in quotation marks", &mut wrong);
    let when = Condition::read(when.as_deref().unwrap_or(default));
    let when = when.map_err(|error| wrong.push(format!("when: {error}"))).ok();
    if let Some(when) = &when {
        for (field, file, given) in [
            (crate::facts::Field::Phrase, "phrases", phrases.is_some()),
            (crate::facts::Field::CopiedWords, "works", works.is_some()),
        ] {
            if when.fields().contains(&field) && !given {
                wrong.push(format!("`{}` needs `{file} = PATH`", field.name()));
            }
        }
    }
    let confirm = seconds(table, "confirm", &mut wrong);
    match when.filter(|_| wrong.is_empty()) {
        Some(when) => Ok(Watch {
            name: name.to_owned(),
            of,
            except,
            region,
            region_css,
            when,
            confirm,
            phrases,
            works,
        }),
        None => Err(wrong),
    }
}

fn region(table: &toml::Table, wrong: &mut Vec<String>) -> (Option<Region>, Option<String>) {
    let read = match table.get("region") {
        None => return (None, None),
        Some(toml::Value::String(css)) => Some(RegionTable { css: css.clone(), without: None }),
        Some(toml::Value::Table(region)) => {
            wrong.extend(unknown("region.", region, &REGION));
            field(table, "region", "a selector, or { css = \"main\", without = [\".ad\"] }", wrong)
        }
        Some(_) => {
            wrong.push(
                "`region` is a selector, or { css = \"main\", without = [\".ad\"] }".to_owned(),
            );
            None
        }
    };
    let Some(read) = read else { return (None, None) };
    let without = read.without.map(OneOrMany::list).unwrap_or_default();
    let region = Region::new(&read.css, &without);
    let region = region.map_err(|error| wrong.push(format!("region: {error}"))).ok();
    (region, Some(read.css))
}

fn seconds(table: &toml::Table, name: &str, wrong: &mut Vec<String>) -> Option<f64> {
    let text: String = field(table, name, "a duration, such as \"15m\"", wrong)?;
    let read = duration(&text);
    if read.is_none() {
        wrong.push(format!("{name}: `{text}` is not a duration; use e.g. 15m"));
    }
    read
}

fn channel(
    name: &str,
    table: &toml::Table,
    watches: &[String],
) -> Result<ChannelRule, Vec<String>> {
    let mut wrong = unknown("", table, &CHANNEL);
    let url: Option<String> =
        field(table, "url", "an address, such as \"slack://@env:SLACK_HOOK\"", &mut wrong);
    if url.is_none() && !table.contains_key("url") {
        wrong.push(
            "`url` is missing; give an address, such as \"slack://@env:SLACK_HOOK\"".to_owned(),
        );
    }
    let names = "a list of names of watches";
    let rules: Option<Vec<String>> = field(table, "rules", names, &mut wrong);
    let urgent: Vec<String> = field(table, "urgent", names, &mut wrong).unwrap_or_default();
    for wanted in rules.iter().flatten().chain(&urgent).filter(|wanted| !watches.contains(wanted)) {
        let hint = nearest(wanted, watches.iter().map(String::as_str));
        let hint = hint.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        wrong.push(format!("there is no [watch.{wanted}]{hint}"));
    }
    let secret: Option<OneOrMany> =
        field(table, "secret", "a reference such as \"@env:NAME\"", &mut wrong);
    let secrets = secret.map(OneOrMany::list).unwrap_or_default();
    if secrets.iter().any(|secret| !secret.starts_with("@env:") && !secret.starts_with("@file:")) {
        wrong.push("secret: a secret must not stand here; use @env:NAME or @file:PATH".to_owned());
    }
    let is = "true or false";
    let channel = ChannelRule {
        name: name.to_owned(),
        url: url.unwrap_or_default(),
        rules,
        urgent,
        batch: seconds(table, "batch", &mut wrong),
        quiet: quiet(table, &mut wrong),
        faults: field(table, "faults", is, &mut wrong).unwrap_or_default(),
        private: field(table, "private", is, &mut wrong).unwrap_or_default(),
        secrets,
    };
    if wrong.is_empty() { Ok(channel) } else { Err(wrong) }
}

fn quiet(table: &toml::Table, wrong: &mut Vec<String>) -> Option<Quiet> {
    let what = "a time of the day and a zone, such as \"22:00-07:00 Europe/Berlin\"";
    let text: String = field(table, "quiet", what, wrong)?;
    let minute = |text: &str| {
        let (hour, minute) = text.trim().split_once(':')?;
        let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
        (hour < 24 && minute < 60).then_some(hour * 60 + minute)
    };
    let read = || {
        let (times, zone) = text.trim().split_once(' ')?;
        let (from, to) = times.split_once(['-', '–'])?;
        Some(Quiet { from: minute(from)?, to: minute(to)?, zone: zone.trim().to_owned() })
    };
    let read = read();
    if read.is_none() {
        wrong.push(format!("quiet: `{text}` is not {what}"));
    }
    read
}
