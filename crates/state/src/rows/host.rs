//! What is kept of a host: its row, its robots.txt, and how it answers for what does not exist.

use std::net::IpAddr;
use std::time::Duration;

use evercrawl_model::{Band, RobotsCopy, Time};

use crate::StateError;
use crate::codec::{Reader, Writer};

pub(crate) const HOST: u8 = 1;
pub(crate) const ROBOTS: u8 = 1;
pub(crate) const SOFT_404: u8 = 1;

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
            front: row.maybe(|row| Ok((Band::of_front_queue(row.byte()?), row.time()?)))?,
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

/// How a host answers for what does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Soft404Row {
    /// When that was found out.
    pub at: Time,
    /// The answer, in a form that means something to the engine alone.
    pub manner: Box<[u8]>,
}

pub(crate) fn encode_soft_404(at: Time, manner: &[u8]) -> Vec<u8> {
    let mut out = Writer::new(SOFT_404);
    out.time(at);
    out.bytes(manner);
    out.finish()
}

pub(crate) fn decode_soft_404(row: &[u8]) -> Result<Soft404Row, StateError> {
    let mut row = Reader::new(row, SOFT_404)?;
    Ok(Soft404Row { at: row.time()?, manner: row.bytes()?.into() })
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
