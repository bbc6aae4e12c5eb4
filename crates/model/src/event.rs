//! What can happen to the state? Everything that changes it is one of these.
//!
//! Times and random draws are inside the event, so that applying the same events to the same
//! state gives the same bytes: on another machine, in a simulation, after a crash.

use std::net::IpAddr;
use std::time::Duration;

use crate::{
    Band, HostKey, Importance, Kind, Likeness, LinkEvidence, Measure, Override, PageKey, Refusal,
    Rewritten, Suspicion, Time, Validators, Visit, VisitsDropped,
};

/// Something that changes the state.
#[derive(Clone, Debug)]
pub enum Event {
    /// A URL was found; it enters the frontier unless it is known.
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
        /// When to look again, if ever.
        again: Option<Time>,
    },
    /// A URL that was only a guess leads nowhere: it is as if it had never been found.
    Forgotten {
        /// The page.
        page: PageKey,
    },
    /// Something was learned about a host.
    HostLearned {
        /// The host.
        host: HostKey,
        /// What.
        update: HostUpdate,
    },
    /// A host leaves the active set and waits on disk until `wake`, in the front queue `band`.
    HostRested {
        /// The host.
        host: HostKey,
        /// The front queue to wait in; `None` when nothing at all waits for it.
        front: Option<(Band, Time)>,
    },
    /// A host was asked for an address that cannot exist.
    Probed {
        /// The host.
        host: HostKey,
        /// When.
        at: Time,
        /// How it answered, in a form that means something to the engine alone.
        manner: Box<[u8]>,
    },
    /// A robots.txt was fetched, or could not be.
    RobotsLearned {
        /// Scheme, host and port it speaks for.
        origin: String,
        /// What came.
        copy: RobotsCopy,
    },
    /// A page is to be visited at another time than was planned.
    Rescheduled {
        /// The page.
        page: PageKey,
        /// When.
        due: Time,
        /// What the scheduler noted with it; `None` leaves what was noted.
        noted: Option<PolicyNotes>,
    },
    /// A page that was never visited waits in another front queue.
    Requeued {
        /// The page.
        page: PageKey,
        /// The front queue.
        band: Band,
        /// Since when.
        at: Time,
    },
    /// Somebody says that a page changed.
    Signalled {
        /// The page.
        page: PageKey,
        /// When it changed, by their word.
        at: Time,
        /// When it is to be visited now.
        due: Time,
        /// What the scheduler noted with it.
        noted: PolicyNotes,
    },
    /// Pages turned out to matter otherwise than was known.
    ImportanceChanged {
        /// How much each matters.
        pages: Vec<(PageKey, Importance)>,
    },
    /// What speaks for pages is otherwise than was known.
    LinkEvidenceChanged {
        /// By what.
        measure: Measure,
        /// What speaks for each by now; `None` where nothing is kept of it any more.
        claims: Vec<(PageKey, Option<LinkEvidence>)>,
        /// What all claims of the measure have in common.
        total: [f64; 4],
    },
    /// Pages of a host were compared with those of another.
    LikenessChanged {
        /// The host.
        host: HostKey,
        /// What that says by now.
        likeness: Likeness,
    },
    /// A host was looked at for spam.
    SuspicionChanged {
        /// The host.
        host: HostKey,
        /// What it is taken for; `None` where nothing speaks against it any more.
        suspicion: Option<Suspicion>,
    },
    /// The user wishes something; it takes the place of an earlier wish of its kind and subject.
    OverrideSet {
        /// What.
        user_override: Override,
        /// Since when.
        at: Time,
    },
    /// The user wishes it no more.
    OverrideRemoved {
        /// What.
        user_override: Override,
    },
    /// A page is not fetched as long as a reason holds; where it was is kept.
    PutAside {
        /// The page.
        page: PageKey,
        /// Why.
        reason: Refusal,
        /// Since when.
        at: Time,
    },
    /// The reason holds no more: the page is where it was.
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
    /// Records left the archive by a rule of retention.
    Rewritten(Box<Rewritten>),
    /// Visits leave the log by a rule of retention.
    VisitsDropped(Box<VisitsDropped>),
}

