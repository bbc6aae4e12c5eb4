//! How does what was found come into a data directory? Seeds first, since they say what is in scope; then visits, in
//! order of time.
//!
//! Everything is committed as a crawl commits it. After a crash the same import is run again: what is in the log by
//! then is passed over.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use evercrawl_archive::RecordCache;
use evercrawl_engine::walk::{Imported, OverrideChange, PastVisit, Seen, Walk, WhatCame};
use evercrawl_engine::{DataDir, EngineError};
use evercrawl_fetch::{Fetched, Truncation};
use evercrawl_model::{HostKey, Outcome, Override, PageKey, Refusal, Time, Visit};
use evercrawl_state::Store;
use evercrawl_urls::{Canonical, CanonicalSteps, parse_seed_line};

use crate::error::ImportError;
use crate::found::Place;
use crate::http;
use crate::logs::content_of;
use crate::report::Report;
use crate::scan::{LARGEST_BLOCK, Scanned, Waiting, WaitingSeed};
use crate::warc::{Header, read_one};

/// Visits after which they are committed.
const COMMIT_AFTER: u32 = 256;
/// Seeds from which on they are sorted first.
const MANY: u64 = 20_000;
/// Memory for the contents that later records may refer to, and for records that are read back.
const MEMORY: usize = 64 << 20;
/// Visits to a page that are looked through for the one that a record refers to.
const MOST_LOOKED_THROUGH: usize = 10_000;

/// What an import is loaded with.
pub struct Loader<'a> {
    /// The data directory.
    pub dir: &'a DataDir,
    /// How URLs are made canonical.
    pub steps: CanonicalSteps,
    /// The most bytes of a body, as for answers of servers.
    pub largest_body: usize,
    /// Whether images, style sheets and the like are visited by the crawl.
    pub with_requisites: bool,
    /// The present.
    pub now: Time,
    /// Is told how many visits of how many are done.
    pub progress: &'a mut dyn FnMut(u64, u64),
}

/// Loads all that was found. Returns what came of it; the walk is to be closed after.
pub fn load<S: Store>(
    loader: &mut Loader<'_>,
    walk: &mut Walk<S>,
    mut scanned: Scanned,
) -> Result<Report, ImportError> {
    let Some(found) = scanned.found.take() else { return Ok(scanned.report) };
    load_seeds(loader, walk, &mut scanned.report, &found.seeds)?;
    let segments = DataDir::segments_in(loader.dir.path());
    let has_seeds = walk.has_seeds()?;
    let mut visits = Visits {
        loader,
        walk,
        has_seeds,
        records: RecordCache::new(segments, MEMORY, LARGEST_BLOCK as usize),
        bodies: Bodies::default(),
        uncommitted: 0,
        done: 0,
        scanned,
        stopped: None,
    };
    let read = found.visits.read(&mut |line| {
        visits.take_line(line).map_err(|error| {
            visits.stopped = Some(error);
            io::ErrorKind::Other.into()
        })
    });
    match (visits.stopped.take(), read) {
        (Some(error), _) => return Err(error.into()),
        (None, Err(error)) => return Err(ImportError::io("read", visits.loader.dir.path())(error)),
        (None, Ok(())) => {}
    }
    visits.walk.commit_now()?;
    Ok(visits.scanned.report)
}

fn load_seeds<S: Store>(
    loader: &Loader<'_>,
    walk: &mut Walk<S>,
    report: &mut Report,
    path: &Path,
) -> Result<(), ImportError> {
    let file = File::open(path).map_err(ImportError::io("read", path))?;
    let mut many = (report.seeds >= MANY).then(|| loader.dir.load()).transpose()?;
    let mut pins = Vec::new();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(ImportError::io("read", path))?;
        let Ok(waiting) = serde_json::from_str::<WaitingSeed>(&line) else { continue };
        let Ok(Some(seed)) = parse_seed_line(&waiting.line, loader.steps) else { continue };
        match &mut many {
            Some(load) => {
                if let Some(found) = walk.seed_to_load(&seed, loader.now)? {
                    load.push(found).map_err(ImportError::io("write", path))?;
                }
                if load.is_full() {
                    let full = many.replace(loader.dir.load()?);
                    report.new_seeds +=
                        full.map_or(Ok(0), |load| walk.load(load, loader.now, &mut |_| {}))?;
                }
            }
            None => report.new_seeds += u64::from(walk.add_seed(&seed, loader.now)?),
        }
        let first = seed.target.candidates(loader.steps).into_iter().next();
        pins.extend(first.zip(waiting.every));
    }
    if let Some(load) = many {
        report.new_seeds += walk.load(load, loader.now, &mut |_| {})?;
    }
    pin(loader, walk, report, pins)?;
    Ok(walk.commit_now()?)
}

