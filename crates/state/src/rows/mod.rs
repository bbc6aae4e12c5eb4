//! What is kept of a page, a host, a visit? Compact rows, each with a format byte.
//!
//! Rows are written in the latest format and read in every format that there was: a data directory is
//! brought up to date row by row, as its rows change. What an older row lacks is what a page has of
//! which it is not known yet.
//!
//! | format | page | visit |
//! |---|---|---|
//! | 1 | without what the scheduler and the comparison keep, nor who announced it | without a score |
//! | 2 | with them; its importance may follow at the end | with one; how it turned the page's life may follow |
//! | 3 | also with why its last visit failed, and whether what is held of it is cut | also with why it failed |
//! | 4 | | what of it was noise may follow |

mod host;
mod log;

use evercrawl_model::{
    Band, Cause, Discovery, Importance, LifeState, Outcome, PageKey, PageKind, PolicyNotes,
    Refusal, Time, Validators,
};

use crate::StateError;
use crate::codec::{Reader, Writer};

pub(crate) use host::{HOST, ROBOTS, SOFT_404};
pub use host::{HostRow, Soft404Row};
pub(crate) use host::{decode_robots, decode_soft_404, encode_robots, encode_soft_404};
pub(crate) use log::{Logged, VISIT, decode_notice, encode_notice, is_notice};

pub(crate) const PAGE: u8 = 3;
/// In a row of format 3: what is held of the page is cut. The rest of the byte is a cause's number.
const CUT: u8 = 0x80;
const PLACE_RECHECK: u8 = 0xff;

/// Where a page waits in its host's back queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Among the pages never visited: its band, and its turn within the band.
    New(Band, u64),
    /// Among the pages to come back to: when, or sooner where the budget allows it.
    Due(Time),
    /// Among the pages that there is little hope for: not before when.
    Recheck(Time),
}

impl Place {
    /// Where what a host is to be asked waits: before all its pages, some of which wait for the answer.
    pub const QUESTION: Place = Place::New(Band::FIRST, 0);
}

/// What stands of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageStatus {
    /// Known, never visited.
    New,
    /// Visited; to be visited again.
    Live,
    /// Its server says that it is gone.
    Gone,
    /// Not to be fetched.
    Refused(Refusal),
}

/// A page's row.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRow {
    /// The canonical URL.
    pub url: String,
    /// What it is for.
    pub kind: PageKind,
    /// Links away from a seed.
    pub depth: u16,
    /// Redirects that led here without a page between.
    pub hops: u8,
    /// The page it was found on.
    pub via: Option<PageKey>,
    /// The number of the page that announces it and its like, where one does.
    pub hub: Option<u32>,
    /// The set of tags it inherits.
    pub tags: u32,
    /// True when the user gave it.
    pub seed: bool,
    /// True when it is a guess: a bare domain by `https`, or a usual place that may be empty.
    pub guess: bool,
    /// When it was found.
    pub found: Time,
    /// When its source says it last changed.
    pub claimed_change: Option<Time>,
    /// What stands of it.
    pub status: PageStatus,
    /// Where it waits; `None` when it does not.
    pub place: Option<Place>,
    /// What the visits so far have taught.
    pub past: Option<Past>,
    /// How much it matters; rows from before that was known end without it.
    pub importance: Importance,
}

/// What the visits to a page have taught.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// How many visits there were.
    pub visits: u32,
    /// How many checks could have seen a change (visits with content before them).
    pub checks: u32,
    /// How many of the checks saw one.
    pub changes: u32,
    /// Seconds that the checks span.
    pub watched: f32,
    /// When the last visit was.
    pub last_visit: Time,
    /// When its content was last looked at with success.
    pub last_look: Option<Time>,
    /// When a change was last seen.
    pub last_change: Option<Time>,
    /// How the last visit ended.
    pub outcome: Outcome,
    /// Its status.
    pub status: u16,
    /// Failures in a row.
    pub failures: u8,
    /// Digest of the content held.
    pub digest: Option<[u8; 20]>,
    /// Fingerprint of its text.
    pub simhash: Option<u64>,
    /// What its text is compared with.
    pub memory: Option<Box<[u8]>>,
    /// What to ask "changed since?" with.
    pub validators: Validators,
    /// The last visit's number in the visit log.
    pub log: u64,
    /// What the scheduler keeps of the page.
    pub noted: PolicyNotes,
    /// What exactly went wrong at the last visit, if anything did.
    pub cause: Option<Cause>,
    /// True when the content held did not arrive whole. It gives way to the first that does.
    pub is_cut: bool,
}

