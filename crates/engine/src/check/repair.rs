//! What can be saved of a damaged data directory?
//!
//! Everything that can be read and agrees with itself. Nothing is deleted: what is replaced is
//! moved to a directory of its own inside the data directory. The order is such that a repair that
//! ends half way can be begun again:
//!
//! 1. Damaged WARC files are written anew beside the old ones, without what cannot be read.
//! 2. The state is made anew beside the old one: its facts as far as they can be read, and a visit
//!    for every record that none speaks of.
//! 3. The two states change places, in one step; then the damaged files are moved aside.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evercrawl_archive::{self as archive, SegmentId, SegmentStore, UnknownFile, UnknownKind};
use evercrawl_compare::Digest;
use evercrawl_extract::decode::{DecodeLimits, decode};
use evercrawl_model::{Cause, Change, Outcome, PageKey, RecordAt, Score, Time, Visit, VisitNoise};
use evercrawl_state::{
    ArchiveFile, DiskStore, FoundRecord, Rebuild, Settings, StoreLimits, View, mend_store,
};
use evercrawl_urls::Canonical;
use tracing::{debug_span, info};

use super::{CheckMessage, RECORD_CAP, check, records};
use crate::data_dir::{SHARDS, STATE, STORE, io, sync_dir, unknown_files};
use crate::process::is_part;
use crate::{DataDir, EngineError};

const NEW_STORE: &str = "store.new";

/// Mends the data directory `dir`; `seed` is the secret of a state of which nothing is left, and
/// `emit` hears of everything that was done or lost. Gives where the damaged parts are.
pub fn repair(
    dir: &DataDir,
    limits: StoreLimits,
    seed: u64,
    now: Time,
    emit: &mut dyn FnMut(String),
) -> Result<PathBuf, EngineError> {
    let _span = debug_span!("repair").entered();
    // Two repairs in one moment must not mix what they replace.
    let mut aside = dir.path().join(format!("damaged-{}", now.digits17()));
    while aside.exists() {
        aside.as_mut_os_string().push("-again");
    }
    fs::create_dir_all(&aside).map_err(io("create", &aside))?;
    let segments = DataDir::segments_in(dir.path());
    let mut repair = Repair { dir, segments, limits, now, emit, aside: aside.clone() };
    let old = repair.old_state()?;
    let files = repair.archive(old.as_ref())?;
    repair.state(old.as_ref(), &files, seed)?;
    drop(old);
    repair.change_places()?;
    // What the old state speaks of is moved aside only once no power cut can bring that state back.
    sync_dir(&dir.path().join(STATE))?;
    repair.settle(&files)?;
    info!(files = files.known.len(), "data directory repaired");
    Ok(aside)
}

struct Repair<'a> {
    dir: &'a DataDir,
    segments: Arc<dyn SegmentStore>,
    limits: StoreLimits,
    now: Time,
    emit: &'a mut dyn FnMut(String),
    aside: PathBuf,
}

/// What became of the archive.
#[derive(Default)]
struct Files {
    /// The files that there are from now on.
    known: Vec<ArchiveFile>,
    /// Where the records of a file lie that was written anew.
    moved: HashMap<u32, BTreeMap<u64, RecordAt>>,
    /// New files that have to be given their final names.
    written: Vec<archive::FilePosition>,
    /// Names of files whose place others took.
    replaced: Vec<String>,
    /// Visits whose records cannot be relied on.
    unfit: HashSet<u64>,
}

impl Files {
    /// Where the record of a visit lies now.
    fn place(&self, number: u64, visit: &Visit) -> Option<RecordAt> {
        let at = visit.record.filter(|_| !self.unfit.contains(&number))?;
        match self.moved.get(&at.file) {
            Some(moved) => moved.get(&at.offset).copied(),
            None => self.known.iter().any(|file| file.serial == at.file).then_some(at),
        }
    }
}

