//! How are many small pieces appended to a segment? Together, once there are enough of them.

use std::sync::Arc;

use super::SegmentStore;
use crate::error::WriteError;

/// Bytes after which [`GrowingSegment::write`] hands over what it has.
const AT_ONCE: usize = 1 << 20;

/// A segment that grows. What could not be written stays in memory and is tried again at the same place, so a
/// full disk leaves no half-written record behind once there is space.
pub(crate) struct GrowingSegment {
    segments: Arc<dyn SegmentStore>,
    name: String,
    written: u64,
    pending: Vec<u8>,
}

impl GrowingSegment {
    /// Creates a segment with nothing in it.
    pub(crate) fn create(
        segments: Arc<dyn SegmentStore>,
        name: String,
    ) -> Result<Self, WriteError> {
        segments.create(&name)?;
        Ok(GrowingSegment { segments, name, written: 0, pending: Vec::new() })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// How long it is, with what is still in memory.
    pub(crate) fn len(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    /// What is still in memory, to be added to.
    pub(crate) fn pending(&mut self) -> &mut Vec<u8> {
        &mut self.pending
    }

    /// Adds bytes, and hands them over where there are many.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() < AT_ONCE { Ok(()) } else { self.flush() }
    }

    /// Hands over what is in memory.
    pub(crate) fn flush(&mut self) -> Result<(), WriteError> {
        self.segments.append(&self.name, self.written, &self.pending)?;
        self.written = self.len();
        self.pending.clear();
        Ok(())
    }
}
