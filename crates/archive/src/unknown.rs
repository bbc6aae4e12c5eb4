//! Which files of the archive does the state not know?

use std::collections::{HashMap, HashSet};
use std::io;

use crate::files::{self, FilePosition};
use crate::segments::{SegmentId, SegmentStore, Stage};

/// A file of the archive directory that is not as the state knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFile {
    /// The file.
    pub segment: SegmentId,
    /// Its length in bytes.
    pub bytes: u64,
    /// What it is.
    pub kind: UnknownKind,
}

/// What a file is that the state does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownKind {
    /// A WARC file of this archive or of another Evercrawl archive.
    Warc,
    /// The index of such a file, without the file.
    Index,
    /// A WARC file or an index that another program named.
    Foreign,
    /// A known WARC file with more bytes than the state counts: the state is older than the archive.
    Longer {
        /// How many bytes the state counts.
        known: u64,
    },
    /// Something else.
    Other,
}

/// The files in `segments` that are not among `known`, in the order of their names. `growing` says whether
/// growing WARC files count too: after an abrupt end, recovery removes those that no commit knew.
pub fn unknown_files(
    segments: &dyn SegmentStore,
    known: &[FilePosition],
    growing: bool,
) -> io::Result<Vec<UnknownFile>> {
    let lengths: HashMap<String, Option<u64>> = known
        .iter()
        .flat_map(|file| {
            [(file.warc_name(), Some(file.warc_len)), (files::index_name(&file.name), None)]
        })
        .collect();
    let list = segments.list()?;
    let warcs: HashSet<String> = list
        .iter()
        .filter(|(segment, _)| files::is_warc(segment))
        .map(|(segment, _)| files::index_of(&segment.name).name)
        .collect();
    let judged = list.into_iter().filter_map(|(segment, bytes)| {
        let kind = judge(&segment, bytes, lengths.get(&segment.name), growing)?;
        if kind == UnknownKind::Index && warcs.contains(&segment.name) {
            return None;
        }
        Some(UnknownFile { segment, bytes, kind })
    });
    Ok(judged.collect())
}

/// What is to be said of a file; `known` has its length, where the state counts it.
fn judge(
    segment: &SegmentId,
    bytes: u64,
    known: Option<&Option<u64>>,
    growing: bool,
) -> Option<UnknownKind> {
    let grows = files::is_growing(segment);
    let is_ours = files::serial_of(&segment.name).is_some();
    match known {
        Some(Some(known)) if !grows && bytes > *known => {
            Some(UnknownKind::Longer { known: *known })
        }
        Some(_) => None,
        None if is_ours && grows => {
            (growing && bytes > 0 && files::is_warc(segment)).then_some(UnknownKind::Warc)
        }
        None if is_ours && files::is_warc(segment) => Some(UnknownKind::Warc),
        None if is_ours && files::is_sealed(segment) => Some(UnknownKind::Index),
        None if looks_like_an_archive(segment) => Some(UnknownKind::Foreign),
        None => Some(UnknownKind::Other),
    }
}

/// Whether a tool that reads archives would read it.
fn looks_like_an_archive(segment: &SegmentId) -> bool {
    let name = segment.name.to_ascii_lowercase();
    let ends = [".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz", ".cdx", ".cdxj"];
    segment.stage == Stage::Sealed && ends.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemorySegments;

    #[test]
    fn every_file_that_the_state_does_not_know_is_named() {
        let segments = MemorySegments::default();
        let name = |serial: u32| format!("e-20261115221550007-{serial:05}-h");
        let add = |name: String, bytes: usize, sealed: bool| {
            segments.create(&name).unwrap();
            segments.append(&name, 0, &vec![7; bytes]).unwrap();
            if sealed {
                segments.seal(&name, &name).unwrap();
            }
        };
        for serial in 1..=3 {
            add(format!("{}.warc.gz", name(serial)), 10, true);
            add(format!("{}.cdxj", name(serial)), 5, true);
        }
        add(format!("{}.warc.gz", name(4)), 10, false);
        add(format!("{}.cdxj", name(5)), 5, true);
        add("other.warc.gz".to_owned(), 10, true);
        add("notes.txt".to_owned(), 10, true);
        let position = |serial, warc_len| FilePosition {
            serial,
            name: name(serial),
            warc_len,
            cdxj_len: 5,
            open: false,
        };
        let known = [position(1, 10), position(2, 6)];
        let found = |growing| {
            let found = unknown_files(&segments, &known, growing).unwrap();
            found.into_iter().map(|file| (file.segment.to_string(), file.kind)).collect::<Vec<_>>()
        };
        let mut want = vec![
            (format!("{}.warc.gz", name(2)), UnknownKind::Longer { known: 6 }),
            (format!("{}.warc.gz", name(3)), UnknownKind::Warc),
            (format!("{}.cdxj", name(5)), UnknownKind::Index),
            ("notes.txt".to_owned(), UnknownKind::Other),
            ("other.warc.gz".to_owned(), UnknownKind::Foreign),
        ];
        assert_eq!(found(false), want);
        want.insert(2, (format!("{}.warc.gz.open", name(4)), UnknownKind::Warc));
        assert_eq!(found(true), want);
    }
}
