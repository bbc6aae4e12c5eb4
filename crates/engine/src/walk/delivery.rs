//! What does a host do with what it is told? It judges by its own rows, and changes those alone.
//!
//! [`Walk::deliver`] is the one door: no step of a visit's completion reaches into another host's rows any other way.

use evercrawl_estimate::signal::SignalSource;
use evercrawl_model::{
    Band, Event, HostKey, HostLikeness, LinkEvidence, Measure, PageKey, Refusal, Time,
};
use evercrawl_model::{Discovery, PageKind};
use evercrawl_state::{Applied, PageRow, PageStatus, Place, Store};
use evercrawl_urls::Canonical;

use super::Walk;
use super::consequences::Note;
use super::steps::mirrors::{
    ComparablePage, compare_with_original, note_missing, note_original_seen, note_same_content,
    page_at,
};
use crate::EngineError;
use crate::frontier::band_of_size;
use crate::importance::CrawlOrder;
use crate::mirrors::update_likeness;

impl<S: Store> Walk<S> {
    /// Delivers a note to the host that it is addressed to; true when it brought a URL that was not known.
    pub(super) fn deliver(&mut self, note: Note, now: Time) -> Result<bool, EngineError> {
        let sender = self.ledger.act_for(Some(note.to()));
        let delivered = self.receive(note, now);
        self.ledger.act_for(sender);
        delivered
    }

    fn receive(&mut self, note: Note, now: Time) -> Result<bool, EngineError> {
        match note {
            Note::LinkFound { link, changed } => return self.link_found(link, changed, now),
            Note::ListFound(list) => {
                let applied = self.ledger.apply(&Event::Discovered(list), now)?;
                return Ok(applied.queued.is_some());
            }
            Note::EvidenceChanged { measure, evidence, .. } => {
                self.evidence_changed(measure, evidence, now)?;
            }
            Note::BandChanged { page, band } => self.band_changed(page, band, now)?,
            Note::PageMoved { to, url, former } => self.page_moved_here(to, &url, *former, now)?,
            Note::SameContent { page, other } => self.same_content(page, &other, now)?,
            Note::MirrorSuspected { to, of } => self.mirror_suspected(to, of, now)?,
            Note::PageCompared { to, alike } => self.page_compared(to, alike, now)?,
            Note::OriginalSeen { to, page } => self.original_seen(to, &page, now)?,
            Note::PageMissing { to, from, url } => self.page_missing(to, from, &url, now)?,
        }
        Ok(false)
    }

    /// A URL of the host was found; where it is known already, its list may say that it changed since.
    fn link_found(
        &mut self,
        mut link: Discovery,
        changed: Option<(SignalSource, Time)>,
        now: Time,
    ) -> Result<bool, EngineError> {
        if self.revisits.planner.plan().order == CrawlOrder::Sites && !link.seed {
            let waiting = self.ledger.view().host(link.page.host)?.map_or(0, |host| host.waiting);
            link.front = Some(band_of_size(waiting + 1));
        }
        let event = Event::Discovered(link);
        let applied = self.ledger.apply(&event, now)?;
        let known = applied == Applied::default();
        if let (Some(signal), true, Event::Discovered(link)) = (changed, known, &event)
            && let Some((page, row)) = self.ledger.view().find(link.page.host, &link.url)?
            && row.held()
        {
            self.receive_signal(page, &row, signal, now)?;
        }
        Ok(applied.queued.is_some())
    }

    fn evidence_changed(
        &mut self,
        measure: Measure,
        claims: Vec<(PageKey, Option<LinkEvidence>)>,
        now: Time,
    ) -> Result<(), EngineError> {
        let total = self.ledger.view().link_evidence_total(measure)?;
        let event = Event::LinkEvidenceChanged { measure, evidence: claims, total };
        self.ledger.apply(&event, now).map(drop)
    }

    /// A page has a claim to another front queue, where it still waits for its first visit in that order.
    fn band_changed(&mut self, page: PageKey, band: Band, now: Time) -> Result<(), EngineError> {
        let order = self.revisits.planner.plan().order;
        if self.ledger.view().page(page)?.is_some_and(|row| waits_by_value(&row, order)) {
            self.ledger.apply(&Event::Requeued { page, band, at: now }, now)?;
        }
        Ok(())
    }

    /// A page moved for good to one of this host, which may have been visited already: it is believed to change as
    /// often as the page did, where that was watched for longer.
    fn page_moved_here(
        &mut self,
        host: HostKey,
        url: &str,
        (former, former_row): (PageKey, PageRow),
        now: Time,
    ) -> Result<(), EngineError> {
        let (planner, ledger) = (&mut self.revisits.planner, &mut self.ledger);
        let Some((page, mut row)) = ledger.view().find(host, url)? else { return Ok(()) };
        let Some(Place::Due(due)) = row.place.filter(|_| !ledger.frontier.is_leased(page)) else {
            return Ok(());
        };
        let Some(noted) = planner.inherit_notes((former, &former_row), (page, &row)) else {
            return Ok(());
        };
        row.past.iter_mut().for_each(|past| past.noted = noted);
        planner.sample_page(page, &row);
        let due = planner.earlier_due(page, &row, now).unwrap_or(due);
        ledger.apply(&Event::Rescheduled { page, due, policy_notes: Some(noted) }, now).map(drop)
    }

