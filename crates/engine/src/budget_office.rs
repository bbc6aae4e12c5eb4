//! How much of a budget that all walks share may each of them use?
//!
//! Each walk reports now and then what it could do with requests; from all reports together each walk gets a grant, and
//! the grants add up to the budget. A walk plans by its grant. While others leave requests unused, it may make more.

use std::time::Duration;

use evercrawl_model::Time;
use evercrawl_policy::allocate::shares::{BudgetDemand, BudgetSplit, divide};
use evercrawl_policy::registry::Goal;

use crate::budget::Bucket;

/// How often grants are made anew, at most.
const GRANT_EVERY: Duration = Duration::from_secs(2);

/// The share of the budget that all walks get alike, so that each finds out what it could do with more.
const EQUAL: f64 = 0.01;

/// What a walk reports.
#[derive(Clone, Debug)]
pub(crate) struct BudgetReport {
    pub(crate) demand: BudgetDemand,
    /// Known pages.
    pub(crate) held: f64,
    /// By what a fetch is worth: only equals compare.
    pub(crate) currency: (&'static str, Goal),
}

/// Divides a budget over walks.
pub(crate) struct BudgetOffice {
    split: BudgetSplit,
    rate: f64,
    bucket: Bucket,
    accounts: Vec<Account>,
    granted_at: Time,
}

/// A walk, what it reported last, and what it was granted.
struct Account {
    id: u64,
    report: Option<BudgetReport>,
    grant: f64,
}

impl BudgetOffice {
    pub(crate) fn new(split: BudgetSplit, rate: f64, now: Time) -> Self {
        let (bucket, accounts) = (Bucket::new(rate, now), Vec::new());
        BudgetOffice { split, rate, bucket, accounts, granted_at: now }
    }

    /// The same walks with another budget from `now` on.
    pub(crate) fn set_rate(&mut self, rate: f64, now: Time) {
        self.rate = rate;
        self.bucket.set_rate(rate, now);
        self.grant_anew(now);
    }

    /// A walk joins.
    pub(crate) fn open_account(&mut self, id: u64, now: Time) {
        self.accounts.push(Account { id, report: None, grant: 0.0 });
        self.grant_anew(now);
    }

    /// A walk leaves.
    pub(crate) fn close_account(&mut self, id: u64, now: Time) {
        self.accounts.retain(|account| account.id != id);
        self.grant_anew(now);
    }

    /// A walk reports what it could do with requests.
    pub(crate) fn report(&mut self, id: u64, report: BudgetReport, now: Time) {
        let Some(account) = self.accounts.iter_mut().find(|account| account.id == id) else {
            return;
        };
        let is_first = account.report.replace(report).is_none();
        if is_first || now.since(self.granted_at) >= GRANT_EVERY {
            self.grant_anew(now);
        }
    }

    /// What a walk may use, in requests a second.
    pub(crate) fn grant(&self, id: u64) -> f64 {
        let account = self.accounts.iter().find(|account| account.id == id);
        account.map_or(0.0, |account| account.grant)
    }

    /// How long it takes to visit the known pages of all walks once.
    pub(crate) fn turn(&self) -> Duration {
        let held = self.accounts.iter().filter_map(|account| account.report.as_ref());
        let held: f64 = held.map(|report| report.held).sum();
        Duration::try_from_secs_f64(held / self.rate).unwrap_or(Duration::MAX)
    }

    /// When the next request may go, of any walk; `None`: now.
    pub(crate) fn wait(&self, now: Time) -> Option<Time> {
        self.bucket.wait(now)
    }

    /// Whether others leave so much unused that a walk may go beyond its grant.
    pub(crate) fn has_spare(&self, now: Time) -> bool {
        self.bucket.level(now) >= (1.0 + self.rate / 2.0).max(1.0)
    }

    /// A request goes out.
    pub(crate) fn take(&mut self, now: Time) {
        self.bucket.take(now);
    }

