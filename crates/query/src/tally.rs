//! What did the last visits bring, by host, by outcome, by kind of content?
//!
//! Counted over the last visits of the log, a bounded number of them; so it costs the same for a hundred pages and for
//! a hundred million. What it takes a look into the archive for is counted over some of these visits, evenly.

use std::collections::{BTreeMap, HashMap};

use evercrawl_archive::{HeadReader, RecordCache};
use evercrawl_maintext::detect_language;
use evercrawl_model::{Change, HostKey, Visit};
use evercrawl_state::{LogEntry, Store};
use serde::{Deserialize, Serialize};

use crate::code::At;
use crate::diff::text_of;
use crate::source::{QueryError, Source};

/// How many of the last visits are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TallyRequest {
    /// So many; `None`: 20,000.
    #[serde(default)]
    pub visits: Option<u64>,
    /// So many of them are looked up in the archive; `None`: 200.
    #[serde(default)]
    pub looked_up: Option<u64>,
    /// So many of their texts are read for their language; `None`: 40.
    #[serde(default)]
    pub texts: Option<u64>,
}

/// What the last visits brought.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TallyView {
    /// Visits that were counted.
    pub visits: u64,
    /// When the first of them was.
    pub from: Option<At>,
    /// When the last of them was.
    pub to: Option<At>,
    /// By how they ended.
    pub by_outcome: BTreeMap<String, u64>,
    /// By what they found.
    pub by_change: BTreeMap<String, u64>,
    /// By HTTP status.
    pub by_status: BTreeMap<u16, u64>,
    /// By host, those with most visits first, at most 100.
    pub hosts: Vec<HostTally>,
    /// Hosts among these visits.
    pub hosts_seen: u64,
    /// Payload bytes received.
    pub bytes: u64,
    /// How large the payloads of answers with content were.
    pub sizes: Vec<ClassCount>,
    /// How long the requests took.
    pub times: Vec<ClassCount>,
    /// Answers with content of which the archive was asked.
    pub looked_up: u64,
    /// By media type, of those.
    pub by_content_type: BTreeMap<String, u64>,
    /// Texts of which the language was looked for.
    pub texts_read: u64,
    /// By language, of those; empty where it is not clear.
    pub by_language: BTreeMap<String, u64>,
}

/// What the last visits to a host brought.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostTally {
    /// Its name.
    pub host: String,
    /// Visits.
    pub visits: u64,
    /// Visits that found the page to have changed.
    pub changes: u64,
    /// Pages visited for the first time.
    pub first_visits: u64,
    /// Visits that failed.
    pub failed: u64,
    /// Payload bytes received.
    pub bytes: u64,
    /// How long an answer took on average, in milliseconds.
    pub mean_ms: f64,
}

/// How many were no more than this, and more than the class before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassCount {
    /// The upper end; `None`: without end.
    pub to: Option<u64>,
    /// How many.
    pub count: u64,
}

const MOST_READ: u64 = 20_000;
const MOST_LOOKED_UP: u64 = 200;
const MOST_HOSTS: usize = 100;
/// Texts that are read, unless more are asked for.
const MOST_TEXTS: u64 = 40;
/// A shorter text does not tell its language.
const LEAST_TEXT: usize = 100;
/// Memory for records that were read, and the size that one may unpack to.
const CACHE: usize = 8 << 20;
const RECORD_CAP: usize = 8 << 20;
const SIZES: [u64; 8] = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000];
const TIMES: [u64; 8] = [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000];

/// What the last visits brought.
pub fn tally<S: Store>(
    source: &Source<'_, S>,
    asked: &TallyRequest,
) -> Result<TallyView, QueryError> {
    let logged = source.state.counters().logged;
    let most = asked.visits.unwrap_or(MOST_READ).min(10 * MOST_READ);
    let mut counting = Counting::default();
    for entry in source.state.log(logged.saturating_sub(most)) {
        if let (_, LogEntry::Visit(visit, _)) = entry? {
            counting.add(visit);
        }
    }
    counting.look_up(source, asked.looked_up.unwrap_or(MOST_LOOKED_UP));
    counting.read_texts(source, asked.texts.unwrap_or(MOST_TEXTS));
    counting.finish(source)
}

/// The counts of one answer.
struct Counting {
    view: TallyView,
    hosts: HashMap<HostKey, HostTally>,
    with_content: Vec<Visit>,
    sizes: [u64; SIZES.len() + 1],
    times: [u64; TIMES.len() + 1],
}

