//! How is a crawl doing, whether it runs or not?

use std::collections::BTreeMap;

use evercrawl_engine::live::Progress;
use evercrawl_engine::today::Today;
use evercrawl_engine::waiting::{Held, Waiting};
use evercrawl_engine::walk::Walk;
use evercrawl_engine::{EngineError, Planner, PlannerConfig};
use evercrawl_insight::importance::RankBasis;
use evercrawl_insight::mirrors::Mirrors;
use evercrawl_insight::suspicion::Suspects;
use evercrawl_metrics::{BlockCause, Distribution, Meters, Phase, RobotsOutcome};
use evercrawl_model::{Change, LifeState, Outcome, Refusal, Time};
use evercrawl_planner::freshness;
use evercrawl_state::{Counters, StateError, Store, View};
use serde::{Deserialize, Serialize};

use crate::code::{At, Coded};
use crate::freshness::FreshnessView;
use crate::learned::LearnedView;
use crate::run_hosts::{SilentHost, silent_hosts};
use crate::source::{QueryError, Source};

/// How a crawl is doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Whether a crawl runs.
    pub running: bool,
    /// As of when.
    pub at: At,
    /// Totals of the data directory.
    pub total: Totals,
    /// What was found since midnight (UTC).
    pub today: TodayView,
    /// What may be spent, and how it is divided.
    pub plan: PlanSettings,
    /// Bytes received in the last 24 hours.
    pub bytes_last_day: u64,
    /// What takes longer to find out.
    #[serde(flatten)]
    pub survey: Survey,
    /// The run, where a crawl runs.
    pub run: Option<Run>,
}

/// Totals of a data directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Hosts known.
    pub hosts: u64,
    /// Pages known.
    pub pages: u64,
    /// Pages by state.
    pub pages_by_state: BTreeMap<String, u64>,
    /// Visits.
    pub visits: u64,
    /// Visits by what they found.
    pub visits_by_change: BTreeMap<String, u64>,
    /// Visits by how they ended.
    pub visits_by_outcome: BTreeMap<String, u64>,
    /// Visits that found nothing new.
    pub unchanged: Unchanged,
    /// Pages and links refused, by reason.
    pub refused_by_reason: BTreeMap<String, u64>,
    /// Visits that brought content already stored for another page.
    pub duplicates: u64,
    /// Visits that brought nearly the text of another page.
    pub near_duplicates: u64,
    /// How often all pages of a host changed in the same way.
    pub site_events: u64,
    /// Payload bytes received.
    pub bytes_received: u64,
}

/// Visits that found nothing new, by how that was known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unchanged {
    /// The server sent a 304.
    pub not_modified: u64,
    /// The bytes were identical.
    pub same_digest: u64,
    /// Only noise differed.
    pub noise: u64,
}

impl Totals {
    /// The totals of a data directory.
    pub fn of(counters: &Counters) -> Self {
        let not_modified = counters.ended(Outcome::NotModified);
        let same = counters.changed(Change::Same);
        Totals {
            hosts: counters.hosts,
            pages: counters.pages,
            pages_by_state: pages_by_state(counters),
            visits: counters.visits,
            visits_by_change: by_code(|change| counters.changed(change)),
            visits_by_outcome: by_code(|outcome| counters.ended(outcome)),
            unchanged: Unchanged {
                not_modified,
                same_digest: same.saturating_sub(not_modified + counters.noise),
                noise: counters.noise,
            },
            refused_by_reason: by_code(|reason: Refusal| counters.refused(reason)),
            duplicates: counters.duplicates,
            near_duplicates: counters.near_duplicates,
            site_events: counters.site_events,
            bytes_received: counters.bytes,
        }
    }

    /// Visits that found `change`.
    pub fn changed(&self, change: Change) -> u64 {
        self.visits_by_change.get(change.code()).copied().unwrap_or(0)
    }

    /// Pages in a state.
    pub fn in_state(&self, state: LifeState) -> u64 {
        self.pages_by_state.get(state.code()).copied().unwrap_or(0)
    }
}

/// Pages by where they are in their lives; by fewer states where an earlier version counted.
fn pages_by_state(counters: &Counters) -> BTreeMap<String, u64> {
    let [new, live, gone, refused] = counters.by_status;
    if counters.lives.is_none() {
        let states = [("new", new), ("live", live), ("gone", gone), ("refused", refused)];
        return states.map(|(code, count)| (code.to_owned(), count)).into();
    }
    let count = |life: LifeState| (life.code().to_owned(), counters.living(life).unwrap_or(0));
    LifeState::ALL.map(count).into()
}

