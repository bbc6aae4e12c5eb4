//! Which verbs and flags does the command line take?

mod common;
mod documents;
mod listings;
mod networks;
mod own_webs;
mod ways_in;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use evercrawl_model::{Outcome, Refusal};

pub(crate) use self::common::{Common, CommonOfSeveral};
use crate::exit;
use crate::logging::LogArgs;
use crate::units;

use documents::DOCUMENTS_EXAMPLES;
pub(crate) use documents::{DocumentsArgs, DocumentsForm, Text, TextForm};
pub(crate) use listings::{ArchiveArgs, Listing};

pub(crate) use networks::network_after_space;
pub(crate) use own_webs::{Demo, Testweb};
pub(crate) use ways_in::WaysInArgs;

/// Examples for `crawl --help`.
const CRAWL_EXAMPLES: &str = "Examples:
  evercrawl crawl https://example.org/ --contact you@example.org --data web
  evercrawl crawl --data web --max-time 1h       resume, and stop after an hour
  evercrawl crawl --data web --budget 5/s        5 requests per second
  evercrawl crawl --data a --data b --budget 9/s two directories, one budget";

/// An incremental web crawler: finds pages, archives them, learns how often they change, and
/// keeps its copy as fresh as a budget allows.
#[derive(Debug, Parser)]
#[command(name = "evercrawl", version, max_term_width = 80, after_help = exit::listed())]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) log: LogArgs,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Create a data directory with a short configuration file
    Init(Init),
    /// Add seeds without crawling
    #[command(after_help = "Example: evercrawl add --input-file domains.txt --data web")]
    Add(Add),
    /// Import lists, archives and what other tools keep
    #[command(after_help = crate::verbs::import::EXAMPLES)]
    Import(crate::verbs::import::Import),
    /// Discover, fetch, archive and revisit pages; resume earlier runs
    #[command(after_help = CRAWL_EXAMPLES)]
    Crawl(Box<Crawl>),
    /// Show how a crawl is doing: pages by state, changes, freshness
    Status(Status),
    /// List the known URLs with their states
    #[command(after_help = "Example: evercrawl urls --state failing --data web")]
    Urls(Urls),
    /// List the known hosts: pages, failures, what each waits for
    #[command(after_help = "Example: evercrawl hosts --json --data web")]
    Hosts(Listing),
    /// Show what waits to be fetched, and the first hosts in each queue
    #[command(after_help = "Example: evercrawl queue --limit 20 --data web")]
    Queue(Listing),
    /// List the WARC files of the archive
    #[command(after_help = "Example: evercrawl archive --data web")]
    Archive(ArchiveArgs),
    /// Explain the state of one URL, even of one never seen
    #[command(after_help = "Example: evercrawl why https://example.org/a --data web")]
    Why(Why),
    /// Preview the schedule (dry run)
    Plan(Plan),
    /// List the visits to one page
    History(History),
    /// List or follow the log of new, changed and gone pages
    #[command(after_help = "Example: evercrawl changes --follow --json --data web")]
    Changes(Changes),
    /// Show which words of a page changed between two archived versions
    #[command(after_help = "Example: evercrawl diff https://example.org/ --from 2d --data web")]
    Diff(Diff),
    /// Estimate how often pages change, by host, directory or tag
    #[command(after_help = "Example: evercrawl rates --by dir --data web")]
    Rates(crate::verbs::rates::Rates),
    /// Show the main text of a page, without menus and the like
    #[command(after_help = "Example: evercrawl text https://example.org/ --as markdown --data web")]
    Text(Text),
    /// List or send what a search index should hold
    #[command(after_help = DOCUMENTS_EXAMPLES)]
    Documents(Box<DocumentsArgs>),
    /// Export pages and visits for other tools
    #[command(subcommand, after_help = crate::verbs::export::EXAMPLES)]
    Export(crate::verbs::export::Export),
    /// Check, test or run the rules that say what you are told of
    #[command(subcommand, after_help = crate::verbs::rules::EXAMPLES)]
    Rules(crate::verbs::rules::RulesVerb),
    /// List and decide what the rules found
    #[command(after_help = crate::verbs::hits::EXAMPLES)]
    Hits(crate::verbs::hits::Hits),
    /// Test channels, list deliveries, send again
    #[command(subcommand, after_help = crate::verbs::notify::EXAMPLES)]
    Notify(crate::verbs::notify::Notify),
    /// Rank pages, hosts or domains by the links found
    Rank(crate::verbs::rank::RankArgs),
    /// Report probable spam and mirrors; changes nothing
    Spam(crate::verbs::spam::SpamArgs),
    #[command(flatten)]
    Override(crate::verbs::overrides::Override),
    /// Change the request budget
    ///
    /// For a running crawl it changes now, for a stopped crawl with the next run.
    #[command(after_help = "Example: evercrawl budget 5/s --data web")]
    Budget(Budget),
    /// Report changed URLs, so that they are visited sooner
    #[command(after_help = "Example: evercrawl push https://example.org/a --data web")]
    Push(Push),
    /// Fetch one URL and show the response; stores nothing
    Fetch(Fetch),
    /// Test whether robots.txt allows a URL (exit code 1: disallowed)
    Robots(Robots),
    /// Verify the data directory (exit code 1: faults found)
    Check(Check),
    /// Delete what the retention rules no longer keep
    #[command(
        after_help = "The rules are the settings `retention.archive` and `retention.visits`."
    )]
    Retain(Retain),
    /// Show the settings in force
    #[command(subcommand)]
    Config(Config),
    /// Serve a synthetic, changing web on loopback
    #[command(after_help = "Example: evercrawl testweb --hosts 20 --pages 100 --time-scale 3600")]
    Testweb(Testweb),
    /// Crawl a synthetic web for a minute and compare with the truth
    Demo(Demo),
    /// Simulate policies in worlds where the truth is known
    #[command(subcommand)]
    Lab(crate::verbs::lab::Lab),
    /// Print a completion script for a shell
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    #[command(flatten)]
    pub(crate) common: Common,
    /// URL or email address where site operators can reach you
    #[arg(long, value_name = "URL|EMAIL")]
    pub(crate) contact: Option<String>,
    /// Product token in the User-Agent header and in robots.txt
    #[arg(long = "user-agent", short = 'A', alias = "agent", value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Seeds {
    /// URLs or bare domains; `-` reads a list from stdin
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// List of seeds: one URL or domain per line, optionally followed by `tag=...`; `#` starts a
    /// comment; `-` reads stdin
    #[arg(long, short = 'i', visible_alias = "input-file", value_name = "FILE")]
    pub(crate) seeds: Vec<PathBuf>,
    /// Tag for the seeds given here
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    #[command(flatten)]
    pub(crate) seeds: Seeds,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Crawl {
    #[command(flatten)]
    pub(crate) seeds: Seeds,
    #[command(flatten)]
    pub(crate) common: CommonOfSeveral,
    #[command(flatten)]
    pub(crate) rules: CrawlRules,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Listen here for pushes over HTTP, e.g. 127.0.0.1:8090
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) push: Option<String>,
    /// Print progress and a final report as JSON Lines
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Write a report of the run as JSON to this file at its end
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

