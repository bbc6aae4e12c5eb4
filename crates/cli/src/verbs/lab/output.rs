//! Into which files do results go?

use std::fs;
use std::path::Path;

use anyhow::Context;
use evercrawl_lab::page::ReportTable;

/// Writes a file.
pub(super) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Writes each table as CSV under its name.
pub(super) fn write_tables(dir: &Path, tables: &[ReportTable]) -> anyhow::Result<()> {
    fs::create_dir_all(dir)
        .with_context(|| format!("cannot make the directory {}", dir.display()))?;
    tables.iter().try_for_each(|t| write(&dir.join(&t.name).with_extension("csv"), &t.csv()))
}

/// The command that was given, as it can be given again.
pub(super) fn command_line() -> String {
    let plain =
        |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./,%+:=".contains(c));
    let quoted = |word: String| match plain(&word) && !word.is_empty() {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("evercrawl".to_owned()).chain(words.map(quoted)).collect::<Vec<_>>().join(" ")
}
