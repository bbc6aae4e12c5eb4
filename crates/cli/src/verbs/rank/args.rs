//! Which flags does `evercrawl rank` take?

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use evercrawl_query::{RankMethod, RankRequest, RankStart};

use crate::args::Common;
use crate::units;

#[derive(Debug, Args)]
pub(crate) struct RankArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// How to score pages
    #[arg(long, value_enum, default_value_t = Method::Pagerank)]
    pub(crate) method: Method,
    /// Probability that the random surfer follows a link rather than jumps
    #[arg(long, value_name = "SHARE", default_value = "0.85", value_parser = units::share)]
    pub(crate) damping: f64,
    /// File of trusted pages, one URL per line [default: the seeds]; for antitrust, known spam
    /// [default: pages of hosts classified as spam]
    #[arg(long, value_name = "FILE")]
    pub(crate) trust: Option<PathBuf>,
    /// Trust the N pages from which most pages are reached (inverse PageRank)
    #[arg(long, value_name = "N", conflicts_with = "trust")]
    pub(crate) trust_top: Option<usize>,
    /// File of pages that the surfer of pagerank jumps to: one URL per line, with an optional weight
    #[arg(long, value_name = "FILE")]
    pub(crate) jump: Option<PathBuf>,
    /// Initial ranks of pagerank; the result is the same
    #[arg(long, value_enum, default_value_t = Start::Alike)]
    pub(crate) start: Start,
    /// Rank only pages whose URL matches, by the links among them
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Option<String>,
    /// Store this ranking in the data directory, for later comparison with `--method quality`
    #[arg(long)]
    pub(crate) keep: bool,
    /// Also show the N most frequent link texts of each page; needs `links.anchors=true`
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) anchors: usize,
    /// Number of results to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) top: usize,
    /// Write the link graph to this file, rank nothing: CSV with src,dst (and anchor with --anchors),
    /// or a compact graph if the name ends with .csr; compressed if .gz follows
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
    /// Print JSON Lines
    #[arg(long)]
    pub(crate) json: bool,
}

impl RankArgs {
    /// Whether each page has two scores.
    pub(crate) fn is_by_hubs(&self) -> bool {
        self.method == Method::Hits
    }

    /// What is asked of the crawl; relative names of files begin at `files_from`.
    pub(crate) fn request(&self, files_from: PathBuf) -> RankRequest {
        RankRequest {
            method: self.method.into(),
            damping: self.damping,
            trust: self.trust.clone(),
            trust_top: self.trust_top,
            jump: self.jump.clone(),
            start: self.start.into(),
            only: self.only.clone(),
            keep: self.keep,
            anchors: self.anchors,
            top: self.top,
            export: self.export.clone(),
            files_from,
        }
    }

    /// A flag that the method does not support. Ignoring it silently would make the scores misleading.
    pub(crate) fn unsupported(&self) -> Option<&'static str> {
        let by_trust = matches!(self.method, Method::Trustrank | Method::Antitrust);
        let plain = self.method == Method::Pagerank;
        if self.keep && (!plain || self.jump.is_some() || self.only.is_some()) {
            Some(
                "--keep works only with --method pagerank over all pages, without --jump and --only",
            )
        } else if self.jump.is_some() && !plain {
            Some("--jump works only with --method pagerank")
        } else if self.start == Start::Hosts && !plain {
            Some("--start works only with --method pagerank")
        } else if self.trust.is_some() && !by_trust {
            Some("--trust works only with --method trustrank or antitrust")
        } else if self.trust_top.is_some() && self.method != Method::Trustrank {
            Some("--trust-top works only with --method trustrank")
        } else {
            None
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Start {
    /// The same rank for all pages
    Alike,
    /// Ranks of pages within hosts, and of hosts among each other (BlockRank)
    Hosts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// How often a random surfer visits the page
    Pagerank,
    /// Hub and authority scores
    Hits,
    /// Number of pages that link to the page
    Indegree,
    /// OPIC: cash that passes through the page along links
    Opic,
    /// PageRank of a surfer who jumps only to trusted pages
    Trustrank,
    /// How much the page leads to known spam
    Antitrust,
    /// Quality estimate: how much the rank rose since a stored ranking, against the average page
    Quality,
    /// PageRank of hosts
    Host,
    /// PageRank of registered domains
    Domain,
}

impl From<Start> for RankStart {
    fn from(start: Start) -> Self {
        match start {
            Start::Alike => RankStart::Alike,
            Start::Hosts => RankStart::Hosts,
        }
    }
}

impl From<Method> for RankMethod {
    fn from(method: Method) -> Self {
        match method {
            Method::Pagerank => RankMethod::Pagerank,
            Method::Hits => RankMethod::Hits,
            Method::Indegree => RankMethod::Indegree,
            Method::Opic => RankMethod::Opic,
            Method::Trustrank => RankMethod::Trustrank,
            Method::Antitrust => RankMethod::Antitrust,
            Method::Quality => RankMethod::Quality,
            Method::Host => RankMethod::Host,
            Method::Domain => RankMethod::Domain,
        }
    }
}
