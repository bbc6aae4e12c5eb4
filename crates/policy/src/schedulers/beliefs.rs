//! What is believed about a page's change rate? Its own evidence, with priors from its directory and from all pages.

use evercrawl_estimate::{Evidence, Gamma, GroupRates, prior};

use crate::numbers::Dense;
use crate::page::{Page, PageKind};
use crate::persist::Persist;

/// Where a page's evidence is noted, and how much of it counts in its directory.
const CHANGES: usize = 0;
const TIME: usize = 1;
const COUNTED: usize = 2;

/// How many pages the prior is fitted to.
const SAMPLE: usize = 500;

/// From this many checks on, a fitted prior is more than a guess.
const ENOUGH: u64 = 10;

/// The least certainty of a prior, in changes, when pages of a directory are taken as similar: however much pages
/// differ, one that was quiet for a year will not be quiet forever.
const LEAST_CERTAIN: f64 = 1.0;

/// The priors for the belief about any page.
#[derive(Debug)]
pub(crate) struct Beliefs {
    /// The belief about a page without evidence.
    all: Gamma,
    directories: Dense<GroupRates>,
    alike: ShapePrior,
    /// The most certainty of a prior, in changes.
    most_certain: f64,
    checks_fitted: u64,
}

/// How similar pages of a directory are taken to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ShapePrior {
    /// As different as any pages: their rates are averaged, page by page.
    Hardly,
    /// As different as observed, which is less when directories differ from each other. Their evidence is pooled, so
    /// that some pages tell more about the others: few pages of a quiet directory need visits.
    AsSeen,
}

impl Beliefs {
    pub(crate) fn new(all: Gamma, alike: ShapePrior) -> Self {
        let directories = Dense::default();
        Beliefs { all, directories, alike, most_certain: f64::INFINITY, checks_fitted: 0 }
    }

    /// Bounds the certainty of a prior, in changes, however similar pages appear.
    pub(crate) fn with_max_certainty(self, most_certain: f64) -> Self {
        Beliefs { most_certain, ..self }
    }

    /// Encodes what was learned about all pages and about directories.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.all.write(out);
        self.directories.write(out);
        self.checks_fitted.write(out);
    }

    /// Restores what [`write`](Self::write) gave.
    pub(crate) fn read(&self, from: &mut &[u8]) -> Option<Self> {
        let (all, directories) = (Persist::read(from)?, Persist::read(from)?);
        let Beliefs { alike, most_certain, .. } = *self;
        Some(Beliefs { all, directories, alike, most_certain, checks_fitted: Persist::read(from)? })
    }

    /// The belief about a page of this directory before its first check.
    pub(crate) fn prior(&self, page: &Page) -> Gamma {
        let directory = self.directories.get(page.group).copied().unwrap_or_default();
        directory.prior(self.all, self.alike.pull())
    }

    /// Loads the entry of a page's directory into the cache.
    pub(crate) fn touch(&self, page: &Page) {
        std::hint::black_box(self.directories.get(page.group).map(|rates| rates.sum));
    }

    pub(crate) fn posterior_of(&self, page: &Page) -> Gamma {
        evidence(page).on(self.prior(page))
    }

    /// Learns from a check of `page`; `observe` updates the belief.
    pub(crate) fn learn(&mut self, page: &mut Page, observe: impl FnOnce(Gamma) -> Gamma) {
        let prior = self.prior(page);
        let learned = observe(evidence(page).on(prior));
        let evidence = Evidence::since(prior, learned);
        let counted = match self.alike {
            ShapePrior::Hardly => learned.mean(),
            ShapePrior::AsSeen => prior.rate(),
        };
        if page.kind == PageKind::Page {
            let (old, new) = (self.counted(page), self.alike.counted(evidence, counted));
            self.directories.get_or_insert(page.group, GroupRates::default).exchange(old, new);
        }
        page.note[CHANGES] = evidence.changes as f32;
        page.note[TIME] = evidence.time as f32;
        page.note[COUNTED] = counted as f32;
    }

    /// Fits the prior to all pages, if there is enough new evidence. Returns the factor by which the mean rate
    /// changed.
    pub(crate) fn fit(&mut self, pages: &[Page]) -> f64 {
        let Some(sample) = self.sample(pages) else { return 1.0 };
        let before = self.all.mean();
        let all = self.fitted(&sample, evidence);
        self.all = match self.alike {
            ShapePrior::Hardly => all,
            ShapePrior::AsSeen => {
                let within = self.fitted(&sample, |page| self.compared(page));
                let shape = within.shape().max(LEAST_CERTAIN).min(self.most_certain);
                Gamma::with_mean(all.mean(), shape)
            }
        };
        self.all.mean() / before
    }

    /// Whether the prior is more than a guess.
    pub(crate) fn is_fitted(&self) -> bool {
        self.checks_fitted >= ENOUGH
    }

    /// A sample of the checked pages; none if there is little new evidence. Sitemaps and feeds are left out: they
    /// change whenever one of many pages does.
    fn sample<'a>(&mut self, pages: &'a [Page]) -> Option<Vec<&'a Page>> {
        let checked = pages.iter().filter(|page| page.checks > 0 && page.kind == PageKind::Page);
        let checks: u64 = checked.clone().map(|page| u64::from(page.checks)).sum();
        // Each fit uses a fifth more evidence than the last: few fits, none of them stale for long.
        (checks * 5 > self.checks_fitted * 6).then(|| {
            self.checks_fitted = checks;
            let step = checked.clone().count().div_ceil(SAMPLE).max(1);
            checked.step_by(step).collect()
        })
    }

    fn fitted(&self, sample: &[&Page], evidence: impl Fn(&Page) -> Evidence) -> Gamma {
        let sample: Vec<Evidence> = sample.iter().map(|page| evidence(page)).collect();
        prior::fit(self.all, &sample)
    }

    /// The evidence of a page, in a unit of time in which the other pages of its directory change at the usual rate.
    fn compared(&self, page: &Page) -> Evidence {
        let directory = self.directories.get(page.group).copied().unwrap_or_default();
        let others = directory.without(self.counted(page)).prior(self.all, self.alike.pull());
        let Evidence { changes, time } = evidence(page);
        Evidence { changes, time: time * others.mean() / self.all.mean() }
    }

    /// What `page` has contributed to its directory.
    fn counted(&self, page: &Page) -> GroupRates {
        match f64::from(page.note[COUNTED]) {
            0.0 => GroupRates::default(),
            counted => self.alike.counted(evidence(page), counted),
        }
    }
}

