//! What does an answer mean? From bytes to a visit, records and links; off the download path.
//!
//! Pure but for look-ups of what was seen before: no clock, no disk written, no socket.

use std::sync::Arc;
use std::time::Duration;

use evercrawl_archive as archive;
use evercrawl_compare::{self as compare, Fingerprint, Outline, StandIn};
use evercrawl_extract::decode::Decoded;
use evercrawl_extract::{self as extract, Content, Document, Extracted, Extractor, decode};
use evercrawl_fetch::{Failure, Fetched, Response, Truncation};
use evercrawl_model::{
    Change, HostUpdate, Kind, Next, Noted, Outcome, Refusal, Score, Time, Validators, Visit,
    Visited,
};
use evercrawl_robots::Directives;
use evercrawl_state::{PageRow, Reading, StateError, Store};

use crate::config::CrawlConfig;
use crate::frontier::Lease;
use crate::links::{Leads, LinkReader};
use crate::nature::{self, Manner, Nature};
use crate::novelty::{self, Read};
use crate::recent::{Digest, Holder, Recent};
use crate::schedule::{is_host_trouble, retry_after};

/// A page that was asked for, with what came.
#[derive(Debug)]
pub struct Job {
    /// What was asked for.
    pub lease: Box<Lease>,
    /// What came.
    pub fetched: Fetched,
    /// When the request was sent.
    pub asked: Time,
    /// When the answer was complete.
    pub ended: Time,
}

/// What an answer means.
pub struct Processed {
    /// The visit, but for where its record lies.
    pub visited: Box<Visited>,
    /// What to record of it, if anything.
    pub plan: Option<RecordPlan>,
    /// Its records, made for the archive file that was current then.
    pub records: Option<archive::Encoded>,
    /// Why the page is not to be fetched again as things are, and when to look again.
    pub verdict: Option<(Refusal, Option<Time>)>,
    /// Content that this visit claimed to store.
    pub claim: Option<Digest>,
    /// Where it leads.
    pub leads: Leads,
    /// How much it is about what the user looks for, from 0 to 1.
    pub about: f64,
    /// How many words its text has.
    pub words: u32,
    /// True when it cannot be told whether this is the page itself before its host was asked for
    /// something that cannot exist.
    pub suspect: bool,
    /// How the host answers for what does not exist, where that was asked.
    pub manner: Option<Manner>,
    /// True when the host, not the page, was the trouble.
    pub host_trouble: bool,
    /// How long the host asked to be left alone.
    pub asked_pause: Option<Duration>,
    /// For how long a core was busy reading it.
    pub reading: Duration,
    /// What was asked and came, in case the records must be made again.
    pub job: Job,
}

impl Processed {
    /// True when a list was looked for where lists usually are, and there is none.
    pub fn is_empty_guess(&self) -> bool {
        is_guess(&self.job.lease.row) && self.visited.visit.change == Change::Gone
    }

    /// True when the page changed to what it had been before.
    pub fn went_back(&self) -> bool {
        let visit = &self.visited.visit;
        let holder = self.plan.as_ref().and_then(|plan| plan.holder.as_ref());
        let changed = matches!(visit.change, Change::Changed | Change::Near);
        changed && holder.is_some_and(|holder| holder.page == visit.page)
    }

    /// Who had its content before.
    pub(crate) fn held_by(&self) -> Option<&Holder> {
        self.plan.as_ref()?.holder.as_ref()
    }

    /// The content whose record, of another visit, this one refers to.
    pub(crate) fn refers_to(&self) -> Option<Digest> {
        self.plan.as_ref().filter(|plan| plan.holder.is_some()).map(|plan| plan.digest)
    }

    /// Lets its record refer to `holder`, or hold the content itself; true when that is
    /// otherwise than it was.
    pub(crate) fn refer_to(&mut self, holder: Option<Holder>) -> bool {
        let Some(plan) = &mut self.plan else { return false };
        let before = std::mem::replace(&mut plan.holder, holder);
        self.visited.first_of_digest = plan.holder.is_none();
        before != plan.holder
    }

    /// This visit, as the one that holds its content.
    pub(crate) fn holder(&self) -> Holder {
        let lease = &self.job.lease;
        Holder { page: lease.page, url: lease.row.url.clone(), at: self.job.asked }
    }
}

