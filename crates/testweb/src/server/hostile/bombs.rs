//! How small can a large body be? Packed zeros in every coding, written by hand.

use super::HostileRequest;
use super::answers::with_headers;

/// How long the bombs are once unpacked.
const SIZE: usize = 64 << 20;

pub(super) fn gzip(_: &HostileRequest<'_>) -> Vec<u8> {
    with_headers("Content-Type: text/html\r\nContent-Encoding: gzip\r\n", &gzipped(SIZE))
}

/// Its length is right, so that only the coding shows that more was meant.
pub(super) fn half_of_gzip(_: &HostileRequest<'_>) -> Vec<u8> {
    let packed = gzipped(100_000);
    let headers = "Content-Type: text/html\r\nContent-Encoding: gzip\r\n";
    with_headers(headers, &packed[..packed.len() / 2])
}

/// The empty file, packed, and then what is no gzip.
pub(super) fn gzip_and_more(_: &HostileRequest<'_>) -> Vec<u8> {
    let empty = [31, 139, 8, 0, 0, 0, 0, 0, 0, 255, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let headers = "Content-Type: text/html\r\nContent-Encoding: gzip\r\n";
    with_headers(headers, &[&empty[..], b"garbage"].concat())
}

/// A file that is packed, rather than an answer.
pub(super) fn gzip_file(_: &HostileRequest<'_>) -> Vec<u8> {
    with_headers("Content-Type: application/gzip\r\n", &gzipped(SIZE))
}

pub(super) fn deflate(_: &HostileRequest<'_>) -> Vec<u8> {
    with_headers("Content-Type: text/html\r\nContent-Encoding: deflate\r\n", &deflated(SIZE))
}

pub(super) fn brotli(_: &HostileRequest<'_>) -> Vec<u8> {
    with_headers("Content-Type: text/html\r\nContent-Encoding: br\r\n", &BROTLI)
}

pub(super) fn zstd(_: &HostileRequest<'_>) -> Vec<u8> {
    with_headers("Content-Type: text/html\r\nContent-Encoding: zstd\r\n", &zstandard(1 << 30))
}

/// Packed twice: the outer layer is stored as it is, so what it holds is the inner bomb.
pub(super) fn nested(_: &HostileRequest<'_>) -> Vec<u8> {
    let outer = gzip_of(&stored(&gzipped(SIZE)));
    with_headers("Content-Type: text/html\r\nContent-Encoding: gzip, gzip\r\n", &outer)
}

/// 64 MiB of zeros as a brotli encoder of the highest quality packs them.
const BROTLI: [u8; 54] = [
    0xcf, 0xff, 0xff, 0x7f, 0xf8, 0x27, 0x00, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x9f, 0xff, 0xff,
    0xff, 0xf0, 0x4f, 0x00, 0xc4, 0x61, 0x01, 0x80, 0xee, 0xfd, 0x3f, 0xff, 0xff, 0xff, 0xe1, 0x9f,
    0x00, 0x88, 0xc3, 0x22, 0x00, 0xdd, 0xfb, 0x7f, 0xfe, 0xff, 0xff, 0xc3, 0x3f, 0x01, 0x10, 0x87,
    0x05, 0x00, 0xba, 0xf7, 0xff, 0x03,
];

fn gzipped(size: usize) -> Vec<u8> {
    gzip_of(&deflated(size))
}

/// A gzip member around a deflate stream. Its checksum is wrong: no reader should get that far.
fn gzip_of(deflate: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    out.extend_from_slice(deflate);
    out.extend_from_slice(&[0; 8]);
    out
}

/// Zeros as a deflate stream: one zero, then "the last byte 258 times" again and again.
fn deflated(size: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    // The only block, with fixed codes.
    bits.push(0b1, 1);
    bits.push(0b01, 2);
    bits.push_code(0b0011_0000, 8);
    for _ in 0..size / 258 {
        bits.push_code(0b1100_0101, 8);
        bits.push_code(0, 5);
    }
    bits.push_code(0, 7);
    bits.finish()
}

/// A deflate stream of stored blocks.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let blocks = bytes.chunks(0xffff);
    let last = blocks.len().saturating_sub(1);
    let mut out = Vec::with_capacity(bytes.len() + 5 * (last + 1));
    for (n, block) in blocks.enumerate() {
        let length = block.len() as u16;
        out.push(u8::from(n == last));
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(block);
    }
    out
}

/// Zeros as a zstd frame: blocks that say "128 KiB of this byte".
fn zstandard(size: usize) -> Vec<u8> {
    const BLOCK: usize = 128 << 10;
    // The magic number, no content size, and a window of 8 MiB.
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 13 << 3];
    let blocks = size / BLOCK;
    for n in 1..=blocks {
        let header = (BLOCK as u32) << 3 | 0b010 | u32::from(n == blocks);
        out.extend_from_slice(&header.to_le_bytes()[..3]);
        out.push(0);
    }
    out
}

/// Bits in the order of deflate.
#[derive(Default)]
struct Bits {
    out: Vec<u8>,
    held: u32,
    count: u32,
}

impl Bits {
    fn push(&mut self, bits: u32, count: u32) {
        self.held |= bits << self.count;
        self.count += count;
        while self.count >= 8 {
            self.out.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    /// Codes, unlike all else, begin with their highest bit.
    fn push_code(&mut self, code: u32, count: u32) {
        self.push(code.reverse_bits() >> (32 - count), count);
    }

    fn finish(mut self) -> Vec<u8> {
        self.push(0, 7);
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bombs_are_small() {
        let size = |answer: fn(&HostileRequest<'_>) -> Vec<u8>| {
            answer(&HostileRequest { host: "", path: "/", nonce: 0 }).len()
        };
        for (bomb, most) in [
            (size(gzip), 500_000),
            (size(deflate), 500_000),
            (size(brotli), 250),
            (size(zstd), 40_000),
            (size(nested), 500_000),
        ] {
            assert!(bomb < most, "{bomb} < {most}");
        }
    }

    #[test]
    fn a_deflated_run_is_as_any_unpacker_would_have_it() {
        // Worked out by hand: block header, a zero, one run, the end.
        assert_eq!(deflated(258), [0x63, 0x18, 0x05, 0x00]);
    }
}
