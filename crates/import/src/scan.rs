//! What is in all files? Seeds, and visits, which are put in order of time.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use evercrawl_export::SortedLines;
use evercrawl_model::{Outcome, Time};
use evercrawl_urls::{CanonicalSteps, parse_seed_line};
use serde::{Deserialize, Serialize};

use crate::error::ImportError;
use crate::found::{FoundSeed, FoundVisit, Place, Taker};
use crate::kind::Kind;
use crate::report::{FileReport, Report};
use crate::source::{Input, Source};
use crate::warc::{Header, read_records, shares_members, write_member};
use crate::{changedetection, lists, logs, zip};

/// Bytes of a file of subscriptions, bookmarks or a sitemap.
const LARGEST_MARKUP: u64 = 256 << 20;
/// The largest block of a record that is looked at.
pub(crate) const LARGEST_BLOCK: u64 = 1 << 30;
/// Requests other than GET that are remembered.
const MOST_OTHERS: usize = 1 << 20;

/// What is in all files.
pub struct Scanned {
    pub(crate) report: Report,
    /// Where records lie.
    pub(crate) sources: Vec<Source>,
    /// Records whose request was no GET.
    pub(crate) others: HashSet<String>,
    pub(crate) found: Option<Kept>,
}

/// What is kept of what is found, where it is to be taken in.
pub(crate) struct Kept {
    /// A file in which each line is a seed.
    pub(crate) seeds: PathBuf,
    seeds_out: BufWriter<File>,
    pub(crate) visits: SortedLines,
}

/// A visit that waits to be taken in.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub(crate) url: String,
    pub(crate) ms: u64,
    pub(crate) file: usize,
    /// The record that it is, and otherwise what is known of it.
    pub(crate) record: Option<(usize, u64)>,
    pub(crate) seen: Option<SeenLine>,
    pub(crate) media_type: Option<String>,
}

/// What is known of an answer without its content, in a line.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SeenLine {
    pub(crate) outcome: u8,
    pub(crate) status: u16,
    pub(crate) content: Option<([u8; 20], bool)>,
    pub(crate) bytes: u64,
}

/// A seed that waits to be taken in.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WaitingSeed {
    pub(crate) line: String,
    pub(crate) every: Option<u64>,
}

/// Reads all files. What is to be taken in is put in order in files in `work`; without it, it is only counted. `now`
/// is the time after which nothing can have been visited.
pub fn scan(
    inputs: &[Input],
    steps: CanonicalSteps,
    now: Time,
    work: Option<&Path>,
) -> Result<Scanned, ImportError> {
    let found = work.map(Kept::in_directory).transpose()?;
    let report = Report { dry_run: found.is_none(), ..Report::default() };
    let scanned = Scanned { report, sources: Vec::new(), others: HashSet::new(), found };
    let name = String::new();
    let mut scan = Scan { scanned, steps, now, work, name, sequence: 0, span: None };
    for input in inputs {
        scan.read(input)?;
    }
    let mut scanned = scan.finish();
    if let Some(found) = &mut scanned.found {
        found.seeds_out.flush().map_err(ImportError::io("write", &found.seeds))?;
    }
    Ok(scanned)
}

/// What is in a text or WARC file with these bytes, as a dry run finds it.
pub fn scan_bytes(bytes: &[u8], kind: Kind, steps: CanonicalSteps, now: Time) -> Report {
    let report = Report { dry_run: true, ..Report::default() };
    let scanned = Scanned { report, sources: Vec::new(), others: HashSet::new(), found: None };
    let mut scan =
        Scan { scanned, steps, now, work: None, name: String::new(), sequence: 0, span: None };
    let read = match kind {
        Kind::UrlList => lists::read_urls(bytes, &mut scan),
        Kind::Csv => lists::read_csv(bytes, &mut scan),
        Kind::Urlwatch => lists::read_urlwatch(bytes, &mut scan),
        Kind::Cdxj => logs::read_cdxj(bytes, &mut scan),
        Kind::CrawlLog => logs::read_crawl_log(bytes, &mut scan),
        Kind::Nutch => logs::read_nutch(bytes, &mut scan),
        Kind::Changedetection => {
            changedetection::read_backup(&mut io::Cursor::new(bytes), &mut scan)
        }
        Kind::Warc => {
            let read = read_records(bytes, &mut |spot, header, block| {
                scan.record((0, spot.offset), header, block)
            });
            read.map_err(|broken| io::Error::new(io::ErrorKind::InvalidData, broken.why))
        }
        Kind::Wacz | Kind::Zip => zip::entries(&mut io::Cursor::new(bytes)).map(drop),
        Kind::Sitemap | Kind::Opml | Kind::Bookmarks => {
            read_markup(kind, bytes, &mut scan);
            Ok(())
        }
    };
    if let Err(error) = read {
        scan.refuse(Place::File, &format!("it cannot be read on: {error}"));
    }
    scan.finish().report
}

