//! How is an index put in order that is not to be held in memory whole? In runs, which are put aside in order
//! and then read side by side.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Take, Write};
use std::path::Path;

use crate::cdx;
use crate::disk::Disk;

/// Bytes of lines that are sorted at once. The index of a full WARC file of small pages is a hundred megabytes.
const RUN: u64 = 8 << 20;

/// Files that are read at once: where there would be more runs, they are longer.
const MOST_RUNS: u64 = 128;

/// Bytes that are written at once, and that are read at once from each run.
const WRITTEN_AT_ONCE: usize = 1 << 20;
const READ_AT_ONCE: usize = 1 << 16;

/// Writes the lines of `from` to a new file at `to` in the order of their bytes, and waits until they last.
/// What is put aside meanwhile is at `aside`.
pub(crate) fn sort(from: File, aside: &Path, to: &Path, disk: &dyn Disk) -> io::Result<()> {
    sort_in_runs(from, RUN, aside, to, disk)
}

fn sort_in_runs(from: File, most: u64, aside: &Path, to: &Path, disk: &dyn Disk) -> io::Result<()> {
    let (length, mut from) = (from.metadata()?.len(), BufReader::new(from));
    if length <= most {
        let mut lines = Vec::new();
        from.read_to_end(&mut lines)?;
        return write_durably(to, &cdx::sorted(&lines), disk);
    }
    let runs = put_aside(&mut from, most.max(length / MOST_RUNS), aside, disk)?;
    let out = File::create(to)?;
    merge(runs, &mut Placed::buffered(&out, disk))?;
    disk.sync(&out)?;
    fs::remove_file(aside)
}

/// Writes lines to a new file, and waits until they last.
pub(crate) fn write_durably(path: &Path, lines: &[&[u8]], disk: &dyn Disk) -> io::Result<()> {
    let file = File::create(path)?;
    let mut out = Placed::buffered(&file, disk);
    lines.iter().try_for_each(|line| out.write_all(line))?;
    out.flush()?;
    disk.sync(&file)
}

/// Sorts as many lines as may be held, and again until there are none left. Returns where each run is.
fn put_aside(
    from: &mut impl BufRead,
    most: u64,
    aside: &Path,
    disk: &dyn Disk,
) -> io::Result<Vec<Run>> {
    let (file, mut lines, mut ends) = (File::create(aside)?, Vec::new(), vec![0]);
    let mut out = Placed::buffered(&file, disk);
    while take_lines(from, most, &mut lines)? {
        cdx::sorted(&lines).iter().try_for_each(|line| out.write_all(line))?;
        ends.push(ends[ends.len() - 1] + lines.len() as u64);
    }
    out.flush()?;
    ends.windows(2).map(|ends| Run::open(aside, ends[0], ends[1])).collect()
}

/// Takes so many bytes and the rest of their last line; false where there are none left.
fn take_lines(from: &mut impl BufRead, most: u64, lines: &mut Vec<u8>) -> io::Result<bool> {
    lines.clear();
    from.take(most).read_to_end(lines)?;
    from.read_until(b'\n', lines)?;
    Ok(!lines.is_empty())
}

/// Writes the lines of all runs, the least of them first.
fn merge(runs: Vec<Run>, out: &mut impl Write) -> io::Result<()> {
    let mut runs: BinaryHeap<Reverse<Run>> = runs.into_iter().map(Reverse).collect();
    while let Some(mut least) = runs.peek_mut() {
        out.write_all(&least.0.line)?;
        if !least.0.go_on()? {
            PeekMut::pop(least);
        }
    }
    out.flush()
}

/// Lines in order, of which the first is at hand.
struct Run {
    line: Vec<u8>,
    rest: BufReader<Take<File>>,
}

impl Run {
    fn open(path: &Path, start: u64, end: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(start))?;
        let rest = BufReader::with_capacity(READ_AT_ONCE, file.take(end - start));
        let mut run = Run { line: Vec::new(), rest };
        run.go_on()?;
        Ok(run)
    }

    /// Goes on to the next line; false where there is none.
    fn go_on(&mut self) -> io::Result<bool> {
        self.line.clear();
        Ok(self.rest.read_until(b'\n', &mut self.line)? > 0)
    }
}

impl Ord for Run {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.line.cmp(&other.line)
    }
}

impl PartialOrd for Run {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Run {
    fn eq(&self, other: &Self) -> bool {
        self.line == other.line
    }
}

impl Eq for Run {}

/// Writes to a file on a disk, one piece behind the other.
struct Placed<'a> {
    file: &'a File,
    at: u64,
    disk: &'a dyn Disk,
}

impl<'a> Placed<'a> {
    fn buffered(file: &'a File, disk: &'a dyn Disk) -> BufWriter<Self> {
        BufWriter::with_capacity(WRITTEN_AT_ONCE, Placed { file, at: 0, disk })
    }
}

impl Write for Placed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write(self.file, bytes, self.at)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::disk::RealDisk;

    proptest! {
        /// However many runs it takes: what comes out is what went in, in order.
        #[test]
        fn lines_come_out_in_order(
            mut lines in proptest::collection::vec("[a-c,) ]{0,9}\n", 0..60),
            most in 1u64..200,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let [from, aside, to] = ["from", "aside", "to"].map(|name| dir.path().join(name));
            fs::write(&from, lines.concat()).unwrap();
            sort_in_runs(File::open(&from).unwrap(), most, &aside, &to, &RealDisk).unwrap();
            lines.sort();
            prop_assert_eq!(fs::read_to_string(&to).unwrap(), lines.concat());
            prop_assert!(!aside.exists());
        }
    }
}
