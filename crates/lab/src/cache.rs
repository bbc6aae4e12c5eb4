//! Was this very run made before? Outcomes of runs are cached on disk, keyed by everything they depend on.

use std::fmt::{self, Write as _};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::score::RunOutcome;
use crate::source::WorldSource;

/// Goes up with every change to what a run yields that the version of the program does not show.
const LAB_VERSION: u32 = 2;

/// A directory of what came of runs.
///
/// What cannot be read is as good as not there, and what cannot be written is not missed: a cache
/// saves time, and decides nothing.
#[derive(Clone, Debug)]
pub struct OutcomeCache {
    dir: PathBuf,
    build: String,
}

/// What a run depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CacheKey(String);

/// A run as it is kept.
#[derive(Serialize, Deserialize)]
struct CacheEntry {
    /// In full, so that a file of that name which holds another is known as such.
    key: String,
    outcome: RunOutcome,
}

impl OutcomeCache {
    /// A cache in `dir`, made if need be. `build` tells this program from others of its version.
    pub fn open(dir: &Path, build: &str) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        Ok(OutcomeCache { dir: dir.to_owned(), build: build.to_owned() })
    }

    /// The key of a run in a world with that fingerprint; `rest` is all else that it depends on.
    pub(crate) fn key(&self, world: u128, rest: &impl fmt::Debug) -> CacheKey {
        let version = env!("CARGO_PKG_VERSION");
        CacheKey(format!("{version} {LAB_VERSION} {} {world:032x} {rest:?}", self.build))
    }

    pub(crate) fn find(&self, key: &CacheKey) -> Option<RunOutcome> {
        let text = fs::read(self.path(key)).ok()?;
        let entry: CacheEntry = serde_json::from_slice(&text).ok()?;
        (entry.key == key.0).then_some(entry.outcome)
    }

    /// Keeps what came of a run; whole, or not at all.
    pub(crate) fn keep(&self, key: CacheKey, outcome: &RunOutcome) {
        let path = self.path(&key);
        let entry = CacheEntry { key: key.0, outcome: outcome.clone() };
        let Ok(text) = serde_json::to_vec(&entry) else { return };
        let half = path.with_extension(format!("{}.half", std::process::id()));
        if fs::write(&half, text).and_then(|()| fs::rename(&half, path)).is_err() {
            let _ = fs::remove_file(half);
        }
    }

    fn path(&self, key: &CacheKey) -> PathBuf {
        let mut hash = Fingerprint(Xxh3::new());
        let _ = hash.write_str(&key.0); // Cannot fail.
        self.dir.join(format!("{:032x}.json", hash.0.digest128()))
    }
}

/// A number that stands for all that `source` says.
pub(crate) fn fingerprint(source: &WorldSource) -> io::Result<u128> {
    let mut hash = Fingerprint(Xxh3::new());
    if let WorldSource::Recorded { folders, sitewide } = source {
        hash.0.update(&[u8::from(*sitewide)]);
        for folder in folders {
            hash.add_files(folder)?;
        }
    } else {
        let _ = write!(hash, "{source:?}"); // Cannot fail.
    }
    Ok(hash.0.digest128())
}

struct Fingerprint(Xxh3);

impl Fingerprint {
    /// Adds the names and bytes of all files in `folder`, by name.
    fn add_files(&mut self, folder: &Path) -> io::Result<()> {
        let entries: io::Result<Vec<_>> = fs::read_dir(folder)?.collect();
        let mut paths: Vec<PathBuf> = entries?.iter().map(fs::DirEntry::path).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.is_file()) {
            let bytes = fs::read(path)?;
            let name = path.file_name().unwrap_or_default();
            let _ = write!(self, "{name:?} {} ", bytes.len()); // Cannot fail.
            self.0.update(&bytes);
        }
        Ok(())
    }
}

impl fmt::Write for Fingerprint {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{ResultRow, RowScores, Tallied, Week};

    fn outcome() -> RunOutcome {
        // Numbers that a careless reader gets wrong in the last digit.
        let scores = RowScores {
            freshness: 0.1 + 0.2,
            freshness_low: Some(0.1),
            age: 1.0 / 3.0,
            ..RowScores::default()
        };
        let tallied = Tallied { scores: scores.clone(), ..Tallied::default() };
        let weeks = vec![Week { week: 0, tallied }];
        let row = ResultRow { world: "w".to_owned(), scores, weeks, ..ResultRow::default() };
        let drawn = [0.1_f32 + 0.2, 1.0 / 3.0];
        serde_json::from_value(serde_json::json!({ "row": row, "drawn": drawn })).unwrap()
    }

    #[test]
    fn what_is_kept_is_found_to_the_last_digit_and_under_its_own_key_only() {
        let dir = tempfile::tempdir().unwrap();
        let cache = OutcomeCache::open(dir.path(), "a").unwrap();
        cache.keep(cache.key(1, &("index", 7)), &outcome());
        assert_eq!(cache.find(&cache.key(1, &("index", 7))), Some(outcome()));
        for other in [cache.key(2, &("index", 7)), cache.key(1, &("index", 8))] {
            assert_eq!(cache.find(&other), None);
        }
        let rebuilt = OutcomeCache::open(dir.path(), "b").unwrap();
        assert_eq!(rebuilt.find(&rebuilt.key(1, &("index", 7))), None);
    }

    #[test]
    fn what_is_broken_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let cache = OutcomeCache::open(dir.path(), "").unwrap();
        let (key, other) = (cache.key(1, &1), cache.key(1, &2));
        cache.keep(key.clone(), &outcome());
        let whole = fs::read(cache.path(&key)).unwrap();
        for broken in [&whole[..whole.len() / 2], b"", b"{}", b"\xff"] {
            fs::write(cache.path(&key), broken).unwrap();
            assert_eq!(cache.find(&key), None);
        }
        fs::write(cache.path(&other), whole).unwrap();
        assert_eq!(cache.find(&other), None, "it holds another run");
    }

    #[test]
    fn a_row_with_nothing_to_compare_it_by_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let cache = OutcomeCache::open(dir.path(), "").unwrap();
        let key = cache.key(1, &1);
        let row = outcome().row;
        for entry in [
            serde_json::json!({ "key": key.0, "row": row }),
            serde_json::json!({ "key": key.0, "outcome": { "row": row } }),
        ] {
            fs::write(cache.path(&key), entry.to_string()).unwrap();
            assert_eq!(cache.find(&key), None);
        }
    }

    #[test]
    fn a_folder_is_known_by_what_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let source =
            |sitewide| WorldSource::Recorded { folders: vec![dir.path().into()], sitewide };
        let print = |sitewide| fingerprint(&source(sitewide)).unwrap();
        fs::write(dir.path().join("a"), "12").unwrap();
        let first = print(false);
        assert_eq!(first, print(false));
        assert_ne!(first, print(true));
        fs::write(dir.path().join("a"), "13").unwrap();
        assert_ne!(first, print(false));
    }
}
