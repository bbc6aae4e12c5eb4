//! What does an event do to the state? One deterministic function: same events, same bytes.
//!
//! - [`discovering`]: what does it take for a URL to come in?

mod discovering;

use evercrawl_compare::{PageMemory, TemplateMemory};
use evercrawl_model::{
    Band, Change, Event, HostKey, HostUpdate, Importance, LifeChange, LogNotice, NextVisit,
    Outcome, PageKey, PolicyNotes, Refusal, Time, Visited,
};
use tracing::debug;

use crate::StateError;
use crate::counters::CountedAs;
use crate::keys;
use crate::reading::encode_first_seen;
use crate::rows::{self, HostRow, Logged, PageRow, PageStatus, Past, Place};
use crate::seen::Trace;
use crate::state::State;
use crate::store::{Space, Store};

/// What applying an event did, as far as the frontier must know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// A page that now waits, and where.
    pub queued: Option<(PageKey, Place)>,
    /// A host whose place among the front queues moved, and where to.
    pub front: Option<(HostKey, Band, Time)>,
    /// Why a discovery was refused.
    pub refused: Option<Refusal>,
}

impl<S: Store> State<S> {
    /// Applies an event. Everything that ever changes goes through here.
    pub fn apply(&mut self, event: &Event) -> Result<Applied, StateError> {
        self.dirty = true;
        match event {
            Event::Discovered(found) => self.discovered(found),
            Event::Visited(visited) => self.visited(visited),
            Event::Refused { page, reason, at, again } => self.refused(*page, *reason, *at, *again),
            Event::Rescheduled { page, next, policy_notes: noted } => {
                self.rescheduled(*page, *next, *noted)
            }
            Event::Requeued { page, band, at } => self.requeued(*page, *band, *at),
            Event::Signalled { page, at, due, policy_notes: noted } => {
                self.signalled(*page, *at, *due, *noted)
            }
            Event::Forgotten { page } => self.forgotten(*page),
            Event::HostLearned { host, update } => self.host_learned(*host, update),
            Event::HostParked { host, front } => self.host_parked(*host, *front),
            Event::Probed { host, at, profile: manner } => {
                let row = rows::encode_soft_404(*at, manner);
                self.view.layers.put(Space::Hosts, &keys::soft_404(*host), &row);
                Ok(Applied::default())
            }
            Event::RobotsLearned { origin, copy } => {
                self.view.layers.put(
                    Space::Hosts,
                    &keys::robots(origin),
                    &rows::encode_robots(copy),
                );
                Ok(Applied::default())
            }
            Event::ImportanceChanged { pages } => self.importance_changed(pages),
            Event::LinkEvidenceChanged { measure, evidence: claims, total } => {
                Ok(self.link_evidence_changed(*measure, claims, total))
            }
            Event::LikenessChanged { host, likeness } => Ok(self.likeness_changed(*host, likeness)),
            Event::SuspicionChanged { host, suspicion } => {
                Ok(self.suspicion_changed(*host, suspicion.as_ref()))
            }
            Event::OverrideSet { user_override, at } => Ok(self.override_set(user_override, *at)),
            Event::OverrideRemoved { user_override } => Ok(self.override_removed(user_override)),
            Event::NoiseForgotten { page } => self.noise_forgotten(*page),
            Event::PutAside { page, reason, at } => self.put_aside(*page, *reason, *at),
            Event::PutBack { page, at } => self.put_back(*page, *at),
            Event::LinksRefused { reason, count } => {
                self.count_refused(*reason, *count, None);
                Ok(Applied::default())
            }
            Event::Rewritten(rewritten) => self.rewritten(rewritten),
            Event::VisitsDropped(dropped) => self.visits_dropped(dropped),
            Event::Imported { first, end } => Ok(self.imported(*first, *end)),
        }
    }

    /// Counts pages or links that are refused, and logs the reason: every refusal that changes what
    /// is known passes here.
    pub(crate) fn count_refused(&mut self, reason: Refusal, count: u64, url: Option<&str>) {
        self.view.counters.refuse(reason, count);
        debug!(reason = reason.code(), count, url, "refused");
    }

