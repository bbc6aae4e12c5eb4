//! How do a caller and a running crawl talk? In JSON, one value a line.
//!
//! The caller sends one [`Call`] and then nothing: a byte or an end after it means that the caller has left.
//! The crawl sends [`Answer`]s, the last of which is [`Answer::End`] or [`Answer::Failed`].

use serde::{Deserialize, Serialize};

use crate::archive::ArchiveView;
use crate::changes::{ChangesRequest, ChangesView};
use crate::diff::{DiffRequest, DiffView};
use crate::freshness::FreshnessView;
use crate::hosts::{HostsRequest, HostsView};
use crate::latest::{LatestRequest, LatestView};
use crate::link_list::{LinksRequest, LinksView};
use crate::links::{ExportView, RankRequest, RankView, SpamRequest, SpamView};
use crate::log::{LogRequest, LogView};
use crate::metrics::MetricsView;
use crate::overrides::OverridesView;
use crate::page::{PageView, PagesRequest, PagesView};
use crate::plan::PlanView;
use crate::queue::{QueueRequest, QueueView};
use crate::rates::{RatesRequest, RatesView};
use crate::retained::{DroppedView, RetentionPreview};
use crate::status::Status;
use crate::tally::{TallyRequest, TallyView};
use crate::trend::{TrendRequest, TrendView};
use crate::visit::HistoryView;
use crate::why::WhyView;

/// The version of requests and answers. It rises when one of them changes its meaning.
pub const PROTOCOL_VERSION: u32 = 1;

/// What a caller sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The version of the protocol that the caller speaks.
    pub version: u32,
    /// What it asks for.
    pub request: Request,
}

impl Call {
    /// A call by this version.
    pub fn new(request: Request) -> Self {
        Call { version: PROTOCOL_VERSION, request }
    }
}

/// What can be asked of a crawl.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// How is it doing?
    Status,
    /// Which figures are there, one by one?
    Metrics,
    /// What is known of a page?
    Page(UrlRequest),
    /// Where is a URL in the crawl, and why?
    Why(UrlRequest),
    /// What visits were there to a page?
    History(UrlRequest),
    /// Which words of a page changed?
    Diff(DiffRequest),
    /// Which pages are known?
    Pages(PagesRequest),
    /// Which links are there between known pages?
    Links(LinksRequest),
    /// What was found to be new, changed or gone?
    Changes(ChangesRequest),
    /// What changed last?
    Latest(LatestRequest),
    /// How did the figures move?
    Trend(TrendRequest),
    /// What did the last visits bring?
    Tally(TallyRequest),
    /// What stands in the log, with what is known of its pages?
    Log(LogRequest),
    /// Which hosts are known?
    Hosts(HostsRequest),
    /// What is to be fetched, and what keeps it from being fetched?
    Queue(QueueRequest),
    /// What would be fetched when?
    Plan(PlanRequest),
    /// How often do pages of each host, directory or tag change?
    Rates(RatesRequest),
    /// How fresh are the stored pages?
    Freshness,
    /// What is in the archive?
    Archive,
    /// Which pages matter by links?
    Rank(Box<RankRequest>),
    /// What looks like spam?
    Spam(SpamRequest),
    /// What was dropped by the rules of retention?
    Dropped,
    /// What would be dropped now?
    RetentionPreview,
    /// Keep to another budget from now on.
    SetBudget(BudgetRequest),
    /// These pages changed.
    Push(PushRequest),
    /// These are seeds from now on.
    Add(AddRequest),
    /// Set or remove an override, or list them.
    Override(OverrideRequest),
}

/// A question about one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UrlRequest {
    /// Its URL, not necessarily canonical.
    pub url: String,
}

/// How far ahead to plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanRequest {
    /// So many seconds.
    pub seconds: f64,
}

/// Another budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetRequest {
    /// Requests over all hosts, as in `5/s` or `10000/d`.
    pub rate: String,
}

/// Pages that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PushRequest {
    /// Their URLs.
    pub urls: Vec<String>,
}

/// Seeds to be added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddRequest {
    /// URLs and domains, each as on a line of a list of seeds.
    pub urls: Vec<String>,
    /// Tags for all of them.
    #[serde(default)]
    pub tags: Vec<String>,
}

/// What the user wants for a URL, a pattern or a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum OverrideRequest {
    /// Visit a page at least this often.
    Pin {
        /// The page.
        url: String,
        /// The longest time from visit to visit, in seconds.
        every_seconds: Option<f64>,
    },
    /// Let pages count more, or less.
    Boost {
        /// A regular expression.
        pattern: String,
        /// What their weight is multiplied by.
        times: Option<f32>,
    },
    /// Do not ask a host for anything.
    Pause {
        /// The host.
        host: String,
    },
    /// Crawl a host like any other, whatever it is taken for.
    Trust {
        /// The host.
        host: String,
    },
    /// Neither fetch nor follow pages.
    Exclude {
        /// A regular expression.
        pattern: String,
        /// Only count the pages that match.
        #[serde(default)]
        dry_run: bool,
        /// Even where no known page would be left.
        #[serde(default)]
        force: bool,
    },
    /// Show what was learned of a page's noise, or forget it.
    Noise {
        /// The page.
        url: String,
        /// Forget it.
        #[serde(default)]
        forget: bool,
    },
    /// Remove overrides.
    Remove {
        /// The URL, pattern or host that they are about.
        what: String,
        /// Of this kind only.
        kind: Option<String>,
    },
    /// List overrides.
    List {
        /// Of this kind only.
        kind: Option<String>,
    },
}

