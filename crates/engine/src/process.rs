//! What does an answer mean? From bytes to a visit, records and links; off the download path.
//!
//! Pure but for look-ups of what was seen before: no clock, no disk written, no socket.

mod answer;
mod processed;
mod rendered;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use evercrawl_archive as archive;
use evercrawl_compare::{
    self as compare, Fingerprint, NotFoundPage, Outline, PageMemory, Soft404Profile,
};
use evercrawl_extract::decode::Decoded;
use evercrawl_extract::{self as extract, Extractor, LinkSources};
use evercrawl_fetch::{Body, Failure, Fetched, Times};
use evercrawl_model::{
    Cause, Change, HostUpdate, NextVisit, Outcome, PageKind, PolicyNotes, Refusal, Score, Time,
    Visit, Visited,
};
use evercrawl_state::{Past, Reading, StateError, Store};

use self::answer::{
    change_seen, directives, document, is_conditional, is_gone, is_guess, kind_of, nature_of,
    options_for, read_document, read_region, read_text, substitutes, text_of, truncated,
    validators_of, visit_of, whole_past,
};
pub use self::answer::{header_links, outcome_of_answer};
pub(crate) use self::answer::{is_part, outcome_of_failure, unpack};
pub(crate) use self::processed::RecordPlan;
pub use self::processed::{Job, Processed, RenderedPage, Seen};
pub(crate) use self::rendered::was_rendered;
use crate::config::ReadingConfig;
use crate::frontier::Lease;
use crate::links::{FoundLinks, LinkReader};
use crate::nature::{self, Nature};
use crate::novelty::{self, Read};
use crate::recent::{Digest, Recent};
use crate::schedule::{Schedule, is_host_failure, parse_retry_after};

