//! Which members belong together by their dependence values?
//!
//! S1 orders a site's members in a heap by dependence, then joins those whose values coincide (an
//! interval graph), then those whose values lie within a width of each other. Joined pages are
//! fetched together. A member whose value is infinite (it has never been seen to change) joins
//! nobody.

/// A binary min-heap of members by dependence value; equal values by their place in the input.
///
/// Its root is the member closest to the top. It is only an ordering: S1 draws it, nothing needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct DependenceHeap {
    nodes: Vec<(f64, u32)>,
}

impl DependenceHeap {
    /// Builds the heap in linear time. What is not a number counts as infinite.
    pub fn new(values: &[f64]) -> Self {
        let nodes = values.iter().map(|&v| if v.is_nan() { f64::INFINITY } else { v }).zip(0u32..);
        let mut heap = DependenceHeap { nodes: nodes.collect() };
        for node in (0..heap.nodes.len() / 2).rev() {
            heap.sink(node);
        }
        heap
    }

    /// The member closest to the top and its value.
    pub fn root(&self) -> Option<(u32, f64)> {
        self.nodes.first().map(|&(value, member)| (member, value))
    }

    /// Members as the tree holds them: the children of place i stand at 2i+1 and 2i+2.
    pub fn members(&self) -> impl Iterator<Item = u32> {
        self.nodes.iter().map(|&(_, member)| member)
    }

    fn sink(&mut self, mut node: usize) {
        loop {
            let children = [2 * node + 1, 2 * node + 2].into_iter();
            let child =
                children.filter(|&c| c < self.nodes.len()).min_by(|&a, &b| self.order(a, b));
            match child {
                Some(child) if self.order(child, node).is_lt() => self.nodes.swap(child, node),
                _ => return,
            }
            node = child.unwrap_or(node);
        }
    }

    fn order(&self, a: usize, b: usize) -> std::cmp::Ordering {
        let (a, b) = (self.nodes[a], self.nodes[b]);
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
    }
}

/// An interval with a tolerance: a vertex of a max-tolerance graph (S1, section 2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DependenceInterval {
    /// Its left end.
    pub low: f64,
    /// Its right end.
    pub high: f64,
    /// How long an overlap must be to count; at most the interval's length.
    pub tolerance: f64,
}

impl DependenceInterval {
    /// What dependence `value` becomes at `width`: from `value (1 - width)` to `value (1 + width)`,
    /// tolerating overlaps up to the share `tolerance` of its length.
    pub fn around(value: f64, width: f64, tolerance: f64) -> Self {
        let (low, high) = (value * (1.0 - width), value * (1.0 + width));
        DependenceInterval { low, high, tolerance: (high - low) * tolerance }
    }

    /// Whether the two are joined: their overlap reaches the larger tolerance.
    ///
    /// With both tolerances 0 this is the interval graph.
    pub fn overlaps(&self, other: &DependenceInterval) -> bool {
        let overlap = self.high.min(other.high) - self.low.max(other.low);
        overlap >= self.tolerance.max(other.tolerance)
    }
}

/// The connected components of the graph in which two members are joined when the intervals around
/// their values are ([`DependenceInterval::around`], [`DependenceInterval::overlaps`]); smallest value first.
///
/// Chains join what lies far apart: at width 0.5 all of S1's pages fall into one group. That is why
/// [`pivot_groups`] is recommended. Width and tolerance are shares, clamped to 0..=1.
pub fn width_groups(values: &[f64], width: f64, tolerance: f64) -> Vec<Vec<u32>> {
    let (width, tolerance) = (share(width), share(tolerance));
    // Lengths grow with the values, so no interval contains another, and if two are joined so are
    // all between them: looking at neighbours is enough.
    grouped(values, |_, last, next| {
        let last = DependenceInterval::around(last, width, tolerance);
        last.overlaps(&DependenceInterval::around(next, width, tolerance))
    })
}

/// Groups in which the smallest value, the pivot, absorbs all up to `1 + width` times itself;
/// smallest first.
pub fn pivot_groups(values: &[f64], width: f64) -> Vec<Vec<u32>> {
    let width = share(width);
    grouped(values, |pivot, _, next| next <= pivot * (1.0 + width))
}

fn share(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
}

/// Walks through the values in ascending order and opens a new group whenever `joins(first value of
/// the group, last value, next value)` says no.
fn grouped(values: &[f64], joins: impl Fn(f64, f64, f64) -> bool) -> Vec<Vec<u32>> {
    let mut order: Vec<(f64, u32)> = values.iter().map(|v| v.abs()).zip(0..).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let (mut first, mut last) = (f64::NAN, f64::NAN);
    for (value, member) in order {
        match groups.last_mut() {
            Some(group) if value.is_finite() && joins(first, last, value) => group.push(member),
            _ => {
                groups.push(vec![member]);
                first = value;
            }
        }
        last = value;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_root_is_the_closest_and_parents_are_never_further_than_children() {
        let heap = DependenceHeap::new(&[5.0, f64::NAN, 2.0, 2.0, 9.0, 1.0, f64::INFINITY]);
        assert_eq!(heap.root(), Some((5, 1.0)));
        for node in 1..heap.nodes.len() {
            assert!(heap.order((node - 1) / 2, node).is_lt());
        }
        assert_eq!(DependenceHeap::new(&[]).root(), None);
    }

    #[test]
    fn unknown_values_join_nobody() {
        let values = [f64::INFINITY, 1.0, f64::NAN, 1.0, f64::INFINITY];
        assert_eq!(width_groups(&values, 1.0, 0.0).len(), 4);
        assert_eq!(pivot_groups(&values, 1.0)[0], [1, 3]);
    }

    #[test]
    fn tolerance_parts_what_mere_overlap_joins() {
        let values = [1.0, 1.3];
        assert_eq!(width_groups(&values, 0.2, 0.0).len(), 1);
        assert_eq!(width_groups(&values, 0.2, 0.5).len(), 2);
        let (wide, other) =
            (DependenceInterval::around(1.0, 0.2, 0.0), DependenceInterval::around(1.3, 0.2, 0.4));
        assert!(!wide.overlaps(&other) && !other.overlaps(&wide));
    }

    /// The definition itself: all pairs, joined transitively.
    fn by_definition(values: &[f64], width: f64, tolerance: f64) -> Vec<Vec<u32>> {
        let mut label: Vec<usize> = (0..values.len()).collect();
        for a in 0..values.len() {
            for b in 0..values.len() {
                let at = |v: f64| DependenceInterval::around(v, width, tolerance);
                if at(values[a]).overlaps(&at(values[b])) {
                    let (from, to) = (label[a], label[b]);
                    label.iter_mut().filter(|l| **l == from).for_each(|l| *l = to);
                }
            }
        }
        let mut groups: Vec<Vec<u32>> = (0..values.len())
            .map(|l| (0..values.len()).filter(|&i| label[i] == l).map(|i| i as u32).collect())
            .collect();
        groups.retain(|g: &Vec<u32>| !g.is_empty());
        groups.iter_mut().for_each(|g| g.sort_unstable());
        groups.sort();
        groups
    }

    proptest! {
        #[test]
        fn neighbours_decide_the_components(
            values in proptest::collection::vec(0.0f64..10.0, 0..25),
            width in 0.0f64..0.9,
            tolerance in 0.0f64..0.9,
        ) {
            let mut swept = width_groups(&values, width, tolerance);
            swept.iter_mut().for_each(|g| g.sort_unstable());
            swept.sort();
            prop_assert_eq!(swept, by_definition(&values, width, tolerance));
        }
    }
}