/// What a crawl answers. A long answer comes as several values of the same kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// How it is doing.
    Status(Box<Status>),
    /// Its figures, one by one.
    Metrics(Box<MetricsView>),
    /// What is known of a page.
    Page(Box<PageView>),
    /// Where a URL is in the crawl, and why.
    Why(Box<WhyView>),
    /// Some of the visits to a page.
    History(HistoryView),
    /// Which words of a page changed.
    Diff(Box<DiffView>),
    /// Some of the pages.
    Pages(PagesView),
    /// Some of the links.
    Links(LinksView),
    /// Some of the log.
    Changes(ChangesView),
    /// What changed last.
    Latest(LatestView),
    /// How the figures moved.
    Trend(TrendView),
    /// What the last visits brought.
    Tally(Box<TallyView>),
    /// Some of the log, with what is known of its pages.
    Log(LogView),
    /// Some of the hosts.
    Hosts(HostsView),
    /// What is to be fetched.
    Queue(QueueView),
    /// What would be fetched when.
    Plan(Box<PlanView>),
    /// How fresh the stored pages are.
    Freshness(FreshnessView),
    /// What is in the archive.
    Archive(ArchiveView),
    /// A ranking.
    Rank(RankView),
    /// Links were written to a file.
    Exported(ExportView),
    /// What looks like spam.
    Spam(SpamView),
    /// What was dropped.
    Dropped(Vec<DroppedView>),
    /// What would be dropped.
    RetentionPreview(RetentionPreview),
    /// The budget that holds from now on.
    Budget(BudgetView),
    /// How often pages of some sections change.
    Rates(RatesView),
    /// What came of pushed URLs.
    Pushed(PushView),
    /// What came of seeds.
    Added(AddView),
    /// What came of an override.
    Overrides(OverridesView),
    /// That is all.
    End,
    /// There is no answer, or no more of it.
    Failed(Failed),
}

/// The budget that holds from now on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BudgetView {
    /// Requests a second.
    pub budget_a_second: f64,
    /// Whether every page has the same interval, so that the budget is only a bound.
    pub fixed_interval: bool,
    /// Whether a running crawl keeps to it already; otherwise the next run will.
    pub running: bool,
}

/// What came of pushed URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushView {
    /// URLs.
    pub given: u64,
    /// Pages that were known.
    pub known: u64,
    /// Pages that were not.
    pub new: u64,
    /// Pages that are not fetched, by reason.
    pub refused: std::collections::BTreeMap<String, u64>,
    /// URLs that cannot be used.
    pub unusable: u64,
    /// Some of these, and why.
    pub examples: Vec<String>,
}

/// What came of seeds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddView {
    /// Seeds that can be used.
    pub given: u64,
    /// Those whose page was not known.
    pub new: u64,
}

/// Why there is no answer, or no more of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// By what the caller can do about it.
    pub kind: FailureKind,
    /// What failed, the value, and what to do.
    pub message: String,
}

/// What a caller can do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The answer is no, or there is none.
    Unexpected,
    /// Ask for something that is known.
    NotKnown,
    /// Ask otherwise.
    BadRequest,
    /// Mend the configuration.
    Configuration,
    /// Mend, free or leave the data directory.
    Storage,
    /// Free disk space.
    DiskFull,
    /// Ask again once a crawl runs: this one has ended.
    Ended,
    /// Ask again in a moment: too many are asking.
    Busy,
    /// Use the same version as the crawl.
    Protocol,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_come_back_as_they_went() {
        for request in [
            Request::Status,
            Request::Why(UrlRequest { url: "http://a.org/".to_owned() }),
            Request::Pages(PagesRequest { tag: Some("news".to_owned()), ..Default::default() }),
            Request::Changes(ChangesRequest { after: Some(7), follow: true, ..Default::default() }),
            Request::Plan(PlanRequest { seconds: 60.0 }),
            Request::Override(OverrideRequest::List { kind: None }),
        ] {
            let call = Call::new(request);
            let text = serde_json::to_string(&call).unwrap();
            assert!(!text.contains('\n'));
            assert_eq!(serde_json::from_str::<Call>(&text).unwrap(), call);
        }
    }

    #[test]
    fn a_short_request_means_the_usual() {
        let call: Call = serde_json::from_str(r#"{"version":1,"request":{"pages":{}}}"#).unwrap();
        assert_eq!(call.request, Request::Pages(PagesRequest::default()));
        for unknown in [r#"{"version":1,"request":{"pages":{"stat":"new"}}}"#, r#"{"version":1}"#] {
            assert!(serde_json::from_str::<Call>(unknown).is_err(), "{unknown}");
        }
    }
}
