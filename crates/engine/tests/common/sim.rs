//! A crawl of a computed web on a simulated disk: what it asks, when it crashes, what must hold after.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use evercrawl_archive as archive;
use evercrawl_engine::EngineError;
use evercrawl_engine::check::{CheckMessage, check};
use evercrawl_engine::config::WalkConfig;
use evercrawl_engine::rehearsal::{Asked, Rehearsal, Web};
use evercrawl_engine::walk::Walk;
use evercrawl_fetch::{self as fetch, Fetched, HeaderMap, HeaderName, HeaderValue, Response};
use evercrawl_model::Time;
use evercrawl_policy::SplitMix64;
use evercrawl_state::{Position, Settings, State, decode_batch};
use evercrawl_testweb::{ReachScope, World, WorldAnswer, WorldRequest};
use evercrawl_urls::parse_seed_line;

use super::disk::{SimDisk, SimStore};
use super::{DELAY, archive_settings, small_crawl};

pub(crate) const START: Time = Time::from_secs(1_800_000_000);
pub(crate) const LONG: Duration = Duration::from_secs(3 * 3600);
const SETTINGS: Settings = Settings { seed: 11, shards: 64 };

/// A web, a crawl of it, and the moment that both are at.
pub(crate) struct Sim<'a> {
    pub(crate) config: Arc<WalkConfig>,
    pub(crate) place: Place,
    pub(crate) rehearsal: Rehearsal<SimStore, Watched<'a>>,
    dir: &'a Path,
    seed: u64,
}

/// Where a crawl keeps what must last.
pub(crate) struct Place {
    pub(crate) disk: SimDisk,
    pub(crate) store: SimStore,
    roll_at: u64,
}

/// A computed web, with the start of every request by host: by its own clock, which nobody sets.
pub(crate) struct Watched<'a> {
    world: &'a World,
    requests: BTreeMap<String, Vec<(Time, String)>>,
    count: u64,
    /// By how many milliseconds the crawler's clock is ahead of the web's.
    ahead: i64,
    /// Some answers do not come, and some ask for a pause.
    pub(crate) faults: Option<SplitMix64>,
    /// When a pause was asked for, and when it is over.
    pauses: BTreeMap<String, (Time, Time)>,
}

impl<'a> Sim<'a> {
    pub(crate) fn new(world: &'a World, dir: &'a Path, config: WalkConfig, seed: u64) -> Self {
        Self::with_files_of(60_000, world, dir, config, seed)
    }

    /// The same, with WARC files that are full at `roll_at` bytes.
    pub(crate) fn with_files_of(
        roll_at: u64,
        world: &'a World,
        dir: &'a Path,
        config: WalkConfig,
        seed: u64,
    ) -> Self {
        let (place, config) = (Place { roll_at, ..Place::new(dir) }, Arc::new(config));
        let walk = place.open(dir, &config, seed, START).unwrap();
        let web = Watched {
            world,
            requests: BTreeMap::new(),
            count: 0,
            ahead: 0,
            faults: None,
            pauses: BTreeMap::new(),
        };
        let rehearsal = Rehearsal::new(walk, web, START, Duration::from_secs(1));
        Sim { config, place, rehearsal, dir, seed }
    }

    pub(crate) fn add_seeds(&mut self) {
        let (world, now) = (self.rehearsal.web.world, self.rehearsal.now());
        for n in 0..world.config().hosts {
            let url = format!("http://{}/", world.host_name(n));
            let seed = parse_seed_line(&url, self.config.reading.steps).unwrap().unwrap();
            self.rehearsal.walk.add_seed(&seed, now).unwrap();
        }
    }

    /// Crawls until nothing is left to do, or until `until`.
    pub(crate) fn run(&mut self, until: Time) {
        self.try_run(until).unwrap();
    }

    /// The same, on a disk that may fail.
    pub(crate) fn try_run(&mut self, until: Time) -> Result<(), EngineError> {
        self.rehearsal.run(until, LONG)
    }

    /// The crawler's clock is set ahead while it runs.
    pub(crate) fn set_clock_ahead(&mut self, by: Duration) {
        self.rehearsal.set_clock_ahead(by);
        self.rehearsal.web.clock_set(i64::try_from(by.as_millis()).unwrap());
    }

    /// The process dies: what was not committed is gone, and what was out is forgotten.
    pub(crate) fn crash(&mut self) {
        self.rehearsal.web.forgets();
        self.start(self.rehearsal.now());
    }

