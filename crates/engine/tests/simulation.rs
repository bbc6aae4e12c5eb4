//! The real walk under a virtual clock, against a computed web, with crashes: the same seed, the
//! same crawl, to the byte.

#![allow(clippy::unwrap_used)] // a test that cannot go on should stop there

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use evercrawl_engine::config::WalkConfig;
use evercrawl_engine::freshness::Freshness;
use evercrawl_engine::importance::CrawlOrder;
use evercrawl_model::{Change, Outcome, Time};
use evercrawl_state::{PageRow, PageStatus, Space, State, crawl_rows, first_difference};
use evercrawl_testweb::{HostShares, InsteadOfNotFound, PageShares, World, WorldConfig};

use crate::common::disk::SimStore;
use crate::common::sim::{
    LONG, Place, START, Sim, assert_agree, assert_polite, config, held, reachable,
};

fn calm() -> World {
    World::new(WorldConfig {
        hosts: 12,
        pages: 15,
        origin_ms: START.millis(),
        ..WorldConfig::calm()
    })
}

#[test]
fn every_reachable_page_is_visited_once_politely_and_nothing_else() {
    let world = calm();
    let dir = tempfile::tempdir().unwrap();
    let mut sim = Sim::new(&world, dir.path(), config(true, LONG), 1);
    sim.add_seeds();
    sim.run(Time::NEVER);
    assert_polite(sim.requests());
    for (host, asked) in sim.requests() {
        let paths: BTreeSet<&str> = asked.iter().map(|(_, path)| path.as_str()).collect();
        assert_eq!(paths.len(), asked.len(), "{host} was asked twice for something");
        assert!(asked.iter().all(|(_, path)| world.allows(host, path)), "{host}");
    }
    let state = sim.close();
    assert_eq!(held(&state, &world), reachable(&world));
    assert_agree(&state, dir.path());
}

#[test]
fn crashes_at_any_moment_lose_nothing_and_repeat_little() {
    for seed in 0..6u64 {
        let world = calm();
        let dir = tempfile::tempdir().unwrap();
        let mut sim = Sim::new(&world, dir.path(), config(true, LONG), seed);
        sim.add_seeds();
        let mut at = START;
        for n in 0..8u64 {
            at = at.after(Duration::from_millis(300 + (seed * 977 + n * 1613) % 2900));
            sim.run(at);
            sim.crash();
        }
        sim.run(Time::NEVER);
        assert_polite(sim.requests());
        let asked: usize = sim.requests().values().map(Vec::len).sum();
        let state = sim.close();
        assert_eq!(held(&state, &world), reachable(&world), "seed {seed}");
        assert_agree(&state, dir.path());
        // Each crash repeats at most what was asked since the last commit: two seconds' worth.
        // A robots.txt and a guessed sitemap for each of the twelve hosts are no visits.
        let once = usize::try_from(state.view().counters().visits).unwrap() + 24;
        assert!(asked <= once + 8 * 5 * 3, "seed {seed}: {asked} requests for {once}");
    }
}

/// What a crawl leaves: its requests, its rows in all spaces, its archive files.
struct Left {
    requests: BTreeMap<String, Vec<(Time, String)>>,
    store: SimStore,
    files: BTreeMap<String, Vec<u8>>,
}

