//! What are the archive's segments called, and how is a growing one sealed?
//!
//! `NAME.warc.gz` and `NAME.cdxj` grow side by side; sealed, they never change. Sealing is done in steps that
//! may each be the last before a crash, and can be done again.

use std::io;
use std::sync::Arc;

use evercrawl_model::Time;

use crate::error::WriteError;
use crate::segments::{SegmentId, SegmentStore, Stage};
use crate::sorting;

const WARC: &str = ".warc.gz";
const INDEX: &str = ".cdxj";
/// An index while it is put in order.
const SORTING: &str = ".cdxj.sorting";

/// How far a WARC file and its index have come; the state commits this with the visits in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePosition {
    /// The serial number, which record coordinates refer to.
    pub serial: u32,
    /// The name that both segments share, without extensions.
    pub name: String,
    /// Bytes in the WARC file; none as long as only its `warcinfo` is there.
    pub warc_len: u64,
    /// Bytes in the index.
    pub cdxj_len: u64,
    /// Whether it may still grow; if not, it can be sealed once this is committed.
    pub open: bool,
}

impl FilePosition {
    /// The WARC file's name, as indexes give it.
    pub fn warc_name(&self) -> String {
        warc_name(&self.name)
    }

    /// Seals what grows, as far as this position counts it, and says how many bytes it cut off. An empty
    /// file is removed.
    pub fn seal(&self, segments: &Arc<dyn SegmentStore>) -> Result<u64, WriteError> {
        if self.warc_len == 0 {
            return self.discard(&**segments).map(|()| 0);
        }
        let cut_index = self.seal_index(segments)?;
        let cut_warc = self.seal_warc(&**segments)?;
        Ok(cut_index + cut_warc)
    }

    /// Removes what grows.
    pub fn discard(&self, segments: &dyn SegmentStore) -> Result<(), WriteError> {
        segments.remove(&SegmentId::growing(self.warc_name()))?;
        segments.remove(&SegmentId::growing(index_name(&self.name)))
    }

    /// Removes what was sealed.
    pub(crate) fn remove(&self, segments: &dyn SegmentStore) -> Result<(), WriteError> {
        segments.remove(&SegmentId::sealed(self.warc_name()))?;
        segments.remove(&SegmentId::sealed(index_name(&self.name)))
    }

    /// Seals the index in the order of its lines; then the one that grew is removed.
    fn seal_index(&self, segments: &Arc<dyn SegmentStore>) -> Result<u64, WriteError> {
        let index = index_name(&self.name);
        let Some(cut) = segments.cut(&index, self.cdxj_len)? else {
            return segments.seal(&index, &index).map(|()| 0);
        };
        let [aside, sorted] = ["-runs", ""].map(|of| format!("{}{of}{SORTING}", self.name));
        sorting::sort(segments, &index, self.cdxj_len, aside, &sorted)?;
        segments.seal(&sorted, &index)?;
        segments.remove(&SegmentId::growing(index))?;
        Ok(cut)
    }

    fn seal_warc(&self, segments: &dyn SegmentStore) -> Result<u64, WriteError> {
        let warc = self.warc_name();
        let cut = segments.cut(&warc, self.warc_len)?;
        segments.seal(&warc, &warc)?;
        Ok(cut.unwrap_or(0))
    }
}

/// The name that follows the WARC guidelines: prefix, time, serial number, crawl host.
pub(crate) fn name(prefix: &str, now: Time, serial: u32, host: &str) -> String {
    let clean = |text: &str| {
        let odd = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-' | '_');
        text.replace(odd, "_").trim_start_matches('.').to_owned()
    };
    format!("{}-{}-{serial:05}-{}", clean(prefix), now.digits17(), clean(host))
}

/// The serial number in the name of one of the archive's files.
pub(crate) fn serial_of(file_name: &str) -> Option<u32> {
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let mut parts = file_name.split('-').skip(1).peekable();
    while let Some(part) = parts.next() {
        if part.len() == 17 && digits(part) {
            return parts.peek().filter(|s| s.len() >= 5 && digits(s))?.parse().ok();
        }
    }
    None
}

