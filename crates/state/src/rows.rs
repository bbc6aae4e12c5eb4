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

use std::net::IpAddr;
use std::time::Duration;

use evercrawl_model::{
    Band, Change, Discovery, Importance, Kind, Life, Noted, Notice, Outcome, PageKey, RecordAt,
    Refusal, RobotsCopy, Score, Time, Turn, Validators, Visit,
};

use crate::StateError;
use crate::codec::{Reader, Writer};

const PAGE: u8 = 2;
const HOST: u8 = 1;
const VISIT: u8 = 2;
/// Rows of the log that tell of no visit.
const NOTICE: u8 = 0x40;
const ROBOTS: u8 = 1;
const MANNER: u8 = 1;
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

/// What stands of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
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
    pub kind: Kind,
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
    pub standing: Standing,
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
    pub noted: Noted,
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
            standing: Standing::New,
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
        encode_standing(&mut out, self.standing);
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
        let kind = Kind::from_number(flags & 0x3f).unwrap_or_default();
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
            standing: decode_standing(&mut row)?,
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
    pub fn life(&self) -> Life {
        let Some(past) = &self.past else {
            return if let Standing::Refused(_) = self.standing {
                Life::Refused
            } else {
                Life::New
            };
        };
        match (self.standing, past.outcome) {
            (Standing::Refused(_), _) => Life::Refused,
            (Standing::New, _) => Life::New,
            (Standing::Gone, Outcome::SoftGone) => Life::SoftGone,
            (Standing::Gone, Outcome::LoginWall) => Life::LoginWall,
            (Standing::Gone, Outcome::Parked) => Life::Parked,
            (Standing::Gone, _) => Life::Gone,
            (Standing::Live, _) if past.failures > 0 => Life::Failing,
            (Standing::Live, _) if self.is_moved() => Life::Moved,
            (Standing::Live, _) => Life::Live,
        }
    }

    /// True when content of this page is held.
    pub fn held(&self) -> bool {
        self.standing == Standing::Live && self.past.as_ref().is_some_and(|p| p.digest.is_some())
    }
}

pub(crate) fn encode_standing(out: &mut Writer, standing: Standing) {
    match standing {
        Standing::New => out.byte(0),
        Standing::Live => out.byte(1),
        Standing::Gone => out.byte(2),
        Standing::Refused(reason) => out.byte(3 + reason.number()),
    }
}

pub(crate) fn decode_standing(row: &mut Reader<'_>) -> Result<Standing, StateError> {
    row.code(|n| match n {
        0 => Some(Standing::New),
        1 => Some(Standing::Live),
        2 => Some(Standing::Gone),
        _ => Refusal::from_number(n - 3).map(Standing::Refused),
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
}

fn decode_past(row: &mut Reader<'_>, format: u8) -> Result<Past, StateError> {
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
        noted: if format == 1 { Noted::default() } else { decode_noted(row)? },
    })
}

/// What is not used at the end of the numbers takes no room.
fn encode_noted(out: &mut Writer, noted: &Noted) {
    let numbers: Vec<f32> = noted.numbers.into_iter().chain([noted.news]).collect();
    let used = numbers.iter().rposition(|number| *number != 0.0).map_or(0, |last| last + 1);
    out.bytes(&numbers[..used].iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>());
    out.float(noted.unmodified);
}

fn decode_noted(row: &mut Reader<'_>) -> Result<Noted, StateError> {
    let mut noted = Noted::default();
    let bytes = row.bytes()?.chunks_exact(4).filter_map(|four| four.try_into().ok());
    for (number, four) in noted.numbers.iter_mut().chain([&mut noted.news]).zip(bytes) {
        *number = f32::from_le_bytes(four);
    }
    noted.unmodified = row.float()?;
    Ok(noted)
}

/// A host's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRow {
    /// Its name, with the port where it is not the scheme's own.
    pub authority: String,
    /// Its entry among the front queues: the band, and when it has something to fetch.
    pub front: Option<(Band, Time)>,
    /// Known pages.
    pub known: u32,
    /// Pages that were never visited and wait.
    pub waiting: u32,
    /// No request before this moment (its pace).
    pub next_allowed: Time,
    /// No request before this moment, because it asked for it or did not answer.
    pub blocked_until: Time,
    /// Failures in a row.
    pub failures: u16,
    /// Its address.
    pub ip: Option<IpAddr>,
    /// How long its last answer took.
    pub answer_time: Duration,
    /// True when a seed lies on it.
    pub seed: bool,
}

