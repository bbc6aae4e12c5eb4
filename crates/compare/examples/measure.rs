//! How fast are fingerprints taken, and how well do they tell texts apart?
//!
//! `cargo run --release -p evercrawl-compare --example measure -- FILE...` with plain text files.
#![allow(clippy::print_stdout, reason = "a measurement is printed")]
#![allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use evercrawl_compare::{Digest, Fingerprint, Outline};

/// Words of each text that is edited and compared.
const WORDS: usize = 300;

fn main() -> std::io::Result<()> {
    let files =
        std::env::args().skip(1).map(std::fs::read_to_string).collect::<Result<Vec<_>, _>>()?;
    let all: String = files.concat();
    let sample = &all[..all.floor_char_boundary(500_000)];
    speed("fingerprint", sample, Fingerprint::of_text);
    speed("outline", sample, Outline::of_text);
    speed("digest", sample, |text| Digest::of_bytes(text.as_bytes()));
    let texts: Vec<Vec<&str>> = files
        .iter()
        .map(|text| text.split_whitespace().take(WORDS).collect())
        .filter(|words: &Vec<&str>| words.len() == WORDS)
        .collect();
    if texts.len() > 1 {
        one_word_replaced(&texts);
        unrelated(&texts);
    }
    Ok(())
}

/// Prints the speed of the best of 200 runs, the one least disturbed by others.
fn speed<T>(what: &str, sample: &str, run: impl Fn(&str) -> T) {
    let once = |_| {
        let start = Instant::now();
        black_box(run(black_box(sample)));
        start.elapsed()
    };
    let best = (0..200).map(once).min().unwrap_or(Duration::MAX);
    println!("{what}: {:.0} MB/s", sample.len() as f64 / best.as_secs_f64() / 1e6);
}

/// Prints how far a text moves when every tenth word in turn becomes one of another text.
fn one_word_replaced(texts: &[Vec<&str>]) {
    let mut distances = Vec::new();
    for (text, other) in texts.iter().zip(texts.iter().skip(1)) {
        for at in (0..WORDS).step_by(10) {
            let mut edited = text.clone();
            edited[at] = other[at];
            distances.extend(distance(text, &edited));
        }
    }
    let near = distances.iter().filter(|&&distance| distance <= evercrawl_compare::NEAR).count();
    let share = 100.0 * near as f64 / distances.len() as f64;
    println!("one word of {WORDS} replaced: {} edits, {share:.1} % near", distances.len());
}

fn unrelated(texts: &[Vec<&str>]) {
    let distances: Vec<u32> = texts
        .iter()
        .zip(texts.iter().skip(1))
        .flat_map(|(one, other)| distance(one, other))
        .collect();
    let mean = f64::from(distances.iter().sum::<u32>()) / distances.len() as f64;
    println!("unrelated texts: {} pairs, {mean:.1} bits apart", distances.len());
}

fn distance(one: &[&str], other: &[&str]) -> Option<u32> {
    let [one, other] = [one, other].map(|words| Fingerprint::of_text(&words.join(" ")));
    Some(one?.distance(other?))
}
