//! Which figures does a crawl publish, and what are they now?
//!
//! They are those of its [`Status`], under the names of [`Metric`], and what only a running crawl counts. So
//! `status` and whatever reads the metrics show the same.

use std::collections::BTreeMap;

use evercrawl_metrics::{Distribution, Meters, Metric, MetricSample, MetricValue, MetricsSnapshot};
use evercrawl_model::LifeState;
use serde::{Deserialize, Serialize};

use crate::freshness::FreshnessView;
use crate::status::{Run, Status, Survey, Totals};

/// What only a running crawl knows.
#[derive(Clone, Copy, Debug)]
pub struct Watched<'a> {
    /// What it counts while it happens.
    pub meters: &'a Meters,
    /// How long it took to decide what to fetch next.
    pub next: &'a Distribution,
}

/// The figures of a crawl at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricsView {
    /// The values, in the order in which they are published.
    pub metrics: Vec<MetricSampleView>,
}

/// One value of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricSampleView {
    /// The metric's name, with the unit in it.
    pub name: String,
    /// `counter`, `gauge` or `histogram`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its labels, by name.
    pub labels: BTreeMap<String, String>,
    /// The value of a counter or gauge.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<f64>,
    /// The values of a histogram.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub distribution: Option<DistributionView>,
}

/// How many values lie in which class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DistributionView {
    /// The upper bound of each class, rising.
    pub bounds: Vec<f64>,
    /// How many values lie in each class, and last how many are above all bounds.
    pub counts: Vec<u64>,
    /// All values added up.
    pub sum: f64,
}

impl MetricsView {
    /// The figures of a crawl that is doing so; `watched` where it runs.
    pub fn of(status: &Status, watched: Option<Watched<'_>>) -> Self {
        let mut snapshot = MetricsSnapshot::default();
        add_totals(&mut snapshot, &status.total);
        add_survey(&mut snapshot, &status.survey);
        let budget = status.plan.budget_a_second;
        add_known(&mut snapshot, Metric::BudgetRate, budget);
        snapshot.add_count(Metric::DayBytes, &[], status.bytes_last_day);
        if let Some(run) = &status.run {
            add_run(&mut snapshot, run);
        }
        if let Some(Watched { meters, next }) = watched {
            meters.add_to(&mut snapshot);
            snapshot.add_distribution(Metric::NextDuration, &[], next.clone());
        }
        MetricsView { metrics: snapshot.samples().into_iter().map(MetricSampleView::of).collect() }
    }

    /// The same for [`prometheus_text`](evercrawl_metrics::prometheus_text). What a newer version publishes is left
    /// out.
    pub fn snapshot(&self) -> MetricsSnapshot {
        let mut snapshot = MetricsSnapshot::default();
        self.metrics.iter().for_each(|sample| sample.add_to(&mut snapshot));
        snapshot
    }
}

impl MetricSampleView {
    fn of(sample: &MetricSample) -> Self {
        let metric = sample.metric;
        let names = metric.labels().iter().map(|label| label.name().to_owned());
        let (value, distribution) = match &sample.value {
            MetricValue::Number(number) => (Some(*number), None),
            MetricValue::Distribution(counted) => (None, Some(counted.clone().into())),
        };
        MetricSampleView {
            name: metric.name().to_owned(),
            kind: metric.kind().code().to_owned(),
            labels: names.zip(sample.labels.iter().map(|label| (**label).to_owned())).collect(),
            value,
            distribution,
        }
    }

    fn add_to(&self, snapshot: &mut MetricsSnapshot) {
        let Some(metric) = Metric::named(&self.name) else { return };
        let label = |label: &evercrawl_metrics::Label| self.labels.get(label.name());
        let labels: Option<Vec<&str>> =
            metric.labels().iter().map(|name| label(name).map(String::as_str)).collect();
        let Some(labels) = labels else { return };
        match (self.value, &self.distribution) {
            (Some(number), _) => snapshot.add_number(metric, &labels, number),
            (None, Some(counted)) => {
                snapshot.add_distribution(metric, &labels, counted.clone().into());
            }
            (None, None) => {}
        }
    }
}

impl From<Distribution> for DistributionView {
    fn from(counted: Distribution) -> Self {
        let Distribution { bounds, counts, sum } = counted;
        DistributionView { bounds, counts, sum }
    }
}

impl From<DistributionView> for Distribution {
    fn from(view: DistributionView) -> Self {
        let DistributionView { bounds, counts, sum } = view;
        Distribution { bounds, counts, sum }
    }
}

