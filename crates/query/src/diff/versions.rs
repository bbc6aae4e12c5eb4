//! Which versions of a page are archived, and what do they say?

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use evercrawl_archive::{Record, RecordCache};
use evercrawl_compare::{NoiseReason, Outline};
use evercrawl_engine::regions::DeclaredRegion;
use evercrawl_extract::{Content, ContentKind, Document, Extractor, HtmlOptions, decode};
use evercrawl_model::{Outcome, RecordAt, Time, Visit};
use evercrawl_state::{PageRow, Store};
use evercrawl_urls::Canonical;

use crate::source::{QueryError, Source};

/// Memory for records that were read, and the size that one may unpack to.
const CACHE: usize = 64 << 20;
const RECORD_CAP: usize = 1 << 28;

/// Content that a page had from one visit to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version {
    /// The visit that first saw it.
    pub(crate) since: Time,
    /// The visit that last saw it.
    pub(crate) until: Time,
    pub(crate) digest: [u8; 20],
    /// Whether it did not arrive whole.
    pub(crate) cut: bool,
}

/// What the archive holds of a page.
pub(crate) struct Archived<'a, S> {
    source: &'a Source<'a, S>,
    url: &'a Canonical,
    /// The latest first; at least one.
    pub(crate) versions: Vec<Version>,
    /// Where each content of the page was recorded, the latest visit first.
    records: HashMap<[u8; 20], Vec<RecordAt>>,
    cache: RecordCache,
    texts: HashMap<[u8; 20], String>,
    /// The passages of each content that its visits took for noise, and why.
    masked: HashMap<[u8; 20], Vec<(u32, NoiseReason)>>,
}

impl<'a, S: Store> Archived<'a, S> {
    pub(crate) fn open(source: &'a Source<'a, S>, url: &'a Canonical) -> Result<Self, QueryError> {
        let (_, row) = source.known_page(url)?;
        let cache = RecordCache::new(source.segments(), CACHE, RECORD_CAP);
        let (versions, records) = (Vec::new(), HashMap::new());
        let mut archived = Archived {
            source,
            url,
            versions,
            records,
            cache,
            texts: HashMap::new(),
            masked: HashMap::new(),
        };
        archived.read_history(&row)?;
        archived.pass_over_dropped()?;
        if archived.versions.is_empty() {
            let why = if row.past.is_some() { "brought content" } else { "took place" };
            return Err(nothing(format!(
                "{url} is known, but no visit {why} yet",
                url = url.as_str()
            )));
        }
        Ok(archived)
    }

    fn read_history(&mut self, row: &PageRow) -> Result<(), QueryError> {
        let mut settled = HashSet::new();
        for visit in self.source.state.history(row) {
            let (_, visit) = visit?;
            let Some(digest) = content_of(&visit) else { continue };
            let cut = visit.outcome == Outcome::Cut;
            self.records.entry(digest).or_default().extend(visit.record);
            let masked = visit.noise.masked.iter().filter_map(|number| {
                let reason = NoiseReason::from_number((number >> 24) as u8)?;
                Some((number & 0xFF_FFFF, reason))
            });
            self.masked.entry(digest).or_default().extend(masked);
            if !visit.noise.in_doubt {
                settled.insert(digest);
            }
            match self.versions.last_mut() {
                Some(later) if later.digest == digest => later.since = visit.at,
                _ => self.versions.push(Version { since: visit.at, until: visit.at, digest, cut }),
            }
        }
        // What came cut is a version only as long as nothing came whole.
        if self.versions.iter().any(|version| !version.cut) {
            self.versions.retain(|version| !version.cut);
        }
        // What a visit in doubt saw counts as a version once another visit found it again.
        self.versions.retain(|version| settled.contains(&version.digest));
        self.versions.dedup_by(|earlier, later| {
            let same = earlier.digest == later.digest;
            if same {
                later.since = earlier.since;
            }
            same
        });
        Ok(())
    }

    /// Versions whose content was dropped from the archive do not count, as long as others do.
    fn pass_over_dropped(&mut self) -> Result<(), QueryError> {
        let mut kept = Vec::new();
        for version in &self.versions {
            let own = self.records.get(&version.digest).is_some_and(|records| !records.is_empty());
            if own || self.source.state.first_seen(&version.digest)?.is_some() {
                kept.push(*version);
            }
        }
        if !kept.is_empty() {
            self.versions = kept;
        }
        Ok(())
    }

    /// The place of the version that was known at a time.
    pub(super) fn in_force(&self, at: Time) -> Result<usize, QueryError> {
        let found = self.versions.iter().position(|version| version.since <= at);
        found.ok_or_else(|| {
            let first = self.versions.last().map_or(Time::EPOCH, |version| version.since);
            nothing(format!("nothing of it is archived by {at}; the first version is of {first}"))
        })
    }

