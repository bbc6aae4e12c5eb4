//! What does the data set of microsoft/Optimal-Freshness-Crawl-Scheduling hold, as a world?
//!
//! Kolobov et al. (SIGIR and NeurIPS 2019) published change rates and importance of some 18 million
//! URLs. A folder of it comes in one of two forms, both tab-separated, without a header, in days:
//!
//! | form | file | columns |
//! |---|---|---|
//! | as its code prepares it | `imps_and_chrates_incompl.txt` | importance, change rate |
//! | | `imps_and_chrates_compl.txt` | the same, of URLs whose every change is reported |
//! | as published | `urlid_imp.txt` | URL number, importance |
//! | | `urlid_offset_history.txt` | URL number, first crawl, `[[interval, changed], ..]` |
//! | | `urlid_chrate_compl_obs_hist.txt` | URL number, change rate, of those that report all |
//!
//! Rates of the second form are learned from the histories as the paper does it: maximum likelihood
//! with one imaginary changed and one unchanged interval of half a day, kept between 0.0005 and 7.
//! In the world that comes of it pages change as Poisson processes, and those that report every
//! change lie on a host with perfect signals.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use evercrawl_estimate::irregular::{IrregularChecks, TimedCheck};
use evercrawl_policy::Days;

use crate::Malformed;
use crate::synthetic::Processes;
use crate::world::{ChangeTruth, HostFacts, LabWorld, PageFact, Span};

/// File names of the prepared form: pages that do not report their changes, and pages that do.
pub const PREPARED: [&str; 2] = ["imps_and_chrates_incompl.txt", "imps_and_chrates_compl.txt"];
const IMPORTANCE: &str = "urlid_imp.txt";
const HISTORY: &str = "urlid_offset_history.txt";
const OBSERVED: &str = "urlid_chrate_compl_obs_hist.txt";

/// The imaginary intervals, and the bounds of a learned rate.
const PSEUDO: Days = 0.5;
const LEARNED: (f64, f64) = (0.0005, 7.0);

/// A year is scored after half a year of learning, as with recorded worlds.
const BURN_IN: Days = 182.0;
const SCORED: Days = 364.0;

/// Why a data set cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DataSetError {
    /// A file is not there, or cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A line is wrong.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

/// A URL of the data set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataSetEntry {
    /// The value of a fresh copy.
    pub importance: f64,
    /// Changes per day.
    pub rate: f64,
    /// Whether every change is reported.
    pub observed: bool,
}

/// Whether a folder holds the data set, in either form.
pub(crate) fn is_data_set(folder: &Path) -> bool {
    PREPARED.iter().any(|file| folder.join(file).is_file()) || folder.join(IMPORTANCE).is_file()
}

/// Reads the data set in a folder.
pub fn read(folder: &Path) -> Result<Vec<DataSetEntry>, DataSetError> {
    if folder.join(IMPORTANCE).is_file() { published(folder) } else { prepared(folder) }
}

/// The world of these pages, which `seed` gives; changes are known from `history` before it begins.
pub fn world(name: &str, entries: &[DataSetEntry], seed: u64, history: Days) -> LabWorld {
    let rates: Vec<f64> = entries.iter().map(|entry| entry.rate).collect();
    let fact = |entry: &DataSetEntry| {
        let host = u32::from(entry.observed);
        PageFact { host, group: host, weight: entry.importance as f32, ..PageFact::PLAIN }
    };
    let since = -history.max(0.0);
    let span = Span { since, begin: 0.0, from: BURN_IN, to: BURN_IN + SCORED };
    let pages: Vec<PageFact> = entries.iter().map(fact).collect();
    let truth = ChangeTruth::Drawn(Processes::poisson(seed, &rates, (since, span.to)));
    LabWorld {
        name: name.to_owned(),
        past: truth.before(&pages, span.begin),
        pages,
        hosts: vec![
            HostFacts::plain("changes not reported"),
            HostFacts { recall: 1.0, ..HostFacts::plain("every change reported") },
        ],
        truth,
        server: None,
        span,
        urls: Vec::new(),
    }
}

/// The pages of any world, as the data set would have them: mean rates, and perfect signals or none.
pub fn entries(world: &LabWorld) -> Vec<DataSetEntry> {
    let entry = |(page, fact): (u32, &PageFact)| {
        let host = world.hosts.get(fact.host as usize);
        DataSetEntry {
            importance: fact.weight.into(),
            rate: world.truth.rate(page, world.span.from, world.span.to),
            observed: host.is_some_and(|host| host.recall >= 1.0 && host.precision >= 1.0),
        }
    };
    (0..).zip(&world.pages).map(entry).collect()
}

