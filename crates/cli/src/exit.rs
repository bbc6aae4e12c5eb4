//! What does the exit code say?

use evercrawl_engine::EngineError;
use evercrawl_lab::WorldError;
use evercrawl_lab::table::TableError;
use evercrawl_query::QueryError;
use evercrawl_state::StateError;

/// All went well.
pub(crate) const OK: u8 = 0;
/// Something unexpected, or the answer is no (`robots`, `check`).
pub(crate) const UNEXPECTED: u8 = 1;
/// The command line is wrong.
pub(crate) const USAGE: u8 = 2;
/// The configuration is wrong.
pub(crate) const CONFIG: u8 = 3;
/// The data directory cannot be used.
pub(crate) const STORAGE: u8 = 4;
/// Nothing that was asked for could be reached.
pub(crate) const UNREACHABLE: u8 = 5;
/// What was compared differs (`diff --exit-code`).
pub(crate) const DIFFERENT: u8 = 10;
/// Interrupted, and can be gone on with.
pub(crate) const INTERRUPTED: u8 = 11;
/// A limit of pages or bytes was reached.
pub(crate) const SIZE_LIMIT: u8 = 14;
/// The time limit was reached.
pub(crate) const TIME_LIMIT: u8 = 15;
/// The disk is nearly full.
pub(crate) const DISK_LIMIT: u8 = 16;

/// An error of the user's making, with the code to end with.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: u8,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> anyhow::Error {
        Failure { code: USAGE, message: message.into() }.into()
    }

    pub(crate) fn config(message: impl Into<String>) -> anyhow::Error {
        Failure { code: CONFIG, message: message.into() }.into()
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// The code that an error ends with.
pub(crate) fn code_of(error: &anyhow::Error) -> u8 {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.code;
    }
    let file = error.downcast_ref::<TableError>().is_some();
    if file || error.downcast_ref::<WorldError>().is_some() {
        return USAGE;
    }
    match error.downcast_ref::<QueryError>() {
        Some(QueryError::BadRequest(_)) => return USAGE,
        Some(QueryError::State(_)) => return STORAGE,
        Some(QueryError::Engine(engine)) => return code_of_engine(Some(engine), error),
        Some(_) => return UNEXPECTED,
        None => {}
    }
    code_of_engine(error.downcast_ref(), error)
}

fn code_of_engine(engine: Option<&EngineError>, error: &anyhow::Error) -> u8 {
    match engine {
        Some(engine) if engine.is_disk_full() => DISK_LIMIT,
        Some(EngineError::Config(_)) => CONFIG,
        Some(EngineError::Broken(_)) => UNEXPECTED,
        Some(_) => STORAGE,
        None if error.downcast_ref::<StateError>().is_some() => STORAGE,
        None => UNEXPECTED,
    }
}

/// True when whoever read our output went away: `evercrawl urls | head` is no error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
