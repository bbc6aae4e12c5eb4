//! `index`: a page is due when a fetch of it is worth as much as the next best use of the budget, by its own evidence
//! and that of related pages.
//!
//! The value of a fetch grows while a page waits; the page is due when the value reaches a threshold price μ, the
//! same for all pages. Two things are learned. First, how often a page changes: a Gamma belief from its own visits,
//! with a prior from its directory. Second, how much time has effectively passed for it: what was found since on
//! pages of its directory, its section, its hub and its translations stretches or shrinks the time it has waited, as
//! far as such hints proved right on its host. Where they prove worthless their weights go to 0, and the rule is that
//! of a page alone. Recently discovered pages are taken to change more often, by a learned factor.
//!
//! A fetch costs O(1): it reads four clocks, and updates four clocks, six weights and one belief. All that is kept
//! about a page is in its row. A page's due time is set as if its groups stayed quiet, and is checked again when it
//! has come. When a group's clock has jumped, [`Policy::take_changed_groups`] names the group, at most once a day, so
//! that the driver can recompute the due times of its members. A driver that does not loses little, since pages are
//! judged by the current clocks when they come up. A group takes about 400 bytes. Groups that were not visited for
//! half a year are forgotten, and beyond a quarter of a million of a kind new ones get no clock.

mod aim;
mod clock;
mod leads;
mod learn;
mod patience;
mod threshold;
mod valuation;
mod valuation_cache;
mod weights;
mod youth;

use evercrawl_estimate::Gamma;
use evercrawl_estimate::signal::{SignalClock, SignalSource, SignalSources};

use crate::index::IntervalLimits;
use crate::numbers::{ByNumber, Dense};
use crate::page::{Days, Finding, Group, NEVER, Page, PageKind, VisitEvidence};
use crate::persist::Persist;
use crate::policy::{Outlook, Policy, Round};
use crate::registry::Goal;
use crate::schedulers::beliefs::{Beliefs, ShapePrior, inherit_belief};
use crate::schedulers::price::{price, visits_at};
use crate::schedulers::signals::{self, ListReads};
use clock::{GroupClock, SlotRange};
use leads::LinkYields;
use patience::RevisitPatience;
use threshold::PriceController;
use valuation::{Bounds, EquivalentTimes, PageValuation};
use valuation_cache::{KnownInputs, LastValuation};
use weights::HintWeights;
use youth::YoungPages;

/// How many groups of each kind have a clock.
const MOST_GROUPS: usize = 1 << 18;

/// The kinds of group: directory, section, hub, base.
const KINDS: usize = 4;

/// How many changes' worth of evidence it takes to believe that a group's pace is unusual. Small, since batches are
/// large when they come; larger for sections, in which much happens by chance.
const KAPPA: [f64; KINDS] = [0.05, 0.1, 0.05, 0.05];

/// Overdue pages are ordered by their value: an e-fold counts as a day of delay, up to this many. New pages come
/// before all of them.
const LONGEST_DELAY: Days = 10.0;

/// A page fetched ahead of its time waits at most this many of its own intervals longer.
const MOST_AHEAD: f64 = 8.0;

/// The longest interval, in rounds over all pages.
const MOST_TURNS: f64 = 4.0;

/// How long a due time may stand before it is reconsidered.
const ASKED_AGAIN_EVERY: Days = 28.0;

/// The share of its interval that a new page waits for its first fetch, when the goal is coverage.
const FIRST_WAIT: f64 = 0.5;

/// The note with the time of a page's discovery.
const FOUND_AT: usize = 4;

/// The default policy: the index rule, with hints from related pages.
#[derive(Debug)]
pub struct IndexRule {
    goal: Goal,
    beliefs: Beliefs,
    clocks: [Dense<GroupClock>; KINDS],
    /// The weights of hints, by host.
    weights: Dense<HintWeights>,
    /// The weights for a host without evidence: those learned on other hosts.
    elsewhere: HintWeights,
    /// Trust in signal sources, by host.
    signal_sources: ByNumber<SignalSources>,
    /// When their lists were last read, by host.
    lists: ByNumber<ListReads>,
    /// New links that pages yield.
    leads: LinkYields,
    threshold: PriceController,
    /// How long pages wait that change too fast to be worth a fetch.
    patience: RevisitPatience,
    /// How much more often young pages change.
    youth: YoungPages,
    limits: IntervalLimits,
    /// How long it takes to fetch every page once; infinite until known.
    turn: Days,
    changed_groups: Vec<Group>,
    cached: LastValuation,
}

