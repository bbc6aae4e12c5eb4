//! Where is the record of what was fetched? WARC/1.1 files and their CDXJ indexes: append, recover,
//! read back, verify.
//!
//! A visit is written in two steps, so that the costly one runs on many threads:
//!
//! ```text
//! Exchange --Encoder::encode--> Encoded --Writer::append--> RecordAt
//!            digests, gzip;               copies bytes,
//!            one Encoder a thread         one Writer in all
//! ```
//!
//! What has been appended counts once the state has committed it:
//!
//! ```text
//! Writer::checkpoint -> Checkpoint::sync -> (state commits checkpoint.files) -> Checkpoint::seal_full
//! ```
//!
//! Only the first of these needs the writer; the others run on any thread. After a crash
//! [`Writer::open`] cuts every file to the length that the last commit knew, so no record survives
//! that the state does not know, and none is missing that it does.
//!
//! # Layout
//!
//! - [`Exchange`], [`Kind`]: what was asked and answered
//! - [`Encoder`], [`Encoded`], [`Payload`]: its bytes as WARC records
//! - [`Writer`], [`Checkpoint`], [`FilePosition`]: files that grow, roll and survive a crash
//! - [`SegmentStore`]: where all bytes are kept; [`FileSegments`] and [`MemorySegments`] keep them
//! - [`Disk`]: what makes the bytes of files last
//! - [`surt()`]: the sort key of a URL, as replay tools compute it
//! - [`read_record`], [`Scan`], [`RecordCache`], [`verify`]: reading back
//! - [`CaptureIndex`]: which captures of a URL there are
//! - [`IndexNotes`]: what the index of one WARC file says of its records
//! - [`StoredRecord`], [`warcinfo()`]: records for other files
//! - [`HeadReader`]: what a server said, without the body
//! - [`rewrite`]: a file without some of its records
//! - [`check_file`]: is a file what it claims to be?
//! - [`mend()`], [`rebuild_index`]: what is left of a damaged one
//! - [`unknown_files`]: which files does the state not know?

mod cache;
mod captures;
mod cdx;
mod check;
mod copying;
mod encode;
mod error;
mod exchange;
mod files;
mod head;
mod heads;
mod index_notes;
mod mend;
mod payload;
mod read;
mod recover;
mod rewrite;
mod segments;
mod sorting;
mod surt;
mod unknown;
mod verify;
mod warc;
mod writer;

pub use cache::RecordCache;
pub use captures::{Capture, CaptureIndex};
pub use check::{CheckReport, Problem, check_file};
pub use copying::{StoredRecord, warcinfo};
pub use encode::{DEFAULT_LEVEL, Encoded, Encoder};
pub use error::{Damaged, ReadError, RewriteError, WriteError};
pub use exchange::{Exchange, Kind, Original, Tls, Truncated};
pub use files::{FilePosition, find_warc, sealed_files, serial_of};
pub use heads::{HeadReader, HttpHead};
pub use index_notes::{IndexNote, IndexNotes, is_sealed_warc};
pub use mend::{mend, rebuild_index, seal_as_found, warc_files};
pub use payload::Payload;
pub use read::{Record, Scan, Scanned, read_member, read_record};
pub use recover::Recovery;
pub use rewrite::{Kept, rewrite};
pub use segments::{Disk, FileSegments, MemorySegments, RealDisk, SegmentId, SegmentStore, Stage};
pub use surt::surt;
pub use unknown::{UnknownFile, UnknownKind, unknown_files};
pub use verify::{VerifyError, payload_digest, verify};
pub use warc::{FileId, Uuid};
pub use writer::{Checkpoint, DEFAULT_ROLL_AT, Serials, Settings, Writer};
