//! How is a collection read that nobody crawls?
//!
//! Its directory is opened for the first question and kept open while more come, since opening takes longer than most
//! answers. While it is open nobody else gets in, so it is closed again after a moment without questions, and at once
//! where a crawl wants to begin.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use evercrawl_query::{Answer, Failed, FailureKind, Request};

use super::super::{Entered, Opened, enter};
use crate::args::Common;
use crate::control::{self, desk, failed};
use crate::verbs::{add, budget, overrides, push};

/// How long a directory is kept open without questions.
const IDLE_MS: u64 = 2_000;
/// Memory for reading: many collections may be open.
const CACHE: &str = "engine.store_cache=16MiB";

/// A collection that nobody crawls, open or not.
#[derive(Default)]
pub(super) struct Resting {
    opened: RwLock<Option<Opened>>,
    used_ms: AtomicU64,
}

/// Marks that enough of an answer has come.
#[derive(Debug)]
pub(super) struct Enough;

impl std::fmt::Display for Enough {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("enough")
    }
}

impl std::error::Error for Enough {}

/// Takes the parts of an answer; an error ends it.
pub(super) type Show<'a> = dyn FnMut(Answer) -> anyhow::Result<()> + 'a;

impl Resting {
    /// Answers a question, or makes a change, in the directory at `path`, or has a crawl do so that works there after
    /// all.
    pub(super) fn ask(
        &self,
        path: &Path,
        request: &Request,
        show: &mut Show<'_>,
    ) -> Result<(), Failed> {
        let done = match request {
            Request::SetBudget(_) | Request::Push(_) | Request::Add(_) | Request::Override(_) => {
                self.change(path, request, show)
            }
            _ => self.read(path, request, show),
        };
        match done {
            Err(error) if error.downcast_ref::<Enough>().is_some() => Ok(()),
            done => done.map_err(|error| failed(&error)),
        }
    }

    fn read(&self, path: &Path, request: &Request, show: &mut Show<'_>) -> anyhow::Result<()> {
        self.used_ms.store(now_ms(), Ordering::Relaxed);
        loop {
            let opened = self.opened.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(opened) = &*opened {
                return desk::answer(opened, request.clone(), control::now(), show);
            }
            drop(opened);
            let mut opened = self.opened.write().unwrap_or_else(PoisonError::into_inner);
            if opened.is_none() {
                match enter(&common(path), || control::call(path, request, show))? {
                    Entered::Here(here) => *opened = Some(here),
                    Entered::There(()) => return Ok(()),
                }
            }
        }
    }

    fn change(&self, path: &Path, request: &Request, show: &mut Show<'_>) -> anyhow::Result<()> {
        let mut opened = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        *opened = None;
        let common = common(path);
        let here = match enter(&common, || control::call(path, request, show))? {
            Entered::Here(here) => here,
            Entered::There(()) => return Ok(()),
        };
        show(match request {
            Request::SetBudget(asked) => Answer::Budget(budget::stopped(asked, &here.path)?),
            Request::Push(asked) => Answer::Pushed(push::noted(asked, here)?),
            Request::Override(asked) => Answer::Overrides(overrides::stopped(asked, here)?),
            Request::Add(asked) => {
                let Opened { state, held, .. } = here;
                drop(state);
                let Some(dir) = held else { return Ok(()) };
                Answer::Added(add::stopped(asked, &dir, &common)?)
            }
            _ => return desk::answer(&here, request.clone(), control::now(), show),
        })
    }

    /// Closes the directory once nobody reads it, so that others get in.
    pub(super) fn close(&self) {
        *self.opened.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Closes the directory where nobody has asked for a while.
    pub(super) fn close_when_idle(&self) {
        if now_ms().saturating_sub(self.used_ms.load(Ordering::Relaxed)) < IDLE_MS {
            return;
        }
        if let Ok(mut opened) = self.opened.try_write() {
            *opened = None;
        }
    }
}

/// What every verb on a directory is told.
pub(super) fn common(path: &Path) -> Common {
    Common { data: path.to_owned(), config: None, set: vec![CACHE.to_owned()] }
}

/// Why a collection cannot be asked for the moment.
pub(super) fn busy(why: &str) -> Failed {
    Failed { kind: FailureKind::Busy, message: why.to_owned() }
}

fn now_ms() -> u64 {
    control::now().millis()
}