    /// Tells other hosts what was seen of a page, as far as they may have it too.
    pub(super) fn compare_with_other_hosts(
        &mut self,
        seen: &ComparablePage,
        now: Time,
    ) -> Result<(), EngineError> {
        if !seen.has_content() {
            let notes = note_missing(&self.insight.mirrors, seen);
            return self.deliver_all(notes, now);
        }
        // Each of these may change what its host is compared with, which the next one depends on.
        self.deliver_all(note_same_content(seen), now)?;
        let compared = compare_with_original(self.ledger.view(), &self.insight.mirrors, seen)?;
        self.deliver_all(compared, now)?;
        self.deliver_all(note_original_seen(&self.insight.mirrors, seen), now)
    }

    fn deliver_all(
        &mut self,
        notes: impl IntoIterator<Item = Note>,
        now: Time,
    ) -> Result<(), EngineError> {
        notes.into_iter().try_for_each(|note| self.deliver(note, now).map(drop))
    }

    /// Another host has the content of a page of this one at the same path: the one whose page was found later may be
    /// a mirror, and is compared with the other from now on.
    fn same_content(
        &mut self,
        page: PageKey,
        other: &ComparablePage,
        now: Time,
    ) -> Result<(), EngineError> {
        let Some(row) = self.ledger.view().page(page)? else { return Ok(()) };
        let own = Canonical::from_trusted(row.url);
        if own.is_none_or(|own| own.path_and_query() != other.url.path_and_query()) {
            return Ok(());
        }
        let (own, theirs) = (page.host, other.page.host);
        let (to, of) = if row.found > other.found { (own, theirs) } else { (theirs, own) };
        self.deliver(Note::MirrorSuspected { to, of }, now).map(drop)
    }

    fn mirror_suspected(
        &mut self,
        host: HostKey,
        of: HostKey,
        now: Time,
    ) -> Result<(), EngineError> {
        match self.insight.mirrors.candidate_likeness(host, of, now) {
            Some(likeness) => self.set_likeness(host, likeness, now),
            None => Ok(()),
        }
    }

    fn page_compared(&mut self, host: HostKey, alike: bool, now: Time) -> Result<(), EngineError> {
        match self.insight.mirrors.likeness_of(host).copied() {
            Some(likeness) => self.set_likeness(host, update_likeness(likeness, alike, now), now),
            None => Ok(()),
        }
    }

    fn original_seen(
        &mut self,
        host: HostKey,
        seen: &ComparablePage,
        now: Time,
    ) -> Result<(), EngineError> {
        let own = page_at(self.ledger.view(), host, &seen.url)?;
        match own.and_then(|(key, row)| seen.is_like(key, &row)) {
            Some(alike) => self.page_compared(host, alike, now),
            None => Ok(()),
        }
    }

    fn set_likeness(
        &mut self,
        host: HostKey,
        likeness: HostLikeness,
        now: Time,
    ) -> Result<(), EngineError> {
        let ended = self.insight.mirrors.original_of(host).is_some() && !likeness.is_mirror;
        self.insight.mirrors.set(host, likeness);
        self.ledger.apply(&Event::LikenessChanged { host, likeness }, now)?;
        if ended {
            self.sweep.put_back();
        }
        Ok(())
    }

    /// A page cannot be had of another host: one at its path waits for it no more. Where this host is its mirror, the
    /// page is known from now on, since those that link to it are not read here.
    fn page_missing(
        &mut self,
        host: HostKey,
        from: HostKey,
        url: &str,
        now: Time,
    ) -> Result<(), EngineError> {
        let Some(url) = Canonical::from_trusted(url.to_owned()) else { return Ok(()) };
        match page_at(self.ledger.view(), host, &url)? {
            Some((page, row)) => self.release(page, &row, now),
            None if self.insight.mirrors.original_of(host) == Some(from) => {
                self.look_for(&url, host, now)
            }
            None => Ok(()),
        }
    }

    /// A page that waited for another host's waits no more, if nothing else stands in for it.
    fn release(&mut self, page: PageKey, row: &PageRow, now: Time) -> Result<(), EngineError> {
        let waits = row.status == PageStatus::Refused(Refusal::Mirror);
        if waits && self.insight.refusal(self.ledger.view(), page, row)?.is_none() {
            super::sweep::put_back(page, &mut self.ledger, &mut self.revisits.planner, now)?;
        }
        Ok(())
    }

    /// A page is known on `host` from now on that is at the path of `url`.
    pub(super) fn look_for(
        &mut self,
        url: &Canonical,
        host: HostKey,
        now: Time,
    ) -> Result<(), EngineError> {
        let Some(row) = self.ledger.view().host(host)? else { return Ok(()) };
        let scheme = if url.is_https() { "https" } else { "http" };
        let there = format!("{scheme}://{}{}", row.authority, url.path_and_query());
        let found = Canonical::from_trusted(there).map(|there| self.links.pushed(there, now));
        if let Some(Ok(found)) = found {
            self.ledger.apply(&Event::Discovered(found), now)?;
        }
        Ok(())
    }
}

/// Whether a page is new and waits by how much it matters.
pub(super) fn waits_by_value(row: &PageRow, order: CrawlOrder) -> bool {
    let new = matches!(row.place, Some(Place::New(..))) && row.past.is_none();
    let by_value = !matches!(order, CrawlOrder::Breadth | CrawlOrder::Sites);
    by_value && new && !row.seed && row.kind == PageKind::Page
}