impl Repair<'_> {
    fn say(&mut self, what: impl Into<String>) {
        (self.emit)(what.into());
    }

    /// The state as it is, as far as it can be opened.
    fn old_state(&mut self) -> Result<Option<View<DiskStore>>, EngineError> {
        let store = DataDir::store_in(self.dir.path());
        let opens = mend_store(&store, &self.aside, self.emit).map_err(io("mend", &store))?;
        let opened = if opens {
            self.dir.view_as_found(self.limits).map_err(|error| error.to_string())
        } else {
            Err("the list of its spaces is unreadable".to_owned())
        };
        // Keys of pages are made by a secret: without it no row can be found again.
        let opened = opened.and_then(|view| match view.has_no_settings() {
            Ok(false) => Ok(view),
            Ok(true) => Err("its secret is lost".to_owned()),
            Err(error) => Err(error.to_string()),
        });
        Ok(match opened {
            Ok(view) => Some(view),
            Err(why) => {
                self.say(format!("lost: the state cannot be opened ({why}); pages and visits were recovered from the archive, all else is lost"));
                None
            }
        })
    }

    /// Looks at every file of the archive, and writes anew what is damaged.
    fn archive(&mut self, old: Option<&View<DiskStore>>) -> Result<Files, EngineError> {
        let mut files = Files::default();
        if let Some(old) = old {
            let unfit = &mut files.unfit;
            check(old, &*self.segments, &mut |told| match told {
                CheckMessage::Fault(fault) => unfit.extend(fault.visit),
                CheckMessage::At(_) | CheckMessage::Note(_) => {}
            })?;
        }
        let leaving = old.and_then(|old| old.archive_files().ok()).unwrap_or_default();
        let leaving: HashSet<u32> =
            leaving.into_iter().filter(|file| file.leaving).map(|file| file.serial).collect();
        self.foreign_files()?;
        let found = archive::warc_files(&*self.segments).map_err(read)?;
        let mine = old.and_then(|old| old.archive_files().ok()).unwrap_or_default();
        let mine: HashMap<u32, String> =
            mine.into_iter().map(|file| (file.serial, file.name)).collect();
        let mut taken = HashSet::new();
        let mut serial = found.iter().map(|(serial, _)| serial + 1).max().unwrap_or(1);
        let is_mine =
            |number: u32, name: &String| mine.get(&number).is_none_or(|mine| mine == name);
        let (known, others): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(number, name)| is_mine(*number, name));
        for (number, name) in known.into_iter().chain(others) {
            if leaving.contains(&number) {
                files.replaced.push(name);
            } else if !taken.insert(number) {
                // Records are referred to by the number of their file, and another file has it.
                self.renumber(&name, serial, &mut files)?;
                serial += 1;
            } else if self.file(number, name, serial, &mut files)? {
                serial += 1;
            }
        }
        Ok(files)
    }

    /// Looks at one file; true when it was written anew as number `serial`.
    fn file(
        &mut self,
        number: u32,
        name: String,
        serial: u32,
        files: &mut Files,
    ) -> Result<bool, EngineError> {
        if archive::seal_as_found(&*self.segments, &name)? {
            self.say(format!("closed {name}, which was still growing"));
        }
        let [warc, index] = archive::sealed_files(&name);
        let report = archive::check_file(&*self.segments, &warc, RECORD_CAP, |_| {});
        let report = report.map_err(read)?;
        if report.damaged > 0 || report.records <= 1 {
            self.write_anew(number, &name, serial, files)?;
            return Ok(true);
        }
        if !report.index_fits {
            self.set_aside(&index)?;
            archive::rebuild_index(&self.segments, &name, RECORD_CAP).map_err(rewrite)?;
            self.say(format!("rebuilt the index of {name} from its records"));
        }
        let list = self.segments.list().map_err(|error| read(error.into()))?;
        let length = |segment: &SegmentId| {
            list.iter().find(|(found, _)| found == segment).map_or(0, |(_, length)| *length)
        };
        files.known.push(ArchiveFile {
            serial: number,
            warc_len: length(&warc),
            cdxj_len: length(&index),
            name,
            open: false,
            finished: true,
            leaving: false,
        });
        Ok(false)
    }

    /// Takes out of the archive what is not of it, and indexes whose WARC file is missing, also where the old state
    /// knew that file: the new one will not.
    fn foreign_files(&mut self) -> Result<(), EngineError> {
        let foreign = [UnknownKind::Foreign, UnknownKind::Index];
        let none = None::<&View<DiskStore>>;
        for UnknownFile { segment, kind, .. } in unknown_files::find(none, self.dir.path())? {
            if foreign.contains(&kind) {
                self.set_aside(&segment)?;
                self.say(format!(
                    "moved {segment} out of the archive, to which it does not belong"
                ));
            }
        }
        Ok(())
    }

    /// Takes in a file whose number another file has.
    fn renumber(&mut self, name: &str, serial: u32, files: &mut Files) -> Result<(), EngineError> {
        archive::seal_as_found(&*self.segments, name)?;
        let kept = archive::mend(&self.segments, name, serial, RECORD_CAP, self.now);
        let kept = kept.map_err(rewrite)?;
        self.say(format!("copied {name} to file {serial}, since another file has its number"));
        Self::replace(name, kept.file, files);
        Ok(())
    }

    fn write_anew(
        &mut self,
        number: u32,
        name: &str,
        serial: u32,
        files: &mut Files,
    ) -> Result<(), EngineError> {
        let kept = archive::mend(&self.segments, name, serial, RECORD_CAP, self.now);
        let kept = kept.map_err(rewrite)?;
        let (dropped, moved) = (kept.dropped, kept.moved.len());
        self.say(format!(
            "lost: {dropped} damaged places and records of {name}; the other {moved} responses were moved to file {serial}"
        ));
        files.moved.insert(number, kept.moved.into_iter().collect());
        Self::replace(name, kept.file, files);
        Ok(())
    }

    /// Another file takes the place of the file `name`.
    fn replace(name: &str, written: Option<archive::FilePosition>, files: &mut Files) {
        files.replaced.push(name.to_owned());
        if let Some(position) = written {
            files.known.push(ArchiveFile {
                serial: position.serial,
                name: position.name.clone(),
                warc_len: position.warc_len,
                cdxj_len: position.cdxj_len,
                open: false,
                // The next start gives it its final name, should this run not come to it.
                finished: false,
                leaving: false,
            });
            files.written.push(position);
        }
    }

    /// Makes the state anew, beside the old one.
    fn state(
        &mut self,
        old: Option<&View<DiskStore>>,
        files: &Files,
        seed: u64,
    ) -> Result<(), EngineError> {
        let half_way = self.dir.path().join(STATE).join(NEW_STORE);
        if half_way.exists() {
            self.move_aside(&half_way)?;
        }
        let store = self.dir.store_named(NEW_STORE, self.limits)?;
        let fresh = Settings { seed, shards: SHARDS };
        let settings = old.map_or(fresh, |old| {
            let keyer = old.keyer();
            Settings { seed: keyer.seed(), shards: keyer.shards() }
        });
        let mut lost = Vec::new();
        let mut hear = |fault: evercrawl_state::Fault| {
            lost.push(format!("lost: {} {}: {}", fault.space.name(), fault.subject, fault.what));
        };
        let mut rebuild = Rebuild::begin(store, settings, &mut hear)?;
        let mut emptied = Vec::new();
        if let Some(old) = old {
            rebuild.copy(old, |number, visit| {
                let place = files.place(number, visit);
                if visit.record.is_some() && place.is_none() {
                    emptied.push((number, visit.page));
                }
                place
            })?;
        }
        let adopted = adopt_all(&mut rebuild, &*self.segments, files)?;
        let url = |page: PageKey| {
            let row = rebuild.view().page(page).ok().flatten();
            row.map_or_else(|| "a page that is lost".to_owned(), |row| row.url)
        };
        let emptied: Vec<String> = emptied
            .into_iter()
            .map(|(number, page)| format!("lost: the record of visit {number} of {}", url(page)))
            .collect();
        let counters = rebuild.finish(&files.known)?;
        emptied.into_iter().chain(lost).chain(adopted).for_each(|what| self.say(what));
        let (pages, visits) = (counters.pages, counters.visits);
        self.say(format!("rebuilt the state: {pages} pages, {visits} visits; queues and totals were derived from them"));
        Ok(())
    }

    /// The new state takes the place of the old one, in one step where the system can.
    fn change_places(&mut self) -> Result<(), EngineError> {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        let state = self.dir.path().join(STATE);
        let (old, new) = (state.join(STORE), state.join(NEW_STORE));
        if !old.exists() {
            return fs::rename(&new, &old).map_err(io("rename", &new));
        }
        if renameat_with(CWD, &new, CWD, &old, RenameFlags::EXCHANGE).is_err() {
            self.move_aside(&old)?;
            return fs::rename(&new, &old).map_err(io("rename", &new));
        }
        let to = self.aside.join(STORE);
        fs::rename(&new, &to).map_err(io("rename", &new))
    }

    /// Moves what was replaced, or is made anew by itself, out of the way.
    fn settle(&mut self, files: &Files) -> Result<(), EngineError> {
        for position in &files.written {
            position.seal(&self.segments)?;
        }
        for name in &files.replaced {
            let replaced = archive::sealed_files(name);
            replaced.iter().try_for_each(|segment| self.set_aside(segment))?;
        }
        self.move_aside(&DataDir::seen_in(self.dir.path()))?;
        if DataDir::learned(self.dir.path()).is_none() {
            self.move_aside(&DataDir::learned_in(self.dir.path()))?;
        }
        Ok(())
    }

    fn set_aside(&self, segment: &SegmentId) -> Result<(), EngineError> {
        let aside = self.aside.file_name().unwrap_or_default().to_string_lossy();
        Ok(self.segments.set_aside(segment, &aside)?)
    }

    fn move_aside(&mut self, path: &Path) -> Result<(), EngineError> {
        if !path.exists() {
            return Ok(());
        }
        let name = path.file_name().unwrap_or_default();
        fs::rename(path, self.aside.join(name)).map_err(io("move aside", path))
    }
}

