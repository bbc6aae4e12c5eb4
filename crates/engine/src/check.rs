//! Can what lies in a data directory be trusted? Every visit's record is there and reads back, no
//! record is without its visit; looked at deeply, every row and every other file is as it was
//! written.
//!
//! - `records`: which visits have their records in which file?
//! - [`repair`]: what can be saved of what is damaged?

mod records;
pub mod repair;

use std::fmt;
use std::path::Path;

use evercrawl_archive::{self as archive, SegmentId, SegmentStore, UnknownFile};
use evercrawl_state::{CheckDepth, DamagedFile, Store, View, damaged_files, is_seen_file_sound};
use tracing::debug_span;

use self::records::{ByOffset, Expected};
use crate::data_dir::{io, unknown_files};
use crate::{DataDir, EngineError};

/// Bytes that one record may unpack to while it is checked.
pub(crate) const RECORD_CAP: usize = 1 << 30;

/// How much a check looked at, and how much of it is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Visits in the log.
    pub visits: u64,
    /// Records in the archive, of all types.
    pub records: u64,
    /// Archive files.
    pub files: u64,
    /// Faults that were told.
    pub faults: u64,
}

/// Something that is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// The file it was found in, below the data directory.
    pub file: String,
    /// The place in the file.
    pub offset: Option<u64>,
    /// The URL that it is about.
    pub url: Option<String>,
    /// The visit whose record cannot be relied on.
    pub visit: Option<u64>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(offset) = self.offset {
            write!(f, " at {offset}")?;
        }
        if let Some(visit) = self.visit {
            write!(f, ", visit {visit}")?;
        }
        if let Some(url) = self.url.as_ref().filter(|url| !url.is_empty()) {
            write!(f, ", {url}")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// What a check reports while it runs.
#[derive(Clone, Debug)]
pub enum CheckMessage {
    /// It now looks at this.
    At(String),
    /// Something is wrong.
    Fault(Fault),
    /// Something is there that a user should know of, and that does no harm.
    Note(Fault),
}

/// Checks the archive in `segments` against `state`.
pub fn check<S: Store>(
    state: &View<S>,
    segments: &dyn SegmentStore,
    emit: &mut dyn FnMut(CheckMessage),
) -> Result<Report, EngineError> {
    let _span = debug_span!("check").entered();
    let mut check = Check { state, segments, emit, report: Report::default() };
    let counts = records::count(state)?;
    check.report.visits = counts.visits;
    for group in counts.groups() {
        let mut expected = records::expected(state, &group, &mut |fault| check.fault(fault))?;
        for file in group {
            let expected = expected.remove(&file.serial).unwrap_or_default();
            check.file(&file.name, file.serial, expected);
        }
    }
    Ok(check.report)
}

/// Tells of files in the archive that the state `view` does not know, or that no state knows; gives how many
/// are faults.
pub fn check_unknown_files<S: Store>(
    view: Option<&View<S>>,
    path: &Path,
    emit: &mut dyn FnMut(CheckMessage),
) -> Result<u64, EngineError> {
    let mut faults = 0;
    for UnknownFile { segment, kind, .. } in unknown_files::find(view, path)? {
        let file = format!("archive/{segment}");
        let fault = Fault { file, what: unknown_files::words(kind), ..Fault::default() };
        let is_fault = unknown_files::is_fault(kind);
        faults += u64::from(is_fault);
        emit(if is_fault { CheckMessage::Fault(fault) } else { CheckMessage::Note(fault) });
    }
    Ok(faults)
}

/// The same, and reads every row of the state and every other file of the data directory at `path`.
pub fn check_deep<S: Store>(
    state: &View<S>,
    path: &Path,
    emit: &mut dyn FnMut(CheckMessage),
) -> Result<Report, EngineError> {
    let mut report = check(state, &*DataDir::segments_in(path), emit)?;
    let mut faults = 0;
    let mut fault = |fault: Fault| {
        faults += 1;
        emit(CheckMessage::Fault(fault));
    };
    state.inspect(&mut |found| fault(of_state(found)))?;
    other_files(path).into_iter().for_each(&mut fault);
    report.faults += faults;
    Ok(report)
}

/// Reads every file of the store in the data directory at `path`, which nobody may have open; tells which are not as
/// they were written, and gives how many.
pub fn check_store(path: &Path, emit: &mut dyn FnMut(CheckMessage)) -> Result<u64, EngineError> {
    let store = DataDir::store_in(path);
    let found = damaged_files(&store, CheckDepth::Everything).map_err(io("read", &store))?;
    let faults = found.len() as u64;
    for DamagedFile { path: file, offset, what } in found {
        let file = file.strip_prefix(path).unwrap_or(&file).display().to_string();
        emit(CheckMessage::Fault(Fault {
            file,
            offset,
            what: what.to_owned(),
            ..Fault::default()
        }));
    }
    Ok(faults)
}

fn of_state(found: evercrawl_state::Fault) -> Fault {
    let file = format!("state/store ({})", found.space.name());
    Fault { file, url: Some(found.subject), what: found.what, ..Fault::default() }
}

/// What can be done without, and is made anew where it is not as it was written.
fn other_files(path: &Path) -> Vec<Fault> {
    let fault = |file: &str, what: &str| Fault {
        file: file.to_owned(),
        what: what.to_owned(),
        ..Fault::default()
    };
    let mut faults = Vec::new();
    if !is_seen_file_sound(&DataDir::seen_in(path)) {
        faults.push(fault("state/seen.filter", "it is damaged; the next run rebuilds it"));
    }
    if DataDir::learned_in(path).exists() && DataDir::learned(path).is_none() {
        faults.push(fault("learned", "it is damaged; its content will be learned again"));
    }
    faults
}

struct Check<'a, S> {
    state: &'a View<S>,
    segments: &'a dyn SegmentStore,
    emit: &'a mut dyn FnMut(CheckMessage),
    report: Report,
}

