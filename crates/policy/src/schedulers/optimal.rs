//! `optimal` and `clairvoyant`: the exact allocation of the budget over rates used as if they were exact.

use crate::allocate::{Demand, Objective, allocate};
use crate::index::IntervalLimits;
use crate::page::{Days, NEVER, Page, VisitEvidence};
use crate::policy::{Policy, Round};
use crate::schedulers::{advance, estimated_rate, mean, spread};

/// How many times as long as a turn of all pages an estimated page waits at most.
const TURNS: f64 = 10.0;

/// Fetches every page at the frequency that is optimal for its rate (B13), evenly spaced.
///
/// An estimate may be wrong, so a page that would get nothing by it still gets a tenth of its turn;
/// the clairvoyant drops such pages. Every round finds the one number μ that makes all frequencies meet the budget; a
/// page's own
/// frequency follows from it and from the page alone.
#[derive(Debug)]
pub struct Optimal {
    objective: Objective,
    rates: Rates,
    limits: IntervalLimits,
    threshold: f64,
}

/// Where the rates come from.
#[derive(Debug)]
enum Rates {
    /// Eq. 13, floored; this rate for pages that have not been checked.
    Estimated(f64),
    /// From the truth, page by page.
    Known(Vec<f64>),
}

impl Optimal {
    /// Estimates the rates by eq. 13, floored. Without the floor a page that did not change in a few
    /// short intervals would never be looked at again.
    pub fn estimated(objective: Objective) -> Self {
        Optimal::new(objective, Rates::Estimated(1.0))
    }

    /// Is given the true rate of every page: what learning is measured against.
    pub fn clairvoyant(objective: Objective, rates: Vec<f64>) -> Self {
        Optimal::new(objective, Rates::Known(rates))
    }

    fn new(objective: Objective, rates: Rates) -> Self {
        Optimal { objective, rates, limits: IntervalLimits::NONE, threshold: 0.0 }
    }

    fn rate(&self, page: &Page) -> f64 {
        match &self.rates {
            Rates::Estimated(usual) => estimated_rate(page).unwrap_or(*usual),
            Rates::Known(rates) => rates.get(page.id as usize).copied().unwrap_or_default(),
        }
    }

    fn interval(&self, page: &Page) -> Days {
        let price = self.threshold * cost(page);
        let frequency = self.objective.frequency(self.rate(page), f64::from(page.weight), price);
        self.limits.apply(1.0 / frequency)
    }

    /// Moves due times to the new frequencies: those that came into or fell out of the optimum, and
    /// those that lie more than an interval off.
    fn settle(&self, page: &mut Page, now: Days) {
        let interval = self.interval(page);
        if interval == NEVER {
            page.due = NEVER;
        } else if page.due == NEVER || (page.due - page.last).abs() > 2.0 * interval {
            page.due = (page.last + interval).max(now);
        }
    }
}

impl Policy for Optimal {
    fn record_discovery(&mut self, page: &mut Page, now: Days) {
        page.due = if page.is_known() { spread(page, self.interval(page)) } else { now };
    }

    fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence) {
        page.due = advance(page.due, seen.at, self.interval(page));
    }

    fn plan_round(&mut self, round: &Round, pages: &mut [Page]) -> bool {
        let alive = || pages.iter().filter(|page| page.alive);
        if let Rates::Estimated(usual) = &mut self.rates {
            *usual = mean(alive().filter_map(estimated_rate)).unwrap_or(*usual);
            self.limits.max = TURNS * alive().count() as f64 / round.rate();
        }
        let demand = |page: &Page| Demand {
            rate: self.rate(page),
            weight: f64::from(page.weight),
            cost: cost(page),
        };
        let demands: Vec<Demand> = alive().map(demand).collect();
        let first = self.threshold == 0.0;
        self.threshold = allocate(self.objective, &demands, round.rate(), self.limits).mu;
        for page in pages.iter_mut().filter(|page| page.alive && page.is_known()) {
            if first {
                page.due = spread(page, self.interval(page)).max(round.start);
            }
            self.settle(page, round.start);
        }
        true
    }

    fn explain(&self, page: &Page, _now: Days) -> Vec<(&'static str, f64)> {
        let (rate, interval) = (self.rate(page), self.interval(page));
        vec![("rate", rate), ("threshold", self.threshold), ("interval", interval)]
    }
}

fn cost(page: &Page) -> f64 {
    if page.cost > 0.0 { f64::from(page.cost) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::testing::{World, expected_freshness, golden};

    #[test]
    fn the_clairvoyant_reaches_the_analytic_optimum_and_no_more() {
        let mut random = SplitMix64::new(42);
        let rates: Vec<f64> = (0..500).map(|_| -random.uniform().ln()).collect();
        let Some(golden) = golden("exp500_B250") else { return };
        let optimum = golden["F_opt"].as_f64().unwrap();
        let policy = Optimal::clairvoyant(Objective::Freshness, rates.clone());
        let share = expected_freshness(Box::new(policy), &rates, 250, 40, 20) / optimum;
        assert!((0.999..=1.0 + 1e-9).contains(&share), "{share}");
    }

    #[test]
    fn even_with_five_pages_it_does_not_fall_into_taking_turns() {
        let rates = [1.0, 2.0, 3.0, 4.0, 5.0];
        let policy = Optimal::clairvoyant(Objective::Freshness, rates.to_vec());
        let freshness = expected_freshness(Box::new(policy), &rates, 5, 200, 50);
        assert!(freshness > 0.371, "{freshness}: taking turns gives 0.365, the optimum is 0.37389");
    }

    #[test]
    fn estimates_make_the_most_of_what_was_seen() {
        let often = (0..300).map(|day| (0, f64::from(day) * 2.0 + 0.3));
        let mut world = World::with_changes(10, often);
        let fetched = world.run(Box::new(Optimal::estimated(Objective::Freshness)), 100, 5);
        assert!(fetched.iter().all(|&n| n > 3), "{fetched:?}");
        assert!(fetched[0] > 2 * fetched[1], "{fetched:?}");
    }
}
