//! How are several data directories crawled in one process?
//!
//! Each on a thread of its own, by its own settings; they share connections, threads, pauses and the budget. A directory
//! that fails is reported, and the others go on.

use std::collections::HashSet;
use std::path::PathBuf;

use evercrawl_engine::live::{Services, ServicesConfig, Stopper};
use evercrawl_state::DiskStore;
use serde_json::json;

use super::{Directory, Label, listen_for_signals};
use crate::args::{Common, Crawl, CrawlRules, RunArgs};
use crate::{crawl_config, exit, print, units};

/// Exit codes from the best to the worst: the worst of all directories is that of the process.
const BY_GRAVITY: [u8; 10] = [
    exit::OK,
    exit::TIME_LIMIT,
    exit::SIZE_LIMIT,
    exit::INTERRUPTED,
    exit::UNREACHABLE,
    exit::DISK_LIMIT,
    exit::USAGE,
    exit::CONFIG,
    exit::STORAGE,
    exit::UNEXPECTED,
];

/// Crawls all directories until each has come to its end.
pub(super) fn run(args: &Crawl, several: &[Common]) -> anyhow::Result<u8> {
    refuse_what_is_for_one(args)?;
    refuse_twins(several)?;
    let rules = CrawlRules { budget: None, concurrency: None, ..args.rules.clone() };
    let run = RunArgs { max_pages: None, max_bytes: None, ..args.run.clone() };
    let directories: Vec<Directory<'_>> = several
        .iter()
        .map(|common| {
            let label = Label::of(&common.data);
            Directory { args, common, rules: &rules, run: &run, label }
        })
        .collect();
    let services = Services::start(together(args, &directories)?)?;
    let stoppers: Vec<Stopper> = directories.iter().map(|_| Stopper::default()).collect();
    listen_for_signals(stoppers.clone(), args.quiet);
    let codes: Vec<u8> = std::thread::scope(|scope| {
        let crawls = directories.iter().zip(&stoppers);
        let crawls: Vec<_> = crawls
            .map(|(directory, stopper)| {
                let services = &services;
                scope.spawn(move || crawl(directory, services, stopper))
            })
            .collect();
        crawls.into_iter().map(|crawl| crawl.join().unwrap_or(exit::UNEXPECTED)).collect()
    });
    services.stop()?;
    Ok(worst(&codes))
}

/// Crawls one directory, and reports what keeps it from that.
fn crawl(directory: &Directory<'_>, services: &Services<DiskStore>, stopper: &Stopper) -> u8 {
    let crawled = directory.crawl(&[], services, stopper, || {});
    crawled.unwrap_or_else(|error| {
        let (code, message) = (exit::code_of(&error), print::complaint(&format!("{error:#}")));
        if exit::is_broken_pipe(&error) {
            return exit::OK;
        }
        directory.label.print(&message);
        if directory.args.json {
            let data = directory.path().display().to_string();
            let line =
                json!({"event": "error", "data": data, "message": message, "exit_code": code});
            // Whoever reads may go away; the crawls go on.
            let _ = print::json_line(&mut print::data(), &line);
        }
        code
    })
}

fn worst(codes: &[u8]) -> u8 {
    let gravity = |code: &u8| BY_GRAVITY.iter().position(|known| known == code);
    codes.iter().copied().max_by_key(|code| gravity(code).unwrap_or(usize::MAX)).unwrap_or(exit::OK)
}

/// Seeds and a listener belong to one directory.
fn refuse_what_is_for_one(args: &Crawl) -> anyhow::Result<()> {
    let seeds = &args.seeds;
    if !seeds.urls.is_empty() || !seeds.seeds.is_empty() || !seeds.tag.is_empty() {
        return Err(exit::Failure::usage(
            "seeds belong to one data directory; add them first, with `evercrawl add URL --data DIR`",
        ));
    }
    if args.push.is_some() {
        return Err(exit::Failure::usage(
            "--push listens for one data directory; set push.listen in the evercrawl.toml of each",
        ));
    }
    if args.report.is_some() {
        return Err(exit::Failure::usage(
            "--report writes one file for one data directory; use --json, which prints a report for each",
        ));
    }
    Ok(())
}

/// A directory has room for one crawl.
fn refuse_twins(several: &[Common]) -> anyhow::Result<()> {
    let mut seen: HashSet<PathBuf> = HashSet::new();
    for Common { data, .. } in several {
        let real = std::fs::canonicalize(data).or_else(|_| std::path::absolute(data))?;
        if !seen.insert(real) {
            let data = data.display();
            return Err(exit::Failure::usage(format!(
                "--data {data} is given twice; give it once"
            )));
        }
    }
    Ok(())
}

/// What the directories may do together. Where a directory's settings cannot be read, its own thread reports that.
fn together(args: &Crawl, directories: &[Directory<'_>]) -> anyhow::Result<ServicesConfig> {
    let configs = directories.iter().filter_map(|directory| directory.settings().ok());
    let (mut workers, mut concurrency) = (1, 1);
    for (_, config) in configs {
        workers = workers.max(config.workers);
        concurrency = concurrency.max(config.limits.concurrency);
    }
    let budget = args.rules.budget.as_deref().map(units::rate).transpose();
    let limits = crawl_config::run_limits(&args.run)?;
    Ok(ServicesConfig {
        workers,
        are_several: true,
        concurrency: Some(asked_concurrency(args)?.unwrap_or(concurrency)),
        budget: budget.map_err(|error| exit::Failure::usage(format!("--budget: {error}")))?,
        pages: limits.pages,
        bytes: limits.bytes,
    })
}

/// The flag `--concurrency`.
fn asked_concurrency(args: &Crawl) -> anyhow::Result<Option<usize>> {
    let Some(text) = &args.rules.concurrency else { return Ok(None) };
    match text.parse() {
        Ok(count @ 1..) => Ok(Some(count)),
        _ => Err(exit::Failure::usage(format!(
            "--concurrency: `{text}` is not a number of requests; use 1 or more"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_directory_decides() {
        assert_eq!(worst(&[exit::OK, exit::TIME_LIMIT, exit::OK]), exit::TIME_LIMIT);
        assert_eq!(worst(&[exit::INTERRUPTED, exit::STORAGE, exit::TIME_LIMIT]), exit::STORAGE);
        assert_eq!(worst(&[exit::OK, 99, exit::STORAGE]), 99);
        assert_eq!(worst(&[]), exit::OK);
    }
}
