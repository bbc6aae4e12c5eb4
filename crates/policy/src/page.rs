//! What does a policy know about a page, and what does a visit add?
//!
//! All that a policy keeps per page is in its [`Page`], a small plain value. The lab holds pages in a vector, the
//! live crawler in rows on disk; the policy does not know which. Times and intervals are in days, counted from any
//! fixed moment.

use crate::persist::{Persist, persist_fields};

/// A moment or an interval, in days.
pub type Days = f64;

/// A moment that never comes.
pub const NEVER: Days = f64::INFINITY;

/// A group of related pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    kind: u8,
    /// Its number among groups of its kind.
    pub number: u32,
}

impl Group {
    /// 0 for a [`Page::group`], 1 to 3 for the places of [`Page::kin`].
    pub fn kind(self) -> usize {
        usize::from(self.kind)
    }
}

/// The role of a page in the crawl.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageKind {
    /// A page to read.
    #[default]
    Page,
    /// A sitemap: a list of a host's pages, with the dates of their changes.
    Sitemap,
    /// A feed: a list of new pages.
    Feed,
}

impl Persist for PageKind {
    fn write(&self, out: &mut Vec<u8>) {
        (*self as u8).write(out);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        match u8::read(from)? {
            0 => Some(PageKind::Page),
            1 => Some(PageKind::Sitemap),
            2 => Some(PageKind::Feed),
            _ => None,
        }
    }
}

/// What is known about a page: its role, what its visits showed, and what its policy noted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Page {
    /// Its number, for policies that hold tables of their own (round-based ones do).
    pub id: u32,
    /// The number of its host.
    pub host: u32,
    /// The number of its directory, or of another group of similar pages.
    pub group: u32,
    /// The numbers of its section, hub and base ([`evercrawl_sites::GroupKeys`]); `u32::MAX` if it has none.
    pub kin: [u32; 3],
    /// Its role in the crawl.
    pub kind: PageKind,
    /// The value of a fresh copy; 1 if unknown.
    pub weight: f32,
    /// The cost of a fetch; 1 if unknown.
    pub cost: f32,
    /// When it was last visited successfully; minus infinity before the first time.
    pub last: Days,
    /// When it is due; [`NEVER`] when the policy names its pages, or does not want this one.
    pub due: Days,
    /// Visits that could tell whether it had changed.
    pub checks: u32,
    /// Those of them that found a change.
    pub changes: u32,
    /// Total time between those visits.
    pub watched: f32,
    /// The part of that time in which it is known not to have changed; NaN after a change without a date.
    pub unmodified: f32,
    /// Visits in a row that found it missing.
    pub missing: u8,
    /// Whether it may be fetched at all.
    pub alive: bool,
    /// The policy's own numbers; only the policy interprets them.
    pub note: [f32; 8],
}

persist_fields!(Page {
    id,
    host,
    group,
    kin,
    kind,
    weight,
    cost,
    last,
    due,
    checks,
    changes,
    watched,
    unmodified,
    missing,
    alive,
    note,
});

impl Page {
    /// A page with weight and cost 1 that was never visited.
    pub fn new(id: u32) -> Self {
        Page {
            id,
            host: 0,
            group: 0,
            kin: [u32::MAX; 3],
            kind: PageKind::Page,
            weight: 1.0,
            cost: 1.0,
            last: f64::NEG_INFINITY,
            due: NEVER,
            checks: 0,
            changes: 0,
            watched: 0.0,
            unmodified: 0.0,
            missing: 0,
            alive: true,
            note: [0.0; 8],
        }
    }

