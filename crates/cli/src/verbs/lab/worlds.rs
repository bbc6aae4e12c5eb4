//! `evercrawl lab worlds`: which worlds come with the program, and what are they like?

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use evercrawl_lab::microsoft;
use evercrawl_lab::synthetic::{SHIPPED, Shipped};
use serde::Serialize;

use super::{json_line, shown, sources};
use crate::exit::Failure;
use crate::{exit, print};

const SAVE: &str = "To make your own world, start from a built-in one:\n  \
evercrawl lab worlds news > mine.toml\n  evercrawl lab run mine.toml";

#[derive(Debug, Args)]
#[command(after_help = SAVE)]
pub(crate) struct Worlds {
    /// World whose description to print
    #[arg(value_name = "NAME")]
    name: Option<PathBuf>,
    /// Write the world's change rates and weights as a data set of
    /// microsoft/Optimal-Freshness-Crawl-Scheduling; any world that `run` accepts
    #[arg(long, value_name = "DIR", requires = "name")]
    write_microsoft: Option<PathBuf>,
    /// Random seed of the world to write
    #[arg(long, value_name = "N", default_value_t = 0, requires = "write_microsoft")]
    seed: u64,
    /// Print JSON Lines: one object per world
    #[arg(long, conflicts_with_all = ["name", "write_microsoft"])]
    json: bool,
}

/// One world, as a line of the list.
#[derive(Serialize)]
struct Answer {
    world: &'static str,
    pages: u32,
    hosts: u32,
    changes_a_week: f64,
    changing_weekly: f64,
    about: String,
}

pub(super) fn run(args: &Worlds) -> anyhow::Result<u8> {
    match (&args.name, &args.write_microsoft) {
        (Some(name), Some(folder)) => write_microsoft(name, args.seed, folder)?,
        (Some(name), None) => print::data().write_all(find(name)?.text.as_bytes())?,
        (None, _) => list(args.json)?,
    }
    Ok(exit::OK)
}

fn list(json: bool) -> anyhow::Result<()> {
    let mut out = print::data();
    let answers: Vec<Answer> = SHIPPED.iter().map(answer).collect::<anyhow::Result<_>>()?;
    if json {
        return answers.iter().try_for_each(|answer| json_line(&mut out, answer));
    }
    let head = ["world", "pages", "hosts", "changes/page/week", "change weekly", "about"];
    let rows: Vec<Vec<String>> = answers.iter().map(Answer::row).collect();
    Ok(print::table(&mut out, &head, &rows)?)
}

fn answer(shipped: &Shipped) -> anyhow::Result<Answer> {
    let spec = shipped.spec()?;
    let summary = spec.summary();
    Ok(Answer {
        world: shipped.name,
        pages: summary.pages,
        hosts: summary.hosts,
        changes_a_week: summary.changes,
        changing_weekly: summary.changing,
        about: spec.about,
    })
}

impl Answer {
    fn row(&self) -> Vec<String> {
        let rounded = |value: f64| shown((value * 1000.0).round() / 1000.0);
        vec![
            self.world.to_owned(),
            self.pages.to_string(),
            self.hosts.to_string(),
            rounded(self.changes_a_week),
            format!("{:.0} %", 100.0 * self.changing_weekly),
            self.about.clone(),
        ]
    }
}

fn find(name: &Path) -> anyhow::Result<&'static Shipped> {
    let name = name.to_string_lossy();
    Shipped::find(&name).ok_or_else(|| {
        let near = |shipped: &&Shipped| strsim::jaro_winkler(&name, shipped.name);
        let best = SHIPPED.iter().max_by(|a, b| near(a).total_cmp(&near(b)));
        let hint = best.filter(|best| near(best) > 0.8).map_or_else(
            || "`evercrawl lab worlds` lists all".to_owned(),
            |best| format!("did you mean `{}`?", best.name),
        );
        Failure::usage(format!("`{}` is not a world; {hint}", print::plain(&name)))
    })
}

fn write_microsoft(world: &Path, seed: u64, folder: &Path) -> anyhow::Result<()> {
    let world = sources::open(world, false)?.world(seed, 0.0)?;
    let texts = microsoft::write(&microsoft::entries(&world));
    std::fs::create_dir_all(folder)?;
    for (name, text) in microsoft::PREPARED.iter().zip(texts) {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(())
}
