//! May this agent fetch this path, and which line says so?

use std::cmp::Reverse;
use std::time::Duration;

use crate::access::{Access, availability};
use crate::grammar;
use crate::pattern;

/// The rules of one robots.txt that bind one agent.
///
/// It lives in memory for every active host, so it keeps only what binds: one text, and a few
/// numbers a rule that point into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsTxt {
    /// The binding lines, and the paths that had to be rewritten to compare.
    text: Box<str>,
    /// Sorted by what a path must begin with, then by pattern.
    rules: Box<[Rule]>,
    sitemaps: Box<[Span]>,
    crawl_delay_ms: Option<u32>,
    allowed_by_default: bool,
}

/// Whether a path may be fetched, and the line that decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict<'a> {
    /// The path may be fetched.
    pub allowed: bool,
    /// The deciding line; none if no rule covers the path.
    pub line: Option<RuleLine<'a>>,
}

/// A line of a robots.txt, for people to look up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleLine<'a> {
    /// The line's number, from 1.
    pub number: u32,
    /// The line as written, without its comment.
    pub text: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rule {
    number: u32,
    line: Span,
    pattern: Span,
    /// How many leading bytes of the pattern are plain text.
    literal: u16,
    allow: bool,
}

/// A piece of the text. Lines are cut before they outgrow a `u16`, even with each byte tripled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: u32,
    length: u16,
}

impl RobotsTxt {
    /// Reads a file's bytes, whatever they are, and keeps what binds the agent.
    ///
    /// The agent is a product token such as `evercrawl`, not a whole User-Agent header. At most
    /// [`MAX_BYTES`](crate::MAX_BYTES) are read.
    pub fn parse(bytes: &[u8], agent: &str) -> Self {
        let bound = grammar::read(bytes, agent);
        let mut builder = Builder::default();
        for rule in &bound.rules {
            builder.add_rule(rule);
        }
        let sitemaps = bound.sitemaps.iter().map(|url| builder.add_text(url)).collect();
        Self {
            rules: builder.sorted_rules(),
            text: builder.text.into(),
            sitemaps,
            crawl_delay_ms: bound.crawl_delay_ms,
            allowed_by_default: true,
        }
    }

    /// Returns the rules of a host that has none.
    pub(crate) fn allow_all() -> Self {
        Self::parse(b"", "")
    }

    /// Returns the rules of a host whose own cannot be known now.
    pub(crate) fn disallow_all() -> Self {
        Self { allowed_by_default: false, ..Self::allow_all() }
    }

    /// The rules that an answer to the request for `/robots.txt` sets, as [`availability`] reads
    /// its final status.
    pub fn from_response(status: Option<u16>, body: &[u8], agent: &str) -> Self {
        match availability(status) {
            Access::Parse => Self::parse(body, agent),
            Access::AllowAll => Self::allow_all(),
            Access::DisallowAll => Self::disallow_all(),
        }
    }

