//! `tianwang`: Peking University's cycle over five tables.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::page::{Days, NEVER, Page, VisitEvidence};
use crate::policy::{Policy, Round};
use crate::schedulers::estimated_rate;
use crate::schedulers::worklist::Worklist;

/// Tianwang's incremental crawl (S3, section 2.3): cycles of fixed capacity, a share of it for new
/// pages, the rest for pages whose next crawl time has come.
///
/// Of its five tables the content digests (CheckPoints) are the fetcher's and ParsedURLs is the set
/// of known pages; the other three are here. What the paper leaves open: what either side of the
/// capacity does not use goes to the other; RemainedURLs has no doubles and goes oldest due first.
#[derive(Debug)]
pub struct Tianwang {
    new_share: f64,
    /// PageInfoTable.
    info: HashMap<u32, PageInfo>,
    /// NewURLQueue.
    new: VecDeque<u32>,
    /// PageInfoTable by NextCrawlTime, with RemainedURLs in front: those overdue.
    by_time: BTreeSet<(Moment, u32)>,
    cycle: Days,
    /// What this cycle is to fetch.
    tasks: Vec<u32>,
    list: Worklist,
}

/// A row of PageInfoTable; the last change time and disappearances stand in [`Page`].
#[derive(Clone, Copy, Debug, Default)]
struct PageInfo {
    next_crawl: Option<Moment>,
    /// Changes found in a row.
    streak: u8,
}

/// A time that can be ordered and stored in a set.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Moment(Days);

impl Tianwang {
    /// Keeps the share `new_share` (I %) of every cycle for pages that were never fetched.
    pub fn new(new_share: f64) -> Self {
        Tianwang {
            new_share: if new_share.is_nan() { 0.0 } else { new_share.clamp(0.0, 1.0) },
            info: HashMap::new(),
            new: VecDeque::new(),
            by_time: BTreeSet::new(),
            cycle: 1.0,
            tasks: Vec::new(),
            list: Worklist::default(),
        }
    }

    /// ChangePeriod: 1 / eq. 13. Temporal locality and index pages cut it to one cycle: a page that changed twice in
    /// a row, or that showed new links, is visited in the next one.
    fn change_period(&self, page: &Page, seen: &VisitEvidence) -> Days {
        let streak = self.info.get(&page.id).map_or(0, |info| info.streak);
        if streak >= 2 || seen.new_links > 0 {
            return self.cycle;
        }
        estimated_rate(page).map_or(self.cycle, |rate| 1.0 / rate)
    }

    fn schedule(&mut self, page: u32, at: Option<Days>) {
        let info = self.info.entry(page).or_default();
        if let Some(old) = info.next_crawl.take() {
            self.by_time.remove(&(old, page));
        }
        if let Some(at) = at {
            info.next_crawl = Some(Moment(at));
            self.by_time.insert((Moment(at), page));
        }
    }

    /// Step 1, task assignment: new pages, pages due by `end`, and what each leaves to the other.
    fn assign(&mut self, capacity: usize, end: Days, pages: &[Page]) -> Vec<u32> {
        let for_new = (self.new_share * capacity as f64).round() as usize;
        let due_now = self.by_time.iter().take_while(|(at, _)| at.0 <= end);
        let due: Vec<u32> = due_now.map(|&(_, page)| page).take(capacity).collect();
        let for_new = for_new.max(capacity.saturating_sub(due.len()));
        let mut tasks: Vec<u32> = Vec::new();
        while tasks.len() < for_new.min(capacity) {
            let Some(page) = self.new.pop_front() else { break };
            if pages.get(page as usize).is_some_and(|page| page.alive && !page.is_known()) {
                tasks.push(page);
            }
        }
        let rest = capacity - tasks.len();
        tasks.extend(due.into_iter().take(rest));
        tasks
    }
}

