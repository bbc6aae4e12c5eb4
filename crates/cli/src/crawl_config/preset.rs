//! Which settings does a preset stand for?

use crate::settings::{Origin, Settings};

/// What `crawl.preset = "archive"` sets: pages with all that they show, wherever it lies.
const ARCHIVE_PRESET: [(&str, &str); 5] = [
    ("crawl.page_requisites", "true"),
    ("crawl.requisites_from", "any"),
    ("crawl.skip_extensions", "none"),
    ("limits.body", "64MiB"),
    ("limits.unpacked", "128MiB"),
];

/// Gives settings that nobody set the values of the preset.
pub(super) fn apply(settings: &mut Settings) -> anyhow::Result<()> {
    let preset = settings.get("crawl.preset", |text| match text {
        "archive" => Ok(ARCHIVE_PRESET),
        _ => Err(format!("`{text}` is not a preset; use archive, or nothing")),
    })?;
    let values = preset.iter().flatten();
    values.into_iter().try_for_each(|(name, value)| match settings.is_default(name) {
        true => settings.set(name, vec![(*value).to_owned()], Origin::Preset("crawl.preset")),
        false => Ok(()),
    })
}
