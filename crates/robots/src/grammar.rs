//! Which lines of a robots.txt apply to this agent?
//!
//! The grammar of RFC 9309 with the leniency that site owners have come to rely on: a byte order
//! mark, any line ending, common misspellings, a missing colon, stray bytes. Groups that name the
//! agent are merged, and only when there is none do those for `*` count. Lines that the RFC does
//! not define (Sitemap, Crawl-delay, unknown ones) never close a group.

use memchr::{memchr, memchr2, memrchr2};

/// How much of a file is read.
///
/// A file this long or longer is taken to be cut, by us or by the fetcher, and what follows
/// its last line end is ignored: half a line is never taken for a rule.
pub const MAX_BYTES: usize = 512 * 1024;

/// RFC 9309 (2.5) demands at least this much, even if a giant line crosses the cap.
const MIN_BYTES: usize = 500 * 1024;

/// A longer line is cut here, as other crawlers do: eight times the longest URL in common use.
const MAX_LINE: usize = 8 * 2083 - 1;

/// What a file says to one agent, still in the file's own bytes.
#[derive(Default)]
pub(crate) struct BindingRules<'a> {
    pub(crate) rules: Vec<ParsedRule<'a>>,
    pub(crate) crawl_delay_ms: Option<u32>,
    pub(crate) sitemaps: Vec<&'a [u8]>,
}

/// An Allow or Disallow line with a path.
#[derive(Clone, Copy)]
pub(crate) struct ParsedRule<'a> {
    pub(crate) number: u32,
    pub(crate) allow: bool,
    /// The line without comment and outer blanks; it ends with the path.
    pub(crate) line: &'a [u8],
    pub(crate) path: &'a [u8],
}

/// Reads a file and returns what binds the agent, a product token.
pub(crate) fn read<'a>(bytes: &'a [u8], agent: &str) -> BindingRules<'a> {
    let mut groups = Groups::default();
    for (number, raw) in lines(without_mark(within_cap(bytes))) {
        let line = strip(raw);
        let Some((key, value)) = field(line) else { continue };
        match key {
            RobotsField::UserAgent => groups.name(value, agent),
            RobotsField::Allow | RobotsField::Disallow => {
                groups.rule(ParsedRule {
                    number,
                    allow: key == RobotsField::Allow,
                    line,
                    path: value,
                });
            }
            RobotsField::CrawlDelay => groups.delay(value),
            RobotsField::Sitemap => groups.sitemaps.push(value),
        }
    }
    groups.binding()
}

/// Collects what is said to the agent by name and what is said to all, until it is known which
/// of the two counts.
#[derive(Default)]
struct Groups<'a> {
    ours: Section<'a>,
    anyone: Section<'a>,
    sitemaps: Vec<&'a [u8]>,
    /// A rule has been seen since the last User-agent line, so the next one opens a new group.
    closed: bool,
    named_anywhere: bool,
}

#[derive(Default)]
struct Section<'a> {
    /// The current group applies to this section.
    open: bool,
    rules: Vec<ParsedRule<'a>>,
    crawl_delay_ms: Option<u32>,
}

impl<'a> Groups<'a> {
    fn name(&mut self, value: &[u8], agent: &str) {
        if self.closed {
            self.ours.open = false;
            self.anyone.open = false;
            self.closed = false;
        }
        self.anyone.open |= is_anyone(value);
        self.ours.open |= is_named(value, agent);
        self.named_anywhere |= self.ours.open;
    }

    fn rule(&mut self, rule: ParsedRule<'a>) {
        self.closed = true;
        if rule.path.is_empty() {
            return; // It covers nothing, yet ends the list of agents.
        }
        for section in self.open_sections() {
            section.rules.push(rule);
        }
    }

    /// Keeps the longest delay: where a file contradicts itself, the slower reading is safe.
    fn delay(&mut self, value: &[u8]) {
        let delay = milliseconds(value);
        for section in self.open_sections() {
            section.crawl_delay_ms = section.crawl_delay_ms.max(delay);
        }
    }

