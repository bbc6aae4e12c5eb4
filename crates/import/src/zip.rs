//! What is in this zip package? It may be broken or hostile: nothing is ever written under a name that it gives.

use std::io::{self, Read, Seek, SeekFrom};

use flate2::read::DeflateDecoder;

/// Bytes of the list of entries that are held, and entries in it.
const LARGEST_LIST: u64 = 256 << 20;
/// Bytes at the end in which the end record may be.
const END: u64 = 22 + 65_535 + 20;

/// An entry of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its name.
    pub(crate) name: String,
    /// Whether it is packed.
    pub(crate) is_packed: bool,
    /// Bytes in the package.
    pub(crate) length: u64,
    /// Where its header is.
    header: u64,
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_owned())
}

fn number(bytes: &[u8], at: usize, length: usize) -> io::Result<u64> {
    let bytes = bytes.get(at..at + length).ok_or_else(|| invalid("a field is cut off"))?;
    Ok(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

/// The entries of a package, in its own order.
pub(crate) fn entries(file: &mut (impl Read + Seek)) -> io::Result<Vec<Entry>> {
    let length = file.seek(SeekFrom::End(0))?;
    let tail = read_at(file, length.saturating_sub(END), length.min(END))?;
    let whole = &tail[..tail.len().saturating_sub(18)];
    let found = whole.windows(4).rposition(|bytes| bytes == b"PK\x05\x06");
    let at =
        found.ok_or_else(|| invalid("the package is not whole: its list of entries is missing"))?;
    let (mut size, mut start) = (number(&tail, at + 12, 4)?, number(&tail, at + 16, 4)?);
    let locator = at.checked_sub(20).and_then(|at| tail.get(at..at + 20));
    if let Some(locator) = locator.filter(|bytes| bytes.starts_with(b"PK\x06\x07")) {
        let large = read_at(file, number(locator, 8, 8)?, 56)?;
        if !large.starts_with(b"PK\x06\x06") {
            return Err(invalid("the record of a large package is missing"));
        }
        (size, start) = (number(&large, 40, 8)?, number(&large, 48, 8)?);
    }
    if size > LARGEST_LIST || start.checked_add(size).is_none_or(|end| end > length) {
        return Err(invalid("the list of entries does not lie in the package"));
    }
    read_list(&read_at(file, start, size)?, length)
}

fn read_list(list: &[u8], package: u64) -> io::Result<Vec<Entry>> {
    let (mut entries, mut at) = (Vec::new(), 0);
    while at + 46 <= list.len() && list[at..].starts_with(b"PK\x01\x02") {
        let [name_length, extra, comment] =
            [(28, 2), (30, 2), (32, 2)].map(|(field, length)| number(list, at + field, length));
        let [name_length, extra, comment] =
            [name_length?, extra?, comment?].map(|length| length as usize);
        let name =
            list.get(at + 46..at + 46 + name_length).ok_or_else(|| invalid("a name is cut off"))?;
        let more =
            list.get(at + 46 + name_length..at + 46 + name_length + extra).unwrap_or_default();
        let (mut length, mut header) = (number(list, at + 20, 4)?, number(list, at + 42, 4)?);
        let unpacked = number(list, at + 24, 4)?;
        widen(more, unpacked, &mut length, &mut header)?;
        let is_encrypted = number(list, at + 8, 2)? & 1 == 1;
        let method = number(list, at + 10, 2)?;
        if !is_encrypted && matches!(method, 0 | 8) && header.saturating_add(length) <= package {
            let name = String::from_utf8_lossy(name).into_owned();
            entries.push(Entry { name, is_packed: method == 8, length, header });
        }
        at += 46 + name_length + extra + comment;
    }
    Ok(entries)
}

/// Takes the sizes of a large entry out of its extra field: those that did not fit, in this order.
fn widen(mut more: &[u8], unpacked: u64, length: &mut u64, header: &mut u64) -> io::Result<()> {
    const FULL: u64 = 0xffff_ffff;
    while more.len() >= 4 {
        let (kind, size) = (number(more, 0, 2)?, number(more, 2, 2)? as usize);
        let field = more.get(4..4 + size).unwrap_or_default();
        if kind == 1 {
            let mut at = if unpacked == FULL { 8 } else { 0 };
            for value in [length, header] {
                if *value == FULL {
                    *value = number(field, at, 8)?;
                    at += 8;
                }
            }
            return Ok(());
        }
        more = more.get(4 + size..).unwrap_or_default();
    }
    Ok(())
}

fn read_at(file: &mut (impl Read + Seek), at: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Err(invalid("the package ends before what it says is in it"));
    }
    Ok(bytes)
}

/// Where the bytes of an entry begin.
pub(crate) fn start_of(file: &mut (impl Read + Seek), entry: &Entry) -> io::Result<u64> {
    let header = read_at(file, entry.header, 30)?;
    if !header.starts_with(b"PK\x03\x04") {
        return Err(invalid("an entry is not where the list says"));
    }
    Ok(entry.header + 30 + number(&header, 26, 2)? + number(&header, 28, 2)?)
}

/// Reads a small entry: at most `most` bytes.
pub(crate) fn read_entry(
    file: &mut (impl Read + Seek),
    entry: &Entry,
    most: u64,
) -> io::Result<Vec<u8>> {
    let start = start_of(file, entry)?;
    file.seek(SeekFrom::Start(start))?;
    let packed = file.take(entry.length);
    let mut bytes = Vec::new();
    match entry.is_packed {
        true => DeflateDecoder::new(packed).take(most + 1).read_to_end(&mut bytes)?,
        false => packed.take(most + 1).read_to_end(&mut bytes)?,
    };
    match bytes.len() as u64 > most {
        true => Err(invalid("the entry is too large")),
        false => Ok(bytes),
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use std::io::Write as _;

    /// A package with these entries.
    pub(crate) fn package(entries: &[(&str, &[u8])], pack: bool) -> Vec<u8> {
        let (mut out, mut list) = (Vec::new(), Vec::new());
        for (name, bytes) in entries {
            let mut deflate =
                flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
            deflate.write_all(bytes).unwrap();
            let packed = if pack { deflate.finish().unwrap() } else { bytes.to_vec() };
            let sizes = [
                &(if pack { 8_u16 } else { 0 }).to_le_bytes()[..],
                &[0; 8],
                &(packed.len() as u32).to_le_bytes(),
                &(bytes.len() as u32).to_le_bytes(),
                &(name.len() as u16).to_le_bytes(),
                &[0; 2],
            ]
            .concat();
            let header = (out.len() as u32).to_le_bytes();
            out.extend([&b"PK\x03\x04\x14\0\0\0"[..], &sizes, name.as_bytes(), &packed].concat());
            let rest = [&[0; 10][..], &header].concat();
            list.extend(
                [&b"PK\x01\x02\x14\0\x14\0\0\0"[..], &sizes, &rest, name.as_bytes()].concat(),
            );
        }
        let (count, size, start) = (
            entries.len() as u16,
            (list.len() as u32).to_le_bytes(),
            (out.len() as u32).to_le_bytes(),
        );
        let count = count.to_le_bytes();
        out.extend(&list);
        out.extend([&b"PK\x05\x06\0\0\0\0"[..], &count, &count, &size, &start, &[0; 2]].concat());
        out
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::testing::package;
    use super::*;

    #[test]
    fn entries_are_read_packed_or_not() {
        for pack in [false, true] {
            let bytes = package(&[("a/../../b", b"one"), ("c", &[0; 100_000])], pack);
            let mut file = Cursor::new(&bytes);
            let all = entries(&mut file).unwrap();
            assert_eq!(
                all.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(),
                ["a/../../b", "c"]
            );
            assert_eq!(read_entry(&mut file, &all[0], 10).unwrap(), b"one");
            assert_eq!(read_entry(&mut file, &all[1], 200_000).unwrap(), [0; 100_000]);
            assert!(read_entry(&mut file, &all[1], 1000).is_err(), "a bomb is not unpacked");
        }
    }

    #[test]
    fn a_package_that_is_cut_anywhere_is_an_error_and_no_panic() {
        let bytes = package(&[("a", b"one"), ("b", b"two")], true);
        for length in 0..bytes.len() {
            assert!(entries(&mut Cursor::new(&bytes[..length])).is_err());
        }
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 0xff;
            let mut file = Cursor::new(&wrong);
            for entry in entries(&mut file).unwrap_or_default() {
                let _ = read_entry(&mut file, &entry, 100);
            }
        }
    }
}
