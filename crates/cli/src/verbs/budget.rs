//! `evercrawl budget`: another request budget, for a running crawl or for the next run of a stopped one.

use std::path::Path;

use evercrawl_engine::live::Inbox;
use evercrawl_query::{Answer, BudgetRequest, BudgetView, Request};

use super::{Entered, Opened, enter};
use crate::args::{Budget, Common};
use crate::control::unexpected;
use crate::exit::{self, Failure};
use crate::settings::{Origin, Settings};
use crate::{control, crawl_config, units};

const RATE: &str = "budget.rate";

/// Asks the crawl that has the data directory open, or notes it for the next one.
pub(crate) fn run(args: &Budget) -> anyhow::Result<u8> {
    let asked = BudgetRequest { rate: args.rate.clone() };
    rate(&asked)?;
    let request = Request::SetBudget(asked.clone());
    let mut shown = |answer: Answer| match answer {
        Answer::Budget(view) => {
            println!("{} from now on{}", args.rate, as_a_bound(&view));
            Ok(())
        }
        other => Err(unexpected(&other)),
    };
    let data = &args.common.data;
    if let Entered::Here(opened) =
        enter(&args.common, || control::call(data, &request, &mut shown))?
    {
        remember(&asked, &opened.path)?;
        let view = view(&asked, &opened.settings, false)?;
        eprintln!("{} from the next run on{}", args.rate, as_a_bound(&view));
    }
    Ok(exit::OK)
}

/// Has the crawl that works there keep to it, and the next one too. Returns the settings that are then in force.
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

/// What to say where there is nothing to divide.
fn as_a_bound(view: &BudgetView) -> &'static str {
    match view.fixed_interval {
        true => {
            ", as an upper limit: every page has the same interval (schedule.recrawl); \
             `crawl --recrawl auto` lets the policy divide the budget"
        }
        false => "",
    }
}

fn rate(asked: &BudgetRequest) -> anyhow::Result<f64> {
    units::rate(&asked.rate).map_err(Failure::usage)
}

fn remember(asked: &BudgetRequest, dir: &Path) -> anyhow::Result<Settings> {
    let common = Common { data: dir.to_owned(), config: None, set: Vec::new() };
    let mut settings = crawl_config::settings(&common, None)?;
    settings.set(RATE, vec![asked.rate.clone()], Origin::Flag)?;
    settings.remember(&crawl_config::remembered(dir))?;
    Ok(settings)
}