    /// Tells whether a path (with its query, as in a request line) may be fetched, and why.
    ///
    /// The longest covering pattern decides, Allow where two are equally long. `/robots.txt`
    /// itself may always be fetched.
    pub fn verdict(&self, path_and_query: &str) -> Verdict<'_> {
        let path = pattern::comparable(path_and_query);
        if path == "/robots.txt" {
            return Verdict { allowed: true, line: None };
        }
        match self.deciding_rule(path.as_bytes()) {
            Some(rule) => Verdict { allowed: rule.allow, line: Some(self.rule_line(rule)) },
            None => Verdict { allowed: self.allowed_by_default, line: None },
        }
    }

    /// Tells the same for an absolute URL; its fragment does not matter.
    pub fn verdict_for_url(&self, url: &str) -> Verdict<'_> {
        self.verdict(path_and_query(url))
    }

    /// Returns how long the host asks this agent to wait between requests. Nothing caps it.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay_ms.map(|ms| Duration::from_millis(ms.into()))
    }

    /// Returns the Sitemap lines' values as written: some are relative, some repeat.
    pub fn sitemaps(&self) -> impl Iterator<Item = &str> {
        self.sitemaps.iter().map(|&span| span.of(&self.text))
    }

    /// Walks down the path, keeping the run of rules that begin like it.
    ///
    /// Most rules of a large file are never looked at: those that could cover the path have their
    /// literal beginning spelt out by it, and in sorted order they come first in the run.
    fn deciding_rule(&self, path: &[u8]) -> Option<&Rule> {
        let mut deciding: Option<&Rule> = None;
        let mut run = &self.rules[..];
        let mut depth = 0;
        while let (Some(first), Some(last)) = (run.first(), run.last()) {
            // In sorted order, what the first and the last share, all share.
            let shared = common_prefix(&self.literal(first)[depth..], &self.literal(last)[depth..]);
            if !path[depth..].starts_with(shared) {
                break;
            }
            depth += shared.len();
            let spelt_out = run.partition_point(|rule| usize::from(rule.literal) == depth);
            for rule in &run[..spelt_out] {
                let stronger = deciding.is_none_or(|best| best.strength() < rule.strength());
                if stronger && pattern::covers(self.pattern(rule), path) {
                    deciding = Some(rule);
                }
            }
            let Some(&byte) = path.get(depth) else { break };
            run = self.narrow(&run[spelt_out..], depth, byte);
        }
        deciding
    }

    /// Keeps those rules of a sorted run whose literal beginning has this byte at this depth.
    fn narrow<'a>(&self, run: &'a [Rule], depth: usize, byte: u8) -> &'a [Rule] {
        let at_depth = |rule: &Rule| self.literal(rule).get(depth).copied();
        let start = run.partition_point(|rule| at_depth(rule) < Some(byte));
        let length = run[start..].partition_point(|rule| at_depth(rule) == Some(byte));
        &run[start..start + length]
    }

    fn pattern(&self, rule: &Rule) -> &[u8] {
        rule.pattern.bytes_of(&self.text)
    }

    fn literal(&self, rule: &Rule) -> &[u8] {
        &self.pattern(rule)[..rule.literal.into()]
    }

    fn rule_line(&self, rule: &Rule) -> RuleLine<'_> {
        RuleLine { number: rule.number, text: rule.line.of(&self.text) }
    }
}

impl Rule {
    /// Orders rules by who decides: the longer pattern, then Allow, then the earlier line.
    fn strength(&self) -> (u16, bool, Reverse<u32>) {
        (self.pattern.length, self.allow, Reverse(self.number))
    }
}

impl Span {
    fn of(self, text: &str) -> &str {
        let start = self.start as usize;
        text.get(start..start + usize::from(self.length)).unwrap_or_default()
    }

    fn bytes_of(self, text: &str) -> &[u8] {
        let start = self.start as usize;
        &text.as_bytes()[start..start + usize::from(self.length)]
    }
}

/// Gathers the text and the rules that point into it.
#[derive(Default)]
struct Builder {
    text: String,
    rules: Vec<Rule>,
}

impl Builder {
    fn add_rule(&mut self, rule: &grammar::ParsedRule<'_>) {
        // Every URL path begins with a slash, so nothing else can ever cover one.
        if !matches!(rule.path.first(), Some(b'/' | b'*')) {
            return;
        }
        let line = self.add_text(rule.line);
        let pattern = if pattern::is_comparable(rule.path) {
            self.span_from(self.text.len() - rule.path.len())
        } else {
            self.add_pattern(rule.path)
        };
        self.push(rule, line, pattern);
        if let Some(folder) = index_folder(rule) {
            let pattern = self.add_pattern(&folder);
            self.push(rule, line, pattern);
        }
    }

    fn push(&mut self, rule: &grammar::ParsedRule<'_>, line: Span, pattern: Span) {
        let literal = pattern::literal_prefix(pattern.bytes_of(&self.text)) as u16;
        self.rules.push(Rule { number: rule.number, line, pattern, literal, allow: rule.allow });
    }

    fn add_text(&mut self, raw: &[u8]) -> Span {
        let start = self.text.len();
        self.text.push_str(&String::from_utf8_lossy(raw));
        self.span_from(start)
    }

    fn add_pattern(&mut self, raw: &[u8]) -> Span {
        let start = self.text.len();
        pattern::push_rule_path(&mut self.text, raw);
        self.span_from(start)
    }

    fn span_from(&self, start: usize) -> Span {
        Span { start: start as u32, length: (self.text.len() - start) as u16 }
    }

