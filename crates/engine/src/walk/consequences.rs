//! What follows from a visit? Events for the visited host, and notes to other hosts.
//!
//! The steps of [`completion`](super::completion) say what follows and change no rows themselves. What a step
//! says of its own host is an [`Event`]. What it has to say to other hosts is a [`Note`]: plain data, so that it
//! can be sent to the machine that holds the other host's rows. Today that is this one, and
//! [`deliver`](super::Walk::deliver) hands each note over at once, in order.

use evercrawl_estimate::signal::SignalSource;
use evercrawl_model::{Band, Discovery, Event, HostKey, LinkEvidence, Measure, PageKey, Time};
use evercrawl_state::PageRow;

use super::steps::mirrors::ComparablePage;

/// What follows from a visit, in the order in which it is to be applied.
pub(super) type Consequences = Vec<Consequence>;

/// One thing that follows from a visit.
#[derive(Clone, Debug)]
pub(super) enum Consequence {
    /// Something that changes rows of the visited host alone, or counts.
    Event(Event),
    /// Something that another host has to know.
    Note(Note),
}

/// What one host sends to another, or to itself.
#[derive(Clone, Debug)]
pub(super) enum Note {
    /// A page links, or redirects, to this URL.
    LinkFound {
        /// The URL, and how it was found.
        link: Discovery,
        /// Who says that it changed, and when, where a list says so.
        changed: Option<(SignalSource, Time)>,
    },
    /// A robots.txt names this list of pages, or it is looked for where lists usually are.
    ListFound(Discovery),
    /// What links say about pages of a host is otherwise than was known.
    EvidenceChanged {
        /// The host.
        to: HostKey,
        /// By which measure.
        measure: Measure,
        /// Each page with its evidence; `None` where nothing is kept of it any more.
        evidence: Vec<(PageKey, Option<LinkEvidence>)>,
    },
    /// By its link evidence, a page that was never visited belongs into another front queue.
    BandChanged {
        /// The page.
        page: PageKey,
        /// The front queue.
        band: Band,
    },
    /// A page moved for good to a URL of this host.
    PageMoved {
        /// The host.
        to: HostKey,
        /// The URL.
        url: Box<str>,
        /// The page that moved, with all that was learned of it.
        former: Box<(PageKey, PageRow)>,
    },
    /// A page of another host has the content, or nearly the text, of this one.
    SameContent {
        /// The page.
        page: PageKey,
        /// The other page.
        other: Box<ComparablePage>,
    },
    /// A host is to be compared with another from now on, since both have one page.
    MirrorSuspected {
        /// The host.
        to: HostKey,
        /// The other.
        of: HostKey,
    },
    /// A page of a host was compared with its counterpart on the host that it may mirror.
    PageCompared {
        /// The host.
        to: HostKey,
        /// Whether both are alike.
        alike: bool,
    },
    /// The host that this one may mirror has seen this page: it is to be compared with the page at the same path.
    OriginalSeen {
        /// The host.
        to: HostKey,
        /// What was seen.
        page: Box<ComparablePage>,
    },
    /// Another host does not have a page: one at the same path need not wait for it.
    PageMissing {
        /// The host.
        to: HostKey,
        /// The host that does not have it.
        from: HostKey,
        /// Its URL there.
        url: Box<str>,
    },
}

impl Note {
    /// The host that it is addressed to.
    pub(super) fn to(&self) -> HostKey {
        match self {
            Note::LinkFound { link, .. } | Note::ListFound(link) => link.page.host,
            Note::BandChanged { page, .. } | Note::SameContent { page, .. } => page.host,
            Note::EvidenceChanged { to, .. }
            | Note::PageMoved { to, .. }
            | Note::MirrorSuspected { to, .. }
            | Note::PageCompared { to, .. }
            | Note::OriginalSeen { to, .. }
            | Note::PageMissing { to, .. } => *to,
        }
    }
}

