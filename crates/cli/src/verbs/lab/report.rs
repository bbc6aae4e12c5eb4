//! `evercrawl lab report`: what do publications report, and what does our code measure?

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use evercrawl_lab::report::{self, Effort, LINKED_SITES, ReportDocument, ReportFile, SiteTrace};

use super::output;
use crate::exit::Failure;
use crate::{exit, print};

const FILES: &str = "Writes DIR/index.html, one page per publication as HTML and Markdown, every table as \
CSV and every figure as SVG.";

#[derive(Debug, Args)]
#[command(after_help = FILES)]
pub(crate) struct Report {
    /// Publication to reproduce
    #[arg(value_enum)]
    document: Which,
    /// Folder with one folder per recorded site; not needed for s3
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,
    /// Sites to use, by folder name; their links must be recorded
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', default_values_t = sites())]
    sites: Vec<String>,
    /// Output directory
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Simulate a twentieth as much: faster, but less precise
    #[arg(long)]
    quick: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Kumagai and Yamana 2004: changed pages by the links of their server
    S0,
    /// Hiromichi et al. 2010: pages that change with their top page, archived together
    S1,
    /// Meng, Wang and Yan 2006: the mathematics of incremental crawling
    S3,
    /// All three
    All,
}

fn sites() -> Vec<String> {
    LINKED_SITES.map(str::to_owned).to_vec()
}

pub(super) fn run(args: &Report) -> anyhow::Result<u8> {
    let documents = args.documents()?;
    let files = documents.iter().flat_map(ReportDocument::files).chain([report::index(&documents)]);
    for file in files {
        write(&args.out, &file)?;
    }
    writeln!(print::data(), "{}", args.out.join("index.html").display())?;
    Ok(exit::OK)
}

impl Report {
    fn documents(&self) -> anyhow::Result<Vec<ReportDocument>> {
        let wanted = |which: Which| self.document == which || self.document == Which::All;
        let show = !self.quiet && std::io::stderr().is_terminal();
        let progress = |words: &str| {
            if show {
                eprint!("\r\x1b[2K{}", print::plain(words));
            }
        };
        let recorded = wanted(Which::S0) || wanted(Which::S1);
        let traces = if recorded { self.traces(&progress)? } else { Vec::new() };
        let mut documents = Vec::new();
        if wanted(Which::S0) {
            documents.push(report::s0(&traces, &progress));
        }
        if wanted(Which::S1) {
            documents.push(report::s1(&traces, &progress));
        }
        if wanted(Which::S3) {
            progress("s3: simulating");
            documents.push(report::s3(if self.quick { Effort::Quick } else { Effort::Full }));
        }
        if show {
            eprint!("\r\x1b[2K");
        }
        Ok(documents)
    }

    fn traces(&self, progress: &dyn Fn(&str)) -> anyhow::Result<Vec<SiteTrace>> {
        let Some(dir) = &self.traces else {
            return Err(Failure::usage(
                "s0 and s1 need recorded sites; name their folder with --traces DIR",
            ));
        };
        let read = |site: &String| -> anyhow::Result<SiteTrace> {
            let folder = dir.join(site);
            if !folder.join("trace.json").is_file() {
                return Err(Failure::usage(format!(
                    "{} is not a recorded site; choose others with --sites",
                    print::plain(&folder.display().to_string())
                )));
            }
            progress(&format!("reading {site}"));
            let trace = SiteTrace::read(&folder)?;
            if trace.server.total_links() == 0 {
                return Err(Failure::usage(format!(
                    "{} has no recorded links, which s0 and s1 need; leave it out of --sites",
                    print::plain(site)
                )));
            }
            Ok(trace)
        };
        self.sites.iter().map(read).collect()
    }
}

fn write(out: &Path, file: &ReportFile) -> anyhow::Result<()> {
    let path = out.join(&file.path);
    let folder = path.parent().unwrap_or(out);
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the directory {}", folder.display()))?;
    output::write(&path, &file.text)
}
