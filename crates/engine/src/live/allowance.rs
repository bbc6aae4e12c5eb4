//! How many requests may a walk make: by its own budget, and by its part of a budget that all walks share?

use std::time::Duration;

use evercrawl_model::Time;

use super::roster::Membership;
use crate::budget::Bucket;

/// How often a walk reports what it could do with requests.
const REPORT_EVERY: Duration = Duration::from_secs(5);
/// At first more often: what it could do is found out from the first answers on.
const REPORT_FIRST: Duration = Duration::from_secs(1);
/// A report is followed by a pause of so many times what it took: at most a hundredth of a core.
const PAUSE: u32 = 100;
/// How long a walk that begins is not taken at what it used.
const BEGINNING: Duration = Duration::from_secs(15);
/// How much more than it used lately a walk may be granted that did not use up what it had.
const HEADROOM: f64 = 1.25;
/// Grants that differ by less are not planned for anew.
const WORTH_PLANNING: f64 = 0.05;

/// What a walk may request.
pub(super) struct Allowance {
    /// By its own budget.
    own: Option<Bucket>,
    /// By its grant of the budget of all.
    grant: Option<Bucket>,
    began: Time,
    /// When it last reported, how many requests it has made since, and whether it was held up by its grant.
    reported: Time,
    took: Duration,
    made: u64,
    is_held_up: bool,
}

impl Allowance {
    pub(super) fn new(own: Option<f64>, now: Time) -> Self {
        let own = own.map(|rate| Bucket::new(rate, now));
        Allowance {
            own,
            grant: None,
            began: now,
            reported: Time::EPOCH,
            took: Duration::ZERO,
            made: 0,
            is_held_up: false,
        }
    }

    /// Another budget of its own from `now` on.
    pub(super) fn set_own(&mut self, rate: f64, now: Time) {
        self.own = Some(match self.own.take() {
            Some(bucket) => bucket.at_rate(rate, now),
            None => Bucket::new(rate, now),
        });
    }

    /// Requests a second that it may make; `None`: as many as hosts allow.
    pub(super) fn rate(&self) -> Option<f64> {
        let rates = self.own.iter().chain(&self.grant).map(Bucket::rate);
        rates.reduce(f64::min)
    }

    /// When the next request may go; `None`: now.
    pub(super) fn wait(&mut self, membership: &Membership, now: Time) -> Option<Time> {
        if let Some(until) = self.own.as_ref().and_then(|own| own.wait(now)) {
            return Some(until);
        }
        let granted = self.grant.as_ref()?.wait(now);
        let until = membership.budget(|office| match granted {
            Some(until) if !office.has_spare(now) => Some(until),
            _ => office.wait(now),
        });
        self.is_held_up |= granted.is_some();
        until.flatten()
    }

    /// A request goes out.
    pub(super) fn take(&mut self, membership: &Membership, now: Time) {
        self.own.iter_mut().for_each(|own| own.take(now));
        let Some(grant) = &mut self.grant else { return };
        // Beyond its grant it uses what others leave.
        if grant.wait(now).is_none() {
            grant.take(now);
        }
        self.made += 1;
        membership.budget(|office| office.take(now));
    }

    /// Whether it has a part of a budget of all.
    pub(super) fn has_grant(&self) -> bool {
        self.grant.is_some()
    }

    /// Takes over what the walk was granted. True when that is to be planned for anew.
    pub(super) fn follow_grant(&mut self, granted: Option<f64>, now: Time) -> bool {
        let Some(rate) = granted else { return self.grant.take().is_some() };
        match &mut self.grant {
            // A rate that is a little off is kept, so that small changes do not add up unseen.
            Some(bucket) if (rate / bucket.rate() - 1.0).abs() <= WORTH_PLANNING => return false,
            Some(bucket) => bucket.set_rate(rate, now),
            None => self.grant = Some(Bucket::new(rate, now)),
        }
        true
    }

    /// What it may use by what it used, where it is time to report.
    pub(super) fn usable(&mut self, now: Time) -> Option<f64> {
        let is_young = now.since(self.began) < BEGINNING;
        let since = now.since(self.reported);
        let every = if is_young { REPORT_FIRST } else { REPORT_EVERY };
        if since < every.max(PAUSE * self.took) {
            return None;
        }
        let used = self.made as f64 / since.as_secs_f64();
        let knows_no_better = is_young || self.is_held_up;
        (self.reported, self.made, self.is_held_up) = (now, 0, false);
        Some(if knows_no_better { f64::INFINITY } else { HEADROOM * used })
    }

    /// A report took so long.
    pub(super) fn report_took(&mut self, took: Duration) {
        self.took = took;
    }

    /// Requests a second of its own budget.
    pub(super) fn limit(&self) -> f64 {
        self.own.as_ref().map_or(f64::INFINITY, Bucket::rate)
    }
}
