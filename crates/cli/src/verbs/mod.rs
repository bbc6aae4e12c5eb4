//! One file a verb.

pub(crate) mod add;
pub(crate) mod budget;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod crawl;
pub(crate) mod demo;
pub(crate) mod diff;
mod entrance;
pub(crate) mod fetch;
pub(crate) mod history;
pub(crate) mod init;
pub(crate) mod lab;
pub(crate) mod moved;
pub(crate) mod overrides;
pub(crate) mod plan;
pub(crate) mod push;
pub(crate) mod rank;
pub(crate) mod retain;
pub(crate) mod robots;
pub(crate) mod spam;
pub(crate) mod status;
mod suspected;
pub(crate) mod testweb;
pub(crate) mod urls;
pub(crate) mod why;

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use evercrawl_archive::SegmentStore;
use evercrawl_engine::{DataDir, Planner};
use evercrawl_model::HostKey;
use evercrawl_state::{DiskStore, StateError, View};
use evercrawl_urls::Canonical;

use crate::args::Common;
use crate::exit::Failure;
use crate::settings::Settings;
use crate::{control, crawl_config, print};

pub(crate) use entrance::{Entered, enter, open, take};

/// A data directory opened for reading, by the verb itself or by the crawl that works in it.
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) state: View<DiskStore>,
    pub(crate) settings: Arc<Settings>,
    /// Keeps others out, where no crawl does.
    pub(crate) held: Option<DataDir>,
}

impl Opened {
    /// Opens what lies in `dir` for reading.
    pub(crate) fn new(dir: DataDir, settings: Arc<Settings>) -> anyhow::Result<Self> {
        let state = dir.view(crawl_config::store_limits(&settings)?)?;
        Ok(Opened { path: dir.path().to_owned(), state, settings, held: Some(dir) })
    }

    /// The WARC files and their indexes.
    pub(crate) fn segments(&self) -> Arc<dyn SegmentStore> {
        DataDir::segments_in(&self.path)
    }

    /// What the files of the archive are called, by their numbers.
    pub(crate) fn file_names(&self) -> Result<HashMap<u32, String>, StateError> {
        let files = self.state.archive()?;
        Ok(files.into_iter().map(|file| (file.serial, file.name)).collect())
    }
}

/// Runs a verb that only reads: here, or in the crawl that has the data directory open.
pub(crate) fn read(
    common: &Common,
    show: impl FnOnce(&Opened, &mut dyn Write) -> anyhow::Result<u8>,
) -> anyhow::Result<u8> {
    match enter(common, || control::forward(&common.data, &[]))? {
        Entered::Here(opened) => {
            let code = show(&opened, &mut print::data())?;
            // The process ends here, and the system closes files at once; the store would first end
            // its threads, and sync what nobody wrote.
            std::mem::forget(opened);
            Ok(code)
        }
        Entered::There(code) => Ok(code),
    }
}

/// What the crawl knows of how pages change.
pub(crate) fn planner(opened: &Opened) -> anyhow::Result<Planner> {
    let plan = crawl_config::plan(&opened.settings)?;
    let learned = DataDir::learned(&opened.path);
    Ok(evercrawl_engine::walk::planner(plan, learned.as_deref(), &opened.state)?)
}

/// The same for one page, at once.
pub(crate) fn planner_at_once(opened: &Opened) -> anyhow::Result<Planner> {
    let plan = crawl_config::plan(&opened.settings)?;
    let learned = DataDir::learned(&opened.path);
    Ok(evercrawl_engine::walk::planner_at_once(plan, learned.as_deref(), &opened.state)?.0)
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
pub(crate) fn host_of(state: &View<DiskStore>, url: &Canonical) -> HostKey {
    state.keyer().host(url.domain(), url.authority())
}

/// `mailto:x` has a scheme, `localhost:8080` a port.
fn has_scheme(url: &str) -> bool {
    url.split_once(':').is_some_and(|(head, rest)| {
        let word = !head.is_empty() && head.chars().all(|c| c.is_ascii_alphanumeric() || c == '+');
        word && !rest.starts_with(|c: char| c.is_ascii_digit())
    })
}
