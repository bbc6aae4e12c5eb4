//! `evercrawl check`: do state and archive agree?

use std::io::Write;
use std::sync::Arc;

use evercrawl_engine::DataDir;
use evercrawl_engine::check::check;
use serde_json::json;

use super::crawl::open_walk;
use super::{open, take};
use crate::args::{Check, Common, RunArgs};
use crate::units::show_count;
use crate::{crawl_config, exit, print};

pub(crate) fn run(args: &Check) -> anyhow::Result<u8> {
    recover(&args.common)?;
    let opened = open(&args.common)?;
    let archive = opened.archive_dir();
    let report = check(&opened.state, &archive, |file| {
        if !args.json {
            eprintln!("checking {file}");
        }
    })?;
    let agree = report.problems.is_empty();
    let mut out = print::data();
    if args.json {
        let line = json!({
            "ok": agree,
            "visits": report.visits,
            "records": report.records,
            "files": report.files,
            "problems": report.problems,
        });
        print::json_line(&mut out, &line)?;
    } else {
        for problem in &report.problems {
            writeln!(out, "{}", print::plain(problem))?;
        }
        let (visits, records) = (show_count(report.visits), show_count(report.records));
        let verdict = if agree { "agree" } else { "DISAGREE" };
        writeln!(
            out,
            "state and archive {verdict}: {visits} visits, {records} records, {} files",
            report.files
        )?;
    }
    Ok(if agree { exit::OK } else { exit::UNEXPECTED })
}

/// After an abrupt end, does what the next run would do first: cuts off what no commit knew.
fn recover(common: &Common) -> anyhow::Result<()> {
    let clean = open(common)?.state.was_clean();
    if !clean {
        let settings = crawl_config::settings(common, None)?;
        let config = Arc::new(crawl_config::crawl_config(&settings, &RunArgs::default())?);
        let dir = take(&common.data, DataDir::open)?;
        open_walk(&dir, &settings, &config)?.close()?;
    }
    Ok(())
}
