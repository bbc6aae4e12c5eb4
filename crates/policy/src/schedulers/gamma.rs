//! `gamma`: a page is due when a fetch of it is worth a threshold, by its own visits and its
//! directory's. What `index` is measured against.

use evercrawl_estimate::Gamma;
use evercrawl_estimate::signal::{SignalClock, SignalSource, SignalSources};

use crate::index::{IntervalLimits, Rate, due_after, index_value};
use crate::numbers::ByNumber;
use crate::page::{Days, Page, VisitEvidence};
use crate::policy::{Policy, Round};
use crate::schedulers::beliefs::{Beliefs, ShapePrior, importance, inherit_belief};
use crate::schedulers::price::{price, visits_at};
use crate::schedulers::signals;

/// A page is first checked again when its index reaches this share of the threshold: the threshold may fall so far
/// while the page waits, and the page still comes up in time.
const BAND: f64 = 0.7;

/// The least number of fetches over which the threshold is corrected.
const MEMORY: f64 = 1000.0;

/// The plain index rule over a Gamma belief of each page's change rate.
///
/// The value of a fetch grows while a page waits ([`Gamma::index`]); the page is due when that reaches μ, the same
/// for all pages. μ is the price at which as many pages come due as the budget allows, corrected slowly by the value
/// that pages have when they are fetched. What is unknown about a page comes from its group, and about a group from
/// all pages. A page's own evidence is kept apart, so that it stays when the prior moves. O(1) per fetch, four
/// numbers per page.
#[derive(Debug)]
pub(crate) struct GammaIndex {
    beliefs: Beliefs,
    /// The threshold price μ; 0 before the first plan.
    threshold: f64,
    /// The highest μ by which a queued page may have been put off.
    highest: f64,
    /// The correction factor of the planned price.
    correction: f64,
    /// Pages that share the budget.
    pages: f64,
    limits: IntervalLimits,
    signal_sources: ByNumber<SignalSources>,
}

impl GammaIndex {
    /// Starts from the prior `all` for every page, and keeps intervals within `limits`.
    pub(crate) fn new(all: Gamma, limits: IntervalLimits) -> Self {
        GammaIndex {
            beliefs: Beliefs::new(all, ShapePrior::Hardly),
            threshold: 0.0,
            highest: 0.0,
            correction: 1.0,
            pages: 0.0,
            limits,
            signal_sources: ByNumber::default(),
        }
    }

    /// The threshold price μ.
    #[cfg(test)]
    fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The belief about `page`: its own evidence on its group's prior.
    pub(crate) fn belief(&self, page: &Page) -> Gamma {
        self.beliefs.posterior_of(page)
    }

    /// How long after its last visit `page` is worth `threshold`, if no more signals come.
    fn wait_until_value(&self, page: &Page, threshold: f64) -> Days {
        let belief = self.belief(page);
        let equivalent = due_after(Rate::Believed(belief), importance(page), threshold);
        self.limits.apply(self.clock(page, belief).time_to_equivalent(equivalent))
    }

    fn clock(&self, page: &Page, belief: Gamma) -> SignalClock {
        let signal_sources =
            self.signal_sources.get(&page.host).filter(|_| signals::has_due_signal(page));
        signal_sources
            .map_or(SignalClock::PLAIN, |all| all.clock(&signals::signals_of(page), belief.mean()))
    }

    /// Learns from a visit that could tell, and returns the value of the fetch beforehand.
    fn learn(&mut self, page: &mut Page, elapsed: Days, changed: bool, age: Option<Days>) -> f64 {
        let belief = self.belief(page);
        let told = self.clock(page, belief);
        let before = told.elapsed_without_signals(elapsed) + told.signal_jump();
        self.beliefs.learn(page, |belief| told.learn(belief, elapsed, changed, age));
        if let Some(signal_sources) =
            self.signal_sources.get_mut(&page.host).filter(|_| signals::has_due_signal(page))
        {
            signal_sources.learn(
                &signals::signals_of(page),
                &signals::HEARD,
                elapsed,
                belief.mean(),
                changed,
            );
        }
        index_value(Rate::Believed(belief), importance(page), before)
    }