/// The text of the two prepared files, in the order of [`PREPARED`].
pub fn write(entries: &[DataSetEntry]) -> [String; 2] {
    [false, true].map(|observed| {
        let lines = entries.iter().filter(|entry| entry.observed == observed);
        lines.map(|entry| format!("{}\t{}\n", entry.importance, entry.rate)).collect()
    })
}

/// One of the two files may be missing: then there are no such pages.
fn prepared(folder: &Path) -> Result<Vec<DataSetEntry>, DataSetError> {
    let mut entries = Vec::new();
    for (file, observed) in PREPARED.iter().zip([false, true]) {
        let (path, other) = (folder.join(file), folder.join(PREPARED[usize::from(!observed)]));
        if !path.is_file() && other.is_file() {
            continue;
        }
        each_line(&path, 2, |line| {
            let (importance, rate) = (line.number(0)?, line.number(1)?);
            entries.push(DataSetEntry { importance, rate, observed });
            Ok(())
        })?;
    }
    Ok(entries)
}

fn published(folder: &Path) -> Result<Vec<DataSetEntry>, DataSetError> {
    // By URL number, so that the same files give the same world.
    let mut entries: BTreeMap<u64, DataSetEntry> = BTreeMap::new();
    each_line(&folder.join(IMPORTANCE), 2, |line| {
        let entry = DataSetEntry { importance: line.number(1)?, rate: 0.0, observed: false };
        entries.insert(line.id()?, entry);
        Ok(())
    })?;
    each_line(&folder.join(HISTORY), 3, |line| {
        let entry = entries.get_mut(&line.id()?).ok_or_else(|| line.unknown())?;
        entry.rate = line.learned_rate()?;
        Ok(())
    })?;
    each_line(&folder.join(OBSERVED), 2, |line| {
        let entry = entries.get_mut(&line.id()?).ok_or_else(|| line.unknown())?;
        (entry.rate, entry.observed) = (line.number(1)?, true);
        Ok(())
    })?;
    Ok(entries.into_values().collect())
}

/// Hands each line to `take`; empty ones are passed over.
fn each_line(
    path: &Path,
    columns: usize,
    mut take: impl FnMut(&DataSetLine<'_>) -> Result<(), Malformed>,
) -> Result<(), DataSetError> {
    let unreadable = |source| DataSetError::Unreadable { path: path.to_owned(), source };
    let file = BufReader::new(File::open(path).map_err(unreadable)?);
    let name = path.display().to_string();
    for (number, text) in (1..).zip(file.lines()) {
        let text = text.map_err(unreadable)?;
        if !text.trim().is_empty() {
            take(&DataSetLine::new(&name, number, &text, columns)?)?;
        }
    }
    Ok(())
}

/// A line, cut at its tabs.
struct DataSetLine<'a> {
    file: &'a str,
    number: usize,
    text: &'a str,
    cells: Vec<&'a str>,
}

impl<'a> DataSetLine<'a> {
    fn new(file: &'a str, number: usize, text: &'a str, columns: usize) -> Result<Self, Malformed> {
        let cells: Vec<&str> = text.splitn(columns, '\t').map(str::trim).collect();
        let line = DataSetLine { file, number, text, cells };
        if line.cells.len() < columns {
            return Err(line.wrong(text.len(), format!("expected {columns} columns, cut by tabs")));
        }
        Ok(line)
    }

    fn number(&self, column: usize) -> Result<f64, Malformed> {
        let cell = self.cells[column];
        let number = cell.parse().ok().filter(|n: &f64| *n >= 0.0 && n.is_finite());
        number.ok_or_else(|| self.wrong_cell(column, "is not a number of 0 or more"))
    }

    fn id(&self) -> Result<u64, Malformed> {
        self.cells[0].parse().map_err(|_| self.wrong_cell(0, "is not the number of a URL"))
    }

    fn unknown(&self) -> Malformed {
        self.wrong_cell(0, "has no importance in urlid_imp.txt")
    }

    fn learned_rate(&self) -> Result<f64, Malformed> {
        let wrong = |_| self.wrong_cell(2, "is not a list of [interval, 0 or 1]");
        let visits: Vec<(f64, u8)> = serde_json::from_str(self.cells[2]).map_err(wrong)?;
        let checks = visits
            .iter()
            .map(|&(interval, changed)| TimedCheck { interval, changed: changed == 1 });
        Ok(IrregularChecks::new(checks).with_pseudo(PSEUDO).mle().clamp(LEARNED.0, LEARNED.1))
    }

    fn wrong_cell(&self, column: usize, what: &str) -> Malformed {
        let cell = self.cells[column];
        let shown: String = cell.chars().filter(|c| !c.is_control()).take(40).collect();
        // Cells are parts of the text, so their addresses tell where they begin.
        let at = cell.as_ptr() as usize - self.text.as_ptr() as usize;
        self.wrong(at, format!("`{shown}` {what}"))
    }

