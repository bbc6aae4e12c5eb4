//! What is the name, type and meaning of each metric?

use crate::Label;

/// How values of a metric move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Only increases, except at a restart.
    Counter,
    /// Up and down.
    Gauge,
    /// A distribution, counted in classes.
    Histogram,
}

impl MetricKind {
    /// The type as Prometheus names it.
    pub const fn code(self) -> &'static str {
        match self {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        }
    }
}

/// What a metric's values belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricScope {
    /// The process: one value, or one set of values.
    Process,
    /// A crawl's data directory: samples carry the label `collection`.
    Collection,
}

/// Builds the enum, the list of all, and their descriptions from one table.
macro_rules! metrics {
    ($($variant:ident: $scope:ident $kind:ident $name:literal [$($label:ident),*] $help:literal;)*) => {
        /// All metrics. The variants' documentation is their help text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Metric {
            $(#[doc = $help] $variant,)*
        }

        impl Metric {
            /// Every metric, in the order in which they are published.
            pub const ALL: &[Metric] = &[$(Metric::$variant),*];

            /// The name, with the unit in it.
            pub const fn name(self) -> &'static str {
                match self { $(Metric::$variant => $name,)* }
            }

            /// How its values move.
            pub const fn kind(self) -> MetricKind {
                match self { $(Metric::$variant => MetricKind::$kind,)* }
            }

            /// What its values belong to.
            pub const fn scope(self) -> MetricScope {
                match self { $(Metric::$variant => MetricScope::$scope,)* }
            }

            /// The labels of its samples, besides the collection.
            pub const fn labels(self) -> &'static [Label] {
                match self { $(Metric::$variant => &[$(Label::$label),*],)* }
            }

            /// The metric with this name.
            pub fn named(name: &str) -> Option<Metric> {
                Metric::ALL.iter().copied().find(|metric| metric.name() == name)
            }

            /// What it says, in one sentence.
            pub const fn help(self) -> &'static str {
                match self { $(Metric::$variant => $help,)* }
            }
        }
    };
}

