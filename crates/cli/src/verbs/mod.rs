//! One file a verb.

pub(crate) mod add;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod crawl;
pub(crate) mod demo;
pub(crate) mod fetch;
pub(crate) mod history;
pub(crate) mod init;
pub(crate) mod lab;
pub(crate) mod robots;
pub(crate) mod status;
pub(crate) mod testweb;
pub(crate) mod urls;
pub(crate) mod why;

use evercrawl_engine::DataDir;
use evercrawl_model::HostKey;
use evercrawl_state::{DiskStore, State};
use evercrawl_urls::Canonical;

use crate::args::Common;
use crate::crawl_config;
use crate::exit::Failure;
use crate::settings::Settings;

/// A data directory opened for reading: nothing is committed.
pub(crate) struct Opened {
    pub(crate) dir: DataDir,
    pub(crate) state: State<DiskStore>,
    pub(crate) settings: Settings,
}

/// Opens the data directory of a reading verb.
pub(crate) fn open(common: &Common) -> anyhow::Result<Opened> {
    let settings = crawl_config::settings(common, None)?;
    let dir = DataDir::open(&common.data)?;
    let state = dir.state(crawl_config::store_limits(&settings)?, 0)?;
    Ok(Opened { dir, state, settings })
}

/// Reads a URL as the crawl would.
pub(crate) fn canonical(settings: &Settings, url: &str) -> anyhow::Result<Canonical> {
    let steps = crawl_config::steps(settings)?;
    let with_scheme = if has_scheme(url) { url.to_owned() } else { format!("http://{url}") };
    steps
        .canonicalize(&with_scheme)
        .map_err(|reason| Failure::usage(format!("`{url}` cannot be crawled: {reason}")))
}

/// The host that a URL belongs to.
pub(crate) fn host_of(state: &State<DiskStore>, url: &Canonical) -> HostKey {
    state.keyer().host(url.domain(), url.authority())
}

/// `mailto:x` has a scheme, `localhost:8080` a port.
fn has_scheme(url: &str) -> bool {
    url.split_once(':').is_some_and(|(head, rest)| {
        let word = !head.is_empty() && head.chars().all(|c| c.is_ascii_alphanumeric() || c == '+');
        word && !rest.starts_with(|c: char| c.is_ascii_digit())
    })
}
