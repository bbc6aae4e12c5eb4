//! What does a visit tell of mirrors, and which of their pages wait?

use std::time::Duration;

use evercrawl_compare::Fingerprint;
use evercrawl_model::{
    Band, Event, HostKey, HostLikeness, Outcome, PageKey, PageKind, Refusal, Time,
};
use evercrawl_state::{PageRow, Past, Place, Standing, Store};
use evercrawl_urls::Canonical;

use super::Walk;
use super::overriding::Cursor;
use crate::EngineError;
use crate::frontier::Lease;
use crate::mirrors::{
    Counterpart, find_counterpart, find_stand_in, is_undecided, may_stand_in, update_likeness,
};
use crate::process::Processed;
use crate::recent::Holder;

/// How long a page of a mirror waits for its original to be explored, since it was found.
const FOR_ORIGINAL: Duration = Duration::from_secs(86_400);
/// How long a page waits until it can be compared.
const FOR_COMPARISON: Duration = Duration::from_secs(60);
/// After which time it is looked again.
const MOMENT: Duration = Duration::from_secs(1);
/// Texts of so many words are not nearly alike by chance, nor by what pages made by one program have in common.
const TELLING: u32 = 100;
/// The share of a text that is other, from which on it is another text: as a visit's, next to the one before.
const DIFFERS: f64 = 0.05;

/// What was seen of a page, as far as other hosts can have the same.
pub(super) struct Sight {
    page: PageKey,
    url: Canonical,
    /// When it was found.
    found: Time,
    /// Its content; `None` where no content came.
    digest: Option<[u8; 20]>,
    /// Who had that content before.
    holder: Option<Holder>,
    /// Who had nearly the same text.
    near: Option<PageKey>,
    /// The fingerprint of its text, where that is long enough to be told from others by it.
    print: Option<Fingerprint>,
    /// Whether this was its first visit.
    first: bool,
}

impl Sight {
    /// What a visit to a page saw.
    pub(super) fn of(processed: &Processed) -> Option<Self> {
        let (row, visited) = (&processed.job.lease.row, &processed.visited);
        let unchanged = visited.visit.outcome == Outcome::NotModified;
        if row.kind != PageKind::Page || unchanged {
            return None;
        }
        Some(Sight {
            page: visited.visit.page,
            url: Canonical::from_trusted(row.url.clone())?,
            found: row.found,
            digest: visited.identity.filter(|_| visited.visit.outcome == Outcome::Ok),
            holder: processed.held_by().cloned(),
            near: visited.visit.near.filter(|_| processed.words >= TELLING),
            print: (visited.simhash.filter(|_| processed.words >= TELLING))
                .map(Fingerprint::from_bits),
            first: row.past.is_none(),
        })
    }

    /// Whether a page at the same path had this content, or nearly this text.
    fn is_like(&self, key: PageKey, past: &Past) -> bool {
        // What the other had before it changed is its content too.
        let had = self.holder.as_ref().is_some_and(|holder| holder.page == key);
        let theirs = past.simhash.map(Fingerprint::from_bits);
        let near = theirs
            .zip(self.print)
            .is_some_and(|(theirs, ours)| theirs.changed_share(ours) < DIFFERS);
        had || near || past.digest == self.digest
    }
}

impl<S: Store> Walk<S> {
    /// Compares a page that was just visited with those at the same path of other hosts.
    pub(super) fn liken(&mut self, sight: &Sight, now: Time) -> Result<(), EngineError> {
        if !self.config.hold_mirrors {
            return Ok(());
        }
        if sight.digest.is_none() {
            return self.release(sight, now);
        }
        let host = sight.page.host;
        if let Some(twin) = self.twin(sight)? {
            self.pair(sight, twin, now)?;
        }
        if let Some(likeness) =
            self.mirrors.likeness_of(host).filter(|now| now.is_mirror || sight.first)
        {
            self.compare(host, *likeness, likeness.compared_with, sight, now)?;
        }
        let mut followers = self.mirrors.mirrors_of(host).to_vec();
        followers.retain(|_| sight.first);
        for follower in followers {
            if let Some(likeness) = self.mirrors.likeness_of(follower).filter(|now| !now.is_mirror)
            {
                self.compare(follower, *likeness, follower, sight, now)?;
            }
        }
        Ok(())
    }

