//! What is known of a page, and which pages are known?

use std::collections::HashMap;

use evercrawl_engine::Schedule;
use evercrawl_engine::walk::{keeps_waiting, robots_failure};
use evercrawl_model::{HostKey, LifeState, PageKey, PageKind, Refusal, Time};
use evercrawl_state::{HostRow, PageRow, PageStatus, Past, Place, StateError, Store, View};
use evercrawl_urls::Canonical;
use serde::{Deserialize, Serialize};

use crate::code::{At, Code, digest_text, from_hex, hex};
use crate::source::{QueryError, Source};

/// Where a page is in its life; of a live one, whether it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageState {
    /// Waits for its first visit.
    New,
    /// Its next visit time has come.
    Due,
    /// Will be revisited later.
    Resting,
    /// Its last visit failed.
    Failing,
    /// Its server says that it is gone.
    Gone,
    /// Moved permanently.
    Moved,
    /// A page that says "not found" is shown in its place.
    #[serde(rename = "soft_404")]
    SoftGone,
    /// A password form is shown in its place.
    LoginWall,
    /// Its domain is parked.
    Parked,
    /// Will not be fetched.
    Refused,
}

impl PageState {
    /// The state of a page at `now`.
    pub fn of(row: &PageRow, now: Time) -> Self {
        match (row.life(), row.place) {
            (LifeState::Live, Some(Place::Due(at) | Place::Recheck(at))) if at <= now => {
                PageState::Due
            }
            (LifeState::Live, _) => PageState::Resting,
            (LifeState::New, _) => PageState::New,
            (LifeState::Failing, _) => PageState::Failing,
            (LifeState::Gone, _) => PageState::Gone,
            (LifeState::Moved, _) => PageState::Moved,
            (LifeState::SoftGone, _) => PageState::SoftGone,
            (LifeState::LoginWall, _) => PageState::LoginWall,
            (LifeState::Parked, _) => PageState::Parked,
            (LifeState::Refused, _) => PageState::Refused,
        }
    }

    /// Its code.
    pub const fn code(self) -> &'static str {
        match self {
            PageState::New => LifeState::New.code(),
            PageState::Due => "due",
            PageState::Resting => "resting",
            PageState::Failing => LifeState::Failing.code(),
            PageState::Gone => LifeState::Gone.code(),
            PageState::Moved => LifeState::Moved.code(),
            PageState::SoftGone => LifeState::SoftGone.code(),
            PageState::LoginWall => LifeState::LoginWall.code(),
            PageState::Parked => LifeState::Parked.code(),
            PageState::Refused => LifeState::Refused.code(),
        }
    }
}

/// What is known of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageView {
    /// Its canonical URL.
    pub url: String,
    /// Where it is in its life.
    pub state: PageState,
    /// Why it is refused, how its last visit failed, or why its host's pages wait: a code.
    pub reason: Option<String>,
    /// What went wrong with the last request for it, or for its host's robots.txt: the code of an outcome.
    pub cause: Option<String>,
    /// HTTP status of the last visit.
    pub status: Option<u16>,
    /// What it is for.
    pub kind: Code<PageKind>,
    /// Links from a seed.
    pub depth: u16,
    /// The page on which it was first found.
    pub via: Option<String>,
    /// Whether the user gave it.
    pub seed: bool,
    /// Its tags.
    pub tags: Vec<String>,
    /// When it became known.
    pub found: At,
    /// Visits so far.
    pub visits: u32,
    /// Checks that saw a change.
    pub changes: u32,
    /// When the last visit was.
    pub last_visit: Option<At>,
    /// When a change was last seen.
    pub last_change: Option<At>,
    /// When it last changed by the latest signal.
    pub claimed_change: Option<At>,
    /// When it is visited next, its host's pace permitting.
    pub next_due: Option<At>,
    /// SHA-1 of the content held.
    pub digest: Option<String>,
}

