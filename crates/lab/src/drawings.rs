//! Which curves does the documentation show?
//!
//! They are computed by the functions that the crawler runs, so a figure cannot say anything else.

use evercrawl_estimate::{Gamma, bias};
use evercrawl_policy::SplitMix64;
use evercrawl_policy::allocate::{Demand, Objective, allocate};
use evercrawl_policy::index::{IntervalLimits, Rate, index_value};

use evercrawl_draw::{Axis, Figure, FigureLine, Panel, ReferenceLine};

const POINTS: usize = 240;
const PAGES: usize = 2000;
const SIGMA: f64 = 1.5;

/// A figure and the name of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// The file's name, without its ending.
    pub name: &'static str,
    /// The figure.
    pub figure: Figure,
}

/// Returns every figure of the documentation.
pub fn all() -> Vec<Drawing> {
    vec![
        Drawing { name: "estimator-bias", figure: estimator_bias() },
        Drawing { name: "freshness-by-budget", figure: freshness_by_budget() },
        Drawing { name: "frequency-by-rate", figure: frequency_by_rate() },
        Drawing { name: "index-over-time", figure: index_over_time() },
    ]
}

/// Draws how far the estimators for regular checks are off on average, for 3, 10 and 50 checks.
pub(crate) fn estimator_bias() -> Figure {
    let rates = steps(0.01, 3.0);
    let panel = |checks: u64| {
        let mean = |moments: fn(u64, f64) -> bias::EstimatorMoments| {
            rates.iter().map(|&r| (r, moments(checks, r).mean - r)).collect()
        };
        Panel {
            heading: format!("{checks} checks"),
            lines: vec![
                FigureLine::curve("eq. 9", mean(bias::naive)),
                FigureLine::curve("eq. 12", mean(bias::log)),
                FigureLine::curve("eq. 13", mean(bias::eq13)),
            ],
        }
    };
    Figure {
        title: "Bias of three estimators of the change rate".to_owned(),
        description:
            "Eq. 9 falls ever further below the truth, whatever the number of checks; eq. 12, \
                      where it is finite, and eq. 13 stay near it up to a rate that grows with the \
                      number of checks, eq. 13 the closer of the two."
                .to_owned(),
        x: Axis::linear("true rate, changes per check", &[0.0, 1.0, 2.0, 3.0]),
        y: Axis::linear(
            "mean estimate minus true rate, changes per check",
            &[-2.0, -1.5, -1.0, -0.5, 0.0, 0.5],
        ),
        panels: [3, 10, 50].map(panel).to_vec(),
        rule: Some(ReferenceLine { label: String::new(), y: 0.0 }),
    }
}