impl Past {
    /// Digest of the content held, if that arrived whole.
    pub fn whole_digest(&self) -> Option<[u8; 20]> {
        self.digest.filter(|_| !self.is_cut)
    }
}

impl PageRow {
    /// The row of a page that was just found, and waits at `place`.
    pub(crate) fn found(found: &Discovery, place: Place) -> Self {
        PageRow {
            url: found.url.to_string(),
            kind: found.kind,
            depth: found.depth,
            hops: found.hops,
            via: found.via,
            hub: found.hub,
            tags: found.tags,
            seed: found.seed,
            guess: found.guess,
            found: found.at,
            claimed_change: found.claimed_change,
            status: PageStatus::New,
            place: Some(place),
            past: None,
            importance: found.importance,
        }
    }

    /// The row as it stands in the store.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new(PAGE);
        out.text(&self.url);
        out.byte(self.kind.number() | u8::from(self.seed) << 7 | u8::from(self.guess) << 6);
        out.number(self.depth.into());
        out.byte(self.hops);
        out.maybe(self.via, Writer::page);
        out.maybe(self.hub, |out, hub| out.fixed(&hub.to_le_bytes()));
        out.number(self.tags.into());
        out.time(self.found);
        out.maybe(self.claimed_change, Writer::time);
        encode_status(&mut out, self.status);
        encode_place(&mut out, self.place);
        out.maybe(self.past.as_ref(), encode_past);
        if self.importance != Importance::UNKNOWN {
            out.byte(self.importance.number());
        }
        out.finish()
    }

    /// Reads what [`encode`](Self::encode) wrote.
    pub fn decode(row: &[u8]) -> Result<Self, StateError> {
        let (mut row, format) = Reader::up_to(row, PAGE)?;
        let url = row.text()?.to_owned();
        let flags = row.byte()?;
        let kind = PageKind::from_number(flags & 0x3f).unwrap_or_default();
        Ok(PageRow {
            url,
            kind,
            seed: flags & 0x80 != 0,
            guess: flags & 0x40 != 0,
            depth: row.small()?,
            hops: row.byte()?,
            via: row.maybe(Reader::page)?,
            hub: match format {
                1 => None,
                _ => row.maybe(|row| Ok(u32::from_le_bytes(row.array()?)))?,
            },
            tags: row.small()?,
            found: row.time()?,
            claimed_change: row.maybe(Reader::time)?,
            status: decode_status(&mut row)?,
            place: decode_place(&mut row)?,
            past: row.maybe(|row| decode_past(row, format))?,
            importance: match row.is_empty() {
                true => Importance::UNKNOWN,
                false => Importance::from_number(row.byte()?),
            },
        })
    }

    /// The URL in an encoded row, without reading the rest.
    pub(crate) fn url_of(row: &[u8]) -> Result<&str, StateError> {
        Reader::up_to(row, PAGE)?.0.text()
    }

    /// True when its server said at the last visit that it moved for good.
    pub fn is_moved(&self) -> bool {
        let past = self.past.as_ref();
        past.is_some_and(|p| p.outcome == Outcome::Redirect && matches!(p.status, 301 | 308))
    }

    /// Where the page is in its life.
    pub fn life(&self) -> LifeState {
        let Some(past) = &self.past else {
            return if let PageStatus::Refused(_) = self.status {
                LifeState::Refused
            } else {
                LifeState::New
            };
        };
        match (self.status, past.outcome) {
            (PageStatus::Refused(_), _) => LifeState::Refused,
            (PageStatus::New, _) => LifeState::New,
            (PageStatus::Gone, Outcome::SoftGone) => LifeState::SoftGone,
            (PageStatus::Gone, Outcome::LoginWall) => LifeState::LoginWall,
            (PageStatus::Gone, Outcome::Parked) => LifeState::Parked,
            (PageStatus::Gone, _) => LifeState::Gone,
            (PageStatus::Live, _) if past.failures > 0 => LifeState::Failing,
            (PageStatus::Live, _) if self.is_moved() => LifeState::Moved,
            (PageStatus::Live, _) => LifeState::Live,
        }
    }

    /// True when content of this page is held that arrived whole.
    pub fn held(&self) -> bool {
        let whole = self.past.as_ref().and_then(Past::whole_digest);
        self.status == PageStatus::Live && whole.is_some()
    }

    /// True when what is held of this page did not arrive whole.
    pub fn held_cut(&self) -> bool {
        self.status == PageStatus::Live && self.past.as_ref().is_some_and(|past| past.is_cut)
    }
}

pub(crate) fn encode_status(out: &mut Writer, status: PageStatus) {
    match status {
        PageStatus::New => out.byte(0),
        PageStatus::Live => out.byte(1),
        PageStatus::Gone => out.byte(2),
        PageStatus::Refused(reason) => out.byte(3 + reason.number()),
    }
}

