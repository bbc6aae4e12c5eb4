//! How fresh are the stored pages?

use evercrawl_engine::PlannerConfig;
use evercrawl_planner::freshness::{self, Freshness};
use evercrawl_state::Store;
use serde::{Deserialize, Serialize};

use crate::source::{QueryError, Source};

/// An estimate of this error or more says nothing yet.
const MEASURABLE: f64 = 0.5;

/// How fresh the stored pages are, as far as the crawler can tell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FreshnessView {
    /// Pages whose content is stored.
    pub pages_held: u64,
    /// The estimated share of them that is current, from 0 to 1; `None` until it is known.
    pub freshness: Option<f64>,
    /// By how much that may be off, up or down; 19 times in 20 it is no more.
    pub freshness_error: Option<f64>,
    /// Whether the error is small enough for the estimate to mean something.
    pub measurable: bool,
    /// Visits to randomly sampled pages that it rests on.
    pub audits: u64,
    /// The mean time since the copies became outdated; fresh ones count as 0.
    pub age_seconds: f64,
    /// Changes a day of an average page.
    pub changes_a_day: f64,
}

impl From<Freshness> for FreshnessView {
    fn from(of: Freshness) -> Self {
        let measurable = of.held > 0 && of.error < MEASURABLE;
        FreshnessView {
            pages_held: of.held,
            freshness: measurable.then_some(of.fresh),
            freshness_error: measurable.then_some(of.error),
            measurable,
            audits: of.audits,
            age_seconds: of.age_seconds,
            changes_a_day: of.changes_a_day,
        }
    }
}

/// How fresh the stored pages are.
pub fn freshness<S: Store>(
    source: &Source<'_, S>,
    plan: PlannerConfig,
) -> Result<FreshnessView, QueryError> {
    let planner = source.planner(plan)?;
    Ok(freshness::collection_freshness(&planner, source.state, source.now)?.into())
}
