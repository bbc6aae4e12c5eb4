//! What can be asked about a crawl, and what are the answers?
//!
//! One function and one typed view a question, over what is committed at a given time: [`status`],
//! [`page`], [`pages`], [`why`], [`history`], [`changes`], [`log`], [`hosts`], [`queue`], [`plan`], [`freshness`], [`archive`].
//! Views hold codes, numbers and times, and no sentences: the edges find the words.
//! All of them serialize; times as RFC 3339, durations as numbers with the unit in the name.
//!
//! Long answers come in parts. A request has a cursor and a limit, and a part says where to go on.

mod archive;
mod changes;
mod code;
mod diff;
mod freshness;
mod hosts;
mod latest;
mod learned;
mod link_list;
mod links;
mod log;
mod metrics;
mod moved;
mod noise;
mod overrides;
mod page;
mod plan;
mod protocol;
mod queue;
mod rates;
mod retained;
mod run_hosts;
mod source;
mod status;
mod tally;
mod trend;
mod visit;
mod why;

pub use archive::{ArchiveFileView, ArchiveView, archive};
pub use changes::{
    ChangeView, ChangesRequest, ChangesView, LifeChangeView, PageEntry, RefusalChange, SiteChange,
    SiteEntry, VisitEntry, WhatChanged, changes,
};
pub use code::{At, Code, Coded, digest_text};
pub use diff::{Before, DiffRequest, DiffView, Part, PartWords, VersionView, diff};
pub use freshness::{FreshnessView, freshness};
pub use hosts::{HostView, HostWaits, HostsRequest, HostsView, RobotsCopyView, hosts};
pub use latest::{LatestRequest, LatestView, latest};
pub use learned::{
    ChancePredictions, ClassPredictions, LearnedView, NewLinksView, PredictionCount,
    PredictionsView, RechecksView, SignalView,
};
pub use link_list::{LinkView, LinksRequest, LinksView, links};
pub use links::{
    ExportView, RankMethod, RankRequest, RankRow, RankStart, RankUnit, RankView, SpamFinding,
    SpamRequest, SpamSign, SpamView,
};
pub use log::{LogPage, LogRequest, LogRow, LogView, log};
pub use metrics::{DistributionView, MetricSampleView, MetricsView, Watched};
pub use noise::{NoisePassage, NoiseView, noise};
pub use overrides::{
    ChangedOverride, ExclusionCount, ListedOverrides, OverrideKind, OverrideNote, OverrideNow,
    OverrideView, OverridesView,
};
pub use page::{PageState, PageView, PagesRequest, PagesView, page, pages};
pub use plan::{ClassShare, HostShare, NextVisit, PlanView, plan};
pub use protocol::{
    AddRequest, AddView, Answer, BudgetRequest, BudgetView, Call, Failed, FailureKind,
    OverrideRequest, PROTOCOL_VERSION, PlanRequest, PushRequest, PushView, Request, UrlRequest,
};
pub use queue::{QueueRequest, QueueView, QueuedHost, queue};
pub use rates::{CheckView, RateView, RatesBy, RatesRequest, RatesView, rates};
pub use retained::{DroppedView, RetentionPreview, dropped};
pub use run_hosts::{HostRunView, RunHostsView, SilentHost, run_hosts};
pub use source::{QueryError, Source};
pub use status::{
    CommitTimes, FetchTimes, NextTimes, PlanSettings, RankedBy, Requests, Run, RunProgress,
    RunReport, Status, Survey, TodayView, Totals, Unchanged, WaitingHosts, WaitingView, status,
};
pub use tally::{ClassCount, HostTally, TallyRequest, TallyView, tally};
pub use trend::{TrendKeeper, TrendPoint, TrendRequest, TrendView, trend};
pub use visit::{HistoryView, VisitView, history};
pub use why::{
    ChangeRateStep, FormerlyStep, ImportanceBasis, ImportanceStep, Inputs, KnownStep, MirrorStep,
    MovedStep, NewLinksStep, NextStep, RobotsLine, RobotsStep, ScheduleStep, ScopeStep,
    SignalsStep, SpamAction, SpamEffect, SpamStep, Step, SubstituteStep, ValueStep, Verdict,
    VisitsStep, VolatileStep, WaitsFor, WhyView, why,
};
