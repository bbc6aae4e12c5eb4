//! Where do new records go?
//!
//! Into one growing WARC file and its index, until the file is large enough and the next begins.
//! Appending copies bytes into a buffer; nothing here waits for a disk unless a buffer is full.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use evercrawl_model::{RecordAt, Time};
use tracing::info;

use crate::cdx;
use crate::encode::{DEFAULT_LEVEL, Encoded, Encoder};
use crate::error::WriteError;
use crate::files::{self, FilePosition};
use crate::recover::{Recovery, recover};
use crate::segments::{GrowingSegment, SegmentStore};
use crate::warc::{FileId, Uuid};

/// The size at which a WARC file is closed and the next begun, as the guidelines advise.
pub const DEFAULT_ROLL_AT: u64 = 1_000_000_000;

/// Bytes kept in memory before they go to the operating system: few enough to be in the processor's cache still.
const BUFFER: usize = 1 << 18;

/// Under whose name an archive is written.
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
    segments: Arc<dyn SegmentStore>,
    settings: Settings,
    current: Pair,
    serials: Serials,
    /// Full files that are not known to be sealed.
    full: Vec<FilePosition>,
    /// Files whose place others took, and that are not known to be removed.
    leaving: Vec<FilePosition>,
    /// Names of the segments of full files that no checkpoint has yet taken along.
    unsynced: Vec<String>,
}

impl Writer {
    /// Opens an archive, brings it to what the state last committed, and begins a file.
    pub fn open(
        segments: Arc<dyn SegmentStore>,
        committed: &[FilePosition],
        settings: Settings,
        now: Time,
    ) -> Result<(Writer, Recovery), WriteError> {
        let (recovery, highest) = recover(&segments, committed)?;
        let first = settings.first_serial.max(highest.saturating_add(1));
        let serials = Serials(Arc::new(first.into()));
        let current = Pair::create(&segments, &settings, serials.draw(), now)?;
        let (full, leaving, unsynced) = Default::default();
        Ok((Writer { segments, settings, current, serials, full, leaving, unsynced }, recovery))
    }

    /// The segments of the archive.
    pub fn segments(&self) -> &Arc<dyn SegmentStore> {
        &self.segments
    }

    /// Where new files get their serial numbers, for other writers beside this one.
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
        if self.current.warc.pending().len() >= BUFFER {
            self.current.flush()?;
        }
        Ok(self.current.append(encoded))
    }

    /// Hands over all bytes, and gives what is needed to make them last.
    pub fn checkpoint(&mut self) -> Result<Checkpoint, WriteError> {
        self.current.flush()?;
        let mut unsynced = std::mem::take(&mut self.unsynced);
        unsynced.extend(self.current.names());
        let mut files = self.full.clone();
        files.push(self.current.position(true));
        let segments = Arc::clone(&self.segments);
        Ok(Checkpoint { segments, files, leaving: self.leaving.clone(), unsynced })
    }

    /// Takes over a file that was written elsewhere and lasts, to be sealed with the others.
    pub fn adopt(&mut self, file: FilePosition) {
        self.full.push(file);
    }

    /// Has a sealed file removed once the next checkpoint is committed.
    pub fn leave(&mut self, file: FilePosition) {
        self.leaving.push(file);
    }

    /// Forgets files that [`Checkpoint::seal_full`] has sealed or removed.
    pub fn forget(&mut self, serials: &[u32]) {
        self.full.retain(|position| !serials.contains(&position.serial));
        self.leaving.retain(|position| !serials.contains(&position.serial));
    }

    /// Ends writing: seals what `committed`, the last checkpoint that the state has committed,
    /// counts, and removes what was appended since.
    pub fn close(self, committed: &Checkpoint) -> Result<(), WriteError> {
        for position in self.full.iter().chain([&self.current.position(false)]) {
            match committed.files.iter().find(|file| file.serial == position.serial) {
                Some(file) => drop(file.seal(&self.segments)?),
                None => position.discard(&*self.segments)?,
            }
        }
        committed.leaving.iter().try_for_each(|file| file.remove(&*self.segments))
    }

    fn roll(&mut self, now: Time) -> Result<(), WriteError> {
        self.current.flush()?;
        let next = Pair::create(&self.segments, &self.settings, self.serials.draw(), now)?;
        let full = std::mem::replace(&mut self.current, next);
        info!(full = %full.name, bytes = full.warc.len(), next = %self.current.name, "archive file full");
        self.full.push(full.position(false));
        self.unsynced.extend(full.names());
        Ok(())
    }
}

