//! What did the server mean to send? Undoes `Content-Encoding`, and never more of it than allowed.
//!
//! This is the only decompressor of the project. Whatever the coding, no more than the cap and the
//! decoder's window is allocated (32 KiB for deflate, 8 MiB for zstd, 16 MiB for brotli, and less
//! for short bodies). What could be read before a cap or a fault is kept: the prefix of a page is
//! worth more than nothing, as long as it is marked.

mod codec;

use std::borrow::Cow;

use codec::{Codec, CodecState};

/// Most layers of coding that are undone; honest servers use one.
const MAX_LAYERS: usize = 3;
/// Most gzip members or zstd frames in one body: each costs a set-up, so they are counted.
const MAX_MEMBERS: usize = 1024;
/// Output that is always allowed, however small the input: tiny bodies have wild ratios.
const RATIO_FLOOR: usize = 1 << 20;
/// Bytes that are looked at to tell text from what is packed.
const LOOKED_AT: usize = 512;
/// Least and most output made room for at once.
const MIN_CHUNK: usize = 8 << 10;
const MAX_CHUNK: usize = 4 << 20;

/// How much decoding may produce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeLimits {
    /// Most decoded bytes.
    pub bytes: usize,
    /// Most decoded bytes for each byte received, once the output is past a mebibyte.
    pub ratio: usize,
}

impl Default for DecodeLimits {
    fn default() -> Self {
        DecodeLimits { bytes: 32 << 20, ratio: 250 }
    }
}

impl Decoded<'_> {
    /// Whether the input itself breaks off or is damaged, and not only what we make of it is cut.
    pub fn is_broken(&self) -> bool {
        matches!(self.cut, Some(Truncation::Corrupt { .. }))
    }
}

impl DecodeLimits {
    /// The most that a body of `received` bytes may become, and what to blame when it is reached.
    fn limit(self, received: usize) -> (usize, Truncation) {
        let by_ratio = received.saturating_mul(self.ratio).max(RATIO_FLOOR);
        if by_ratio < self.bytes {
            (by_ratio, Truncation::Ratio)
        } else {
            (self.bytes, Truncation::Size)
        }
    }
}

/// A way of packing bytes that HTTP names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// `gzip` and `x-gzip`.
    Gzip,
    /// `deflate`: zlib by the standard, raw deflate by habit of some servers.
    Deflate,
    /// `br`.
    Brotli,
    /// `zstd`.
    Zstd,
}

impl Coding {
    /// Reads one token of a `Content-Encoding` header.
    fn named(token: &str) -> Option<Coding> {
        const NAMES: [(&str, Coding); 6] = [
            ("gzip", Coding::Gzip),
            ("x-gzip", Coding::Gzip),
            ("deflate", Coding::Deflate),
            ("br", Coding::Brotli),
            ("zstd", Coding::Zstd),
            ("x-zstd", Coding::Zstd),
        ];
        NAMES.iter().find(|(name, _)| token.eq_ignore_ascii_case(name)).map(|(_, coding)| *coding)
    }

    /// Whether bytes that cannot be decoded were never in this coding: they begin otherwise, or where the coding
    /// has no sign to begin with, they are text.
    fn is_wrong_for(self, bytes: &[u8]) -> bool {
        let begins = |sign: &[u8]| bytes.iter().zip(sign).all(|(byte, wanted)| byte == wanted);
        match self {
            Coding::Gzip => !begins(&[0x1f, 0x8b]),
            Coding::Zstd => !(begins(&[0x28, 0xb5, 0x2f, 0xfd]) || self.continues(bytes)),
            // The header of zlib, which may look like text.
            Coding::Deflate if matches!(bytes, [0x78] | [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..]) => {
                false
            }
            Coding::Deflate | Coding::Brotli => {
                let start = bytes.get(..LOOKED_AT).unwrap_or(bytes);
                !start.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace())
            }
        }
    }

    /// Whether `rest` begins with another member, rather than with padding or junk.
    fn continues(self, rest: &[u8]) -> bool {
        match self {
            Coding::Gzip => rest.starts_with(&[0x1f, 0x8b]),
            Coding::Zstd => {
                rest.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
                    || matches!(rest, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
            }
            Coding::Deflate | Coding::Brotli => false,
        }
    }
}

/// Why the decoded bytes are not all that was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// The output reached its cap.
    Size,
    /// The output outgrew the input by more than a page does.
    Ratio,
    /// The input broke off or is damaged; bytes from the decoded offset `at` on are lost. When nothing at
    /// all could be decoded, the bytes are those received.
    Corrupt {
        /// The coding that failed.
        coding: Coding,
        /// How many bytes had been decoded.
        at: usize,
    },
    /// The input is not in the coding that the header names: many a server labels plain text as gzip. The bytes
    /// are those received, and whole.
    Mislabelled,
    /// A coding without a decoder, or too many layers; the bytes are still coded.
    UnknownCoding,
}

