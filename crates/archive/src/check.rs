//! Is a WARC file what it and its index claim?

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::cdx;
use crate::error::ReadError;
use crate::read::{Scan, Scanned};
use crate::verify::verify;

/// More problems than this are counted, not listed.
const MAX_PROBLEMS: usize = 100;

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Records that could be read.
    pub records: u64,
    /// Those of them that are indexed: responses and revisits, but for 304s.
    pub indexed: u64,
    /// What is wrong, in words; empty when all is well.
    pub problems: Vec<String>,
}

/// Walks a finished WARC file and its index: every record reads, its digests hold, and the index
/// has the right line for each, in order, and no other. A record may unpack to `cap` bytes.
pub fn check_file(warc: &Path, cdxj: &Path, cap: usize) -> Result<CheckReport, ReadError> {
    let mut check = Check { report: CheckReport::default(), unlisted: 0, expected: Vec::new() };
    let name = warc.file_name().unwrap_or_default().to_string_lossy();
    for next in Scan::open(warc, cap)? {
        match next {
            Ok(scanned) => check.record(&scanned, &name),
            Err(ReadError::Io(error)) if error.raw_os_error().is_some() => return Err(error.into()),
            Err(error) => {
                let after = check.report.records;
                check.problem(format!("{name}: after {after} good records: {error}"));
            }
        }
    }
    check.index(&fs::read(cdxj)?, &cdxj.file_name().unwrap_or_default().to_string_lossy());
    Ok(check.finish())
}

struct Check {
    report: CheckReport,
    unlisted: u64,
    /// The lines that the index must have.
    expected: Vec<Vec<u8>>,
}

impl Check {
    fn record(&mut self, scanned: &Scanned, file: &str) {
        let Scanned { offset, length, record } = scanned;
        let place = format!("{file}: record at {offset}");
        let is_info = record.header("WARC-Type") == Some("warcinfo");
        if (self.report.records == 0) != is_info {
            self.problem(format!("{place}: a warcinfo record must come first, and only there"));
        }
        if let Err(error) = verify(record) {
            self.problem(format!("{place}: {error}"));
        }
        self.report.records += 1;
        if let Some(line) = cdx::line_of(record, *offset, *length, file) {
            self.report.indexed += 1;
            self.expected.push(line);
        }
    }

    fn index(&mut self, lines: &[u8], file: &str) {
        let lines: Vec<&[u8]> = lines.split_inclusive(|&b| b == b'\n').collect();
        if !lines.is_sorted() {
            self.problem(format!("{file}: its lines are not in the order of their bytes"));
        }
        let found: BTreeSet<&[u8]> = lines.iter().copied().collect();
        if found.len() < lines.len() {
            self.problem(format!("{file}: {} lines are repeated", lines.len() - found.len()));
        }
        let expected = std::mem::take(&mut self.expected);
        let expected: BTreeSet<&[u8]> = expected.iter().map(Vec::as_slice).collect();
        for line in expected.difference(&found) {
            self.problem(format!("{file}: this line is missing: {}", shown(line)));
        }
        for line in found.difference(&expected) {
            self.problem(format!("{file}: this line fits no record: {}", shown(line)));
        }
    }

    fn problem(&mut self, text: String) {
        match self.report.problems.len() < MAX_PROBLEMS {
            true => self.report.problems.push(text),
            false => self.unlisted += 1,
        }
    }

    fn finish(mut self) -> CheckReport {
        if self.unlisted > 0 {
            self.report.problems.push(format!("and {} more problems", self.unlisted));
        }
        self.report
    }
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end().chars().take(300).collect()
}