/// What a crawl is about; remembered for the next run on the same data directory.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What to crawl (remembered in the data directory)")]
pub(crate) struct CrawlRules {
    /// How far to crawl around each seed: page (the seeds only), prefix (under the seed's
    /// directory), host, domain (the registered domain) or any [default: host]
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Option<String>,
    /// Crawl only URLs that match one of these patterns
    #[arg(long, value_name = "REGEX")]
    pub(crate) include: Vec<String>,
    /// Skip URLs that match one of these patterns
    #[arg(long, value_name = "REGEX")]
    pub(crate) exclude: Vec<String>,
    /// Maximum link distance from a seed
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) depth: Option<String>,
    /// Also fetch what pages are made of: images, scripts, stylesheets, fonts, media
    #[arg(long = "page-requisites", short = 'p', alias = "embeds")]
    pub(crate) embeds: bool,
    /// Archive pages with all that they show: page requisites from any host, PDF and media up to
    /// 64 MiB each
    #[arg(long)]
    pub(crate) archive: bool,
    /// Where to look for links: pages, or all (also scripts, JSON, comments, forms)
    #[arg(long, value_name = "WHERE")]
    pub(crate) links: Option<String>,
    /// Request budget over all hosts, e.g. 5/s
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) budget: Option<String>,
    /// Maximum content received in any 24 hours, over all runs, e.g. 2GB
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) max_bytes_per_day: Option<String>,
    /// Maximum concurrent requests, all hosts [default: 256]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) concurrency: Option<String>,
    /// Pause between requests to one host [default: 1s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) delay: Option<String>,
    /// Pause between requests to one IP address [default: 250ms, none on loopback]
    #[arg(long, value_name = "TIME")]
    pub(crate) ip_delay: Option<String>,
    /// Maximum concurrent requests per host [default: 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) per_host: Option<String>,
    /// Share of the budget for new pages while known pages are due [default: 50%]
    #[arg(
        long = "discovery-share",
        alias = "discover",
        value_name = "PERCENT",
        allow_hyphen_values = true
    )]
    pub(crate) discover: Option<String>,
    /// What to optimize: freshness, coverage (miss no change) or age [default: freshness]
    #[arg(long, value_name = "GOAL")]
    pub(crate) goal: Option<String>,
    /// How to divide the budget among known pages: index, gamma or uniform [default: index]
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    /// Revisit every page at this fixed interval; auto: the policy decides within the budget, or
    /// 1d without a budget [default: auto]
    #[arg(long = "revisit-every", alias = "recrawl", value_name = "TIME")]
    pub(crate) recrawl: Option<String>,
    /// Allow these private networks, e.g. --allow-private=10.0.0.0/8; without a value, loopback
    #[arg(long, value_name = "NETWORK,...", num_args = 0..=1, value_delimiter = ',', default_missing_value = "loopback", require_equals = true)]
    pub(crate) allow_private: Vec<String>,
    /// Connect to HOST2:PORT2 instead of HOST1:PORT1, like curl; an empty part matches any
    #[arg(long, value_name = "HOST1:PORT1:HOST2:PORT2")]
    pub(crate) connect_to: Vec<String>,
    /// Product token in the User-Agent header and in robots.txt [default: evercrawl]
    #[arg(long = "user-agent", short = 'A', alias = "agent", value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// URL or email address where site operators can reach you; required except on loopback
    #[arg(long, value_name = "URL|EMAIL")]
    pub(crate) contact: Option<String>,
    #[command(flatten)]
    pub(crate) ways_in: WaysInArgs,
}