/// What there is of each code; codes that do not occur are left out.
fn by_code<T: Coded>(count: impl Fn(T) -> u64) -> BTreeMap<String, u64> {
    let all = T::VALUES.iter().map(|&value| (value.code_text().to_owned(), count(value)));
    all.filter(|(_, count)| *count > 0).collect()
}

/// What was found since midnight (UTC).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TodayView {
    /// How often all pages of a host changed in the same way.
    pub site_events: u64,
    /// The host of the last of these.
    pub last_site: Option<String>,
    /// Visits.
    pub visits: u64,
    /// Pages visited for the first time.
    pub first_visits: u64,
    /// Changes found.
    pub changes: u64,
    /// Pages found to be gone.
    pub gone: u64,
    /// False where there were more visits than were looked at.
    pub complete: bool,
}

impl TodayView {
    fn of<S: Store>(today: &Today, state: &View<S>) -> Result<Self, StateError> {
        let last = today.last_site.map_or(Ok(None), |host| state.host(host))?;
        Ok(TodayView {
            site_events: today.site_events,
            last_site: last.map(|row| row.authority),
            visits: today.visits,
            first_visits: today.first,
            changes: today.changes,
            gone: today.gone,
            complete: today.complete,
        })
    }
}

/// What may be spent, and how it is divided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanSettings {
    /// The policy's name.
    pub policy: String,
    /// Requests a second; `None`: no budget is divided.
    pub budget_a_second: Option<f64>,
    /// Whether every page has the same interval, so that the budget is only a bound.
    pub fixed_interval: bool,
}

impl PlanSettings {
    fn of(plan: &PlannerConfig, budget: Option<f64>) -> Self {
        PlanSettings {
            policy: plan.policy.to_owned(),
            budget_a_second: budget,
            fixed_interval: plan.fixed,
        }
    }
}

/// Hosts that wait for one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingHosts {
    /// How many.
    pub hosts: u64,
    /// Their pages that were never visited.
    pub new_pages: u64,
}

impl From<Held> for WaitingHosts {
    fn from(held: Held) -> Self {
        WaitingHosts { hosts: held.hosts, new_pages: held.new_pages }
    }
}

/// Hosts that have something to fetch, by what they wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingView {
    /// The budget, or other hosts first.
    pub turn: WaitingHosts,
    /// Their pause between requests.
    pub pace: WaitingHosts,
    /// The end of their backoff.
    pub back_off: WaitingHosts,
    /// Their robots.txt, which could not be fetched.
    pub robots: WaitingHosts,
    /// Your pause.
    pub paused: WaitingHosts,
    /// The time at which something of theirs is due.
    pub not_due: WaitingHosts,
    /// False where there are more hosts than were looked at.
    pub complete: bool,
}

impl From<Waiting> for WaitingView {
    fn from(waiting: Waiting) -> Self {
        WaitingView {
            turn: waiting.turn.into(),
            pace: waiting.pace.into(),
            back_off: waiting.back_off.into(),
            robots: waiting.robots.into(),
            paused: waiting.paused.into(),
            not_due: waiting.later.into(),
            complete: waiting.complete,
        }
    }
}

/// What takes a walk through the sample, the front queues or the files to find out. A running crawl finds it out
/// every few seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Survey {
    /// How fresh the stored pages are; `None` before a running crawl can tell.
    pub freshness: Option<FreshnessView>,
    /// Hosts that have something to fetch, by what they wait for.
    pub waiting: WaitingView,
    /// Hosts that mirror others.
    pub mirrors: u64,
    /// Hosts that are taken for spam.
    pub suspects: u64,
    /// Bytes in the archive.
    pub bytes_archived: u64,
    /// Bytes that the state takes on disk.
    pub bytes_state: u64,
    /// What the planner has learned.
    #[serde(flatten)]
    pub learned: LearnedView,
}

impl Survey {
    /// The survey of a running crawl.
    pub fn of_walk<S: Store>(walk: &Walk<S>, now: Time) -> Result<Self, EngineError> {
        let state = walk.state();
        let [_, live, ..] = state.counters().by_status;
        let fresh = walk.planner().freshness(live, now);
        let counts = (walk.mirrors().count(), walk.suspects().count());
        Ok(Survey::new(state, walk.planner(), fresh, walk.waiting(now)?, counts)?)
    }

    fn new<S: Store>(
        state: &View<S>,
        planner: &Planner,
        fresh: Option<freshness::Freshness>,
        waiting: Waiting,
        (mirrors, suspects): (usize, usize),
    ) -> Result<Self, StateError> {
        Ok(Survey {
            freshness: fresh.map(Into::into),
            waiting: waiting.into(),
            mirrors: mirrors as u64,
            suspects: suspects as u64,
            bytes_archived: state.archive()?.iter().map(|file| file.warc_len).sum(),
            bytes_state: state.disk_bytes(),
            learned: LearnedView::of(planner),
        })
    }
}