    /// Appends the encoding to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        Persist::write(self, out);
    }

    /// Reads what [`write`](Self::write) wrote, and advances `from`.
    pub fn read(from: &mut &[u8]) -> Option<Self> {
        Persist::read(from)
    }

    /// The groups it belongs to.
    pub fn groups(&self) -> impl Iterator<Item = Group> + use<> {
        let [section, hub, base] = self.kin;
        let numbers = [self.group, section, hub, base];
        let groups = (0u8..).zip(numbers).map(|(kind, number)| Group { kind, number });
        groups.filter(|group| group.number != u32::MAX)
    }

    /// Whether it was ever visited successfully.
    pub fn is_known(&self) -> bool {
        self.last > f64::NEG_INFINITY
    }

    /// The time since its last visit; infinite before the first.
    pub fn elapsed(&self, now: Days) -> Days {
        (now - self.last).max(0.0)
    }

    /// Counts a visit, and returns it with what follows from the page's history.
    ///
    /// The driver of a policy calls this first and passes the result to
    /// [`Policy::record_visit`](crate::Policy::record_visit).
    pub fn record(&mut self, visit: &Visit) -> VisitEvidence {
        let known = self.is_known() && self.elapsed(visit.at) < NEVER;
        let elapsed = known.then(|| self.elapsed(visit.at));
        let age = visit.modified.map(|modified| visit.at - modified).filter(|age| *age >= 0.0);
        match visit.finding {
            Finding::Failed => {}
            Finding::Gone => self.missing = self.missing.saturating_add(1),
            Finding::Same | Finding::Changed => {
                if let Some(elapsed) = elapsed {
                    self.count(elapsed, visit.finding == Finding::Changed, age);
                }
                self.missing = 0;
                self.last = visit.at;
            }
        }
        let changed = visit.finding == Finding::Changed && known;
        VisitEvidence {
            at: visit.at,
            found: visit.finding,
            changed,
            elapsed,
            age,
            new_links: visit.new_links,
        }
    }

    fn count(&mut self, elapsed: Days, changed: bool, age: Option<Days>) {
        self.checks = self.checks.saturating_add(1);
        self.changes = self.changes.saturating_add(u32::from(changed));
        self.watched += elapsed as f32;
        let dated = age.filter(|age| *age <= elapsed).unwrap_or(f64::NAN);
        let same = if changed { dated } else { elapsed };
        self.unmodified += same as f32;
    }
}

/// The result of a fetch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visit {
    /// When.
    pub at: Days,
    /// What was found.
    pub finding: Finding,
    /// When the page says it last changed.
    pub modified: Option<Days>,
    /// Links on it to pages that were unknown before.
    pub new_links: u32,
}

impl Visit {
    /// A visit that only tells whether the page had changed.
    pub fn new(at: Days, found: Finding) -> Self {
        Visit { at, finding: found, modified: None, new_links: 0 }
    }
}

/// What a fetch found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The same content as last time.
    Same,
    /// Other content, or the first content.
    Changed,
    /// The page does not exist.
    Gone,
    /// Nothing was learned.
    Failed,
}

/// A visit as the page's policy sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VisitEvidence {
    /// When.
    pub at: Days,
    /// What was found.
    pub found: Finding,
    /// Whether the page had changed since an earlier visit. The first visit finds no change.
    pub changed: bool,
    /// The time since the visit before; `None` for the first.
    pub elapsed: Option<Days>,
    /// How long ago it last changed, if it says so.
    pub age: Option<Days>,
    /// Links on it to pages that were unknown before.
    pub new_links: u32,
}

impl VisitEvidence {
    /// Whether the page was received, changed or not.
    pub fn succeeded(&self) -> bool {
        matches!(self.found, Finding::Same | Finding::Changed)
    }

    /// Whether the visit brought news: other content, the first content, or that the page is gone.
    pub fn is_news(&self) -> bool {
        matches!(self.found, Finding::Changed | Finding::Gone)
    }

    /// The elapsed time and whether there was a change, if the visit could tell.
    pub fn check(&self) -> Option<(Days, bool)> {
        self.elapsed.filter(|_| self.succeeded()).map(|elapsed| (elapsed, self.changed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_visit_is_no_change_and_later_ones_count() {
        let mut page = Page::new(7);
        let seen = page.record(&Visit::new(10.0, Finding::Changed));
        assert_eq!((seen.changed, seen.elapsed, page.checks), (false, None, 0));
        assert_eq!(page.record(&Visit::new(12.0, Finding::Same)).check(), Some((2.0, false)));
        let dated = Visit { modified: Some(14.0), ..Visit::new(15.0, Finding::Changed) };
        assert_eq!(page.record(&dated).check(), Some((3.0, true)));
        assert_eq!((page.checks, page.changes), (2, 1));
        assert_eq!((page.watched, page.unmodified, page.last), (5.0, 3.0, 15.0));
    }

    #[test]
    fn failures_teach_nothing_and_absence_is_counted_until_it_ends() {
        let mut page = Page::new(0);
        page.record(&Visit::new(1.0, Finding::Changed));
        for (found, missing) in
            [(Finding::Gone, 1), (Finding::Failed, 1), (Finding::Gone, 2), (Finding::Same, 0)]
        {
            page.record(&Visit::new(2.0, found));
            assert_eq!(page.missing, missing);
        }
        assert_eq!(page.checks, 1);
    }

    #[test]
    fn dates_from_the_future_or_before_the_last_visit_are_not_believed() {
        let mut page = Page::new(0);
        page.record(&Visit::new(0.0, Finding::Changed));
        let known = page;
        for modified in [9.0, -5.0, f64::NAN] {
            page = known;
            page.record(&Visit { modified: Some(modified), ..Visit::new(1.0, Finding::Changed) });
            assert!(page.unmodified.is_nan() && page.changes == 1);
        }
    }
}
