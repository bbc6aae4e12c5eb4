//! Where do the parts of a file of the store lie? Tables and lists end with a table of contents, and that with a trailer.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use xxhash_rust::xxh3::xxh3_128;

/// Bytes of a trailer: a mark, a version and the kind of sum, the sum, where the table of contents begins, its length.
const TRAILER: usize = 4 + 2 + 16 + 8 + 8;
const TRAILER_MARK: &[u8] = b"SFA!\x01\x00";
const CONTENTS_MARK: &[u8] = b"TOC!";
/// No table of contents is longer: it names a handful of parts.
const LONGEST: u64 = 64 << 10;

/// Reads numbers from the front of bytes; `None` where they end too early.
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn u128(&mut self) -> Option<u128> {
        self.array().map(u128::from_le_bytes)
    }

    /// Passes over these very bytes.
    pub(super) fn mark(&mut self, mark: &[u8]) -> Option<()> {
        (self.take(mark.len())? == mark).then_some(())
    }
}

/// The parts of a file, by name.
#[derive(Debug)]
pub(super) struct Contents(Vec<(Vec<u8>, Range<u64>)>);

impl Contents {
    pub(super) fn part(&self, name: &[u8]) -> Option<Range<u64>> {
        self.0.iter().find(|part| part.0 == name).map(|part| part.1.clone())
    }
}

/// The parts of `file`; `None` when its end is not as it was written.
pub(super) fn of_file(file: &File) -> io::Result<Option<Contents>> {
    let length = file.metadata()?.len();
    let mut trailer = [0; TRAILER];
    let Some(end) = length.checked_sub(TRAILER as u64) else { return Ok(None) };
    file.read_exact_at(&mut trailer, end)?;
    let Some((sum, place)) = read_trailer(&trailer, end) else { return Ok(None) };
    let mut bytes = vec![0; usize::try_from(place.end - place.start).unwrap_or_default()];
    file.read_exact_at(&mut bytes, place.start)?;
    Ok((xxh3_128(&bytes) == sum).then(|| read_contents(&bytes, place.start)).flatten())
}

/// The sum of the table of contents that ends at `end`, and where it lies.
fn read_trailer(trailer: &[u8], end: u64) -> Option<(u128, Range<u64>)> {
    let mut trailer = Cursor(trailer);
    trailer.mark(TRAILER_MARK)?;
    let (sum, start, length) = (trailer.u128()?, trailer.u64()?, trailer.u64()?);
    (length <= LONGEST && start.checked_add(length)? == end).then_some((sum, start..end))
}

/// The parts that are named in a table of contents, all of which lie before `end`.
fn read_contents(bytes: &[u8], end: u64) -> Option<Contents> {
    let mut bytes = Cursor(bytes);
    bytes.mark(CONTENTS_MARK)?;
    let mut parts = Vec::new();
    for _ in 0..bytes.u32()? {
        let (start, length) = (bytes.u64()?, bytes.u64()?);
        let name = usize::from(bytes.u16()?);
        let name = bytes.take(name)?.to_vec();
        let part = start..start.checked_add(length)?;
        (part.end <= end).then_some(())?;
        parts.push((name, part));
    }
    Some(Contents(parts))
}

/// A file of these parts, with its table of contents and trailer.
pub(super) fn file_of(parts: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut file, mut contents) = (Vec::new(), CONTENTS_MARK.to_vec());
    contents.extend((parts.len() as u32).to_le_bytes());
    for (name, bytes) in parts {
        contents.extend((file.len() as u64).to_le_bytes());
        contents.extend((bytes.len() as u64).to_le_bytes());
        contents.extend((name.len() as u16).to_le_bytes());
        contents.extend(name.as_bytes());
        file.extend(bytes);
    }
    let start = file.len() as u64;
    file.extend(&contents);
    file.extend(TRAILER_MARK);
    file.extend(xxh3_128(&contents).to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend((contents.len() as u64).to_le_bytes());
    file
}
