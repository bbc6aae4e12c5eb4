//! `evercrawl lab run`: how do policies do in worlds, at budgets?

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::{Args, ValueEnum, value_parser};
use evercrawl_lab::run::{FetchBudget, RunPlan, RunProgress, RunTerms, goal_name};
use evercrawl_lab::{ResultRow, RunSummary, WorldSource};
use evercrawl_policy::Days;
use evercrawl_policy::registry::{self, Entry, Goal};

use super::cache::CacheArgs;
use super::running::{processors, show_progress, stop_on_ctrl_c};
use super::{json_line, output, sources};
use crate::exit::Failure;
use crate::{exit, print, units};

const WORLDS: &str = "A world is one that comes with the program (see `lab worlds`), a TOML file that describes one, a folder \
of recorded changes, a data directory of a crawl, or a data set of microsoft/Optimal-Freshness-Crawl-Scheduling. Times \
are written with a unit: 12h, 1d, 4w. Ctrl-C keeps what is done, and ends with code 11.";

#[derive(Debug, Args)]
#[command(after_help = WORLDS)]
pub(crate) struct Run {
    /// The worlds
    #[arg(required = true, value_name = "WORLD")]
    worlds: Vec<PathBuf>,
    /// Take all folders together as one world of several servers
    #[arg(long)]
    together: bool,
    /// The policies, or `all`
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', default_value = "index,uniform")]
    policy: Vec<String>,
    /// How much may be fetched: a share of the live pages, or a number
    #[arg(long, value_name = "5%/week,..", value_delimiter = ',', default_value = "10%/week")]
    budget: Vec<FetchBudget>,
    /// What policies that can choose aim at
    #[arg(long, value_enum, default_value = "freshness")]
    goal: GoalArg,
    /// How long a round lasts
    #[arg(long, value_name = "TIME", default_value = "1w", value_parser = days)]
    rounds: Days,
    /// How many times to run each, with other draws
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u64).range(1..))]
    seeds: u64,
    /// Weekly fetches of every page, free, for so long before the start
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = days)]
    warm: Days,
    /// What a fetch costs that finds nothing new; others cost 1
    #[arg(long, value_name = "COST", default_value_t = 1.0, value_parser = cost)]
    cost_unchanged: f64,
    /// Count changes that touched a whole site at once
    #[arg(long)]
    sitewide: bool,
    /// Compare with those who know the truth; by default unless a world is large
    #[arg(long, value_name = "YES", num_args = 0..=1, default_missing_value = "true")]
    references: Option<bool>,
    /// Runs at a time; by default as many as there are processors
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    #[command(flatten)]
    cache: CacheArgs,
    /// JSON Lines instead of a table: one object a run
    #[arg(long)]
    json: bool,
    /// Instead of every run, one Markdown table to choose a policy by
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Write a report with tables and curves: one file that needs no other
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write summary.csv, weeks.csv, hosts.csv and classes.csv
    #[arg(long, value_name = "DIR")]
    csv: Option<PathBuf>,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum GoalArg {
    /// Copies that are current
    Freshness,
    /// As many changes found as can be
    Coverage,
    /// Copies that are out of date for a short time only
    Age,
}

pub(super) fn run(args: &Run) -> anyhow::Result<u8> {
    let plan = args.plan()?;
    let stop = stop_on_ctrl_c();
    let mut screen = Screen::new(args);
    let mut written = Ok(());
    evercrawl_lab::run::run(&plan, &stop, |news| {
        if let Err(error) = screen.show(news) {
            stop.store(true, Ordering::Relaxed);
            written = Err(error);
        }
    })?;
    written?;
    screen.finish()?;
    args.write_files(&screen.rows)?;
    Ok(if stop.load(Ordering::Relaxed) { exit::INTERRUPTED } else { exit::OK })
}

impl Run {
    fn plan(&self) -> anyhow::Result<RunPlan> {
        Ok(RunPlan {
            worlds: self.sources()?,
            policies: policies(&self.policy)?,
            budgets: self.budget.clone(),
            seeds: (0..self.seeds).collect(),
            terms: RunTerms {
                goal: self.goal.goal(),
                round: positive(self.rounds)?,
                warm: self.warm,
                cost_unchanged: self.cost_unchanged,
            },
            references: self.references,
            threads: self.threads.unwrap_or_else(processors),
            cache: self.cache.open()?,
        })
    }

    fn write_files(&self, rows: &[ResultRow]) -> anyhow::Result<()> {
        let summary = RunSummary::new(rows);
        if let Some(path) = &self.html {
            output::write(path, &summary.html(&output::command_line()))?;
        }
        if let Some(dir) = &self.csv {
            output::write_tables(dir, &summary.files())?;
        }
        Ok(())
    }

    fn sources(&self) -> anyhow::Result<Vec<WorldSource>> {
        if self.together {
            let folders = self.worlds.clone();
            return Ok(vec![WorldSource::Recorded { folders, sitewide: self.sitewide }]);
        }
        self.worlds.iter().map(|path| sources::open(path, self.sitewide)).collect()
    }
}

impl GoalArg {
    fn goal(self) -> Goal {
        match self {
            Self::Freshness => Goal::Freshness,
            Self::Coverage => Goal::Coverage,
            Self::Age => Goal::Age,
        }
    }
}

