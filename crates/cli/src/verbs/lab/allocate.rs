//! `evercrawl lab allocate`: how is a budget best divided over pages whose rates are known?

use std::collections::BTreeMap;
use std::io::Write;

use evercrawl_lab::table::{Columns, DataTable, NameColumn, NumberRange, TableRow};
use evercrawl_policy::allocate::hosts::{CappedAllocation, allocate_capped};
use evercrawl_policy::allocate::{Allocation, Demand, allocate};
use evercrawl_policy::index::IntervalLimits;
use serde::Serialize;

use super::args::Allocate;
use super::{json_line, one_stdin, shown};
use crate::exit::Failure;
use crate::{exit, print};

static PAGES: Columns = Columns {
    required: &["page", "rate", "weight"],
    optional: &["cost", "host"],
    // What `evercrawl rates --csv` tells besides.
    unused: &["low", "high", "checks", "changes"],
};
const PAGE: usize = 0;
const RATE: usize = 1;
const WEIGHT: usize = 2;
const COST: usize = 3;
const HOST: usize = 4;

static CAPS: Columns = Columns { required: &["host", "cap"], optional: &[], unused: &[] };
const CAP: usize = 1;

#[derive(Serialize)]
struct Answer<'a> {
    mu: f64,
    objective: f64,
    frequency: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host_price: Option<BTreeMap<&'a str, f64>>,
}

pub(super) fn run(args: &Allocate) -> anyhow::Result<u8> {
    if let Some(caps) = &args.host_caps {
        one_stdin(&args.pages, caps)?;
    }
    let table = DataTable::open(&args.pages, &PAGES)?;
    let names = table.names(PAGE)?;
    let pages = demands(&table)?;
    let objective = args.objective.objective();
    let caps = args.host_caps.as_ref().map(|path| DataTable::open(path, &CAPS)).transpose()?;
    let caps = caps.as_ref().map(|caps| Caps::new(caps, &table)).transpose()?;
    let (Allocation { mu, frequency }, host_price) = match &caps {
        None => (allocate(objective, &pages, args.budget, IntervalLimits::NONE), None),
        Some(caps) => {
            let CappedAllocation { allocation, host_price } = allocate_capped(
                objective,
                &pages,
                &caps.host_of_page,
                &caps.most,
                args.budget,
                IntervalLimits::NONE,
            );
            let prices = caps.names.list.iter().copied().zip(host_price);
            (allocation, Some(prices.collect()))
        }
    };
    let value = objective.value(&pages, &frequency);
    let answer = Answer { mu, objective: value, frequency, host_price };
    let mut out = print::data();
    if args.json {
        json_line(&mut out, &answer)?;
    } else {
        print_table(&mut out, args, &names, &pages, &answer)?;
    }
    Ok(exit::OK)
}

fn demands(table: &DataTable) -> anyhow::Result<Vec<Demand>> {
    let demand = |row: TableRow<'_>| {
        Ok(Demand {
            rate: row.number(RATE, NumberRange::NotNegativeOrInfinite)?,
            weight: row.number(WEIGHT, NumberRange::NotNegative)?,
            cost: row.optional_number(COST, NumberRange::Positive)?.unwrap_or(1.0),
        })
    };
    table.rows().map(demand).collect()
}

/// The caps of hosts, and which of them binds each page.
struct Caps<'a> {
    names: NameColumn<'a>,
    most: Vec<f64>,
    host_of_page: Vec<u32>,
}

impl<'a> Caps<'a> {
    fn new(caps: &'a DataTable, pages: &DataTable) -> anyhow::Result<Self> {
        if !pages.has(HOST) {
            let file = pages.file();
            return Err(Failure::usage(format!(
                "{file}, line 1: no column `host`, which --host-caps needs"
            )));
        }
        let names = caps.names(0)?;
        let cap = |row: TableRow<'_>| row.number(CAP, NumberRange::NotNegative);
        let most = caps.rows().map(cap).collect::<Result<_, _>>()?;
        let mut used = vec![false; names.list.len()];
        let mut host_of_page = Vec::with_capacity(pages.row_count());
        for row in pages.rows() {
            let host = names.number(row.text(HOST)?);
            if let Some(host) = host {
                used[host as usize] = true;
            }
            // A host without a cap gets a number that no cap has.
            host_of_page.push(host.unwrap_or(u32::MAX));
        }
        match caps.rows().zip(used).find(|(_, used)| !used) {
            Some((row, _)) => {
                Err(row.wrong(0, format_args!("has no page in {}", pages.file())).into())
            }
            None => Ok(Self { names, most, host_of_page }),
        }
    }
}

fn print_table(
    out: &mut impl Write,
    args: &Allocate,
    names: &NameColumn<'_>,
    pages: &[Demand],
    answer: &Answer<'_>,
) -> anyhow::Result<()> {
    let row = |((name, page), f): ((&&str, &Demand), &f64)| {
        let cells = [page.rate, page.weight, *f, 1.0 / f].map(shown);
        std::iter::once(print::plain(name)).chain(cells).collect()
    };
    let rows: Vec<_> = names.list.iter().zip(pages).zip(&answer.frequency).map(row).collect();
    print::table(out, &["page", "rate", "weight", "frequency", "interval"], &rows)?;
    writeln!(out, "\n{} {}", args.objective.value_in_words(), shown(answer.objective))?;
    writeln!(out, "mu {}", shown(answer.mu))?;
    for (host, price) in answer.host_price.iter().flatten() {
        writeln!(out, "price of host {} {}", print::plain(host), shown(*price))?;
    }
    Ok(())
}
