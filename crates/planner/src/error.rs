//! What can be wrong with a plan or with overrides?

use evercrawl_policy::registry::Unfit;
use evercrawl_state::StateError;
use evercrawl_urls::RuleError;

/// Why there is no planner, or no overrides.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlannerError {
    /// The policy does not exist, or cannot serve the goal.
    #[error(transparent)]
    Policy(#[from] Unfit),
    /// A pattern cannot be used.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The state could not be read.
    #[error(transparent)]
    State(#[from] StateError),
}
