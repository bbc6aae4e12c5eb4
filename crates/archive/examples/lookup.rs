//! How long does it take to find the captures of a URL among many? `lookup DIR CAPTURES` makes as many captures in a
//! hundred indexes, unless they are there, and looks some up.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement"
)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evercrawl_archive::{CaptureIndex, FileSegments};
use evercrawl_model::Time;

const FILES: u64 = 100;
const LOOKUPS: u64 = 200;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (dir, captures) = (arguments.next().unwrap(), arguments.next().unwrap());
    let captures: u64 = captures.parse().unwrap();
    if !Path::new(&dir).exists() {
        make(Path::new(&dir), captures);
    }
    let mut index = CaptureIndex::open(Arc::new(FileSegments::new(&dir))).unwrap();
    let (mut all, mut near, mut found) = (Vec::new(), Vec::new(), 0);
    for n in 0..LOOKUPS {
        let url = format!("http://example.org/{:08}", n * 7_919 % (captures / FILES));
        let began = Instant::now();
        found += index.captures(&url, usize::MAX).unwrap().len();
        all.push(began.elapsed());
        let began = Instant::now();
        assert!(index.nearest(&url, Time::from_secs(1_700_000_000)).unwrap().is_some());
        near.push(began.elapsed());
    }
    println!("{found} captures found by {LOOKUPS} URLs among {captures}");
    println!("all captures of a URL: {}; the nearest: {}", times(all), times(near));
}

fn times(mut times: Vec<Duration>) -> String {
    times.sort();
    let ms = |at: usize| times[at].as_secs_f64() * 1e3;
    format!("median {:.1} ms, slowest {:.1} ms", ms(times.len() / 2), ms(times.len() - 1))
}

/// Every file has every URL once, at a time of its own.
fn make(dir: &Path, captures: u64) {
    fs::create_dir_all(dir).unwrap();
    for file in 0..FILES {
        let name = format!("look-20260101000000000-{file:05}-up");
        let path = dir.join(format!("{name}.cdxj"));
        let mut out = std::io::BufWriter::new(fs::File::create(path).unwrap());
        let at = Time::from_secs(1_600_000_000 + file * 86_400).digits14();
        for n in 0..captures / FILES {
            writeln!(
                out,
                "org,example)/{n:08} {at} {{\"url\":\"http://example.org/{n:08}\",\"mime\":\"text/html\",\
                 \"status\":\"200\",\"digest\":\"VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\",\"length\":\"2000\",\
                 \"offset\":\"{n}\",\"filename\":\"{name}.warc.gz\"}}"
            )
            .unwrap();
        }
    }
}
