//! What is the value of fetching this page now, and when does it reach the threshold price?

use evercrawl_estimate::quick;
use evercrawl_estimate::signal::SignalClock;

use super::aim::{time_to_value, value};
use super::leads;
use super::patience::is_restless;
use super::valuation_cache::KnownInputs;
use super::weights::{self, HINTS, HintWeights, Hints};
use super::{KINDS, LONGEST_DELAY};
use crate::index::IntervalLimits;
use crate::page::{Days, Page};
use crate::registry::Goal;
use crate::schedulers::beliefs::importance;

/// The bounds of a group's pace, in e-folds around the usual one: that something happened is often certain, that
/// nothing did hardly ever.
const SLOWEST: f64 = -1.0;
const FASTEST: f64 = 4.0;

/// The accuracy of the search for a due time, as a share of the wait, and its most steps.
const CLOSENESS: f64 = 0.02;
const STEPS: usize = 24;

/// The shortest time distinguished from 0: a tenth of a second.
const SHORTEST: Days = 1e-6;

/// The bounds of an interval, whatever the value of the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) limits: IntervalLimits,
    /// The longest interval of a page that changes too fast to be worth a fetch.
    pub(super) restless: Days,
}

impl Bounds {
    /// `wait`, or the longest interval if it is NaN.
    pub(super) fn or_longest(&self, wait: Days) -> Days {
        if wait.is_nan() { self.limits.max } else { wait }
    }
}

/// A page at a moment: all that its value depends on.
pub(super) struct PageValuation<'a> {
    pub(super) goal: Goal,
    pub(super) page: &'a Page,
    pub(super) known: KnownInputs,
    pub(super) weights: &'a HintWeights,
    pub(super) now: Days,
}

/// Intermediate results of a valuation.
#[derive(Clone, Copy, Debug)]
pub(super) struct EquivalentTimes {
    pub(super) hints: Hints,
    /// The equivalent time that the page has waited, given its groups and signals.
    pub(super) waited: Days,
    /// The value of a fetch.
    pub(super) value: f64,
}

