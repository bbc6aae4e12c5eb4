//! What do links say about a page?

use crate::Band;

/// A measure of link evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Links that lead to a page.
    Links,
    /// OPIC cash that pages pass on along their links.
    Cash,
    /// The relevance to a topic that linking pages lead to expect.
    Topic,
}

impl Measure {
    /// All measures.
    pub const ALL: [Measure; 3] = [Measure::Links, Measure::Cash, Measure::Topic];

    /// Its number in keys.
    pub fn number(self) -> u8 {
        match self {
            Measure::Links => 1,
            Measure::Cash => 2,
            Measure::Topic => 3,
        }
    }

    /// Reads what [`number`](Self::number) gave.
    pub fn from_number(n: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.number() == n)
    }
}

/// The link evidence for a page under one measure. Only the engine interprets the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkEvidence {
    /// The front queue of the page while it is new.
    pub band: Option<Band>,
    /// The amount of evidence, and what else the measure stores.
    pub numbers: [f64; 3],
}
