//! Where are other people's tools, and what do they say of an archive?
//!
//! `tools/install` brings them; $TEST_TOOLS names another directory that has them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use evercrawl_archive::{FileSegments, Scan, Scanned, SegmentId};

/// Finds a tool; says so aloud when it is missing.
#[allow(clippy::explicit_write, reason = "the test runner keeps `eprintln` to itself")]
pub(crate) fn tool(name: &str) -> Option<PathBuf> {
    let usual = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/venv/bin");
    let dir = std::env::var_os("TEST_TOOLS").unwrap_or_else(|| usual.into());
    let found = Some(Path::new(&dir).join(name)).filter(|file| file.is_file());
    if found.is_none() {
        let dir = dir.display();
        writeln!(std::io::stderr(), "SKIPPED: no {name} in {dir}; run tools/install").unwrap();
    }
    found
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// All records of a file.
pub(crate) fn records(warc: &Path) -> Vec<Scanned> {
    let segments = FileSegments::new(warc.parent().unwrap());
    let warc = SegmentId::sealed(warc.file_name().unwrap().to_str().unwrap());
    Scan::open(&segments, &warc, 1 << 24).unwrap().map(Result::unwrap).collect()
}

/// warcio reads every record of these files, and finds every digest right.
pub(crate) fn warcio_accepts(files: &[PathBuf]) {
    let Some(warcio) = tool("warcio") else { return };
    let count: usize = files.iter().map(|file| records(file).len()).sum();
    let checked = run(Command::new(&warcio).args(["check", "-v"]).args(files));
    // A revisit's payload is elsewhere, so its digest is left alone.
    let passed = ["digest pass", "not checked (revisit)"];
    let passed: usize = passed.iter().map(|words| checked.matches(words).count()).sum();
    assert_eq!(passed, count, "{checked}");
    let index = run(Command::new(&warcio).args(["index", "-f", "offset,length"]).args(files));
    assert_eq!(index.lines().count(), count);
}
