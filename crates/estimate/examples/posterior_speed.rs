//! How long does one visit's arithmetic take: a posterior update and the next due time?
//!
//! Run with `cargo run --release -p evercrawl-estimate --example posterior_speed`.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a measurement, not a library")]

use std::hint::black_box;
use std::time::Instant;

use evercrawl_estimate::Gamma;

const PAGES: usize = 4096;
const ROUNDS: usize = 1000;

fn main() {
    let pages: Vec<(Gamma, f64)> = (0..PAGES).map(page).collect();
    for (name, changed) in [("unchanged", false), ("changed", true)] {
        let update = nanoseconds(&pages, |belief, tau| observed(belief, tau, changed).mean());
        let both = nanoseconds(&pages, |belief, tau| {
            observed(belief, tau, changed).time_to_index(1.0, 0.2)
        });
        println!("{name:>9}: update {update:5.1} ns, update and next due {both:5.1} ns");
    }
    println!("    index: {:5.1} ns", nanoseconds(&pages, |belief, tau| belief.index(1.0, tau)));
}

/// Beliefs of many shapes, with means around one change a day and gaps around a day.
fn page(i: usize) -> (Gamma, f64) {
    let spread = |k: usize| ((i * k) % 997) as f64 / 997.0;
    let shape = 0.2 + 8.0 * spread(31);
    (Gamma::with_mean(0.05 + 2.0 * spread(17), shape), 0.1 + 4.0 * spread(71))
}

fn observed(belief: Gamma, tau: f64, changed: bool) -> Gamma {
    if changed { belief.observe_changed(tau) } else { belief.observe_unchanged(tau) }
}

/// The best of many short runs: what the arithmetic takes when nothing else disturbs it.
fn nanoseconds(pages: &[(Gamma, f64)], work: impl Fn(Gamma, f64) -> f64) -> f64 {
    let run = |_| {
        let start = Instant::now();
        for &(belief, tau) in black_box(pages) {
            black_box(work(belief, tau));
        }
        start.elapsed().as_nanos() as f64 / PAGES as f64
    };
    (0..ROUNDS).map(run).fold(f64::INFINITY, f64::min)
}
