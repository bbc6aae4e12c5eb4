//! What does a policy know of a page, and what does a visit tell it?
//!
//! All that a policy keeps of a page stands in its [`Page`], a small plain value. The lab holds them
//! in a vector, the live crawler in the page's row on disk; the policy does not know which.
//! Times and intervals are in days, counted from any fixed moment.

use crate::kept::{Kept, kept};

/// A moment or an interval, in days.
pub type Days = f64;

/// A moment that never comes.
pub const NEVER: Days = f64::INFINITY;

/// A group of pages that are akin.
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

/// What a page is for the crawl.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Something to read.
    #[default]
    Page,
    /// A list of a host's pages, with the dates of their changes.
    Sitemap,
    /// A list of what is new.
    Feed,
}

impl Kept for Kind {
    fn write(&self, out: &mut Vec<u8>) {
        (*self as u8).write(out);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        match u8::read(from)? {
            0 => Some(Kind::Page),
            1 => Some(Kind::Sitemap),
            2 => Some(Kind::Feed),
            _ => None,
        }
    }
}

/// What is known of a page: what it is, what its visits showed, and what its policy noted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Page {
    /// Its number, for policies that hold tables of their own (round-based ones do).
    pub id: u32,
    /// The number of its host.
    pub host: u32,
    /// The number of the directory, or whatever group of like pages it belongs to.
    pub group: u32,
    /// The numbers of its section, hub and base ([`evercrawl_sites::Kin`]); `u32::MAX` where it has none.
    pub kin: [u32; 3],
    /// What it is for the crawl.
    pub kind: Kind,
    /// What a fresh copy is worth; 1 where nothing is known.
    pub weight: f32,
    /// What a fetch costs; 1 where nothing is known.
    pub cost: f32,
    /// When it was last visited with success; minus infinity before the first time.
    pub last: Days,
    /// When it is to be fetched next; [`NEVER`] where the policy asks for it by itself, or not at all.
    pub due: Days,
    /// Visits that could tell whether it had changed.
    pub checks: u32,
    /// Those of them that found a change.
    pub changes: u32,
    /// Total time between those visits.
    pub watched: f32,
    /// The part of it in which it is known not to have changed; not a number once a change came
    /// without its date.
    pub unmodified: f32,
    /// Times in a row that it was not there.
    pub missing: u8,
    /// Whether it may be fetched at all.
    pub alive: bool,
    /// What its policy notes; means something to that policy alone.
    pub note: [f32; 8],
}