pub(crate) fn decode_status(row: &mut Reader<'_>) -> Result<PageStatus, StateError> {
    row.code(|n| match n {
        0 => Some(PageStatus::New),
        1 => Some(PageStatus::Live),
        2 => Some(PageStatus::Gone),
        _ => Refusal::from_number(n - 3).map(PageStatus::Refused),
    })
}

pub(crate) fn encode_place(out: &mut Writer, place: Option<Place>) {
    match place {
        None => out.byte(0),
        Some(Place::Due(at)) => {
            out.byte(1);
            out.time(at);
        }
        Some(Place::Recheck(at)) => {
            out.byte(PLACE_RECHECK);
            out.time(at);
        }
        Some(Place::New(band, turn)) => {
            out.byte(2 + band.number());
            out.number(turn);
        }
    }
}

pub(crate) fn decode_place(row: &mut Reader<'_>) -> Result<Option<Place>, StateError> {
    Ok(match row.byte()? {
        0 => None,
        1 => Some(Place::Due(row.time()?)),
        PLACE_RECHECK => Some(Place::Recheck(row.time()?)),
        n => Some(Place::New(Band::new(n - 2), row.number()?)),
    })
}

fn encode_past(out: &mut Writer, past: &Past) {
    out.number(past.visits.into());
    out.number(past.checks.into());
    out.number(past.changes.into());
    out.float(past.watched);
    out.time(past.last_visit);
    out.maybe(past.last_look, Writer::time);
    out.maybe(past.last_change, Writer::time);
    out.byte(past.outcome.number());
    out.number(past.status.into());
    out.byte(past.failures);
    out.maybe(past.digest, |out, digest| out.fixed(&digest));
    out.maybe(past.simhash, |out, hash| out.fixed(&hash.to_le_bytes()));
    out.maybe(past.memory.as_deref(), Writer::bytes);
    out.maybe(past.validators.etag.as_deref(), Writer::text);
    out.maybe(past.validators.last_modified.as_deref(), Writer::text);
    out.number(past.log);
    encode_noted(out, &past.noted);
    out.byte(past.cause.map_or(0, Cause::number) | if past.is_cut { CUT } else { 0 });
}

fn decode_past(row: &mut Reader<'_>, format: u8) -> Result<Past, StateError> {
    let past = decode_past_of_format_2(row, format)?;
    let last = if format < 3 { 0 } else { row.byte()? };
    Ok(Past { cause: Cause::from_number(last & !CUT), is_cut: last & CUT != 0, ..past })
}

fn decode_past_of_format_2(row: &mut Reader<'_>, format: u8) -> Result<Past, StateError> {
    Ok(Past {
        visits: row.small()?,
        checks: row.small()?,
        changes: row.small()?,
        watched: row.float()?,
        last_visit: row.time()?,
        last_look: row.maybe(Reader::time)?,
        last_change: row.maybe(Reader::time)?,
        outcome: row.code(Outcome::from_number)?,
        status: row.small()?,
        failures: row.byte()?,
        digest: row.maybe(Reader::array)?,
        simhash: row.maybe(|row| Ok(u64::from_le_bytes(row.array()?)))?,
        memory: match format {
            1 => None,
            _ => row.maybe(|row| row.bytes().map(Box::from))?,
        },
        validators: Validators {
            etag: row.maybe(|row| row.text().map(str::to_owned))?,
            last_modified: row.maybe(|row| row.text().map(str::to_owned))?,
        },
        log: row.number()?,
        noted: if format == 1 { PolicyNotes::default() } else { decode_noted(row)? },
        cause: None,
        is_cut: false,
    })
}

/// What is not used at the end of the numbers takes no room.
fn encode_noted(out: &mut Writer, noted: &PolicyNotes) {
    let numbers: Vec<f32> = noted.numbers.into_iter().chain([noted.news]).collect();
    let used = numbers.iter().rposition(|number| *number != 0.0).map_or(0, |last| last + 1);
    out.bytes(&numbers[..used].iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>());
    out.float(noted.unmodified);
}

fn decode_noted(row: &mut Reader<'_>) -> Result<PolicyNotes, StateError> {
    let mut noted = PolicyNotes::default();
    let bytes = row.bytes()?.chunks_exact(4).filter_map(|four| four.try_into().ok());
    for (number, four) in noted.numbers.iter_mut().chain([&mut noted.news]).zip(bytes) {
        *number = f32::from_le_bytes(four);
    }
    noted.unmodified = row.float()?;
    Ok(noted)
}

#[cfg(test)]
mod tests;
