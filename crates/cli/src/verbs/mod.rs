//! What does each verb do? One file per verb.

pub(crate) mod add;
pub(crate) mod alerts;
pub(crate) mod archive;
pub(crate) mod budget;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod crawl;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod documents;
mod entrance;
pub(crate) mod export;
pub(crate) mod fetch;
pub(crate) mod history;
pub(crate) mod hits;
pub(crate) mod hosts;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod lab;
pub(crate) mod notify;
pub(crate) mod overrides;
pub(crate) mod plan;
pub(crate) mod push;
pub(crate) mod queue;
pub(crate) mod rank;
pub(crate) mod rates;
pub(crate) mod report;
pub(crate) mod retain;
pub(crate) mod robots;
pub(crate) mod rules;
pub(crate) mod serve;
pub(crate) mod spam;
pub(crate) mod status;
pub(crate) mod testweb;
pub(crate) mod text;
pub(crate) mod urls;
pub(crate) mod why;

use std::path::PathBuf;
use std::sync::Arc;

use evercrawl_archive::SegmentStore;
use evercrawl_engine::DataDir;
use evercrawl_engine::live::SystemClock;
use evercrawl_engine::regions::DeclaredRegions;
use evercrawl_model::{HostKey, Time};
use evercrawl_query::{Answer, Request, Source};
use evercrawl_state::{DiskStore, View};
use evercrawl_urls::Canonical;

use crate::args::Common;
use crate::exit::Failure;
use crate::settings::Settings;
use crate::{control, crawl_config, regions};

pub(crate) use entrance::{Entered, enter, open, take};

/// A data directory opened for reading, by the verb itself or by the crawl that works in it.
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) state: View<DiskStore>,
    pub(crate) settings: Arc<Settings>,
    /// The parts of pages that the user declared to be what counts.
    pub(crate) regions: Arc<DeclaredRegions>,
    /// Keeps others out, where no crawl does.
    pub(crate) held: Option<DataDir>,
}

impl Opened {
    /// Opens what lies in `dir` for reading.
    pub(crate) fn new(dir: DataDir, settings: Arc<Settings>) -> anyhow::Result<Self> {
        let state = dir.view(crawl_config::store_limits(&settings)?)?;
        let regions = regions::declared(&settings)?.into();
        Ok(Opened { path: dir.path().to_owned(), state, settings, regions, held: Some(dir) })
    }

    /// What questions are answered from, at `now`.
    pub(crate) fn source(&self, now: Time) -> Source<'_, DiskStore> {
        Source { state: &self.state, dir: &self.path, now, regions: &self.regions }
    }

    /// The WARC files and their indexes.
    pub(crate) fn segments(&self) -> Arc<dyn SegmentStore> {
        DataDir::segments_in(&self.path)
    }
}

/// Answers a request that only reads: here, or by the crawl that has the data directory open. Each part of
/// the answer goes to `show` as it comes.
pub(crate) fn ask(
    common: &Common,
    request: &Request,
    show: &mut dyn FnMut(Answer) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if let Some(opened) = answer(common, request, show)? {
        // The process ends here, and the system closes files at once; the store would first end
        // its threads, and sync what nobody wrote.
        std::mem::forget(opened);
    }
    Ok(())
}

/// The same for a verb that has more questions: the data directory is free afterwards.
pub(crate) fn ask_and_close(
    common: &Common,
    request: &Request,
    show: &mut dyn FnMut(Answer) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    answer(common, request, show).map(drop)
}

/// Answers a request; returns the data directory where the answer came from it.
fn answer(
    common: &Common,
    request: &Request,
    show: &mut dyn FnMut(Answer) -> anyhow::Result<()>,
) -> anyhow::Result<Option<Opened>> {
    let entered = enter(common, || control::call(&common.data, request, show))?;
    let Entered::Here(opened) = entered else { return Ok(None) };
    control::desk::answer(&opened, request.clone(), SystemClock.now(), show)?;
    Ok(Some(opened))
}

/// Reads a URL as the crawl would.
pub(crate) fn canonical(settings: &Settings, url: &str) -> anyhow::Result<Canonical> {
    let steps = crawl_config::steps(settings)?;
    let with_scheme = if has_scheme(url) { url.to_owned() } else { format!("http://{url}") };
    steps
        .canonicalize(&with_scheme)
        .map_err(|reason| Failure::usage(format!("cannot crawl `{url}`: {reason}")))
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
