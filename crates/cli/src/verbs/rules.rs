//! `evercrawl rules`: what rules find, in what is stored and in what comes.

use std::io::Write;
use std::time::Duration;

use clap::{Args, Subcommand};
use evercrawl_engine::live::SystemClock;
use evercrawl_query::At;

use super::alerts::{self, Questions, Round};
use super::hits::write_hit;
use crate::args::Common;
use crate::units::show_counted;
use crate::{exit, print, units};

/// Examples for `rules --help`.
pub(crate) const EXAMPLES: &str =
    "Rules stand in rules.toml in the data directory. `crawl` follows them by itself.

Examples:
  evercrawl rules check --data web
  evercrawl rules test --since 30d --data web
  evercrawl rules run --follow --data web";

#[derive(Debug, Subcommand)]
pub(crate) enum RulesVerb {
    /// Read rules.toml and the files it names, and report every mistake
    Check {
        #[command(flatten)]
        common: Common,
    },
    /// Show what the rules would have found in stored versions; sends nothing
    Test(RulesTest),
    /// Judge what is new in the log, and send what was found
    Run(RulesRun),
}

#[derive(Debug, Args)]
pub(crate) struct RulesTest {
    #[command(flatten)]
    common: Common,
    /// Only visits since this time, e.g. 2026-11-16T08:00:00Z, or 30d [default: all]
    #[arg(long, value_name = "TIME", value_parser = units::moment)]
    since: Option<units::Moment>,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RulesRun {
    #[command(flatten)]
    common: Common,
    /// Judge visits since this time again, e.g. 30d; what was found before is not sent twice
    /// [default: what is new since the last run]
    #[arg(long, value_name = "TIME", value_parser = units::moment)]
    since: Option<units::Moment>,
    /// Continue until Ctrl-C
    #[arg(long)]
    follow: bool,
    /// Print hits as JSON Lines
    #[arg(long)]
    json: bool,
}

/// How often the log is looked at.
const EVERY: Duration = Duration::from_secs(2);

pub(crate) fn run(verb: &RulesVerb) -> anyhow::Result<u8> {
    match verb {
        RulesVerb::Check { common } => check(common),
        RulesVerb::Test(args) => test(args),
        RulesVerb::Run(args) => follow(args),
    }
}

fn check(common: &Common) -> anyhow::Result<u8> {
    let rules = alerts::need_rules(&common.data)?;
    evercrawl_notify::load_materials(&rules, &common.data).map_err(alerts::broken)?;
    for channel in &rules.channels {
        let opened = evercrawl_notify::Channel::open(channel, &|name| crate::secret::read(name));
        opened.map_err(alerts::broken)?;
    }
    let watches = show_counted(rules.watches.len() as u64, "watch");
    let channels = show_counted(rules.channels.len() as u64, "channel");
    println!("{watches}, {channels}: no mistakes");
    Ok(exit::OK)
}

fn test(args: &RulesTest) -> anyhow::Result<u8> {
    let rules = alerts::need_rules(&args.common.data)?;
    let mut questions = Questions::open(&args.common)?;
    let now = SystemClock.now();
    let since = args.since.map(|since| At(since.at(now)));
    let (mut out, mut count) = (print::data(), 0u64);
    let shown = alerts::rehearse(&args.common.data, &rules, &mut questions, since, &mut |hit| {
        count += 1;
        match args.json {
            true => Ok(print::json_line(&mut out, hit)?),
            false => write_hit(hit, None, &mut out),
        }
    });
    out.flush()?;
    let (rows, unread) = shown?;
    eprintln!("{} in {} of the log", show_counted(count, "hit"), show_counted(rows, "row"));
    if unread > 0 {
        let visits = show_counted(unread, "visit");
        eprintln!("{visits} not judged: their content is not in the archive");
    }
    Ok(exit::OK)
}

fn follow(args: &RulesRun) -> anyhow::Result<u8> {
    let mut round = Round::new(&args.common.data);
    let now = SystemClock.now();
    let mut since = args.since.map(|since| At(since.at(now)));
    let mut out = print::data();
    loop {
        let rules = alerts::need_rules(&args.common.data)?;
        let found = round.go(&rules, &mut || Questions::open(&args.common).map(Some), since)?;
        since = None;
        for hit in &found.hits {
            match args.json {
                true => print::json_line(&mut out, hit)?,
                false => write_hit(hit, None, &mut out)?,
            }
        }
        out.flush()?;
        for trouble in &found.sent.troubles {
            eprintln!("{}", print::plain(trouble));
        }
        if !found.more && !args.follow {
            let sent = show_counted(found.sent.delivered, "message");
            eprintln!("{sent} delivered; `evercrawl notify deliveries` shows what waits");
            return Ok(exit::OK);
        }
        if !found.more {
            alerts::pause(EVERY);
        }
    }
}
