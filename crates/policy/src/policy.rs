//! Which pages should be fetched next, or when? The question that every scheduler answers.

use evercrawl_estimate::signal::{SignalSource, SignalSources};

use crate::page::{Days, Group, NEVER, Page, VisitEvidence};

/// A scheduler: it learns what visits found, and decides when pages are due or which are fetched next.
///
/// There are two kinds. A policy in continuous time sets [`Page::due`] whenever it sees a page, from that page and a
/// few numbers of its own; its driver keeps pages in order of due time. A policy in rounds leaves `due` at
/// [`NEVER`](crate::NEVER) and names pages in [`choose_pages`](Self::choose_pages). It is called again when those
/// were fetched, so it can visit some pages before it names others.
///
/// The lab drives policies by [`Agenda`](crate::Agenda). The live crawler keeps [`Page`]s and due times on disk. It
/// calls [`record_visit`](Self::record_visit) at commit, [`due`](Self::due) when a page's due time has come, and
/// [`plan_round`](Self::plan_round) now and then. So a policy must not assume that it sees all pages, and one that is
/// to run live must not use [`Page::id`].
///
/// Policies are deterministic: the same calls give the same answers.
pub trait Policy {
    /// A page was discovered: sets when it is due.
    fn record_discovery(&mut self, page: &mut Page, now: Days);

    /// A page was visited ([`Page::record`] has already counted the visit): sets when it is due.
    fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence);

    /// `former` moved to `page`, which was not visited yet: evidence about the one holds for the other.
    fn record_move(&mut self, _former: &Page, _page: &mut Page) {}

    /// A signal (sitemap, feed, push) says that `page` may have changed: may move its due time.
    fn record_signal(&mut self, _page: &mut Page, _teller: SignalSource, _now: Days) {}

    /// When `page` is due by what is known now. Called when [`Page::due`] has come, since numbers shared by all pages
    /// may have moved while it waited: a later answer puts the page back.
    fn due(&self, page: &Page, _now: Days) -> Days {
        page.due
    }

    /// `page` comes up soon: a chance to load its groups into the cache.
    fn prefetch_groups(&self, _page: &Page, _now: Days) {}

    /// When `page` is due, given what is known now about `group`, one of its own that
    /// [`take_changed_groups`](Self::take_changed_groups) named; `None` if that is no earlier than [`Page::due`].
    fn earlier_due(&self, page: &Page, _group: Group, now: Days) -> Option<Days> {
        Some(self.due(page, now)).filter(|due| *due < page.due)
    }

    /// How long a page may wait before [`due`](Self::due) is called again, since it may be due earlier by what was
    /// learned meanwhile. The driver calls it in rotation ([`RevisitRotation`](crate::RevisitRotation)).
    fn reconsider_interval(&self) -> Days {
        NEVER
    }

    /// A period begins: a chance to look at all pages. Returns true when it moved due times.
    ///
    /// To policies in continuous time, the live crawler may show a fair sample with a budget scaled down alike.
    fn plan_round(&mut self, _round: &Round, _pages: &mut [Page]) -> bool {
        false
    }

    /// Names up to `room` pages to fetch now, in order, none twice; none when the round needs no more. Called again
    /// when the pages named before were fetched.
    fn choose_pages(&mut self, _now: Days, _room: usize, _pages: &[Page], _out: &mut Vec<u32>) {}

    /// Moves to `out` the groups whose pages may be due earlier than planned, after a visit to one of them. The
    /// driver may call [`earlier_due`](Self::earlier_due) for the members; it need not, since each page is judged
    /// again when its due time comes.
    fn take_changed_groups(&mut self, _out: &mut Vec<Group>) {}

    /// A page will not be fetched again.
    fn record_gone(&mut self, _page: &Page) {}

    /// How many times in a row a page may be missing before it counts as dead.
    fn failures_until_dead(&self) -> u8 {
        1
    }

    /// The belief about `page` at `now`; `None` if it was never visited, or the policy has no beliefs.
    fn outlook(&self, _page: &Page, _now: Days) -> Option<Outlook> {
        None
    }

    /// Visits a day to `pages`, a fair sample, at each of these prices, if all pages were fetched once in `turn`; `None`
    /// if the policy knows no prices.
    fn visits_at(&self, _prices: &[f64], _pages: &[Page], _turn: Days) -> Option<Vec<f64>> {
        None
    }

    /// How far signals about pages of the host numbered `host` can be trusted; `None` if there were none, or the
    /// policy ignores them.
    fn signal_sources(&self, _host: u32) -> Option<SignalSources> {
        None
    }

    /// Encodes what was learned beyond the pages themselves, for a restart.
    fn encode_learned(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Restores what [`encode_learned`](Self::encode_learned) gave. Returns false, and changes nothing, when it
    /// cannot be read.
    fn restore_learned(&mut self, learned: &[u8]) -> bool {
        learned.is_empty()
    }

    /// The numbers behind a page's due time, by name, for `why`.
    fn explain(&self, _page: &Page, _now: Days) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// A belief about a page at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// The chance that the copy is still current.
    pub fresh: f64,
    /// Changes per day.
    pub rate: f64,
}

/// A period and its budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// When it begins.
    pub start: Days,
    /// How long it lasts.
    pub length: Days,
    /// How many fetches it allows.
    pub fetches: usize,
}

impl Round {
    /// Fetches per day.
    pub fn rate(&self) -> f64 {
        if self.length > 0.0 { self.fetches as f64 / self.length } else { 0.0 }
    }
}
