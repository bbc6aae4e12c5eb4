//! `evercrawl lab estimate`: how often does each page of a history change?

use std::collections::HashMap;

use evercrawl_estimate::Gamma;
use evercrawl_estimate::history::{DatedVisit, RateEstimates, estimate_rate};
use evercrawl_estimate::irregular::{ConfidenceInterval, IrregularChecks, TimedCheck};
use evercrawl_lab::table::{Columns, DataTable, NumberRange};
use serde::Serialize;

use super::args::Estimate;
use super::{json_line, shown};
use crate::{exit, print};

static HISTORY: Columns =
    Columns { required: &["page", "interval", "changed"], optional: &["unmodified"], unused: &[] };
const PAGE: usize = 0;
const INTERVAL: usize = 1;
const CHANGED: usize = 2;
const UNMODIFIED: usize = 3;

pub(super) fn run(args: &Estimate) -> anyhow::Result<u8> {
    let table = DataTable::open(&args.history, &HISTORY)?;
    let pages = visits_by_page(&table)?;
    let pages = pages.iter().map(|(page, visits)| Answer::new(page, visits, args));
    let mut out = print::data();
    if args.json {
        json_line(&mut out, &Answers { pages: pages.collect() })?;
    } else {
        let head =
            ["page", "checks", "changes", "naive", "log", "eq13", "eq27", "mle", "map", "gamma"];
        let rows: Vec<Vec<String>> = pages.map(|answer| answer.row()).collect();
        print::table(&mut out, &head, &rows)?;
    }
    Ok(exit::OK)
}

/// Every page's checks, pages in the order in which they first appear.
fn visits_by_page(table: &DataTable) -> anyhow::Result<Vec<(&str, Vec<DatedVisit>)>> {
    let mut pages: Vec<(&str, Vec<DatedVisit>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for row in table.rows() {
        let page = row.text(PAGE)?;
        let interval = row.number(INTERVAL, NumberRange::Positive)?;
        let unmodified = row.optional_number(UNMODIFIED, NumberRange::NotNegative)?;
        if unmodified.is_some_and(|part| part > interval) {
            let what = format_args!("is more than the interval, {interval}");
            return Err(row.wrong(UNMODIFIED, what).into());
        }
        let visit = DatedVisit { interval, changed: row.flag(CHANGED)?, unmodified };
        let place = *places.entry(page).or_insert_with(|| {
            pages.push((page, Vec::new()));
            pages.len() - 1
        });
        pages[place].1.push(visit);
    }
    Ok(pages)
}

#[derive(Serialize)]
struct Answers<'a> {
    pages: Vec<Answer<'a>>,
}

#[derive(Serialize)]
struct Answer<'a> {
    page: &'a str,
    checks: u64,
    changes: u64,
    estimates: Rates,
}

/// Infinite numbers become null, as JSON has none.
#[derive(Serialize)]
struct Rates {
    naive: Rate,
    log: Rate,
    eq13: Rate,
    eq27: DatedRate,
    mle: RateBetween,
    map: Rate,
    gamma: RateBetween,
}

#[derive(Serialize)]
struct Rate {
    rate: f64,
}

/// Null for want of dates is not null for infinity, so it says so.
#[derive(Serialize)]
struct DatedRate {
    rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<&'static str>,
}

#[derive(Serialize)]
struct RateBetween {
    rate: f64,
    low: f64,
    high: f64,
}

impl<'a> Answer<'a> {
    fn new(page: &'a str, visits: &[DatedVisit], args: &Estimate) -> Self {
        let all = estimate_rate(visits, args.prior, args.level);
        // The mode on a logarithmic scale of the rate: with the density of ln λ, which has one more
        // λ. So one prior serves both estimates, and a shape of 1 does not pull to zero.
        let by_log = Gamma::new(args.prior.shape() + 1.0, args.prior.rate());
        let checks = visits.iter().map(|v| TimedCheck { interval: v.interval, changed: v.changed });
        let map = IrregularChecks::new(checks).map(by_log);
        Answer { page, checks: all.checks, changes: all.changes, estimates: Rates::new(&all, map) }
    }

    fn row(&self) -> Vec<String> {
        let rates = &self.estimates;
        let between =
            |r: &RateBetween| format!("{} [{}, {}]", shown(r.rate), shown(r.low), shown(r.high));
        vec![
            print::plain(self.page),
            self.checks.to_string(),
            self.changes.to_string(),
            shown(rates.naive.rate),
            shown(rates.log.rate),
            shown(rates.eq13.rate),
            rates.eq27.rate.map_or("-".to_owned(), shown),
            between(&rates.mle),
            shown(rates.map.rate),
            between(&rates.gamma),
        ]
    }
}

impl Rates {
    fn new(all: &RateEstimates, map: f64) -> Self {
        let missing = all.eq27.is_none().then_some("unmodified");
        Rates {
            naive: Rate { rate: all.naive },
            log: Rate { rate: all.log },
            eq13: Rate { rate: all.eq13 },
            eq27: DatedRate { rate: all.eq27, missing },
            mle: RateBetween::new(all.mle),
            map: Rate { rate: map },
            gamma: RateBetween::new(all.gamma),
        }
    }
}

impl RateBetween {
    fn new(interval: ConfidenceInterval) -> Self {
        RateBetween { rate: interval.rate, low: interval.low, high: interval.high }
    }
}
