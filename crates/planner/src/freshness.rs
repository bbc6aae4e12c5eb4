//! How fresh is the collection? The chance, page by page, that nothing changed since the last visit.
//!
//! The planner answers from its sample, by its policy's beliefs and its audits. Where the policy has no beliefs,
//! every page is judged by its own history: its change rate is a Gamma belief with a prior fitted to all pages
//! (empirical Bayes), updated by the page's own checks. A page is fresh at `now` with the probability that a rate
//! drawn from that belief brought no change since the last visit.

use evercrawl_estimate::poisson::age_at;
use evercrawl_estimate::{Evidence, Gamma, prior};
use evercrawl_model::{HostKey, PageKey, Time};
use evercrawl_state::{PageRow, Past, StateError, Store, View};

use crate::Planner;

/// The estimated freshness of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Freshness {
    /// Pages whose content is held.
    pub held: u64,
    /// The expected share of them that is current, from 0 to 1.
    pub fresh: f64,
    /// The error bound of that share, up or down, with 95 % confidence.
    pub error: f64,
    /// Audits behind the estimate.
    pub audits: u64,
    /// The expected age of the copies: how long they have been out of date, in seconds.
    pub age_seconds: f64,
    /// Mean changes of a page per day.
    pub changes_a_day: f64,
}

/// After this many checks a page's history is clear; more would only slow the update.
const MAX_CHECKS: u32 = 64;
const DAY: f64 = 86_400.0;

/// The freshness of the pages of `state` at `now`: by the planner's beliefs, or where it has none by every page's own
/// history.
pub fn collection_freshness<S: Store>(
    planner: &Planner,
    state: &View<S>,
    now: Time,
) -> Result<Freshness, StateError> {
    let [_, live, ..] = state.counters().by_status;
    if live == 0 {
        return Ok(Freshness::default());
    }
    planner.freshness(live, now).map_or_else(|| estimate_by_history(state, now), Ok)
}

/// The error bound of an estimate by histories alone, which no audit checked.
const ERROR_WITHOUT_AUDITS: f64 = 0.1;

/// Estimates the freshness of the pages of `state` at `now`. Reads the pages twice: once to fit the prior, once to
/// judge each page by it.
fn estimate_by_history<S: Store>(state: &View<S>, now: Time) -> Result<Freshness, StateError> {
    let rows = read_pages(state)?;
    let usual = fit_prior(&rows);
    let mut sum = Freshness::default();
    for row in &rows {
        let Some((past, look)) = held_page(row) else { continue };
        let belief = posterior(usual, past);
        let elapsed = now.since(look).as_secs_f64();
        sum.held += 1;
        sum.fresh += belief.survival(elapsed);
        sum.age_seconds += age_at(belief.mean(), elapsed);
        sum.changes_a_day += belief.mean() * DAY;
    }
    let count = sum.held.max(1) as f64;
    if state.counters().pages > MAX_PAGES_READ as u64 {
        sum.held = state.counters().by_status[1];
    }
    sum.fresh /= count;
    sum.error = ERROR_WITHOUT_AUDITS;
    sum.age_seconds /= count;
    sum.changes_a_day /= count;
    Ok(sum)
}

/// The most pages read: all of a small collection, and an equal share of each shard of a large one.
const MAX_PAGES_READ: usize = 20_000;

/// Reads the pages, or enough of them to represent all.
fn read_pages<S: Store>(state: &View<S>) -> Result<Vec<PageRow>, StateError> {
    if state.counters().pages <= MAX_PAGES_READ as u64 {
        return state.pages().map(|page| Ok(page?.1)).collect();
    }
    let shards = usize::from(state.keyer().shards()).max(1);
    let from = |shard: u16| PageKey { host: HostKey { shard, host: 0 }, url: 0 };
    let some = |shard| {
        let within = move |page: &Result<(PageKey, PageRow), StateError>| {
            page.as_ref().map_or(true, |(key, _)| key.host.shard == shard)
        };
        state.pages_after(Some(from(shard))).take_while(within).take(MAX_PAGES_READ / shards)
    };
    (0..state.keyer().shards()).flat_map(some).map(|page| Ok(page?.1)).collect()
}

