//! What would another policy have made of my own pages? A crawl's visit log as a world.
//!
//! A log is censored at its visits. Between two visits it says only whether there was at least one
//! change, not how many nor when; before a page's first visit and after its last it says nothing.
//! What is missing is drawn, and drawn anew from each seed (multiple imputation):
//!
//! - a page's rate from what its own visits say, on a prior that all pages of the log make;
//! - in an interval that ended unchanged, no change: that is known;
//! - in one that ended changed, a Poisson process given that it has at least one change;
//! - outside, a Poisson process.
//!
//! Rate and changes are drawn in turn, each given the other (Gibbs sampling), so both are draws from
//! the posterior and not best guesses. Every world drawn agrees with the log exactly: the log's
//! own visits, made in it, would have written the log.
//!
//! What this means for the score: between visits that are close together it rests on facts; the
//! longer the gaps, the more on the belief that pages change as Poisson processes, which flatters
//! policies that believe the same. Differences between policies that are smaller than the spread over
//! seeds are none. [`VisitLog::account`] says how much of the scored time was watched.

mod drawn;

use std::collections::HashMap;
use std::fmt;

use evercrawl_estimate::{Evidence, Gamma, prior};
use evercrawl_model::{Change, PageKey, Visit};
use evercrawl_policy::{ChangeTimes, Days, NEVER};
use evercrawl_sites::{GroupKeys, Server, directory_of};
use evercrawl_state::{PageRow, State, StateError, Store};

use crate::dice::{Dice, Purpose};
use crate::world::{ChangeTruth, HostFacts, LabWorld, PageFact, Span};

const DAY_MILLIS: f64 = 86_400_000.0;
/// The shortest period that is scored; what a young crawl lacks of it is sampled.
const SHORTEST: Days = 28.0;
/// The part of the time that is there to learn in, before the score begins.
const LEARNING: f64 = 1.0 / 3.0;

/// The visits of a crawl, page by page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VisitLog {
    pages: Vec<PageLog>,
}

/// The visits of a page that tell something about its content.
#[derive(Clone, Debug, PartialEq)]
pub struct PageLog {
    /// Its address.
    pub url: String,
    /// When it was discovered.
    pub found: Days,
    /// The page that it was found on, by its place in the log.
    pub via: Option<u32>,
    /// Its visits, by time. Failed ones tell nothing and are left out.
    pub looks: Vec<LoggedVisit>,
}

/// A visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoggedVisit {
    /// When.
    pub at: Days,
    /// What it found.
    pub saw: LoggedFinding,
}

/// What a visit found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggedFinding {
    /// Content, the same as before.
    Same,
    /// Content, other than before or the first.
    Other,
    /// That the page is not there.
    Gone,
}

impl VisitLog {
    /// Takes pages that were visited with success at least once.
    pub fn new(pages: Vec<PageLog>) -> Self {
        let held = |page: &PageLog| page.looks.iter().any(|look| look.saw != LoggedFinding::Gone);
        if pages.iter().all(held) {
            return VisitLog { pages };
        }
        // Pages that go take their numbers along: those found on them were found nowhere.
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let kept = (0u32..).zip(&pages).filter(|(_, page)| held(page)).map(|(number, _)| number);
        kept.zip(0..).for_each(|(old, new)| _ = numbers.insert(old, new));
        let renumbered = |mut page: PageLog| {
            page.via = page.via.and_then(|via| numbers.get(&via).copied());
            page
        };
        VisitLog { pages: pages.into_iter().filter(held).map(renumbered).collect() }
    }

    /// Reads the log of a data directory.
    pub fn read<S: Store>(state: &State<S>) -> Result<Self, StateError> {
        let mut rows: Vec<(PageKey, PageRow)> = Vec::new();
        for page in state.view().pages() {
            let (key, row) = page?;
            if row.past.is_some() {
                rows.push((key, row));
            }
        }
        let numbers: HashMap<PageKey, u32> = rows.iter().map(|(key, _)| *key).zip(0..).collect();
        let mut pages = Vec::with_capacity(rows.len());
        for (_, row) in &rows {
            let mut looks = Vec::new();
            for visit in state.view().history(row) {
                looks.extend(look(&visit?.1));
            }
            looks.sort_by(|a, b| a.at.total_cmp(&b.at));
            pages.push(PageLog {
                url: row.url.clone(),
                found: days(row.found.millis()),
                via: row.via.and_then(|via| numbers.get(&via).copied()),
                looks,
            });
        }
        Ok(VisitLog::new(pages))
    }

