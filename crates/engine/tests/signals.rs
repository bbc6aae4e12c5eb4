//! Is a list that says which pages changed believed as far as it deserves, and no further?

#![allow(clippy::unwrap_used, clippy::print_stderr)] // a test that cannot go on should stop there

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use evercrawl_archive as archive;
use evercrawl_engine::config::WalkConfig;
use evercrawl_engine::rehearsal::{Asked, Rehearsal, Web};
use evercrawl_engine::walk::{OverrideChange, SignalOutcome, Walk};
use evercrawl_fetch::Fetched;
use evercrawl_model::{Override, Refusal, Time};
use evercrawl_policy::SplitMix64;
use evercrawl_state::{MemoryStore, Settings, State};
use evercrawl_urls::{Canonical, parse_seed_line};

use crate::common::{archive_settings, fetched, small_crawl, unsynced};

const START: Time = Time::from_secs(1_800_000_000);
const DAY: Duration = Duration::from_secs(86_400);
const HOSTS: usize = 6;
const PAGES: usize = 40;
const DAYS: usize = 14;

const WORDS: [&str; 24] = [
    "apple", "bread", "cloud", "dream", "earth", "flame", "grape", "house", "island", "juice",
    "knife", "lemon", "music", "night", "ocean", "paper", "queen", "river", "stone", "table",
    "uncle", "valley", "water", "zebra",
];

/// Hosts with pages that change now and then, and sitemaps that tell when; every other host lies.
struct Town {
    /// When each page of each host changes.
    changes: Vec<Vec<Vec<Time>>>,
    /// The version that was last given away.
    given: HashMap<(usize, usize), usize>,
    /// For honest hosts and liars: fetches of known pages that found nothing new, and others, by day.
    wasted: [[u32; DAYS + 1]; 2],
    useful: [[u32; DAYS + 1]; 2],
    /// How often a sitemap was asked for.
    lists: u32,
    others: Others,
}

/// What the sitemaps of every other host say of when pages changed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Others {
    /// Just now, always.
    Lies,
    /// Nothing: so are liars to one who knows them.
    Nothing,
}

impl Town {
    /// Pages change once in four days on average, by chance that begins from `seed`.
    fn new(others: Others, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut page = || {
            let (mut at, mut changes) = (START, Vec::new());
            while at < START.after(DAY * DAYS as u32) {
                at = at.after(DAY.mul_f64(-4.0 * (1.0 - random.uniform()).ln()));
                changes.push(at);
            }
            changes
        };
        let changes = (0..HOSTS).map(|_| (0..PAGES).map(|_| page()).collect()).collect();
        let (given, empty) = (HashMap::new(), [[0; DAYS + 1]; 2]);
        Town { changes, given, wasted: empty, useful: empty, lists: 0, others }
    }

    fn page(&mut self, host: usize, page: usize, now: Time) -> String {
        let version = self.changes[host][page].iter().filter(|at| **at <= now).count();
        let day = usize::try_from(now.since(START).as_secs() / 86_400).unwrap();
        let liar = usize::from(host % 2 == 1);
        match self.given.insert((host, page), version) {
            Some(before) if before == version => self.wasted[liar][day] += 1,
            Some(_) => self.useful[liar][day] += 1,
            None => {}
        }
        // Words, not numbers: a page that only counts up says nothing new.
        let mut random = SplitMix64::new((host * 10_000 + page * 100 + version) as u64);
        let words: Vec<&str> = (0..30).map(|_| WORDS[random.below(WORDS.len())]).collect();
        format!("<p>{}", words.join(" "))
    }

    fn sitemap(&mut self, host: usize, now: Time) -> String {
        self.lists += 1;
        let mut list = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>".to_owned();
        for (page, changes) in self.changes[host].iter().enumerate() {
            let truth = changes.iter().rfind(|at| **at <= now).copied().unwrap_or(START);
            let told = match self.others {
                _ if host.is_multiple_of(2) => format!("<lastmod>{truth}</lastmod>"),
                Others::Lies => format!("<lastmod>{now}</lastmod>"),
                Others::Nothing => String::new(),
            };
            write!(list, "<url><loc>http://h{host}.test/{page}</loc>{told}</url>").unwrap();
        }
        list + "</urlset>"
    }

