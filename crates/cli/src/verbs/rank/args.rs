//! What can be said to `evercrawl rank`?

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use evercrawl_query::{RankMethod, RankRequest, RankStart};

use crate::args::Common;
use crate::units;

#[derive(Debug, Args)]
pub(crate) struct RankArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// What makes a page matter
    #[arg(long, value_enum, default_value_t = Method::Pagerank)]
    pub(crate) method: Method,
    /// How likely a surfer is to follow a link rather than jump
    #[arg(long, value_name = "SHARE", default_value = "0.85", value_parser = units::share)]
    pub(crate) damping: f64,
    /// Pages that trust begins with, one URL a line [default: the crawl's seeds]; for antitrust, pages that
    /// are known to be spam [default: those of hosts that a crawl has found to be]
    #[arg(long, value_name = "FILE")]
    pub(crate) trust: Option<PathBuf>,
    /// Let trust begin with the N pages from which most is reached (inverse PageRank)
    #[arg(long, value_name = "N", conflicts_with = "trust")]
    pub(crate) trust_top: Option<usize>,
    /// Let the surfer of pagerank jump to these pages only, one URL a line, a weight may follow it
    #[arg(long, value_name = "FILE")]
    pub(crate) jump: Option<PathBuf>,
    /// Where pagerank begins; the ranks are the same
    #[arg(long, value_enum, default_value_t = Start::Alike)]
    pub(crate) start: Start,
    /// Only pages whose URL matches this pattern, and the links between them
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Option<String>,
    /// Keep this ranking in the data directory, for `--method quality` to compare later ones with
    #[arg(long)]
    pub(crate) keep: bool,
    /// Also show the N most frequent words of links to each page, where `links.anchors` keeps them
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) anchors: usize,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) top: usize,
    /// Write the links for other programs, and rank nothing: as CSV (src,dst, and anchor with --anchors), or
    /// as a compact graph where the name ends with .csr; packed where .gz follows
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
    /// JSON Lines instead of a table
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

    /// What was asked for that the method cannot heed: left out without a word, it would seem to be in the scores.
    pub(crate) fn unheeded(&self) -> Option<&'static str> {
        let by_trust = matches!(self.method, Method::Trustrank | Method::Antitrust);
        let plain = self.method == Method::Pagerank;
        if self.keep && (!plain || self.jump.is_some() || self.only.is_some()) {
            Some("--keep is for a ranking of all pages by pagerank, for everybody")
        } else if self.jump.is_some() && !plain {
            Some("--jump is for --method pagerank")
        } else if self.start == Start::Hosts && !plain {
            Some("--start is for --method pagerank")
        } else if self.trust.is_some() && !by_trust {
            Some("--trust is for --method trustrank and antitrust")
        } else if self.trust_top.is_some() && self.method != Method::Trustrank {
            Some("--trust-top is for --method trustrank")
        } else {
            None
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Start {
    /// With all pages alike
    Alike,
    /// With the ranks of pages within their hosts and of hosts among each other (BlockRank)
    Hosts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// How often a surfer comes by
    Pagerank,
    /// How well it is pointed to by pages that point well (authority), and points itself (hub)
    Hits,
    /// How many pages link to it
    Indegree,
    /// What passes through it while cash is handed on along links
    Opic,
    /// PageRank of a surfer who jumps to trusted pages only
    Trustrank,
    /// How much of what it leads to is known spam
    Antitrust,
    /// How good it is by how its rank rose since a ranking that was kept, next to the average page
    Quality,
    /// Hosts by PageRank: a link counts from host to host
    Host,
    /// Registered domains by PageRank
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
