//! What did a run ask of each host, and what came of it?

use std::collections::BTreeMap;

use evercrawl_engine::live::Progress;
use evercrawl_engine::walk::{HostRun, Walk};
use evercrawl_model::Outcome;
use evercrawl_state::Store;
use serde::{Deserialize, Serialize};

use crate::source::QueryError;

/// What a run asked of a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostRunView {
    /// The host.
    pub host: String,
    /// Pages visited.
    pub pages: u64,
    /// Pages whose content was met for the first time.
    pub first_visits: u64,
    /// Changes found.
    pub changes: u64,
    /// Payload bytes received.
    pub bytes: u64,
    /// Requests that failed, by the code of their outcome; those for robots.txt count too.
    pub failures: BTreeMap<String, u64>,
    /// How the last request ended, where it and perhaps others before it got no answer.
    pub silent: Option<String>,
}

impl HostRunView {
    /// How many requests failed.
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }
}

/// What a run asked of its hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunHostsView {
    /// Requests that failed, by the code of their outcome.
    pub failures: BTreeMap<String, u64>,
    /// The hosts: those with the most pages first.
    pub hosts: Vec<HostRunView>,
    /// All other hosts together, where there were more than are counted one by one; its name is empty.
    pub other_hosts: Option<HostRunView>,
}

/// What the run of `walk` asked of its hosts.
pub fn run_hosts<S: Store>(walk: &Walk<S>) -> Result<RunHostsView, QueryError> {
    let run = walk.run_hosts();
    let mut hosts = Vec::new();
    for (key, row) in run.hosts() {
        let name = walk.state().host(key)?.map(|row| row.authority);
        hosts.push(view_of(name.unwrap_or_default(), row));
    }
    hosts.sort_by(|a, b| (b.pages, &a.host).cmp(&(a.pages, &b.host)));
    Ok(RunHostsView {
        failures: owned(&run.failures()),
        hosts,
        other_hosts: run.others().map(|row| view_of(String::new(), row)),
    })
}

fn view_of(host: String, row: &HostRun) -> HostRunView {
    HostRunView {
        host,
        pages: row.pages,
        first_visits: row.first,
        changes: row.changes,
        bytes: row.bytes,
        failures: owned(&row.failures),
        silent: row.silence.map(|(_, outcome)| outcome.code().to_owned()),
    }
}

fn owned(failures: &BTreeMap<&'static str, u64>) -> BTreeMap<String, u64> {
    failures.iter().map(|(code, count)| ((*code).to_owned(), *count)).collect()
}

/// A host that did not answer when last asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SilentHost {
    /// The host.
    pub host: String,
    /// What went wrong: the code of an outcome.
    pub cause: String,
}

/// Some hosts that did not answer when last asked.
pub(crate) fn silent_hosts(progress: &Progress) -> Vec<SilentHost> {
    let silent = progress.silent_hosts.0.iter();
    let view = |(host, outcome): &(String, Outcome)| SilentHost {
        host: host.clone(),
        cause: outcome.code().to_owned(),
    };
    silent.map(view).collect()
}