    /// Two hosts have the same page: the one whose page was found later is compared with the other from now on.
    fn pair(&mut self, sight: &Sight, twin: PageKey, now: Time) -> Result<(), EngineError> {
        let theirs = self.state.view().page(twin)?.map(|row| row.found);
        let (mut later, mut earlier) = (sight.page.host, twin.host);
        if theirs.is_some_and(|theirs| theirs > sight.found) {
            std::mem::swap(&mut later, &mut earlier);
        }
        match self.mirrors.candidate_likeness(later, earlier, now) {
            Some(likeness) => self.set_likeness(later, likeness, now),
            None => Ok(()),
        }
    }

    /// The page of another host that had the same content, or nearly the same text, at the same path.
    fn twin(&self, sight: &Sight) -> Result<Option<PageKey>, EngineError> {
        let there = match (&sight.holder, sight.near) {
            (Some(holder), _) => Some((holder.page, holder.url.clone())),
            (None, Some(near)) => self.state.view().page(near)?.map(|row| (near, row.url)),
            (None, None) => None,
        };
        let there = there.filter(|(page, _)| page.host != sight.page.host);
        let twin = there.and_then(|(page, url)| {
            let url = Canonical::from_trusted(url)?;
            (url.path_and_query() == sight.url.path_and_query()).then_some(page)
        });
        Ok(twin)
    }

    /// Compares what was seen with the same path on the host `with`, which says how much `host` is like the
    /// one that it is compared with.
    fn compare(
        &mut self,
        host: HostKey,
        likeness: HostLikeness,
        with: HostKey,
        sight: &Sight,
        now: Time,
    ) -> Result<(), EngineError> {
        let Some((key, row)) = self.counterpart(with, &sight.url)? else { return Ok(()) };
        let Some(past) = row.past.filter(|past| past.digest.is_some()) else { return Ok(()) };
        self.set_likeness(host, update_likeness(likeness, sight.is_like(key, &past), now), now)
    }

    fn set_likeness(
        &mut self,
        host: HostKey,
        likeness: HostLikeness,
        now: Time,
    ) -> Result<(), EngineError> {
        let ended = self.mirrors.original_of(host).is_some() && !likeness.is_mirror;
        self.mirrors.set(host, likeness);
        self.apply(&Event::LikenessChanged { host, likeness }, now)?;
        if ended {
            self.sweep.back = Some(Cursor::default());
        }
        Ok(())
    }

    /// A page cannot be had: those of mirrors that wait for it wait no more, and are known from now on,
    /// since the pages that link to them are not read there.
    fn release(&mut self, sight: &Sight, now: Time) -> Result<(), EngineError> {
        let host = sight.page.host;
        // Those of other mirrors may wait for it too.
        let siblings =
            self.mirrors.original_of(host).map(|of| self.mirrors.mirrors_of(of).to_vec());
        for other in siblings.unwrap_or_default() {
            if let Some((page, row)) = self.counterpart(other, &sight.url)? {
                self.release_page(page, &row, now)?;
            }
        }
        for follower in self.mirrors.mirrors_of(host).to_vec() {
            match self.counterpart(follower, &sight.url)? {
                Some((page, row)) => self.release_page(page, &row, now)?,
                None if self.mirrors.original_of(follower).is_some() => {
                    self.look_for(&sight.url, follower, now)?;
                }
                None => {}
            }
        }
        Ok(())
    }

    /// A page that waited for another host's waits no more, if nothing else stands in for it.
    fn release_page(&mut self, page: PageKey, row: &PageRow, now: Time) -> Result<(), EngineError> {
        let waits = row.standing == Standing::Refused(Refusal::Mirror);
        if waits && self.aside_for(page, row)?.is_none() {
            self.put_back(page, now)?;
        }
        Ok(())
    }

    /// A page of a mirror is put aside, and what it links to is known from its original alone: what the
    /// original has lost of that is looked for at the mirror.
    pub(super) fn follow_instead(&mut self, lease: &Lease, now: Time) -> Result<(), EngineError> {
        let mirror = lease.page.host;
        let Some(original) = self.mirrors.original_of(mirror) else { return Ok(()) };
        let Some(url) = Canonical::from_trusted(lease.row.url.clone()) else { return Ok(()) };
        let Some((key, _)) = self.counterpart(original, &url)? else { return Ok(()) };
        let links = self.state.view().links(key)?.unwrap_or_default();
        for target in links.into_iter().filter(|target| target.host == original) {
            let row = self
                .state
                .view()
                .page(target)?
                .filter(|row| row.past.is_some() && !may_stand_in(row));
            if let Some(url) = row.and_then(|row| Canonical::from_trusted(row.url)) {
                self.look_for(&url, mirror, now)?;
            }
        }
        Ok(())
    }

