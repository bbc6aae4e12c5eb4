//! How are refreshing old pages and fetching new ones planned together over coming epochs?
//!
//! **A reconstruction.** The survey names WebFountain's model (Edwards, McCurley and Tomlin 2001,
//! its eq. 24) without its constraints; this is built from the names and counts it gives, with bucket
//! sizes that stay as they are. It must not be cited as the paper's model. Superseded by the index
//! rule; what stays is the idea of one budget for new and old pages.

const SWEEPS: usize = 100;
const MOVES: usize = 200;
const NEARBY: usize = 2;

/// A bucket of pages that change alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeRateBucket {
    /// Number of pages, b.
    pub size: f64,
    /// Share of its fresh pages that go stale in an epoch, ρ.
    pub change: f64,
    /// Stale pages at the start, y₀.
    pub stale: f64,
    /// What a stale page costs per epoch (the survey's oldwt).
    pub weight: f64,
}

/// The problem: min Σ_t [Σ_i oldwt y_it + newwt n_t] (the survey prints newwt with a spurious i).
///
/// ```text
/// y_t = (y_(t-1) + ρ(b - y_(t-1)))(1 - x_t/b),   n_t = n_(t-1) + new_t - z_t
/// Σ cost_old x_it + cost_new z_t <= capacity_t,   0 <= x <= b,   0 <= z_t <= n_(t-1) + new_t
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Epochs {
    /// The buckets of known pages.
    pub buckets: Vec<ChangeRateBucket>,
    /// New pages waiting at the start, n₀.
    pub waiting: f64,
    /// New pages found in each epoch.
    pub arriving: Vec<f64>,
    /// What can be spent in each epoch; as many epochs are planned.
    pub capacity: Vec<f64>,
    /// What refreshing a page costs.
    pub cost_old: f64,
    /// What fetching a new page costs.
    pub cost_new: f64,
    /// What a waiting new page costs per epoch (newwt).
    pub weight_new: f64,
    /// What each epoch counts (the t of oldwt and newwt); those beyond the end of the list count 1.
    pub emphasis: Vec<f64>,
}

/// What to fetch in each epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct EpochPlan {
    /// Pages of each bucket to refresh, by bucket and epoch: x.
    pub old: Vec<Vec<f64>>,
    /// New pages to fetch, by epoch: z.
    pub new: Vec<f64>,
}

impl Epochs {
    /// Returns what a plan costs: the objective.
    pub fn cost(&self, plan: &EpochPlan) -> f64 {
        let old: f64 = (0..self.buckets.len())
            .map(|i| self.buckets[i].weight * self.emphasised(&self.stale_after(plan, i)))
            .sum();
        old + self.weight_new * self.emphasised(&self.waiting_after(&plan.new))
    }

    /// Returns how many pages a plan leaves stale at the end of each epoch.
    pub fn stale(&self, plan: &EpochPlan) -> Vec<f64> {
        let mut sums = vec![0.0; self.capacity.len()];
        for bucket in 0..self.buckets.len() {
            let stale = self.stale_after(plan, bucket);
            sums.iter_mut().zip(stale).for_each(|(sum, stale)| *sum += stale);
        }
        sums
    }

    /// Finds a good plan: a local optimum that no shift of new pages between epochs improves.
    ///
    /// The problem is not convex, but linear in each epoch alone: one epoch at a time is filled with
    /// what saves most per cost, until nothing changes. That cannot move new pages from one full
    /// epoch to another, so such moves are then tried, and kept if they help. No proof of a global
    /// optimum. A sweep takes O(buckets epochs²): meant for tens of either, not thousands.
    pub fn plan(&self) -> EpochPlan {
        let mut best = EpochPlan {
            old: vec![vec![0.0; self.capacity.len()]; self.buckets.len()],
            new: vec![0.0; self.capacity.len()],
        };
        self.settle(&mut best, true);
        let mut cost = self.cost(&best);
        for _ in 0..MOVES {
            let better = self
                .shifted(&best)
                .into_iter()
                .map(|plan| (self.cost(&plan), plan))
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .filter(|(moved, _)| *moved < cost - 1e-9 * cost.abs());
            let Some(better) = better else { break };
            (cost, best) = better;
        }
        best
    }