/// What a record says, so that it can be made again for another file.
#[derive(Debug)]
pub struct RecordPlan {
    digest: Digest,
    /// The record that holds the content already.
    holder: Option<Holder>,
    media_type: Option<&'static str>,
}

/// Reads answers; one a thread.
pub struct Processor<S> {
    config: Arc<CrawlConfig>,
    links: LinkReader,
    reading: Reading<S>,
    recent: Arc<Recent>,
    extractor: Extractor,
    encoder: archive::Encoder,
    ids: Ids,
}

/// Draws identities for records; seeded, so that a simulation repeats itself.
pub struct Ids(u64);

impl Ids {
    /// Identities of the sequence that `seed` begins.
    pub fn new(seed: u64) -> Self {
        Ids(seed)
    }

    fn draw(&mut self) -> [u8; 16] {
        self.0 = self.0.wrapping_add(1);
        xxhash_rust::xxh3::xxh3_128(&self.0.to_le_bytes()).to_le_bytes()
    }
}

impl<S: Store> Processor<S> {
    /// A processor for a crawl.
    pub fn new(
        config: Arc<CrawlConfig>,
        links: LinkReader,
        reading: Reading<S>,
        recent: Arc<Recent>,
        ids: Ids,
    ) -> Self {
        let encoder = archive::Encoder::new(config.archive.level);
        Processor { config, links, reading, recent, extractor: Extractor::new(), encoder, ids }
    }

    /// Tells what an answer means; its records are made for `file`. After handing the result on
    /// in order, the caller settles its claim.
    pub fn process(&mut self, job: Job, file: archive::FileId) -> Result<Processed, StateError> {
        match &job.fetched.result {
            Err(failure) => Ok(self.failed(outcome_of(failure), job)),
            Ok(response) if response.status == 304 => self.unmodified(job, file),
            Ok(_) => self.answered(job, file),
        }
    }

    /// No answer came.
    fn failed(&self, outcome: Outcome, job: Job) -> Processed {
        let visit = visit_of(&job, outcome, 0, Change::Failed);
        let mut processed = self.processed(visit, job);
        if outcome == Outcome::Forbidden {
            processed.verdict = Some((Refusal::PrivateAddress, None));
        }
        processed
            .leads
            .found
            .extend(self.links.plain_twin(&processed.job.lease, processed.job.ended));
        processed
    }

    /// The server says that nothing changed.
    fn unmodified(&mut self, job: Job, file: archive::FileId) -> Result<Processed, StateError> {
        let held = job.lease.row.past.as_ref().and_then(|past| past.digest);
        let visit = visit_of(&job, Outcome::NotModified, 304, Change::Same);
        let mut processed = self.processed(visit, job);
        processed.visited.visit.digest = held;
        let lease = &processed.job.lease;
        let of = (lease.page, lease.row.url.as_str());
        if let Some(digest) = held
            && let Some(holder) = self.recent.holder(digest, of, &self.reading)?
        {
            let holder = Some(holder);
            processed.plan = Some(RecordPlan { digest, holder, media_type: None });
            processed.records = self.encode(&processed, file);
        }
        Ok(processed)
    }

    /// An answer with a body of its own.
    fn answered(&mut self, job: Job, file: archive::FileId) -> Result<Processed, StateError> {
        let Ok(response) = &job.fetched.result else {
            return Ok(self.failed(Outcome::Protocol, job));
        };
        let (status, body) = (response.status, response.body.clone());
        let outcome = Outcome::of_status(status);
        let digest = compare::Digest::of(&body);
        let visit = visit_of(&job, outcome, status, Change::Failed);
        let mut processed = self.processed(visit, job);
        processed.visited.visit.bytes = body.len() as u64;
        processed.visited.visit.digest = Some(digest.to_bytes());
        let mut kept = true;
        let mut media_type = None;
        if processed.job.lease.row.kind == Kind::Probe {
            processed.manner = self.manner(&processed, &body);
            return Ok(processed);
        }
        let unwanted = self.is_unwanted(&processed);
        match outcome {
            Outcome::Ok if unwanted => {
                kept = false;
                let past = processed.job.lease.row.past.as_ref();
                self.compare(&mut processed.visited, past, digest, None)?;
            }
            Outcome::Ok => (kept, media_type) = self.content(&mut processed, &body, digest)?,
            Outcome::Redirect => self.redirect(&mut processed),
            Outcome::ClientError if is_gone(status, &processed.job.lease.row) => {
                processed.visited.visit.change = Change::Gone;
                processed.visited.visit.score = Score::ALL;
            }
            _ => {}
        }
        self.plan(&mut processed);
        kept &= !processed.is_empty_guess();
        if unwanted && outcome == Outcome::Ok {
            processed.verdict = Some((Refusal::ContentType, None));
        }
        if kept {
            self.store(&mut processed, digest.to_bytes(), media_type, file)?;
        }
        Ok(processed)
    }