    /// The share of fetches that found nothing new, of honest hosts and of liars, in some days.
    fn waste(&self, days: std::ops::Range<usize>) -> [f64; 2] {
        [0, 1].map(|kind| {
            let sum = |counts: &[u32]| f64::from(counts[days.clone()].iter().sum::<u32>());
            let (wasted, useful) = (sum(&self.wasted[kind]), sum(&self.useful[kind]));
            wasted / (wasted + useful).max(1.0)
        })
    }

    /// The share of pages whose copy is right.
    fn fresh(&self, now: Time) -> f64 {
        let right = self.given.iter().filter(|((host, page), version)| {
            self.changes[*host][*page].iter().filter(|at| **at <= now).count() == **version
        });
        right.count() as f64 / (HOSTS * PAGES) as f64
    }
}

impl Web for Town {
    fn answer(&mut self, asked: &Asked<'_>, now: Time) -> (Fetched, Duration) {
        let rest = asked.url.strip_prefix("http://h").unwrap();
        let (host, path) = rest.split_once(".test/").unwrap();
        let host: usize = host.parse().unwrap();
        let (status, kind, body) = match path {
            "sitemap.xml" => (200, "application/xml", self.sitemap(host, now)),
            "" => (200, "text/html", format!("<p>This is the host of the number {host}.")),
            page if page.parse::<usize>().is_ok_and(|page| page < PAGES) => {
                (200, "text/html", self.page(host, page.parse().unwrap(), now))
            }
            _ => (404, "text/html", String::new()),
        };
        let took = Duration::from_millis(20);
        (fetched(status, &[("content-type", kind)], body, took), took)
    }
}

fn config() -> WalkConfig {
    let mut config = small_crawl();
    config.frontier.active_hosts = 100;
    config.reading.records.requests = false;
    config
}

type Sim = Rehearsal<MemoryStore, Town>;

/// A crawl that knows all pages and reads every sitemap each three hours.
fn begun(dir: &std::path::Path, town: Town) -> Sim {
    let settings = Settings { seed: 11, shards: 64 };
    let state = State::open(Arc::new(MemoryStore::default()), settings, None).unwrap();
    let (writer, _) =
        archive::Writer::open(unsynced(dir), &[], archive_settings(1, 1 << 30), START).unwrap();
    let config = Arc::new(config());
    let mut walk = Walk::new(config.clone(), state, writer, 3, START).unwrap();
    for host in 0..HOSTS {
        let seed = parse_seed_line(&format!("http://h{host}.test/"), config.reading.steps);
        walk.add_seed(&seed.unwrap().unwrap(), START).unwrap();
    }
    let mut sim = Rehearsal::new(walk, town, START, Duration::from_secs(6 * 3600));
    // All at once at first, then each page once a day on average, and the sitemaps besides.
    sim.set_rate(Some(10.0));
    sim.run(START.after(Duration::from_secs(600)), DAY).unwrap();
    for host in 0..HOSTS {
        let url = format!("http://h{host}.test/sitemap.xml");
        let page = Canonical::parse(&url).unwrap();
        let state = sim.walk.state();
        let key = state.keyer().host(page.domain(), page.authority());
        let (page, _) = state.find(key, &url).unwrap().unwrap();
        let every = Duration::from_secs(3 * 3600);
        let pin = OverrideChange::Begin(Override::Pin { page, url, every });
        sim.walk.change_override(&pin, sim.now()).unwrap();
    }
    sim.set_budget((HOSTS * (PAGES / 2 + 8)) as f64 / 86_400.0);
    sim
}

