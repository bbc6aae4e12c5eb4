//! Invented exchanges, the settings that tests share, and the places where segments may be.

use std::sync::Arc;

use evercrawl_archive::{
    Exchange, FileSegments, MemorySegments, SegmentId, SegmentStore, Settings, Stage,
    payload_digest,
};
use evercrawl_model::Time;

pub(crate) const NOW: Time = Time::from_millis(1_794_780_950_007);
pub(crate) const CAP: usize = 1 << 24;

pub(crate) fn settings(roll_at: u64) -> Settings {
    Settings {
        prefix: "test".into(),
        host: "crawler-1.example.org".into(),
        software: "Evercrawl test".into(),
        operator: "Åse, ase@example.org".into(),
        user_agent: "Evercrawl (+https://example.org/bot)".into(),
        robots: "obey".into(),
        is_part_of: "tests".into(),
        roll_at,
        first_serial: 1,
    }
}

/// A place for segments that outlives those who open it.
pub(crate) enum Place {
    Files(tempfile::TempDir),
    Memory(Arc<MemorySegments>),
}

impl Place {
    /// A new place in memory, and one in files: whatever a test holds must hold in both.
    pub(crate) fn both() -> [Place; 2] {
        [Place::Memory(Arc::default()), Place::files()]
    }

    pub(crate) fn files() -> Place {
        Place::Files(tempfile::tempdir().unwrap())
    }

    /// Opens the place as another process would.
    pub(crate) fn open(&self) -> Arc<dyn SegmentStore> {
        match self {
            Place::Files(dir) => Arc::new(FileSegments::new(dir.path())),
            Place::Memory(segments) => segments.clone(),
        }
    }

    /// The names of its segments, as their files are called.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.open().list().unwrap().iter().map(|(segment, _)| segment.to_string()).collect();
        names.sort();
        names
    }

    pub(crate) fn read(&self, segment: &SegmentId) -> Vec<u8> {
        read(&*self.open(), segment)
    }

    /// Puts a segment there, in place of one with this name.
    pub(crate) fn put(&self, segment: &SegmentId, bytes: &[u8]) {
        let (segments, name) = (self.open(), &segment.name);
        segments.create(name).unwrap();
        segments.append(name, 0, bytes).unwrap();
        if segment.stage == Stage::Sealed {
            segments.seal(name, name).unwrap();
        }
    }
}

/// A whole segment.
pub(crate) fn read(segments: &dyn SegmentStore, segment: &SegmentId) -> Vec<u8> {
    let length = segments.list().unwrap().into_iter().find(|(found, _)| found == segment);
    let mut bytes = vec![0; usize::try_from(length.unwrap().1).unwrap() + 1];
    let read = segments.read(segment, 0, &mut bytes).unwrap();
    bytes.truncate(read);
    bytes
}

pub(crate) fn page<'a>(uri: &'a str, date: Time, payload: &'a [u8]) -> Exchange<'a> {
    Exchange {
        uri,
        date,
        ip: Some([192, 0, 2, 1].into()),
        request: b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n",
        head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n",
        payload,
        payload_digest: payload_digest(payload),
        truncated: None,
        protocol: "http/1.1",
        tls: None,
        identified_type: None,
        metadata: &[],
    }
}

pub(crate) fn id(n: usize) -> [u8; 16] {
    (n as u128 + 1).to_be_bytes()
}
