//! `webfountain`: pages in classes of change rate, new ones beside them, planned some epochs ahead.

use crate::allocate::epochs::{ChangeRateBucket, Epochs};
use crate::page::{Days, NEVER, Page, VisitEvidence};
use crate::policy::{Policy, Round};
use crate::schedulers::worklist::Worklist;
use crate::schedulers::{estimated_rate, mean};

/// How many epochs a plan covers.
const AHEAD: usize = 4;

/// How many classes of change rate there are, each twice as fast as the one before; the middle one
/// changes about once an epoch.
const CLASSES: usize = 8;

/// IBM's WebFountain crawler (S3, section 2.1, eq. 24), by our reconstruction of its model
/// ([`Epochs`]): a round is an epoch, one bandwidth serves old and new pages, and the plan makes the
/// number of stale and of waiting pages least over the epochs to come.
#[derive(Debug, Default)]
pub struct WebFountain {
    new: Vec<u32>,
    /// New pages since the last epoch began, and how many an epoch brings.
    arrived: f64,
    arriving: f64,
    /// Epochs still to come of the current plan, the next one last.
    plan: Vec<Epoch>,
    list: Worklist,
}

/// How many pages to fetch in an epoch, of each class and of the new ones.
#[derive(Clone, Debug, Default)]
struct Epoch {
    old: [usize; CLASSES],
    new: usize,
}

/// The pages of a class, with what the model asks of it.
#[derive(Clone, Debug, Default)]
struct ChangeRateClass {
    pages: Vec<u32>,
    stale: f64,
    change: f64,
    weight: f64,
}

impl WebFountain {
    /// Knows nothing before the first epoch.
    pub fn new() -> Self {
        WebFountain::default()
    }

    /// Solves the model for the epochs to come, leaving out empty classes.
    fn plan_ahead(&self, classes: &[ChangeRateClass], capacity: usize) -> Vec<Epoch> {
        let filled: Vec<usize> = (0..CLASSES).filter(|&c| !classes[c].pages.is_empty()).collect();
        let model = Epochs {
            buckets: filled.iter().map(|&class| classes[class].bucket()).collect(),
            waiting: self.new.len() as f64,
            arriving: vec![self.arriving; AHEAD],
            capacity: vec![capacity as f64; AHEAD],
            cost_old: 1.0,
            cost_new: 1.0,
            weight_new: 1.0,
            emphasis: Vec::new(),
        };
        let plan = model.plan();
        let mut epochs = vec![Epoch::default(); AHEAD];
        for (at, epoch) in epochs.iter_mut().enumerate() {
            epoch.new = plan.new[at].round() as usize;
            for (&class, counts) in filled.iter().zip(&plan.old) {
                epoch.old[class] = counts[at].round() as usize;
            }
        }
        epochs.reverse();
        epochs
    }
}

impl ChangeRateClass {
    fn bucket(&self) -> ChangeRateBucket {
        let size = self.pages.len() as f64;
        ChangeRateBucket {
            size,
            change: self.change / size,
            stale: self.stale,
            weight: self.weight / size,
        }
    }
}

impl Policy for WebFountain {
    fn record_discovery(&mut self, page: &mut Page, _now: Days) {
        page.due = NEVER;
        if !page.is_known() {
            self.new.push(page.id);
            self.arrived += 1.0;
        }
    }

    fn record_visit(&mut self, _page: &mut Page, _seen: &VisitEvidence) {}

    fn plan_round(&mut self, round: &Round, pages: &mut [Page]) -> bool {
        self.new.retain(|&id| pages.get(id as usize).is_some_and(|p| p.alive && !p.is_known()));
        self.arriving += 0.5 * (std::mem::take(&mut self.arrived) - self.arriving);
        let mut classes = classify(pages, round);
        if self.plan.is_empty() {
            self.plan = self.plan_ahead(&classes, round.fetches);
        }
        let epoch = self.plan.pop().unwrap_or_default();
        let mut list: Vec<u32> = self.new.iter().copied().take(epoch.new).collect();
        for (class, count) in classes.iter_mut().zip(epoch.old) {
            list.extend(longest_unseen(&mut class.pages, count, pages));
        }
        self.list.set(list);
        false
    }

    fn choose_pages(&mut self, _now: Days, room: usize, pages: &[Page], out: &mut Vec<u32>) {
        self.list.take_pages(room, pages, out);
    }
}

/// Sorts known pages into classes by how much they change within an epoch.
fn classify(pages: &[Page], round: &Round) -> Vec<ChangeRateClass> {
    let known = || pages.iter().filter(|page| page.alive && page.is_known());
    let usual = mean(known().filter_map(estimated_rate)).unwrap_or(1.0);
    let mut classes = vec![ChangeRateClass::default(); CLASSES];
    for page in known() {
        let rate = estimated_rate(page).unwrap_or(usual);
        let class = (rate * round.length).log2().floor() + CLASSES as f64 / 2.0;
        let class = &mut classes[(class.max(0.0) as usize).min(CLASSES - 1)];
        class.pages.push(page.id);
        class.stale += -(-rate * page.elapsed(round.start)).exp_m1();
        class.change += -(-rate * round.length).exp_m1();
        class.weight += f64::from(page.weight);
    }
    classes
}

fn longest_unseen(ids: &mut [u32], count: usize, pages: &[Page]) -> Vec<u32> {
    let last = |id: u32| pages[id as usize].last;
    let order = |a: &u32, b: &u32| last(*a).total_cmp(&last(*b)).then(a.cmp(b));
    if count < ids.len() {
        ids.select_nth_unstable_by(count, order);
    }
    let mut first = ids[..count.min(ids.len())].to_vec();
    first.sort_unstable_by(order);
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;

    #[test]
    fn new_and_old_pages_share_one_budget() {
        let mut world = World::still(30);
        world.pages[..20].iter_mut().for_each(|page| page.last = -5.0);
        let fetched = world.run(Box::new(WebFountain::new()), 8, 10);
        assert!(fetched[20..].iter().all(|&n| n > 0), "new pages are fetched: {fetched:?}");
        assert!(fetched[..20].iter().all(|&n| n > 0), "so are old ones: {fetched:?}");
    }

    #[test]
    fn the_longest_unseen_go_first() {
        let mut pages: Vec<Page> = (0..5).map(Page::new).collect();
        for (page, last) in pages.iter_mut().zip([5.0, 1.0, 4.0, 1.0, 3.0]) {
            page.last = last;
        }
        let mut ids = [0, 1, 2, 3, 4];
        assert_eq!(longest_unseen(&mut ids, 3, &pages), [1, 3, 4]);
        assert_eq!(longest_unseen(&mut ids, 99, &pages).len(), 5);
    }

    #[test]
    fn classes_hold_every_known_page() {
        let mut pages: Vec<Page> = (0..50).map(|id| Page { last: 0.0, ..Page::new(id) }).collect();
        for page in &mut pages {
            (page.checks, page.changes) = (20, page.id % 20);
            page.watched = 10f32.powi(page.id as i32 % 9 - 4);
        }
        let round = Round { start: 9.0, length: 1.0, fetches: 5 };
        let classes = classify(&pages, &round);
        assert_eq!(classes.iter().map(|class| class.pages.len()).sum::<usize>(), 50);
        assert!(classes.iter().all(|class| class.stale <= class.pages.len() as f64));
    }
}
