//! Do state and archive agree? Every visit's record is there and reads back, and no record is
//! without its visit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evercrawl_archive as archive;
use evercrawl_model::Visit;
use evercrawl_state::{Store, View};

use crate::EngineError;

/// Bytes that one record may unpack to while it is checked.
const RECORD_CAP: usize = 1 << 30;

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Visits in the log.
    pub visits: u64,
    /// Records in the archive, of all types.
    pub records: u64,
    /// Archive files.
    pub files: u64,
    /// Everything that is wrong, in words.
    pub problems: Vec<String>,
}

/// What the log says of one record.
struct Expected {
    length: u32,
    visit: u64,
    uri: String,
    digest: Option<[u8; 20]>,
}

/// Checks the archive in `dir` against `state`; `progress` hears of each file.
pub fn check<S: Store>(
    state: &View<S>,
    dir: &Path,
    mut progress: impl FnMut(&str),
) -> Result<Report, EngineError> {
    let mut report = Report::default();
    let mut expected = expected_records(state, &mut report)?;
    for file in state.archive()?.into_iter().filter(|file| file.warc_len > 0) {
        report.files += 1;
        progress(&file.name);
        let expected = expected.remove(&file.serial).unwrap_or_default();
        match archive::find_warc(dir, file.serial) {
            Ok(Some(path)) => check_one(&path, expected, &mut report),
            Ok(None) => report.problems.push(format!(
                "{} is missing; {} visits have their records in it",
                file.name,
                expected.len()
            )),
            Err(error) => report.problems.push(format!("cannot look for {}: {error}", file.name)),
        }
    }
    for (serial, visits) in expected {
        let count = visits.len();
        report.problems.push(format!("{count} visits name WARC file {serial}, which is not known"));
    }
    Ok(report)
}

type ByOffset = BTreeMap<u64, Expected>;

fn expected_records<S: Store>(
    state: &View<S>,
    report: &mut Report,
) -> Result<BTreeMap<u32, ByOffset>, EngineError> {
    let mut files: BTreeMap<u32, ByOffset> = BTreeMap::new();
    for entry in state.visits(0) {
        let (number, visit) = entry?;
        report.visits += 1;
        let Some(at) = visit.record else { continue };
        let uri = state.page(visit.page)?.map(|row| row.url).unwrap_or_default();
        let expected = expect(&visit, number, uri, at.length);
        if files.entry(at.file).or_default().insert(at.offset, expected).is_some() {
            let place = format!("file {} offset {}", at.file, at.offset);
            report.problems.push(format!("two visits have the same record: {place}"));
        }
    }
    Ok(files)
}

fn expect(visit: &Visit, number: u64, uri: String, length: u32) -> Expected {
    Expected { length, visit: number, uri, digest: visit.digest }
}

fn check_one(path: &Path, mut expected: ByOffset, report: &mut Report) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut wrong = |what: String| {
        let named = what.starts_with(&name);
        report.problems.push(if named { what } else { format!("{name}: {what}") });
    };
    match archive::check_file(path, &index_of(path), RECORD_CAP) {
        Ok(found) => {
            report.records += found.records;
            found.problems.into_iter().for_each(&mut wrong);
        }
        Err(error) => wrong(error.to_string()),
    }
    let scan = match archive::Scan::open(path, RECORD_CAP) {
        Ok(scan) => scan,
        Err(error) => return wrong(error.to_string()),
    };
    for scanned in scan {
        let Ok(scanned) = scanned else { break };
        if !matches!(scanned.record.header("WARC-Type"), Some("response" | "revisit")) {
            continue;
        }
        match expected.remove(&scanned.offset) {
            None => wrong(format!("the record at {} belongs to no visit", scanned.offset)),
            Some(expected) => compare(&scanned, &expected).into_iter().for_each(&mut wrong),
        }
    }
    // Behind a damaged record the walk through the file ends; the log knows where to read on.
    for (offset, expected) in expected {
        match archive::read_record(path, offset, expected.length, RECORD_CAP) {
            Ok(record) => {
                let scanned = archive::Scanned { offset, length: expected.length.into(), record };
                compare(&scanned, &expected).into_iter().for_each(&mut wrong);
            }
            Err(error) => wrong(format!("visit {}, record at {offset}: {error}", expected.visit)),
        }
    }
}

/// The index beside a WARC file.
fn index_of(warc: &Path) -> PathBuf {
    let name = warc.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.trim_end_matches(".open").trim_end_matches(".gz").trim_end_matches(".warc");
    warc.with_file_name(format!("{stem}.cdxj"))
}

/// What is wrong with a record, by what the log says of it.
fn compare(scanned: &archive::Scanned, expected: &Expected) -> Vec<String> {
    let mut wrong = Vec::new();
    let (visit, at) = (expected.visit, scanned.offset);
    if scanned.length != u64::from(expected.length) {
        let (found, logged) = (scanned.length, expected.length);
        wrong.push(format!("visit {visit}: record at {at} is {found} bytes long, not {logged}"));
    }
    let uri = scanned.record.header("WARC-Target-URI").unwrap_or_default();
    if uri != expected.uri {
        wrong.push(format!("visit {visit}: record at {at} is of {uri}, not {}", expected.uri));
    }
    let digest = expected.digest.map(|d| evercrawl_compare::Digest::from_bytes(d).to_string());
    let found = scanned.record.header("WARC-Payload-Digest").and_then(|d| d.strip_prefix("sha1:"));
    if digest.as_deref() != found {
        wrong.push(format!("visit {visit}: record at {at} has another digest"));
    }
    wrong
}
