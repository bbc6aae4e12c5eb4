//! What was learned, and how far is it right? The same figures in words and as JSON.

use evercrawl_engine::Planner;
use evercrawl_engine::planner::{Agreement, CLASSES, PredictionRecord, Validator};
use evercrawl_estimate::signal::{SignalSource, SignalSources, SourceTrust};
use evercrawl_model::HostKey;
use serde_json::{Value, json};

use crate::print;
use crate::units::show_count;

/// Hosts whose tellers are shown in words.
const SHOWN: usize = 5;

/// Adds to `status` what the planner learned of who says that pages changed, and how its predictions do.
pub(crate) fn add(status: &mut Value, planner: &Planner) {
    let signal_sources = planner.signal_sources().flat_map(|(host, all)| tellers_json(host, &all));
    let validators = planner.validators().map(|(host, of, how)| validator_json(host, of, &how));
    status["signals"] = signal_sources.chain(validators).collect();
    let yields = planner.yields().by_kind();
    status["new_links"] = yields
        .map(|(kind, of)| {
            json!({"kind": kind.code(), "visits": of.visits, "links": of.links, "a_visit": of.per_visit()})
        })
        .collect();
    status["audit_share"] = json!(planner.plan().audits);
    let calibration = planner.calibration();
    let classes = CLASSES.iter().zip(&calibration.classes);
    status["predictions"] = json!({
        "error": calibration.error(),
        "by_class": classes.map(|((_, words), row)| named("changes", json!(words), row))
            .collect::<Value>(),
        "by_chance": (0..).zip(&calibration.tenths)
            .map(|(tenth, row)| named("from", json!(f64::from(tenth) / 10.0), row))
            .collect::<Value>(),
    });
}

fn named(name: &str, value: Value, row: &PredictionRecord) -> Value {
    let mut object = json!({"visits": row.visits, "changes_predicted": row.predicted, "changes_seen": row.observed});
    object[name] = value;
    object
}

/// Those who ever said a word of a host's pages, one by one.
fn tellers_json(host: &str, all: &SignalSources) -> Vec<Value> {
    let one = |(signal_source, trust): (SignalSource, &SourceTrust)| {
        signal_json(host, signal_source.name(), trust.signals, trust.precision(), trust.recall())
    };
    heard(all).map(one).collect()
}

/// A validator that looks without a condition were compared with.
fn validator_json(host: &str, validator: Validator, agreement: &Agreement) -> Value {
    let (precision, recall) = (agreement.precision(), agreement.recall());
    signal_json(host, validator.name(), agreement.observations().into(), precision, recall)
}

fn signal_json(host: &str, kind: &str, words: f64, precision: f64, recall: f64) -> Value {
    json!({
        "host": host,
        "kind": kind,
        "words": words,
        "precision": precision,
        "recall": recall,
    })
}

