//! How is each coding undone, one buffer at a time? Three libraries behind one `step`.

use brotli::reader::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder, Operation};

use super::Coding;

/// Largest zstd window, 8 MiB: what RFC 9659 lets a server ask of a client.
const ZSTD_WINDOW_LOG: u32 = 23;
const DEFLATE_WINDOW_BITS: u8 = 15;

/// A decoder in the middle of its work.
pub(super) enum Codec {
    Gzip(Decompress),
    Deflate(Decompress),
    Brotli(Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>),
    Zstd(Decoder<'static>),
    /// A decoder that could not be set up; everything is corrupt to it.
    Unavailable,
}

/// What one step did.
pub(super) struct CodecStep {
    pub(super) read: usize,
    pub(super) written: usize,
    pub(super) state: CodecState,
}

impl CodecStep {
    const BROKEN: CodecStep = CodecStep { read: 0, written: 0, state: CodecState::Broken };
}

/// Where a decoder stands after a step.
pub(super) enum CodecState {
    /// It wants more input or more room.
    Going,
    /// The member is complete.
    Ended,
    /// The input is not in this coding.
    Broken,
}

impl Codec {
    pub(super) fn new(coding: Coding) -> Self {
        match coding {
            Coding::Gzip => Codec::Gzip(Decompress::new_gzip(DEFLATE_WINDOW_BITS)),
            Coding::Deflate => Codec::Deflate(Decompress::new(true)),
            Coding::Brotli => Codec::Brotli(Box::new(BrotliState::new_strict(
                StandardAlloc::default(),
                StandardAlloc::default(),
                StandardAlloc::default(),
            ))),
            Coding::Zstd => zstd_decoder().map_or(Codec::Unavailable, Codec::Zstd),
        }
    }

    /// Deflate without the zlib wrapper.
    pub(super) fn raw_deflate() -> Self {
        Codec::Deflate(Decompress::new(false))
    }

    /// Makes ready for the next member. Only gzip has state to drop; zstd continues by itself.
    pub(super) fn restart(&mut self) {
        if let Codec::Gzip(inflate) = self {
            *inflate = Decompress::new_gzip(DEFLATE_WINDOW_BITS);
        }
    }

    /// Decodes from `input` into `output` as far as either lasts.
    pub(super) fn step(&mut self, input: &[u8], output: &mut [u8]) -> CodecStep {
        match self {
            Codec::Gzip(inflate) | Codec::Deflate(inflate) => inflate_step(inflate, input, output),
            Codec::Brotli(state) => brotli_step(state, input, output),
            Codec::Zstd(decoder) => zstd_step(decoder, input, output),
            Codec::Unavailable => CodecStep::BROKEN,
        }
    }
}

fn zstd_decoder() -> Option<Decoder<'static>> {
    let mut decoder = Decoder::new().ok()?;
    decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG)).ok()?;
    Some(decoder)
}

fn inflate_step(inflate: &mut Decompress, input: &[u8], output: &mut [u8]) -> CodecStep {
    let (read, written) = (inflate.total_in(), inflate.total_out());
    let status = inflate.decompress(input, output, FlushDecompress::None);
    CodecStep {
        read: (inflate.total_in() - read) as usize,
        written: (inflate.total_out() - written) as usize,
        state: match status {
            Ok(Status::StreamEnd) => CodecState::Ended,
            Ok(Status::Ok | Status::BufError) => CodecState::Going,
            Err(_) => CodecState::Broken,
        },
    }
}

fn brotli_step(
    state: &mut BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    input: &[u8],
    output: &mut [u8],
) -> CodecStep {
    let (mut left, mut read) = (input.len(), 0);
    let (mut free, mut written) = (output.len(), 0);
    let result = BrotliDecompressStream(
        &mut left,
        &mut read,
        input,
        &mut free,
        &mut written,
        output,
        &mut 0,
        state,
    );
    let state = match result {
        BrotliResult::ResultSuccess => CodecState::Ended,
        BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => CodecState::Going,
        BrotliResult::ResultFailure => CodecState::Broken,
    };
    CodecStep { read, written, state }
}

fn zstd_step(decoder: &mut Decoder<'static>, input: &[u8], output: &mut [u8]) -> CodecStep {
    match decoder.run_on_buffers(input, output) {
        Ok(status) => CodecStep {
            read: status.bytes_read,
            written: status.bytes_written,
            state: if status.remaining == 0 { CodecState::Ended } else { CodecState::Going },
        },
        Err(_) => CodecStep::BROKEN,
    }
}
