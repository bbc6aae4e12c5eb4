//! How does one policy crawl one world? From the first copies through rounds of fetches to the end.

use std::sync::atomic::Ordering;

use evercrawl_policy::{Agenda, Days, Finding, Page, Policy, Round, SplitMix64, Visit};

use super::budget::FetchBudget;
use super::copies::Copies;
use super::signals::Signals;
use super::{ProgressWatch, RunTerms};
use crate::judge::PageClassifier;
use crate::score::{Gain, RunOutcome, RunScore};
use crate::world::{LabWorld, PageFact, Span};

/// How long the first visit to all pages takes. Its order is random, so no two seeds are alike.
const FIRST_LOOK: Days = 1.0;

const WEEK: Days = 7.0;

/// A crawl under way.
pub(super) struct SimulatedCrawl<'a> {
    world: &'a LabWorld,
    judge: &'a PageClassifier,
    terms: &'a RunTerms,
    span: Span,
    agenda: Agenda,
    copies: Copies<'a>,
    signals: Signals<'a>,
    score: RunScore<'a>,
    random: SplitMix64,
    /// What a fetch cost in the last round, on the mean.
    usual_cost: f64,
}

impl<'a> SimulatedCrawl<'a> {
    /// All pages that live when it begins were just fetched, free of charge.
    pub(super) fn new(
        world: &'a LabWorld,
        judge: &'a PageClassifier,
        terms: &'a RunTerms,
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
        SimulatedCrawl {
            world,
            judge,
            terms,
            span,
            agenda: Agenda::new(policy, pages, start),
            copies,
            signals: Signals::new(world, start, span.to, seed),
            score: RunScore::new(world, judge),
            random,
            usual_cost: 1.0,
        }
    }

    /// Crawls to the end within `budget`; `None` if stopped before.
    pub(super) fn run(
        mut self,
        budget: &FetchBudget,
        seed: u64,
        watch: &ProgressWatch<'_>,
    ) -> Option<RunOutcome> {
        self.warm_up();
        let Span { begin, to, .. } = self.span;
        let mut owed = 0.0;
        for number in 0u32.. {
            let start = begin + self.terms.round * f64::from(number);
            if start >= to {
                break;
            }
            if watch.stop.load(Ordering::Relaxed) {
                return None;
            }
            watch.rounds.fetch_add(1, Ordering::Relaxed);
            let length = self.terms.round.min(to - start);
            owed += budget.over(length, self.judge.live(self.world, start));
            owed = self.round(start, length, owed);
        }
        self.until(to);
        let made = |page: u32| self.agenda.pages()[page as usize].last;
        self.copies.close(made, to, &mut self.score);
        Some(self.score.outcome(seed))
    }

    /// Fetches every page every week, free of charge, until the crawl begins.
    fn warm_up(&mut self) {
        let start = self.span.begin - self.terms.warm;
        let weeks = (self.terms.warm / WEEK).round() as u32;
        for week in 0..weeks {
            let start = start + WEEK * f64::from(week);
            let pages = self.copies.len();
            self.agenda.begin_round(&Round { start, length: WEEK, fetches: pages });
            for page in 0..pages as u32 {
                let now = start + WEEK * f64::from(page) / pages as f64;
                self.until(now);
                if self.agenda.pages()[page as usize].alive {
                    self.fetch(page, now);
                }
            }
        }
    }