    /// Every plan that moves part of an epoch's new pages to one nearby, or drops it, settled again.
    fn shifted(&self, plan: &EpochPlan) -> Vec<EpochPlan> {
        let epochs = self.capacity.len();
        let mut plans = Vec::new();
        for from in 0..epochs {
            for to in from.saturating_sub(NEARBY)..(from + NEARBY + 1).min(epochs) {
                for share in [1.0, 0.5, 0.25] {
                    let mut moved = plan.clone();
                    let amount = plan.new[from] * share;
                    moved.new[from] -= amount;
                    if to != from {
                        moved.new[to] += amount;
                    }
                    if amount > 0.0 && self.allows(&moved.new) {
                        self.settle(&mut moved, false);
                        self.settle(&mut moved, true);
                        plans.push(moved);
                    }
                }
            }
        }
        plans
    }

    /// Fills epoch after epoch until nothing changes; with new pages held fixed, or not.
    fn settle(&self, plan: &mut EpochPlan, move_new: bool) {
        let mut cost = f64::INFINITY;
        for _ in 0..SWEEPS {
            (0..self.capacity.len()).for_each(|epoch| self.fill(plan, epoch, move_new));
            let now = self.cost(plan);
            if now.is_nan() || now >= cost - 1e-12 * cost.abs() {
                break;
            }
            cost = now;
        }
    }

    /// Spends an epoch's capacity on what saves most per cost, the rest of the plan as it is.
    fn fill(&self, plan: &mut EpochPlan, epoch: usize, move_new: bool) {
        let mut left = self.capacity[epoch].max(0.0);
        if !move_new {
            left -= self.cost_new * plan.new[epoch];
        }
        let new = self.buckets.len();
        let mut items: Vec<(f64, usize)> =
            (0..new).map(|i| (self.saving_old(plan, i, epoch), i)).collect();
        if move_new {
            plan.new[epoch] = 0.0;
            let to_come: f64 = (epoch..self.capacity.len()).map(|later| self.counts(later)).sum();
            items.push((self.weight_new * to_come / self.cost_new, new));
        }
        items.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (saving, item) in items {
            let (cost, room) = if item == new {
                (self.cost_new, self.room_for_new(&plan.new, epoch))
            } else {
                (self.cost_old, self.buckets[item].size)
            };
            let affordable = if cost > 0.0 { left.max(0.0) / cost } else { room };
            let amount = if saving > 0.0 { room.min(affordable).max(0.0) } else { 0.0 };
            left -= amount * cost;
            if item == new {
                plan.new[epoch] = amount;
            } else {
                plan.old[item][epoch] = amount;
            }
        }
    }

    /// What refreshing one page of a bucket saves from this epoch on, per cost.
    fn saving_old(&self, plan: &EpochPlan, bucket: usize, epoch: usize) -> f64 {
        let ChangeRateBucket { size, change, weight, stale } = self.buckets[bucket];
        let before =
            epoch.checked_sub(1).map_or(stale, |earlier| self.stale_after(plan, bucket)[earlier]);
        let (mut carried, mut sum) = (1.0, self.counts(epoch));
        for (later, x) in plan.old[bucket].iter().enumerate().skip(epoch + 1) {
            carried *= (1.0 - change) * (1.0 - x / size);
            sum += carried * self.counts(later);
        }
        weight * (before + change * (size - before)) / size * sum / self.cost_old
    }

    fn stale_after(&self, plan: &EpochPlan, bucket: usize) -> Vec<f64> {
        let ChangeRateBucket { size, change, stale, .. } = self.buckets[bucket];
        let mut now = stale;
        let step = |x: &f64| {
            now = (now + change * (size - now)) * (1.0 - x / size);
            now
        };
        plan.old[bucket].iter().map(step).collect()
    }

    fn counts(&self, epoch: usize) -> f64 {
        self.emphasis.get(epoch).copied().unwrap_or(1.0)
    }

    fn emphasised(&self, pages: &[f64]) -> f64 {
        pages.iter().enumerate().map(|(epoch, pages)| self.counts(epoch) * pages).sum()
    }

    fn waiting_after(&self, new: &[f64]) -> Vec<f64> {
        let mut now = self.waiting;
        let step = |(epoch, z): (usize, &f64)| {
            now += self.arriving.get(epoch).copied().unwrap_or(0.0) - z;
            now
        };
        new.iter().enumerate().map(step).collect()
    }

