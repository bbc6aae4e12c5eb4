//! What is left of a damaged file? Every record that can be read and whose digests hold.
//!
//! As with [`rewrite`](crate::rewrite()), what is left goes into a new file with a serial number of
//! its own: nothing is lost should it end half way, and the damaged file stays as it is.

use std::path::Path;
use std::sync::Arc;

use evercrawl_model::Time;
use tracing::debug_span;

use crate::cdx;
use crate::error::{ReadError, RewriteError, WriteError};
use crate::files;
use crate::read::Scan;
use crate::rewrite::{Copying, Kept};
use crate::segments::{GrowingSegment, SegmentId, SegmentStore};
use crate::verify::verify;

/// Writes what can be saved of the sealed file `name` anew as number `serial`.
/// A record may unpack to `cap` bytes; `now` is the date of what has to be written again.
pub fn mend(
    segments: &Arc<dyn SegmentStore>,
    name: &str,
    serial: u32,
    cap: usize,
    now: Time,
) -> Result<Kept, RewriteError> {
    let _span = debug_span!("mend", name, serial).entered();
    let warc = SegmentId::sealed(files::warc_name(name));
    let records = Scan::open(&**segments, &warc, cap)?;
    let mut copy = Copying::begin(segments, name, serial, warc)?;
    let copied = save(&mut copy, records, now);
    copy.end_or_discard(copied)
}

fn save(copy: &mut Copying<'_>, records: Scan<'_>, now: Time) -> Result<(), RewriteError> {
    for scanned in records {
        let Ok(scanned) = scanned else {
            // What belonged to the damaged record would belong to nothing.
            copy.keeping = false;
            copy.kept.dropped += 1;
            continue;
        };
        let kind = scanned.record.header("WARC-Type");
        if copy.is_empty() {
            match kind {
                Some("warcinfo") => copy.info(&scanned.record)?,
                _ => copy.new_info(now)?,
            }
        }
        let sound = verify(&scanned.record).is_ok();
        match kind {
            Some("warcinfo") => continue,
            Some("response" | "revisit") => copy.keeping = sound,
            _ => {}
        }
        if copy.keeping && sound {
            copy.take(&scanned)?;
        } else {
            copy.kept.dropped += 1;
            copy.kept.bytes += scanned.length;
        }
    }
    Ok(())
}

/// Makes the index of a sealed WARC file anew; `name` is what both are called.
pub fn rebuild_index(
    segments: &Arc<dyn SegmentStore>,
    name: &str,
    cap: usize,
) -> Result<(), RewriteError> {
    let warc = SegmentId::sealed(files::warc_name(name));
    let mut lines = Vec::new();
    for scanned in Scan::open(&**segments, &warc, cap)? {
        let scanned = scanned?;
        let line = cdx::line_of(&scanned.record, scanned.offset, scanned.length, &warc.name);
        lines.extend(line.unwrap_or_default());
    }
    let index = files::index_name(name);
    let mut sorted = GrowingSegment::create(Arc::clone(segments), index.clone())?;
    cdx::sorted(&lines).iter().try_for_each(|line| sorted.write(line))?;
    sorted.flush()?;
    Ok(segments.seal(&index, &index)?)
}

/// Seals what is left of a growing file, uncommitted records and all; its index is to be made anew. False
/// where nothing grows under this name.
pub fn seal_as_found(segments: &dyn SegmentStore, name: &str) -> Result<bool, WriteError> {
    let (warc, index) = (files::warc_name(name), files::index_name(name));
    let list = segments.list().map_err(WriteError::io("list", Path::new("the archive")))?;
    let is_there = |segment: &SegmentId| list.iter().any(|(found, _)| found == segment);
    if !is_there(&SegmentId::growing(&warc)) || is_there(&SegmentId::sealed(&warc)) {
        return Ok(false);
    }
    segments.seal(&warc, &warc)?;
    segments.remove(&SegmentId::growing(index))?;
    Ok(true)
}

/// The names of the archive's WARC files, growing ones included, with their serial numbers.
pub fn warc_files(segments: &dyn SegmentStore) -> Result<Vec<(u32, String)>, ReadError> {
    let warcs = files::list_warcs(segments)?;
    let mut found: Vec<(u32, String)> = warcs.map(|(serial, name, _)| (serial, name)).collect();
    found.sort();
    found.dedup();
    Ok(found)
}