impl IndexRule {
    /// Starts from the prior `all` for every page, and keeps intervals within `limits`.
    pub fn new(goal: Goal, all: Gamma, limits: IntervalLimits) -> Self {
        IndexRule {
            goal,
            beliefs: Beliefs::new(all, ShapePrior::AsSeen)
                .with_max_certainty(aim::max_certainty(goal)),
            clocks: Default::default(),
            weights: Dense::default(),
            elsewhere: HintWeights::new(),
            signal_sources: ByNumber::default(),
            lists: ByNumber::default(),
            leads: LinkYields::default(),
            threshold: PriceController::default(),
            patience: RevisitPatience::default(),
            youth: YoungPages::default(),
            limits,
            turn: NEVER,
            changed_groups: Vec::new(),
            cached: LastValuation::default(),
        }
    }

    /// The rule with a prior of one change a month, and a visit at least every other year.
    pub(crate) fn for_goal(goal: Goal) -> Self {
        let limits = IntervalLimits { min: 0.0, max: 730.0 };
        IndexRule::new(goal, Gamma::with_mean(1.0 / 30.0, 1.0), limits)
    }

    /// The threshold price μ.
    pub fn threshold(&self) -> f64 {
        self.threshold.price()
    }

    /// Reads what an earlier run learned.
    fn read(&self, from: &mut &[u8]) -> Option<Self> {
        Some(IndexRule {
            goal: self.goal,
            beliefs: self.beliefs.read(from)?,
            clocks: [
                Persist::read(from)?,
                Persist::read(from)?,
                Persist::read(from)?,
                Persist::read(from)?,
            ],
            weights: Persist::read(from)?,
            elsewhere: Persist::read(from)?,
            signal_sources: Persist::read(from)?,
            leads: Persist::read(from)?,
            threshold: Persist::read(from)?,
            limits: self.limits,
            turn: Persist::read(from)?,
            patience: Persist::read(from)?,
            // Older versions did not write these.
            lists: if from.is_empty() { ByNumber::default() } else { Persist::read(from)? },
            youth: if from.is_empty() { YoungPages::default() } else { Persist::read(from)? },
            changed_groups: Vec::new(),
            cached: LastValuation::default(),
        })
    }

    /// Values a page at a moment. Ignores groups whose weight is 0.
    fn value_page<'a>(&'a self, page: &'a Page, now: Days) -> PageValuation<'a> {
        self.value_page_with(page, now, |weight| weight > 0.0)
    }

    /// The same with all groups: one with weight 0 must be able to prove itself, or it never could again.
    fn value_signalled_page<'a>(&'a self, page: &'a Page, now: Days) -> PageValuation<'a> {
        self.value_page_with(page, now, |_| true)
    }