    /// True when the answer is of a type that is filtered.
    fn is_unwanted(&self, processed: &Processed) -> bool {
        let Ok(response) = &processed.job.fetched.result else { return false };
        let found = response.header("content-type").unwrap_or_default().trim_start();
        let starts = |kind: &String| {
            found.get(..kind.len()).is_some_and(|head| head.eq_ignore_ascii_case(kind))
        };
        self.config.skip_types.iter().any(starts)
    }

    /// Reads a page's content: links, text, what changed. Tells whether it may be kept, and what
    /// it turned out to be.
    fn content(
        &mut self,
        processed: &mut Processed,
        body: &[u8],
        digest: compare::Digest,
    ) -> Result<(bool, Option<&'static str>), StateError> {
        let Ok(response) = &processed.job.fetched.result else { return Ok((false, None)) };
        let row = &processed.job.lease.row;
        let unpacked = unpack(response, body, self.config.unpack);
        let document = document(response, &unpacked.bytes, &row.url);
        let extracted = self.extractor.extract(&document, self.links.options());
        if is_guess(row) && extracted.kind == extract::Kind::Html {
            // Some hosts show a page for whatever is asked.
            processed.visited.visit.change = Change::Gone;
            return Ok((false, None));
        }
        let directives = directives(&self.config, response, &extracted);
        let lease = &processed.job.lease;
        let least = self.config.schedule.least_change;
        let read = text_of(&extracted)
            .map(|text| Read::new(text, row.past.as_ref(), &lease.site, lease.page.url, least));
        processed.visited.kind = kind_of(extracted.kind, row.kind);
        let media_type = Some(extracted.kind.mime());
        let nature = nature_of(lease, &extracted, read.as_ref(), processed.job.ended);
        if substitutes(&mut processed.visited, row, nature) {
            processed.suspect = matches!(nature, Nature::Suspect(_));
            return Ok((!directives.noarchive, media_type));
        }
        let at = processed.job.ended;
        let (lease, leads) = (&processed.job.lease, &mut processed.leads);
        let kept = self.links.read(lease, &extracted, directives.nofollow, at, leads);
        (processed.visited.links, processed.visited.anchors) = (kept.links, kept.anchors);
        processed.about = self.links.about(text_of(&extracted).unwrap_or_default());
        processed.words = read.as_ref().map_or(0, |read| read.outline().words());
        self.compare(&mut processed.visited, row.past.as_ref(), digest, read)?;
        Ok((!directives.noarchive, media_type))
    }

    /// What became of the page's content since the last visit.
    fn compare(
        &self,
        visited: &mut Visited,
        past: Option<&evercrawl_state::Past>,
        digest: compare::Digest,
        read: Option<Read>,
    ) -> Result<(), StateError> {
        let (change, score) =
            novelty::judge(past, digest, read.as_ref(), self.config.schedule.least_change);
        visited.visit.change = change;
        visited.visit.score = score;
        visited.identity = Some(digest.to_bytes());
        let Some(read) = read else { return Ok(()) };
        let same_bytes = past.is_some_and(|past| past.digest == visited.identity);
        if let (Some(print), false) = (read.print(), same_bytes) {
            visited.visit.near = self.recent.near(print, visited.visit.page, &self.reading)?;
        }
        visited.simhash = read.print().map(Fingerprint::to_bits);
        visited.memory = Some(read.memory);
        visited.differing = read.differing;
        visited.untold = read.untold;
        Ok(())
    }

