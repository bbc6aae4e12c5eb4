//! What can happen to the state? Every change of it is one of these events.
//!
//! Times and random numbers are part of the event, so that applying the same events to the same state gives the same
//! bytes: on another machine, in a simulation, after a crash.

use std::net::IpAddr;
use std::time::Duration;

use crate::{
    Band, HostKey, HostLikeness, Importance, LinkEvidence, Measure, Override, PageKey, PageKind,
    Refusal, Rewritten, Suspicion, Time, Validators, Visit, VisitsDropped,
};

/// A change of the state.
#[derive(Clone, Debug)]
pub enum Event {
    /// A URL was discovered; it enters the frontier unless it is known.
    Discovered(Discovery),
    /// A page was visited.
    Visited(Box<Visited>),
    /// A page of the frontier will not be fetched, for now or for good.
    Refused {
        /// The page.
        page: PageKey,
        /// Why.
        reason: Refusal,
        /// Since when.
        at: Time,
        /// When to try again, if ever.
        again: Option<Time>,
    },
    /// A guessed URL does not exist: forget it as if it had never been discovered.
    Forgotten {
        /// The page.
        page: PageKey,
    },
    /// Something was learned about a host.
    HostLearned {
        /// The host.
        host: HostKey,
        /// What was learned.
        update: HostUpdate,
    },
    /// A host leaves the active set and waits on disk.
    HostParked {
        /// The host.
        host: HostKey,
        /// Its front queue, and when it has work; `None` when nothing is queued.
        front: Option<(Band, Time)>,
    },
    /// A host was probed with an address that cannot exist.
    Probed {
        /// The host.
        host: HostKey,
        /// When.
        at: Time,
        /// Its soft-404 profile, encoded.
        profile: Box<[u8]>,
    },
    /// A robots.txt was fetched, or the attempt failed.
    RobotsLearned {
        /// The origin (scheme, host and port) that it applies to.
        origin: String,
        /// The robots.txt, or the failure.
        copy: RobotsCopy,
    },
    /// A page's next visit was moved.
    Rescheduled {
        /// The page.
        page: PageKey,
        /// When it is visited instead.
        next: NextVisit,
        /// The policy's new notes; `None` keeps the old ones.
        policy_notes: Option<PolicyNotes>,
    },
    /// A new page moves to another front queue.
    Requeued {
        /// The page.
        page: PageKey,
        /// The front queue.
        band: Band,
        /// Since when.
        at: Time,
    },
    /// A signal said that a page changed.
    Signalled {
        /// The page.
        page: PageKey,
        /// When it changed, according to the signal.
        at: Time,
        /// Its due time.
        due: Time,
        /// The policy's new notes.
        policy_notes: PolicyNotes,
    },
    /// The importance of pages changed.
    ImportanceChanged {
        /// The pages and their importance.
        pages: Vec<(PageKey, Importance)>,
    },
    /// Link evidence for pages changed.
    LinkEvidenceChanged {
        /// The measure.
        measure: Measure,
        /// The new evidence for each page; `None` removes it.
        evidence: Vec<(PageKey, Option<LinkEvidence>)>,
        /// The totals of the measure over all pages.
        total: [f64; 4],
    },
    /// Pages of a host were compared with those of another.
    LikenessChanged {
        /// The host.
        host: HostKey,
        /// The result so far.
        likeness: HostLikeness,
    },
    /// A host was surveyed for spam.
    SuspicionChanged {
        /// The host.
        host: HostKey,
        /// The suspicion; `None` removes it.
        suspicion: Option<Suspicion>,
    },
    /// The user set an override; it replaces an earlier one of its kind and subject.
    OverrideSet {
        /// The override.
        user_override: Override,
        /// Since when.
        at: Time,
    },
    /// The user removed an override.
    OverrideRemoved {
        /// The override.
        user_override: Override,
    },
    /// What was learned of the noise of a page is forgotten.
    NoiseForgotten {
        /// The page.
        page: PageKey,
    },
    /// A page is not fetched while a reason holds; its place in the queue is remembered.
    PutAside {
        /// The page.
        page: PageKey,
        /// Why.
        reason: Refusal,
        /// Since when.
        at: Time,
    },
    /// The reason no longer holds: the page returns to its place.
    PutBack {
        /// The page.
        page: PageKey,
        /// Since when.
        at: Time,
    },
    /// Links were refused before they entered the frontier: `count` more for `reason`.
    LinksRefused {
        /// Why.
        reason: Refusal,
        /// How many.
        count: u64,
    },
    /// A retention rule removed records from the archive.
    Rewritten(Box<Rewritten>),
    /// A retention rule removed visits from the log.
    VisitsDropped(Box<VisitsDropped>),
    /// Rows of the log tell what others saw, and came in by an import.
    Imported {
        /// The number of the first of them.
        first: u64,
        /// The number after the last.
        end: u64,
    },
}

