//! How did the figures of a crawl move over time?
//!
//! A running crawl notes a point every ten seconds, every minute and every hour, each in a file of its own in the
//! folder `trend` of the data directory. Each file keeps a bounded number of points, so ten-second points cover the
//! last hour, minutes the last day, and hours two years. A point is a line of JSON with totals; what happened between
//! two points is their difference. A line that a crash tore is skipped. Nothing depends on these files: without them
//! there are no curves.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use evercrawl_model::{Change, Time};
use serde::{Deserialize, Serialize};

use crate::code::At;
use crate::status::Status;

/// The folder in a data directory.
const FOLDER: &str = "trend";
/// Points of one answer.
const MOST_SHOWN: usize = 400;

/// The figures of a crawl at one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrendPoint {
    /// When.
    pub at: At,
    /// Hosts known.
    pub hosts: u64,
    /// Pages known.
    pub pages: u64,
    /// Pages by state.
    pub pages_by_state: BTreeMap<String, u64>,
    /// Visits so far.
    pub visits: u64,
    /// Changes of known pages found so far.
    pub changes: u64,
    /// Pages visited for the first time so far.
    pub first_visits: u64,
    /// Visits by how they ended, so far.
    pub visits_by_outcome: BTreeMap<String, u64>,
    /// URLs refused so far.
    pub refused: u64,
    /// Payload bytes received so far.
    pub bytes_received: u64,
    /// Bytes in the archive.
    pub bytes_archived: u64,
    /// The estimated share of held pages that is current; `None` until it is known.
    pub freshness: Option<f64>,
    /// By how much that may be off.
    pub freshness_error: Option<f64>,
    /// The mean time since the copies became outdated.
    pub age_seconds: Option<f64>,
    /// The share of the budget that was used in the last minute, where there is one.
    pub budget_used: Option<f64>,
}

impl TrendPoint {
    /// The figures of a status.
    pub fn of(status: &Status) -> Self {
        let (total, fresh) = (&status.total, status.survey.freshness.as_ref());
        TrendPoint {
            at: status.at,
            hosts: total.hosts,
            pages: total.pages,
            pages_by_state: total.pages_by_state.clone(),
            visits: total.visits,
            changes: total.changed(Change::Changed),
            first_visits: total.changed(Change::New),
            visits_by_outcome: total.visits_by_outcome.clone(),
            refused: total.refused_by_reason.values().sum(),
            bytes_received: total.bytes_received,
            bytes_archived: status.survey.bytes_archived,
            freshness: fresh.and_then(|fresh| fresh.freshness),
            freshness_error: fresh.and_then(|fresh| fresh.freshness_error),
            age_seconds: fresh.map(|fresh| fresh.age_seconds),
            budget_used: status.run.as_ref().and_then(|run| run.budget_used),
        }
    }
}

/// From when on points are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrendRequest {
    /// So many seconds back from now.
    pub seconds: f64,
}

/// How the figures moved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrendView {
    /// The points, the earliest first; at most some hundreds.
    pub points: Vec<TrendPoint>,
}

/// A file of points at one distance.
struct Tier {
    file: &'static str,
    every: Duration,
    keep: usize,
}

const TIERS: [Tier; 3] = [
    Tier { file: "seconds.jsonl", every: Duration::from_secs(10), keep: 360 },
    Tier { file: "minutes.jsonl", every: Duration::from_secs(60), keep: 1_440 },
    Tier { file: "hours.jsonl", every: Duration::from_secs(3_600), keep: 17_520 },
];

impl Tier {
    /// How far back it reaches.
    fn span(&self) -> Duration {
        self.every * u32::try_from(self.keep).unwrap_or(u32::MAX)
    }
}

/// Notes points while a crawl runs.
pub struct TrendKeeper {
    folder: PathBuf,
    /// For each file: when its last point was, and how many it holds.
    written: [(Option<Time>, usize); TIERS.len()],
}

impl TrendKeeper {
    /// Goes on with the files in a data directory.
    pub fn open(dir: &Path) -> io::Result<Self> {
        let folder = dir.join(FOLDER);
        fs::create_dir_all(&folder)?;
        let mut keeper = TrendKeeper { folder, written: [(None, 0); TIERS.len()] };
        for (tier, written) in TIERS.iter().zip(&mut keeper.written) {
            let points = read_points(&keeper.folder.join(tier.file))?;
            *written = (points.last().map(|point| point.at.0), points.len());
            rewrite(&keeper.folder.join(tier.file), &points, tier.keep)?;
        }
        Ok(keeper)
    }

    /// Notes how a crawl is doing, in each file whose time has come.
    pub fn note(&mut self, status: &Status) -> io::Result<()> {
        let now = status.at.0;
        let mut line = None;
        for (tier, (last, count)) in TIERS.iter().zip(&mut self.written) {
            if last.is_some_and(|last| last <= now && now.since(last) < tier.every) {
                continue;
            }
            let path = self.folder.join(tier.file);
            let line = line.get_or_insert_with(|| line_of(&TrendPoint::of(status)));
            OpenOptions::new().create(true).append(true).open(&path)?.write_all(line.as_bytes())?;
            (*last, *count) = (Some(now), *count + 1);
            if *count >= 2 * tier.keep {
                rewrite(&path, &read_points(&path)?, tier.keep)?;
                *count = tier.keep;
            }
        }
        Ok(())
    }
}

/// How the figures of the crawl in `dir` moved until `now`.
pub fn trend(dir: &Path, asked: &TrendRequest, now: Time) -> io::Result<TrendView> {
    let back = Duration::try_from_secs_f64(asked.seconds.max(1.0)).unwrap_or(Duration::MAX);
    let since = now.before(back);
    let tier = TIERS.iter().find(|tier| tier.span() >= back).unwrap_or(&TIERS[TIERS.len() - 1]);
    let mut points = read_points(&dir.join(FOLDER).join(tier.file))?;
    points.retain(|point| point.at.0 >= since && point.at.0 <= now);
    Ok(TrendView { points: thinned(points, MOST_SHOWN) })
}

/// Some of the points, evenly, the last one among them.
fn thinned(points: Vec<TrendPoint>, most: usize) -> Vec<TrendPoint> {
    let step = points.len().div_ceil(most).max(1);
    let last = points.len().saturating_sub(1);
    let kept = points.into_iter().enumerate().filter(|(at, _)| (last - at).is_multiple_of(step));
    kept.map(|(_, point)| point).collect()
}

fn line_of(point: &TrendPoint) -> String {
    serde_json::to_string(point).unwrap_or_default() + "\n"
}

/// The points of a file; none where there is no file.
fn read_points(path: &Path) -> io::Result<Vec<TrendPoint>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let lines = BufReader::new(file).split(b'\n').collect::<io::Result<Vec<_>>>()?;
    Ok(lines.iter().filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// Writes the last points in place of a file, as a whole.
fn rewrite(path: &Path, points: &[TrendPoint], keep: usize) -> io::Result<()> {
    if points.is_empty() && !path.exists() {
        return Ok(());
    }
    let kept = &points[points.len().saturating_sub(keep)..];
    let text: String = kept.iter().map(line_of).collect();
    let aside = path.with_extension("new");
    fs::write(&aside, text)?;
    fs::rename(aside, path)
}