    /// A redirect is told apart by where it leads.
    fn redirect(&self, processed: &mut Processed) {
        let Ok(response) = &processed.job.fetched.result else { return };
        let lease = &processed.job.lease;
        let location =
            response.headers.get("location").map(|to| String::from_utf8_lossy(to.as_bytes()));
        let target = location.as_deref().map(|to| self.links.target(lease, to));
        let nature = match &target {
            Some(Ok(target)) if lease.row.kind == Kind::Page => {
                // One that led elsewhere before has no content that could be gone.
                let led = lease.row.past.as_ref().is_some_and(|p| p.outcome == Outcome::Redirect);
                let (url, held) = (&lease.row.url, lease.row.held() && !led);
                nature::of_redirect(url, target.as_str(), held, lease.manner.as_ref())
            }
            _ => Nature::Itself,
        };
        if substitutes(&mut processed.visited, &lease.row, nature) {
            processed.suspect = matches!(nature, Nature::Suspect(_));
            return;
        }
        let identity = compare::Digest::of(location.as_deref().unwrap_or_default().as_bytes());
        let before = lease.row.past.as_ref().and_then(|past| past.digest);
        processed.visited.visit.change = match before {
            None => Change::New,
            Some(before) if before == identity.to_bytes() => Change::Same,
            Some(_) => Change::Changed,
        };
        let news = processed.visited.visit.change != Change::Same;
        processed.visited.visit.score = if news { Score::ALL } else { Score::NONE };
        processed.visited.identity = Some(identity.to_bytes());
        if let Some(target) = target {
            let (at, leads) = (processed.job.ended, &mut processed.leads);
            processed.visited.links = self.links.redirected(lease, target, at, leads).links;
        }
    }

    /// How a host answers for what does not exist; `None` where that cannot be told.
    fn manner(&mut self, processed: &Processed, body: &[u8]) -> Option<Manner> {
        let response = processed.job.fetched.result.as_ref().ok()?;
        let lease = &processed.job.lease;
        match processed.visited.visit.outcome {
            Outcome::Ok => {
                let unpacked = unpack(response, body, self.config.unpack);
                let document = document(response, &unpacked.bytes, &lease.row.url);
                let extracted = self.extractor.extract(&document, self.links.options());
                let text = text_of(&extracted).unwrap_or_default();
                Some(Manner { shows: Some(StandIn::of(&Outline::of(text))), leads_to: None })
            }
            Outcome::Redirect => {
                let target = self.links.target(lease, response.header("location")?).ok()?;
                Some(Manner { shows: None, leads_to: Some(nature::hash(target.as_str())) })
            }
            Outcome::ClientError if response.status != 429 => Some(Manner::HONEST),
            _ => None,
        }
    }

    /// Stores the answer, or refers to the record that holds its content.
    fn store(
        &mut self,
        processed: &mut Processed,
        digest: Digest,
        media_type: Option<&'static str>,
        file: archive::FileId,
    ) -> Result<(), StateError> {
        let me = processed.holder();
        // Empty bodies are all alike: a reference would say more than it saves.
        let empty = processed.visited.visit.bytes == 0;
        let holder = if empty { None } else { self.recent.claim(digest, &me, &self.reading)? };
        let first = holder.is_none() && !empty;
        processed.plan = Some(RecordPlan { digest, holder, media_type });
        processed.records = self.encode(processed, file);
        if first {
            processed.claim = Some(digest);
            processed.visited.first_of_digest = processed.records.is_some();
            if let (Some(bits), None) = (processed.visited.simhash, processed.visited.visit.near) {
                self.recent.remember(Fingerprint::from_bits(bits), me.page);
            }
        }
        Ok(())
    }

