//! What can be said on the command line?

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use evercrawl_model::{Outcome, Refusal};

use crate::logging::LogArgs;
use crate::units;

/// An incremental web crawler: finds pages, archives them, learns how often they change, and
/// keeps them as fresh as a budget allows.
#[derive(Debug, Parser)]
#[command(name = "evercrawl", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 ok, 1 unexpected or `no`, 2 usage, 3 configuration, 4 storage, \
5 nothing reachable, 10 different (`diff --exit-code`), 11 interrupted (run again to go on), 14 size limit, 15 time limit, 16 disk full."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) log: LogArgs,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Make a data directory with a short configuration file in it
    Init(Init),
    /// Add seeds without crawling
    Add(Add),
    /// Crawl: discover, fetch, archive, come again; goes on where the last run stopped
    Crawl(Box<Crawl>),
    /// How a crawl is doing: pages by state, what changed, how fresh it is
    Status(Status),
    /// Every known URL, with its state and why
    Urls(Urls),
    /// Where a URL is in the walk and why; also for URLs never seen
    Why(Why),
    /// What would be fetched when, by host and by how often pages change; nothing is done
    Plan(Plan),
    /// A page's visits, one a line
    History(History),
    /// What was found new, changed or gone, in order: a log to follow, and to go on from
    Changes(Changes),
    /// Which words of a page changed between two archived versions
    Diff(Diff),
    /// Which pages, hosts or domains matter, by the links that were found
    Rank(crate::verbs::rank::RankArgs),
    /// Which hosts and pages only pretend to be of use, and which are mirrors; nothing is done about it
    Spam(crate::verbs::spam::SpamArgs),
    #[command(flatten)]
    Override(crate::verbs::overrides::Override),
    /// Another budget, for a running crawl from now on, for a stopped one from its next run on
    Budget(Budget),
    /// Say that pages changed: known ones are visited sooner, new ones enter, inside budget and pace
    Push(Push),
    /// Fetch one URL and show what came; changes nothing
    Fetch(Fetch),
    /// May we fetch this? Exit 0 allowed, 1 disallowed; prints the deciding line
    Robots(Robots),
    /// Can the data directory be trusted? Exit 0 yes, 1 no
    Check(Check),
    /// Drop what need not be kept by the rules `retention.archive` and `retention.visits`
    Retain(Retain),
    /// The configuration in force
    #[command(subcommand)]
    Config(Config),
    /// An evolving web on loopback, to try things on
    Testweb(Testweb),
    /// Crawl a web of our own for a minute and compare with the truth
    Demo(Demo),
    /// How good a policy is, in worlds where the truth is known; and the arithmetic behind the schedule
    #[command(subcommand)]
    Lab(crate::verbs::lab::Lab),
    /// Completions for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

/// Where the data is, and settings of any kind.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// The data directory
    #[arg(
        long,
        short,
        env = "EVERCRAWL_DATA",
        default_value = "evercrawl-data",
        value_name = "DIR"
    )]
    pub(crate) data: PathBuf,
    /// A configuration file; else evercrawl.toml in the data directory or here
    #[arg(long, env = "EVERCRAWL_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Set anything: `-s pace.delay=2s` (see `evercrawl config show`)
    #[arg(short, long = "set", value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    #[command(flatten)]
    pub(crate) common: Common,
    /// URL or mail where the crawl's operator can be reached
    #[arg(long)]
    pub(crate) contact: Option<String>,
    /// Product token that robots.txt and the User-Agent name
    #[arg(long)]
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Seeds {
    /// URLs or bare domains; `-` reads a list from standard input
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// A list: one URL or domain a line, `tag=...` after it, `#` begins a comment; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) seeds: Vec<PathBuf>,
    /// A tag for what is given on the line
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    #[command(flatten)]
    pub(crate) seeds: Seeds,
    #[command(flatten)]
    pub(crate) common: Common,
    /// JSON instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Crawl {
    #[command(flatten)]
    pub(crate) seeds: Seeds,
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) rules: CrawlRules,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Listen here for pushes over HTTP, as in 127.0.0.1:8090
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) push: Option<String>,
    /// JSON Lines of progress and a report on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What a crawl is about; remembered for the next run on the same data directory.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What to crawl (remembered in the data directory)")]