    fn visited(&mut self, visited: &Visited) -> Result<Applied, StateError> {
        let page = visited.visit.page;
        let mut row = self.view.page(page)?.ok_or_else(|| unknown_page(page))?;
        let (counted_before, before) = (counted_as(&row), row.past.as_ref().map(|past| past.log));
        let (number, former) =
            (self.view.counters.logged, row.past.as_ref().and_then(|p| p.simhash));
        self.view.counters.count_visit(&visited.visit, visited.first_of_digest);
        self.view.spending.add(visited.visit.at, visited.visit.bytes);
        let held = row.past.as_ref().and_then(|past| past.digest);
        let other_bytes = visited.identity.is_some() && visited.identity != held;
        let settled = visited.visit.change == Change::Same && !visited.visit.noise.in_doubt;
        self.view.counters.noise += u64::from(other_bytes && settled);
        self.forget_content(visited, former)?;
        self.remember_content(visited, number);
        self.remember_links(visited, row.past.is_none())?;
        self.host_learned(page.host, &visited.host)?;
        row.kind = visited.kind;
        row.past = Some(learn(row.past.take(), visited, number));
        let gone = visited.visit.change == Change::Gone;
        row.status = if gone { PageStatus::Gone } else { PageStatus::Live };
        let turn = LifeChange::between(counted_before.1, row.life());
        self.log(&Logged { visit: visited.visit.clone(), before, turn }.encode());
        self.remember_site(visited)?;
        self.remember_places(visited, &row.url)?;
        let place = self.next_place(visited.next);
        self.settle(page, row, counted_before, place)
    }

    /// Writes a row to the log.
    fn log(&mut self, row: &[u8]) {
        let number = self.view.counters.logged;
        self.view.layers.put(Space::Visits, &number.to_be_bytes(), row);
        self.view.counters.logged += 1;
    }

    /// A page came to another state without being asked for: the log says so, and why.
    pub(crate) fn log_life_change(
        &mut self,
        page: PageKey,
        turn: Option<LifeChange>,
        reason: Refusal,
        at: Time,
    ) {
        if let Some(turn) = turn {
            self.log(&rows::encode_notice(&LogNotice::LifeChanged {
                page,
                at,
                change: turn,
                reason,
            }));
        }
    }

    fn next_place(&mut self, next: NextVisit) -> Option<Place> {
        match next {
            NextVisit::Due(at) => Some(Place::Due(at)),
            NextVisit::Recheck(at) => Some(Place::Recheck(at)),
            NextVisit::Never => None,
            NextVisit::Retry => {
                self.view.counters.turns += 1;
                Some(Place::New(Band::LAST, self.view.counters.turns))
            }
        }
    }

    fn refused(
        &mut self,
        page: PageKey,
        reason: Refusal,
        at: Time,
        again: Option<Time>,
    ) -> Result<Applied, StateError> {
        let mut row = self.view.page(page)?.ok_or_else(|| unknown_page(page))?;
        if row.status != PageStatus::Refused(reason) {
            self.count_refused(reason, 1, Some(&row.url));
        }
        let counted_before = counted_as(&row);
        row.status = PageStatus::Refused(reason);
        self.log_life_change(page, LifeChange::between(counted_before.1, row.life()), reason, at);
        self.settle(page, row, counted_before, again.map(Place::Recheck))
    }

    fn rescheduled(
        &mut self,
        page: PageKey,
        next: NextVisit,
        noted: Option<PolicyNotes>,
    ) -> Result<Applied, StateError> {
        let mut row = self.view.page(page)?.ok_or_else(|| unknown_page(page))?;
        if let (Some(past), Some(noted)) = (&mut row.past, noted) {
            past.noted = noted;
        }
        let counted_before = counted_as(&row);
        let place = self.next_place(next);
        self.settle(page, row, counted_before, place)
    }

    /// Among the pages of its new queue it takes the turn that it was given when it was found.
    fn requeued(&mut self, page: PageKey, band: Band, at: Time) -> Result<Applied, StateError> {
        let row = self.view.page(page)?.ok_or_else(|| unknown_page(page))?;
        let Some(Place::New(before, turn)) = row.place else { return Ok(Applied::default()) };
        if before == band {
            return Ok(Applied::default());
        }
        let counted_before = counted_as(&row);
        let applied = self.settle(page, row, counted_before, Some(Place::New(band, turn)))?;
        let front = Some(self.wake_for(page.host, band, at)?);
        Ok(Applied { front, ..applied })
    }

