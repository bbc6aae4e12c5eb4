//! What is a host taken for, beyond what it says of itself?

use crate::Time;

/// That a host only pretends to be of use.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspicion {
    /// How likely that is, from 0 to 1.
    pub probability: f32,
    /// What was seen, for people.
    pub evidence: String,
    /// When it was last seen so.
    pub at: Time,
}
