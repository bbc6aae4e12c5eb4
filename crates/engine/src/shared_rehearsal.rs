//! What do several walks make of one budget? Under a clock of their own, with the grants that they get live.

use std::time::Duration;

use evercrawl_model::Time;
use evercrawl_policy::allocate::shares::BudgetSplit;
use evercrawl_state::Store;

use crate::EngineError;
use crate::budget_office::{BudgetOffice, BudgetReport};
use crate::rehearsal::{Rehearsal, Web};

/// Grants that differ by less are not planned for anew.
const WORTH_PLANNING: f64 = 0.05;

/// Walks that share a budget.
pub struct SharedRehearsal<S, W> {
    /// The walks, each with its web.
    pub walks: Vec<Rehearsal<S, W>>,
    office: BudgetOffice,
    granted: Vec<f64>,
    report_every: Duration,
}

impl<S: Store, W: Web> SharedRehearsal<S, W> {
    /// Divides `rate`, in requests a second, over walks that report so often.
    pub fn new(
        walks: Vec<Rehearsal<S, W>>,
        split: BudgetSplit,
        rate: f64,
        report_every: Duration,
    ) -> Self {
        let now = walks.iter().map(Rehearsal::now).max().unwrap_or_default();
        let mut office = BudgetOffice::new(split, rate, now);
        (0..walks.len() as u64).for_each(|id| office.open_account(id, now));
        let granted = vec![0.0; walks.len()];
        SharedRehearsal { walks, office, granted, report_every }
    }

    /// What each walk was granted last, in requests a second.
    pub fn granted(&self) -> &[f64] {
        &self.granted
    }

    /// Crawls until `until`; `show` sees all walks after each round of reports.
    pub fn run(
        &mut self,
        until: Time,
        mut show: impl FnMut(&[Rehearsal<S, W>]),
    ) -> Result<(), EngineError> {
        while let Some(now) = self.walks.first().map(Rehearsal::now).filter(|now| *now < until) {
            self.report(now);
            for (id, (walk, granted)) in self.walks.iter_mut().zip(&mut self.granted).enumerate() {
                let grant = self.office.grant(id as u64);
                if (grant / *granted - 1.0).abs() > WORTH_PLANNING {
                    *granted = grant;
                    walk.set_budget(grant);
                }
            }
            let next = now.after(self.report_every).min(until);
            for walk in &mut self.walks {
                walk.run(next, self.report_every)?;
                walk.pass(next);
            }
            show(&self.walks);
        }
        Ok(())
    }

    fn report(&mut self, now: Time) {
        for (id, walk) in self.walks.iter().enumerate() {
            let report: BudgetReport = walk.walk.budget_report(self.office.turn(), now);
            self.office.report(id as u64, report, now);
        }
    }
}
