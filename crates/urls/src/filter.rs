//! May this URL be admitted? Scope and rules together, the cheapest check first.

use std::collections::HashSet;

use evercrawl_model::{Refusal, Time};
use regex::bytes::RegexSet;

use crate::{Canonical, FilterRules, RuleError, Scope, calendar, rules, traps};

/// Lets URLs in or gives the reason why not.
#[derive(Clone, Debug)]
pub struct UrlFilter {
    scope: Scope,
    pub(crate) rules: FilterRules,
    pub(crate) include: RegexSet,
    pub(crate) exclude: RegexSet,
    denied_hosts: HashSet<Box<str>>,
    /// [`packed`], in order.
    extensions: Vec<u64>,
}

impl UrlFilter {
    /// A gate for that scope and those rules.
    pub fn new(scope: Scope, rules: FilterRules) -> Result<Self, RuleError> {
        let endings = rules.extensions.iter();
        let mut extensions: Vec<u64> =
            endings.filter_map(|ending| packed(ending.trim_start_matches('.'))).collect();
        extensions.sort_unstable();
        Ok(UrlFilter {
            scope,
            include: rules::compile("include", &rules.include)?,
            exclude: rules::compile("exclude", &rules.exclude)?,
            denied_hosts: rules
                .denied_hosts
                .iter()
                .map(|name| denied_host(name))
                .collect::<Result<_, _>>()?,
            extensions,
            rules,
        })
    }

    /// What the crawl is about.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// What the crawl is about, to add seeds to.
    pub fn scope_mut(&mut self) -> &mut Scope {
        &mut self.scope
    }

    /// Lets in `url`, found `depth` links away from a seed, at time `now`; or says why not.
    ///
    /// Where several rules refuse it, the reason is the first in this order: length, depth, scope,
    /// denied host, extension, segments, cycles, parameters, calendar, exclude, include.
    pub fn check_url(&self, url: &Canonical, depth: u16, now: Time) -> Result<(), Refusal> {
        let rules = &self.rules;
        refuse(url.as_str().len() > rules.max_length, Refusal::TooLong)?;
        refuse(rules.max_depth.is_some_and(|most| depth > most), Refusal::TooDeep)?;
        refuse(!self.scope.contains(url), Refusal::OutOfScope)?;
        self.check_shape(url, now)?;
        let text = url.as_str().as_bytes();
        refuse(!self.include.is_empty() && !self.include.is_match(text), Refusal::NotIncluded)
    }

    /// The same for what a page of the crawl is made of: it may be on any host, at any depth, and need not match a
    /// pattern of pages to include.
    pub fn check_requisite(&self, url: &Canonical, now: Time) -> Result<(), Refusal> {
        refuse(url.as_str().len() > self.rules.max_length, Refusal::TooLong)?;
        self.check_shape(url, now)
    }

    fn check_shape(&self, url: &Canonical, now: Time) -> Result<(), Refusal> {
        let rules = &self.rules;
        refuse(self.denied_host(url).is_some(), Refusal::DeniedHost)?;
        refuse(self.filtered_extension(url).is_some(), Refusal::Extension)?;
        refuse(segments(url) > rules.max_segments, Refusal::TooManySegments)?;
        refuse(rules.refuse_cycles && cycle(url).is_some(), Refusal::RepeatedSegments)?;
        refuse(parameters(url) > rules.max_parameters, Refusal::TooManyParameters)?;
        let endless =
            rules.refuse_calendars && calendar::endless_calendar_month(url, now).is_some();
        refuse(endless, Refusal::Calendar)?;
        let text = url.as_str().as_bytes();
        refuse(!self.exclude.is_empty() && self.exclude.is_match(text), Refusal::Excluded)
    }

    /// The denied name that covers the URL's host.
    pub(crate) fn denied_host<'a>(&self, url: &'a Canonical) -> Option<&'a str> {
        if self.denied_hosts.is_empty() {
            return None;
        }
        let host = url.host();
        let parents = host.match_indices('.').map(|(dot, _)| &host[dot + 1..]);
        let names = std::iter::once(host).chain(parents);
        // No name in the DNS is longer; a longer one may be there to keep us busy.
        names.filter(|name| name.len() <= 253).find(|name| self.denied_hosts.contains(*name))
    }

    /// The ending of the URL's file, where it is a filtered one.
    pub(crate) fn filtered_extension<'a>(&self, url: &'a Canonical) -> Option<&'a str> {
        let ending = extension(url)?;
        self.extensions.binary_search(&packed(ending)?).is_ok().then_some(ending)
    }
}