/// When this run ends.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "When to stop (this run only)")]
pub(crate) struct RunArgs {
    /// Visit only new pages, and stop when none is left
    #[arg(long = "new-only", alias = "once")]
    pub(crate) once: bool,
    /// Stop after N pages
    #[arg(long, value_name = "N")]
    pub(crate) max_pages: Option<u64>,
    /// Stop after this time, e.g. 2h
    #[arg(long = "max-time", aliases = ["for", "duration"], value_name = "TIME")]
    pub(crate) time: Option<String>,
    /// Stop after receiving this much, e.g. 2GB
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_bytes: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Print JSON; with --watch, one line per update
    #[arg(long)]
    pub(crate) json: bool,
    /// Print all figures, one by one, in the text format of Prometheus
    #[arg(long, conflicts_with = "watch")]
    pub(crate) metrics: bool,
    /// Refresh every SECONDS seconds [default: 2], until Ctrl-C
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2",
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) watch: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Urls {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Print JSON Lines
    #[arg(long)]
    pub(crate) json: bool,
    /// Only URLs in this state
    #[arg(long, value_enum)]
    pub(crate) state: Option<StateArg>,
    /// Only URLs with this refusal or outcome code
    #[arg(long, value_name = "CODE", value_parser = reason)]
    pub(crate) reason: Option<String>,
    /// Only URLs with this tag
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
    /// Only URLs of hosts classified as spam
    #[arg(long)]
    pub(crate) spam: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StateArg {
    /// Never visited
    New,
    /// Due for a visit
    Due,
    /// Due later
    Resting,
    /// The last visit failed; retried at growing intervals
    Failing,
    /// Gone (e.g. 404 or 410)
    Gone,
    /// Moved permanently
    Moved,
    /// Answers 200 with a "not found" page
    #[value(name = "soft_404")]
    SoftGone,
    /// Answers with a login page
    #[value(name = "login_wall")]
    LoginWall,
    /// The domain is parked
    Parked,
    /// Excluded by robots.txt, scope or a filter
    Refused,
}

#[derive(Debug, Args)]
pub(crate) struct Why {
    /// The URL
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Budget {
    /// Requests over all hosts, e.g. 5/s or 10000/d
    #[arg(allow_hyphen_values = true)]
    pub(crate) rate: String,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) common: Common,
    /// How far to look ahead
    #[arg(long = "ahead", alias = "for", value_name = "TIME", default_value = "24h", value_parser = units::duration)]
    pub(crate) time: Duration,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct History {
    /// The URL
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Print JSON Lines
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Changes {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Only lines after this number (that of the last line you processed)
    #[arg(long, value_name = "NUMBER")]
    pub(crate) after: Option<u64>,
    /// Only visits since this time, e.g. 2026-11-16T08:00:00Z, or 2h (two hours ago)
    #[arg(long, value_name = "TIME", value_parser = units::moment, conflicts_with = "after")]
    pub(crate) since: Option<units::Moment>,
    /// Keep waiting for more while the crawl runs
    #[arg(long)]
    pub(crate) follow: bool,
    /// Also list pages whose state changed (e.g. to failing and back), with the reason
    #[arg(long)]
    pub(crate) states: bool,
    /// Also list visits that found nothing but noise
    #[arg(long)]
    pub(crate) noise: bool,
    /// List every visit, also those that found no change
    #[arg(long)]
    pub(crate) all: bool,
    /// Also list visits that were imported
    #[arg(long)]
    pub(crate) imported: bool,
    /// Print at most N lines
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Print JSON Lines
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The URL
    pub(crate) url: String,
    /// Older version: the one known at this time, e.g. 2026-11-16T08:00:00Z, or 2h (two hours ago)
    #[arg(long, value_name = "TIME", value_parser = units::moment)]
    pub(crate) from: Option<units::Moment>,
    /// Newer version: the one known at this time [default: the latest]
    #[arg(long, value_name = "TIME", value_parser = units::moment)]
    pub(crate) to: Option<units::Moment>,
    /// Mask nothing as noise: every word that differs counts
    #[arg(long)]
    pub(crate) unmask: bool,
    /// Exit with code 10 if words differ
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Show changes by colour, not by marks [default: on a terminal]
    #[arg(long, value_enum, value_name = "WHEN", overrides_with = "color")]
    pub(crate) color: Option<ColorArg>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    /// Also when writing to a pipe
    Always,
    /// Marks only
    Never,
}

#[derive(Debug, Args)]
pub(crate) struct Push {
    /// The changed URLs; `-` reads them from stdin, one per line
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Fetch {
    /// The URL
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) rules: CrawlRules,
    /// Print only the decompressed body
    #[arg(long)]
    pub(crate) body: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Robots {
    /// The URL to test
    pub(crate) url: String,
    /// Read robots.txt from this file, not from the URL's host
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) rules: CrawlRules,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Also read every row of the state and every file
    #[arg(long)]
    pub(crate) deep: bool,
    /// Repair what can be repaired and report what was lost; damaged parts are moved aside
    #[arg(long)]
    pub(crate) repair: bool,
    /// Print JSON Lines
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Retain {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Show what would be deleted, delete nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// List past deletions
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) list: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// List every setting with its value and where it was set
    Show {
        #[command(flatten)]
        common: Common,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Reads a refusal or outcome code. A misspelt one is an error: an empty list would look like good news.
fn reason(text: &str) -> Result<String, String> {
    let refusals = Refusal::ALL.map(Refusal::code);
    let outcomes = Outcome::ALL.map(Outcome::code);
    let known = [refusals.as_slice(), &outcomes].concat();
    match known.contains(&text) {
        true => Ok(text.to_owned()),
        false => Err(format!("`{text}` is not a reason; use one of {}", known.join(", "))),
    }
}

#[cfg(test)]
mod tests;