impl HostRow {
    /// A host of which nothing but the name is known.
    pub fn new(authority: String) -> Self {
        HostRow {
            authority,
            front: None,
            known: 0,
            waiting: 0,
            next_allowed: Time::EPOCH,
            blocked_until: Time::EPOCH,
            failures: 0,
            ip: None,
            answer_time: Duration::ZERO,
            seed: false,
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new(HOST);
        out.text(&self.authority);
        out.maybe(self.front, |out, (band, wake)| {
            out.byte(band.number());
            out.time(wake);
        });
        out.number(self.known.into());
        out.number(self.waiting.into());
        out.time(self.next_allowed);
        out.time(self.blocked_until);
        out.number(self.failures.into());
        out.maybe(self.ip, |out, ip| match ip {
            IpAddr::V4(ip) => out.bytes(&ip.octets()),
            IpAddr::V6(ip) => out.bytes(&ip.octets()),
        });
        out.number(u64::try_from(self.answer_time.as_millis()).unwrap_or(u64::MAX));
        out.byte(u8::from(self.seed));
        out.finish()
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, StateError> {
        let mut row = Reader::new(row, HOST)?;
        Ok(HostRow {
            authority: row.text()?.to_owned(),
            front: row.maybe(|row| Ok((Band::of_front(row.byte()?), row.time()?)))?,
            known: row.small()?,
            waiting: row.small()?,
            next_allowed: row.time()?,
            blocked_until: row.time()?,
            failures: row.small()?,
            ip: row.maybe(decode_ip)?,
            answer_time: Duration::from_millis(row.number()?),
            seed: row.byte()? != 0,
        })
    }
}

fn decode_ip(row: &mut Reader<'_>) -> Result<IpAddr, StateError> {
    let bytes = row.bytes()?;
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from))
        .map_err(|_| StateError::Corrupt("address of odd length".into()))
}

/// A row of the log that tells of a visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Logged {
    pub(crate) visit: Visit,
    /// The number of the page's visit before it.
    pub(crate) before: Option<u64>,
    /// How it turned the page's life.
    pub(crate) turn: Option<Turn>,
}

impl Logged {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut row = encode_visit(&self.visit, self.before);
        row.extend(self.turn.map(|turn| turn.from.number() << 4 | turn.to.number()));
        row
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, StateError> {
        let (mut row, format) = Reader::up_to(row, VISIT)?;
        let (visit, before) = read_visit(&mut row, format)?;
        let turn = if row.is_empty() { None } else { Some(read_turn(&mut row)?) };
        Ok(Logged { visit, before, turn })
    }
}

fn read_turn(row: &mut Reader<'_>) -> Result<Turn, StateError> {
    row.code(|n| Some(Turn { from: Life::from_number(n >> 4)?, to: Life::from_number(n & 0xf)? }))
}

/// True when a row of the log tells of no visit.
pub(crate) fn is_notice(row: &[u8]) -> bool {
    row.first() == Some(&NOTICE)
}

pub(crate) fn encode_notice(notice: &Notice) -> Vec<u8> {
    let mut out = Writer::new(NOTICE);
    match *notice {
        Notice::Turned { page, at, turn, reason } => {
            out.byte(0);
            out.page(page);
            out.time(at);
            out.byte(turn.from.number() << 4 | turn.to.number());
            out.byte(reason.number());
        }
        Notice::Site { host, at, passages } => {
            out.byte(1);
            out.fixed(&host.to_bytes());
            out.time(at);
            out.number(passages.into());
        }
    }
    out.finish()
}

pub(crate) fn decode_notice(row: &[u8]) -> Result<Notice, StateError> {
    let mut row = Reader::new(row, NOTICE)?;
    Ok(match row.byte()? {
        0 => Notice::Turned {
            page: row.page()?,
            at: row.time()?,
            turn: read_turn(&mut row)?,
            reason: row.code(Refusal::from_number)?,
        },
        1 => Notice::Site { host: row.host()?, at: row.time()?, passages: row.small()? },
        kind => return Err(StateError::Corrupt(format!("unknown kind of notice {kind}"))),
    })
}

