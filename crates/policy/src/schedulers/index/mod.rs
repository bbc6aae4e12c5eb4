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
//! group, at most once a day, so that whoever keeps the pages asks again for its members. One that does
//! not ask loses little, since pages that come up are judged by the clocks as they stand. A group takes
//! about 400 bytes; those that nobody visited for half a year are forgotten, and beyond a quarter of a
//! million of a kind new ones go without.

mod aim;
mod clock;
mod leads;
mod threshold;
mod weights;

use evercrawl_estimate::Gamma;
use evercrawl_estimate::signal::{Clock, Teller, Tellers};

use crate::index::Limits;
use crate::kept::Kept;
use crate::numbers::ByNumber;
use crate::page::{Days, Found, Group, NEVER, Page, Seen};
use crate::policy::{Outlook, Policy, Round};
use crate::registry::Goal;
use crate::schedulers::beliefs::{Alike, Beliefs, importance, inherit};
use crate::schedulers::price::price;
use crate::schedulers::words;
use aim::{time_to_worth, worth};
use clock::GroupClock;
use leads::Leads;
use threshold::Threshold;
use weights::{HINTS, Hints, Weights};

/// How many groups of each kind have a clock.
const MOST_GROUPS: usize = 1 << 18;

/// The kinds of group: directory, section, hub, base.
const KINDS: usize = 4;

/// How many changes' worth of doubt it takes to believe that a group's pace is not the usual one. Small,
/// since batches are large when they come; larger for sections, in which much happens by chance.
const KAPPA: [f64; KINDS] = [0.05, 0.1, 0.05, 0.05];

/// By how many e-folds a group may run slower or faster than usual: that something happened is often
/// certain, that nothing did hardly ever.
const SLOWEST: f64 = -1.0;
const FASTEST: f64 = 4.0;

/// The waiting time at which the hint of waiting itself says nothing, and its bounds.
const USUAL_WAIT: Days = 28.0;
const WAIT_BOUND: f64 = 3.0;

/// Pages that should have been fetched already come in order of their worth: an e-fold counts as a day of
/// delay, up to this many. New pages come before all of them.
const LONGEST_DELAY: Days = 10.0;

/// No page waits longer than so many turns of a schedule that treats all alike. Pages that change too
/// fast to be worth a fetch would else be given up for good, and those that have calmed down since
/// (news of last week, a thread that fell silent) with them: nobody would notice. Where four in ten
/// are given up this costs a tenth of the budget, and next to nothing where few are.
const MOST_TURNS: f64 = 4.0;

/// How closely a due time is searched for, as a share of the wait, and in how many steps.
const CLOSENESS: f64 = 0.02;
const STEPS: usize = 24;

/// The shortest time that is told from none: a tenth of a second.
const SHORTEST: Days = 1e-6;

/// Where it stands when a page was found.
const FOUND_AT: usize = 4;

/// The default policy: the index rule with the word of a page's kin.
#[derive(Debug)]
pub struct IndexRule {
    goal: Goal,
    beliefs: Beliefs,
    clocks: [ByNumber<GroupClock>; KINDS],
    /// What each host's groups have proved to be worth.
    weights: ByNumber<Weights>,
    /// The same for a host of which nothing is known: what they were worth on the others.
    elsewhere: Weights,
    /// Who says that pages changed, by host.
    tellers: ByNumber<Tellers>,
    /// Where pages lead.
    leads: Leads,
    threshold: Threshold,
    limits: Limits,
    /// How long it takes to fetch every page once; without end before that is known.
    turn: Days,
    stirred: Vec<Group>,
}

/// A page at a moment: all that its worth depends on.
struct Look<'a> {
    goal: Goal,
    page: &'a Page,
    belief: Gamma,
    weights: Weights,
    /// How time runs by who would have said that it changed.
    told: Clock,
    now: Days,
    /// The time that has passed since its last visit by the clocks of its groups.
    passed: [Days; KINDS],
}

impl IndexRule {
    /// Starts from the belief `all` about any page, and keeps intervals within `limits`.
    pub fn new(goal: Goal, all: Gamma, limits: Limits) -> Self {
        IndexRule {
            goal,
            beliefs: Beliefs::new(all, Alike::AsSeen),
            clocks: Default::default(),
            weights: ByNumber::default(),
            elsewhere: Weights::new(),
            tellers: ByNumber::default(),
            leads: Leads::default(),
            threshold: Threshold::default(),
            limits,
            turn: NEVER,
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

    /// The same rule with what was learned at another time.
    fn read(&self, from: &mut &[u8]) -> Option<Self> {
        Some(IndexRule {
            goal: self.goal,
            beliefs: self.beliefs.read(from)?,
            clocks: [Kept::read(from)?, Kept::read(from)?, Kept::read(from)?, Kept::read(from)?],
            weights: Kept::read(from)?,
            elsewhere: Kept::read(from)?,
            tellers: Kept::read(from)?,
            leads: Kept::read(from)?,
            threshold: Kept::read(from)?,
            limits: self.limits,
            turn: Kept::read(from)?,
            stirred: Vec::new(),
        })
    }

    fn look<'a>(&self, page: &'a Page, now: Days) -> Look<'a> {
        let belief = self.beliefs.of(page);
        let weights = *self.weights.get(&page.host).unwrap_or(&self.elsewhere);
        // Words can come from before a restart that forgot whom to trust.
        let untried = words::any(page).then(Tellers::default);
        let tellers = self.tellers.get(&page.host).filter(|_| words::are_due(page)).copied();
        let told = tellers
            .or(untried)
            .map_or(Clock::PLAIN, |all| all.clock(&words::of(page), belief.mean()));
        let now = now.max(page.last);
        let mut passed = [now - page.last; KINDS];
        if now > page.last {
            for group in page.groups().filter(|group| weights.of(group.kind()) > 0.0) {
                if let Some(clock) = self.clocks[group.kind()].get(&group.number) {
                    passed[group.kind()] = clock.elapsed(page.last, now, KAPPA[group.kind()]);
                }
            }
        }
        Look { goal: self.goal, page, belief, weights, told, now, passed }
    }

