//! What has the crawl learned, and how right is it? Signals, yields of new links, predictions.

use evercrawl_engine::Planner;
use evercrawl_estimate::signal::{SignalSource, SignalSources};
use evercrawl_model::{HostKey, PageKind};
use evercrawl_planner::{Agreement, CLASSES, PredictionRecord, RecheckCounts, Validator};
use serde::{Deserialize, Serialize};

use crate::code::Code;

/// What the planner has learned of the whole crawl.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedView {
    /// Who reports changes, host by host, and how far that is right.
    pub signals: Vec<SignalView>,
    /// New links found on visits to known pages, by kind of page.
    pub new_links: Vec<NewLinksView>,
    /// The share of requests that goes to randomly sampled pages.
    pub audit_share: f64,
    /// Changes predicted, beside changes seen.
    pub predictions: PredictionsView,
    /// Requests of this run for pages that were gone, moved or refused.
    pub rechecks: RechecksView,
}

/// Requests of a run for pages that were gone, moved or refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RechecksView {
    /// How many there were.
    pub requests: u64,
    /// How many of them found the page again.
    pub returned: u64,
    /// Their share of the run's requests for pages.
    pub share: f64,
    /// The share that they may take.
    pub most_share: f64,
}

/// How far a source of signals is right about a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalView {
    /// The host.
    pub host: String,
    /// The source: `sitemap`, `feed`, `push`, `etag`, `last_modified` and so on.
    pub kind: String,
    /// Signals counted; older ones count less.
    pub words: f64,
    /// The share of signals followed by a change that was not expected anyway.
    pub precision: f64,
    /// The share of changes that were signalled.
    pub recall: f64,
}

/// New links found on visits to known pages of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewLinksView {
    /// The kind of page.
    pub kind: Code<PageKind>,
    /// Visits; older ones count less.
    pub visits: f64,
    /// New links.
    pub links: f64,
    /// New links a visit; `None` before the first visit.
    pub a_visit: Option<f64>,
}

/// Changes predicted, beside changes seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictionsView {
    /// The mean error of a predicted probability; `None` before the first visit to a known page.
    pub error: Option<f64>,
    /// By how often pages change.
    pub by_class: Vec<ClassPredictions>,
    /// By predicted probability, in tenths.
    pub by_chance: Vec<ChancePredictions>,
}

/// Predictions for pages of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassPredictions {
    /// How often such pages change.
    pub changes: String,
    /// Predicted and seen.
    #[serde(flatten)]
    pub count: PredictionCount,
}

/// Predictions of one tenth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChancePredictions {
    /// The lower end of the tenth.
    pub from: f64,
    /// Predicted and seen.
    #[serde(flatten)]
    pub count: PredictionCount,
}

/// Changes predicted and seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictionCount {
    /// Visits to known pages.
    pub visits: f64,
    /// The sum of predicted probabilities.
    pub changes_predicted: f64,
    /// Changes seen.
    pub changes_seen: f64,
}

impl LearnedView {
    /// What `planner` has learned.
    pub fn of(planner: &Planner) -> Self {
        let sources = planner.signal_sources().flat_map(|(host, all)| source_views(host, &all));
        let validators = planner.validators().map(|(host, of, how)| validator_view(host, of, &how));
        let yields = planner.yields().by_kind();
        LearnedView {
            signals: sources.chain(validators).collect(),
            new_links: yields
                .map(|(kind, of)| NewLinksView {
                    kind: Code(kind),
                    visits: of.visits,
                    links: of.links,
                    a_visit: of.per_visit(),
                })
                .collect(),
            audit_share: planner.plan().audits,
            predictions: PredictionsView::of(planner),
            rechecks: RechecksView::of(planner.rechecks()),
        }
    }
}

impl RechecksView {
    fn of(counts: RecheckCounts) -> Self {
        RechecksView {
            requests: counts.rechecks,
            returned: counts.returned,
            share: counts.rechecks as f64 / counts.requests.max(1) as f64,
            most_share: counts.share,
        }
    }
}

impl PredictionsView {
    fn of(planner: &Planner) -> Self {
        let calibration = planner.calibration();
        let classes = CLASSES.iter().zip(&calibration.classes);
        let tenths = (0..).zip(&calibration.tenths);
        PredictionsView {
            error: calibration.error(),
            by_class: classes
                .map(|((_, name), row)| ClassPredictions {
                    changes: (*name).to_owned(),
                    count: PredictionCount::of(row),
                })
                .collect(),
            by_chance: tenths
                .map(|(tenth, row)| ChancePredictions {
                    from: f64::from(tenth) / 10.0,
                    count: PredictionCount::of(row),
                })
                .collect(),
        }
    }

    /// Predicted and seen over all pages.
    pub fn total(&self) -> PredictionCount {
        let sum =
            |of: fn(&PredictionCount) -> f64| self.by_class.iter().map(|c| of(&c.count)).sum();
        PredictionCount {
            visits: sum(|count| count.visits),
            changes_predicted: sum(|count| count.changes_predicted),
            changes_seen: sum(|count| count.changes_seen),
        }
    }
}

impl PredictionCount {
    fn of(row: &PredictionRecord) -> Self {
        PredictionCount {
            visits: row.visits,
            changes_predicted: row.predicted,
            changes_seen: row.observed,
        }
    }
}

/// The sources of signals about one host, by its key.
pub(crate) fn signals_of(planner: &Planner, host: HostKey, name: &str) -> Vec<SignalView> {
    let all = planner.signal_sources_of(host).unwrap_or_default();
    let validators = planner.validators_of(host).map(|(of, how)| validator_view(name, of, &how));
    source_views(name, &all).into_iter().chain(validators).collect()
}

/// The sources that ever signalled a change of a host's pages.
fn source_views(host: &str, all: &SignalSources) -> Vec<SignalView> {
    let heard = SignalSource::ALL.into_iter().zip(&all.0).filter(|(_, trust)| trust.signals > 0.0);
    heard
        .map(|(source, trust)| SignalView {
            host: host.to_owned(),
            kind: source.name().to_owned(),
            words: trust.signals,
            precision: trust.precision(),
            recall: trust.recall(),
        })
        .collect()
}

fn validator_view(host: &str, validator: Validator, agreement: &Agreement) -> SignalView {
    SignalView {
        host: host.to_owned(),
        kind: validator.name().to_owned(),
        words: agreement.observations().into(),
        precision: agreement.precision(),
        recall: agreement.recall(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sources_that_signalled_are_shown() {
        let mut all = SignalSources::default();
        assert!(source_views("a.org", &all).is_empty());
        all.record_signal(SignalSource::Push);
        let shown = source_views("a.org", &all);
        assert_eq!((shown.len(), shown[0].kind.as_str()), (1, "push"));
    }
}