fn read_markup(kind: Kind, bytes: &[u8], take: &mut dyn Taker) {
    match kind {
        Kind::Opml => lists::read_opml(&String::from_utf8_lossy(bytes), take),
        Kind::Bookmarks => lists::read_bookmarks(&String::from_utf8_lossy(bytes), take),
        _ => lists::read_sitemap(bytes, take),
    }
}

impl Scanned {
    /// What was found.
    pub fn into_report(self) -> Report {
        self.report
    }
}

impl Kept {
    fn in_directory(work: &Path) -> Result<Self, ImportError> {
        fs::create_dir_all(work).map_err(ImportError::io("create", work))?;
        let seeds = work.join("seeds");
        let file = File::create(&seeds).map_err(ImportError::io("create", &seeds))?;
        let visits = SortedLines::new(&work.join("visits"));
        Ok(Kept { seeds, seeds_out: BufWriter::new(file), visits })
    }
}

struct Scan<'a> {
    scanned: Scanned,
    steps: CanonicalSteps,
    now: Time,
    work: Option<&'a Path>,
    /// The file that is read, for users.
    name: String,
    sequence: u64,
    /// When the first and the last visit were made.
    span: Option<(Time, Time)>,
}

impl Scan<'_> {
    fn finish(mut self) -> Scanned {
        let report = &mut self.scanned.report;
        report.from = self.span.map(|(from, _)| from.rfc3339());
        report.until = self.span.map(|(_, until)| until.rfc3339());
        self.scanned
    }

    fn read(&mut self, input: &Input) -> Result<(), ImportError> {
        self.name = input.name();
        let (path, kind, bytes) = (self.name.clone(), input.kind, input.bytes);
        self.scanned.report.files.push(FileReport { path, kind, bytes, seeds: 0, visits: 0 });
        match self.read_kind(input) {
            Ok(()) => Ok(()),
            // What is wrong with a file does not keep others from being read.
            Err(error) if error.kind() != io::ErrorKind::StorageFull => {
                self.refuse(Place::File, &format!("it cannot be read on: {error}"));
                Ok(())
            }
            Err(error) => Err(ImportError::io("read", &input.path)(error)),
        }
    }

    fn read_kind(&mut self, input: &Input) -> io::Result<()> {
        let open = || File::open(&input.path);
        match input.kind {
            Kind::UrlList => lists::read_urls(input.text()?, self),
            Kind::Csv => lists::read_csv(input.text()?, self),
            Kind::Sitemap | Kind::Opml | Kind::Bookmarks => self.read_markup(input),
            Kind::Urlwatch => lists::read_urlwatch(input.text()?, self),
            Kind::Cdxj => logs::read_cdxj(input.text()?, self),
            Kind::CrawlLog => logs::read_crawl_log(input.text()?, self),
            Kind::Nutch => logs::read_nutch(input.text()?, self),
            Kind::Changedetection => changedetection::read_backup(&mut open()?, self),
            Kind::Wacz => self.read_wacz(input),
            Kind::Warc => {
                let name = self.name.clone();
                let source =
                    Source { path: input.path.clone(), start: 0, length: input.bytes, name };
                self.read_warc(source)
            }
            Kind::Zip => Ok(()),
        }
    }

    fn read_markup(&mut self, input: &Input) -> io::Result<()> {
        let bytes = self.markup(input)?;
        read_markup(input.kind, &bytes, self);
        Ok(())
    }

    /// A file of markup, which is read as a whole.
    fn markup(&mut self, input: &Input) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        input.text()?.take(LARGEST_MARKUP + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST_MARKUP {
            self.refuse(Place::File, "it is larger than 256 MB; the rest is not read");
            bytes.truncate(LARGEST_MARKUP as usize);
        }
        Ok(bytes)
    }

    fn read_wacz(&mut self, input: &Input) -> io::Result<()> {
        let mut file = File::open(&input.path)?;
        for entry in zip::entries(&mut file)? {
            if !entry.name.ends_with(".warc.gz") && !entry.name.ends_with(".warc") {
                continue;
            }
            let start = zip::start_of(&mut file, &entry)?;
            let name = format!("{}, {}", input.name(), entry.name);
            let (path, length) = (input.path.clone(), entry.length);
            let source = Source { path, start, length, name };
            self.name.clone_from(&source.name);
            match entry.is_packed {
                true => self.refuse(
                    Place::File,
                    "the WARC file is compressed in its package; unpack the package first",
                ),
                false => self.read_warc(source)?,
            }
            self.name = input.name();
        }
        Ok(())
    }

    /// Finds the visits in a WARC file. Where its records share gzip members, they are packed anew first, each by
    /// itself.
    fn read_warc(&mut self, source: Source) -> io::Result<()> {
        let source = match self.work {
            Some(work) if shares_members(source.from(0)?) => self.packed_anew(&source, work)?,
            _ => source,
        };
        let number = self.scanned.sources.len();
        let mut sharing = 0_u64;
        let read = read_records(source.from(0)?, &mut |spot, header, block| {
            if !spot.is_first && self.work.is_some() {
                sharing += 1;
                return Ok(());
            }
            self.record((number, spot.offset), header, block)
        });
        self.scanned.sources.push(source);
        if sharing > 0 {
            let why =
                "a record that shares its gzip member with others; `warcio recompress` parts them";
            (0..sharing).for_each(|_| self.refuse(Place::File, why));
        }
        match read {
            Ok(()) => Ok(()),
            Err(broken) if self.disk_is_full(&broken.why) => Err(io::ErrorKind::StorageFull.into()),
            Err(broken) => {
                let why = format!("{}; what comes after it in this file is not taken", broken.why);
                self.refuse(Place::Byte(broken.offset), &why);
                Ok(())
            }
        }
    }

    fn disk_is_full(&self, why: &str) -> bool {
        why == io::Error::from(io::ErrorKind::StorageFull).to_string()
    }

    /// A copy of a WARC file in which each record is a gzip member of its own.
    fn packed_anew(&mut self, source: &Source, work: &Path) -> io::Result<Source> {
        let path = work.join(format!("{}.warc.gz", self.scanned.sources.len()));
        let mut out = BufWriter::new(File::create(&path)?);
        let mut bytes = Vec::new();
        let read = read_records(source.from(0)?, &mut |_, header, block| {
            bytes.clear();
            block.take(LARGEST_BLOCK).read_to_end(&mut bytes)?;
            write_member(header, &bytes, &mut out)
        });
        out.flush()?;
        if let Err(broken) = read {
            let why = format!("{}; what comes after it in this file is not taken", broken.why);
            self.refuse(Place::Byte(broken.offset), &why);
        }
        let length = path.metadata()?.len();
        Ok(Source { path, start: 0, length, name: source.name.clone() })
    }

    /// Takes a record that is a visit.
    fn record(
        &mut self,
        at: (usize, u64),
        header: &Header,
        block: &mut dyn Read,
    ) -> io::Result<()> {
        let place = Place::Byte(at.1);
        match header.field("WARC-Type").unwrap_or_default() {
            "response" | "revisit" | "resource" => {}
            "request" => return self.note_request(header, block),
            _ => return Ok(()),
        }
        let Some(url) = header.target().filter(|url| is_web(url)) else {
            self.refuse(place, "it is no web page (dns:, metadata: and the like)");
            return Ok(());
        };
        let date = header.field("WARC-Date").and_then(|date| Time::parse_iso(date).ok());
        let Some(date) = date else {
            self.refuse(place, "its WARC-Date cannot be read");
            return Ok(());
        };
        if header.length > LARGEST_BLOCK {
            self.refuse(place, "it is larger than 1 GB");
            return Ok(());
        }
        let url = url.to_owned();
        self.keep(place, &url, date, |waiting| waiting.record = Some(at))
    }

    /// Remembers requests that were no GET: what they brought is not the page.
    fn note_request(&mut self, header: &Header, block: &mut dyn Read) -> io::Result<()> {
        let mut method = [0; 4];
        let mut read = 0;
        while read < method.len() {
            match block.read(&mut method[read..])? {
                0 => break,
                more => read += more,
            }
        }
        if method == *b"GET " || self.scanned.others.len() >= MOST_OTHERS {
            return Ok(());
        }
        for name in ["WARC-Record-ID", "WARC-Concurrent-To"] {
            self.scanned.others.extend(header.field(name).map(str::to_owned));
        }
        Ok(())
    }

    /// Keeps a visit, unless nothing can be made of it.
    fn keep(
        &mut self,
        place: Place,
        url: &str,
        at: Time,
        fill: impl FnOnce(&mut Waiting),
    ) -> io::Result<()> {
        let url = match self.steps.canonicalize(url) {
            Ok(url) => url.into_string(),
            Err(reason) => {
                self.refuse(place, &format!("its URL cannot be crawled ({})", reason.code()));
                return Ok(());
            }
        };
        if at > self.now {
            self.refuse(place, "its time is in the future");
            return Ok(());
        }
        let file = self.scanned.report.files.len().saturating_sub(1);
        let mut waiting =
            Waiting { url, ms: at.millis(), file, record: None, seen: None, media_type: None };
        fill(&mut waiting);
        let report = &mut self.scanned.report;
        report.visits += 1;
        report.visits_with_content += u64::from(waiting.record.is_some());
        let (from, until) = self.span.unwrap_or((at, at));
        self.span = Some((from.min(at), until.max(at)));
        if let Some(file) = report.files.last_mut() {
            file.visits += 1;
        }
        self.sequence += 1;
        let Some(found) = &mut self.scanned.found else { return Ok(()) };
        // Of what is known of one second, the records come first: they have the contents.
        let (seconds, rank, part) =
            (at.secs(), u8::from(waiting.record.is_none()), at.millis() % 1000);
        let line = serde_json::to_string(&waiting)?;
        let sequence = self.sequence;
        found
            .visits
            .push(format!("{seconds:012} {rank} {part:03} {sequence:012} {line}\n").into_bytes())
    }
}