/// A URL that was found, with where and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovery {
    /// Its key.
    pub page: PageKey,
    /// Another 64 bits of the URL's hash: with the key, an identity that needs no look-up.
    pub check: u64,
    /// The canonical URL.
    pub url: Box<str>,
    /// What it is for.
    pub kind: Kind,
    /// Links away from a seed.
    pub depth: u16,
    /// Redirects that led here without a page between.
    pub hops: u8,
    /// The page that it was found on.
    pub via: Option<PageKey>,
    /// The number of the page that announces it and its like, where one does.
    pub hub: Option<u32>,
    /// The set of tags that it inherits (0: none).
    pub tags: u32,
    /// The front queue to wait in.
    pub band: Band,
    /// The front queue for its host to wait in, where that is not the page's.
    pub front: Option<Band>,
    /// How much its address and the words of the link say that it is about what the user looks for, of
    /// 255.
    pub on_topic: u8,
    /// When it was found.
    pub at: Time,
    /// When its source says it last changed (sitemaps, feeds).
    pub claimed_change: Option<Time>,
    /// How much it matters, as far as can be told by where it was found.
    pub importance: Importance,
    /// The URL's shape, where its like can be endless, and how many of a shape a host may have.
    pub shape: Option<Shape>,
    /// How many pages its host may have.
    pub host_cap: Option<u32>,
    /// True when the user gave it.
    pub seed: bool,
    /// True when it is a guess: a bare domain by `https` (`http` is tried where that cannot be
    /// had), or a usual place that may well be empty.
    pub guess: bool,
}

impl Discovery {
    /// A page of which nothing is known but its key with its check, its URL and how far it is from a seed.
    pub fn new(key: (PageKey, u64), url: impl Into<Box<str>>, depth: u16, at: Time) -> Self {
        Discovery {
            page: key.0,
            check: key.1,
            url: url.into(),
            kind: Kind::Page,
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

/// The shape of a URL whose like can be endless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Hash of what the URLs of the family have in common.
    pub hash: u64,
    /// How many of them one host may have.
    pub cap: u32,
    /// The reason to give for those beyond.
    pub refusal: Refusal,
}

/// A visit with what it means for the page's row.
#[derive(Clone, Debug)]
pub struct Visited {
    /// The visit, as the log keeps it.
    pub visit: Visit,
    /// What the page's content is told apart by at the next visit: the payload's digest, or for a
    /// redirect that of its target. `None` leaves what was held.
    pub identity: Option<[u8; 20]>,
    /// When to come again.
    pub next: Next,
    /// What the scheduler keeps of the page.
    pub noted: PolicyNotes,
    /// Validators to ask with next time; `None` leaves those that were held.
    pub validators: Option<Validators>,
    /// Fingerprint of the text, where there was text.
    pub simhash: Option<u64>,
    /// What the text is compared with at the next visit; `None` leaves what was held.
    pub memory: Option<Box<[u8]>>,
    /// Passages of the text that differ, for what the pages of a host have in common.
    pub differing: Vec<u32>,
    /// What differs, where that is too much to be told passage by passage, in a form that means
    /// something to the comparison alone.
    pub untold: Option<Box<[u8]>>,
    /// The pages that it links to, each once, in the order of their keys; `None` leaves those that
    /// were known.
    pub links: Option<Vec<PageKey>>,
    /// The words that each of these links is put in, where they are kept; else none.
    pub anchors: Vec<Box<str>>,
    /// True when this digest is the first of its kind, so that later ones refer to it.
    pub first_of_digest: bool,
    /// What the page turned out to be.
    pub kind: Kind,
    /// What was learned about the host on the way.
    pub host: HostUpdate,
}

/// What the scheduler keeps of a page, in the page's row; it means something to the scheduler alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PolicyNotes {
    /// Days in which the page is known not to have changed.
    pub unmodified: f32,
    /// What its policy noted.
    pub numbers: [f32; 8],
    /// How much of the page is news when it changes, from 0 to 1, on average; 0 before its first change.
    pub news: f32,
}

/// When to visit a page again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At this time, or sooner where the budget allows it.
    Due(Time),
    /// Not before this time: there is little hope for it.
    Recheck(Time),
    /// After the new pages of its host: the first visit failed, and is tried again.
    Retry,
    /// Not by itself.
    Never,
}

/// What was learned about a host. `None` leaves what was known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostUpdate {
    /// No request before this moment (the host's pace).
    pub next_allowed: Option<Time>,
    /// No request before this moment because the host asked for it or did not answer.
    pub blocked_until: Option<Time>,
    /// Failures in a row.
    pub failures: Option<u16>,
    /// Its address.
    pub ip: Option<IpAddr>,
    /// How long its last answer took.
    pub answer_time: Option<Duration>,
}

/// A robots.txt as it came, or that it did not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsCopy {
    /// When it was fetched.
    pub at: Time,
    /// When to fetch it again.
    pub expires: Time,
    /// The final status; 0 where no answer came.
    pub status: u16,
    /// The body, cut to the size that is read.
    pub body: Vec<u8>,
}
