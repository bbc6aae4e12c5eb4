//! How is a segment read from one end to the other? A piece at a time, even if it is sealed meanwhile.

use std::io::{self, BufRead, Read};

use super::{SegmentId, SegmentStore, Stage};

/// Bytes that are read at once.
const AT_ONCE: usize = 1 << 16;

/// Reads a segment from some place on.
pub(crate) struct SegmentReader<'a> {
    segments: &'a dyn SegmentStore,
    segment: SegmentId,
    /// Where in the segment the buffer begins.
    start: u64,
    buffer: Vec<u8>,
    /// How much of the buffer was taken.
    taken: usize,
    at_once: usize,
}

impl<'a> SegmentReader<'a> {
    /// Reads from the beginning.
    pub(crate) fn new(segments: &'a dyn SegmentStore, segment: SegmentId) -> Self {
        let buffer = Vec::new();
        SegmentReader { segments, segment, start: 0, buffer, taken: 0, at_once: AT_ONCE }
    }

    /// Reads `length` bytes from `offset` on.
    pub(crate) fn range(
        segments: &'a dyn SegmentStore,
        segment: SegmentId,
        offset: u64,
        length: u64,
    ) -> io::Take<Self> {
        let at_once = usize::try_from(length).unwrap_or(AT_ONCE).clamp(1, AT_ONCE);
        let reader = SegmentReader { start: offset, at_once, ..Self::new(segments, segment) };
        reader.take(length)
    }

    /// Reads from `offset` on, `at_once` bytes at a time.
    pub(crate) fn in_pieces(
        segments: &'a dyn SegmentStore,
        segment: SegmentId,
        offset: u64,
        at_once: usize,
    ) -> Self {
        SegmentReader { start: offset, at_once, ..Self::new(segments, segment) }
    }

    /// Where in the segment the next byte is.
    pub(crate) fn offset(&self) -> u64 {
        self.start + self.taken as u64
    }

    /// Goes to another place.
    pub(crate) fn go_to(&mut self, offset: u64) {
        let into = offset.checked_sub(self.start).and_then(|into| usize::try_from(into).ok());
        match into.filter(|into| *into <= self.buffer.len()) {
            Some(into) => self.taken = into,
            None => {
                self.buffer.clear();
                (self.start, self.taken) = (offset, 0);
            }
        }
    }

    fn read_more(&mut self) -> io::Result<()> {
        let offset = self.offset();
        self.buffer.resize(self.at_once, 0);
        let read = match self.segments.read(&self.segment, offset, &mut self.buffer) {
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    && self.segment.stage == Stage::Growing =>
            {
                self.segment.stage = Stage::Sealed;
                self.segments.read(&self.segment, offset, &mut self.buffer)
            }
            read => read,
        };
        self.buffer.truncate(*read.as_ref().unwrap_or(&0));
        (self.start, self.taken) = (offset, 0);
        read.map(|_| ())
    }
}

impl BufRead for SegmentReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken == self.buffer.len() {
            self.read_more()?;
        }
        Ok(&self.buffer[self.taken..])
    }

    fn consume(&mut self, amount: usize) {
        self.taken = self.buffer.len().min(self.taken + amount);
    }
}

impl Read for SegmentReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

/// True of errors that say that the store cannot be read, and nothing of what is in it.
pub(crate) fn is_of_the_store(error: &io::Error) -> bool {
    error.raw_os_error().is_some() || error.kind() == io::ErrorKind::NotFound
}
