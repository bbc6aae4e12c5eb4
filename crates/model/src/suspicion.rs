//! How likely is a host to be spam?

use crate::Time;

/// The suspicion that a host is spam.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspicion {
    /// The probability, from 0 to 1.
    pub probability: f32,
    /// The evidence, in words.
    pub evidence: String,
    /// When it was last confirmed.
    pub at: Time,
}