/// A body without its codings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The bytes, borrowed where there was nothing to undo.
    pub bytes: Cow<'a, [u8]>,
    /// Why they are not all, if so.
    pub cut: Option<Truncation>,
}

/// Undoes the codings that `content_encoding` lists, last applied first.
pub fn decode<'a>(content_encoding: &str, body: &'a [u8], caps: DecodeLimits) -> Decoded<'a> {
    let mut decoded = Decoded { bytes: Cow::Borrowed(body), cut: None };
    let (limit, blame) = caps.limit(body.len());
    for (layer, token) in tokens(content_encoding).rev().enumerate() {
        let Some(coding) = Coding::named(token).filter(|_| layer < MAX_LAYERS) else {
            decoded.cut = decoded.cut.or(Some(Truncation::UnknownCoding));
            break;
        };
        if decoded.bytes.is_empty() {
            break;
        }
        let (bytes, cut) = unpack(coding, &decoded.bytes, limit, blame);
        let nothing = bytes.is_empty() && matches!(cut, Some(Truncation::Corrupt { .. }));
        let mislabelled = nothing && coding.is_wrong_for(&decoded.bytes);
        let cut = if mislabelled { Some(Truncation::Mislabelled) } else { cut };
        decoded.cut = decoded.cut.or(cut);
        if nothing {
            break;
        }
        decoded.bytes = Cow::Owned(bytes);
    }
    decoded
}

/// The codings of the header, without those that change nothing.
fn tokens(header: &str) -> impl DoubleEndedIterator<Item = &str> {
    const NOTHING: [&str; 4] = ["", "identity", "none", "binary"];
    header
        .split(',')
        .map(str::trim)
        .filter(|token| !NOTHING.iter().any(|nothing| token.eq_ignore_ascii_case(nothing)))
}

/// Undoes one layer: all its members, up to `limit` bytes.
fn unpack(
    coding: Coding,
    body: &[u8],
    limit: usize,
    blame: Truncation,
) -> (Vec<u8>, Option<Truncation>) {
    let mut output = DecodeBuffer::new(body.len(), limit);
    let mut fault = unpack_members(coding, Codec::new(coding), body, &mut output);
    if fault == Some(DecodeError::Broken) && coding == Coding::Deflate && output.filled == 0 {
        fault = unpack_members(coding, Codec::raw_deflate(), body, &mut output);
    }
    let cut = fault.map(|fault| match fault {
        DecodeError::Full => blame,
        DecodeError::Broken => Truncation::Corrupt { coding, at: output.filled },
    });
    (output.finish(), cut)
}

fn unpack_members(
    coding: Coding,
    mut codec: Codec,
    body: &[u8],
    output: &mut DecodeBuffer,
) -> Option<DecodeError> {
    let mut rest = body;
    for _ in 0..MAX_MEMBERS {
        if let Err(fault) = unpack_member(&mut codec, &mut rest, output) {
            return Some(fault);
        }
        if !coding.continues(rest) {
            return None;
        }
        codec.restart();
    }
    Some(DecodeError::Broken)
}

fn unpack_member(
    codec: &mut Codec,
    rest: &mut &[u8],
    output: &mut DecodeBuffer,
) -> Result<(), DecodeError> {
    loop {
        let step = codec.step(rest, output.room());
        *rest = rest.get(step.read..).unwrap_or_default();
        output.filled += step.written;
        if output.filled > output.limit {
            return Err(DecodeError::Full);
        }
        match step.state {
            CodecState::Ended => return Ok(()),
            CodecState::Broken => return Err(DecodeError::Broken),
            // Neither side moved: the input broke off.
            CodecState::Going if step.read == 0 && step.written == 0 => {
                return Err(DecodeError::Broken);
            }
            CodecState::Going => {}
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DecodeError {
    Full,
    Broken,
}

/// The decoded bytes so far, with room made in growing steps and never past the limit.
struct DecodeBuffer {
    bytes: Vec<u8>,
    filled: usize,
    limit: usize,
}

impl DecodeBuffer {
    fn new(received: usize, limit: usize) -> Self {
        let limit = limit.min(usize::MAX - 1);
        let likely = received.saturating_mul(4).clamp(MIN_CHUNK, MAX_CHUNK).min(limit + 1);
        DecodeBuffer { bytes: Vec::with_capacity(likely), filled: 0, limit }
    }

    /// Free space to decode into: one byte past the limit at most, which tells "full" from "done".
    fn room(&mut self) -> &mut [u8] {
        if self.filled == self.bytes.len() {
            let spare = self.bytes.capacity() - self.bytes.len();
            let grow = if spare > 0 { spare } else { self.filled.clamp(MIN_CHUNK, MAX_CHUNK) };
            let size = (self.filled + grow).min(self.limit + 1);
            self.bytes.reserve_exact(size - self.filled);
            self.bytes.resize(size, 0);
        }
        &mut self.bytes[self.filled..]
    }

    fn finish(mut self) -> Vec<u8> {
        self.bytes.truncate(self.filled.min(self.limit));
        self.bytes
    }
}