/// Who says that pages of a host changed, and how far that is true, in words.
pub(crate) fn signals_line(planner: &Planner, host: HostKey) -> Option<String> {
    let signal_sources = planner.signal_sources_of(host).unwrap_or_default();
    let signal_sources = heard(&signal_sources).map(|(signal_source, trust)| {
        trust_words(signal_source.name(), trust.precision(), trust.recall())
    });
    let validators = planner.validators_of(host).map(|(validator, agreement)| {
        trust_words(validator.name(), agreement.precision(), agreement.recall())
    });
    let all: Vec<String> = signal_sources.chain(validators).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

fn trust_words(name: &str, precision: f64, recall: f64) -> String {
    let (precision, recall) = (100.0 * precision, 100.0 * recall);
    format!("{name}: {precision:.0} % of its words true, {recall:.0} % of changes told")
}

fn heard(all: &SignalSources) -> impl Iterator<Item = (SignalSource, &SourceTrust)> {
    SignalSource::ALL.into_iter().zip(&all.0).filter(|(_, trust)| trust.signals > 0.0)
}

/// What [`add`] added, in lines for people.
pub(crate) fn lines(status: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(predicted) = predictions(status) {
        lines.push(format!("  predicted  {predicted}"));
    }
    if let Some(share) = status["audit_share"].as_f64() {
        lines.push(format!(
            "  audits     {:.0} % of requests go to pages drawn by lot",
            100.0 * share
        ));
    }
    if let Some(yields) = yields(status) {
        lines.push(format!("  new links  {yields}"));
    }
    let mut signals: Vec<&Value> = status["signals"].as_array().into_iter().flatten().collect();
    signals.sort_by(|a, b| number(&b["words"]).total_cmp(&number(&a["words"])));
    for signal in signals.iter().take(SHOWN) {
        let text = |name: &str| print::plain(signal[name].as_str().unwrap_or("?"));
        lines.push(format!(
            "  signals    {} of {}: {:.0} % of {} words true, {:.0} % of changes told",
            text("kind"),
            text("host"),
            100.0 * number(&signal["precision"]),
            show_count(number(&signal["words"]) as u64),
            100.0 * number(&signal["recall"]),
        ));
    }
    if signals.len() > SHOWN {
        lines.push(format!("  signals    and {} more (--json)", signals.len() - SHOWN));
    }
    lines
}

/// How many new links a visit finds, by where they stand; `None` before the first.
fn yields(status: &Value) -> Option<String> {
    let rows = status["new_links"].as_array()?.iter();
    let told = rows.filter_map(|row| {
        let kind = row["kind"].as_str()?;
        Some(format!("{:.2} on a {kind}", row["a_visit"].as_f64()?))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("{}, at each visit to a known one", told.join(", ")))
}

/// How many changes were predicted, beside how many were seen; `None` before the first.
fn predictions(status: &Value) -> Option<String> {
    let classes = status["predictions"]["by_class"].as_array()?;
    let sum = |name: &str| classes.iter().map(|row| number(&row[name])).sum::<f64>();
    let error = status["predictions"]["error"].as_f64()?;
    let count = |value: f64| show_count(value.round() as u64);
    let (predicted, seen) = (count(sum("changes_predicted")), count(sum("changes_seen")));
    let visits = count(sum("visits"));
    let error = 100.0 * error;
    Some(format!(
        "{predicted} changes of {visits} visits, {seen} seen; chances off by {error:.1} points"
    ))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_told_in_words() {
        let row = |visits: f64, predicted: f64, seen: f64| json!({"visits": visits, "changes_predicted": predicted, "changes_seen": seen});
        let signal = |host: &str, words: u64| json!({"host": host, "kind": "feed", "words": words, "precision": 0.25, "recall": 0.5});
        let status = json!({
            "signals": [signal("a.org", 3), signal("b.org", 9)],
            "audit_share": 0.02,
            "new_links": [{"kind": "page", "a_visit": null}, {"kind": "feed", "a_visit": 1.5}],
            "predictions": {"error": 0.031, "by_class": [row(10.0, 4.4, 5.0), row(5.0, 0.3, 0.0)]},
        });
        assert_eq!(
            lines(&status),
            [
                "  predicted  5 changes of 15 visits, 5 seen; chances off by 3.1 points",
                "  audits     2 % of requests go to pages drawn by lot",
                "  new links  1.50 on a feed, at each visit to a known one",
                "  signals    feed of b.org: 25 % of 9 words true, 50 % of changes told",
                "  signals    feed of a.org: 25 % of 3 words true, 50 % of changes told",
            ]
        );
        assert!(lines(&json!({})).is_empty());
    }

    #[test]
    fn only_who_spoke_is_shown() {
        let mut all = SignalSources::default();
        assert!(tellers_json("a.org", &all).is_empty());
        all.record_signal(SignalSource::Push);
        let shown = tellers_json("a.org", &all);
        assert_eq!((shown.len(), &shown[0]["kind"]), (1, &json!("push")));
        let line = trust_words("push", 0.504, 0.25);
        assert_eq!(line, "push: 50 % of its words true, 25 % of changes told");
    }
}