    /// Divides the budget. Who has not reported yet gets an equal part of it.
    fn grant_anew(&mut self, now: Time) {
        self.granted_at = now;
        let count = self.accounts.len() as f64;
        let silent = self.accounts.iter().filter(|account| account.report.is_none()).count() as f64;
        let rest = self.rate * (1.0 - silent / count.max(1.0));
        let reports = self.accounts.iter().filter_map(|account| account.report.as_ref());
        let demands: Vec<BudgetDemand> = reports.map(|report| report.demand.clone()).collect();
        let mut grants = divide(self.split_of_all(), rest, &demands).into_iter();
        let equal = self.rate / count;
        for account in &mut self.accounts {
            let grant = account.report.as_ref().and_then(|_| grants.next()).unwrap_or(equal);
            account.grant = grant + EQUAL * (equal - grant);
        }
    }

    /// By price only where all prices mean the same.
    fn split_of_all(&self) -> BudgetSplit {
        let mut currencies =
            self.accounts.iter().filter_map(|account| Some(account.report.as_ref()?.currency));
        let first = currencies.next();
        let same = currencies.all(|currency| Some(currency) == first);
        if same || self.split == BudgetSplit::Equal { self.split } else { BudgetSplit::Weight }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evercrawl_policy::allocate::shares::prices;

    const START: Time = Time::from_secs(1_000_000);

    fn report(visits: f64) -> BudgetReport {
        let demand = BudgetDemand {
            known: prices().map(|price| visits / price).to_vec(),
            weight: visits,
            usable: f64::INFINITY,
            limit: f64::INFINITY,
            ..BudgetDemand::default()
        };
        BudgetReport { demand, held: visits, currency: ("index", Goal::Freshness) }
    }

    fn grants(office: &BudgetOffice) -> Vec<f64> {
        let parts = office.accounts.iter().map(|account| (1000.0 * account.grant).round() / 1000.0);
        parts.collect()
    }

    #[test]
    fn grants_follow_reports_joins_and_leaves_and_add_up() {
        let mut office = BudgetOffice::new(BudgetSplit::Price, 12.0, START);
        (1..=3).for_each(|id| office.open_account(id, START));
        assert_eq!(grants(&office), [4.0, 4.0, 4.0]);
        office.report(1, report(1.0), START);
        office.report(2, report(3.0), START);
        assert_eq!(grants(&office), [2.02, 5.98, 4.0]);
        office.report(3, report(2.0), START);
        assert_eq!(grants(&office), [2.02, 5.98, 4.0]);
        assert_eq!(office.turn(), Duration::from_millis(500));
        office.close_account(2, START);
        assert_eq!(grants(&office), [4.02, 7.98]);
        office.set_rate(3.0, START);
        assert_eq!(grants(&office), [1.005, 1.995]);
        assert_eq!((office.grant(3), office.grant(2)), (office.accounts[1].grant, 0.0));
    }

    #[test]
    fn reports_change_grants_now_and_then() {
        let mut office = BudgetOffice::new(BudgetSplit::Price, 4.0, START);
        (1..=2).for_each(|id| office.open_account(id, START));
        (1..=2).for_each(|id| office.report(id, report(1.0), START));
        office.report(1, report(3.0), START.after(GRANT_EVERY / 2));
        assert_eq!(grants(&office), [2.0, 2.0]);
        office.report(1, report(3.0), START.after(GRANT_EVERY));
        assert_eq!(grants(&office), [2.99, 1.01]);
        let other = BudgetReport { currency: ("uniform", Goal::Freshness), ..report(1.0) };
        office.report(2, other, START.after(2 * GRANT_EVERY));
        assert_eq!(grants(&office), [2.99, 1.01], "by weight");
    }

    #[test]
    fn what_nobody_uses_may_be_used_beyond_a_grant() {
        let mut office = BudgetOffice::new(BudgetSplit::Price, 10.0, START);
        assert!(!office.has_spare(START));
        let later = START.after(Duration::from_secs(1));
        assert!(office.has_spare(later));
        (0..10).for_each(|_| office.take(later));
        assert!(!office.has_spare(later) && office.wait(later).is_none());
        office.take(later);
        assert!(office.wait(later).is_some());
    }
}
