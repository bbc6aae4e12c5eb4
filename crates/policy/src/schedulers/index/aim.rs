//! What is a fetch worth, by what the crawl is for?

use evercrawl_estimate::Gamma;

use crate::page::Days;
use crate::registry::Goal;

/// How many changes' worth of certainty a belief may begin with, before a page's own visits.
///
/// Most changes of a site are those of few pages. Who counts changes must find these, among pages that look
/// like all others: up to a shape of 1 no page is given up, and the first change that is found counts for much.
pub(crate) fn max_certainty(goal: Goal) -> f64 {
    if goal == Goal::Coverage { 1.0 } else { f64::INFINITY }
}

/// The index that `goal` selects, of a page of weight `w` that has waited `tau`.
///
/// Freshness gives up pages that change faster than they can be fetched, coverage wants those, age gives
/// up none: a user must choose. For coverage the balanced index is taken, which on real sites finds more
/// than the one made for Poisson pages.
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
