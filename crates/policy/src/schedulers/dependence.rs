//! `S1`: members that follow their top alike are fetched together, at the pace of the closest.

use evercrawl_sites::{
    Pairing, Partition, PartitionMethod, Server, dependence, mean_gap, pivot_groups, width_groups,
};

use crate::page::{Days, Page, VisitEvidence};
use crate::policy::{Policy, Round};
use crate::schedulers::mean;

/// How many updates of a page are remembered.
const REMEMBERED: usize = 64;

/// How members are put together by their dependence values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Grouping {
    /// Connected components of the interval graph at this width and tolerance, as S1 has it.
    Components {
        /// The share by which a value is widened to either side.
        width: f64,
        /// The share of an interval's length that an overlap must reach to count.
        tolerance: f64,
    },
    /// Around pivots, with this width: no chains. Recommended.
    Pivots {
        /// The share above the smallest value up to which others join it.
        width: f64,
    },
}

/// Hiromichi et al.'s incremental archiving (B15): each group is fetched together, every mean gap
/// between the updates of the member closest to the top.
///
/// S1 measured dependence on a complete record of updates. Here it is learned from what visits find,
/// after the record of the past if there is one. Pages of which too little is known keep the mean
/// pace of all.
#[derive(Debug)]
pub struct Dependence {
    partition: Partition,
    grouping: Grouping,
    updates: Vec<Vec<Days>>,
    interval: Vec<Days>,
    usual: Days,
}

impl Dependence {
    /// Cuts `server` by `method`; `past` are the `(page, time)` of updates known from before.
    pub fn new(
        server: &Server,
        method: PartitionMethod,
        grouping: Grouping,
        past: &[(u32, Days)],
    ) -> Self {
        let pages = server.pages();
        let mut updates = vec![Vec::new(); pages];
        for &(page, at) in past {
            if let Some(updates) = updates.get_mut(page as usize) {
                updates.push(at);
            }
        }
        let partition = Partition::new(server, method);
        Dependence { partition, grouping, updates, interval: vec![1.0; pages], usual: 1.0 }
    }

    fn interval(&self, page: &Page) -> Days {
        self.interval.get(page.id as usize).copied().unwrap_or(self.usual)
    }

    /// Sets the pace of every page: of its group, or the usual one.
    fn pace(&mut self, usual: Days) {
        let gaps: Vec<Days> = self.updates.iter().map(|times| mean_gap(times)).collect();
        let finite = gaps.iter().copied().filter(|gap| gap.is_finite() && *gap > 0.0);
        self.usual = mean(finite).unwrap_or(usual);
        let or_usual = |gap: Days| if gap.is_finite() && gap > 0.0 { gap } else { self.usual };
        self.interval = gaps.iter().map(|&gap| or_usual(gap)).collect();
        for site in self.partition.sites() {
            let members = self.partition.members(site);
            for group in self.groups(site) {
                let Some(&closest) = group.first() else { continue };
                let pace = or_usual(gaps[members[closest as usize] as usize]);
                for member in group {
                    self.interval[members[member as usize] as usize] = pace;
                }
            }
        }
    }

    /// The members of `site` in groups, each by rising dependence on the first top.
    fn groups(&self, site: u32) -> Vec<Vec<u32>> {
        let Some(&top) = self.partition.tops(site).first() else { return Vec::new() };
        let of_top = &self.updates[top as usize];
        let of_member =
            |&member: &u32| dependence(of_top, &self.updates[member as usize], Pairing::Nearest);
        let values: Vec<f64> = self.partition.members(site).iter().map(of_member).collect();
        match self.grouping {
            Grouping::Components { width, tolerance } => width_groups(&values, width, tolerance),
            Grouping::Pivots { width } => pivot_groups(&values, width),
        }
    }
}

impl Policy for Dependence {
    fn record_discovery(&mut self, page: &mut Page, now: Days) {
        page.due = if page.is_known() { page.last + self.interval(page) } else { now };
    }

    fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence) {
        if let (true, Some(times)) = (seen.changed, self.updates.get_mut(page.id as usize)) {
            if times.len() >= REMEMBERED {
                times.remove(0);
            }
            times.push(seen.age.map_or(seen.at, |age| seen.at - age));
        }
        page.due = seen.at + self.interval(page);
    }

    fn plan_round(&mut self, round: &Round, pages: &mut [Page]) -> bool {
        let alive = pages.iter().filter(|page| page.alive).count();
        let turn = if round.rate() > 0.0 { alive as f64 / round.rate() } else { self.usual };
        self.pace(turn.max(f64::MIN_POSITIVE));
        for page in pages.iter_mut().filter(|page| page.is_known()) {
            page.due = page.last + self.interval(page);
        }
        true
    }

    fn explain(&self, page: &Page, _now: Days) -> Vec<(&'static str, f64)> {
        vec![("interval", self.interval(page))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A top 0 and members 1 to 4, of which 1 and 2 follow it closely, 3 late, 4 never changes.
    fn policy(grouping: Grouping) -> Dependence {
        let links = [(0, 1), (0, 2), (0, 3), (0, 4)];
        let server = Server::new(&[0; 5], &links, &[0]);
        let every = |page: u32, gap: f64, lag: f64| {
            let times = (1..9).map(move |i| f64::from(i) * gap + lag);
            times.take_while(|at| *at < 85.0).map(move |at| (page, at))
        };
        let past: Vec<(u32, Days)> = every(0, 10.0, 0.0)
            .chain(every(1, 10.0, 0.5))
            .chain(every(2, 20.0, 0.51))
            .chain(every(3, 30.0, 4.0))
            .collect();
        Dependence::new(&server, PartitionMethod::A, grouping, &past)
    }

    #[test]
    fn groups_keep_the_pace_of_their_closest_member() {
        let mut policy = policy(Grouping::Pivots { width: 0.05 });
        policy.pace(1.0);
        assert_eq!(policy.interval[..4], [10.0, 10.0, 10.0, 30.0]);
        assert_eq!(policy.interval[4], policy.usual, "of 4 nothing is known");
    }

    #[test]
    fn width_zero_joins_only_equals() {
        let mut policy = policy(Grouping::Components { width: 0.0, tolerance: 0.0 });
        policy.pace(1.0);
        assert_eq!(policy.interval[..4], [10.0, 10.0, 20.0, 30.0]);
    }

    #[test]
    fn updates_are_learned_from_visits_and_bounded() {
        let mut policy = policy(Grouping::Pivots { width: 0.05 });
        let mut page = Page { last: 0.0, ..Page::new(4) };
        for day in 1..200 {
            let visit = crate::page::Visit::new(f64::from(day), crate::page::Finding::Changed);
            let seen = page.record(&visit);
            policy.record_visit(&mut page, &seen);
        }
        assert_eq!(policy.updates[4].len(), REMEMBERED);
        policy.pace(1.0);
        assert_eq!(policy.interval[4], 1.0);
    }
}
