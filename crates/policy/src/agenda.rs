//! How is a policy driven? Pages in order of due time, rounds, a budget: all in memory.

use evercrawl_estimate::signal::SignalSource;

use crate::members::Members;
use crate::page::{Days, Group, NEVER, Page, Visit};
use crate::policy::{Policy, Round};
use crate::queue::{DueQueue, Entry};
use crate::rotation::RevisitRotation;

/// By which share of its interval a due time may be off. Prices move a little with every fetch: without slack, each
/// move would reschedule many pages.
const SLACK: f64 = 0.02;

/// Drives a policy over pages held in memory, for the lab.
///
/// Call [`next_page`](Self::next_page) for a page, fetch it, and pass the result to
/// [`record_visit`](Self::record_visit). The budget is there to be used: when nothing is due, the page that is due
/// next is fetched ahead of its time. Never more fetches than the round allows, never a dead page, never a page that
/// is being fetched.
pub struct Agenda {
    policy: Box<dyn Policy>,
    pages: Vec<Page>,
    queue: DueQueue,
    chosen: Vec<u32>,
    /// Pages being fetched: few, usually one.
    out: Vec<u32>,
    room: usize,
    members: Members,
    stirred: Vec<Group>,
    rota: RevisitRotation,
    /// The last page that the rotation reached.
    asked: usize,
    /// Pages that come up soon.
    coming: Vec<u32>,
    /// True while those were not reported to the caller.
    is_news: bool,
}

