//! How are lines put in order that are more than fit into memory? In runs on disk, which are merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Bytes of lines that are in memory.
const RUN: usize = 64 << 20;

/// Lines that will be read in order.
pub struct SortedLines {
    /// Where runs are put; each with a number at its end.
    at: PathBuf,
    lines: Vec<Vec<u8>>,
    bytes: usize,
    runs: usize,
    most: usize,
}

impl SortedLines {
    /// Puts runs in files that begin with `at`.
    pub fn new(at: &Path) -> Self {
        SortedLines { at: at.to_owned(), lines: Vec::new(), bytes: 0, runs: 0, most: RUN }
    }

    /// Adds a line with its end.
    pub fn push(&mut self, line: Vec<u8>) -> io::Result<()> {
        self.bytes += line.len() + 24;
        self.lines.push(line);
        if self.bytes > self.most { self.put_aside() } else { Ok(()) }
    }

    fn run(&self, number: usize) -> PathBuf {
        let mut name = self.at.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    }

    fn put_aside(&mut self) -> io::Result<()> {
        self.lines.sort_unstable();
        let mut file = BufWriter::new(File::create(self.run(self.runs))?);
        for line in self.lines.drain(..) {
            file.write_all(&line)?;
        }
        file.flush()?;
        (self.runs, self.bytes) = (self.runs + 1, 0);
        Ok(())
    }

    /// Hands all lines to `take` in the order of their bytes; those that are there twice, once.
    pub fn read(mut self, take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.put_aside()?;
        let mut runs = Vec::new();
        for number in 0..self.runs {
            runs.push(BufReader::new(File::open(self.run(number))?));
        }
        let mut next = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            next.extend(next_line(run)?.map(|line| Reverse((line, number))));
        }
        let mut last = Vec::new();
        while let Some(Reverse((line, number))) = next.pop() {
            if line != last {
                take(&line)?;
            }
            last = line;
            next.extend(next_line(&mut runs[number])?.map(|line| Reverse((line, number))));
        }
        Ok(())
    }
}

/// Runs are of no use to anybody else.
impl Drop for SortedLines {
    fn drop(&mut self) {
        for number in 0..self.runs {
            let _ = fs::remove_file(self.run(number));
        }
    }
}

fn next_line(run: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    run.read_until(b'\n', &mut line)?;
    Ok((!line.is_empty()).then_some(line))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_in_order_and_runs_go() {
        let dir = tempfile::tempdir().unwrap();
        let mut lines = SortedLines::new(&dir.path().join("lines"));
        lines.most = 300;
        let line = |n: u32| format!("{}\n", n * 7919 % 1009).into_bytes();
        (0..1009).chain(0..50).for_each(|n| lines.push(line(n)).unwrap());
        let mut got = Vec::new();
        let take = &mut |line: &[u8]| {
            got.push(line.to_vec());
            Ok(())
        };
        lines.read(take).unwrap();
        let mut want: Vec<Vec<u8>> = (0..1009).map(line).collect();
        want.sort();
        assert_eq!(got, want);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
