//! Which verbs and flags does `evercrawl lab` take?

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use evercrawl_estimate::Gamma;
use evercrawl_policy::allocate::Objective;
use evercrawl_sites::PartitionMethod;

const FILES: &str = "Files are CSV; the first row names the columns, in any order. An error in a file \
is reported with line and column, and exit code 2.";

const ALLOCATE: &str = "evercrawl lab allocate [OPTIONS] --pages <FILE> --budget <B>
       --objective <OBJECTIVE>";
const SITES: &str = "evercrawl lab sites [OPTIONS] --pages <FILE> --links <FILE>
       --method <METHOD>";

#[derive(Debug, Subcommand)]
pub(crate) enum Lab {
    /// Estimate change rates from a history of visits
    Estimate(Estimate),
    /// Divide a budget optimally over pages with known change rates
    Allocate(Allocate),
    /// Divide a server into sites with top pages
    Sites(Sites),
    /// Rank the nodes of an edge list: in-degree, PageRank, HITS, TrustRank
    Graph(super::graph::GraphArgs),
    /// Compare how soon each discovery order finds important pages
    Discover(super::discover::Discover),
    /// List the built-in worlds
    Worlds(super::worlds::Worlds),
    /// Simulate policies in worlds at given budgets
    Run(super::run::Run),
    /// Run the real engine on a simulated world and compare it with the lab
    Live(super::live::Live),
    /// Show freshness against budget: what a larger or smaller budget gives
    Whatif(super::whatif::Whatif),
    /// Compare published measurements with what this code measures
    Report(super::report::Report),
    /// Draw the figures of the documentation
    Figures(Figures),
}

#[derive(Debug, Args)]
#[command(after_help = FILES)]
pub(crate) struct Estimate {
    /// File with columns `page,interval,changed[,unmodified]`; `-` is stdin
    ///
    /// `interval` is the time since the previous visit, `changed` is 0 or 1, and `unmodified` is how
    /// long before the visit the page is known to have been unmodified (from Last-Modified).
    #[arg(long, value_name = "FILE")]
    pub(super) history: PathBuf,
    /// Prior: a number of changes, and the time in which they happened, in the file's unit
    #[arg(long, value_name = "CHANGES,TIME", default_value = "1,1", value_parser = prior)]
    pub(super) prior: Gamma,
    /// Confidence level of the intervals
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = share)]
    pub(super) level: f64,
    /// Print JSON; null means infinite
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = FILES, override_usage = ALLOCATE)]
pub(crate) struct Allocate {
    /// File with columns `page,rate,weight[,cost][,host]`; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(super) pages: PathBuf,
    /// Budget: fetches (or cost) per unit of time
    #[arg(long, value_name = "B", value_parser = budget, allow_negative_numbers = true)]
    pub(super) budget: f64,
    /// What to optimize
    #[arg(long, value_enum)]
    pub(super) objective: ObjectiveArg,
    /// File with columns host,cap: maximum fetches per host and unit of time; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(super) host_caps: Option<PathBuf>,
    /// Print JSON; null means infinite
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = FILES, override_usage = SITES)]
pub(crate) struct Sites {
    /// File with columns `page,url[,dir]`; without dir, it is taken from the URL; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(super) pages: PathBuf,
    /// File with columns src,dst: one link per line; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(super) links: PathBuf,
    /// How to divide
    #[arg(long, value_enum, ignore_case = true)]
    pub(super) method: MethodArg,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Figures {
    /// Directory for the figures
    #[arg(long, value_name = "DIR")]
    pub(super) out: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ObjectiveArg {
    /// Maximum share of time in which pages are fresh
    Freshness,
    /// Minimum age of outdated copies
    Age,
    /// Minimum harmonic penalty; every page gets some visits
    Harmonic,
}

impl ObjectiveArg {
    pub(super) fn objective(self) -> Objective {
        match self {
            Self::Freshness => Objective::Freshness,
            Self::Age => Objective::Age,
            Self::Harmonic => Objective::Harmonic,
        }
    }

    pub(super) fn value_in_words(self) -> &'static str {
        match self {
            Self::Freshness => "mean freshness",
            Self::Age => "mean age",
            Self::Harmonic => "mean harmonic cost",
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum MethodArg {
    /// By directory
    #[value(name = "A")]
    A,
    /// By links, as published
    #[value(name = "B")]
    B,
    /// The sites of B, each below the sites that link to it
    #[value(name = "C")]
    C,
    /// By links, with the gaps of the paper filled; recommended
    Open,
}

impl MethodArg {
    pub(super) fn method(self) -> PartitionMethod {
        match self {
            Self::A => PartitionMethod::A,
            Self::B => PartitionMethod::B,
            Self::C => PartitionMethod::C,
            Self::Open => PartitionMethod::Open,
        }
    }
}

fn prior(text: &str) -> Result<Gamma, String> {
    let positive = |part: &str| part.parse().ok().filter(|v: &f64| *v > 0.0 && v.is_finite());
    let parts = text.split_once(',').and_then(|(a, b)| Some((positive(a)?, positive(b)?)));
    let (shape, time) = parts.ok_or("use two numbers above 0, e.g. 1,1")?;
    Ok(Gamma::new(shape, time))
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|v: &f64| *v > 0.0 && *v < 1.0);
    share.ok_or_else(|| "use a number between 0 and 1".to_owned())
}

fn budget(text: &str) -> Result<f64, String> {
    let budget = text.parse().ok().filter(|v: &f64| *v >= 0.0 && v.is_finite());
    budget.ok_or_else(|| "use a number of 0 or more".to_owned())
}
