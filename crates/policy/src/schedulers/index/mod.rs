//! `index`: a page is due when a fetch of it is worth as much as the next best use of the budget, by
//! what its own visits and those of its kin have shown.
//!
//! The worth of a fetch grows while a page waits; it is due when that reaches a price μ, the same for
//! all. Two things are learned. How often a page changes: a Gamma belief of its own visits, which starts
//! from its directory's pages. And how much time has really passed for it: what was found since on pages
//! of its directory, its section, its hub and its translations stretches or shrinks the time it has
//! waited, as far as such hints proved right on its host. Where they prove worthless their weights go
//! to 0, and the rule is that of a page alone. Pages that were found lately are taken to change more often, by as
//! much as such pages were seen to.
//!
//! A fetch costs O(1): a look at four clocks, and a step of four clocks, six weights and one belief. All
//! that is kept of a page stands in its row. A page's due time is set as if its kin stayed quiet. It is
//! looked at again when it comes up; and when a group's clock has jumped, [`Policy::stirred`] names the
//! group, at most once a day, so that whoever keeps the pages asks again for its members. One that does
//! not ask loses little, since pages that come up are judged by the clocks as they stand. A group takes
//! about 400 bytes; those that nobody visited for half a year are forgotten, and beyond a quarter of a
//! million of a kind new ones go without.

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
use crate::schedulers::price::price;
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

/// How many changes' worth of doubt it takes to believe that a group's pace is not the usual one. Small,
/// since batches are large when they come; larger for sections, in which much happens by chance.
const KAPPA: [f64; KINDS] = [0.05, 0.1, 0.05, 0.05];

/// Pages that should have been fetched already come in order of their worth: an e-fold counts as a day of
/// delay, up to this many. New pages come before all of them.
const LONGEST_DELAY: Days = 10.0;

/// A page that came ahead of its time waits for so many of its own intervals more, at most.
const MOST_AHEAD: f64 = 8.0;

/// No page waits longer than so many turns of a schedule that treats all alike.
const MOST_TURNS: f64 = 4.0;

/// No page waits longer than this on what was known when it was told.
const ASKED_AGAIN_EVERY: Days = 28.0;

/// The share of its interval that a new page waits for its first fetch, where changes are what counts.
const FIRST_WAIT: f64 = 0.5;

/// Where it stands when a page was found.
const FOUND_AT: usize = 4;

/// The default policy: the index rule with the word of a page's kin.
#[derive(Debug)]
pub struct IndexRule {
    goal: Goal,
    beliefs: Beliefs,
    clocks: [Dense<GroupClock>; KINDS],
    /// What each host's groups have proved to be worth.
    weights: Dense<HintWeights>,
    /// The same for a host of which nothing is known: what they were worth on the others.
    elsewhere: HintWeights,
    /// Who says that pages changed, by host.
    signal_sources: ByNumber<SignalSources>,
    /// When their lists were last read, by host.
    lists: ByNumber<ListReads>,
    /// Where pages lead.
    leads: LinkYields,
    threshold: PriceController,
    /// How long pages go unseen that change too fast.
    patience: RevisitPatience,
    /// How much more often young pages change.
    youth: YoungPages,
    limits: IntervalLimits,
    /// How long it takes to fetch every page once; without end before that is known.
    turn: Days,
    stirred: Vec<Group>,
    glance: LastValuation,
}

