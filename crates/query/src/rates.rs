//! How often do pages of each host, directory or tag change, and how sure is that?
//!
//! All checks of a section's pages are taken together: a check is a visit that could have seen a change, since the
//! content was held before. The rate is the most likely one if all pages of the section changed alike (Cho and
//! Garcia-Molina's estimator for irregular visits), with its interval of confidence by likelihood.

use std::collections::BTreeMap;

use evercrawl_estimate::Gamma;
use evercrawl_estimate::history::{DatedVisit, estimate_rate};
use evercrawl_model::{Change, Time};
use evercrawl_state::{PageRow, Store};
use serde::{Deserialize, Serialize};

use crate::code::At;
use crate::source::{QueryError, Source};

/// Which rates are asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatesRequest {
    /// What a section is.
    pub by: RatesBy,
    /// Only checks since this time.
    #[serde(default)]
    pub since: Option<At>,
    /// How sure the intervals are, between 0 and 1.
    #[serde(default = "usual_level")]
    pub level: f64,
    /// The checks themselves, in place of the rates.
    #[serde(default)]
    pub checks: bool,
}

/// How sure an interval usually is.
fn usual_level() -> f64 {
    0.95
}

/// What a section is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RatesBy {
    /// The pages of a host.
    Host,
    /// The pages of a directory.
    Dir,
    /// The pages with a tag; a page with several counts for each.
    Tag,
}

/// The rates of some sections, or the checks that they follow from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatesView {
    /// What a section is.
    pub by: RatesBy,
    /// How sure the intervals are.
    pub level: f64,
    /// False where there were more checks than are held at a time.
    pub complete: bool,
    /// The rates, by section.
    pub rows: Vec<RateView>,
    /// The checks, by section.
    pub checks: Vec<CheckView>,
}

impl RatesView {
    /// The same without rates and checks.
    pub fn without_rows(&self) -> Self {
        let (by, level, complete) = (self.by, self.level, self.complete);
        RatesView { by, level, complete, rows: Vec::new(), checks: Vec::new() }
    }
}

/// How often pages of a section change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateView {
    /// The section: a host, a directory, or a tag; empty for pages without a tag.
    pub section: String,
    /// Pages with at least one check.
    pub pages: u64,
    /// Checks.
    pub checks: u64,
    /// Checks that found a change.
    pub changes: u64,
    /// Changes a day of one page; `None` means infinite: every check found a change.
    pub rate: Option<f64>,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval; `None` means infinite.
    pub high: Option<f64>,
}

/// A check of a page of a section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckView {
    /// The section.
    pub section: String,
    /// Days since the visit before.
    pub interval_days: f64,
    /// Whether the page had changed.
    pub changed: bool,
}

/// Checks that are held at a time.
const MOST_CHECKS: usize = 2_000_000;
const DAY: f64 = 86_400.0;

/// The checks of a section.
#[derive(Default)]
struct Section {
    pages: u64,
    checks: Vec<DatedVisit>,
}

/// How often the pages of each section change.
pub fn rates<S: Store>(
    source: &Source<'_, S>,
    asked: &RatesRequest,
) -> Result<RatesView, QueryError> {
    if !(asked.level > 0.0 && asked.level < 1.0) {
        let what = format!("`{}` is not a level; use a share between 0 and 1", asked.level);
        return Err(QueryError::BadRequest(what));
    }
    let (sections, complete) = read_sections(source, asked)?;
    let (by, level) = (asked.by, asked.level);
    let mut view = RatesView { by, level, complete, rows: Vec::new(), checks: Vec::new() };
    for (name, section) in sections {
        match asked.checks {
            true => view.checks.extend(checks_of(&name, &section)),
            false => view.rows.push(rate_of(name, &section, asked.level)),
        }
    }
    Ok(view)
}

fn read_sections<S: Store>(
    source: &Source<'_, S>,
    asked: &RatesRequest,
) -> Result<(BTreeMap<String, Section>, bool), QueryError> {
    let tags = source.state.tag_sets()?;
    let (mut sections, mut held): (BTreeMap<String, Section>, usize) = Default::default();
    let since = asked.since.map_or(Time::EPOCH, |since| since.0);
    for page in source.state.pages_after(None) {
        let (_, row) = page?;
        let checks = checks_of_page(source, &row, since)?;
        if checks.is_empty() {
            continue;
        }
        for name in names(asked.by, &row.url, tags.get(&row.tags).map_or("", String::as_str)) {
            let section = sections.entry(name).or_default();
            section.pages += 1;
            section.checks.extend(&checks);
            held += checks.len();
        }
        if held > MOST_CHECKS {
            return Ok((sections, false));
        }
    }
    Ok((sections, true))
}

