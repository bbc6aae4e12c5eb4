//! What does an answer say of itself, and of the page that was asked for?

use std::time::Duration;

use evercrawl_archive as archive;
use evercrawl_compare::{LinePlace, PageMemory, SecondLook, SiteMemory, TemplateMemory};
use evercrawl_extract::decode::{self, Decoded};
use evercrawl_extract::{
    self as extract, Content, Document, Extraction, Extractor, HeaderLinks, HtmlOptions, LinkKind,
    LinkSources,
};
use evercrawl_fetch::{
    ConnectFailure, DnsFailure, Failure, FetchPhase, Fetched, Response, TlsFailure, Truncation,
};
use evercrawl_model::{
    Cause, Change, Outcome, PageKind, Score, Time, Validators, Visit, VisitNoise, Visited,
};
use evercrawl_robots::Directives;
use evercrawl_state::{PageRow, Past, Place};

use super::{Job, Seen};
use crate::config::ReadingConfig;
use crate::frontier::Lease;
use crate::links::LinkReader;
use crate::nature::{self, Nature};
use crate::novelty::{Read, Surroundings};
use crate::regions::DeclaredRegion;
use crate::schedule::Schedule;

/// A body with its content codings undone.
pub(crate) fn unpack<'a>(
    response: &Response,
    body: &'a [u8],
    caps: decode::DecodeLimits,
) -> Decoded<'a> {
    decode::decode(&response.content_codings(), body, caps)
}

/// How an answer ended, and what exactly went wrong with it. `decoded` is its body without content codings, where
/// the body matters; `is_conditional` says whether the request had validators.
///
/// A redirect and an error say what they say in their heads: they count even where their bodies are cut.
pub fn outcome_of_answer(
    response: &Response,
    decoded: Option<&Decoded<'_>>,
    is_conditional: bool,
) -> (Outcome, Option<Cause>) {
    match (Outcome::from_status(response.status), cut_cause(response, decoded)) {
        (Outcome::Ok, Some(cause)) => (Outcome::Cut, Some(cause)),
        (Outcome::NotModified, _) if !is_conditional => {
            (Outcome::Protocol, Some(Cause::Unasked304))
        }
        (Outcome::Protocol, _) => (Outcome::Protocol, Some(Cause::BadStatus)),
        (outcome, cause) => (outcome, cause),
    }
}

/// Why a body is not what its server meant to send. What our own cap cut off is not a fault.
fn cut_cause(response: &Response, decoded: Option<&Decoded<'_>>) -> Option<Cause> {
    match response.truncated {
        Some(Truncation::Time) => Some(Cause::CutTime),
        Some(Truncation::Disconnect) => Some(Cause::CutShort),
        Some(Truncation::Reset) => Some(Cause::CutReset),
        Some(Truncation::Chunk) => Some(Cause::CutChunk),
        // What our cap left of a packed body breaks off, of course.
        Some(Truncation::Size) => None,
        None if response.status == 206 && is_part(response.header("content-range")) => {
            Some(Cause::CutPartial)
        }
        None => decoded.filter(|decoded| decoded.is_broken()).map(|_| Cause::CutCoding),
    }
}

/// Whether a range of bytes, such as `bytes 0-99/100`, is less than all of them.
pub(crate) fn is_part(content_range: Option<&str>) -> bool {
    let whole = content_range.and_then(|range| {
        let (range, length) = range.trim().strip_prefix("bytes ")?.split_once('/')?;
        let (first, last) = range.split_once('-')?;
        let number = |text: &str| text.trim().parse::<u64>().ok();
        Some(number(first)? == 0 && number(last)?.checked_add(1)? == number(length)?)
    });
    whole != Some(true)
}

pub(super) fn document<'a>(response: &'a Response, bytes: &'a [u8], url: &'a str) -> Document<'a> {
    Document { bytes, content_type: response.header("content-type"), url }
}

/// The links in the headers of an answer, as far as they are looked for.
pub fn header_links(response: &Response, sources: LinkSources) -> HeaderLinks {
    let mut links = HeaderLinks::default();
    if sources == LinkSources::Pages {
        return links;
    }
    for value in response.headers.get_all("link") {
        links.add_link_header(&evercrawl_fetch::address_text(value.as_bytes()));
    }
    if sources == LinkSources::All {
        let is_redirect = (300..400).contains(&response.status);
        let names = ["content-location", "location"];
        for name in names.into_iter().filter(|name| !is_redirect || *name != "location") {
            let to = response.header_address(name);
            to.iter().for_each(|to| links.add(to, LinkKind::Mention));
        }
    }
    links
}

