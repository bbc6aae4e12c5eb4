//! `evercrawl report`: all figures of a crawl, with drawings and sentences, in one file.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::{ArgGroup, Args};
use evercrawl_engine::live::SystemClock;
use evercrawl_query::{
    Answer, PlanRequest, PlanView, RatesBy, RatesRequest, RatesView, Request, Status, TallyRequest,
    TallyView, TrendRequest, TrendView,
};
use evercrawl_screens::analytics::{Analytics, report};

use crate::args::Common;
use crate::control::unexpected;
use crate::{exit, print, units};

/// What to show, and in which form.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("form").required(true).multiple(true).args(["html", "json"]))]
pub(crate) struct Report {
    /// Write one HTML file that needs nothing else
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the same as JSON
    #[arg(long)]
    json: bool,
    /// How far back the curves go
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = units::duration)]
    period: Duration,
    #[command(flatten)]
    common: Common,
}

/// How far ahead the plan looks, in seconds.
const AHEAD: f64 = 86_400.0;
/// Answers and texts that are looked up in the archive.
const LOOKED_UP: u64 = 1_000;
const TEXTS: u64 = 200;

/// Writes the report.
pub(crate) fn run(args: &Report) -> anyhow::Result<u8> {
    let figures = Figures::ask(args)?;
    let analysed = Analytics {
        status: &figures.status,
        trend: &figures.trend,
        tally: &figures.tally,
        plan: &figures.plan,
        rates: Some(&figures.rates),
    };
    if let Some(file) = &args.html {
        let name = name_of(&args.common.data);
        replace(file, &report(&name, &analysed, SystemClock.now()))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    if args.json {
        let mut out = print::data();
        print::json_line(&mut out, &analysed)?;
        out.flush()?;
    }
    Ok(exit::OK)
}

/// What a report is made of.
struct Figures {
    status: Status,
    trend: TrendView,
    tally: TallyView,
    plan: PlanView,
    rates: RatesView,
}

impl Figures {
    fn ask(args: &Report) -> anyhow::Result<Self> {
        let seconds = args.period.as_secs_f64();
        let tally = TallyRequest { visits: None, looked_up: Some(LOOKED_UP), texts: Some(TEXTS) };
        let rates = RatesRequest { by: RatesBy::Host, since: None, level: 0.95, checks: false };
        let ask = |request: Request| first_answer(&args.common, &request);
        Ok(Figures {
            status: match ask(Request::Status)? {
                Answer::Status(status) => *status,
                other => return Err(unexpected(&other)),
            },
            trend: match ask(Request::Trend(TrendRequest { seconds }))? {
                Answer::Trend(trend) => trend,
                other => return Err(unexpected(&other)),
            },
            tally: match ask(Request::Tally(tally))? {
                Answer::Tally(tally) => *tally,
                other => return Err(unexpected(&other)),
            },
            plan: match ask(Request::Plan(PlanRequest { seconds: AHEAD }))? {
                Answer::Plan(plan) => *plan,
                other => return Err(unexpected(&other)),
            },
            rates: match ask(Request::Rates(rates))? {
                Answer::Rates(rates) => rates,
                other => return Err(unexpected(&other)),
            },
        })
    }
}

/// The answer to a request, with what further parts add to rates.
fn first_answer(common: &Common, request: &Request) -> anyhow::Result<Answer> {
    let mut found = None;
    super::ask_and_close(common, request, &mut |part| {
        match (&mut found, part) {
            (Some(Answer::Rates(all)), Answer::Rates(more)) => all.rows.extend(more.rows),
            (None, part) => found = Some(part),
            _ => {}
        }
        Ok(())
    })?;
    found.context("the crawl gave no answer")
}

/// What a data directory is called.
fn name_of(data: &Path) -> String {
    let whole = data.canonicalize().unwrap_or_else(|_| data.to_owned());
    whole.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Writes a file as a whole or not at all.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let mut aside: OsString = file.as_os_str().to_owned();
    aside.push(".new");
    std::fs::write(&aside, text)?;
    std::fs::rename(&aside, file)
}
