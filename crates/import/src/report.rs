//! What was found, what was taken, and what was not?

use std::collections::BTreeMap;

use serde::Serialize;

use crate::found::Place;
use crate::kind::Kind;

/// Lines about what is not taken that are kept; all are counted.
const MOST_NAMED: usize = 1000;

/// What came of an import, or would come of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// The files.
    pub files: Vec<FileReport>,
    /// Seeds that were found.
    pub seeds: u64,
    /// Seeds that were not known.
    pub new_seeds: u64,
    /// Seeds that are visited at least as often as their list says.
    pub pinned: u64,
    /// Visits that were found.
    pub visits: u64,
    /// Of these, those with the content.
    pub visits_with_content: u64,
    /// The first of them.
    pub from: Option<String>,
    /// The last of them.
    pub until: Option<String>,
    /// Visits that came into the log.
    pub taken: u64,
    /// Of these, those whose content is in the archive.
    pub archived: u64,
    /// Visits that were in the log already.
    pub known: u64,
    /// How much was not taken, by reason.
    pub not_taken: BTreeMap<String, u64>,
    /// Where that stands, of the first thousand.
    pub named: Vec<NotTaken>,
}

/// What is in a file.
#[derive(Clone, Debug, Serialize)]
pub struct FileReport {
    /// Its path.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub bytes: u64,
    /// Seeds in it.
    pub seeds: u64,
    /// Visits in it.
    pub visits: u64,
}

/// Something that is not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotTaken {
    /// Where it stands: a file, and a line, byte or entry.
    pub place: String,
    /// Why.
    pub why: String,
}

impl Report {
    /// Notes that something is not taken.
    pub(crate) fn refuse(&mut self, file: &str, place: &Place, why: &str) {
        *self.not_taken.entry(why.to_owned()).or_default() += 1;
        if self.named.len() < MOST_NAMED {
            self.named.push(NotTaken { place: format!("{file}{place}"), why: why.to_owned() });
        }
    }

    /// How much is not taken.
    pub fn not_taken(&self) -> u64 {
        self.not_taken.values().sum()
    }
}
