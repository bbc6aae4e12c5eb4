//! Which data directories, which configuration file, which settings?

use std::path::PathBuf;

use clap::Args;

/// The data directory, the configuration file, and settings of any kind.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Data directory
    #[arg(
        long,
        short,
        env = "EVERCRAWL_DATA",
        default_value = "evercrawl-data",
        value_name = "DIR"
    )]
    pub(crate) data: PathBuf,
    /// Configuration file [default: evercrawl.toml in the data directory, else in the current one]
    #[arg(long, env = "EVERCRAWL_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Set any setting, e.g. `-s pace.delay=2s`; `evercrawl config show` lists them
    #[arg(short, long = "set", value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
}

/// The same for any number of data directories.
#[derive(Debug, Clone, Args)]
pub(crate) struct CommonOfSeveral {
    /// Data directory; several run in one process and share --budget
    #[arg(
        long,
        short,
        env = "EVERCRAWL_DATA",
        default_value = "evercrawl-data",
        value_name = "DIR"
    )]
    pub(crate) data: Vec<PathBuf>,
    /// Configuration file [default: evercrawl.toml in the data directory, else in the current one]
    #[arg(long, env = "EVERCRAWL_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Set any setting, e.g. `-s pace.delay=2s`; `evercrawl config show` lists them
    #[arg(short, long = "set", value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
}

impl CommonOfSeveral {
    /// What concerns each directory.
    pub(crate) fn each(&self) -> Vec<Common> {
        let common = |data: &PathBuf| Common {
            data: data.clone(),
            config: self.config.clone(),
            set: self.set.clone(),
        };
        self.data.iter().map(common).collect()
    }
}