/// Whether an event changes rows of no other host than this one. A robots.txt speaks for an origin, which is not
/// known by a key; and what users and rules of retention do is no consequence of a visit.
pub(super) fn stays_on(host: HostKey, event: &Event) -> bool {
    match event {
        Event::Discovered(found) => found.page.host == host,
        Event::Visited(visited) => visited.visit.page.host == host,
        Event::Refused { page, .. }
        | Event::Forgotten { page }
        | Event::Rescheduled { page, .. }
        | Event::Requeued { page, .. }
        | Event::Signalled { page, .. }
        | Event::NoiseForgotten { page }
        | Event::PutAside { page, .. }
        | Event::PutBack { page, .. } => page.host == host,
        Event::HostLearned { host: of, .. }
        | Event::HostParked { host: of, .. }
        | Event::Probed { host: of, .. }
        | Event::LikenessChanged { host: of, .. }
        | Event::SuspicionChanged { host: of, .. } => *of == host,
        Event::ImportanceChanged { pages } => pages.iter().all(|(page, _)| page.host == host),
        Event::LinkEvidenceChanged { evidence, .. } => {
            evidence.iter().all(|(page, _)| page.host == host)
        }
        Event::RobotsLearned { .. } | Event::LinksRefused { .. } => true,
        Event::OverrideSet { .. }
        | Event::OverrideRemoved { .. }
        | Event::Rewritten(_)
        | Event::Imported { .. }
        | Event::VisitsDropped(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use evercrawl_model::{HostUpdate, Importance, Refusal};

    use super::*;

    fn page(host: u64) -> PageKey {
        PageKey { host: HostKey { shard: 0, host }, url: 7 }
    }

    #[test]
    fn an_event_about_another_host_is_no_consequence_of_a_visit() {
        let at = Time::EPOCH;
        let claims = |hosts: &[u64]| hosts.iter().map(|host| (page(*host), None)).collect();
        let evidence = |hosts: &[u64]| Event::LinkEvidenceChanged {
            measure: Measure::Links,
            evidence: claims(hosts),
            total: [0.0; 4],
        };
        let about = |host: u64| {
            [
                Event::Discovered(Discovery::new((page(host), 1), "http://a.test/", 1, at)),
                Event::Refused { page: page(host), reason: Refusal::Robots, at, again: None },
                Event::Forgotten { page: page(host) },
                Event::Requeued { page: page(host), band: Band::FIRST, at },
                Event::PutBack { page: page(host), at },
                Event::HostLearned { host: page(host).host, update: HostUpdate::default() },
                Event::HostParked { host: page(host).host, front: None },
                Event::ImportanceChanged { pages: vec![(page(host), Importance::UNKNOWN)] },
                evidence(&[host]),
                evidence(&[1, host]),
            ]
        };
        let visited = page(1).host;
        assert!(about(1).iter().all(|event| stays_on(visited, event)));
        assert!(!about(2).iter().any(|event| stays_on(visited, event)));
        assert!(stays_on(visited, &Event::LinksRefused { reason: Refusal::OutOfScope, count: 1 }));
    }

    #[test]
    fn a_note_names_the_host_that_it_is_for() {
        let link = Discovery::new((page(3), 1), "http://c.test/", 1, Time::EPOCH);
        let url = || "http://a.test/x".into();
        let (to, from) = (page(3).host, page(1).host);
        for note in [
            Note::LinkFound { link: link.clone(), changed: None },
            Note::ListFound(link),
            Note::EvidenceChanged { to, measure: Measure::Cash, evidence: Vec::new() },
            Note::BandChanged { page: page(3), band: Band::LAST },
            Note::MirrorSuspected { to, of: from },
            Note::PageCompared { to, alike: true },
            Note::PageMissing { to, from, url: url() },
        ] {
            assert_eq!(note.to(), to, "{note:?}");
        }
    }
}