    /// Sorts the rules for the search, and drops repetitions, which some files have by thousands.
    fn sorted_rules(&mut self) -> Box<[Rule]> {
        let text = &self.text;
        let pattern = |rule: &Rule| rule.pattern.bytes_of(text);
        let literal = |rule: &Rule| &pattern(rule)[..rule.literal.into()];
        self.rules.sort_by(|a, b| {
            literal(a)
                .cmp(literal(b))
                .then_with(|| pattern(a).cmp(pattern(b)))
                .then_with(|| (a.allow, a.number).cmp(&(b.allow, b.number)))
        });
        self.rules.dedup_by(|later, first| {
            later.allow == first.allow && pattern(later) == pattern(first)
        });
        std::mem::take(&mut self.rules).into()
    }
}

/// Returns the path of the folder whose index page an Allow line names, as a rule of its own.
///
/// A folder and its `index.html` are one page to the owner, who opens it under either name.
fn index_folder(rule: &grammar::ParsedRule<'_>) -> Option<Vec<u8>> {
    let slash = memchr::memrchr(b'/', rule.path).filter(|_| rule.allow)?;
    let names_index = rule.path[slash..].starts_with(b"/index.htm");
    names_index.then(|| [&rule.path[..=slash], b"$"].concat())
}

fn common_prefix<'a>(a: &'a [u8], b: &[u8]) -> &'a [u8] {
    &a[..a.iter().zip(b).take_while(|(a, b)| a == b).count()]
}

