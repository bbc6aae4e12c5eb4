//! What makes the bytes of files last? The one place where segments that are files write to a disk and wait for
//! it, so that tests can have one that fails, forgets or is full.

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A disk that files are on.
pub trait Disk: Debug + Send + Sync {
    /// Hands `bytes` to the operating system, to be at `offset` of `file`. After an error any part of them
    /// may be there.
    fn write(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Returns once everything in `file`, or every name in it where it is a directory, survives a
    /// power cut. After an error nobody can tell what is on disk, and asking again does not help: the
    /// operating system may have given up on those bytes.
    fn sync(&self, file: &File) -> io::Result<()>;
}

/// The disk of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn write(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_all_at(bytes, offset)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }
}
