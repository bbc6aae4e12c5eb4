//! How is a policy driven? Pages in order of due time, rounds, a budget: all in memory.

use evercrawl_estimate::signal::SignalSource;

use crate::members::Members;
use crate::page::{Days, Group, NEVER, Page, Visit};
use crate::policy::{Policy, Round};
use crate::queue::{DueQueue, Entry};
use crate::rota::Rota;

/// The share of a page's interval by which its due time may be off. Multipliers move a little with
/// every fetch: without slack, each of them would send many pages back.
const SLACK: f64 = 0.02;

/// A policy at work on pages that are held in memory: the lab's driver.
///
/// Ask [`next`](Self::next) for a page, fetch it, [`report`](Self::report) what came of it. The
/// budget is there to be spent: when nothing is due, the page that is due next is fetched ahead of
/// its time. Never more than the round allows, never a dead page, never a page that is still out.
pub struct Agenda {
    policy: Box<dyn Policy>,
    pages: Vec<Page>,
    queue: DueQueue,
    chosen: Vec<u32>,
    /// Those that are being fetched: few, as a rule one.
    out: Vec<u32>,
    room: usize,
    members: Members,
    stirred: Vec<Group>,
    rota: Rota,
    /// The page that was last asked about in its turn.
    asked: usize,
    /// Some of those that come soon.
    coming: Vec<u32>,
    /// Whether nothing was said of those before the last turn.
    is_news: bool,
}

impl Agenda {
    /// Tells `policy` of all `pages` at `now`. Page i must have number i; numbers are set here.
    pub fn new(policy: Box<dyn Policy>, pages: Vec<Page>, now: Days) -> Self {
        let mut agenda = Agenda {
            policy,
            pages,
            queue: DueQueue::default(),
            chosen: Vec::new(),
            out: Vec::new(),
            room: 0,
            members: Members::default(),
            stirred: Vec::new(),
            rota: Rota::default(),
            asked: 0,
            coming: Vec::new(),
            is_news: false,
        };
        for (id, page) in (0u32..).zip(&mut agenda.pages) {
            page.id = id;
            agenda.policy.discovered(page, now);
        }
        agenda.rebuild();
        agenda
    }

    /// Begins a round: what was left of the last one's budget lapses.
    pub fn begin(&mut self, round: &Round) {
        self.room = round.fetches;
        self.chosen.clear();
        if self.policy.plan(round, &mut self.pages) {
            self.rebuild();
        }
    }

    /// The page to fetch now; `None` when the budget of the round is spent or nothing is wanted.
    pub fn next(&mut self, now: Days) -> Option<u32> {
        if self.room == 0 {
            return None;
        }
        self.is_news = false;
        let id = self.next_chosen(now).or_else(|| self.next_due(now))?;
        self.room -= 1;
        self.out.push(id);
        Some(id)
    }

    /// Tells what came of the fetch of page `id`.
    pub fn report(&mut self, id: u32, visit: &Visit) {
        let Some(page) = self.pages.get_mut(id as usize) else { return };
        self.out.retain(|out| *out != id);
        let seen = page.record(visit);
        self.policy.visited(page, &seen);
        if page.missing >= self.policy.patience() {
            page.alive = false;
            self.policy.gone(page);
        } else {
            enqueue(&mut self.queue, page);
        }
        self.look_again(visit.at);
        self.ask_in_turn(visit.at);
        let is_void = |entry: Entry| entry != Entry::of(&self.pages[entry.page() as usize]);
        self.queue.tidy(is_void);
    }

    /// Tells of a sign that page `id` may have changed.
    pub fn signal(&mut self, id: u32, now: Days) {
        if let Some(page) = self.pages.get_mut(id as usize) {
            self.policy.signalled(page, SignalSource::Push, now);
            enqueue(&mut self.queue, page);
        }
    }

    /// Adds a page that was found at `now`, and returns its number.
    pub fn discover(&mut self, mut page: Page, now: Days) -> u32 {
        page.id = u32::try_from(self.pages.len()).unwrap_or(u32::MAX);
        self.policy.discovered(&mut page, now);
        enqueue(&mut self.queue, &page);
        self.members.add(&page);
        self.pages.push(page);
        page.id
    }

    /// Now and then, the numbers of some pages that come soon, as far as that is known: for whoever has to look up
    /// something of each. Nothing is said twice.
    pub fn coming(&self) -> &[u32] {
        if self.is_news { &self.coming } else { &[] }
    }

