//! Which flags do the verbs take that list hosts, queues and files?

use clap::Args;

use super::Common;

#[derive(Debug, Args)]
pub(crate) struct Listing {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Print JSON: one line per host; for `queue`, one object
    #[arg(long)]
    pub(crate) json: bool,
    /// List at most N hosts; for `queue`, per queue [default: all; queue: 10]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
