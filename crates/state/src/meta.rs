//! What is kept about the data directory itself?

use crate::StateError;
use crate::codec::{Reader, Writer};

pub(crate) const SETTINGS_FORMAT: u8 = 1;
pub(crate) const FILE_FORMAT: u8 = 1;

/// What is fixed when a data directory is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Secret seed of the URL hashes.
    pub seed: u64,
    /// Parts that the URL space is divided into.
    pub shards: u16,
}

/// How far a WARC file and its index are committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveFile {
    /// The file's serial number.
    pub serial: u32,
    /// Its name, without any suffix for being open.
    pub name: String,
    /// Bytes of the WARC file that are committed.
    pub warc_len: u64,
    /// Bytes of the index that are committed.
    pub cdxj_len: u64,
    /// True while records are appended to it.
    pub open: bool,
    /// True once it has its final name and its index is sorted: it does not change any more.
    pub finished: bool,
    /// True when another file took its place: nothing refers to it, and it is being removed.
    pub leaving: bool,
}

pub(crate) fn encode_settings(settings: Settings) -> Vec<u8> {
    let mut out = Writer::new(SETTINGS_FORMAT);
    out.fixed(&settings.seed.to_le_bytes());
    out.number(settings.shards.into());
    out.finish()
}

pub(crate) fn decode_settings(row: &[u8]) -> Result<Settings, StateError> {
    let mut row = Reader::new(row, SETTINGS_FORMAT)?;
    Ok(Settings { seed: u64::from_le_bytes(row.array()?), shards: row.small()? })
}

pub(crate) fn encode_file(file: &ArchiveFile) -> Vec<u8> {
    let mut out = Writer::new(FILE_FORMAT);
    out.number(file.serial.into());
    out.text(&file.name);
    out.number(file.warc_len);
    out.number(file.cdxj_len);
    out.byte(u8::from(file.open) | u8::from(file.finished) << 1 | u8::from(file.leaving) << 2);
    out.finish()
}

pub(crate) fn decode_file(row: &[u8]) -> Result<ArchiveFile, StateError> {
    let mut row = Reader::new(row, FILE_FORMAT)?;
    let (serial, name) = (row.small()?, row.text()?.to_owned());
    let (warc_len, cdxj_len, flags) = (row.number()?, row.number()?, row.byte()?);
    let (open, finished, leaving) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
    Ok(ArchiveFile { serial, name, warc_len, cdxj_len, open, finished, leaving })
}
