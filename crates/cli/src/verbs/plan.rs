//! `evercrawl plan`: what would be fetched when, if the crawl went on as it is; nothing is done.

use std::io::Write;

use evercrawl_query::{Answer, PlanRequest, PlanView, Request};

use crate::args::Plan;
use crate::control::unexpected;
use crate::units::{show_count, show_counted, show_seconds};
use crate::{exit, print, report};

/// Hosts that are shown one by one.
const SHOWN: usize = 10;

/// Shows what is to come in the time that was asked for.
pub(crate) fn run(args: &Plan) -> anyhow::Result<u8> {
    let request = Request::Plan(PlanRequest { seconds: args.time.as_secs_f64() });
    let mut out = print::data();
    super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::Plan(plan) if args.json => Ok(print::json_line(&mut out, &plan)?),
        Answer::Plan(plan) => write(&plan, &mut out),
        other => Err(unexpected(&other)),
    })?;
    out.flush()?;
    Ok(exit::OK)
}

fn count(number: f64) -> String {
    show_count(number.round() as u64)
}

fn write(plan: &PlanView, out: &mut dyn Write) -> anyhow::Result<()> {
    let budget = match plan.budget_a_second {
        None => "no budget: every page at its fixed interval".to_owned(),
        Some(rate) => {
            let requests = count(rate * plan.seconds);
            format!("{requests} requests at {rate}/s, by policy {}", plan.policy)
        }
    };
    writeln!(out, "the next {}: {budget}", show_seconds(plan.seconds))?;
    let known = known_pages(plan);
    print::labelled(out, "known pages", COLUMN, &known)?;
    let wait = if plan.new_pages == 1 { "page waits" } else { "pages wait" };
    let new = format!("{} {wait} for a first visit", show_count(plan.new_pages));
    print::labelled(out, "new pages", COLUMN, &new)?;
    write_shares(plan, out)?;
    writeln!(out, "\nnext")?;
    for visit in &plan.next {
        let now = visit.at <= plan.at;
        let when = if now { format!("{:<24}", "now") } else { visit.at.to_string() };
        writeln!(out, "{when}  {}", print::plain(&visit.url))?;
    }
    writeln!(out)?;
    let now = report::freshness_text(&plan.freshness);
    print::labelled(out, "freshness", COLUMN, &format!("now {now}"))?;
    let expected = plan.freshness_expected;
    let expected =
        expected.map_or("not known".to_owned(), |share| format!("{:.1} %", 100.0 * share));
    Ok(print::labelled(out, "expected", COLUMN, &format!("{expected} from then on"))?)
}

/// Where the text of a line begins.
const COLUMN: usize = 13;

fn known_pages(plan: &PlanView) -> String {
    let (visits, due) = (count(plan.visits), count(plan.visits_due));
    if visits == due {
        return format!("{} due", show_counted(plan.visits_due.round() as u64, "visit"));
    }
    format!("{visits} of {due} due visits fit the budget; the rest are deferred")
}

fn write_shares(plan: &PlanView, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(out, "\n{:>10} {:>10}  pages that change", "visits", "pages")?;
    for of in &plan.classes {
        let (visits, pages) = (count(of.visits), show_count(of.pages));
        writeln!(out, "{visits:>10} {pages:>10}  {}", of.changes)?;
    }
    writeln!(out, "\n{:>10} {:>10}  host", "visits", "pages")?;
    for of in plan.hosts.iter().take(SHOWN) {
        let (visits, pages) = (count(of.visits), show_count(of.pages));
        writeln!(out, "{visits:>10} {pages:>10}  {}", print::plain(&of.host))?;
    }
    if plan.hosts.len() > SHOWN {
        let more = show_counted((plan.hosts.len() - SHOWN) as u64, "more host");
        writeln!(out, "{:>21}  and {more}", "")?;
    }
    Ok(())
}
