//! What can be asked about links and about spam, and what is answered? Those who know compute the answers.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Which ranking by links is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankRequest {
    /// What makes a page matter.
    pub method: RankMethod,
    /// How likely a surfer is to follow a link rather than jump.
    pub damping: f64,
    /// A file of pages that trust, or mistrust, begins with.
    #[serde(default)]
    pub trust: Option<PathBuf>,
    /// So many pages from which most is reached that trust begins with.
    #[serde(default)]
    pub trust_top: Option<usize>,
    /// A file of pages that the surfer jumps to.
    #[serde(default)]
    pub jump: Option<PathBuf>,
    /// Where PageRank begins.
    #[serde(default)]
    pub start: RankStart,
    /// Only pages whose URL matches this pattern.
    #[serde(default)]
    pub only: Option<String>,
    /// Whether to keep the ranking in the data directory.
    #[serde(default)]
    pub keep: bool,
    /// So many of the most frequent words of links to each page.
    #[serde(default)]
    pub anchors: usize,
    /// How many to list.
    pub top: usize,
    /// A file to write the links to; then nothing is ranked.
    #[serde(default)]
    pub export: Option<PathBuf>,
    /// Where relative names of files begin.
    pub files_from: PathBuf,
}

impl RankRequest {
    /// The path of a file that is named in the request.
    pub fn file(&self, name: &std::path::Path) -> PathBuf {
        self.files_from.join(name)
    }
}

/// What makes a page matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankMethod {
    /// How often a surfer comes by.
    #[default]
    Pagerank,
    /// How well pages that point well point to it, and it points itself.
    Hits,
    /// How many pages link to it.
    Indegree,
    /// What passes through it while cash is handed on along links.
    Opic,
    /// PageRank of a surfer who jumps to trusted pages only.
    Trustrank,
    /// How much of what it leads to is known spam.
    Antitrust,
    /// How its rank rose since a ranking that was kept.
    Quality,
    /// Hosts by PageRank.
    Host,
    /// Registered domains by PageRank.
    Domain,
}

/// Where PageRank begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankStart {
    /// With all pages alike.
    #[default]
    Alike,
    /// With the ranks of pages within their hosts and of hosts among each other.
    Hosts,
}

/// A ranking by links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankView {
    /// What was ranked.
    pub unit: RankUnit,
    /// How many there are.
    pub nodes: u64,
    /// Links between them.
    pub links: u64,
    /// Sweeps that it took, where that was asked for.
    pub sweeps: Option<u64>,
    /// Hosts taken for spam, whose links count for nothing.
    pub suspect_hosts: u64,
    /// The first of them.
    pub rows: Vec<RankRow>,
}

/// What is ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankUnit {
    /// Pages.
    #[default]
    Url,
    /// Hosts.
    Host,
    /// Registered domains.
    Domain,
}

impl RankUnit {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            RankUnit::Url => "url",
            RankUnit::Host => "host",
            RankUnit::Domain => "domain",
        }
    }
}

/// A page, host or domain in a ranking.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankRow {
    /// The page, where pages are ranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The host, where hosts are ranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The domain, where domains are ranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Its score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Its score as an authority, where there are hubs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<f64>,
    /// Its score as a hub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hub: Option<f64>,
    /// How many link to it.
    pub linked_by: u64,
    /// To how many it links.
    pub links_to: u64,
    /// The most frequent words of links to it, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchors: Option<Vec<String>>,
}

impl RankRow {
    /// The name of what is ranked.
    pub fn name(&self) -> &str {
        let names = [&self.url, &self.host, &self.domain];
        names.into_iter().flatten().next().map_or("", String::as_str)
    }
}

/// A file that links were written to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportView {
    /// The file.
    pub file: PathBuf,
    /// Links written.
    pub links: u64,
}

/// How closely spam is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpamRequest {
    /// The probability from which on something is listed.
    pub threshold: f64,
    /// Pages of each host that are looked at.
    pub pages: usize,
}

/// What looks like spam.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpamView {
    /// Hosts that were looked at.
    pub hosts: u64,
    /// Pages that were looked at.
    pub pages: u64,
    /// What was found: hosts before pages before mirrors, the surest first.
    pub findings: Vec<SpamFinding>,
}

/// Something that looks like spam, or like a copy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SpamFinding {
    /// A host holds what another does.
    Mirror {
        /// The host.
        host: String,
        /// The other.
        mirror_of: String,
        /// Pages that are the same.
        same: u64,
        /// What was seen.
        evidence: String,
    },
    /// A host looks like spam.
    Host {
        /// The host.
        host: String,
        /// How likely that is.
        probability: f64,
        /// What speaks for and against it.
        signs: Vec<SpamSign>,
    },
    /// A page looks like spam.
    Page {
        /// The page.
        url: String,
        /// How likely that is.
        probability: f64,
        /// What speaks for and against it.
        signs: Vec<SpamSign>,
    },
}

/// A sign of spam.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpamSign {
    /// Its name.
    pub kind: String,
    /// How strong it is.
    pub score: f64,
    /// What was seen.
    pub evidence: String,
}
