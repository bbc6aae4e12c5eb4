//! `evercrawl lab graph`: which nodes of an edge list matter, by links?

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use evercrawl_lab::table::{Columns, DataTable, TableError};
use evercrawl_rank::{
    Graph, Hits, JumpWeights, RankSettings, Ranking, Repeats, distrust, hits, pagerank, reach,
    top_nodes, trust,
};
use serde::{Serialize, Serializer};

use super::running::processors;
use super::{json_line, one_stdin, shown};
use crate::exit::Failure;
use crate::{exit, print};

const FILES: &str = "The edge list is CSV; its first row names the columns src and dst, in any order; other columns are \
passed over. Nodes are named by any text, in quotes where it has commas or quotes in it. A file that is wrong is \
refused with its line and column, and exit code 2.";

static EDGES: Columns = Columns { required: &["src", "dst"], optional: &[], unused: &["*"] };

#[derive(Debug, Args)]
#[command(after_help = FILES)]
pub(crate) struct GraphArgs {
    /// src,dst: who links to whom; `-` is stdin
    #[arg(long, value_name = "FILE")]
    edges: PathBuf,
    /// What makes a node matter
    #[arg(long, value_enum)]
    method: Method,
    /// How likely a surfer is to follow a link rather than jump
    #[arg(long, value_name = "SHARE", default_value_t = 0.85, value_parser = damping)]
    damping: f64,
    /// Nodes that trust begins with (for antitrust: known spam), one a line; `-` is stdin
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    /// Begin trust with the N nodes from which most of the graph is reached (inverse PageRank)
    #[arg(long, value_name = "N", conflicts_with = "trust")]
    trust_top: Option<usize>,
    /// What a link counts that is listed more than once
    #[arg(long, value_enum, default_value_t = RepeatsArg::Once)]
    repeats: RepeatsArg,
    /// Threads that compute; by default as many as there are processors
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// JSON instead of a table: {"scores":{"node":score}}, for hits {"hubs":{..},"authorities":{..}}
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// How many link to it
    Indegree,
    /// How often a surfer comes by; all scores add up to 1, and who links nowhere gives to all alike
    Pagerank,
    /// How well it points to what matters (hubs), and is pointed to (authorities)
    Hits,
    /// PageRank of a surfer who jumps to trusted nodes only
    Trustrank,
    /// How much of what it leads to is known spam: TrustRank of spam, with links turned round
    Antitrust,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RepeatsArg {
    /// As one
    Once,
    /// Each for itself
    Each,
}

pub(super) fn run(args: &GraphArgs) -> anyhow::Result<u8> {
    one_stdin(&args.edges, args.trust.as_deref().unwrap_or(Path::new("")))?;
    let table = DataTable::open(&args.edges, &EDGES)?;
    let web = Web::read(&table, args.repeats)?;
    let settings = RankSettings {
        damping: args.damping,
        threads: args.threads.unwrap_or_else(processors),
        ..RankSettings::default()
    };
    args.warn_of_trust();
    let begin = || args.begin(&web, table.file(), &settings);
    match args.method {
        Method::Hits => args.show_hits(&web, &hits(&web.graph, &settings))?,
        Method::Indegree => {
            let count = |node| web.graph.in_degree(node) as f64;
            args.show(&web, &(0..web.graph.nodes()).map(count).collect::<Vec<_>>())?;
        }
        Method::Pagerank => {
            args.show_ranking(&web, &pagerank(&web.graph, JumpWeights::Anywhere, &settings))?;
        }
        Method::Trustrank => args.show_ranking(&web, &trust(&web.graph, &begin()?, &settings))?,
        Method::Antitrust => {
            args.show_ranking(&web, &distrust(&web.graph, &begin()?, &settings))?
        }
    }
    Ok(exit::OK)
}

/// An edge list as a graph, with the nodes' names in the order in which they first appear.
struct Web<'a> {
    names: Vec<&'a str>,
    numbers: HashMap<&'a str, u32>,
    graph: Graph,
}

impl<'a> Web<'a> {
    fn read(table: &'a DataTable, repeats: RepeatsArg) -> Result<Self, TableError> {
        let (mut names, mut numbers) = (Vec::new(), HashMap::new());
        let mut number = |name: &'a str| {
            *numbers.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() as u32 - 1
            })
        };
        let mut edges = Vec::with_capacity(table.row_count());
        for row in table.rows() {
            edges.push((number(row.text(0)?), number(row.text(1)?)));
        }
        let repeats = match repeats {
            RepeatsArg::Once => Repeats::Once,
            RepeatsArg::Each => Repeats::Each,
        };
        let graph = Graph::new(names.len() as u32, edges.iter().copied(), repeats);
        Ok(Web { names, numbers, graph })
    }

    /// The node that a line names, as it stands or in quotes as in CSV.
    fn node(&self, line: &str) -> Option<u32> {
        let unquoted = || {
            let inner = line.strip_prefix('"')?.strip_suffix('"')?;
            self.numbers.get(inner.replace("\"\"", "\"").as_str())
        };
        self.numbers.get(line).or_else(unquoted).copied()
    }
}

