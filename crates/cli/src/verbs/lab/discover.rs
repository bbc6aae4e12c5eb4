//! `evercrawl lab discover`: how soon does each order of discovery come to what matters?

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use evercrawl_lab::discover::{Collected, Territory};
use evercrawl_rank::Order;

use super::{json_line, sources};
use crate::exit::Failure;
use crate::{exit, print};

const CURVES: &str = "A curve says what share of all PageRank, of the tenth of pages that rank highest, and \
of all worth lies on the pages fetched so far. The rank is that of the whole world, which no order knows.";

#[derive(Debug, Args)]
#[command(after_help = CURVES)]
pub(crate) struct Discover {
    /// The world, one that has links
    #[arg(value_name = "WORLD")]
    world: PathBuf,
    /// Orders to compare; by default all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAME")]
    ordering: Vec<OrderArg>,
    /// Which draw of the world, where worlds are drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// JSON instead of a table: one object an order
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
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
}

impl OrderArg {
    fn order(self) -> (&'static str, Order) {
        match self {
            OrderArg::Bfs => ("bfs", Order::BreadthFirst),
            OrderArg::Indegree => ("indegree", Order::InDegree),
            OrderArg::Pagerank => ("pagerank", Order::PageRank),
            OrderArg::Opic => ("opic", Order::Opic),
            OrderArg::LargerSites => ("larger-sites", Order::LargerSites),
        }
    }
}

pub(super) fn run(args: &Discover) -> anyhow::Result<u8> {
    let world = sources::open(&args.world, false)?.world(args.seed, 0.0)?;
    let none = || Failure::usage("this world has no links, so there is nothing to discover");
    let territory = Territory::new(&world).ok_or_else(none)?;
    let all = OrderArg::value_variants();
    let orders = if args.ordering.is_empty() { all } else { &args.ordering };
    let collected: Vec<Collected> = orders
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
        let head = ["ordering", "pages", "reached", "rank at 5 %", "10 %", "20 %", "50 %", "mean"];
        let rows: Vec<Vec<String>> = collected.iter().map(row).collect();
        print::table(&mut out, &head, &rows)?;
    }
    Ok(exit::OK)
}

fn row(collected: &Collected) -> Vec<String> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let at = [2, 3, 4, 6].map(|mark| percent(collected.curve[mark].rank));
    let counts = [collected.pages, collected.reached].map(|count| count.to_string());
    let mut row = vec![collected.ordering.to_owned()];
    row.extend(counts);
    row.extend(at);
    row.push(percent(collected.mean_rank));
    row
}
