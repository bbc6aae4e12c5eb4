//! Who speaks for pages by linking to them, and where do those wait that nobody has visited?
//!
//! What speaks for a page is a small row beside its own. A visit changes those of the pages that it links to,
//! and moves such of them as wait to the front queue that they have a claim to by now; a page's own row is
//! read and written only then. So a visit costs a look-up for each link, where an order asks for it at all.

use std::collections::HashMap;

use evercrawl_model::{
    Band, Change, Discovery, Event, Importance, LinkEvidence, Measure, PageKey, PageKind, Time,
};
use evercrawl_rank::topic;
use evercrawl_state::{Store, Total};

use super::Walk;
use crate::EngineError;
use crate::frontier::band_of_size;
use crate::importance::{CrawlOrder, band_of_importance, band_on_topic, cash};
use crate::process::Processed;

/// What a visit says of other pages by one measure.
pub(super) struct Spoken {
    measure: Measure,
    claims: HashMap<PageKey, Option<LinkEvidence>>,
    total: Total,
    /// Pages that have a claim to another front queue than they wait in.
    moved: Vec<(PageKey, Band)>,
    /// How much the visited page matters itself, where that is measured.
    importance: Option<Importance>,
}

impl Spoken {
    fn new(measure: Measure, total: Total) -> Self {
        let (claims, moved) = (HashMap::new(), Vec::new());
        Spoken { measure, claims, total, moved, importance: None }
    }

    /// Keeps a page's claim; one that waits elsewhere than it has a claim to is to be moved.
    fn keep(&mut self, page: PageKey, before: Option<LinkEvidence>, numbers: [f64; 3], band: Band) {
        let waits = before.map_or(Some(band), |claim| claim.band.map(|_| band));
        if let (Some(was), Some(is)) = (before.and_then(|claim| claim.band), waits)
            && was != is
        {
            self.moved.push((page, is));
        }
        self.claims.insert(page, Some(LinkEvidence { band: waits, numbers }));
    }

    /// How much a page matters that was just found, by the cash that it has, where that is measured.
    fn worth_at_once(&self, page: PageKey) -> Option<Importance> {
        let measured = self.importance.filter(|_| self.measure == Measure::Cash);
        let claim = self.claims.get(&page)?.as_ref().filter(|_| measured.is_some())?;
        Some(cash::at_once(&cash::till(self.total), &cash::account(claim)))
    }

    /// The front queue that a page has a claim to.
    pub(super) fn band(&self, page: PageKey) -> Option<Band> {
        self.claims.get(&page)?.as_ref()?.band
    }
}

impl<S: Store> Walk<S> {
    /// What a visit says of the pages that it links to, by each measure that is asked for.
    pub(super) fn speak(&mut self, processed: &Processed) -> Result<Vec<Spoken>, EngineError> {
        let plan = *self.planner.plan();
        let mut spoken = Vec::new();
        // Lists speak for nobody, and a failed visit says nothing.
        let is_page = processed.visited.kind == PageKind::Page;
        if !is_page || processed.visited.visit.change == Change::Failed {
            return Ok(spoken);
        }
        for measure in Measure::ALL {
            let for_importance = measure == Measure::Cash && plan.importance && plan.by_cash;
            if plan.order.measure() == Some(measure) || for_importance {
                let total = self.state.view().claims_total(measure)?;
                let mut said = Spoken::new(measure, total);
                match measure {
                    Measure::Links => self.count_links(processed, &mut said)?,
                    Measure::Cash => self.hand_on_cash(processed, &mut said)?,
                    Measure::Topic => self.expect_topic(processed, &mut said)?,
                }
                spoken.push(said);
            }
        }
        Ok(spoken)
    }

