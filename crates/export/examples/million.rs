//! How fast are captures written as tables, and in how much memory? A million of a made-up log, or as many as the first
//! argument says, go to a folder that is removed.
//!
//! `cargo run --release -p evercrawl-export --example million`
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a measurement"
)]

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use evercrawl_archive::MemorySegments;
use evercrawl_export::{CaptureTables, Contents, VisitTables};
use evercrawl_model::{Change, Outcome, PageKind, Time};
use evercrawl_query::{At, Code, LogPage, LogRow, VisitView};
use rustix::time::{ClockId, clock_gettime};

/// Captures of a WARC file, and pages of a host.
const OF_WARC: u64 = 50_000;
const OF_HOST: u64 = 200;

fn main() {
    let captures = std::env::args().nth(1).map_or(1_000_000, |count| count.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let segments = Arc::new(MemorySegments::default());
    let mut contents = Contents::open(segments.clone()).unwrap();
    let mut tables = CaptureTables::open(dir.path(), "made-up", "all", segments, false).unwrap();
    let mut visits = VisitTables::open(dir.path(), "all").unwrap();
    let (mut made, mut row) = (Duration::ZERO, row_of(0));
    let began = cpu_time();
    for number in 0..captures {
        let before = cpu_time();
        set(&mut row, number);
        made += cpu_time() - before;
        tables.add(&row, &mut contents).unwrap();
        visits.add(&row).unwrap();
        if number % (captures / 10) == 0 {
            println!("{number:>9} captures: {} memory at most", memory());
        }
    }
    tables.finish().unwrap();
    visits.finish().unwrap();
    let spent = cpu_time() - began - made;
    println!(
        "{captures} captures and as many visits in {:.1} s of CPU: {:.0} captures/s, {} memory at most, {} MB",
        spent.as_secs_f64(),
        captures as f64 / spent.as_secs_f64(),
        memory(),
        size_of(dir.path()) / 1_000_000,
    );
}

fn cpu_time() -> Duration {
    let at = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(at.tv_sec.unsigned_abs(), u32::try_from(at.tv_nsec).unwrap())
}

/// The most memory that was in use, as the system counts it.
fn memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap_or_default().trim().to_owned()
}

fn size_of(dir: &std::path::Path) -> u64 {
    let entries = fs::read_dir(dir).unwrap().map(Result::unwrap);
    let size = |entry: fs::DirEntry| match entry.path().is_dir() {
        true => size_of(&entry.path()),
        false => entry.metadata().unwrap().len(),
    };
    entries.map(size).sum()
}

fn set(row: &mut LogRow, number: u64) {
    *row = row_of(number);
}

fn row_of(number: u64) -> LogRow {
    let host = number / OF_HOST % 5_000;
    let time = At(Time::from_millis(1_794_780_950_000 + number * 250));
    let url =
        format!("https://www.host{host}.example.org/section-{}/page-{number}.html", number % 17);
    let visit = VisitView {
        time,
        outcome: Code(Outcome::Ok),
        cause: None,
        status: Some(if number.is_multiple_of(20) { 404 } else { 200 }),
        change: Code(if number.is_multiple_of(3) { Change::Changed } else { Change::Same }),
        score: (number % 100) as f64 / 100.0,
        in_doubt: false,
        digest: Some(format!("sha1:{:032X}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))),
        bytes: 10_000 + number % 5_000,
        ms: 120,
        near: None,
        warc: Some(format!("evercrawl-20261116055101691-{:05}-host.warc.gz", 1 + number / OF_WARC)),
        offset: Some(number % OF_WARC * 8_000),
        length: Some(7_900),
        url: None,
    };
    let page = LogPage {
        via: Some(format!("https://www.host{host}.example.org/section-{}/", number % 17)),
        host: format!("www.host{host}.example.org"),
        kind: Some(Code(PageKind::Page)),
        depth: 3,
        tags: vec!["news".to_owned()],
        checks: 9,
        changes: 3,
        watched_seconds: 86_400.0,
        interval_seconds: Some(3_600.0),
        etag: Some(format!("\"{number:x}\"")),
        url,
        ..LogPage::default()
    };
    LogRow { number, time, page, visit: Some(visit), life: None, held: None }
}
