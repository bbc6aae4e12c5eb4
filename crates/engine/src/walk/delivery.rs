//! What does a host do with the notes that it gets? It judges by its own rows, and changes those alone.
//!
//! [`Walk::deliver`] is the one door: no step of a visit's completion reaches into another host's rows any other way.

use evercrawl_model::{
    Band, Discovery, Event, HostKey, HostLikeness, LinkEvidence, Measure, NextVisit, PageKey,
    PageKind, Refusal, Time,
};
use evercrawl_state::{Applied, PageRow, PageStatus, Place, Store, View};
use evercrawl_urls::Canonical;

use super::Walk;
use super::consequences::Note;
use super::insight::Insight;
use super::ledger::Ledger;
use super::steps::mirrors::{
    ComparablePage, compare_with_original, note_missing, note_original_seen, note_same_content,
    page_at,
};
use super::sweep::{Sweep, put_back};
use crate::EngineError;
use crate::frontier::band_of_size;
use crate::importance::CrawlOrder;
use crate::links::LinkReader;
use crate::mirrors::{Mirrors, update_likeness};
use crate::planner::Planner;

impl<S: Store> Walk<S> {
    /// Delivers a note to the host that it is addressed to; true when it brought a URL that was not known.
    pub(super) fn deliver(&mut self, note: Note, now: Time) -> Result<bool, EngineError> {
        let sender = self.ledger.act_for(Some(note.to()));
        let delivered = self.receive(note, now);
        self.ledger.act_for(sender);
        delivered
    }