pub(crate) struct CrawlRules {
    /// How far around each seed [default: host]
    #[arg(long, value_enum)]
    pub(crate) scope: Option<ScopeArg>,
    /// Only URLs that match one of these patterns
    #[arg(long, value_name = "RE")]
    pub(crate) include: Vec<String>,
    /// No URLs that match one of these patterns
    #[arg(long, value_name = "RE")]
    pub(crate) exclude: Vec<String>,
    /// Most links away from a seed
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<u16>,
    /// Also fetch images, scripts and styles
    #[arg(long)]
    pub(crate) embeds: bool,
    /// Requests over all hosts, as in 5/s
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) budget: Option<String>,
    /// Content received in any 24 hours, over all runs, as in 2GB
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) max_bytes_per_day: Option<String>,
    /// Requests out at once over all hosts [default: 256]
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<usize>,
    /// Pause after each request to a host [default: 1s]
    #[arg(long, value_name = "TIME")]
    pub(crate) delay: Option<String>,
    /// Pause after each request to an address [default: 250ms, none on loopback]
    #[arg(long, value_name = "TIME")]
    pub(crate) ip_delay: Option<String>,
    /// Requests to one host at once [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) per_host: Option<usize>,
    /// Share of the requests for new pages, while others are due too [default: 50%]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub(crate) discover: Option<String>,
    /// What the budget is spent for: freshness, coverage (miss no change) or age [default: freshness]
    #[arg(long, value_name = "GOAL")]
    pub(crate) goal: Option<String>,
    /// How the budget is divided over known pages: index, gamma or uniform [default: index]
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    /// Visit every page so often, whatever it does; auto: let the policy choose within the budget,
    /// or 1d where there is none [default: auto]
    #[arg(long, value_name = "TIME")]
    pub(crate) recrawl: Option<String>,
    /// Allow addresses of these networks though they are not public; without any, this machine's own
    #[arg(long, value_name = "NETWORK,...", num_args = 0..=1, value_delimiter = ',', default_missing_value = "loopback", require_equals = true)]
    pub(crate) allow_private: Vec<String>,
    /// Connect to HOST2:PORT2 instead, as curl does; empty parts mean any
    #[arg(long, value_name = "HOST1:PORT1:HOST2:PORT2")]
    pub(crate) connect_to: Vec<String>,
    /// Product token that robots.txt and the User-Agent name [default: evercrawl]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// URL or mail where you can be reached; needed for anything but loopback
    #[arg(long, value_name = "URL|MAIL")]
    pub(crate) contact: Option<String>,
}

/// When this run ends.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "When to stop (this run only)")]
pub(crate) struct RunArgs {
    /// Stop when every known page was visited
    #[arg(long)]
    pub(crate) once: bool,
    /// Stop after so many pages
    #[arg(long, value_name = "N")]
    pub(crate) max_pages: Option<u64>,
    /// Stop after so long
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) time: Option<String>,
    /// Stop after so many bytes were received
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_bytes: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ScopeArg {
    /// The seeds alone
    Page,
    /// What lies under the seed's directory
    Prefix,
    /// The seed's host
    Host,
    /// The seed's registered domain
    Domain,
    /// Everything
    Any,
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) common: Common,
    /// JSON instead of words; with --watch, a line of it each time
    #[arg(long)]
    pub(crate) json: bool,
    /// Show it again every so many seconds (2 if none are given), until Ctrl-C
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2",
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) watch: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Urls {
    #[command(flatten)]
    pub(crate) common: Common,
    /// JSON Lines instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Only URLs in this state
    #[arg(long, value_enum)]
    pub(crate) state: Option<StateArg>,
    /// Only URLs with this reason (a refusal or an outcome)
    #[arg(long, value_name = "CODE", value_parser = reason)]
    pub(crate) reason: Option<String>,
    /// Only URLs that carry this tag
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
    /// Only URLs of hosts that are taken for spam
    #[arg(long)]
    pub(crate) spam: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StateArg {
    /// Known, never visited
    New,
    /// To be visited again, now
    Due,
    /// To be visited again, later
    Resting,
    /// Its last visit failed; it is tried again, ever more rarely
    Failing,
    /// Not there any more
    Gone,
    /// Moved for good
    Moved,
    /// A page that says "not found" is shown in its place
    #[value(name = "soft_404")]
    SoftGone,
    /// A password is asked for in its place
    #[value(name = "login_wall")]
    LoginWall,
    /// Its domain is parked
    Parked,
    /// Not to be fetched
    Refused,
}

#[derive(Debug, Args)]
pub(crate) struct Why {
    /// The URL
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) common: Common,
    /// JSON instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Budget {
    /// Requests over all hosts, as in 5/s or 10000/d
    #[arg(allow_hyphen_values = true)]
    pub(crate) rate: String,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) common: Common,
    /// How far ahead
    #[arg(long = "for", value_name = "TIME", default_value = "24h", value_parser = units::duration)]
    pub(crate) time: Duration,
    /// JSON instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct History {
    /// The URL
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) common: Common,
    /// JSON Lines instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Changes {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Only what comes after this number: that of the last line already dealt with
    #[arg(long, value_name = "NUMBER")]
    pub(crate) after: Option<u64>,
    /// Only visits from this time on: 2026-11-16T08:00:00Z, or 2h for so long ago
    #[arg(long, value_name = "TIME", value_parser = units::moment, conflicts_with = "after")]
    pub(crate) since: Option<units::Moment>,
    /// Wait for more while the crawl runs
    #[arg(long)]
    pub(crate) follow: bool,
    /// Also pages that came to another state: failing and back, refused and back, with the reason
    #[arg(long)]
    pub(crate) states: bool,
    /// Everything, also visits that found nothing new
    #[arg(long)]
    pub(crate) all: bool,
    /// At most so many lines
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// JSON Lines instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The URL
    pub(crate) url: String,
    /// The version known at this time: 2026-11-16T08:00:00Z, or 2h for so long ago
    #[arg(long, value_name = "TIME", value_parser = units::moment)]
    pub(crate) from: Option<units::Moment>,
    /// The version known at this time [default: the latest]
    #[arg(long, value_name = "TIME", value_parser = units::moment)]
    pub(crate) to: Option<units::Moment>,
    /// End with exit code 10 when words differ
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Colours instead of marks [default: on a terminal]
    #[arg(long, value_enum, value_name = "WHEN", overrides_with = "color")]
    pub(crate) color: Option<ColorArg>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// JSON instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    /// Also into a pipe
    Always,
    /// Marks only
    Never,
}

