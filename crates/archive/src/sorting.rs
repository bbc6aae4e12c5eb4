//! How is an index put in order that is not to be held in memory whole? In runs, which are put aside in order
//! and then read side by side.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io::{self, BufRead, Read, Take};
use std::path::Path;
use std::sync::Arc;

use crate::cdx;
use crate::error::WriteError;
use crate::segments::{GrowingSegment, SegmentId, SegmentReader, SegmentStore};

/// Bytes of lines that are sorted at once. The index of a full WARC file of small pages is a hundred megabytes.
const RUN: u64 = 8 << 20;

/// Runs that are read at once: where there would be more, they are longer.
const MOST_RUNS: u64 = 128;

/// Writes the lines of the segment `from`, which grew to `length` bytes, to a new one called `to` in the order
/// of their bytes. What is put aside meanwhile is in one called `aside`.
pub(crate) fn sort(
    segments: &Arc<dyn SegmentStore>,
    from: &str,
    length: u64,
    aside: String,
    to: &str,
) -> Result<(), WriteError> {
    let sorting = Sorting { segments, from, length, most: RUN };
    sorting.run(aside, to)
}

struct Sorting<'a> {
    segments: &'a Arc<dyn SegmentStore>,
    from: &'a str,
    length: u64,
    /// Bytes that are sorted at once.
    most: u64,
}

/// Lines in order, put aside.
type Run<'a> = Take<SegmentReader<'a>>;

impl<'a> Sorting<'a> {
    fn run(&self, aside: String, to: &str) -> Result<(), WriteError> {
        let mut out = GrowingSegment::create(Arc::clone(self.segments), to.to_owned())?;
        let mut from = self.range(self.from, 0, self.length);
        if self.length <= self.most {
            self.write_run(&mut from, self.most, &mut Vec::new(), &mut out)?;
        } else {
            let most = self.most.max(self.length / MOST_RUNS);
            let runs = self.put_aside(&mut from, most, &aside)?;
            self.merge(runs, &mut out)?;
            self.segments.remove(&SegmentId::growing(aside))?;
        }
        out.flush()
    }

    fn range(&self, name: &str, start: u64, end: u64) -> Run<'a> {
        SegmentReader::range(&**self.segments, SegmentId::growing(name), start, end - start)
    }

    /// Puts as many lines in order as may be held, and again until there are none left.
    fn put_aside(
        &self,
        from: &mut impl BufRead,
        most: u64,
        aside: &str,
    ) -> Result<Vec<Run<'a>>, WriteError> {
        let mut out = GrowingSegment::create(Arc::clone(self.segments), aside.to_owned())?;
        let (mut lines, mut ends) = (Vec::new(), vec![0]);
        while self.write_run(from, most, &mut lines, &mut out)? {
            ends.push(out.len());
        }
        out.flush()?;
        Ok(ends.windows(2).map(|ends| self.range(aside, ends[0], ends[1])).collect())
    }

    /// Takes so many bytes and the rest of their last line into `lines`, and writes them in order; false where
    /// there are none left.
    fn write_run(
        &self,
        from: &mut impl BufRead,
        most: u64,
        lines: &mut Vec<u8>,
        out: &mut GrowingSegment,
    ) -> Result<bool, WriteError> {
        lines.clear();
        let read = from.take(most).read_to_end(lines);
        let read = read.and_then(|_| from.read_until(b'\n', lines));
        read.map_err(|error| self.unread(error))?;
        cdx::sorted(lines).iter().try_for_each(|line| out.write(line))?;
        Ok(!lines.is_empty())
    }

    /// Writes the lines of all runs, the least of them first.
    fn merge(&self, mut runs: Vec<Run<'_>>, out: &mut GrowingSegment) -> Result<(), WriteError> {
        // The next line of each run that has one, with the run's number.
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for (number, run) in runs.iter_mut().enumerate() {
            let mut line = Vec::new();
            run.read_until(b'\n', &mut line).map_err(|error| self.unread(error))?;
            heads.push(Reverse((line, number)));
        }
        while let Some(mut least) = heads.peek_mut() {
            let Reverse((line, number)) = &mut *least;
            out.write(line)?;
            line.clear();
            let read = runs[*number].read_until(b'\n', line);
            if read.map_err(|error| self.unread(error))? == 0 {
                PeekMut::pop(least);
            }
        }
        Ok(())
    }

    fn unread(&self, error: io::Error) -> WriteError {
        WriteError::io("sort", Path::new(self.from))(error)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::segments::{MemorySegments, read_all};

    proptest! {
        /// However many runs it takes: what comes out is what went in, in order.
        #[test]
        fn lines_come_out_in_order(
            mut lines in proptest::collection::vec("[a-c,) ]{0,9}\n", 0..60),
            most in 1u64..200,
        ) {
            let segments: Arc<dyn SegmentStore> = Arc::new(MemorySegments::new());
            let text = lines.concat();
            segments.create("from").unwrap();
            segments.append("from", 0, text.as_bytes()).unwrap();
            let length = text.len() as u64;
            let sorting = Sorting { segments: &segments, from: "from", length, most };
            sorting.run("aside".to_owned(), "to").unwrap();
            lines.sort();
            let sorted = read_all(&*segments, &SegmentId::growing("to")).unwrap();
            prop_assert_eq!(String::from_utf8(sorted).unwrap(), lines.concat());
            prop_assert_eq!(segments.list().unwrap().len(), 2, "nothing is left aside");
        }
    }
}