    /// Makes the records that were planned; `None` when they are too large to be kept.
    pub fn encode(
        &mut self,
        processed: &Processed,
        file: archive::FileId,
    ) -> Option<archive::Encoded> {
        let (job, plan) = (&processed.job, processed.plan.as_ref()?);
        let Ok(response) = &job.fetched.result else { return None };
        let request: &[u8] =
            if self.config.archive.requests { &job.fetched.request_bytes } else { &[] };
        let exchange = archive::Exchange {
            uri: &job.lease.row.url,
            date: job.asked,
            ip: job.fetched.ip,
            request,
            head: &response.head,
            payload: &response.body,
            payload_digest: plan.digest,
            truncated: response.truncated.map(truncated),
            protocol: response.protocol.name(),
            tls: response
                .tls
                .as_ref()
                .map(|tls| archive::Tls { version: tls.version, cipher: &tls.cipher }),
            identified_type: plan.media_type,
            metadata: &[],
        };
        let original = plan.holder.as_ref().map(|h| archive::Original { uri: &h.url, date: h.at });
        let kind = match original {
            None => archive::Kind::Response,
            Some(original) if response.status == 304 => archive::Kind::NotModified(original),
            Some(original) => archive::Kind::SamePayload(original),
        };
        self.encoder.encode(&exchange, kind, self.ids.draw(), file).ok()
    }

    fn processed(&self, visit: Visit, job: Job) -> Processed {
        let host_trouble = is_host_trouble(visit.outcome, visit.status);
        let asked_pause = job.fetched.result.as_ref().ok().and_then(|response| {
            let value = response.header("retry-after").filter(|_| host_trouble)?;
            retry_after(value, job.ended)
        });
        let visited = Visited {
            next: Next::Never,
            noted: Noted::default(),
            identity: None,
            validators: validators_of(&job.fetched),
            simhash: None,
            memory: None,
            differing: Vec::new(),
            untold: None,
            links: None,
            anchors: Vec::new(),
            first_of_digest: false,
            kind: job.lease.row.kind,
            host: HostUpdate { ip: job.fetched.ip, ..HostUpdate::default() },
            visit,
        };
        let mut processed = Processed {
            visited: Box::new(visited),
            plan: None,
            records: None,
            verdict: None,
            claim: None,
            leads: Leads::default(),
            about: 0.0,
            words: 0,
            suspect: false,
            manner: None,
            host_trouble,
            asked_pause,
            reading: Duration::ZERO,
            job,
        };
        self.plan(&mut processed);
        processed
    }

    /// Gives a page up that failed too often.
    fn plan(&self, processed: &mut Processed) {
        let schedule = &self.config.schedule;
        let visit = &processed.visited.visit;
        let past = processed.job.lease.row.past.as_ref();
        let failures = past.map_or(0, |past| past.failures).saturating_add(1);
        let ended = processed.job.ended;
        let hopeless = visit.change == Change::Failed && failures >= schedule.give_up_after;
        processed.verdict = hopeless.then(|| (Refusal::ErrorHistory, Some(schedule.rarely(ended))));
    }
}

/// A body with its content codings undone.
pub(crate) fn unpack<'a>(response: &Response, body: &'a [u8], caps: decode::Caps) -> Decoded<'a> {
    decode::decode(response.header("content-encoding").unwrap_or_default(), body, caps)
}

fn document<'a>(response: &'a Response, bytes: &'a [u8], url: &'a str) -> Document<'a> {
    Document { bytes, content_type: response.header("content-type"), url }
}

/// What a page is that came with status 200.
fn nature_of(lease: &Lease, extracted: &Extracted<'_>, read: Option<&Read>, at: Time) -> Nature {
    // A list that turns out to be a page is no page that was looked for.
    let (Content::Page(page), Some(read), Kind::Page) = (&extracted.content, read, lease.row.kind)
    else {
        return Nature::Itself;
    };
    let (url, held) = (&lease.row.url, lease.row.held());
    let judge = |manner| nature::of_page(url, page, read.outline(), held, manner);
    match judge(lease.manner.as_ref()) {
        // The host may have been given up since it was asked.
        Nature::Itself if lease.manner.is_some() && lease.doubts_manner(at) => match judge(None) {
            Nature::Suspect(Outcome::Parked) => Nature::Suspect(Outcome::Parked),
            _ => Nature::Itself,
        },
        nature => nature,
    }
}