/// Whether a segment is one of those that the archive lets grow.
pub(crate) fn is_growing(segment: &SegmentId) -> bool {
    let ours = [WARC, INDEX, SORTING].iter().any(|kind| segment.name.ends_with(kind));
    segment.stage == Stage::Growing && ours
}

/// Whether a segment is one of those that the archive seals.
pub(crate) fn is_sealed(segment: &SegmentId) -> bool {
    segment.stage == Stage::Sealed && [WARC, INDEX].iter().any(|kind| segment.name.ends_with(kind))
}

/// Whether a segment is a WARC file, growing or sealed.
pub(crate) fn is_warc(segment: &SegmentId) -> bool {
    segment.name.ends_with(WARC)
}

/// The WARC files, growing ones included, with their serial numbers and the names that they share with their
/// indexes.
pub(crate) fn list_warcs(
    segments: &dyn SegmentStore,
) -> io::Result<impl Iterator<Item = (u32, String, SegmentId)>> {
    let warc = |(segment, _): (SegmentId, u64)| {
        let name = segment.name.strip_suffix(WARC)?.to_owned();
        Some((serial_of(&name)?, name, segment))
    };
    Ok(segments.list()?.into_iter().filter_map(warc))
}

/// Finds the WARC file with a serial number, growing or sealed.
pub fn find_warc(segments: &dyn SegmentStore, serial: u32) -> io::Result<Option<SegmentId>> {
    let mut warcs = list_warcs(segments)?;
    Ok(warcs.find(|(found, ..)| *found == serial).map(|(_, _, segment)| segment))
}

pub(crate) fn warc_name(name: &str) -> String {
    format!("{name}{WARC}")
}

pub(crate) fn index_name(name: &str) -> String {
    format!("{name}{INDEX}")
}

/// The WARC file that is called `name`, and its index, once both are sealed.
pub fn sealed_files(name: &str) -> [SegmentId; 2] {
    [warc_name(name), index_name(name)].map(SegmentId::sealed)
}

/// The sealed index of a WARC file.
pub(crate) fn index_of(warc: &str) -> SegmentId {
    let name = warc.trim_end_matches(".gz").trim_end_matches(".warc");
    SegmentId::sealed(index_name(name))
}

/// The name with another serial number in it.
pub(crate) fn renumbered(name: &str, serial: u32) -> String {
    let mut parts: Vec<&str> = name.split('-').collect();
    let number = format!("{serial:05}");
    let time = |part: &&str| part.len() == 17 && part.bytes().all(|b| b.is_ascii_digit());
    let place = parts.iter().skip(1).position(time).map(|at| at + 2);
    if let Some(part) = place.and_then(|at| parts.get_mut(at)) {
        *part = &number;
    }
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_guidelines_and_give_their_serial_back() {
        let name = name("my crawl", Time::from_millis(1_794_780_950_007), 42, "host-1.example.org");
        assert_eq!(name, "my_crawl-20261115221550007-00042-host-1.example.org");
        for (file, want) in [
            (format!("{name}.warc.gz"), Some(42)),
            (format!("{name}.cdxj.sorting.open"), Some(42)),
            ("a-b-20261115221550007-123456-x.warc.gz".to_owned(), Some(123_456)),
            ("a-20261115221550007-42-x.warc.gz".to_owned(), None),
            ("a-20261115221550007.warc.gz".to_owned(), None),
            ("other.warc.gz".to_owned(), None),
        ] {
            assert_eq!(serial_of(&file), want, "{file}");
        }
        let again = renumbered(&name, 7);
        assert_eq!(again, "my_crawl-20261115221550007-00007-host-1.example.org");
        let growing = |name: &str| is_growing(&SegmentId::growing(name));
        assert!(growing("a.cdxj.sorting") && growing("a.warc.gz"));
        assert!(!is_growing(&SegmentId::sealed("a.warc.gz")) && !growing("notes"));
    }

    #[test]
    fn a_name_stays_in_its_directory() {
        let name = name("../../etc/x", Time::EPOCH, 1, "a/b\0c");
        assert_eq!(name, "_.._etc_x-19700101000000000-00001-a_b_c");
    }
}