kept!(Page {
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
    /// A page of weight and cost 1 that was never visited.
    pub fn new(id: u32) -> Self {
        Page {
            id,
            host: 0,
            group: 0,
            kin: [u32::MAX; 3],
            kind: Kind::Page,
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

    /// Writes it down behind what is in `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        Kept::write(self, out);
    }

    /// Reads what [`write`](Self::write) wrote, and moves on behind it.
    pub fn read(from: &mut &[u8]) -> Option<Self> {
        Kept::read(from)
    }

    /// The groups it belongs to.
    pub fn groups(&self) -> impl Iterator<Item = Group> + use<> {
        let [section, hub, base] = self.kin;
        let numbers = [self.group, section, hub, base];
        let groups = (0u8..).zip(numbers).map(|(kind, number)| Group { kind, number });
        groups.filter(|group| group.number != u32::MAX)
    }

    /// Whether it was ever visited with success.
    pub fn is_known(&self) -> bool {
        self.last > f64::NEG_INFINITY
    }

    /// How long ago it was last visited; infinite before the first time.
    pub fn elapsed(&self, now: Days) -> Days {
        (now - self.last).max(0.0)
    }

    /// Takes a visit into account, and returns it with what followed from the page's history.
    ///
    /// Whoever drives a policy calls this first and hands the result to
    /// [`Policy::visited`](crate::Policy::visited).
    pub fn record(&mut self, visit: &Visit) -> Seen {
        let known = self.is_known() && self.elapsed(visit.at) < NEVER;
        let elapsed = known.then(|| self.elapsed(visit.at));
        let age = visit.modified.map(|modified| visit.at - modified).filter(|age| *age >= 0.0);
        match visit.found {
            Found::Failed => {}
            Found::Gone => self.missing = self.missing.saturating_add(1),
            Found::Same | Found::Changed => {
                if let Some(elapsed) = elapsed {
                    self.count(elapsed, visit.found == Found::Changed, age);
                }
                self.missing = 0;
                self.last = visit.at;
            }
        }
        let changed = visit.found == Found::Changed && known;
        Seen { at: visit.at, found: visit.found, changed, elapsed, age, new_links: visit.new_links }
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

/// What came of a fetch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visit {
    /// When.
    pub at: Days,
    /// What was found.
    pub found: Found,
    /// When the page says it last changed.
    pub modified: Option<Days>,
    /// Links on it that were not known before.
    pub new_links: u32,
}

impl Visit {
    /// A visit that tells nothing but whether the page had changed.
    pub fn new(at: Days, found: Found) -> Self {
        Visit { at, found, modified: None, new_links: 0 }
    }
}

/// What a fetch found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The content that was there last time.
    Same,
    /// Other content, or the first.
    Changed,
    /// The page is not there.
    Gone,
    /// Nothing could be learned.
    Failed,
}

/// A visit as its page's policy sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// When.
    pub at: Days,
    /// What was found.
    pub found: Found,
    /// Whether the page had changed since an earlier visit. The first visit is no change.
    pub changed: bool,
    /// Time since the visit before; `None` at the first.
    pub elapsed: Option<Days>,
    /// How long ago it last changed, where it says so.
    pub age: Option<Days>,
    /// Links on it that were not known before.
    pub new_links: u32,
}

impl Seen {
    /// Whether the page itself came, changed or not.
    pub fn succeeded(&self) -> bool {
        matches!(self.found, Found::Same | Found::Changed)
    }

    /// Whether there is something that was not known: other content, the first, or that it is gone.
    pub fn is_news(&self) -> bool {
        matches!(self.found, Found::Changed | Found::Gone)
    }

    /// The elapsed time and whether there was a change, where the visit can tell.
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
        let seen = page.record(&Visit::new(10.0, Found::Changed));
        assert_eq!((seen.changed, seen.elapsed, page.checks), (false, None, 0));
        assert_eq!(page.record(&Visit::new(12.0, Found::Same)).check(), Some((2.0, false)));
        let dated = Visit { modified: Some(14.0), ..Visit::new(15.0, Found::Changed) };
        assert_eq!(page.record(&dated).check(), Some((3.0, true)));
        assert_eq!((page.checks, page.changes), (2, 1));
        assert_eq!((page.watched, page.unmodified, page.last), (5.0, 3.0, 15.0));
    }

    #[test]
    fn failures_teach_nothing_and_absence_is_counted_until_it_ends() {
        let mut page = Page::new(0);
        page.record(&Visit::new(1.0, Found::Changed));
        for (found, missing) in
            [(Found::Gone, 1), (Found::Failed, 1), (Found::Gone, 2), (Found::Same, 0)]
        {
            page.record(&Visit::new(2.0, found));
            assert_eq!(page.missing, missing);
        }
        assert_eq!(page.checks, 1);
    }

    #[test]
    fn dates_from_the_future_or_before_the_last_visit_are_not_believed() {
        let mut page = Page::new(0);
        page.record(&Visit::new(0.0, Found::Changed));
        let known = page;
        for modified in [9.0, -5.0, f64::NAN] {
            page = known;
            page.record(&Visit { modified: Some(modified), ..Visit::new(1.0, Found::Changed) });
            assert!(page.unmodified.is_nan() && page.changes == 1);
        }
    }
}