    /// A page is known on `host` from now on that is at the path of `url`.
    fn look_for(&mut self, url: &Canonical, host: HostKey, now: Time) -> Result<(), EngineError> {
        let Some(host) = self.named(host)? else { return Ok(()) };
        let scheme = if url.is_https() { "https" } else { "http" };
        let there = format!("{scheme}://{}{}", host.authority, url.path_and_query());
        if let Some(Ok(found)) =
            Canonical::from_trusted(there).map(|there| self.links.pushed(there, now))
        {
            self.apply(&Event::Discovered(found), now)?;
        }
        Ok(())
    }

    /// Whether a new page waits until its host can be compared with the other, or until the original was
    /// explored: it may well have the page, and not be known to.
    pub(super) fn lets_other_go_first(
        &mut self,
        lease: &Lease,
        now: Time,
    ) -> Result<bool, EngineError> {
        let (page, row) = (lease.page, &lease.row);
        let (Some(likeness), Some(url)) =
            (self.compares(page.host, row), Canonical::from_trusted(row.url.clone()))
        else {
            return Ok(false);
        };
        let other = self.counterpart(likeness.compared_with, &url)?;
        let comparable = other.as_ref().is_some_and(|(_, row)| row.past.is_some());
        let waits = match likeness.is_mirror {
            true => other.is_none(),
            false => is_undecided(&likeness) && !comparable,
        };
        if !waits {
            return Ok(false);
        }
        if !matches!(lease.place, Place::New(Band::LAST, _)) {
            self.frontier.end_lease(page, now);
            self.apply(&Event::Requeued { page, band: Band::LAST, at: now }, now)?;
            return Ok(true);
        }
        let patience = if likeness.is_mirror { FOR_ORIGINAL } else { FOR_COMPARISON };
        let young = now.since(row.found) < patience;
        Ok(young
            && self.is_being_explored(likeness.compared_with, now)?
            && self.rest(lease, now)?)
    }

    /// What is known of the host of a new page, where that decides on the page.
    fn compares(&self, host: HostKey, row: &PageRow) -> Option<HostLikeness> {
        let new = row.past.is_none() && row.kind == PageKind::Page && !row.seed;
        let decides = new && self.config.hold_mirrors && !self.overrides.is_trusted(host);
        self.mirrors.likeness_of(host).filter(|_| decides).copied()
    }

    /// Whether a host answers, and has pages that were never visited.
    fn is_being_explored(&self, host: HostKey, now: Time) -> Result<bool, EngineError> {
        let row = self.state.view().host(host)?.filter(|_| !self.overrides.is_paused(host));
        Ok(row.is_some_and(|row| row.waiting > 0 && row.failures == 0 && row.blocked_until <= now))
    }

    /// The host of a leased page waits a moment.
    fn rest(&mut self, lease: &Lease, now: Time) -> Result<bool, EngineError> {
        self.frontier.block(lease.page.host, now.after(MOMENT), lease.host_failures);
        self.frontier.defer_page(lease, now);
        Ok(true)
    }

    /// Whether the original of its host, or another mirror of that, has a page too, and can be asked for it.
    pub(super) fn waits_for_original(
        &self,
        page: PageKey,
        row: &PageRow,
    ) -> Result<bool, EngineError> {
        let original = self.mirrors.original_of(page.host).filter(|_| self.config.hold_mirrors);
        if original.is_none_or(|host| self.overrides.is_paused(host)) {
            return Ok(false);
        }
        let is_asked = |host| !self.overrides.is_paused(host);
        Ok(find_stand_in(self.state.view(), &self.mirrors, page, row, is_asked)?.is_some())
    }

    /// The page of a host at the path of another's.
    fn counterpart(
        &self,
        host: HostKey,
        url: &Canonical,
    ) -> Result<Option<(PageKey, PageRow)>, EngineError> {
        match self.named(host)? {
            Some(host) => Ok(find_counterpart(self.state.view(), &host, url)?),
            None => Ok(None),
        }
    }

    fn named(&self, host: HostKey) -> Result<Option<Counterpart>, EngineError> {
        let row = self.state.view().host(host)?;
        Ok(row.map(|row| Counterpart { host, authority: row.authority }))
    }
}