/// The sections that a page belongs to.
fn names(by: RatesBy, url: &str, tags: &str) -> Vec<String> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    match by {
        RatesBy::Host => vec![url.split('/').nth(2).unwrap_or_default().to_owned()],
        RatesBy::Dir => vec![path.rfind('/').map_or(path, |end| &path[..=end]).to_owned()],
        RatesBy::Tag if tags.is_empty() => vec![String::new()],
        RatesBy::Tag => tags.split_whitespace().map(str::to_owned).collect(),
    }
}

/// The checks of a page, in the order of time.
fn checks_of_page<S: Store>(
    source: &Source<'_, S>,
    row: &PageRow,
    since: Time,
) -> Result<Vec<DatedVisit>, QueryError> {
    let mut visits = source.state.history(row).collect::<Result<Vec<_>, _>>()?;
    visits.reverse();
    let (mut checks, mut looked): (Vec<DatedVisit>, Option<Time>) = Default::default();
    for (_, visit) in visits {
        if !matches!(visit.change, Change::New | Change::Changed | Change::Near | Change::Same) {
            continue;
        }
        if let Some(before) = looked.filter(|_| visit.change != Change::New && visit.at >= since) {
            let changed = visit.change != Change::Same;
            let interval = visit.at.since(before).as_secs_f64() / DAY;
            checks.push(DatedVisit { interval, changed, unmodified: None });
        }
        looked = Some(visit.at);
    }
    // Two visits in one moment tell nothing.
    checks.retain(|check| check.interval > 0.0);
    Ok(checks)
}

fn checks_of<'a>(name: &'a str, section: &'a Section) -> impl Iterator<Item = CheckView> + 'a {
    section.checks.iter().map(|check| CheckView {
        section: name.to_owned(),
        interval_days: check.interval,
        changed: check.changed,
    })
}

fn rate_of(section: String, of: &Section, level: f64) -> RateView {
    // The prior serves another estimate than the one that is shown.
    let all = estimate_rate(&of.checks, Gamma::new(1.0, 1.0), level);
    let finite = |rate: f64| Some(rate).filter(|rate| rate.is_finite());
    RateView {
        section,
        pages: of.pages,
        checks: all.checks,
        changes: all.changes,
        rate: finite(all.mle.rate),
        low: all.mle.low,
        high: finite(all.mle.high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(checks: &[(f64, bool)]) -> Section {
        let visit = |&(interval, changed)| DatedVisit { interval, changed, unmodified: None };
        Section { pages: 1, checks: checks.iter().map(visit).collect() }
    }

    #[test]
    fn a_rate_comes_with_its_interval() {
        let rate = |checks: &[(f64, bool)]| rate_of("a".to_owned(), &section(checks), 0.95);
        let some = rate(&[(1.0, true), (1.0, false), (1.0, false), (1.0, true)]);
        let per_day = some.rate.unwrap();
        assert!((per_day - 2.0_f64.ln()).abs() < 1e-6, "{some:?}");
        assert!(some.low < per_day && per_day < some.high.unwrap());
        let none = rate(&[(1.0, false), (2.0, false)]);
        assert_eq!((none.rate, none.low), (Some(0.0), 0.0));
        assert!(none.high.is_some_and(|high| high > 0.0));
        let all = rate(&[(1.0, true)]);
        assert_eq!((all.rate, all.high), (None, None));
    }

    #[test]
    fn a_page_belongs_to_its_host_its_directory_and_its_tags() {
        let url = "http://a.test/news/2026/x.html?p=1/2";
        let of = |by| names(by, url, "shop eu");
        assert_eq!(of(RatesBy::Host), ["a.test"]);
        assert_eq!(of(RatesBy::Dir), ["http://a.test/news/2026/"]);
        assert_eq!(of(RatesBy::Tag), ["shop", "eu"]);
        assert_eq!(names(RatesBy::Tag, url, ""), [""]);
        assert_eq!(names(RatesBy::Dir, "http://a.test/", ""), ["http://a.test/"]);
    }
}