/// What a page is that came with status 200.
pub(super) fn nature_of(
    lease: &Lease,
    extracted: &Extraction<'_>,
    read: Option<&Read>,
    at: Time,
) -> Nature {
    // A list that turns out to be a page is no page that was looked for.
    let (Content::Page(page), Some(read), PageKind::Page) =
        (&extracted.content, read, lease.row.kind)
    else {
        return Nature::Itself;
    };
    let (url, held) = (&lease.row.url, lease.row.held());
    let judge = |profile| nature::of_page(url, page, read.outline(), held, profile);
    match judge(lease.soft_404_profile.as_ref()) {
        // The host may have been given up since it was asked.
        Nature::Itself if lease.soft_404_profile.is_some() && lease.needs_soft_404_profile(at) => {
            match judge(None) {
                Nature::Suspect(Outcome::Parked) => Nature::Suspect(Outcome::Parked),
                _ => Nature::Itself,
            }
        }
        nature => nature,
    }
}

/// Tells of a visit that found something else in the place of the page, which leaves what is held of
/// the page as it is; false when it is the page itself.
pub(super) fn substitutes(visited: &mut Visited, row: &PageRow, nature: Nature) -> bool {
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
pub(super) fn is_gone(status: u16, row: &PageRow) -> bool {
    let before = row.past.as_ref().map(|past| past.status);
    match status {
        410 => true,
        404 => !row.held() || before == Some(404),
        _ => false,
    }
}

/// What others found of a page's content, as far as what identifies it tells.
pub(super) fn change_seen(seen: &Seen, past: Option<&Past>, row: &PageRow) -> Change {
    let held = past.and_then(Past::whole_digest);
    match (seen.outcome, seen.content) {
        (Outcome::Ok | Outcome::Redirect, _) if held.is_none() => Change::New,
        (Outcome::Ok | Outcome::Redirect, Some((found, _))) if held == Some(found) => Change::Same,
        (Outcome::Ok | Outcome::Redirect, Some(_)) => Change::Changed,
        (Outcome::NotModified, _) if held.is_some() => Change::Same,
        (Outcome::ClientError, _) if is_gone(seen.status, row) => Change::Gone,
        _ => Change::Failed,
    }
}

/// How a fetch without an answer ended.
pub(crate) fn outcome_of_failure(failure: &Failure) -> (Outcome, Cause) {
    match failure {
        Failure::Dns(DnsFailure::NotFound) => (Outcome::Dns, Cause::DnsNotFound),
        Failure::Dns(DnsFailure::Temporary(_)) => (Outcome::Dns, Cause::DnsTemporary),
        Failure::Connect(failure) => (Outcome::Connect, cause_of_connect(failure)),
        Failure::Tls(TlsFailure::Certificate(_)) => (Outcome::Tls, Cause::TlsCertificate),
        Failure::Tls(TlsFailure::Handshake(_)) => (Outcome::Tls, Cause::TlsHandshake),
        Failure::Timeout(phase) => (Outcome::Timeout, cause_of_timeout(*phase)),
        Failure::Forbidden(_) | Failure::ForbiddenName(_) => {
            (Outcome::Forbidden, Cause::PrivateAddress)
        }
        Failure::Proxy(_) => (Outcome::Connect, Cause::Proxy),
        Failure::Disconnected => (Outcome::Disconnected, Cause::Disconnected),
        Failure::HeadTooLarge => (Outcome::Protocol, Cause::HeadTooLarge),
        Failure::NotHttp(_) => (Outcome::Protocol, Cause::NotHttp),
        Failure::BadStatus => (Outcome::Protocol, Cause::BadStatus),
        _ => (Outcome::Protocol, Cause::BadHead),
    }
}

fn cause_of_connect(failure: &ConnectFailure) -> Cause {
    match failure {
        ConnectFailure::Refused => Cause::ConnectRefused,
        ConnectFailure::Unreachable => Cause::ConnectUnreachable,
        ConnectFailure::Reset => Cause::ConnectReset,
        ConnectFailure::Local(_) => Cause::ConnectLocal,
    }
}

fn cause_of_timeout(phase: FetchPhase) -> Cause {
    match phase {
        FetchPhase::Dns => Cause::TimeoutDns,
        FetchPhase::Connect => Cause::TimeoutConnect,
        FetchPhase::Tls => Cause::TimeoutTls,
        FetchPhase::Head => Cause::TimeoutHead,
        FetchPhase::Total => Cause::TimeoutTotal,
    }
}

pub(super) fn visit_of(job: &Job, outcome: Outcome, status: u16, change: Change) -> Visit {
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
        cause: None,
        noise: VisitNoise::default(),
    }
}

