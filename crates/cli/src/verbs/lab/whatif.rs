//! `evercrawl lab whatif`: what would more, or less, buy?

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::{Args, value_parser};
use evercrawl_lab::run::{FetchBudget, RunPlan, RunProgress, RunTerms};
use evercrawl_lab::whatif::{Factors, WhatIf, recent_rate};
use evercrawl_lab::{ResultRow, WorldSource};
use evercrawl_policy::registry;

use super::cache::CacheArgs;
use super::running::{processors, show_progress, stop_on_ctrl_c};
use super::{json_line, output, sources};
use crate::exit::Failure;
use crate::{exit, print};

const KNEE: &str = "The knee is where the curve of freshness over the logarithm of the budget rises \
furthest above the straight line between its ends.";

#[derive(Debug, Args)]
#[command(after_help = KNEE)]
pub(crate) struct Whatif {
    /// The world; a data directory stands for what its visits say of its pages
    #[arg(value_name = "WORLD", required_unless_present = "data")]
    world: Option<PathBuf>,
    /// A data directory
    #[arg(long, value_name = "DIR", conflicts_with = "world")]
    data: Option<PathBuf>,
    /// Multiples of the budget: a range, or a list
    #[arg(long, value_name = "FROM..TO", default_value = "0.25x..4x")]
    budget: Factors,
    /// What stands at 1x; by default what a data directory's crawl fetched of late, else 10%/week
    #[arg(long, value_name = "BUDGET")]
    base: Option<FetchBudget>,
    /// The policy
    #[arg(long, value_name = "NAME", default_value = "index")]
    policy: String,
    /// How many times to run each, with other draws
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u64).range(1..))]
    seeds: u64,
    /// Runs at a time; by default as many as there are processors
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    #[command(flatten)]
    cache: CacheArgs,
    /// Write a page with curves and table
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// JSON instead of a table
    #[arg(long)]
    json: bool,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(args: &Whatif) -> anyhow::Result<u8> {
    let path = args.world.as_ref().or(args.data.as_ref());
    let path = path.ok_or_else(|| Failure::usage("name a world, or a data directory by --data"))?;
    let source = sources::open(path, false)?;
    let base = args.base(&source)?;
    let notes: Vec<String> = match &source {
        WorldSource::Logged { log, .. } => vec![log.account().to_string()],
        _ => Vec::new(),
    };
    let plan = args.plan(source, &base)?;
    let (rows, stopped) = args.rows(&plan)?;
    let answer = WhatIf::new(&rows, &base, &args.budget);
    if let Some(path) = &args.html {
        output::write(path, &answer.html(&notes))?;
    }
    let mut out = print::data();
    if args.json {
        json_line(&mut out, &answer)?;
    } else {
        print_table(&mut out, &answer)?;
    }
    Ok(if stopped { exit::INTERRUPTED } else { exit::OK })
}

impl Whatif {
    fn base(&self, source: &WorldSource) -> anyhow::Result<FetchBudget> {
        let recent = match source {
            WorldSource::Logged { log, .. } => recent_rate(log),
            _ => "10%/week".parse().ok(),
        };
        let none = || Failure::usage("this crawl has fetched nothing yet: give a budget by --base");
        self.base.clone().or(recent).ok_or_else(none)
    }

    fn plan(&self, source: WorldSource, base: &FetchBudget) -> anyhow::Result<RunPlan> {
        let policy =
            registry::find(&self.policy).map_err(|error| Failure::usage(error.to_string()))?;
        Ok(RunPlan {
            worlds: vec![source],
            policies: vec![policy],
            budgets: self.budget.budgets(base),
            seeds: (0..self.seeds).collect(),
            terms: RunTerms::default(),
            references: Some(false),
            threads: self.threads.unwrap_or_else(processors),
            cache: self.cache.open()?,
        })
    }

    /// The rows, and whether Ctrl-C ended the runs before the last.
    fn rows(&self, plan: &RunPlan) -> anyhow::Result<(Vec<ResultRow>, bool)> {
        let stop = stop_on_ctrl_c();
        let progress = !self.quiet && std::io::stderr().is_terminal();
        let (mut rows, mut unfit) = (Vec::new(), None);
        evercrawl_lab::run::run(plan, &stop, |news| match news {
            RunProgress::Row(row) => rows.push(*row),
            RunProgress::Unfit { why, .. } => unfit = Some(why),
            RunProgress::Progress { world, done } if progress => show_progress(&world, done),
            RunProgress::Progress { .. } => {}
        })?;
        if progress {
            eprint!("\r\x1b[2K");
        }
        match unfit {
            Some(why) => Err(Failure::usage(why.to_string())),
            None => Ok((rows, stop.load(Ordering::Relaxed))),
        }
    }
}

fn print_table(out: &mut impl Write, answer: &WhatIf) -> anyhow::Result<()> {
    let head =
        ["budget", "fetches/week", "freshness", "95 %", "gain/doubling", "coverage", "age", ""];
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let rows: Vec<Vec<String>> = answer
        .points
        .iter()
        .map(|point| {
            let gain = point.gain_a_doubling.map(|gain| format!("{:+.1}", 100.0 * gain));
            let knee = answer.knee == Some(point.factor);
            vec![
                format!("{}x", point.factor),
                format!("{:.1}", point.fetches_a_week),
                percent(point.freshness),
                super::interval(point.freshness_low, point.freshness_high),
                gain.unwrap_or_else(|| "-".to_owned()),
                percent(point.coverage),
                format!("{:.2} d", point.age),
                if knee { "<- knee" } else { "" }.to_owned(),
            ]
        })
        .collect();
    print::table(out, &head, &rows)?;
    Ok(writeln!(out, "{}", answer.words())?)
}