    /// Takes over what a visit said, once the pages that it found are known.
    pub(super) fn heed(
        &mut self,
        page: PageKey,
        spoken: Vec<Spoken>,
        now: Time,
    ) -> Result<(), EngineError> {
        let order = self.planner.plan().order;
        for said in spoken {
            let mut claims: Vec<(PageKey, Option<LinkEvidence>)> =
                said.claims.into_iter().collect();
            // In one order, so that the same visits leave the same bytes.
            claims.sort_unstable_by_key(|(page, _)| *page);
            let (measure, total) = (said.measure, said.total);
            self.apply(&Event::LinkEvidenceChanged { measure, evidence: claims, total }, now)?;
            if order.measure() == Some(measure) {
                for (page, band) in said.moved {
                    if self.state.view().page(page)?.is_some_and(|row| self.is_ordered(&row)) {
                        self.apply(&Event::Requeued { page, band, at: now }, now)?;
                    }
                }
            }
            self.weigh_by_cash(page, said.importance, now)?;
        }
        Ok(())
    }

    /// Lets a page count by what passes through it.
    fn weigh_by_cash(
        &mut self,
        page: PageKey,
        importance: Option<Importance>,
        now: Time,
    ) -> Result<(), EngineError> {
        let Some(importance) = importance else { return Ok(()) };
        let known = self.state.view().page(page)?.map(|row| row.importance);
        if known.is_some_and(|known| known != importance) {
            self.apply(&Event::ImportanceChanged { pages: vec![(page, importance)] }, now)?;
        }
        Ok(())
    }

    /// A page that was found, in the front queue that it has a claim to.
    pub(super) fn placed(
        &self,
        found: Discovery,
        importance: Importance,
        spoken: &[Spoken],
    ) -> Result<Discovery, EngineError> {
        let order = self.planner.plan().order;
        let said = spoken.iter().find(|said| Some(said.measure) == order.measure());
        let by_cash = spoken.iter().find_map(|said| said.worth_at_once(found.page));
        let mut found = self.ordered(found, by_cash.unwrap_or(importance));
        let claimed = said.and_then(|said| said.band(found.page));
        if let Some(band) = claimed.filter(|_| !found.seed) {
            found.band = band;
        }
        if order == CrawlOrder::Sites && !found.seed {
            let waiting = self.state.view().host(found.page.host)?.map_or(0, |host| host.waiting);
            found.front = Some(band_of_size(waiting + 1));
        }
        Ok(found)
    }

    /// In-degree: every page that came to link to another counts once, and no more when it does not.
    fn count_links(&self, processed: &Processed, said: &mut Spoken) -> Result<(), EngineError> {
        let lease = &processed.job.lease;
        let gone = processed.visited.visit.change == Change::Gone;
        let links = match &processed.visited.links {
            Some(links) => links.as_slice(),
            None if gone => &[],
            None => return Ok(()),
        };
        let before = match lease.row.past {
            Some(_) => self.state.view().links(lease.page)?.unwrap_or_default(),
            None => Vec::new(),
        };
        let lost =
            before.iter().filter(|to| links.binary_search(to).is_err()).map(|to| (*to, -1.0));
        let won = links.iter().filter(|to| before.binary_search(to).is_err()).map(|to| (*to, 1.0));
        for (to, step) in lost.chain(won) {
            let claim = self.state.view().claim(Measure::Links, to)?;
            let count = (claim.map_or(0.0, |claim| claim.numbers[0]) + step).max(0.0);
            said.total[0] += f64::from(claim.is_none());
            said.total[1] = (said.total[1] + step).max(0.0);
            let [pages, links, ..] = said.total;
            said.keep(
                to,
                claim,
                [count, 0.0, 0.0],
                band_of_importance(Importance::from_ratio(count * pages / links)),
            );
        }
        self.waits_no_more(processed, said)
    }