    /// How long after its last visit `page` is worth `price`, if all stays quiet.
    fn wait(&self, page: &Page, now: Days, price: f64) -> Days {
        let limits = self.limits();
        let wait = self.look(page, now).wait(price, limits);
        if wait.is_nan() { limits.max } else { wait }
    }

    /// The user's limits, and that no page is given up.
    fn limits(&self) -> Limits {
        Limits { max: self.limits.max.min(MOST_TURNS * self.turn), ..self.limits }
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
        let waited = look.equivalent(look.now);
        let (hints, slope) = (look.hints(look.now), look.slope(waited, changed));
        let (rate, worth, told) = (look.belief.mean(), look.worth_at(look.now), look.told);
        let mut weights = look.weights;
        weights.learn(&hints, slope);
        self.weights.insert(page.host, weights);
        self.elsewhere.lean(&weights);
        self.learn_groups(&before, seen.at, rate, changed, &weights);
        if let Some(tellers) = self.tellers.get_mut(&page.host).filter(|_| words::are_due(page)) {
            tellers.learn(&words::of(page), elapsed, rate, changed);
        }
        if seen.succeeded() {
            self.leads.learn(page, seen, elapsed);
            self.beliefs.learn(page, |belief| told.learn(belief, elapsed, changed, seen.age));
        }
        if elapsed < self.limits().max {
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
        let waited = (time - self.page.last).max(SHORTEST);
        let ahead = time - self.now;
        let mut hints = [0.0; HINTS];
        for (hint, passed) in hints.iter_mut().zip(self.passed) {
            let ratio = (passed + ahead) / waited;
            *hint = if ratio == 1.0 { 0.0 } else { ratio.ln().clamp(SLOWEST, FASTEST) };
        }
        hints[KINDS] = 0.5 * (waited / USUAL_WAIT).ln().clamp(-WAIT_BOUND, WAIT_BOUND);
        hints[KINDS + 1] = 1.0;
        hints
    }

    /// The time for which the page has waited at `time`, as its kin and what is said of it make it.
    fn equivalent(&self, time: Days) -> Days {
        self.passed(time) + self.told.jumped()
    }

    /// The same without the jumps of words that came.
    fn passed(&self, time: Days) -> Days {
        self.told.passed(time - self.page.last) * self.weights.stretch(&self.hints(time))
    }

    /// The chance that the copy is still right. A word's own chance counts as it is: a doubtful rate is no
    /// reason to doubt the word.
    fn fresh(&self) -> f64 {
        self.belief.survival(self.passed(self.now))
            * (-self.belief.mean() * self.told.jumped()).exp()
    }

    /// What a fetch is worth at `time`: for the page's own change, and for where it leads.
    fn worth_at(&self, time: Days) -> f64 {
        let own = worth(self.goal, self.belief, importance(self.page), self.equivalent(time));
        own + importance(self.page) * leads::worth(self.yields(), time - self.page.last)
    }

    /// New links a day. To find changes is not to find pages: for whoever counts changes they are none.
    fn yields(&self) -> f64 {
        if self.goal == Goal::Coverage { 0.0 } else { leads::rate(self.page) }
    }

    /// The derivative of the log likelihood of what a visit finds by the logarithm of the time waited.
    fn slope(&self, waited: Days, changed: bool) -> f64 {
        let hazard = self.belief.shape() * waited / (self.belief.rate() + waited);
        let same = self.belief.survival(waited);
        if changed { hazard * same / (1.0 - same).max(1e-9) } else { -hazard }
    }

    fn wait(&self, price: f64, limits: Limits) -> Days {
        let wanted = time_to_worth(self.goal, self.belief, importance(self.page), price);
        let waited = self.now - self.page.last;
        // Whatever is searched for is nearly in proportion to time: a page's own worth is that of a waiting
        // time, and where it leads adds to the worth alone, which grows with the square.
        let reached = |wait: Days| match self.yields() > 0.0 {
            true => (self.worth_at(self.page.last + wait) / price).sqrt(),
            false => self.equivalent(self.page.last + wait) / wanted,
        };
        if waited > 0.0 && reached(waited) >= 1.0 {
            let delay = (self.worth_at(self.now) / price).ln().clamp(0.0, LONGEST_DELAY);
            return limits.apply(waited) - delay;
        }
        let longest = reached(limits.max);
        if waited >= limits.max || longest.is_nan() || longest < 1.0 {
            return limits.max;
        }
        limits.apply(first(reached, waited, limits.max))
    }
}

/// Where between `low` and `high` the share that is `reached`, which grows with time, becomes 1.
///
/// The share is nearly in proportion to the time: a few steps to where it would be 1 if it were so, or
/// to the middle where that leads out of what is known.
fn first(reached: impl Fn(Days) -> f64, mut low: Days, mut high: Days) -> Days {
    let mut guess = high / reached(high);
    for _ in 0..STEPS {
        if !(guess > low && guess < high) {
            guess = (low.max(SHORTEST) * high).sqrt();
        }
        let share = reached(guess);
        *(if share < 1.0 { &mut low } else { &mut high }) = guess;
        if (share - 1.0).abs() < CLOSENESS || high < low * (1.0 + CLOSENESS) {
            return guess;
        }
        guess /= share;
    }
    high
}

/// A page that was never fetched, as if it had been when it was found.
///
/// To find changes is not to find pages: whoever counts changes need not hurry to a new page more than to
/// another of its directory. For the other goals it is out of date until it is fetched, and comes first.
fn since_found(page: &Page) -> Page {
    let last = if page.is_known() { page.last } else { f64::from(page.note[FOUND_AT]) };
    Page { last, ..*page }
}

impl Policy for IndexRule {
    fn discovered(&mut self, page: &mut Page, now: Days) {
        page.note[FOUND_AT] = now as f32;
        page.due = if page.is_known() || self.goal == Goal::Coverage {
            self.due_at(&since_found(page), now, self.threshold.look_again())
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
            words::settle(page);
        }
        // Counted from the visit, not from the last success: what failed is not tried again at once.
        let after = Page { last: seen.at, ..*page };
        page.due = self.due_at(&after, seen.at, self.threshold.look_again());
        if page.due.is_nan() {
            page.due = 0.0;
        }
    }

