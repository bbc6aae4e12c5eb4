//! Which files of the archive does the state not know, and may a crawl go on beside them?
//!
//! It may not beside WARC files: a state that does not know them is lost, older than the archive, or of
//! another one. A crawl would give records no visits, and recovery could remove what no commit counted.

use std::path::Path;

use evercrawl_archive::{UnknownFile, UnknownKind, unknown_files};
use evercrawl_state::{Store, View};

use super::{DataDir, file_position, io};
use crate::EngineError;

/// All unknown files of the data directory at `path`; `view` is its state, if there is one.
pub(crate) fn find<S: Store>(
    view: Option<&View<S>>,
    path: &Path,
) -> Result<Vec<UnknownFile>, EngineError> {
    let known = view.map_or(Ok(Vec::new()), View::archive_files)?;
    let known: Vec<_> = known.into_iter().map(file_position).collect();
    // Without a state nothing tells what was committed, so every file may count.
    let found = unknown_files(&*DataDir::segments_in(path), &known, view.is_none());
    found.map_err(io("list", path))
}

/// An error where the state does not know all WARC files.
pub(crate) fn refuse<S: Store>(view: &View<S>, path: &Path) -> Result<(), EngineError> {
    let found = find(Some(view), path)?;
    let barring: Vec<&UnknownFile> = found.iter().filter(|file| is_fault(file.kind)).collect();
    match barring.first() {
        None => Ok(()),
        Some(_) if view.archive_files()?.is_empty() => refuse_without_visits(view, path),
        Some(first) => Err(EngineError::UnknownFiles {
            dir: path.to_owned(),
            files: barring.len(),
            first: first.segment.to_string(),
        }),
    }
}

/// An error where WARC files of this archive lie beside a state that has no visit.
pub(crate) fn refuse_without_visits<S: Store>(
    view: &View<S>,
    path: &Path,
) -> Result<(), EngineError> {
    lost(&find(Some(view), path)?, path)
}

/// The same where there is no state at all.
pub(crate) fn refuse_without_state(path: &Path) -> Result<(), EngineError> {
    lost(&find::<evercrawl_state::DiskStore>(None, path)?, path)
}

fn lost(found: &[UnknownFile], path: &Path) -> Result<(), EngineError> {
    let warcs: Vec<&UnknownFile> =
        found.iter().filter(|file| file.kind == UnknownKind::Warc).collect();
    match warcs.first() {
        None => Ok(()),
        Some(first) => Err(EngineError::StateLost {
            dir: path.to_owned(),
            files: warcs.len(),
            first: first.segment.to_string(),
        }),
    }
}

/// Whether a file must not be there.
pub(crate) fn is_fault(kind: UnknownKind) -> bool {
    kind != UnknownKind::Other
}

/// What is to be said of a file.
pub(crate) fn words(kind: UnknownKind) -> String {
    match kind {
        UnknownKind::Warc => "the state does not know it; --repair recovers its visits".to_owned(),
        UnknownKind::Index => "the state does not know it; --repair moves it out".to_owned(),
        UnknownKind::Foreign => {
            "it is not of this archive, and the state does not know it; --repair moves it out"
                .to_owned()
        }
        UnknownKind::Longer { known } => format!(
            "the state counts {known} bytes of it, and there are more: the state is older than the \
             archive; --repair recovers its visits"
        ),
        UnknownKind::Other => "it is not of the archive; it was left alone".to_owned(),
    }
}
