//! Where is an archive that nobody will read? In files that are gone when the run is over.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use evercrawl_archive::{Disk, FileSegments, RealDisk};

/// A directory that is gone when it is dropped.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new() -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("evercrawl-lab-live-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Scratch(path))
    }

    pub(super) fn segments(&self) -> Arc<FileSegments> {
        Arc::new(FileSegments::on(Arc::new(Unsynced), &self.0))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A disk that nobody waits for: a year of commits would be an hour of syncs, for files that no power cut
/// is to survive.
#[derive(Debug)]
struct Unsynced;

impl Disk for Unsynced {
    fn write(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        RealDisk.write(file, bytes, offset)
    }

    fn sync(&self, _: &File) -> io::Result<()> {
        Ok(())
    }
}