/// Which pages are asked for. Without a filter, all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PagesRequest {
    /// Only pages in this state.
    #[serde(default)]
    pub state: Option<PageState>,
    /// Only pages with this reason.
    #[serde(default)]
    pub reason: Option<String>,
    /// Only pages with this tag.
    #[serde(default)]
    pub tag: Option<String>,
    /// Only pages of this host.
    #[serde(default)]
    pub host: Option<String>,
    /// Only pages of hosts that are taken for spam.
    #[serde(default)]
    pub spam: bool,
    /// Only what comes after this cursor, which an earlier answer gave.
    #[serde(default)]
    pub after: Option<String>,
    /// At most so many.
    #[serde(default)]
    pub limit: Option<u64>,
}

/// Some of the pages that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PagesView {
    /// The pages, in the order of the store.
    pub pages: Vec<PageView>,
    /// Where to go on; `None` where there are no more.
    pub next: Option<String>,
}

/// Pages that are read for one answer, and pages that are in it, at most.
const MOST_READ: usize = 5_000;
const MOST_SHOWN: usize = 500;

/// What is known of the page at `url`.
pub fn page<S: Store>(source: &Source<'_, S>, url: &Canonical) -> Result<PageView, QueryError> {
    let (key, row) = source.known_page(url)?;
    Ok(PageReader::new(source.state, source.now)?.view(key, &row)?)
}

/// Some of the pages that are asked for, and where to go on. A call reads a bounded number of pages, so an
/// answer may be empty and yet have a `next`.
pub fn pages<S: Store>(
    source: &Source<'_, S>,
    asked: &PagesRequest,
) -> Result<PagesView, QueryError> {
    let after = asked.after.as_deref().map(parse_cursor).transpose()?;
    let most = asked
        .limit
        .map_or(MOST_SHOWN, |limit| usize::try_from(limit).unwrap_or(MOST_SHOWN).min(MOST_SHOWN));
    let mut reader = PageReader::new(source.state, source.now)?;
    let (mut view, mut last) = (PagesView::default(), after);
    for (read, page) in source.state.pages_after(after).enumerate() {
        if read == MOST_READ || view.pages.len() >= most {
            view.next = last.map(cursor);
            break;
        }
        let (key, row) = page?;
        last = Some(key);
        if reader.is_wanted(asked, key, &row)? {
            view.pages.push(reader.view(key, &row)?);
        }
    }
    Ok(view)
}

fn cursor(page: PageKey) -> String {
    hex(&page.to_bytes())
}

fn parse_cursor(text: &str) -> Result<PageKey, QueryError> {
    let page = from_hex(text).and_then(|bytes| PageKey::from_bytes(&bytes));
    page.ok_or_else(|| QueryError::bad_cursor(text))
}

/// Reads pages as users see them, with what is known of their hosts.
pub(crate) struct PageReader<'a, S> {
    state: &'a View<S>,
    tags: HashMap<u32, String>,
    now: Time,
    /// The host of the last page, and why its pages wait: pages come host by host.
    host: Option<(HostKey, Hold)>,
}

/// Why the pages of a host have to wait, and until when.
#[derive(Clone, Copy, Default)]
struct Hold {
    reason: Option<Refusal>,
    /// What went wrong with robots.txt.
    cause: Option<&'static str>,
    until: Time,
}

impl<'a, S: Store> PageReader<'a, S> {
    pub(crate) fn new(state: &'a View<S>, now: Time) -> Result<Self, StateError> {
        Ok(PageReader { state, tags: state.tag_sets()?, now, host: None })
    }

    fn is_wanted(
        &mut self,
        asked: &PagesRequest,
        key: PageKey,
        row: &PageRow,
    ) -> Result<bool, StateError> {
        let state = asked.state.is_none_or(|state| state == PageState::of(row, self.now));
        let tag = asked.tag.as_deref().is_none_or(|tag| self.tags_of(row).any(|has| has == tag));
        let name = row.url.split('/').nth(2).unwrap_or_default();
        let host = asked.host.as_deref().is_none_or(|host| host == name);
        let reason = match asked.reason.as_deref() {
            Some(code) => {
                self.reason(key, row)? == Some(code) || self.cause(key, row)? == Some(code)
            }
            None => true,
        };
        let spam = !asked.spam || self.state.suspicion(key.host)?.is_some();
        Ok(state && tag && host && reason && spam)
    }

