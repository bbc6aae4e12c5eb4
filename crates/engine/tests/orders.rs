//! Which order of discovery finds what matters first, in the engine itself?

#![allow(clippy::unwrap_used)] // a test that cannot go on should stop there

use std::collections::HashMap;
use std::time::Duration;

use evercrawl_engine::PlannerConfig;
use evercrawl_engine::importance::{CrawlOrder, Ranks};
use evercrawl_engine::rehearsal::{Asked, Web};
use evercrawl_engine::suspicion::Suspects;
use evercrawl_fetch::Fetched;
use evercrawl_model::{Measure, Time};
use evercrawl_policy::SplitMix64;
use evercrawl_rank::{Graph, JumpWeights, RankSettings, Repeats, Topic, pagerank};
use evercrawl_urls::ScopeKind;

use crate::common::fetched;
use crate::common::rehearsed::{HOUR, START, Sim, TOOK, begun, words};

/// Hosts of all sizes, and links that favour few of them, as in `rank`'s example `orders`, but small.
#[derive(Clone)]
struct Made {
    /// The first page of each host; one more at the end.
    fronts: Vec<u32>,
    host_of: Vec<u32>,
    links: Vec<Vec<u32>>,
    asked: Vec<u32>,
}

impl Made {
    fn new(pages: u32) -> Self {
        let mut dice = SplitMix64::new(7);
        let (mut fronts, mut host_of) = (vec![0], Vec::new());
        while (host_of.len() as u32) < pages {
            let size = (4.0 * dice.uniform().powf(-0.9)).min(f64::from(pages) / 10.0) as usize;
            host_of.resize(host_of.len() + size, fronts.len() as u32 - 1);
            fronts.push(host_of.len() as u32);
        }
        let mut fame: Vec<u32> = (0..fronts.len() as u32 - 1).collect();
        let count = fame.len();
        dice.shuffle_front(&mut fame, count);
        let mut web = Made { fronts, host_of, links: Vec::new(), asked: Vec::new() };
        web.links =
            (0..web.host_of.len() as u32).map(|page| web.draw(page, &fame, &mut dice)).collect();
        web
    }

    fn draw(&self, page: u32, fame: &[u32], dice: &mut SplitMix64) -> Vec<u32> {
        let own = self.host_of[page as usize];
        let end = self.fronts[own as usize + 1];
        let mut links: Vec<u32> = (page + 1 < end).then_some(page + 1).into_iter().collect();
        for _ in 0..8 {
            let near = dice.uniform() < 0.75;
            let famous = fame[(fame.len() as f64 * dice.uniform().powi(3)) as usize];
            let host = if near { own } else { famous } as usize;
            let size = f64::from(self.fronts[host + 1] - self.fronts[host]);
            let deep = near || dice.uniform() < 0.5;
            let place = if deep { (size * dice.uniform().powi(2)) as u32 } else { 0 };
            links.push(self.fronts[host] + place);
        }
        links
    }

    fn url(&self, page: u32) -> String {
        let host = self.host_of[page as usize];
        format!("http://h{host}.test/{}", page - self.fronts[host as usize])
    }

    fn page(&self, url: &str) -> Option<u32> {
        let (host, place) = url.strip_prefix("http://h")?.split_once(".test/")?;
        let (host, place): (usize, u32) = (host.parse().ok()?, place.parse().ok()?);
        let first = *self.fronts.get(host)?;
        (first + place < *self.fronts.get(host + 1)?).then_some(first + place)
    }

    fn ranks(&self) -> Vec<f64> {
        let edges =
            (0u32..).zip(&self.links).flat_map(|(from, to)| to.iter().map(move |&to| (from, to)));
        let graph = Graph::new(self.links.len() as u32, edges, Repeats::Once);
        pagerank(&graph, JumpWeights::Anywhere, &RankSettings::default()).scores
    }
}

impl Web for Made {
    fn answer(&mut self, asked: &Asked<'_>, _: Time) -> (Fetched, Duration) {
        let Some(page) = self.page(asked.url) else {
            return (fetched(404, &[], String::new(), TOOK), TOOK);
        };
        self.asked.push(page);
        let link = |to: &u32| format!("<a href='{}'>page</a>", self.url(*to));
        let body: String = self.links[page as usize].iter().map(link).collect();
        let body = body + &words(u64::from(page));
        (fetched(200, &[("content-type", "text/html")], body, TOOK), TOOK)
    }
}