/// A visit of the log, and the number of the page's visit before it.
fn encode_visit(visit: &Visit, before: Option<u64>) -> Vec<u8> {
    let mut out = Writer::new(VISIT);
    out.page(visit.page);
    out.time(visit.at);
    out.byte(visit.outcome.number());
    out.number(visit.status.into());
    out.byte(visit.change.number());
    out.number(visit.score.number().into());
    out.maybe(visit.digest, |out, digest| out.fixed(&digest));
    out.number(visit.bytes);
    out.number(visit.ms.into());
    out.maybe(visit.record, |out, at| {
        out.number(at.file.into());
        out.number(at.offset);
        out.number(at.length.into());
    });
    out.maybe(visit.near, Writer::page);
    out.maybe(before, Writer::number);
    out.finish()
}

fn read_visit(row: &mut Reader<'_>, format: u8) -> Result<(Visit, Option<u64>), StateError> {
    let page = row.page()?;
    let at = row.time()?;
    let outcome = row.code(Outcome::from_number)?;
    let status = row.small()?;
    let change = row.code(Change::from_number)?;
    let visit = Visit {
        page,
        at,
        outcome,
        status,
        change,
        score: match (format, change) {
            // How much of it was news nobody knows any more: it was seen as a change.
            (1, Change::New | Change::Changed) => Score::ALL,
            (1, _) => Score::NONE,
            _ => Score::from_number(row.small()?),
        },
        digest: row.maybe(Reader::array)?,
        bytes: row.number()?,
        ms: row.small()?,
        record: row.maybe(|row| {
            Ok(RecordAt { file: row.small()?, offset: row.number()?, length: row.small()? })
        })?,
        near: row.maybe(Reader::page)?,
    };
    Ok((visit, row.maybe(Reader::number)?))
}

/// How a host answers for what does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MannerRow {
    /// When that was found out.
    pub at: Time,
    /// The answer, in a form that means something to the engine alone.
    pub manner: Box<[u8]>,
}

pub(crate) fn encode_manner(at: Time, manner: &[u8]) -> Vec<u8> {
    let mut out = Writer::new(MANNER);
    out.time(at);
    out.bytes(manner);
    out.finish()
}

pub(crate) fn decode_manner(row: &[u8]) -> Result<MannerRow, StateError> {
    let mut row = Reader::new(row, MANNER)?;
    Ok(MannerRow { at: row.time()?, manner: row.bytes()?.into() })
}

pub(crate) fn encode_robots(copy: &RobotsCopy) -> Vec<u8> {
    let mut out = Writer::new(ROBOTS);
    out.time(copy.at);
    out.time(copy.expires);
    out.number(copy.status.into());
    out.bytes(&copy.body);
    out.finish()
}

