//! Does a crawl keep who links to whom, and tell which pages matter by it?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use crate::common::Place;
use crate::common::site::{Answer, Request, Site};
use crate::common::web::Web;
use evercrawl_testweb::WorldConfig;
use rustix::process::Signal;
use serde_json::Value;

/// Two hosts of one domain and one of another. `a.one.test/` first links to `/old`, then to `/new`.
fn site() -> Site {
    Site::serve(|request: &Request| {
        let links: &[&str] = match request.page.as_str() {
            "a.one.test/" if request.earlier == 0 => &["/old", "/hub", "/"],
            "a.one.test/" => &["/new", "/hub"],
            "a.one.test/hub" => &["http://b.one.test/", "http://c.two.test/", "/hub#top"],
            "b.one.test/" => &["http://c.two.test/", "http://c.two.test/"],
            "c.two.test/" => &["http://a.one.test/moved"],
            "a.one.test/moved" => {
                return Answer::status("301 Moved Permanently").with("Location: /hub");
            }
            "a.one.test/old" | "a.one.test/new" => &[],
            _ => return Answer::status("404 Not Found"),
        };
        let text = links.iter().map(|to| format!("<a href='{to}'>somewhere</a>"));
        Answer::page(text.collect::<String>() + &format!("<p>{} {}", request.page, request.earlier))
    })
}

const SEEDS: &str = "http://a.one.test/ http://b.one.test/ http://c.two.test/";

fn crawl(place: &Place, site: &Site, more: &str) {
    let words = format!("crawl {SEEDS} --once --delay 0s --quiet {more} {}", site.flags());
    place.run(&words).expect(0);
}

/// The links that a crawl has kept, without their scheme.
fn edges(place: &Place) -> Vec<String> {
    place.run("rank --export edges.csv").expect(0);
    let text = std::fs::read_to_string(place.path().join("edges.csv")).unwrap();
    let mut edges: Vec<String> = text.replace("http://", "").lines().map(str::to_owned).collect();
    assert_eq!(edges.remove(0), "src,dst");
    edges.sort();
    edges
}