/// Tells of a visit that found something else in the place of the page, which leaves what is held of
/// the page as it is; false when it is the page itself.
fn substitutes(visited: &mut Visited, row: &PageRow, nature: Nature) -> bool {
    let (outcome, proven) = match nature {
        Nature::Itself => return false,
        Nature::Suspect(outcome) => (outcome, false),
        Nature::Substitute(outcome) => (outcome, true),
    };
    // One answer may be a slip: what is held is not given up for it.
    let again = row.past.as_ref().is_some_and(|past| past.outcome == outcome);
    let believed = proven && (!row.held() || again);
    visited.visit.outcome = outcome;
    visited.visit.change = if believed { Change::Gone } else { Change::Failed };
    visited.visit.score = if believed { Score::ALL } else { Score::NONE };
    visited.validators = None;
    true
}

/// Whether an answer means that a page is gone. A 404 may be a slip: where content is held, it takes
/// two in a row.
fn is_gone(status: u16, row: &PageRow) -> bool {
    let before = row.past.as_ref().map(|past| past.status);
    match status {
        410 => true,
        404 => !row.held() || before == Some(404),
        _ => false,
    }
}

/// How a fetch without an answer ended.
fn outcome_of(failure: &Failure) -> Outcome {
    match failure {
        Failure::Dns(_) => Outcome::Dns,
        Failure::Connect(_) | Failure::Disconnected => Outcome::Connect,
        Failure::Tls(_) => Outcome::Tls,
        Failure::Timeout(_) => Outcome::Timeout,
        Failure::Forbidden(_) => Outcome::Forbidden,
        _ => Outcome::Protocol,
    }
}

fn visit_of(job: &Job, outcome: Outcome, status: u16, change: Change) -> Visit {
    Visit {
        page: job.lease.page,
        at: job.asked,
        outcome,
        status,
        change,
        score: Score::NONE,
        digest: None,
        bytes: 0,
        ms: u32::try_from(job.fetched.times.total.as_millis()).unwrap_or(u32::MAX),
        record: None,
        near: None,
    }
}

/// What to ask "changed since?" with next time: as the answer says, whatever it says.
fn validators_of(fetched: &Fetched) -> Option<Validators> {
    let response = fetched.result.as_ref().ok()?;
    let short = |name| response.header(name).filter(|value| value.len() <= 256).map(str::to_owned);
    let found = Validators { etag: short("etag"), last_modified: short("last-modified") };
    // A 304 need not repeat them, and an error page's are not the page's.
    let keeps_old = response.status == 304 && found.is_empty() || response.status >= 400;
    (!keeps_old).then_some(found)
}

/// What the page and its headers ask of us.
fn directives(config: &CrawlConfig, response: &Response, extracted: &Extracted<'_>) -> Directives {
    let mut all = Directives::default();
    if !config.take.page_directives {
        return all;
    }
    for value in response.headers.get_all("x-robots-tag") {
        let value = String::from_utf8_lossy(value.as_bytes());
        all |= Directives::from_header(&value, &config.agent);
    }
    if let Content::Page(page) = &extracted.content {
        for (name, content) in &page.robots {
            all |= Directives::from_meta(name, content, &config.agent);
        }
    }
    all
}

/// The text that a reader of the document sees.
fn text_of<'a>(extracted: &'a Extracted<'_>) -> Option<&'a str> {
    match &extracted.content {
        Content::Page(page) => Some(&page.text),
        Content::Text(text) => Some(text),
        Content::Listing(_) | Content::Nothing => None,
    }
}

/// True when a list is looked for where lists usually are. One that was visited before has records, which are not to
/// be left without a page.
fn is_guess(row: &PageRow) -> bool {
    row.guess && row.kind == Kind::Sitemap && row.past.is_none()
}

fn kind_of(found: extract::Kind, before: Kind) -> Kind {
    match found {
        extract::Kind::Sitemap | extract::Kind::SitemapIndex => Kind::Sitemap,
        extract::Kind::Rss | extract::Kind::Atom | extract::Kind::JsonFeed => Kind::Feed,
        _ => before,
    }
}

fn truncated(why: Truncation) -> archive::Truncated {
    match why {
        Truncation::Size => archive::Truncated::Length,
        Truncation::Time => archive::Truncated::Time,
        Truncation::Disconnect => archive::Truncated::Disconnect,
    }
}
