//! How is a budget of fetches divided over pages whose rates are known?
//!
//! [`exact`] answers it for every objective: at the optimum all pages give the same gain per unit of
//! cost, μ, so one number is sought. [`hosts`] adds a cap per host, [`push`] pages that announce
//! their changes, [`azar`] the one case with a closed form. The others are the survey's methods:
//! [`groups`] (Carney), [`polling`] (Coffman, Liu and Weber), [`renewal`], [`slots`] and
//! [`discrete`] (Wolf et al.), [`epochs`] (WebFountain). [`shares`] divides a budget over whole collections, of which each
//! knows its own pages only.

mod age_curve;
pub mod azar;
pub mod discrete;
pub mod epochs;
pub mod exact;
pub mod groups;
pub mod hosts;
mod objective;
mod parallel;
pub mod polling;
pub mod push;
pub mod renewal;
pub mod shares;
pub mod slots;
#[cfg(test)]
mod testing;
mod threshold;

pub use exact::allocate;
pub use objective::Objective;

/// What a page asks of the budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// Change rate λ.
    pub rate: f64,
    /// Weight w: what its freshness is worth.
    pub weight: f64,
    /// What one fetch costs, c, in units of the budget. Not positive means 1.
    pub cost: f64,
}

impl Demand {
    /// Creates the demand of a page whose fetches cost 1.
    pub fn new(rate: f64, weight: f64) -> Self {
        Self { rate, weight, cost: 1.0 }
    }

    /// The cost, made sensible.
    fn price(&self) -> f64 {
        if self.cost > 0.0 && self.cost.is_finite() { self.cost } else { 1.0 }
    }
}

/// A division of the budget.
#[derive(Debug, Clone, PartialEq)]
pub struct Allocation {
    /// The gain per unit of cost that every fetched page gives: the index rule's threshold.
    ///
    /// 0 where the budget is more than the pages can use, infinite where it is nothing.
    pub mu: f64,
    /// Fetches per unit of time, in the order of the pages.
    pub frequency: Vec<f64>,
}