pub(crate) fn decode_robots(row: &[u8]) -> Result<RobotsCopy, StateError> {
    let mut row = Reader::new(row, ROBOTS)?;
    Ok(RobotsCopy {
        at: row.time()?,
        expires: row.time()?,
        status: row.small()?,
        body: row.bytes()?.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use evercrawl_model::HostKey;
    use proptest::prelude::*;

    fn full_page() -> PageRow {
        PageRow {
            url: "http://a.test/x?y=1".into(),
            kind: Kind::Feed,
            depth: 3,
            hops: 1,
            via: Some(PageKey { host: HostKey { shard: 1, host: 2 }, url: 3 }),
            hub: Some(4),
            tags: 7,
            seed: true,
            guess: true,
            found: Time::from_millis(1_794_780_950_123),
            claimed_change: Some(Time::from_secs(5)),
            standing: Standing::Refused(Refusal::Robots),
            place: Some(Place::New(Band::new(2), 99)),
            past: Some(Past {
                visits: 4,
                checks: 3,
                changes: 2,
                watched: 12.5,
                last_visit: Time::from_secs(9),
                last_look: Some(Time::from_secs(9)),
                last_change: None,
                outcome: Outcome::NotModified,
                status: 304,
                failures: 2,
                digest: Some([7; 20]),
                simhash: Some(u64::MAX),
                memory: Some([1, 2, 3].into()),
                validators: Validators { etag: Some("\"é\"".into()), last_modified: None },
                log: 12,
                noted: Noted {
                    unmodified: 1.5,
                    numbers: [0.5, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                    news: 0.25,
                },
            }),
            importance: Importance::UNKNOWN,
        }
    }

    #[test]
    fn rows_round_trip() {
        let page = full_page();
        assert_eq!(PageRow::decode(&page.encode()).unwrap(), page);
        assert_eq!(PageRow::url_of(&page.encode()).unwrap(), page.url);
        for place in [Place::Due(Time::from_secs(1)), Place::Recheck(Time::from_secs(1))] {
            let due = PageRow { place: Some(place), past: None, ..page.clone() };
            assert_eq!(PageRow::decode(&due.encode()).unwrap(), due);
        }
        let ranked = PageRow { importance: Importance::of(2.0), ..page.clone() };
        assert_eq!(PageRow::decode(&ranked.encode()).unwrap(), ranked);
        assert_eq!(ranked.encode().len(), page.encode().len() + 1);
        let mut host = HostRow::new("a.test:8080".into());
        host.front = Some((Band::LAST, Time::from_secs(3)));
        host.ip = Some([127, 0, 0, 1].into());
        assert_eq!(HostRow::decode(&host.encode()).unwrap(), host);
        host.ip = Some("::1".parse().unwrap());
        assert_eq!(HostRow::decode(&host.encode()).unwrap(), host);
    }

    #[test]
    fn rows_of_the_log_round_trip() {
        let page = PageKey { host: HostKey { shard: 1, host: 2 }, url: 3 };
        let (at, turn) = (Time::from_secs(7), Turn { from: Life::Refused, to: Life::New });
        for notice in [
            Notice::Turned { page, at, turn, reason: Refusal::Spam },
            Notice::Site { host: page.host, at, passages: 300 },
        ] {
            let row = encode_notice(&notice);
            assert!(is_notice(&row));
            assert_eq!(decode_notice(&row).unwrap(), notice);
            assert!(Logged::decode(&row).is_err(), "no visit");
        }
        let visit = Visit {
            page,
            at,
            outcome: Outcome::Ok,
            status: 200,
            change: Change::New,
            score: Score::ALL,
            digest: Some([1; 20]),
            bytes: 9,
            ms: 1,
            record: None,
            near: None,
        };
        for (before, turn) in [(None, None), (Some(8), Some(turn)), (None, Some(turn))] {
            let logged = Logged { visit: visit.clone(), before, turn };
            assert!(!is_notice(&logged.encode()));
            assert_eq!(Logged::decode(&logged.encode()).unwrap(), logged);
        }
    }

    #[test]
    fn pages_are_somewhere_in_their_lives() {
        let row = |standing, outcome, status, failures| {
            let mut page = full_page();
            page.standing = standing;
            let past = page.past.as_mut().unwrap();
            (past.outcome, past.status, past.failures) = (outcome, status, failures);
            page.life()
        };
        let (live, gone) = (Standing::Live, Standing::Gone);
        assert_eq!(row(live, Outcome::Ok, 200, 0), Life::Live);
        assert_eq!(row(live, Outcome::Redirect, 302, 0), Life::Live);
        assert_eq!(row(live, Outcome::Redirect, 308, 0), Life::Moved);
        assert_eq!(row(live, Outcome::ServerError, 500, 2), Life::Failing);
        assert_eq!(row(live, Outcome::LoginWall, 200, 1), Life::Failing);
        assert_eq!(row(gone, Outcome::ClientError, 404, 0), Life::Gone);
        assert_eq!(row(gone, Outcome::SoftGone, 200, 0), Life::SoftGone);
        assert_eq!(row(gone, Outcome::LoginWall, 200, 0), Life::LoginWall);
        assert_eq!(row(gone, Outcome::Parked, 200, 0), Life::Parked);
        assert_eq!(row(Standing::Refused(Refusal::Robots), Outcome::Ok, 200, 0), Life::Refused);
        let new = PageRow { past: None, standing: Standing::New, ..full_page() };
        assert_eq!(new.life(), Life::New);
        let refused = PageRow { past: None, ..full_page() };
        assert_eq!(refused.life(), Life::Refused);
    }

    #[test]
    fn a_page_never_visited_costs_little_more_than_its_url() {
        let page = PageRow { past: None, claimed_change: None, ..full_page() };
        assert!(page.encode().len() <= page.url.len() + 45, "{}", page.encode().len());
    }

    proptest! {
        #[test]
        fn damaged_rows_are_errors_not_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = bytes;
            if let Some(first) = bytes.first_mut() { *first = [1, 2, NOTICE][usize::from(*first % 3)]; }
            let _ = PageRow::decode(&bytes);
            let _ = HostRow::decode(&bytes);
            let _ = Logged::decode(&bytes);
            let _ = decode_notice(&bytes);
            let _ = decode_robots(&bytes);
            let cut = full_page().encode();
            for len in 0..cut.len() { prop_assert!(PageRow::decode(&cut[..len]).is_err()); }
        }
    }
}
