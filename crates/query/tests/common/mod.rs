//! What is a small crawl, with its state in memory?

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use evercrawl_engine::config::{ReadingConfig, RecordConfig, Take, WalkConfig};
use evercrawl_engine::regions::DeclaredRegions;
use evercrawl_engine::retention::Keep;
use evercrawl_engine::{FrontierConfig, Pace, PlannerConfig, RetentionConfig, Schedule};
use evercrawl_model::{
    Change, Discovery, Event, HostUpdate, NextVisit, Outcome, PageKey, PageKind, PolicyNotes,
    Refusal, RobotsCopy, Score, Time, Visit, VisitNoise, Visited,
};
use evercrawl_query::Source;
use evercrawl_state::{MemoryStore, Settings, State};
use evercrawl_urls::{Canonical, CanonicalSteps, FilterRules, ScopeKind};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// So many seconds after the crawl began.
pub(crate) fn at(seconds: u64) -> Time {
    Time::from_secs(1_700_000_000 + seconds)
}

pub(crate) fn url(text: &str) -> Canonical {
    Canonical::parse(text).unwrap()
}

/// The same view after it travelled as JSON.
pub(crate) fn travelled<T: Serialize + DeserializeOwned>(view: &T) -> T {
    serde_json::from_str(&serde_json::to_string(view).unwrap()).unwrap()
}

/// A crawl whose state is in memory.
pub(crate) struct Crawl {
    pub(crate) state: State<MemoryStore>,
    pub(crate) regions: DeclaredRegions,
}

impl Crawl {
    pub(crate) fn new() -> Self {
        let settings = Settings { seed: 7, shards: 4 };
        let state = State::open(Arc::new(MemoryStore::default()), settings, None).unwrap();
        Crawl { state, regions: DeclaredRegions::default() }
    }

    /// What is asked so many seconds after the crawl began.
    pub(crate) fn source(&self, seconds: u64) -> Source<'_, MemoryStore> {
        let (state, dir) = (self.state.view(), Path::new("/nowhere"));
        Source { state, dir, now: at(seconds), regions: &self.regions }
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        self.state.apply(event).unwrap();
    }

    fn discovery(&self, text: &str) -> Discovery {
        let (url, keyer) = (url(text), self.state.view().keyer());
        let key = keyer.page(keyer.host(url.domain(), url.authority()), url.as_str());
        Discovery::new(key, url.into_string(), 1, at(0))
    }

    /// A seed becomes known.
    pub(crate) fn seed(&mut self, text: &str) -> PageKey {
        let found = Discovery { seed: true, depth: 0, ..self.discovery(text) };
        let page = found.page;
        self.apply(&Event::Discovered(found));
        page
    }

    /// A page becomes known by a link on another.
    pub(crate) fn link(&mut self, from: PageKey, text: &str) -> PageKey {
        let found = Discovery { via: Some(from), ..self.discovery(text) };
        let page = found.page;
        self.apply(&Event::Discovered(found));
        page
    }

    /// A page is visited at a second, and due again at another.
    pub(crate) fn visit(&mut self, page: PageKey, second: u64, change: Change, due: u64) {
        let failed = change == Change::Failed;
        let digest = (!failed).then_some([u8::try_from(second % 251).unwrap(); 20]);
        let visit = Visit {
            page,
            at: at(second),
            outcome: if failed { Outcome::ServerError } else { Outcome::Ok },
            status: if failed { 503 } else { 200 },
            change,
            score: Score::new(0.25),
            digest,
            bytes: 10,
            ms: 3,
            record: None,
            near: None,
            cause: None,
            noise: VisitNoise::default(),
        };
        self.apply(&Event::Visited(Box::new(Visited {
            visit,
            identity: digest,
            next: NextVisit::Due(at(due)),
            policy_notes: PolicyNotes::default(),
            validators: None,
            simhash: None,
            memory: None,
            differing: Vec::new(),
            untold: None,
            observed: None,
            links: None,
            anchors: Vec::new(),
            first_of_digest: true,
            kind: PageKind::Page,
            host: HostUpdate { next_allowed: Some(at(second + 1)), ..HostUpdate::default() },
        })));
    }

    pub(crate) fn refuse(&mut self, page: PageKey, second: u64, reason: Refusal) {
        self.apply(&Event::Refused { page, reason, at: at(second), again: None });
    }

    /// A robots.txt is fetched.
    pub(crate) fn robots(&mut self, origin: &str, status: u16, body: &str) {
        let copy =
            RobotsCopy { at: at(1), expires: at(86_400), status, body: body.as_bytes().to_vec() };
        self.apply(&Event::RobotsLearned { origin: origin.to_owned(), copy });
    }
}

/// A crawl of the seeds' hosts.
pub(crate) fn config() -> WalkConfig {
    WalkConfig {
        noise_off: Vec::new(),
        reading: ReadingConfig {
            agent: "evercrawl".into(),
            steps: CanonicalSteps::default(),
            skip_types: Vec::new(),
            unpack: evercrawl_extract::decode::DecodeLimits::default(),
            take: Take::default(),
            topic: None,
            regions: Default::default(),
            records: RecordConfig { level: 1, requests: true },
        },
        scope: ScopeKind::Host,
        rules: FilterRules::default(),
        frontier: FrontierConfig {
            active_hosts: 5,
            per_host: 1,
            quantum: 7,
            new_only: false,
            discover: 0.5,
            larger_first: false,
            pace: Pace { host: Duration::from_secs(1), ..Pace::default() },
        },
        schedule: Schedule::default(),
        plan: PlannerConfig { rate: Some(5.0), ..PlannerConfig::default() },
        sitemaps: true,
        hold_mirrors: true,
        topic_tags: Vec::new(),
        retention: RetentionConfig {
            archive: Keep::default(),
            visits: Keep::default(),
            every: Duration::from_secs(86_400),
        },
    }
}