    /// All pages, by number.
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// The policy at work.
    pub fn policy(&self) -> &dyn Policy {
        &*self.policy
    }

    fn next_chosen(&mut self, now: Days) -> Option<u32> {
        if self.chosen.is_empty() {
            self.policy.choose(now, self.room, &self.pages, &mut self.chosen);
            self.chosen.reverse();
        }
        while let Some(id) = self.chosen.pop() {
            if self.is_free(id) {
                return Some(id);
            }
        }
        None
    }

    /// Takes the page that is due first. One whose due time has moved on meanwhile goes back, unless
    /// it moved by next to nothing.
    fn next_due(&mut self, now: Days) -> Option<u32> {
        while let Some(entry) = self.queue.pop() {
            self.read_ahead(now);
            let Some(page) = self.pages.get(entry.page() as usize).copied() else { continue };
            if entry != Entry::of(&page) || !self.is_free(page.id) {
                continue;
            }
            let due = self.policy.due(&page, now);
            let put_off = due > now && due - page.due > SLACK * page.elapsed(due);
            if !put_off {
                return Some(page.id);
            }
            let page = &mut self.pages[entry.page() as usize];
            page.due = due;
            enqueue(&mut self.queue, page);
        }
        None
    }

    /// Has what is needed of pages that come soon brought from memory together: first their rows, and when these
    /// are there, what the policy knows beside them. A million pages do not fit into the processor's cache, and to
    /// wait for each of them apart took a quarter of the time.
    fn read_ahead(&mut self, now: Days) {
        let mut coming = self.queue.coming().peekable();
        if coming.peek().is_none() {
            return;
        }
        self.rows().for_each(|page| self.policy.read_ahead(page, now));
        self.coming.clear();
        self.coming.extend(coming.map(Entry::page));
        self.is_news = true;
        touch(self.rows());
    }

    fn rows(&self) -> impl Iterator<Item = &Page> {
        self.coming.iter().filter_map(|&id| self.pages.get(id as usize))
    }

    /// Asks again when the pages are due whose groups were stirred; only what is due sooner moves.
    fn look_again(&mut self, now: Days) {
        self.policy.stirred(&mut self.stirred);
        if self.stirred.is_empty() {
            return;
        }
        self.members.gather(&self.pages);
        for group in self.stirred.drain(..) {
            touch(self.members.of(group).map(|id| &self.pages[id as usize]));
            for id in self.members.of(group) {
                let page = &mut self.pages[id as usize];
                if !waits(page) {
                    continue;
                }
                if let Some(due) = self.policy.sooner(page, group, now) {
                    page.due = due;
                    enqueue(&mut self.queue, page);
                }
            }
        }
    }

    /// Asks again when some pages are due that wait, whatever stirred; only what is due sooner moves.
    fn ask_in_turn(&mut self, now: Days) {
        let every = self.policy.asked_again_every();
        for _ in 0..self.rota.turns(self.pages.len(), every, now) {
            self.asked = (self.asked + 1) % self.pages.len();
            let page = &mut self.pages[self.asked];
            // What comes up before its next turn is asked about then.
            if !waits(page) || page.due - now < every {
                continue;
            }
            let due = self.policy.due(page, now);
            if due < page.due {
                page.due = due;
                enqueue(&mut self.queue, page);
            }
        }
    }

    fn is_free(&self, id: u32) -> bool {
        !self.out.contains(&id) && self.pages.get(id as usize).is_some_and(|page| page.alive)
    }

    fn rebuild(&mut self) {
        let waiting = self.pages.iter().filter(|page| page.alive && page.due < NEVER);
        self.queue.refill(self.pages.len(), waiting.map(Entry::of));
    }
}

/// Reads both ends and the middle of every row, none of which waits for another.
fn touch<'a>(pages: impl Iterator<Item = &'a Page>) {
    let parts = |page: &Page| page.note[0].to_bits() ^ page.id ^ u32::from(page.missing);
    std::hint::black_box(pages.map(parts).fold(0, u32::wrapping_add));
}

fn waits(page: &Page) -> bool {
    page.alive && page.is_known() && page.due < NEVER
}