impl PageValuation<'_> {
    /// Computes them for now.
    pub(super) fn equivalent_times(&self) -> EquivalentTimes {
        let hints = self.hints(self.now);
        let waited = self.equivalent_by(&hints, self.now);
        EquivalentTimes { hints, waited, value: self.value_after(waited, self.now) }
    }

    /// The hints at `time`, not before now, if the groups stay quiet until then.
    #[inline]
    pub(super) fn hints(&self, time: Days) -> Hints {
        self.hints_where(time, |_| true)
    }

    /// The hints with a positive weight.
    #[inline]
    fn hints_that_count(&self, time: Days) -> Hints {
        self.hints_where(time, |kind| self.weights.weight_of(kind) > 0.0)
    }

    #[inline]
    fn hints_where(&self, time: Days, matters: impl Fn(usize) -> bool) -> Hints {
        let waited = (time - self.page.last).max(SHORTEST);
        let mut hints = [0.0; HINTS];
        for (kind, gained) in self.known.gained.into_iter().enumerate() {
            if gained != 0.0 && matters(kind) {
                let faster = quick::ln((1.0 + gained / waited).max(0.0));
                hints[kind] = faster.clamp(SLOWEST, FASTEST);
            }
        }
        hints[KINDS] = weights::waiting_hint(waited);
        hints[KINDS + 1] = 1.0;
        hints
    }

    /// The equivalent time that the page has waited at `time`, given its groups and signals.
    pub(super) fn equivalent(&self, time: Days) -> Days {
        self.equivalent_by(&self.hints_that_count(time), time)
    }

    /// The same with known hints.
    pub(super) fn equivalent_by(&self, hints: &Hints, time: Days) -> Days {
        self.elapsed_by_hints(hints, time) + self.known.signal_clock.signal_jump()
    }

    /// The same without the jumps of signals.
    fn elapsed_by_hints(&self, hints: &Hints, time: Days) -> Days {
        self.known.signal_clock.elapsed_without_signals(time - self.page.last)
            * self.weights.stretch(hints)
    }

    /// The chance that the copy is still current, when signal sources were not read for the time `unread`. A signal's
    /// own chance counts as it is: an uncertain rate is no reason to doubt the signal.
    pub(super) fn freshness(&self, unread: Days) -> f64 {
        let waited = self.now - self.page.last;
        let unread = unread.min(waited);
        let signal_clock =
            self.known.signal_clock.elapsed_without_signals(waited - unread) + unread;
        let passed = signal_clock * self.weights.stretch(&self.hints_that_count(self.now));
        self.known.belief.survival(passed)
            * (-self.known.belief.mean() * self.known.signal_clock.signal_jump()).exp()
    }

    /// The value of a fetch at `time`: for the page's own change, and for new links.
    pub(super) fn value_at(&self, time: Days) -> f64 {
        self.value_after(self.equivalent(time), time)
    }

    /// The same for a known equivalent time.
    pub(super) fn value_after(&self, equivalent: Days, time: Days) -> f64 {
        let own = value(self.goal, self.known.belief, importance(self.page), equivalent);
        own + importance(self.page) * leads::value(self.link_yield(), time - self.page.last)
    }

    /// New links per day. They have no value when the goal is coverage, which counts changes only.
    pub(super) fn link_yield(&self) -> f64 {
        if self.goal == Goal::Coverage { 0.0 } else { leads::rate(self.page) }
    }

    /// The derivative of the log likelihood of a visit's result with respect to the hints. A signal's jump is not
    /// part of the time that they stretch.
    pub(super) fn slope(&self, waited: Days, changed: bool) -> f64 {
        let stretched = waited - self.known.signal_clock.signal_jump();
        let hazard = self.known.belief.shape() * stretched / (self.known.belief.rate() + waited);
        let same = self.known.belief.survival(waited);
        if changed { hazard * same / (1.0 - same).max(1e-9) } else { -hazard }
    }

    /// How long after its last visit the page is worth `price`, if its groups stay quiet.
    ///
    /// Pages that are worth it already are ordered by their value.
    pub(super) fn wait(&self, price: f64, bounds: Bounds) -> Days {
        if self.now > self.page.last {
            self.wait_with_times(&self.equivalent_times(), price, bounds)
        } else {
            self.search_wait(price, bounds)
        }
    }

    /// The same with intermediate results at hand, some time after the visit.
    pub(super) fn wait_with_times(
        &self,
        times: &EquivalentTimes,
        price: f64,
        bounds: Bounds,
    ) -> Days {
        let limits = bounds.limits;
        let waited = self.now - self.page.last;
        if times.value >= price {
            // A page that may not be fetched yet has no place in that order.
            let delay = if waited >= limits.min { quick::ln(times.value / price) } else { 0.0 };
            return limits.apply(waited) - delay.clamp(0.0, LONGEST_DELAY);
        }
        if waited >= limits.max {
            return self.longest(bounds);
        }
        let wanted = time_to_value(self.goal, self.known.belief, importance(self.page), price);
        let guess = waited * wanted / times.waited;
        let wait = self.search((price, wanted), guess, (waited, limits.max));
        if wait < limits.max { limits.apply(wait) } else { self.longest(bounds) }
    }

    /// The same for a page that was just visited.
    fn search_wait(&self, price: f64, bounds: Bounds) -> Days {
        let limits = bounds.limits;
        if limits.max <= 0.0 {
            return self.longest(bounds);
        }
        let wanted = time_to_value(self.goal, self.known.belief, importance(self.page), price);
        let plain = self.known.signal_clock == SignalClock::PLAIN && self.link_yield() <= 0.0;
        let wait = match plain.then(|| self.weights.invert_stretch(wanted)).flatten() {
            Some(wait) => wait.min(limits.max),
            None => self.search((price, wanted), wanted, (0.0, limits.max)),
        };
        if wait < limits.max { limits.apply(wait) } else { self.longest(bounds) }
    }

    /// Where within `range` the page is worth `price`, or has waited for `wanted`; searched for from `guess` on.
    fn search(&self, (price, wanted): (f64, Days), guess: Days, range: (Days, Days)) -> Days {
        // Whatever is searched for is nearly in proportion to time: a page's own worth is that of a waiting
        // time, and where it leads adds to the worth alone, which grows with the square.
        let reached = |wait: Days| match self.link_yield() > 0.0 {
            true => (self.value_at(self.page.last + wait) / price).sqrt(),
            false => self.equivalent(self.page.last + wait) / wanted,
        };
        first(reached, guess, range)
    }

    /// How long the page may wait if it is not worth a fetch before.
    fn longest(&self, Bounds { limits, restless }: Bounds) -> Days {
        let time = self.page.last + restless;
        let same = self.known.belief.survival(self.equivalent(time.max(self.now)));
        if is_restless(same) { restless.max(limits.min) } else { limits.max }
    }

    /// Whether the page, now that it is fetched, had been given up: it is not worth the price, and would certainly
    /// have changed.
    pub(super) fn is_given_up(
        &self,
        waited: Days,
        value: f64,
        (price, bounds): (f64, Bounds),
    ) -> bool {
        value < price
            && self.now - self.page.last >= (1.0 - CLOSENESS) * bounds.restless
            && is_restless(self.known.belief.survival(waited))
    }
}

/// The time between `low` and `most` when `reached`, which grows with time, becomes 1; `most` if it does not.
///
/// The share is nearly proportional to time. So from a first `guess` it takes a few steps to where it would be 1 if
/// it were exactly so, or to the middle when that leads out of the known range.
fn first(reached: impl Fn(Days) -> f64, mut guess: Days, (mut low, most): (Days, Days)) -> Days {
    let mut high = f64::INFINITY;
    for _ in 0..STEPS {
        if guess >= most && high > most || guess.is_nan() {
            guess = most;
        } else if !(guess > low && guess < high) {
            guess = (low.max(SHORTEST) * high.min(most)).sqrt();
        }
        let share = reached(guess);
        if guess >= most && (share < 1.0 || share.is_nan()) {
            return most;
        }
        *(if share < 1.0 { &mut low } else { &mut high }) = guess;
        if (share - 1.0).abs() < CLOSENESS || high < low * (1.0 + CLOSENESS) {
            return guess;
        }
        guess /= share;
    }
    high.min(most)
}
