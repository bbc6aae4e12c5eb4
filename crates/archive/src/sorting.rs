//! How is an index put in order that is not to be held in memory whole? In runs, which are put aside in order
//! and then read side by side.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take, Write};
use std::path::Path;

use crate::cdx;
use crate::disk::{Disk, Placed};

/// Bytes of lines that are sorted at once. The index of a full WARC file of small pages is a hundred megabytes.
const RUN: u64 = 8 << 20;

/// Files that are read at once: where there would be more runs, they are longer.
const MOST_RUNS: u64 = 128;

/// Bytes that are read at once from each run.
const READ_AT_ONCE: usize = 1 << 16;

/// Writes the lines of `from` to a new file at `to` in the order of their bytes, and waits until they last.
/// What is put aside meanwhile is at `aside`.
pub(crate) fn sort(from: File, aside: &Path, to: &Path, disk: &dyn Disk) -> io::Result<()> {
    sort_in_runs(from, RUN, aside, to, disk)
}

fn sort_in_runs(from: File, most: u64, aside: &Path, to: &Path, disk: &dyn Disk) -> io::Result<()> {
    let (length, mut from, file) =
        (from.metadata()?.len(), BufReader::new(from), File::create(to)?);
    let mut out = Placed::buffered(&file, disk);
    if length <= most {
        write_run(&mut from, most, &mut Vec::new(), &mut out)?;
    } else {
        let runs = put_aside(&mut from, most.max(length / MOST_RUNS), aside, disk)?;
        merge(runs, &mut out)?;
        fs::remove_file(aside)?;
    }
    out.flush()?;
    disk.sync(&file)
}

/// Lines in order, put aside.
type Run = BufReader<Take<File>>;

/// Puts as many lines in order as may be held, and again until there are none left.
fn put_aside(
    from: &mut impl BufRead,
    most: u64,
    aside: &Path,
    disk: &dyn Disk,
) -> io::Result<Vec<Run>> {
    let (file, mut lines, mut ends) = (File::create(aside)?, Vec::new(), vec![0]);
    let mut out = Placed::buffered(&file, disk);
    while write_run(from, most, &mut lines, &mut out)? {
        ends.push(ends[ends.len() - 1] + lines.len() as u64);
    }
    out.flush()?;
    ends.windows(2).map(|ends| open_run(aside, ends[0], ends[1])).collect()
}

/// Takes so many bytes and the rest of their last line into `lines`, and writes them in order; false where there are
/// none left.
fn write_run(
    from: &mut impl BufRead,
    most: u64,
    lines: &mut Vec<u8>,
    out: &mut impl Write,
) -> io::Result<bool> {
    lines.clear();
    from.take(most).read_to_end(lines)?;
    from.read_until(b'\n', lines)?;
    cdx::sorted(lines).iter().try_for_each(|line| out.write_all(line))?;
    Ok(!lines.is_empty())
}

fn open_run(path: &Path, start: u64, end: u64) -> io::Result<Run> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(start))?;
    Ok(BufReader::with_capacity(READ_AT_ONCE, file.take(end - start)))
}

/// Writes the lines of all runs, the least of them first.
fn merge(mut runs: Vec<Run>, out: &mut impl Write) -> io::Result<()> {
    // The next line of each run that has one, with the run's number.
    let mut heads = BinaryHeap::with_capacity(runs.len());
    for (number, run) in runs.iter_mut().enumerate() {
        let mut line = Vec::new();
        run.read_until(b'\n', &mut line)?;
        heads.push(Reverse((line, number)));
    }
    while let Some(mut least) = heads.peek_mut() {
        let Reverse((line, number)) = &mut *least;
        out.write_all(line)?;
        line.clear();
        if runs[*number].read_until(b'\n', line)? == 0 {
            PeekMut::pop(least);
        }
    }
    Ok(())
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
