//! What is believed of a page's change rate: its own evidence, on what its directory shows, on what
//! all pages show.

use evercrawl_estimate::{Evidence, Gamma, GroupRates, prior};

use crate::kept::Kept;
use crate::numbers::Dense;
use crate::page::{Kind, Page};

/// Where a page's evidence is noted, and by how much it counts in its directory.
const CHANGES: usize = 0;
const TIME: usize = 1;
const COUNTED: usize = 2;

/// How many pages the prior is fitted to.
const SAMPLE: usize = 500;

/// Checks from which on a fitted prior is more than a guess.
const ENOUGH: u64 = 10;

/// How many changes' worth of certainty a belief begins with at least, where pages of a directory are taken to be alike:
/// however much pages differ, one that was quiet for a year is not quiet for ever.
const LEAST_CERTAIN: f64 = 1.0;

/// The priors from which the belief about any page starts.
#[derive(Debug)]
pub(crate) struct Beliefs {
    /// The belief about a page of which nothing is known.
    all: Gamma,
    directories: Dense<GroupRates>,
    alike: Alike,
    /// How many changes' worth of certainty it may begin with.
    most_certain: f64,
    checks_fitted: u64,
}

/// How much pages of a directory are taken to have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Alike {
    /// They differ as any pages do: their rates are averaged, page by page.
    Hardly,
    /// They differ as they are seen to, which is less where directories differ: their evidence is put
    /// together, and what was seen of some says more of the others. Few pages of a quiet directory need
    /// be looked at to leave the rest alone.
    AsSeen,
}

impl Beliefs {
    pub(crate) fn new(all: Gamma, alike: Alike) -> Self {
        let directories = Dense::default();
        Beliefs { all, directories, alike, most_certain: f64::INFINITY, checks_fitted: 0 }
    }

    /// The same with no more than so many changes' worth of certainty before a page's own visits, however alike
    /// pages are seen to be.
    pub(crate) fn at_most(self, most_certain: f64) -> Self {
        Beliefs { most_certain, ..self }
    }

