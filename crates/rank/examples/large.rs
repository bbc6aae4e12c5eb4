//! Ranks a made web of a million pages and twenty million links by every method, and says what each
//! takes: `cargo run --release -p evercrawl-rank --example large [pages] [links] [method..]`.
#![allow(clippy::print_stdout, reason = "a benchmark tells what it measured")]

use evercrawl_policy::SplitMix64;
use evercrawl_rank::{
    Graph, JumpWeights, RankSettings, Repeats, hits, host_start, pagerank, pagerank_from, trust,
};

/// Pages of a host.
const HOST: u32 = 50;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let size = |place: usize, usual: u32| {
        args.get(place).and_then(|arg| arg.parse().ok()).unwrap_or(usual)
    };
    let (pages, count) = (size(0, 1_000_000).max(HOST), size(1, 20_000_000));
    let methods = args.get(2..).filter(|methods| !methods.is_empty());
    let wanted = |name: &str| methods.is_none_or(|methods| methods.iter().any(|m| m == name));
    let graph = measured("build", || Graph::new(pages, links(pages, count), Repeats::Each));
    println!("{pages} pages, {} links", graph.link_count());
    let twenty = RankSettings { tolerance: 0.0, most_rounds: 20, ..RankSettings::default() };
    if wanted("pagerank") {
        measured("pagerank, 20 rounds", || pagerank(&graph, JumpWeights::Anywhere, &twenty));
    }
    if wanted("threads") {
        let two = RankSettings { threads: 2, ..twenty };
        measured("pagerank, 20 rounds, 2 threads", || {
            pagerank(&graph, JumpWeights::Anywhere, &two)
        });
    }
    if wanted("trustrank") {
        let good: Vec<u32> = (0..100).collect();
        measured("trustrank, 20 rounds", || trust(&graph, &good, &twenty));
    }
    if wanted("hits") {
        measured("hits, 20 rounds", || hits(&graph, &twenty));
    }
    if wanted("turns") {
        by_turns(&graph, &twenty);
    }
    if wanted("hosts") {
        start_by_hosts(&graph);
    }
}

/// How many times each method is run when they are compared.
const TURNS: usize = 9;

/// How much longer does each method take than PageRank? One after the other, again and again, so that whatever else
/// the machine does comes upon all of them alike.
fn by_turns(graph: &Graph, settings: &RankSettings) {
    let good: Vec<u32> = (0..100).collect();
    let mut seconds = [const { Vec::new() }; 3];
    for _ in 0..TURNS {
        seconds[0].push(timed(|| pagerank(graph, JumpWeights::Anywhere, settings)).1);
        seconds[1].push(timed(|| trust(graph, &good, settings)).1);
        seconds[2].push(timed(|| hits(graph, settings)).1);
    }
    seconds.iter_mut().for_each(|list| list.sort_unstable_by(f64::total_cmp));
    let usual = seconds[0][TURNS / 2];
    for (name, list) in ["pagerank", "trustrank", "hits"].into_iter().zip(&seconds) {
        let (median, least, most) = (list[TURNS / 2], list[0], list[TURNS - 1]);
        let times = median / usual;
        println!(
            "{name:<10} {TURNS} times by turns: {median:.2} s of CPU ({least:.2} to {most:.2}), {times:.2} times pagerank's"
        );
    }
}

/// How many rounds does a start by hosts save?
fn start_by_hosts(graph: &Graph) {
    let exact = RankSettings { tolerance: 1e-6, ..RankSettings::default() };
    let plain = measured("pagerank to 1e-6", || pagerank(graph, JumpWeights::Anywhere, &exact));
    let host_of: Vec<u32> = (0..graph.nodes()).map(|page| page / HOST).collect();
    let hosts = graph.nodes().div_ceil(HOST);
    let start = measured("start by hosts", || host_start(graph, &host_of, hosts, &exact));
    let started = measured("pagerank to 1e-6 from there", || {
        pagerank_from(graph, JumpWeights::Anywhere, &exact, &start)
    });
    println!("{} rounds, {} from the start by hosts", plain.rounds, started.rounds);
}

/// Three links of four stay on their host; the others favour few hosts, as links do. They are drawn
/// whenever they are asked for, so that none lies in memory.
fn links(pages: u32, count: u32) -> impl Iterator<Item = (u32, u32)> + Clone {
    let mut dice = SplitMix64::new(1);
    (0..count).map(move |_| {
        let draw = dice.next_u64();
        let from = ((u128::from(draw) * u128::from(pages)) >> 64) as u32;
        let to = (dice.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let near = from / HOST * HOST + (f64::from(HOST) * to * to) as u32;
        let far = (f64::from(pages) * to * to * to) as u32;
        (from, if draw & 3 != 0 { near.min(pages - 1) } else { far })
    })
}

fn measured<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let (result, seconds) = timed(run);
    println!("{what:<32} {seconds:6.2} s of CPU, peak {:5.0} MB", peak_megabytes());
    result
}

/// What came of it, and how much processor time it took.
fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let before = processor_seconds();
    let result = run();
    (result, processor_seconds() - before)
}

/// User and system time of this process so far, as Linux tells it in hundredths of a second.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) / 1024.0
}