    /// Why a page is refused, how its last visit failed, or why its host's pages wait.
    pub(crate) fn reason(
        &mut self,
        key: PageKey,
        row: &PageRow,
    ) -> Result<Option<&'static str>, StateError> {
        Ok(match (row.status, &row.past) {
            (PageStatus::Refused(reason), _) => Some(reason.code()),
            (_, Some(past)) if has_failed(past) => Some(past.outcome.code()),
            (PageStatus::New, _) => self.hold(key.host, row)?.reason.map(Refusal::code),
            _ => None,
        })
    }

    /// What went wrong when the page was last asked for, or the robots.txt that it waits for.
    fn cause(&mut self, key: PageKey, row: &PageRow) -> Result<Option<&'static str>, StateError> {
        Ok(match (row.status, &row.past) {
            (PageStatus::New | PageStatus::Refused(Refusal::HostDead), None) => {
                self.hold(key.host, row)?.cause.or(self.robots_failure(row)?)
            }
            (_, Some(past)) if past.failures > 0 && !past.outcome.has_answer() => {
                Some(past.outcome.code())
            }
            _ => None,
        })
    }

    /// How the request for the robots.txt of a page ended, where it failed.
    fn robots_failure(&self, row: &PageRow) -> Result<Option<&'static str>, StateError> {
        let Some(url) = Canonical::from_trusted(row.url.clone()) else { return Ok(None) };
        Ok(self.state.robots(url.origin())?.as_ref().and_then(robots_failure))
    }

    fn hold(&mut self, key: HostKey, row: &PageRow) -> Result<Hold, StateError> {
        if let Some((last, hold)) = self.host
            && last == key
        {
            return Ok(hold);
        }
        let mut hold = Hold::default();
        // It holds until the host answers well, not only until it is asked again.
        let troubled = |host: &HostRow| host.blocked_until > self.now || host.failures > 0;
        if let Some(host) = self.state.host(key)?.filter(troubled) {
            hold.until = host.blocked_until;
            hold.reason =
                (host.failures >= Schedule::default().dead_after).then_some(Refusal::HostDead);
            let url = Canonical::from_trusted(row.url.clone());
            let robots = url.map(|url| self.state.robots(url.origin())).transpose()?.flatten();
            if robots.as_ref().is_some_and(keeps_waiting) {
                hold.reason = Some(Refusal::RobotsUnreachable);
                hold.cause = robots.as_ref().and_then(robots_failure);
            }
        }
        self.host = Some((key, hold));
        Ok(hold)
    }

    fn tags_of(&self, row: &PageRow) -> impl Iterator<Item = &str> {
        self.tags.get(&row.tags).map(|tags| tags.split(' ')).into_iter().flatten()
    }

    /// What is known of a page.
    pub(crate) fn view(&mut self, key: PageKey, row: &PageRow) -> Result<PageView, StateError> {
        let via = match row.via {
            Some(key) => self.state.url(key)?,
            None => None,
        };
        let past = row.past.as_ref();
        Ok(PageView {
            url: row.url.clone(),
            state: PageState::of(row, self.now),
            reason: self.reason(key, row)?.map(str::to_owned),
            cause: self.cause(key, row)?.map(str::to_owned),
            status: past.map(|past| past.status).filter(|status| *status > 0),
            kind: Code(row.kind),
            depth: row.depth,
            via,
            seed: row.seed,
            tags: self.tags_of(row).map(str::to_owned).collect(),
            found: At(row.found),
            visits: past.map_or(0, |past| past.visits),
            changes: past.map_or(0, |past| past.changes),
            last_visit: past.map(|past| At(past.last_visit)),
            last_change: past.and_then(|past| past.last_change).map(At),
            claimed_change: row.claimed_change.map(At),
            next_due: self.next_due(key, row)?.map(At),
            digest: past.and_then(|past| past.digest).map(digest_text),
        })
    }

    fn next_due(&mut self, key: PageKey, row: &PageRow) -> Result<Option<Time>, StateError> {
        Ok(match row.place {
            Some(Place::Due(at) | Place::Recheck(at)) => Some(at),
            Some(Place::New(..)) => Some(row.found.max(self.hold(key.host, row)?.until)),
            None => None,
        })
    }
}

fn has_failed(past: &Past) -> bool {
    let status = past.status >= 300 && past.status != 304;
    past.failures > 0 || status || past.outcome.is_substitute()
}
