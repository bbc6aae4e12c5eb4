//! Is ARCHITECTURE.md an overview, and do lines of documents fit a window?

use std::path::PathBuf;

use crate::assert_none;
use crate::sources::{find, read, root};

const LONGEST_OVERVIEW: usize = 250;
const WIDEST_LINE: usize = 120;

/// The documents about the code, from the workspace's root.
fn internals() -> Vec<String> {
    let mut found: Vec<PathBuf> = Vec::new();
    find(&root().join("docs/internals"), "md", &mut found);
    assert!(found.len() > 10, "only {found:?} are there");
    let name = |path: &PathBuf| path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
    found.iter().map(name).collect()
}

fn is_wide(line: &str) -> bool {
    line.chars().count() > WIDEST_LINE
}

#[test]
fn the_overview_is_short_and_narrow() {
    let text = read("ARCHITECTURE.md");
    let lines = text.lines().count();
    assert!(
        lines <= LONGEST_OVERVIEW,
        "ARCHITECTURE.md has {lines} lines; move details to docs/internals"
    );
    let wide: Vec<String> = text.lines().filter(|line| is_wide(line)).map(str::to_owned).collect();
    assert_none("a line of ARCHITECTURE.md is over 120 columns wide:", &wide);
}

/// A table's row cannot be broken; any other line can.
#[test]
fn lines_of_prose_about_the_code_fit_a_window() {
    let mut wide = Vec::new();
    for path in internals() {
        let text = read(&path);
        let lines = text.lines().filter(|line| is_wide(line) && !line.starts_with('|'));
        wide.extend(lines.map(|line| format!("{path}: {line}")));
    }
    assert_none("a line of docs/internals is over 120 columns wide:", &wide);
}

#[test]
fn the_overview_leads_to_every_document_about_the_code() {
    let overview = read("ARCHITECTURE.md");
    let is_missing = |path: &String| !overview.contains(&format!("({path})"));
    let missing: Vec<String> = internals().into_iter().filter(is_missing).collect();
    assert_none("ARCHITECTURE.md has no link to a document:", &missing);
}
