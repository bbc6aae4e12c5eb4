//! How well, and how fast, is the main text of annotated pages found? `bench/main-text/score` runs this.
//!
//! A page lists passages that belong to its main text and others that do not. Found ones of the first kind are true
//! positives, of the second false positives.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a measurement"
)]

use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::Value;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (dir, list) = (arguments.next().unwrap(), arguments.next().unwrap());
    let pages: Vec<Value> = serde_json::from_slice(&fs::read(list).unwrap()).unwrap();
    let (mut hits, mut misses, mut wrong, mut times) = (0, 0, 0, Vec::new());
    for page in &pages {
        let path = page["path"].as_str().unwrap();
        let html = fs::read(Path::new(&dir).join(path)).unwrap();
        let html = String::from_utf8_lossy(&html);
        let began = Instant::now();
        let main = evercrawl_maintext::extract(&html, "http://docs.test/page.html", &|_| false);
        let text = words(&main.text());
        times.push(began.elapsed());
        for passage in passages(page, "with") {
            if text.contains(&passage) {
                hits += 1;
            } else {
                misses += 1;
                println!("missing in {path}: {passage}");
            }
        }
        for passage in passages(page, "without").filter(|passage| text.contains(passage)) {
            wrong += 1;
            println!("wrong in {path}: {passage}");
        }
    }
    times.sort();
    let precision = f64::from(hits) / f64::from(hits + wrong);
    let recall = f64::from(hits) / f64::from(hits + misses);
    println!(
        "{} pages: precision {precision:.3}, recall {recall:.3}, F1 {:.3}, median {:.1} ms, slowest {:.1} ms",
        pages.len(),
        2.0 * precision * recall / (precision + recall),
        times[times.len() / 2].as_secs_f64() * 1e3,
        times[times.len() - 1].as_secs_f64() * 1e3,
    );
}

fn passages<'a>(page: &'a Value, kind: &str) -> impl Iterator<Item = String> + 'a {
    page[kind].as_array().unwrap().iter().map(|passage| words(passage.as_str().unwrap()))
}

/// The words, one space apart.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
