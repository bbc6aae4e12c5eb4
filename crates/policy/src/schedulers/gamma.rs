//! `gamma`: a page is due when a fetch of it is worth a threshold, by its own visits and its
//! directory's. What `index` is measured against.

use evercrawl_estimate::Gamma;
use evercrawl_estimate::signal::{Clock, SignalSource, SignalSources};

use crate::index::{Limits, Rate, due_after, index};
use crate::numbers::ByNumber;
use crate::page::{Days, Page, Seen};
use crate::policy::{Policy, Round};
use crate::schedulers::beliefs::{Alike, Beliefs, importance, inherit};
use crate::schedulers::price::price;
use crate::schedulers::words;

/// A page is first looked at again when its index reaches this share of the threshold: the threshold
/// may fall so far while the page waits, and the page still comes up in time.
const BAND: f64 = 0.7;

/// The least number of fetches over which the threshold is corrected.
const MEMORY: f64 = 1000.0;

/// The plain index rule over a Gamma belief of each page's change rate.
///
/// The worth of a fetch grows while a page waits ([`Gamma::index`]); it is due when that reaches μ,
/// the same for all. μ is the price at which as many pages come due as the budget allows, corrected
/// slowly by what pages are in fact worth when they are fetched. What is not known of a page comes from
/// its group, and of a group from all pages; what a page's own visits showed is kept apart from that, so
/// that it stays when the prior moves. O(1) a fetch, four numbers a page.
#[derive(Debug)]
pub struct GammaIndex {
    beliefs: Beliefs,
    /// μ; 0 before the first plan.
    threshold: f64,
    /// The highest μ by which a waiting page may have been put off.
    highest: f64,
    /// What the planned price is multiplied by.
    correction: f64,
    /// Pages that share the budget.
    pages: f64,
    limits: Limits,
    signal_sources: ByNumber<SignalSources>,
}

impl GammaIndex {
    /// Starts from the belief `all` about any page, and keeps intervals within `limits`.
    pub fn new(all: Gamma, limits: Limits) -> Self {
        GammaIndex {
            beliefs: Beliefs::new(all, Alike::Hardly),
            threshold: 0.0,
            highest: 0.0,
            correction: 1.0,
            pages: 0.0,
            limits,
            signal_sources: ByNumber::default(),
        }
    }

    /// μ: what a fetch must be worth.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The belief about `page`: its own evidence on its group's prior.
    pub fn belief(&self, page: &Page) -> Gamma {
        self.beliefs.of(page)
    }

    /// How long after its last visit `page` is worth `threshold`, if no more signals come.
    fn wait(&self, page: &Page, threshold: f64) -> Days {
        let belief = self.belief(page);
        let equivalent = due_after(Rate::Believed(belief), importance(page), threshold);
        self.limits.apply(self.clock(page, belief).reached_after(equivalent))
    }

    fn clock(&self, page: &Page, belief: Gamma) -> Clock {
        let signal_sources = self.signal_sources.get(&page.host).filter(|_| words::are_due(page));
        signal_sources.map_or(Clock::PLAIN, |all| all.clock(&words::of(page), belief.mean()))
    }

    /// Learns from a visit that could tell, and returns what the fetch was worth beforehand.
    fn learn(&mut self, page: &mut Page, elapsed: Days, changed: bool, age: Option<Days>) -> f64 {
        let belief = self.belief(page);
        let told = self.clock(page, belief);
        let before = told.passed(elapsed) + told.jumped();
        self.beliefs.learn(page, |belief| told.learn(belief, elapsed, changed, age));
        if let Some(signal_sources) =
            self.signal_sources.get_mut(&page.host).filter(|_| words::are_due(page))
        {
            signal_sources.learn(&words::of(page), &words::HEARD, elapsed, belief.mean(), changed);
        }
        index(Rate::Believed(belief), importance(page), before)
    }

    /// Moves μ towards what this fetch was worth: pages fetched late show that μ is too low, pages
    /// fetched ahead of their time that it is too high.
    fn steer(&mut self, worth: f64) {
        if worth > 0.0 && self.threshold > 0.0 {
            let miss = (worth / self.threshold).ln().clamp(-1.0, 1.0);
            let step = (miss / self.pages.max(MEMORY)).exp();
            self.correction = (self.correction * step).clamp(0.25, 4.0);
            self.threshold *= step;
            self.highest = self.highest.max(self.threshold);
        }
    }

    /// Where μ fell out of the band, pages that wait would come up too late: moves them.
    fn sweep(&mut self, pages: &mut [Page]) -> bool {
        let fallen = self.threshold < BAND * self.highest;
        let first = self.highest <= 0.0;
        self.highest = self.highest.max(self.threshold);
        if fallen || first {
            self.highest = self.threshold;
            for page in pages.iter_mut().filter(|page| page.alive && page.is_known()) {
                page.due = page.last + self.wait(page, BAND * self.threshold);
            }
            return true;
        }
        false
    }
}

