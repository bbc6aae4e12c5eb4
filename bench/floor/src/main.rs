//! What is the least that crawling a page can cost? Fetch, sha1, links, gzip, and nothing else:
//! no robots, no politeness, no state, nothing stored.
//!
//! `evercrawl-bench-floor http://host/ [--connect-to ADDRESS:PORT] [--connections 16]
//! [--until fetch|sha1|links|gzip] [--json]`

mod links;
mod loader;
mod work;

use std::process::ExitCode;
use std::time::Duration;

use loader::Loader;
use rustix::time::{ClockId, clock_gettime};
use url::Url;
use work::{Totals, Work};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The steps, each on top of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Fetch,
    Sha1,
    Links,
    Gzip,
}

struct Options {
    seed: Url,
    address: String,
    connections: usize,
    until: Step,
    json: bool,
}

fn main() -> ExitCode {
    match options().and_then(|options| measure(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("floor: {message}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Result<Options, String> {
    let mut arguments = std::env::args().skip(1);
    let (mut seed, mut address) = (None, None);
    let (mut connections, mut until, mut json) = (16, Step::Gzip, false);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--connect-to" => address = Some(value()?),
            "--connections" => connections = value()?.parse().map_err(|_| "not a number")?,
            "--until" => until = step(&value()?)?,
            "--json" => json = true,
            url => seed = Some(Url::parse(url).map_err(|error| format!("{url}: {error}"))?),
        }
    }
    let seed = seed.ok_or("give a URL to begin with")?;
    let own = || Some(format!("{}:{}", seed.host_str()?, seed.port_or_known_default()?));
    let address = address.or_else(own).ok_or("the URL names no host")?;
    Ok(Options { seed, address, connections, until, json })
}

fn step(name: &str) -> Result<Step, String> {
    match name {
        "fetch" => Ok(Step::Fetch),
        "sha1" => Ok(Step::Sha1),
        "links" => Ok(Step::Links),
        "gzip" => Ok(Step::Gzip),
        _ => Err(format!("--until {name}: one of fetch, sha1, links, gzip")),
    }
}

/// Runs and reports. Steps that find no links are measured over a list that an earlier pass,
/// not measured, has found.
fn measure(options: &Options) -> Result<(), String> {
    let mut list = vec![options.seed.to_string()];
    if options.until < Step::Links {
        list = run(options, Step::Links, list)?.1;
    }
    let began = cpu_time();
    let (totals, _) = run(options, options.until, list)?;
    report(options, totals, cpu_time() - began);
    Ok(())
}

fn run(options: &Options, until: Step, list: Vec<String>) -> Result<(Totals, Vec<String>), String> {
    let loader = Loader::new(&options.seed, &options.address, Work::new(until, list));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(loader.run(options.connections)).map_err(|error| error.to_string())
}

fn report(options: &Options, totals: Totals, cpu: Duration) {
    let Totals { pages, links, bytes, packed } = totals;
    let seconds = cpu.as_secs_f64();
    let each = seconds * 1e3 / pages.max(1) as f64;
    if options.json {
        println!(
            r#"{{"pages":{pages},"links":{links},"bytes":{bytes},"packed":{packed},"cpu_seconds":{seconds:.4},"cpu_ms_a_page":{each:.5}}}"#
        );
    } else {
        let until = options.until;
        println!("until {until:?}: {pages} pages, {bytes} bytes, {links} links, {packed} packed");
        println!("{seconds:.3} s of CPU, {each:.4} ms a page");
    }
}

/// User and system time of this process so far.
fn cpu_time() -> Duration {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(spent.tv_sec.unsigned_abs(), spent.tv_nsec.unsigned_abs() as u32)
}