    fn signalled(
        &mut self,
        page: PageKey,
        at: Time,
        due: Time,
        noted: PolicyNotes,
    ) -> Result<Applied, StateError> {
        let mut row = self.view.page(page)?.ok_or_else(|| unknown_page(page))?;
        row.claimed_change = Some(at);
        if let Some(past) = &mut row.past {
            past.noted = noted;
        }
        let counted_before = counted_as(&row);
        self.settle(page, row, counted_before, Some(Place::Due(due)))
    }

    /// Where pages wait stays as it is: the planner looks at them again.
    fn importance_changed(
        &mut self,
        pages: &[(PageKey, Importance)],
    ) -> Result<Applied, StateError> {
        for &(page, importance) in pages {
            // It may have been forgotten while others were ranked.
            if let Some(mut row) = self.view.page(page)? {
                row.importance = importance;
                self.view.layers.put(Space::Pages, &page.to_bytes(), &row.encode());
            }
        }
        Ok(Applied::default())
    }

    fn forgotten(&mut self, page: PageKey) -> Result<Applied, StateError> {
        let row = self.view.page(page)?.ok_or_else(|| unknown_page(page))?;
        let host = self.host_mut(page.host)?;
        host.known = host.known.saturating_sub(1);
        if let Some(place) = row.place {
            host.waiting = host.waiting.saturating_sub(u32::from(matches!(place, Place::New(..))));
            self.view.layers.remove(Space::Queues, &keys::queue(page, place));
        }
        self.view.layers.remove(Space::Pages, &page.to_bytes());
        self.view.layers.remove(Space::Known, &page.to_bytes());
        self.note_seen(Trace::in_doubt(page));
        self.view.counters.pages = self.view.counters.pages.saturating_sub(1);
        self.view.counters.leaves(counted_as(&row));
        Ok(Applied::default())
    }

    /// Counts a page as its row says, no longer as it was `counted_before`, moves it to another place, and
    /// writes its row.
    pub(crate) fn settle(
        &mut self,
        page: PageKey,
        mut row: PageRow,
        counted_before: CountedAs,
        place: Option<Place>,
    ) -> Result<Applied, StateError> {
        if let Some(old) = row.place {
            self.view.layers.remove(Space::Queues, &keys::queue(page, old));
        }
        if let Some(place) = place {
            self.view.layers.put(Space::Queues, &keys::queue(page, place), b"");
        }
        let new = |place: Option<Place>| u32::from(matches!(place, Some(Place::New(..))));
        let host = self.host_mut(page.host)?;
        host.waiting = (host.waiting + new(place)).saturating_sub(new(row.place));
        self.view.counters.leaves(counted_before);
        self.view.counters.arrives(counted_as(&row));
        row.place = place;
        self.view.layers.put(Space::Pages, &page.to_bytes(), &row.encode());
        let front = self.return_awaits(page.host, place)?;
        Ok(Applied { queued: place.map(|place| (page, place)), front, ..Applied::default() })
    }

    /// A page waits to be visited again: a host that waits for nothing else must wake for it.
    fn return_awaits(
        &mut self,
        key: HostKey,
        place: Option<Place>,
    ) -> Result<Option<(HostKey, Band, Time)>, StateError> {
        let (usual, at) = match place {
            Some(Place::Due(at)) => (Band::REVISITS, at),
            Some(Place::Recheck(at)) => (Band::BLOCKED, at),
            _ => return Ok(None),
        };
        let front = self.host_mut(key)?.front;
        // Where other pages wait, those that there is little hope for come with them.
        let hopeful = |(band, _)| usual == Band::BLOCKED && band != Band::BLOCKED;
        if front.is_some_and(|front| front.1 <= at || hopeful(front)) {
            return Ok(None);
        }
        let band = front.map_or(usual, |(band, _)| band);
        self.move_front(key, Some((band, at)))?;
        Ok(Some((key, band, at)))
    }

