//! What does a tester want to know? Endpoints under `/.testweb/` on any host; they are neither counted nor logged.
//!
//! - `truth?url=..` and `truth` tell what is true about one page or all, `at=` a moment in milliseconds, now by
//!   default;
//! - `stats` counts requests by class of host and status;
//! - `freshness` takes lines of a URL, a tab and the time of its fetch in milliseconds, and says how many copies are
//!   fresh.

use super::Shared;
use super::request::Head;
use crate::{World, WorldAnswer};
use serde::Serialize;

pub(crate) fn handles(target: &str) -> bool {
    target.starts_with(PREFIX)
}

pub(crate) fn answer(shared: &Shared, head: &Head<'_>, body: &[u8], answer: &mut WorldAnswer) {
    answer.clear();
    let target = head.target.strip_prefix(PREFIX).unwrap_or_default();
    let (name, query) = target.split_once('?').unwrap_or((target, ""));
    match (name, head.method) {
        ("truth", "GET") => answer_truth(shared, head, query, answer),
        ("stats", "GET") => answer_json(answer, &shared.stats.to_json()),
        ("freshness", "POST") => {
            answer_json(answer, &Freshness::of(&shared.world, body, shared.clock.now_ms()))
        }
        ("freshness", _) => answer.set_status(
            405,
            "POST lines of a URL, a tab and the time of its fetch in milliseconds.",
        ),
        _ => answer.set_status(404, "There are truth, stats and freshness."),
    }
}

/// How well a set of copies matches the world.
#[derive(Debug, Default, PartialEq, Serialize)]
struct Freshness {
    total: u64,
    /// Copies that nothing has happened to since they were fetched.
    fresh: u64,
    /// Copies of pages that changed since.
    stale: u64,
    /// Copies of pages that are gone.
    gone: u64,
    /// Lines that name no page of this world.
    unknown: u64,
    /// Fresh copies among those of pages of this world.
    share: f64,
}

impl Freshness {
    fn of(world: &World, lines: &[u8], now_ms: u64) -> Self {
        let mut freshness = Freshness::default();
        for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            freshness.total += 1;
            *freshness.verdict(world, line, now_ms) += 1;
        }
        let known = freshness.total - freshness.unknown;
        freshness.share = if known == 0 { 0.0 } else { freshness.fresh as f64 / known as f64 };
        freshness
    }

    fn verdict(&mut self, world: &World, line: &[u8], now_ms: u64) -> &mut u64 {
        let Some((page, fetched_ms)) = read_copy(world, line) else { return &mut self.unknown };
        match world.version_at(page, now_ms) {
            None => &mut self.gone,
            Some(version) if version <= fetched_ms => &mut self.fresh,
            Some(_) => &mut self.stale,
        }
    }
}

fn read_copy(world: &World, line: &[u8]) -> Option<(crate::PageId, u64)> {
    let (url, fetched) = std::str::from_utf8(line).ok()?.trim_end().split_once('\t')?;
    Some((world.find(url)?, fetched.parse().ok()?))
}

fn answer_truth(shared: &Shared, head: &Head<'_>, query: &str, answer: &mut WorldAnswer) {
    let world = &shared.world;
    let now_ms = shared.clock.now_ms();
    let at_ms = parameter(query, "at").and_then(|at| at.parse().ok()).unwrap_or(now_ms).min(now_ms);
    let port = crate::world::split_port(head.host).1;
    if let Some(url) = parameter(query, "url") {
        return match world.find(&url) {
            Some(page) => answer_json(answer, &world.truth_on(page, at_ms, port)),
            None => answer.set_status(404, "This world has no page of that URL."),
        };
    }
    if u64::from(world.config().hosts) * u64::from(world.config().pages) > MOST_PAGES_TOLD {
        return answer
            .set_status(413, "This world is too large to be told at once; ask with ?url=.");
    }
    answer.begin(200, "application/jsonl");
    // Writing to memory cannot fail.
    let _ = world.write_truth_on(&mut answer.body, at_ms, port);
}

fn answer_json(answer: &mut WorldAnswer, value: &impl Serialize) {
    answer.begin(200, "application/json");
    // Writing to memory cannot fail, and none of our values has keys that JSON cannot say.
    let _ = serde_json::to_writer(&mut answer.body, value);
    answer.body.push(b'\n');
}

const PREFIX: &str = "/.testweb/";
const MOST_PAGES_TOLD: u64 = 1_000_000;

/// The value of a query parameter with its percent signs undone.
fn parameter(query: &str, name: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(given, _)| *given == name)?;
    let mut bytes = value.bytes();
    let mut plain = Vec::with_capacity(value.len());
    while let Some(byte) = bytes.next() {
        plain.push(if byte == b'%' {
            hex_digit(bytes.next()?)? << 4 | hex_digit(bytes.next()?)?
        } else {
            byte
        });
    }
    String::from_utf8(plain).ok()
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PageId, WorldConfig};

    #[test]
    fn copies_are_judged_by_what_happened_since() {
        let world =
            World::new(WorldConfig { page_shares: Default::default(), ..WorldConfig::demo() });
        let now_ms = world.config().origin_ms + 3_600_000;
        let page = PageId::first(0, 3);
        let changed_ms = world.last_change(page, now_ms);
        let url = world.url(page);
        let lines =
            format!("{url}\t{changed_ms}\n{url}\t{}\nhttp://nowhere/\t1\n{url}\n", changed_ms - 1);
        let expected = Freshness { total: 4, fresh: 1, stale: 1, gone: 0, unknown: 2, share: 0.5 };
        assert_eq!(Freshness::of(&world, lines.as_bytes(), now_ms), expected);
    }

    #[test]
    fn parameters_are_found_and_decoded() {
        let query = "at=5&url=http%3A%2F%2Fh1.test%2Fview%3Fid%3D3";
        assert_eq!(parameter(query, "url").as_deref(), Some("http://h1.test/view?id=3"));
        assert_eq!(parameter(query, "at").as_deref(), Some("5"));
        assert_eq!(parameter("url=%4", "url"), None);
        assert_eq!(parameter("", "url"), None);
    }
}
