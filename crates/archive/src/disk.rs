//! What makes bytes last? The one place where the archive writes to a disk and waits for it, so that tests
//! can have one that fails, forgets or is full.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

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
    fn write(&self, mut file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }
}

/// Bytes that are handed over at once.
const WRITTEN_AT_ONCE: usize = 1 << 20;

/// Writes a file on a disk from its beginning, one piece behind the other.
pub(crate) struct Placed<'a> {
    file: &'a File,
    at: u64,
    disk: &'a dyn Disk,
}

impl<'a> Placed<'a> {
    pub(crate) fn buffered(file: &'a File, disk: &'a dyn Disk) -> BufWriter<Self> {
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