/// A discovered URL, with where and how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovery {
    /// Its key.
    pub page: PageKey,
    /// Another 64 bits of the URL's hash: together with the key they identify the URL without a look-up.
    pub check: u64,
    /// The canonical URL.
    pub url: Box<str>,
    /// Its kind.
    pub kind: PageKind,
    /// The least number of links from a seed.
    pub depth: u16,
    /// Redirects in a row that led here.
    pub hops: u8,
    /// The page that it was found on.
    pub via: Option<PageKey>,
    /// The number of the hub page that links to it and to similar pages, if any.
    pub hub: Option<u32>,
    /// The set of inherited tags (0: none).
    pub tags: u32,
    /// Its front queue.
    pub band: Band,
    /// The front queue of its host, if it differs from the page's.
    pub front: Option<Band>,
    /// The expected relevance to the topic, by its address and the link's text, from 0 to 255.
    pub on_topic: u8,
    /// When it was found.
    pub at: Time,
    /// When its source says it last changed (sitemaps, feeds).
    pub claimed_change: Option<Time>,
    /// Its importance, as far as the linking page tells.
    pub importance: Importance,
    /// The URL's shape, for families of URLs without end.
    pub shape: Option<UrlShape>,
    /// The most pages that its host may have.
    pub host_cap: Option<u32>,
    /// True for seeds.
    pub seed: bool,
    /// True for a guess: a bare domain tried by `https` (then by `http` if that fails), or a usual place that may be
    /// empty.
    pub guess: bool,
}

impl Discovery {
    /// A page about which nothing is known but its key with its check, its URL and its depth.
    pub fn new(key: (PageKey, u64), url: impl Into<Box<str>>, depth: u16, at: Time) -> Self {
        Discovery {
            page: key.0,
            check: key.1,
            url: url.into(),
            kind: PageKind::Page,
            depth,
            hops: 0,
            via: None,
            hub: None,
            tags: 0,
            band: Band::new(u8::try_from(depth).unwrap_or(u8::MAX)),
            front: None,
            on_topic: 0,
            at,
            claimed_change: None,
            importance: Importance::UNKNOWN,
            shape: None,
            host_cap: None,
            seed: false,
            guess: false,
        }
    }
}

/// The shape of a URL that belongs to a family without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlShape {
    /// The hash of what all URLs of the family share.
    pub hash: u64,
    /// How many of them a host may have.
    pub cap: u32,
    /// The refusal of all others.
    pub refusal: Refusal,
}

/// A visit, and how it changes the page's row.
#[derive(Clone, Debug)]
pub struct Visited {
    /// The visit, as the log keeps it.
    pub visit: Visit,
    /// What identifies the page's content at the next visit: the payload digest, or for a redirect the digest of its
    /// target. `None` keeps the old value.
    pub identity: Option<[u8; 20]>,
    /// The next visit.
    pub next: NextVisit,
    /// The policy's notes on the page.
    pub policy_notes: PolicyNotes,
    /// Validators for the next request; `None` keeps the old ones.
    pub validators: Option<Validators>,
    /// The fingerprint of the text, if there was text.
    pub simhash: Option<u64>,
    /// What the next visit's text is compared with; `None` keeps the old value.
    pub memory: Option<Box<[u8]>>,
    /// Passages that differ, to learn what the pages of a host share.
    pub differing: Vec<u32>,
    /// The encoded difference, when it is too large to list its passages.
    pub untold: Option<Box<[u8]>>,
    /// What the visit showed of places on the page, encoded, to learn what the pages of a template share.
    pub observed: Option<Box<[u8]>>,
    /// The pages that it links to, each once, ordered by key; `None` keeps the old ones.
    pub links: Option<Vec<PageKey>>,
    /// The text of each of these links, if kept; else empty.
    pub anchors: Vec<Box<str>>,
    /// True when this visit holds the first record of its payload digest.
    pub first_of_digest: bool,
    /// The kind that the page turned out to have.
    pub kind: PageKind,
    /// What was learned about the host.
    pub host: HostUpdate,
}

/// The policy's notes on a page, stored in its row. Only the policy interprets them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PolicyNotes {
    /// Days during which the page is known not to have changed.
    pub unmodified: f32,
    /// The policy's own numbers.
    pub numbers: [f32; 8],
    /// The mean share of the page that is news when it changes, from 0 to 1; 0 before the first change.
    pub news: f32,
}

/// The next visit of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextVisit {
    /// At this time, or sooner where the budget allows it.
    Due(Time),
    /// Not before this time: the visit will probably fail.
    Recheck(Time),
    /// After the new pages of its host: the first visit failed and is retried.
    Retry,
    /// No further visit, unless something else asks for it.
    Never,
}

/// What was learned about a host. `None` keeps the old value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostUpdate {
    /// No request before this moment, to keep the host's pause.
    pub next_allowed: Option<Time>,
    /// No request before this moment, since the host failed or asked for it.
    pub blocked_until: Option<Time>,
    /// Failures in a row.
    pub failures: Option<u16>,
    /// Its address.
    pub ip: Option<IpAddr>,
    /// The duration of its last response.
    pub answer_time: Option<Duration>,
}

/// A fetched robots.txt, or a failed attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsCopy {
    /// When it was fetched.
    pub at: Time,
    /// When to fetch it again.
    pub expires: Time,
    /// The final status; 0 where no answer came.
    pub status: u16,
    /// The body, truncated to the size limit.
    pub body: Vec<u8>,
}
