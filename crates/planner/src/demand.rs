//! What could this collection do with more or fewer requests, beside other collections that share a budget?

use std::time::Duration;

use evercrawl_model::Time;
use evercrawl_policy::allocate::shares::{BudgetDemand, prices};
use evercrawl_policy::registry::Goal;

use super::{Planner, to_days};

const DAY: f64 = 86_400.0;

impl Planner {
    /// By what a fetch is worth here: prices of two collections compare only where this is the same.
    pub fn currency(&self) -> (&'static str, Goal) {
        (self.plan.policy, self.plan.goal)
    }

    /// What known pages could do with requests, if the pages of all collections together were fetched once in `turn`.
    /// What new pages could do, and what is allowed, others add.
    pub fn demand(&self, turn: Duration, now: Time) -> BudgetDemand {
        let pages = self.sample.pages();
        let turn = turn.as_secs_f64() / DAY;
        let known = self.policy.visits_at(&prices(), pages, turn).unwrap_or_default();
        let scale = 1.0 / self.sample.share();
        // A page is not visited more often than its shortest interval allows.
        let most =
            self.sample.len() as f64 / self.plan.shortest.as_secs_f64().max(f64::MIN_POSITIVE);
        let known = known.into_iter().map(|a_day| scale * (a_day / DAY).min(most)).collect();
        BudgetDemand {
            known,
            weight: scale * self.weight_of_all(turn, now),
            usable: f64::INFINITY,
            limit: f64::INFINITY,
            ..BudgetDemand::default()
        }
    }

    /// The weights of all sampled pages, each by the chance that the page changes within `turn` days.
    fn weight_of_all(&self, turn: f64, now: Time) -> f64 {
        let today = to_days(now);
        let pages = self.sample.pages().iter().filter(|page| page.alive);
        let worth = pages.map(|page| {
            let rate = self.policy.outlook(page, today).map_or(1.0, |outlook| outlook.rate);
            f64::from(page.weight) * -(-rate * turn).exp_m1()
        });
        worth.sum()
    }
}