    /// Another process goes on. Where the disk does not let it begin, a later one does.
    fn start(&mut self, now: Time) {
        self.place.disk.restart();
        let walk = self.place.open(self.dir, &self.config, self.seed, now).unwrap();
        self.rehearsal.replace(walk, now);
        self.add_seeds();
    }

    /// The power goes, in the middle of a commit where one is on its way. When it comes back it is
    /// later, by a moment or by hours, and the clock may say that it is earlier.
    pub(crate) fn lose_power(&mut self, dice: &mut SplitMix64) {
        if let Some(commit) = self.rehearsal.take_commit() {
            self.place.disk.fail_after(dice.below(8));
            let _ = commit.run();
        }
        self.place.disk.lose_power(self.dir, dice);
        self.rehearsal.web.forgets();
        self.start_on_a_bad_disk(dice);
        let off = Duration::from_millis(dice.next_u64() % [2, 5_000, 7_200_000][dice.below(3)]);
        let (now, last) = (self.rehearsal.now().after(off), self.place.last_visit());
        let back = [0, 3_000, 3_600_000][dice.below(3)];
        // No crawl begins before the last one ended, whatever the clock says.
        let clock = Time::from_millis(now.millis().saturating_sub(back)).max(last).min(now);
        self.rehearsal.web.ahead -= i64::try_from(now.since(clock).as_millis()).unwrap();
        self.start(clock);
    }

    /// Now and then the disk fails, or is full, before a crawl has begun. Nothing comes of it but an
    /// error.
    fn start_on_a_bad_disk(&self, dice: &mut SplitMix64) {
        self.place.disk.restart();
        match dice.below(8) {
            0 => self.place.disk.fail_after(dice.below(4)),
            1 => self.place.disk.fill_up(dice.next_u64() % 2_000),
            _ => return,
        }
        let now = self.rehearsal.now();
        if let Err(error) = self.place.open(self.dir, &self.config, self.seed, now) {
            assert!(is_of_the_disk(&error), "{error}");
        }
        self.place.disk.lose_power(self.dir, dice);
    }

    /// Whoever runs the crawl ends it, as well as the disk allows; then it goes on. Says whether it
    /// ended well.
    pub(crate) fn end(self) -> (Self, Result<(), EngineError>) {
        let Sim { config, place, mut rehearsal, dir, seed } = self;
        let settled = rehearsal.settle();
        let (now, committed, failed) = (rehearsal.now(), place.visits(), place.disk.has_failed());
        let unheard: Vec<String> = rehearsal.awaited().map(str::to_owned).collect();
        let (walk, mut web) = (rehearsal.walk, rehearsal.web);
        web.is_left(&unheard);
        let closed = walk.close().map(drop);
        if failed {
            assert!(closed.is_err(), "a clean end on top of a sync that failed");
            assert_eq!(place.visits(), committed);
        }
        let ended = settled.and(closed);
        if ended.is_err() {
            web.forgets();
        }
        place.disk.restart();
        let walk = place.open(dir, &config, seed, now).unwrap();
        let rehearsal = Rehearsal::new(walk, web, now, Duration::from_secs(1));
        let mut sim = Sim { config, place, rehearsal, dir, seed };
        sim.add_seeds();
        (sim, ended)
    }

    /// What a commit takes is held by it alone: memory does not grow with what was ever changed.
    pub(crate) fn assert_lets_go(&mut self) {
        self.rehearsal.settle().unwrap();
        let commit = self.rehearsal.walk.begin_commit().unwrap();
        assert_eq!(self.rehearsal.walk.pending(), 0, "a commit leaves what it took");
        if let Some(commit) = commit {
            let batch = Position::of_batch(&decode_batch(&commit.batch()).unwrap()).unwrap();
            assert_eq!(batch, Some(self.rehearsal.walk.state().position()), "it says what it is");
            self.rehearsal.walk.end_commit(&commit.run().unwrap()).unwrap();
        }
    }

    pub(crate) fn requests(&self) -> &BTreeMap<String, Vec<(Time, String)>> {
        &self.rehearsal.web.requests
    }

    pub(crate) fn close(mut self) -> State<SimStore> {
        self.rehearsal.settle().unwrap();
        self.rehearsal.walk.close().unwrap();
        State::open(Arc::new(self.place.store), SETTINGS, None).unwrap()
    }
}

