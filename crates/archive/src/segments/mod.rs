//! What does the archive ask of the place that keeps its bytes? Segments: each grows at its end, is sealed
//! once, and never changes after that.
//!
//! Everything that reads, writes, mends or removes archived bytes does it through [`SegmentStore`]. There are
//! two implementations: [`FileSegments`], a directory, and [`MemorySegments`], which is gone with the process
//! and says what must hold of the other.
//!
//! Nothing here needs a rename, or a write into what was sealed. So an object store can keep sealed segments
//! as objects, and growing ones on a local disk.

mod disk;
mod file;
mod memory;
mod reader;
mod writer;

use std::fmt;
use std::io;

pub use disk::{Disk, RealDisk};
pub use file::FileSegments;
pub use memory::MemorySegments;
pub(crate) use reader::{SegmentReader, is_of_the_store};
pub(crate) use writer::GrowingSegment;

use crate::error::WriteError;

/// Whether a segment still grows. A segment of either kind may have the other's name: an index that grows in
/// the order of records, and the sorted one that takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Bytes are appended to it.
    Growing,
    /// It never changes.
    Sealed,
}

/// What a segment is known by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId {
    /// Its name, which is the same while it grows and after.
    pub name: String,
    /// Whether it grows.
    pub stage: Stage,
}

impl SegmentId {
    /// The growing segment with a name.
    pub fn growing(name: impl Into<String>) -> Self {
        SegmentId { name: name.into(), stage: Stage::Growing }
    }

    /// The sealed segment with a name.
    pub fn sealed(name: impl Into<String>) -> Self {
        SegmentId { name: name.into(), stage: Stage::Sealed }
    }
}

/// What the name of a growing segment's file ends with.
const GROWING: &str = ".open";

/// As the segment's file is called.
impl fmt::Display for SegmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.stage == Stage::Growing { GROWING } else { "" };
        write!(f, "{}{end}", self.name)
    }
}

/// Where segments are kept. One process alone writes; any number of threads may read meanwhile.
pub trait SegmentStore: fmt::Debug + Send + Sync {
    /// Begins an empty growing segment, in place of one that grew under this name. A power cut may take it
    /// until [`sync`](Self::sync).
    fn create(&self, name: &str) -> Result<(), WriteError>;

    /// Writes `bytes` at `offset` of a growing segment, which is where it ends; or where an append began that
    /// failed. After an error any part of `bytes` may be there.
    fn append(&self, name: &str, offset: u64, bytes: &[u8]) -> Result<(), WriteError>;

    /// Returns once the growing segment and all its bytes survive a power cut. After an error nobody can tell
    /// what does, and another try does not help.
    fn sync(&self, name: &str) -> Result<(), WriteError>;

    /// Cuts a growing segment to `length` bytes and says how many it cut off; the cut survives a power cut.
    /// `None` where the segment does not grow any more. [`WriteError::Lost`] where it has fewer bytes, sealed
    /// or not, or is not there at all.
    fn cut(&self, name: &str, length: u64) -> Result<Option<u64>, WriteError>;

    /// Closes a growing segment for good, under the name `sealed`: all of it at once, in place of what was
    /// sealed under that name. All of this survives a power cut. Where nothing grows under `name`, what is
    /// sealed must survive one.
    fn seal(&self, name: &str, sealed: &str) -> Result<(), WriteError>;

    /// Fills `into` with the bytes from `offset` on; says how many there were, which is fewer only where the
    /// segment ends. An error of the kind [`io::ErrorKind::NotFound`] where there is no such segment.
    fn read(&self, segment: &SegmentId, offset: u64, into: &mut [u8]) -> io::Result<usize>;

    /// All segments with their lengths, in the order of their names.
    fn list(&self) -> io::Result<Vec<(SegmentId, u64)>>;

    /// Removes a segment, if it is there. A sealed one does not come back after a power cut; a growing one may.
    fn remove(&self, segment: &SegmentId) -> Result<(), WriteError>;

    /// Takes a segment away, if it is there, to a place called `aside` where a user can look at it.
    fn set_aside(&self, segment: &SegmentId, aside: &str) -> Result<(), WriteError>;
}

/// Reads a segment whole.
pub(crate) fn read_all(segments: &dyn SegmentStore, segment: &SegmentId) -> io::Result<Vec<u8>> {
    let (mut reader, mut bytes) = (SegmentReader::new(segments, segment.clone()), Vec::new());
    io::Read::read_to_end(&mut reader, &mut bytes)?;
    Ok(bytes)
}
