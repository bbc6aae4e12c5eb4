//! `evercrawl urls`: every known URL, with its state and why.

use std::collections::HashMap;
use std::io::Write;

use evercrawl_engine::Schedule;
use evercrawl_engine::live::SystemClock;
use evercrawl_engine::walk::keeps_waiting;
use evercrawl_model::{HostKey, LifeState, PageKey, Refusal, Time};
use evercrawl_state::{DiskStore, HostRow, PageRow, PageStatus, Past, Place, View};
use evercrawl_urls::Canonical;
use serde_json::{Value, json};

use super::Opened;
use crate::args::{StateArg, Urls};
use crate::{exit, print};

/// Shows the known URLs that `args` asks for.
pub(crate) fn show(args: &Urls, opened: &Opened, out: &mut dyn Write) -> anyhow::Result<u8> {
    let mut pages = Pages::new(&opened.state, SystemClock.now())?;
    for page in opened.state.pages() {
        let (key, row) = page?;
        if !pages.wants(args, key, &row)? {
            continue;
        }
        if args.json {
            print::json_line(out, &pages.describe(key, &row)?)?;
        } else {
            let status = row.past.as_ref().map_or(0, |past| past.status);
            let reason = pages.reason(key, &row)?.unwrap_or("-");
            let (state, url) = (state_of(&row, pages.now), print::plain(&row.url));
            writeln!(out, "{state:<10} {status:<3} {reason:<20} {url}")?;
        }
    }
    out.flush()?;
    Ok(exit::OK)
}

/// Pages as users see them, with what is known of their hosts.
pub(crate) struct Pages<'a> {
    state: &'a View<DiskStore>,
    tags: HashMap<u32, String>,
    now: Time,
    /// The host of the last page, and why its pages wait: pages come host by host.
    host: Option<(HostKey, HostView)>,
}

/// Why the pages of a host have to wait, and until when.
#[derive(Clone, Copy, Default)]
struct HostView {
    waits: Option<Refusal>,
    until: Time,
}

impl<'a> Pages<'a> {
    pub(crate) fn new(state: &'a View<DiskStore>, now: Time) -> anyhow::Result<Self> {
        Ok(Pages { state, tags: state.tag_sets()?, now, host: None })
    }

    fn wants(&mut self, args: &Urls, key: PageKey, row: &PageRow) -> anyhow::Result<bool> {
        let state = args.state.is_none_or(|state| state_name(state) == state_of(row, self.now));
        let tag = args.tag.as_deref().is_none_or(|tag| self.tags_of(row).any(|has| has == tag));
        let why = match args.reason.as_deref() {
            Some(code) => self.reason(key, row)? == Some(code),
            None => true,
        };
        let spam = !args.spam || self.state.suspicion(key.host)?.is_some();
        Ok(state && tag && why && spam)
    }

    /// Why a page is refused, how its last visit failed, or why its host's pages wait.
    pub(crate) fn reason(
        &mut self,
        key: PageKey,
        row: &PageRow,
    ) -> anyhow::Result<Option<&'static str>> {
        Ok(match (row.status, &row.past) {
            (PageStatus::Refused(reason), _) => Some(reason.code()),
            (_, Some(past)) if is_trouble(past) => Some(past.outcome.code()),
            (PageStatus::New, _) => self.host(key.host, row)?.waits.map(Refusal::code),
            _ => None,
        })
    }

    fn host(&mut self, key: HostKey, row: &PageRow) -> anyhow::Result<HostView> {
        if let Some((last, view)) = self.host
            && last == key
        {
            return Ok(view);
        }
        let mut view = HostView::default();
        // It holds until the host answers well, not only until it is asked again.
        let troubled = |host: &HostRow| host.blocked_until > self.now || host.failures > 0;
        let host = self.state.host(key)?.filter(troubled);
        if let Some(host) = host {
            view.until = host.blocked_until;
            view.waits =
                (host.failures >= Schedule::default().dead_after).then_some(Refusal::HostDead);
            let url = Canonical::from_trusted(row.url.clone());
            let robots = url.map(|url| self.state.robots(url.origin())).transpose()?.flatten();
            if robots.as_ref().is_some_and(keeps_waiting) {
                view.waits = Some(Refusal::RobotsUnreachable);
            }
        }
        self.host = Some((key, view));
        Ok(view)
    }

    fn tags_of(&self, row: &PageRow) -> impl Iterator<Item = &str> {
        self.tags.get(&row.tags).map(|tags| tags.split(' ')).into_iter().flatten()
    }

    /// A page as JSON.
    pub(crate) fn describe(&mut self, key: PageKey, row: &PageRow) -> anyhow::Result<Value> {
        let via = match row.via {
            Some(key) => self.state.reading().url(key)?,
            None => None,
        };
        let past = row.past.as_ref();
        let time = |at: Option<Time>| at.map(Time::rfc3339);
        let next_due = match row.place {
            Some(Place::Due(at) | Place::Recheck(at)) => Some(at),
            Some(Place::New(..)) => Some(row.found.max(self.host(key.host, row)?.until)),
            None => None,
        };
        Ok(json!({
            "url": row.url,
            "state": state_of(row, self.now),
            "reason": self.reason(key, row)?,
            "status": past.map(|past| past.status).filter(|status| *status > 0),
            "kind": row.kind.code(),
            "depth": row.depth,
            "via": via,
            "seed": row.seed,
            "tags": self.tags_of(row).collect::<Vec<_>>(),
            "found": row.found.rfc3339(),
            "visits": past.map_or(0, |past| past.visits),
            "changes": past.map_or(0, |past| past.changes),
            "last_visit": time(past.map(|past| past.last_visit)),
            "last_change": time(past.and_then(|past| past.last_change)),
            "claimed_change": time(row.claimed_change),
            "next_due": time(next_due),
            "digest": past.and_then(|past| past.digest).map(digest),
        }))
    }
}

fn is_trouble(past: &Past) -> bool {
    let told = past.status >= 300 && past.status != 304;
    past.failures > 0 || told || past.outcome.is_substitute()
}

fn state_name(state: StateArg) -> &'static str {
    match state {
        StateArg::New => LifeState::New.code(),
        StateArg::Due => "due",
        StateArg::Resting => "resting",
        StateArg::Failing => LifeState::Failing.code(),
        StateArg::Gone => LifeState::Gone.code(),
        StateArg::Moved => LifeState::Moved.code(),
        StateArg::SoftGone => LifeState::SoftGone.code(),
        StateArg::LoginWall => LifeState::LoginWall.code(),
        StateArg::Parked => LifeState::Parked.code(),
        StateArg::Refused => LifeState::Refused.code(),
    }
}

/// The one word for where a page is; of a live one, whether it is due.
pub(crate) fn state_of(row: &PageRow, now: Time) -> &'static str {
    match (row.life(), row.place) {
        (LifeState::Live, Some(Place::Due(at) | Place::Recheck(at))) if at <= now => "due",
        (LifeState::Live, _) => "resting",
        (life, _) => life.code(),
    }
}

/// A digest as WARC writes it.
pub(crate) fn digest(bytes: [u8; 20]) -> String {
    format!("sha1:{}", evercrawl_compare::Digest::from_bytes(bytes))
}
