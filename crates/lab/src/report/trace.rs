//! What does a recorded site look like to a method that knows its pages and links at one moment?

use std::path::{Path, PathBuf};

use evercrawl_policy::{ChangeTimes, Days};
use evercrawl_sites::{Server, UNREACHED};

use crate::recorded;
use crate::table::TableError;
use crate::world::{ChangeTruth, LabWorld};

/// The sites whose links reach most of their pages.
pub const LINKED_SITES: [&str; 6] =
    ["openbsd-www", "torproject", "kubernetes", "mdn-content", "httpd-manual", "curl-www"];

/// Days in a week.
pub(crate) const WEEK: Days = 7.0;

/// A site as it stood when its scored year began, and when its pages changed before and after.
#[derive(Debug, Clone)]
pub struct SiteTrace {
    /// What it is called.
    pub name: String,
    /// The addresses of its pages.
    pub urls: Vec<String>,
    /// Their directories, links and depths, counted from the pages nearest to the root of the host.
    pub server: Server,
    /// When pages changed; to go is to change for the last time.
    pub changes: ChangeTimes,
    /// When pages go.
    pub dies: Vec<Days>,
    /// From when on changes are known.
    pub since: Days,
    /// When the scored year begins.
    pub from: Days,
    /// When it ends.
    pub to: Days,
}

impl SiteTrace {
    /// Reads the folder of a recorded site.
    pub fn read(folder: &Path) -> Result<Self, TableError> {
        Ok(SiteTrace::of(&recorded::read(&[PathBuf::from(folder)], false)?))
    }

    /// Takes from `world` the pages that are there when its scored window begins.
    pub fn of(world: &LabWorld) -> Self {
        let span = world.span;
        let mut number = vec![None; world.pages.len()];
        let mut kept: Vec<u32> = Vec::new();
        for (page, fact) in (0u32..).zip(&world.pages) {
            if fact.lives(span.from) {
                number[page as usize] = u32::try_from(kept.len()).ok();
                kept.push(page);
            }
        }
        let urls: Vec<String> =
            kept.iter().filter_map(|&page| world.urls.get(page as usize).cloned()).collect();
        let dies: Vec<Days> = kept.iter().map(|&page| world.pages[page as usize].dies).collect();
        SiteTrace {
            name: world.name.clone(),
            server: server(world, &kept, &number, &urls),
            changes: changes(world, &kept, &dies),
            urls,
            dies,
            since: span.since,
            from: span.from,
            to: span.to,
        }
    }

    /// How many pages there are.
    pub fn pages(&self) -> usize {
        self.dies.len()
    }

    /// All pages' numbers.
    pub fn numbers(&self) -> std::ops::Range<u32> {
        0..u32::try_from(self.pages()).unwrap_or(u32::MAX)
    }

    /// Whether `page` is there at `now`.
    pub fn lives(&self, page: u32, now: Days) -> bool {
        self.dies[page as usize] > now
    }

    /// The share of pages that links lead to.
    pub fn reach(&self) -> f64 {
        let reached = self.numbers().filter(|&page| self.server.depth(page) != UNREACHED).count();
        reached as f64 / self.pages() as f64
    }

    /// In how many weeks of those from `from` to `to` each page changed.
    pub(crate) fn changed_weeks(&self, from: Days, to: Days) -> Vec<u32> {
        let weeks = |page: u32| {
            let within = self.changes.changes_of(page).filter(|&at| from < at && at <= to);
            let mut weeks: Vec<i64> = within.map(|at| ((at - from) / WEEK) as i64).collect();
            weeks.dedup();
            weeks.len() as u32
        };
        self.numbers().map(weeks).collect()
    }
}

fn server(world: &LabWorld, kept: &[u32], number: &[Option<u32>], urls: &[String]) -> Server {
    let Some(whole) = &world.server else {
        return Server::new(&vec![0; kept.len()], &[], &[]);
    };
    let directories: Vec<u32> = kept.iter().map(|&page| whole.directory(page)).collect();
    let links: Vec<(u32, u32)> = (0u32..)
        .zip(kept)
        .flat_map(|(from, &page)| whole.links(page).iter().map(move |&to| (from, to)))
        .filter_map(|(from, to)| Some((from, number[to as usize]?)))
        .collect();
    Server::new(&directories, &links, &entrances(urls))
}

