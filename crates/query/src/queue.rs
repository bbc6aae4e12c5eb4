//! What is to be fetched, and what keeps it from being fetched?

use evercrawl_engine::overrides::Overrides;
use evercrawl_engine::waiting::{Waiting, wait_reason};
use evercrawl_model::{Band, HostKey, Time};
use evercrawl_state::Store;
use serde::{Deserialize, Serialize};

use crate::code::At;
use crate::hosts::HostWaits;
use crate::source::{QueryError, Source};
use crate::status::WaitingView;

/// How much of the queue is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueRequest {
    /// At most so many hosts of each front queue.
    #[serde(default)]
    pub limit: Option<u64>,
}

/// Hosts that have something to fetch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueueView {
    /// How many, by what they wait for.
    pub waiting: WaitingView,
    /// The first hosts of each front queue.
    pub hosts: Vec<QueuedHost>,
}

/// A host that has something to fetch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueuedHost {
    /// Its name.
    pub host: String,
    /// The front queue it waits in, from 0; the last holds hosts that may not be asked for a while.
    pub band: u8,
    /// From when on it has something to fetch.
    pub due_from: At,
    /// What it waits for.
    pub waits_for: HostWaits,
    /// Known pages.
    pub pages: u64,
    /// Pages that were never visited and wait.
    pub new_pages: u64,
}

/// Hosts of a front queue in an answer: as asked, and at most.
const SHOWN: usize = 10;
const MOST_SHOWN: usize = 500;

/// The first hosts of each front queue, and how many hosts wait for what.
pub fn queue<S: Store>(
    source: &Source<'_, S>,
    asked: &QueueRequest,
) -> Result<QueueView, QueryError> {
    let (state, now) = (source.state, source.now);
    let overrides = Overrides::read(state)?;
    let limit = asked.limit.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.unwrap_or(SHOWN).min(MOST_SHOWN);
    let waiting = Waiting::read(state, &overrides, now)?;
    let mut view = QueueView { waiting: waiting.into(), hosts: Vec::new() };
    for band in (0..=Band::COUNT).map(Band::of_front_queue) {
        for (wake, key) in state.front(band, (Time::EPOCH, HostKey::default()), limit)? {
            let Some(row) = state.host(key)? else { continue };
            let paused = overrides.is_paused(key);
            view.hosts.push(QueuedHost {
                band: band.number(),
                due_from: At(wake),
                waits_for: wait_reason(state, &row, (paused, wake), now)?.into(),
                pages: row.known.into(),
                new_pages: row.waiting.into(),
                host: row.authority,
            });
        }
    }
    Ok(view)
}
