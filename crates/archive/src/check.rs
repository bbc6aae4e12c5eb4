//! Is a WARC file what it and its index claim?

use crate::cdx;
use crate::error::{Damaged, ReadError};
use crate::files::index_of;
use crate::read::{Scan, Scanned};
use crate::segments::{SegmentId, SegmentStore, is_of_the_store, read_all};
use crate::verify::verify;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// More problems than this are counted, not listed.
const MAX_PROBLEMS: usize = 100;

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Records that could be read.
    pub records: u64,
    /// Those of them that are indexed: responses and revisits, but for 304s.
    pub indexed: u64,
    /// Places of the WARC file that are damaged.
    pub damaged: u64,
    /// True when the index is the one that belongs to the records.
    pub index_fits: bool,
    /// What is wrong; empty when all is well.
    pub problems: Vec<Problem>,
}

/// Something that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where the record begins that it is about.
    pub offset: Option<u64>,
    /// The record's URI, where it can be read.
    pub uri: Option<String>,
    /// What is wrong.
    pub what: String,
}

/// Walks a WARC file and its sealed index: every record reads, its digests hold, and the index
/// has the right line for each, in order, and no other. A record may unpack to `cap` bytes; each
/// that reads is shown to `see`.
pub fn check_file(
    segments: &dyn SegmentStore,
    warc: &SegmentId,
    cap: usize,
    mut see: impl FnMut(&Scanned),
) -> Result<CheckReport, ReadError> {
    let mut check = Check { report: CheckReport::default(), unlisted: 0, expected: Vec::new() };
    for next in Scan::open(segments, warc, cap)? {
        match next {
            Ok(scanned) => {
                check.record(&scanned, &warc.name);
                see(&scanned);
            }
            Err(Damaged { error: ReadError::Io(error), .. }) if is_of_the_store(&error) => {
                return Err(error.into());
            }
            Err(damaged) => check.damage(&damaged),
        }
    }
    let before = check.problems();
    let index = index_of(&warc.name);
    match read_all(segments, &index) {
        Ok(lines) => check.index(&lines, &index.name),
        Err(error) => check.problem(None, None, format!("cannot read its index: {error}")),
    }
    check.report.index_fits = check.problems() == before;
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
        let uri = record.header("WARC-Target-URI");
        let is_info = record.header("WARC-Type") == Some("warcinfo");
        if (*offset == 0) != is_info {
            let what = "a warcinfo record must come first, and only there";
            self.problem(Some(*offset), uri, what.to_owned());
        }
        if let Err(error) = verify(record) {
            self.report.damaged += 1;
            self.problem(Some(*offset), uri, error.to_string());
        }
        self.report.records += 1;
        if let Some(line) = cdx::line_of(record, *offset, *length, file) {
            self.report.indexed += 1;
            self.expected.push(line);
        }
    }

    fn damage(&mut self, damaged: &Damaged) {
        self.report.damaged += 1;
        let after = self.report.records;
        let what = format!("after {after} good records: {}", damaged.error);
        self.problem(Some(damaged.offset), None, what);
    }

    fn index(&mut self, lines: &[u8], file: &str) {
        let lines: Vec<&[u8]> = lines.split_inclusive(|&b| b == b'\n').collect();
        if !lines.is_sorted() {
            self.problem(None, None, format!("{file}: its lines are not sorted by bytes"));
        }
        let found: BTreeSet<&[u8]> = lines.iter().copied().collect();
        if found.len() < lines.len() {
            self.problem(
                None,
                None,
                format!("{file}: {} lines are repeated", lines.len() - found.len()),
            );
        }
        let expected = std::mem::take(&mut self.expected);
        let found: BTreeSet<Cow<'_, [u8]>> = found.into_iter().map(without_truncated).collect();
        let expected = expected.iter().map(|line| without_truncated(line));
        let expected: BTreeSet<Cow<'_, [u8]>> = expected.collect();
        for line in expected.difference(&found) {
            self.problem(None, None, format!("{file}: this line is missing: {}", shown(line)));
        }
        for line in found.difference(&expected) {
            self.problem(
                None,
                None,
                format!("{file}: this line matches no record: {}", shown(line)),
            );
        }
    }

    fn problem(&mut self, offset: Option<u64>, uri: Option<&str>, what: String) {
        match self.report.problems.len() < MAX_PROBLEMS {
            true => {
                self.report.problems.push(Problem { offset, uri: uri.map(str::to_owned), what });
            }
            false => self.unlisted += 1,
        }
    }

    fn problems(&self) -> u64 {
        self.report.problems.len() as u64 + self.unlisted
    }

    fn finish(mut self) -> CheckReport {
        if self.unlisted > 0 {
            let what = format!("and {} more problems", self.unlisted);
            self.report.problems.push(Problem { offset: None, uri: None, what });
        }
        self.report
    }
}

/// A line without what it says of a payload that is not whole: lines of earlier versions do not say it.
fn without_truncated(line: &[u8]) -> Cow<'_, [u8]> {
    const FIELD: &[u8] = b",\"truncated\":\"";
    let Some(at) = line.windows(FIELD.len()).position(|part| part == FIELD) else {
        return line.into();
    };
    let value = at + FIELD.len();
    let end = line[value..].iter().position(|&byte| byte == b'"');
    let rest = end.and_then(|end| line.get(value + end + 1..)).unwrap_or_default();
    [&line[..at], rest].concat().into()
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end().chars().take(300).collect()
}
