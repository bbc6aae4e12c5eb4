//! What does the server need from those who hold the data directories and run the crawls?

use evercrawl_query::{Answer, Failed, Request};
use serde::{Deserialize, Serialize};

/// Whether a collection is being crawled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Nobody crawls it.
    Stopped,
    /// The crawl process was asked to begin.
    Starting,
    /// It is being crawled.
    Running,
    /// It finishes what is in flight.
    Stopping,
    /// It should run, and failed; `message` says why.
    Failed,
}

impl RunState {
    /// Its code.
    pub const fn code(self) -> &'static str {
        match self {
            RunState::Stopped => "stopped",
            RunState::Starting => "starting",
            RunState::Running => "running",
            RunState::Stopping => "stopping",
            RunState::Failed => "failed",
        }
    }
}

/// A collection: a data directory under a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectionView {
    /// Its name in addresses.
    pub name: String,
    /// Its data directory.
    pub path: String,
    /// Whether it is being crawled.
    pub state: RunState,
    /// Whether the crawl process of this server crawls it, rather than a command beside it.
    pub supervised: bool,
    /// What went wrong last, or how the last run ended.
    pub message: Option<String>,
}

/// How the crawl process is doing that this server supervises.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrawlProcessView {
    /// Its process id, while it runs.
    pub pid: Option<u32>,
    /// How often it was started anew after it ended by itself.
    pub restarts: u64,
    /// How it ended last, where it ended by itself.
    pub last_fault: Option<String>,
    /// In how many seconds it is started anew.
    pub restarts_in_seconds: Option<f64>,
    /// Whether there is something to crawl.
    pub is_needed: bool,
}

/// A collection to be made, or a look at what it would be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewCollection {
    /// Its name; without one, the host of the first seed.
    #[serde(default)]
    pub name: Option<String>,
    /// Where site operators can reach the user: an address or an email address.
    #[serde(default)]
    pub contact: Option<String>,
    /// Where to begin: URLs and domains.
    pub seeds: Vec<String>,
    /// How far around each seed: page, prefix, host, domain or any.
    #[serde(default)]
    pub scope: Option<String>,
    /// Requests over all hosts, as in `5/s`.
    #[serde(default)]
    pub budget: Option<String>,
    /// Tags for the seeds.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Whether to begin to crawl at once.
    #[serde(default = "yes")]
    pub start: bool,
}

fn yes() -> bool {
    true
}

/// What a seed looks like from here, before anything is crawled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeedPreview {
    /// As it was given.
    pub seed: String,
    /// The URL that it stands for.
    pub url: Option<String>,
    /// `allowed`, `disallowed`, `unreachable` or `unusable`.
    pub verdict: String,
    /// The rule of robots.txt that decides, or why it cannot be used.
    pub reason: Option<String>,
    /// Sitemaps that robots.txt names, or that stand where sitemaps usually do.
    pub sitemaps: Vec<String>,
    /// Pages that the sitemap read first lists.
    pub pages_listed: Option<u64>,
    /// Whether these are all: a list of sitemaps is not followed here.
    pub pages_listed_complete: bool,
}

/// Whether more of an answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    More,
    /// That is enough.
    Enough,
}

/// Why nothing came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskError {
    /// There is no collection of this name.
    NoCollection,
    /// What whoever was asked says.
    Failed(Failed),
}

impl From<Failed> for AskError {
    fn from(failed: Failed) -> Self {
        AskError::Failed(failed)
    }
}

/// Takes the parts of an answer.
pub type Parts<'a> = dyn FnMut(Answer) -> Flow + 'a;

/// Whoever holds the data directories and runs the crawls: the command line for real ones, the tests for made-up ones.
pub trait Collections: Send + Sync + 'static {
    /// All collections, by name.
    fn list(&self) -> Vec<CollectionView>;

    /// How the crawl process is doing; `None` where this server runs none.
    fn process(&self) -> Option<CrawlProcessView>;

    /// Answers a question about a collection, or makes a change to it; each part of the answer goes to `part`.
    fn ask(&self, name: &str, request: Request, part: &mut Parts<'_>) -> Result<(), AskError>;

    /// Begins to crawl a collection, now and whenever this server starts.
    fn start(&self, name: &str) -> Result<(), AskError>;

    /// Stops crawling a collection, now and whenever this server starts.
    fn stop(&self, name: &str) -> Result<(), AskError>;

    /// Makes a collection with its first seeds.
    fn create(&self, asked: &NewCollection) -> Result<CollectionView, AskError>;

    /// How seeds look from here.
    fn preview(&self, asked: &NewCollection) -> Result<Vec<SeedPreview>, AskError>;

    /// The settings in force in a collection, as `config show --json` has them.
    fn settings(&self, name: &str) -> Result<serde_json::Value, AskError>;

    /// What a caller must show to push changes to a collection: `push.token` and `push.secret`.
    fn push_keys(&self, name: &str) -> Result<PushKeys, AskError>;
}

/// What a caller must show to push changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushKeys {
    /// The token.
    pub token: Option<String>,
    /// The secret with which WebSub notifications are signed.
    pub secret: Option<String>,
}