    /// How many more new pages an epoch can take without taking them from a later one.
    fn room_for_new(&self, new: &[f64], epoch: usize) -> f64 {
        self.waiting_after(new)[epoch..].iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn allows(&self, new: &[f64]) -> bool {
        let enough = self.waiting_after(new).iter().all(|n| *n > -1e-9);
        let affordable = new.iter().zip(&self.capacity).all(|(z, c)| z * self.cost_new <= c + 1e-9);
        enough && affordable
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::testing::{number, numbers};
    use crate::testing::golden;
    use serde_json::Value;

    fn example(golden: &Value) -> Epochs {
        let epochs = number(golden, "T") as usize;
        let (sizes, rates) = (numbers(&golden["b"]), numbers(&golden["rate"]));
        let stale = numbers(&golden["y0"]);
        let bucket = |i: usize| ChangeRateBucket {
            size: sizes[i],
            change: rates[i],
            stale: stale[i],
            weight: 1.0,
        };
        Epochs {
            buckets: (0..sizes.len()).map(bucket).collect(),
            waiting: number(golden, "n0"),
            arriving: vec![number(golden, "new"); epochs],
            capacity: vec![number(golden, "C"); epochs],
            cost_old: number(golden, "cost_old"),
            cost_new: number(golden, "cost_new"),
            weight_new: 1.0,
            emphasis: Vec::new(),
        }
    }

    #[test]
    fn the_references_plan_costs_what_it_says_and_ours_is_as_good() {
        let Some(golden) = golden("webfountain_reconstruction") else { return };
        let problem = example(&golden);
        let old = golden["x"].as_array().unwrap().iter().map(numbers).collect();
        let theirs = EpochPlan { old, new: numbers(&golden["z"]) };
        let want = number(&golden, "objective");
        assert!((problem.cost(&theirs) - want).abs() < 1e-6);
        assert!(problem.cost(&problem.plan()) < want + 1e-6);
    }

    #[test]
    fn plans_keep_within_capacity_and_supply() {
        let bucket = |size, change, stale| ChangeRateBucket { size, change, stale, weight: 1.0 };
        for capacity in [0.0, 7.0, 50.0, 1e6] {
            let problem = Epochs {
                buckets: vec![bucket(30.0, 0.5, 10.0), bucket(80.0, 0.05, 0.0)],
                waiting: 3.0,
                arriving: vec![5.0, 0.0, 9.0],
                capacity: vec![capacity; 3],
                cost_old: 1.0,
                cost_new: 1.5,
                weight_new: 2.0,
                emphasis: Vec::new(),
            };
            let plan = problem.plan();
            assert!(problem.allows(&plan.new));
            for epoch in 0..3 {
                let old: f64 = plan.old.iter().map(|bucket| bucket[epoch]).sum();
                assert!(old + 1.5 * plan.new[epoch] <= capacity + 1e-9);
            }
            let idle = EpochPlan { old: vec![vec![0.0; 3]; 2], new: vec![0.0; 3] };
            assert!(problem.cost(&plan) <= problem.cost(&idle));
        }
    }

    #[test]
    fn epochs_that_count_more_end_with_fewer_stale_pages() {
        let bucket = ChangeRateBucket { size: 50.0, change: 0.4, stale: 20.0, weight: 1.0 };
        let mut problem = Epochs {
            buckets: vec![bucket, ChangeRateBucket { change: 0.1, ..bucket }],
            waiting: 10.0,
            arriving: vec![10.0; 3],
            capacity: vec![30.0; 3],
            cost_old: 1.0,
            cost_new: 1.0,
            weight_new: 1.0,
            emphasis: vec![1.0; 3],
        };
        let alike = problem.plan();
        let end = problem.stale(&alike)[2];
        assert_eq!(alike, Epochs { emphasis: Vec::new(), ..problem.clone() }.plan());
        problem.emphasis = vec![1.0, 1.0, 100.0];
        assert!(problem.stale(&problem.plan())[2] <= end);
    }

    #[test]
    fn edges_are_answered() {
        let mut problem = Epochs {
            buckets: Vec::new(),
            waiting: 0.0,
            arriving: Vec::new(),
            capacity: Vec::new(),
            cost_old: 0.0,
            cost_new: 0.0,
            weight_new: 1.0,
            emphasis: Vec::new(),
        };
        assert_eq!(problem.cost(&problem.plan()), 0.0);
        problem.capacity = vec![f64::NAN, -1.0];
        problem.buckets =
            vec![ChangeRateBucket { size: 0.0, change: f64::NAN, stale: -1.0, weight: 1.0 }];
        assert_eq!(problem.plan().new.len(), 2);
    }
}
