//! What was asked, when, and until when? One JSON line a request, written behind the requests' back.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// One request. Both ends are kept, so that overlaps and gaps can be seen.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LogLine<'a> {
    #[serde(borrow)]
    pub(crate) host: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) path: Cow<'a, str>,
    /// 0 when there was no answer.
    pub(crate) status: u16,
    /// When the request was complete, in Unix microseconds.
    pub(crate) start_us: u64,
    /// When the last byte of the answer was handed over, or the exchange broke off.
    pub(crate) end_us: u64,
    #[serde(borrow)]
    pub(crate) agent: Cow<'a, str>,
    pub(crate) conditional: bool,
    /// Bytes of the body that were sent.
    pub(crate) bytes: u64,
}

/// A log whose lines gather in memory and reach the file within a moment.
#[derive(Debug)]
pub(crate) struct AccessLog {
    path: PathBuf,
    pending: Arc<Pending>,
    writer: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

#[derive(Debug, Default)]
struct Pending {
    lines: Mutex<Lines>,
    closing: Condvar,
}

#[derive(Debug, Default)]
struct Lines {
    bytes: Vec<u8>,
    closed: bool,
}

impl AccessLog {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let file = File::create(path)?;
        let pending = Arc::new(Pending::default());
        let writing = Arc::clone(&pending);
        let writer = std::thread::Builder::new()
            .name("testweb-log".to_owned())
            .spawn(move || writing.drain(file))?;
        Ok(AccessLog { path: path.to_owned(), pending, writer: Mutex::new(Some(writer)) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn record(&self, line: &LogLine<'_>) {
        let mut lines = self.pending.lock();
        // Writing to memory cannot fail, and a line has nothing that JSON cannot say.
        let _ = serde_json::to_writer(&mut lines.bytes, line);
        lines.bytes.push(b'\n');
    }

    /// Writes the rest and reports whether all of the log was written.
    pub(crate) fn close(&self) -> io::Result<()> {
        self.pending.lock().closed = true;
        self.pending.closing.notify_all();
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        match writer.map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(written)) => written,
            Some(Err(_)) => Err(io::Error::other("the log's writer broke down")),
        }
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        // Errors were reported to those who closed the log before.
        let _ = self.close();
    }
}

impl Pending {
    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves lines to the file until the log is closed. The two buffers change places, so neither is allocated anew.
    fn drain(&self, mut file: File) -> io::Result<()> {
        let mut taken = Vec::new();
        loop {
            let lines = self.lock();
            let waited = self.closing.wait_timeout_while(lines, FLUSH_EVERY, |lines| !lines.closed);
            let mut lines = waited.unwrap_or_else(PoisonError::into_inner).0;
            std::mem::swap(&mut lines.bytes, &mut taken);
            let closed = lines.closed;
            drop(lines);
            file.write_all(&taken)?;
            taken.clear();
            if closed {
                return Ok(());
            }
        }
    }
}

const FLUSH_EVERY: Duration = Duration::from_millis(100);
