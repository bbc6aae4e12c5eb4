//! Which captures of a URL are there, and which of them is nearest to a time?
//!
//! A sealed index is sorted by its bytes, so a key is found by halving: some fifteen short reads a file, however
//! many captures there are. An index that still grows is in the order of its records and is read through; it is
//! never larger than the index of one WARC file.

use std::io::{self, BufRead};
use std::sync::Arc;

use evercrawl_model::Time;

use crate::files;
use crate::segments::{SegmentId, SegmentReader, SegmentStore, Stage};
use crate::surt::surt;

/// A capture, as its line in the index says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The URL as it stands in the record.
    pub url: String,
    /// When it was captured, to the second.
    pub at: Time,
    /// The media type of the response; `warc/revisit` for a record without a payload.
    pub media_type: String,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The payload digest: SHA-1 in base 32.
    pub digest: String,
    /// The WARC file.
    pub warc: String,
    /// Where in the file the record begins.
    pub offset: u64,
    /// How long the record is.
    pub length: u32,
}

impl Capture {
    /// Whether its record refers to an earlier one for the payload.
    pub fn is_revisit(&self) -> bool {
        self.media_type == REVISIT
    }

    /// Reads a line of an index; `None` where it is none.
    pub fn parse(line: &str) -> Option<Self> {
        let mut parts = line.trim_end().splitn(3, ' ');
        let (_, digits, json) = (parts.next()?, parts.next()?, parts.next()?);
        let fields: serde_json::Value = serde_json::from_str(json).ok()?;
        let field = |name: &str| fields.get(name)?.as_str();
        Some(Capture {
            url: field("url")?.to_owned(),
            at: Time::parse_digits(digits).ok()?,
            media_type: field("mime")?.to_owned(),
            status: field("status")?.parse().ok(),
            digest: field("digest")?.to_owned(),
            warc: field("filename")?.to_owned(),
            offset: field("offset")?.parse().ok()?,
            length: field("length")?.parse().ok()?,
        })
    }
}

/// What the index says of the media type of a revisit.
const REVISIT: &str = "warc/revisit";

/// Bytes that are read at once while a key is looked for.
const AT_ONCE: usize = 1 << 12;

/// The indexes of an archive.
pub struct CaptureIndex {
    segments: Arc<dyn SegmentStore>,
    /// The indexes that there were at the last look, with their lengths.
    files: Vec<(SegmentId, u64)>,
}

impl CaptureIndex {
    /// The indexes of the archive in `segments`, as they are now.
    pub fn open(segments: Arc<dyn SegmentStore>) -> io::Result<Self> {
        let files = files::list_indexes(&*segments)?;
        Ok(CaptureIndex { segments, files })
    }

    /// The captures of a URL, the earliest first, and of other URLs with the same key in indexes; of more than
    /// `limit`, the earliest.
    pub fn captures(&mut self, url: &str, limit: usize) -> io::Result<Vec<Capture>> {
        let key = format!("{} ", surt(url));
        let mut found = self.read_files(|index| index.lines_with(key.as_bytes(), limit))?;
        found.sort_by(|one, next| {
            (one.at, &one.warc, one.offset).cmp(&(next.at, &next.warc, next.offset))
        });
        found.truncate(limit);
        Ok(found)
    }

    /// The captures whose keys begin so, in the order of their keys and then of time; of more than `limit`, the first.
    pub fn captures_below(&mut self, prefix: &str, limit: usize) -> io::Result<Vec<Capture>> {
        let found = self.read_files(|index| index.lines_with(prefix.as_bytes(), limit))?;
        let mut found: Vec<(String, Capture)> =
            found.into_iter().map(|capture| (surt(&capture.url), capture)).collect();
        found.sort_by(|(key, one), (other, next)| {
            (key, one.at, &one.warc, one.offset).cmp(&(other, next.at, &next.warc, next.offset))
        });
        found.truncate(limit);
        Ok(found.into_iter().map(|(_, capture)| capture).collect())
    }

    /// The capture of a URL that is nearest to a time; the later one of two that are equally near.
    pub fn nearest(&mut self, url: &str, at: Time) -> io::Result<Option<Capture>> {
        let key = format!("{} ", surt(url));
        let found = self.read_files(|index| index.around(&key, at))?;
        let distance = |capture: &Capture| capture.at.secs().abs_diff(at.secs());
        Ok(found.into_iter().min_by_key(|capture| (distance(capture), capture.at < at)))
    }

    /// The captures of a URL, written exactly so, in the second of `at`.
    pub fn at(&mut self, url: &str, at: Time) -> io::Result<Vec<Capture>> {
        let key = format!("{} {} ", surt(url), at.digits14());
        let mut found = self.read_files(|index| index.lines_with(key.as_bytes(), MOST_AT_ONCE))?;
        found.retain(|capture| capture.url == url);
        Ok(found)
    }

