//! Does a crawl that is killed again and again end as if nothing had happened?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::site::{Answer, Site};
use crate::common::tools::warcio_accepts;
use crate::common::web::{Asked, Web, pages_by_status};
use crate::common::{Place, pause, wait_until};
use evercrawl_testweb::{ReachScope, WorldConfig};

/// Long enough that the crawl is not over before the last kill.
const DELAY: Duration = Duration::from_millis(250);
/// How long a visit may wait for its commit: what a busy disk takes, with room to spare.
const UNCOMMITTED: Duration = Duration::from_millis(1500);
/// A request that was sent before a kill may be read after it, by a server that has no core.
const LOGGED_LATE: Duration = Duration::from_millis(500);

/// What was so when the crawler was killed.
struct Kill {
    /// When, in microseconds of the server's clock.
    at_us: u64,
    /// Pages that the data directory knew to be visited.
    committed: BTreeSet<String>,
}

/// Draws moments; the same at every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Kills a crawl of a world so often, at most so long after each start, and lets it end.
fn kills_lose_nothing(world: WorldConfig, cycles: usize, longest_life: Duration) {
    let hosts = world.hosts;
    let (web, place) = (Web::serve(world), Place::new());
    let seeds = web.seeds(hosts);
    place.write("seeds.txt", &seeds.join("\n"));
    place.run("add --seeds seeds.txt").expect(0);
    let flags = format!("--delay {}ms -s archive.roll=100kB {}", DELAY.as_millis(), web.flags());

    let mut kills = Vec::new();
    let mut dice = Dice(2026);
    for n in 0..cycles {
        let mut crawl = place.start(&format!("crawl --once {flags}"));
        pause(Duration::from_millis(50 + dice.below(longest_life.as_millis() as u64)));
        assert!(crawl.is_running(), "the crawl was over before kill {n}: {:?}", crawl.said());
        crawl.child().kill().unwrap();
        drop(crawl);
        kills.push(Kill { at_us: web.now_ms() * 1000, committed: visited(&place) });
        if n % 5 == 4 {
            place.run("check --deep").expect(0);
        }
    }
    place.run("crawl --once").expect(0);
    place.run("check --deep").expect(0);

    let expected = web.reachable(&seeds, ReachScope::Host);
    let found = pages_by_status(&place).remove(&Some(200)).unwrap();
    assert_eq!(found, expected);
    assert!(place.archive_files(".warc.gz").len() > 3, "files should have been rolled meanwhile");
    assert_eq!(place.archive_files(".open").len(), 0, "every file is closed");
    warcio_accepts(&place.archive_files(".warc.gz"));
    let log = web.stop();
    let manners = log.manners(DELAY);
    assert!(manners.is_clean(), "{manners:#?}");
    asked_again_only_if_not_committed(&log.requests(), &kills, &expected);
}

#[test]
fn twenty_kills_lose_nothing() {
    let world = WorldConfig { hosts: 40, pages: 25, seed: 11, ..WorldConfig::calm() };
    kills_lose_nothing(world, 20, Duration::from_millis(1000));
}

#[test]
#[ignore = "some minutes; `make check-large`"]
fn two_hundred_kills_lose_nothing() {
    let world = WorldConfig { hosts: 60, pages: 300, seed: 12, ..WorldConfig::calm() };
    kills_lose_nothing(world, 200, Duration::from_millis(700));
}

/// A copy that was taken while files changed may lack what came later, or be torn: then that is
/// found and mended, and the copy can be crawled on with.
fn copies_of_a_running_crawl_can_be_used(copies: usize, seed: u64) {
    let world = WorldConfig { hosts: 12, pages: 40, seed: 13, ..WorldConfig::calm() };
    let (web, place) = (Web::serve(world), Place::new());
    let seeds = web.seeds(12);
    place.write("seeds.txt", &seeds.join("\n"));
    let flags = format!("--delay 60ms -s archive.roll=50kB {}", web.flags());
    let mut crawl = place.start(&format!("crawl --once --seeds seeds.txt {flags}"));
    let mut dice = Dice(seed);
    for n in 0..copies {
        pause(Duration::from_millis(100 + dice.below(1500 / copies as u64)));
        assert!(n > 0 || crawl.is_running(), "over before any copy: {:?}", crawl.said());
        copy_slowly(&place.path().join("data"), &place.path().join(format!("copy{n}")), &mut dice);
    }
    drop(crawl);
    let expected = web.reachable(&seeds, ReachScope::Host);
    for n in 0..copies {
        let _ = std::fs::remove_file(place.path().join(format!("copy{n}/lock")));
        let mended = place.run(&format!("check --repair --data copy{n}")).expect(0);
        place.run(&format!("crawl --once --seeds seeds.txt --data copy{n} {flags}")).expect(0);
        place.run(&format!("check --deep --data copy{n}")).expect(0);
        let held = place.run(&format!("urls --json --data copy{n}")).expect(0).json_lines();
        let held: BTreeSet<String> = held
            .iter()
            .filter(|url| url["kind"] == "page" && url["status"] == 200)
            .map(|url| url["url"].as_str().unwrap().to_owned())
            .collect();
        let lacks: Vec<_> = expected.difference(&held).collect();
        let strange: Vec<_> = held.difference(&expected).collect();
        assert!(
            lacks.is_empty() && strange.is_empty(),
            "copy {n} lacks {lacks:?}, has {strange:?}; mending said {}",
            mended.out
        );
    }
}