    fn value_page_with<'a>(
        &'a self,
        page: &'a Page,
        now: Days,
        counts: impl Fn(f64) -> bool,
    ) -> PageValuation<'a> {
        let belief = self.belief(page, now);
        let weights = self.weights_of(page);
        let now = now.max(page.last);
        let mut gained = [0.0; KINDS];
        if now > page.last {
            for group in page.groups().filter(|group| counts(weights.weight_of(group.kind()))) {
                if let Some(clock) = self.clocks[group.kind()].get(group.number) {
                    gained[group.kind()] = clock.gained(page.last, now, KAPPA[group.kind()]);
                }
            }
        }
        let known = KnownInputs { belief, signal_clock: self.signal_clock(page, belief), gained };
        PageValuation { goal: self.goal, page, known, weights, now }
    }

    /// The valuation of a page that is visited: the cached one, if it came up at the same moment.
    fn cached_valuation<'a>(
        &'a self,
        page: &'a Page,
        now: Days,
    ) -> (PageValuation<'a>, EquivalentTimes) {
        if let Some((known, times)) = self.cached.take(page, now) {
            let weights = self.weights_of(page);
            return (PageValuation { goal: self.goal, page, known, weights, now }, times);
        }
        let valuation = self.value_signalled_page(page, now);
        let times = valuation.equivalent_times();
        (valuation, times)
    }

    fn weights_of(&self, page: &Page) -> &HintWeights {
        self.weights.get(page.host).unwrap_or(&self.elsewhere)
    }

    /// The belief about the change rate of `page` at its age.
    fn belief(&self, page: &Page, now: Days) -> Gamma {
        let belief = self.beliefs.posterior_of(page);
        let pace = if self.youth.is_young(discovered_at(page), now) {
            self.youth.change_factor()
        } else {
            1.0
        };
        Gamma::new(belief.shape(), belief.rate() / pace)
    }

    /// How time counts for `page`, given its signals.
    fn signal_clock(&self, page: &Page, belief: Gamma) -> SignalClock {
        // Signals may be older than a restart that lost the trust in their sources.
        let untried = signals::has_signal(page).then(SignalSources::default);
        let signal_sources =
            self.signal_sources.get(&page.host).filter(|_| signals::has_due_signal(page)).copied();
        let signal_sources = signal_sources.or(untried);
        signal_sources
            .map_or(SignalClock::PLAIN, |all| all.clock(&signals::signals_of(page), belief.mean()))
    }

    /// The time since any signal source of `host` was last read.
    fn lists_read_delay(&self, host: u32, now: Days) -> Days {
        let (Some(signal_sources), Some(read)) =
            (self.signal_sources.get(&host), self.lists.get(&host))
        else {
            return 0.0;
        };
        let unread_times = signal_sources
            .0
            .iter()
            .zip(read.read_times(now))
            .filter(|(trust, _)| trust.signals > 0.0);
        unread_times.map(|(_, unread)| unread).fold(NEVER, f64::min)
    }

    /// How long after its last visit `page` is worth `price`, if its groups stay quiet.
    fn wait(&self, page: &Page, now: Days, price: f64) -> Days {
        let bounds = self.bounds();
        bounds.or_longest(self.value_page(page, now).wait(price, bounds))
    }

    /// The user's limits, and the longest intervals that keep every page in the rotation.
    fn bounds(&self) -> Bounds {
        self.bounds_for(self.turn)
    }

    fn bounds_for(&self, turn: Days) -> Bounds {
        let turns = |count: f64| self.limits.max.min(count * turn);
        let limits = IntervalLimits { max: turns(MOST_TURNS), ..self.limits };
        Bounds { limits, restless: turns(self.patience.rounds()) }
    }

    /// When a new page is due, if the goal is coverage.
    ///
    /// Finding changes is not finding pages: for the other goals a new page counts as outdated and comes before all
    /// others; here it need not. But its first fetch finds no change, and no change can be found before it. So it
    /// waits less than if it had been fetched when it was discovered.
    fn first_due(&self, page: &Page, now: Days) -> Days {
        let found = Page { last: discovered_at(page), ..*page };
        let wait = self.wait(&found, now, self.threshold.price());
        due_after(&found, if wait > 0.0 { FIRST_WAIT * wait } else { wait })
    }

    fn due_at(&self, page: &Page, now: Days) -> Days {
        due_after(page, self.wait(page, now, self.threshold.price()))
    }

    /// The same for a page that came up: it may be visited at once, so its valuation is cached.
    fn due_by_cached_valuation(&self, page: &Page, now: Days) -> Days {
        let (valuation, bounds) = (self.value_signalled_page(page, now), self.bounds());
        let times = valuation.equivalent_times();
        self.cached.store(&valuation, times);
        let wait = valuation.wait_with_times(&times, self.threshold.price(), bounds);
        due_after(page, bounds.or_longest(wait))
    }

    /// When a page visited `at` is due again: counted from the visit, not from the last success, so that failures are
    /// not retried at once.
    ///
    /// When nothing is due, the page that comes next is fetched ahead of its time. Its next due time is counted from
    /// the one that it was ahead of. Otherwise the page with the shortest interval would come next again and again,
    /// and take all that is left of the budget.
    fn due_after_visit(&self, page: &Page, at: Days) -> Days {
        let due = self.due_at(&Page { last: at, ..*page }, at);
        let ahead = (page.due - at).min(MOST_AHEAD * (due - at));
        let longest = at + self.bounds().limits.max;
        let due = if page.due < NEVER && ahead > 0.0 && due < longest {
            (due + ahead).min(longest)
        } else {
            due
        };
        if due.is_nan() { 0.0 } else { due }
    }
}

