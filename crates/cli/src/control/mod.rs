//! How do verbs work on a data directory that a crawl is working in? Through the crawl.
//!
//! Only one process may have the state open. So a crawl listens on `DIR/control.sock`; a verb that
//! finds the directory in use sends its request there, and prints the answer. The crawl answers
//! from what it has committed so far, on a thread of its own for each caller. What a request
//! changes is left to the walk's thread, and the answer comes once that has committed it. Nobody
//! but the user who runs the crawl is let in.
//!
//! Requests and answers are those of [`evercrawl_query`], in JSON, one value a line.
//!
//! - `board`: how is the run doing, by its own last word?
//! - `caller`: how does a verb ask?
//! - `desk`: what is the answer to each request?
//! - `service`: who is served, and within which bounds?

mod board;
mod caller;
pub(crate) mod desk;
mod service;

use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use evercrawl_model::Time;
use evercrawl_query::{Failed, FailureKind, QueryError};
use evercrawl_state::StateError;

use crate::exit::{self, Failure};

pub(crate) use board::{Posted, StatusBoard};
pub(crate) use caller::{answers, call, unexpected};
pub(crate) use service::Door;

const SOCKET: &str = "control.sock";

/// Names the socket in `dir` through an open directory: the system takes a name of some hundred
/// bytes only, and directories lie deeper than that.
fn at_any_depth<T>(dir: &Path, name: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let open = std::fs::File::open(dir)?;
    name(Path::new(&format!("/proc/self/fd/{}/{SOCKET}", open.as_raw_fd())))
}

/// An error as it travels.
pub(crate) fn failed(error: &anyhow::Error) -> Failed {
    let ended = matches!(error.downcast_ref(), Some(StateError::Ended));
    let not_known =
        |error: &QueryError| matches!(error, QueryError::NotKnown(_) | QueryError::Nothing(_));
    let unknown = error.downcast_ref().is_some_and(not_known);
    let kind = match exit::code_of(error) {
        _ if ended => FailureKind::Ended,
        _ if unknown => FailureKind::NotKnown,
        exit::USAGE => FailureKind::BadRequest,
        exit::CONFIG => FailureKind::Configuration,
        exit::STORAGE => FailureKind::Storage,
        exit::DISK_LIMIT => FailureKind::DiskFull,
        _ => FailureKind::Unexpected,
    };
    Failed { kind, message: format!("{error:#}") }
}

/// The error that came.
fn failure(failed: Failed) -> Failure {
    let code = match failed.kind {
        FailureKind::Unexpected | FailureKind::NotKnown => exit::UNEXPECTED,
        FailureKind::BadRequest => exit::USAGE,
        FailureKind::Configuration => exit::CONFIG,
        FailureKind::Storage | FailureKind::Busy | FailureKind::Protocol => exit::STORAGE,
        FailureKind::DiskFull => exit::DISK_LIMIT,
        FailureKind::Ended => exit::INTERRUPTED,
    };
    Failure { code, message: failed.message }
}

/// The present time.
pub(crate) fn now() -> Time {
    evercrawl_engine::live::SystemClock.now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_end_a_verb_alike_here_and_there() {
        for error in [
            Failure::usage("no"),
            Failure::config("no"),
            Failure { code: exit::UNEXPECTED, message: "no".to_owned() }.into(),
            StateError::Store("no".to_owned()).into(),
        ] {
            let there = failure(failed(&error));
            assert_eq!(there.code, exit::code_of(&error), "{error}");
            assert_eq!(there.message, error.to_string());
        }
        assert_eq!(failure(failed(&StateError::Ended.into())).code, exit::INTERRUPTED);
    }
}