    fn wrong(&self, at: usize, message: String) -> Malformed {
        Malformed { line: self.number, ..Malformed::at(self.file, self.text, at, message) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        dir
    }

    #[test]
    fn the_prepared_form_goes_round() {
        let entries = vec![
            DataSetEntry { importance: 3.0, rate: 0.25, observed: false },
            DataSetEntry { importance: 1200.0, rate: 1.0 / 3.0, observed: false },
            DataSetEntry { importance: 0.5, rate: 1e-7, observed: true },
        ];
        let [incomplete, complete] = write(&entries);
        assert_eq!(incomplete, "3\t0.25\n1200\t0.3333333333333333\n");
        let dir = folder(&[(PREPARED[0], &incomplete), (PREPARED[1], &complete)]);
        assert!(is_data_set(dir.path()));
        assert_eq!(read(dir.path()).unwrap(), entries);
    }

    #[test]
    fn files_as_the_code_of_the_paper_writes_them_are_read() {
        let dir = folder(&[(PREPARED[0], "12\t0.100000\r\n7\t6.999949\r\n\r\n")]);
        let rates: Vec<f64> = read(dir.path()).unwrap().iter().map(|entry| entry.rate).collect();
        assert_eq!(rates, [0.1, 6.999949]);
    }

    #[test]
    fn the_published_form_is_read_and_rates_are_learned_as_in_the_paper() {
        let dir = folder(&[
            (IMPORTANCE, "5\t9\n2\t4\n8\t1\n"),
            (
                HISTORY,
                "5\t5.51\t[[1.0, 0], [1.0, 1], [2.0, 0]]\n2\t0.1\t[[1, 1], [1, 1]]\n8\t0\t[[1, 0]]\n",
            ),
            (OBSERVED, "2\t0.75\n"),
        ]);
        let entries = read(dir.path()).unwrap();
        assert_eq!(entries[0], DataSetEntry { importance: 4.0, rate: 0.75, observed: true });
        assert_eq!((entries[1].importance, entries[1].observed), (9.0, false));
        // The root of 0.5/(e^(x/2) - 1) + 1/(e^x - 1) = 0.5 + 3, by hand.
        let rate = entries[1].rate;
        let left = 0.5 / (rate / 2.0).exp_m1() + 1.0 / rate.exp_m1();
        assert!((left - 3.5).abs() < 1e-6, "{rate}");
    }

    #[test]
    fn a_world_made_of_it_gives_it_back() {
        let entries: Vec<DataSetEntry> = (1..200)
            .map(|i| DataSetEntry {
                importance: f64::from(i),
                rate: f64::from(i as f32 / 100.0),
                observed: i > 150,
            })
            .collect();
        let world = world("set", &entries, 4, 0.0);
        assert_eq!(super::entries(&world), entries);
        let changes = world.truth.all(199, world.span.to);
        let count: usize = (0..199).map(|page| changes.changes_of(page).count()).sum();
        let mean: f64 = entries.iter().map(|entry| entry.rate * 546.0).sum();
        assert!((count as f64 - mean).abs() < 5.0 * mean.sqrt(), "{count} for {mean}");
        assert!(world.hosts[1].recall == 1.0 && world.hosts[0].recall == 0.0);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (files, words) in [
            (
                vec![(PREPARED[0], "1\t2\n3 4\n")],
                "incompl.txt, line 2, column 4: expected 2 columns",
            ),
            (vec![(PREPARED[0], "1\tx\n")], "line 1, column 3: `x` is not a number of 0 or more"),
            (vec![(PREPARED[0], "1\t-2\n")], "line 1, column 3: `-2` is not"),
            (vec![(PREPARED[0], "1\tnan\n")], "`nan` is not"),
            (vec![], "cannot read"),
            (vec![(IMPORTANCE, "a\t1\n")], "line 1, column 1: `a` is not the number of a URL"),
            (vec![(IMPORTANCE, "1\t1\n"), (HISTORY, "2\t0\t[]\n")], "`2` has no importance"),
            (
                vec![(IMPORTANCE, "1\t1\n"), (HISTORY, "1\t0\t[[1]]\n")],
                "line 1, column 5: `[[1]]` is",
            ),
            (vec![(IMPORTANCE, "1\t1\n"), (HISTORY, "1\t0\t[[1, 1]]\n")], "cannot read"),
        ] {
            let dir = folder(&files);
            let error = read(dir.path()).unwrap_err().to_string();
            assert!(error.contains(words), "{files:?}: {error}");
        }
        assert!(!is_data_set(tempfile::tempdir().unwrap().path()));
    }
}
