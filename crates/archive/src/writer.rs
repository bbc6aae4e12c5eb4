//! Where do new records go?
//!
//! Into one growing WARC file and its index, until the file is large enough and the next begins.
//! Appending copies bytes into a buffer; nothing here waits for a disk unless a buffer is full.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use evercrawl_model::{RecordAt, Time};
use tracing::info;

use crate::cdx;
use crate::disk::Disk;
use crate::encode::{DEFAULT_LEVEL, Encoded, Encoder};
use crate::error::WriteError;
use crate::files::{self, FilePosition};
use crate::recover::{Recovery, recover};
use crate::warc::{FileId, Uuid};

/// The size at which a WARC file is closed and the next begun, as the guidelines advise.
pub const DEFAULT_ROLL_AT: u64 = 1_000_000_000;

/// Bytes kept in memory before they go to the operating system: few enough to be in the processor's cache still.
const BUFFER: usize = 1 << 18;

/// Where and under whose name an archive is written.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What file names begin with.
    pub prefix: String,
    /// The crawling machine's name; file names end with it.
    pub host: String,
    /// Program and version.
    pub software: String,
    /// Who runs the crawl and can be asked about it.
    pub operator: String,
    /// The User-Agent that is sent.
    pub user_agent: String,
    /// How robots.txt is treated: `obey`, for one.
    pub robots: String,
    /// The name of the collection.
    pub is_part_of: String,
    /// The size at which a file is full.
    pub roll_at: u64,
    /// A serial number that no file ever had; matters where old files were moved away.
    pub first_serial: u32,
    /// What makes its files last.
    pub disk: Arc<dyn Disk>,
}

/// Gives out serial numbers, each once.
#[derive(Clone, Debug)]
pub struct Serials(Arc<AtomicU32>);

