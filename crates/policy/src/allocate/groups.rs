//! What if pages are first gathered into groups, and the budget divided over groups?
//!
//! Carney, Lee and Zdonik's partitions (the survey's eq. 37 and 38). Obsolete as a way to save time,
//! since the exact optimum is one search for one number; kept for comparison, and where only group
//! means are known. Its text has slips: p is the access probability ("fetch frequency"), and the
//! clustering sentence's eq. 35 is eq. 38.

use evercrawl_estimate::VisitOrder;

use super::{Allocation, Demand, Objective, allocate};
use crate::index::IntervalLimits;

/// What pages are sorted by before they are cut into groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupingKey {
    /// Access probability p, here the weight.
    Access,
    /// Change rate λ.
    Rate,
    /// p/λ.
    AccessOverRate,
    /// p F(f₀, λ), the perceived freshness at one reference frequency for all.
    ///
    /// The survey's fourth key is garbled ("freshness under a given p"); this is how we read it.
    PerceivedFreshness,
}

/// Sorts pages by a key and cuts them into `count` groups of equal size; returns each page's group.
///
/// The reference frequency of [`GroupingKey::PerceivedFreshness`] is `reference`, usually budget/pages.
pub fn partition(pages: &[Demand], count: usize, key: GroupingKey, reference: f64) -> Vec<usize> {
    let value = |page: &Demand| match key {
        GroupingKey::Access => page.weight,
        GroupingKey::Rate => page.rate,
        GroupingKey::AccessOverRate => page.weight / page.rate,
        GroupingKey::PerceivedFreshness => {
            page.weight * VisitOrder::Fixed.freshness(page.rate, reference)
        }
    };
    let mut order: Vec<usize> = (0..pages.len()).collect();
    order.sort_by(|&a, &b| value(&pages[a]).total_cmp(&value(&pages[b])));
    let count = count.clamp(1, pages.len().max(1));
    let (size, longer) = (pages.len() / count, pages.len() % count);
    let mut group = vec![0; pages.len()];
    for (place, page) in order.into_iter().enumerate() {
        // The first `longer` groups hold one page more.
        let edge = longer * (size + 1);
        group[page] =
            if place < edge { place / (size + 1) } else { longer + (place - edge) / size };
    }
    group
}

/// Moves pages to the nearest group centre, `steps` times (k-means).
///
/// Distances are over weight and rate, each in units of its standard deviation. A group that loses
/// all its pages stays empty. Ten steps bring every key to about the same result.
pub fn refine(pages: &[Demand], group: &mut [usize], steps: usize) {
    let points = standardised(pages);
    let count = group.iter().max().map_or(0, |last| last + 1);
    for _ in 0..steps {
        let centres = centres(&points, group, count);
        let mut moved = false;
        for (point, group) in points.iter().zip(&mut *group) {
            let nearest = nearest(point, &centres).unwrap_or(*group);
            moved |= nearest != *group;
            *group = nearest;
        }
        if !moved {
            break;
        }
    }
}

/// Divides `budget` over groups as if all pages of a group were their mean, evenly within each.
///
/// Maximises Σ p̄ T F(f, λ̄) with Σ T f = B over groups of T pages.
pub fn allocate_groups(pages: &[Demand], group: &[usize], budget: f64) -> Allocation {
    let count = group.iter().max().map_or(0, |last| last + 1);
    let mut means = vec![Demand { rate: 0.0, weight: 0.0, cost: 0.0 }; count];
    let mut sizes = vec![0.0; count];
    for (page, &group) in pages.iter().zip(group) {
        means[group].rate += page.rate;
        means[group].weight += page.weight;
        means[group].cost += page.price();
        sizes[group] += 1.0;
    }
    means.iter_mut().zip(&sizes).for_each(|(mean, size)| mean.rate /= f64::max(*size, 1.0));
    let best = allocate(Objective::Freshness, &means, budget, IntervalLimits::NONE);
    let frequency = group.iter().map(|&group| best.frequency[group]).collect();
    Allocation { mu: best.mu, frequency }
}