metrics! {
    BuildInfo: Process Gauge "evercrawl_build_info" [Version]
        "Always 1; the label says which version runs.";
    RunStart: Collection Gauge "evercrawl_run_start_timestamp_seconds" []
        "When the running crawl began.";

    Fetches: Collection Counter "evercrawl_fetches_total" [Outcome]
        "Visits by how they ended, since the data directory was made.";
    FetchDuration: Collection Histogram "evercrawl_fetch_duration_seconds" [Phase]
        "How long the phases of fetching a page took; phases that did not happen are not counted.";
    FetchBytes: Collection Counter "evercrawl_fetch_bytes_total" [Bytes]
        "Payload bytes received, before decoding, since the data directory was made.";
    PageBytes: Collection Histogram "evercrawl_page_bytes" []
        "Payload bytes of answers that had any.";
    Requests: Collection Counter "evercrawl_requests_total" [Purpose]
        "Requests of this run by purpose; first visits are not among them.";
    RunPages: Collection Counter "evercrawl_run_pages_total" []
        "Pages fetched in this run.";
    RunBytes: Collection Counter "evercrawl_run_bytes_total" []
        "Payload bytes received in this run.";
    InFlight: Collection Gauge "evercrawl_requests_in_flight" []
        "Requests under way.";

    Visits: Collection Counter "evercrawl_visits_total" [Change]
        "Visits by result of the comparison, since the data directory was made.";
    UnchangedVisits: Collection Counter "evercrawl_unchanged_visits_total" [Unchanged]
        "Visits that found nothing new, by how that was seen, since the data directory was made.";
    Duplicates: Collection Counter "evercrawl_duplicate_visits_total" []
        "Visits with content that was held from another page, since the data directory was made.";
    NearDuplicates: Collection Counter "evercrawl_near_duplicate_visits_total" []
        "Visits whose text nearly repeats another page's, since the data directory was made.";
    SiteEvents: Collection Counter "evercrawl_site_events_total" []
        "Changes that all pages of a host showed at once, since the data directory was made.";

    Urls: Collection Gauge "evercrawl_urls" [State]
        "Known URLs by life state.";
    Refusals: Collection Counter "evercrawl_refusals_total" [Reason]
        "Pages and links refused, by reason, since the data directory was made.";
    Enqueued: Collection Counter "evercrawl_frontier_enqueued_total" []
        "New pages that entered the frontier in this run.";
    Leased: Collection Counter "evercrawl_frontier_leased_total" []
        "Pages handed out for fetching in this run.";
    Released: Collection Counter "evercrawl_frontier_released_total" []
        "Pages that came back from fetching in this run.";
    ScheduleLag: Collection Histogram "evercrawl_schedule_lag_seconds" []
        "How late requests for due pages were.";

    Hosts: Collection Gauge "evercrawl_hosts" []
        "Known hosts.";
    ActiveHosts: Collection Gauge "evercrawl_active_hosts" []
        "Hosts with a queue in memory.";
    HostsWaiting: Collection Gauge "evercrawl_hosts_waiting" [WaitsFor]
        "Hosts that wait, by what for; at least so many where there are very many.";
    HostBlocks: Collection Counter "evercrawl_host_blocks_total" [Cause]
        "Times that requests to a host were forbidden for a while in this run.";
    RobotsFetches: Collection Counter "evercrawl_robots_fetches_total" [Robots]
        "Requests for robots.txt in this run, by what came of them.";
    RetryAfter: Collection Counter "evercrawl_retry_after_total" []
        "Answers of this run that asked for a pause with Retry-After.";
    Mirrors: Collection Gauge "evercrawl_mirrors" []
        "Hosts whose pages are copies of another host's.";
    Suspects: Collection Gauge "evercrawl_spam_suspects" []
        "Hosts that are taken for spam.";

    BudgetRate: Collection Gauge "evercrawl_budget_requests_per_second" []
        "Budget in requests per second; absent without a budget.";
    BudgetUsed: Collection Gauge "evercrawl_budget_used_ratio" []
        "Share of the budget used in the last minute; absent without a budget.";
    DayBytes: Collection Gauge "evercrawl_day_bytes" []
        "Payload bytes received in the last 24 hours.";

    Freshness: Collection Gauge "evercrawl_freshness_ratio" []
        "Estimated share of stored pages that are current, by weight.";
    FreshnessError: Collection Gauge "evercrawl_freshness_error_ratio" []
        "Bound of the error of the freshness estimate.";
    Age: Collection Gauge "evercrawl_age_seconds" []
        "Estimated mean time for which stored pages have been out of date.";
    PagesHeld: Collection Gauge "evercrawl_pages_held" []
        "Pages whose freshness is estimated.";
    Audits: Collection Gauge "evercrawl_freshness_audits" []
        "Visits to randomly sampled pages that the freshness estimate rests on.";

    ArchiveBytes: Collection Counter "evercrawl_archive_bytes_total" []
        "Bytes added to the archive in this run.";
    ArchiveSize: Collection Gauge "evercrawl_archive_size_bytes" []
        "Bytes in the archive.";
    StateSize: Collection Gauge "evercrawl_state_size_bytes" []
        "Bytes that the state takes on disk.";
    CommitDuration: Collection Histogram "evercrawl_commit_duration_seconds" []
        "How long commits took: archive synced, state written.";
    LastCommit: Collection Gauge "evercrawl_last_commit_timestamp_seconds" []
        "When the last commit of this run ended; absent before the first.";
    NextDuration: Collection Histogram "evercrawl_next_duration_seconds" []
        "How long it took to decide what to fetch next.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rules_of_prometheus() {
        for metric in Metric::ALL {
            let name = metric.name();
            assert!(name.starts_with("evercrawl_"), "{name}");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{name}");
            assert_eq!(name.ends_with("_total"), metric.kind() == MetricKind::Counter, "{name}");
            assert!(metric.help().ends_with('.'), "{name}: {}", metric.help());
            // Prometheus adds these itself.
            assert!(!["_sum", "_count", "_bucket"].iter().any(|end| name.ends_with(end)), "{name}");
        }
    }

    #[test]
    fn no_two_metrics_share_a_name() {
        let mut names: Vec<_> = Metric::ALL.iter().map(|metric| metric.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Metric::ALL.len());
    }

    #[test]
    fn labels_have_few_values_and_none_is_a_host_or_url() {
        for metric in Metric::ALL {
            for label in metric.labels() {
                assert!(!["host", "url", "tag", "collection"].contains(&label.name()));
                assert!(label.values().is_none_or(|values| values.len() <= 32), "{metric:?}");
            }
        }
    }
}