    fn receive(&mut self, note: Note, now: Time) -> Result<bool, EngineError> {
        let (ledger, planner) = (&mut self.ledger, &mut self.revisits.planner);
        let insight = &mut self.insight;
        let (view, mirrors) = (ledger.view(), &insight.mirrors);
        match note {
            Note::LinkFound { link, changed } => {
                let (link, applied) = link_found(ledger, link, planner.plan().order, now)?;
                if let Some(signal) = changed.filter(|_| applied == Applied::default()) {
                    self.waiting_signals.of_list(ledger, planner, &link, signal, now)?;
                }
                return Ok(applied.queued.is_some());
            }
            Note::ListFound(list) => {
                return Ok(ledger.apply(&Event::Discovered(list), now)?.queued.is_some());
            }
            Note::EvidenceChanged { measure, evidence, .. } => {
                evidence_changed(ledger, measure, evidence, now)?;
            }
            Note::BandChanged { page, band } => {
                band_changed(ledger, planner.plan().order, (page, band), now)?;
            }
            Note::PageMoved { to, url, former } => {
                page_moved_here(ledger, planner, (to, &url), *former, now)?;
            }
            Note::SameContent { page, other } => {
                let suspicion = same_content(view, page, &other)?;
                self.deliver_all(suspicion, now)?;
            }
            Note::MirrorSuspected { to, of } => {
                let likeness = mirrors.candidate_likeness(to, of, now);
                set_likeness(ledger, &mut insight.mirrors, &mut self.sweep, to, likeness, now)?;
            }
            Note::PageCompared { to, alike } => {
                let likeness = page_compared(mirrors, to, alike, now);
                set_likeness(ledger, &mut insight.mirrors, &mut self.sweep, to, likeness, now)?;
            }
            Note::OriginalSeen { to, page } => {
                let own = page_at(view, to, &page.url)?;
                let alike = own.and_then(|(key, row)| page.is_like(key, &row));
                let likeness = alike.and_then(|alike| page_compared(mirrors, to, alike, now));
                set_likeness(ledger, &mut insight.mirrors, &mut self.sweep, to, likeness, now)?;
            }
            Note::PageMissing { to, from, url } => {
                if let Some(url) = Canonical::from_trusted(url.into()) {
                    page_missing(ledger, insight, planner, &self.links, (to, from, &url), now)?;
                }
            }
        }
        Ok(false)
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
}

/// Keeps what comparing a host has shown, where that is news. Pages that waited for another host's come back
/// when theirs is no mirror any more.
fn set_likeness<S: Store>(
    ledger: &mut Ledger<S>,
    mirrors: &mut Mirrors,
    sweep: &mut Sweep,
    host: HostKey,
    likeness: Option<HostLikeness>,
    now: Time,
) -> Result<(), EngineError> {
    let Some(likeness) = likeness else { return Ok(()) };
    let ended = mirrors.original_of(host).is_some() && !likeness.is_mirror;
    mirrors.set(host, likeness);
    ledger.apply(&Event::LikenessChanged { host, likeness }, now)?;
    if ended {
        sweep.put_back();
    }
    Ok(())
}

/// Another host does not have a page: the page at the same path here stops waiting for it. Where this host is its mirror, the
/// page is known from now on, since those that link to it are not read here.
fn page_missing<S: Store>(
    ledger: &mut Ledger<S>,
    insight: &Insight,
    planner: &mut Planner,
    links: &LinkReader,
    (host, from, url): (HostKey, HostKey, &Canonical),
    now: Time,
) -> Result<(), EngineError> {
    match page_at(ledger.view(), host, url)? {
        Some((page, row)) => {
            let waited = row.status == PageStatus::Refused(Refusal::Mirror);
            // Something else may stand in its way, or in for it.
            if waited && insight.refusal(ledger.view(), page, &row)?.is_none() {
                put_back(page, ledger, planner, now)?;
            }
            Ok(())
        }
        None if insight.mirrors.original_of(host) == Some(from) => {
            look_for(ledger, links, url, host, now)
        }
        None => Ok(()),
    }
}

/// A URL of the host was found.
fn link_found<S: Store>(
    ledger: &mut Ledger<S>,
    mut link: Discovery,
    order: CrawlOrder,
    now: Time,
) -> Result<(Discovery, Applied), EngineError> {
    if order == CrawlOrder::Sites && !link.seed {
        let waiting = ledger.view().host(link.page.host)?.map_or(0, |host| host.waiting);
        link.front = Some(band_of_size(waiting + 1));
    }
    let event = Event::Discovered(link);
    let applied = ledger.apply(&event, now)?;
    let Event::Discovered(link) = event else { return Err(EngineError::Broken("a link")) };
    Ok((link, applied))
}

fn evidence_changed<S: Store>(
    ledger: &mut Ledger<S>,
    measure: Measure,
    evidence: Vec<(PageKey, Option<LinkEvidence>)>,
    now: Time,
) -> Result<(), EngineError> {
    let total = ledger.view().link_evidence_total(measure)?;
    ledger.apply(&Event::LinkEvidenceChanged { measure, evidence, total }, now).map(drop)
}

/// A page has a claim to another front queue, where it still waits for its first visit in that order.
fn band_changed<S: Store>(
    ledger: &mut Ledger<S>,
    order: CrawlOrder,
    (page, band): (PageKey, Band),
    now: Time,
) -> Result<(), EngineError> {
    if ledger.view().page(page)?.is_some_and(|row| waits_by_value(&row, order)) {
        ledger.apply(&Event::Requeued { page, band, at: now }, now)?;
    }
    Ok(())
}

/// A page moved for good to one of this host, which may have been visited already: it is believed to change as
/// often as the page did, where that was watched for longer.
fn page_moved_here<S: Store>(
    ledger: &mut Ledger<S>,
    planner: &mut Planner,
    (host, url): (HostKey, &str),
    (former, former_row): (PageKey, PageRow),
    now: Time,
) -> Result<(), EngineError> {
    let Some((page, mut row)) = ledger.view().find(host, url)? else { return Ok(()) };
    let Some(Place::Due(due)) = row.place.filter(|_| !ledger.frontier.is_leased(page)) else {
        return Ok(());
    };
    let Some(notes) = planner.inherit_notes((former, &former_row), (page, &row)) else {
        return Ok(());
    };
    row.past.iter_mut().for_each(|past| past.noted = notes);
    planner.sample_page(page, &row);
    let due = planner.earlier_due(page, &row, now).unwrap_or(due);
    let next = NextVisit::Due(due);
    ledger.apply(&Event::Rescheduled { page, next, policy_notes: Some(notes) }, now).map(drop)
}

/// Another host has the content of a page of this one at the same path: the one whose page was found later may be
/// a mirror, and is compared with the other from now on.
fn same_content<S: Store>(
    view: &View<S>,
    page: PageKey,
    other: &ComparablePage,
) -> Result<Option<Note>, EngineError> {
    let Some(row) = view.page(page)? else { return Ok(None) };
    let own = Canonical::from_trusted(row.url);
    if own.is_none_or(|own| own.path_and_query() != other.url.path_and_query()) {
        return Ok(None);
    }
    let (own, theirs) = (page.host, other.page.host);
    let (to, of) = if row.found > other.found { (own, theirs) } else { (theirs, own) };
    Ok(Some(Note::MirrorSuspected { to, of }))
}

/// What is known of a host once one more of its pages was compared.
fn page_compared(mirrors: &Mirrors, host: HostKey, alike: bool, now: Time) -> Option<HostLikeness> {
    let likeness = mirrors.likeness_of(host).copied()?;
    Some(update_likeness(likeness, alike, now))
}

/// A page is known on `host` from now on that is at the path of `url`.
pub(super) fn look_for<S: Store>(
    ledger: &mut Ledger<S>,
    links: &LinkReader,
    url: &Canonical,
    host: HostKey,
    now: Time,
) -> Result<(), EngineError> {
    let Some(row) = ledger.view().host(host)? else { return Ok(()) };
    let scheme = if url.is_https() { "https" } else { "http" };
    let there = format!("{scheme}://{}{}", row.authority, url.path_and_query());
    let found = Canonical::from_trusted(there).map(|there| links.pushed(there, now));
    if let Some(Ok(found)) = found {
        ledger.apply(&Event::Discovered(found), now)?;
    }
    Ok(())
}

/// Whether a page is new and waits by how much it matters.
pub(super) fn waits_by_value(row: &PageRow, order: CrawlOrder) -> bool {
    let new = matches!(row.place, Some(Place::New(..))) && row.past.is_none();
    let by_value = !matches!(order, CrawlOrder::Breadth | CrawlOrder::Sites);
    by_value && new && !row.seed && row.kind == PageKind::Page
}
