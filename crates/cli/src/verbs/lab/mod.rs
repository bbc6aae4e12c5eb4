//! `evercrawl lab`: the crawler's estimators, allocators and policies, on files and simulated worlds.

mod allocate;
mod args;
mod cache;
mod discover;
mod estimate;
mod figures;
mod graph;
mod live;
mod output;
mod report;
mod run;
mod running;
mod sites;
mod sources;
mod whatif;
mod worlds;

use std::io::Write;
use std::path::Path;

pub(crate) use args::Lab;
use serde::Serialize;

use crate::exit::Failure;

pub(crate) fn run(lab: &Lab) -> anyhow::Result<u8> {
    match lab {
        Lab::Estimate(args) => estimate::run(args),
        Lab::Allocate(args) => allocate::run(args),
        Lab::Sites(args) => sites::run(args),
        Lab::Graph(args) => graph::run(args),
        Lab::Discover(args) => discover::run(args),
        Lab::Run(args) => run::run(args),
        Lab::Live(args) => live::run(args),
        Lab::Whatif(args) => whatif::run(args),
        Lab::Worlds(args) => worlds::run(args),
        Lab::Report(args) => report::run(args),
        Lab::Figures(args) => figures::run(args),
    }
}

/// Standard input can be read once only.
fn one_stdin(first: &Path, second: &Path) -> anyhow::Result<()> {
    let stdin = Path::new("-");
    if first == stdin && second == stdin {
        return Err(Failure::usage("only one file can come from standard input"));
    }
    Ok(())
}

/// One JSON object on a line; what is infinite becomes null.
fn json_line(out: &mut impl Write, answer: &impl Serialize) -> anyhow::Result<()> {
    // As an error of writing, so that a reader who went away is known for what it is.
    serde_json::to_writer(&mut *out, answer).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}

/// An interval of shares, in per cent; a dash where it cannot be told.
fn interval(low: Option<f64>, high: Option<f64>) -> String {
    let shown = |(low, high): (f64, f64)| format!("{:.1}-{:.1}", 100.0 * low, 100.0 * high);
    low.zip(high).map_or("-".to_owned(), shown)
}

/// A number for people: six digits, infinity as its sign.
pub(crate) fn shown(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if size.is_infinite() {
        "∞".to_owned()
    } else if (1e-4..1e6).contains(&size) {
        let digits = (5 - size.log10().floor() as i32).max(0) as usize;
        let text = format!("{value:.digits$}");
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    } else {
        format!("{value:.5e}")
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn numbers_are_short_and_keep_six_digits() {
        for (value, text) in [
            (0.0, "0"),
            (f64::INFINITY, "∞"),
            (1.0, "1"),
            (1.1498922734771557, "1.14989"),
            (0.000123456789, "0.000123457"),
            (123456.789, "123457"),
            (100.0, "100"),
            (1e6, "1.00000e6"),
            (1.5e-9, "1.50000e-9"),
        ] {
            assert_eq!(shown(value), text);
        }
    }
}
