//! Do the hot paths cost what they did? Instructions are counted, so that no noise can tell otherwise.
//!
//! Valgrind runs this very program twice a path, once with twice the work; the difference is what
//! the work costs. `bench/instructions.txt` has the figures that are kept; a path that costs over
//! a tenth more fails. When it is worth that, or when a path became cheaper,
//! `KEEP_INSTRUCTIONS=1 cargo test --workspace --test instructions` writes what it counts: with all of the
//! workspace, since that decides which features dependencies have, and some of these cost more.
//!
//! The figures are of the profile that tests are built with, of one version of the compiler, and of
//! processors with AVX2, which valgrind passes on; it knows no newer extensions, so that all of
//! these count alike. Elsewhere there is nothing to compare with, which is said aloud.

#![allow(clippy::unwrap_used, clippy::print_stderr)] // a test that cannot go on should stop there

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use evercrawl_archive as archive;
use evercrawl_engine::rehearsal::{Asked, Rehearsal, Web};
use evercrawl_engine::walk::Walk;
use evercrawl_extract::{Content, Document, Extractor, HtmlOptions};
use evercrawl_fetch::Fetched;
use evercrawl_model::{Discovery, Event, Time};
use evercrawl_policy::SplitMix64;
use evercrawl_robots::RobotsTxt;
use evercrawl_state::{DiskStore, MemoryStore, Settings, State, StoreLimits};
use evercrawl_urls::{Base, Canonical, CanonicalSteps, parse_seed_line};

use common::{archive_settings, fetched, small_crawl, unsynced};

const START: Time = Time::from_secs(1_800_000_000);
/// By how much a path may cost more than its figure.
const MARGIN: f64 = 0.10;
/// Says which path this program is to go, and how often, when valgrind runs it.
const ORDER: &str = "EVERCRAWL_HOT_PATH";

/// What goes a path so many times.
type Rounds = fn(usize);

/// The hot paths: their names, what goes them, and how many rounds are counted.
const PATHS: [(&str, Rounds, usize); 5] = [
    ("read a page of 30 kB", read_pages, 8),
    ("canonicalise 100 links", canonicalise, 8),
    ("ask a robots.txt of 200 rules", ask_robots, 100),
    ("commit 100 new pages to disk", commit, 5),
    ("visit a page, from next due to commit in memory", visit, 25),
];