impl ShapePrior {
    /// How many pages' worth of evidence a directory needs before its own mean counts more than the prior's.
    ///
    /// Pooled evidence needs more: pages of a directory are edited together, so two dozen quiet ones are not two
    /// dozen independent witnesses.
    fn pull(self) -> f64 {
        match self {
            ShapePrior::Hardly => 2.0,
            ShapePrior::AsSeen => 24.0,
        }
    }

    fn counted(self, evidence: Evidence, counted: f64) -> GroupRates {
        match self {
            ShapePrior::Hardly => GroupRates::of_page(counted),
            ShapePrior::AsSeen => GroupRates::of_evidence(evidence, counted),
        }
    }
}

/// Gives `page` the belief about `former`. Its directory learns of it at the next check.
pub(crate) fn inherit_belief(former: &Page, page: &mut Page) {
    page.note[CHANGES] = former.note[CHANGES];
    page.note[TIME] = former.note[TIME];
}

/// The value of a fetch of `page` per unit of cost.
pub(crate) fn importance(page: &Page) -> f64 {
    f64::from(page.weight) / f64::from(page.cost).max(f64::MIN_POSITIVE)
}

fn evidence(page: &Page) -> Evidence {
    Evidence { changes: f64::from(page.note[CHANGES]), time: f64::from(page.note[TIME]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Finding, Visit};

    #[test]
    fn directories_tell_about_pages_never_checked() {
        for alike in [ShapePrior::Hardly, ShapePrior::AsSeen] {
            let mut beliefs = Beliefs::new(Gamma::with_mean(1.0 / 30.0, 1.0), alike);
            for id in 0..30 {
                let mut page = Page { last: 0.0, group: 5, ..Page::new(id) };
                page.record(&Visit::new(1.0, Finding::Changed));
                beliefs.learn(&mut page, |belief| belief.observe_changed(1.0));
            }
            let rate = |group| beliefs.posterior_of(&Page { group, ..Page::new(99) }).mean();
            assert!(rate(5) > 3.0 * rate(6), "{} {}", rate(5), rate(6));
        }
    }

    /// The shape of the prior after half of the directories changed every week, and the others never.
    fn shape_learned(alike: ShapePrior) -> f64 {
        shape_after(Beliefs::new(Gamma::with_mean(1.0 / 30.0, 1.0), alike), |page| page.group < 5)
    }

    /// The same after those pages changed every week.
    fn shape_after(mut beliefs: Beliefs, changes: impl Fn(&Page) -> bool) -> f64 {
        let pages = (0..200).map(|id| {
            let mut page = Page { last: 0.0, group: id % 10, ..Page::new(id) };
            let changed = changes(&page);
            let found = if changed { Finding::Changed } else { Finding::Same };
            for week in 1..20 {
                page.record(&Visit::new(7.0 * f64::from(week), found));
                beliefs.learn(&mut page, |belief| match changed {
                    true => belief.observe_changed(7.0),
                    false => belief.observe_unchanged(7.0),
                });
            }
            page
        });
        let pages: Vec<Page> = pages.collect();
        beliefs.fit(&pages);
        beliefs.all.shape()
    }

    #[test]
    fn pages_of_one_directory_are_seen_to_be_alike() {
        let (hardly, seen) = (shape_learned(ShapePrior::Hardly), shape_learned(ShapePrior::AsSeen));
        assert!(seen > 3.0 * hardly, "{seen} {hardly}");
        let bounded = Beliefs::new(Gamma::with_mean(1.0 / 30.0, 1.0), ShapePrior::AsSeen)
            .with_max_certainty(1.0);
        assert_eq!(shape_after(bounded, |page| page.group < 5), 1.0, "but never more than may be");
    }

    #[test]
    fn a_quiet_page_beside_busy_ones_is_not_given_up() {
        let beliefs = |alike| Beliefs::new(Gamma::with_mean(1.0 / 30.0, 1.0), alike);
        let every_twentieth = |page: &Page| page.id % 20 == page.group;
        assert!(shape_after(beliefs(ShapePrior::Hardly), every_twentieth) < 0.5);
        assert_eq!(shape_after(beliefs(ShapePrior::AsSeen), every_twentieth), LEAST_CERTAIN);
    }
}
