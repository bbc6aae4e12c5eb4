//! What do the tests of all steps need? A visit, and a state in memory to hold it against.

use std::sync::Arc;
use std::time::Duration;

use evercrawl_compare::{SiteMemory, TemplateMemory};
use evercrawl_fetch::{Failure, Fetched, Times};
use evercrawl_model::{
    Change, Discovery, Event, HostUpdate, Importance, NextVisit, Outcome, PageKey, PageKind,
    PolicyNotes, Score, Time, Validators, Visit, VisitNoise, Visited,
};
use evercrawl_state::{MemoryStore, PageRow, PageStatus, Past, Place, Settings, State};
use evercrawl_urls::Canonical;

use crate::frontier::{Frontier, FrontierConfig, Lease, Pace};
use crate::links::FoundLinks;
use crate::planner::Conditions;
use crate::process::{Job, Processed};
use crate::walk::consequences::{Consequence, Consequences, Note};

pub(crate) const START: Time = Time::from_secs(1_800_000_000);
const SETTINGS: Settings = Settings { seed: 11, shards: 4 };
const TOOK: Duration = Duration::from_millis(20);

/// An empty state.
pub(crate) fn state() -> State<MemoryStore> {
    State::open(Arc::new(MemoryStore::default()), SETTINGS, None).unwrap()
}

/// A frontier without hosts.
pub(crate) fn frontier() -> Frontier {
    let config = FrontierConfig {
        active_hosts: 5,
        per_host: 1,
        quantum: 7,
        new_only: false,
        discover: 0.5,
        larger_first: false,
        pace: Pace { host: Duration::from_secs(1), ..Pace::default() },
    };
    Frontier::new(config, 1, START, false)
}

/// The key of a URL, as the state of these tests has it.
pub(crate) fn key_of(url: &str) -> PageKey {
    link_to(url).page
}

/// A URL that was found.
pub(crate) fn link_to(url: &str) -> Discovery {
    let url = Canonical::parse(url).unwrap();
    let keyer = evercrawl_model::Keyer::new(SETTINGS.seed, SETTINGS.shards);
    let key = keyer.page(keyer.host(url.domain(), url.authority()), url.as_str());
    Discovery::new(key, url.into_string(), 1, START)
}

/// Lets a page be known.
pub(crate) fn discover(state: &mut State<MemoryStore>, url: &str) {
    state.apply(&Event::Discovered(link_to(url))).unwrap();
}

/// Applies events, and link evidence that is sent to other hosts.
pub(crate) fn apply(state: &mut State<MemoryStore>, consequences: Consequences) {
    for consequence in consequences {
        let event = match consequence {
            Consequence::Event(event) => event,
            Consequence::Note(Note::EvidenceChanged { measure, evidence, .. }) => {
                let total = state.view().link_evidence_total(measure).unwrap();
                Event::LinkEvidenceChanged { measure, evidence, total }
            }
            Consequence::Note(_) => continue,
        };
        state.apply(&event).unwrap();
    }
}

/// What a page knows that was last visited at `at`, and had no content.
pub(crate) fn past(at: Time) -> Past {
    Past {
        visits: 1,
        checks: 0,
        changes: 0,
        watched: 0.0,
        last_visit: at,
        last_look: Some(at),
        last_change: None,
        outcome: Outcome::Ok,
        status: 200,
        failures: 0,
        digest: None,
        simhash: None,
        memory: None,
        validators: Validators::default(),
        log: 0,
        noted: PolicyNotes::default(),
        cause: None,
        is_cut: false,
    }
}

/// The first visit to a page, which found nothing in particular.
pub(crate) fn visit_to(url: &str, outcome: Outcome) -> Processed {
    let found = link_to(url);
    let visit = Visit {
        page: found.page,
        at: START,
        outcome,
        status: 200,
        change: Change::New,
        score: Score::ALL,
        digest: None,
        bytes: 0,
        ms: 20,
        record: None,
        near: None,
        cause: None,
        noise: VisitNoise::default(),
    };
    let visited = Visited {
        visit,
        identity: None,
        next: NextVisit::Never,
        policy_notes: PolicyNotes::default(),
        validators: None,
        simhash: None,
        memory: None,
        differing: Vec::new(),
        untold: None,
        observed: None,
        links: None,
        anchors: Vec::new(),
        first_of_digest: false,
        kind: PageKind::Page,
        host: HostUpdate::default(),
    };
    Processed {
        visited: Box::new(visited),
        plan: None,
        records: None,
        verdict: None,
        claim: None,
        links: FoundLinks::default(),
        topic_likeness: 0.0,
        words: 0,
        is_in_doubt: false,
        is_imported: false,
        soft_404_profile: None,
        host_trouble: false,
        asked_pause: None,
        reading: Duration::ZERO,
        job: job(found),
    }
}

/// A page that was asked for; nothing came.
fn job(found: Discovery) -> Job {
    let lease = Lease {
        page: found.page,
        row: row(&found),
        place: Place::New(found.band, 1),
        ip: None,
        host_failures: 0,
        site_memory: SiteMemory::default(),
        template_memory: TemplateMemory::default(),
        soft_404_profile: None,
        soft_404_profiled_at: Time::EPOCH,
        is_unmasked: false,
        is_past: false,
        conditions: Conditions { etag: false, last_modified: false },
    };
    let fetched = Fetched {
        result: Err(Failure::Disconnected),
        request_bytes: bytes::Bytes::new(),
        times: Times { total: TOOK, ..Times::default() },
        ip: None,
        bytes_on_wire: 0,
    };
    Job { lease: Box::new(lease), fetched, rendered: None, asked: START, ended: START.after(TOOK) }
}

/// The row of a page that was just found.
fn row(found: &Discovery) -> PageRow {
    PageRow {
        url: found.url.to_string(),
        kind: found.kind,
        depth: found.depth,
        hops: found.hops,
        via: found.via,
        hub: found.hub,
        tags: found.tags,
        seed: found.seed,
        guess: found.guess,
        found: found.at,
        claimed_change: None,
        status: PageStatus::New,
        place: Some(Place::New(found.band, 1)),
        past: None,
        importance: Importance::UNKNOWN,
    }
}