/// What to ask "changed since?" with next time: as the answer says, whatever it says, if it is the page.
pub(super) fn validators_of(fetched: &Fetched) -> Option<Validators> {
    let response = fetched.result.as_ref().ok()?;
    let short = |name| response.header(name).filter(|value| value.len() <= 256).map(str::to_owned);
    let found = Validators { etag: short("etag"), last_modified: short("last-modified") };
    // A 304 need not repeat them, and an error page's are not the page's.
    let keeps_old = response.status == 304 && found.is_empty() || response.status >= 400;
    (!keeps_old).then_some(found)
}

/// What the page and its headers ask of us.
pub(super) fn directives(
    config: &ReadingConfig,
    response: &Response,
    extracted: &Extraction<'_>,
) -> Directives {
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
pub(super) fn text_of<'a>(extracted: &'a Extraction<'_>) -> Option<&'a str> {
    match &extracted.content {
        Content::Page(page) => Some(&page.text),
        Content::Text(text) => Some(text),
        Content::Listing(_) | Content::Nothing => None,
    }
}

/// Where the lines of the text stand.
pub(super) fn places_of(extracted: &Extraction<'_>) -> Vec<LinePlace> {
    let Content::Page(page) = &extracted.content else { return Vec::new() };
    let place = |place: &extract::TextPlace| LinePlace {
        start: place.start,
        path: place.path,
        aside: place.aside,
    };
    page.places.iter().map(place).collect()
}

/// Whether the page's last visit waits for a second look.
pub(super) fn is_in_doubt(row: &PageRow) -> bool {
    let memory = row.past.as_ref().and_then(|past| past.memory.as_deref());
    memory.is_some_and(PageMemory::waits_for_second_look)
}

/// Whether what is in doubt at a visit that ended at `at` may wait for a second look; and if the visit is one itself,
/// whether it came in time.
pub(super) fn second_look(schedule: &Schedule, lease: &Lease, at: Time) -> SecondLook {
    if schedule.second_look.is_none() || lease.is_past {
        return SecondLook::Never;
    }
    let (Place::Due(due), Some(past)) = (lease.place, &lease.row.past) else {
        return SecondLook::Soon;
    };
    let pause = due.since(past.last_visit);
    let interval = past.last_look.map_or(Duration::ZERO, |look| past.last_visit.since(look));
    let in_time = (pause * LATE_AFTER + LATE_AT_LEAST).max(interval / LATE_SHARE);
    if at > past.last_visit.after(in_time) { SecondLook::Late } else { SecondLook::Soon }
}

/// A second look that takes so many times as long as it should, and this long besides, is late, unless that is little
/// of the time between the looks before.
const LATE_AFTER: u32 = 4;
const LATE_AT_LEAST: Duration = Duration::from_secs(10);
const LATE_SHARE: u32 = 10;

/// True when a list is looked for where lists usually are. One that was visited before has records, which are not to
/// be left without a page.
pub(super) fn is_guess(row: &PageRow) -> bool {
    row.guess && row.kind == PageKind::Sitemap && row.past.is_none()
}

pub(super) fn kind_of(extracted: &Extraction<'_>, before: PageKind) -> PageKind {
    match extracted.kind {
        extract::ContentKind::Text if matches!(extracted.content, Content::Listing(_)) => {
            PageKind::Sitemap
        }
        extract::ContentKind::Sitemap | extract::ContentKind::SitemapIndex => PageKind::Sitemap,
        extract::ContentKind::Rss | extract::ContentKind::Atom | extract::ContentKind::JsonFeed => {
            PageKind::Feed
        }
        _ => before,
    }
}

pub(super) fn truncated(why: Truncation) -> archive::Truncated {
    match why {
        Truncation::Size => archive::Truncated::Length,
        Truncation::Time => archive::Truncated::Time,
        Truncation::Disconnect | Truncation::Reset => archive::Truncated::Disconnect,
        Truncation::Chunk => archive::Truncated::Unspecified,
    }
}

/// Whether a request had validators, so that "not modified" may be its answer.
pub(super) fn is_conditional(job: &Job) -> bool {
    job.lease.validators_to_send() != (None, None)
}

/// What the visits before taught of a page's content, unless that is cut: then whatever comes whole is the first.
pub(super) fn whole_past(row: &PageRow) -> Option<&Past> {
    row.past.as_ref().filter(|past| !past.is_cut)
}

/// Reads a document. Where a sitemap is looked for, or the user gave the address, a text with an address a line is
/// a sitemap.
pub(super) fn read_document<'a>(
    extractor: &'a mut Extractor,
    document: &Document<'a>,
    options: &HtmlOptions,
    row: &PageRow,
) -> Extraction<'a> {
    let text_sitemap = match row.kind {
        PageKind::Sitemap => extract::Listing::of_text_sitemap(document, false),
        PageKind::Page if row.seed => extract::Listing::of_text_sitemap(document, true),
        _ => None,
    };
    let mut extracted = extractor.extract(document, options);
    if let Some(listing) = text_sitemap {
        extracted.kind = extract::ContentKind::Text;
        extracted.content = Content::Listing(Box::new(listing));
    }
    extracted
}