impl Left {
    /// After a crawl of `world` until `end`, to which `then` happens.
    fn after(world: &World, plan: WalkConfig, end: Time, then: impl FnOnce(&mut Sim<'_>)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut sim = Sim::new(world, dir.path(), plan, 5);
        sim.add_seeds();
        then(&mut sim);
        sim.run(end);
        let (requests, store) = (sim.requests().clone(), sim.place.store.clone());
        drop(sim.close());
        let entries = std::fs::read_dir(dir.path()).unwrap().map(Result::unwrap);
        let read = |entry: std::fs::DirEntry| {
            (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
        };
        Left { requests, store, files: entries.map(read).collect() }
    }

    fn assert_same(&self, other: &Left) {
        assert!(self.requests == other.requests, "other requests");
        assert_eq!(first_difference(&self.store, &other.store).unwrap(), None, "another row");
        let names = |left: &Left| left.files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(self), names(other));
        for (name, bytes) in &self.files {
            assert!(other.files.get(name) == Some(bytes), "{name} has other bytes");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_crawl_to_the_byte() {
    let run = || Left::after(&calm(), config(true, LONG), Time::NEVER, |_| {});
    let (first, second) = (run(), run());
    assert!(first.files.len() > 4, "several archive files: {}", first.files.len());
    first.assert_same(&second);
}

/// The same with all that visits tell other hosts: link evidence, mirrors, moves, lists that say what changed; by a
/// budget, and with a crash in between. It would not hold if anything were done in the order of a table of hashes.
#[test]
fn what_visits_tell_other_hosts_repeats_to_the_byte_in_every_order() {
    let world = World::new(WorldConfig {
        hosts: 10,
        pages: 25,
        origin_ms: START.millis(),
        time_scale: 60.0,
        ..WorldConfig::demo()
    });
    for order in [CrawlOrder::Links, CrawlOrder::Cash, CrawlOrder::Sites] {
        let run = || {
            let mut plan = config(false, Duration::from_secs(900));
            (plan.plan.order, plan.plan.importance) = (order, true);
            plan.plan.by_cash = order == CrawlOrder::Cash;
            plan.frontier.active_hosts = 20;
            Left::after(&world, plan, START.after(Duration::from_secs(2400)), |sim| {
                sim.rehearsal.set_budget(2.0);
                sim.run(START.after(Duration::from_secs(700)));
                sim.crash();
                sim.rehearsal.set_budget(2.0);
            })
        };
        let (first, second) = (run(), run());
        let evidence =
            crawl_rows(&first.store).filter(|row| row.as_ref().unwrap().0 == Space::Links);
        assert!(evidence.count() > 100, "{order:?}");
        first.assert_same(&second);
    }
}

#[test]
fn a_changing_web_is_followed_for_hours_and_every_change_is_real() {
    let config_of_web = WorldConfig {
        hosts: 4,
        pages: 12,
        origin_ms: START.millis(),
        changes_per_day: 200.0,
        ..WorldConfig::calm()
    };
    let world = World::new(config_of_web);
    let dir = tempfile::tempdir().unwrap();
    let mut sim = Sim::new(&world, dir.path(), config(false, Duration::from_secs(600)), 3);
    sim.add_seeds();
    let end = START.after(Duration::from_secs(2 * 3600));
    sim.run(end);
    assert_polite(sim.requests());
    let state = sim.close();
    let mut changes = 0;
    for page in state.view().pages() {
        let (_, row) = page.unwrap();
        let Some(page) = world.find(&row.url).filter(|_| row.held()) else { continue };
        let mut visits: Vec<_> = state.view().history(&row).map(|visit| visit.unwrap().1).collect();
        visits.reverse();
        for pair in visits.windows(2) {
            let same = world.version_at(page, pair[0].at.millis())
                == world.version_at(page, pair[1].at.millis());
            let told = pair[1].change == Change::Same;
            assert_eq!(told, same, "{} at {}", row.url, pair[1].at);
            changes += usize::from(!same);
        }
        assert!(visits.len() >= 10, "{} was visited {} times", row.url, visits.len());
        assert_eq!(row.status, PageStatus::Live);
    }
    assert!(changes > 100, "{changes}");
    assert_agree(&state, dir.path());
}

/// A host with many pages does not keep others waiting, though few can be active at once.
#[test]
fn no_host_starves_when_few_can_be_active() {
    let world = World::new(WorldConfig {
        hosts: 30,
        pages: 12,
        origin_ms: START.millis(),
        ..WorldConfig::calm()
    });
    let dir = tempfile::tempdir().unwrap();
    let mut sim = Sim::new(&world, dir.path(), config(true, LONG), 9);
    sim.add_seeds();
    sim.run(START.after(Duration::from_secs(150)));
    let asked = sim.requests().len();
    assert_eq!(asked, 30, "every host has had a turn");
}

/// What visits told of pages that show other bytes each time, against the truth.
#[derive(Debug, Default)]
struct Verdicts {
    /// Visits before which the page was edited, and those that found it.
    edited: u32,
    found: u32,
    /// Other visits, and those that took noise for a change.
    quiet: u32,
    false_alarms: u32,
}

impl Verdicts {
    /// Of all visits to pages but the first `learning` of each.
    fn of(state: &State<SimStore>, world: &World, learning: usize) -> Self {
        let mut verdicts = Verdicts::default();
        for page in state.view().pages() {
            let (_, row) = page.unwrap();
            let Some(page) = world.find(&row.url) else { continue };
            let mut visits: Vec<_> =
                state.view().history(&row).map(|visit| visit.unwrap().1).collect();
            visits.reverse();
            // What a visit in doubt found, its second look tells.
            visits.retain(|visit| !visit.noise.in_doubt);
            for pair in visits.windows(2).skip(learning - 1) {
                let (before, at) = (pair[0].at.millis(), pair[1].at.millis());
                let edited = !world.changes_between(page, before, at).is_empty();
                verdicts.count(edited, pair[1].change != Change::Same);
            }
        }
        verdicts
    }

    fn count(&mut self, edited: bool, alarm: bool) {
        if edited {
            self.edited += 1;
            self.found += u32::from(alarm);
        } else {
            self.quiet += 1;
            self.false_alarms += u32::from(alarm);
        }
    }
}

/// Pages with clocks, counters, tokens, blocks that take turns and a footer that changes.
#[test]
fn noise_is_no_change_and_an_edited_sentence_is() {
    let world = World::new(WorldConfig {
        hosts: 12,
        pages: 40,
        origin_ms: START.millis(),
        // Pages are visited twice a day, and a day takes four hours.
        time_scale: 6.0,
        page_bytes: 1_500,
        footer_days: 30.0,
        ..WorldConfig::noisy()
    });
    let dir = tempfile::tempdir().unwrap();
    let half_a_day = Duration::from_secs(2 * 3600);
    let mut config = config(false, half_a_day);
    config.schedule.second_look = Some(Duration::from_secs(70));
    let mut sim = Sim::new(&world, dir.path(), config, 5);
    sim.add_seeds();
    sim.run(START.after(half_a_day * 12));
    let state = sim.close();
    let verdicts = Verdicts::of(&state, &world, 5);
    eprintln!("{verdicts:?}");
    assert!(verdicts.edited > 100 && verdicts.quiet > 2_500, "{verdicts:?}");
    assert!(verdicts.found * 100 >= 99 * verdicts.edited, "{verdicts:?}");
    assert!(verdicts.false_alarms * 100 <= verdicts.quiet, "{verdicts:?}");
}

/// Bursts of new pages, hosts that fail, pages that come and go: whatever happens, the budget is spent
/// and no more than that.
#[test]
fn the_budget_is_kept_in_every_hour() {
    let wild = WorldConfig::demo();
    let world = World::new(WorldConfig {
        hosts: 20,
        pages: 40,
        origin_ms: START.millis(),
        time_scale: 60.0,
        ..wild
    });
    let dir = tempfile::tempdir().unwrap();
    let mut config = config(false, Duration::from_secs(24 * 3600));
    config.frontier.active_hosts = 50;
    let mut sim = Sim::new(&world, dir.path(), config, 4);
    sim.add_seeds();
    let (rate, hours) = (0.3, 3);
    sim.rehearsal.set_budget(rate);
    sim.run(START.after(Duration::from_secs(hours * 3600)));
    // robots.txt files are asked for besides: the lab does not count them, the live driver does.
    let asked = sim.requests().values().flatten().filter(|(_, path)| path != "/robots.txt");
    let asked: Vec<Time> = asked.map(|(at, _)| *at).collect();
    let allowed = rate * 3600.0;
    for minute in 0..(hours - 1) * 60 {
        let from = START.after(Duration::from_secs(minute * 60));
        let to = from.after(Duration::from_secs(3600));
        let count = asked.iter().filter(|at| **at >= from && **at < to).count() as f64;
        assert!(count <= 1.01 * allowed, "minute {minute}: {count} of {allowed}");
        assert!(count >= 0.98 * allowed, "minute {minute}: {count} of {allowed}");
    }
    assert_polite(sim.requests());
}

/// How many crawls are asked how fresh they are; more by the variable of the same name.
fn runs() -> u64 {
    std::env::var("FRESHNESS_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(8)
}

/// What a crawl of a web tells of its freshness after two hours, and what is true.
fn told_and_true(seed: u64, budget: Option<f64>) -> (Freshness, f64) {
    let world = World::new(WorldConfig {
        seed,
        hosts: 6,
        pages: 25,
        origin_ms: START.millis(),
        changes_per_day: 40.0,
        change_sigma: 1.5,
        ..WorldConfig::calm()
    });
    let dir = tempfile::tempdir().unwrap();
    let recrawl = if budget.is_some() { LONG } else { Duration::from_secs(1000) };
    let mut sim = Sim::new(&world, dir.path(), config(false, recrawl), seed);
    sim.add_seeds();
    if let Some(rate) = budget {
        sim.rehearsal.set_budget(rate);
    }
    sim.run(START.after(Duration::from_secs(2 * 3600)));
    let (walk, now) = (&sim.rehearsal.walk, sim.rehearsal.now());
    let (mut held, mut fresh) = (0.0, 0.0);
    for page in walk.state().pages() {
        let (_, row) = page.unwrap();
        let look = row.past.as_ref().filter(|_| row.held()).and_then(|past| past.last_look);
        let (Some(look), Some(page)) = (look, world.find(&row.url)) else { continue };
        held += 1.0;
        let same = world.version_at(page, look.millis()) == world.version_at(page, now.millis());
        fresh += f64::from(u8::from(same));
    }
    (walk.planner().freshness(1, now).unwrap(), fresh / held)
}

/// The freshness that crawls report is true within its error, and the error is worth being told.
#[allow(clippy::print_stderr, reason = "whoever measures wants the figures")]
fn assert_honest(budget: Option<f64>) {
    let (mut hits, mut widest, mut bias): (u64, f64, f64) = (0, 0.0, 0.0);
    for seed in 0..runs() {
        let (told, fresh) = told_and_true(seed, budget);
        let miss = told.fresh - fresh;
        eprintln!("seed {seed}: told {:.3} ± {:.3}, {fresh:.3}", told.fresh, told.error);
        hits += u64::from(miss.abs() <= told.error);
        widest = widest.max(told.error);
        bias += miss / runs() as f64;
    }
    eprintln!("{hits} of {} within their error; {bias:+.3} too much on average", runs());
    assert!(hits * 10 >= runs() * 8, "{hits} of {} within the error", runs());
    assert!(widest < 0.15, "an error of {widest} says nothing");
}

#[test]
fn the_reported_freshness_is_within_its_error() {
    assert_honest(Some(0.15));
}

#[test]
fn the_reported_freshness_is_within_its_error_without_a_budget_too() {
    assert_honest(None);
}

/// What the planner learned is kept apart from what is committed: after a crash it may speak of pages
/// that are not known.
#[test]
fn a_planner_that_knows_more_than_the_state_does_no_harm() {
    let world = calm();
    let dir = tempfile::tempdir().unwrap();
    let mut plan = config(false, LONG);
    plan.plan.audits = 0.5;
    let mut sim = Sim::new(&world, dir.path(), plan, 3);
    sim.add_seeds();
    sim.rehearsal.set_budget(2.0);
    sim.run(START.after(Duration::from_secs(300)));
    let learned = sim.rehearsal.walk.planner().encode_learned();
    // A new directory, and the knowledge of the old one.
    let dir = tempfile::tempdir().unwrap();
    let place = Place::new(dir.path());
    let walk = place.resume(dir.path(), &sim.config, Some(&learned), 3, START).unwrap();
    assert!(walk.planner().freshness(1, START).is_some(), "it was taken up");
    sim.rehearsal.replace(walk, sim.rehearsal.now());
    sim.add_seeds();
    sim.rehearsal.set_budget(2.0);
    let end = sim.rehearsal.now().after(Duration::from_secs(300));
    sim.run(end);
    assert!(sim.rehearsal.walk.counters().visits > 100);
}

/// What a page is found to be, where something else is in its place.
fn told(row: &PageRow) -> Option<Outcome> {
    let outcome = row.past.as_ref()?.outcome;
    (row.status == PageStatus::Gone && outcome.is_substitute()).then_some(outcome)
}

#[test]
fn what_is_put_in_the_place_of_pages_is_told_as_the_truth_has_it() {
    let host_shares = HostShares {
        soft_404: 0.5,
        login_wall: 0.3,
        expired: 0.3,
        no_validators: 0.3,
        ..HostShares::default()
    };
    let page_shares = PageShares { mortal: 0.4, ..PageShares::default() };
    let world = World::new(WorldConfig {
        hosts: 16,
        pages: 12,
        seed: 3,
        origin_ms: START.millis(),
        life_days: 2.0,
        decline_days: 1.5,
        external_links: 0.0,
        host_shares,
        page_shares,
        ..WorldConfig::default()
    });
    let dir = tempfile::tempdir().unwrap();
    let hour = Duration::from_secs(3600);
    let mut sim = Sim::new(&world, dir.path(), config(false, 2 * hour), 1);
    sim.add_seeds();
    let end = START.after(84 * hour);
    sim.run(end);
    let state = sim.close();
    assert_agree(&state, dir.path());
    let mut counts = BTreeMap::new();
    for page in state.view().pages() {
        let row = page.unwrap().1;
        let Some(page) = world.find(&row.url) else { continue };
        let truth = world.truth(page, end.millis());
        // It takes two visits to believe it, where content is held.
        let lately = |at: u64| at + 12 * 3_600_000 > end.millis();
        if truth.deleted.is_some_and(lately) || lately(truth.created) {
            continue;
        }
        // A page that its server called gone is rarely asked for again: what counts is what was there then.
        let Some(last) = row.past.as_ref().map(|past| past.last_visit) else { continue };
        let want = world.truth(page, last.millis()).instead.map(|instead| match instead {
            InsteadOfNotFound::NotFound => Outcome::SoftGone,
            InsteadOfNotFound::LoginForm | InsteadOfNotFound::LoginRedirect => Outcome::LoginWall,
            InsteadOfNotFound::Offer => Outcome::Parked,
        });
        assert_eq!(told(&row), want, "{}: {row:?}", row.url);
        *counts.entry(want.map(Outcome::code)).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 4, "{counts:?}");
    assert!(counts.values().all(|count| *count > 5), "{counts:?}");
}