impl Default for GammaIndex {
    /// Believes that a page changes about once in a month, and looks at each once a year at least.
    fn default() -> Self {
        GammaIndex::new(Gamma::with_mean(1.0 / 30.0, 1.0), Limits { min: 0.0, max: 365.0 })
    }
}

impl Policy for GammaIndex {
    fn discovered(&mut self, page: &mut Page, now: Days) {
        page.due =
            if page.is_known() { page.last + self.wait(page, BAND * self.threshold) } else { now };
    }

    fn visited(&mut self, page: &mut Page, seen: &Seen) {
        if let Some((elapsed, changed)) = seen.check() {
            let worth = self.learn(page, elapsed, changed, seen.age);
            if elapsed < self.limits.max {
                self.steer(worth);
            }
        }
        if seen.succeeded() {
            words::settle(page);
        }
        page.due = seen.at + self.wait(page, BAND * self.threshold);
    }

    fn moved(&mut self, former: &Page, page: &mut Page) {
        inherit(former, page);
    }

    fn signalled(&mut self, page: &mut Page, signal_source: SignalSource, now: Days) {
        if words::note(page, signal_source, now) {
            self.signal_sources.entry(page.host).or_default().hear(signal_source);
        }
        if page.is_known() {
            page.due = page.last + self.wait(page, BAND * self.threshold);
        }
    }

    fn due(&self, page: &Page, _now: Days) -> Days {
        if page.is_known() { page.last + self.wait(page, self.threshold) } else { page.due }
    }

    fn plan(&mut self, round: &Round, pages: &mut [Page]) -> bool {
        self.beliefs.fit(pages);
        self.pages = pages.iter().filter(|page| page.alive).count() as f64;
        if round.rate() > 0.0 && self.pages > 0.0 {
            let wait = |page: &Page, mu| self.wait(page, mu);
            self.threshold = self.correction * price(round.rate(), pages, self.threshold, wait);
        }
        self.sweep(pages)
    }

    fn reasons(&self, page: &Page, now: Days) -> Vec<(&'static str, f64)> {
        let belief = self.belief(page);
        let told = self.clock(page, belief);
        let elapsed = told.passed(page.elapsed(now)) + told.jumped();
        vec![
            ("rate", belief.mean()),
            ("rate low", belief.quantile(0.05)),
            ("rate high", belief.quantile(0.95)),
            ("worth now", index(Rate::Believed(belief), importance(page), elapsed)),
            ("threshold", self.threshold),
            ("interval", self.wait(page, self.threshold)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::{Demand, Objective, allocate};
    use crate::page::{Found, Visit};
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
        let best = allocate(Objective::Freshness, &demands, 40.0, Limits::NONE);
        let optimum = Objective::Freshness.value(&demands, &best.frequency);
        for wrong in [0.1, 1.0, 10.0] {
            let prior = Gamma::with_mean(wrong / 14.0, 1.0);
            let policy = GammaIndex::new(prior, Limits { min: 0.0, max: 365.0 });
            let reached = expected_freshness(Box::new(policy), &rates, 40, 200, 100) / optimum;
            assert!((0.97..1.0).contains(&reached), "prior x{wrong}: {reached}");
        }
    }

    #[test]
    fn the_threshold_lets_as_many_pages_come_due_as_the_budget_allows() {
        for (rate, budget) in [(0.003, 4), (0.3, 4), (0.03, 40)] {
            let limits = Limits { min: 0.0, max: 365.0 };
            let mut policy = GammaIndex::new(Gamma::with_mean(rate, 1.0), limits);
            let mut pages = world().pages;
            policy.plan(&Round { start: 0.0, length: 1.0, fetches: budget }, &mut pages);
            let flow: f64 = pages.iter().map(|p| 1.0 / policy.wait(p, policy.threshold())).sum();
            assert!((flow / budget as f64 - 1.0).abs() < 0.02, "{flow} of {budget}");
        }
    }

    #[test]
    fn late_pages_raise_the_threshold_and_early_ones_lower_it() {
        let mut policy = GammaIndex { threshold: 1.0, ..GammaIndex::default() };
        policy.steer(2.0);
        assert!(policy.threshold > 1.0 && policy.correction > 1.0);
        (0..9).for_each(|_| policy.steer(0.5));
        assert!(policy.threshold < 1.0);
        policy.steer(f64::NAN);
        (0..1_000_000).for_each(|_| policy.steer(1e9));
        assert_eq!(policy.correction, 4.0);
    }

    #[test]
    fn heavier_and_cheaper_pages_are_due_sooner() {
        let policy = GammaIndex { threshold: 1.0, ..GammaIndex::default() };
        let wait = |weight, cost| policy.wait(&Page { weight, cost, ..Page::new(0) }, 1.0);
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
            policy.signalled(&mut page, SignalSource::Push, now);
            let seen = page.record(&Visit::new(now, Found::Changed));
            policy.visited(&mut page, &seen);
        }
        let before = page.due;
        policy.signalled(&mut page, SignalSource::Push, 190.5);
        assert!(page.due < before, "{} {before}", page.due);
    }
}
