//! What does the log tell? Visits, and what became of pages and sites without one.

use evercrawl_model::{
    Cause, Change, LifeChange, LifeState, LogNotice, Outcome, RecordAt, Refusal, Score, Visit,
    VisitNoise,
};

use crate::StateError;
use crate::codec::{Reader, Writer};

pub(crate) const VISIT: u8 = 4;
/// Rows that tell of no visit.
pub(super) const NOTICE: u8 = 0x40;

/// A row of the log about a visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Logged {
    pub(crate) visit: Visit,
    /// The number of the page's visit before it.
    pub(crate) before: Option<u64>,
    /// How it turned the page's life.
    pub(crate) turn: Option<LifeChange>,
}

impl Logged {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut row = encode_visit(&self.visit, self.before);
        let turn = self.turn.map(|turn| turn.from.number() << 4 | turn.to.number());
        let noise = &self.visit.noise;
        if noise.is_empty() {
            row.extend(turn);
        } else {
            row.extend([turn.unwrap_or(NO_TURN), u8::from(noise.in_doubt)]);
            row.extend(noise.masked.iter().flat_map(|passage| passage.to_le_bytes()));
        }
        row
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, StateError> {
        let (mut row, format) = Reader::up_to(row, VISIT)?;
        let (mut visit, before) = read_visit(&mut row, format)?;
        let turn = if row.is_empty() { None } else { read_turn(&mut row)? };
        if !row.is_empty() {
            visit.noise = read_noise(&mut row)?;
        }
        Ok(Logged { visit, before, turn })
    }
}

/// In the place of a turn, where there was none and more follows.
const NO_TURN: u8 = 0xff;

fn read_noise(row: &mut Reader<'_>) -> Result<VisitNoise, StateError> {
    let mut noise = VisitNoise { in_doubt: row.byte()? != 0, masked: Vec::new() };
    while !row.is_empty() {
        noise.masked.push(u32::from_le_bytes(row.array()?));
    }
    Ok(noise)
}

fn read_turn(row: &mut Reader<'_>) -> Result<Option<LifeChange>, StateError> {
    row.code(|n| match n {
        NO_TURN => Some(None),
        _ => Some(Some(LifeChange {
            from: LifeState::from_number(n >> 4)?,
            to: LifeState::from_number(n & 0xf)?,
        })),
    })
}

/// True when a row of the log is not about a visit.
pub(crate) fn is_notice(row: &[u8]) -> bool {
    row.first() == Some(&NOTICE)
}

pub(crate) fn encode_notice(notice: &LogNotice) -> Vec<u8> {
    let mut out = Writer::new(NOTICE);
    match *notice {
        LogNotice::LifeChanged { page, at, change: turn, reason } => {
            out.byte(0);
            out.page(page);
            out.time(at);
            out.byte(turn.from.number() << 4 | turn.to.number());
            out.byte(reason.number());
        }
        LogNotice::SiteChanged { host, at, passages } => {
            out.byte(1);
            out.fixed(&host.to_bytes());
            out.time(at);
            out.number(passages.into());
        }
    }
    out.finish()
}

pub(crate) fn decode_notice(row: &[u8]) -> Result<LogNotice, StateError> {
    let mut row = Reader::new(row, NOTICE)?;
    Ok(match row.byte()? {
        0 => LogNotice::LifeChanged {
            page: row.page()?,
            at: row.time()?,
            change: read_turn(&mut row)?
                .ok_or_else(|| StateError::Corrupt("a change of state without one".into()))?,
            reason: row.code(Refusal::from_number)?,
        },
        1 => LogNotice::SiteChanged { host: row.host()?, at: row.time()?, passages: row.small()? },
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
    out.byte(visit.cause.map_or(0, Cause::number));
    out.finish()
}

fn read_visit(row: &mut Reader<'_>, format: u8) -> Result<(Visit, Option<u64>), StateError> {
    let visit = read_visit_without_cause(row, format)?;
    let before = row.maybe(Reader::number)?;
    let cause = if format < 3 { None } else { Cause::from_number(row.byte()?) };
    Ok((Visit { cause, ..visit }, before))
}

fn read_visit_without_cause(row: &mut Reader<'_>, format: u8) -> Result<Visit, StateError> {
    let page = row.page()?;
    let at = row.time()?;
    let outcome = row.code(Outcome::from_number)?;
    let status = row.small()?;
    let change = row.code(Change::from_number)?;
    Ok(Visit {
        page,
        at,
        outcome,
        status,
        change,
        score: match (format, change) {
            // How much of it was new is not known any more: it counts as a change.
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
        cause: None,
        noise: VisitNoise::default(),
    })
}
