//! Which flags do the verbs take that serve or crawl a synthetic web?

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Testweb {
    /// Kind of web
    #[arg(
        long,
        default_value = "calm",
        value_name = "calm|demo|wild|noisy|shop|portal|bench|spam"
    )]
    pub(crate) preset: String,
    /// Number of hosts
    #[arg(long, value_name = "N")]
    pub(crate) hosts: Option<u32>,
    /// Pages per host
    #[arg(long, value_name = "N")]
    pub(crate) pages: Option<u32>,
    /// Random seed: another seed makes another web
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1:8088", value_name = "ADDRESS:PORT")]
    pub(crate) listen: Vec<std::net::SocketAddr>,
    /// How many simulated seconds pass per real second
    #[arg(long, value_name = "N")]
    pub(crate) time_scale: Option<f64>,
    /// Number of server threads
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Write when each page changed to this file at the end, one page per line
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    /// Write every request to this file, one per line
    #[arg(long, value_name = "FILE")]
    pub(crate) access_log: Option<PathBuf>,
    /// Also serve misbehaving hosts, e.g. tarpit.hostile.test
    #[arg(long)]
    pub(crate) hostile: bool,
    /// Stop after this time [default: at Ctrl-C]
    #[arg(long = "max-time", aliases = ["for", "duration"], value_name = "TIME")]
    pub(crate) time: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Data directory; deleted first if it exists
    #[arg(long, short, default_value = "demo-data", value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// How long to crawl
    #[arg(
        long = "max-time",
        aliases = ["for", "duration"],
        default_value = "1m",
        value_name = "TIME"
    )]
    pub(crate) time: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