/// Fits the prior for the change rate of a page without history.
fn fit_prior(rows: &[PageRow]) -> Gamma {
    let (mut checks, mut changes, mut watched) = (0.0, 0.0, 0.0);
    let mut evidence = Vec::new();
    for row in rows {
        let Some((past, _)) = held_page(row) else { continue };
        checks += f64::from(past.checks);
        changes += f64::from(past.changes);
        watched += f64::from(past.watched);
        if past.checks > 0 {
            evidence.push((past.checks, past.changes, past.watched));
        }
    }
    let start = Gamma::with_mean(mean_rate(checks, changes, watched), 1.0);
    let evidence: Vec<Evidence> = evidence
        .into_iter()
        .map(|(checks, changes, watched)| {
            Evidence::since(start, observe_checks(start, checks, changes, watched))
        })
        .collect();
    if evidence.is_empty() { start } else { prior::fit(start, &evidence) }
}

/// The rate at which regular checks over `watched` seconds would find this many changes; one change a month when
/// nothing is known.
fn mean_rate(checks: f64, changes: f64, watched: f64) -> f64 {
    if checks == 0.0 || watched <= 0.0 {
        return 1.0 / (30.0 * DAY);
    }
    let unchanged = (checks - changes + 0.5) / (checks + 0.5);
    (-unchanged.ln()).max(0.5 / checks) * checks / watched
}

fn posterior(usual: Gamma, past: &Past) -> Gamma {
    observe_checks(usual, past.checks, past.changes, past.watched)
}

/// The belief after regular checks, some of which found a change.
fn observe_checks(mut belief: Gamma, checks: u32, changes: u32, watched: f32) -> Gamma {
    let interval = f64::from(watched) / f64::from(checks.max(1));
    let counted = checks.min(MAX_CHECKS);
    // The order of changes is not kept. They are spread evenly, so that neither kind of check updates a belief that
    // the other has already driven to an extreme.
    let seen_until = |n: u32| u64::from(n) * u64::from(changes) / u64::from(checks.max(1));
    for n in 0..counted {
        let changed = seen_until(n + 1) > seen_until(n);
        belief = if changed {
            belief.observe_changed(interval)
        } else {
            belief.observe_unchanged(interval)
        };
    }
    belief
}

fn held_page(row: &PageRow) -> Option<(&Past, Time)> {
    let past = row.past.as_ref().filter(|_| row.held())?;
    Some((past, past.last_look?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beliefs_follow_what_was_seen() {
        let usual = Gamma::with_mean(1.0 / DAY, 1.0);
        let daily = observe_checks(usual, 20, 13, 20.0 * DAY as f32);
        let quiet = observe_checks(usual, 20, 0, 20.0 * DAY as f32);
        assert!((0.7..1.5).contains(&(daily.mean() * DAY)), "{}", daily.mean() * DAY);
        assert!(quiet.mean() * DAY < 0.1);
        assert!(quiet.survival(DAY) > 0.9 && daily.survival(DAY) < 0.6);
        let many = observe_checks(usual, 2000, 1264, 2000.0 * DAY as f32);
        assert!((0.8..1.2).contains(&(many.mean() * DAY)), "{}", many.mean() * DAY);
    }

    #[test]
    fn the_usual_rate_needs_evidence() {
        assert_eq!(mean_rate(0.0, 0.0, 0.0), 1.0 / (30.0 * DAY));
        assert!((mean_rate(100.0, 63.2, 100.0) - 1.0).abs() < 0.01);
        assert!(mean_rate(100.0, 0.0, 100.0) > 0.0);
    }

    #[test]
    fn age_grows_from_nothing() {
        assert_eq!(age_at(0.0, 10.0), 0.0);
        assert!((age_at(1.0, 2.0) - 1.1353).abs() < 1e-4);
    }
}