    fn remember_content(&mut self, visited: &Visited, number: u64) {
        let visit = &visited.visit;
        let (Some(digest), true) = (visit.digest, visited.first_of_digest) else { return };
        let first = encode_first_seen(visit.page, visit.at, number);
        self.blocks.add_digest(&**self.view.layers.store(), &digest);
        self.view.layers.put(Space::Content, &keys::digest(&digest), &first);
        if let (Some(simhash), None) = (visited.simhash, visit.near) {
            self.blocks.add_print(&**self.view.layers.store(), simhash);
            for table in 0..4 {
                let key = keys::fingerprint(table, simhash);
                self.view.layers.put(Space::Content, &key, &visit.page.to_bytes());
            }
        }
    }

    /// What the page said before is not looked for any more when others are compared with it: so what
    /// is known of texts grows with the pages, not with their versions.
    fn forget_content(&mut self, visited: &Visited, former: Option<u64>) -> Result<(), StateError> {
        let Some(former) = former.filter(|_| visited.first_of_digest) else { return Ok(()) };
        let ours = visited.visit.page.to_bytes();
        let kept = self.view.layers.get(Space::Content, &keys::fingerprint(0, former))?;
        if visited.simhash != Some(former) && kept.is_some_and(|page| *page == ours) {
            for table in 0..4 {
                self.view.layers.remove(Space::Content, &keys::fingerprint(table, former));
            }
        }
        Ok(())
    }

    /// Passages differ on a page: the pages of its host may have them in common. That they do is one
    /// event, whatever they are and however many pages have them.
    fn remember_site(&mut self, visited: &Visited) -> Result<(), StateError> {
        let Visited { visit, differing, untold, .. } = visited;
        if differing.is_empty() && untold.is_none() {
            return Ok(());
        }
        let (host, page) = (visit.page.host, visit.page.url);
        let mut site = self.view.site(host)?;
        let passages = site.record_passages(page, differing);
        let template =
            untold.as_ref().is_some_and(|untold| site.record_large_difference(page, untold));
        if passages > 0 || template {
            let passages = if template { 0 } else { passages };
            self.view.counters.site_events += 1;
            self.log(&rows::encode_notice(&LogNotice::SiteChanged {
                host,
                at: visit.at,
                passages,
            }));
        }
        self.view.layers.put(Space::Hosts, &keys::site(host), &site.to_bytes());
        Ok(())
    }

    /// What a visit showed of places on the page, the pages of its template have in common.
    fn remember_places(&mut self, visited: &Visited, url: &str) -> Result<(), StateError> {
        let Some(observed) = &visited.observed else { return Ok(()) };
        let (host, page) = (visited.visit.page.host, visited.visit.page.url);
        let mut template = self.view.template(host, url)?;
        template.record_encoded(page, observed);
        let key = keys::template(host, TemplateMemory::number_of(url));
        self.view.layers.put(Space::Hosts, &key, &template.to_bytes());
        Ok(())
    }

    /// What was learned of the noise of a page is of no use any more, nor what its template has of the same places.
    fn noise_forgotten(&mut self, page: PageKey) -> Result<Applied, StateError> {
        let mut row = self.view.page(page)?.ok_or_else(|| unknown_page(page))?;
        let Some(past) = &mut row.past else { return Ok(Applied::default()) };
        let memory = past.memory.as_deref().and_then(PageMemory::from_bytes);
        let Some(mut memory) = memory else { return Ok(Applied::default()) };
        let mut template = self.view.template(page.host, &row.url)?;
        memory.forget_noise(&mut template);
        past.memory = Some(memory.to_bytes().into());
        let key = keys::template(page.host, TemplateMemory::number_of(&row.url));
        self.view.layers.put(Space::Hosts, &key, &template.to_bytes());
        self.view.layers.put(Space::Pages, &page.to_bytes(), &row.encode());
        Ok(Applied::default())
    }

    fn host_learned(&mut self, key: HostKey, update: &HostUpdate) -> Result<Applied, StateError> {
        let host = self.host_mut(key)?;
        host.next_allowed = update.next_allowed.unwrap_or(host.next_allowed);
        host.blocked_until = update.blocked_until.unwrap_or(host.blocked_until);
        host.failures = update.failures.unwrap_or(host.failures);
        host.ip = update.ip.or(host.ip);
        host.answer_time = update.answer_time.unwrap_or(host.answer_time);
        Ok(Applied::default())
    }

