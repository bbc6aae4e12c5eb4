//! How long do reading a large robots.txt and asking it take?
//!
//! `cargo run --release -p evercrawl-robots --example speed`
#![allow(clippy::print_stdout, reason = "a measurement is printed")]
#![allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use evercrawl_robots::RobotsTxt;

fn main() {
    let long_path = format!("/{}", "a".repeat(2048));
    let plain = file(|n| format!("Disallow: /shop/{:x}/{n}/", n * 7919 % 15_000));
    measure("15k plain rules", &plain, "/shop/1a2b/77/page.html?id=3", 1_000);
    let small: String =
        file(|n| format!("Disallow: /area{n}/")).split_inclusive('\n').take(20).collect();
    measure("19 plain rules", &small, "/area7/page.html?id=3", 10_000);
    let wild = file(|n| format!("Disallow: /*a*{n}*.php$"));
    measure("15k wildcard rules", &wild, "/shop/1a2b/77/page.html?id=3", 10);
    measure("15k wildcard rules, 2 kB path", &wild, &long_path, 5);
    let stars = file(|n| format!("Disallow: /{}{n}b", "*a".repeat(40)));
    measure("5k rules of 40 stars, 2 kB path", &stars, &long_path, 5);
}

/// Writes a file as large as is read, with as many of these rules as fit.
fn file(rule: impl Fn(usize) -> String) -> String {
    let mut text = "User-agent: *\n".to_owned();
    for n in 0..15_000 {
        text += &rule(n);
        text.push('\n');
    }
    text
}

fn measure(what: &str, file: &str, path: &str, times: u32) {
    let parsing = best_of_ten(|| drop(black_box(RobotsTxt::parse(file.as_bytes(), "evercrawl"))));
    let robots = RobotsTxt::parse(file.as_bytes(), "evercrawl");
    let asking = best_of_ten(|| {
        for _ in 0..times {
            black_box(robots.verdict(black_box(path)));
        }
    });
    let verdict = asking / times;
    println!("{what}: {} kB read in {parsing:.1?}, verdict in {verdict:.1?}", file.len() / 1000);
}

/// Runs something ten times and returns the shortest time, the one least disturbed by others.
fn best_of_ten(run: impl Fn()) -> Duration {
    let once = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..10).map(once).min().unwrap_or_default()
}
