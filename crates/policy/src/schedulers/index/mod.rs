//! `index`: a page is due when a fetch of it is worth as much as the next best use of the budget, by
//! what its own visits and those of its kin have shown.
//!
//! The worth of a fetch grows while a page waits; it is due when that reaches a price μ, the same for
//! all. Two things are learned. How often a page changes: a Gamma belief of its own visits, which starts
//! from its directory's pages. And how much time has really passed for it: what was found since on pages
//! of its directory, its section, its hub and its translations stretches or shrinks the time it has
//! waited, as far as such hints proved right on its host. Where they prove worthless their weights go
//! to 0, and the rule is that of a page alone.
//!
//! A fetch costs O(1): a look at four clocks, and a step of four clocks, six weights and one belief. All
//! that is kept of a page stands in its row. A page's due time is set as if its kin stayed quiet. It is
//! looked at again when it comes up; and when a group's clock has jumped, [`Policy::stirred`] names the
//! group, at most once a day, so that whoever keeps the pages asks again for its members. A live crawler
//! finds those of a directory or section side by side in its store; one that does not ask at all loses
//! about a third of a point of freshness, no more, since pages that come up are judged by the clocks as
//! they stand. A group takes about 250 bytes; those that nobody visited for half a year are forgotten,
//! and beyond [`MOST_GROUPS`] of a kind new ones go without.

mod aim;
mod clock;
mod threshold;
mod weights;

use std::collections::HashMap;

use evercrawl_estimate::Gamma;
use evercrawl_estimate::signal::Trust;

use crate::index::{Limits, SignalClock};
use crate::page::{Days, Found, Group, Page, Seen};
use crate::policy::{Policy, Round};
use crate::registry::Goal;
use crate::schedulers::beliefs::{Beliefs, importance};
use aim::{time_to_worth, worth};
use clock::GroupClock;
use threshold::Threshold;
use weights::{HINTS, Hints, Weights};

/// How many groups of each kind have a clock.
const MOST_GROUPS: usize = 1 << 18;

/// The kinds of group: directory, section, hub, base.
const KINDS: usize = 4;

/// How many changes' worth of doubt it takes to believe that a group's pace is not the usual one. Small,
/// since batches are large when they come; larger for sections, in which much happens by chance.
const KAPPA: [f64; KINDS] = [0.05, 0.1, 0.05, 0.05];

/// A group runs at most this many e-folds faster or slower than usual.
const WIDEST: f64 = 4.0;

/// The waiting time at which the hint of waiting itself says nothing, and its bounds.
const USUAL_WAIT: Days = 28.0;
const WAIT_BOUND: f64 = 3.0;

/// Pages that should have been fetched already come in order of their worth: an e-fold counts as a day of
/// delay, up to this many. New pages come before all of them.
const LONGEST_DELAY: Days = 10.0;

/// How closely a due time is searched for, as a share of the wait.
const CLOSENESS: f64 = 0.02;
const HALVINGS: usize = 12;

/// Where the signals since a page's last visit are counted.
const SIGNALS: usize = 3;

/// The default policy: the index rule with the word of a page's kin.
#[derive(Debug)]
pub struct IndexRule {
    goal: Goal,
    beliefs: Beliefs,
    clocks: [HashMap<u32, GroupClock>; KINDS],
    /// What each host's groups have proved to be worth; a new host starts from what holds for all.
    weights: HashMap<u32, Weights>,
    signals: HashMap<u32, Trust>,
    threshold: Threshold,
    limits: Limits,
    stirred: Vec<Group>,
}

/// A page at a moment: all that its worth depends on.
struct Look<'a> {
    goal: Goal,
    page: &'a Page,
    belief: Gamma,
    weights: Weights,
    signals: SignalClock,
    now: Days,
    /// The time that has passed since its last visit by the clocks of its groups.
    passed: [Days; KINDS],
}

impl IndexRule {
    /// Starts from the belief `all` about any page, and keeps intervals within `limits`.
    pub fn new(goal: Goal, all: Gamma, limits: Limits) -> Self {
        IndexRule {
            goal,
            beliefs: Beliefs::new(all),
            clocks: Default::default(),
            weights: HashMap::new(),
            signals: HashMap::new(),
            threshold: Threshold::default(),
            limits,
            stirred: Vec::new(),
        }
    }

    /// Believes that a page changes about once in a month, and looks at each every other year at least.
    pub fn for_goal(goal: Goal) -> Self {
        let limits = Limits { min: 0.0, max: 730.0 };
        IndexRule::new(goal, Gamma::with_mean(1.0 / 30.0, 1.0), limits)
    }

