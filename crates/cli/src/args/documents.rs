//! Which flags do `text` and `documents` take?

use clap::{Args, ValueEnum};

use super::Common;
use crate::units;

/// Examples for `documents --help`.
pub(super) const DOCUMENTS_EXAMPLES: &str = "Examples:
  evercrawl documents --follow --data web
  evercrawl documents --as opensearch --to http://127.0.0.1:9200/pages --data web";

#[derive(Debug, Args)]
pub(crate) struct Text {
    /// The URL
    pub(crate) url: String,
    /// The version known at this time, e.g. 2026-11-16T08:00:00Z, or 2h (two hours ago) [default:
    /// the latest]
    #[arg(long, value_name = "TIME", value_parser = units::moment)]
    pub(crate) at: Option<units::Moment>,
    /// In which form
    #[arg(long = "as", value_enum, value_name = "FORM", default_value_t = TextForm::Text)]
    pub(crate) form: TextForm,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Print JSON, with title, language, headings and links
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextForm {
    /// One line per paragraph
    Text,
    /// With headings, lists, code, tables and links
    Markdown,
    /// Without scripts, styles and forms
    Html,
}

impl TextForm {
    /// Its name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            TextForm::Text => "text",
            TextForm::Markdown => "markdown",
            TextForm::Html => "html",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DocumentsArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// For which search index
    #[arg(long = "as", value_enum, value_name = "FORM", default_value_t = DocumentsForm::Jsonl)]
    pub(crate) form: DocumentsForm,
    /// Only operations after this number (that of the last one you processed)
    #[arg(long, value_name = "NUMBER")]
    pub(crate) after: Option<u64>,
    /// Only visits since this time, e.g. 2026-11-16T08:00:00Z, or 2h (two hours ago)
    #[arg(long, value_name = "TIME", value_parser = units::moment, conflicts_with = "after")]
    pub(crate) since: Option<units::Moment>,
    /// Only pages with this tag
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
    /// Only pages of this host
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Keep waiting for more while the crawl runs
    #[arg(long)]
    pub(crate) follow: bool,
    /// Add each text as Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Include pages that ask not to be indexed (noindex) or reserve text and data mining
    #[arg(long)]
    pub(crate) all: bool,
    /// Send to this index instead of printing, e.g. http://127.0.0.1:9200/pages
    #[arg(long, value_name = "URL")]
    pub(crate) to: Option<String>,
    /// Name under which the data directory remembers how much was sent [default: default]
    #[arg(long, value_name = "NAME", requires = "to")]
    pub(crate) consumer: Option<String>,
    /// Header to send, e.g. 'Authorization: @key.txt' (read from a file)
    #[arg(long, value_name = "NAME: VALUE", requires = "to")]
    pub(crate) header: Vec<String>,
    /// Print JSON about what was sent
    #[arg(long, requires = "to")]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocumentsForm {
    /// One JSON object per operation
    Jsonl,
    /// Bulk requests, with versions
    Opensearch,
    /// Documents for Meilisearch
    Meilisearch,
    /// Documents for Typesense
    Typesense,
    /// Documents for Quickwit, which only appends
    Quickwit,
}