/// Weight and rate of each page, brought to mean 0 and deviation 1.
fn standardised(pages: &[Demand]) -> Vec<[f64; 2]> {
    let n = pages.len() as f64;
    let scale = |value: fn(&Demand) -> f64| {
        let mean = pages.iter().map(value).sum::<f64>() / n;
        let variance = pages.iter().map(|page| (value(page) - mean).powi(2)).sum::<f64>() / n;
        (mean, if variance > 0.0 { variance.sqrt() } else { 1.0 })
    };
    let (weight, rate) = (scale(|page| page.weight), scale(|page| page.rate));
    let point =
        |page: &Demand| [(page.weight - weight.0) / weight.1, (page.rate - rate.0) / rate.1];
    pages.iter().map(point).collect()
}

fn centres(points: &[[f64; 2]], group: &[usize], count: usize) -> Vec<Option<[f64; 2]>> {
    let mut sums = vec![([0.0; 2], 0.0); count];
    for (point, &group) in points.iter().zip(group) {
        let (sum, size) = &mut sums[group];
        *sum = [sum[0] + point[0], sum[1] + point[1]];
        *size += 1.0;
    }
    sums.into_iter().map(|(sum, size)| (size > 0.0).then(|| sum.map(|s| s / size))).collect()
}

fn nearest(point: &[f64; 2], centres: &[Option<[f64; 2]>]) -> Option<usize> {
    let mut best = (f64::INFINITY, None);
    for (group, centre) in centres.iter().enumerate() {
        let Some(centre) = centre else { continue };
        let distance = (point[0] - centre[0]).powi(2) + (point[1] - centre[1]).powi(2);
        if distance < best.0 {
            best = (distance, Some(group));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::testing::{assert_close, number, population};
    use crate::testing::golden;

    fn name(key: &str) -> GroupingKey {
        match key {
            "p" => GroupingKey::Access,
            "lam" => GroupingKey::Rate,
            "p/lam" => GroupingKey::AccessOverRate,
            _ => GroupingKey::PerceivedFreshness,
        }
    }

    #[test]
    fn all_keys_with_and_without_clustering_match_the_reference_numbers() {
        let Some(golden) = golden("carney2000") else { return };
        let pages = population(7, 2000, |u| -2.0 * u.ln(), |u| u.powf(-0.6));
        let value = |f: &[f64]| Objective::Freshness.value(&pages, f);
        let best = allocate(Objective::Freshness, &pages, 1000.0, IntervalLimits::NONE);
        assert_close(value(&best.frequency), number(&golden, "PF_opt"), 1e-9);
        let total: f64 = pages.iter().map(|page| page.weight).sum();
        assert_close(best.mu / total, number(&golden, "mu"), 1e-9);
        for row in golden["table"].as_array().unwrap() {
            let key = name(row["key"].as_str().unwrap());
            let mut group = partition(&pages, number(row, "G") as usize, key, 0.5);
            let plain = value(&allocate_groups(&pages, &group, 1000.0).frequency);
            assert_close(plain, number(row, "PF"), 1e-9);
            assert_close(plain / value(&best.frequency), number(row, "ratio"), 1e-9);
            refine(&pages, &mut group, 10);
            let refined = value(&allocate_groups(&pages, &group, 1000.0).frequency);
            assert_close(refined / value(&best.frequency), number(row, "ratio_kmeans10"), 1e-9);
        }
    }

    #[test]
    fn a_group_for_every_page_is_the_optimum() {
        let pages = population(1, 50, |u| -u.ln(), |u| 1.0 / u);
        let group = partition(&pages, 50, GroupingKey::Rate, 1.0);
        let (grouped, best) = (
            allocate_groups(&pages, &group, 20.0).frequency,
            allocate(Objective::Freshness, &pages, 20.0, IntervalLimits::NONE).frequency,
        );
        assert!(grouped.iter().zip(&best).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    #[test]
    fn edges_are_answered() {
        assert!(partition(&[], 5, GroupingKey::Rate, 1.0).is_empty());
        assert!(allocate_groups(&[], &[], 1.0).frequency.is_empty());
        let same = [Demand::new(1.0, 1.0); 3];
        let mut group = partition(&same, 9, GroupingKey::AccessOverRate, 0.0);
        refine(&same, &mut group, 10);
        assert!((allocate_groups(&same, &group, 3.0).frequency[0] - 1.0).abs() < 1e-9);
        let mut odd = partition(&[Demand::new(f64::NAN, 1.0); 2], 0, GroupingKey::Rate, 1.0);
        refine(&[Demand::new(f64::NAN, 1.0); 2], &mut odd, 3);
        assert_eq!(odd, [0, 0]);
    }
}
