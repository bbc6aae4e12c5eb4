//! Are worlds what their descriptions say? Means against formulas, with bounds of five standard
//! errors: a sound program fails one such test in two million, a wrong one nearly always.

use evercrawl_policy::{Days, NEVER};

use super::*;
use crate::world::{ChangeTruth, LabWorld};

fn world(text: &str) -> LabWorld {
    seeded(text, 1)
}

fn seeded(text: &str, seed: u64) -> LabWorld {
    WorldSpec::parse("test.toml", text).unwrap().world("test", seed, 0.0)
}

/// The change times of a page, up to the end of its world.
fn times(world: &LabWorld, page: u32) -> Vec<Days> {
    let mut times = Vec::new();
    let mut cursor = world.truth.first(page);
    while cursor.at() < world.span.to {
        times.push(cursor.at());
        cursor = world.truth.next(page, cursor);
    }
    times
}

fn pages(world: &LabWorld) -> std::ops::Range<u32> {
    0..world.pages.len() as u32
}

/// Asserts that the mean of `values` is `want`, as far as their own spread lets one tell.
fn assert_mean(values: &[f64], want: f64, what: &str) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    let error = 5.0 * (variance / n).sqrt() + 1e-6;
    assert!((mean - want).abs() < error, "{what}: {mean}, not {want} ± {error}");
}

fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(x), mean(y));
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        x.iter().zip(y).map(|(a, b)| f(a - mx, b - my)).sum()
    };
    sum(&|a, b| a * b) / (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt()
}

const COURSES: [(&str, &str); 10] = [
    ("poisson", "rate = { lognormal = 1.0, mean = 1.5 }"),
    ("gamma", "rate = 1.5\ngaps = { cv = 1.7 }"),
    ("regular", "rate = { values = [0.5, 1, 3] }\ngaps = { cv = 0.3 }"),
    ("periodic", "rate = 1.5\ngaps = { jitter = 0.4 }"),
    ("bursts", "rate = { exponential = 1.5 }\ngaps = { burst = 4, hours = 3 }"),
    (
        "season",
        "rate = 1.5\nseason = { week = [1, 1, 1, 1, 1, 0.1, 0], year = [1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1] }",
    ),
    ("fading", "rate = 20\nfading = { days = 3, to = 0.02 }\nbirths = 0.1\ndeaths = 0.1"),
    (
        "turn",
        "rate = { lognormal = 1.0, mean = 1.5 }\nturn = { week = 5, share = 0.5 }\ngaps = { cv = 0.5 }",
    ),
    ("wandering", "rate = 1.5\nwandering = { weeks = 2, sigma = 0.8 }"),
    (
        "all",
        "rate = { pareto = 1.3, mean = 2, most = 100 }\nwandering = { weeks = 3, sigma = 0.4 }\n\
        turn = { week = 4, share = 0.3 }\nfading = { days = 40, to = 0.1 }\ngaps = { cv = 1.4 }\n\
        season = { day = [0,0,0,0,0,0,0,1,2,3,4,5,5,4,3,2,1,1,1,1,0,0,0,0] }\ndeaths = 0.02",
    ),
];

#[test]
fn pages_change_as_often_as_their_true_rate_says() {
    for (name, class) in COURSES {
        let world = world(&format!("pages = 4000\nweeks = 10\nbefore = 2\n[[class]]\n{class}"));
        for (from, to) in [(0.0, 10.0), (20.0, 60.0)] {
            let surplus = |page: u32| {
                let seen = times(&world, page).iter().filter(|t| (from..to).contains(*t)).count();
                let fact = &world.pages[page as usize];
                let lives = (to.min(fact.dies) - from.max(fact.born)).max(0.0);
                seen as f64 - world.truth.rate(page, from, to) * lives
            };
            let surplus: Vec<f64> = pages(&world).map(surplus).collect();
            assert_mean(&surplus, 0.0, &format!("{name} from {from} to {to}"));
        }
    }
}

#[test]
fn mean_rates_are_those_of_the_description() {
    for (name, class) in &COURSES[..6] {
        let world = world(&format!("pages = 4000\nweeks = 50\nbefore = 2\n[[class]]\n{class}"));
        let rates: Vec<f64> =
            pages(&world).map(|p| 7.0 * world.truth.rate(p, 0.0, 364.0)).collect();
        assert_mean(&rates, 1.5, name);
    }
}