impl Serials {
    /// A number that no file has.
    pub fn draw(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// The one that writes an archive.
pub struct Writer {
    dir: PathBuf,
    settings: Settings,
    current: Pair,
    serials: Serials,
    /// Full files that are not known to be finished.
    full: Vec<FilePosition>,
    /// Files whose place others took, and that are not known to be removed.
    leaving: Vec<FilePosition>,
    /// Full files, and directories with new names, that no checkpoint has yet taken along.
    unsynced: Vec<(PathBuf, File)>,
}

impl Writer {
    /// Opens the archive in `dir`, brings it to what the state last committed, and begins a file.
    pub fn open(
        dir: &Path,
        committed: &[FilePosition],
        settings: Settings,
        now: Time,
    ) -> Result<(Writer, Recovery), WriteError> {
        let (recovery, highest) = recover(dir, committed, &*settings.disk)?;
        let first = settings.first_serial.max(highest.saturating_add(1));
        let serials = Serials(Arc::new(first.into()));
        let current = Pair::create(dir, &settings, serials.draw(), now)?;
        let unsynced = vec![directory(dir)?];
        let (dir, full, leaving) = (dir.to_owned(), Vec::new(), Vec::new());
        Ok((Writer { dir, settings, current, serials, full, leaving, unsynced }, recovery))
    }

    /// The directory of the archive.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where new files get their serial numbers, for whoever writes beside this one.
    pub fn serials(&self) -> Serials {
        self.serials.clone()
    }

    /// The file that records must be encoded for.
    pub fn file(&self) -> FileId {
        self.current.id
    }

    /// Appends the records of one exchange and tells where the first of them is.
    ///
    /// It can be read after the next checkpoint. On an error nothing was appended; [`WriteError::Stale`] asks for another encoding, for what
    /// [`file`](Self::file) now gives.
    pub fn append(&mut self, encoded: &Encoded, now: Time) -> Result<RecordAt, WriteError> {
        if self.current.is_full(self.settings.roll_at) {
            self.roll(now)?;
        }
        if encoded.file != self.current.id {
            return Err(WriteError::Stale);
        }
        if self.current.warc.pending.len() >= BUFFER {
            self.current.flush(&*self.settings.disk)?;
        }
        Ok(self.current.append(encoded))
    }

    /// Hands all bytes to the operating system, and gives what is needed to make them last.
    pub fn checkpoint(&mut self) -> Result<Checkpoint, WriteError> {
        self.current.flush(&*self.settings.disk)?;
        let handles = self.current.handles()?;
        let mut unsynced = std::mem::take(&mut self.unsynced);
        unsynced.extend(handles);
        let mut files = self.full.clone();
        files.push(self.current.position(true));
        let (dir, disk) = (self.dir.clone(), self.settings.disk.clone());
        Ok(Checkpoint { dir, disk, files, leaving: self.leaving.clone(), unsynced })
    }

    /// Takes over a file that was written elsewhere and is on disk, to be finished with the others.
    pub fn adopt(&mut self, file: FilePosition) {
        self.full.push(file);
    }

    /// Has a finished file removed once the next checkpoint is committed.
    pub fn leave(&mut self, file: FilePosition) {
        self.leaving.push(file);
    }

    /// Forgets files that [`Checkpoint::finish`] has finished or removed.
    pub fn finished(&mut self, serials: &[u32]) {
        self.full.retain(|position| !serials.contains(&position.serial));
        self.leaving.retain(|position| !serials.contains(&position.serial));
    }

    /// Ends writing: finishes what `committed`, the last checkpoint that the state has committed,
    /// counts, and removes what was appended since.
    pub fn close(self, committed: &Checkpoint) -> Result<(), WriteError> {
        let disk = &*self.settings.disk;
        for position in self.full.iter().chain([&self.current.position(false)]) {
            match committed.files.iter().find(|file| file.serial == position.serial) {
                Some(file) => drop(file.finish(&self.dir, disk)?),
                None => position.discard(&self.dir)?,
            }
        }
        committed.leaving.iter().try_for_each(|file| file.remove(&self.dir, disk))
    }

    fn roll(&mut self, now: Time) -> Result<(), WriteError> {
        self.current.flush(&*self.settings.disk)?;
        let handles = self.current.handles()?;
        let directory = directory(&self.dir)?;
        let next = Pair::create(&self.dir, &self.settings, self.serials.draw(), now)?;
        let full = std::mem::replace(&mut self.current, next);
        info!(full = %full.name, bytes = full.warc.len(), next = %self.current.name, "archive file full");
        self.full.push(full.position(false));
        self.unsynced.extend(handles);
        self.unsynced.push(directory);
        Ok(())
    }
}

/// How far the archive had come at one moment. Any thread makes it last, in three steps: sync,
/// commit `files` to the state, finish.
#[derive(Debug)]
pub struct Checkpoint {
    dir: PathBuf,
    disk: Arc<dyn Disk>,
    /// What the state commits, in place of what it committed before.
    pub files: Vec<FilePosition>,
    /// Files that are removed at the end; the state knows them as leaving.
    pub leaving: Vec<FilePosition>,
    unsynced: Vec<(PathBuf, File)>,
}

impl Checkpoint {
    /// Waits until all that was appended before is on disk.
    pub fn sync(&self) -> Result<(), WriteError> {
        for (path, file) in &self.unsynced {
            self.disk.sync(file).map_err(WriteError::io("sync", path))?;
        }
        Ok(())
    }

    /// Sorts the indexes of full files, gives them their final names and removes those that leave;
    /// to be called once the state has committed `files`. Gives the serial numbers for
    /// [`Writer::finished`].
    pub fn finish(&self) -> Result<Vec<u32>, WriteError> {
        let mut serials = Vec::new();
        for position in self.files.iter().filter(|position| !position.open) {
            position.finish(&self.dir, &*self.disk)?;
            serials.push(position.serial);
        }
        for position in &self.leaving {
            position.remove(&self.dir, &*self.disk)?;
            serials.push(position.serial);
        }
        Ok(serials)
    }
}

/// A growing WARC file and its index.
struct Pair {
    id: FileId,
    name: String,
    warc: Growing,
    index: Growing,
    /// Length of the `warcinfo` record.
    info: u64,
}

impl Pair {
    fn create(dir: &Path, settings: &Settings, serial: u32, now: Time) -> Result<Self, WriteError> {
        let name = files::name(&settings.prefix, now, serial, &settings.host);
        let id = FileId { serial, warcinfo: Uuid::named(&name) };
        let info = warcinfo(&files::warc_name(&name), settings, id, now)?;
        let mut warc = Growing::create(files::open_warc(dir, &name))?;
        warc.pending.extend(info);
        let index = Growing::create(files::open_index(dir, &name))?;
        Ok(Pair { id, name, info: warc.len(), warc, index })
    }

    fn is_empty(&self) -> bool {
        self.warc.len() == self.info
    }

    /// An empty file is never full, however small the limit.
    fn is_full(&self, roll_at: u64) -> bool {
        !self.is_empty() && self.warc.len() >= roll_at
    }

    fn append(&mut self, encoded: &Encoded) -> RecordAt {
        let (offset, length) = (self.warc.len(), encoded.response);
        if let Some(start) = &encoded.cdx {
            let file = files::warc_name(&self.name);
            cdx::push_line(start, offset, length.into(), &file, &mut self.index.pending);
        }
        self.warc.pending.extend_from_slice(&encoded.bytes);
        RecordAt { file: self.id.serial, offset, length }
    }

    fn flush(&mut self, disk: &dyn Disk) -> Result<(), WriteError> {
        self.warc.flush(disk)?;
        self.index.flush(disk)
    }

    fn handles(&self) -> Result<[(PathBuf, File); 2], WriteError> {
        Ok([self.warc.handle()?, self.index.handle()?])
    }

    fn position(&self, open: bool) -> FilePosition {
        FilePosition {
            serial: self.id.serial,
            name: self.name.clone(),
            warc_len: if self.is_empty() { 0 } else { self.warc.len() },
            cdxj_len: self.index.len(),
            open,
        }
    }
}

/// A file that only grows. What could not be written stays in memory and is tried again at the
/// same place, so a full disk leaves no half-written record behind once there is space.
struct Growing {
    path: PathBuf,
    file: File,
    written: u64,
    pending: Vec<u8>,
}

impl Growing {
    fn create(path: PathBuf) -> Result<Self, WriteError> {
        let file = File::create(&path).map_err(WriteError::io("create", &path))?;
        Ok(Growing { path, file, written: 0, pending: Vec::new() })
    }

    fn len(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    fn flush(&mut self, disk: &dyn Disk) -> Result<(), WriteError> {
        let written = disk.write(&self.file, &self.pending, self.written);
        written.map_err(WriteError::io("write", &self.path))?;
        self.written = self.len();
        self.pending.clear();
        Ok(())
    }

    fn handle(&self) -> Result<(PathBuf, File), WriteError> {
        let file = self.file.try_clone().map_err(WriteError::io("open", &self.path))?;
        Ok((self.path.clone(), file))
    }
}

fn directory(dir: &Path) -> Result<(PathBuf, File), WriteError> {
    Ok((dir.to_owned(), File::open(dir).map_err(WriteError::io("open", dir))?))
}

/// The first record of a file: who wrote it, with what, and by which rules.
fn warcinfo(
    name: &str,
    settings: &Settings,
    file: FileId,
    now: Time,
) -> Result<Vec<u8>, WriteError> {
    let fields = [
        ("software", settings.software.as_str()),
        ("format", "WARC File Format 1.1"),
        (
            "conformsTo",
            "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        ),
        ("operator", &settings.operator),
        ("http-header-user-agent", &settings.user_agent),
        ("robots", &settings.robots),
        ("hostname", &settings.host),
        ("isPartOf", &settings.is_part_of),
    ];
    let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
    Encoder::new(DEFAULT_LEVEL).warcinfo(name, &now.rfc3339(), file, fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;
    use crate::exchange::{Exchange, Kind};

    /// What is not synced is not committed, so every file must be in the checkpoint after it grew,
    /// and the directory after it got a name.
    #[test]
    fn a_checkpoint_takes_along_everything_written_since_the_last() {
        let dir = tempfile::tempdir().unwrap();
        let (mut writer, _) = Writer::open(dir.path(), &[], settings(), Time::EPOCH).unwrap();
        let synced = |checkpoint: Checkpoint| -> Vec<String> {
            let paths = checkpoint.unsynced.iter().map(|(path, _)| path.strip_prefix(&dir));
            paths.map(|path| path.unwrap().display().to_string()).collect()
        };
        let first =
            ["p-19700101000000000-00001-h.warc.gz.open", "p-19700101000000000-00001-h.cdxj.open"];
        let second = first.map(|name| name.replace("00001", "00002"));
        assert_eq!(synced(writer.checkpoint().unwrap()), ["", first[0], first[1]]);
        assert_eq!(synced(writer.checkpoint().unwrap()), first);
        let encoded = Encoder::new(1).encode(&EXCHANGE, Kind::Response, [0; 16], writer.file());
        let encoded = encoded.unwrap();
        writer.append(&encoded, Time::EPOCH).unwrap();
        writer.append(&encoded, Time::EPOCH).unwrap_err();
        let all = [first[0], first[1], "", &second[0], &second[1]];
        assert_eq!(synced(writer.checkpoint().unwrap()), all);
        assert_eq!(synced(writer.checkpoint().unwrap()), second);
    }

    const EXCHANGE: Exchange = Exchange {
        uri: "http://a/",
        date: Time::EPOCH,
        ip: None,
        request: b"",
        head: b"",
        payload: b"",
        payload_digest: [0; 20],
        truncated: None,
        protocol: "http/1.1",
        tls: None,
        identified_type: None,
        metadata: &[],
    };

    fn settings() -> Settings {
        let [software, operator, user_agent, robots, is_part_of] = [const { String::new() }; 5];
        let (prefix, host) = ("p".to_owned(), "h".to_owned());
        let (roll_at, first_serial) = (1, 1);
        Settings {
            prefix,
            host,
            software,
            operator,
            user_agent,
            robots,
            is_part_of,
            roll_at,
            first_serial,
            disk: Arc::new(RealDisk),
        }
    }
}