fn enqueue(queue: &mut DueQueue, page: &Page) {
    if page.due < NEVER {
        queue.push(Entry::of(page));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Found, Seen};

    /// Due every `id + 1` days; with `late`, only twice as late as was promised.
    struct Fixed {
        late: bool,
    }

    impl Policy for Fixed {
        fn discovered(&mut self, page: &mut Page, now: Days) {
            page.due = now - 1.0 + f64::from(page.id);
        }

        fn visited(&mut self, page: &mut Page, seen: &Seen) {
            page.due = seen.at + f64::from(page.id + 1);
        }

        fn due(&self, page: &Page, _now: Days) -> Days {
            if self.late { 50.0 - f64::from(page.id) } else { page.due }
        }
    }

    fn agenda(late: bool, fetches: usize) -> Agenda {
        let pages = (0..3).map(|id| Page { last: -1.0, ..Page::new(id) }).collect();
        let mut agenda = Agenda::new(Box::new(Fixed { late }), pages, 0.0);
        agenda.begin(&Round { start: 0.0, length: 1.0, fetches });
        agenda
    }

    #[test]
    fn takes_pages_in_order_of_due_time_within_the_budget() {
        let mut agenda = agenda(false, 4);
        assert_eq!(agenda.next(0.0), Some(0));
        agenda.report(0, &Visit::new(0.0, Found::Same));
        assert_eq!(agenda.next(0.0), Some(1), "due now; 0 is due at 1");
        assert_eq!(agenda.next(0.0), Some(0), "ahead of its time");
        assert_eq!(agenda.next(0.0), Some(2));
        assert_eq!(agenda.next(0.0), None, "the budget is spent");
    }

    #[test]
    fn never_hands_out_a_page_that_is_out_or_dead() {
        let mut agenda = agenda(false, 100);
        assert_eq!((0..5).filter_map(|_| agenda.next(0.0)).count(), 3);
        agenda.report(1, &Visit::new(1.0, Found::Gone));
        assert_eq!(agenda.next(9.0), None);
        assert!(!agenda.pages()[1].alive);
        agenda.report(2, &Visit::new(1.0, Found::Failed));
        assert_eq!(agenda.next(9.0), Some(2));
        agenda.report(99, &Visit::new(1.0, Found::Same));
    }

    #[test]
    fn a_page_that_is_no_longer_due_goes_back() {
        let mut agenda = agenda(true, 3);
        assert_eq!(agenda.next(0.0), Some(2), "now the first of all, though none is due");
        assert_eq!(agenda.pages()[2].due, 48.0);
    }

    #[test]
    fn what_comes_is_said_once() {
        let mut agenda = agenda(false, 3);
        agenda.next(0.0);
        let mut said = agenda.coming().to_vec();
        said.sort_unstable();
        assert_eq!(said, [1, 2], "0 came");
        agenda.next(0.0);
        assert!(agenda.coming().is_empty());
    }

    /// Tells pages to wait for a year or a week, and learns on the first of days that they need not.
    struct Impatient;

    impl Policy for Impatient {
        fn discovered(&mut self, page: &mut Page, now: Days) {
            page.due = now + if page.id == 0 { 0.0 } else { [7.0, 365.0][page.id as usize % 2] };
        }

        fn visited(&mut self, page: &mut Page, seen: &Seen) {
            page.due = seen.at + 1.0;
        }

        fn due(&self, page: &Page, now: Days) -> Days {
            if page.id == 0 { page.due } else { now }
        }

        fn asked_again_every(&self) -> Days {
            28.0
        }
    }

    #[test]
    fn who_waits_for_long_is_asked_about_in_turn() {
        let pages = (0..100).map(|id| Page { last: -1.0, ..Page::new(id) }).collect();
        let mut agenda = Agenda::new(Box::new(Impatient), pages, 0.0);
        let told_sooner = |agenda: &Agenda| {
            let pages = agenda.pages()[1..].iter();
            let (soon, late): (Vec<&Page>, Vec<&Page>) = pages.partition(|page| page.id % 2 == 0);
            [soon, late].map(|pages| pages.iter().filter(|page| page.due < 7.0).count())
        };
        agenda.report(0, &Visit::new(0.0, Found::Same));
        assert_eq!(
            told_sooner(&agenda),
            [0, 5],
            "a visit pays for ten, half of which come up soon anyway"
        );
        for tenth in 1..=60 {
            agenda.report(0, &Visit::new(f64::from(tenth) / 10.0, Found::Same));
        }
        let [soon, late] = told_sooner(&agenda);
        assert_eq!(soon, 0);
        assert!((14..=17).contains(&late), "6 of 28 days: {late} of 50");
    }

    #[test]
    fn new_pages_join() {
        let mut agenda = agenda(false, 9);
        assert_eq!(agenda.discover(Page::new(0), -9.0), 3);
        assert_eq!(agenda.next(0.0), Some(3));
    }
}