/// How a run is doing: what costs nothing to find out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunProgress {
    /// As of when.
    pub at: At,
    /// Since when it runs, in seconds.
    pub seconds: f64,
    /// Pages requested.
    pub pages: u64,
    /// Pages a second.
    pub pages_a_second: f64,
    /// robots.txt files requested.
    pub robots: u64,
    /// Payload bytes received.
    pub bytes: u64,
    /// Bytes added to the archive.
    pub bytes_archived: u64,
    /// Requests in flight.
    pub in_flight: u64,
    /// Time to find the next page to fetch, in microseconds.
    pub next_us: NextTimes,
    /// Active hosts.
    pub active_hosts: u64,
    /// New pages that entered the frontier.
    pub queued: u64,
    /// Pages handed out for fetching.
    pub leased: u64,
    /// Pages that came back from fetching.
    pub released: u64,
    /// What pages were last ranked by, where they are.
    pub ranked_by: Option<RankedBy>,
    /// How many hosts did not answer when last asked.
    #[serde(default)]
    pub silent_hosts: u64,
    /// Some of them.
    #[serde(default)]
    pub silent: Vec<SilentHost>,
}

/// Times to find the next page to fetch, each rounded up to a power of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextTimes {
    /// The median.
    pub p50: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The maximum.
    pub most: u64,
}

/// What pages are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankedBy {
    /// All links.
    Pagerank,
    /// The number of links to each, as all links take too much memory.
    Indegree,
    /// Nothing, as even that takes too much memory.
    Nothing,
}

impl From<RankBasis> for RankedBy {
    fn from(basis: RankBasis) -> Self {
        match basis {
            RankBasis::Links => RankedBy::Pagerank,
            RankBasis::Counts => RankedBy::Indegree,
            RankBasis::Nothing => RankedBy::Nothing,
        }
    }
}

impl RunProgress {
    /// How a run is doing.
    pub fn of(progress: &Progress) -> Self {
        let seconds = progress.at.since(progress.began).as_secs_f64();
        let within =
            |share| u64::try_from(progress.next.within(share).as_micros()).unwrap_or(u64::MAX);
        RunProgress {
            at: At(progress.at),
            seconds,
            pages: progress.tally.pages,
            pages_a_second: progress.tally.pages as f64 / seconds.max(0.001),
            robots: progress.tally.robots,
            bytes: progress.tally.bytes,
            bytes_archived: progress.tally.archived,
            in_flight: progress.in_flight as u64,
            next_us: NextTimes { p50: within(0.5), p99: within(0.99), most: within(1.0) },
            active_hosts: progress.active_hosts as u64,
            queued: progress.tally.queued,
            leased: progress.tally.leased,
            released: progress.tally.released,
            ranked_by: progress.ranked_by.map(Into::into),
            silent_hosts: progress.silent_hosts.1 as u64,
            silent: silent_hosts(progress),
        }
    }
}

/// How a run is doing, with the totals of its data directory: what `crawl --json` reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// How the run is doing.
    #[serde(flatten)]
    pub progress: RunProgress,
    /// Totals of the data directory.
    pub total: Totals,
}

impl RunReport {
    /// How a run is doing.
    pub fn of(progress: &Progress) -> Self {
        RunReport { progress: RunProgress::of(progress), total: Totals::of(&progress.counters) }
    }
}

/// How a run is doing, and what it spends its budget on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// What costs nothing to find out.
    #[serde(flatten)]
    pub progress: RunProgress,
    /// Requests a second in the last minute.
    pub requests_a_second_lately: f64,
    /// The share of the budget that these are, where there is one.
    pub budget_used: Option<f64>,
    /// Until when nothing more may be received, where the bytes of a day are used up.
    pub bytes_used_up_until: Option<At>,
    /// Pages visited for the first time.
    pub first_visits: u64,
    /// Changes found.
    pub changes_found: u64,
    /// Requests for known pages.
    pub requests: Requests,
    /// How long fetches of pages took.
    pub fetch_times: FetchTimes,
    /// How long commits took.
    pub commits: CommitTimes,
    /// Requests for robots.txt, by what came of them.
    pub robots_by_outcome: BTreeMap<String, u64>,
    /// How often a host was not to be asked for a while, by cause.
    pub host_blocks_by_cause: BTreeMap<String, u64>,
    /// Answers that asked for a pause with `Retry-After`.
    pub retry_after: u64,
}

/// How long fetches of pages took; shares of them within so many seconds, rounded up to a class of the histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FetchTimes {
    /// Fetches.
    pub count: u64,
    /// Their mean.
    pub mean_seconds: Option<f64>,
    /// Half of them took no longer.
    pub p50_seconds: Option<f64>,
    /// 99 of 100 took no longer.
    pub p99_seconds: Option<f64>,
}

