//! How long does the exact allocation of ten million pages take, and how much memory?
//!
//! Run with `cargo run --release -p evercrawl-policy --example allocate_speed [pages]`.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a measurement, not a library")]

use std::time::Instant;

use evercrawl_policy::SplitMix64;
use evercrawl_policy::allocate::hosts::allocate_capped;
use evercrawl_policy::allocate::{Demand, Objective, allocate};
use evercrawl_policy::index::IntervalLimits;

fn main() {
    let count = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(10_000_000);
    let mut random = SplitMix64::new(42);
    let pages: Vec<Demand> = (0..count)
        .map(|_| Demand::new(-random.uniform().ln(), random.uniform().powf(-0.8)))
        .collect();
    let before = peak_megabytes();
    println!("{count} pages, {before} MB with the input");
    let budget = 0.5 * count as f64;
    for objective in [Objective::Freshness, Objective::Age, Objective::Harmonic, Objective::Random]
    {
        let (start, cpu) = (Instant::now(), cpu_seconds());
        let best = allocate(objective, &pages, budget, IntervalLimits::NONE);
        let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
        let spent: f64 = best.frequency.iter().sum();
        println!(
            "{objective:?}: {seconds:.2} s ({cpu:.2} s of processor), mu {:.9}, spent {:.3e} off, value {:.9}",
            best.mu,
            spent / budget - 1.0,
            objective.value(&pages, &best.frequency),
        );
    }
    println!("{} MB more at the peak", peak_megabytes() - before);
    capped(&pages[..count / 10], budget / 10.0);
}

/// A tenth of the pages on hosts of a hundred, half of which bind.
fn capped(pages: &[Demand], budget: f64) {
    let hosts: Vec<u32> = (0..pages.len() as u32).map(|page| page / 100).collect();
    let caps: Vec<f64> = (0..pages.len() / 100).map(|host| [30.0, 200.0][host % 2]).collect();
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let best =
        allocate_capped(Objective::Freshness, pages, &hosts, &caps, budget, IntervalLimits::NONE);
    let binding = best.host_price.iter().filter(|price| **price > 0.0).count();
    println!(
        "{} pages on {} hosts, {binding} at their caps: {:.2} s ({:.2} s of processor), mu {:.9}",
        pages.len(),
        caps.len(),
        start.elapsed().as_secs_f64(),
        cpu_seconds() - cpu,
        best.allocation.mu,
    );
}

/// The processor time that all threads have taken, from the kernel; 0 where it does not say.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks =
        |field| after_name.split_whitespace().nth(field).and_then(|t| t.parse::<f64>().ok());
    (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / 100.0
}

/// The most memory this process has held, from the kernel; 0 where it does not say.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()).and_then(|kb| kb.parse().ok()).unwrap_or(0u64)
        / 1024
}