fn names(lines: &[Value], key: &str) -> Vec<String> {
    lines.iter().map(|line| line[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn links_are_kept_as_found_and_replaced_when_a_page_changes() {
    let (site, place) = (site(), Place::new());
    crawl(&place, &site, "--recrawl 1s");
    let rest = [
        "a.one.test/hub,b.one.test/",
        "a.one.test/hub,c.two.test/",
        "a.one.test/moved,a.one.test/hub",
        "b.one.test/,c.two.test/",
        "c.two.test/,a.one.test/moved",
    ];
    let with = |own: &[&'static str]| [own, &rest].concat();
    assert_eq!(edges(&place), with(&["a.one.test/,a.one.test/hub", "a.one.test/,a.one.test/old"]));
    let again = "crawl --for 3s --delay 0s --quiet";
    place.run(&format!("{again} {}", site.flags())).expect(15);
    assert_eq!(edges(&place), with(&["a.one.test/,a.one.test/hub", "a.one.test/,a.one.test/new"]));
}

#[test]
fn every_method_ranks_and_agrees_with_the_exported_links() {
    let (site, place) = (site(), Place::new());
    crawl(&place, &site, "");
    edges(&place);
    for method in ["pagerank", "indegree"] {
        let ours = place.run(&format!("rank --method {method} --json")).expect(0).json_lines();
        let graph = format!("lab graph --edges edges.csv --method {method} --json");
        let theirs = place.run(&graph).expect(0).json();
        for line in &ours {
            let score = theirs["scores"][line["url"].as_str().unwrap()].as_f64().unwrap();
            assert!((line["score"].as_f64().unwrap() - score).abs() < 1e-9, "{line} {score}");
        }
        assert_eq!(ours.len(), 6, "{ours:?}");
    }
    let first = |words: &str, key: &str| {
        let lines = place.run(&format!("rank --json {words}")).expect(0).json_lines();
        names(&lines, key).remove(0)
    };
    assert_eq!(first("", "url"), "http://c.two.test/");
    let opic = place.run("rank --method opic --json").expect(0).json_lines();
    let sum: f64 = opic.iter().map(|line| line["score"].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9 && opic[5]["linked_by"] == 0, "{opic:?}");
    assert_eq!(first("--method hits", "url"), "http://c.two.test/");
    assert_eq!(first("--method host", "host"), "c.two.test");
    let domains = place.run("rank --method domain --json").expect(0).json_lines();
    let halves: Vec<f64> = domains.iter().map(|line| line["score"].as_f64().unwrap()).collect();
    assert!(
        halves.iter().all(|half| (half - 0.5).abs() < 1e-9) && halves.len() == 2,
        "{domains:?}"
    );
    place.write("good.txt", "# whom we trust\nhttp://b.one.test/\n");
    let trust = place.run("rank --method trustrank --trust good.txt --json").expect(0).json_lines();
    let mut strangers = trust.clone();
    strangers.retain(|line| line["score"] == 0.0);
    assert_eq!(
        strangers.len(),
        2,
        "nobody of good repute leads to the front or to /old: {trust:?}"
    );
    let words = place.run("rank --top 2").expect(0).out;
    let lines: Vec<&str> = words.lines().collect();
    assert_eq!((lines[0], lines.len()), ("6 urls, 7 links", 4), "{words}");
    assert!(lines[1].starts_with("score") && lines[2].ends_with("http://c.two.test/"), "{words}");
}

#[test]
fn what_cannot_be_trusted_or_read_is_said() {
    let (site, place) = (site(), Place::new());
    crawl(&place, &site, "");
    place.write("bad.txt", "http://a.one.test/\nhttp://nowhere.test/\n");
    place.run("rank --method trustrank --trust bad.txt").expect(2).explains(&["line 2", "no page"]);
    place.run("rank --method trustrank --trust none.txt").expect(1).explains(&["cannot read"]);
    place.run("rank --damping 1.5").expect(2);
    place.run("rank --export nowhere/edges.csv").expect(1).explains(&["cannot write"]);
}

#[test]
fn a_crawl_that_keeps_no_links_says_that_there_are_none() {
    let (site, place) = (site(), Place::new());
    crawl(&place, &site, "-s links.keep=false");
    assert!(edges(&place).is_empty());
    assert!(place.run("rank").expect(0).out.starts_with("6 urls, 0 links\n"));
}

#[test]
fn a_running_crawl_ranks_and_exports_too() {
    let (web, place) = (
        Web::serve(WorldConfig { hosts: 3, pages: 12, seed: 5, ..WorldConfig::calm() }),
        Place::new(),
    );
    let seeds = web.seeds(3).join(" ");
    let crawl = format!("crawl {seeds} --delay 20ms --quiet {}", web.flags());
    let mut running = place.start(&crawl);
    running.wait_until("links", || {
        let ran = place.run("rank --json --top 5");
        ran.code == Some(0) && ran.json_lines().iter().any(|line| line["linked_by"] != 0)
    });
    assert!(!edges(&place).is_empty(), "where the caller is, not the crawl");
    running.signal(Signal::INT);
    running.wait().expect(11);
}

/// The step of `why --json` with this code.
fn step(why: &Value, code: &str) -> Value {
    let steps = why["steps"].as_array().into_iter().flatten();
    steps.into_iter().find(|step| step["code"] == code).cloned().unwrap_or_default()
}

#[test]
fn a_running_crawl_weighs_pages_by_their_links_where_it_is_asked_to() {
    let (site, place) = (site(), Place::new());
    let importance = "-s importance.method=pagerank -s importance.every=1s";
    let words = format!("crawl {SEEDS} --budget 50/s --delay 0s --quiet {importance}");
    let mut running = place.start(&format!("{words} {}", site.flags()));
    let times = |url: &str| -> Option<f64> {
        let ran = place.run(&format!("why {url} --json"));
        let why = if ran.code == Some(0) { ran.json() } else { Value::Null };
        step(&why, "importance")["times_average"].as_f64()
    };
    // What was found has a value at once; a seed, which nobody links to, once it was ranked.
    running.wait_until("a ranking", || times("http://a.one.test/").is_some());
    running.wait_until("its results", || times("http://c.two.test/") > Some(1.0));
    assert!(times("http://a.one.test/") < Some(0.5));
    running.wait_until("word of it", || {
        place.run("status --json").expect(0).json()["run"]["ranked_by"] == "pagerank"
    });
    running.signal(Signal::INT);
    running.wait().expect(11);
    let off = "why http://c.two.test/ --json -s importance.method=none";
    assert_eq!(step(&place.run(off).expect(0).json(), "importance"), Value::Null);
    let wrong = place.run("crawl --once -s importance.method=fame").expect(3);
    wrong.explains(&["none of none, pagerank, opic"]);
}

#[test]
fn a_crawl_counts_links_that_do_not_fit_in_memory_and_says_so() {
    // Six pages at 64 bytes each, and more links than the rest holds; or not even the pages.
    for (memory, ranked_by, said) in
        [("450", "indegree", "number of links"), ("100", "nothing", "not ranked")]
    {
        let (site, place) = (site(), Place::new());
        let importance = format!(
            "-s importance.method=pagerank -s importance.every=1s -s links.memory={memory}"
        );
        let words = format!("crawl {SEEDS} --budget 50/s --delay 0s --quiet {importance}");
        let mut running = place.start(&format!("{words} {}", site.flags()));
        running.wait_until("a ranking", || {
            let ran = place.run("status --json");
            ran.code == Some(0) && ran.json()["run"]["ranked_by"] == ranked_by
        });
        let status = place.run("status").expect(0).out;
        assert!(status.contains("links.memory") && status.contains(said), "{status}");
        running.signal(Signal::INT);
        running.wait().expect(11);
    }
}

#[test]
fn distrust_personal_ranks_and_a_start_by_hosts_are_at_hand() {
    let (site, place) = (site(), Place::new());
    crawl(&place, &site, "");
    let scores = |words: &str| -> Vec<(String, f64)> {
        let lines = place.run(&format!("rank --json {words}")).expect(0).json_lines();
        let named = names(&lines, "url").into_iter();
        named.zip(lines.iter().map(|line| line["score"].as_f64().unwrap())).collect()
    };
    place.write("spam.txt", "http://a.one.test/old\n");
    let distrust = scores("--method antitrust --trust spam.txt");
    let above: Vec<&str> =
        distrust.iter().filter(|(_, score)| *score > 0.0).map(|(url, _)| url.as_str()).collect();
    assert_eq!(above, ["http://a.one.test/old", "http://a.one.test/"], "who links to it");
    place.run("rank --method antitrust").expect(2).explains(&["name a list by --trust"]);
    place.write("mine.txt", "http://b.one.test/ 3\nhttp://a.one.test/old\n");
    let personal = scores("--jump mine.txt");
    let front = personal.iter().find(|(url, _)| url == "http://a.one.test/").unwrap();
    assert_eq!(front.1, 0.0, "no jump leads to the front: {personal:?}");
    place.write("wrong.txt", "http://b.one.test/ much\n");
    place.run("rank --jump wrong.txt").expect(2).explains(&["line 1", "weight"]);
    for (words, option) in [
        ("hits --jump mine.txt", "--jump"),
        ("indegree --start hosts", "--start"),
        ("pagerank --trust mine.txt", "--trust"),
        ("antitrust --trust-top 3", "--trust-top"),
    ] {
        place.run(&format!("rank --method {words}")).expect(2).explains(&[option, "is for"]);
    }
    let (alike, hosts) = (scores(""), scores("--start hosts"));
    for ((url, a), (other, b)) in alike.iter().zip(&hosts) {
        assert!(url == other && (a - b).abs() < 1e-9, "{alike:?} {hosts:?}");
    }
    let reached = scores("--method trustrank --trust-top 1");
    assert_eq!(reached.len(), 6);
}

#[test]
fn a_part_of_the_graph_can_be_ranked_and_written_in_few_bytes() {
    let (site, place) = (site(), Place::new());
    crawl(&place, &site, "");
    let all = edges(&place);
    let words = place.run("rank --only ^http://a\\.one").expect(0).out;
    assert!(words.starts_with("4 urls, 3 links\n"), "{words}");
    place.run("rank --only [").expect(2).explains(&["--only"]);
    place.run("rank --export edges.csr").expect(0);
    let bytes = std::fs::read(place.path().join("edges.csr")).unwrap();
    let (graph, urls) = evercrawl_rank::compact::decode(&bytes).unwrap();
    let name = |node: u32| urls[node as usize].replace("http://", "");
    let mut read: Vec<String> =
        graph.links().map(|(from, to)| format!("{},{}", name(from), name(to))).collect();
    read.sort();
    assert_eq!(read, all);
    place.run("rank --export edges.csv.gz").expect(0);
    let packed = std::fs::read(place.path().join("edges.csv.gz")).unwrap();
    assert_eq!(packed[..2], [0x1f, 0x8b]);
}

#[test]
fn the_words_of_links_are_kept_where_that_is_asked_for() {
    let (site, place) = (site(), Place::new());
    crawl(&place, &site, "-s links.anchors=true");
    let first = place.run("rank --json --top 1 --anchors 2").expect(0).json();
    assert_eq!(first["anchors"], serde_json::json!(["somewhere"]));
    place.run("rank --export words.csv --anchors 1").expect(0);
    let text = std::fs::read_to_string(place.path().join("words.csv")).unwrap();
    assert!(text.starts_with("src,dst,anchor\n"), "{text}");
    assert!(text.contains("http://b.one.test/,http://c.two.test/,somewhere\n"), "{text}");
    place.run("check --deep").expect(0);
}

#[test]
fn quality_is_read_from_rankings_that_were_kept() {
    let (site, place) = (site(), Place::new());
    crawl(&place, &site, "--recrawl 1s");
    place.run("rank --method quality").expect(2).explains(&["rank --keep"]);
    place.run("rank --method hits --keep").expect(2).explains(&["--keep"]);
    place.run("rank --keep").expect(0);
    // By then the front leads to /new instead of /old.
    let again = "crawl --for 3s --delay 0s --quiet";
    place.run(&format!("{again} {}", site.flags())).expect(15);
    let score = |method: &str, url: &str| {
        let lines = place.run(&format!("rank --json --method {method}")).expect(0).json_lines();
        let line = lines.iter().find(|line| line["url"] == url).unwrap();
        line["score"].as_f64().unwrap() * if method == "quality" { 1.0 } else { lines.len() as f64 }
    };
    let (old, new) = ("http://a.one.test/old", "http://a.one.test/new");
    assert!(
        (score("quality", old) - score("pagerank", old)).abs() < 1e-9,
        "what falls is as it is"
    );
    assert!(score("quality", new) > 2.0 * score("pagerank", new), "what rises is better");
}

#[test]
fn every_order_of_discovery_fetches_all_pages() {
    let site = site();
    for order in ["breadth", "indegree", "pagerank", "opic", "larger-sites"] {
        let place = Place::new();
        crawl(&place, &site, &format!("-s discover.order={order} -s importance.method=opic"));
        assert_eq!(place.run("urls --json").expect(0).json_lines().len(), 6, "{order}");
        place.run("check --deep").expect(0);
    }
    let place = Place::new();
    crawl(&place, &site, "-s discover.order=topic -s discover.topic=hub");
    let wrong = |words: &str, why: &str| {
        let ran = place.run(&format!("crawl --once {words} {}", site.flags()));
        ran.expect(3).explains(&[why]);
    };
    wrong("-s discover.order=fame", "larger-sites");
    wrong("-s discover.order=topic -s discover.topic=", "needs words");
    wrong("-s discover.order=topic -s discover.topic=a-b", "no word");
    wrong("-s discover.order=opic -s links.keep=false", "links.keep");
}

/// The mean places, among all pages asked for, of what lies below `/chosen/` and below `/plain/`.
fn places_of_two_parts(words: &str) -> [f64; 2] {
    let site = Site::serve(|request: &Request| {
        let part = request.page.trim_start_matches("a.test/").split('/').next().unwrap_or_default();
        let (front, page) = (format!("a.test/{part}/"), request.page.clone());
        match page == front {
            true => Answer::page(
                (0..20).map(|n| format!("<a href='{n}'>more</a> ")).collect::<String>(),
            ),
            false if page.starts_with(&front) => Answer::page(format!("<p>This is {page}")),
            false => Answer::status("404 Not Found"),
        }
    });
    let place = Place::new();
    place.write("seeds.txt", "http://a.test/plain/\nhttp://a.test/chosen/ tag=solar\n");
    place
        .run(&format!("crawl --seeds seeds.txt --once --delay 0s --quiet {words} {}", site.flags()))
        .expect(0);
    let asked = site.all_asked();
    ["chosen", "plain"].map(|part| {
        let (mut sum, mut count) = (0.0, 0.0);
        for (at, _) in asked.iter().enumerate().filter(|(_, (_, page))| page.contains(part)) {
            (sum, count) = (sum + at as f64, count + 1.0);
        }
        assert!(count >= 21.0, "all are fetched in any order: {count}");
        sum / count
    })
}

/// The same on the mean of some crawls: each draws anew from which queue it takes next.
fn usual_places_of_two_parts(words: &str) -> [f64; 2] {
    const CRAWLS: usize = 8;
    let all: Vec<[f64; 2]> = (0..CRAWLS).map(|_| places_of_two_parts(words)).collect();
    [0, 1].map(|part| all.iter().map(|places| places[part]).sum::<f64>() / CRAWLS as f64)
}

#[test]
fn a_topic_may_be_a_tag_of_seeds() {
    let [chosen, plain] = usual_places_of_two_parts("-s discover.order=breadth");
    assert!(chosen > plain - 3.0, "by breadth the tag changes nothing: {chosen} {plain}");
    let [chosen, plain] =
        usual_places_of_two_parts("-s discover.order=topic -s discover.topic=tag:solar");
    assert!(chosen < plain - 10.0, "what the tagged seed leads to comes first: {chosen} {plain}");
}
