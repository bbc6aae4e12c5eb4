//! What do the detectors say of pages that are known to be good?
//! `cargo run --release -p evercrawl-spam --example survey DIRECTORY..` reads all HTML files there.
#![allow(clippy::print_stdout, reason = "a survey says what it found")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evercrawl_spam::{PageFeatures, Sign, SpamVerdict, page_signs};

fn main() {
    let mut files = Vec::new();
    std::env::args().skip(1).for_each(|directory| list(Path::new(&directory), &mut files));
    files.sort();
    let mut flagged = 0;
    let mut by_kind: BTreeMap<&str, Vec<(Sign, PathBuf)>> = BTreeMap::new();
    for file in &files {
        let Ok(bytes) = std::fs::read(file) else { continue };
        let look = PageFeatures::of_html(&String::from_utf8_lossy(&bytes));
        let url = format!("http://docs.example{}", file.display());
        let verdict = SpamVerdict::new(page_signs(&url, &look));
        flagged += usize::from(verdict.probability >= 0.5);
        for sign in verdict.signs {
            by_kind.entry(sign.kind.name()).or_default().push((sign, file.clone()));
        }
    }
    println!("{} pages, {flagged} with a probability of one half or more", files.len());
    for (kind, mut signs) in by_kind {
        signs.sort_by(|a, b| b.0.score.total_cmp(&a.0.score));
        let above = |score: f64| signs.iter().filter(|(sign, _)| sign.score >= score).count();
        println!("{kind}: {} at 50 %, {} at 10 %, {} at 1 %", above(0.5), above(0.1), above(0.01));
        for (sign, file) in signs.iter().take(12) {
            println!("  {:.3} {}: {}", sign.score, file.display(), sign.evidence);
        }
    }
}

fn list(directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_html = path.extension().is_some_and(|end| end == "html" || end == "htm");
        if path.is_dir() && !path.is_symlink() {
            list(&path, files);
        } else if is_html && !path.is_symlink() {
            files.push(path);
        }
    }
}