#[test]
fn the_gaps_of_a_page_vary_as_much_as_was_said() {
    for (gaps, cv) in [("cv = 1.7", 1.7), ("cv = 0.3", 0.3), ("jitter = 0.6", 0.6 / 6f64.sqrt())] {
        let world =
            world(&format!("pages = 200\nweeks = 400\n[[class]]\nrate = 3\ngaps = {{ {gaps} }}"));
        let gaps: Vec<f64> = pages(&world)
            .flat_map(|page| {
                times(&world, page).windows(2).map(|t| t[1] - t[0]).collect::<Vec<_>>()
            })
            .collect();
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        let sd = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / n).sqrt();
        assert!((sd / mean / cv - 1.0).abs() < 0.03, "{cv}: {}", sd / mean);
    }
}

#[test]
fn seasons_are_kept() {
    let text = "pages = 500\nweeks = 52\nbefore = 0\n[[class]]\nrate = 5\n\
                season = { week = [2, 2, 2, 2, 2, 0, 0] }";
    let world = world(text);
    let all: Vec<Days> = pages(&world).flat_map(|page| times(&world, page)).collect();
    let weekend = all.iter().filter(|t| t.rem_euclid(7.0) >= 5.0).count() as f64;
    assert!(weekend < 1e-4 * all.len() as f64, "{weekend} of {}", all.len());
}

#[test]
fn changes_go_forward_and_stay_within_life() {
    for (name, class) in COURSES {
        let world = world(&format!(
            "pages = 300\nweeks = 20\nlinks = 1\ndirectories = 5\n[[class]]\n{class}\n[[batch]]\nrate = 1\nshare = 0.3"
        ));
        for page in pages(&world) {
            let (fact, times) = (&world.pages[page as usize], times(&world, page));
            assert!(times.windows(2).all(|t| t[0] <= t[1]), "{name}");
            assert!(times.iter().all(|&t| t >= 0.0 && fact.lives(t)), "{name}");
        }
        let past_the_end = world.truth.first(world.pages.len() as u32);
        assert_eq!(past_the_end.at(), NEVER);
        assert_eq!(world.truth.next(u32::MAX, past_the_end).at(), NEVER);
    }
}

#[test]
fn the_same_seed_gives_the_same_world_and_another_another() {
    let text = "pages = 300\nhosts = 3\ndirectories = 4\nlinks = 2\n[[class]]\n".to_owned()
        + COURSES[9].1
        + "\nbirths = 0.05\n[[batch]]\nshare = 0.4";
    let all = |world: &LabWorld| -> Vec<Vec<Days>> {
        pages(world).map(|page| times(world, page)).collect()
    };
    let (first, again, other) = (seeded(&text, 5), seeded(&text, 5), seeded(&text, 6));
    assert_eq!(first.pages, again.pages);
    assert_eq!(all(&first), all(&again));
    assert_ne!(all(&first), all(&other));
    // In any order, from any copy of a cursor.
    let start = first.truth.first(7);
    let once = first.truth.next(7, start);
    assert_eq!(first.truth.next(7, start), once);
}

#[test]
fn importance_goes_with_the_rate_as_far_as_was_said() {
    for wanted in [-0.6, 0.0, 0.5, 1.0] {
        let world = world(&format!(
            "pages = 20000\ncorrelation = {wanted}\nimportance = {{ lognormal = 0.7 }}\nweeks = 5\n\
             [[class]]\nrate = {{ lognormal = 1.5, mean = 1 }}"
        ));
        let rates: Vec<f64> = pages(&world).map(|p| world.truth.rate(p, 0.0, 7.0).ln()).collect();
        let weights: Vec<f64> =
            world.pages.iter().map(|page| f64::from(page.weight).ln()).collect();
        let found = correlation(&rates, &weights);
        assert!((found - wanted).abs() < 5.0 / 20000f64.sqrt(), "{wanted}: {found}");
        let weights: Vec<f64> = world.pages.iter().map(|page| page.weight.into()).collect();
        assert_mean(&weights, 1.0, "mean importance");
    }
}

