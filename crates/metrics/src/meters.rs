//! What is counted while it happens, since it could not be computed afterwards?

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use evercrawl_model::Time;

use crate::{
    BlockCause, Counter, Distribution, Histogram, Metric, MetricsSnapshot, Phase, RobotsOutcome,
};

/// Bounds of times over a network: 1 ms to 2 minutes.
const NETWORK_TIMES: &[u64] = &[
    1_000,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    30_000_000,
    120_000_000,
];
/// Bounds of times on a disk: 1 ms to 10 s.
const DISK_TIMES: &[u64] = &[
    1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    10_000_000,
];
/// Bounds of lags: a second to a week.
const LAGS: &[u64] = &[
    1_000_000,
    10_000_000,
    60_000_000,
    600_000_000,
    3_600_000_000,
    21_600_000_000,
    86_400_000_000,
    604_800_000_000,
];
/// Bounds of page sizes: 1 KiB to 64 MiB, each four times the last.
const SIZES: &[u64] =
    &[1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26];

/// What one crawl counts while it runs. Any thread of it may count.
#[derive(Debug)]
pub struct Meters {
    fetch_times: [Histogram; Phase::ALL.len()],
    page_bytes: Histogram,
    schedule_lag: Histogram,
    commit_times: Histogram,
    /// In milliseconds since the epoch; zero before the first.
    last_commit: AtomicU64,
    robots: [Counter; RobotsOutcome::ALL.len()],
    blocks: [Counter; BlockCause::ALL.len()],
    retry_after: Counter,
}

impl Default for Meters {
    fn default() -> Self {
        Meters {
            fetch_times: std::array::from_fn(|_| Histogram::of_times(NETWORK_TIMES)),
            page_bytes: Histogram::of_bytes(SIZES),
            schedule_lag: Histogram::of_times(LAGS),
            commit_times: Histogram::of_times(DISK_TIMES),
            last_commit: AtomicU64::default(),
            robots: Default::default(),
            blocks: Default::default(),
            retry_after: Counter::default(),
        }
    }
}

impl Meters {
    /// Observes the duration of a phase of a fetch.
    pub fn observe_fetch_phase(&self, phase: Phase, time: Duration) {
        self.fetch_times[phase as usize].observe_time(time);
    }

    /// Counts a received page with a payload of `bytes`.
    pub fn count_page(&self, bytes: u64) {
        self.page_bytes.observe(bytes);
    }

    /// A due page was asked for so late.
    pub fn observe_lateness(&self, by: Duration) {
        self.schedule_lag.observe_time(by);
    }

    /// Observes a commit that ended at `now`.
    pub fn observe_commit(&self, took: Duration, now: Time) {
        self.commit_times.observe_time(took);
        self.last_commit.store(now.millis(), Relaxed);
    }

    /// A request for robots.txt ended.
    pub fn count_robots_fetch(&self, outcome: RobotsOutcome) {
        self.robots[outcome as usize].increment();
    }

    /// A host is not to be asked for a while.
    pub fn count_host_block(&self, cause: BlockCause) {
        self.blocks[cause as usize].increment();
    }

    /// A server asked for a pause.
    pub fn count_pause_request(&self) {
        self.retry_after.increment();
    }

    /// How long a phase of fetches took so far.
    pub fn fetch_times(&self, phase: Phase) -> Distribution {
        self.fetch_times[phase as usize].distribution()
    }

    /// How long commits took so far.
    pub fn commit_times(&self) -> Distribution {
        self.commit_times.distribution()
    }

    /// When the last commit ended.
    pub fn last_commit(&self) -> Option<Time> {
        let last = self.last_commit.load(Relaxed);
        (last > 0).then(|| Time::from_millis(last))
    }

    /// Requests for robots.txt that ended so.
    pub fn robots_fetches(&self, outcome: RobotsOutcome) -> u64 {
        self.robots[outcome as usize].get()
    }

    /// How often a host was not to be asked for a while for this cause.
    pub fn host_blocks(&self, cause: BlockCause) -> u64 {
        self.blocks[cause as usize].get()
    }

    /// Answers that asked for a pause.
    pub fn pause_requests(&self) -> u64 {
        self.retry_after.get()
    }

    /// Adds what was counted so far.
    pub fn add_to(&self, snapshot: &mut MetricsSnapshot) {
        for phase in Phase::ALL {
            let times = self.fetch_times(phase);
            snapshot.add_distribution(Metric::FetchDuration, &[phase.code()], times);
        }
        snapshot.add_distribution(Metric::PageBytes, &[], self.page_bytes.distribution());
        snapshot.add_distribution(Metric::ScheduleLag, &[], self.schedule_lag.distribution());
        snapshot.add_distribution(Metric::CommitDuration, &[], self.commit_times());
        if let Some(last) = self.last_commit() {
            snapshot.add_number(Metric::LastCommit, &[], last.millis() as f64 / 1000.0);
        }
        for outcome in RobotsOutcome::ALL {
            let count = self.robots_fetches(outcome);
            snapshot.add_count(Metric::RobotsFetches, &[outcome.code()], count);
        }
        for cause in BlockCause::ALL {
            let count = self.host_blocks(cause);
            snapshot.add_count(Metric::HostBlocks, &[cause.code()], count);
        }
        snapshot.add_count(Metric::RetryAfter, &[], self.pause_requests());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MetricValue;

    #[test]
    fn what_happened_is_in_the_snapshot() {
        let meters = Meters::default();
        meters.observe_fetch_phase(Phase::Total, Duration::from_millis(30));
        meters.count_robots_fetch(RobotsOutcome::Absent);
        meters.count_host_block(BlockCause::Robots);
        let mut snapshot = MetricsSnapshot::default();
        meters.add_to(&mut snapshot);
        let value = |metric, labels: &[&str]| snapshot.value(metric, labels).cloned();
        assert_eq!(value(Metric::RobotsFetches, &["absent"]), Some(MetricValue::Number(1.0)));
        assert_eq!(value(Metric::RobotsFetches, &["fetched"]), Some(MetricValue::Number(0.0)));
        assert_eq!(
            value(Metric::HostBlocks, &["robots_unreachable"]),
            Some(MetricValue::Number(1.0))
        );
        assert_eq!(value(Metric::LastCommit, &[]), None);
        let Some(MetricValue::Distribution(total)) = value(Metric::FetchDuration, &["total"])
        else {
            panic!("no distribution");
        };
        assert_eq!((total.count(), total.sum), (1, 0.03));
        meters.observe_commit(Duration::from_millis(5), Time::from_millis(2_500));
        let mut later = MetricsSnapshot::default();
        meters.add_to(&mut later);
        assert_eq!(later.value(Metric::LastCommit, &[]), Some(&MetricValue::Number(2.5)));
    }
}