    /// μ: what a fetch must be worth.
    pub fn threshold(&self) -> f64 {
        self.threshold.price()
    }

    fn look<'a>(&self, page: &'a Page, now: Days) -> Look<'a> {
        let belief = self.beliefs.of(page);
        let weights = self.weights.get(&page.host).copied().unwrap_or_else(Weights::new);
        let trust = self.signals.get(&page.host);
        let signals =
            trust.map_or(SignalClock::PLAIN, |trust| SignalClock::new(trust.rates(belief.mean())));
        let now = now.max(page.last);
        let mut passed = [now - page.last; KINDS];
        if now > page.last {
            for group in page.groups().filter(|group| weights.of(group.kind()) > 0.0) {
                if let Some(clock) = self.clocks[group.kind()].get(&group.number) {
                    passed[group.kind()] = clock.elapsed(page.last, now, KAPPA[group.kind()]);
                }
            }
        }
        Look { goal: self.goal, page, belief, weights, signals, now, passed }
    }

    /// How long after its last visit `page` is worth `price`, if all stays quiet.
    fn wait(&self, page: &Page, now: Days, price: f64) -> Days {
        let wait = self.look(page, now).wait(price, self.limits);
        if wait.is_nan() { self.limits.max } else { wait }
    }

    fn due_at(&self, page: &Page, now: Days, price: f64) -> Days {
        let due = page.last + self.wait(page, now, price);
        if due.is_nan() { page.last } else { due }
    }

    /// Learns from a visit that could tell, made `elapsed` after the one before.
    fn learn(&mut self, page: &mut Page, seen: &Seen, elapsed: Days) {
        let changed = seen.changed || seen.found == Found::Gone;
        let before = Page { last: seen.at - elapsed, ..*page };
        let look = self.look(&before, seen.at);
        let (hints, slope) = (look.hints(seen.at), look.slope(changed));
        let (rate, worth) = (look.belief.mean(), look.worth());
        let mut weights = look.weights;
        weights.learn(&hints, slope);
        self.weights.insert(page.host, weights);
        self.learn_groups(&before, seen.at, rate, changed, &weights);
        if let Some(trust) = self.signals.get_mut(&page.host) {
            *trust = trust.observe(page.note[SIGNALS] > 0.0, changed);
        }
        if seen.succeeded() {
            self.beliefs.learn(page, elapsed, changed, seen.age);
        }
        if elapsed < self.limits.max {
            self.threshold.follow(worth);
        }
    }

    fn learn_groups(&mut self, page: &Page, at: Days, rate: f64, changed: bool, weights: &Weights) {
        for group in page.groups() {
            let (kind, clocks) = (group.kind(), &mut self.clocks[group.kind()]);
            if clocks.len() >= MOST_GROUPS && !clocks.contains_key(&group.number) {
                continue;
            }
            let clock = clocks.entry(group.number).or_insert_with(|| GroupClock::new(at));
            clock.learn((page.last, at), rate, changed, KAPPA[kind]);
            if clock.stirs(at, weights.of(kind)) {
                self.stirred.push(group);
            }
        }
    }
}

impl Look<'_> {
    /// What the hints say at `time`, not before now, if the groups stay quiet until then.
    fn hints(&self, time: Days) -> Hints {
        let waited = (time - self.page.last).max(1e-6);
        let ahead = time - self.now;
        let mut hints = [0.0; HINTS];
        for (hint, passed) in hints.iter_mut().zip(self.passed) {
            let ratio = (passed + ahead) / waited;
            *hint = if ratio == 1.0 { 0.0 } else { ratio.ln().clamp(-WIDEST, WIDEST) };
        }
        hints[KINDS] = 0.5 * (waited / USUAL_WAIT).ln().clamp(-WAIT_BOUND, WAIT_BOUND);
        hints[KINDS + 1] = 1.0;
        hints
    }

    /// The time for which the page has waited at `time`, as its kin and signals make it.
    fn equivalent(&self, time: Days) -> Days {
        let waited = (time - self.page.last) * self.weights.stretch(&self.hints(time));
        self.signals.elapsed(waited, f64::from(self.page.note[SIGNALS]))
    }

    fn worth(&self) -> f64 {
        worth(self.goal, self.belief, importance(self.page), self.equivalent(self.now))
    }

    /// The chance that the page has changed.
    fn chance(&self) -> f64 {
        1.0 - self.belief.survival(self.equivalent(self.now))
    }

    /// The derivative of the log likelihood of what a visit finds by the logarithm of the time waited.
    fn slope(&self, changed: bool) -> f64 {
        let waited = self.equivalent(self.now);
        let hazard = self.belief.shape() * waited / (self.belief.rate() + waited);
        let same = self.belief.survival(waited);
        if changed { hazard * same / (1.0 - same).max(1e-9) } else { -hazard }
    }

    fn wait(&self, price: f64, limits: Limits) -> Days {
        let wanted = time_to_worth(self.goal, self.belief, importance(self.page), price);
        let waited = self.now - self.page.last;
        if waited > 0.0 && self.equivalent(self.now) >= wanted {
            let delay = (self.worth() / price).ln().clamp(0.0, LONGEST_DELAY);
            return limits.apply(waited) - delay;
        }
        let is_reached = |wait: Days| self.equivalent(self.page.last + wait) >= wanted;
        if waited >= limits.max || !is_reached(limits.max) {
            return limits.max;
        }
        limits.apply(first(is_reached, waited, limits.max))
    }
}

