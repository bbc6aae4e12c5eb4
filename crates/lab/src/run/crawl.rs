//! How does one policy crawl one world? From the first copies through rounds of fetches to the end.

use std::sync::atomic::{AtomicBool, Ordering};

use evercrawl_policy::{Agenda, Days, Found, Page, Policy, Round, SplitMix64, Visit};

use super::Terms;
use super::budget::Budget;
use super::copies::Copies;
use super::signals::Signals;
use crate::judge::Judge;
use crate::row::Row;
use crate::score::{Gain, Score};
use crate::world::{Fact, Span, World};

/// How long the first look at all pages takes. Its order is drawn, and so no two seeds are alike.
const FIRST_LOOK: Days = 1.0;

const WEEK: Days = 7.0;

/// A crawl under way.
pub(super) struct Crawl<'a> {
    world: &'a World,
    judge: &'a Judge,
    terms: &'a Terms,
    span: Span,
    agenda: Agenda,
    copies: Copies<'a>,
    signals: Signals<'a>,
    score: Score<'a>,
    random: SplitMix64,
    /// What a fetch cost in the last round, on the mean.
    usual_cost: f64,
}

impl<'a> Crawl<'a> {
    /// All pages that live when it begins were just fetched, free of charge.
    pub(super) fn new(
        world: &'a World,
        judge: &'a Judge,
        terms: &'a Terms,
        policy: Box<dyn Policy>,
        seed: u64,
    ) -> Self {
        let span = world.span;
        let start = span.begin - terms.warm;
        let mut random = SplitMix64::new(seed);
        let mut copies = Copies::new(world);
        let mut pages = Vec::with_capacity(world.pages.len());
        for (id, fact) in (0u32..).zip(world.pages.iter().take_while(|page| page.born <= start)) {
            let last = (start - FIRST_LOOK * random.uniform()).max(fact.born);
            copies.add(Some(last));
            pages.push(Page { last, alive: fact.dies > last, ..known(id, fact) });
        }
        Crawl {
            world,
            judge,
            terms,
            span,
            agenda: Agenda::new(policy, pages, start),
            copies,
            signals: Signals::new(world, start, span.to, seed),
            score: Score::new(world, judge),
            random,
            usual_cost: 1.0,
        }
    }

    /// Crawls to the end within `budget`; `None` if stopped before.
    pub(super) fn run(mut self, budget: &Budget, seed: u64, stop: &AtomicBool) -> Option<Row> {
        self.warm_up();
        let Span { begin, to, .. } = self.span;
        let mut owed = 0.0;
        for number in 0u32.. {
            let start = begin + self.terms.round * f64::from(number);
            if start >= to {
                break;
            }
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let length = self.terms.round.min(to - start);
            owed += budget.over(length, self.judge.live(self.world, start));
            owed = self.round(start, length, owed);
        }
        self.until(to);
        self.copies.close(to, &mut self.score);
        Some(self.score.row(seed))
    }

    /// Fetches every page every week, free of charge, until the crawl begins.
    fn warm_up(&mut self) {
        let start = self.span.begin - self.terms.warm;
        let weeks = (self.terms.warm / WEEK).round() as u32;
        for week in 0..weeks {
            let start = start + WEEK * f64::from(week);
            let pages = self.copies.len();
            self.agenda.begin(&Round { start, length: WEEK, fetches: pages });
            for page in 0..pages as u32 {
                let now = start + WEEK * f64::from(page) / pages as f64;
                self.until(now);
                if self.agenda.pages()[page as usize].alive {
                    self.fetch(page, now);
                }
            }
        }
    }

    /// Spends `owed`, evenly in time, and returns what is over or was overspent.
    ///
    /// When the policy wants nothing, time goes by as if a fetch had found nothing.
    fn round(&mut self, start: Days, length: Days, owed: f64) -> f64 {
        let fetches = (owed / self.usual_cost).ceil().max(0.0) as usize;
        self.agenda.begin(&Round { start, length, fetches });
        let (mut spent, mut done, mut paid) = (0.0, 0, 0.0);
        while spent < owed && done < fetches {
            let now = start + length * spent / owed;
            self.until(now);
            if let Some(page) = self.agenda.next(now) {
                let cost = self.fetch(page, now);
                (done, paid, spent) = (done + 1, paid + cost, spent + cost);
            } else {
                spent += self.terms.cost_unchanged;
            }
        }
        if done > 0 && paid > 0.0 {
            self.usual_cost = paid / done as f64;
        }
        owed - spent
    }

    /// Tells of the pages that were born and the signals that came up to `now`.
    fn until(&mut self, now: Days) {
        while let Some(fact) = self.world.pages.get(self.copies.len()).filter(|f| f.born <= now) {
            self.agenda.discover(known(self.copies.len() as u32, fact), fact.born);
            self.copies.add(None);
        }
        while let Some((page, at)) = self.signals.next(now) {
            self.agenda.signal(page, at);
        }
    }

    /// Fetches a page, tells the policy, and returns the cost.
    fn fetch(&mut self, page: u32, now: Days) -> f64 {
        let fact = &self.world.pages[page as usize];
        let host = &self.world.hosts[fact.host as usize];
        let mut chance = |share: f32| share > 0.0 && self.random.uniform() < f64::from(share);
        let (mut visit, gain) = if chance(host.failure) {
            (Visit::new(now, Found::Failed), Gain::Failed)
        } else {
            let look = self.copies.fetch(page, now, &mut self.score);
            let modified = look.modified.filter(|_| host.lastmod);
            (Visit { modified, ..Visit::new(now, look.found) }, look.gain)
        };
        if visit.found == Found::Same && chance(host.noise) {
            visit.found = Found::Changed;
        }
        let unchanged = visit.found == Found::Same;
        let cost = f64::from(fact.cost) * if unchanged { self.terms.cost_unchanged } else { 1.0 };
        self.score.fetched(page, now, cost, &gain);
        self.agenda.report(page, &visit);
        cost
    }
}

/// What a crawler knows of a page before it has fetched it.
fn known(id: u32, fact: &Fact) -> Page {
    let &Fact { host, group, kin, weight, cost, .. } = fact;
    Page { host, group, kin, weight, cost, ..Page::new(id) }
}