impl IndexRule {
    /// Starts from the belief `all` about any page, and keeps intervals within `limits`.
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
            stirred: Vec::new(),
            glance: LastValuation::default(),
        }
    }

    /// Believes that a page changes about once in a month, and looks at each every other year at least.
    pub fn for_goal(goal: Goal) -> Self {
        let limits = IntervalLimits { min: 0.0, max: 730.0 };
        IndexRule::new(goal, Gamma::with_mean(1.0 / 30.0, 1.0), limits)
    }

    /// μ: what a fetch must be worth.
    pub fn threshold(&self) -> f64 {
        self.threshold.price()
    }

    /// The same rule with what was learned at another time.
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
            // These were not always kept.
            lists: if from.is_empty() { ByNumber::default() } else { Persist::read(from)? },
            youth: if from.is_empty() { YoungPages::default() } else { Persist::read(from)? },
            stirred: Vec::new(),
            glance: LastValuation::default(),
        })
    }

    /// A page at a moment. Groups whose word counts for nothing are not asked.
    fn value_page<'a>(&'a self, page: &'a Page, now: Days) -> PageValuation<'a> {
        self.value_page_with(page, now, |weight| weight > 0.0)
    }

    /// The same where every group is heard: one whose word is worth nothing has to prove itself, or it never
    /// could again.
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
        let known = KnownInputs { belief, told: self.signal_clock(page, belief), gained };
        PageValuation { goal: self.goal, page, known, weights, now }
    }

    /// A page that is visited as it was before, and what was seen of it: if that was at the same moment, when it
    /// came up.
    fn cached_valuation<'a>(
        &'a self,
        page: &'a Page,
        now: Days,
    ) -> (PageValuation<'a>, EquivalentTimes) {
        if let Some((known, sight)) = self.glance.take(page, now) {
            let weights = self.weights_of(page);
            return (PageValuation { goal: self.goal, page, known, weights, now }, sight);
        }
        let look = self.value_signalled_page(page, now);
        let sight = look.equivalent_times();
        (look, sight)
    }

    fn weights_of(&self, page: &Page) -> &HintWeights {
        self.weights.get(page.host).unwrap_or(&self.elsewhere)
    }

    /// What is believed of how often `page` changes at its age.
    fn belief(&self, page: &Page, now: Days) -> Gamma {
        let belief = self.beliefs.posterior_of(page);
        let pace = if self.youth.is_young(discovered_at(page), now) {
            self.youth.change_factor()
        } else {
            1.0
        };
        Gamma::new(belief.shape(), belief.rate() / pace)
    }

    /// How time runs for `page` by who would have said that it changed.
    fn signal_clock(&self, page: &Page, belief: Gamma) -> SignalClock {
        // Words can come from before a restart that forgot whom to trust.
        let untried = signals::has_signal(page).then(SignalSources::default);
        let signal_sources =
            self.signal_sources.get(&page.host).filter(|_| signals::has_due_signal(page)).copied();
        let signal_sources = signal_sources.or(untried);
        signal_sources
            .map_or(SignalClock::PLAIN, |all| all.clock(&signals::signals_of(page), belief.mean()))
    }

    /// For how long nobody has listened to any of those who say that pages of `host` changed.
    fn lists_read_delay(&self, host: u32, now: Days) -> Days {
        let (Some(signal_sources), Some(read)) =
            (self.signal_sources.get(&host), self.lists.get(&host))
        else {
            return 0.0;
        };
        let heard = signal_sources
            .0
            .iter()
            .zip(read.read_times(now))
            .filter(|(trust, _)| trust.signals > 0.0);
        heard.map(|(_, deaf)| deaf).fold(NEVER, f64::min)
    }

    /// How long after its last visit `page` is worth `price`, if all stays quiet.
    fn wait(&self, page: &Page, now: Days, price: f64) -> Days {
        let bounds = self.bounds();
        bounds.or_longest(self.value_page(page, now).wait(price, bounds))
    }

    /// The user's limits, and that no page is given up for good.
    fn bounds(&self) -> Bounds {
        let turns = |count: f64| self.limits.max.min(count * self.turn);
        let limits = IntervalLimits { max: turns(MOST_TURNS), ..self.limits };
        Bounds { limits, restless: turns(self.patience.rounds()) }
    }

    /// When a page is due that was never fetched, where changes are what counts.
    ///
    /// To find changes is not to find pages: a new page need not come before all others, as it does for the other
    /// goals, for which it is out of date until it is fetched. But its first fetch finds no change, and none can be found
    /// before it: so it does not wait as long as if it had been fetched when it was found.
    fn first_due(&self, page: &Page, now: Days) -> Days {
        let found = Page { last: discovered_at(page), ..*page };
        let wait = self.wait(&found, now, self.threshold.price());
        due_after(&found, if wait > 0.0 { FIRST_WAIT * wait } else { wait })
    }

    fn due_at(&self, page: &Page, now: Days) -> Days {
        due_after(page, self.wait(page, now, self.threshold.price()))
    }

    /// The same for a page that came up: it may be visited at once.
    fn due_by_cached_valuation(&self, page: &Page, now: Days) -> Days {
        let (look, bounds) = (self.value_signalled_page(page, now), self.bounds());
        let sight = look.equivalent_times();
        self.glance.store(&look, sight);
        let wait = look.wait_with_times(&sight, self.threshold.price(), bounds);
        due_after(page, bounds.or_longest(wait))
    }

    /// When a page is due again that was visited `at`: from the visit on, not from the last success, as what failed is
    /// not tried again at once.
    ///
    /// Where nothing is due, the page that comes next is fetched ahead of its time. Its next turn is counted from the
    /// one that it came ahead of: else the page of the shortest interval would be the next again and again, and all
    /// that the budget has left would go to it.
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
        self.glance.forget();
        self.youth.record_discovery(now);
        // One that was fetched before it was found here may be of any age.
        page.note[FOUND_AT] = if page.is_known() { f32::NEG_INFINITY } else { now as f32 };
        page.due = match self.goal {
            _ if page.is_known() => self.due_at(page, now),
            Goal::Coverage => self.first_due(page, now),
            Goal::Freshness | Goal::Age => now - LONGEST_DELAY,
        };
    }

    fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence) {
        self.youth.record_discovery(seen.at);
        // Where nobody told of it before.
        if seen.elapsed.is_none() && page.note[FOUND_AT] == 0.0 {
            page.note[FOUND_AT] = seen.at as f32;
        }
        let told = seen.elapsed.filter(|_| seen.found != Finding::Failed);
        if let Some(elapsed) = told.filter(|elapsed| *elapsed > 0.0 && seen.at.is_finite()) {
            self.learn(page, seen, elapsed);
        }
        self.glance.forget();
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
        self.glance.forget();
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

    /// Most members of a group that stirred are not due sooner for it: those visited since what happened, and
    /// those that would not be worth a fetch even then.
    fn earlier_due(&self, page: &Page, group: Group, now: Days) -> Option<Days> {
        let clock = self.clocks[group.kind()].get(group.number)?;
        if clock.gained(page.last, now, KAPPA[group.kind()]) <= 0.0 {
            return None;
        }
        let (price, bounds) = (self.threshold.price(), self.bounds());
        let look = self.value_page(page, now);
        let then = page.due.max(look.now);
        if look.value_at(then) < price && then - page.last <= bounds.limits.max {
            return None;
        }
        let due = page.last + look.wait(price, bounds);
        (due < page.due).then_some(due)
    }

    fn plan_round(&mut self, round: &Round, pages: &mut [Page]) -> bool {
        self.glance.forget();
        let faster = self.beliefs.fit(pages);
        self.clocks.iter_mut().flat_map(Dense::iter_mut).for_each(|clock| clock.scale(faster));
        let alive = pages.iter().filter(|page| page.alive).count();
        self.turn = if round.fetches > 0 { alive as f64 / round.rate() } else { NEVER };
        // Where all pages are fetched several times a week, a turn is time enough to follow.
        // Without anything to divide, a fetch has no price.
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
        out.append(&mut self.stirred);
    }

    fn outlook(&self, page: &Page, now: Days) -> Option<Outlook> {
        let look = self.value_page(page, now);
        let fresh = look.freshness(self.lists_read_delay(page.host, now));
        page.is_known().then(|| Outlook { fresh, rate: look.known.belief.mean() })
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

    fn explain(&self, page: &Page, now: Days) -> Vec<(&'static str, f64)> {
        let look = self.value_page(page, now);
        let (hints, waited) = (look.hints(look.now), look.equivalent(look.now));
        let mut reasons = vec![
            ("rate", look.known.belief.mean()),
            ("rate low", look.known.belief.quantile(0.05)),
            ("rate high", look.known.belief.quantile(0.95)),
            ("waited", page.elapsed(now)),
            ("waited by its kin", waited),
            ("chance of a change", 1.0 - look.freshness(self.lists_read_delay(page.host, now))),
            ("worth now", look.value_at(look.now)),
            ("new links a day", look.link_yield()),
            ("threshold", self.threshold.price()),
            ("interval", self.wait(page, now, self.threshold.price())),
        ];
        let kinds = ["pace of directory", "pace of section", "pace of hub", "pace of base"];
        let trusts = ["trust in directory", "trust in section", "trust in hub", "trust in base"];
        for group in page.groups() {
            let kind = group.kind();
            reasons.push((kinds[kind], hints[kind].exp()));
            reasons.push((trusts[kind], look.weights.weight_of(kind)));
        }
        reasons
    }
}

#[cfg(test)]
mod tests;
