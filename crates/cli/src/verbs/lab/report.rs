//! `evercrawl lab report`: what do the documents report, and what does our code find?

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use evercrawl_lab::report::{self, Effort, LINKED_SITES, ReportDocument, ReportFile, SiteTrace};

use super::output;
use crate::exit::Failure;
use crate::{exit, print};

const FILES: &str = "Writes DIR/index.html, for each document a page and the same as Markdown, and \
beside them every table as CSV and every figure as SVG.";

#[derive(Debug, Args)]
#[command(after_help = FILES)]
pub(crate) struct Report {
    /// The document to measure again
    #[arg(value_enum)]
    document: Which,
    /// The folder that holds the folders of recorded sites; s3 needs none
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,
    /// The sites to use, by the names of their folders; their links must be known
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', default_values_t = sites())]
    sites: Vec<String>,
    /// Where to put it all
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Simulate a twentieth of what is needed for the last digits
    #[arg(long)]
    quick: bool,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Kumagai and Yamana 2004: changed pages by the links of their server
    S0,
    /// Hiromichi et al. 2010: pages that follow their top, archived together
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
                "s0 and s1 are measured on recorded sites: name their folder with --traces",
            ));
        };
        let read = |site: &String| -> anyhow::Result<SiteTrace> {
            let folder = dir.join(site);
            if !folder.join("trace.json").is_file() {
                return Err(Failure::usage(format!(
                    "there is no recorded site {}; --sites names those to use",
                    print::plain(&folder.display().to_string())
                )));
            }
            progress(&format!("reading {site}"));
            let trace = SiteTrace::read(&folder)?;
            if trace.server.total_links() == 0 {
                return Err(Failure::usage(format!(
                    "of {} no links are known, and s0 and s1 follow links: leave it out of --sites",
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
        .with_context(|| format!("cannot make the directory {}", folder.display()))?;
    output::write(&path, &file.text)
}