impl<S: Store> Check<'_, S> {
    fn file(&mut self, name: &str, serial: u32, expected: ByOffset) {
        self.report.files += 1;
        (self.emit)(CheckMessage::At(name.to_owned()));
        match archive::find_warc(self.segments, serial) {
            Ok(Some(warc)) => self.records(&warc, expected),
            Ok(None) => {
                let what =
                    format!("it is missing; {} visits have their records in it", expected.len());
                self.fault(Fault { file: name.to_owned(), what, ..Fault::default() });
                expected
                    .into_values()
                    .for_each(|visit| self.unfit(name, &visit, "its file is missing"));
            }
            Err(error) => {
                let what = format!("cannot look for it: {error}");
                self.fault(Fault { file: name.to_owned(), what, ..Fault::default() });
            }
        }
    }

    fn records(&mut self, warc: &SegmentId, mut expected: ByOffset) {
        let name = warc.to_string();
        let mut faults = Vec::new();
        let see = |scanned: &archive::Scanned| {
            if !matches!(scanned.record.header("WARC-Type"), Some("response" | "revisit")) {
                return;
            }
            let what = match expected.remove(&scanned.offset) {
                None => Some((None, "it belongs to no visit".to_owned())),
                Some(visit) => self.misfit(scanned, &visit).map(|what| (Some(visit.number), what)),
            };
            if let Some((visit, what)) = what {
                let url = scanned.record.header("WARC-Target-URI").map(str::to_owned);
                let offset = Some(scanned.offset);
                faults.push(Fault { file: name.clone(), offset, url, visit, what });
            }
        };
        match archive::check_file(self.segments, warc, RECORD_CAP, see) {
            Ok(found) => {
                self.report.records += found.records;
                for archive::Problem { offset, uri: url, what } in found.problems {
                    self.fault(Fault { file: name.clone(), offset, url, visit: None, what });
                }
            }
            Err(error) => {
                let what = error.to_string();
                self.fault(Fault { file: name.clone(), what, ..Fault::default() });
            }
        }
        faults.into_iter().for_each(|fault| self.fault(fault));
        expected
            .into_values()
            .for_each(|visit| self.unfit(&name, &visit, "its record is unreadable"));
    }

    /// What is wrong with a record, by what the log says of it.
    fn misfit(&self, scanned: &archive::Scanned, visit: &Expected) -> Option<String> {
        if scanned.length != u64::from(visit.length) {
            return Some(format!("it is {} bytes long, not {}", scanned.length, visit.length));
        }
        let uri = scanned.record.header("WARC-Target-URI").unwrap_or_default();
        // A page that is not known is told of by those who read every row.
        let row = self.state.page(visit.page).ok().flatten();
        if row.is_some_and(|row| row.url != uri) {
            return Some("it belongs to another page than its visit".to_owned());
        }
        let digest = visit.digest.map(|d| evercrawl_compare::Digest::from_bytes(d).to_string());
        let found = scanned.record.header("WARC-Payload-Digest");
        let found = found.and_then(|digest| digest.strip_prefix("sha1:"));
        (digest.as_deref() != found).then(|| "its digest differs from that of its visit".to_owned())
    }

    fn unfit(&mut self, file: &str, visit: &Expected, what: &str) {
        let url = self.state.page(visit.page).ok().flatten().map(|row| row.url);
        let (offset, visit) = (Some(visit.offset), Some(visit.number));
        self.fault(Fault { file: file.to_owned(), offset, url, visit, what: what.to_owned() });
    }

    fn fault(&mut self, fault: Fault) {
        self.report.faults += 1;
        (self.emit)(CheckMessage::Fault(fault));
    }
}
