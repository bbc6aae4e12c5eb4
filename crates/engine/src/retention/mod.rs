//! What need not be kept any longer? Rules for the archive and the visit log, applied in pieces.
//!
//! Each piece is one atomic commit: a WARC file that was written anew without some of its records,
//! or visits that leave the log. What is costly is done beside the walk, over what was committed;
//! the walk takes a piece only when nothing refers to what it drops ([`Walk::retain`]). So the
//! latest content of every page stays, and so does every record that another refers to.
//!
//! [`Walk::retain`]: crate::walk::Walk::retain

mod plan;
mod rules;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use evercrawl_archive::{self as archive, RewriteError, SegmentStore};
use evercrawl_model::{Dropped, PageKey, Rewritten, Time, Visit, VisitsDropped};
use evercrawl_state::{ArchiveFile, LogEntry, Reading, Store, View};

use crate::EngineError;
use crate::data_dir::file_position;
use plan::{FilePlan, Plan};
pub use rules::{Keep, Rule};

/// Bytes that one record may unpack to.
const RECORD_CAP: usize = 1 << 30;
/// Visits that leave the log in one commit.
const VISITS_AT_ONCE: u64 = 10_000;
/// What the record of dropped things calls the log.
const LOG: &str = "visit log";

/// What stays, and how often a running crawl drops the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetentionConfig {
    /// What stays of the archive.
    pub archive: Keep,
    /// What stays of the visit log, besides the visits whose records stay.
    pub visits: Keep,
    /// How often a running crawl applies this.
    pub every: Duration,
}

impl RetentionConfig {
    /// True when nothing is ever dropped.
    pub fn is_all(&self) -> bool {
        self.archive.is_all() && self.visits.is_all()
    }
}

/// Part of what is to be dropped, ready to be committed.
#[derive(Debug)]
pub enum Piece {
    /// A file was written anew.
    File(Box<Rewrite>),
    /// Visits leave the log.
    Visits(Box<VisitsDropped>),
}

/// A file that was written anew, and which the state does not know yet.
#[derive(Debug)]
pub struct Rewrite {
    /// What it means for the state.
    pub event: Rewritten,
    /// The file whose place it takes.
    pub from: archive::FilePosition,
    /// The new file; `None` when nothing is left.
    pub to: Option<archive::FilePosition>,
    /// Visits before this number do not refer to what is dropped.
    pub seen: u64,
}

/// What a look at the rules found, before anything is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Foreseen {
    /// Files that would be written anew or removed.
    pub files: u64,
    /// Visits whose records would go.
    pub records: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Visits that would leave the log.
    pub visits: u64,
}

/// Rules on their way through a data directory.
pub struct Retention<S> {
    reading: Reading<S>,
    segments: Arc<dyn SegmentStore>,
    serials: archive::Serials,
    config: RetentionConfig,
    now: Time,
    /// A file is written anew when at least this share of its records goes.
    worth: f64,
    stop: Arc<AtomicBool>,
    plan: Option<Plan>,
    /// The file that was last written anew.
    last: Option<FilePlan>,
    /// Contents that visits since the plan have, and the number of the next such visit.
    lately: HashSet<[u8; 20]>,
    seen: u64,
    page: Option<PageKey>,
    /// The number before which the log has no notice that leaves it.
    noticed: u64,
    /// Files that could not be read and are as they were.
    pub problems: Vec<String>,
}

impl<S: Store> Retention<S> {
    /// Begins to apply rules to what was committed. `stop` ends it at the next record.
    pub fn new(
        reading: Reading<S>,
        archive: (Arc<dyn SegmentStore>, archive::Serials),
        config: RetentionConfig,
        worth: f64,
        now: Time,
        stop: Arc<AtomicBool>,
    ) -> Self {
        let (segments, serials) = archive;
        Retention {
            reading,
            segments,
            serials,
            config,
            now,
            worth,
            stop,
            plan: None,
            last: None,
            lately: HashSet::new(),
            seen: 0,
            page: None,
            noticed: 0,
            problems: Vec::new(),
        }
    }

