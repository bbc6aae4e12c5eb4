//! What does the exit code say?

use evercrawl_engine::EngineError;
use evercrawl_export::ExportError;
use evercrawl_lab::WorldError;
use evercrawl_lab::table::TableError;
use evercrawl_query::QueryError;
use evercrawl_state::StateError;

/// Success.
pub(crate) const OK: u8 = 0;
/// An unexpected error, or a negative result (`robots`, `check`).
pub(crate) const UNEXPECTED: u8 = 1;
/// The command line is wrong.
pub(crate) const USAGE: u8 = 2;
/// The configuration is wrong.
pub(crate) const CONFIG: u8 = 3;
/// The data directory cannot be used.
pub(crate) const STORAGE: u8 = 4;
/// No server answered.
pub(crate) const UNREACHABLE: u8 = 5;
/// The versions differ (`diff --exit-code`).
pub(crate) const DIFFERENT: u8 = 10;
/// Interrupted; the next run resumes.
pub(crate) const INTERRUPTED: u8 = 11;
/// A limit of pages or bytes was reached.
pub(crate) const SIZE_LIMIT: u8 = 14;
/// The time limit was reached.
pub(crate) const TIME_LIMIT: u8 = 15;
/// The disk is nearly full.
pub(crate) const DISK_LIMIT: u8 = 16;

/// The codes and what they mean.
const MEANINGS: [(u8, &str); 11] = [
    (OK, "success"),
    (UNEXPECTED, "unexpected error, or a negative result (robots, check)"),
    (USAGE, "wrong command line"),
    (CONFIG, "wrong configuration"),
    (STORAGE, "the data directory cannot be used"),
    (UNREACHABLE, "no server answered"),
    (DIFFERENT, "the versions differ (diff --exit-code)"),
    (INTERRUPTED, "interrupted; run again to resume"),
    (SIZE_LIMIT, "page or byte limit reached"),
    (TIME_LIMIT, "time limit reached"),
    (DISK_LIMIT, "disk full"),
];

/// What an exit code is called in JSON.
pub(crate) fn name(code: u8) -> &'static str {
    match code {
        USAGE => "usage",
        CONFIG => "configuration",
        STORAGE => "storage",
        UNREACHABLE => "unreachable",
        INTERRUPTED => "interrupted",
        DISK_LIMIT => "disk_full",
        _ => "unexpected",
    }
}

/// What an exit code means.
pub(crate) fn meaning(code: u8) -> &'static str {
    MEANINGS.iter().find(|(known, _)| *known == code).map_or("unknown", |(_, meaning)| meaning)
}

/// The exit codes and their meanings, for `--help`.
pub(crate) fn listed() -> String {
    let line = |(code, meaning): &(u8, &str)| format!("\n  {code:>2}  {meaning}");
    format!("Exit codes:{}", MEANINGS.iter().map(line).collect::<String>())
}

/// A mistake of the user, with its exit code.
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

/// The exit code of an error.
pub(crate) fn code_of(error: &anyhow::Error) -> u8 {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.code;
    }
    if error.downcast_ref::<evercrawl_fetch::Failure>().is_some() {
        return UNREACHABLE;
    }
    let file = error.downcast_ref::<TableError>().is_some();
    if file || error.downcast_ref::<WorldError>().is_some() {
        return USAGE;
    }
    match error.downcast_ref::<ExportError>() {
        Some(export) if export.is_disk_full() => return DISK_LIMIT,
        Some(ExportError::InTheWay(_)) => return USAGE,
        Some(_) => return UNEXPECTED,
        None => {}
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

/// True when the reader of our output closed it: `evercrawl urls | head` is not an error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