/// Gives every record that no visit speaks of a visit; says for which.
fn adopt_all(
    rebuild: &mut Rebuild<'_, DiskStore>,
    segments: &dyn SegmentStore,
    files: &Files,
) -> Result<Vec<String>, EngineError> {
    let (mut said, mut after) = (Vec::new(), None);
    let mut serials: Vec<u32> = files.known.iter().map(|file| file.serial).collect();
    for group in records::count(rebuild.view())?.groups() {
        let mut expected = records::expected(rebuild.view(), &group, &mut |_| {})?;
        for file in group {
            serials.retain(|serial| *serial != file.serial);
            let of_file = expected.remove(&file.serial).unwrap_or_default();
            adopt(rebuild, segments, file.serial, &of_file, &mut after, &mut said)?;
        }
    }
    for serial in serials {
        adopt(rebuild, segments, serial, &BTreeMap::new(), &mut after, &mut said)?;
    }
    Ok(said)
}

fn adopt(
    rebuild: &mut Rebuild<'_, DiskStore>,
    segments: &dyn SegmentStore,
    serial: u32,
    expected: &records::ByOffset,
    after: &mut Option<u64>,
    said: &mut Vec<String>,
) -> Result<(), EngineError> {
    let found = archive::find_warc(segments, serial).map_err(|error| read(error.into()))?;
    let Some(warc) = found else { return Ok(()) };
    for scanned in archive::Scan::open(segments, &warc, RECORD_CAP).map_err(read)?.flatten() {
        if !matches!(scanned.record.header("WARC-Type"), Some("response" | "revisit")) {
            continue;
        }
        if let Some(visit) = expected.get(&scanned.offset) {
            *after = Some(visit.number);
            continue;
        }
        let place = format!("file {serial} at {}", scanned.offset);
        match visit_of(rebuild.view(), &scanned, serial, *after) {
            Some(found) => {
                let number = rebuild.adopt(&found)?;
                *after = Some(number);
                said.push(format!(
                    "recovered visit {number} of {} from the record in {place}",
                    found.url
                ));
            }
            None => said.push(format!(
                "left the record in {place} as it is: no visit can be recovered from it"
            )),
        }
    }
    Ok(())
}

