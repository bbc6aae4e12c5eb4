//! Which hosts are known, and what holds them up?

use evercrawl_engine::overrides::Overrides;
use evercrawl_engine::waiting::{WaitReason, wait_reason};
use evercrawl_engine::walk::{keeps_waiting, robots_failure};
use evercrawl_model::{HostKey, Time};
use evercrawl_state::{HostRow, StateError, Store};
use serde::{Deserialize, Serialize};

use crate::code::At;
use crate::source::{QueryError, Source};

/// What is known of a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostView {
    /// Its name, with the port where it is not the scheme's default.
    pub host: String,
    /// Whether a seed is on it.
    pub seed: bool,
    /// Known pages.
    pub pages: u64,
    /// Pages that were never visited and wait.
    pub new_pages: u64,
    /// From when on it has something to fetch; `None` where it has nothing, or is being asked.
    pub due_from: Option<At>,
    /// What it waits for, where it has something to fetch.
    pub waits_for: Option<HostWaits>,
    /// No request before this time: it failed, or asked for it.
    pub blocked_until: Option<At>,
    /// No request before this time: its pause between requests.
    pub next_allowed: Option<At>,
    /// Failures in a row.
    pub failures: u16,
    /// How long its last answer took, in milliseconds.
    pub answer_ms: u64,
    /// Its address, where it was resolved.
    pub address: Option<String>,
    /// The stored copies of its robots.txt.
    pub robots: Vec<RobotsCopyView>,
    /// Whether the user paused it.
    pub paused: bool,
    /// Whether the user trusts it, whatever it is taken for.
    pub trusted: bool,
    /// The host that it mirrors.
    pub mirror_of: Option<String>,
    /// The probability that it is spam, where it is taken for spam.
    pub spam_probability: Option<f64>,
}

/// A stored copy of a robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsCopyView {
    /// Scheme, host and port.
    pub origin: String,
    /// When it was fetched.
    pub fetched: At,
    /// The status it came with; `None` where there was no answer.
    pub status: Option<u16>,
    /// When it is fetched again.
    pub expires: At,
    /// Whether it could not be fetched, so that the whole host waits.
    pub unreachable: bool,
    /// What went wrong where no answer came: the code of an outcome.
    pub cause: Option<String>,
}

/// What a host with something to fetch waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostWaits {
    /// The budget, or other hosts first.
    Turn,
    /// Its pause between requests.
    Pace,
    /// The end of its backoff.
    BackOff,
    /// Its robots.txt, which could not be fetched.
    Robots,
    /// The end of your pause.
    Paused,
    /// The time at which something is due.
    NotDue,
}

impl From<WaitReason> for HostWaits {
    fn from(reason: WaitReason) -> Self {
        match reason {
            WaitReason::Turn => HostWaits::Turn,
            WaitReason::Pace => HostWaits::Pace,
            WaitReason::BackOff => HostWaits::BackOff,
            WaitReason::Robots => HostWaits::Robots,
            WaitReason::Paused => HostWaits::Paused,
            WaitReason::NotDue => HostWaits::NotDue,
        }
    }
}

/// Which hosts are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostsRequest {
    /// Only what comes after this cursor, which an earlier answer gave.
    #[serde(default)]
    pub after: Option<String>,
    /// At most so many.
    #[serde(default)]
    pub limit: Option<u64>,
}

/// Some of the hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostsView {
    /// The hosts, in the order of the store.
    pub hosts: Vec<HostView>,
    /// Where to go on; `None` where there are no more.
    pub next: Option<String>,
}

/// Hosts in one answer at most.
const MOST_SHOWN: usize = 500;

/// Some of the hosts that are known, and where to go on.
pub fn hosts<S: Store>(
    source: &Source<'_, S>,
    asked: &HostsRequest,
) -> Result<HostsView, QueryError> {
    let after = asked.after.as_deref().map(parse_cursor).transpose()?;
    let most = asked
        .limit
        .map_or(MOST_SHOWN, |limit| usize::try_from(limit).unwrap_or(MOST_SHOWN).min(MOST_SHOWN));
    let overrides = Overrides::read(source.state)?;
    let (mut view, mut last) = (HostsView::default(), after);
    for host in source.state.hosts_after(after) {
        if view.hosts.len() >= most {
            view.next = last.map(|host| crate::code::hex(&host.to_bytes()));
            break;
        }
        let (key, row) = host?;
        last = Some(key);
        view.hosts.push(view_of_host(source, &overrides, key, &row)?);
    }
    Ok(view)
}

fn parse_cursor(text: &str) -> Result<HostKey, QueryError> {
    let host = crate::code::from_hex(text).and_then(|bytes| HostKey::from_bytes(&bytes));
    host.ok_or_else(|| QueryError::bad_cursor(text))
}

/// What is known of one host.
pub(crate) fn view_of_host<S: Store>(
    source: &Source<'_, S>,
    overrides: &Overrides,
    key: HostKey,
    row: &HostRow,
) -> Result<HostView, QueryError> {
    let (state, now) = (source.state, source.now);
    let later = |at: Time| Some(At(at)).filter(|_| at > now);
    let paused = overrides.is_paused(key);
    let waits = row.front.map(|(_, wake)| wait_reason(state, row, (paused, wake), now));
    let mirror = state.likeness(key)?.filter(|likeness| likeness.is_mirror);
    let mirror = mirror.map(|likeness| source.host_name(likeness.compared_with)).transpose()?;
    Ok(HostView {
        host: row.authority.clone(),
        seed: row.seed,
        pages: row.known.into(),
        new_pages: row.waiting.into(),
        due_from: row.front.map(|(_, wake)| At(wake)),
        waits_for: waits.transpose()?.map(Into::into),
        blocked_until: later(row.blocked_until),
        next_allowed: later(row.next_allowed),
        failures: row.failures,
        answer_ms: u64::try_from(row.answer_time.as_millis()).unwrap_or(u64::MAX),
        address: row.ip.map(|ip| ip.to_string()),
        robots: robots_copies(source, &row.authority)?,
        paused,
        trusted: overrides.is_trusted(key),
        mirror_of: mirror,
        spam_probability: state.suspicion(key)?.map(|spam| spam.probability.into()),
    })
}

fn robots_copies<S: Store>(
    source: &Source<'_, S>,
    authority: &str,
) -> Result<Vec<RobotsCopyView>, StateError> {
    let mut copies = Vec::new();
    for scheme in ["https", "http"] {
        let origin = format!("{scheme}://{authority}");
        if let Some(copy) = source.state.robots(&origin)? {
            copies.push(RobotsCopyView {
                origin,
                fetched: At(copy.at),
                status: Some(copy.status).filter(|status| *status > 0),
                expires: At(copy.expires),
                unreachable: keeps_waiting(&copy),
                cause: robots_failure(&copy).map(str::to_owned),
            });
        }
    }
    Ok(copies)
}