    /// Moves μ towards the value of this fetch: pages fetched late show that μ is too low, pages fetched ahead of
    /// their time that it is too high.
    fn adjust_threshold(&mut self, worth: f64) {
        if worth > 0.0 && self.threshold > 0.0 {
            let miss = (worth / self.threshold).ln().clamp(-1.0, 1.0);
            let step = (miss / self.pages.max(MEMORY)).exp();
            self.correction = (self.correction * step).clamp(0.25, 4.0);
            self.threshold *= step;
            self.highest = self.highest.max(self.threshold);
        }
    }

    /// Recomputes due times when μ left its band, since queued pages would come up too late.
    fn recompute_due_times(&mut self, pages: &mut [Page]) -> bool {
        let fallen = self.threshold < BAND * self.highest;
        let first = self.highest <= 0.0;
        self.highest = self.highest.max(self.threshold);
        if fallen || first {
            self.highest = self.threshold;
            for page in pages.iter_mut().filter(|page| page.alive && page.is_known()) {
                page.due = page.last + self.wait_until_value(page, BAND * self.threshold);
            }
            return true;
        }
        false
    }
}

impl Default for GammaIndex {
    /// A prior of one change a month, and a visit at least once a year.
    fn default() -> Self {
        GammaIndex::new(Gamma::with_mean(1.0 / 30.0, 1.0), IntervalLimits { min: 0.0, max: 365.0 })
    }
}

impl Policy for GammaIndex {
    fn record_discovery(&mut self, page: &mut Page, now: Days) {
        page.due = if page.is_known() {
            page.last + self.wait_until_value(page, BAND * self.threshold)
        } else {
            now
        };
    }

    fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence) {
        if let Some((elapsed, changed)) = seen.check() {
            let worth = self.learn(page, elapsed, changed, seen.age);
            if elapsed < self.limits.max {
                self.adjust_threshold(worth);
            }
        }
        if seen.succeeded() {
            signals::clear_signals(page);
        }
        page.due = seen.at + self.wait_until_value(page, BAND * self.threshold);
    }

    fn record_move(&mut self, former: &Page, page: &mut Page) {
        inherit_belief(former, page);
    }

    fn record_signal(&mut self, page: &mut Page, signal_source: SignalSource, now: Days) {
        if signals::note(page, signal_source, now) {
            self.signal_sources.entry(page.host).or_default().record_signal(signal_source);
        }
        if page.is_known() {
            page.due = page.last + self.wait_until_value(page, BAND * self.threshold);
        }
    }

    fn due(&self, page: &Page, _now: Days) -> Days {
        if page.is_known() {
            page.last + self.wait_until_value(page, self.threshold)
        } else {
            page.due
        }
    }

    fn plan_round(&mut self, round: &Round, pages: &mut [Page]) -> bool {
        self.beliefs.fit(pages);
        self.pages = pages.iter().filter(|page| page.alive).count() as f64;
        if round.rate() > 0.0 && self.pages > 0.0 {
            let wait = |page: &Page, mu| self.wait_until_value(page, mu);
            self.threshold = self.correction * price(round.rate(), pages, self.threshold, wait);
        }
        self.recompute_due_times(pages)
    }

    fn visits_at(&self, prices: &[f64], pages: &[Page], _turn: Days) -> Option<Vec<f64>> {
        Some(visits_at(prices, pages, |page, price| self.wait_until_value(page, price)))
    }

    fn explain(&self, page: &Page, now: Days) -> Vec<(&'static str, f64)> {
        let belief = self.belief(page);
        let told = self.clock(page, belief);
        let elapsed = told.elapsed_without_signals(page.elapsed(now)) + told.signal_jump();
        vec![
            ("rate", belief.mean()),
            ("rate low", belief.quantile(0.05)),
            ("rate high", belief.quantile(0.95)),
            ("worth now", index_value(Rate::Believed(belief), importance(page), elapsed)),
            ("threshold", self.threshold),
            ("interval", self.wait_until_value(page, self.threshold)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::{Demand, Objective, allocate};
    use crate::page::{Finding, Visit};
    use crate::random::SplitMix64;
    use crate::testing::{World, expected_freshness};

    /// Page 0 changes every 3 days, page 1 once, the others never.
    fn world() -> World {
        let often = (0..80).map(|i| (0, f64::from(i) * 3.0 + 0.7));
        World::with_changes(20, often.chain([(1, 50.0)]))
    }

    #[test]
    fn what_changes_is_fetched_more_often_and_nothing_is_forgotten() {
        let fetched = world().run(Box::new(GammaIndex::default()), 200, 4);
        assert!(fetched.iter().all(|&n| n >= 5), "{fetched:?}");
        let others = fetched[2..].iter().sum::<usize>() as f64 / 18.0;
        assert!(fetched[0] as f64 > 3.0 * others, "{fetched:?}");
        assert_eq!(fetched.iter().sum::<usize>(), 800, "the budget is spent");
    }

    #[test]
    fn learns_to_do_nearly_as_well_as_one_who_knows_the_rates() {
        let mut random = SplitMix64::new(3);
        let rates: Vec<f64> =
            (0..400).map(|_| (3.0 * random.uniform() - 1.5).exp() / 14.0).collect();
        let demands: Vec<Demand> = rates.iter().map(|&rate| Demand::new(rate, 1.0)).collect();
        let best = allocate(Objective::Freshness, &demands, 40.0, IntervalLimits::NONE);
        let optimum = Objective::Freshness.value(&demands, &best.frequency);
        for wrong in [0.1, 1.0, 10.0] {
            let prior = Gamma::with_mean(wrong / 14.0, 1.0);
            let policy = GammaIndex::new(prior, IntervalLimits { min: 0.0, max: 365.0 });
            let reached = expected_freshness(Box::new(policy), &rates, 40, 200, 100) / optimum;
            assert!((0.97..1.0).contains(&reached), "prior x{wrong}: {reached}");
        }
    }

    #[test]
    fn the_threshold_lets_as_many_pages_come_due_as_the_budget_allows() {
        for (rate, budget) in [(0.003, 4), (0.3, 4), (0.03, 40)] {
            let limits = IntervalLimits { min: 0.0, max: 365.0 };
            let mut policy = GammaIndex::new(Gamma::with_mean(rate, 1.0), limits);
            let mut pages = world().pages;
            policy.plan_round(&Round { start: 0.0, length: 1.0, fetches: budget }, &mut pages);
            let flow: f64 =
                pages.iter().map(|p| 1.0 / policy.wait_until_value(p, policy.threshold())).sum();
            assert!((flow / budget as f64 - 1.0).abs() < 0.02, "{flow} of {budget}");
        }
    }

    #[test]
    fn late_pages_raise_the_threshold_and_early_ones_lower_it() {
        let mut policy = GammaIndex { threshold: 1.0, ..GammaIndex::default() };
        policy.adjust_threshold(2.0);
        assert!(policy.threshold > 1.0 && policy.correction > 1.0);
        (0..9).for_each(|_| policy.adjust_threshold(0.5));
        assert!(policy.threshold < 1.0);
        policy.adjust_threshold(f64::NAN);
        (0..1_000_000).for_each(|_| policy.adjust_threshold(1e9));
        assert_eq!(policy.correction, 4.0);
    }

    #[test]
    fn heavier_and_cheaper_pages_are_due_sooner() {
        let policy = GammaIndex { threshold: 1.0, ..GammaIndex::default() };
        let wait =
            |weight, cost| policy.wait_until_value(&Page { weight, cost, ..Page::new(0) }, 1.0);
        assert!(wait(2.0, 1.0) < wait(1.0, 1.0));
        assert!(wait(1.0, 2.0) > wait(1.0, 1.0));
        assert_eq!(wait(0.0, 1.0), 365.0, "worth nothing: as late as allowed");
        assert!(wait(1.0, 0.0).is_finite());
    }

    #[test]
    fn signals_that_told_the_truth_bring_a_page_forward() {
        let mut policy = GammaIndex { threshold: 1.0, ..GammaIndex::default() };
        let mut page = Page { last: 0.0, ..Page::new(0) };
        for visit in 1..20 {
            let now = f64::from(visit) * 10.0;
            policy.record_signal(&mut page, SignalSource::Push, now);
            let seen = page.record(&Visit::new(now, Finding::Changed));
            policy.record_visit(&mut page, &seen);
        }
        let before = page.due;
        policy.record_signal(&mut page, SignalSource::Push, 190.5);
        assert!(page.due < before, "{} {before}", page.due);
    }
}