/// The visit that a record tells of.
fn visit_of(
    state: &View<DiskStore>,
    scanned: &archive::Scanned,
    serial: u32,
    after: Option<u64>,
) -> Option<FoundRecord> {
    let record = &scanned.record;
    let url = Canonical::from_trusted(record.header("WARC-Target-URI")?.to_owned())?;
    let host = state.keyer().host(url.domain(), url.authority());
    let status = record.status()?;
    let (outcome, cause) = outcome_of_record(record, status);
    let digest = record.header("WARC-Payload-Digest").and_then(|text| text.parse::<Digest>().ok());
    let holds = record.header("WARC-Type") == Some("response");
    let change = match outcome {
        Outcome::Ok if holds => Change::New,
        Outcome::Ok | Outcome::NotModified | Outcome::Redirect => Change::Same,
        _ => Change::Failed,
    };
    let length = u32::try_from(scanned.length).ok()?;
    let visit = Visit {
        page: PageKey::default(),
        at: Time::parse_iso(record.header("WARC-Date")?).ok()?,
        outcome,
        status,
        change,
        score: Score::NONE,
        digest: digest.map(Digest::to_bytes),
        bytes: record.payload().len() as u64,
        ms: 0,
        record: Some(RecordAt { file: serial, offset: scanned.offset, length }),
        near: None,
        cause,
        noise: VisitNoise::default(),
    };
    Some(FoundRecord { host, url: url.as_str().to_owned(), visit, after, holds })
}

/// How the visit of a record ended, by its status and by what the record says of its payload. What our own cap cut
/// counts as whole, as it did then.
fn outcome_of_record(record: &archive::Record, status: u16) -> (Outcome, Option<Cause>) {
    let cause = match record.header("WARC-Truncated") {
        Some("disconnect") => Some(Cause::CutShort),
        Some("time") => Some(Cause::CutTime),
        Some("unspecified") => Some(Cause::CutChunk),
        _ if status == 206 && is_part(record.http_headers("content-range").next().as_deref()) => {
            Some(Cause::CutPartial)
        }
        // Its server sent all of it: the record does not say that it breaks off within its coding.
        None if breaks_off(record) => Some(Cause::CutCoding),
        _ => None,
    };
    match (Outcome::from_status(status), cause) {
        (Outcome::Ok, Some(cause)) => (Outcome::Cut, Some(cause)),
        (outcome, cause) => (outcome, cause),
    }
}

fn breaks_off(record: &archive::Record) -> bool {
    let codings = record.content_codings();
    !codings.is_empty() && decode(&codings, record.payload(), DecodeLimits::default()).is_broken()
}

fn read(error: archive::ReadError) -> EngineError {
    EngineError::Damaged(error.to_string())
}

fn rewrite(error: archive::RewriteError) -> EngineError {
    match error {
        archive::RewriteError::Write(error) => error.into(),
        other => EngineError::Damaged(other.to_string()),
    }
}