impl Policy for Tianwang {
    fn record_discovery(&mut self, page: &mut Page, now: Days) {
        page.due = NEVER;
        if page.is_known() {
            self.schedule(page.id, Some(now));
        } else {
            self.new.push_back(page.id);
        }
    }

    fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence) {
        let info = self.info.entry(page.id).or_default();
        info.streak = if seen.changed { info.streak.saturating_add(1) } else { 0 };
        let period = self.change_period(page, seen);
        self.schedule(page.id, Some(seen.at + period));
    }

    fn plan_round(&mut self, round: &Round, pages: &mut [Page]) -> bool {
        self.cycle = round.length;
        // New pages that were named in the last cycle and never reached go back to the queue.
        for id in std::mem::take(&mut self.tasks).into_iter().rev() {
            if !self.info.contains_key(&id) {
                self.new.push_front(id);
            }
        }
        self.tasks = self.assign(round.fetches, round.start + round.length, pages);
        self.list.set(self.tasks.clone());
        false
    }

    fn choose_pages(&mut self, _now: Days, room: usize, pages: &[Page], out: &mut Vec<u32>) {
        self.list.take_pages(room, pages, out);
    }

    fn record_gone(&mut self, page: &Page) {
        self.schedule(page.id, None);
    }

    /// DisappearTimes at which a page is deleted: the paper leaves it open.
    fn failures_until_dead(&self) -> u8 {
        3
    }
}

impl Eq for Moment {}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agenda::Agenda;
    use crate::page::{Finding, Visit};
    use crate::testing::World;

    /// Ten known pages and ten new ones.
    fn world() -> World {
        let mut world = World::still(20);
        world.pages[..10].iter_mut().for_each(|page| page.last = 0.0);
        world
    }

    fn first_cycle(new_share: f64, capacity: usize) -> (usize, usize) {
        let fetched = world().run(Box::new(Tianwang::new(new_share)), 1, capacity);
        (fetched[..10].iter().sum(), fetched[10..].iter().sum())
    }

    #[test]
    fn capacity_is_shared_between_new_and_due_pages() {
        assert_eq!(first_cycle(0.25, 8), (6, 2));
        assert_eq!(first_cycle(1.0, 8), (0, 8));
        assert_eq!(first_cycle(0.0, 8), (8, 0));
        assert_eq!(first_cycle(0.0, 15), (10, 5), "what old pages leave goes to new ones");
        assert_eq!(first_cycle(1.0, 15), (5, 10), "and the reverse");
        assert_eq!(first_cycle(f64::NAN, 99), (10, 10));
    }

    #[test]
    fn pages_left_over_go_first_in_the_next_cycle() {
        let fetched = world().run(Box::new(Tianwang::new(0.5)), 5, 4);
        assert!(fetched.iter().all(|&n| n == 1), "{fetched:?}");
    }

    #[test]
    fn pages_that_change_again_and_again_are_looked_at_every_cycle() {
        let mut world = World::with_changes(3, (-1..60).map(|half| (1, f64::from(half) / 2.0)));
        world.fetch_all(-1.0);
        let fetched = world.run(Box::new(Tianwang::new(0.1)), 20, 3);
        assert!(fetched[1] >= 19 && fetched[0] < 10 && fetched[2] < 10, "{fetched:?}");
    }

    #[test]
    fn a_page_is_given_up_when_it_was_missing_three_times() {
        let mut agenda = Agenda::new(Box::new(Tianwang::new(0.5)), vec![Page::new(0)], 0.0);
        let mut fetches = 0;
        for day in 0..50 {
            let now = f64::from(day);
            agenda.begin_round(&Round { start: now, length: 1.0, fetches: 1 });
            if let Some(page) = agenda.next_page(now) {
                agenda.record_visit(page, &Visit::new(now, Finding::Gone));
                fetches += 1;
            }
        }
        assert_eq!((fetches, agenda.pages()[0].alive), (3, false));
    }
}