    /// The pages, in the order of their numbers.
    pub fn pages(&self) -> &[PageLog] {
        &self.pages
    }

    /// A world that agrees with the log; each seed draws another.
    ///
    /// Changes from `history` before the first visit on are known, that is, sampled.
    pub fn world(&self, name: &str, seed: u64, history: Days) -> LabWorld {
        let span = self.span();
        let span = Span { since: span.begin - history.max(0.0), ..span };
        let usual = self.usual();
        let mut order: Vec<u32> = (0..self.pages.len() as u32).collect();
        let born = |page: u32| self.pages[page as usize].born(span.begin);
        order.sort_by(|&a, &b| born(a).total_cmp(&born(b)).then(a.cmp(&b)));
        let place: HashMap<u32, u32> = order.iter().copied().zip(0..).collect();
        let ordered = || order.iter().map(|&page| &self.pages[page as usize]);
        let urls: Vec<String> = ordered().map(|page| page.url.clone()).collect();
        let links: Vec<(u32, u32)> = ordered()
            .zip(0..)
            .filter_map(|(page, to)| Some((*place.get(&page.via?)?, to)))
            .collect();
        let server = Server::from_urls(&urls, &links);
        let dice = Dice::new(seed, Purpose::Imputation);
        let mut facts = Facts::new(&urls, &links);
        let mut changes = Vec::new();
        for (page, number) in ordered().zip(0..) {
            // From the page's own number in the log, so that new pages do not move old ones' draws.
            let mut random = dice.roll(order[number as usize].into());
            let history = page.draw_changes(usual, span, &mut random);
            changes.extend(history.changes.iter().map(|at| (number, *at)));
            facts.add(page.born(span.begin), history.dies, server.directory(number));
        }
        let truth = ChangeTruth::Listed(ChangeTimes::new(urls.len(), &changes));
        LabWorld {
            name: name.to_owned(),
            past: truth.before(&facts.pages, span.begin),
            truth,
            server: Some(server),
            pages: facts.pages,
            hosts: facts.hosts,
            span,
            urls,
        }
    }

    /// How much of the scored period is known, to judge the score by.
    pub fn account(&self) -> LogSummary {
        let span = self.span();
        let (mut scored, mut watched) = (0.0, 0.0);
        for page in &self.pages {
            let (first, last) = page.ends();
            scored += span.to - page.born(span.begin).max(span.from);
            watched += (last.min(span.to) - first.max(span.from)).max(0.0);
        }
        let checks = || self.pages.iter().flat_map(PageLog::checks);
        LogSummary {
            pages: self.pages.len(),
            checks: checks().count(),
            changed: checks().filter(|check| check.2).count(),
            days: span.to - span.from,
            watched: if scored > 0.0 { watched / scored } else { 0.0 },
        }
    }

    /// From the first visit to the last, or somewhat longer.
    fn span(&self) -> Span {
        let looks = || self.pages.iter().flat_map(|page| &page.looks).map(|look| look.at);
        let (first, last) = (looks().fold(NEVER, f64::min), looks().fold(0.0, f64::max));
        let begin = if first < NEVER { first } else { 0.0 };
        let length = (last - begin).max(SHORTEST / (1.0 - LEARNING));
        let to = begin + length;
        Span { since: begin, begin, from: to - (1.0 - LEARNING) * length, to }
    }

    /// What all pages say of a page that nothing else is known of: empirical Bayes.
    fn usual(&self) -> Gamma {
        let (mut changed, mut time) = (1.0, 30.0);
        for (from, to, other) in self.pages.iter().flat_map(PageLog::checks) {
            changed += f64::from(u8::from(other));
            time += to - from;
        }
        let start = Gamma::with_mean(changed / time, 1.0);
        let evidence: Vec<Evidence> =
            self.pages.iter().map(|page| Evidence::since(start, page.belief(start))).collect();
        prior::fit(start, &evidence)
    }
}

/// How much of a score rests on facts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogSummary {
    /// Pages in the log.
    pub pages: usize,
    /// Intervals between two visits of a page.
    pub checks: usize,
    /// Those that ended with other content.
    pub changed: usize,
    /// How long the world is scored.
    pub days: Days,
    /// The part of the scored time, over all pages, that lies between two visits.
    pub watched: f64,
}

