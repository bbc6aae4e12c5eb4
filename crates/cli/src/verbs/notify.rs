//! `evercrawl notify`: do channels work, and did messages arrive?

use std::io::Write;

use clap::{Args, Subcommand};
use evercrawl_engine::live::SystemClock;
use evercrawl_model::Time;
use evercrawl_notify::{Channel, DeliveryState, Message, Verdict};

use super::alerts;
use crate::args::Common;
use crate::exit::{self, Failure};
use crate::{print, secret};

/// Examples for `notify --help`.
pub(crate) const EXAMPLES: &str = "Channels stand in rules.toml in the data directory.

Examples:
  evercrawl notify test team --data web
  evercrawl notify retry terms.4711.team --data web";

#[derive(Debug, Subcommand)]
pub(crate) enum Notify {
    /// Send a test message to a channel (exit code 1: it did not arrive)
    Test(NotifyTest),
    /// List messages that were sent, wait, or were given up
    Deliveries(NotifyDeliveries),
    /// Send messages again that were given up
    Retry(NotifyRetry),
}

#[derive(Debug, Args)]
pub(crate) struct NotifyTest {
    /// The channel, as it is called in rules.toml
    channel: String,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct NotifyDeliveries {
    #[command(flatten)]
    common: Common,
    /// Also messages that arrived
    #[arg(long)]
    all: bool,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NotifyRetry {
    /// The messages, as `notify deliveries` lists them
    #[arg(required = true, value_name = "DELIVERY")]
    deliveries: Vec<String>,
    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(verb: &Notify) -> anyhow::Result<u8> {
    match verb {
        Notify::Test(args) => test(args),
        Notify::Deliveries(args) => deliveries(args),
        Notify::Retry(args) => retry(args),
    }
}

fn test(args: &NotifyTest) -> anyhow::Result<u8> {
    let rules = alerts::need_rules(&args.common.data)?;
    let Some(rule) = rules.channel(&args.channel) else {
        let names: Vec<&str> = rules.channels.iter().map(|channel| &*channel.name).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let channel = &args.channel;
        return Err(Failure::usage(format!("there is no channel `{channel}`; there are: {known}")));
    };
    let channel = Channel::open(rule, &|name| secret::read(name)).map_err(alerts::broken)?;
    let now = SystemClock.now();
    match channel.send(&Message::test(&rule.name, &now.rfc3339()), now) {
        Verdict::Delivered => {
            alerts::outbox(&args.common.data)?
                .disable(&rule.name, false)
                .map_err(alerts::broken)?;
            println!("{}: delivered", rule.name);
            Ok(exit::OK)
        }
        Verdict::Again { why, .. } | Verdict::Gone { why } => {
            eprintln!("{}: {}", rule.name, print::plain(&why));
            Ok(exit::UNEXPECTED)
        }
    }
}

fn deliveries(args: &NotifyDeliveries) -> anyhow::Result<u8> {
    let outbox = alerts::outbox(&args.common.data)?;
    let mut out = print::data();
    let mut all: Vec<_> = outbox.deliveries().collect();
    all.sort_by_key(|delivery| delivery.first_ms);
    for delivery in all.into_iter().filter(|one| args.all || one.state != DeliveryState::Delivered)
    {
        if args.json {
            print::json_line(&mut out, delivery)?;
            continue;
        }
        let state = match delivery.state {
            DeliveryState::Delivered => "delivered".to_owned(),
            DeliveryState::Failed => "failed".to_owned(),
            DeliveryState::Waiting => format!("again at {}", Time::from_millis(delivery.next_ms)),
        };
        let answer = delivery.answer.as_deref().unwrap_or_default();
        writeln!(
            out,
            "{}  {state}  {} attempts  {}",
            delivery.id,
            delivery.attempts,
            print::plain(answer)
        )?;
    }
    out.flush()?;
    Ok(exit::OK)
}

fn retry(args: &NotifyRetry) -> anyhow::Result<u8> {
    let mut outbox = alerts::outbox(&args.common.data)?;
    let now = SystemClock.now().millis();
    for id in &args.deliveries {
        outbox.retry(id, now).map_err(alerts::broken)?;
    }
    eprintln!("sent with the next round of `evercrawl crawl` or `evercrawl rules run`");
    Ok(exit::OK)
}
