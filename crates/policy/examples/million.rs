//! Drives the default policy over a million pages that change at random, and says what a fetch
//! costs: `cargo run --release -p evercrawl-policy --example million [pages] [weeks] [policy]`.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark tells the time")]

use std::time::Instant;

use evercrawl_policy::registry::{Setup, find};
use evercrawl_policy::{Agenda, Days, Finding, Page, Round, SplitMix64, Visit};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let mut number = |usual: u32| args.next().and_then(|arg| arg.parse().ok()).unwrap_or(usual);
    let (pages, weeks) = (number(1_000_000).max(1), number(52));
    let name = args.next().unwrap_or_else(|| "index".to_owned());

    let mut random = SplitMix64::new(1);
    let rates: Vec<f64> = (0..pages).map(|_| lognormal(&mut random) / 14.0).collect();
    let setup = Setup { rates: Some(&rates), ..Setup::default() };
    let known = |id| Page { last: 0.0, group: id / 100, ..Page::new(id) };

    let start = Instant::now();
    let policy = find(&name)?.make(&setup)?;
    let mut agenda = Agenda::new(policy, (0..pages).map(known).collect(), 0.0);
    let (mut fetches, mut fresh) = (0u64, 0.0);
    for week in 0..weeks {
        let round =
            Round { start: f64::from(week) * 7.0, length: 7.0, fetches: pages as usize / 2 };
        agenda.begin_round(&round);
        for slot in 0..round.fetches {
            let now = round.start + round.length * slot as f64 / round.fetches as f64;
            let Some(id) = agenda.next_page(now) else { break };
            let (last, rate) = (agenda.pages()[id as usize].last, rates[id as usize]);
            fresh += fresh_time(rate, last, now, f64::from(weeks) * 3.5);
            let changed = random.uniform() < -(-rate * (now - last)).exp_m1();
            let found = if changed { Finding::Changed } else { Finding::Same };
            agenda.record_visit(id, &Visit::new(now, found));
            fetches += 1;
        }
    }
    let end = f64::from(weeks) * 7.0;
    for page in agenda.pages() {
        fresh += fresh_time(rates[page.id as usize], page.last, end, end / 2.0);
    }
    let seconds = start.elapsed().as_secs_f64();
    let each = seconds / fetches.max(1) as f64 * 1e9;
    let freshness = fresh / (end / 2.0) / f64::from(pages);
    println!(
        "{name}: {pages} pages, {fetches} fetches in {seconds:.1} s, {each:.0} ns each; freshness in the second half {freshness:.5}"
    );
    Ok(())
}

/// Expected fresh time between two fetches, as far as it lies after `from`.
fn fresh_time(rate: f64, last: Days, until: Days, from: Days) -> f64 {
    let up_to = |t: Days| -(-rate * (t - last)).exp_m1() / rate;
    up_to(until) - up_to(last.max(from).min(until))
}

/// Mean 1, sigma 1.5.
fn lognormal(random: &mut SplitMix64) -> f64 {
    let radius = (-2.0 * random.uniform().ln()).sqrt();
    let normal = radius * (std::f64::consts::TAU * random.uniform()).cos();
    (1.5 * normal - 1.125).exp()
}
