//! What was found to be new, changed or gone, in the order of commits?
//!
//! Every entry has its number in the log. A reader that stores the number of the last entry it dealt with, and
//! asks for what comes after it, gets every later entry once and none twice, over restarts of either side.

use std::ops::Range;
use std::time::Duration;

use evercrawl_archive::{HeadReader, HttpHead};
use evercrawl_model::{
    Change, HostKey, LifeChange, LifeState, LogNotice, Outcome, PageKey, PageKind, Time, Visit,
};
use evercrawl_state::{LogEntry, Store};
use evercrawl_urls::{Base, CanonicalSteps};
use serde::{Deserialize, Serialize};

use crate::code::{At, Code};
use crate::source::{FileNames, QueryError, Source};
use crate::visit::{VisitView, view_of_visit};

/// Which entries of the log are asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangesRequest {
    /// Only entries after this number.
    #[serde(default)]
    pub after: Option<u64>,
    /// Only entries from this time on.
    #[serde(default)]
    pub since: Option<At>,
    /// Also pages that came to another state.
    #[serde(default)]
    pub states: bool,
    /// Also visits that found nothing but noise.
    #[serde(default)]
    pub noise: bool,
    /// Everything, also visits that found nothing new.
    #[serde(default)]
    pub all: bool,
    /// Also what came in by imports: it was seen by others, before.
    #[serde(default)]
    pub imported: bool,
    /// At most so many.
    #[serde(default)]
    pub limit: Option<u64>,
    /// Wait for more while the crawl runs.
    #[serde(default)]
    pub follow: bool,
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeView {
    /// Its number.
    pub number: u64,
    /// What happened.
    #[serde(flatten)]
    pub what: WhatChanged,
}

/// What an entry of the log is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WhatChanged {
    /// A page was visited.
    Visit(VisitEntry),
    /// All pages of a host changed in the same way.
    Site(SiteEntry),
    /// A page came to another state without a visit.
    Page(PageEntry),
}

/// A visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisitEntry {
    /// What it found; always with the URL.
    #[serde(flatten)]
    pub visit: VisitView,
    /// The change of the page's state, where that was asked for and there was one.
    #[serde(flatten)]
    pub life: Option<LifeChangeView>,
    /// What the page is for.
    #[serde(default)]
    pub kind: Option<Code<PageKind>>,
    /// The media type that the server gave, without parameters.
    #[serde(default)]
    pub content_type: Option<String>,
    /// Where a redirect leads.
    #[serde(default)]
    pub target: Option<String>,
    /// Whether bytes differ from those held before, and all that differs is noise.
    #[serde(default)]
    pub noise_only: bool,
    /// Whether the page was gone before, and is still.
    #[serde(default)]
    pub again: bool,
}

impl ChangeView {
    /// The code of what happened.
    pub fn code(&self) -> &'static str {
        match &self.what {
            WhatChanged::Visit(entry) => entry.visit.change.text(),
            WhatChanged::Site(_) => "site",
            WhatChanged::Page(entry) => entry.change.code(),
        }
    }

    /// When it happened.
    pub fn at(&self) -> At {
        match &self.what {
            WhatChanged::Visit(entry) => entry.visit.time,
            WhatChanged::Site(entry) => entry.time,
            WhatChanged::Page(entry) => entry.time,
        }
    }

    /// The page that it happened to; `None` where it was a whole host.
    pub fn url(&self) -> Option<&str> {
        match &self.what {
            WhatChanged::Visit(entry) => entry.visit.url.as_deref(),
            WhatChanged::Site(_) => None,
            WhatChanged::Page(entry) => Some(&entry.url),
        }
    }
}

/// All pages of a host changed in the same way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteEntry {
    /// When enough of its pages had shown it.
    pub time: At,
    /// Always `site`.
    pub change: SiteChange,
    /// The host.
    pub host: String,
    /// How many passages it was; `None` where another template was used.
    pub passages: Option<u32>,
}

/// The code of a change to a whole host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteChange {
    /// All its pages changed in the same way.
    Site,
}

/// A page came to another state without a visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageEntry {
    /// When.
    pub time: At,
    /// Whether it is refused from now on, or no longer.
    pub change: RefusalChange,
    /// The page.
    pub url: String,
    /// From which state to which, and why.
    #[serde(flatten)]
    pub life: LifeChangeView,
}

/// Whether a page is refused from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalChange {
    /// It is refused.
    Refused,
    /// It is not refused any more.
    Restored,
}

impl RefusalChange {
    /// Its code.
    pub const fn code(self) -> &'static str {
        match self {
            RefusalChange::Refused => "refused",
            RefusalChange::Restored => "restored",
        }
    }
}

/// A page went from one state to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LifeChangeView {
    /// Where it was.
    pub from: Code<LifeState>,
    /// Where it is.
    pub to: Code<LifeState>,
    /// Why: the outcome of the visit, or the reason of the refusal.
    pub reason: String,
}

