//! How does a verb get at a data directory that another process may be in?
//!
//! Only one process may have it open. A crawl that runs there answers other verbs; any other
//! process is there for a moment only (a verb that reads, a crawl that is starting or stopping),
//! and is waited for.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use evercrawl_engine::{DataDir, EngineError};

use super::Opened;
use crate::args::Common;
use crate::{control, crawl_config};

/// How long a process that nobody can ask is waited for, and how often it is looked for.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(50);

/// How a verb got at a data directory.
pub(crate) enum Entered<H, T> {
    /// It is open here, and nobody else gets in.
    Here(H),
    /// The crawl that works in it has answered.
    There(T),
}

/// Opens the data directory of a verb, or has the crawl that works in it answer by `ask`, which
/// says `None` where nobody answers.
pub(crate) fn enter<T>(
    common: &Common,
    ask: impl FnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<Entered<Opened, T>> {
    Ok(match open_or_ask(|| DataDir::open(&common.data), ask)? {
        Entered::Here(dir) => Entered::Here(opened(dir, common)?),
        Entered::There(answer) => Entered::There(answer),
    })
}

/// Opens the data directory of a verb that nobody can do for it.
pub(crate) fn open(common: &Common) -> anyhow::Result<Opened> {
    opened(take(&common.data, DataDir::open)?, common)
}

/// The settings are read only when nobody else can change them any more.
fn opened(dir: DataDir, common: &Common) -> anyhow::Result<Opened> {
    Opened::new(dir, Arc::new(crawl_config::settings(common, None)?))
}

/// Takes a data directory for what a running crawl cannot do, opened by `open`.
pub(crate) fn take(
    path: &Path,
    open: fn(&Path) -> Result<DataDir, EngineError>,
) -> anyhow::Result<DataDir> {
    let refused = || Ok(control::answers(path).then(|| open(path).err()).flatten());
    match open_or_ask(|| open(path), refused)? {
        Entered::Here(dir) => Ok(dir),
        Entered::There(error) => Err(error.into()),
    }
}

fn open_or_ask<T>(
    open: impl Fn() -> Result<DataDir, EngineError>,
    mut ask: impl FnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<Entered<DataDir, T>> {
    let mut left = PATIENCE;
    loop {
        match open() {
            Ok(dir) => return Ok(Entered::Here(dir)),
            Err(error @ EngineError::InUse { .. }) => match ask()? {
                Some(answer) => return Ok(Entered::There(answer)),
                None if left.is_zero() => return Err(error.into()),
                None => wait(),
            },
            Err(error) => return Err(error.into()),
        }
        left = left.saturating_sub(LOOK);
    }
}

#[allow(clippy::disallowed_methods, reason = "a verb that waits has nothing else to do")]
fn wait() {
    std::thread::sleep(LOOK);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_there_for_a_moment_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let held = DataDir::open_or_create(dir.path()).unwrap();
        let leaves = std::thread::spawn(move || {
            (0..4).for_each(|_| wait());
            drop(held);
        });
        take(dir.path(), DataDir::open).unwrap();
        leaves.join().unwrap();
    }

    #[test]
    fn who_starts_to_answer_is_asked() {
        let dir = tempfile::tempdir().unwrap();
        let _held = DataDir::open_or_create(dir.path()).unwrap();
        let mut silent = 3;
        let ask = || {
            silent -= 1;
            Ok((silent == 0).then_some("an answer"))
        };
        let entered = open_or_ask(|| DataDir::open(dir.path()), ask).unwrap();
        assert!(matches!(entered, Entered::There("an answer")));
    }
}
