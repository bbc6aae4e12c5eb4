//! How are segments kept in memory? As files are: what a power cut takes from a directory it takes from here.
//! Tests and simulations use this, and hold the files against it.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{SegmentId, SegmentStore, Stage};
use crate::error::WriteError;

/// Segments that are gone with the process.
#[derive(Debug, Default)]
pub struct MemorySegments {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    segments: Names,
    /// What a power cut leaves of them.
    lasting: Names,
    /// A segment was created since the names were last made to last.
    is_created: bool,
    /// What was set aside, by the place's name.
    aside: BTreeMap<String, Names>,
}

type Names = BTreeMap<SegmentId, Arc<Mutex<Content>>>;

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    /// How many of them last.
    synced: usize,
}

impl MemorySegments {
    /// No segments.
    pub fn new() -> Self {
        Self::default()
    }

    /// The power goes: what was not synced is gone.
    pub fn lose_power(&self) {
        let mut inner = self.lock();
        inner.segments = inner.lasting.clone();
        inner.is_created = false;
        for content in inner.segments.values() {
            let mut content = lock(content);
            let synced = content.synced;
            content.bytes.truncate(synced);
        }
    }

    /// The segments that were set aside to a place.
    pub fn list_aside(&self, aside: &str) -> Vec<SegmentId> {
        let inner = self.lock();
        inner.aside.get(aside).into_iter().flat_map(|names| names.keys().cloned()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }
}

impl Inner {
    fn find(&self, segment: &SegmentId) -> Option<MutexGuard<'_, Content>> {
        self.segments.get(segment).map(|content| lock(content))
    }

    fn growing(
        &self,
        doing: &'static str,
        name: &str,
    ) -> Result<MutexGuard<'_, Content>, WriteError> {
        let segment = SegmentId::growing(name);
        let missing = || {
            let path = PathBuf::from(segment.to_string());
            WriteError::io(doing, &path)(io::ErrorKind::NotFound.into())
        };
        self.find(&segment).ok_or_else(missing)
    }

    fn sync_names(&mut self) {
        self.lasting = self.segments.clone();
        self.is_created = false;
    }
}

impl SegmentStore for MemorySegments {
    fn create(&self, name: &str) -> Result<(), WriteError> {
        let mut inner = self.lock();
        inner.segments.insert(SegmentId::growing(name), Arc::default());
        inner.is_created = true;
        Ok(())
    }

    fn append(&self, name: &str, offset: u64, bytes: &[u8]) -> Result<(), WriteError> {
        let inner = self.lock();
        let mut content = inner.growing("write", name)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(bytes.len()).max(content.bytes.len());
        content.bytes.resize(end, 0);
        content.bytes[start..start + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn sync(&self, name: &str) -> Result<(), WriteError> {
        let mut inner = self.lock();
        inner.growing("sync", name)?.sync();
        if inner.is_created {
            inner.sync_names();
        }
        Ok(())
    }

    fn cut(&self, name: &str, length: u64) -> Result<Option<u64>, WriteError> {
        let inner = self.lock();
        let lost = |segment: SegmentId, found| WriteError::Lost {
            path: PathBuf::from(segment.to_string()),
            found,
            committed: length,
        };
        let (growing, sealed) = (SegmentId::growing(name), SegmentId::sealed(name));
        let Some(mut content) = inner.find(&growing) else {
            let found = inner.find(&sealed).map_or(0, |content| content.bytes.len() as u64);
            return if found < length { Err(lost(sealed, found)) } else { Ok(None) };
        };
        let found = content.bytes.len() as u64;
        if found < length {
            return Err(lost(growing, found));
        }
        if found > length {
            content.bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
            content.sync();
        }
        Ok(Some(found - length))
    }

    fn seal(&self, name: &str, sealed: &str) -> Result<(), WriteError> {
        let mut inner = self.lock();
        let sealed = SegmentId::sealed(sealed);
        match inner.segments.remove(&SegmentId::growing(name)) {
            Some(content) => {
                lock(&content).sync();
                inner.segments.insert(sealed, content);
            }
            None if inner.segments.contains_key(&sealed) => {}
            None => return inner.growing("open", name).map(|_| ()),
        }
        inner.sync_names();
        Ok(())
    }

    fn read(&self, segment: &SegmentId, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let inner = self.lock();
        let content = inner.find(segment).ok_or(io::ErrorKind::NotFound)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = content.bytes.get(start..).unwrap_or_default();
        let length = bytes.len().min(into.len());
        into[..length].copy_from_slice(&bytes[..length]);
        Ok(length)
    }

    fn list(&self) -> io::Result<Vec<(SegmentId, u64)>> {
        let inner = self.lock();
        let length = |content: &Arc<Mutex<Content>>| lock(content).bytes.len() as u64;
        Ok(inner.segments.iter().map(|(id, content)| (id.clone(), length(content))).collect())
    }

    fn remove(&self, segment: &SegmentId) -> Result<(), WriteError> {
        let mut inner = self.lock();
        inner.segments.remove(segment);
        if segment.stage == Stage::Sealed {
            inner.sync_names();
        }
        Ok(())
    }

    fn set_aside(&self, segment: &SegmentId, aside: &str) -> Result<(), WriteError> {
        let mut inner = self.lock();
        if let Some(content) = inner.segments.remove(segment) {
            inner.aside.entry(aside.to_owned()).or_default().insert(segment.clone(), content);
        }
        Ok(())
    }
}

impl Content {
    fn sync(&mut self) {
        self.synced = self.bytes.len();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
