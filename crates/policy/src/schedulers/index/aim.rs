//! What is the value of a fetch, for the crawl's goal?

use evercrawl_estimate::Gamma;

use crate::page::Days;
use crate::registry::Goal;

/// The most certainty of a prior, in changes.
///
/// Most changes of a site are those of few pages. For coverage these must be found among pages that look alike: up to
/// a shape of 1 no page is given up, and the first change that is found counts for much.
pub(crate) fn max_certainty(goal: Goal) -> f64 {
    if goal == Goal::Coverage { 1.0 } else { f64::INFINITY }
}

/// The index for `goal`, of a page with weight `w` that has waited `tau`.
///
/// Freshness gives up pages that change faster than they can be fetched, coverage wants those, age gives up none: the
/// user chooses. For coverage the balanced index is used, which finds more on real sites than the one made for
/// Poisson pages.
pub(crate) fn value(goal: Goal, belief: Gamma, w: f64, tau: Days) -> f64 {
    match goal {
        Goal::Freshness => belief.index(w, tau),
        Goal::Coverage => belief.balanced_index(w, tau),
        Goal::Age => belief.age_index(w, tau),
    }
}

/// How long a page must wait to be worth `price`; infinite if it never is.
pub(crate) fn time_to_value(goal: Goal, belief: Gamma, w: f64, price: f64) -> Days {
    match goal {
        Goal::Freshness => belief.time_to_index(w, price),
        Goal::Coverage => belief.time_to_balanced(w, price),
        Goal::Age => belief.time_to_age(w, price),
    }
}
