//! Which pages are sampled as one, and what share of them had changed?

use std::collections::{BTreeMap, HashMap};

use crate::page::{Days, Page};
use crate::random::SplitMix64;
use crate::truth::ChangeTimes;

/// Pages that stand for each other: a host, a directory, or several of them that behaved alike.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cluster {
    /// The hosts or directories in it.
    pub(crate) units: Vec<u32>,
    /// Their live pages.
    pub(crate) pages: Vec<u32>,
    sampled: u32,
    changed: u32,
}

impl Cluster {
    /// The share of the sampled pages that had changed; 0 when none was sampled.
    pub(crate) fn ratio(&self) -> f64 {
        f64::from(self.changed) / f64::from(self.sampled.max(1))
    }
}

/// All clusters of a round.
#[derive(Debug, Default)]
pub(crate) struct Clusters {
    by_host: bool,
    pub(crate) all: Vec<Cluster>,
    of_unit: HashMap<u32, usize>,
    /// What each unit's ratio was in earlier rounds.
    past: HashMap<u32, f64>,
}

impl Clusters {
    /// Clusters the live pages anew: a unit is a host, or a directory where there is but one host; if
    /// there are more than `most` units, those with like ratios in the past are put together.
    pub(crate) fn form_clusters(&mut self, pages: &[Page], most: usize) {
        self.by_host =
            pages.first().is_some_and(|first| pages.iter().any(|p| p.host != first.host));
        let mut units: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for page in pages.iter().filter(|page| page.alive) {
            units.entry(self.unit(page)).or_default().push(page.id);
        }
        let mut units: Vec<(u32, Vec<u32>)> = units.into_iter().collect();
        let in_one = units.len().div_ceil(most.max(1)).max(1);
        if in_one > 1 {
            units.sort_by(|a, b| self.past(b.0).total_cmp(&self.past(a.0)));
        }
        self.all.clear();
        self.of_unit.clear();
        for (unit, pages) in units {
            if self.all.last().is_none_or(|cluster| cluster.units.len() == in_one) {
                self.all.push(Cluster::default());
            }
            self.of_unit.insert(unit, self.all.len() - 1);
            if let Some(cluster) = self.all.last_mut() {
                cluster.units.push(unit);
                cluster.pages.extend(pages);
            }
        }
    }

    /// The cluster that `page` belongs to.
    pub(crate) fn cluster_of(&self, page: &Page) -> Option<usize> {
        self.of_unit.get(&self.unit(page)).copied()
    }

    /// The ratios of all units in the past, for what they say about how units differ.
    pub(crate) fn past_ratios(&self) -> Vec<f64> {
        self.past.values().copied().collect()
    }

    /// Draws `size` pages of each cluster.
    pub(crate) fn draw_sample(&mut self, size: usize, random: &mut SplitMix64) -> Vec<u32> {
        let mut drawn = Vec::new();
        for cluster in &mut self.all {
            random.shuffle_front(&mut cluster.pages, size);
            drawn.extend(cluster.pages.iter().take(size));
        }
        drawn
    }

    /// Counts a sampled page.
    pub(crate) fn count(&mut self, page: &Page, changed: bool) {
        if let Some(cluster) = self.cluster_of(page).and_then(|at| self.all.get_mut(at)) {
            cluster.sampled += 1;
            cluster.changed += u32::from(changed);
        }
    }

    /// Counts every page, by the truth.
    pub(crate) fn count_all(&mut self, changes: &ChangeTimes, now: Days, pages: &[Page]) {
        for page in pages.iter().filter(|page| page.alive) {
            let stale = !page.is_known() || changes.changed_within(page.id, page.last, now);
            self.count(page, stale);
        }
    }

    /// Remembers the ratios, and returns the clusters by falling ratio. Among equals, the one with the lower ratio
    /// before comes first, so that they alternate.
    pub(crate) fn rank_by_ratio(&mut self) -> Vec<usize> {
        let before = |at: usize| self.all[at].units.first().map_or(0.0, |&unit| self.past(unit));
        let key = |at: usize| (-self.all[at].ratio(), before(at));
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (key(a), key(b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        for cluster in &self.all {
            for &unit in &cluster.units {
                let past = self.past.entry(unit).or_default();
                *past += 0.5 * (cluster.ratio() - *past);
            }
        }
        order
    }

    fn past(&self, unit: u32) -> f64 {
        self.past.get(&unit).copied().unwrap_or_default()
    }

    fn unit(&self, page: &Page) -> u32 {
        if self.by_host { page.host } else { page.group }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(groups: u32, each: u32) -> Vec<Page> {
        (0..groups * each).map(|id| Page { group: id / each, ..Page::new(id) }).collect()
    }

    #[test]
    fn units_are_directories_on_one_host_and_hosts_on_several() {
        let mut clusters = Clusters::default();
        let mut known = pages(3, 4);
        clusters.form_clusters(&known, 9);
        assert_eq!(clusters.all.len(), 3);
        known[0].host = 7;
        clusters.form_clusters(&known, 9);
        assert_eq!(clusters.all.len(), 2);
        known.iter_mut().for_each(|page| page.alive = false);
        clusters.form_clusters(&known, 0);
        assert!(clusters.all.is_empty() && clusters.rank_by_ratio().is_empty());
    }

    #[test]
    fn too_many_units_are_put_together_by_their_past() {
        let (mut clusters, known) = (Clusters::default(), pages(6, 2));
        clusters.form_clusters(&known, 6);
        for page in &known {
            clusters.count(page, page.group % 2 == 1);
        }
        assert_eq!(clusters.rank_by_ratio()[..3], [1, 3, 5]);
        clusters.form_clusters(&known, 2);
        assert_eq!(clusters.all.len(), 2);
        assert_eq!(clusters.all[0].units, [1, 3, 5]);
        let drawn = clusters.draw_sample(3, &mut SplitMix64::new(1));
        assert_eq!(drawn.len(), 6);
        assert_eq!(drawn.iter().filter(|&&id| known[id as usize].group % 2 == 1).count(), 3);
    }
}