fn changes(world: &LabWorld, kept: &[u32], dies: &[Days]) -> ChangeTimes {
    let mut list: Vec<(u32, Days)> = (0u32..)
        .zip(dies)
        .filter(|(_, dies)| dies.is_finite())
        .map(|(page, &at)| (page, at))
        .collect();
    for (number, &page) in (0u32..).zip(kept) {
        match &world.truth {
            ChangeTruth::Listed(changes) => {
                list.extend(changes.changes_of(page).map(|at| (number, at)))
            }
            ChangeTruth::Drawn(_) => {
                let mut cursor = world.truth.first(page);
                while cursor.at() <= world.span.to {
                    list.push((number, cursor.at()));
                    cursor = world.truth.next(page, cursor);
                }
            }
        }
    }
    ChangeTimes::new(kept.len(), &list)
}

/// The pages with the fewest parts in their path. A site in several languages has no other front door
/// than the first page of each.
fn entrances(urls: &[String]) -> Vec<u32> {
    let parts = |url: &String| url.trim_end_matches('/').matches('/').count();
    let fewest = urls.iter().map(parts).min();
    (0u32..).zip(urls).filter(|(_, url)| Some(parts(url)) == fewest).map(|(page, _)| page).collect()
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A site of directories and links whose first page is the root; changes are `(page, week)` of a
    /// year that begins at week 52.
    pub(crate) fn trace(
        directories: &[u32],
        links: &[(u32, u32)],
        changes: &[(u32, f64)],
    ) -> SiteTrace {
        let changes: Vec<(u32, Days)> = changes.iter().map(|&(p, week)| (p, week * WEEK)).collect();
        let pages = directories.len();
        SiteTrace {
            name: "example".to_owned(),
            urls: (0..pages).map(|page| format!("http://example/{page}")).collect(),
            server: Server::new(directories, links, &[0]),
            changes: ChangeTimes::new(pages, &changes),
            dies: vec![f64::INFINITY; pages],
            since: 0.0,
            from: 52.0 * WEEK,
            to: 104.0 * WEEK,
        }
    }

    /// The folder of recorded sites, if it is there; says so where it is not.
    pub(crate) fn recorded_sites() -> Option<PathBuf> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/traces");
        let folder = PathBuf::from(folder);
        if !folder.is_dir() {
            eprintln!("SKIPPED: no recorded sites at {}", folder.display());
        }
        folder.is_dir().then_some(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::trace;
    use super::*;
    use crate::world::{HostFacts, PageFact, Span};

    #[test]
    fn a_trace_holds_what_lives_when_the_window_begins() {
        let fact = |born, dies| PageFact { born, dies, ..PageFact::PLAIN };
        let urls = ["http://s/gone", "http://s/a/x", "http://s/a", "http://s/late"];
        let world = LabWorld {
            name: "s".to_owned(),
            pages: vec![
                fact(0.0, 5.0),
                fact(0.0, 30.0),
                fact(1.0, f64::INFINITY),
                fact(20.0, 99.0),
            ],
            hosts: vec![HostFacts::plain("s")],
            truth: ChangeTruth::Listed(ChangeTimes::new(
                4,
                &[(1, 12.0), (1, 2.0), (2, 11.0), (3, 21.0)],
            )),
            server: Some(Server::new(&[0, 1, 0, 0], &[(0, 1), (2, 1), (1, 3)], &[0])),
            span: Span { since: 0.0, begin: 0.0, from: 10.0, to: 40.0 },
            urls: urls.iter().map(|&url| url.to_owned()).collect(),
            past: Vec::new(),
        };
        let trace = SiteTrace::of(&world);
        assert_eq!(trace.urls, ["http://s/a/x", "http://s/a"]);
        assert_eq!(trace.changes.changes_of(0).collect::<Vec<_>>(), [2.0, 12.0, 30.0]);
        assert_eq!(
            (trace.server.depth(1), trace.server.depth(0)),
            (1, 2),
            "from the shortest path"
        );
        assert_eq!(trace.server.total_links(), 1);
        assert!(trace.lives(0, 29.0) && !trace.lives(0, 30.0));
        assert_eq!(trace.reach(), 1.0);
    }

    #[test]
    fn changes_of_one_week_count_once() {
        let trace = trace(&[0, 0], &[], &[(0, 1.1), (0, 1.2), (0, 2.5), (1, 9.0)]);
        assert_eq!(trace.changed_weeks(WEEK, 4.0 * WEEK), [2, 0]);
    }

    #[test]
    fn front_doors_are_the_shortest_paths() {
        let urls = ["http://s/en/x", "http://s/de/", "http://s/en"].map(str::to_owned);
        assert_eq!(entrances(&urls), [1, 2]);
        assert!(entrances(&[]).is_empty());
    }
}
