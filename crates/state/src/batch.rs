//! What changed in one commit, as bytes that can be kept, sent and replayed elsewhere?
//!
//! A batch holds every row of the crawl that the commit put or removed, and no row of [`Space::Machine`]. To apply it
//! is to put and remove blindly; so it may be applied twice, or onto a state that has it already (`replay`).
//!
//! ```text
//! "evbatch" 7 | format 1 | epoch 8 | generation 8 | number 8 | program: length 1, text | row formats: count 1, bytes
//! | packing 1 | unpacked length 8 | rows | xxh3 of all before, 8
//! ```
//!
//! Numbers of fixed size are little-endian. `rows` is packed by zstd (packing 1) or as it is (packing 0), and unpacked:
//! for each space with changes, in order: its number (1 byte), how many rows (*n*), and each row in the order of keys:
//! how many bytes of the key before it shares (*n*), how many follow (*n*), these, what is done (1 byte: 0 removed,
//! 1 put), and where it is put the value's length (*n*) and the value. *n* is a number of variable length.
//!
//! What is read may be anything: every length is bounded before it is believed.

use std::io::Read;

use xxhash_rust::xxh3::xxh3_64;

use crate::codec::{Reader, Writer};
use crate::formats::ROW_FORMATS;
use crate::position::Position;
use crate::store::{Overlay, Space};

const MAGIC: &[u8; 7] = b"evbatch";
const FORMAT: u8 = 1;
const PLAIN: u8 = 0;
const ZSTD: u8 = 1;
const ZSTD_LEVEL: i32 = 1;
/// Largest zstd window, 8 MiB: more than level 1 asks for.
const WINDOW_LOG: u32 = 23;
const REMOVED: u8 = 0;
const PUT: u8 = 1;
const SUM_BYTES: usize = size_of::<u64>();
/// Bytes that a batch may unpack to, keys written out and [`ROW_BYTES`] a row included. Commits stay far below it.
const MOST_BYTES: usize = 512 << 20;
/// What a row takes in memory beside its key and value.
const ROW_BYTES: usize = 64;
/// The store takes no longer keys.
const MOST_KEY_BYTES: usize = u16::MAX as usize;

/// Why bytes are not a batch that can be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// They do not begin like a batch.
    #[error("this is not a batch")]
    NotABatch,
    /// The batch has a later format.
    #[error(
        "the batch has format {found}, and only formats up to {FORMAT} are known; update the program"
    )]
    NewerFormat {
        /// The format it says.
        found: u8,
    },
    /// Its rows are of later formats.
    #[error("the batch has rows that only {program} or later can read; update the program")]
    NewerRows {
        /// What wrote it.
        program: String,
    },
    /// The bytes are not as they were written.
    #[error("the batch is damaged: its checksum does not fit; fetch it again")]
    Damaged,
    /// It unpacks to more than a commit can be.
    #[error("the batch is too large: it unpacks to more than {MOST_BYTES} bytes")]
    TooLarge,
    /// The checksum fits, but the content makes no sense.
    #[error("the batch is malformed: {0}")]
    Malformed(&'static str),
}

/// What a batch says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchHeader {
    /// The term of the machine that owned the crawl when it was written; 0 on a single machine.
    pub epoch: u64,
    /// The position that a state is at once the batch is applied.
    pub position: Position,
    /// The program that wrote it, and its version.
    pub program: String,
    /// In which format it wrote each kind of row.
    pub(crate) row_formats: Vec<u8>,
    /// Bytes of its rows once unpacked.
    pub unpacked_bytes: u64,
}

