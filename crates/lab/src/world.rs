//! What is a world: which pages are there, when do they change, and what does a crawler see of it?

use evercrawl_policy::{ChangeTimes, Days, NEVER};
use evercrawl_sites::Server;

use crate::synthetic::Processes;

/// One or several servers, with everything that scoring knows about them and a crawler must find out.
///
/// Pages are numbered by birth, so that a crawler which is told of pages as they are born knows page
/// i by the number i. Moments are days: since the Unix epoch where the world was recorded, since 0
/// where it was made.
#[derive(Clone, Debug)]
pub struct LabWorld {
    /// What it is called in tables.
    pub name: String,
    /// The facts about each page, by birth.
    pub pages: Vec<PageFact>,
    /// The facts about each host.
    pub hosts: Vec<HostFacts>,
    /// When pages change.
    pub truth: ChangeTruth,
    /// Directories and links, if there are any.
    pub server: Option<Server>,
    /// The known period, and the scored one.
    pub span: Span,
    /// The pages' addresses; none where pages were made.
    pub urls: Vec<String>,
    /// `(page, time)` of changes before [`Span::begin`], for methods that are handed a history.
    pub past: Vec<(u32, Days)>,
}

/// The facts about a page, except its changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageFact {
    /// When it came to be.
    pub born: Days,
    /// When it goes; [`NEVER`] if it stays.
    pub dies: Days,
    /// The number of its host.
    pub host: u32,
    /// The number of its directory, or whatever like pages have in common.
    pub group: u32,
    /// The numbers of its section, of the page that lists it, and of what it translates or versions;
    /// [`NO_KIN`] where there is none.
    pub kin: [u32; 3],
    /// The value of a fresh copy.
    pub weight: f32,
    /// What a fetch costs.
    pub cost: f32,
    /// Whether its end counts as no change: it went with a whole site at once.
    pub quiet: bool,
}

/// The number of a group that does not exist.
pub const NO_KIN: u32 = u32::MAX;

impl PageFact {
    /// A page of weight and cost 1 that is there all the time.
    pub const PLAIN: PageFact = PageFact {
        born: f64::NEG_INFINITY,
        dies: NEVER,
        host: 0,
        group: 0,
        kin: [NO_KIN; 3],
        weight: 1.0,
        cost: 1.0,
        quiet: false,
    };

    /// Whether it is there at `now`.
    pub fn lives(&self, now: Days) -> bool {
        self.born <= now && now < self.dies
    }
}

/// The facts about all pages of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostFacts {
    /// What it is called in tables.
    pub name: String,
    /// The chance that a fetch shows a difference that is noise.
    pub noise: f32,
    /// The chance that a fetch fails.
    pub failure: f32,
    /// The share of its signals that tell of a change.
    pub precision: f32,
    /// The share of its changes that a signal tells of; 0 where it sends none.
    pub recall: f32,
    /// How long after the change the signal comes.
    pub delay: Days,
    /// Whether its pages say when they last changed.
    pub lastmod: bool,
}

impl HostFacts {
    /// A host that neither fails nor tells.
    pub fn plain(name: impl Into<String>) -> Self {
        let name = name.into();
        HostFacts {
            name,
            noise: 0.0,
            failure: 0.0,
            precision: 1.0,
            recall: 0.0,
            delay: 0.0,
            lastmod: false,
        }
    }
}

/// The times that matter in a world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// From when on changes are known.
    pub since: Days,
    /// When the crawl begins.
    pub begin: Days,
    /// From when on it is scored.
    pub from: Days,
    /// When it ends.
    pub to: Days,
}

/// When pages change.
#[derive(Clone, Debug)]
pub enum ChangeTruth {
    /// At recorded times, births and deaths not among them.
    Listed(ChangeTimes),
    /// Generated one after the other, on demand.
    Drawn(Processes),
}

/// A position in a page's history: its next change, and the state to generate the one after.
///
/// So a million pages need no lists of changes: each iteration over a history holds one of these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeCursor {
    pub(crate) at: Days,
    /// For what draws changes: the state of its generator. For lists: the place in the list.
    pub(crate) state: u64,
    /// For what draws changes: whatever else it remembers from one change to the next.
    pub(crate) memory: u64,
}

impl ChangeCursor {
    /// When the change comes; [`NEVER`] after the last.
    pub fn at(&self) -> Days {
        self.at
    }
}

impl ChangeTruth {
    /// The first change of `page` that is known.
    pub fn first(&self, page: u32) -> ChangeCursor {
        match self {
            ChangeTruth::Listed(changes) => listed(changes, page, 0),
            ChangeTruth::Drawn(processes) => processes.first(page),
        }
    }

    /// The change of `page` after the one at `cursor`.
    pub fn next(&self, page: u32, cursor: ChangeCursor) -> ChangeCursor {
        match self {
            ChangeTruth::Listed(changes) => listed(changes, page, cursor.state + 1),
            ChangeTruth::Drawn(processes) => processes.next(page, cursor),
        }
    }

    /// Loads the data from which the changes of `page` are generated into the cache.
    pub(crate) fn touch(&self, page: u32) {
        if let ChangeTruth::Drawn(processes) = self {
            processes.touch(page);
        }
    }

    /// The mean rate of `page` between two moments, in changes per day.
    pub fn rate(&self, page: u32, from: Days, to: Days) -> f64 {
        match self {
            ChangeTruth::Listed(changes) => {
                let within = changes.changes_of(page).filter(|&at| from <= at && at < to).count();
                within as f64 / (to - from)
            }
            ChangeTruth::Drawn(processes) => processes.rate(page, from, to),
        }
    }

    /// `(page, time)` of all changes before `begin` of pages that are there by then: their past.
    pub(crate) fn before(&self, pages: &[PageFact], begin: Days) -> Vec<(u32, Days)> {
        let mut past = Vec::new();
        for (page, _) in (0u32..).zip(pages).take_while(|(_, fact)| fact.born < begin) {
            let mut cursor = self.first(page);
            while cursor.at() < begin {
                past.push((page, cursor.at()));
                cursor = self.next(page, cursor);
            }
        }
        past
    }

    /// All changes of the first `pages` pages up to `until`: for references that know the future.
    pub fn all(&self, pages: u32, until: Days) -> ChangeTimes {
        let mut list = Vec::new();
        for page in 0..pages {
            let mut cursor = self.first(page);
            while cursor.at() <= until && cursor.at() < NEVER {
                list.push((page, cursor.at()));
                cursor = self.next(page, cursor);
            }
        }
        ChangeTimes::new(pages as usize, &list)
    }
}

fn listed(changes: &ChangeTimes, page: u32, place: u64) -> ChangeCursor {
    let at = changes.nth_change(page, usize::try_from(place).unwrap_or(usize::MAX));
    ChangeCursor { at: at.unwrap_or(NEVER), state: place, memory: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_history_is_walked_to_its_end() {
        let list = [(0, 1.0), (1, 2.0), (1, 4.0)];
        let truth = ChangeTruth::Listed(ChangeTimes::new(3, &list));
        let first = truth.first(1);
        let second = truth.next(1, first);
        assert_eq!((first.at(), second.at(), truth.next(1, second).at()), (2.0, 4.0, NEVER));
        assert_eq!(truth.first(2).at(), NEVER);
        assert_eq!(truth.rate(1, 2.0, 4.0), 0.5);
        assert_eq!(truth.all(3, 3.0), ChangeTimes::new(3, &list[..2]));
    }
}