/// Copies file by file, in any order and with pauses: what it takes is torn more than by `cp`.
fn copy_slowly(from: &Path, to: &Path, dice: &mut Dice) {
    let mut files = files_below(from);
    while !files.is_empty() {
        let file = files.swap_remove(dice.below(files.len() as u64) as usize);
        let copy = to.join(file.strip_prefix(from).unwrap());
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        // A file that was renamed meanwhile is missed; that is what is tried here.
        let _ = std::fs::copy(&file, &copy);
        pause(Duration::from_millis(dice.below(4)));
    }
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let (mut files, mut dirs) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let kind = if entry.path().is_dir() { &mut dirs } else { &mut files };
            kind.push(entry.path());
        }
    }
    files.sort();
    files
}

#[test]
fn a_copy_of_a_running_crawl_can_be_used() {
    copies_of_a_running_crawl_can_be_used(3, 1);
}

#[test]
#[ignore = "some minutes; `make check-large`"]
fn many_copies_of_a_running_crawl_can_be_used() {
    for seed in 2..10 {
        copies_of_a_running_crawl_can_be_used(8, seed);
    }
}

#[test]
fn seeds_survive_a_kill_at_the_first_request() {
    let (site, place) = (Site::serve(|_| Answer::page("<a href='/x'>x</a>")), Place::new());
    let crawl = place.start(&format!("crawl http://a.test/ --delay 5ms {}", site.flags()));
    wait_until("the first request", || !site.asked("a.test/robots.txt").is_empty());
    drop(crawl);
    place.run("crawl --once").expect(0);
    assert_eq!(site.asked("a.test/x").len(), 1);
}

#[test]
fn a_long_list_comes_in_whole_or_not_at_all() {
    kills_of_a_load_lose_nothing(8);
}

#[test]
#[ignore = "some minutes; `make check-large`"]
fn a_long_list_comes_in_whole_or_not_at_all_two_hundred_times() {
    kills_of_a_load_lose_nothing(200);
}

/// A long list is sorted first, comes in at once and is then merged with what is there: killed on the way, it came or
/// it did not.
fn kills_of_a_load_lose_nothing(kills: u32) {
    const PAGES: usize = 30_000;
    let line = |n: usize| format!("http://h{}.test/{n}\n", n % 700);
    let list: String = (0..PAGES).map(line).chain([line(7), line(8)]).collect();
    let add = |place: &Place| place.start("add --seeds list --json");
    let whole = Place::new();
    whole.write("list", &list);
    let takes = whole.time_of("add --seeds list --json");
    let known =
        |place: &Place| place.run("add http://h7.test/7 --json").expect(0).json()["pages"].clone();
    assert_eq!(known(&whole), PAGES);

    let place = Place::new();
    place.write("list", &list);
    assert_eq!(known(&place), 1);
    for part in 1..=kills {
        let mut running = add(&place);
        pause(takes * part / (kills + 1));
        running.child().kill().unwrap();
        drop(running);
        place.run("check --deep").expect(0);
        let known = known(&place);
        assert!(known == 1 || known == PAGES, "{known} after {part} of {kills}");
    }
    let added = add(&place).wait().expect(0).json();
    assert_eq!((&added["given"], &added["pages"]), (&(PAGES + 2).into(), &PAGES.into()));
    place.run("check --deep").expect(0);
}

/// What the data directory says was visited.
fn visited(place: &Place) -> BTreeSet<String> {
    let mut pages = pages_by_status(place);
    pages.remove(&None);
    pages.into_values().flatten().collect()
}

fn asked_again_only_if_not_committed(requests: &[Asked], kills: &[Kill], pages: &BTreeSet<String>) {
    let mut times: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for asked in requests.iter().filter(|asked| pages.contains(&asked.url())) {
        times.entry(asked.url()).or_default().push(asked.start_us);
    }
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap();
    let (window, late) = (micros(UNCOMMITTED), micros(LOGGED_LATE));
    for (url, times) in &times {
        for kill in kills.iter().filter(|kill| kill.committed.contains(url)) {
            let again = times.iter().find(|&&at| at > kill.at_us);
            assert_eq!(again, None, "{url} was committed at {} and asked for again", kill.at_us);
        }
        for pair in times.windows(2) {
            let sent = pair[0].saturating_sub(late);
            let lost = |kill: &&Kill| (sent..pair[0] + window).contains(&kill.at_us);
            let kill = kills.iter().find(lost);
            assert!(kill.is_some(), "{url} was asked for at {pair:?}, with no kill soon after");
        }
    }
    let asked: usize = times.values().map(Vec::len).sum();
    let hosts: BTreeSet<&str> = requests.iter().map(|asked| asked.host.as_str()).collect();
    let in_flight = hosts.len() * (1 + UNCOMMITTED.as_millis() / DELAY.as_millis()) as usize;
    assert!(asked <= pages.len() + kills.len() * in_flight, "{asked} requests");
    assert!(asked > pages.len(), "no kill cost anything: they came at the wrong moments");
}
