//! What do the bytes of a stream stand for? The filters that text is packed by.

use std::io::Read;

use super::file::{File, Stream};
use super::lexer::{Object, from_hex};

/// The most that one stream is unpacked to.
const LARGEST: usize = 16 << 20;
/// Filters one upon another.
const MOST_FILTERS: usize = 4;

/// Unpacks a stream; what is packed as an image, or broken, gives what could be read.
pub(super) fn unpack(stream: &Stream<'_>, file: &mut File<'_>) -> Vec<u8> {
    let filters = file.entry(&stream.dict, "Filter").or_else(|| file.entry(&stream.dict, "F"));
    let filters = match filters {
        Some(Object::Array(list)) => list,
        Some(one @ Object::Name(_)) => vec![one],
        _ => Vec::new(),
    };
    let most = LARGEST.min(file.budget.unpacked);
    if !file.budget.pay(stream.packed.len() / 8 + 1) {
        return Vec::new();
    }
    let mut bytes = stream.packed[..stream.packed.len().min(most)].to_vec();
    for filter in filters.iter().take(MOST_FILTERS) {
        let Some(Object::Name(name)) = file.resolve(filter) else { return Vec::new() };
        bytes = match name.as_slice() {
            b"FlateDecode" | b"Fl" => inflate(&bytes, most),
            b"ASCIIHexDecode" | b"AHx" => {
                from_hex(bytes.split(|b| *b == b'>').next().unwrap_or_default())
            }
            b"ASCII85Decode" | b"A85" => from_ascii85(&bytes),
            b"LZWDecode" | b"LZW" => from_lzw(&bytes, most),
            _ => return Vec::new(),
        };
    }
    file.budget.unpacked = file.budget.unpacked.saturating_sub(bytes.len());
    if file.budget.pay(bytes.len() / 8) { bytes } else { Vec::new() }
}

fn inflate(packed: &[u8], most: usize) -> Vec<u8> {
    let mut out = Vec::new();
    // A broken stream gives what comes before the break.
    let _ = flate2::read::ZlibDecoder::new(packed).take(most as u64).read_to_end(&mut out);
    out
}

fn from_ascii85(text: &[u8]) -> Vec<u8> {
    let (mut out, mut group, mut count) = (Vec::new(), 0_u32, 0);
    for &byte in text {
        match byte {
            b'~' => break,
            b'z' if count == 0 => out.extend([0; 4]),
            b'!'..=b'u' => {
                group = group.wrapping_mul(85).wrapping_add(u32::from(byte - b'!'));
                count += 1;
                if count == 5 {
                    out.extend(group.to_be_bytes());
                    (group, count) = (0, 0);
                }
            }
            _ => {}
        }
    }
    if count > 1 {
        for _ in count..5 {
            group = group.wrapping_mul(85).wrapping_add(84);
        }
        out.extend(&group.to_be_bytes()[..count - 1]);
    }
    out
}

/// LZW as PDF has it: codes of nine to twelve bits, which grow one code early.
fn from_lzw(packed: &[u8], most: usize) -> Vec<u8> {
    const CLEAR: usize = 256;
    const END: usize = 257;
    let (mut out, mut table) = (Vec::new(), Vec::<(usize, usize)>::new());
    let (mut bits, mut held, mut width) = (0_u32, 0, 9);
    let mut last: Option<(usize, usize)> = None;
    for &byte in packed {
        (bits, held) = (bits << 8 | u32::from(byte), held + 8);
        if held < width {
            continue;
        }
        held -= width;
        let code = (bits >> held) as usize & ((1 << width) - 1);
        if code == END || out.len() >= most {
            break;
        }
        if code == CLEAR {
            table.clear();
            (width, last) = (9, None);
            continue;
        }
        // Each code names a piece of what was written before.
        let start = out.len();
        match (table.get(code.wrapping_sub(258)).copied(), last) {
            (None, None) if code < 256 => out.push(code as u8),
            (Some((from, to)), _) => out.extend_from_within(from..to),
            (None, Some(_)) if code < 256 => out.push(code as u8),
            (None, Some((from, to))) if code == 258 + table.len() => {
                out.extend_from_within(from..to);
                out.extend_from_within(from..=from);
            }
            _ => break,
        }
        if let Some((from, to)) = last.filter(|_| table.len() < 3838) {
            table.push((from, to + 1));
        }
        last = Some((start, out.len()));
        // One entry is added after this code.
        width = match 258 + table.len() + 1 {
            0..=511 => 9,
            512..=1023 => 10,
            1024..=2047 => 11,
            _ => 12,
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_bytes_are_unpacked() {
        assert_eq!(from_ascii85(b"87cURD]i,\"Ebo80~>"), b"Hello World!");
        assert_eq!(from_ascii85(b"z~>"), [0; 4]);
        // The example of the standard.
        let packed = [0x80, 0x0B, 0x60, 0x50, 0x22, 0x0C, 0x0C, 0x85, 0x01];
        assert_eq!(from_lzw(&packed, 100), [45, 45, 45, 45, 45, 65, 45, 45, 45, 66]);
        for broken in [&b"\xff\xff\xff"[..], b"\x80", b"", b"\x80\x7f\xff\xff"] {
            let _ = from_lzw(broken, 100);
        }
    }

    #[test]
    fn a_bomb_is_unpacked_to_its_cap() {
        use std::io::Write;
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&vec![0; 1 << 20]).unwrap_or_default();
        let packed = encoder.finish().unwrap_or_default();
        assert_eq!(inflate(&packed, 1000).len(), 1000);
    }
}