fn due_after(page: &Page, wait: Days) -> Days {
    let due = page.last + wait;
    if due.is_nan() { page.last } else { due }
}

fn discovered_at(page: &Page) -> Days {
    f64::from(page.note[FOUND_AT])
}

impl Policy for IndexRule {
    fn record_discovery(&mut self, page: &mut Page, now: Days) {
        self.cached.forget();
        self.youth.record_discovery(now);
        // A page that was fetched before its discovery may have any age.
        page.note[FOUND_AT] = if page.is_known() { f32::NEG_INFINITY } else { now as f32 };
        page.due = match self.goal {
            _ if page.is_known() => self.due_at(page, now),
            Goal::Coverage => self.first_due(page, now),
            Goal::Freshness | Goal::Age => now - LONGEST_DELAY,
        };
    }

    fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence) {
        self.youth.record_discovery(seen.at);
        // When no discovery was recorded.
        if seen.elapsed.is_none() && page.note[FOUND_AT] == 0.0 {
            page.note[FOUND_AT] = seen.at as f32;
        }
        let signal_clock = seen.elapsed.filter(|_| seen.found != Finding::Failed);
        if let Some(elapsed) = signal_clock.filter(|elapsed| *elapsed > 0.0 && seen.at.is_finite())
        {
            self.learn(page, seen, elapsed);
        }
        self.cached.forget();
        if seen.succeeded() {
            signals::clear_signals(page);
            if page.kind != PageKind::Page {
                self.lists.entry(page.host).or_default().record_read(page.kind, seen.at);
            }
        }
        page.due = self.due_after_visit(page, seen.at);
    }

    fn record_move(&mut self, former: &Page, page: &mut Page) {
        inherit_belief(former, page);
    }

    fn record_signal(&mut self, page: &mut Page, signal_source: SignalSource, now: Days) {
        self.cached.forget();
        if signals::note(page, signal_source, now) {
            self.signal_sources.entry(page.host).or_default().record_signal(signal_source);
        }
        if page.is_known() {
            page.due = self.due_at(page, now);
        }
    }

    fn due(&self, page: &Page, now: Days) -> Days {
        match self.goal {
            _ if page.is_known() && now > page.last => self.due_by_cached_valuation(page, now),
            _ if page.is_known() => self.due_at(page, now),
            Goal::Coverage => self.first_due(page, now),
            Goal::Freshness | Goal::Age => page.due,
        }
    }

    fn reconsider_interval(&self) -> Days {
        ASKED_AGAIN_EVERY
    }

    fn prefetch_groups(&self, page: &Page, now: Days) {
        self.beliefs.touch(page);
        let ends = SlotRange::between(page.last, now);
        for group in page.groups() {
            if let Some(clock) = self.clocks[group.kind()].get(group.number) {
                clock.touch(ends);
            }
        }
    }

    /// Most members of a changed group are not due earlier: they were visited since, or are not worth a fetch even
    /// now.
    fn earlier_due(&self, page: &Page, group: Group, now: Days) -> Option<Days> {
        let clock = self.clocks[group.kind()].get(group.number)?;
        if clock.gained(page.last, now, KAPPA[group.kind()]) <= 0.0 {
            return None;
        }
        let (price, bounds) = (self.threshold.price(), self.bounds());
        let valuation = self.value_page(page, now);
        let then = page.due.max(valuation.now);
        if valuation.value_at(then) < price && then - page.last <= bounds.limits.max {
            return None;
        }
        let due = page.last + valuation.wait(price, bounds);
        (due < page.due).then_some(due)
    }

    fn plan_round(&mut self, round: &Round, pages: &mut [Page]) -> bool {
        self.cached.forget();
        let faster = self.beliefs.fit(pages);
        self.clocks.iter_mut().flat_map(Dense::iter_mut).for_each(|clock| clock.scale(faster));
        let alive = pages.iter().filter(|page| page.alive).count();
        self.turn = if round.fetches > 0 { alive as f64 / round.rate() } else { NEVER };
        // When all pages are fetched several times a week, a round is time enough. Without a budget, a fetch has no
        // price.
        let anew =
            round.fetches > 0 && self.threshold.expect((7.0 * round.rate()).min(alive as f64));
        if anew {
            let wait = |page: &Page, mu| self.wait(&Page { last: 0.0, ..*page }, 0.0, mu);
            self.threshold.set(price(round.rate(), pages, self.threshold.price(), wait));
        }
        for clocks in self.clocks.iter_mut().filter(|clocks| clocks.len() > MOST_GROUPS / 2) {
            clocks.retain(|clock| !clock.is_idle(round.start));
        }
        if !self.threshold.has_fallen() && !anew {
            return false;
        }
        for page in pages.iter_mut().filter(|page| page.alive && page.is_known()) {
            page.due = self.due_at(page, round.start);
        }
        true
    }

    fn take_changed_groups(&mut self, out: &mut Vec<Group>) {
        out.append(&mut self.changed_groups);
    }

    fn outlook(&self, page: &Page, now: Days) -> Option<Outlook> {
        let valuation = self.value_page(page, now);
        let fresh = valuation.freshness(self.lists_read_delay(page.host, now));
        page.is_known().then(|| Outlook { fresh, rate: valuation.known.belief.mean() })
    }

    fn signal_sources(&self, host: u32) -> Option<SignalSources> {
        self.signal_sources.get(&host).copied()
    }

    fn encode_learned(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.beliefs.write(&mut out);
        self.clocks.iter().for_each(|clocks| clocks.write(&mut out));
        self.weights.write(&mut out);
        self.elsewhere.write(&mut out);
        self.signal_sources.write(&mut out);
        self.leads.write(&mut out);
        self.threshold.write(&mut out);
        self.turn.write(&mut out);
        self.patience.write(&mut out);
        self.lists.write(&mut out);
        self.youth.write(&mut out);
        out
    }

    fn restore_learned(&mut self, learned: &[u8]) -> bool {
        let read = self.read(&mut &*learned);
        let done = read.is_some();
        if let Some(read) = read {
            *self = read;
        }
        done
    }

    fn visits_at(&self, prices: &[f64], pages: &[Page], turn: Days) -> Option<Vec<f64>> {
        let bounds = self.bounds_for(turn);
        let wait = |page: &Page, price| {
            let page = Page { last: 0.0, ..*page };
            bounds.or_longest(self.value_page(&page, 0.0).wait(price, bounds))
        };
        Some(visits_at(prices, pages, wait))
    }

    fn explain(&self, page: &Page, now: Days) -> Vec<(&'static str, f64)> {
        let valuation = self.value_page(page, now);
        let (hints, waited) = (valuation.hints(valuation.now), valuation.equivalent(valuation.now));
        let mut reasons = vec![
            ("rate", valuation.known.belief.mean()),
            ("rate low", valuation.known.belief.quantile(0.05)),
            ("rate high", valuation.known.belief.quantile(0.95)),
            ("waited", page.elapsed(now)),
            ("waited by its kin", waited),
            (
                "chance of a change",
                1.0 - valuation.freshness(self.lists_read_delay(page.host, now)),
            ),
            ("worth now", valuation.value_at(valuation.now)),
            ("new links a day", valuation.link_yield()),
            ("threshold", self.threshold.price()),
            ("interval", self.wait(page, now, self.threshold.price())),
        ];
        let kinds = ["pace of directory", "pace of section", "pace of hub", "pace of base"];
        let trusts = ["trust in directory", "trust in section", "trust in hub", "trust in base"];
        for group in page.groups() {
            let kind = group.kind();
            reasons.push((kinds[kind], hints[kind].exp()));
            reasons.push((trusts[kind], valuation.weights.weight_of(kind)));
        }
        reasons
    }
}

#[cfg(test)]
mod tests;
