//! Does a crawl of the same pages take more and more room, month after month?
#![allow(clippy::unwrap_used)] // a test that cannot go on should stop there

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::common::rehearsed::{HOUR, START, TOOK, words};
use crate::common::{archive_settings, fetched, small_crawl, unsynced};
use evercrawl_archive as archive;
use evercrawl_compare::{SiteMemory, TemplateMemory};
use evercrawl_engine::Pace;
use evercrawl_engine::rehearsal::{Asked, Rehearsal, Web};
use evercrawl_engine::retention::{Keep, Rule};
use evercrawl_engine::walk::Walk;
use evercrawl_fetch::Fetched;
use evercrawl_model::Time;
use evercrawl_state::{MemoryStore, Settings, Space, State, Store};
use evercrawl_urls::parse_seed_line;

const PAGES: u64 = 40;
const HOSTS: usize = 5;
const DAY: Duration = Duration::from_secs(86_400);
const ROLL: u64 = 200_000;

/// Pages that change every one to eight days, and are now and then not to be had.
struct Living;

impl Web for Living {
    fn answer(&mut self, asked: &Asked<'_>, now: Time) -> (Fetched, Duration) {
        let page = asked.url.rsplit_once("/p").and_then(|(_, number)| number.parse::<u64>().ok());
        let hours = now.since(START).as_secs() / 3600;
        let answer = match page {
            Some(page) if (hours + page).is_multiple_of(97) => {
                fetched(500, &[], String::new(), TOOK)
            }
            Some(page) => {
                let version = hours / (24 * (1 + page % 8));
                let text: String = (0..6).map(|n| words(version * 7919 + page * 97 + n)).collect();
                fetched(200, &[("content-type", "text/html")], text, TOOK)
            }
            None => fetched(404, &[], String::new(), TOOK),
        };
        (answer, TOOK)
    }
}

/// What a crawl takes: rows and bytes of each part of the state, what was learned, the archive.
#[derive(Debug)]
struct Room {
    rows: Vec<(&'static str, usize, usize)>,
    learned: usize,
    archive: u64,
}

impl Room {
    fn of(sim: &Rehearsal<MemoryStore, Living>, store: &MemoryStore, dir: &Path) -> Self {
        let spaces = [
            Space::Pages,
            Space::Known,
            Space::Queues,
            Space::Hosts,
            Space::Links,
            Space::Visits,
            Space::Content,
            Space::Meta,
        ];
        let rows = spaces.map(|space| {
            let rows = store.scan(space, &[], &[0xff; 40]).map(Result::unwrap);
            let (count, bytes) = rows.fold((0, 0), |(count, bytes), (key, value)| {
                (count + 1, bytes + key.len() + value.len())
            });
            (space.name(), count, bytes)
        });
        let files =
            std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
        let learned = sim.walk.planner().encode_learned().len();
        Room { rows: rows.into(), learned, archive: files.sum() }
    }
}

fn begun(dir: &Path, store: &Arc<MemoryStore>) -> Rehearsal<MemoryStore, Living> {
    let mut config = small_crawl();
    config.schedule.recrawl = DAY;
    config.frontier.pace = Pace { host: Duration::from_millis(1), ..Pace::default() };
    config.retention.archive = Keep { rules: vec![Rule::Last(3)], text: "last 3".to_owned() };
    let month = Rule::Within(30 * DAY);
    config.retention.visits = Keep { rules: vec![month], text: "30d".to_owned() };
    let config = Arc::new(config);
    let settings = Settings { seed: 11, shards: 64 };
    let state = State::open(store.clone(), settings, None).unwrap();
    let (writer, _) =
        archive::Writer::open(unsynced(dir), &[], archive_settings(1, ROLL), START).unwrap();
    let mut walk = Walk::new(config.clone(), state, writer, 3, START).unwrap();
    for page in 0..PAGES {
        let line = format!("http://h{}.test/p{page}", page % HOSTS as u64);
        walk.add_seed(&parse_seed_line(&line, config.reading.steps).unwrap().unwrap(), START)
            .unwrap();
    }
    Rehearsal::new(walk, Living, START, HOUR)
}

/// Applies the rules of retention, as a running crawl does every day.
fn retain(sim: &mut Rehearsal<MemoryStore, Living>) {
    sim.walk.commit_now().unwrap();
    let mut retention = sim.walk.retention(0.2, sim.now(), Arc::default());
    while let Some(piece) = retention.next_piece().unwrap() {
        sim.walk.retain(&piece, sim.now()).unwrap();
        sim.walk.commit_now().unwrap();
    }
    assert!(retention.problems.is_empty(), "{:?}", retention.problems);
}

/// What is kept of a host at most: its row, its robots.txt, its place in a queue, and what its pages have shown.
const OF_A_HOST: usize = SiteMemory::MOST_BYTES + TemplateMemory::MOST_BYTES + 300;

#[test]
fn a_year_with_the_same_pages_takes_no_more_room_than_half_a_year() {
    let (dir, store) = (tempfile::tempdir().unwrap(), Arc::new(MemoryStore::default()));
    let mut sim = begun(dir.path(), &store);
    let mut room = Vec::new();
    for week in 1..=52 {
        sim.run(START.after(7 * DAY * week), DAY).unwrap();
        retain(&mut sim);
        if [26, 52].contains(&week) {
            room.push(Room::of(&sim, &store, dir.path()));
        }
    }
    let [half, year] = &room[..] else { panic!() };
    eprintln!("{half:?}\n{year:?}\n{} visits", sim.walk.counters().visits);
    assert!(sim.walk.counters().visits > 10_000);
    for ((name, _, before), (_, _, after)) in half.rows.iter().zip(&year.rows) {
        let allowed = match *name {
            // What was dropped within a year is written down, one row a time and file.
            "meta" => 3 * before,
            // What differed on a host's pages fills up slowly, and then is full.
            "hosts" => HOSTS * OF_A_HOST,
            _ => before + before / 5 + 500,
        };
        assert!(after <= &allowed, "{name}: {before} bytes, then {after}");
    }
    // Audits are kept until there are four hundred.
    let learned = half.learned + half.learned / 5 + 8 * 400;
    assert!(year.learned <= learned, "{} {}", half.learned, year.learned);
    assert!(year.archive <= half.archive * 3 / 2 + ROLL, "{} {}", half.archive, year.archive);
}
