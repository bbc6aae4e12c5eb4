//! Which words of a page changed, by what the archive holds of it?

pub(crate) mod versions;
mod words;

use evercrawl_model::Time;
use evercrawl_state::Store;
use evercrawl_urls::Canonical;
use serde::{Deserialize, Serialize};

use crate::code::{At, digest_text};
use crate::source::{QueryError, Source};
pub(crate) use versions::text_of;
use versions::{Archived, Version, nothing};
use words::{Changes, Gap, Hunk, Mark};

/// Versions that are read at most, to find the last two that differ in words.
const MOST_READ: usize = 50;

/// Which versions of which page are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiffRequest {
    /// The page.
    pub url: String,
    /// The version known at this time; `None`: the one before the last change of words.
    #[serde(default)]
    pub from: Option<At>,
    /// The version known at this time; `None`: the latest.
    #[serde(default)]
    pub to: Option<At>,
    /// Mask nothing as noise.
    #[serde(default)]
    pub unmask: bool,
}

/// What changed between two versions of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiffView {
    /// Its canonical URL.
    pub url: String,
    /// The earlier version.
    pub from: VersionView,
    /// The later version.
    pub to: VersionView,
    /// Whether the bytes are the same.
    pub same_bytes: bool,
    /// Whether no word changed, apart from volatile ones.
    pub same_words: bool,
    /// Words of the earlier version.
    pub words: u64,
    /// Words deleted.
    pub deleted: u64,
    /// Words inserted.
    pub inserted: u64,
    /// Volatile words deleted or inserted, which are not counted above.
    pub ignored: u64,
    /// The places that changed, each as parts in their order.
    pub changes: Vec<Vec<Part>>,
}

/// A version of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionView {
    /// The visit that first saw it.
    pub since: At,
    /// The visit that last saw it.
    pub until: At,
    /// SHA-1 of its content.
    pub digest: String,
    /// Whether it did not arrive whole.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cut: bool,
}

/// Part of a place that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its words, and what became of them.
    #[serde(flatten)]
    pub words: PartWords,
    /// Whether these words are volatile.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ignored: bool,
    /// What stands before it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub before: Before,
    /// Whether words that did not change are left out before it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cut_before: bool,
    /// Whether words that did not change are left out after it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cut_after: bool,
}

/// Words, and what became of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartWords {
    /// They stayed.
    Same(String),
    /// They were deleted.
    Deleted(String),
    /// They were inserted.
    Inserted(String),
}

/// What stands before a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    /// A space.
    #[default]
    Space,
    /// The end of a line.
    Line,
    /// Nothing: a script without spaces.
    Nothing,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What changed between two versions of the page at `url`, at the times asked for.
pub fn diff<S: Store>(
    source: &Source<'_, S>,
    url: &Canonical,
    asked: &DiffRequest,
) -> Result<DiffView, QueryError> {
    let mut archived = Archived::open(source, url)?;
    if asked.unmask {
        archived.forget_noise();
    }
    let times = (asked.from.map(|at| at.0), asked.to.map(|at| at.0));
    let (old, new) = choose(&mut archived, times)?;
    let (before, after) = (archived.text(&old)?, archived.text(&new)?);
    let (old_noise, new_noise) = (archived.noise(&old, &before), archived.noise(&new, &after));
    let (mut before, after) = (words::split(&before, &old_noise), words::split(&after, &new_noise));
    words::mark_replaced_by_noise(&mut before, &after);
    let changes = Changes::between(&before, &after);
    Ok(DiffView {
        url: url.as_str().to_owned(),
        from: view_of_version(&old),
        to: view_of_version(&new),
        same_bytes: old.digest == new.digest,
        same_words: changes.is_empty(),
        words: changes.old_words,
        deleted: changes.deleted,
        inserted: changes.inserted,
        ignored: changes.noise,
        changes: changes.hunks.iter().map(parts_of).collect(),
    })
}

