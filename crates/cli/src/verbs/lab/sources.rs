//! Which world does a word on the command line mean?

use std::path::Path;

use evercrawl_engine::DataDir;
use evercrawl_lab::WorldSource;
use evercrawl_lab::visit_log::VisitLog;
use evercrawl_state::StoreLimits;

use crate::exit::Failure;
use crate::print;
use crate::verbs::take;

/// What lies in every data directory, and in no other.
const DATA_MARK: &str = "evercrawl.data";

/// The world of `path`: a data directory's own past, or whatever else a world can be.
pub(super) fn open(path: &Path, sitewide: bool) -> anyhow::Result<WorldSource> {
    if !path.join(DATA_MARK).is_file() {
        return Ok(WorldSource::open(path, sitewide)?);
    }
    let dir = take(path, DataDir::open)?;
    let state = dir.state(StoreLimits::default(), 0)?;
    let log = VisitLog::read(&state)?;
    if log.account().pages == 0 {
        return Err(Failure::usage(format!(
            "{}: no page was visited yet, so there is nothing to simulate; crawl it first",
            path.display()
        )));
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    eprintln!("{}: {}", print::plain(&name), log.account());
    Ok(WorldSource::Logged { name, log: Box::new(log) })
}
