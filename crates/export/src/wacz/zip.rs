//! How is a ZIP file written whose parts are larger than memory? Entry by entry, nothing packed, with the fields of
//! ZIP64 wherever a number may not fit into 32 bits or 16.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use flate2::Crc;

/// Bytes of a local header without the name.
const LOCAL: u64 = 30;
/// Bytes of the field with long sizes in a local header.
const LONG_SIZES: u64 = 20;
/// What 32 and 16 bits say where the number stands in a ZIP64 field.
const LONG: u32 = u32::MAX;
const MANY: u16 = u16::MAX;
/// ZIP64 needs a reader of version 4.5.
const VERSION: u16 = 45;
/// The first day that ZIP knows: a package says when it was made in a file of its own.
const DATE: u16 = 0x21;

/// An entry that is written.
#[derive(Clone, Debug)]
struct Entry {
    name: String,
    /// Where its header begins.
    offset: u64,
    size: u64,
    crc: u32,
}

/// The entries of a file that is being written at its end.
#[derive(Debug, Default)]
pub(crate) struct ZipWriter {
    entries: Vec<Entry>,
}

/// The header of an entry, as it stands before its bytes. Its length depends on the name alone.
pub(crate) fn header(name: &str, size: u64, crc: u32) -> Vec<u8> {
    let mut out = Vec::new();
    push32(&mut out, 0x0403_4b50);
    push16(&mut out, VERSION);
    push16(&mut out, 0x0800);
    push16(&mut out, 0);
    push16(&mut out, 0);
    push16(&mut out, DATE);
    push32(&mut out, crc);
    push32(&mut out, LONG);
    push32(&mut out, LONG);
    push16(&mut out, u16::try_from(name.len()).unwrap_or(MANY));
    push16(&mut out, LONG_SIZES as u16);
    out.extend_from_slice(name.as_bytes());
    push16(&mut out, 1);
    push16(&mut out, 16);
    push64(&mut out, size);
    push64(&mut out, size);
    out
}

/// Bytes of the header of an entry.
pub(crate) fn header_length(name: &str) -> u64 {
    LOCAL + name.len() as u64 + LONG_SIZES
}

impl ZipWriter {
    /// Completes the header at `offset` of an entry whose `size` bytes are written.
    pub(crate) fn complete(
        &mut self,
        file: &mut File,
        offset: u64,
        name: &str,
        size: u64,
        crc: u32,
    ) -> io::Result<()> {
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(&header(name, size, crc))?;
        file.seek(SeekFrom::End(0))?;
        self.entries.push(Entry { name: name.to_owned(), offset, size, crc });
        Ok(())
    }

    /// Adds an entry at the end, and hands its bytes to `saw` as well.
    pub(crate) fn add(
        &mut self,
        file: &mut File,
        name: &str,
        content: &mut dyn Read,
        saw: &mut dyn FnMut(&[u8]),
    ) -> io::Result<u64> {
        let offset = file.seek(SeekFrom::End(0))?;
        file.write_all(&header(name, 0, 0))?;
        let (mut crc, mut size, mut piece) = (Crc::new(), 0, vec![0; 1 << 16]);
        loop {
            let read = content.read(&mut piece)?;
            if read == 0 {
                break;
            }
            crc.update(&piece[..read]);
            saw(&piece[..read]);
            file.write_all(&piece[..read])?;
            size += read as u64;
        }
        self.complete(file, offset, name, size, crc.sum())?;
        Ok(size)
    }

    /// Writes the directory, after which the file is whole.
    pub(crate) fn finish(&self, file: &mut File) -> io::Result<()> {
        let start = file.seek(SeekFrom::End(0))?;
        let mut out = Vec::new();
        for entry in &self.entries {
            push_directory_entry(entry, &mut out);
            if out.len() > 1 << 20 {
                file.write_all(&out)?;
                out.clear();
            }
        }
        file.write_all(&out)?;
        let end = file.stream_position()?;
        file.write_all(&self.end(start, end))
    }

