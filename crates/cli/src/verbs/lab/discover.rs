//! `evercrawl lab discover`: how soon does each order of discovery come to what matters?

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use evercrawl_lab::discover::{CollectedGraph, CoveragePoint, Territory};
use evercrawl_rank::{DiscoveryOrder, Topic};
use evercrawl_urls::Patterns;

use super::{json_line, sources};
use crate::exit::Failure;
use crate::{exit, print};

const CURVES: &str = "A curve says what share of all PageRank, of the tenth of pages that rank highest, \
of all worth and of the pages that you would call good lies on the pages fetched so far. The rank is that of the whole world, which no order knows.";

#[derive(Debug, Args)]
#[command(after_help = CURVES)]
pub(crate) struct Discover {
    /// The world, one that has links
    #[arg(value_name = "WORLD")]
    world: PathBuf,
    /// Orders to compare; by default all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAME")]
    ordering: Vec<OrderArg>,
    /// Pages that you would call good: a regular expression of their addresses [default: the tenth of
    /// highest PageRank]
    #[arg(long, value_name = "PATTERN")]
    good: Option<String>,
    /// Words of the topic, for the order `topic`; without --good, pages whose address has one are good
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    topic: Vec<String>,
    /// Which draw of the world, where worlds are drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// JSON instead of a table: one object an order
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OrderArg {
    /// Whoever was found first
    Bfs,
    /// Whoever is linked from most pages
    Indegree,
    /// Whoever ranks highest in what is known so far
    Pagerank,
    /// Whoever has most cash
    Opic,
    /// A page of the site that most pages wait of
    LargerSites,
    /// Whoever is likely to be about --topic, by its address and by who links to it
    Topic,
}

impl OrderArg {
    fn order(self) -> (&'static str, DiscoveryOrder) {
        match self {
            OrderArg::Bfs => ("bfs", DiscoveryOrder::BreadthFirst),
            OrderArg::Indegree => ("indegree", DiscoveryOrder::InDegree),
            OrderArg::Pagerank => ("pagerank", DiscoveryOrder::PageRank),
            OrderArg::Opic => ("opic", DiscoveryOrder::Opic),
            OrderArg::LargerSites => ("larger-sites", DiscoveryOrder::LargerSites),
            OrderArg::Topic => ("topic", DiscoveryOrder::Topic),
        }
    }
}

pub(super) fn run(args: &Discover) -> anyhow::Result<u8> {
    let world = sources::open(&args.world, false)?.world(args.seed, 0.0)?;
    let none = || Failure::usage("this world has no links, so there is nothing to discover");
    let mut territory = Territory::new(&world).ok_or_else(none)?;
    prepare(&mut territory, args)?;
    let all = OrderArg::value_variants().iter();
    let all = all.copied().filter(|order| *order != OrderArg::Topic || !args.topic.is_empty());
    let orders: Vec<OrderArg> =
        if args.ordering.is_empty() { all.collect() } else { args.ordering.clone() };
    let collected: Vec<CollectedGraph> = orders
        .iter()
        .map(|order| {
            let (name, order) = order.order();
            territory.collect(name, order)
        })
        .collect();
    let mut out = print::data();
    if args.json {
        collected.iter().try_for_each(|curve| json_line(&mut out, curve))?;
    } else {
        let head = [
            "ordering",
            "pages",
            "reached",
            "rank at 5 %",
            "10 %",
            "20 %",
            "50 %",
            "mean",
            "good at 5 %",
            "10 %",
            "20 %",
            "50 %",
            "mean",
        ];
        let rows: Vec<Vec<String>> = collected.iter().map(row).collect();
        print::table(&mut out, &head, &rows)?;
    }
    Ok(exit::OK)
}

/// Says what is looked for, and what is good.
fn prepare(territory: &mut Territory, args: &Discover) -> anyhow::Result<()> {
    let topic = Topic::new(args.topic.iter().map(String::as_str));
    if topic.is_empty() && args.ordering.contains(&OrderArg::Topic) {
        return Err(Failure::usage("the order topic needs words: give them by --topic"));
    }
    if !topic.is_empty() && !territory.set_topic(&topic) {
        return Err(Failure::usage("no address in this world has a word of the topic"));
    }
    let named = match &args.good {
        Some(pattern) => {
            let good = Patterns::new("--good", std::slice::from_ref(pattern))
                .map_err(|error| Failure::usage(error.to_string()))?;
            territory.call_good(|url| good.is_match(url))
        }
        None if topic.is_empty() => return Ok(()),
        None => territory.call_good(|url| topic.match_text(url) > 0.0),
    };
    if named { Ok(()) } else { Err(Failure::usage("no address in this world is good by --good")) }
}

fn row(collected: &CollectedGraph) -> Vec<String> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let at = |value: fn(&CoveragePoint) -> f64| {
        [2, 3, 4, 6].map(|mark| percent(value(&collected.curve[mark])))
    };
    let counts = [collected.pages, collected.reached].map(|count| count.to_string());
    let mut row = vec![collected.ordering.to_owned()];
    row.extend(counts);
    row.extend(at(|point| point.rank));
    row.push(percent(collected.mean_rank));
    row.extend(at(|point| point.good));
    row.push(percent(collected.mean_good));
    row
}