    fn host_parked(
        &mut self,
        key: HostKey,
        front: Option<(Band, Time)>,
    ) -> Result<Applied, StateError> {
        self.move_front(key, front)?;
        Ok(Applied { front: front.map(|(band, wake)| (key, band, wake)), ..Applied::default() })
    }

    pub(crate) fn move_front(
        &mut self,
        key: HostKey,
        to: Option<(Band, Time)>,
    ) -> Result<(), StateError> {
        let from = std::mem::replace(&mut self.host_mut(key)?.front, to);
        if from == to {
            return Ok(());
        }
        if let Some((band, wake)) = from {
            self.view.layers.remove(Space::Hosts, &keys::front(band, wake, key));
        }
        if let Some((band, wake)) = to {
            self.view.layers.put(Space::Hosts, &keys::front(band, wake, key), b"");
        }
        Ok(())
    }

    pub(crate) fn host_mut(&mut self, key: HostKey) -> Result<&mut HostRow, StateError> {
        let host = self.view.layers.host_mut(key)?;
        host.ok_or_else(|| StateError::Corrupt("a page without a host".into()))
    }

    /// Makes sure that a host has a row, made from the URL of its first page; true when it is new.
    pub(crate) fn ensure_host(&mut self, key: HostKey, url: &str) -> Result<bool, StateError> {
        if self.view.layers.has_host(key)? {
            return Ok(false);
        }
        self.view.layers.insert_host(key, HostRow::new(authority(url).to_owned()));
        self.view.counters.hosts += 1;
        Ok(true)
    }
}

/// What is known of a page after one more visit.
pub(crate) fn learn(past: Option<Past>, visited: &Visited, number: u64) -> Past {
    let visit = &visited.visit;
    let mut past = past.unwrap_or_else(|| never_visited(visit.at));
    past.visits += 1;
    past.last_visit = visit.at;
    past.outcome = visit.outcome;
    past.status = visit.status;
    past.log = number;
    past.noted = visited.policy_notes;
    let failed = visit.change == Change::Failed;
    past.failures = if failed { past.failures.saturating_add(1) } else { 0 };
    // A visit in doubt is half a look: the second look is the other half.
    let settled = !visit.noise.in_doubt;
    if settled
        && matches!(visit.change, Change::New | Change::Changed | Change::Near | Change::Same)
    {
        count_check(&mut past, visit.change, visit.at);
    }
    past.cause = visit.cause;
    if visited.identity.is_some() {
        past.digest = visited.identity;
        past.is_cut = visit.outcome == Outcome::Cut;
    }
    past.simhash = visited.simhash.or(past.simhash);
    if let Some(memory) = &visited.memory {
        past.memory = Some(memory.clone());
    }
    if let Some(validators) = &visited.validators {
        past.validators = validators.clone();
    }
    past
}

/// The content was looked at: what that says of how often it changes.
fn count_check(past: &mut Past, change: Change, at: Time) {
    let differs = matches!(change, Change::Changed | Change::Near);
    if let (Some(before), true) = (past.last_look, change != Change::New) {
        past.checks += 1;
        past.changes += u32::from(differs);
        past.watched += at.since(before).as_secs_f32();
    }
    past.last_look = Some(at);
    past.last_change = if differs { Some(at) } else { past.last_change };
}

fn never_visited(at: Time) -> Past {
    Past {
        visits: 0,
        checks: 0,
        changes: 0,
        watched: 0.0,
        last_visit: at,
        last_look: None,
        last_change: None,
        outcome: Outcome::Ok,
        status: 0,
        failures: 0,
        digest: None,
        simhash: None,
        memory: None,
        validators: evercrawl_model::Validators::default(),
        log: 0,
        noted: PolicyNotes::default(),
        cause: None,
        is_cut: false,
    }
}

/// Name and port in a canonical URL.
pub(crate) fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or(rest)
}

/// Where a page is by its row.
pub(crate) fn counted_as(row: &PageRow) -> CountedAs {
    (row.status, row.life())
}

fn unknown_page(page: PageKey) -> StateError {
    StateError::Corrupt(format!("an event speaks of page {page:?}, which is not known"))
}