fn refuse(yes: bool, why: Refusal) -> Result<(), Refusal> {
    if yes { Err(why) } else { Ok(()) }
}

/// How many segments the path has; a slash at the end makes none.
pub(crate) fn segments(url: &Canonical) -> usize {
    let path = url.path();
    memchr::memchr_iter(b'/', path.as_bytes()).count() - usize::from(path.ends_with('/'))
}

/// How many parameters the query has.
pub(crate) fn parameters(url: &Canonical) -> usize {
    let count = |query: &str| memchr::memchr_iter(b'&', query.as_bytes()).count() + 1;
    url.query().map_or(0, count)
}

/// What the path repeats.
pub(crate) fn cycle(url: &Canonical) -> Option<&str> {
    traps::cycle(url.path())
}

/// The ending of the last segment, without the dot and without `;` parameters.
fn extension(url: &Canonical) -> Option<&str> {
    let file = url.path().rsplit('/').next()?;
    let file = file.split(';').next().unwrap_or(file);
    // Wikis describe `File:Cat.jpg` on a page of that name.
    let (name, ending) = file.rsplit_once('.')?;
    (!name.is_empty() && !name.contains(':')).then_some(ending)
}

/// An ending of at most eight letters in lower case, as a number to search for.
fn packed(ending: &str) -> Option<u64> {
    let append = |packed: u64, byte: u8| packed << 8 | u64::from(byte.to_ascii_lowercase());
    (1..=8).contains(&ending.len()).then(|| ending.bytes().fold(0, append))
}

