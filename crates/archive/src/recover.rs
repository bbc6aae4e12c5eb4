//! What remains after the last run, and what of it counts?

use std::path::Path;
use std::sync::Arc;

use tracing::{debug, debug_span, info, warn};

use crate::error::WriteError;
use crate::files::{self, FilePosition};
use crate::segments::SegmentStore;

/// What was found and done when an archive was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Bytes cut off because no commit had counted them; their pages are fetched again.
    pub cut_bytes: u64,
    /// Growing files removed because no commit knew them.
    pub removed: Vec<String>,
    /// Files that are not the archive's; they were left alone.
    pub unknown: Vec<String>,
}

/// Brings the segments to what was committed, seals them, and gives the highest serial number in use.
pub(crate) fn recover(
    segments: &Arc<dyn SegmentStore>,
    committed: &[FilePosition],
) -> Result<(Recovery, u32), WriteError> {
    let _span = debug_span!("recovery", committed = committed.len()).entered();
    let mut recovery = Recovery::default();
    for position in committed {
        recovery.cut_bytes += position.seal(segments)?;
    }
    let mut highest = committed.iter().map(|position| position.serial).max().unwrap_or(0);
    for (segment, _) in segments.list().map_err(WriteError::io("list", Path::new("the archive")))? {
        let serial = files::serial_of(&segment.name);
        highest = highest.max(serial.unwrap_or(0));
        if serial.is_some() && files::is_growing(&segment) {
            segments.remove(&segment)?;
            recovery.removed.push(segment.to_string());
        } else if serial.is_none() || !files::is_sealed(&segment) {
            recovery.unknown.push(segment.to_string());
        }
    }
    log(&recovery);
    Ok((recovery, highest))
}

fn log(recovery: &Recovery) {
    let Recovery { cut_bytes, removed, unknown } = recovery;
    if *cut_bytes > 0 || !removed.is_empty() {
        warn!(cut_bytes, removed = removed.len(), "uncommitted records dropped");
    } else {
        debug!("archive as committed");
    }
    unknown.iter().for_each(|file| info!(%file, "not an archive file; left alone"));
}