/// Where between `low` and `high` the answer turns to yes.
fn first(is_reached: impl Fn(Days) -> bool, mut low: Days, mut high: Days) -> Days {
    for _ in 0..HALVINGS {
        // In proportion, once there is one.
        let middle =
            if low > 0.5 { (low * high).sqrt() } else { 0.5 * (low + high.min(USUAL_WAIT)) };
        *(if is_reached(middle) { &mut high } else { &mut low }) = middle;
        if high < low * (1.0 + CLOSENESS) {
            break;
        }
    }
    high
}

impl Policy for IndexRule {
    fn discovered(&mut self, page: &mut Page, now: Days) {
        page.due = if page.is_known() {
            self.due_at(page, now, self.threshold.look_again())
        } else {
            now - LONGEST_DELAY
        };
    }

    fn visited(&mut self, page: &mut Page, seen: &Seen) {
        let told = seen.elapsed.filter(|_| seen.found != Found::Failed);
        if let Some(elapsed) = told.filter(|elapsed| *elapsed > 0.0 && seen.at.is_finite()) {
            self.learn(page, seen, elapsed);
        }
        if seen.succeeded() {
            page.note[SIGNALS] = 0.0;
        }
        // Counted from the visit, not from the last success: what failed is not tried again at once.
        let after = Page { last: seen.at, ..*page };
        page.due = self.due_at(&after, seen.at, self.threshold.look_again());
        if page.due.is_nan() {
            page.due = 0.0;
        }
    }

    fn signalled(&mut self, page: &mut Page, now: Days) {
        self.signals.entry(page.host).or_default();
        page.note[SIGNALS] += 1.0;
        if page.is_known() {
            page.due = self.due_at(page, now, self.threshold.look_again());
        }
    }

    fn due(&self, page: &Page, now: Days) -> Days {
        if page.is_known() { self.due_at(page, now, self.threshold.price()) } else { page.due }
    }

    fn plan(&mut self, round: &Round, pages: &mut [Page]) -> bool {
        self.beliefs.fit(pages);
        self.threshold.expect(7.0 * round.rate());
        for clocks in self.clocks.iter_mut().filter(|clocks| clocks.len() > MOST_GROUPS / 2) {
            clocks.retain(|_, clock| !clock.is_idle(round.start));
        }
        if !self.threshold.has_fallen() {
            return false;
        }
        for page in pages.iter_mut().filter(|page| page.alive && page.is_known()) {
            page.due = self.due_at(page, round.start, self.threshold.look_again());
        }
        true
    }

    fn stirred(&mut self, out: &mut Vec<Group>) {
        out.append(&mut self.stirred);
    }

    fn reasons(&self, page: &Page, now: Days) -> Vec<(&'static str, f64)> {
        let look = self.look(page, now);
        let hints = look.hints(look.now);
        let mut reasons = vec![
            ("rate", look.belief.mean()),
            ("rate low", look.belief.quantile(0.05)),
            ("rate high", look.belief.quantile(0.95)),
            ("waited", page.elapsed(now)),
            ("waited by its kin", look.equivalent(look.now)),
            ("chance of a change", look.chance()),
            ("worth now", look.worth()),
            ("threshold", self.threshold.price()),
            ("interval", self.wait(page, now, self.threshold.price())),
        ];
        let kinds = ["pace of directory", "pace of section", "pace of hub", "pace of base"];
        let trusts = ["trust in directory", "trust in section", "trust in hub", "trust in base"];
        for group in page.groups() {
            let kind = group.kind();
            reasons.push((kinds[kind], hints[kind].exp()));
            reasons.push((trusts[kind], look.weights.of(kind)));
        }
        reasons
    }
}