/// How far the archive had come at one moment. Any thread makes it last, in three steps: sync,
/// commit `files` to the state, seal those that are full.
#[derive(Debug)]
pub struct Checkpoint {
    segments: Arc<dyn SegmentStore>,
    /// What the state commits, in place of what it committed before.
    pub files: Vec<FilePosition>,
    /// Files that are removed at the end; the state knows them as leaving.
    pub leaving: Vec<FilePosition>,
    unsynced: Vec<String>,
}

impl Checkpoint {
    /// Waits until all that was appended before survives a power cut.
    pub fn sync(&self) -> Result<(), WriteError> {
        self.unsynced.iter().try_for_each(|name| self.segments.sync(name))
    }

    /// Sorts the indexes of full files, seals both and removes those that leave; to be called once the
    /// state has committed `files`. Gives the serial numbers for [`Writer::forget`].
    pub fn seal_full(&self) -> Result<Vec<u32>, WriteError> {
        let mut serials = Vec::new();
        for position in self.files.iter().filter(|position| !position.open) {
            position.seal(&self.segments)?;
            serials.push(position.serial);
        }
        for position in &self.leaving {
            position.remove(&*self.segments)?;
            serials.push(position.serial);
        }
        Ok(serials)
    }
}

/// A growing WARC file and its index.
struct Pair {
    id: FileId,
    name: String,
    warc: GrowingSegment,
    index: GrowingSegment,
    /// Length of the `warcinfo` record.
    info: u64,
}

impl Pair {
    fn create(
        segments: &Arc<dyn SegmentStore>,
        settings: &Settings,
        serial: u32,
        now: Time,
    ) -> Result<Self, WriteError> {
        let name = files::name(&settings.prefix, now, serial, &settings.host);
        let id = FileId { serial, warcinfo: Uuid::named(&name) };
        let info = warcinfo(&files::warc_name(&name), settings, id, now)?;
        let create = |name| GrowingSegment::create(Arc::clone(segments), name);
        let mut warc = create(files::warc_name(&name))?;
        warc.pending().extend(info);
        let index = create(files::index_name(&name))?;
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
            let file = self.warc.name();
            cdx::push_line(start, offset, length.into(), file, self.index.pending());
        }
        self.warc.pending().extend_from_slice(&encoded.bytes);
        RecordAt { file: self.id.serial, offset, length }
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.warc.flush()?;
        self.index.flush()
    }

    /// The names of both segments.
    fn names(&self) -> [String; 2] {
        [&self.warc, &self.index].map(|segment| segment.name().to_owned())
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
    use crate::exchange::{Exchange, Kind};
    use crate::segments::MemorySegments;

    /// What is not synced is not committed, so every segment must be in the checkpoint after it grew. That
    /// its name lasts with it is what a store promises.
    #[test]
    fn a_checkpoint_takes_along_everything_written_since_the_last() {
        let segments = Arc::new(MemorySegments::new());
        let (mut writer, _) = Writer::open(segments, &[], settings(), Time::EPOCH).unwrap();
        let first = ["p-19700101000000000-00001-h.warc.gz", "p-19700101000000000-00001-h.cdxj"];
        let second = first.map(|name| name.replace("00001", "00002"));
        assert_eq!(writer.checkpoint().unwrap().unsynced, first);
        assert_eq!(writer.checkpoint().unwrap().unsynced, first);
        let encoded = Encoder::new(1).encode(&EXCHANGE, Kind::Response, [0; 16], writer.file());
        let encoded = encoded.unwrap();
        writer.append(&encoded, Time::EPOCH).unwrap();
        writer.append(&encoded, Time::EPOCH).unwrap_err();
        let all = [first[0], first[1], &second[0], &second[1]];
        assert_eq!(writer.checkpoint().unwrap().unsynced, all);
        assert_eq!(writer.checkpoint().unwrap().unsynced, second);
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
        }
    }
}
