//! Which pages should be fetched next, or when? The one question every scheduler answers.

use evercrawl_estimate::signal::{SignalSource, SignalSources};

use crate::page::{Days, Group, NEVER, Page, Seen};

/// A scheduler: it is told what visits found and answers when, or which, pages are fetched next.
///
/// Two kinds fit. A policy in continuous time sets [`Page::due`] whenever it sees a page, from that
/// page and a few numbers of its own; whoever drives it keeps pages in order of due time. A policy
/// in rounds leaves `due` at [`NEVER`](crate::NEVER) and names pages in [`choose`](Self::choose); it
/// is asked again when those were fetched, so it can look at some before it names others.
///
/// The lab drives policies by [`Agenda`](crate::Agenda). The live crawler keeps [`Page`]s and due
/// times on disk and calls [`visited`](Self::visited) at commit, [`due`](Self::due) when a page comes
/// up, and [`plan`](Self::plan) now and then; so a policy must not assume that it sees all pages, and
/// one that is to run live must not look at [`Page::id`].
///
/// Policies are deterministic: the same calls give the same answers.
pub trait Policy {
    /// A page became known: sets when it is due.
    fn discovered(&mut self, page: &mut Page, now: Days);

    /// A page was visited ([`Page::record`] has already counted the visit): sets when it is due.
    fn visited(&mut self, page: &mut Page, seen: &Seen);

    /// `page`, not visited yet, is what `former` was before it moved: what was learned of one is true of
    /// the other.
    fn moved(&mut self, _former: &Page, _page: &mut Page) {}

    /// Something other than a visit says that `page` may have changed (a sitemap, a feed, a push): may
    /// move its due time.
    fn signalled(&mut self, _page: &mut Page, _teller: SignalSource, _now: Days) {}

    /// When `page` is due by what is known now. Asked when [`Page::due`] has come, since numbers that
    /// belong to all pages may have moved while it waited: a later answer puts the page back.
    fn due(&self, page: &Page, _now: Days) -> Days {
        page.due
    }

    /// `page` comes up soon: a chance to have what is known beside its row brought from memory meanwhile.
    fn read_ahead(&self, _page: &Page, _now: Days) {}

    /// When `page` is due by what is known now of `group`, one of its own that [`stirred`](Self::stirred)
    /// named; `None` where that is no sooner than [`Page::due`].
    fn sooner(&self, page: &Page, _group: Group, now: Days) -> Option<Days> {
        Some(self.due(page, now)).filter(|due| *due < page.due)
    }

    /// How long a page may wait before [`due`](Self::due) is asked again, in case it is due sooner by what was
    /// learned since it was told; whoever keeps the pages goes round them ([`Rota`](crate::Rota)).
    fn asked_again_every(&self) -> Days {
        NEVER
    }

    /// A period begins: a chance to look at all pages. True when it moved due times.
    ///
    /// The live crawler may show a fair sample instead, with the budget scaled down alike, to policies
    /// in continuous time.
    fn plan(&mut self, _round: &Round, _pages: &mut [Page]) -> bool {
        false
    }

    /// Names up to `room` pages to fetch now, in order, none twice; none when there is nothing more to
    /// do in this round. Asked again when those it named before were fetched.
    fn choose(&mut self, _now: Days, _room: usize, _pages: &[Page], _out: &mut Vec<u32>) {}

    /// Moves to `out` the groups whose pages may be due sooner than they were told, by what was just
    /// found on one of them. Whoever keeps the pages asks [`sooner`](Self::sooner) for the members, or
    /// leaves it: each is judged anew when it comes up.
    fn stirred(&mut self, _out: &mut Vec<Group>) {}

    /// A page will not be fetched any more.
    fn gone(&mut self, _page: &Page) {}

    /// How many times in a row a page may be missing before it is given up.
    fn patience(&self) -> u8 {
        1
    }

    /// What is believed of `page` at `now`; `None` where it was never visited, or the policy has no
    /// beliefs.
    fn outlook(&self, _page: &Page, _now: Days) -> Option<Outlook> {
        None
    }

    /// How far those who say that pages of the host numbered `host` changed can be trusted; `None` where
    /// nobody ever said so, or the policy does not listen.
    fn signal_sources(&self, _host: u32) -> Option<SignalSources> {
        None
    }

    /// What was learned besides what stands in pages, to be taken up again after a restart.
    fn learned(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes up what [`learned`](Self::learned) gave; false, and nothing is changed, where it cannot be
    /// read.
    fn resume(&mut self, learned: &[u8]) -> bool {
        learned.is_empty()
    }

    /// The numbers behind a page's due time, by name, for `why`.
    fn reasons(&self, _page: &Page, _now: Days) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// What is believed of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// The chance that the copy is still right.
    pub fresh: f64,
    /// Changes a day.
    pub rate: f64,
}

/// A stretch of time and how many fetches may be made in it.
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
    /// Fetches a day.
    pub fn rate(&self) -> f64 {
        if self.length > 0.0 { self.fetches as f64 / self.length } else { 0.0 }
    }
}
