//! `evercrawl budget`: changes the request budget of a running or stopped crawl.

use std::io::Write;
use std::path::Path;

use evercrawl_engine::live::Inbox;
use evercrawl_query::{Answer, BudgetRequest, BudgetView, Request};

use super::{Entered, Opened, enter};
use crate::args::{Budget, Common};
use crate::control::unexpected;
use crate::exit::{self, Failure};
use crate::settings::{Origin, Settings};
use crate::{control, crawl_config, print, units};

const RATE: &str = "budget.rate";

/// Asks the crawl that has the data directory open, or notes it for the next one.
pub(crate) fn run(args: &Budget) -> anyhow::Result<u8> {
    let asked = BudgetRequest { rate: args.rate.clone() };
    rate(&asked)?;
    let request = Request::SetBudget(asked.clone());
    let mut shown = |answer: Answer| match answer {
        Answer::Budget(view) => show(args, &view),
        other => Err(unexpected(&other)),
    };
    let data = &args.common.data;
    if let Entered::Here(opened) =
        enter(&args.common, || control::call(data, &request, &mut shown))?
    {
        remember(&asked, &opened.path)?;
        let view = view(&asked, &opened.settings, false)?;
        show(args, &view)?;
    }
    Ok(exit::OK)
}

fn show(args: &Budget, view: &BudgetView) -> anyhow::Result<()> {
    if args.json {
        return Ok(print::json_line(&mut print::data(), view)?);
    }
    let when = if view.running { "from now on" } else { "for the next run" };
    writeln!(print::data(), "budget set to {} {when}{}", args.rate, fixed_note(view))?;
    Ok(())
}

/// Sets the budget of the crawl that works there, and of the next one. Returns the settings then in force.
pub(crate) fn running(
    asked: &BudgetRequest,
    opened: &Opened,
    inbox: &Inbox,
) -> anyhow::Result<(BudgetView, Settings)> {
    inbox.set_budget(rate(asked)?)?;
    let settings = remember(asked, &opened.path)?;
    let view = view(asked, &settings, true)?;
    let mut in_force = Settings::clone(&opened.settings);
    in_force.set(RATE, vec![asked.rate.clone()], Origin::Flag)?;
    Ok((view, in_force))
}

fn view(asked: &BudgetRequest, settings: &Settings, running: bool) -> anyhow::Result<BudgetView> {
    let fixed_interval = crawl_config::plan(settings)?.fixed;
    Ok(BudgetView { budget_a_second: rate(asked)?, fixed_interval, running })
}

/// Notes the budget for the next run in `dir`.
pub(crate) fn stopped(asked: &BudgetRequest, dir: &Path) -> anyhow::Result<BudgetView> {
    rate(asked)?;
    let settings = remember(asked, dir)?;
    view(asked, &settings, false)
}

/// A note for crawls with a fixed interval, where no policy divides the budget.
fn fixed_note(view: &BudgetView) -> &'static str {
    match view.fixed_interval {
        true => {
            ", as an upper limit only: schedule.revisit_every fixes the interval of every page; \
             `crawl --revisit-every auto` lets the policy divide the budget"
        }
        false => "",
    }
}

fn rate(asked: &BudgetRequest) -> anyhow::Result<f64> {
    units::rate(&asked.rate).map_err(|error| Failure::config(format!("{RATE}: {error}")))
}

fn remember(asked: &BudgetRequest, dir: &Path) -> anyhow::Result<Settings> {
    let common = Common { data: dir.to_owned(), config: None, set: Vec::new() };
    let mut settings = crawl_config::settings(&common, None)?;
    settings.set(RATE, vec![asked.rate.clone()], Origin::Flag)?;
    settings.remember(&crawl_config::remembered(dir))?;
    Ok(settings)
}