fn is_web(url: &str) -> bool {
    let scheme = url.split(':').next().unwrap_or_default();
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

impl Taker for Scan<'_> {
    fn seed(&mut self, place: Place, seed: FoundSeed) {
        let line: Vec<String> = std::iter::once(seed.url.trim().replace(' ', "%20"))
            .chain(seed.tags.iter().map(|tag| format!("tag={tag}")))
            .collect();
        let line = line.join(" ");
        match parse_seed_line(&line, self.steps) {
            Ok(Some(_)) => {}
            Ok(None) => return self.refuse(place, "no URL"),
            Err(error) => return self.refuse(place, &error.to_string()),
        }
        self.scanned.report.seeds += 1;
        if let Some(file) = self.scanned.report.files.last_mut() {
            file.seeds += 1;
        }
        let every = seed.every.map(|every| every.as_secs());
        if let Some(found) = &mut self.scanned.found
            && let Ok(line) = serde_json::to_string(&WaitingSeed { line, every })
            && let Err(error) = writeln!(found.seeds_out, "{line}")
        {
            self.refuse(Place::File, &format!("a seed cannot be put aside: {error}"));
        }
    }

    fn visit(&mut self, place: Place, visit: FoundVisit) -> io::Result<()> {
        let FoundVisit { url, at, seen, media_type } = visit;
        let seen = SeenLine {
            outcome: seen.outcome.number(),
            status: seen.status,
            content: seen.content,
            bytes: seen.bytes,
        };
        self.keep(place, &url, at, |waiting| {
            (waiting.seen, waiting.media_type) = (Some(seen), media_type);
        })
    }

    fn refuse(&mut self, place: Place, why: &str) {
        self.scanned.report.refuse(&self.name, &place, why);
    }
}

impl SeenLine {
    /// What is known of the answer.
    pub(crate) fn seen(&self) -> evercrawl_engine::walk::Seen {
        let outcome = Outcome::from_number(self.outcome).unwrap_or(Outcome::Protocol);
        let (status, content, bytes) = (self.status, self.content, self.bytes);
        evercrawl_engine::walk::Seen { outcome, status, content, bytes }
    }
}