#[test]
fn pages_of_a_directory_are_alike_as_far_as_was_said() {
    let text = "pages = 20000\nhosts = 200\ndirectories = 10\nalike = 0.4\nweeks = 5\n\
                [[class]]\nrate = { lognormal = 1.5, mean = 1 }";
    let world = world(text);
    // Neighbours of one directory: the correlation between them is the share of the spread that lies
    // between directories.
    let rate = |page: u32| world.truth.rate(page, 0.0, 7.0).ln();
    let pairs = pages(&world).step_by(10).map(|page| (rate(page + 3), rate(page + 7)));
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.unzip();
    let found = correlation(&x, &y);
    assert!((found - 0.4).abs() < 5.0 / 2000f64.sqrt(), "{found}");
}

#[test]
fn batches_take_their_part_of_the_group_at_one_moment() {
    let text = "pages = 5000\nhosts = 5\ndirectories = 10\nweeks = 50\nbefore = 0\n\
                [[class]]\nrate = 0\n[[batch]]\nof = \"directory\"\nrate = 0.5\nshare = 0.3\nhub = 1";
    let world = world(text);
    let ChangeTruth::Drawn(processes) = &world.truth else { panic!("made worlds are drawn") };
    let (mut shares, mut rates) = (Vec::new(), Vec::new());
    for directory in (0..50).map(|d| d * 100) {
        // The hub takes part in all of them, so its history is that of the group.
        let group = times(&world, directory);
        assert!((processes.rate(directory, 0.0, 350.0) * 7.0 - 0.5).abs() < 1e-12);
        rates.push(group.len() as f64 / 50.0);
        let members: Vec<Vec<Days>> = (1..100).map(|m| times(&world, directory + m)).collect();
        assert!(members.iter().flatten().all(|time| group.contains(time)));
        for event in &group {
            let part = members.iter().filter(|member| member.contains(event)).count();
            shares.push(part as f64 / 99.0);
        }
        assert!((processes.rate(directory + 1, 0.0, 350.0) * 7.0 - 0.15).abs() < 1e-12);
    }
    assert_mean(&rates, 0.5, "events a week");
    assert_mean(&shares, 0.3, "share of members");
}

#[test]
fn host_and_world_events_reach_all_directories() {
    let text = "pages = 400\nhosts = 4\ndirectories = 5\nweeks = 50\n[[class]]\nrate = 0\nnever = 1\n\
                [[batch]]\nof = \"host\"\nrate = 0.3\n[[batch]]\nof = \"world\"\nrate = 0.1";
    let world = world(text);
    let of_host = |host: u32| times(&world, host * 100);
    for host in 0..4 {
        assert!((1..100).all(|page| times(&world, host * 100 + page) == of_host(host)));
    }
    let common: Vec<Days> = of_host(0).into_iter().filter(|t| of_host(1).contains(t)).collect();
    assert!(!common.is_empty() && common.iter().all(|t| of_host(3).contains(t)));
    assert!(of_host(0) != of_host(1));
}

#[test]
fn pages_come_and_go_at_the_rates_that_were_said() {
    let text = "pages = 20000\nhosts = 3\nlinks = 1\nweeks = 30\nbefore = 10\n[[class]]\nrate = 1\n\
                births = 0.02\ndeaths = 0.02";
    let world = world(text);
    assert_eq!(world.pages.len(), 20000 + 20000 * 40 / 50);
    assert!(world.pages.windows(2).all(|pages| pages[0].born <= pages[1].born));
    let alive = |at: Days| world.pages.iter().filter(|page| page.lives(at)).count() as f64;
    for at in [0.0, 70.0, 279.0] {
        // Births are evenly spread, deaths exponential: 20000 at all times but for chance.
        assert!((alive(at) - 20000.0).abs() < 5.0 * 20000f64.sqrt(), "{at}: {}", alive(at));
    }
}

#[test]
fn a_world_has_its_places_hubs_and_links() {
    let text = "pages = 1000\nhosts = 4\nhost_skew = 1\ndirectories = 10\nlinks = 3\n\
                importance = { pareto = 1.2 }\n[[class]]\nrate = 1\nbirths = 0.01\n\
                [[class]]\nname = \"front\"\nhubs = true\nrate = 9\nweight = 5\n\
                [[host]]\nshare = 3\nrecall = 0.5\nprecision = 0.8\ndelay_hours = 12\n[[host]]\nnoise = 0.1";
    let world = world(text);
    let server = world.server.as_ref().unwrap();
    assert_eq!(server.pages(), world.pages.len());
    let sizes: Vec<usize> =
        (0..4).map(|host| world.pages[..1000].iter().filter(|p| p.host == host).count()).collect();
    assert_eq!(sizes, [479, 240, 160, 121]);
    for page in pages(&world) {
        let fact = &world.pages[page as usize];
        assert_ne!(server.depth(page), evercrawl_sites::UNREACHED);
        let hub = fact.kin[1];
        if hub == crate::NO_KIN {
            assert_eq!(server.depth(page), 1);
        } else {
            assert!(server.links(hub).contains(&page));
            assert!((world.truth.rate(hub, 0.0, 9.0) * 7.0 - 9.0).abs() < 1e-5);
        }
    }
    let told = world.hosts.iter().filter(|host| host.recall == 0.5 && host.delay == 0.5).count();
    assert_eq!((world.hosts.len(), told), (4, 3));
}