/// Runs for two weeks; the mean freshness of the second is returned.
fn run(sim: &mut Sim) -> f64 {
    let mut fresh = 0.0;
    for hour in 1..DAYS as u32 * 24 {
        let until = START.after(DAY / 24 * hour);
        sim.run(until, DAY).unwrap();
        sim.pass(until);
        if hour >= 7 * 24 {
            fresh += sim.web.fresh(until) / (7.0 * 24.0);
        }
    }
    fresh
}

/// The mean freshness of the second week, and the town.
fn second_week(others: Others, seed: u64) -> (f64, Town) {
    let dir = tempfile::tempdir().unwrap();
    let mut sim = begun(dir.path(), Town::new(others, seed));
    let fresh = run(&mut sim);
    eprintln!("{seed} {others:?}: fresh {fresh:.4}, waste {:?}", sim.web.waste(7..DAYS));
    (fresh, sim.web)
}

#[test]
fn lists_that_lie_cost_less_than_a_point_and_others_are_of_use() {
    let (mut told, mut known) = (0.0, 0.0);
    for seed in [7, 8] {
        let (fresh, town) = second_week(Others::Lies, seed);
        assert!(town.lists > 500, "sitemaps are read again: {}", town.lists);
        let [honest, liars] = town.waste(7..DAYS);
        assert!(honest < 0.35 && honest + 0.2 < liars, "the honest are believed: {honest} {liars}");
        told += fresh / 2.0;
        known += second_week(Others::Nothing, seed).0 / 2.0;
    }
    assert!(told > known - 0.01, "as good as knowing who lies: {told} {known}");
}

/// `cargo test -p evercrawl-engine --test engine signals:: -- --ignored --nocapture` prints the loss of each seed.
#[test]
#[ignore = "ten seeds take a minute"]
fn over_ten_towns_the_mean_loss_to_liars_is_below_a_point() {
    let loss = |seed| second_week(Others::Nothing, seed).0 - second_week(Others::Lies, seed).0;
    let losses: Vec<f64> = (1..=10).map(loss).collect();
    let mean = losses.iter().sum::<f64>() / 10.0;
    let worst = losses.iter().copied().fold(f64::MIN, f64::max);
    eprintln!("mean loss {mean:.4}, worst {worst:.4}: {losses:.4?}");
    assert!(mean < 0.01, "{mean}");
}

#[test]
fn a_word_is_heard_once_and_not_when_it_is_old() {
    let dir = tempfile::tempdir().unwrap();
    let mut sim = begun(dir.path(), Town::new(Others::Nothing, 7));
    let url = |text: &str| Canonical::parse(text).unwrap();
    let due = |sim: &Sim, url: &Canonical| {
        let state = sim.walk.state();
        let host = state.keyer().host(url.domain(), url.authority());
        let row = state.find(host, url.as_str()).unwrap().unwrap().1;
        (row.place, row.claimed_change, row.past.unwrap().noted)
    };
    let page = url("http://h0.test/7");
    let (place, _, _) = due(&sim, &page);
    let now = sim.now().after(Duration::from_secs(7));
    assert_eq!(sim.walk.signal(&page, now).unwrap(), SignalOutcome::Known);
    let heard = due(&sim, &page);
    assert_eq!(heard.1, Some(now));
    assert!(format!("{:?}", heard.0) <= format!("{place:?}"), "never later than it was");
    let later = now.after(Duration::from_secs(9));
    assert_eq!(sim.walk.signal(&page, later).unwrap(), SignalOutcome::Known);
    assert_eq!(due(&sim, &page), heard, "until it is visited, more words say nothing new");
    for (text, want) in [
        ("http://h0.test/new", SignalOutcome::New),
        ("http://h0.test/new", SignalOutcome::Known),
        ("http://elsewhere.test/", SignalOutcome::Refused(Refusal::OutOfScope)),
        ("http://h0.test/x.zip", SignalOutcome::Refused(Refusal::Extension)),
    ] {
        assert_eq!(sim.walk.signal(&url(text), later).unwrap(), want, "{text}");
    }
}