/// The changes of a commit as a batch. Rows of this machine stay out.
pub fn encode_batch(changes: &Overlay) -> Vec<u8> {
    let rows = encode_rows(changes);
    let (packing, packed) = match zstd::bulk::compress(&rows, ZSTD_LEVEL) {
        Ok(packed) if packed.len() < rows.len() => (ZSTD, packed),
        _ => (PLAIN, rows.clone()),
    };
    let position = Position::of_batch(changes).ok().flatten().unwrap_or_default();
    let mut out = Vec::with_capacity(packed.len() + 128);
    out.extend_from_slice(MAGIC);
    out.push(FORMAT);
    for number in [0, position.generation, position.number] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    for bytes in [concat!("evercrawl ", env!("CARGO_PKG_VERSION")).as_bytes(), &ROW_FORMATS] {
        out.push(u8::try_from(bytes.len()).unwrap_or(u8::MAX));
        out.extend_from_slice(bytes);
    }
    out.push(packing);
    out.extend_from_slice(&(rows.len() as u64).to_le_bytes());
    out.extend_from_slice(&packed);
    let sum = xxh3_64(&out);
    out.extend_from_slice(&sum.to_le_bytes());
    out
}

/// What a batch says of itself; its rows are not looked at.
pub fn read_batch_header(batch: &[u8]) -> Result<BatchHeader, BatchError> {
    Ok(open(batch)?.0)
}

/// The changes in a batch.
pub fn decode_batch(batch: &[u8]) -> Result<Overlay, BatchError> {
    decode_within(batch, MOST_BYTES)
}

/// The changes in a batch that takes at most so many bytes.
fn decode_within(batch: &[u8], most: usize) -> Result<Overlay, BatchError> {
    let (header, body) = open(batch)?;
    let known = ROW_FORMATS.iter().chain(std::iter::repeat(&0));
    if header.row_formats.iter().zip(known).any(|(written, known)| written > known) {
        return Err(BatchError::NewerRows { program: header.program });
    }
    let length = usize::try_from(header.unpacked_bytes).unwrap_or(usize::MAX);
    if length > most {
        return Err(BatchError::TooLarge);
    }
    let rows = match body.packing {
        PLAIN => body.rows.to_vec(),
        ZSTD => unpack(body.rows, length)?,
        _ => return Err(BatchError::Malformed("it is packed in an unknown way")),
    };
    if rows.len() != length {
        return Err(BatchError::Malformed("it unpacks to another length than it says"));
    }
    decode_rows(&rows, most)
}

/// Reads a header and leaves what comes after it, once the checksum of the whole was found right.
fn open(batch: &[u8]) -> Result<(BatchHeader, PackedRows<'_>), BatchError> {
    let mut rest = Cursor(batch.strip_prefix(MAGIC).ok_or(BatchError::NotABatch)?);
    let [format] = rest.array()?;
    if format != FORMAT {
        return Err(BatchError::NewerFormat { found: format });
    }
    let (summed, sum) = batch.split_last_chunk::<SUM_BYTES>().ok_or(BatchError::Damaged)?;
    if xxh3_64(summed).to_le_bytes() != *sum {
        return Err(BatchError::Damaged);
    }
    rest.0 = rest.0.get(..rest.0.len().saturating_sub(SUM_BYTES)).unwrap_or_default();
    let [epoch, generation, number] =
        [rest.array()?, rest.array()?, rest.array()?].map(u64::from_le_bytes);
    let program = String::from_utf8_lossy(rest.short_bytes()?).into_owned();
    let row_formats = rest.short_bytes()?.to_vec();
    let [packing] = rest.array()?;
    let unpacked_bytes = u64::from_le_bytes(rest.array()?);
    let position = Position { generation, number };
    let header = BatchHeader { epoch, position, program, row_formats, unpacked_bytes };
    Ok((header, PackedRows { packing, rows: rest.0 }))
}

/// What comes after the header.
struct PackedRows<'a> {
    packing: u8,
    rows: &'a [u8],
}

/// Unpacks at most `length` bytes, and one more where there are more.
fn unpack(packed: &[u8], length: usize) -> Result<Vec<u8>, BatchError> {
    let malformed = |_| BatchError::Malformed("its rows cannot be unpacked");
    let mut decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(malformed)?;
    decoder.window_log_max(WINDOW_LOG).map_err(malformed)?;
    let mut rows = Vec::new();
    decoder.take(length as u64 + 1).read_to_end(&mut rows).map_err(malformed)?;
    Ok(rows)
}

