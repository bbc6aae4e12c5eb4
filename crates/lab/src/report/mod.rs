//! What do the documents behind Evercrawl report, and what does its own code find?
//!
//! | module | question |
//! |---|---|
//! | `document` | what does a report consist of, and which files does it make? |
//! | `trace` | what does a recorded site look like to a method that knows its links? |
//! | `s0` | Kumagai and Yamana (2004): changed pages by the links of their server |
//! | `s1` | Hiromichi et al. (2010): pages that follow their top, archived together |
//! | `s3` | Meng, Wang and Yan (2006): the mathematics of incremental crawling |
//! | `threads` | how is the work shared out over cores? |

mod document;
mod s0;
mod s1;
mod s3;
mod threads;
mod trace;

pub use document::{ReportDocument, ReportFile, ReportSource, index};
pub use s0::s0;
pub use s1::s1;
pub use s3::s3;
pub use trace::{LINKED_SITES, SiteTrace};

/// How much is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Enough that the last digit shown holds.
    Full,
    /// A twentieth of it: to see whether everything works.
    Quick,
}

impl Effort {
    /// How many rounds to simulate of those that full effort takes.
    pub(crate) fn rounds(self, full: usize) -> usize {
        match self {
            Effort::Full => full,
            Effort::Quick => (full / 20).max(1),
        }
    }
}
