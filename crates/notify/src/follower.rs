//! Which rows of the log are hits of the user's rules?
//!
//! A row is judged with the version that its visit found and the one before, both out of the archive, and with the
//! words that changed as `diff` tells them, so that rules and `diff` mask the same noise. What the user declared (a
//! region, a phrase, a price) is looked for beneath the noise, too.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use evercrawl_export::Contents;
use evercrawl_extract::{Extractor, HtmlOptions};
use evercrawl_model::{Change, LifeState, Outcome};
use evercrawl_query::{
    Answer, DiffRequest, DiffView, LogRow, LogView, PartWords, Request, UrlRequest, VisitView,
};
use evercrawl_rules::{
    Finding, Materials, Observation, PageVersion, Phrases, Rules, Watch, WordChanges, Works,
};

use crate::error::NotifyError;
use crate::outbox::{Decision, Hit, Outbox};
use crate::versions::version_of;

/// Asks a question about the crawl; `None` where there is nothing to say, as of pages without content.
pub type Asker<'a> = &'a mut dyn FnMut(Request) -> Result<Option<Answer>, String>;

/// The largest file of a user's own that is read.
const MOST_MATERIAL: u64 = 64 << 20;

/// Finds hits.
pub struct Follower {
    rules: Rules,
    materials: HashMap<String, Materials>,
}

/// What was found in a part of the log.
#[derive(Debug, Default)]
pub struct Progress {
    /// Rows that were looked at.
    pub rows: u64,
    /// Rows that could not be judged, as where the archive no longer has their content.
    pub unread: u64,
    /// Hits that are new.
    pub hits: Vec<Hit>,
}

/// Reads the files that watches name, beside `rules.toml` in `dir`.
pub fn load_materials(
    rules: &Rules,
    dir: &Path,
) -> Result<HashMap<String, Materials>, NotifyError> {
    rules.watches.iter().map(|watch| Ok((watch.name.clone(), materials_of(watch, dir)?))).collect()
}

fn materials_of(watch: &Watch, dir: &Path) -> Result<Materials, NotifyError> {
    let mut materials = Materials::default();
    let bad = |path: &str, why: String| NotifyError::Material {
        watch: watch.name.clone(),
        path: path.to_owned(),
        why,
    };
    if let Some(path) = &watch.phrases {
        let text = read(&dir.join(path)).map_err(|why| bad(path, why))?;
        materials.phrases = Some(Phrases::read(&text).map_err(|why| bad(path, why))?);
    }
    if let Some(path) = &watch.works {
        let mut works = Works::default();
        add_works(&dir.join(path), &mut works, 0).map_err(|why| bad(path, why))?;
        if works.is_empty() {
            return Err(bad(path, "there is no text in it".to_owned()));
        }
        materials.works = Some(works);
    }
    Ok(materials)
}