impl LifeChangeView {
    pub(crate) fn new(turn: LifeChange, reason: &str) -> Self {
        LifeChangeView { from: Code(turn.from), to: Code(turn.to), reason: reason.to_owned() }
    }
}

/// Some of the entries that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChangesView {
    /// The entries, in the order of commits.
    pub changes: Vec<ChangeView>,
    /// The number of the last entry that was looked at: ask for what comes after it.
    pub last: Option<u64>,
    /// Visits among those looked at that found nothing but noise, and are not listed.
    #[serde(default)]
    pub masked: u64,
    /// Whether there are no more for now.
    pub complete: bool,
}

/// Entries that are read for one answer, and entries that are in it, at most.
const MOST_READ: u64 = 20_000;
const MOST_SHOWN: usize = 500;
/// A visit is committed at most this long after it began.
const LONGEST_VISIT: Duration = Duration::from_secs(600);

/// Some of the entries that are asked for. A call reads a bounded number, so an answer may be empty and yet
/// not complete: ask again after `last`.
pub fn changes<S: Store>(
    source: &Source<'_, S>,
    asked: &ChangesRequest,
) -> Result<ChangesView, QueryError> {
    let since = asked.since.map_or(Time::EPOCH, |since| since.0);
    let from = match asked.after {
        Some(after) => after.saturating_add(1),
        None => first_since(source, since)?,
    };
    let most = asked
        .limit
        .map_or(MOST_SHOWN, |limit| usize::try_from(limit).unwrap_or(MOST_SHOWN).min(MOST_SHOWN));
    let mut reader = EntryReader::new(source)?;
    let mut view = ChangesView { last: from.checked_sub(1), complete: true, ..Default::default() };
    let imported = if asked.imported { Vec::new() } else { source.state.imported()? };
    for (read, entry) in (0..).zip(source.state.log(from)) {
        if read == MOST_READ || view.changes.len() >= most {
            view.complete = false;
            break;
        }
        let (number, entry) = entry?;
        view.last = Some(number);
        if entry.at() < since || imported.iter().any(|range| range.contains(&number)) {
            continue;
        }
        let noise_only = is_noise_only(source, number, &entry)?;
        let again = is_still_gone(source, number, &entry)?;
        if is_wanted(&entry, again, asked) || asked.noise && noise_only {
            let mut what = reader.what_changed(&entry, asked)?;
            if let WhatChanged::Visit(entry) = &mut what {
                (entry.noise_only, entry.again) = (noise_only, again);
            }
            view.changes.push(ChangeView { number, what });
        } else {
            view.masked += u64::from(noise_only);
        }
    }
    Ok(view)
}

/// Whether an entry is asked for. That a page is `again` gone was told already.
pub(crate) fn is_wanted(entry: &LogEntry, again: bool, asked: &ChangesRequest) -> bool {
    asked.all
        || match entry {
            LogEntry::Visit(visit, turn) => {
                is_news(visit.change) && !again || asked.states && turn.is_some()
            }
            LogEntry::Notice(LogNotice::SiteChanged { .. }) => true,
            LogEntry::Notice(LogNotice::LifeChanged { .. }) => asked.states,
        }
}

pub(crate) fn is_news(change: Change) -> bool {
    matches!(change, Change::New | Change::Changed | Change::Near | Change::Gone)
}

/// Whether a visit found a page gone that was gone before, as rechecks mostly do: that was told already.
pub(crate) fn is_still_gone<S: Store>(
    source: &Source<'_, S>,
    number: u64,
    entry: &LogEntry,
) -> Result<bool, QueryError> {
    let LogEntry::Visit(visit, _) = entry else { return Ok(false) };
    if visit.change != Change::Gone {
        return Ok(false);
    }
    for before in source.state.visits_before(number) {
        match before?.1.change {
            Change::Failed => {}
            change => return Ok(change == Change::Gone),
        }
    }
    Ok(false)
}

/// Whether a visit brought other bytes than those held, and nothing but noise in them.
fn is_noise_only<S: Store>(
    source: &Source<'_, S>,
    number: u64,
    entry: &LogEntry,
) -> Result<bool, QueryError> {
    let LogEntry::Visit(visit, _) = entry else { return Ok(false) };
    // A visit in doubt found something, and nobody knows yet whether it is noise.
    let is_same = visit.change == Change::Same && !visit.noise.in_doubt;
    if !is_same || visit.outcome != Outcome::Ok || visit.digest.is_none() {
        return Ok(false);
    }
    let mut before = source.state.visits_before(number);
    // Visits that failed have no digest, or that of an error page.
    let held = before.find_map(|visit| match visit {
        Ok((_, visit)) if is_content(visit.outcome) => Some(Ok(visit.digest)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    });
    Ok(held.transpose()?.flatten().is_some_and(|held| Some(held) != visit.digest))
}

fn is_content(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Ok | Outcome::NotModified)
}