/// What is shown while runs are made: rows on standard output, progress and complaints beside it.
struct Screen {
    json: bool,
    markdown: bool,
    progress: bool,
    /// Whether rows are needed once more when all are there.
    keep: bool,
    rows: Vec<ResultRow>,
}

impl Screen {
    fn new(args: &Run) -> Self {
        let progress = !args.quiet && std::io::stderr().is_terminal();
        let keep = !args.json || args.html.is_some() || args.csv.is_some();
        Screen { json: args.json, markdown: args.markdown, progress, keep, rows: Vec::new() }
    }

    fn show(&mut self, news: RunProgress) -> anyhow::Result<()> {
        match news {
            RunProgress::Row(row) => self.take(*row)?,
            RunProgress::Unfit { world, why } => {
                self.clear();
                eprintln!("{}: {why}", print::plain(&world));
            }
            RunProgress::Progress { world, done } if self.progress => show_progress(&world, done),
            RunProgress::Progress { .. } => {}
        }
        Ok(())
    }

    fn take(&mut self, row: ResultRow) -> anyhow::Result<()> {
        if self.json {
            let mut out = print::data();
            json_line(&mut out, &row)?;
            out.flush()?;
        }
        if self.keep {
            self.rows.push(row);
        }
        Ok(())
    }

    fn clear(&self) {
        if self.progress {
            eprint!("\r\x1b[2K");
        }
    }

    fn finish(&self) -> anyhow::Result<()> {
        self.clear();
        if self.markdown {
            let table = RunSummary::new(&self.rows).choosing();
            print::data().write_all(table.markdown().as_bytes())?;
        } else if !self.json {
            print_table(&self.rows)?;
        }
        Ok(())
    }
}

/// What is shown only where some pages are worth more than others.
const BY_WORTH: &str = "by worth";
/// What is shown there only if age is the goal.
const AGE_BY_WORTH: &str = "age by worth";

const HEAD: [&str; 14] = [
    "world",
    "policy",
    "budget",
    "seed",
    "fetches",
    "freshness",
    "95 %",
    BY_WORTH,
    "age",
    AGE_BY_WORTH,
    "coverage",
    "update rate",
    "of clairvoyant",
    "of oracle",
];

fn print_table(rows: &[ResultRow]) -> anyhow::Result<()> {
    let hidden = hidden(rows);
    let shown = |head: &str| !hidden.contains(&head);
    let head: Vec<&str> = HEAD.iter().copied().filter(|head| shown(head)).collect();
    let line = |row: &ResultRow| {
        let cells = HEAD.iter().zip(cells(row)).filter(|(head, _)| shown(head));
        cells.map(|(_, cell)| cell).collect()
    };
    let lines: Vec<Vec<String>> = rows.iter().map(line).collect();
    print::table(&mut print::data(), &head, &lines)?;
    Ok(())
}

/// The columns that say nothing of these rows.
fn hidden(rows: &[ResultRow]) -> &'static [&'static str] {
    let by_worth = rows.iter().any(|row| row.scores.go_by_worth());
    let aged = rows.iter().any(|row| row.goal == goal_name(Goal::Age));
    match (by_worth, aged) {
        (true, true) => &[],
        (true, false) => &[AGE_BY_WORTH],
        (false, _) => &[BY_WORTH, AGE_BY_WORTH],
    }
}

/// A cell for every column.
fn cells(row: &ResultRow) -> [String; HEAD.len()] {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let beside = |share: Option<f64>| share.map_or("-".to_owned(), percent);
    let scores = &row.scores;
    let interval = |low: Option<f32>, high: Option<f32>| {
        super::interval(low.map(f64::from), high.map(f64::from))
    };
    let days = |age: f64| format!("{age:.2} d");
    [
        print::plain(&row.world),
        row.policy.clone(),
        row.budget.clone(),
        row.seed.to_string(),
        units::show_count(row.fetches),
        percent(scores.freshness),
        interval(scores.freshness_low, scores.freshness_high),
        percent(scores.freshness_weighted),
        days(scores.age),
        days(scores.age_weighted),
        percent(scores.coverage),
        percent(scores.update_rate),
        beside(row.freshness_of_clairvoyant),
        beside(row.freshness_of_oracle),
    ]
}

fn policies(names: &[String]) -> anyhow::Result<Vec<&'static Entry>> {
    if names.iter().any(|name| name == "all") {
        return Ok(registry::ALL.iter().collect());
    }
    let find = |name: &String| registry::find(name).map_err(|e| Failure::usage(e.to_string()));
    names.iter().map(find).collect()
}

fn positive(time: Days) -> anyhow::Result<Days> {
    if time > 0.0 { Ok(time) } else { Err(Failure::usage("a round must last some time: give 1w")) }
}

fn days(text: &str) -> Result<Days, String> {
    units::duration(text).map(|time| time.as_secs_f64() / 86_400.0)
}

fn cost(text: &str) -> Result<f64, String> {
    let cost = text.parse().ok().filter(|v: &f64| *v > 0.0 && *v <= 1.0);
    cost.ok_or_else(|| "expected a number above 0, at most 1".to_owned())
}
