//! `evercrawl import`: what other tools keep, as seeds and visits.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use evercrawl_engine::DataDir;
use evercrawl_engine::live::SystemClock;
use evercrawl_extract::LinkSources;
use evercrawl_import::{Loader, Report, find_inputs, load, scan};
use evercrawl_model::Time;

use super::crawl::open_walk;
use super::take;
use crate::args::{Common, RunArgs};
use crate::units::{show_count, show_counted};
use crate::{crawl_config, exit, print};

pub(crate) const EXAMPLES: &str = "\
Examples:
  evercrawl import bookmarks.html feeds.opml --data web
  evercrawl import old-crawl/*.warc.gz --dry-run --data web
  evercrawl import old-crawl/*.warc.gz --data web";

/// Files whose refusals are shown one by one.
const SHOWN: usize = 10;
/// Where what is found is put in order.
const WORK: &str = "importing";

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Files and directories; what each file is is seen from its content
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    common: Common,
    /// Only count what would be imported, and say what would not
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Import) -> anyhow::Result<u8> {
    let inputs = find_inputs(&args.paths).map_err(usage)?;
    if inputs.is_empty() {
        return Err(exit::Failure::usage(
            "there is nothing in these directories that can be imported",
        ));
    }
    let now = SystemClock.now();
    let report = match args.dry_run {
        true => {
            let settings = crawl_config::settings(&args.common, None)?;
            scan(&inputs, crawl_config::steps(&settings)?, now, None)?.into_report()
        }
        false => import(args, &inputs, now)?,
    };
    match args.json {
        true => print::json_line(&mut print::data(), &report)?,
        false => show(&report, &args.common.data)?,
    }
    Ok(exit::OK)
}

/// A path that cannot be read is the user's to mend.
fn usage(error: evercrawl_import::ImportError) -> anyhow::Error {
    exit::Failure::usage(error.to_string())
}

fn import(args: &Import, inputs: &[evercrawl_import::Input], now: Time) -> anyhow::Result<Report> {
    let dir = take(&args.common.data, DataDir::open_or_create)?;
    let settings = crawl_config::settings(&args.common, None)?;
    let config = crawl_config::crawl_config(&settings, &RunArgs::default())?;
    let work = Work::new(dir.path())?;
    let steps = config.walk.reading.steps;
    let scanned = scan(inputs, steps, now, Some(&work.0))?;
    let mut walk = open_walk(&dir, &settings, &config)?;
    let shown = !args.json && std::io::stderr().is_terminal();
    let mut progress = |done: u64, all: u64| {
        if shown {
            eprint!("\r\x1b[2K{} of {} visits", show_count(done), show_count(all));
        }
    };
    let mut loader = Loader {
        dir: &dir,
        steps,
        largest_body: config.fetch.limits.body_bytes,
        with_requisites: config.walk.reading.take.sources >= LinkSources::Requisites,
        now,
        progress: &mut progress,
    };
    let report = load(&mut loader, &mut walk, scanned)?;
    if shown {
        eprint!("\r\x1b[2K");
    }
    DataDir::keep_learned(dir.path(), &walk.planner().encode_learned())?;
    walk.close()?;
    Ok(report)
}

/// Where what is found is put in order; it goes with the import. What a killed import left goes with the next.
struct Work(PathBuf);

impl Work {
    fn new(dir: &Path) -> anyhow::Result<Self> {
        let work = dir.join(WORK);
        if work.exists() {
            fs::remove_dir_all(&work)?;
        }
        fs::create_dir(&work)?;
        Ok(Work(work))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn show(report: &Report, data: &Path) -> anyhow::Result<()> {
    let mut out = print::data();
    for file in &report.files {
        let mut what = Vec::new();
        if file.seeds > 0 {
            what.push(show_counted(file.seeds, "seed"));
        }
        if file.visits > 0 || file.seeds == 0 {
            what.push(show_counted(file.visits, "visit"));
        }
        let (path, kind) = (print::plain(&file.path), file.kind.name());
        writeln!(out, "{path}: {kind}, {}", what.join(", "))?;
    }
    if report.visits > 0 {
        let with = show_count(report.visits_with_content);
        let (from, until) = (day(&report.from), day(&report.until));
        writeln!(
            out,
            "{} from {from} to {until}, {with} with content",
            show_counted(report.visits, "visit")
        )?;
    }
    if !report.dry_run {
        show_taken(report, &mut out)?;
    }
    show_not_taken(report, &mut out)?;
    out.flush()?;
    let data = print::plain(&data.display().to_string());
    match report.dry_run {
        true => eprintln!("nothing was changed; without --dry-run it is imported to {data}"),
        false => eprintln!("next: evercrawl crawl --data {data}"),
    }
    Ok(())
}

fn show_taken(report: &Report, out: &mut dyn Write) -> anyhow::Result<()> {
    if report.seeds > 0 {
        let new = show_count(report.new_seeds);
        let pinned = match report.pinned {
            0 => String::new(),
            pinned => format!(", {} pinned", show_count(pinned)),
        };
        writeln!(out, "{new} of {} new{pinned}", show_counted(report.seeds, "seed"))?;
    }
    if report.visits > 0 {
        let (taken, archived) = (show_count(report.taken), show_count(report.archived));
        let known = show_count(report.known);
        writeln!(
            out,
            "{taken} of {} imported, {archived} with a record in the archive; {known} known before",
            show_counted(report.visits, "visit")
        )?;
    }
    Ok(())
}

fn show_not_taken(report: &Report, out: &mut dyn Write) -> anyhow::Result<()> {
    if report.not_taken() == 0 {
        return Ok(());
    }
    writeln!(out, "not taken: {}", show_count(report.not_taken()))?;
    for (why, count) in &report.not_taken {
        writeln!(out, "{:>8}  {}", show_count(*count), print::plain(why))?;
    }
    for one in report.named.iter().take(SHOWN) {
        writeln!(out, "  {}: {}", print::plain(&one.place), print::plain(&one.why))?;
    }
    if report.not_taken() > SHOWN as u64 {
        writeln!(out, "  (--json names the first thousand)")?;
    }
    Ok(())
}

fn day(time: &Option<String>) -> &str {
    time.as_deref().and_then(|time| time.get(..10)).unwrap_or_default()
}
