//! What speaks for a page?

use crate::Band;

/// What is counted that speaks for pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Links that lead to a page.
    Links,
    /// Cash that pages hand on along their links.
    Cash,
    /// What is expected of a page by those that link to it, on a topic.
    Topic,
}

impl Measure {
    /// All there are.
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

/// What speaks for a page by one measure. The numbers mean something to the engine alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkEvidence {
    /// The front queue that a page which was never visited waits in by it.
    pub band: Option<Band>,
    /// How much speaks for it, and whatever else is kept with that.
    pub numbers: [f64; 3],
}