    /// What a reader saw of a version, a line a block.
    pub(crate) fn text(&mut self, version: &Version) -> Result<String, QueryError> {
        if let Some(text) = self.texts.get(&version.digest) {
            return Ok(text.clone());
        }
        let record = self.record(version)?;
        let text = text_of(&record, self.url.as_str(), self.source.regions.of(self.url.as_str()))
            .ok_or_else(|| {
            nothing(format!("the version of {} has no text to compare", version.since))
        })?;
        self.texts.insert(version.digest, text.clone());
        Ok(text)
    }

    /// From now on nothing is noise.
    pub(super) fn forget_noise(&mut self) {
        self.masked.clear();
    }

    /// What of a version its visits took for noise, and why. What all pages of the site share is among it, though it
    /// is news.
    pub(crate) fn masked(&self, version: &Version) -> &[(u32, NoiseReason)] {
        self.masked.get(&version.digest).map_or(&[], Vec::as_slice)
    }

    /// Where what differs in the text of a version is no news: what its visits left out, and nothing else.
    pub(super) fn noise(&self, version: &Version, text: &str) -> Vec<Range<usize>> {
        let masked = self.masked(version).iter();
        let passing = masked.filter(|(_, reason)| reason.is_passing()).map(|(id, _)| *id);
        let ids: Vec<u32> = passing.collect();
        if ids.is_empty() { Vec::new() } else { Outline::of_text(text).ranges_of(&ids) }
    }

    /// The record that holds the content of a version: one of its own visits, or of the page that
    /// had the same content first.
    fn record(&mut self, version: &Version) -> Result<Arc<Record>, QueryError> {
        let digest = version.digest;
        let own = self.records.get(&digest).cloned().unwrap_or_default();
        if let Some(record) = self.first_whole(&own)? {
            return Ok(record);
        }
        let elsewhere = self.elsewhere(&digest)?;
        self.first_whole(&elsewhere)?.ok_or_else(|| {
            nothing(format!("the content of the version of {} was not kept", version.since))
        })
    }

    /// Where another page's visits recorded the same content.
    fn elsewhere(&self, digest: &[u8; 20]) -> Result<Vec<RecordAt>, QueryError> {
        let state = &self.source.state;
        let Some(first) = state.first_seen(digest)? else { return Ok(Vec::new()) };
        let Some(row) = state.page(first.page)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for visit in state.history(&row) {
            let (_, visit) = visit?;
            found.extend(visit.record.filter(|_| visit.digest == Some(*digest)));
        }
        Ok(found)
    }

    /// The earliest record with a payload of its own; later ones refer to it.
    fn first_whole(&mut self, records: &[RecordAt]) -> Result<Option<Arc<Record>>, QueryError> {
        for at in records.iter().rev() {
            let record = self.cache.read(*at).map_err(|error| {
                let place = format!("WARC file {}, offset {}", at.file, at.offset);
                nothing(format!("cannot read the record of it in {place}: {error}"))
            })?;
            if record.header("WARC-Type") == Some("response") {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }
}

/// There is nothing to compare, and why.
pub(super) fn nothing(message: String) -> QueryError {
    QueryError::Nothing(message)
}

/// What a visit saw of the page itself.
fn content_of(visit: &Visit) -> Option<[u8; 20]> {
    let brought = matches!(visit.outcome, Outcome::Ok | Outcome::NotModified | Outcome::Cut);
    visit.digest.filter(|_| brought)
}

/// What a record says, in its region where one is declared.
pub(crate) fn text_of(
    record: &Record,
    url: &str,
    region: Option<&DeclaredRegion>,
) -> Option<String> {
    let body = unpacked(record);
    let content_type = record.http_headers("content-type").next();
    let document = Document { bytes: &body.bytes, content_type: content_type.as_deref(), url };
    let mut extractor = Extractor::new();
    let extracted = extractor.extract(&document, &HtmlOptions::default());
    let is_markup = matches!(extracted.kind, ContentKind::Html | ContentKind::Xhtml);
    if let Some(region) = region.filter(|_| is_markup) {
        return Some(region.text_of(&document));
    }
    match extracted.content {
        Content::Page(page) => {
            let title = page.title.as_deref().map(|title| format!("{title}\n"));
            Some(title.unwrap_or_default() + &page.text)
        }
        Content::Text(text) => Some(text.into_owned()),
        Content::Listing(listing) => {
            Some(listing.entries.iter().map(|entry| format!("{}\n", entry.url)).collect())
        }
        Content::Nothing => None,
    }
}

/// The payload of a record whose HTTP head says how it is packed.
fn unpacked(record: &Record) -> decode::Decoded<'_> {
    let codings = record.content_codings();
    decode::decode(&codings, record.payload(), decode::DecodeLimits::default())
}
