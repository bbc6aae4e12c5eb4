//! What is an answer drawn from, and what can go wrong?

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use evercrawl_archive::SegmentStore;
use evercrawl_engine::regions::DeclaredRegions;
use evercrawl_engine::{DataDir, EngineError, Planner, PlannerConfig, walk};
use evercrawl_model::{HostKey, PageKey, Time};
use evercrawl_planner::PlannerError;
use evercrawl_state::{PageRow, StateError, Store, View};
use evercrawl_urls::Canonical;

/// What answers are drawn from: what is committed, where the archive is, and what time it is.
pub struct Source<'a, S> {
    /// What is committed.
    pub state: &'a View<S>,
    /// The data directory.
    pub dir: &'a Path,
    /// The time at which the question is asked.
    pub now: Time,
    /// The parts of pages that the user declared to be what counts.
    pub regions: &'a DeclaredRegions,
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The page is not known.
    #[error("{0} is not known")]
    NotKnown(String),
    /// What was asked for makes no sense.
    #[error("{0}")]
    BadRequest(String),
    /// There is nothing that could be shown, and why.
    #[error("{0}")]
    Nothing(String),
    /// The state could not be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// The configuration or the archive could not be used.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl QueryError {
    /// A cursor that no answer ever gave.
    pub(crate) fn bad_cursor(text: &str) -> Self {
        QueryError::BadRequest(format!("`{text}` is not a cursor; use `next` of an earlier answer"))
    }
}

impl From<PlannerError> for QueryError {
    fn from(error: PlannerError) -> Self {
        EngineError::from(error).into()
    }
}

impl<S: Store> Source<'_, S> {
    /// The host that a URL belongs to.
    pub(crate) fn host_of(&self, url: &Canonical) -> HostKey {
        self.state.keyer().host(url.domain(), url.authority())
    }

    /// The page at a URL, where it is known.
    pub(crate) fn find(&self, url: &Canonical) -> Result<Option<(PageKey, PageRow)>, StateError> {
        self.state.find(self.host_of(url), url.as_str())
    }

    /// The page at a URL that must be known.
    pub(crate) fn known_page(&self, url: &Canonical) -> Result<(PageKey, PageRow), QueryError> {
        self.find(url)?.ok_or_else(|| QueryError::NotKnown(url.as_str().to_owned()))
    }

    /// The URL of a page.
    pub(crate) fn url(&self, page: PageKey) -> Result<Option<String>, StateError> {
        self.state.url(page)
    }

    /// The name of a host; empty where it is not known.
    pub(crate) fn host_name(&self, host: HostKey) -> Result<String, StateError> {
        Ok(self.state.host(host)?.map_or_else(String::new, |row| row.authority))
    }

    /// The WARC files and their indexes.
    pub(crate) fn segments(&self) -> Arc<dyn SegmentStore> {
        DataDir::segments_in(self.dir)
    }

    /// The names of the archive's files by their numbers.
    pub(crate) fn file_names(&self) -> Result<FileNames, StateError> {
        let files = self.state.archive()?;
        Ok(FileNames(files.into_iter().map(|file| (file.serial, file.name)).collect()))
    }

    /// What the crawl knows of how pages change, with its sample of pages read.
    pub(crate) fn planner(&self, plan: PlannerConfig) -> Result<Planner, QueryError> {
        let learned = DataDir::learned(self.dir);
        Ok(walk::planner(plan, learned.as_deref(), self.state)?)
    }

    /// The same for questions about one page: it reads no sample.
    pub(crate) fn planner_for_one_page(&self, plan: PlannerConfig) -> Result<Planner, QueryError> {
        let learned = DataDir::learned(self.dir);
        Ok(walk::planner_at_once(plan, learned.as_deref(), self.state)?.0)
    }
}

/// The names of the archive's files by their numbers.
pub(crate) struct FileNames(HashMap<u32, String>);

impl FileNames {
    /// The name of the WARC file numbered `serial`.
    pub(crate) fn warc(&self, serial: u32) -> String {
        let name = self.0.get(&serial);
        name.map_or_else(|| format!("file {serial}"), |name| format!("{name}.warc.gz"))
    }
}
