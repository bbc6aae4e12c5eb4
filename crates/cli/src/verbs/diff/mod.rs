//! `evercrawl diff`: which words of a page changed, by what the archive holds of it?

mod paint;
mod versions;
mod words;

use std::io::{IsTerminal, Write};

use evercrawl_engine::live::SystemClock;
use evercrawl_model::Time;
use serde_json::{Value, json};

use super::urls::digest;
use super::{Entered, Opened, enter};
use crate::args::{ColorArg, Diff};
use crate::exit::{self, Failure};
use crate::units::show_count;
use crate::{control, print};
use paint::Paint;
use versions::{Archived, Version};
use words::{Changes, Hunk, Mark, Word};

/// Versions that are read at most, to find the last two that differ in words.
const MOST_READ: usize = 50;

/// Runs the verb here, or in the crawl that has the data directory open.
pub(crate) fn run(args: &Diff) -> anyhow::Result<u8> {
    // The crawl cannot see whether we write to a terminal.
    let color = if paints(args.color) { "--color=always" } else { "--color=never" };
    match enter(&args.common, || control::forward(&args.common.data, &[color]))? {
        Entered::Here(opened) => show(args, &opened, &mut print::data()),
        Entered::There(code) => Ok(code),
    }
}

/// Shows what changed between two versions of the page that `args` names.
pub(crate) fn show(args: &Diff, opened: &Opened, out: &mut dyn Write) -> anyhow::Result<u8> {
    let url = super::canonical(&opened.settings, &args.url)?;
    let mut archived = Archived::open(opened, &url)?;
    let now = SystemClock.now();
    let asked = (args.from.map(|from| from.at(now)), args.to.map(|to| to.at(now)));
    let (old, new) = choose(&mut archived, asked)?;
    let (before, after) = (archived.text(&old)?, archived.text(&new)?);
    let (old_noise, new_noise) = (archived.noise(&before), archived.noise(&after));
    let (before, after) = (words::split(&before, &old_noise), words::split(&after, &new_noise));
    let changes = Changes::between(&before, &after);
    if args.json {
        print::json_line(out, &describe(url.as_str(), &old, &new, &changes))?;
    } else {
        write(url.as_str(), (&old, &new), &changes, Paint::new(paints(args.color)), out)?;
    }
    out.flush()?;
    let differ = args.exit_code && !changes.is_empty();
    Ok(if differ { exit::DIFFERENT } else { exit::OK })
}

fn paints(asked: Option<ColorArg>) -> bool {
    match asked {
        Some(ColorArg::Always) => true,
        Some(ColorArg::Never) => false,
        None => std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    }
}

/// The versions in force at the times asked for; else the last two whose words differ.
fn choose(
    archived: &mut Archived<'_>,
    (from, to): (Option<Time>, Option<Time>),
) -> anyhow::Result<(Version, Version)> {
    let to = to.map_or(Ok(0), |to| archived.in_force(to))?;
    let Some(from) = from else { return last_change(archived, to) };
    let from = archived.in_force(from)?;
    if from < to {
        return Err(Failure::usage("--from is later than --to"));
    }
    Ok((archived.versions[from], archived.versions[to]))
}

/// The latest change of words up to version `to`. Versions come latest first.
fn last_change(archived: &mut Archived<'_>, to: usize) -> anyhow::Result<(Version, Version)> {
    let versions = archived.versions.clone();
    let mut new = versions[to];
    let Some(next) = versions.get(to + 1) else {
        let then = if to == 0 { "" } else { " up to then" };
        let since = new.since;
        return Err(failure(format!(
            "only one version of it is archived{then}, of {since}: nothing to compare"
        )));
    };
    let text = archived.text(&new)?;
    let latest = words::split(&text, &archived.noise(&text));
    for old in versions[to + 1..].iter().take(MOST_READ) {
        let text = archived.text(old)?;
        let words = words::split(&text, &archived.noise(&text));
        if !Changes::between(&words, &latest).is_empty() {
            return Ok((*old, new));
        }
        new = *old;
    }
    // Other bytes, but nowhere another word: the last two versions show that.
    Ok((*next, versions[to]))
}

fn failure(message: String) -> anyhow::Error {
    Failure { code: exit::UNEXPECTED, message }.into()
}

fn write(
    url: &str,
    (old, new): (&Version, &Version),
    changes: &Changes<'_>,
    paint: Paint,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    writeln!(out, "{}", print::plain(url))?;
    for (mark, sign, version) in [(Mark::Deleted, '-', old), (Mark::Inserted, '+', new)] {
        let seen = if version.until > version.since {
            format!(", seen until {}", version.until)
        } else {
            String::new()
        };
        writeln!(out, "{}", paint.line(mark, &format!("{sign} {}{seen}", version.since)))?;
    }
    for hunk in &changes.hunks {
        writeln!(out, "\n{}", paint.hunk(hunk))?;
    }
    writeln!(out, "\n{}", summary(old, new, changes))?;
    Ok(())
}

fn summary(old: &Version, new: &Version, changes: &Changes<'_>) -> String {
    let noise = match changes.noise {
        0 => String::new(),
        words => format!("; {} ignored, as they differ at every turn", show_count(words)),
    };
    if changes.is_empty() {
        let bytes = if old.digest == new.digest { "are the same too" } else { "differ" };
        return format!("no word changed{noise}; the bytes {bytes}");
    }
    let (deleted, inserted) = (show_count(changes.deleted), show_count(changes.inserted));
    format!(
        "{deleted} of {} words deleted, {inserted} inserted{noise}",
        show_count(changes.old_words)
    )
}

fn describe(url: &str, old: &Version, new: &Version, changes: &Changes<'_>) -> Value {
    json!({
        "url": url,
        "from": describe_version(old),
        "to": describe_version(new),
        "same_bytes": old.digest == new.digest,
        "same_words": changes.is_empty(),
        "words": changes.old_words,
        "deleted": changes.deleted,
        "inserted": changes.inserted,
        "ignored": changes.noise,
        "changes": changes.hunks.iter().map(describe_hunk).collect::<Vec<_>>(),
    })
}

fn describe_version(version: &Version) -> Value {
    json!({
        "since": version.since.rfc3339(),
        "until": version.until.rfc3339(),
        "digest": digest(version.digest),
    })
}

/// A place that changed, as parts in their order.
fn describe_hunk(hunk: &Hunk<'_>) -> Value {
    let part = |(mark, words): &(Mark, &[Word<'_>])| {
        let name = match mark {
            Mark::Same => "same",
            Mark::Deleted => "deleted",
            Mark::Inserted => "inserted",
        };
        let noise = *mark != Mark::Same && words.iter().all(|word| word.noise);
        let text = words::join(words);
        if noise { json!({name: text, "ignored": true}) } else { json!({name: text}) }
    };
    hunk.parts.iter().map(part).collect()
}