fn encode_rows(changes: &Overlay) -> Vec<u8> {
    let mut out = Writer::default();
    for (number, space) in (0..).zip(Space::CRAWL) {
        let rows = changes.rows(space);
        if rows.is_empty() {
            continue;
        }
        out.byte(number);
        out.number(rows.len() as u64);
        let mut before: &[u8] = &[];
        for (key, value) in rows {
            let shared = before.iter().zip(key.iter()).take_while(|(a, b)| a == b).count();
            out.number(shared as u64);
            out.bytes(&key[shared..]);
            out.byte(if value.is_some() { PUT } else { REMOVED });
            value.iter().for_each(|value| out.bytes(value));
            before = key;
        }
    }
    out.finish()
}

fn decode_rows(rows: &[u8], most: usize) -> Result<Overlay, BatchError> {
    let (mut rows, mut changes) = (Reader::of(rows), Overlay::default());
    let (mut room, mut last) = (most, None);
    while !rows.is_empty() {
        let number = rows.byte().map_err(cut_short)?;
        let space = Space::CRAWL.get(usize::from(number));
        let space = *space.ok_or(BatchError::Malformed("it names an unknown space"))?;
        if last.replace(number) >= Some(number) {
            return Err(BatchError::Malformed("its spaces are not in order"));
        }
        decode_space(&mut rows, space, &mut changes, &mut room)?;
    }
    Ok(changes)
}

/// Reads the rows of one space, which take their `room`.
fn decode_space(
    rows: &mut Reader<'_>,
    space: Space,
    changes: &mut Overlay,
    room: &mut usize,
) -> Result<(), BatchError> {
    let count = rows.number().map_err(cut_short)?;
    let mut key = Vec::new();
    for nth in 0..count {
        let before = key.clone();
        let shared: usize = rows.small().map_err(cut_short)?;
        let follows = rows.bytes().map_err(cut_short)?;
        if shared > key.len() || shared + follows.len() > MOST_KEY_BYTES {
            return Err(BatchError::Malformed("a key has a wrong length"));
        }
        key.truncate(shared);
        key.extend_from_slice(follows);
        if nth > 0 && key <= before {
            return Err(BatchError::Malformed("its keys are not in order"));
        }
        let value = decode_value(rows)?;
        let bytes = key.len() + value.map_or(0, <[u8]>::len) + ROW_BYTES;
        *room = room.checked_sub(bytes).ok_or(BatchError::TooLarge)?;
        match value {
            Some(value) => changes.put(space, &key, value),
            None => changes.remove(space, &key),
        }
    }
    Ok(())
}

fn decode_value<'a>(rows: &mut Reader<'a>) -> Result<Option<&'a [u8]>, BatchError> {
    match rows.byte().map_err(cut_short)? {
        REMOVED => Ok(None),
        PUT => Ok(Some(rows.bytes().map_err(cut_short)?)),
        _ => Err(BatchError::Malformed("something unknown is done to a row")),
    }
}

fn cut_short(_: crate::StateError) -> BatchError {
    BatchError::Malformed("it is cut short")
}

/// Bytes of fixed length, one after another.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], BatchError> {
        let (head, rest) =
            self.0.split_first_chunk().ok_or(BatchError::Malformed("it is cut short"))?;
        self.0 = rest;
        Ok(*head)
    }

    /// Bytes after their length in one byte.
    fn short_bytes(&mut self) -> Result<&'a [u8], BatchError> {
        let [length] = self.array()?;
        let split = self.0.split_at_checked(usize::from(length));
        let (head, rest) = split.ok_or(BatchError::Malformed("it is cut short"))?;
        self.0 = rest;
        Ok(head)
    }
}

#[cfg(test)]
mod tests;