/// Reads entries of the log as users see them.
pub(crate) struct EntryReader<'a, S> {
    source: &'a Source<'a, S>,
    files: FileNames,
    heads: HeadReader,
}

impl<'a, S: Store> EntryReader<'a, S> {
    pub(crate) fn new(source: &'a Source<'a, S>) -> Result<Self, QueryError> {
        let heads = HeadReader::new(source.segments());
        Ok(EntryReader { source, files: source.file_names()?, heads })
    }

    pub(crate) fn what_changed(
        &mut self,
        entry: &LogEntry,
        asked: &ChangesRequest,
    ) -> Result<WhatChanged, QueryError> {
        Ok(match entry {
            LogEntry::Visit(visit, turn) => {
                let turn = turn.filter(|_| asked.states || asked.all);
                WhatChanged::Visit(self.visit_entry(visit, turn)?)
            }
            LogEntry::Notice(LogNotice::LifeChanged { page, at, change: turn, reason }) => {
                WhatChanged::Page(page_entry(self.source, *page, *at, *turn, reason.code())?)
            }
            LogEntry::Notice(LogNotice::SiteChanged { host, at, passages }) => {
                WhatChanged::Site(site_entry(self.source, *host, *at, *passages)?)
            }
        })
    }

    fn visit_entry(
        &mut self,
        visit: &Visit,
        turn: Option<LifeChange>,
    ) -> Result<VisitEntry, QueryError> {
        let life = turn.map(|turn| LifeChangeView::new(turn, visit.outcome.code()));
        let row = self.source.state.page(visit.page)?;
        let head = self.head(visit);
        let field = |name| head.as_ref().and_then(|head| head.field(name));
        let url = row.as_ref().map(|row| row.url.as_str()).unwrap_or_default();
        let target = field("location").filter(|_| visit.outcome == Outcome::Redirect);
        let target = target.map(|to| joined(url, to));
        let content_type = field("content-type").and_then(media_type);
        let kind = row.as_ref().map(|row| Code(row.kind));
        let url = url.to_owned();
        let mut visit = view_of_visit(self.source, visit, None, &self.files)?;
        visit.url = Some(url);
        Ok(VisitEntry { visit, life, kind, content_type, target, noise_only: false, again: false })
    }

    /// What the server said; nothing where the record cannot be read, which `check` tells of.
    fn head(&mut self, visit: &Visit) -> Option<HttpHead> {
        self.heads.head(visit.record?).ok()?
    }
}

/// Where a link on a page leads, as it is given where it leads nowhere.
fn joined(url: &str, to: &str) -> String {
    let base = Base::new(url, CanonicalSteps::default()).ok();
    let joined = base.and_then(|base| base.join(to).ok());
    joined.map_or_else(|| to.to_owned(), |url| url.as_str().to_owned())
}

fn media_type(field: &str) -> Option<String> {
    let bare = field.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    (!bare.is_empty()).then_some(bare)
}

fn page_entry<S: Store>(
    source: &Source<'_, S>,
    page: PageKey,
    at: Time,
    turn: LifeChange,
    reason: &str,
) -> Result<PageEntry, QueryError> {
    let refused = turn.to == LifeState::Refused;
    Ok(PageEntry {
        time: At(at),
        change: if refused { RefusalChange::Refused } else { RefusalChange::Restored },
        url: source.url(page)?.unwrap_or_default(),
        life: LifeChangeView::new(turn, reason),
    })
}

fn site_entry<S: Store>(
    source: &Source<'_, S>,
    host: HostKey,
    at: Time,
    passages: u32,
) -> Result<SiteEntry, QueryError> {
    Ok(SiteEntry {
        time: At(at),
        change: SiteChange::Site,
        host: source.host_name(host)?,
        passages: Some(passages).filter(|passages| *passages > 0),
    })
}

/// The first number whose visit can have begun at `since` or later. Numbers follow the order of commits, which
/// is that of time except for visits that took long; what came in by an import is in order by itself.
pub(crate) fn first_since<S: Store>(
    source: &Source<'_, S>,
    since: Time,
) -> Result<u64, QueryError> {
    let (mut first, mut low) = (None, 0);
    let end = source.state.counters().logged;
    let imports = source.state.imported()?.into_iter().flat_map(|range| [range.start, range.end]);
    for high in imports.chain([end]) {
        let found = first_within(source, since, low..high)?;
        first = first.or(Some(found).filter(|found| *found < high));
        low = high;
    }
    Ok(first.unwrap_or(end))
}

fn first_within<S: Store>(
    source: &Source<'_, S>,
    since: Time,
    numbers: Range<u64>,
) -> Result<u64, QueryError> {
    let surely_before = since.before(LONGEST_VISIT);
    let (mut low, mut high) = (numbers.start, numbers.end);
    while low < high {
        let middle = low + (high - low) / 2;
        let entry = source.state.log(middle).next().transpose()?;
        match entry {
            Some((_, entry)) if entry.at() < surely_before => low = middle + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}