impl fmt::Display for LogSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LogSummary { pages, checks, changed, days, watched } = self;
        write!(
            f,
            "{pages} pages; {checks} intervals between visits, {changed} of them with a change. \
             {:.0} % of the {days:.0} scored days lie between visits. Exact change times, and \
             everything outside the observed intervals, are sampled afresh for each seed; only \
             trust results that hold across seeds.",
            100.0 * watched
        )
    }
}

fn look(visit: &Visit) -> Option<LoggedVisit> {
    let saw = match visit.change {
        Change::Same => LoggedFinding::Same,
        Change::New | Change::Changed | Change::Near => LoggedFinding::Other,
        Change::Gone => LoggedFinding::Gone,
        Change::Failed => return None,
    };
    Some(LoggedVisit { at: days(visit.at.millis()), saw })
}

fn days(millis: u64) -> Days {
    millis as f64 / DAY_MILLIS
}

/// Facts of pages and hosts, as pages are added in their order.
struct Facts<'a> {
    urls: &'a [String],
    kin: Vec<GroupKeys>,
    numbers: HashMap<&'a str, u32>,
    pages: Vec<PageFact>,
    hosts: Vec<HostFacts>,
}

impl<'a> Facts<'a> {
    fn new(urls: &'a [String], links: &[(u32, u32)]) -> Self {
        let kin = GroupKeys::of_pages(urls, links);
        Facts { urls, kin, numbers: HashMap::new(), pages: Vec::new(), hosts: Vec::new() }
    }

    fn add(&mut self, born: Days, dies: Days, group: u32) {
        let (url, kin) = (self.urls[self.pages.len()].as_str(), self.kin[self.pages.len()]);
        let host = self.host(host_of(url));
        let kin = [kin.section, kin.hub, kin.base];
        self.pages.push(PageFact { born, dies, host, group, kin, ..PageFact::PLAIN });
    }

    fn host(&mut self, name: &'a str) -> u32 {
        let next = self.hosts.len() as u32;
        let number = *self.numbers.entry(name).or_insert(next);
        if number == next {
            self.hosts.push(HostFacts::plain(name));
        }
        number
    }
}

/// Scheme and host of a URL: its directory, up to the first slash after them.
fn host_of(url: &str) -> &str {
    let directory = directory_of(url);
    let start = directory.find("://").map_or(0, |at| at + 3);
    let end = directory[start..].find('/').map_or(directory.len(), |at| start + at);
    &directory[..end]
}

#[cfg(test)]
mod tests {
    use evercrawl_policy::SplitMix64;

    use super::*;

    fn page(url: &str, looks: &[(Days, LoggedFinding)]) -> PageLog {
        let looks: Vec<LoggedVisit> =
            looks.iter().map(|&(at, saw)| LoggedVisit { at, saw }).collect();
        PageLog { url: url.to_owned(), found: looks[0].at, via: None, looks }
    }

    /// A log of daily visits to pages that change once in `every` days.
    fn daily(pages: usize, visits: usize, every: Days) -> VisitLog {
        let mut random = SplitMix64::new(3);
        let mut looks = || {
            let rest = (0..visits).map(|visit| {
                let changed = random.uniform() > (-1.0 / every).exp();
                (
                    1.0 + visit as f64,
                    if changed { LoggedFinding::Other } else { LoggedFinding::Same },
                )
            });
            std::iter::once((0.0, LoggedFinding::Other)).chain(rest).collect::<Vec<_>>()
        };
        let pages = (0..pages).map(|i| page(&format!("http://a/{}/{i}", i % 3), &looks()));
        VisitLog::new(pages.collect())
    }

    fn times(world: &LabWorld, page: u32) -> Vec<Days> {
        let ChangeTruth::Listed(changes) = &world.truth else { panic!("drawn once, then listed") };
        changes.changes_of(page).collect()
    }

    #[test]
    fn every_world_agrees_with_the_log() {
        let log = daily(60, 50, 4.0);
        for seed in 0..5 {
            let world = log.world("mine", seed, 0.0);
            let ChangeTruth::Listed(changes) = &world.truth else {
                panic!("drawn once, then listed")
            };
            for (number, page) in (0..).zip(log.pages()) {
                for (from, to, changed) in page.checks() {
                    assert_eq!(changes.changed_within(number, from, to), changed, "{number}");
                }
            }
        }
    }

