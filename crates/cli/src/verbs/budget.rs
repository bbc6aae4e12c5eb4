//! `evercrawl budget`: changes the request budget of a running or stopped crawl.

use std::io::Write;
use std::path::Path;

use evercrawl_engine::live::Inbox;

use super::{Entered, Opened, enter};
use crate::args::{Budget, Common};
use crate::exit::{self, Failure};
use crate::settings::{Origin, Settings};
use crate::{control, crawl_config, units};

const RATE: &str = "budget.rate";

/// Tells the crawl that has the data directory open, or writes it down for the next one.
pub(crate) fn run(args: &Budget) -> anyhow::Result<u8> {
    rate(args)?;
    match enter(&args.common, || control::forward(&args.common.data, &[]))? {
        Entered::Here(opened) => {
            remember(args, &opened.path)?;
            eprintln!(
                "budget set to {} for the next run{}",
                args.rate,
                fixed_note(&opened.settings)?
            );
            Ok(exit::OK)
        }
        Entered::There(code) => Ok(code),
    }
}

/// Sets the budget of the crawl that works there, and of the next one. Returns the settings then in force.
pub(crate) fn running(
    args: &Budget,
    opened: &Opened,
    inbox: &Inbox,
    out: &mut dyn Write,
) -> anyhow::Result<Settings> {
    inbox.set_budget(rate(args)?)?;
    let settings = remember(args, &opened.path)?;
    writeln!(out, "budget set to {} from now on{}", args.rate, fixed_note(&settings)?)?;
    let mut in_force = Settings::clone(&opened.settings);
    in_force.set(RATE, vec![args.rate.clone()], Origin::Flag)?;
    Ok(in_force)
}

/// A note for crawls with a fixed interval, where no policy divides the budget.
fn fixed_note(settings: &Settings) -> anyhow::Result<&'static str> {
    let fixed = crawl_config::plan(settings)?.fixed;
    let words = ", as an upper limit only: schedule.revisit_every fixes the interval of every page; \
                 `crawl --revisit-every auto` lets the policy divide the budget";
    Ok(if fixed { words } else { "" })
}

fn rate(args: &Budget) -> anyhow::Result<f64> {
    units::rate(&args.rate).map_err(Failure::usage)
}

fn remember(args: &Budget, dir: &Path) -> anyhow::Result<Settings> {
    let common = Common { data: dir.to_owned(), config: None, set: Vec::new() };
    let mut settings = crawl_config::settings(&common, None)?;
    settings.set(RATE, vec![args.rate.clone()], Origin::Flag)?;
    settings.remember(&crawl_config::remembered(dir))?;
    Ok(settings)
}