fn discover(web: &Made, plan: PlannerConfig, larger_first: bool) -> Sim<Made> {
    let dir = tempfile::tempdir().unwrap();
    let hosts = web.fronts.len() - 1;
    let seeds: Vec<String> = (0..3).map(|n| web.url(web.fronts[n * hosts / 3])).collect();
    let mut sim = begun(dir.path(), web.clone(), &seeds, |config| {
        config.plan = plan;
        config.scope = ScopeKind::Any;
        config.sitemaps = false;
        config.frontier.larger_first = larger_first;
        config.frontier.new_only = true;
    });
    let mut ranked = 0;
    // A crawl ranks now and then; here whenever a tenth more was fetched.
    while sim.web.asked.len() < web.links.len() && sim.now() < START.after(HOUR * 24 * 30) {
        let (now, asked) = (sim.now(), sim.web.asked.len());
        sim.run(now.after(Duration::from_secs(20)), HOUR).unwrap();
        if sim.web.asked.len() == asked {
            break;
        }
        if plan.order == CrawlOrder::Rank && sim.web.asked.len() > ranked + ranked / 10 + 20 {
            ranked = sim.web.asked.len();
            rank(&mut sim);
        }
    }
    sim
}

fn rank(sim: &mut Sim<Made>) {
    sim.walk.commit_now().unwrap();
    let reading = sim.walk.state().reading();
    let mut ranks =
        Ranks::compute(&reading, &Suspects::default(), u64::MAX, Default::default()).unwrap();
    while let Some(pages) = ranks.next_batch().unwrap() {
        let now = sim.now();
        sim.walk.weigh(pages, now).unwrap();
    }
}

/// The mean share of rank found, over all fetches, and the shares after a tenth, a fifth and a half.
fn found(asked: &[u32], ranks: &[f64]) -> [f64; 4] {
    let mut sum = 0.0;
    let curve: Vec<f64> = asked
        .iter()
        .map(|page| {
            sum += ranks[*page as usize];
            sum
        })
        .collect();
    let at = |share: f64| curve[((share * curve.len() as f64) as usize).min(curve.len() - 1)];
    [at(0.1), at(0.2), at(0.5), curve.iter().sum::<f64>() / curve.len() as f64]
}

#[test]
fn orders_by_value_find_what_matters_before_breadth_does() {
    let web = Made::new(700);
    let ranks = web.ranks();
    let (mut means, mut reached) = (HashMap::new(), None);
    println!("{} pages on {} hosts", web.links.len(), web.fronts.len() - 1);
    println!("{:<14} {:>7} {:>7} {:>7} {:>7}", "rank found at", "10 %", "20 %", "50 %", "mean");
    for (name, order) in
        CrawlOrder::NAMES.into_iter().filter(|(_, order)| *order != CrawlOrder::Topic)
    {
        let plan = PlannerConfig { order, ..PlannerConfig::default() };
        let sim = discover(&web, plan, order == CrawlOrder::Sites);
        let mut asked = sim.web.asked.clone();
        let shares = found(&asked, &ranks);
        let percent = shares.map(|share| format!("{:>5.1} %", 100.0 * share)).join(" ");
        println!("{name:<14} {percent}");
        means.insert(name, shares[3]);
        asked.sort_unstable();
        asked.dedup();
        assert_eq!(asked.len(), sim.web.asked.len(), "{name}: nothing comes twice");
        assert_eq!(reached.get_or_insert_with(|| asked.clone()), &asked, "{name}: all come");
    }
    assert!(reached.is_some_and(|reached| 10 * reached.len() > 9 * web.links.len()));
    for name in ["indegree", "pagerank", "opic"] {
        assert!(means[name] > means["breadth"], "{name}: {means:?}");
    }
}

#[test]
fn no_cash_is_lost_and_importance_follows_it() {
    let web = Made::new(300);
    let plan = PlannerConfig {
        importance: true,
        by_cash: true,
        order: CrawlOrder::Cash,
        ..PlannerConfig::default()
    };
    let sim = discover(&web, plan, false);
    let state = sim.walk.state();
    let [accounts, cash, given, _] = state.link_evidence_total(Measure::Cash).unwrap();
    let pages = sim.web.asked.len();
    assert_eq!((accounts as usize, cash), (pages, 3.0), "three seeds brought 1 each");
    let claims: Vec<f64> =
        state.all_link_evidence(Measure::Cash).map(|claim| claim.unwrap().1.numbers[0]).collect();
    assert_eq!(claims.len(), pages);
    let held = claims.iter().sum::<f64>() + given * accounts;
    assert!((held - cash).abs() < 1e-9, "{held} of {cash}");
    let ranks = web.ranks();
    let best = (0..ranks.len()).max_by(|a, b| ranks[*a].total_cmp(&ranks[*b])).unwrap();
    let times = |page: usize| {
        let url = web.url(page as u32);
        let row = state.pages().find_map(|row| Some(row.unwrap().1).filter(|row| row.url == url));
        row.and_then(|row| row.importance.ratio())
    };
    let (first, all) = (times(best), ranks.len());
    let above = (0..all).filter(|page| times(*page) > first).count();
    assert!(above * 20 < all, "{above} of {all} matter more than the first by PageRank");
}