    /// Asks every index. Files that were sealed or rewritten since the last look are looked up anew.
    fn read_files(
        &mut self,
        ask: impl Fn(&Index<'_>) -> io::Result<Vec<Capture>>,
    ) -> io::Result<Vec<Capture>> {
        let ask_all = |files: &[(SegmentId, u64)]| -> io::Result<Vec<Capture>> {
            let mut found = Vec::new();
            for (segment, length) in files {
                found.extend(ask(&Index { segments: &*self.segments, segment, length: *length })?);
            }
            Ok(found)
        };
        match ask_all(&self.files) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => return found,
        }
        self.files = files::list_indexes(&*self.segments)?;
        ask_all(&self.files)
    }
}

/// Captures of one URL in one second that are looked at.
const MOST_AT_ONCE: usize = 1000;

/// One index.
struct Index<'a> {
    segments: &'a dyn SegmentStore,
    segment: &'a SegmentId,
    length: u64,
}

impl Index<'_> {
    /// The captures whose lines begin with `key`, at most `limit`.
    fn lines_with(&self, key: &[u8], limit: usize) -> io::Result<Vec<Capture>> {
        let (mut found, mut line) = (Vec::new(), Vec::new());
        let is_sorted = self.segment.stage == Stage::Sealed;
        let start = if is_sorted { self.first_from(key)? } else { 0 };
        let mut reader = self.reader(start);
        while found.len() < limit && read_line(&mut reader, &mut line)? {
            if line.starts_with(key) {
                found.extend(parse(&line));
            } else if is_sorted {
                break;
            }
        }
        Ok(found)
    }

    /// The last capture with `key` before a time, and the first from then on.
    fn around(&self, key: &str, at: Time) -> io::Result<Vec<Capture>> {
        if self.segment.stage == Stage::Growing {
            let mut all = self.lines_with(key.as_bytes(), usize::MAX)?;
            all.sort_by_key(|capture| capture.at);
            let from = all.partition_point(|capture| capture.at.secs() < at.secs());
            return Ok(all[from.saturating_sub(1)..all.len().min(from + 1)].to_vec());
        }
        let place = self.first_from(format!("{key}{}", at.digits14()).as_bytes())?;
        let mut line = Vec::new();
        let mut found = Vec::new();
        if read_line(&mut self.reader(place), &mut line)? && line.starts_with(key.as_bytes()) {
            found.extend(parse(&line));
        }
        if self.line_before(place, &mut line)? && line.starts_with(key.as_bytes()) {
            found.extend(parse(&line));
        }
        Ok(found)
    }

    /// Where the first line begins that is `key` or comes after it.
    fn first_from(&self, key: &[u8]) -> io::Result<u64> {
        // The line that begins at `low` or next after it comes before `key`, unless `low` is 0; the one at `high`
        // or next after it does not.
        let (mut low, mut high) = (0, self.length);
        let mut line = Vec::new();
        while high - low > AT_ONCE as u64 {
            let middle = low + (high - low) / 2;
            self.line_from(middle, &mut line)?;
            match line.is_empty() || line.as_slice() >= key {
                true => high = middle,
                false => low = middle,
            }
        }
        let mut reader = self.reader(low);
        if low > 0 {
            // Perhaps not the beginning of a line.
            reader.go_to(low - 1);
            read_line(&mut reader, &mut line)?;
        }
        loop {
            let place = reader.offset();
            if !read_line(&mut reader, &mut line)? || line.as_slice() >= key {
                return Ok(place);
            }
        }
    }

    /// Reads the line that begins at `place`, or next after it; empty where there is none.
    fn line_from(&self, place: u64, line: &mut Vec<u8>) -> io::Result<()> {
        let mut reader = self.reader(place.saturating_sub(1));
        if place > 0 {
            read_line(&mut reader, line)?;
        }
        read_line(&mut reader, line).map(drop)
    }

    /// Reads the line that ends where the one at `place` begins; false where that is the first.
    fn line_before(&self, place: u64, line: &mut Vec<u8>) -> io::Result<bool> {
        if place == 0 {
            return Ok(false);
        }
        let mut back = AT_ONCE as u64;
        loop {
            let start = place.saturating_sub(back);
            let mut bytes = vec![0; usize::try_from(place - start).unwrap_or(0)];
            io::Read::read_exact(&mut self.reader(start), &mut bytes)?;
            let inner = bytes.len().saturating_sub(1);
            let before = bytes[..inner].iter().rposition(|byte| *byte == b'\n');
            if let Some(from) = before.map(|at| at + 1).or((start == 0).then_some(0)) {
                line.clear();
                line.extend_from_slice(&bytes[from..]);
                return Ok(true);
            }
            back *= 2;
        }
    }

    fn reader(&self, offset: u64) -> SegmentReader<'_> {
        SegmentReader::in_pieces(self.segments, self.segment.clone(), offset, AT_ONCE)
    }
}

/// Reads a whole line with its end; false where there is none. What is being written is no line yet.
fn read_line(reader: &mut SegmentReader<'_>, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    reader.read_until(b'\n', line)?;
    if line.last() != Some(&b'\n') {
        line.clear();
    }
    Ok(!line.is_empty())
}