#[test]
fn hot_paths_cost_what_they_did() {
    let Some(machine) = machine() else { return };
    let counted: BTreeMap<&str, f64> =
        PATHS.iter().map(|(name, _, rounds)| (*name, instructions(name, *rounds))).collect();
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/instructions.txt"));
    if std::env::var_os("KEEP_INSTRUCTIONS").is_some() {
        return std::fs::write(file, written(&machine, &counted)).unwrap();
    }
    let kept = std::fs::read_to_string(file).unwrap();
    let (of, figures) = kept.split_once('\n').unwrap();
    if of != machine {
        eprintln!("SKIPPED: instructions were counted with {of}, and this is {machine}");
        return;
    }
    let differing: Vec<String> =
        figures.lines().filter_map(|line| difference(line, &counted)).collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// What figures depend on; `None` where none can be had.
fn machine() -> Option<String> {
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if !processor.contains(" avx2 ") || version("valgrind").is_none() {
        eprintln!("SKIPPED: no valgrind here or no AVX2, so instructions are not counted");
        return None;
    }
    version("rustc")
}

fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn written(machine: &str, counted: &BTreeMap<&str, f64>) -> String {
    let mut text = format!("{machine}\n");
    for (name, _, _) in PATHS {
        writeln!(text, "{:.0}\t{name}", counted[name]).unwrap();
    }
    text
}

/// What is to be said of a line of the kept figures.
fn difference(line: &str, counted: &BTreeMap<&str, f64>) -> Option<String> {
    let (figure, name) = line.split_once('\t').unwrap();
    let figure: f64 = figure.parse().unwrap();
    let now = *counted.get(name)?;
    let by = now / figure - 1.0;
    eprintln!("{name}: {now:.0} instructions, {:+.1} % of what is kept", by * 100.0);
    (by > MARGIN).then(|| {
        format!("{name}: {now:.0} instructions, kept are {figure:.0}: {:+.1} %", by * 100.0)
    })
}

/// Instructions of one round.
fn instructions(name: &str, rounds: usize) -> f64 {
    let runs = [rounds, 2 * rounds].map(|rounds| {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        command.arg(std::env::current_exe().unwrap());
        command.args(["--exact", "a_hot_path", "--ignored", "--test-threads=1"]);
        command.env(ORDER, format!("{rounds} {name}"));
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    });
    let [once, twice] = runs.map(|run| {
        let told = run.wait_with_output().unwrap().stderr;
        let told = String::from_utf8_lossy(&told).into_owned();
        let collected = told.lines().find_map(|line| line.split_once("Collected : "));
        let (_, count) = collected.unwrap_or_else(|| panic!("{name}: {told}"));
        count.trim().parse::<f64>().unwrap()
    });
    (twice - once) / rounds as f64
}

#[test]
#[ignore = "what valgrind runs"]
fn a_hot_path() {
    let Ok(order) = std::env::var(ORDER) else { return };
    let (rounds, name) = order.split_once(' ').unwrap();
    let (_, path, _) = PATHS.iter().find(|(path, _, _)| *path == name).unwrap();
    path(rounds.parse().unwrap());
}

const WORDS: [&str; 16] = [
    "apple", "bread", "cloud", "dream", "earth", "flame", "grape", "house", "island", "juice",
    "knife", "lemon", "music", "night", "ocean", "paper",
];

/// A page like others: a menu, paragraphs of words, links to its neighbours, references.
fn page(n: usize, paragraphs: usize) -> String {
    let mut random = SplitMix64::new(n as u64);
    let mut html =
        format!("<!doctype html><html lang=en><title>Page {n}</title><ul class=\"menu\">");
    for item in 0..20 {
        write!(html, "<li class=\"item\"><a href=\"/menu/{item}.html\">Item {item}</a></li>")
            .unwrap();
    }
    for paragraph in 0..paragraphs {
        html.push_str("</ul><div class=\"text\" id=\"p\"><p>");
        for _ in 0..60 {
            write!(html, "{} ", WORDS[random.below(WORDS.len())]).unwrap();
        }
        let next = (n * 7 + paragraph) % 1000;
        writeln!(html, "&amp; <a href=\"../pages/{next}\"><b>see</b></a>.</p></div>").unwrap();
    }
    html
}

fn read_pages(rounds: usize) {
    let html = page(1, 70);
    let document = Document {
        bytes: html.as_bytes(),
        content_type: Some("text/html"),
        url: "http://h0.test/pages/1",
    };
    let (mut extractor, options) = (Extractor::new(), HtmlOptions::default());
    for _ in 0..rounds {
        let extracted = extractor.extract(black_box(&document), &options);
        let Content::Page(page) = extracted.content else { panic!("no page") };
        assert_eq!(page.links.len(), 90);
    }
}

fn canonicalise(rounds: usize) {
    let base =
        Base::new("http://www.example.org/a/b/c.html?x=1", CanonicalSteps::default()).unwrap();
    let shapes =
        ["/menu/%.html", "../%/", "d?b=%&a=1", "http://Other.Example:80/%7Ea/%", "//x.test/%#top"];
    let links: Vec<String> =
        (0..100).map(|n| shapes[n % shapes.len()].replace('%', &n.to_string())).collect();
    for _ in 0..rounds {
        assert!(links.iter().all(|link| base.join(black_box(link)).is_ok()));
    }
}

fn ask_robots(rounds: usize) {
    let rules = (0..200).map(|n| match n % 4 {
        0 => format!("Disallow: /*{n}.php$\n"),
        1 => format!("Allow: /area{n}/public\n"),
        _ => format!("Disallow: /area{n}/\n"),
    });
    let robots = RobotsTxt::parse(
        format!("User-agent: *\n{}", rules.collect::<String>()).as_bytes(),
        "evercrawl",
    );
    for round in 0..rounds {
        black_box(
            robots.verdict(black_box(&format!("/area{}/public/page.html?id=3", round % 200))),
        );
    }
}

fn commit(rounds: usize) {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(DiskStore::open(dir.path(), StoreLimits::default()).unwrap());
    let mut state = State::open(store, Settings { seed: 1, shards: 4 }, None).unwrap();
    let keyer = state.view().keyer();
    for n in 0..rounds * 100 {
        let url = Canonical::parse(&format!("http://h{}.test/{n}", n % 7)).unwrap();
        let key = keyer.page(keyer.host(url.domain(), url.authority()), url.as_str());
        state.apply(&Event::Discovered(Discovery::new(key, url.into_string(), 1, START))).unwrap();
        if n % 100 == 99 {
            state.flush_now().unwrap();
        }
    }
}

/// A host whose pages lead to one another.
struct Book;

impl Web for Book {
    fn answer(&mut self, asked: &Asked<'_>, _: Time) -> (Fetched, Duration) {
        // Every link leads to a page: one that is missing costs less, and when it comes is no matter here.
        let last = asked.url.rsplit('/').next().unwrap_or_default();
        let number = last.strip_suffix(".html").unwrap_or(last).parse().ok();
        let body = match number {
            Some(number) => page(number, 20),
            None if asked.url.ends_with("test/") => page(0, 20),
            None => String::new(),
        };
        let status = if body.is_empty() { 404 } else { 200 };
        let took = Duration::from_millis(20);
        (fetched(status, &[("content-type", "text/html")], body, took), took)
    }
}

fn visit(rounds: usize) {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { seed: 11, shards: 4 };
    let state = State::open(Arc::new(MemoryStore::default()), settings, None).unwrap();
    let (writer, _) =
        archive::Writer::open(unsynced(dir.path()), &[], archive_settings(1, 1 << 30), START)
            .unwrap();
    let config = Arc::new(small_crawl());
    let mut walk = Walk::new(config.clone(), state, writer, 3, START).unwrap();
    let seed = parse_seed_line("http://h0.test/", config.reading.steps).unwrap().unwrap();
    walk.add_seed(&seed, START).unwrap();
    let mut sim = Rehearsal::new(walk, Book, START, Duration::from_secs(10));
    while sim.walk.tally().pages < rounds as u64 {
        sim.run(sim.now().after(Duration::from_secs(1)), Duration::from_secs(60)).unwrap();
    }
}