/// Has pages visited at least as often as their lists say.
fn pin<S: Store>(
    loader: &Loader<'_>,
    walk: &mut Walk<S>,
    report: &mut Report,
    pins: Vec<(Canonical, u64)>,
) -> Result<(), ImportError> {
    let page = PageKey { host: HostKey { shard: 0, host: 0 }, url: 0 };
    for (url, every) in pins {
        let (url, every) = (url.into_string(), Duration::from_secs(every));
        let set = OverrideChange::Begin(Override::Pin { page, url: url.clone(), every });
        match walk.change_override(&set, loader.now) {
            Ok(()) => report.pinned += 1,
            Err(EngineError::Config(why)) => report.refuse(&url, &Place::File, &why),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Visits that are being taken in.
struct Visits<'a, 'b, S> {
    loader: &'a mut Loader<'b>,
    walk: &'a mut Walk<S>,
    has_seeds: bool,
    records: RecordCache,
    bodies: Bodies,
    uncommitted: u32,
    done: u64,
    scanned: Scanned,
    stopped: Option<EngineError>,
}

/// What a visit brought, and of which type it is.
type Came = (WhatCame, Option<String>);

impl<S: Store> Visits<'_, '_, S> {
    fn take_line(&mut self, line: &[u8]) -> Result<(), EngineError> {
        self.done += 1;
        if self.done.is_multiple_of(100) {
            (self.loader.progress)(self.done, self.scanned.report.visits);
        }
        // The visit stands behind what it is sorted by.
        let json = line.splitn(5, |byte| *byte == b' ').nth(4).unwrap_or_default();
        let Ok(waiting) = serde_json::from_slice::<Waiting>(json) else { return Ok(()) };
        let Some(url) = Canonical::from_trusted(waiting.url.clone()) else { return Ok(()) };
        let at = Time::from_millis(waiting.ms);
        if let Some(verdict) = self.walk.known_at(&url, at)? {
            self.count(&waiting, verdict);
            return Ok(());
        }
        let (came, media_type) = match self.came(&waiting, &url)? {
            Ok(came) => came,
            Err(why) => {
                self.refuse(&waiting, &why);
                return Ok(());
            }
        };
        let is_requisite = media_type.as_deref().is_some_and(is_requisite);
        let revisit = (!is_requisite || self.loader.with_requisites)
            && (!self.has_seeds || self.walk.is_wanted(&url, self.loader.now));
        let verdict = self.walk.import(&url, PastVisit { at, came, revisit })?;
        self.count(&waiting, verdict);
        self.uncommitted += 1;
        if self.uncommitted >= COMMIT_AFTER {
            self.uncommitted = 0;
            self.walk.commit_now()?;
        }
        Ok(())
    }

    fn count(&mut self, waiting: &Waiting, verdict: Imported) {
        match verdict {
            Imported::Taken { archived } => {
                self.scanned.report.taken += 1;
                self.scanned.report.archived += u64::from(archived);
            }
            Imported::Known => self.scanned.report.known += 1,
            Imported::Older => {
                self.refuse(waiting, "a later visit to the page is in the log already");
            }
            Imported::Refused(reason) => {
                self.refuse(
                    waiting,
                    &format!("the crawl takes no such page in ({})", code(reason)),
                );
            }
        }
    }

    fn refuse(&mut self, waiting: &Waiting, why: &str) {
        let (name, place) = match waiting.record {
            Some((source, offset)) => {
                let name = self.scanned.sources.get(source).map(|source| source.name.clone());
                (name, Place::Byte(offset))
            }
            None => {
                let file = self.scanned.report.files.get(waiting.file);
                (file.map(|file| file.path.clone()), Place::Entry(waiting.url.clone()))
            }
        };
        self.scanned.report.refuse(&name.unwrap_or_default(), &place, why);
    }

    /// What a visit brought, or why nothing can be made of it.
    fn came(
        &mut self,
        waiting: &Waiting,
        url: &Canonical,
    ) -> Result<Result<Came, String>, EngineError> {
        if let Some(seen) = &waiting.seen {
            return Ok(Ok((WhatCame::Seen(seen.seen()), waiting.media_type.clone())));
        }
        let Some((source, offset)) = waiting.record else {
            return Ok(Err("nothing is known of it".to_owned()));
        };
        let Some(source) = self.scanned.sources.get(source) else {
            return Ok(Err("its file is not known".to_owned()));
        };
        let read = source.from(offset).and_then(|input| read_one(input, LARGEST_BLOCK));
        let (header, block) = match read {
            Ok(record) => record,
            Err(error) => return Ok(Err(format!("it cannot be read: {error}"))),
        };
        let is_other = |name| header.field(name).is_some_and(|id| self.scanned.others.contains(id));
        if is_other("WARC-Record-ID") || is_other("WARC-Concurrent-To") {
            return Ok(Err("the request was no GET".to_owned()));
        }
        self.answer(&header, block, url)
    }

    fn answer(
        &mut self,
        header: &Header,
        mut block: Vec<u8>,
        url: &Canonical,
    ) -> Result<Result<Came, String>, EngineError> {
        let declared = header.field("Content-Type").unwrap_or_default().to_ascii_lowercase();
        let cut = truncation(header).or((block.len() > self.loader.largest_body).then(|| {
            block.truncate(self.loader.largest_body);
            Truncation::Size
        }));
        let ip: Option<IpAddr> = header.field("WARC-IP-Address").and_then(|ip| ip.parse().ok());
        let fetched = match header.field("WARC-Type").unwrap_or_default() {
            "resource" if !declared.starts_with("application/http") => {
                http::answer_with_head(&declared, &block)
            }
            "revisit" => return self.revisit(header, &block, url),
            _ => http::answer(&block, cut, ip),
        };
        let Some(fetched) = fetched else { return Ok(Err("it holds no HTTP answer".to_owned())) };
        if let Some(digest) = header.field("WARC-Payload-Digest")
            && let Ok(response) = &fetched.result
        {
            self.bodies.keep(digest, &response.body.whole());
        }
        let media_type = media_type(&fetched);
        Ok(Ok((WhatCame::Answer(Box::new(fetched)), media_type)))
    }

    /// A record without a body: that of another record is its own, or the server said that nothing changed.
    fn revisit(
        &mut self,
        header: &Header,
        block: &[u8],
        url: &Canonical,
    ) -> Result<Result<Came, String>, EngineError> {
        let head = http::answer(block, None, None);
        let status =
            head.as_ref().and_then(|fetched| fetched.result.as_ref().ok()).map(|r| r.status);
        let not_modified = header
            .field("WARC-Profile")
            .is_some_and(|profile| profile.ends_with("server-not-modified"));
        if not_modified || status == Some(304) {
            let seen = Seen { outcome: Outcome::NotModified, status: 304, content: None, bytes: 0 };
            // Where the page's validators are held, the answer is kept as it came.
            return Ok(Ok(match head.filter(|_| status == Some(304)) {
                Some(fetched) if self.walk.holds_validators(url)? => {
                    (WhatCame::Answer(Box::new(fetched)), None)
                }
                _ => (WhatCame::Seen(seen), None),
            }));
        }
        let digest = header.field("WARC-Payload-Digest").unwrap_or_default();
        let body = match self.bodies.get(digest) {
            Some(body) => Some(body),
            None => self.archived_body(header, digest)?,
        };
        let status = status.unwrap_or(200);
        let seen = Seen {
            outcome: Outcome::from_status(status),
            status,
            content: content_of(digest),
            bytes: 0,
        };
        Ok(Ok(match (head, body) {
            (Some(fetched), Some(body)) => {
                let fetched = http::with_body(fetched, body);
                let media_type = media_type(&fetched);
                (WhatCame::Answer(Box::new(fetched)), media_type)
            }
            // Without its head or content it is a visit all the same, and the digest tells whether there was a change.
            (head, _) => (WhatCame::Seen(seen), head.as_ref().and_then(media_type)),
        }))
    }

    /// The body that a record refers to, out of the archive.
    fn archived_body(
        &mut self,
        header: &Header,
        digest: &str,
    ) -> Result<Option<Vec<u8>>, EngineError> {
        let Some(visit) = self.referred_to(header, digest)? else { return Ok(None) };
        let holder = match visit.digest {
            Some(digest) => self.walk.state().holding(&digest)?,
            None => None,
        };
        let holder = match holder {
            Some(number) => {
                self.walk.state().visits(number).next().transpose()?.map(|(_, visit)| visit)
            }
            None => Some(visit),
        };
        let Some(place) = holder.and_then(|visit| visit.record) else { return Ok(None) };
        if let Ok(record) = self.records.read(place) {
            return Ok(Some(record.payload().to_vec()));
        }
        // It may not have reached its file yet.
        self.walk.commit_now()?;
        Ok(self.records.read(place).ok().map(|record| record.payload().to_vec()))
    }

    /// The visit that a record refers to, by its address and time, or by its content.
    fn referred_to(&mut self, header: &Header, digest: &str) -> Result<Option<Visit>, EngineError> {
        let target = header.field("WARC-Refers-To-Target-URI").or(header.target());
        let url = target
            .and_then(|url| self.loader.steps.canonicalize(url.trim_matches(['<', '>'])).ok());
        let date = header.field("WARC-Refers-To-Date").and_then(|date| Time::parse_iso(date).ok());
        if let (Some(url), Some(date)) = (url, date)
            && let Some(visit) = self.walk.visit_at(&url, date, MOST_LOOKED_THROUGH)?
        {
            return Ok(Some(visit));
        }
        let Some((digest, true)) = content_of(digest) else { return Ok(None) };
        let Some(number) = self.walk.state().holding(&digest)? else { return Ok(None) };
        Ok(self.walk.state().visits(number).next().transpose()?.map(|(_, visit)| visit))
    }
}

fn code(reason: Refusal) -> &'static str {
    reason.code()
}

fn truncation(header: &Header) -> Option<Truncation> {
    Some(match header.field("WARC-Truncated")? {
        "length" => Truncation::Size,
        "time" => Truncation::Time,
        "disconnect" => Truncation::Disconnect,
        _ => Truncation::Chunk,
    })
}

fn media_type(fetched: &Fetched) -> Option<String> {
    let response = fetched.result.as_ref().ok()?;
    Some(response.header("content-type")?.split(';').next()?.trim().to_ascii_lowercase())
}

/// Whether pages are made of what has this type, rather than being it.
fn is_requisite(media_type: &str) -> bool {
    let kind = media_type.split('/').next().unwrap_or_default();
    matches!(kind, "image" | "font" | "audio" | "video")
        || media_type == "text/css"
        || media_type.ends_with("javascript")
        || media_type.contains("font")
}

/// Contents that were read lately, by their digests.
#[derive(Default)]
struct Bodies {
    held: HashMap<String, Vec<u8>>,
    order: VecDeque<String>,
    bytes: usize,
}

impl Bodies {
    fn keep(&mut self, digest: &str, body: &[u8]) {
        if body.len() > MEMORY / 4 || self.held.contains_key(digest) {
            return;
        }
        self.bytes += body.len();
        self.held.insert(digest.to_owned(), body.to_vec());
        self.order.push_back(digest.to_owned());
        while self.bytes > MEMORY {
            let Some(oldest) = self.order.pop_front() else { return };
            self.bytes -= self.held.remove(&oldest).map_or(0, |body| body.len());
        }
    }

    fn get(&self, digest: &str) -> Option<Vec<u8>> {
        self.held.get(digest).cloned()
    }
}