/// The front leads to ten branches of four pages in a row; one branch is about solar power.
#[derive(Default)]
struct Branches {
    asked: Vec<String>,
}

impl Web for Branches {
    fn answer(&mut self, asked: &Asked<'_>, _: Time) -> (Fetched, Duration) {
        let path = asked.url.strip_prefix("http://a.test/").unwrap_or_default().to_owned();
        let body = match path.split_once('-') {
            None if path.is_empty() => {
                let link = |n: u32| match n {
                    6 => "<a href='/6-0'>solar power</a>".to_owned(),
                    n => format!("<a href='/{n}-0'>something else</a>"),
                };
                (0..10).map(link).collect::<String>()
            }
            Some((branch, step)) if step.len() == 1 && step != "4" => {
                let next = step.parse::<u32>().unwrap() + 1;
                let text = if branch == "6" { "<p>Solar panels on roofs." } else { "<p>Cooking." };
                let link = if next < 4 {
                    format!("<a href='/{branch}-{next}'>on</a>")
                } else {
                    String::new()
                };
                format!("{link}{text} {branch} {step}")
            }
            _ => return (fetched(404, &[], String::new(), TOOK), TOOK),
        };
        self.asked.push(path);
        (fetched(200, &[("content-type", "text/html")], body, TOOK), TOOK)
    }
}

/// The mean place among all requests of the branch about solar power.
fn place_of_branch(order: CrawlOrder) -> f64 {
    let dir = tempfile::tempdir().unwrap();
    let plan = PlannerConfig { order, ..PlannerConfig::default() };
    let mut sim =
        begun(dir.path(), Branches::default(), &["http://a.test/".to_owned()], |config| {
            config.plan = plan;
            config.sitemaps = false;
            config.reading.topic =
                (order == CrawlOrder::Topic).then(|| Topic::new(["solar", "wind"]));
        });
    sim.run(START.after(HOUR), HOUR).unwrap();
    let asked = &sim.web.asked;
    assert_eq!(asked.len(), 41, "all pages are fetched in any order: {asked:?}");
    let places = (0..asked.len()).filter(|n| asked[*n].starts_with("6-"));
    places.map(|n| n as f64).sum::<f64>() / 4.0
}

#[test]
fn pages_about_the_topic_come_first_also_behind_pages_that_are_not() {
    let (breadth, topic) =
        (place_of_branch(CrawlOrder::Breadth), place_of_branch(CrawlOrder::Topic));
    println!("places {breadth:.1} and {topic:.1}");
    assert!(topic < breadth / 2.0, "{breadth} {topic}");
}

/// Which hosts were asked first, where one host at a time is active.
fn hosts_in_order(order: CrawlOrder) -> Vec<String> {
    struct Hosts(Vec<String>);
    impl Web for Hosts {
        fn answer(&mut self, asked: &Asked<'_>, _: Time) -> (Fetched, Duration) {
            let (host, path) = asked.url.strip_prefix("http://").unwrap().split_once('/').unwrap();
            let size = |host: u32| if host == 5 { 40 } else { 1 };
            let links: String = match (host, path) {
                ("a.test", "") => (0..8u32)
                    .flat_map(|host| (0..size(host)).map(move |n| (host, n)))
                    .map(|(host, n)| format!("<a href='http://h{host}.test/{n}'>x</a>"))
                    .collect(),
                (_, "robots.txt") => return (fetched(404, &[], String::new(), TOOK), TOOK),
                _ => String::new(),
            };
            self.0.push(host.to_owned());
            let body = format!("{links}<p>{host} {path}");
            (fetched(200, &[("content-type", "text/html")], body, TOOK), TOOK)
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let mut sim = begun(dir.path(), Hosts(Vec::new()), &["http://a.test/".to_owned()], |config| {
        config.plan = PlannerConfig { order, ..PlannerConfig::default() };
        config.scope = ScopeKind::Any;
        config.sitemaps = false;
        config.frontier.active_hosts = 1;
        config.frontier.quantum = 1000;
        config.frontier.larger_first = order == CrawlOrder::Sites;
        config.frontier.new_only = true;
    });
    sim.run(START.after(HOUR), HOUR).unwrap();
    let mut hosts = sim.web.0;
    hosts.dedup();
    hosts
}

#[test]
fn a_site_of_which_most_pages_wait_comes_before_small_ones() {
    let place = |order| hosts_in_order(order).iter().position(|host| host == "h5.test").unwrap();
    let (sites, breadth) = (place(CrawlOrder::Sites), place(CrawlOrder::Breadth));
    println!("places {sites} and {breadth}");
    assert!(sites <= 3, "{sites}");
}
