//! How are segments kept as files? `NAME.open` grows, `NAME` is sealed. A segment's file is on disk before it
//! gets its final name, and the name is on disk before anybody relies on it.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Disk, GROWING, RealDisk, SegmentId, SegmentStore, Stage};
use crate::error::WriteError;

/// Segments that are files in one directory.
#[derive(Debug)]
pub struct FileSegments {
    dir: PathBuf,
    disk: Arc<dyn Disk>,
    /// The files of segments that grow here, so that no append has to open one.
    growing: Mutex<HashMap<String, Arc<File>>>,
    /// Files that were made, and how many of them had been when the directory was last synced.
    made: AtomicU64,
    made_when_synced: AtomicU64,
}

impl FileSegments {
    /// The segments in `dir`, on this machine's disk. The directory is made for the first segment.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self::on(Arc::new(RealDisk), dir)
    }

    /// The segments in `dir`, which is on `disk`.
    pub fn on(disk: Arc<dyn Disk>, dir: impl Into<PathBuf>) -> Self {
        let (made, made_when_synced) = <(AtomicU64, AtomicU64)>::default();
        FileSegments { dir: dir.into(), disk, growing: Mutex::default(), made, made_when_synced }
    }

    fn path(&self, segment: &SegmentId) -> PathBuf {
        self.dir.join(segment.to_string())
    }

    fn open_files(&self) -> MutexGuard<'_, HashMap<String, Arc<File>>> {
        self.growing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file of a growing segment, to be written.
    fn growing_file(&self, name: &str) -> io::Result<Arc<File>> {
        if let Some(file) = self.open_files().get(name) {
            return Ok(Arc::clone(file));
        }
        let path = self.path(&SegmentId::growing(name));
        let file = Arc::new(File::options().read(true).write(true).open(path)?);
        self.open_files().insert(name.to_owned(), Arc::clone(&file));
        Ok(file)
    }

    /// The file of a segment, to be read.
    fn file_to_read(&self, segment: &SegmentId) -> io::Result<Arc<File>> {
        if segment.stage == Stage::Growing
            && let Some(file) = self.open_files().get(&segment.name)
        {
            return Ok(Arc::clone(file));
        }
        Ok(Arc::new(File::open(self.path(segment))?))
    }

    /// Makes what happened to names survive a power cut.
    fn sync_names(&self) -> Result<(), WriteError> {
        let made = self.made.load(Ordering::Relaxed);
        let synced = File::open(&self.dir).and_then(|dir| self.disk.sync(&dir));
        synced.map_err(WriteError::io("sync", &self.dir))?;
        self.made_when_synced.fetch_max(made, Ordering::Relaxed);
        Ok(())
    }

    fn length(&self, segment: &SegmentId) -> u64 {
        fs::metadata(self.path(segment)).map_or(0, |meta| meta.len())
    }
}

impl SegmentStore for FileSegments {
    fn create(&self, name: &str) -> Result<(), WriteError> {
        let segment = SegmentId::growing(name);
        remove_file(&self.path(&segment))?;
        let path = self.path(&segment);
        fs::create_dir_all(&self.dir).map_err(WriteError::io("create", &self.dir))?;
        let file = File::options().read(true).write(true).create_new(true).open(&path);
        let file = Arc::new(file.map_err(WriteError::io("create", &path))?);
        self.open_files().insert(segment.name, file);
        self.made.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn append(&self, name: &str, offset: u64, bytes: &[u8]) -> Result<(), WriteError> {
        let written = self.growing_file(name).and_then(|f| self.disk.write(&f, bytes, offset));
        written
            .map_err(|error| WriteError::io("write", &self.path(&SegmentId::growing(name)))(error))
    }

    fn sync(&self, name: &str) -> Result<(), WriteError> {
        let synced = self.growing_file(name).and_then(|file| self.disk.sync(&file));
        let path = || self.path(&SegmentId::growing(name));
        synced.map_err(|error| WriteError::io("sync", &path())(error))?;
        let made = self.made.load(Ordering::Relaxed);
        match made > self.made_when_synced.load(Ordering::Relaxed) {
            true => self.sync_names(),
            false => Ok(()),
        }
    }

    fn cut(&self, name: &str, length: u64) -> Result<Option<u64>, WriteError> {
        let (growing, sealed) = (SegmentId::growing(name), SegmentId::sealed(name));
        let lost = |path, found| WriteError::Lost { path, found, committed: length };
        let path = self.path(&growing);
        let file = match self.growing_file(name) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let found = self.length(&sealed);
                let is_whole = found >= length;
                return is_whole.then_some(None).ok_or_else(|| lost(self.path(&sealed), found));
            }
            Err(error) => return Err(WriteError::io("open", &path)(error)),
        };
        let found = file.metadata().map_err(WriteError::io("examine", &path))?.len();
        if found < length {
            return Err(lost(path, found));
        }
        if found > length {
            let cut = file.set_len(length).and_then(|()| self.disk.sync(&file));
            cut.map_err(WriteError::io("cut", &path))?;
        }
        Ok(Some(found - length))
    }

    fn seal(&self, name: &str, sealed: &str) -> Result<(), WriteError> {
        let (from, to) =
            (self.path(&SegmentId::growing(name)), self.path(&SegmentId::sealed(sealed)));
        match self.growing_file(name) {
            Ok(file) => {
                self.disk.sync(&file).map_err(WriteError::io("sync", &from))?;
                fs::rename(&from, &to).map_err(WriteError::io("rename", &from))?;
                self.open_files().remove(name);
            }
            // It has its final name, but the process that renamed it may have ended before the name was on disk.
            Err(error) if error.kind() == io::ErrorKind::NotFound && to.exists() => {}
            Err(error) => return Err(WriteError::io("open", &from)(error)),
        }
        self.sync_names()
    }

    fn read(&self, segment: &SegmentId, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let file = self.file_to_read(segment)?;
        let mut read = 0;
        while read < into.len() {
            match file.read_at(&mut into[read..], offset + read as u64) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    fn list(&self) -> io::Result<Vec<(SegmentId, u64)>> {
        let mut segments = Vec::new();
        let entries = match fs::read_dir(&self.dir) {
            // It is made for the first segment.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(segments),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let length = match entry.metadata() {
                Ok(about) => about.len(),
                // It was sealed or removed meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let file = entry.file_name().to_string_lossy().into_owned();
            let segment = match file.strip_suffix(GROWING) {
                Some(name) => SegmentId::growing(name),
                None => SegmentId::sealed(file),
            };
            segments.push((segment, length));
        }
        segments.sort_unstable();
        Ok(segments)
    }

    fn remove(&self, segment: &SegmentId) -> Result<(), WriteError> {
        remove_file(&self.path(segment))?;
        match segment.stage {
            Stage::Growing => {
                self.open_files().remove(&segment.name);
                Ok(())
            }
            Stage::Sealed => self.sync_names(),
        }
    }

    fn set_aside(&self, segment: &SegmentId, aside: &str) -> Result<(), WriteError> {
        let from = self.path(segment);
        if !from.exists() {
            return Ok(());
        }
        let aside = self.dir.with_file_name(aside);
        fs::create_dir_all(&aside).map_err(WriteError::io("create", &aside))?;
        let to = aside.join(segment.to_string());
        fs::rename(&from, to).map_err(WriteError::io("move aside", &from))?;
        self.open_files().remove(&segment.name);
        Ok(())
    }
}

/// Removes a file, if it is there.
fn remove_file(path: &Path) -> Result<(), WriteError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(WriteError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