fn add_known(snapshot: &mut MetricsSnapshot, metric: Metric, number: Option<f64>) {
    number.into_iter().for_each(|number| snapshot.add_number(metric, &[], number));
}

/// A value for each value that the metric's label can have: one that was never counted is zero.
fn add_by_label(snapshot: &mut MetricsSnapshot, metric: Metric, counts: &BTreeMap<String, u64>) {
    let all = metric.labels().first().and_then(|label| label.values()).unwrap_or_default();
    for value in all {
        snapshot.add_count(metric, &[value], counts.get(value).copied().unwrap_or(0));
    }
}

fn add_totals(snapshot: &mut MetricsSnapshot, total: &Totals) {
    add_by_label(snapshot, Metric::Fetches, &total.visits_by_outcome);
    snapshot.add_count(Metric::FetchBytes, &["wire"], total.bytes_received);
    add_by_label(snapshot, Metric::Visits, &total.visits_by_change);
    let same = total.unchanged;
    for (code, count) in [
        ("not_modified", same.not_modified),
        ("same_digest", same.same_digest),
        ("noise", same.noise),
    ] {
        snapshot.add_count(Metric::UnchangedVisits, &[code], count);
    }
    snapshot.add_count(Metric::Duplicates, &[], total.duplicates);
    snapshot.add_count(Metric::NearDuplicates, &[], total.near_duplicates);
    snapshot.add_count(Metric::SiteEvents, &[], total.site_events);
    for state in LifeState::ALL {
        snapshot.add_count(Metric::Urls, &[state.code()], total.in_state(state));
    }
    add_by_label(snapshot, Metric::Refusals, &total.refused_by_reason);
    snapshot.add_count(Metric::Hosts, &[], total.hosts);
}

fn add_survey(snapshot: &mut MetricsSnapshot, survey: &Survey) {
    let waiting = &survey.waiting;
    for (code, held) in [
        ("turn", waiting.turn),
        ("pace", waiting.pace),
        ("back_off", waiting.back_off),
        ("robots", waiting.robots),
        ("paused", waiting.paused),
        ("not_due", waiting.not_due),
    ] {
        snapshot.add_count(Metric::HostsWaiting, &[code], held.hosts);
    }
    snapshot.add_count(Metric::Mirrors, &[], survey.mirrors);
    snapshot.add_count(Metric::Suspects, &[], survey.suspects);
    snapshot.add_count(Metric::ArchiveSize, &[], survey.bytes_archived);
    snapshot.add_count(Metric::StateSize, &[], survey.bytes_state);
    if let Some(fresh) = &survey.freshness {
        add_freshness(snapshot, fresh);
    }
}

/// What cannot be measured yet is left out, as `status` says.
fn add_freshness(snapshot: &mut MetricsSnapshot, fresh: &FreshnessView) {
    snapshot.add_count(Metric::PagesHeld, &[], fresh.pages_held);
    snapshot.add_count(Metric::Audits, &[], fresh.audits);
    if fresh.measurable {
        for (metric, share) in
            [(Metric::Freshness, fresh.freshness), (Metric::FreshnessError, fresh.freshness_error)]
        {
            // What is not known yet has no number.
            share.into_iter().for_each(|share| snapshot.add_number(metric, &[], share));
        }
        snapshot.add_number(Metric::Age, &[], fresh.age_seconds);
    }
}

fn add_run(snapshot: &mut MetricsSnapshot, run: &Run) {
    let of = &run.progress;
    let began = of.at.0.millis() as f64 / 1000.0 - of.seconds;
    snapshot.add_number(Metric::RunStart, &[], began);
    let asked = &run.requests;
    for (purpose, count) in [
        ("due", asked.due),
        ("ahead_of_time", asked.ahead_of_time),
        ("audit", asked.audits),
        ("robots", of.robots),
    ] {
        snapshot.add_count(Metric::Requests, &[purpose], count);
    }
    for (metric, count) in [
        (Metric::RunPages, of.pages),
        (Metric::RunBytes, of.bytes),
        (Metric::InFlight, of.in_flight),
        (Metric::Enqueued, of.queued),
        (Metric::Leased, of.leased),
        (Metric::Released, of.released),
        (Metric::ActiveHosts, of.active_hosts),
        (Metric::ArchiveBytes, of.bytes_archived),
    ] {
        snapshot.add_count(metric, &[], count);
    }
    add_known(snapshot, Metric::BudgetUsed, run.budget_used);
}