/// Reads the part of a page that the user declared; in it nothing is masked.
pub(super) fn read_region(
    document: &Document<'_>,
    region: &DeclaredRegion,
    past: Option<&Past>,
    least: f64,
) -> Read {
    let around = Surroundings {
        page: 0,
        places: &[],
        site: &SiteMemory::default(),
        template: &TemplateMemory::default(),
        second_look: SecondLook::Never,
        at: Time::EPOCH,
        same_bytes: false,
        is_unmasked: true,
        region: region.id(),
    };
    Read::new(&region.text_of(document), past, &around, least)
}

/// Reads the text of a page, compared with what is held of it.
pub(super) fn read_text(
    schedule: &Schedule,
    job: &Job,
    extracted: &Extraction<'_>,
    (past, same_bytes): (Option<&Past>, bool),
) -> Option<Read> {
    let lease = &job.lease;
    let around = Surroundings {
        page: lease.page.url,
        places: &places_of(extracted),
        site: &lease.site_memory,
        template: &lease.template_memory,
        second_look: second_look(schedule, lease, job.ended),
        at: job.ended,
        same_bytes,
        is_unmasked: lease.is_unmasked,
        region: 0,
    };
    text_of(extracted).map(|text| Read::new(text, past, &around, schedule.least_change))
}

/// How a page is read. Where nothing differs, nobody asks where it stands.
pub(super) fn options_for<'a>(
    links: &'a LinkReader,
    row: &PageRow,
    past: Option<&Past>,
    same_bytes: bool,
) -> &'a HtmlOptions {
    let is_compared = past.is_some() && (!same_bytes || is_in_doubt(row));
    if is_compared { links.options_with_places() } else { links.options() }
}

#[cfg(test)]
mod tests {
    use evercrawl_fetch::{HeaderMap, Protocol};

    use super::*;