    #[test]
    fn seeds_differ_in_what_is_not_known_and_only_there() {
        let log = daily(20, 30, 3.0);
        let (one, again, two) =
            (log.world("w", 1, 0.0), log.world("w", 1, 0.0), log.world("w", 2, 0.0));
        assert_eq!(times(&one, 5), times(&again, 5));
        assert_ne!(times(&one, 5), times(&two, 5));
    }

    #[test]
    fn as_many_changes_are_drawn_as_there_were() {
        // Daily visits to pages that change twice a day see a change nearly always, and miss most.
        for every in [0.5, 4.0] {
            let world = daily(150, 60, every).world("w", 1, 0.0);
            let counts: Vec<f64> = (0..150)
                .map(|page| times(&world, page).iter().filter(|at| **at <= 60.0).count() as f64)
                .collect();
            let mean = counts.iter().sum::<f64>() / 150.0;
            let want = 60.0 / every;
            // Information per interval of length t at rate λ: t²/(e^(λt) - 1); pages lean on each
            // other through the prior, so one standard error of the mean is that of them all.
            let error = 60.0 * ((1.0 / every).exp_m1() / (60.0 * 150.0)).sqrt();
            assert!((mean - want).abs() < 5.0 * error, "{every}: {mean}, not {want} ± {error}");
        }
    }

    #[test]
    fn pages_are_born_when_found_and_die_between_the_last_two_visits() {
        let log = VisitLog::new(vec![
            page("http://a/", &[(0.0, LoggedFinding::Other), (90.0, LoggedFinding::Same)]),
            page(
                "http://a/x/gone",
                &[
                    (0.0, LoggedFinding::Other),
                    (30.0, LoggedFinding::Same),
                    (40.0, LoggedFinding::Gone),
                ],
            ),
            page(
                "http://b/y/late",
                &[
                    (50.0, LoggedFinding::Other),
                    (60.0, LoggedFinding::Gone),
                    (70.0, LoggedFinding::Other),
                ],
            ),
            page("http://b/never", &[(5.0, LoggedFinding::Gone)]),
            PageLog { via: Some(3), ..page("http://a/x/new", &[(20.0, LoggedFinding::Other)]) },
            PageLog { via: Some(0), ..page("http://a/x/old", &[(0.0, LoggedFinding::Other)]) },
        ]);
        let world = log.world("w", 7, 0.0);
        assert_eq!(world.urls.len(), 5, "a page never seen is none");
        let fact = |url: &str| world.pages[world.urls.iter().position(|u| u == url).unwrap()];
        assert!((30.0..40.0).contains(&fact("http://a/x/gone").dies));
        assert_eq!((fact("http://b/y/late").born, fact("http://b/y/late").dies), (50.0, NEVER));
        assert_eq!(fact("http://a/x/new").born, 20.0);
        assert!(world.pages.windows(2).all(|pages| pages[0].born <= pages[1].born));
        assert_eq!(fact("http://a/x/new").group, fact("http://a/x/gone").group);
        assert_eq!(
            world.hosts.iter().map(|h| h.name.as_str()).collect::<Vec<_>>(),
            ["http://a", "http://b"]
        );
        let root = world.urls.iter().position(|url| url == "http://a/").unwrap() as u32;
        let old = world.urls.iter().position(|url| url == "http://a/x/old").unwrap() as u32;
        assert_eq!(world.server.as_ref().unwrap().links(root), [old]);
        for page in 0..5 {
            let fact = world.pages[page as usize];
            assert!(times(&world, page).iter().all(|&at| fact.lives(at)));
        }
        assert_eq!((world.span.begin, world.span.to), (0.0, 90.0));
    }

    #[test]
    fn an_account_is_given_of_what_is_known() {
        let account = daily(10, 60, 5.0).account();
        assert_eq!((account.pages, account.checks), (10, 600));
        assert!((account.days - 40.0).abs() < 1e-9 && (account.watched - 1.0).abs() < 1e-9);
        let young = daily(10, 7, 5.0).account();
        assert!((young.days - 28.0).abs() < 1e-9 && young.watched < 0.01, "{young:?}");
        assert!(young.to_string().contains("0 % of the 28 scored days"), "{young}");
        let nothing = VisitLog::default();
        assert_eq!(nothing.account().watched, 0.0);
        assert!(nothing.world("w", 1, 0.0).pages.is_empty());
    }
}