/// Draws what a budget buys if divided evenly, by change rate, or at the optimum.
pub(crate) fn freshness_by_budget() -> Figure {
    let pages = population();
    let value = |frequency: &[f64]| Objective::Freshness.value(&pages, frequency);
    // Every fourth is enough for curves as smooth as these, and each is an optimisation.
    let budgets: Vec<f64> = factors(0.05, 20.0).into_iter().step_by(4).collect();
    let curve = |divide: &dyn Fn(f64) -> Vec<f64>| {
        budgets.iter().map(|&budget| (budget, value(&divide(budget)))).collect()
    };
    let optimal = |budget: f64| {
        allocate(Objective::Freshness, &pages, budget * PAGES as f64, IntervalLimits::NONE)
            .frequency
    };
    let proportional = |budget: f64| pages.iter().map(|page| budget * page.rate).collect();
    Figure {
        title: "What a budget of fetches buys".to_owned(),
        description: "At every budget pages are freshest under the optimal division, less fresh when all \
                      are fetched alike, and least fresh when they are fetched in proportion to their \
                      change rates."
            .to_owned(),
        x: Axis::log("fetches per page and unit of time (mean change rate 1)", &[
            0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0,
        ]),
        y: Axis::linear("mean freshness, share of time", &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        panels: vec![Panel {
            heading: String::new(),
            lines: vec![
                FigureLine::curve("optimal", curve(&optimal)).of("optimal"),
                FigureLine::curve("uniform", curve(&|budget| vec![budget; PAGES])).of("uniform"),
                FigureLine::curve("proportional", curve(&proportional)).of("proportional"),
            ],
        }],
        rule: None,
    }
}

/// Draws how often a page is fetched, by its change rate, under each way of dividing a budget.
pub(crate) fn frequency_by_rate() -> Figure {
    let pages = population();
    let rates = factors(0.01, 100.0);
    let optimum = |objective: Objective| {
        let mu = allocate(objective, &pages, PAGES as f64, IntervalLimits::NONE).mu;
        rates.iter().map(|&rate| (rate, objective.frequency(rate, 1.0, mu))).collect()
    };
    Figure {
        title: "How often a page is fetched, by how often it changes".to_owned(),
        description:
            "For freshness the best fetch rate rises with the change rate, turns, and falls to \
                      nothing for the busiest pages; for age and for the harmonic penalty it \
                      rises towards a limit; in proportion it grows without end."
                .to_owned(),
        x: Axis::log("change rate, per unit of time", &[0.01, 0.1, 1.0, 10.0, 100.0]),
        y: Axis::linear(
            "fetch rate, per unit of time (1 on average)",
            // As far up as the limit of the highest curve that has one.
            &[0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5],
        ),
        panels: vec![Panel {
            heading: String::new(),
            lines: vec![
                FigureLine::curve("best freshness", optimum(Objective::Freshness)).of("optimal"),
                FigureLine::curve("best age", optimum(Objective::Age)),
                FigureLine::curve("best harmonic", optimum(Objective::Harmonic)),
                FigureLine::curve("proportional", rates.iter().map(|&rate| (rate, rate)).collect())
                    .of("proportional"),
            ],
        }],
        rule: Some(ReferenceLine { label: "uniform".to_owned(), y: 1.0 }),
    }
}

/// Draws how the index of pages grows after a fetch, for known and for believed rates.
pub(crate) fn index_over_time() -> Figure {
    let times = steps(0.0, 8.0);
    let curve = |label: &str, rate: Rate| {
        FigureLine::curve(
            label,
            times.iter().map(|&time| (time, index_value(rate, 1.0, time))).collect(),
        )
    };
    let believed = |mean: f64| Rate::Believed(Gamma::with_mean(mean, 1.0));
    Figure {
        title: "A page is due when its index reaches the threshold".to_owned(),
        description: "A page known to change rarely crosses the threshold in time, one known to change \
                      three times per unit never does; pages of which the rate is only believed cross \
                      it sooner or later."
            .to_owned(),
        x: Axis::linear("time since the last fetch, units of time", &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
        y: Axis::linear("index, units of time (weight 1)", &[0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5]),
        panels: vec![Panel {
            heading: String::new(),
            lines: vec![
                curve("rate 0.2, known", Rate::Known(0.2)),
                curve("rate 1, known", Rate::Known(1.0)),
                curve("rate 1, believed", believed(1.0)),
                curve("rate 3, known", Rate::Known(3.0)),
                curve("rate 3, believed", believed(3.0)),
            ],
        }],
        rule: Some(ReferenceLine { label: "threshold \u{3bc}".to_owned(), y: 0.4 }),
    }
}

/// Pages of equal weight whose rates are log-normal, as change rates on the web roughly are, with
/// a mean of exactly 1.
fn population() -> Vec<Demand> {
    let mut random = SplitMix64::new(1);
    let mut normal = || {
        let (u, v) = (random.uniform(), random.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    };
    let rates: Vec<f64> = (0..PAGES).map(|_| (SIGMA * normal()).exp()).collect();
    let mean = rates.iter().sum::<f64>() / PAGES as f64;
    rates.into_iter().map(|rate| Demand::new(rate / mean, 1.0)).collect()
}

/// Values from one end to the other in equal steps.
fn steps(from: f64, to: f64) -> Vec<f64> {
    (0..=POINTS).map(|i| from + (to - from) * i as f64 / POINTS as f64).collect()
}

/// Values from one end to the other by equal factors.
fn factors(from: f64, to: f64) -> Vec<f64> {
    steps(from.ln(), to.ln()).into_iter().map(f64::exp).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of a line at all its points.
    fn heights(figure: &Figure, panel: usize, label: &str) -> Vec<f64> {
        let line = figure.panels[panel].lines.iter().find(|line| line.label == label);
        line.expect(label).points.iter().map(|point| point.1).collect()
    }

    #[test]
    fn eq9_is_as_wrong_after_fifty_checks_as_after_three() {
        let figure = estimator_bias();
        assert_eq!(heights(&figure, 0, "eq. 9"), heights(&figure, 2, "eq. 9"));
        let end = |panel| *heights(&figure, panel, "eq. 13").last().unwrap();
        for (panel, bias) in [-1.21, -0.44, -0.007].into_iter().enumerate() {
            assert!((end(panel) - bias).abs() < 0.005, "{}", end(panel));
        }
    }

    #[test]
    fn optimal_beats_uniform_beats_proportional_at_every_budget() {
        let figure = freshness_by_budget();
        let [best, even, by_rate] =
            ["optimal", "uniform", "proportional"].map(|label| heights(&figure, 0, label));
        assert!(best.len() > 50);
        for i in 0..best.len() {
            assert!(best[i] > even[i] && even[i] > by_rate[i], "{i}");
        }
    }

    #[test]
    fn the_busiest_pages_get_nothing_where_freshness_counts_and_most_where_age_does() {
        let figure = frequency_by_rate();
        let fresh = heights(&figure, 0, "best freshness");
        assert_eq!(fresh[POINTS], 0.0);
        assert!(fresh.iter().copied().fold(0.0, f64::max) > 1.0);
        let age = heights(&figure, 0, "best age");
        assert!(age.windows(2).all(|pair| pair[1] >= pair[0]));
    }

    #[test]
    fn doubt_brings_a_page_over_the_threshold_that_certainty_never_would() {
        let figure = index_over_time();
        let threshold = figure.rule.as_ref().unwrap().y;
        assert!(heights(&figure, 0, "rate 3, known").iter().all(|index| *index < threshold));
        assert!(heights(&figure, 0, "rate 3, believed").last().unwrap() > &threshold);
    }

    #[test]
    fn figures_are_whole_and_of_their_own_name() {
        let drawings = all();
        for drawing in &drawings {
            let svg = drawing.figure.svg();
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{}", drawing.name);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", drawing.name);
            assert_eq!(drawings.iter().filter(|other| other.name == drawing.name).count(), 1);
        }
    }
}