/// How long commits took: archive synced, state written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommitTimes {
    /// Commits in this run.
    pub count: u64,
    /// Their mean.
    pub mean_seconds: Option<f64>,
    /// 99 of 100 took no longer, rounded up to a class of the histogram.
    pub p99_seconds: Option<f64>,
    /// When the last one ended.
    pub last: Option<At>,
}

/// Requests for known pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Requests {
    /// Whose time had come.
    pub due: u64,
    /// Ahead of their time, with budget that nothing due needed.
    pub ahead_of_time: u64,
    /// To randomly sampled pages.
    pub audits: u64,
    /// How late the due ones were on average, in seconds.
    pub mean_lag_seconds: f64,
}

impl Run {
    /// How a run is doing that made so many requests a second in the last minute.
    fn of(progress: &Progress, meters: &Meters, lately: f64) -> Self {
        let tally = &progress.tally;
        Run {
            progress: RunProgress::of(progress),
            requests_a_second_lately: lately,
            budget_used: progress.budget.map(|rate| (lately / rate).min(1.0)),
            bytes_used_up_until: progress.day_used_up.map(At),
            first_visits: tally.first,
            changes_found: tally.changes,
            requests: Requests {
                due: tally.due,
                ahead_of_time: tally.ahead,
                audits: tally.audits,
                mean_lag_seconds: tally.late_ms as f64 / 1000.0 / (tally.due.max(1)) as f64,
            },
            fetch_times: FetchTimes::of(&meters.fetch_times(Phase::Total)),
            commits: CommitTimes::of(&meters.commit_times(), meters.last_commit()),
            robots_by_outcome: counted(RobotsOutcome::ALL, RobotsOutcome::code, |outcome| {
                meters.robots_fetches(outcome)
            }),
            host_blocks_by_cause: counted(BlockCause::ALL, BlockCause::code, |cause| {
                meters.host_blocks(cause)
            }),
            retry_after: meters.pause_requests(),
        }
    }
}

/// What there is of each code; codes that do not occur are left out.
fn counted<T: Copy, const N: usize>(
    all: [T; N],
    code: impl Fn(T) -> &'static str,
    count: impl Fn(T) -> u64,
) -> BTreeMap<String, u64> {
    let counts = all.into_iter().map(|value| (code(value).to_owned(), count(value)));
    counts.filter(|(_, count)| *count > 0).collect()
}

impl FetchTimes {
    fn of(times: &Distribution) -> Self {
        FetchTimes {
            count: times.count(),
            mean_seconds: times.mean(),
            p50_seconds: times.within(0.5),
            p99_seconds: times.within(0.99),
        }
    }
}

impl CommitTimes {
    fn of(times: &Distribution, last: Option<Time>) -> Self {
        CommitTimes {
            count: times.count(),
            mean_seconds: times.mean(),
            p99_seconds: times.within(0.99),
            last: last.map(At),
        }
    }
}

impl Status {
    /// The status of a running crawl that made so many requests a second in the last minute.
    pub fn of_walk<S: Store>(
        progress: &Progress,
        walk: &Walk<S>,
        lately: f64,
        survey: Survey,
    ) -> Result<Self, StateError> {
        let state = walk.state();
        Ok(Status {
            running: true,
            at: At(progress.at),
            total: Totals::of(&progress.counters),
            today: TodayView::of(&walk.today(), state)?,
            plan: PlanSettings::of(walk.planner().plan(), progress.budget),
            bytes_last_day: state.spending().received(progress.at),
            survey,
            run: Some(Run::of(progress, &walk.meters(), lately)),
        })
    }
}

/// The status of a crawl that does not run, whose next run has this plan and budget.
pub fn status<S: Store>(
    source: &Source<'_, S>,
    plan: PlannerConfig,
    budget: Option<f64>,
) -> Result<Status, QueryError> {
    let (state, now) = (source.state, source.now);
    let planner = source.planner(plan)?;
    let fresh = freshness::collection_freshness(&planner, state, now)?;
    let waiting = Waiting::read(state, planner.overrides(), now)?;
    let suspects = Suspects::read(state, &plan.spam)?;
    let counts = (Mirrors::read(state)?.count(), suspects.count());
    Ok(Status {
        running: false,
        at: At(now),
        total: Totals::of(state.counters()),
        today: TodayView::of(&Today::read(state, now)?, state)?,
        plan: PlanSettings::of(planner.plan(), budget),
        bytes_last_day: state.spending().received(now),
        survey: Survey::new(state, &planner, Some(fresh), waiting, counts)?,
        run: None,
    })
}
