//! `evercrawl rates`: how often do pages of each host, directory or tag change, and how sure is that?

use std::io::Write;

use clap::{Args, ValueEnum};
use evercrawl_engine::live::SystemClock;
use evercrawl_query::{Answer, At, RateView, RatesBy, RatesRequest, RatesView, Request};

use crate::args::Common;
use crate::control::unexpected;
use crate::units::show_counted;
use crate::{exit, print, units};

/// What to show, and in which form.
#[derive(Debug, Args)]
pub(crate) struct Rates {
    /// What to group pages by
    #[arg(long, value_enum, default_value = "host")]
    by: By,
    /// Only checks since this time, e.g. 2026-11-16T08:00:00Z, or 30d (30 days ago)
    #[arg(long, value_name = "TIME", value_parser = units::moment)]
    since: Option<units::Moment>,
    /// How sure the intervals are
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = level)]
    level: f64,
    /// Print the checks as CSV instead, as `lab estimate --history -` reads them
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    checks: bool,
    /// Print CSV, as `lab allocate --pages -` reads it
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum By {
    /// The pages of a host
    Host,
    /// The pages of a directory
    Dir,
    /// The pages with a tag
    Tag,
}

/// Reads a level: a share that is neither nothing nor all.
fn level(text: &str) -> Result<f64, String> {
    let level = units::share(text)?;
    match level > 0.0 && level < 1.0 {
        true => Ok(level),
        false => Err(format!("`{text}` is not a level; use more than 0 and less than 100%")),
    }
}

/// Shows how often pages change, by section.
pub(crate) fn run(args: &Rates) -> anyhow::Result<u8> {
    let now = SystemClock.now();
    let request = Request::Rates(RatesRequest {
        by: match args.by {
            By::Host => RatesBy::Host,
            By::Dir => RatesBy::Dir,
            By::Tag => RatesBy::Tag,
        },
        since: args.since.map(|since| At(since.at(now))),
        level: args.level,
        checks: args.checks,
    });
    let mut all: Option<RatesView> = None;
    super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::Rates(part) => {
            match &mut all {
                Some(all) => {
                    all.rows.extend(part.rows);
                    all.checks.extend(part.checks);
                }
                None => all = Some(part),
            }
            Ok(())
        }
        other => Err(unexpected(&other)),
    })?;
    let mut out = print::data();
    if let Some(all) = &mut all {
        if !all.complete {
            eprintln!("there are too many checks to hold; use --since TIME to take fewer");
        }
        write(args, all, &mut out)?;
    }
    out.flush()?;
    Ok(exit::OK)
}

fn write(args: &Rates, all: &mut RatesView, out: &mut dyn Write) -> anyhow::Result<()> {
    if args.checks {
        return write_checks(all, out);
    }
    // The busiest first; those of which every check found a change are busier than any other.
    let rate = |row: &RateView| row.rate.unwrap_or(f64::INFINITY);
    all.rows.sort_by(|a, b| rate(b).total_cmp(&rate(a)).then_with(|| a.section.cmp(&b.section)));
    match (args.json, args.csv) {
        (true, _) => Ok(all.rows.iter().try_for_each(|row| print::json_line(out, row))?),
        (_, true) => write_csv(all, out),
        _ => write_table(args, all, out),
    }
}

/// As `lab estimate` reads a history: the section stands for a page.
fn write_checks(all: &RatesView, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(out, "page,interval,changed")?;
    for check in &all.checks {
        let (section, changed) = (cell(name(&check.section)), u8::from(check.changed));
        writeln!(out, "{section},{},{changed}", check.interval_days)?;
    }
    Ok(())
}

/// As `lab allocate` reads pages: the section stands for a page and weighs as much as its pages do.
fn write_csv(all: &RatesView, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(out, "page,rate,low,high,weight,checks,changes")?;
    for row in &all.rows {
        let number = |rate: Option<f64>| rate.map_or("inf".to_owned(), |rate| rate.to_string());
        writeln!(
            out,
            "{},{},{},{},{},{},{}",
            cell(name(&row.section)),
            number(row.rate),
            row.low,
            number(row.high),
            row.pages,
            row.checks,
            row.changes,
        )?;
    }
    Ok(())
}

fn write_table(args: &Rates, all: &RatesView, out: &mut dyn Write) -> anyhow::Result<()> {
    if all.rows.is_empty() {
        return Ok(writeln!(out, "no page was visited twice yet, so no rate is known")?);
    }
    let shown = |rate: Option<f64>| match rate {
        Some(rate) if rate >= 100.0 => format!("{rate:.0}"),
        Some(rate) if rate >= 1.0 || rate == 0.0 => format!("{rate:.1}"),
        Some(rate) => format!("{rate:.3}"),
        None => "infinite".to_owned(),
    };
    let cells = |row: &RateView| {
        let between = format!("{} to {}", shown(Some(row.low)), shown(row.high));
        let counts = [row.pages, row.checks, row.changes].map(|count| count.to_string());
        let [pages, checks, changes] = counts;
        let section = print::plain(name(&row.section));
        vec![section, shown(row.rate), between, pages, checks, changes]
    };
    let rows: Vec<Vec<String>> = all.rows.iter().map(cells).collect();
    let level = format!("{} % interval", (1000.0 * args.level).round() / 10.0);
    let by = match args.by {
        By::Host => "host",
        By::Dir => "directory",
        By::Tag => "tag",
    };
    let head = [by, "changes/day", &level, "pages", "checks", "changes"];
    print::table(out, &head, &rows)?;
    let sections = show_counted(rows.len() as u64, "row");
    Ok(writeln!(out, "\n{sections}; the rates are those of one page of each")?)
}

/// Pages without a tag have a row of their own.
fn name(section: &str) -> &str {
    if section.is_empty() { "(none)" } else { section }
}

/// A cell of CSV.
fn cell(text: &str) -> String {
    let plain = print::plain(text);
    match plain.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", plain.replace('"', "\"\"")),
        false => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_with_a_comma_stands_in_quotes() {
        assert_eq!(cell("a.test"), "a.test");
        assert_eq!(cell("http://a.test/x,y/"), "\"http://a.test/x,y/\"");
        assert_eq!(cell("a\"b"), "\"a\"\"b\"");
    }

    #[test]
    fn a_level_is_neither_nothing_nor_all() {
        assert_eq!(level("95%"), Ok(0.95));
        assert!(level("100%").is_err() && level("0").is_err() && level("x").is_err());
    }
}