/// The versions known at the times asked for; else the last two whose words differ.
fn choose<S: Store>(
    archived: &mut Archived<'_, S>,
    (from, to): (Option<Time>, Option<Time>),
) -> Result<(Version, Version), QueryError> {
    let to = to.map_or(Ok(0), |to| archived.in_force(to))?;
    let Some(from) = from else { return last_change(archived, to) };
    let from = archived.in_force(from)?;
    if from < to {
        return Err(QueryError::BadRequest("--from is later than --to".to_owned()));
    }
    Ok((archived.versions[from], archived.versions[to]))
}

/// The latest change of words up to version `to`. Versions come latest first.
fn last_change<S: Store>(
    archived: &mut Archived<'_, S>,
    to: usize,
) -> Result<(Version, Version), QueryError> {
    let versions = archived.versions.clone();
    let mut new = versions[to];
    let Some(next) = versions.get(to + 1) else {
        let then = if to == 0 { "" } else { " up to then" };
        let since = new.since;
        return Err(nothing(format!(
            "only one version of it is archived{then}, of {since}: nothing to compare"
        )));
    };
    let text = archived.text(&new)?;
    let latest = words::split(&text, &archived.noise(&new, &text));
    for old in versions[to + 1..].iter().take(MOST_READ) {
        let text = archived.text(old)?;
        let mut words = words::split(&text, &archived.noise(old, &text));
        words::mark_replaced_by_noise(&mut words, &latest);
        if !Changes::between(&words, &latest).is_empty() {
            return Ok((*old, new));
        }
        new = *old;
    }
    // Other bytes, but nowhere another word: the last two versions show that.
    Ok((*next, versions[to]))
}

fn view_of_version(version: &Version) -> VersionView {
    VersionView {
        since: At(version.since),
        until: At(version.until),
        digest: digest_text(version.digest),
        cut: version.cut,
    }
}

/// A place that changed, as parts in their order.
fn parts_of(hunk: &Hunk<'_>) -> Vec<Part> {
    let last = hunk.parts.len().saturating_sub(1);
    let parts = hunk.parts.iter().enumerate().map(|(n, (mark, words))| {
        let text = words::join(words);
        Part {
            words: match mark {
                Mark::Same => PartWords::Same(text),
                Mark::Deleted => PartWords::Deleted(text),
                Mark::Inserted => PartWords::Inserted(text),
            },
            ignored: *mark != Mark::Same && words.iter().all(|word| word.noise),
            before: match words.first().map(|word| word.gap) {
                Some(Gap::Line) if n > 0 => Before::Line,
                Some(Gap::None) if n > 0 => Before::Nothing,
                _ => Before::Space,
            },
            cut_before: n == 0 && hunk.cut.0,
            cut_after: n == last && hunk.cut.1,
        }
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_says_no_more_than_it_must() {
        let (old, new) = (words::split("the old fox", &[]), words::split("the new fox", &[]));
        let parts = parts_of(&Changes::between(&old, &new).hunks[0]);
        let json = serde_json::to_string(&parts).unwrap();
        assert_eq!(json, r#"[{"same":"the"},{"deleted":"old"},{"inserted":"new"},{"same":"fox"}]"#);
        assert_eq!(serde_json::from_str::<Vec<Part>>(&json).unwrap(), parts);
    }

    #[test]
    fn parts_keep_lines_and_what_is_left_out() {
        let far = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20";
        let (old, new) = (format!("{far}\ny"), format!("{far}\nz"));
        let (old, new) = (words::split(&old, &[]), words::split(&new, &[]));
        let parts = parts_of(&Changes::between(&old, &new).hunks[0]);
        assert!(parts[0].cut_before && !parts[0].cut_after);
        assert_eq!((parts[1].before, parts[2].before), (Before::Line, Before::Line));
        let json = serde_json::to_string(&parts).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Part>>(&json).unwrap(), parts);
    }
}