    /// Uses `owed` fetches, evenly in time, and returns what is left over or overspent.
    ///
    /// When the policy wants nothing, time goes by as if a fetch had found nothing.
    fn round(&mut self, start: Days, length: Days, owed: f64) -> f64 {
        let fetches = (owed / self.usual_cost).ceil().max(0.0) as usize;
        self.agenda.begin_round(&Round { start, length, fetches });
        let (mut spent, mut done, mut paid) = (0.0, 0, 0.0);
        while spent < owed && done < fetches {
            let now = start + length * spent / owed;
            self.until(now);
            if let Some(page) = self.agenda.next_page(now) {
                self.read_ahead();
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

    /// Loads the data of upcoming pages into the cache together, as the agenda does with their rows.
    fn read_ahead(&self) {
        for &page in self.agenda.upcoming_pages() {
            self.copies.touch(page);
            self.score.touch(page);
        }
    }

    /// Tells of the pages that were born and the signals that came up to `now`.
    fn until(&mut self, now: Days) {
        while let Some(fact) = self.world.pages.get(self.copies.len()).filter(|f| f.born <= now) {
            self.agenda.add_page(known(self.copies.len() as u32, fact), fact.born);
            self.copies.add(None);
        }
        while let Some((page, at)) = self.signals.next(now) {
            self.agenda.record_signal(page, at);
        }
    }

    /// Fetches a page, tells the policy, and returns the cost.
    fn fetch(&mut self, page: u32, now: Days) -> f64 {
        let fact = &self.world.pages[page as usize];
        let host = &self.world.hosts[fact.host as usize];
        let mut chance = |share: f32| share > 0.0 && self.random.uniform() < f64::from(share);
        let (mut visit, gain) = if chance(host.failure) {
            (Visit::new(now, Finding::Failed), Gain::Failed)
        } else {
            let made = self.agenda.pages()[page as usize].last;
            let look = self.copies.fetch(page, made, now, &mut self.score);
            let modified = look.modified.filter(|_| host.lastmod);
            (Visit { modified, ..Visit::new(now, look.found) }, look.gain)
        };
        if visit.finding == Finding::Same && chance(host.noise) {
            visit.finding = Finding::Changed;
        }
        let unchanged = visit.finding == Finding::Same;
        let cost = f64::from(fact.cost) * if unchanged { self.terms.cost_unchanged } else { 1.0 };
        self.score.fetched(page, now, cost, &gain);
        self.agenda.record_visit(page, &visit);
        cost
    }
}

/// What a crawler knows of a page before it has fetched it.
fn known(id: u32, fact: &PageFact) -> Page {
    let &PageFact { host, group, kin, weight, cost, .. } = fact;
    Page { host, group, kin, weight, cost, ..Page::new(id) }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize};
    use std::sync::{Arc, Mutex};

    use evercrawl_policy::allocate::{Demand, Objective, allocate};
    use evercrawl_policy::index::IntervalLimits;
    use evercrawl_policy::registry::{Setup, find};
    use evercrawl_policy::{NEVER, VisitEvidence};

    use super::*;
    use crate::row::ResultRow;
    use crate::testing::{listed, poisson};

    static NOBODY_STOPS: AtomicBool = AtomicBool::new(false);
    static NOBODY_LOOKS: ProgressWatch<'_> =
        ProgressWatch { stop: &NOBODY_STOPS, rounds: AtomicUsize::new(0) };

    fn crawled(
        world: &LabWorld,
        policy: Box<dyn Policy>,
        terms: &RunTerms,
        budget: &str,
    ) -> ResultRow {
        let judge = PageClassifier::new(world);
        let crawl = SimulatedCrawl::new(world, &judge, terms, policy, 1);
        crawl.run(&budget.parse().unwrap(), 1, &NOBODY_LOOKS).unwrap().row
    }

    type Visits = Arc<Mutex<Vec<(u32, VisitEvidence)>>>;

    /// Lets a policy do as it likes, and keeps its visits.
    struct Watched {
        policy: Box<dyn Policy>,
        visits: Visits,
    }

    impl Policy for Watched {
        fn record_discovery(&mut self, page: &mut Page, now: Days) {
            self.policy.record_discovery(page, now);
        }

        fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence) {
            self.visits.lock().unwrap().push((page.id, *seen));
            self.policy.record_visit(page, seen);
        }

        fn plan_round(&mut self, round: &Round, pages: &mut [Page]) -> bool {
            self.policy.plan_round(round, pages)
        }

        fn choose_pages(&mut self, now: Days, room: usize, pages: &[Page], out: &mut Vec<u32>) {
            self.policy.choose_pages(now, room, pages, out);
        }
    }

    /// The expected freshness between `from` and `to` of copies made at these times, and at 0.
    fn expected(rates: &[f64], visits: &[(u32, VisitEvidence)], from: Days, to: Days) -> f64 {
        let mut last = vec![0.0; rates.len()];
        let mut fresh = 0.0;
        let mut add = |rate: f64, last: Days, until: Days| {
            let fresh_until = |t: Days| -(-rate * (t - last)).exp_m1() / rate;
            fresh += fresh_until(until) - fresh_until(last.max(from).min(until));
        };
        let end = (0..rates.len() as u32).map(|page| (page, to));
        for (page, at) in visits.iter().map(|(page, seen)| (*page, seen.at)).chain(end) {
            add(rates[page as usize], last[page as usize], at);
            last[page as usize] = at;
        }
        fresh / (to - from) / rates.len() as f64
    }

    /// What is drawn varies by a percent; what is to be expected of the clairvoyant's visits does not.
    #[test]
    fn the_clairvoyant_reaches_the_analytic_optimum_and_no_more() {
        let mut random = SplitMix64::new(5);
        let rates: Vec<f64> = (0..600).map(|_| -random.uniform().ln() / 7.0).collect();
        let (from, to) = (140.0, 364.0);
        let world = poisson(3, &rates, from, to);
        for (budget, fetches_a_week) in
            [("20%/week", 120.0), ("50%/week", 300.0), ("200%/week", 1200.0)]
        {
            let setup = Setup { rates: Some(&rates), ..Setup::default() };
            let visits = Visits::default();
            let policy = find("clairvoyant").unwrap().make(&setup).unwrap();
            let watched = Watched { policy, visits: Arc::clone(&visits) };
            let row = crawled(&world, Box::new(watched), &RunTerms::default(), budget);
            let optimum = optimum(&rates, fetches_a_week / 7.0);
            let reached = expected(&rates, &visits.lock().unwrap(), from, to);
            assert!(
                (0.999..=1.0).contains(&(reached / optimum)),
                "{budget}: {reached} of {optimum}"
            );
            assert!(
                (row.scores.freshness - reached).abs() < 0.01,
                "{} drawn, {reached}",
                row.scores.freshness
            );
        }
    }

    /// The best freshness that `a_day` fetches can buy where rates are known and changes Poisson.
    fn optimum(rates: &[f64], a_day: f64) -> f64 {
        let demands: Vec<Demand> = rates.iter().map(|&rate| Demand::new(rate, 1.0)).collect();
        let best = allocate(Objective::Freshness, &demands, a_day, IntervalLimits::NONE);
        Objective::Freshness.value(&demands, &best.frequency)
    }

    /// Wants the page that it is told to, at every turn.
    struct Always(u32);

    impl Policy for Always {
        fn record_discovery(&mut self, page: &mut Page, _now: Days) {
            page.due = NEVER;
        }

        fn record_visit(&mut self, _page: &mut Page, _seen: &VisitEvidence) {}

        fn choose_pages(&mut self, _now: Days, _room: usize, _pages: &[Page], out: &mut Vec<u32>) {
            out.push(self.0);
        }
    }

    #[test]
    fn the_budget_is_spent_to_the_fraction_of_a_fetch() {
        let world = listed(vec![PageFact::PLAIN; 30], &[], 70.0);
        for (budget, fetches) in [("1.5/week", 15), ("5%/week", 15), ("3/hour", 5040)] {
            let row = crawled(&world, Box::new(Always(0)), &RunTerms::default(), budget);
            assert_eq!(row.fetches, fetches, "{budget}");
        }
    }

    #[test]
    fn what_finds_nothing_may_cost_less() {
        let daily: Vec<(u32, Days)> = (0..70).map(|day| (0, f64::from(day) + 0.5)).collect();
        let terms = RunTerms { cost_unchanged: 0.1, ..RunTerms::default() };
        let busy = crawled(
            &listed(vec![PageFact::PLAIN], &daily, 70.0),
            Box::new(Always(0)),
            &terms,
            "1/day",
        );
        let still = crawled(
            &listed(vec![PageFact::PLAIN], &[], 70.0),
            Box::new(Always(0)),
            &terms,
            "1/day",
        );
        for (row, fetches) in [(&busy, 65..=200), (&still, 690..=701)] {
            assert!((row.cost - 70.0).abs() < 8.0, "{}", row.cost);
            assert!(fetches.contains(&row.fetches), "{}", row.fetches);
        }
    }

    #[test]
    fn pages_are_known_from_birth_and_none_before() {
        let new = PageFact { born: 30.0, ..PageFact::PLAIN };
        let world = listed(vec![PageFact::PLAIN, new], &[], 70.0);
        let row = crawled(&world, Box::new(Always(1)), &RunTerms::default(), "1/day");
        assert_eq!((row.fetches, row.finds), (40, 1));
        assert!(row.scores.freshness > 0.98, "{}", row.scores.freshness);
    }

    #[test]
    fn failures_and_noise_are_as_often_as_the_host_says() {
        let mut world = listed(vec![PageFact::PLAIN], &[], 1000.0);
        (world.hosts[0].failure, world.hosts[0].noise) = (0.25, 0.5);
        let visits = Visits::default();
        let watched = Watched { policy: Box::new(Always(0)), visits: Arc::clone(&visits) };
        let row = crawled(&world, Box::new(watched), &RunTerms::default(), "4/day");
        assert_eq!((row.finds, row.changes), (0, 0), "noise is no change");
        let visits = visits.lock().unwrap();
        let share = |wanted: fn(&VisitEvidence) -> bool| {
            visits.iter().filter(|(_, seen)| wanted(seen)).count() as f64 / visits.len() as f64
        };
        let (failed, changed) =
            (share(|seen| seen.found == Finding::Failed), share(|seen| seen.changed));
        assert!(
            (failed - 0.25).abs() < 0.03 && (changed - 0.375).abs() < 0.03,
            "{failed} {changed}"
        );
    }

    #[test]
    fn a_warm_start_teaches_and_costs_nothing() {
        let weekly: Vec<(u32, Days)> =
            (0..30).map(|week| (0, f64::from(week) * 7.0 + 1.0)).collect();
        let mut world = listed(vec![PageFact::PLAIN; 20], &weekly, 200.0);
        (world.span.begin, world.span.from) = (140.0, 140.0);
        let terms = RunTerms { warm: 140.0, ..RunTerms::default() };
        let visits = Visits::default();
        let watched = Watched { policy: Box::new(Always(0)), visits: Arc::clone(&visits) };
        let row = crawled(&world, Box::new(watched), &terms, "1/day");
        let before = visits.lock().unwrap().iter().filter(|(_, seen)| seen.at < 140.0).count();
        assert_eq!(before, 20 * 20);
        assert!(row.fetches <= 60, "{}", row.fetches);
    }
}
