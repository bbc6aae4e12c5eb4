//! What can be asked of the lab?

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use evercrawl_estimate::Gamma;
use evercrawl_policy::allocate::Objective;
use evercrawl_sites::PartitionMethod;

const FILES: &str = "Files are CSV; the first row names the columns, in any order. A file that is \
wrong is refused with its line and column, and exit code 2.";

#[derive(Debug, Subcommand)]
pub(crate) enum Lab {
    /// How often each page changes, by every estimator, from a history of checks
    Estimate(Estimate),
    /// How a budget is best divided over pages whose rates are known
    Allocate(Allocate),
    /// How a server divides into sites with top pages
    Sites(Sites),
    /// Which nodes of an edge list matter: in-degree, PageRank, HITS, TrustRank
    Graph(super::graph::GraphArgs),
    /// How soon each order of discovery comes to the pages that matter
    Discover(super::discover::Discover),
    /// Worlds that come with the program
    Worlds(super::worlds::Worlds),
    /// How policies do in worlds, at budgets
    Run(super::run::Run),
    /// Whether the engine does what the lab promises: it crawls a world by a clock of its own
    Live(super::live::Live),
    /// What more, or less, would buy: freshness against budget, with the knee marked
    Whatif(super::whatif::Whatif),
    /// What the documents behind Evercrawl report, beside what its code finds
    Report(super::report::Report),
    /// Draw the figures of the documentation
    Figures(Figures),
}

#[derive(Debug, Args)]
#[command(after_help = FILES)]
pub(crate) struct Estimate {
    /// `page,interval,changed[,unmodified]`: the time since the check before, 0 or 1, and (from
    /// Last-Modified) for how long at its end the page is known unmodified; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(super) history: PathBuf,
    /// What is believed at first: changes, and the time they took, in the file's unit
    #[arg(long, value_name = "CHANGES,TIME", default_value = "1,1", value_parser = prior)]
    pub(super) prior: Gamma,
    /// How sure the intervals are to hold the truth
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = share)]
    pub(super) level: f64,
    /// JSON instead of a table; null is infinite
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = FILES)]
pub(crate) struct Allocate {
    /// `page,rate,weight[,cost][,host]`; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(super) pages: PathBuf,
    /// What may be spent: fetches (or cost) per unit of time
    #[arg(long, value_name = "B", value_parser = budget, allow_negative_numbers = true)]
    pub(super) budget: f64,
    /// What the budget is to buy
    #[arg(long, value_enum)]
    pub(super) objective: ObjectiveArg,
    /// host,cap: the most fetches of a host per unit of time; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(super) host_caps: Option<PathBuf>,
    /// JSON instead of a table; null is infinite
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = FILES)]
pub(crate) struct Sites {
    /// `page,url[,dir]`; without dir it is read from the URL; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(super) pages: PathBuf,
    /// src,dst: who links to whom; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(super) links: PathBuf,
    /// How to cut
    #[arg(long, value_enum, ignore_case = true)]
    pub(super) method: MethodArg,
    /// JSON instead of a table
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Figures {
    /// Where to put them
    #[arg(long, value_name = "DIR")]
    pub(super) out: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ObjectiveArg {
    /// The largest share of time that pages are fresh
    Freshness,
    /// The least time since changes not yet seen
    Age,
    /// The least harmonic penalty; no page gets nothing
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
    /// By links, as printed
    #[value(name = "B")]
    B,
    /// The sites of B, each below the sites that link to it
    #[value(name = "C")]
    C,
    /// By links, with what the paper leaves open closed; recommended
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
    let (shape, time) = parts.ok_or("expected two numbers above 0, as in 1,1")?;
    Ok(Gamma::new(shape, time))
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|v: &f64| *v > 0.0 && *v < 1.0);
    share.ok_or_else(|| "expected a number between 0 and 1".to_owned())
}

fn budget(text: &str) -> Result<f64, String> {
    let budget = text.parse().ok().filter(|v: &f64| *v >= 0.0 && v.is_finite());
    budget.ok_or_else(|| "expected a number, 0 or more".to_owned())
}
