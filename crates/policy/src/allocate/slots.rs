//! When should a page be fetched that can change only at known moments?
//!
//! Wolf et al.'s quasi-deterministic pages: an update at time u_k happens with probability p_k. It
//! never pays to fetch anywhere but right after such a moment, so moments are chosen, exactly.

/// A moment at which the page may change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Update {
    /// When.
    pub time: f64,
    /// With which probability.
    pub chance: f64,
}

impl Update {
    fn likely(self) -> f64 {
        if self.chance > 0.0 { self.chance.min(1.0) } else { 0.0 }
    }
}

/// The best choice of moments.
#[derive(Debug, Clone, PartialEq)]
pub struct SlotChoice {
    /// Which updates to fetch right after, in order.
    pub slots: Vec<usize>,
    /// The stale part of the span.
    pub staleness: f64,
}

/// Chooses at most `fetches` of the updates so that a page fresh at 0 is least stale up to `span`.
///
/// Dynamic programming over the last fetched moment: O(Q²x) for Q updates and x fetches. Updates must
/// be in order of time; what lies outside the span, or before an earlier one, counts as at its edge.
pub fn choose_slots(updates: &[Update], span: f64, fetches: usize) -> SlotChoice {
    if span.is_nan() || span <= 0.0 {
        return SlotChoice { slots: Vec::new(), staleness: 0.0 };
    }
    let tail = Tails::new(updates, span);
    let count = updates.len();
    // least[j]: stale time up to moment j, which is fetched; place 0 is the start.
    let mut least = vec![f64::INFINITY; count + 1];
    least[0] = 0.0;
    let mut from: Vec<Vec<usize>> = Vec::new();
    let mut best = (tail.between(0, count + 1), 0, 0);
    for used in 1..=fetches.min(count) {
        let (next, chosen) = tail.step(&least);
        from.push(chosen);
        least = next;
        for (last, stale) in least.iter().enumerate() {
            let whole = stale + tail.between(last, count + 1);
            if whole < best.0 {
                best = (whole, used, last);
            }
        }
    }
    let (whole, used, mut last) = best;
    let mut slots: Vec<usize> = Vec::with_capacity(used);
    for chosen in from[..used].iter().rev() {
        slots.push(last - 1);
        last = chosen[last];
    }
    slots.reverse();
    SlotChoice { slots, staleness: whole / span }
}

/// Stale times between two fetches, for all pairs of moments: place 0 is the start, Q+1 the end.
struct Tails {
    places: usize,
    stale: Vec<f64>,
}

impl Tails {
    fn new(updates: &[Update], span: f64) -> Self {
        let places = updates.len() + 2;
        let mut times = vec![0.0];
        for update in updates {
            let earlier = times.last().copied().unwrap_or(0.0);
            times.push(update.time.max(earlier).min(span));
        }
        times.push(span);
        let mut stale = vec![0.0; places * places];
        for start in 0..places - 1 {
            let (mut fresh, mut sum) = (1.0, 0.0);
            for end in start + 1..places {
                sum += (1.0 - fresh) * (times[end] - times[end - 1]);
                stale[start * places + end] = sum;
                fresh *= updates.get(end - 1).map_or(1.0, |update| 1.0 - update.likely());
            }
        }
        Self { places, stale }
    }

    fn between(&self, start: usize, end: usize) -> f64 {
        self.stale[start * self.places + end]
    }

    /// One fetch more: the least stale time up to each moment, and the moment fetched before it.
    fn step(&self, least: &[f64]) -> (Vec<f64>, Vec<usize>) {
        let mut next = vec![f64::INFINITY; least.len()];
        let mut chosen = vec![0; least.len()];
        for end in 1..least.len() {
            for (start, before) in least[..end].iter().enumerate() {
                let stale = before + self.between(start, end);
                if stale < next[end] {
                    (next[end], chosen[end]) = (stale, start);
                }
            }
        }
        (next, chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::testing::{assert_close, number, numbers};
    use crate::random::SplitMix64;
    use crate::testing::golden;

    #[test]
    fn the_example_matches_the_reference_numbers() {
        let Some(golden) = golden("quasi_det") else { return };
        let updates: Vec<Update> = numbers(&golden["times"])
            .into_iter()
            .zip(numbers(&golden["probs"]))
            .map(|(time, chance)| Update { time, chance })
            .collect();
        for row in golden["best"].as_array().unwrap() {
            let got = choose_slots(&updates, number(&golden, "T"), number(row, "x") as usize);
            let slots: Vec<usize> = numbers(&row["slots"]).iter().map(|s| *s as usize).collect();
            assert_eq!(got.slots, slots);
            assert_close(got.staleness, number(row, "stale"), 1e-9);
        }
    }

    /// The stale part for one set of fetched moments, straight from the definition.
    fn staleness(updates: &[Update], span: f64, fetched: u32) -> f64 {
        let (mut fresh, mut sum, mut now) = (1.0, 0.0, 0.0);
        for (i, update) in updates.iter().enumerate() {
            sum += (1.0 - fresh) * (update.time - now);
            now = update.time;
            fresh = if fetched >> i & 1 == 1 { 1.0 } else { fresh * (1.0 - update.chance) };
        }
        (sum + (1.0 - fresh) * (span - now)) / span
    }

    #[test]
    fn no_other_choice_is_better() {
        let mut random = SplitMix64::new(12);
        for _ in 0..50 {
            let mut times: Vec<f64> = (0..6).map(|_| 10.0 * random.uniform()).collect();
            times.sort_by(f64::total_cmp);
            let chance = |time| Update { time, chance: random.uniform() };
            let updates: Vec<Update> = times.into_iter().map(chance).collect();
            for fetches in 0..=6 {
                let brute = (0u32..64)
                    .filter(|set| set.count_ones() as usize <= fetches)
                    .map(|set| staleness(&updates, 10.0, set))
                    .fold(f64::INFINITY, f64::min);
                assert_close(choose_slots(&updates, 10.0, fetches).staleness, brute, 1e-12);
            }
        }
    }

    #[test]
    fn edges_are_answered() {
        assert_eq!(choose_slots(&[], 10.0, 3).staleness, 0.0);
        assert_eq!(choose_slots(&[], f64::NAN, 3).staleness, 0.0);
        let odd = [
            Update { time: f64::NAN, chance: 2.0 },
            Update { time: -1.0, chance: f64::NAN },
            Update { time: 1e9, chance: 0.5 },
        ];
        assert!(choose_slots(&odd, 10.0, 2).staleness <= 1.0);
    }
}