    /// OPIC: a visit hands the page's cash on to the pages that it links to, and the rest to all.
    fn hand_on_cash(&self, processed: &Processed, said: &mut Spoken) -> Result<(), EngineError> {
        let lease = &processed.job.lease;
        let mut till = cash::till(said.total);
        let own = match self.state.view().claim(Measure::Cash, lease.page)? {
            Some(claim) => cash::account(&claim),
            // Seeds bring cash, and so do pages that were visited before anybody counted any.
            None => till.open(f64::from(lease.row.seed || lease.row.past.is_some())),
        };
        if processed.visited.visit.change == Change::Gone {
            till.close(own);
            said.claims.insert(lease.page, None);
            said.total = cash::total(&till);
            return Ok(());
        }
        let links = match &processed.visited.links {
            Some(links) => links.clone(),
            None => self.state.view().links(lease.page)?.unwrap_or_default(),
        };
        let mut accounts = Vec::with_capacity(links.len());
        for to in links {
            let claim = self.state.view().claim(Measure::Cash, to)?;
            let account = claim.as_ref().map_or_else(|| till.open(0.0), cash::account);
            accounts.push((to, claim, account));
        }
        let mut own = own;
        let share = till.spend(&mut own, accounts.len());
        let waiting = self.waiting_pages();
        for (to, claim, mut account) in accounts {
            account.claim += share;
            let times = till.cash_of(&account) * waiting / till.cash;
            said.keep(
                to,
                claim,
                cash::numbers(&account),
                band_of_importance(Importance::from_ratio(times)),
            );
        }
        said.claims
            .insert(lease.page, Some(LinkEvidence { band: None, numbers: cash::numbers(&own) }));
        let measured = self.planner.plan().importance && self.planner.plan().by_cash;
        said.importance = measured.then(|| cash::importance(&till, &own));
        said.total = cash::total(&till);
        Ok(())
    }

    /// How many pages wait for their first visit; at least 1.
    fn waiting_pages(&self) -> f64 {
        let [new, ..] = self.state.view().counters().standing;
        new.max(1) as f64
    }

    /// Topic: a page is expected to be about what those are about that link to it, and what links say.
    fn expect_topic(
        &mut self,
        processed: &Processed,
        said: &mut Spoken,
    ) -> Result<(), EngineError> {
        let lease = &processed.job.lease;
        let own = self.state.view().claim(Measure::Topic, lease.page)?;
        let tagged = self.is_of_interest(lease.row.tags)?;
        let about = processed.about.max(if tagged { topic::aboutness(1.0) } else { 0.0 });
        let inherited =
            topic::inherit_expectation(about, own.map_or(0.0, |claim| claim.numbers[0]));
        for found in &processed.leads.found {
            let expected =
                topic::combine_expectations(inherited, f64::from(found.on_topic) / 255.0);
            let claim = self.state.view().claim(Measure::Topic, found.page)?;
            let before = claim.map_or(-1.0, |claim| claim.numbers[0]);
            if expected > before {
                said.keep(found.page, claim, [expected, 0.0, 0.0], band_on_topic(expected));
            }
        }
        self.waits_no_more(processed, said)
    }

    /// A page that was visited waits in no front queue of new pages.
    fn waits_no_more(&self, processed: &Processed, said: &mut Spoken) -> Result<(), EngineError> {
        let lease = &processed.job.lease;
        if lease.row.past.is_none()
            && let Some(claim) = self.state.view().claim(said.measure, lease.page)?
        {
            said.claims.insert(lease.page, Some(LinkEvidence { band: None, ..claim }));
        }
        Ok(())
    }

    /// Whether a set of tags has one that the user is interested in.
    fn is_of_interest(&mut self, tags: u32) -> Result<bool, EngineError> {
        let wanted = &self.config.topic_tags;
        if tags == 0 || wanted.is_empty() {
            return Ok(false);
        }
        if let Some(known) = self.tags_of_interest.get(&tags) {
            return Ok(*known);
        }
        let sets = self.state.view().tag_sets()?;
        let is = |set: &String| set.split_whitespace().any(|tag| wanted.iter().any(|w| w == tag));
        self.tags_of_interest = sets.iter().map(|(number, set)| (*number, is(set))).collect();
        Ok(self.tags_of_interest.get(&tags).copied().unwrap_or(false))
    }
}
