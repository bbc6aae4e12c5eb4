//! `evercrawl budget`: so many requests from now on, of a running crawl or a stopped one.

use std::io::Write;
use std::path::Path;

use evercrawl_engine::live::Inbox;

use super::{Entered, Opened, enter};
use crate::args::{Budget, Common};
use crate::exit::{self, Failure};
use crate::settings::{Origin, Settings};
use crate::{control, crawl_config, units};

const RATE: &str = "budget.rate";

/// Tells the crawl that has the data directory open, or notes it for the next one.
pub(crate) fn run(args: &Budget) -> anyhow::Result<u8> {
    rate(args)?;
    match enter(&args.common, || control::forward(&args.common.data, &[]))? {
        Entered::Here(opened) => {
            remember(args, &opened.path)?;
            eprintln!("{} from the next run on{}", args.rate, as_a_bound(&opened.settings)?);
            Ok(exit::OK)
        }
        Entered::There(code) => Ok(code),
    }
}

/// Has the crawl that works there keep to it, and the next one too. Returns the settings that are then in force.
pub(crate) fn running(
    args: &Budget,
    opened: &Opened,
    inbox: &Inbox,
    out: &mut dyn Write,
) -> anyhow::Result<Settings> {
    inbox.set_budget(rate(args)?)?;
    let settings = remember(args, &opened.path)?;
    writeln!(out, "{} from now on{}", args.rate, as_a_bound(&settings)?)?;
    let mut in_force = Settings::clone(&opened.settings);
    in_force.set(RATE, vec![args.rate.clone()], Origin::Flag)?;
    Ok(in_force)
}

/// What is to be said where there is nothing to divide.
fn as_a_bound(settings: &Settings) -> anyhow::Result<&'static str> {
    let fixed = crawl_config::plan(settings)?.fixed;
    let words = ", as a bound: every page has the same interval (schedule.recrawl); \
                 `crawl --recrawl auto` lets the policy divide the budget";
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