/// True of errors that a disk which fails or is full must lead to, and nothing else may.
pub(crate) fn is_of_the_disk(error: &EngineError) -> bool {
    error.is_disk_full() || error.to_string().contains("input/output error")
}

impl Place {
    pub(crate) fn new(dir: &Path) -> Self {
        let disk = SimDisk::with(dir);
        Place { store: SimStore::on(&disk), disk, roll_at: 60_000 }
    }

    fn open(
        &self,
        dir: &Path,
        config: &Arc<WalkConfig>,
        seed: u64,
        now: Time,
    ) -> Result<Walk<SimStore>, EngineError> {
        self.resume(dir, config, None, seed, now)
    }

    /// A walk that goes on from what is here and in `dir`.
    pub(crate) fn resume(
        &self,
        dir: &Path,
        config: &Arc<WalkConfig>,
        learned: Option<&[u8]>,
        seed: u64,
        now: Time,
    ) -> Result<Walk<SimStore>, EngineError> {
        let state = self.state();
        let files = state.view().archive()?;
        let next = files.iter().map(|file| file.serial + 1).max().unwrap_or(1);
        let settings = archive_settings(next, self.roll_at);
        let committed: Vec<archive::FilePosition> = files
            .into_iter()
            .filter(|file| !file.finished)
            .map(|file| archive::FilePosition {
                serial: file.serial,
                name: file.name,
                warc_len: file.warc_len,
                cdxj_len: file.cdxj_len,
                open: file.open,
            })
            .collect();
        let segments = archive::FileSegments::on(Arc::new(self.disk.clone()), dir);
        let (writer, _) = archive::Writer::open(Arc::new(segments), &committed, settings, now)?;
        Walk::resume(config.clone(), state, writer, learned, seed, now)
    }

    fn state(&self) -> State<SimStore> {
        State::open(Arc::new(self.store.clone()), SETTINGS, None).unwrap()
    }

    /// Visits that are committed.
    fn visits(&self) -> usize {
        self.state().view().visits(0).filter(Result::is_ok).count()
    }

    /// When the last of them was.
    fn last_visit(&self) -> Time {
        self.state().view().last_logged().unwrap().unwrap_or(START)
    }
}

/// How long after it was asked for a pause may be unknown to whoever comes after a crash: commits are a
/// second apart, take three at most, and the next waits for the last.
const UNCOMMITTED: Duration = Duration::from_secs(8);

impl Watched<'_> {
    /// What time it is here when the crawler's clock says `now`.
    fn time(&self, now: Time) -> Time {
        Time::from_millis(now.millis().checked_add_signed(-self.ahead).unwrap())
    }

    fn clock_set(&mut self, ahead: i64) {
        self.ahead += ahead;
        // A pause until some moment ends when the clock says that it is that moment.
        let ahead = u64::try_from(ahead).unwrap();
        for (_, over) in self.pauses.values_mut() {
            *over = Time::from_millis(over.millis().saturating_sub(ahead));
        }
    }

    /// The crawler leaves, and does not hear the answers that it has not taken yet.
    fn is_left(&mut self, unheard: &[String]) {
        let host = |url: &str| url.split('/').nth(2).unwrap_or_default().to_owned();
        for url in unheard {
            self.pauses.remove(&host(url));
        }
    }

    /// The crawler forgets what it has not committed, which is what came last.
    fn forgets(&mut self) {
        let last = self.requests.values().flat_map(|asked| asked.last()).map(|(at, _)| *at).max();
        let known = |asked: Time| last.is_some_and(|last| last.since(asked) > UNCOMMITTED);
        self.pauses.retain(|_, (asked, _)| known(*asked));
    }

    /// What comes instead of an answer.
    fn fault(&mut self, host: &str, now: Time) -> Option<(Fetched, Duration)> {
        let kind = self.faults.as_mut()?.below(30);
        let failed = |failure| fetch::Fetched { result: Err(failure), ..empty() };
        let long = Duration::from_secs(30);
        Some(match kind {
            0 => (failed(fetch::ConnectFailure::Refused.into()), Duration::from_millis(3)),
            1 => (failed(fetch::Failure::Timeout(fetch::FetchPhase::Head)), long),
            2 => (failed(fetch::Failure::Disconnected), Duration::from_millis(9)),
            3 => (failed(fetch::DnsFailure::Temporary("no answer".into()).into()), long / 10),
            4 | 5 => {
                let (took, pause) = (Duration::from_millis(20), Duration::from_secs(12));
                let asked = now.after(took);
                self.pauses.insert(host.to_owned(), (asked, asked.after(pause)));
                let status = if kind == 4 { 429 } else { 503 };
                (super::fetched(status, &[("retry-after", "12")], String::new(), took), took)
            }
            _ => return None,
        })
    }
}