impl Default for Counting {
    fn default() -> Self {
        Counting {
            view: TallyView::default(),
            hosts: HashMap::new(),
            with_content: Vec::new(),
            sizes: [0; SIZES.len() + 1],
            times: [0; TIMES.len() + 1],
        }
    }
}

impl Counting {
    fn add(&mut self, visit: Visit) {
        let view = &mut self.view;
        view.visits += 1;
        view.from = view.from.or(Some(At(visit.at)));
        view.to = Some(At(visit.at));
        view.bytes += visit.bytes;
        *view.by_outcome.entry(visit.outcome.code().to_owned()).or_default() += 1;
        *view.by_change.entry(visit.change.code().to_owned()).or_default() += 1;
        if visit.status > 0 {
            *view.by_status.entry(visit.status).or_default() += 1;
        }
        self.hosts.entry(visit.page.host).or_default().add(&visit);
        self.times[class_of(&TIMES, visit.ms.into())] += 1;
        if visit.bytes > 0 {
            self.sizes[class_of(&SIZES, visit.bytes)] += 1;
        }
        if visit.record.is_some() {
            self.with_content.push(visit);
        }
    }

    fn finish<S: Store>(self, source: &Source<'_, S>) -> Result<TallyView, QueryError> {
        let mut view = self.view;
        view.hosts_seen = self.hosts.len() as u64;
        let mut hosts: Vec<(HostKey, HostTally)> = self.hosts.into_iter().collect();
        hosts.sort_by(|a, b| b.1.visits.cmp(&a.1.visits).then(a.0.cmp(&b.0)));
        hosts.truncate(MOST_HOSTS);
        for (key, mut host) in hosts {
            host.host = source.host_name(key)?;
            view.hosts.push(host);
        }
        view.sizes = classes(&SIZES, &self.sizes);
        view.times = classes(&TIMES, &self.times);
        Ok(view)
    }

    /// Reads the heads of some answers, evenly. One that cannot be read is not counted.
    fn look_up<S: Store>(&mut self, source: &Source<'_, S>, most: u64) {
        let mut heads = HeadReader::new(source.segments());
        let most = usize::try_from(most).unwrap_or(usize::MAX).max(1);
        let step = self.with_content.len().div_ceil(most).max(1);
        for visit in self.with_content.iter().step_by(step) {
            let Some(record) = visit.record else { continue };
            let Ok(Some(head)) = heads.head(record) else { continue };
            self.view.looked_up += 1;
            let kind = head.field("content-type").and_then(|text| text.split(';').next());
            let kind = kind.unwrap_or_default().trim().to_ascii_lowercase();
            *self.view.by_content_type.entry(kind).or_default() += 1;
        }
    }

    /// Reads some texts, evenly, and finds out in which language they are.
    fn read_texts<S: Store>(&mut self, source: &Source<'_, S>, most: u64) {
        let mut records = RecordCache::new(source.segments(), CACHE, RECORD_CAP);
        let most = usize::try_from(most).unwrap_or(usize::MAX).max(1);
        let step = self.with_content.len().div_ceil(most).max(1);
        for visit in self.with_content.iter().step_by(step) {
            let Some(Ok(record)) = visit.record.map(|at| records.read(at)) else { continue };
            let text =
                source.url(visit.page).ok().flatten().and_then(|url| text_of(&record, &url, None));
            let Some(text) = text.filter(|text| text.len() >= LEAST_TEXT) else { continue };
            self.view.texts_read += 1;
            let language = detect_language(&text).unwrap_or_default();
            *self.view.by_language.entry(language).or_default() += 1;
        }
    }
}

impl HostTally {
    fn add(&mut self, visit: &Visit) {
        let before = self.visits as f64;
        self.mean_ms = (self.mean_ms * before + f64::from(visit.ms)) / (before + 1.0);
        self.visits += 1;
        self.bytes += visit.bytes;
        self.changes += u64::from(visit.change == Change::Changed);
        self.first_visits += u64::from(visit.change == Change::New);
        self.failed += u64::from(visit.change == Change::Failed);
    }
}

fn class_of(ends: &[u64], value: u64) -> usize {
    ends.partition_point(|end| *end < value)
}

fn classes(ends: &[u64], counts: &[u64]) -> Vec<ClassCount> {
    let ends = ends.iter().map(|end| Some(*end)).chain([None]);
    ends.zip(counts).map(|(to, count)| ClassCount { to, count: *count }).collect()
}