    fn answer(status: u16, headers: &[(&str, &str)], truncated: Option<Truncation>) -> Response {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = evercrawl_fetch::HeaderName::from_bytes(name.as_bytes()).unwrap();
            map.append(name, value.parse().unwrap());
        }
        Response {
            head: bytes::Bytes::new(),
            interim: bytes::Bytes::new(),
            status,
            headers: map,
            body: bytes::Bytes::from_static(b"<p>Half a page").into(),
            truncated,
            chunked: false,
            protocol: Protocol::Http11,
            tls: None,
        }
    }

    #[test]
    fn an_answer_that_is_cut_is_told_from_one_that_we_cut() {
        for (truncated, want) in [
            (None, (Outcome::Ok, None)),
            (Some(Truncation::Size), (Outcome::Ok, None)),
            (Some(Truncation::Time), (Outcome::Cut, Some(Cause::CutTime))),
            (Some(Truncation::Disconnect), (Outcome::Cut, Some(Cause::CutShort))),
            (Some(Truncation::Reset), (Outcome::Cut, Some(Cause::CutReset))),
            (Some(Truncation::Chunk), (Outcome::Cut, Some(Cause::CutChunk))),
        ] {
            let got = outcome_of_answer(&answer(200, &[], truncated), None, false);
            assert_eq!(got, want, "{truncated:?}");
        }
    }

    #[test]
    fn the_status_says_what_it_may_say() {
        let cut = Some(Truncation::Disconnect);
        for (status, truncated, conditional, want) in [
            (304, None, true, (Outcome::NotModified, None)),
            (304, None, false, (Outcome::Protocol, Some(Cause::Unasked304))),
            (101, None, false, (Outcome::Protocol, Some(Cause::BadStatus))),
            (999, None, false, (Outcome::Protocol, Some(Cause::BadStatus))),
            (600, cut, false, (Outcome::Protocol, Some(Cause::BadStatus))),
            (599, None, false, (Outcome::ServerError, None)),
            (301, cut, false, (Outcome::Redirect, Some(Cause::CutShort))),
            (404, cut, false, (Outcome::ClientError, Some(Cause::CutShort))),
        ] {
            let got = outcome_of_answer(&answer(status, &[], truncated), None, conditional);
            assert_eq!(got, want, "{status}");
        }
    }

    #[test]
    fn a_part_that_nobody_asked_for_is_cut() {
        for (range, is_cut) in [
            (None, true),
            (Some("bytes 0-99/100"), false),
            (Some("bytes 0-98/100"), true),
            (Some("bytes 1-99/100"), true),
            (Some("bytes 0-99/*"), true),
            (Some("bytes 0-18446744073709551615/0"), true),
        ] {
            let headers: Vec<_> = range.map(|range| ("content-range", range)).into_iter().collect();
            let got = outcome_of_answer(&answer(206, &headers, None), None, false);
            let want =
                if is_cut { (Outcome::Cut, Some(Cause::CutPartial)) } else { (Outcome::Ok, None) };
            assert_eq!(got, want, "{range:?}");
        }
    }

    #[test]
    fn a_body_that_breaks_within_its_coding_is_cut_and_a_wrong_label_is_not() {
        let caps = decode::DecodeLimits::default();
        for (codings, body, want) in [
            (&["gzip"][..], &b"<p>plain"[..], (Outcome::Ok, None)),
            (&["gzip"], b"\x1f\x8b\x08\0\0", (Outcome::Cut, Some(Cause::CutCoding))),
            (&["identity", "gzip"], b"\x1f\x8b\x08", (Outcome::Cut, Some(Cause::CutCoding))),
            (&["sdch"], b"\x1f\x8b\x08", (Outcome::Ok, None)),
            (&["gzip"], b"", (Outcome::Ok, None)),
        ] {
            let headers: Vec<_> =
                codings.iter().map(|coding| ("content-encoding", *coding)).collect();
            let response = answer(200, &headers, None);
            let decoded = unpack(&response, body, caps);
            assert_eq!(outcome_of_answer(&response, Some(&decoded), false), want, "{codings:?}");
        }
    }

    #[test]
    fn a_failure_has_the_same_name_everywhere() {
        for failure in [
            Failure::Dns(DnsFailure::NotFound),
            Failure::Dns(DnsFailure::Temporary(String::new())),
            Failure::Connect(ConnectFailure::Refused),
            Failure::Connect(ConnectFailure::Unreachable),
            Failure::Connect(ConnectFailure::Reset),
            Failure::Connect(ConnectFailure::Local(String::new())),
            Failure::Tls(TlsFailure::Certificate(String::new())),
            Failure::Tls(TlsFailure::Handshake(String::new())),
            Failure::Forbidden([10, 0, 0, 1].into()),
            Failure::Timeout(FetchPhase::Dns),
            Failure::Timeout(FetchPhase::Connect),
            Failure::Timeout(FetchPhase::Tls),
            Failure::Timeout(FetchPhase::Head),
            Failure::Timeout(FetchPhase::Total),
            Failure::Disconnected,
            Failure::HeadTooLarge,
            Failure::NotHttp(String::new()),
            Failure::BadStatus,
            Failure::Protocol(String::new()),
        ] {
            let (outcome, cause) = outcome_of_failure(&failure);
            assert_eq!(cause.code(), failure.code());
            assert!(!outcome.has_answer(), "{outcome:?}");
        }
    }
}