    fn open_sections(&mut self) -> impl Iterator<Item = &mut Section<'a>> {
        [&mut self.ours, &mut self.anyone].into_iter().filter(|section| section.open)
    }

    fn binding(self) -> BindingRules<'a> {
        let section = if self.named_anywhere { self.ours } else { self.anyone };
        BindingRules {
            rules: section.rules,
            crawl_delay_ms: section.crawl_delay_ms,
            sitemaps: self.sitemaps,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RobotsField {
    UserAgent,
    Allow,
    Disallow,
    Sitemap,
    CrawlDelay,
}

impl RobotsField {
    /// Recognises a key by how it begins, and by the slips seen often enough in real files.
    fn of(name: &[u8]) -> Option<Self> {
        const SPELLINGS: [(&[u8], RobotsField); 14] = [
            (b"user-agent", RobotsField::UserAgent),
            (b"useragent", RobotsField::UserAgent),
            (b"user agent", RobotsField::UserAgent),
            (b"allow", RobotsField::Allow),
            (b"disallow", RobotsField::Disallow),
            (b"dissallow", RobotsField::Disallow),
            (b"dissalow", RobotsField::Disallow),
            (b"disalow", RobotsField::Disallow),
            (b"diasllow", RobotsField::Disallow),
            (b"disallaw", RobotsField::Disallow),
            (b"sitemap", RobotsField::Sitemap),
            (b"site-map", RobotsField::Sitemap),
            (b"crawl-delay", RobotsField::CrawlDelay),
            (b"crawldelay", RobotsField::CrawlDelay),
        ];
        let begins = |spelling: &[u8]| {
            name.get(..spelling.len()).is_some_and(|head| head.eq_ignore_ascii_case(spelling))
        };
        SPELLINGS.iter().find(|(spelling, _)| begins(spelling)).map(|&(_, key)| key)
    }
}

/// Splits a line into key and value: at the colon or, without one, between exactly two words.
fn field(line: &[u8]) -> Option<(RobotsField, &[u8])> {
    if let Some(colon) = memchr(b':', line) {
        let key = RobotsField::of(line[..colon].trim_ascii_end())?;
        return Some((key, line[colon + 1..].trim_ascii_start()));
    }
    let blank = memchr2(b' ', b'\t', line)?;
    let value = line[blank..].trim_ascii_start();
    let two_words = memchr2(b' ', b'\t', value).is_none();
    RobotsField::of(&line[..blank]).filter(|_| two_words).map(|key| (key, value))
}

/// Cuts an over-long line, then its comment and outer blanks.
fn strip(raw: &[u8]) -> &[u8] {
    let line = &raw[..raw.len().min(MAX_LINE)];
    line[..memchr(b'#', line).unwrap_or(line.len())].trim_ascii()
}

fn is_anyone(value: &[u8]) -> bool {
    matches!(value, [b'*', after @ ..] if !after.first().is_some_and(|&byte| is_token(byte)))
}

/// Tells whether a User-agent value names the agent: its token in any case, and then nothing that
/// could continue a token (`foo/1.2` and `foo bar` name foo, `foobar` does not).
fn is_named(value: &[u8], agent: &str) -> bool {
    let first_word = value.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    !agent.is_empty()
        && first_word.split_at_checked(agent.len()).is_some_and(|(head, after)| {
            head.eq_ignore_ascii_case(agent.as_bytes())
                && !after.first().is_some_and(|&byte| is_token(byte))
        })
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_')
}

/// Reads the number that a Crawl-delay begins with, in seconds; `None` if it begins otherwise.
fn milliseconds(value: &[u8]) -> Option<u32> {
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let seconds: f64 = std::str::from_utf8(&value[..digits]).ok()?.parse().ok()?;
    // The cast saturates, so an absurd delay stays absurd instead of becoming none.
    Some((seconds * 1000.0) as u32)
}

/// Drops the byte order mark, also one that lost its tail on the way.
fn without_mark(bytes: &[u8]) -> &[u8] {
    let mark = [0xEF, 0xBB, 0xBF];
    let length = mark.iter().zip(bytes).take_while(|(a, b)| a == b).count();
    &bytes[length..]
}

fn within_cap(bytes: &[u8]) -> &[u8] {
    let Some(head) = bytes.get(..MAX_BYTES) else { return bytes };
    match memrchr2(b'\n', b'\r', head) {
        Some(end) if end >= MIN_BYTES => &head[..end],
        _ => head,
    }
}

/// Yields the lines with their numbers from 1; CR, LF and CRLF each end one.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let mut rest = Some(bytes);
    let next_line = move || {
        let text = rest?;
        let Some(end) = memchr2(b'\n', b'\r', text) else {
            rest = None;
            return Some(text);
        };
        let after = if text[end..].starts_with(b"\r\n") { end + 2 } else { end + 1 };
        rest = Some(&text[after..]);
        Some(&text[..end])
    };
    (1..).zip(std::iter::from_fn(next_line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(file: &str, agent: &str) -> Vec<String> {
        let rules = read(file.as_bytes(), agent).rules;
        rules.iter().map(|rule| String::from_utf8_lossy(rule.path).into_owned()).collect()
    }

    #[test]
    fn lines_are_numbered_whatever_ends_them() {
        let found: Vec<_> = lines(b"a\nb\r\nc\rd\n\re\r\r\n\nf").collect();
        let expected: Vec<(u32, &[u8])> = vec![
            (1, b"a"),
            (2, b"b"),
            (3, b"c"),
            (4, b"d"),
            (5, b""),
            (6, b"e"),
            (7, b""),
            (8, b""),
            (9, b"f"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn groups_are_chosen_and_merged() {
        let file = "Disallow: /nobody\nUser-agent: a\nUser-agent: b\nDisallow: /ab\n\
                    User-agent: *\nDisallow: /all\nUser-agent: A/2.0\nDisallow: /a\n";
        assert_eq!(paths(file, "a"), ["/ab", "/a"]);
        assert_eq!(paths(file, "B"), ["/ab"]);
        assert_eq!(paths(file, "c"), ["/all"]);
        assert_eq!(paths(file, ""), ["/all"]);
    }

    #[test]
    fn undefined_lines_do_not_close_a_group() {
        for line in ["Crawl-delay: 5", "Sitemap: /s.xml", "Noindex: /", "gibberish", "", "# note"] {
            let file = format!("User-agent: f\n{line}\nUser-agent: g\nDisallow: /a\n");
            assert_eq!(paths(&file, "f"), ["/a"], "{line}");
        }
        let file = "User-agent: f\nDisallow:\nUser-agent: g\nDisallow: /a\n";
        assert!(paths(file, "f").is_empty());
    }

    #[test]
    fn an_empty_group_of_our_own_beats_the_one_for_all() {
        assert!(paths("User-agent: *\nDisallow: /\n\nUser-agent: us", "us").is_empty());
    }

    #[test]
    fn agents_match_by_whole_token() {
        let table = [
            ("foo", "foo", true),
            ("FOO", "foo", true),
            ("foo/1.2", "Foo", true),
            ("foo bar", "foo", true),
            ("foo bar", "foo bar", false),
            ("foo bar", "bar", false),
            ("foobar", "foo", false),
            ("foo-bar", "foo", false),
            ("foo", "foobar", false),
            ("foo<br>", "foo", true),
            ("bot2/1.0", "bot2", true),
            ("", "foo", false),
            ("foo", "", false),
        ];
        for (value, agent, expected) in table {
            assert_eq!(is_named(value.as_bytes(), agent), expected, "{value} for {agent}");
        }
        assert!(is_anyone(b"*") && is_anyone(b"* all") && is_anyone(b"*<br>"));
        assert!(!is_anyone(b"*bot") && !is_anyone(b"") && !is_anyone(b"x*"));
    }

    #[test]
    fn slips_are_forgiven() {
        for line in ["Dissallow: /a", "disalow:/a", "DISALLOW : /a", "disallow /a", "Disallow\t/a"]
        {
            assert_eq!(paths(&format!("useragent: f\n{line}"), "f"), ["/a"], "{line}");
        }
        for line in ["Disallow /a b", "Dizallow: /a", ": /a", "/a", "Disallow"] {
            assert!(paths(&format!("User agent: f\n{line}"), "f").is_empty(), "{line}");
        }
        for mark in [&b"\xEF\xBB\xBF"[..], b"\xEF\xBB", b"\xEF", b""] {
            let file = [mark, b"User-agent: f\nDisallow: /a"].concat();
            assert_eq!(read(&file, "f").rules.len(), 1);
        }
    }

    #[test]
    fn delays_belong_to_the_agents_named_before() {
        let file = "Crawl-delay: 9\nUser-agent: f\nCrawl-delay: 2.5\nUser-agent: g\n\
                    Disallow: /\nCrawl-delay: 1\nUser-agent: *\nCrawl-delay: 30";
        let delay = |agent| read(file.as_bytes(), agent).crawl_delay_ms;
        assert_eq!((delay("f"), delay("g"), delay("h")), (Some(2500), Some(1000), Some(30_000)));
    }

    #[test]
    fn delays_are_read_as_numbers_or_not_at_all() {
        let table: [(&[u8], Option<u32>); 12] = [
            (b"10", Some(10_000)),
            (b"0.5", Some(500)),
            (b".5", Some(500)),
            (b"5.", Some(5_000)),
            (b"0", Some(0)),
            (b"10<BR>", Some(10_000)),
            (b"3 seconds", Some(3_000)),
            (b"99999999999999999999999", Some(u32::MAX)),
            (b"-1", None),
            (b"1.2.3", None),
            (b"inf", None),
            (b"", None),
        ];
        for (value, expected) in table {
            assert_eq!(milliseconds(value), expected, "{}", value.escape_ascii());
        }
    }

    #[test]
    fn a_file_over_the_cap_is_cut_at_a_line() {
        let rule = "Disallow: /0123456789\n";
        let file = format!("User-agent: *\n{}", rule.repeat(40_000));
        let read_rules = paths(&file, "f");
        assert_eq!(read_rules.len(), (MAX_BYTES - "User-agent: *\n".len()) / rule.len());
        assert!(read_rules.iter().all(|path| path == "/0123456789"));
        assert_eq!(paths(&file[..MAX_BYTES], "f"), read_rules);
        assert_eq!(within_cap(&file.as_bytes()[..MAX_BYTES - 1]).len(), MAX_BYTES - 1);
    }

    #[test]
    fn a_giant_line_cannot_shorten_what_is_read() {
        let giant = "x".repeat(2 * MAX_BYTES);
        assert_eq!(within_cap(giant.as_bytes()).len(), MAX_BYTES);
        let late = format!("{}\n{giant}", "y".repeat(MIN_BYTES - 1));
        assert_eq!(within_cap(late.as_bytes()).len(), MAX_BYTES);
    }

    #[test]
    fn an_over_long_line_is_cut() {
        let file = format!("User-agent: *\nDisallow: /{}", "a".repeat(30_000));
        assert_eq!(paths(&file, "f")[0].len(), MAX_LINE - "Disallow: ".len());
    }
}
