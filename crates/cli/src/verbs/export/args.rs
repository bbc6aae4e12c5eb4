//! Which flags does `evercrawl export` take?

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use evercrawl_export::{Field, Filter};
use evercrawl_model::Time;
use evercrawl_query::{At, LogRequest};

use crate::args::Common;
use crate::exit::Failure;
use crate::units;

/// Examples for `export --help`.
pub(crate) const EXAMPLES: &str = "Examples:
  evercrawl export warc --host example.org --out example.warc.gz --data web
  evercrawl export urls --where 'status = 404' --data web
  evercrawl export crawl-log --since 1d --out crawl.log --data web";

#[derive(Debug, Subcommand)]
pub(crate) enum Export {
    /// Copy the records of visits to one WARC file
    Warc(WarcArgs),
    /// Write a web archive package that can be replayed elsewhere
    Wacz(WaczArgs),
    /// Write tables for analysis, with the columns of Common Crawl
    Parquet(ParquetArgs),
    /// Write pages as Markdown files, one folder per host
    Markdown(MarkdownArgs),
    /// Pack one page with what it is made of, and how to verify it
    Evidence(EvidenceArgs),
    /// List visits in the format of Heritrix's crawl.log
    CrawlLog(CrawlLogArgs),
    /// List URLs, one per line
    Urls(UrlsArgs),
    /// Write a sitemap of the pages that answer
    Sitemap(SitemapArgs),
}

/// Which rows to export.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "What to export")]
pub(crate) struct Selection {
    /// Only pages with this tag
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
    /// Only pages of this host
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Only visits since this time, e.g. 2026-11-16T08:00:00Z, or 2h (two hours ago)
    #[arg(long, value_name = "TIME", value_parser = units::moment)]
    pub(crate) since: Option<units::Moment>,
    /// Only visits before this time
    #[arg(long, value_name = "TIME", value_parser = units::moment)]
    pub(crate) until: Option<units::Moment>,
    /// Only rows for which this is true, e.g. 'status = 200 and depth < 3'
    #[arg(long = "where", value_name = "EXPRESSION")]
    pub(crate) filter: Option<String>,
}

impl Selection {
    /// The rows of the log that are asked for.
    pub(crate) fn log(&self, now: Time, after: Option<u64>, follow: bool) -> LogRequest {
        LogRequest {
            after,
            since: self.since.map(|since| At(since.at(now))),
            until: self.until.map(|until| At(until.at(now))),
            tag: self.tag.clone(),
            host: self.host.clone(),
            follow,
            ..LogRequest::default()
        }
    }

    /// The expression, where there is one.
    pub(crate) fn filter(&self, fields: &'static [Field]) -> anyhow::Result<Option<Filter>> {
        let parsed = self.filter.as_deref().map(|text| Filter::parse(text, fields));
        parsed.transpose().map_err(|error| Failure::usage(format!("--where: {error}")))
    }

    /// The same words for the same rows.
    pub(crate) fn words(&self, form: &str) -> String {
        let mut words = vec![form.to_owned()];
        let mut add = |name: &str, value: Option<String>| {
            words.extend(value.map(|value| format!("{name} {value}")));
        };
        add("tag", self.tag.clone());
        add("host", self.host.clone());
        add("since", self.since.map(|time| format!("{time:?}")));
        add("until", self.until.map(|time| format!("{time:?}")));
        add("where", self.filter.clone());
        words.join(", ")
    }
}

#[derive(Debug, Args)]
pub(crate) struct WarcArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) common: Common,
    /// The file; continues an earlier export of the same rows
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Leave out request records
    #[arg(long)]
    pub(crate) no_requests: bool,
    /// Keep waiting for more while the crawl runs
    #[arg(long)]
    pub(crate) follow: bool,
    /// Start over, whatever the file holds
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WaczArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) common: Common,
    /// The file, e.g. crawl.wacz; continues an interrupted export of the same rows
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Title of the package
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Leave out the texts of pages, which viewers search
    #[arg(long)]
    pub(crate) no_text: bool,
    /// Sign with the private key in this file; a new one is made if there is no such file
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Start over, whatever the file holds
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ParquetArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Directory for the tables; continues an earlier export of the same rows
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Name of the crawl, for the column `crawl` [default: the data directory's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Only these tables
    #[arg(long, value_enum, value_name = "TABLE", value_delimiter = ',',
          default_values_t = [Table::Captures, Table::Visits, Table::Pages, Table::Hosts, Table::Links])]
    pub(crate) tables: Vec<Table>,
    /// Read every record, to fill in languages, charsets, detected types and redirects
    #[arg(long)]
    pub(crate) content: bool,
    /// Keep waiting for more while the crawl runs
    #[arg(long)]
    pub(crate) follow: bool,
    /// Start over, whatever the directory holds
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Table {
    /// Archived responses
    Captures,
    /// Visits, failures included
    Visits,
    /// Known URLs
    Pages,
    /// Hosts
    Hosts,
    /// Links between known pages
    Links,
}

#[derive(Debug, Args)]
pub(crate) struct MarkdownArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) common: Common,
    /// The folder; continues an earlier export of the same pages
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Include pages that ask not to be indexed, or reserve their use
    #[arg(long)]
    pub(crate) all: bool,
    /// Keep waiting for more while the crawl runs
    #[arg(long)]
    pub(crate) follow: bool,
    /// Start over: removes the files of an earlier export from the folder
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EvidenceArgs {
    /// The page
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) common: Common,
    /// As it was at this time [default: the latest version]
    #[arg(long, value_name = "TIME", value_parser = units::moment)]
    pub(crate) at: Option<units::Moment>,
    /// The file, e.g. evidence.wacz
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Sign with the private key in this file; a new one is made if there is no such file
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CrawlLogArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) common: Common,
    /// The file; continues an earlier export of the same rows [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Keep waiting for more while the crawl runs
    #[arg(long)]
    pub(crate) follow: bool,
    /// Start over, whatever the file holds
    #[arg(long, requires = "out")]
    pub(crate) overwrite: bool,
    /// Print JSON about the file
    #[arg(long, requires = "out")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UrlsArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) common: Common,
    /// The file; it is replaced when the new one is whole [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON Lines with all that is known of each page
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SitemapArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) common: Common,
    /// The file, e.g. sitemap.xml; more than 50,000 URLs go to sitemap-1.xml and so on, and the
    /// file lists them
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Where the files will be served, for the list of several [default: the first page's site]
    #[arg(long, value_name = "URL")]
    pub(crate) base: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