impl Agenda {
    /// Adds all `pages` to `policy` at `now`. Page i must have number i; numbers are set here.
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
            rota: RevisitRotation::default(),
            asked: 0,
            coming: Vec::new(),
            is_news: false,
        };
        for (id, page) in (0u32..).zip(&mut agenda.pages) {
            page.id = id;
            agenda.policy.record_discovery(page, now);
        }
        agenda.rebuild();
        agenda
    }

    /// Begins a round. What is left of the last round's budget is lost.
    pub fn begin_round(&mut self, round: &Round) {
        self.room = round.fetches;
        self.chosen.clear();
        if self.policy.plan_round(round, &mut self.pages) {
            self.rebuild();
        }
    }

    /// The page to fetch now; `None` when the round's budget is used up or no page is wanted.
    pub fn next_page(&mut self, now: Days) -> Option<u32> {
        if self.room == 0 {
            return None;
        }
        self.is_news = false;
        let id = self.next_chosen(now).or_else(|| self.next_due(now))?;
        self.room -= 1;
        self.out.push(id);
        Some(id)
    }

    /// Records the result of fetching page `id`.
    pub fn record_visit(&mut self, id: u32, visit: &Visit) {
        let Some(page) = self.pages.get_mut(id as usize) else { return };
        self.out.retain(|out| *out != id);
        let seen = page.record(visit);
        self.policy.record_visit(page, &seen);
        if page.missing >= self.policy.failures_until_dead() {
            page.alive = false;
            self.policy.record_gone(page);
        } else {
            enqueue(&mut self.queue, page);
        }
        self.requeue_changed_groups(visit.at);
        self.requeue_in_rotation(visit.at);
        let is_void = |entry: Entry| entry != Entry::of(&self.pages[entry.page() as usize]);
        self.queue.tidy(is_void);
    }

    /// Records a signal that page `id` may have changed.
    pub fn record_signal(&mut self, id: u32, now: Days) {
        if let Some(page) = self.pages.get_mut(id as usize) {
            self.policy.record_signal(page, SignalSource::Push, now);
            enqueue(&mut self.queue, page);
        }
    }

    /// Adds a page that was discovered at `now`, and returns its number.
    pub fn add_page(&mut self, mut page: Page, now: Days) -> u32 {
        page.id = u32::try_from(self.pages.len()).unwrap_or(u32::MAX);
        self.policy.record_discovery(&mut page, now);
        enqueue(&mut self.queue, &page);
        self.members.add(&page);
        self.pages.push(page);
        page.id
    }

    /// Now and then, the numbers of pages that come up soon, so that the caller can load their data. Each is reported
    /// once.
    pub fn upcoming_pages(&self) -> &[u32] {
        if self.is_news { &self.coming } else { &[] }
    }

    /// All pages, by number.
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// The policy that is driven.
    pub fn policy(&self) -> &dyn Policy {
        &*self.policy
    }

    fn next_chosen(&mut self, now: Days) -> Option<u32> {
        if self.chosen.is_empty() {
            self.policy.choose_pages(now, self.room, &self.pages, &mut self.chosen);
            self.chosen.reverse();
        }
        while let Some(id) = self.chosen.pop() {
            if self.is_free(id) {
                return Some(id);
            }
        }
        None
    }

    /// Takes the page that is due first. If its due time has moved meanwhile by more than the slack, it goes back.
    fn next_due(&mut self, now: Days) -> Option<u32> {
        while let Some(entry) = self.queue.pop() {
            self.prefetch_upcoming(now);
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

    /// Loads pages that come up soon into the cache together: first their rows, then the policy's data about them. A
    /// million pages do not fit into the processor's cache, and waiting for each of them separately took a quarter of
    /// the time.
    fn prefetch_upcoming(&mut self, now: Days) {
        let mut coming = self.queue.coming().peekable();
        if coming.peek().is_none() {
            return;
        }
        self.rows().for_each(|page| self.policy.prefetch_groups(page, now));
        self.coming.clear();
        self.coming.extend(coming.map(Entry::page));
        self.is_news = true;
        touch(self.rows());
    }

    fn rows(&self) -> impl Iterator<Item = &Page> {
        self.coming.iter().filter_map(|&id| self.pages.get(id as usize))
    }

    /// Recomputes due times of pages whose groups changed; only pages due earlier move.
    fn requeue_changed_groups(&mut self, now: Days) {
        self.policy.take_changed_groups(&mut self.stirred);
        if self.stirred.is_empty() {
            return;
        }
        self.members.gather(&self.pages);
        for group in self.stirred.drain(..) {
            touch(self.members.of(group).map(|id| &self.pages[id as usize]));
            for id in self.members.of(group) {
                let page = &mut self.pages[id as usize];
                if !is_waiting(page) {
                    continue;
                }
                if let Some(due) = self.policy.earlier_due(page, group, now) {
                    page.due = due;
                    enqueue(&mut self.queue, page);
                }
            }
        }
    }

    /// Recomputes due times of the next pages in the rotation; only pages due earlier move.
    fn requeue_in_rotation(&mut self, now: Days) {
        let every = self.policy.reconsider_interval();
        for _ in 0..self.rota.pages_due(self.pages.len(), every, now) {
            self.asked = (self.asked + 1) % self.pages.len();
            let page = &mut self.pages[self.asked];
            // Pages that come due before the next rotation are checked then.
            if !is_waiting(page) || page.due - now < every {
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

/// Reads both ends and the middle of every row; the reads do not depend on each other.
fn touch<'a>(pages: impl Iterator<Item = &'a Page>) {
    let parts = |page: &Page| page.note[0].to_bits() ^ page.id ^ u32::from(page.missing);
    std::hint::black_box(pages.map(parts).fold(0, u32::wrapping_add));
}

fn is_waiting(page: &Page) -> bool {
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
    use crate::page::{Finding, VisitEvidence};

    /// Due every `id + 1` days; with `late`, only twice as late as was promised.
    struct Fixed {
        late: bool,
    }

    impl Policy for Fixed {
        fn record_discovery(&mut self, page: &mut Page, now: Days) {
            page.due = now - 1.0 + f64::from(page.id);
        }

        fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence) {
            page.due = seen.at + f64::from(page.id + 1);
        }

        fn due(&self, page: &Page, _now: Days) -> Days {
            if self.late { 50.0 - f64::from(page.id) } else { page.due }
        }
    }

    fn agenda(late: bool, fetches: usize) -> Agenda {
        let pages = (0..3).map(|id| Page { last: -1.0, ..Page::new(id) }).collect();
        let mut agenda = Agenda::new(Box::new(Fixed { late }), pages, 0.0);
        agenda.begin_round(&Round { start: 0.0, length: 1.0, fetches });
        agenda
    }

    #[test]
    fn takes_pages_in_order_of_due_time_within_the_budget() {
        let mut agenda = agenda(false, 4);
        assert_eq!(agenda.next_page(0.0), Some(0));
        agenda.record_visit(0, &Visit::new(0.0, Finding::Same));
        assert_eq!(agenda.next_page(0.0), Some(1), "due now; 0 is due at 1");
        assert_eq!(agenda.next_page(0.0), Some(0), "ahead of its time");
        assert_eq!(agenda.next_page(0.0), Some(2));
        assert_eq!(agenda.next_page(0.0), None, "the budget is spent");
    }

    #[test]
    fn never_hands_out_a_page_that_is_out_or_dead() {
        let mut agenda = agenda(false, 100);
        assert_eq!((0..5).filter_map(|_| agenda.next_page(0.0)).count(), 3);
        agenda.record_visit(1, &Visit::new(1.0, Finding::Gone));
        assert_eq!(agenda.next_page(9.0), None);
        assert!(!agenda.pages()[1].alive);
        agenda.record_visit(2, &Visit::new(1.0, Finding::Failed));
        assert_eq!(agenda.next_page(9.0), Some(2));
        agenda.record_visit(99, &Visit::new(1.0, Finding::Same));
    }

    #[test]
    fn a_page_that_is_no_longer_due_goes_back() {
        let mut agenda = agenda(true, 3);
        assert_eq!(agenda.next_page(0.0), Some(2), "now the first of all, though none is due");
        assert_eq!(agenda.pages()[2].due, 48.0);
    }

    #[test]
    fn what_comes_is_said_once() {
        let mut agenda = agenda(false, 3);
        agenda.next_page(0.0);
        let mut said = agenda.upcoming_pages().to_vec();
        said.sort_unstable();
        assert_eq!(said, [1, 2], "0 came");
        agenda.next_page(0.0);
        assert!(agenda.upcoming_pages().is_empty());
    }

    /// Tells pages to wait for a year or a week, and learns on the first of days that they need not.
    struct Impatient;

    impl Policy for Impatient {
        fn record_discovery(&mut self, page: &mut Page, now: Days) {
            page.due = now + if page.id == 0 { 0.0 } else { [7.0, 365.0][page.id as usize % 2] };
        }

        fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence) {
            page.due = seen.at + 1.0;
        }

        fn due(&self, page: &Page, now: Days) -> Days {
            if page.id == 0 { page.due } else { now }
        }

        fn reconsider_interval(&self) -> Days {
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
        agenda.record_visit(0, &Visit::new(0.0, Finding::Same));
        assert_eq!(
            told_sooner(&agenda),
            [0, 5],
            "a visit pays for ten, half of which come up soon anyway"
        );
        for tenth in 1..=60 {
            agenda.record_visit(0, &Visit::new(f64::from(tenth) / 10.0, Finding::Same));
        }
        let [soon, late] = told_sooner(&agenda);
        assert_eq!(soon, 0);
        assert!((14..=17).contains(&late), "6 of 28 days: {late} of 50");
    }

    #[test]
    fn new_pages_join() {
        let mut agenda = agenda(false, 9);
        assert_eq!(agenda.add_page(Page::new(0), -9.0), 3);
        assert_eq!(agenda.next_page(0.0), Some(3));
    }
}
