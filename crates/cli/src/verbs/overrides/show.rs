//! How is what came of an override shown, as text and as JSON?

use std::io::{self, Write};

use evercrawl_query::{
    ChangedOverride, ExclusionCount, NoisePassage, NoiseView, OverrideKind, OverrideNote,
    OverrideNow, OverridesView,
};

use crate::print;
use crate::units::{show_count, show_counted, show_seconds};

/// For programs: one JSON object on a line for each override, or for what was counted.
pub(super) fn write_json(out: &mut dyn Write, view: &OverridesView) -> io::Result<()> {
    match view {
        OverridesView::Listed(listed) => {
            listed.overrides.iter().try_for_each(|line| print::json_line(out, line))
        }
        OverridesView::Changed(changed) => {
            changed.iter().try_for_each(|line| print::json_line(out, line))
        }
        OverridesView::Counted(count) => print::json_line(out, count),
        OverridesView::Noise { noise, forgotten } => {
            print::json_line(out, &NoiseLine { noise, forgotten: *forgotten })
        }
    }
}

/// For people.
pub(super) fn write_text(out: &mut dyn Write, view: &OverridesView) -> io::Result<()> {
    let lines = match view {
        OverridesView::Listed(listed) if listed.overrides.is_empty() => {
            vec![none_of(listed.kind.as_deref())]
        }
        OverridesView::Listed(listed) => {
            let line = |of: &evercrawl_query::OverrideView| {
                format!("{} since {}", in_force(&of.what), of.since)
            };
            listed.overrides.iter().map(line).collect()
        }
        OverridesView::Changed(changed) => changed.iter().flat_map(changed_lines).collect(),
        OverridesView::Counted(count) => counted_lines(count),
        OverridesView::Noise { noise, forgotten: true } => vec![format!(
            "what was learned of the noise of {} and pages like it is forgotten: {}",
            noise.url,
            show_counted(noise.template_places, "place")
        )],
        OverridesView::Noise { noise, .. } => noise_lines(noise),
    };
    lines.iter().try_for_each(|line| writeln!(out, "{}", print::plain(line)))
}

/// What was learned of a page's noise, and whether it was forgotten.
#[derive(serde::Serialize)]
struct NoiseLine<'a> {
    #[serde(flatten)]
    noise: &'a NoiseView,
    forgotten: bool,
}

fn noise_lines(noise: &NoiseView) -> Vec<String> {
    let places = format!("{} of noise", show_counted(noise.places, "place"));
    let like = show_count(noise.template_places);
    let mut lines = vec![format!("{}: {places}; {like} on pages like it", noise.url)];
    if noise.in_doubt {
        lines.push("the last visit is in doubt: a second look decides".to_owned());
    }
    if let (Some(version), false) = (&noise.version, noise.passages.is_empty()) {
        lines.push(format!("not told as news in the version of {version}:"));
    }
    let passage = |passage: &NoisePassage| format!("  {:11} {}", passage.reason, passage.text);
    lines.extend(noise.passages.iter().map(passage));
    lines
}

/// `no boosts`.
fn none_of(kind: Option<&str>) -> String {
    match kind {
        None => "no overrides".to_owned(),
        Some("trust") => "no trusted hosts".to_owned(),
        Some("exclude") => "no exclusions".to_owned(),
        Some(kind) => format!("no {kind}s"),
    }
}

fn in_force(what: &OverrideKind) -> String {
    match what {
        OverrideKind::Pin { url, every_seconds } => {
            format!("{url} is visited every {}", show_seconds(*every_seconds))
        }
        OverrideKind::Boost { pattern, times } => {
            format!("pages matching `{pattern}` weigh {times}x")
        }
        OverrideKind::Pause { host } => format!("{host} is paused"),
        OverrideKind::Trust { host } => {
            format!("{host} is trusted: never treated as spam or a mirror")
        }
        OverrideKind::Exclude { pattern } => {
            format!("pages matching `{pattern}` are excluded: not fetched, links not followed")
        }
    }
}

fn removed(what: &OverrideKind) -> String {
    match what {
        OverrideKind::Pin { url, .. } => format!("{url} is no longer pinned"),
        OverrideKind::Boost { pattern, .. } => {
            format!("pages matching `{pattern}` have their usual weight again")
        }
        OverrideKind::Pause { host } => format!("{host} is resumed"),
        OverrideKind::Trust { host } => format!("{host} is no longer trusted"),
        OverrideKind::Exclude { pattern } => {
            format!("pages matching `{pattern}` are no longer excluded")
        }
    }
}

fn changed_lines(changed: &ChangedOverride) -> Vec<String> {
    if changed.now == OverrideNow::Ended {
        return vec![removed(&changed.what)];
    }
    let holds = in_force(&changed.what);
    let first = match &changed.before {
        Some(before) => format!("{holds} (before: {})", in_force(before)),
        None => holds,
    };
    std::iter::once(first).chain(changed.note.as_ref().map(note)).collect()
}

fn note(note: &OverrideNote) -> String {
    match note {
        OverrideNote::NewSeed => "it was unknown and is now a seed".to_owned(),
        OverrideNote::Excluded => {
            "it is excluded: no visits until the exclusion is removed".to_owned()
        }
        OverrideNote::HostPaused => {
            "its host is paused: no visits until the host is resumed".to_owned()
        }
        OverrideNote::Refused { reason } => {
            format!("it is refused now ({reason}): no visits until that changes")
        }
        OverrideNote::NoBudget => {
            "no effect without a budget; set one with e.g. `evercrawl crawl --budget 5/s`"
                .to_owned()
        }
    }
}

fn counted_lines(count: &ExclusionCount) -> Vec<String> {
    let (some, all) = (show_count(count.matching), show_counted(count.known, "known page"));
    let first = format!("{some} of {all} match `{}`; none was excluded", count.pattern);
    let examples = count.examples.iter().map(|url| format!("  {url}"));
    std::iter::once(first).chain(examples).collect()
}
