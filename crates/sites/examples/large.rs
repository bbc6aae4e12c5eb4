//! Cuts a synthetic server of a million pages and twenty million links by every method, and says
//! how long each takes: `cargo run --release -p evercrawl-sites --example large [pages] [links]`.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark tells the time")]

use std::time::Instant;

use evercrawl_sites::{Partition, PartitionMethod, Server};

fn main() {
    let mut sizes = std::env::args().skip(1).filter_map(|arg| arg.parse::<u32>().ok());
    let pages = sizes.next().unwrap_or(1_000_000).max(1);
    let links = sizes.next().unwrap_or(20_000_000);
    let directories: Vec<u32> = (0..pages).map(|page| page / 40).collect();
    let mut draw = 1u64;
    let links: Vec<(u32, u32)> = (0..links).map(|_| link(pages, &mut draw)).collect();

    let start = Instant::now();
    let server = Server::new(&directories, &links, &[0]);
    println!(
        "{:>8} {:6.2} s, {} links",
        "load",
        start.elapsed().as_secs_f64(),
        server.total_links()
    );
    for method in [PartitionMethod::A, PartitionMethod::B, PartitionMethod::Open] {
        let start = Instant::now();
        let sites = Partition::new(&server, method).len();
        println!("{method:>8?} {:6.2} s, {sites} sites", start.elapsed().as_secs_f64());
    }
}

/// Half of the links stay within forty pages of their source, half go anywhere.
fn link(pages: u32, draw: &mut u64) -> (u32, u32) {
    *draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let from = (*draw >> 33) as u32 % pages;
    let to = (*draw >> 11) as u32;
    let near = (from / 40 * 40 + to % 40).min(pages - 1);
    (from, if to & 64 == 0 { near } else { to % pages })
}