    fn moved(&mut self, former: &Page, page: &mut Page) {
        inherit(former, page);
    }

    fn signalled(&mut self, page: &mut Page, teller: Teller, now: Days) {
        if words::note(page, teller, now) {
            self.tellers.entry(page.host).or_default().hear(teller);
        }
        if page.is_known() {
            page.due = self.due_at(page, now, self.threshold.look_again());
        }
    }

    fn due(&self, page: &Page, now: Days) -> Days {
        if page.is_known() || self.goal == Goal::Coverage {
            self.due_at(&since_found(page), now, self.threshold.price())
        } else {
            page.due
        }
    }

    fn plan(&mut self, round: &Round, pages: &mut [Page]) -> bool {
        self.beliefs.fit(pages);
        let alive = pages.iter().filter(|page| page.alive).count();
        self.turn = if round.fetches > 0 { alive as f64 / round.rate() } else { NEVER };
        // Where all pages are fetched several times a week, a turn is time enough to follow.
        if self.threshold.expect((7.0 * round.rate()).min(alive as f64)) {
            let wait = |page: &Page, mu| self.wait(&Page { last: 0.0, ..*page }, 0.0, mu);
            self.threshold.set(price(round.rate(), pages, self.threshold.price(), wait));
        }
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

    fn outlook(&self, page: &Page, now: Days) -> Option<Outlook> {
        let look = self.look(page, now);
        page.is_known().then(|| Outlook { fresh: look.fresh(), rate: look.belief.mean() })
    }

    fn tellers(&self, host: u32) -> Option<Tellers> {
        self.tellers.get(&host).copied()
    }

    fn learned(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.beliefs.write(&mut out);
        self.clocks.iter().for_each(|clocks| clocks.write(&mut out));
        self.weights.write(&mut out);
        self.elsewhere.write(&mut out);
        self.tellers.write(&mut out);
        self.leads.write(&mut out);
        self.threshold.write(&mut out);
        self.turn.write(&mut out);
        out
    }

    fn resume(&mut self, learned: &[u8]) -> bool {
        let read = self.read(&mut &*learned);
        let done = read.is_some();
        if let Some(read) = read {
            *self = read;
        }
        done
    }

    fn reasons(&self, page: &Page, now: Days) -> Vec<(&'static str, f64)> {
        let look = self.look(page, now);
        let (hints, waited) = (look.hints(look.now), look.equivalent(look.now));
        let mut reasons = vec![
            ("rate", look.belief.mean()),
            ("rate low", look.belief.quantile(0.05)),
            ("rate high", look.belief.quantile(0.95)),
            ("waited", page.elapsed(now)),
            ("waited by its kin", waited),
            ("chance of a change", 1.0 - look.fresh()),
            ("worth now", look.worth_at(look.now)),
            ("new links a day", look.yields()),
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

#[cfg(test)]
mod tests;