/// Reads answers; one a thread.
pub struct Processor<S> {
    config: ReadingConfig,
    schedule: Schedule,
    links: LinkReader,
    reading: Reading<S>,
    recent: Arc<Recent>,
    extractor: Extractor,
    encoder: archive::Encoder,
    /// Memory for bodies, one after another.
    payload: archive::Payload,
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
        (config, schedule): (ReadingConfig, Schedule),
        links: LinkReader,
        reading: Reading<S>,
        recent: Arc<Recent>,
        ids: Ids,
    ) -> Self {
        let encoder = archive::Encoder::new(config.records.level);
        let (extractor, payload) = (Extractor::new(), archive::Payload::default());
        Processor { config, schedule, links, reading, recent, extractor, encoder, payload, ids }
    }

    /// Tells what an answer means; its records are made for `file`. After handing the result on
    /// in order, the caller settles its claim.
    pub fn process(&mut self, job: Job, file: archive::FileId) -> Result<Processed, StateError> {
        let processed = match &job.fetched.result {
            Err(failure) => Ok(self.failed(outcome_of_failure(failure), job)),
            Ok(response) if response.status == 304 && is_conditional(&job) => {
                self.unmodified(job, file)
            }
            Ok(response) => {
                let body = response.body.clone();
                self.with_body(&body, |reading, payload| reading.answered(job, payload, file))
            }
        }?;
        if processed.job.lease.row.guess {
            let useful = processed.led_somewhere();
            self.links.guesses().answered(processed.job.lease.page, useful);
        }
        Ok(processed)
    }

    /// No answer came.
    fn failed(&self, (outcome, cause): (Outcome, Cause), job: Job) -> Processed {
        let visit = visit_of(&job, outcome, 0, Change::Failed);
        let visit = Visit { cause: Some(cause), ..visit };
        let mut processed = self.processed(visit, job);
        if outcome == Outcome::Forbidden {
            processed.verdict = Some((Refusal::PrivateAddress, None));
        }
        processed
            .links
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
        self.confirm_unmodified(&mut processed);
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

    /// After a visit in doubt, a 304 says that all of it stayed; after others, that places of noise stood still.
    fn confirm_unmodified(&self, processed: &mut Processed) {
        let lease = &processed.job.lease;
        let past = lease.row.past.as_ref();
        let memory = past.and_then(|past| past.memory.as_deref());
        let Some(mut memory) = memory.and_then(PageMemory::from_bytes) else { return };
        let visited = &mut processed.visited;
        let Some(news) = memory.confirm() else {
            visited.observed = novelty::observed(&memory.hold_still(&lease.template_memory));
            return;
        };
        let least = self.schedule.least_change;
        let news = memory.accumulate_news(news, least);
        (visited.visit.change, visited.visit.score) = novelty::judge_news(news, least);
        visited.memory = Some(memory.to_bytes().into());
    }

    /// Has `read` take a body in one piece, where it can be recorded from without another copy.
    fn with_body<T>(
        &mut self,
        body: &Body,
        read: impl FnOnce(&mut Self, &mut archive::Payload) -> T,
    ) -> T {
        let mut payload = std::mem::take(&mut self.payload);
        payload.gather(body.pieces());
        let done = read(self, &mut payload);
        payload.clear();
        self.payload = payload;
        done
    }

    /// An answer with a body of its own.
    fn answered(
        &mut self,
        job: Job,
        payload: &mut archive::Payload,
        file: archive::FileId,
    ) -> Result<Processed, StateError> {
        let Ok(response) = &job.fetched.result else {
            return Ok(self.failed((Outcome::Protocol, Cause::BadHead), job));
        };
        let (status, body) = (response.status, payload.as_bytes());
        let unpacked =
            matches!(status, 200..=299).then(|| unpack(response, body, self.config.unpack));
        let (outcome, cause) = outcome_of_answer(response, unpacked.as_ref(), is_conditional(&job));
        let digest = compare::Digest::of_bytes(body);
        let visit = Visit { cause, ..visit_of(&job, outcome, status, Change::Failed) };
        let mut processed = self.processed(visit, job);
        processed.visited.visit.bytes = body.len() as u64;
        processed.visited.visit.digest = Some(digest.to_bytes());
        let mut kept = true;
        let mut media_type = None;
        if processed.job.lease.row.kind == PageKind::Probe {
            processed.soft_404_profile = self.read_soft_404_profile(&processed, unpacked.as_ref());
            return Ok(processed);
        }
        let unwanted = self.is_unwanted(&processed);
        let unpacked = unpacked.as_ref().map_or(body, |unpacked| &*unpacked.bytes);
        match outcome {
            Outcome::Cut if unwanted => kept = false,
            Outcome::Cut => (kept, media_type) = self.cut(&mut processed, unpacked, digest),
            Outcome::Ok if unwanted => {
                kept = false;
                let past = whole_past(&processed.job.lease.row);
                self.compare(&mut processed.visited, past, digest, None)?;
            }
            Outcome::Ok => (kept, media_type) = self.content(&mut processed, unpacked, digest)?,
            Outcome::Redirect => {
                self.redirect(&mut processed);
                self.read_body_of_redirect(&mut processed, unpacked);
            }
            Outcome::ClientError if is_gone(status, &processed.job.lease.row) => {
                processed.visited.visit.change = Change::Gone;
                processed.visited.visit.score = Score::ALL;
            }
            _ => {}
        }
        self.plan(&mut processed);
        kept &= !processed.is_empty_guess();
        if unwanted && matches!(outcome, Outcome::Ok | Outcome::Cut) {
            processed.verdict = Some((Refusal::ContentType, None));
        }
        if kept {
            self.store(&mut processed, payload, (digest.to_bytes(), media_type), file)?;
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
        unpacked: &[u8],
        digest: compare::Digest,
    ) -> Result<(bool, Option<&'static str>), StateError> {
        let Ok(response) = &processed.job.fetched.result else { return Ok((false, None)) };
        let row = &processed.job.lease.row;
        let dom = rendered::dom_of(&processed.job);
        let document = match &dom {
            Some(dom) => rendered::document(dom, &row.url),
            None => document(response, unpacked, &row.url),
        };
        let digest = dom.as_deref().map_or(digest, rendered::identity);
        let past = whole_past(row);
        let same_bytes = past.is_some_and(|past| past.digest == Some(digest.to_bytes()));
        let options = options_for(&self.links, row, past, same_bytes);
        let extracted = read_document(&mut self.extractor, &document, options, row);
        let is_incomparable = rendered::is_incomparable(row, dom.is_some(), extracted.kind);
        let comparable = past.filter(|_| !is_incomparable);
        if is_guess(row) && extracted.kind == extract::ContentKind::Html {
            // Some hosts show a page for whatever is asked.
            processed.visited.visit.change = Change::Gone;
            return Ok((false, None));
        }
        let directives = directives(&self.config, response, &extracted);
        let lease = &processed.job.lease;
        let least = self.schedule.least_change;
        let is_markup =
            matches!(extracted.kind, extract::ContentKind::Html | extract::ContentKind::Xhtml);
        let region = self.config.regions.of(&row.url).filter(|_| is_markup);
        let declared = region.map(|region| read_region(&document, region, comparable, least));
        let read = read_text(&self.schedule, &processed.job, &extracted, (comparable, same_bytes));
        processed.visited.kind = kind_of(&extracted, row.kind);
        let media_type = Some(extracted.kind.mime());
        let nature = nature_of(lease, &extracted, read.as_ref(), processed.job.ended);
        if substitutes(&mut processed.visited, row, nature) {
            processed.is_in_doubt = matches!(nature, Nature::Suspect(_));
            return Ok((!directives.noarchive, media_type));
        }
        let (lease, at) = (&processed.job.lease, processed.job.ended);
        let found_links = &mut processed.links;
        let headers = header_links(response, self.config.take.sources);
        let read_from = (&extracted, headers.links());
        let kept = self.links.read(lease, read_from, directives.nofollow, at, found_links);
        let refresh = response.header_address("refresh");
        self.links.read_refresh(lease, refresh.as_deref(), directives.nofollow, at, found_links);
        (processed.visited.links, processed.visited.anchors) = (kept.links, kept.anchors);
        processed.topic_likeness =
            self.links.topic_likeness(text_of(&extracted).unwrap_or_default());
        processed.words = read.as_ref().map_or(0, |read| read.outline().words());
        self.compare(&mut processed.visited, past, digest, declared.or(read))?;
        if is_incomparable {
            let visit = &mut processed.visited.visit;
            (visit.change, visit.score) = (Change::Same, Score::NONE);
        }
        self.read_other_links(processed, unpacked, directives.nofollow);
        Ok((!directives.noarchive, media_type))
    }

    /// Reads a page that did not arrive whole. What is held of it stays; only where nothing whole is held, what
    /// came is held until more comes, and led on from. It is no change, whatever it says.
    fn cut(
        &mut self,
        processed: &mut Processed,
        unpacked: &[u8],
        digest: compare::Digest,
    ) -> (bool, Option<&'static str>) {
        let Ok(response) = &processed.job.fetched.result else { return (false, None) };
        let (lease, at) = (&processed.job.lease, processed.job.ended);
        let document = document(response, unpacked, &lease.row.url);
        let options = self.links.options();
        let extracted = read_document(&mut self.extractor, &document, options, &lease.row);
        if is_guess(&lease.row) && extracted.kind == extract::ContentKind::Html {
            processed.visited.visit.change = Change::Gone;
            return (false, None);
        }
        let directives = directives(&self.config, response, &extracted);
        if lease.row.past.as_ref().and_then(Past::whole_digest).is_none() {
            let found_links = &mut processed.links;
            let headers = header_links(response, self.config.take.sources);
            let read_from = (&extracted, headers.links());
            self.links.read(lease, read_from, directives.nofollow, at, found_links);
            processed.visited.identity = Some(digest.to_bytes());
        }
        (!directives.noarchive, Some(extracted.kind.mime()))
    }

    /// What became of the page's content since the last visit.
    fn compare(
        &self,
        visited: &mut Visited,
        past: Option<&evercrawl_state::Past>,
        digest: compare::Digest,
        read: Option<Read>,
    ) -> Result<(), StateError> {
        let comparison = novelty::compare_with_past(past, digest, read.as_ref());
        let (change, score) =
            novelty::judge(&comparison, read.as_ref(), self.schedule.least_change);
        visited.visit.change = change;
        visited.visit.score = score;
        visited.identity = Some(digest.to_bytes());
        let Some(read) = read else { return Ok(()) };
        let same_bytes = past.is_some_and(|past| past.digest == visited.identity);
        if let (Some(print), false) = (read.print(), same_bytes) {
            visited.visit.near = self.recent.near(print, visited.visit.page, &self.reading)?;
        }
        read.hand_over(visited, &comparison);
        Ok(())
    }

    /// A redirect is told apart by where it found_links.
    fn redirect(&self, processed: &mut Processed) {
        let Ok(response) = &processed.job.fetched.result else { return };
        let lease = &processed.job.lease;
        let location = response.header_address("location");
        let target = location.as_deref().map(|to| self.links.target(lease, to));
        let nature = match &target {
            Some(Ok(target)) if lease.row.kind == PageKind::Page => {
                // One that led elsewhere before has no content that could be gone.
                let led = lease.row.past.as_ref().is_some_and(|p| p.outcome == Outcome::Redirect);
                let (url, held) = (&lease.row.url, lease.row.held() && !led);
                nature::of_redirect(url, target.as_str(), held, lease.soft_404_profile.as_ref())
            }
            _ => Nature::Itself,
        };
        if substitutes(&mut processed.visited, &lease.row, nature) {
            processed.is_in_doubt = matches!(nature, Nature::Suspect(_));
            return;
        }
        let identity =
            compare::Digest::of_bytes(location.as_deref().unwrap_or_default().as_bytes());
        let before = lease.row.past.as_ref().and_then(Past::whole_digest);
        processed.visited.visit.change = match before {
            None => Change::New,
            Some(before) if before == identity.to_bytes() => Change::Same,
            Some(_) => Change::Changed,
        };
        let news = processed.visited.visit.change != Change::Same;
        processed.visited.visit.score = if news { Score::ALL } else { Score::NONE };
        processed.visited.identity = Some(identity.to_bytes());
        if let Some(target) = target {
            let (at, found_links) = (processed.job.ended, &mut processed.links);
            processed.visited.links = self.links.redirected(lease, target, at, found_links).links;
        }
    }

    /// Links in the body of a redirect, which no browser shows.
    fn read_body_of_redirect(&mut self, processed: &mut Processed, body: &[u8]) {
        let Ok(response) = &processed.job.fetched.result else { return };
        if self.config.take.sources < LinkSources::All || body.is_empty() {
            return;
        }
        let unpacked = unpack(response, body, self.config.unpack);
        let document = document(response, &unpacked.bytes, &processed.job.lease.row.url);
        let extracted = self.extractor.extract(&document, self.links.options());
        let directives = directives(&self.config, response, &extracted);
        let headers = header_links(response, self.config.take.sources);
        let read_from = (&extracted, headers.links());
        let (lease, at) = (&processed.job.lease, processed.job.ended);
        let found_links = &mut processed.links;
        self.links.read(lease, read_from, directives.nofollow, at, found_links);
    }

    /// How a host answers for what does not exist; `None` where that cannot be told.
    fn read_soft_404_profile(
        &mut self,
        processed: &Processed,
        unpacked: Option<&Decoded<'_>>,
    ) -> Option<Soft404Profile> {
        let response = processed.job.fetched.result.as_ref().ok()?;
        let lease = &processed.job.lease;
        match processed.visited.visit.outcome {
            Outcome::Ok => {
                let document = document(response, &unpacked?.bytes, &lease.row.url);
                let extracted = self.extractor.extract(&document, self.links.options());
                let text = text_of(&extracted).unwrap_or_default();
                Some(Soft404Profile {
                    shows: Some(NotFoundPage::of_outline(&Outline::of_text(text))),
                    leads_to: None,
                })
            }
            Outcome::Redirect => {
                let target =
                    self.links.target(lease, &response.header_address("location")?).ok()?;
                Some(Soft404Profile { shows: None, leads_to: Some(nature::hash(target.as_str())) })
            }
            Outcome::ClientError if response.status != 429 => Some(Soft404Profile::HONEST),
            _ => None,
        }
    }

    /// Stores the answer, or refers to the record that holds its content.
    fn store(
        &mut self,
        processed: &mut Processed,
        payload: &mut archive::Payload,
        (digest, media_type): (Digest, Option<&'static str>),
        file: archive::FileId,
    ) -> Result<(), StateError> {
        let me = processed.holder();
        // Empty bodies are all alike: a reference would say more than it saves. And nothing refers to what is
        // not whole.
        let visit = &processed.visited.visit;
        let alone = visit.bytes == 0 || visit.outcome == Outcome::Cut;
        let holder = if alone { None } else { self.recent.claim(digest, &me, &self.reading)? };
        let first = holder.is_none() && !alone;
        processed.plan = Some(RecordPlan { digest, holder, media_type });
        processed.records = self.encode_in_place(processed, payload, file);
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
        let body = processed.job.fetched.result.as_ref().ok()?.body.clone();
        self.with_body(&body, |reading, payload| reading.encode_in_place(processed, payload, file))
    }

    /// The same where the body lies in memory that it can be recorded from.
    fn encode_in_place(
        &mut self,
        processed: &Processed,
        payload: &mut archive::Payload,
        file: archive::FileId,
    ) -> Option<archive::Encoded> {
        let (job, plan) = (&processed.job, processed.plan.as_ref()?);
        let Ok(response) = &job.fetched.result else { return None };
        let request: &[u8] =
            if self.config.records.requests { &job.fetched.request_bytes } else { &[] };
        let exchange = archive::Exchange {
            uri: &job.lease.row.url,
            date: job.asked,
            ip: job.fetched.ip,
            request,
            head: &response.head,
            payload: &[],
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
        self.encoder.encode_in_place(&exchange, payload, kind, self.ids.draw(), file).ok()
    }

    /// Tells what a visit means of which others kept no content.
    pub(crate) fn seen_by_others(&self, lease: Box<Lease>, seen: Seen, at: Time) -> Processed {
        let times = Times::default();
        let result = Err(Failure::Protocol("its answer is not known".to_owned()));
        let (request_bytes, ip, bytes_on_wire) = (Bytes::new(), None, 0);
        let fetched = Fetched { result, request_bytes, times, ip, bytes_on_wire };
        let past = lease.row.past.as_ref();
        let change = change_seen(&seen, past, &lease.row);
        let job = Job { lease, fetched, rendered: None, asked: at, ended: at };
        let mut visit = visit_of(&job, seen.outcome, seen.status, change);
        visit.bytes = seen.bytes;
        visit.score = if change == Change::Same { Score::NONE } else { Score::ALL };
        visit.digest = seen.content.filter(|(_, is_sha1)| *is_sha1).map(|(digest, _)| digest);
        let mut processed = self.processed(visit, job);
        let holds = matches!(change, Change::New | Change::Changed | Change::Same);
        processed.visited.identity = seen.content.map(|(digest, _)| digest).filter(|_| holds);
        processed
    }

    fn processed(&self, visit: Visit, job: Job) -> Processed {
        let host_trouble = is_host_failure(visit.outcome, visit.status);
        let asked_pause = job.fetched.result.as_ref().ok().and_then(|response| {
            let value = response.header("retry-after").filter(|_| host_trouble)?;
            parse_retry_after(value, job.ended)
        });
        // Those of an answer that is not the page would have its server say that the page is as it was.
        let is_page = !matches!(visit.outcome, Outcome::Cut | Outcome::Protocol);
        let visited = Visited {
            next: NextVisit::Never,
            policy_notes: PolicyNotes::default(),
            identity: None,
            validators: validators_of(&job.fetched).filter(|_| is_page),
            simhash: None,
            memory: None,
            differing: Vec::new(),
            untold: None,
            observed: None,
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
            links: FoundLinks::default(),
            topic_likeness: 0.0,
            words: 0,
            is_in_doubt: false,
            is_imported: false,
            soft_404_profile: None,
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
        let schedule = &self.schedule;
        let visit = &processed.visited.visit;
        let past = processed.job.lease.row.past.as_ref();
        let failures = past.map_or(0, |past| past.failures).saturating_add(1);
        let ended = processed.job.ended;
        let hopeless = visit.change == Change::Failed && failures >= schedule.give_up_after;
        processed.verdict =
            hopeless.then(|| (Refusal::ErrorHistory, Some(schedule.rare_visit(ended))));
    }
}
