//! What does a visit teach?

use super::clock::{GroupClock, WaitInterval};
use super::valuation::EquivalentTimes;
use super::valuation_cache::KnownInputs;
use super::weights::HintWeights;
use super::{IndexRule, KAPPA, MOST_GROUPS, discovered_at};
use crate::page::{Days, Finding, Page, PageKind, VisitEvidence};
use crate::schedulers::signals;

impl IndexRule {
    /// Learns from a visit that could tell, made `elapsed` after the one before.
    pub(super) fn learn(&mut self, page: &mut Page, seen: &VisitEvidence, elapsed: Days) {
        let changed = seen.changed || seen.found == Finding::Gone;
        let before = Page { last: seen.at - elapsed, ..*page };
        let (valuation, times) = self.cached_valuation(&before, seen.at);
        let EquivalentTimes { hints, waited, value } = times;
        let KnownInputs { belief, signal_clock, gained } = valuation.known;
        let slope = valuation.slope(waited, changed);
        let rate = belief.mean();
        // In a time in which somebody would have spoken of a change, fewer are to be expected.
        let usual =
            belief.rate_over(elapsed) * signal_clock.elapsed_without_signals(elapsed) / elapsed;
        let bounds = self.bounds();
        let given_up = valuation.is_given_up(waited, value, (self.threshold.price(), bounds));
        let time = observed_time(seen, elapsed, valuation.weights.stretch_by_groups(&hints));
        let mut weights = *valuation.weights;
        // A list changes whenever one of many pages does: that says little of any of them.
        let is_page = page.kind == PageKind::Page;
        // Surprises before anything is known of rates say nothing of who foresaw them.
        if is_page && self.beliefs.is_fitted() {
            weights.learn(&hints, slope);
            *self.weights.get_or_insert(page.host, || weights) = weights;
            self.elsewhere.shrink_towards(&weights);
        }
        // A page that was visited because somebody said that it changed tells of who said so, not of its kin: the
        // others of which nothing was said are not heard at the same time.
        if is_page && !signals::has_signal(page) {
            let waited = WaitInterval { from: before.last, to: seen.at, rate: usual, changed };
            self.learn_groups(page, &waited, &gained, &weights);
        }
        if is_page {
            self.learn_signal_sources(page, seen.at, elapsed, rate, changed);
        }
        if is_page && self.youth.is_young(discovered_at(page), seen.at) {
            self.youth
                .learn(self.beliefs.posterior_of(&before).rate_over(elapsed) * elapsed, changed);
        }
        if seen.succeeded() {
            self.leads.learn(page, seen, elapsed);
            self.beliefs.learn(page, |belief| signal_clock.learn(belief, time, changed, seen.age));
        }
        if given_up {
            self.patience.learn(changed);
        } else if elapsed < bounds.limits.max {
            self.threshold.follow(value);
        }
    }

    fn learn_signal_sources(
        &mut self,
        page: &Page,
        at: Days,
        elapsed: Days,
        rate: f64,
        changed: bool,
    ) {
        if let Some(signal_sources) = self.signal_sources.get_mut(&page.host) {
            let read = self.lists.get(&page.host).copied().unwrap_or_default();
            signal_sources.learn(
                &signals::signals_of(page),
                &read.read_times(at),
                elapsed,
                rate,
                changed,
            );
        }
    }

    fn learn_groups(
        &mut self,
        page: &Page,
        waited: &WaitInterval,
        gained: &[Days],
        weights: &HintWeights,
    ) {
        let at = waited.to;
        for group in page.groups() {
            let (kind, clocks) = (group.kind(), &mut self.clocks[group.kind()]);
            if clocks.len() >= MOST_GROUPS && clocks.get(group.number).is_none() {
                continue;
            }
            let clock = clocks.get_or_insert(group.number, || GroupClock::new(at));
            clock.learn(waited, gained[kind], KAPPA[kind]);
            if clock.has_risen(at, weights.weight_of(kind)) {
                self.changed_groups.push(group);
            }
        }
    }
}

/// In how much time a visit found what it found, where kin stretch the time by `by_groups`.
///
/// A change in a batch that kin told of says little of how often the page changes by itself: it was to be expected
/// of any page. When exactly it was, where that is said, needs no such doubt.
fn observed_time(seen: &VisitEvidence, elapsed: Days, by_groups: f64) -> Days {
    if seen.changed && seen.age.is_none() { elapsed * by_groups } else { elapsed }
}