#[derive(Debug, Args)]
pub(crate) struct Push {
    /// The URLs; `-` reads them from standard input, one a line
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// JSON instead of words
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
    /// The body on standard output, unpacked, and nothing else
    #[arg(long)]
    pub(crate) body: bool,
    /// JSON instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Robots {
    /// The URL to be fetched
    pub(crate) url: String,
    /// Rules from this file instead of the URL's own host
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) rules: CrawlRules,
    /// JSON instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Read every row of the state and every file, too
    #[arg(long)]
    pub(crate) deep: bool,
    /// Mend what can be mended, and say what was lost; what is replaced is moved aside
    #[arg(long)]
    pub(crate) repair: bool,
    /// JSON lines instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Retain {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Only say what would be dropped
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// List what was dropped so far
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) list: bool,
    /// JSON instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Every setting, its value, and who set it
    Show {
        #[command(flatten)]
        common: Common,
        /// JSON instead of a table
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Testweb {
    /// What kind of web
    #[arg(long, default_value = "calm", value_name = "calm|demo|wild|noisy|bench|spam")]
    pub(crate) preset: String,
    /// How many hosts
    #[arg(long, value_name = "N")]
    pub(crate) hosts: Option<u32>,
    /// How many pages a host
    #[arg(long, value_name = "N")]
    pub(crate) pages: Option<u32>,
    /// Another seed, another web
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:8088", value_name = "ADDRESS:PORT")]
    pub(crate) listen: Vec<std::net::SocketAddr>,
    /// How many seconds pass there while one passes here
    #[arg(long, value_name = "N")]
    pub(crate) time_scale: Option<f64>,
    /// Threads that serve
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Write what changed when to this file at the end, one page a line
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    /// Write every request to this file, one a line
    #[arg(long, value_name = "FILE")]
    pub(crate) access_log: Option<PathBuf>,
    /// Also serve a host for every trouble that a server can make, as tarpit.hostile.test
    #[arg(long)]
    pub(crate) hostile: bool,
    /// Stop after so long, else at Ctrl-C
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) time: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where to keep what was crawled; made anew
    #[arg(long, short, default_value = "demo-data", value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// How long to crawl
    #[arg(long = "for", default_value = "1m", value_name = "TIME")]
    pub(crate) time: String,
    /// JSON instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

/// A code that some page can have as its reason; a misspelt one would list nothing, as if all were well.
fn reason(text: &str) -> Result<String, String> {
    let refusals = Refusal::ALL.map(Refusal::code);
    let outcomes = Outcome::ALL.map(Outcome::code);
    let known = [refusals.as_slice(), &outcomes].concat();
    match known.contains(&text) {
        true => Ok(text.to_owned()),
        false => Err(format!("there is no such reason, only {}", known.join(", "))),
    }
}
