//! Does what matters more by links come sooner and more often?

#![allow(clippy::unwrap_used)] // a test that cannot go on should stop there

use std::sync::Arc;
use std::time::Duration;

use evercrawl_engine::PlannerConfig;
use evercrawl_engine::importance::{CrawlOrder, Ranks};
use evercrawl_engine::rehearsal::{Asked, Web};
use evercrawl_engine::suspicion::Suspects;
use evercrawl_fetch::Fetched;
use evercrawl_model::Time;
use evercrawl_state::PageRow;

use crate::common::fetched;
use crate::common::rehearsed::{HOUR, START, Sim, TOOK, begun, words};

const SEED: &str = "http://a.test/";

/// Ranks all pages, as the live driver does now and then.
fn rank<W: Web>(sim: &mut Sim<W>) {
    sim.walk.commit_now().unwrap();
    let reading = sim.walk.state().reading();
    let mut ranks =
        Ranks::compute(&reading, &Suspects::default(), u64::MAX, Arc::default()).unwrap();
    sim.walk.set_usual(ranks.mean_host_importance());
    while let Some(pages) = ranks.next_batch().unwrap() {
        let now = sim.now();
        sim.walk.weigh(pages, now).unwrap();
    }
}

fn path(asked: &Asked<'_>) -> String {
    asked.url.strip_prefix("http://a.test/").unwrap_or_default().to_owned()
}

const PAGES: u64 = 40;

/// All pages change twice a day, each in its own time; all link to `/0`, and the front to all.
#[derive(Default)]
struct Star {
    visits: Vec<(String, Time)>,
}

impl Web for Star {
    fn answer(&mut self, asked: &Asked<'_>, now: Time) -> (Fetched, Duration) {
        let path = path(asked);
        self.visits.push((path.clone(), now));
        let front: String = (0..PAGES).map(|n| format!("<a href='/{n}'>a</a>")).collect();
        let body = match path.parse::<u64>() {
            Ok(n) => {
                let version = (now.since(START).as_secs() + n * 1000) / 43_200;
                "<a href='/0'>first</a>".to_owned() + &words(n * 10_000 + version)
            }
            Err(_) if path.is_empty() => front,
            Err(_) => return (fetched(404, &[], String::new(), TOOK), TOOK),
        };
        (fetched(200, &[("content-type", "text/html")], body, TOOK), TOOK)
    }
}

/// How often `/0` was visited, and the others on average, once pages were ranked.
fn visits_to_first_and_others(importance: bool) -> (f64, f64) {
    let dir = tempfile::tempdir().unwrap();
    let rate = PAGES as f64 / 86_400.0;
    let plan = PlannerConfig { importance, rate: Some(rate), ..PlannerConfig::default() };
    let mut sim =
        begun(dir.path(), Star::default(), &[SEED.to_owned()], |config| config.plan = plan);
    sim.set_budget(1.0);
    sim.run(START.after(HOUR), HOUR).unwrap();
    if importance {
        rank(&mut sim);
    }
    sim.set_budget(rate);
    sim.run(START.after(HOUR * 24 * 30), HOUR * 24).unwrap();
    let late = sim.web.visits.iter().filter(|(_, at)| *at > START.after(HOUR * 24 * 5));
    let paths: Vec<u64> = late.filter_map(|(path, _)| path.parse().ok()).collect();
    let first = paths.iter().filter(|n| **n == 0).count();
    (first as f64, (paths.len() - first) as f64 / (PAGES - 1) as f64)
}

#[test]
fn a_page_that_all_link_to_is_visited_more_often_where_importance_counts() {
    let (first, others) = visits_to_first_and_others(true);
    let (alike, same) = visits_to_first_and_others(false);
    eprintln!("{first} visits and {others:.1} of others; else {alike} and {same:.1}");
    assert!(first > 3.0 * others, "{first} {others}");
    // Pages that change sooner than they can be looked at get half or twice as many visits by chance.
    assert!((0.5..2.0).contains(&(alike / same)), "{alike} {same}");
}

/// The front leads to `/many`, which leads to forty pages, and to `/few`, which leads to three.
#[derive(Default)]
struct Branches {
    asked: Vec<String>,
}

impl Web for Branches {
    fn answer(&mut self, asked: &Asked<'_>, _: Time) -> (Fetched, Duration) {
        let path = path(asked);
        let link = |to: &str, n: u64| format!("<a href='/{to}{n}'>{n}</a>");
        let body = match path.as_str() {
            "" => "<a href='/many'>many</a> <a href='/few'>few</a>".to_owned(),
            "many" => (0..40).map(|n| link("m", n)).collect(),
            "few" => (0..3).map(|n| link("f", n)).collect(),
            leaf if leaf.starts_with(['m', 'f']) => format!("<p>{leaf}"),
            _ => return (fetched(404, &[], String::new(), TOOK), TOOK),
        };
        self.asked.push(path);
        (fetched(200, &[("content-type", "text/html")], body, TOOK), TOOK)
    }
}

