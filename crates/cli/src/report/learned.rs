//! What has the crawl learned, and how right is it, in words?

use evercrawl_query::{LearnedView, PredictionsView, RechecksView, SignalView};

use crate::print;
use crate::units::{show_count, show_counted};

/// Sources of signals that are named.
const SHOWN: usize = 5;

/// What was learned, as labels and texts.
pub(super) fn lines(learned: &LearnedView) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    lines.extend(predicted(&learned.predictions).map(|text| ("predicted", text)));
    let share = 100.0 * learned.audit_share;
    lines.push(("audits", format!("{share:.0} % of requests go to randomly sampled pages")));
    lines.extend(rechecks(&learned.rechecks).map(|text| ("rechecks", text)));
    lines.extend(new_links(learned).map(|text| ("new links", text)));
    let mut signals: Vec<&SignalView> = learned.signals.iter().collect();
    signals.sort_by(|a, b| b.words.total_cmp(&a.words));
    lines.extend(signals.iter().take(SHOWN).map(|signal| ("signals", signal_text(signal))));
    if signals.len() > SHOWN {
        lines.push(("signals", format!("and {} more (--json)", signals.len() - SHOWN)));
    }
    lines
}

fn signal_text(signal: &SignalView) -> String {
    format!(
        "{} of {}: precision {:.0} %, recall {:.0} % ({})",
        print::plain(&signal.kind),
        print::plain(&signal.host),
        100.0 * signal.precision,
        100.0 * signal.recall,
        show_counted(signal.words as u64, "signal"),
    )
}

/// How many new links a visit finds, by kind of page; `None` before the first visit.
fn new_links(learned: &LearnedView) -> Option<String> {
    let kinds = learned.new_links.iter();
    let kinds = kinds.filter_map(|of| Some(format!("{:.2} on a {}", of.a_visit?, of.kind)));
    let kinds: Vec<String> = kinds.collect();
    (!kinds.is_empty()).then(|| format!("per visit to a known page: {}", kinds.join(", ")))
}

/// How many requests looked for absent pages; `None` before the first.
fn rechecks(rechecks: &RechecksView) -> Option<String> {
    (rechecks.requests > 0).then(|| {
        format!(
            "{} for absent pages, {:.1} % of all (at most {:.0} %); {} found again",
            show_counted(rechecks.requests, "request"),
            100.0 * rechecks.share,
            100.0 * rechecks.most_share,
            show_count(rechecks.returned),
        )
    })
}

/// How many changes were predicted, beside how many were seen; `None` before the first.
fn predicted(predictions: &PredictionsView) -> Option<String> {
    let error = 100.0 * predictions.error?;
    let total = predictions.total();
    let [predicted, seen, visits] =
        [total.changes_predicted, total.changes_seen, total.visits].map(|of| of.round() as u64);
    Some(format!(
        "{} in {}, {} seen; probabilities off by {error:.1} points",
        show_counted(predicted, "change"),
        show_counted(visits, "visit"),
        show_count(seen),
    ))
}

#[cfg(test)]
mod tests {
    use evercrawl_model::PageKind;
    use evercrawl_query::{ClassPredictions, Code, NewLinksView, PredictionCount};

    use super::*;

    fn class(visits: f64, changes_predicted: f64, changes_seen: f64) -> ClassPredictions {
        let count = PredictionCount { visits, changes_predicted, changes_seen };
        ClassPredictions { changes: "daily".to_owned(), count }
    }

    fn signal(host: &str, words: f64) -> SignalView {
        let (host, kind) = (host.to_owned(), "feed".to_owned());
        SignalView { host, kind, words, precision: 0.25, recall: 0.5 }
    }

    fn yields(kind: PageKind, a_visit: Option<f64>) -> NewLinksView {
        NewLinksView { kind: Code(kind), visits: 2.0, links: 3.0, a_visit }
    }

    #[test]
    fn the_figures_are_put_in_words() {
        let mut learned = LearnedView {
            signals: vec![signal("a.org", 1.0), signal("b.org", 9.0)],
            new_links: vec![yields(PageKind::Page, None), yields(PageKind::Feed, Some(1.5))],
            audit_share: 0.02,
            predictions: PredictionsView {
                error: Some(0.031),
                by_class: vec![class(10.0, 4.4, 5.0), class(5.0, 0.3, 0.0)],
                by_chance: Vec::new(),
            },
            rechecks: RechecksView { requests: 3, returned: 1, share: 0.005, most_share: 0.01 },
        };
        let words: Vec<String> =
            lines(&learned).into_iter().map(|(label, text)| format!("{label}: {text}")).collect();
        assert_eq!(
            words,
            [
                "predicted: 5 changes in 15 visits, 5 seen; probabilities off by 3.1 points",
                "audits: 2 % of requests go to randomly sampled pages",
                "rechecks: 3 requests for absent pages, 0.5 % of all (at most 1 %); 1 found again",
                "new links: per visit to a known page: 1.50 on a feed",
                "signals: feed of b.org: precision 25 %, recall 50 % (9 signals)",
                "signals: feed of a.org: precision 25 %, recall 50 % (1 signal)",
            ]
        );
        learned.predictions.error = None;
        (learned.signals, learned.new_links) = (Vec::new(), Vec::new());
        learned.rechecks.requests = 0;
        assert_eq!(lines(&learned).len(), 1);
    }
}
