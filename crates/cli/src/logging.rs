//! What does the process log, where, and how does a line read?
//!
//! Nothing, unless `--log`, `EVERCRAWL_LOG` or `RUST_LOG` asks for it. Lines go to standard error.

mod filter;
mod line;

use std::io::Write;

use clap::{Args, ValueEnum};
use evercrawl_engine::live::SystemClock;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::Registry;

use crate::exit::Failure;
use line::LineWriter;

/// What to log, and how.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Logging")]
pub(crate) struct LogArgs {
    /// Log to standard error: `debug`, or by part, `info,evercrawl_fetch=trace`; else RUST_LOG
    #[arg(
        long,
        global = true,
        env = "EVERCRAWL_LOG",
        hide_env_values = true,
        value_name = "FILTER"
    )]
    pub(crate) log: Option<String>,
    /// How a log line reads
    #[arg(
        long,
        global = true,
        env = "EVERCRAWL_LOG_FORMAT",
        default_value = "text",
        hide_possible_values = true,
        value_name = "text|json"
    )]
    pub(crate) log_format: Format,
}

/// How a log line reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people: time, level, spans, message, fields.
    Text,
    /// One JSON object a line.
    Json,
}

/// Begins to log where that was asked for. Without a filter no subscriber is set, and every event
/// and span costs one comparison.
pub(crate) fn start(args: &LogArgs) -> anyhow::Result<()> {
    let rust_log = || std::env::var("RUST_LOG").ok().map(|filter| ("RUST_LOG", filter));
    let asked = args.log.clone().map(|filter| ("--log", filter)).or_else(rust_log);
    let Some((origin, filter)) = asked.filter(|(_, filter)| !filter.trim().is_empty()) else {
        return Ok(());
    };
    let targets = filter::parse(&filter)
        .map_err(|error| Failure::usage(format!("{origin} `{filter}`: {error}")))?;
    let lines = LineWriter::new(
        args.log_format,
        || SystemClock.now(),
        |line| {
            // Nobody can be told that nobody can be told.
            let _ = std::io::stderr().lock().write_all(line);
        },
    );
    let subscriber = Registry::default().with(lines.with_filter(targets));
    tracing::subscriber::set_global_default(subscriber)?;
    Ok(())
}