#[test]
fn a_past_is_there_when_asked_for() {
    let spec =
        WorldSpec::parse("w.toml", "pages = 500\n[[class]]\nrate = 2\nbirths = 0.02").unwrap();
    let world = spec.world("w", 3, 70.0);
    assert_eq!((world.span.since, world.span.begin), (-70.0, 0.0));
    assert!(world.past.iter().all(|(_, at)| (-70.0..0.0).contains(at)));
    let listed = world.truth.all(world.pages.len() as u32, -1e-9);
    assert_eq!(
        world.past.len(),
        pages(&world).map(|page| listed.changes_of(page).count()).sum::<usize>()
    );
    assert!(world.past.len() > 9000, "{}", world.past.len());
}

#[test]
fn little_is_kept_of_a_page() {
    assert!(size_of::<crate::ChangeCursor>() <= 32);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (text, line, column, words) in [
        ("pages = 10\npags = 1", 2, 1, "`pags` is not a key here; did you mean `pages`?"),
        ("pages = 10\nzzz = 1", 2, 1, "use one of pages, hosts"),
        ("pages = 0", 1, 9, "`pages` must be a whole number from 1 to 100,000,000, not 0"),
        ("pages = 1.5", 1, 9, "whole number"),
        ("pages = \"x\"", 1, 9, "not \"x\""),
        ("pages = 10\nhosts = 11\n[[class]]\nrate = 1", 2, 9, "11 hosts cannot share 10 pages"),
        ("pages = ", 1, 9, ""),
        ("[[class]]\nrate = 1\nnever = 1.5", 3, 9, "a share from 0 to 1, not 1.5"),
        ("[[class]]\nname = \"x\"", 1, 1, "lacks a `rate`"),
        ("[[class]]\nrate = { lognormal = 1 }", 2, 8, "lacks its `mean`"),
        ("[[class]]\nrate = { lognormale = 1 }", 2, 10, "did you mean `lognormal`?"),
        ("[[class]]\nrate = { mean = 1, pareto = 1, uniform = true }", 2, 42, "not both"),
        ("[[class]]\nrate = { lognormal = 1, most = 9 }", 2, 32, "belongs to `pareto`"),
        ("[[class]]\nrate = -1", 2, 8, "a number of 0 or more, not -1"),
        ("[[class]]\nrate = nan", 2, 8, "not nan"),
        ("[[class]]\nrate = 1\ngaps = { cv = 1, jitter = 0 }", 3, 8, "one of `cv`, `jitter`"),
        ("[[class]]\nrate = 1\nseason = { week = [1, 2] }", 3, 19, "must have 7 numbers, not 2"),
        (
            "[[class]]\nrate = 1\nseason = { year = [0,0,0,0,0,0,0,0,0,0,0,0] }",
            3,
            19,
            "0 throughout",
        ),
        ("[class]\nrate = 1", 1, 1, "[[class]] in double brackets"),
        (
            "[[class]]\nrate = 1\n[[batch]]\nof = \"site\"",
            4,
            6,
            "\"directory\", \"host\" or \"world\"",
        ),
        ("[[class]]\nrate = 1\nhubs = true", 1, 1, "at least one [[class]] that is not for hubs"),
        ("[[class]]\nrate = 1\nhubs = 1", 3, 8, "true or false"),
        ("[[class]]\nrate = 1\n[[host]]\nlastmod = true\nrecall = 2", 5, 10, "share from 0 to 1"),
        ("", 1, 1, "[[class]]"),
    ] {
        let error = WorldSpec::parse("w.toml", text).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{text:?}: {error}");
        assert!(error.to_string().starts_with("w.toml, line "), "{error}");
        assert!(error.message.contains(words), "{text:?}: {error}");
    }
}