fn parse(line: &[u8]) -> Option<Capture> {
    Capture::parse(std::str::from_utf8(line).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segments::MemorySegments;
    use crate::{cdx, files};

    /// One line: the page `n` at `at`, in the file `name`.
    fn line(n: u64, at: u64, name: &str) -> Vec<u8> {
        let uri = format!("http://a{}.org/{}", n % 3, "x".repeat((n % 7) as usize * 300));
        let entry = cdx::Entry {
            uri: &uri,
            date: Time::from_secs(at),
            digest: "D",
            head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
            is_revisit: n.is_multiple_of(5),
            truncated: None,
        };
        let mut line = Vec::new();
        cdx::push_line(&entry.start().unwrap(), n, at, &files::warc_name(name), &mut line);
        line
    }

    /// Sealed and growing indexes with captures at the seconds from 1 on, and all their lines.
    fn archive(captures: u64) -> (Arc<dyn SegmentStore>, Vec<Capture>) {
        let segments: Arc<dyn SegmentStore> = Arc::new(MemorySegments::default());
        let mut all = Vec::new();
        for (file, name) in
            ["a-20200101000000000-00001-h", "b-20200101000000000-00002-h"].iter().enumerate()
        {
            let name = *name;
            let of_file = (1..=captures).filter(|n| (n / 4) as usize % 2 == file);
            let lines: Vec<Vec<u8>> = of_file.map(|n| line(n, n * n % 1009, name)).collect();
            all.extend(lines.iter().filter_map(|line| parse(line)));
            let index = files::index_name(name);
            let bytes = lines.concat();
            let bytes = if file == 0 { cdx::sorted(&bytes).concat() } else { bytes };
            segments.create(&index).unwrap();
            segments.append(&index, 0, &bytes).unwrap();
            if file == 0 {
                segments.seal(&index, &index).unwrap();
            }
        }
        (segments, all)
    }

    #[test]
    fn every_capture_is_found_and_no_other() {
        for captures in [0, 1, 2, 9, 500] {
            let (segments, all) = archive(captures);
            let mut index = CaptureIndex::open(segments).unwrap();
            for n in 0..21 {
                let url = format!("http://a{}.org/{}", n % 3, "x".repeat(n % 7 * 300));
                let mut want: Vec<&Capture> =
                    all.iter().filter(|capture| capture.url == url).collect();
                want.sort_by_key(|capture| (capture.at, capture.warc.clone(), capture.offset));
                let got = index.captures(&url, usize::MAX).unwrap();
                assert_eq!(got.iter().collect::<Vec<_>>(), want, "{captures}: {url}");
                assert_eq!(index.captures(&url, 2).unwrap().len(), want.len().min(2));
                for at in [0, 17, 500, 1008, 5000] {
                    let nearest = want.iter().map(|capture| capture.at.secs().abs_diff(at)).min();
                    let got = index.nearest(&url, Time::from_secs(at)).unwrap();
                    assert_eq!(got.map(|capture| capture.at.secs().abs_diff(at)), nearest);
                }
            }
            assert_eq!(index.captures("http://a.org/", 9).unwrap(), []);
        }
    }

    #[test]
    fn a_capture_is_found_by_its_second() {
        let (segments, all) = archive(300);
        let mut index = CaptureIndex::open(segments).unwrap();
        for capture in &all {
            assert!(index.at(&capture.url, capture.at).unwrap().contains(capture));
        }
        assert_eq!(index.at("http://a1.org/", Time::from_secs(9999)).unwrap(), []);
    }

    #[test]
    fn of_two_that_are_equally_near_the_later_one_is_taken() {
        let segments: Arc<dyn SegmentStore> = Arc::new(MemorySegments::default());
        let name = "a-20200101000000000-00001-h";
        let lines = [line(1, 10, name), line(1, 20, name)].concat();
        let index = files::index_name(name);
        segments.create(&index).unwrap();
        segments.append(&index, 0, &lines).unwrap();
        let mut found = CaptureIndex::open(segments.clone()).unwrap();
        let url =
            parse(&lines).map_or_else(|| parse(&line(1, 10, name)).unwrap().url, |one| one.url);
        let nearest = |found: &mut CaptureIndex, at| {
            found.nearest(&url, Time::from_secs(at)).unwrap().unwrap().at.secs()
        };
        assert_eq!(nearest(&mut found, 15), 20);
        assert_eq!(nearest(&mut found, 14), 10);
        // The index is sealed after the look.
        segments.seal(&index, &index).unwrap();
        assert_eq!(nearest(&mut found, 15), 20);
    }

    #[test]
    fn what_is_no_line_is_passed_over() {
        for line in ["", "a", "a b c", "a 20200101000000 {}", "a 2020 {\"url\":\"http://a/\"}"] {
            assert_eq!(Capture::parse(line), None, "{line}");
        }
    }
}
