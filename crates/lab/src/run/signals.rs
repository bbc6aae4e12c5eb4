//! When do hosts say that a page may have changed, and how often are they wrong?

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use evercrawl_policy::{Days, SplitMix64};

use crate::world::{ChangeCursor, LabWorld};

/// The signals still to come, one or two per page: they do not depend on what is crawled.
#[derive(Debug)]
pub struct Signals<'a> {
    world: &'a LabWorld,
    waiting: BinaryHeap<Signal>,
    random: SplitMix64,
    to: Days,
}

#[derive(Debug)]
struct Signal {
    at: Days,
    page: u32,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    /// A change, which stands here in the page's history.
    Change(ChangeCursor),
    /// None; the next such signal comes at this rate.
    Nothing(f64),
}

impl<'a> Signals<'a> {
    /// Those between `from` and `to`. Of changes, the share that [`recall`](crate::HostFacts::recall)
    /// says; besides, as many without a change as [`precision`](crate::HostFacts::precision) allows.
    pub fn new(world: &'a LabWorld, from: Days, to: Days, seed: u64) -> Self {
        let random = SplitMix64::new(seed ^ 0x5169_6e61_6c73);
        let mut signals = Signals { world, waiting: BinaryHeap::new(), random, to };
        let telling = |host: u32| world.hosts[host as usize].recall > 0.0;
        for (page, fact) in (0u32..).zip(&world.pages).filter(|(_, fact)| telling(fact.host)) {
            let start = from.max(fact.born);
            let mut cursor = world.truth.first(page);
            while cursor.at() <= start {
                cursor = world.truth.next(page, cursor);
            }
            signals.wait_for_change(page, cursor);
            let host = &world.hosts[fact.host as usize];
            let (recall, precision) = (f64::from(host.recall), f64::from(host.precision));
            let rate = world.truth.rate(page, from, to) * recall * (1.0 - precision) / precision;
            signals.wait_for_nothing(page, start, rate);
        }
        signals
    }

    /// When the next one comes.
    pub fn next_at(&self) -> Option<Days> {
        self.waiting.peek().map(|signal| signal.at)
    }

    /// The next page that a signal up to `now` tells of, and when it came.
    pub fn next(&mut self, now: Days) -> Option<(u32, Days)> {
        if self.waiting.peek()?.at > now {
            return None;
        }
        let Signal { at, page, cause } = self.waiting.pop()?;
        match cause {
            Cause::Change(cursor) => {
                self.wait_for_change(page, self.world.truth.next(page, cursor));
            }
            Cause::Nothing(rate) => self.wait_for_nothing(page, at, rate),
        }
        Some((page, at))
    }

    fn wait_for_change(&mut self, page: u32, mut cursor: ChangeCursor) {
        let fact = &self.world.pages[page as usize];
        let host = &self.world.hosts[fact.host as usize];
        let end = self.to.min(fact.dies);
        while cursor.at() < end {
            if self.random.uniform() < f64::from(host.recall) {
                let at = cursor.at() + host.delay;
                self.waiting.push(Signal { at, page, cause: Cause::Change(cursor) });
                return;
            }
            cursor = self.world.truth.next(page, cursor);
        }
    }

    fn wait_for_nothing(&mut self, page: u32, after: Days, rate: f64) {
        let at = after - self.random.uniform().ln() / rate;
        if at < self.to.min(self.world.pages[page as usize].dies) {
            self.waiting.push(Signal { at, page, cause: Cause::Nothing(rate) });
        }
    }
}

impl Ord for Signal {
    /// The earliest is the greatest, so that the heap gives it first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.total_cmp(&self.at).then(other.page.cmp(&self.page))
    }
}

impl PartialOrd for Signal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Signal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Signal {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::poisson;

    #[test]
    fn signals_come_as_often_as_recall_and_precision_say() {
        let mut world = poisson(1, &[0.5; 400], 0.0, 100.0);
        let host = &mut world.hosts[0];
        (host.recall, host.precision, host.delay) = (0.6, 0.75, 0.25);
        let changes = world.truth.all(400, 100.0);
        let mut signals = Signals::new(&world, 0.0, 100.0, 7);
        let (mut told, mut true_ones, mut before) = (0.0, 0.0, 0.0);
        while let Some((page, at)) = signals.next(200.0) {
            assert!(at >= before, "in order of time");
            before = at;
            told += 1.0;
            true_ones += f64::from(changes.changes_of(page).any(|change| change + 0.25 == at));
        }
        let all = (0..400).map(|page| changes.changes_of(page).count()).sum::<usize>() as f64;
        assert!((true_ones / all - 0.6).abs() < 0.02, "recall {}", true_ones / all);
        assert!((true_ones / told - 0.75).abs() < 0.02, "precision {}", true_ones / told);
    }

    #[test]
    fn hosts_that_tell_nothing_send_nothing() {
        let world = poisson(1, &[1.0; 9], 0.0, 100.0);
        assert_eq!(Signals::new(&world, 0.0, 100.0, 7).next(200.0), None);
    }
}