    /// The end of the directory that lies from `start` to `end`.
    fn end(&self, start: u64, end: u64) -> Vec<u8> {
        let count = self.entries.len() as u64;
        let mut out = Vec::new();
        push32(&mut out, 0x0606_4b50);
        push64(&mut out, 44);
        push16(&mut out, VERSION);
        push16(&mut out, VERSION);
        push32(&mut out, 0);
        push32(&mut out, 0);
        push64(&mut out, count);
        push64(&mut out, count);
        push64(&mut out, end - start);
        push64(&mut out, start);
        push32(&mut out, 0x0706_4b50);
        push32(&mut out, 0);
        push64(&mut out, end);
        push32(&mut out, 1);
        push32(&mut out, 0x0605_4b50);
        push16(&mut out, 0);
        push16(&mut out, 0);
        let short_count = u16::try_from(count).unwrap_or(MANY);
        push16(&mut out, short_count);
        push16(&mut out, short_count);
        push32(&mut out, u32::try_from(end - start).unwrap_or(LONG));
        push32(&mut out, u32::try_from(start).unwrap_or(LONG));
        push16(&mut out, 0);
        out
    }
}

fn push_directory_entry(entry: &Entry, out: &mut Vec<u8>) {
    // In this order, and only those that do not fit.
    let mut long = Vec::new();
    let mut short = |number: u64| {
        u32::try_from(number).ok().filter(|short| *short != LONG).unwrap_or_else(|| {
            push64(&mut long, number);
            LONG
        })
    };
    let (size, same_size, offset) = (short(entry.size), short(entry.size), short(entry.offset));
    push32(out, 0x0201_4b50);
    push16(out, VERSION);
    push16(out, VERSION);
    push16(out, 0x0800);
    push16(out, 0);
    push16(out, 0);
    push16(out, DATE);
    push32(out, entry.crc);
    push32(out, size);
    push32(out, same_size);
    push16(out, u16::try_from(entry.name.len()).unwrap_or(MANY));
    push16(out, if long.is_empty() { 0 } else { long.len() as u16 + 4 });
    push16(out, 0);
    push16(out, 0);
    push16(out, 0);
    push32(out, 0);
    push32(out, offset);
    out.extend_from_slice(entry.name.as_bytes());
    if !long.is_empty() {
        push16(out, 1);
        push16(out, long.len() as u16);
        out.extend_from_slice(&long);
    }
}

fn push16(out: &mut Vec<u8>, number: u16) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn push32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn push64(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests {
    use super::*;

    #[test]
    fn long_offsets_and_sizes_stand_in_fields_of_their_own() {
        let entry = |offset, size| Entry { name: "a".to_owned(), offset, size, crc: 7 };
        let mut out = Vec::new();
        push_directory_entry(&entry(1, 2), &mut out);
        assert_eq!(out.len(), 46 + 1);
        out.clear();
        push_directory_entry(&entry(5 << 30, 2), &mut out);
        assert_eq!(out.len(), 46 + 1 + 12);
        assert_eq!(out[out.len() - 8..], (5_u64 << 30).to_le_bytes());
        out.clear();
        push_directory_entry(&entry(5 << 30, 6 << 30), &mut out);
        assert_eq!(out.len(), 46 + 1 + 28);
    }

    #[test]
    fn python_reads_more_entries_than_16_bits_count() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("many.zip");
        let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        let mut zip = ZipWriter::default();
        for n in 0..70_000 {
            let (name, text) = (format!("n/{n}"), n.to_string());
            zip.add(&mut file, &name, &mut text.as_bytes(), &mut |_| {}).unwrap();
        }
        zip.finish(&mut file).unwrap();
        let program = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); n = z.namelist(); \
            print(len(n), z.read('n/69999').decode(), z.read('n/0').decode())";
        let output =
            std::process::Command::new("python3").args(["-c", program]).arg(&path).output();
        // Where there is no Python, other tests read what is written here.
        let Ok(output) = output else { return };
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "70000 69999 0");
    }
}