    /// The next piece; `None` when all is done. Each is to be committed before the next is asked
    /// for.
    pub fn next_piece(&mut self) -> Result<Option<Piece>, EngineError> {
        if !self.config.archive.is_all()
            && let Some(rewrite) = self.next_file()?
        {
            return Ok(Some(Piece::File(Box::new(rewrite))));
        }
        if self.config.visits.is_all() || self.stopped() {
            return Ok(None);
        }
        let dropped = match self.next_visits()? {
            None => self.next_notices()?,
            visits => visits,
        };
        Ok(dropped.map(|dropped| Piece::Visits(Box::new(dropped))))
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn next_file(&mut self) -> Result<Option<Rewrite>, EngineError> {
        let view = self.reading.view()?;
        if self.plan.is_none() {
            let plan = Plan::make(&view, &self.config.archive, self.now)?;
            self.seen = plan.visits;
            self.plan = Some(plan);
        }
        let files = view.archive()?;
        let finished = |serial: u32| files.iter().find(|f| f.serial == serial && f.finished);
        // Whoever was asked to take the last file over may have refused.
        if let Some(last) = self.last.take().filter(|last| finished(last.serial).is_some()) {
            self.spare(&view, last)?;
        }
        // What refers goes before what it refers to, so that it is never without it.
        while let Some(file) = self.plan.as_mut().and_then(|plan| plan.files.pop()) {
            if self.stopped() {
                return Ok(None);
            }
            let worth_it = file.dropped as f64 >= self.worth * file.records as f64;
            self.look_at_latest()?;
            if let Some(from) = finished(file.serial).filter(|_| worth_it)
                && let Some(rewrite) = self.rewrite(&view, from.clone(), file)?
            {
                self.last = Some(file);
                return Ok(Some(rewrite));
            }
            self.spare(&view, file)?;
        }
        Ok(None)
    }

    fn spare(&mut self, view: &View<S>, file: FilePlan) -> Result<(), EngineError> {
        self.plan.as_mut().map_or(Ok(()), |plan| plan.spare(view, file))
    }

    /// What was visited since the plan was made may refer to what it drops.
    fn look_at_latest(&mut self) -> Result<(), EngineError> {
        for entry in self.reading.view()?.visits(self.seen) {
            let (number, visit) = entry?;
            self.seen = number + 1;
            self.lately.extend(visit.digest);
        }
        Ok(())
    }

    /// Writes a file anew; `None` where that cannot be done, and it is as it was.
    fn rewrite(
        &mut self,
        view: &View<S>,
        from: ArchiveFile,
        file: FilePlan,
    ) -> Result<Option<Rewrite>, EngineError> {
        let Some(plan) = &self.plan else { return Ok(None) };
        let stays = |number: u64, visit: &Visit| {
            plan.keeps(number) || visit.digest.is_some_and(|digest| self.lately.contains(&digest))
        };
        let (stay, go) = divide(view, stays, file)?;
        if go.is_empty() {
            return Ok(None);
        }
        let offsets: BTreeSet<u64> = stay.keys().copied().collect();
        let (name, serial) = (&from.name, self.serials.draw());
        let (segments, stop) = (&self.segments, &self.stop);
        let kept = match archive::rewrite(segments, name, serial, &offsets, RECORD_CAP, stop) {
            Ok(kept) => kept,
            Err(RewriteError::Stopped) => return Ok(None),
            Err(RewriteError::Write(error)) => return Err(error.into()),
            Err(error) => {
                self.problems.push(format!("{name} is left as it is: {error}"));
                return Ok(None);
            }
        };
        let moved = kept.moved.iter().filter_map(|(old, new)| Some((*stay.get(old)?, *new)));
        let dropped = Dropped {
            at: self.now,
            rule: self.config.archive.text.clone(),
            from: from.name.clone(),
            count: kept.dropped,
            bytes: kept.bytes,
        };
        let event = Rewritten {
            dropped,
            moved: moved.collect(),
            emptied: go.iter().map(|gone| gone.number).collect(),
            contents: go.iter().filter_map(|gone| gone.content).collect(),
        };
        Ok(Some(Rewrite { event, from: file_position(from), to: kept.file, seen: self.seen }))
    }

    /// Visits of some pages that leave the log; `None` when no page is left.
    fn next_visits(&mut self) -> Result<Option<VisitsDropped>, EngineError> {
        let view = self.reading.view()?;
        let (mut visits, mut count) = (Vec::new(), 0);
        for page in view.pages_after(self.page) {
            let (key, row) = page?;
            self.page = Some(key);
            let history: Result<Vec<_>, _> = view.history(&row).collect();
            let gone = leaving(&history?, &self.config.visits, self.now);
            count += gone.len() as u64;
            if !gone.is_empty() {
                visits.push((key, gone));
            }
            if count >= VISITS_AT_ONCE {
                break;
            }
        }
        let dropped = self.dropped_from_log(count);
        Ok((count > 0).then_some(VisitsDropped { dropped, visits, notices: Vec::new() }))
    }

    /// Some of what else leaves the log; `None` when nothing does.
    fn next_notices(&mut self) -> Result<Option<VisitsDropped>, EngineError> {
        let (view, from) = (self.reading.view()?, self.config.visits.notices_from(self.now));
        let mut notices = Vec::new();
        for entry in view.log(self.noticed) {
            let (number, entry) = entry?;
            self.noticed = number + 1;
            if let LogEntry::Notice(notice) = entry
                && notice.at() < from
            {
                notices.push(number);
            }
            if notices.len() as u64 >= VISITS_AT_ONCE {
                break;
            }
        }
        let dropped = self.dropped_from_log(notices.len() as u64);
        let some = !notices.is_empty();
        Ok(some.then_some(VisitsDropped { dropped, visits: Vec::new(), notices }))
    }

    fn dropped_from_log(&self, count: u64) -> Dropped {
        let rule = self.config.visits.text.clone();
        Dropped { at: self.now, rule, from: LOG.to_owned(), count, bytes: 0 }
    }
}

/// What the rules would drop from what was committed.
pub fn foresee<S: Store>(
    state: &View<S>,
    config: &RetentionConfig,
    now: Time,
) -> Result<Foreseen, EngineError> {
    let mut foreseen = Foreseen::default();
    let plan = Plan::make(state, &config.archive, now)?;
    for file in &plan.files {
        foreseen.files += 1;
        foreseen.records += file.dropped;
        foreseen.bytes += file.bytes;
    }
    if config.visits.is_all() {
        return Ok(foreseen);
    }
    for page in state.pages() {
        let history: Result<Vec<_>, _> = state.history(&page?.1).collect();
        let mut history = history?;
        for (number, visit) in &mut history {
            visit.record = visit.record.filter(|_| plan.keeps(*number));
        }
        foreseen.visits += leaving(&history, &config.visits, now).len() as u64;
    }
    Ok(foreseen)
}

/// The visits of a page that leave the log, in ascending order: those that the rules do not keep
/// and that have no record.
fn leaving(history: &[(u64, Visit)], keep: &Keep, now: Time) -> Vec<u64> {
    let visits: Vec<&Visit> = history.iter().map(|(_, visit)| visit).collect();
    let kept = keep.of(&visits, now);
    let gone = history.iter().zip(kept).rev();
    let gone = gone.filter(|((_, visit), kept)| !kept && visit.record.is_none());
    gone.map(|((number, _), _)| *number).collect()
}

/// A visit whose record goes.
struct Gone {
    number: u64,
    /// Content that its record holds for all.
    content: Option<[u8; 20]>,
}

/// The visits with records in a file: those that stay, by where their records begin, and those
/// that go.
fn divide<S: Store>(
    view: &View<S>,
    stays: impl Fn(u64, &Visit) -> bool,
    file: FilePlan,
) -> Result<(BTreeMap<u64, u64>, Vec<Gone>), EngineError> {
    let (mut stay, mut go) = (BTreeMap::new(), Vec::new());
    for entry in file.visits(view) {
        let (number, visit) = entry?;
        let Some(at) = visit.record else { continue };
        if stays(number, &visit) {
            stay.insert(at.offset, number);
            continue;
        }
        let holds = match visit.digest {
            Some(digest) => view.holding(&digest)? == Some(number),
            None => false,
        };
        go.push(Gone { number, content: visit.digest.filter(|_| holds) });
    }
    Ok((stay, go))
}