/// The mean place among all requests of the three pages that `/few` leads to.
fn place_of_few(order: CrawlOrder) -> f64 {
    let dir = tempfile::tempdir().unwrap();
    let plan = PlannerConfig { order, ..PlannerConfig::default() };
    let mut sim =
        begun(dir.path(), Branches::default(), &[SEED.to_owned()], |config| config.plan = plan);
    sim.run(START.after(HOUR), HOUR).unwrap();
    let asked = &sim.web.asked;
    assert_eq!(asked.len(), 46, "all pages are fetched in any order: {asked:?}");
    let few = (0..asked.len()).filter(|n| asked[*n].starts_with('f') && asked[*n] != "few");
    few.map(|n| n as f64).sum::<f64>() / 3.0
}

#[test]
fn what_a_page_passes_on_decides_which_new_page_comes_first_where_that_is_asked_for() {
    let (breadth, importance) = (place_of_few(CrawlOrder::Breadth), place_of_few(CrawlOrder::Rank));
    eprintln!("places {breadth:.1} and {importance:.1}");
    assert!(breadth > 40.0 && importance < 15.0, "{breadth} {importance}");
}

#[test]
fn new_pages_move_to_the_queue_of_their_rank() {
    let dir = tempfile::tempdir().unwrap();
    let plan = PlannerConfig { order: CrawlOrder::Rank, ..PlannerConfig::default() };
    let mut sim =
        begun(dir.path(), Branches::default(), &[SEED.to_owned()], |config| config.plan = plan);
    // The front, /many and /few are visited after about as many seconds.
    while sim.web.asked.len() < 3 {
        let now = sim.now();
        sim.run(now.after(Duration::from_secs(1)), HOUR).unwrap();
    }
    rank(&mut sim);
    let now = sim.now();
    sim.run(now.after(HOUR), HOUR).unwrap();
    assert_eq!(sim.web.asked.len(), 46);
}

/// What the pages that `/few` and `/many` lead to count, as soon as these two were visited.
fn worth_at_once(by_cash: bool) -> [f64; 2] {
    let dir = tempfile::tempdir().unwrap();
    let plan = PlannerConfig { importance: true, by_cash, ..PlannerConfig::default() };
    let mut sim =
        begun(dir.path(), Branches::default(), &[SEED.to_owned()], |config| config.plan = plan);
    while sim.web.asked.len() < 3 {
        let now = sim.now();
        sim.run(now.after(Duration::from_secs(1)), HOUR).unwrap();
    }
    let rows = sim.walk.state().pages().map(|page| page.unwrap().1);
    let rows: Vec<PageRow> = rows.filter(|row| row.past.is_none()).collect();
    ["http://a.test/f", "http://a.test/m"].map(|begins| {
        let new: Vec<&PageRow> = rows.iter().filter(|row| row.url.starts_with(begins)).collect();
        let times = new.iter().map(|row| row.importance.ratio().unwrap());
        times.sum::<f64>() / new.len() as f64
    })
}

#[test]
fn a_page_that_was_just_found_has_a_value_before_anything_is_ranked() {
    for by_cash in [false, true] {
        let [few, many] = worth_at_once(by_cash);
        assert!(few > 1.5 * many && many > 0.0, "{by_cash}: {few} {many}");
    }
}

/// Two hosts of ten pages and a list that grows; all pages of both link to all of one.
struct Listed;

impl Web for Listed {
    fn answer(&mut self, asked: &Asked<'_>, now: Time) -> (Fetched, Duration) {
        let (host, path) = asked.url["http://".len()..].split_once('/').unwrap();
        let (kind, body) = match path {
            "robots.txt" => ("text/plain", format!("Sitemap: http://{host}/sitemap.xml")),
            "sitemap.xml" => {
                let late = format!("<url><loc>http://{host}/late</loc></url>");
                let late = if now.since(START) > HOUR { late } else { String::new() };
                (
                    "application/xml",
                    format!(
                        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://{host}/0</loc></url>{late}</urlset>"
                    ),
                )
            }
            "" => ("text/html", (0..9).map(|n| format!("<a href=/{n}>{n}</a>")).collect()),
            "late" => ("text/html", words(99)),
            page => {
                let Ok(number) = page.parse::<u64>() else {
                    return (fetched(404, &[], String::new(), TOOK), TOOK);
                };
                let links = (0..9).map(|n| format!("<a href=http://famous.test/{n}>{n}</a>"));
                ("text/html", words(number) + &links.collect::<String>())
            }
        };
        (fetched(200, &[("content-type", kind)], body, TOOK), TOOK)
    }
}

#[test]
fn what_a_list_names_counts_as_pages_of_its_host_do() {
    let dir = tempfile::tempdir().unwrap();
    let seeds = ["famous", "other"].map(|host| format!("http://{host}.test/"));
    let plan = PlannerConfig { importance: true, ..PlannerConfig::default() };
    let mut sim = begun(dir.path(), Listed, &seeds, |config| {
        (config.plan, config.schedule.recrawl) = (plan, HOUR);
    });
    sim.run(START.after(HOUR / 2), HOUR).unwrap();
    rank(&mut sim);
    sim.run(START.after(HOUR * 4), HOUR).unwrap();
    let rows: Vec<PageRow> = sim.walk.state().pages().map(|page| page.unwrap().1).collect();
    let times = |url: &str| {
        let row = rows.iter().find(|row| row.url == url).unwrap();
        row.importance.ratio().unwrap()
    };
    let [famous, other] =
        ["famous", "other"].map(|host| times(&format!("http://{host}.test/late")));
    assert!(famous > 1.2 && other < 0.8, "{famous} {other}");
}
