//! What does an answer say of itself, and of the page that was asked for?

use std::time::Duration;

use evercrawl_archive as archive;
use evercrawl_compare::{LinePlace, PageMemory, SecondLook};
use evercrawl_extract::decode::{self, Decoded};
use evercrawl_extract::{
    self as extract, Content, Document, Extraction, HeaderLinks, LinkKind, LinkSources,
};
use evercrawl_fetch::{Failure, Fetched, Response, Truncation};
use evercrawl_model::{
    Change, Outcome, PageKind, Score, Time, Validators, Visit, VisitNoise, Visited,
};
use evercrawl_robots::Directives;
use evercrawl_state::{PageRow, Place};

use super::Job;
use crate::config::ReadingConfig;
use crate::frontier::Lease;
use crate::nature::{self, Nature};
use crate::novelty::Read;
use crate::schedule::Schedule;

/// A body with its content codings undone.
pub(crate) fn unpack<'a>(
    response: &Response,
    body: &'a [u8],
    caps: decode::DecodeLimits,
) -> Decoded<'a> {
    decode::decode(response.header("content-encoding").unwrap_or_default(), body, caps)
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
        links.add_link_header(&String::from_utf8_lossy(value.as_bytes()));
    }
    if sources == LinkSources::All {
        let is_redirect = (300..400).contains(&response.status);
        let names = ["content-location", "location"];
        for name in names.into_iter().filter(|name| !is_redirect || *name != "location") {
            response.header(name).into_iter().for_each(|to| links.add(to, LinkKind::Mention));
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

/// How a fetch without an answer ended.
pub(crate) fn outcome_of(failure: &Failure) -> Outcome {
    match failure {
        Failure::Dns(_) => Outcome::Dns,
        Failure::Connect(_) | Failure::Disconnected | Failure::Proxy(_) => Outcome::Connect,
        Failure::Tls(_) => Outcome::Tls,
        Failure::Timeout(_) => Outcome::Timeout,
        Failure::Forbidden(_) | Failure::ForbiddenName(_) => Outcome::Forbidden,
        _ => Outcome::Protocol,
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
        noise: VisitNoise::default(),
    }
}

/// What to ask "changed since?" with next time: as the answer says, whatever it says.
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
    if schedule.second_look.is_none() {
        return SecondLook::Never;
    }
    let (Place::Due(due), Some(past)) = (lease.place, &lease.row.past) else {
        return SecondLook::Soon;
    };
    let pause = due.since(past.last_visit);
    let late = past.last_visit.after(pause * LATE_AFTER + LATE_AT_LEAST);
    if at > late { SecondLook::Late } else { SecondLook::Soon }
}

/// A second look that takes so many times as long as it should, and this long besides, is late.
const LATE_AFTER: u32 = 4;
const LATE_AT_LEAST: Duration = Duration::from_secs(10);

/// True when a list is looked for where lists usually are. One that was visited before has records, which are not to
/// be left without a page.
pub(super) fn is_guess(row: &PageRow) -> bool {
    row.guess && row.kind == PageKind::Sitemap && row.past.is_none()
}

pub(super) fn kind_of(found: extract::ContentKind, before: PageKind) -> PageKind {
    match found {
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
        Truncation::Disconnect => archive::Truncated::Disconnect,
    }
}
