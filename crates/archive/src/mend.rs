//! What is left of a damaged file? Every record that can be read and whose digests hold.
//!
//! As with [`rewrite`](crate::rewrite()), what is left goes into a new file with a serial number of
//! its own: nothing is lost should it end half way, and the damaged file stays as it is.

use std::fs;
use std::path::Path;

use evercrawl_model::Time;

use crate::cdx;
use crate::disk::RealDisk;
use crate::error::{ReadError, RewriteError, WriteError};
use crate::files;
use crate::read::Scan;
use crate::rewrite::{Copying, Kept};
use crate::verify::verify;

/// Writes what can be saved of the file at `warc`, which is called `name`, anew as number `serial`.
/// A record may unpack to `cap` bytes; `now` is the date of what has to be written again.
pub fn mend(
    warc: &Path,
    name: &str,
    serial: u32,
    cap: usize,
    now: Time,
) -> Result<Kept, RewriteError> {
    let dir = warc.parent().unwrap_or(Path::new("."));
    let mut copy = Copying::begin(dir, name, serial, warc)?;
    let copied = save(&mut copy, Scan::open(warc, cap)?, now);
    copy.end_or_discard(dir, copied)
}

fn save(copy: &mut Copying, records: Scan, now: Time) -> Result<(), RewriteError> {
    for scanned in records {
        let Ok(scanned) = scanned else {
            // What belonged to the damaged record would belong to nothing.
            copy.keeping = false;
            copy.kept.dropped += 1;
            continue;
        };
        let kind = scanned.record.header("WARC-Type");
        if copy.length == 0 {
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

/// Makes the index of a finished WARC file anew; `name` is what both are called.
pub fn rebuild_index(dir: &Path, name: &str, cap: usize) -> Result<(), RewriteError> {
    let warc = files::warc_name(name);
    let mut lines = Vec::new();
    for scanned in Scan::open(&dir.join(&warc), cap)? {
        let scanned = scanned?;
        let line = cdx::line_of(&scanned.record, scanned.offset, scanned.length, &warc);
        lines.extend(line.unwrap_or_default());
    }
    let (aside, index) = (files::open_index(dir, name), files::final_index(dir, name));
    files::write_durably(&aside, &cdx::sorted(&lines), &RealDisk)?;
    files::rename(&aside, &index)?;
    Ok(files::sync_dir(dir, &RealDisk)?)
}

/// Gives what is left of a growing file its final name, uncommitted records and all; its index is
/// made anew.
pub fn finish_as_found(dir: &Path, name: &str) -> Result<bool, WriteError> {
    let (from, to) = (files::open_warc(dir, name), dir.join(files::warc_name(name)));
    if !from.exists() || to.exists() {
        return Ok(false);
    }
    files::rename(&from, &to)?;
    let index = files::open_index(dir, name);
    if index.exists() {
        fs::remove_file(&index).map_err(WriteError::io("remove", &index))?;
    }
    files::sync_dir(dir, &RealDisk)?;
    Ok(true)
}

/// The names of the archive's WARC files in `dir`, growing ones included, with their serial numbers.
pub fn warc_files(dir: &Path) -> Result<Vec<(u32, String)>, ReadError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let file = entry?.file_name().to_string_lossy().into_owned();
        let name = file.trim_end_matches(".open").strip_suffix(".warc.gz");
        found.extend(files::serial_of(&file).zip(name.map(str::to_owned)));
    }
    found.sort();
    found.dedup();
    Ok(found)
}
