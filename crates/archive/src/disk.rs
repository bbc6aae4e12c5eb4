//! What makes bytes last? The one place where the archive waits for a disk, so that tests can have
//! one that fails or forgets.

use std::fmt::Debug;
use std::fs::File;
use std::io;

/// A disk that files are on.
pub trait Disk: Debug + Send + Sync {
    /// Returns once everything in `file`, or every name in it where it is a directory, survives a
    /// power cut. After an error nobody can tell what is on disk, and asking again does not help: the
    /// operating system may have given up on those bytes.
    fn sync(&self, file: &File) -> io::Result<()>;
}

/// The disk of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }
}