fn read(path: &Path) -> Result<String, String> {
    let length = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if length > MOST_MATERIAL {
        return Err("it is larger than 64 MiB".to_owned());
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Adds a file, or all files of a folder, as works.
fn add_works(path: &Path, works: &mut Works, depth: usize) -> Result<(), String> {
    let kind = fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if kind.is_dir() {
        let entries = fs::read_dir(path).map_err(|error| error.to_string())?;
        let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        return match depth < 8 {
            true => paths.iter().try_for_each(|path| add_works(path, works, depth + 1)),
            false => Ok(()),
        };
    }
    let text = read(path).map_err(|why| format!("{}: {why}", path.display()))?;
    let is_html = path.extension().is_some_and(|ending| ending == "html" || ending == "htm");
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match is_html {
        true => {
            works.add(&name, &Extractor::new().extract_html(&text, &HtmlOptions::default()).text)
        }
        false => works.add(&name, &text),
    }
    Ok(())
}

/// What is known of the visits before a row.
#[derive(Default)]
struct Past {
    /// The last visit with content before it.
    before: Option<VisitView>,
    /// Since when it has not changed, and since when it is gone.
    unchanged_since: Option<evercrawl_query::At>,
    gone_since: Option<evercrawl_query::At>,
}

impl Follower {
    /// Judges by these rules.
    pub fn new(rules: Rules, materials: HashMap<String, Materials>) -> Self {
        Follower { rules, materials }
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Judges a part of the log, and keeps what was found; then the cursor moves.
    pub fn take(
        &self,
        part: &LogView,
        outbox: &mut Outbox,
        contents: &mut Contents,
        ask: Asker<'_>,
    ) -> Result<Progress, NotifyError> {
        let mut progress = Progress::default();
        for row in &part.rows {
            self.confirm(row, outbox, contents)?;
            let hits = self.judge(row, outbox, contents, ask, &mut progress)?;
            // Row by row: what the next row tells depends on what was told.
            progress.hits.extend(outbox.keep(hits, None)?);
            progress.rows += 1;
        }
        outbox.keep(Vec::new(), part.last)?;
        Ok(progress)
    }

    /// What a row is a hit of; nothing is kept.
    pub fn judge(
        &self,
        row: &LogRow,
        outbox: &Outbox,
        contents: &mut Contents,
        ask: Asker<'_>,
        progress: &mut Progress,
    ) -> Result<Vec<Hit>, NotifyError> {
        let page = &row.page;
        let about: Vec<&Watch> = self
            .rules
            .watches
            .iter()
            .filter(|watch| watch.is_about(&page.url, &page.host, &page.tags))
            .filter(|watch| is_of_interest(row, watch))
            .collect();
        if about.is_empty() {
            return Ok(Vec::new());
        }
        let past = past(row, ask)?;
        let now = version(row, row.visit.as_ref(), contents)?;
        let before = match &now {
            Some(_) => version(row, past.before.as_ref(), contents)?,
            None => None,
        };
        if now.is_none() && row.visit.as_ref().is_some_and(has_content) {
            progress.unread += 1;
        }
        let news = match about.iter().any(|watch| watch.asks_for_words()) {
            true => news(row, &past, ask)?,
            false => None,
        };
        let seconds = |since: Option<evercrawl_query::At>| {
            since.map(|since| (row.time.0.since(since.0).as_secs_f64(), since.to_string()))
        };
        let (unchanged, gone) = (seconds(past.unchanged_since), seconds(past.gone_since));
        let refused = row.life.as_ref().is_some_and(|life| life.to.0 == LifeState::Refused);
        let seen = Observation {
            url: &page.url,
            host: &page.host,
            tags: &page.tags,
            change: change_of(row),
            status: row.visit.as_ref().and_then(|visit| visit.status),
            refused,
            before: before.as_ref(),
            now: now.as_ref(),
            news: news.as_ref(),
            unchanged: unchanged.as_ref().map(|(seconds, since)| (*seconds, since.as_str())),
            gone: gone.as_ref().map(|(seconds, since)| (*seconds, since.as_str())),
        };
        Ok(about.into_iter().filter_map(|watch| self.hit_of(watch, row, &seen, outbox)).collect())
    }

    /// What a watch finds, unless it was told before or is a false alarm.
    fn hit_of(
        &self,
        watch: &Watch,
        row: &LogRow,
        seen: &Observation<'_>,
        outbox: &Outbox,
    ) -> Option<Hit> {
        let none = Materials::default();
        let materials = self.materials.get(&watch.name).unwrap_or(&none);
        let is_false = |quote: &str| outbox.is_false(&watch.name, &row.page.host, quote);
        let finding = watch.judge(seen, materials, &is_false)?;
        let was_told = || outbox.was_told(&watch.name, &row.page.url, &finding.evidence);
        let is_known = !finding.evidence.is_empty()
            && (finding.held_before && was_told() || is_false(&finding.evidence));
        (!is_known).then(|| hit(row, watch, finding))
    }

    /// Hits of this page that wait for a second visit: does this one agree?
    fn confirm(
        &self,
        row: &LogRow,
        outbox: &mut Outbox,
        contents: &mut Contents,
    ) -> Result<(), NotifyError> {
        let Some(visit) = row.visit.as_ref().filter(|visit| visit.outcome.0 != Outcome::Timeout)
        else {
            return Ok(());
        };
        let waiting =
            outbox.unconfirmed().filter(|hit| hit.url == row.page.url && hit.seq < row.number);
        let waiting: Vec<Hit> = waiting.cloned().collect();
        for hit in waiting {
            let earliest = evercrawl_model::Time::parse_iso(&hit.time).unwrap_or_default();
            if row.time.0.since(earliest).as_secs_f64() < hit.confirm.unwrap_or_default() {
                continue;
            }
            let is_same = visit.outcome.0 == Outcome::NotModified
                || visit.digest.is_some() && visit.digest == hit.digest;
            let agrees = is_same || {
                let content = if has_content(visit) { contents.read(visit)? } else { None };
                let text = content.and_then(|content| version_of(&content, &row.page.url));
                let quote = hit
                    .quote
                    .lines()
                    .find_map(|line| line.strip_prefix("+ "))
                    .unwrap_or(&hit.quote);
                let quote = quote.trim_matches([' ', '…']);
                text.is_some_and(|version| {
                    let said: Vec<&str> = version.text.split_whitespace().collect();
                    !quote.is_empty() && said.join(" ").contains(quote)
                })
            };
            let decision = if agrees { Decision::Confirmed } else { Decision::Dropped };
            outbox.decide(&hit.id, decision, row.time.to_string())?;
        }
        Ok(())
    }
}

/// Whether a row can be a hit of a watch at all.
fn is_of_interest(row: &LogRow, watch: &Watch) -> bool {
    let Some(visit) = &row.visit else { return row.life.is_some() };
    let is_news =
        matches!(visit.change.0, Change::New | Change::Changed | Change::Near | Change::Gone);
    is_news
        || row.life.is_some()
        || watch.waits()
        || visit.outcome.0 == Outcome::Ok && visit.digest.is_some() && watch.looks_beneath_noise()
        || watch.asks_for_status() && visit.status.is_some()
}

/// What the page of a row said at a visit.
fn version(
    row: &LogRow,
    visit: Option<&VisitView>,
    contents: &mut Contents,
) -> Result<Option<PageVersion>, NotifyError> {
    let Some(visit) = visit.filter(|visit| has_content(visit)) else { return Ok(None) };
    let content = contents.read(visit)?;
    Ok(content.and_then(|content| version_of(&content, &row.page.url)))
}

fn has_content(visit: &VisitView) -> bool {
    visit.outcome.0 == Outcome::Ok && visit.warc.is_some()
}

fn change_of(row: &LogRow) -> &'static str {
    match (&row.visit, &row.life) {
        (Some(visit), _) => visit.change.0.code(),
        (None, Some(life)) if life.to.0 == LifeState::Gone => Change::Gone.code(),
        _ => Change::Same.code(),
    }
}

/// The visits before a row, in short.
fn past(row: &LogRow, ask: Asker<'_>) -> Result<Past, NotifyError> {
    let request = Request::History(UrlRequest { url: row.page.url.clone() });
    let Some(Answer::History(history)) = ask(request).map_err(NotifyError::Question)? else {
        return Ok(Past::default());
    };
    let mut past = Past::default();
    for visit in history.visits.iter().filter(|visit| visit.time.0 <= row.time.0) {
        let is_own = visit.time == row.time;
        match visit.change.0 {
            Change::New | Change::Changed | Change::Near => past.unchanged_since = Some(visit.time),
            Change::Gone => past.gone_since = past.gone_since.or(Some(visit.time)),
            _ => {}
        }
        if matches!(visit.outcome.0, Outcome::Ok | Outcome::NotModified) {
            past.gone_since = None;
        }
        if !is_own && has_content(visit) {
            past.before = Some(visit.clone());
        }
    }
    Ok(past)
}

/// The words that changed, as `diff` tells them.
fn news(row: &LogRow, past: &Past, ask: Asker<'_>) -> Result<Option<WordChanges>, NotifyError> {
    let is_changed = |visit: &&VisitView| matches!(visit.change.0, Change::Changed | Change::Near);
    let (Some(visit), Some(before)) = (row.visit.as_ref().filter(is_changed), &past.before) else {
        return Ok(None);
    };
    let url = row.page.url.clone();
    let request = DiffRequest { url, from: Some(before.time), to: Some(visit.time), unmask: false };
    match ask(Request::Diff(request)).map_err(NotifyError::Question)? {
        Some(Answer::Diff(diff)) => Ok(Some(words_of(&diff))),
        _ => Ok(None),
    }
}

fn words_of(diff: &DiffView) -> WordChanges {
    let mut words = WordChanges {
        added: diff.inserted,
        removed: diff.deleted,
        words: diff.words.max(diff.words + diff.inserted - diff.deleted.min(diff.words)),
        ..WordChanges::default()
    };
    for part in diff.changes.iter().flatten().filter(|part| !part.ignored) {
        let (text, into) = match &part.words {
            PartWords::Same(_) => continue,
            PartWords::Inserted(text) => (text, &mut words.added_text),
            PartWords::Deleted(text) => (text, &mut words.removed_text),
        };
        if !into.is_empty() {
            into.push_str(" … ");
        }
        into.push_str(text);
    }
    words
}

fn hit(row: &LogRow, watch: &Watch, finding: Finding) -> Hit {
    Hit {
        id: format!("{}.{}", watch.name, row.number),
        rule: watch.name.clone(),
        seq: row.number,
        time: row.time.to_string(),
        url: row.page.url.clone(),
        host: row.page.host.clone(),
        title: finding.title,
        tags: row.page.tags.clone(),
        change: change_of(row).to_owned(),
        quote: finding.quote,
        fields: finding.fields,
        evidence: finding.evidence,
        fault: finding.region_missing,
        digest: row.visit.as_ref().and_then(|visit| visit.digest.clone()),
        confirm: watch.confirm,
    }
}