impl GraphArgs {
    /// Says so where trust was given to a method that has no use for it.
    fn warn_of_trust(&self) {
        let given = self.trust.is_some() || self.trust_top.is_some();
        if given && !matches!(self.method, Method::Trustrank | Method::Antitrust) {
            eprintln!("Trust plays no part here: it is for --method trustrank and antitrust.");
        }
    }

    /// The nodes that trust, or distrust, begins with.
    fn begin(
        &self,
        web: &Web<'_>,
        edges: &str,
        settings: &RankSettings,
    ) -> anyhow::Result<Vec<u32>> {
        match (&self.trust, self.trust_top) {
            (Some(path), _) => Ok(listed(path, web, edges)?),
            (None, Some(count)) if self.method == Method::Trustrank => {
                let reach = reach(&web.graph, settings).scores;
                Ok(top_nodes(&reach, count.max(1)))
            }
            _ if self.method == Method::Antitrust => Err(Failure::usage(
                "antitrust begins with known spam: name a list of it by --trust",
            )),
            _ => Err(Failure::usage(
                "trust must begin somewhere: name a list by --trust, or let --trust-top choose",
            )),
        }
    }

    fn show_ranking(&self, web: &Web<'_>, ranking: &Ranking) -> anyhow::Result<()> {
        warn_if_rough(ranking.error);
        self.show(web, &ranking.scores)
    }

    fn show(&self, web: &Web<'_>, scores: &[f64]) -> anyhow::Result<()> {
        let mut out = print::data();
        let named = Named { names: &web.names, scores };
        if self.json {
            return json_line(&mut out, &Scores { scores: named });
        }
        let row =
            |node: u32| vec![print::plain(web.names[node as usize]), shown(scores[node as usize])];
        let rows: Vec<_> = top_nodes(scores, usize::MAX).into_iter().map(row).collect();
        Ok(print::table(&mut out, &["node", "score"], &rows)?)
    }

    fn show_hits(&self, web: &Web<'_>, hits: &Hits) -> anyhow::Result<()> {
        warn_if_rough(hits.error);
        let mut out = print::data();
        let named = |scores| Named { names: &web.names, scores };
        if self.json {
            let answer = HubsAndAuthorities {
                hubs: named(&hits.hubs),
                authorities: named(&hits.authorities),
            };
            return json_line(&mut out, &answer);
        }
        let row = |node: u32| {
            let node = node as usize;
            let scores = [hits.authorities[node], hits.hubs[node]].map(shown);
            [vec![print::plain(web.names[node])], scores.to_vec()].concat()
        };
        let rows: Vec<_> = top_nodes(&hits.authorities, usize::MAX).into_iter().map(row).collect();
        Ok(print::table(&mut out, &["node", "authority", "hub"], &rows)?)
    }
}

/// The nodes that a file lists, one a line; each must be in the graph.
fn listed(path: &Path, web: &Web<'_>, edges: &str) -> Result<Vec<u32>, TableError> {
    let stdin = path == Path::new("-");
    let file = if stdin { "standard input".to_owned() } else { path.display().to_string() };
    let text = if stdin {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    let text = text.map_err(|error| TableError::new(format!("cannot read {file}: {error}")))?;
    let lines = text.strip_prefix('\u{feff}').unwrap_or(&text).lines().zip(1..);
    let unknown = |line: &str, number: usize| {
        let line = print::plain(line);
        TableError::new(format!("{file}, line {number}, column 1: `{line}` is no node of {edges}"))
    };
    let node = |(line, number): (&str, usize)| web.node(line).ok_or_else(|| unknown(line, number));
    let nodes =
        lines.filter(|(line, _)| !line.is_empty()).map(node).collect::<Result<Vec<_>, _>>()?;
    if nodes.is_empty() {
        return Err(TableError::new(format!("{file}, line 1: no node is listed")));
    }
    Ok(nodes)
}

/// Whoever uses scores that have not settled should know.
fn warn_if_rough(error: f64) {
    if error > 1e-9 {
        eprintln!("The scores have not settled: together they may be off by {}.", shown(error));
    }
}

#[derive(Serialize)]
struct Scores<'a> {
    scores: Named<'a>,
}

#[derive(Serialize)]
struct HubsAndAuthorities<'a> {
    hubs: Named<'a>,
    authorities: Named<'a>,
}

/// Scores by the names of their nodes.
struct Named<'a> {
    names: &'a [&'a str],
    scores: &'a [f64],
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.names.iter().zip(self.scores))
    }
}

fn damping(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share: &f64| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}