/// A denied host's name as canonical URLs write it.
fn denied_host(name: &str) -> Result<Box<str>, RuleError> {
    let bare = name.trim().trim_start_matches("*.").trim_matches('.');
    // With a port added, nothing but a host's name can stand before it.
    let url = Canonical::parse(&format!("http://{bare}:1/"));
    let url = url.ok().filter(|url| url.authority().ends_with(":1") && url.path() == "/");
    url.map(|url| url.host().into()).ok_or_else(|| RuleError::Host(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScopeKind;

    const NOW: Time = Time::from_secs(1_794_780_950); // November 2026

    fn gate(change: impl FnOnce(&mut FilterRules)) -> UrlFilter {
        let mut rules = FilterRules::default();
        change(&mut rules);
        let mut scope = Scope::new(ScopeKind::Host);
        for seed in ["http://a.org/", "http://b.org/", "http://sub.c.org/"] {
            scope.add(&Canonical::parse(seed).unwrap());
        }
        UrlFilter::new(scope, rules).unwrap()
    }

    /// The reason, and what is said about it; nothing where the URL is let in.
    fn verdict(gate: &UrlFilter, text: &str, depth: u16) -> Option<(Refusal, String)> {
        let url = Canonical::parse(text).unwrap();
        let reason = gate.check_url(&url, depth, NOW).err()?;
        Some((reason, gate.explain(&url, depth, NOW)?))
    }

    #[test]
    fn reasons_and_words() {
        let gate = gate(|rules| {
            rules.include = vec!["^https?://a\\.org/".into(), "(?i)SUB".into()];
            rules.exclude = vec!["/tmp/".into(), "/private/".into(), "\\?q=\\d+$".into()];
            rules.denied_hosts = vec!["*.C.org".into()];
            rules.max_depth = Some(3);
            rules.max_length = 100;
            rules.max_segments = 10;
            rules.max_parameters = 2;
        });
        for (path, reason, words) in [
            (&*"x".repeat(100), Refusal::TooLong, "113 bytes long, 100 allowed"),
            ("p.JPG", Refusal::Extension, "file extension `JPG`"),
            ("a/b/a/b/a/b/", Refusal::RepeatedSegments, "the path repeats `/a/b`"),
            ("1/2/3/4/5/6/7/8/9/0/1", Refusal::TooManySegments, "11 path segments, 10 allowed"),
            ("?a&b&c", Refusal::TooManyParameters, "3 parameters, 2 allowed"),
            ("calendar/2044/05/", Refusal::Calendar, "2044-05 of an endless calendar"),
            ("x/private/", Refusal::Excluded, "exclude pattern #2 `/private/`"),
            ("?q=12", Refusal::Excluded, "exclude pattern #3 `\\?q=\\d+$`"),
        ] {
            let got = verdict(&gate, &format!("http://a.org/{path}"), 0);
            assert_eq!(got, Some((reason, words.to_owned())), "{path}");
        }
        for (url, reason, words) in [
            ("http://z.org/", Refusal::OutOfScope, "scope host: not one of the 3 seed hosts"),
            ("http://sub.c.org/", Refusal::DeniedHost, "denied host `c.org`"),
            ("http://b.org/", Refusal::NotIncluded, "none of the 2 include patterns matches"),
        ] {
            assert_eq!(verdict(&gate, url, 0), Some((reason, words.to_owned())), "{url}");
        }
        let deep = "4 links away from a seed, 3 allowed".to_owned();
        assert_eq!(verdict(&gate, "http://a.org/", 4), Some((Refusal::TooDeep, deep)));
        assert_eq!(verdict(&gate, "http://a.org/fine?q=x", 3), None);
    }

    #[test]
    fn default_rules_let_ordinary_pages_in() {
        let gate = gate(|_| {});
        for path in [
            "",
            "2024/05/01/title",
            "wiki/File:Cat.jpg",
            "download.php?file=a.zip",
            "v1.2/index.html",
            "site/example.com",
            "wiki/Node.js",
            ".png",
            "feed.xml",
            "a/b/a/b/c",
            "docs/a/b/c/d/e/f/g/h/i/j/k/l.html",
            "?a=1&b=2&c=3&d=4",
        ] {
            assert_eq!(verdict(&gate, &format!("http://a.org/{path}"), 9), None, "{path}");
        }
    }

    #[test]
    fn filters_can_be_switched_off() {
        let open = gate(|rules| {
            rules.extensions.clear();
            rules.refuse_cycles = false;
            rules.refuse_calendars = false;
        });
        for path in ["p.jpg", "a/a/a/a", "calendar/2044/05"] {
            assert_eq!(verdict(&open, &format!("http://a.org/{path}"), 0), None, "{path}");
            assert!(verdict(&gate(|_| {}), &format!("http://a.org/{path}"), 0).is_some(), "{path}");
        }
    }

    #[test]
    fn denied_hosts_cover_subdomains_only() {
        let gate = gate(|rules| rules.denied_hosts = vec!["Ads.b.org".into(), "a.org".into()]);
        let denied =
            |text: &str| gate.denied_host(&Canonical::parse(text).unwrap()).map(str::to_owned);
        assert_eq!(denied("http://x.y.ads.b.org/"), Some("ads.b.org".into()));
        assert_eq!(denied("http://a.org:81/"), Some("a.org".into()));
        assert_eq!(denied("http://b.org/"), None);
        assert_eq!(denied("http://notads.b.org/"), None);
        assert_eq!(denied("http://ba.org/"), None);
    }

    #[test]
    fn bad_settings_are_told() {
        let error = |change: fn(&mut FilterRules)| {
            let mut rules = FilterRules::default();
            change(&mut rules);
            UrlFilter::new(Scope::default(), rules).unwrap_err().to_string()
        };
        let pattern = error(|rules| rules.exclude = vec!["ok".into(), "(".into()]);
        assert!(
            pattern.starts_with("exclude pattern #2 `(` is not a valid regular expression"),
            "{pattern}"
        );
        let letters = error(|rules| rules.include = vec!["é".into()]);
        assert!(letters.contains("%C3%A9"), "{letters}");
        for host in ["", "a/b", "a:80", "http://a.org", "a b"] {
            let rules = FilterRules { denied_hosts: vec![host.into()], ..FilterRules::default() };
            let error = UrlFilter::new(Scope::default(), rules).unwrap_err();
            assert_eq!(error, RuleError::Host(host.into()), "{host}");
        }
    }

    #[test]
    fn seeds_can_join_later() {
        let mut gate = gate(|_| {});
        assert!(verdict(&gate, "http://d.org/", 0).is_some());
        gate.scope_mut().add(&Canonical::parse("http://d.org/").unwrap());
        assert_eq!(verdict(&gate, "http://d.org/", 0), None);
        assert_eq!(gate.scope().len(), 4);
    }
}