/// Returns what follows the authority, up to the fragment.
fn path_and_query(url: &str) -> &str {
    let url = url.split('#').next().unwrap_or_default();
    let after_scheme = match url.split_once("://") {
        Some((scheme, rest)) if !scheme.contains(['/', '?', ';']) => rest,
        _ => url.strip_prefix("//").unwrap_or(url),
    };
    match after_scheme.find(['/', '?', ';']) {
        Some(start) => &after_scheme[start..],
        None => "/",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn deciding_line(file: &str, path: &str) -> (bool, Option<u32>) {
        let robots = RobotsTxt::parse(file.as_bytes(), "us");
        let verdict = robots.verdict(path);
        (verdict.allowed, verdict.line.map(|line| line.number))
    }

    #[test]
    fn the_deciding_line_is_named_as_written() {
        let file = b"User-agent: *\nDisallow: /a%7eb # why\nALLOW : /a\xFF\xE2/index.html\n";
        let robots = RobotsTxt::parse(file, "us");
        let line = |path| robots.verdict(path).line.map(|line| (line.number, line.text));
        assert_eq!(line("/a~b/c"), Some((2, "Disallow: /a%7eb")));
        assert_eq!(line("/a%FF%e2/"), Some((3, "ALLOW : /a\u{FFFD}\u{FFFD}/index.html")));
        assert_eq!(line("/b"), None);
    }

    #[test]
    fn strength_decides() {
        let file = "User-agent: us\nDisallow: /\nAllow: /a\nDisallow: /a\nDisallow: /ab\n\
                    Allow: /*b\nAllow: /a*\nDisallow: /abc$\nDisallow: /ab\n";
        let table = [
            ("/", (false, Some(2))),
            ("/a", (true, Some(7))),
            ("/ab", (true, Some(6))),
            ("/abc", (false, Some(8))),
            ("/abcd", (true, Some(6))),
            ("/cb", (true, Some(6))),
            ("/robots.txt", (true, None)),
        ];
        for (path, expected) in table {
            assert_eq!(deciding_line(file, path), expected, "{path}");
        }
        let nothing = "User-agent: us\nDisallow: /";
        assert_eq!(deciding_line(nothing, "/robots.txt"), (true, None));
        assert_eq!(deciding_line(nothing, "/robots.txt?x"), (false, Some(2)));
    }

    #[test]
    fn an_allowed_index_page_allows_its_folder() {
        let file = "User-agent: *\nDisallow: /\nAllow: /a/index.html\nAllow: /b/index.php\n";
        assert_eq!(deciding_line(file, "/a/"), (true, Some(3)));
        assert_eq!(deciding_line(file, "/a/b"), (false, Some(2)));
        assert_eq!(deciding_line(file, "/b/"), (false, Some(2)));
        let file = "User-agent: *\nDisallow: /a/index.html\n";
        assert_eq!(deciding_line(file, "/a/"), (true, None));
    }

    #[test]
    fn repeated_rules_are_kept_once() {
        let file = format!("User-agent: *\n{}", "Disallow: /same\n".repeat(1000));
        let robots = RobotsTxt::parse(file.as_bytes(), "us");
        assert_eq!(robots.rules.len(), 1);
        assert_eq!(robots.verdict("/same").line.map(|line| line.number), Some(2));
    }

    #[test]
    fn urls_are_reduced_to_path_and_query() {
        let table = [
            ("http://a.b/c?d#e", "/c?d"),
            ("http://a.b", "/"),
            ("http://a.b?c", "?c"),
            ("http://a.b#/c", "/"),
            ("http://u:p@a.b:1/c;d", "/c;d"),
            ("//a.b/c", "/c"),
            ("/c//d?u=http://x/y", "/c//d?u=http://x/y"),
            ("", "/"),
        ];
        for (url, expected) in table {
            assert_eq!(path_and_query(url), expected, "{url}");
        }
    }

    #[test]
    fn sitemaps_and_delay_are_told() {
        let file =
            b"Sitemap: /rel.xml\nUser-agent: us\nCrawl-delay: 1.5\nsite-map: http://a/\xE9\n";
        let robots = RobotsTxt::parse(file, "us");
        assert_eq!(robots.sitemaps().collect::<Vec<_>>(), ["/rel.xml", "http://a/\u{FFFD}"]);
        assert_eq!(robots.crawl_delay(), Some(Duration::from_millis(1500)));
        assert_eq!(RobotsTxt::allow_all().crawl_delay(), None);
    }

    /// Looks at every rule, to check the search that looks at few.
    fn decided_by_all_rules<'a>(robots: &'a RobotsTxt, path: &str) -> Option<&'a Rule> {
        let covers = |rule: &&Rule| pattern::covers(robots.pattern(rule), path.as_bytes());
        robots.rules.iter().filter(covers).max_by_key(|rule| rule.strength())
    }

    proptest! {
        #[test]
        fn the_search_misses_no_rule(
            rules in prop::collection::vec("(Allow|Disallow): [/*][/*ab]{0,6}\\$?\n", 0..30),
            path in "/[/ab]{0,8}",
        ) {
            let file = format!("User-agent: *\n{}", rules.concat());
            let robots = RobotsTxt::parse(file.as_bytes(), "us");
            prop_assert_eq!(
                robots.deciding_rule(path.as_bytes()),
                decided_by_all_rules(&robots, &path)
            );
        }

        #[test]
        fn any_bytes_have_a_verdict(
            mut bytes in prop::collection::vec(any::<u8>(), 0..300),
            path in "\\PC{0,40}",
        ) {
            bytes.splice(0..0, *b"User-agent: us\nDisallow: /");
            let robots = RobotsTxt::parse(&bytes, "us");
            let verdict = robots.verdict(&path);
            prop_assert!(verdict.allowed || verdict.line.is_some());
            prop_assert!(robots.verdict("/robots.txt").allowed);
        }

        #[test]
        fn all_or_nothing_holds_for_every_path(path in "\\PC{0,40}") {
            let refused = path == "/robots.txt" || path == "robots.txt";
            prop_assert!(RobotsTxt::allow_all().verdict(&path).allowed);
            prop_assert_eq!(RobotsTxt::disallow_all().verdict(&path).allowed, refused);
            let file = RobotsTxt::parse(b"User-agent: *\nDisallow: /", "us");
            prop_assert_eq!(file.verdict(&path).allowed, refused);
        }

        #[test]
        fn a_line_for_others_changes_nothing(
            rules in prop::collection::vec("(Allow|Disallow): /[ab*]{0,4}\n", 1..8),
            other in "(Allow|Disallow): /[ab*]{0,4}\n",
            path in "/[ab]{0,5}",
        ) {
            let alone = format!("User-agent: us\n{}", rules.concat());
            let beside = format!("{alone}User-agent: them\n{other}");
            prop_assert_eq!(deciding_line(&alone, &path), deciding_line(&beside, &path));
        }
    }
}
