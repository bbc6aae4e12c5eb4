//! What can be wrong with a planner's configuration or with overrides?

use evercrawl_policy::registry::Unfit;
use evercrawl_state::StateError;
use evercrawl_urls::RuleError;

/// Why a planner or its overrides could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlannerError {
    /// The policy does not exist, or does not support the goal.
    #[error(transparent)]
    Policy(#[from] Unfit),
    /// A pattern is invalid.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The state could not be read.
    #[error(transparent)]
    State(#[from] StateError),
}
