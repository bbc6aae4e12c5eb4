//! What is known of a passage that appeared on a page?

use crate::outline::Passage;
use crate::shape::PassageShape;

/// A passage that appeared.
pub(crate) struct Arrival<'a> {
    pub(crate) passage: &'a Passage,
    pub(crate) shape: PassageShape,
    /// The passage before it that stays, and how far away that is.
    pub(crate) spot: (u32, u8),
    /// Whether it appeared on other pages of the site too.
    pub(crate) common: bool,
    /// Whether a clock may have brought it: one of its shape ticked lately.
    pub(crate) ticked: bool,
}

impl Arrival<'_> {
    /// Whether it appeared on this page alone, and not by ticking.
    pub(crate) fn is_own(&self) -> bool {
        !self.common && !self.ticked
    }
}
