//! What changed last? The log read backwards, a bounded part of it for each answer.

use std::ops::Range;

use evercrawl_model::{HostKey, LifeState, LogNotice};
use evercrawl_state::{LogEntry, Store};
use evercrawl_urls::Canonical;
use serde::{Deserialize, Serialize};

use crate::changes::{ChangeView, ChangesRequest, EntryReader, is_still_gone, is_wanted};
use crate::source::{QueryError, Source};

/// Which of the last entries of the log are asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatestRequest {
    /// Only entries before this number; `None`: from the end.
    #[serde(default)]
    pub before: Option<u64>,
    /// Only entries after this number.
    #[serde(default)]
    pub after: Option<u64>,
    /// Only what happened on this host.
    #[serde(default)]
    pub host: Option<String>,
    /// Only what was found to be this: `new`, `changed`, `near`, `gone`, `site`, `refused` or `restored`.
    #[serde(default)]
    pub change: Option<String>,
    /// Only changes with at least this score.
    #[serde(default)]
    pub score: Option<f64>,
    /// At most so many.
    #[serde(default)]
    pub limit: Option<u64>,
}

/// The last entries of the log that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatestView {
    /// The entries, the latest first.
    pub changes: Vec<ChangeView>,
    /// Where to go on, towards the beginning; `None` where there are no more.
    pub before: Option<u64>,
    /// The number of the log's last entry; `None` where it is empty.
    pub last: Option<u64>,
}

/// Entries that are read for one answer, and at a time.
const MOST_READ: u64 = 20_000;
const PART: u64 = 1_000;
const MOST_SHOWN: usize = 500;

/// The last entries of the log that are asked for.
pub fn latest<S: Store>(
    source: &Source<'_, S>,
    asked: &LatestRequest,
) -> Result<LatestView, QueryError> {
    let logged = source.state.counters().logged;
    let end = asked.before.unwrap_or(logged).min(logged);
    let least = asked.after.map_or(0, |after| after.saturating_add(1)).min(end);
    let stop = end.saturating_sub(MOST_READ).max(least);
    let most = usize::try_from(asked.limit.unwrap_or(100)).unwrap_or(MOST_SHOWN).min(MOST_SHOWN);
    let wanted = Wanted::new(source, asked)?;
    let (mut view, mut found) =
        (LatestView { last: logged.checked_sub(1), ..Default::default() }, Vec::new());
    let mut to = end;
    while to > stop && found.len() < most {
        let from = to.saturating_sub(PART).max(stop);
        let mut part = wanted.among(source, from..to)?;
        part.reverse();
        found.extend(part);
        to = from;
    }
    if found.len() > most {
        found.truncate(most);
        to = found.last().map_or(to, |(number, _)| *number);
    }
    let mut reader = EntryReader::new(source)?;
    for (number, entry) in found {
        let what = reader.what_changed(&entry, &wanted.usual)?;
        view.changes.push(ChangeView { number, what });
    }
    view.before = Some(to).filter(|to| *to > least);
    Ok(view)
}

/// What is asked for, in the terms of the log.
struct Wanted<'a> {
    asked: &'a LatestRequest,
    host: Option<HostKey>,
    usual: ChangesRequest,
    /// What was imported is no news.
    imported: Vec<Range<u64>>,
}

impl<'a> Wanted<'a> {
    fn new<S: Store>(source: &Source<'_, S>, asked: &'a LatestRequest) -> Result<Self, QueryError> {
        let host = asked.host.as_deref().map(|name| {
            let url = Canonical::parse(&format!("http://{name}/"));
            url.map(|url| source.host_of(&url))
                .map_err(|_| QueryError::BadRequest(format!("`{name}` is not a host")))
        });
        Ok(Wanted {
            asked,
            host: host.transpose()?,
            usual: ChangesRequest { states: true, ..Default::default() },
            imported: source.state.imported()?,
        })
    }

    /// The entries of a part of the log that are wanted.
    fn among<S: Store>(
        &self,
        source: &Source<'_, S>,
        numbers: Range<u64>,
    ) -> Result<Vec<(u64, LogEntry)>, QueryError> {
        let mut found = Vec::new();
        for entry in source.state.log(numbers.start) {
            let (number, entry) = entry?;
            if number >= numbers.end {
                break;
            }
            let again = is_still_gone(source, number, &entry)?;
            let is_imported = self.imported.iter().any(|range| range.contains(&number));
            if !is_imported && self.is(&entry, again) {
                found.push((number, entry));
            }
        }
        Ok(found)
    }

    fn is(&self, entry: &LogEntry, again: bool) -> bool {
        let (host, code, score) = match entry {
            LogEntry::Visit(visit, _) => {
                (visit.page.host, visit.change.code(), visit.score.share())
            }
            LogEntry::Notice(LogNotice::SiteChanged { host, .. }) => (*host, "site", 1.0),
            LogEntry::Notice(LogNotice::LifeChanged { page, change, .. }) => {
                let refused = change.to == LifeState::Refused;
                (page.host, if refused { "refused" } else { "restored" }, 1.0)
            }
        };
        let by_code = match self.asked.change.as_deref() {
            Some(wanted) => wanted == code,
            None => is_wanted(entry, again, &ChangesRequest::default()),
        };
        by_code
            && self.host.is_none_or(|wanted| wanted == host)
            && self.asked.score.is_none_or(|least| score >= least)
    }
}