    /// What was learned of all pages and of directories.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.all.write(out);
        self.directories.write(out);
        self.checks_fitted.write(out);
    }

    /// Takes up what [`write`](Self::write) gave.
    pub(crate) fn read(&self, from: &mut &[u8]) -> Option<Self> {
        let (all, directories) = (Kept::read(from)?, Kept::read(from)?);
        let Beliefs { alike, most_certain, .. } = *self;
        Some(Beliefs { all, directories, alike, most_certain, checks_fitted: Kept::read(from)? })
    }

    /// What is believed of a page of this directory before its first check.
    pub(crate) fn prior(&self, page: &Page) -> Gamma {
        let directory = self.directories.get(page.group).copied().unwrap_or_default();
        directory.prior(self.all, self.alike.pull())
    }

    /// Has what is known of the directory of `page` brought from memory.
    pub(crate) fn touch(&self, page: &Page) {
        std::hint::black_box(self.directories.get(page.group).map(|rates| rates.sum));
    }

    pub(crate) fn of(&self, page: &Page) -> Gamma {
        evidence(page).on(self.prior(page))
    }

    /// Learns what a check of `page` showed, as `observe` makes it of the belief so far.
    pub(crate) fn learn(&mut self, page: &mut Page, observe: impl FnOnce(Gamma) -> Gamma) {
        let prior = self.prior(page);
        let learned = observe(evidence(page).on(prior));
        let evidence = Evidence::since(prior, learned);
        let counted = match self.alike {
            Alike::Hardly => learned.mean(),
            Alike::AsSeen => prior.rate(),
        };
        if page.kind == Kind::Page {
            let (old, new) = (self.counted(page), self.alike.counted(evidence, counted));
            self.directories.get_or_insert(page.group, GroupRates::default).exchange(old, new);
        }
        page.note[CHANGES] = evidence.changes as f32;
        page.note[TIME] = evidence.time as f32;
        page.note[COUNTED] = counted as f32;
    }

    /// Fits the prior to all pages, if enough was seen since the last time. Returns how many times as often as
    /// before pages are believed to change.
    pub(crate) fn fit(&mut self, pages: &[Page]) -> f64 {
        let Some(sample) = self.sample(pages) else { return 1.0 };
        let before = self.all.mean();
        let all = self.fitted(&sample, evidence);
        self.all = match self.alike {
            Alike::Hardly => all,
            Alike::AsSeen => {
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

    /// A sample of the pages that were checked; none if little was seen since the last time. Lists of pages
    /// change whenever one of many does, and tell nothing of how often that is.
    fn sample<'a>(&mut self, pages: &'a [Page]) -> Option<Vec<&'a Page>> {
        let checked = pages.iter().filter(|page| page.checks > 0 && page.kind == Kind::Page);
        let checks: u64 = checked.clone().map(|page| u64::from(page.checks)).sum();
        // Each fit sees a fifth more than the one before: few fits, none of them stale for long.
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

    /// The evidence of a page, in a time by which the other pages of its directory change as all do.
    fn compared(&self, page: &Page) -> Evidence {
        let directory = self.directories.get(page.group).copied().unwrap_or_default();
        let others = directory.without(self.counted(page)).prior(self.all, self.alike.pull());
        let Evidence { changes, time } = evidence(page);
        Evidence { changes, time: time * others.mean() / self.all.mean() }
    }

    /// What `page` has added to its directory.
    fn counted(&self, page: &Page) -> GroupRates {
        match f64::from(page.note[COUNTED]) {
            0.0 => GroupRates::default(),
            counted => self.alike.counted(evidence(page), counted),
        }
    }
}

impl Alike {
    /// How many pages' worth of evidence a directory must show before its mean is its own.
    ///
    /// Where evidence is put together more is asked for: pages of a directory are edited together, so that two dozen
    /// of them that were quiet, or were not, are not two dozen witnesses.
    fn pull(self) -> f64 {
        match self {
            Alike::Hardly => 2.0,
            Alike::AsSeen => 24.0,
        }
    }

    fn counted(self, evidence: Evidence, counted: f64) -> GroupRates {
        match self {
            Alike::Hardly => GroupRates::of_page(counted),
            Alike::AsSeen => GroupRates::of_evidence(evidence, counted),
        }
    }
}

/// Believes of `page` what is believed of `former`. Its directory hears of it at the next check.
pub(crate) fn inherit(former: &Page, page: &mut Page) {
    page.note[CHANGES] = former.note[CHANGES];
    page.note[TIME] = former.note[TIME];
}

/// What a fetch of `page` is worth for each unit of its cost.
pub(crate) fn importance(page: &Page) -> f64 {
    f64::from(page.weight) / f64::from(page.cost).max(f64::MIN_POSITIVE)
}

fn evidence(page: &Page) -> Evidence {
    Evidence { changes: f64::from(page.note[CHANGES]), time: f64::from(page.note[TIME]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Found, Visit};

    #[test]
    fn directories_tell_about_pages_never_checked() {
        for alike in [Alike::Hardly, Alike::AsSeen] {
            let mut beliefs = Beliefs::new(Gamma::with_mean(1.0 / 30.0, 1.0), alike);
            for id in 0..30 {
                let mut page = Page { last: 0.0, group: 5, ..Page::new(id) };
                page.record(&Visit::new(1.0, Found::Changed));
                beliefs.learn(&mut page, |belief| belief.observe_changed(1.0));
            }
            let rate = |group| beliefs.of(&Page { group, ..Page::new(99) }).mean();
            assert!(rate(5) > 3.0 * rate(6), "{} {}", rate(5), rate(6));
        }
    }

    /// The shape of the prior after half of the directories changed every week, and the others never.
    fn shape_learned(alike: Alike) -> f64 {
        shape_after(Beliefs::new(Gamma::with_mean(1.0 / 30.0, 1.0), alike), |page| page.group < 5)
    }

    /// The same after those pages changed every week.
    fn shape_after(mut beliefs: Beliefs, changes: impl Fn(&Page) -> bool) -> f64 {
        let pages = (0..200).map(|id| {
            let mut page = Page { last: 0.0, group: id % 10, ..Page::new(id) };
            let changed = changes(&page);
            let found = if changed { Found::Changed } else { Found::Same };
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
        let (hardly, seen) = (shape_learned(Alike::Hardly), shape_learned(Alike::AsSeen));
        assert!(seen > 3.0 * hardly, "{seen} {hardly}");
        let bounded = Beliefs::new(Gamma::with_mean(1.0 / 30.0, 1.0), Alike::AsSeen).at_most(1.0);
        assert_eq!(shape_after(bounded, |page| page.group < 5), 1.0, "but never more than may be");
    }

    #[test]
    fn a_quiet_page_beside_busy_ones_is_not_given_up() {
        let beliefs = |alike| Beliefs::new(Gamma::with_mean(1.0 / 30.0, 1.0), alike);
        let every_twentieth = |page: &Page| page.id % 20 == page.group;
        assert!(shape_after(beliefs(Alike::Hardly), every_twentieth) < 0.5);
        assert_eq!(shape_after(beliefs(Alike::AsSeen), every_twentieth), LEAST_CERTAIN);
    }
}
