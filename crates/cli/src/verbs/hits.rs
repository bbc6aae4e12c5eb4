//! `evercrawl hits`: what rules found, and what was decided of it.

use std::io::Write;

use clap::{Args, ValueEnum};
use evercrawl_engine::live::SystemClock;
use evercrawl_export::{Feed, FeedEntry, FeedForm};
use evercrawl_notify::{Decision, Hit};

use super::alerts;
use crate::args::Common;
use crate::units::show_counted;
use crate::{exit, print};

/// Examples for `hits --help`.
pub(crate) const EXAMPLES: &str = "Examples:
  evercrawl hits --data web
  evercrawl hits --false mark.4711 --data web      the same passage is not told again";

#[derive(Debug, Args)]
pub(crate) struct Hits {
    #[command(flatten)]
    common: Common,
    /// Only hits of this rule
    #[arg(long, value_name = "NAME")]
    rule: Option<String>,
    /// Only hits on pages with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Also hits that were decided
    #[arg(long)]
    all: bool,
    /// At most N, the latest
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Decide that these were dealt with
    #[arg(long, value_name = "HIT", num_args = 1..)]
    done: Vec<String>,
    /// Decide that these are false alarms; the same passage of the host is not told again
    #[arg(long = "false", value_name = "HIT", num_args = 1..)]
    false_alarm: Vec<String>,
    /// Print a feed of the latest hits for feed readers
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "json")]
    feed: Option<FeedArg>,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FeedArg {
    /// Atom
    Atom,
    /// JSON Feed
    Json,
}

/// Entries of a feed, where no limit is given.
const FEED_ENTRIES: usize = 100;

pub(crate) fn run(args: &Hits) -> anyhow::Result<u8> {
    let mut outbox = alerts::outbox(&args.common.data)?;
    let now = SystemClock.now().rfc3339();
    let done = args.done.iter().map(|id| (id, Decision::Done));
    let decided: Vec<_> =
        done.chain(args.false_alarm.iter().map(|id| (id, Decision::False))).collect();
    for (id, decision) in &decided {
        outbox.decide(id, *decision, now.clone()).map_err(alerts::broken)?;
    }
    if !decided.is_empty() {
        eprintln!("{} decided", show_counted(decided.len() as u64, "hit"));
        return Ok(exit::OK);
    }
    let is_wanted = |hit: &&Hit| {
        let is_open = matches!(outbox.decision(&hit.id), None | Some(Decision::Confirmed));
        (args.all || is_open)
            && args.rule.as_ref().is_none_or(|rule| *rule == hit.rule)
            && args.tag.as_ref().is_none_or(|tag| hit.tags.contains(tag))
    };
    let hits: Vec<&Hit> = outbox.hits().iter().filter(is_wanted).collect();
    let from = hits.len().saturating_sub(args.limit.unwrap_or(usize::MAX));
    let mut out = print::data();
    if let Some(form) = args.feed {
        let latest = hits.iter().rev().take(args.limit.unwrap_or(FEED_ENTRIES));
        write!(out, "{}", feed(args, latest.copied(), form))?;
        out.flush()?;
        return Ok(exit::OK);
    }
    for hit in &hits[from..] {
        let decision = outbox.decision(&hit.id);
        match args.json {
            true => {
                let mut line = serde_json::to_value(hit)?;
                line["decision"] = serde_json::to_value(decision)?;
                print::json_line(&mut out, &line)?;
            }
            false => write_hit(hit, decision, &mut out)?,
        }
    }
    out.flush()?;
    if hits.is_empty() && !args.json {
        eprintln!("no hits; rules stand in {}", alerts::rules_path(&args.common.data).display());
    }
    Ok(exit::OK)
}

/// A feed of hits, the latest first.
fn feed<'a>(args: &Hits, hits: impl Iterator<Item = &'a Hit>, form: FeedArg) -> String {
    let of = [args.rule.as_deref(), args.tag.as_deref()];
    let of = of.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let title =
        if of.is_empty() { "Evercrawl: hits".to_owned() } else { format!("Evercrawl: {of}") };
    let feed =
        Feed { id: format!("urn:evercrawl:hits:{of}"), title, entries: hits.map(entry).collect() };
    feed.write(match form {
        FeedArg::Atom => FeedForm::Atom,
        FeedArg::Json => FeedForm::Json,
    })
}

fn entry(hit: &Hit) -> FeedEntry {
    let fields =
        hit.fields.iter().map(|(name, value)| format!("{}: {value}\n", name.replace('_', " ")));
    FeedEntry {
        id: format!("urn:evercrawl:hit:{}", hit.id),
        url: hit.url.clone(),
        title: format!("[{}] {}", hit.rule, hit.title.as_deref().unwrap_or(&hit.url)),
        time: hit.time.clone(),
        text: fields.collect::<String>() + &hit.quote,
        tags: hit.tags.clone(),
    }
}

/// Writes a hit for people.
pub(super) fn write_hit(
    hit: &Hit,
    decision: Option<Decision>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let state = match decision {
        Some(Decision::Done) => "  (done)",
        Some(Decision::False) => "  (false alarm)",
        Some(Decision::Dropped) => "  (a second visit did not agree)",
        None if hit.confirm.is_some() => "  (waits for a second visit)",
        Some(Decision::Confirmed) | None => "",
    };
    writeln!(out, "{}  {}  {}{state}", hit.id, hit.time, print::plain(&hit.url))?;
    if let Some(title) = &hit.title {
        writeln!(out, "    {}", print::plain(title))?;
    }
    for (name, value) in &hit.fields {
        writeln!(out, "    {}: {}", name.replace('_', " "), print::plain(value))?;
    }
    for line in hit.quote.lines() {
        writeln!(out, "    {}", print::plain(line))?;
    }
    Ok(())
}