fn empty() -> Fetched {
    super::fetched(200, &[], String::new(), Duration::ZERO)
}

impl Web for Watched<'_> {
    fn answer(&mut self, asked: &Asked<'_>, now: Time) -> (Fetched, Duration) {
        let rest = asked.url.strip_prefix("http://").unwrap();
        let (host, path) = rest.split_at(rest.find('/').unwrap());
        let now = self.time(now);
        if let Some((asked, over)) = self.pauses.remove(host) {
            assert!(now >= over, "{host} asked for a pause at {asked} until {over}: {now} {path}");
        }
        self.requests.entry(host.to_owned()).or_default().push((now, path.to_owned()));
        if let Some(fault) = self.fault(host, now) {
            return fault;
        }
        let request = WorldRequest {
            authority: host,
            target: path,
            if_none_match: asked.etag,
            if_modified_since: asked.last_modified,
        };
        let mut answer = WorldAnswer::new();
        self.world.answer(&request, now.millis(), self.count, &mut answer);
        self.count += 1;
        let took = Duration::from_millis(5 + (self.count * 7919) % 60);
        (fetched(&answer, took), took)
    }
}

fn fetched(answer: &WorldAnswer, took: Duration) -> Fetched {
    let mut headers = HeaderMap::new();
    let mut head = format!("HTTP/1.1 {} \r\n", answer.status).into_bytes();
    for line in String::from_utf8_lossy(&answer.headers).lines() {
        let (name, value) = line.split_once(": ").unwrap();
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.append(name, HeaderValue::from_str(value).unwrap());
        head.extend_from_slice(line.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    let response = Response {
        head: head.into(),
        interim: bytes::Bytes::new(),
        status: answer.status,
        headers,
        body: answer.body.clone().into(),
        truncated: None,
        chunked: false,
        protocol: fetch::Protocol::Http11,
        tls: None,
    };
    let silent = answer.status == 0;
    Fetched {
        result: if silent { Err(fetch::Failure::Disconnected) } else { Ok(response) },
        request_bytes: bytes::Bytes::from_static(b"GET / HTTP/1.1\r\n\r\n"),
        times: fetch::Times { total: took, ..fetch::Times::default() },
        ip: Some([127, 0, 0, 1].into()),
        bytes_on_wire: 0,
    }
}

pub(crate) fn config(once: bool, recrawl: Duration) -> WalkConfig {
    let mut config = small_crawl();
    config.frontier.new_only = once;
    config.schedule.recrawl = recrawl;
    config
}

pub(crate) fn reachable(world: &World) -> BTreeSet<String> {
    let seeds: Vec<String> =
        (0..world.config().hosts).map(|n| format!("http://{}/", world.host_name(n))).collect();
    let seeds = seeds.iter().map(String::as_str);
    world.reachable(seeds, ReachScope::Host, true, START.millis()).collect()
}

/// Pages whose content is held.
pub(crate) fn held(state: &State<SimStore>, world: &World) -> BTreeSet<String> {
    let pages = state.view().pages().map(|page| page.unwrap().1);
    pages.filter(|row| row.held() && world.find(&row.url).is_some()).map(|row| row.url).collect()
}

pub(crate) fn assert_polite(requests: &BTreeMap<String, Vec<(Time, String)>>) {
    for (host, asked) in requests {
        for pair in asked.windows(2) {
            let gap = pair[1].0.since(pair[0].0);
            assert!(gap >= DELAY, "{host}: {:?} then {:?}", pair[0], pair[1]);
        }
    }
}

pub(crate) fn assert_agree(state: &State<SimStore>, dir: &Path) {
    let mut faults = Vec::new();
    let mut emit = |told| match told {
        CheckMessage::Fault(fault) => faults.push(fault.to_string()),
        CheckMessage::At(_) | CheckMessage::Note(_) => {}
    };
    let segments = archive::FileSegments::new(dir);
    let report = check(state.view(), &segments, &mut emit).unwrap();
    let hear = &mut |fault: evercrawl_state::Fault| faults.push(format!("{fault:?}"));
    state.view().inspect(hear).unwrap();
    assert_eq!(faults, Vec::<String>::new());
    assert!(report.records > 0);
}
