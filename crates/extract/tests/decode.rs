//! Does the decoder undo every coding, survive every fault, and stay within its caps?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;

use evercrawl_extract::decode::{Coding, DecodeLimits, Decoded, Truncation, decode};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;

const CODINGS: [&str; 4] = ["gzip", "deflate", "br", "zstd"];
const ROOMY: DecodeLimits = DecodeLimits { bytes: 256 << 20, ratio: 1_000_000 };

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn raw_deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn pack(coding: &str, bytes: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" => gzip(bytes),
        "deflate" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        "br" => {
            let mut packed = Vec::new();
            let options = brotli::enc::BrotliEncoderParams { quality: 3, ..Default::default() };
            brotli::BrotliCompress(&mut &*bytes, &mut packed, &options).unwrap();
            packed
        }
        "zstd" => zstd::encode_all(bytes, 1).unwrap(),
        _ => bytes.to_vec(),
    }
}

/// Text that packs, but not to nothing.
fn sample(length: usize) -> Vec<u8> {
    let words = (0u64..).map(|n| format!("{} ", n.wrapping_mul(0x9e37_79b9) % 1_000_003));
    words.flat_map(String::into_bytes).take(length).collect()
}

fn whole(decoded: &Decoded<'_>) -> Vec<u8> {
    assert_eq!(decoded.cut, None);
    decoded.bytes.to_vec()
}

#[test]
fn undoes_every_coding_and_stacks_of_them() {
    let page = sample(100_000);
    for coding in CODINGS {
        assert_eq!(whole(&decode(coding, &pack(coding, &page), ROOMY)), page, "{coding}");
        assert_eq!(whole(&decode(coding, &pack(coding, b""), ROOMY)), b"", "{coding}");
    }
    for header in ["GZip", "x-gzip", " gzip ,", "identity, gzip"] {
        assert_eq!(whole(&decode(header, &gzip(&page), ROOMY)), page, "{header}");
    }
    for header in ["", "identity", "none", " , "] {
        assert_eq!(whole(&decode(header, &page, ROOMY)), page, "{header}");
    }
    let stacked = pack("br", &pack("zstd", &gzip(&page)));
    assert_eq!(whole(&decode("gzip, zstd, br", &stacked, ROOMY)), page);
    assert_eq!(whole(&decode("deflate", &raw_deflate(&page), ROOMY)), page);
}

#[test]
fn many_members_are_one_body_and_junk_behind_them_is_ignored() {
    let (first, second) = (sample(5_000), b"second".to_vec());
    let both = [first.clone(), second.clone()].concat();
    for coding in ["gzip", "zstd"] {
        let mut packed = [pack(coding, &first), pack(coding, &second)].concat();
        assert_eq!(whole(&decode(coding, &packed, ROOMY)), both, "{coding}");
        packed.extend_from_slice(b"\0\0\0junk");
        assert_eq!(whole(&decode(coding, &packed, ROOMY)), both, "{coding}");
    }
    let skippable =
        [&[0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9][..], &pack("zstd", &first)].concat();
    assert_eq!(whole(&decode("zstd", &skippable, ROOMY)), first);
    let endless = gzip(b"").repeat(100_000);
    assert!(matches!(decode("gzip", &endless, ROOMY).cut, Some(Truncation::Corrupt { .. })));
}

#[test]
fn what_came_before_a_break_is_kept() {
    let page = sample(400_000);
    for coding in CODINGS {
        let packed = pack(coding, &page);
        let decoded = decode(coding, &packed[..packed.len() / 2], ROOMY);
        assert!(
            matches!(decoded.cut, Some(Truncation::Corrupt { at, .. }) if at == decoded.bytes.len())
        );
        assert!(decoded.bytes.len() > 50_000, "{coding}: {}", decoded.bytes.len());
        assert!(page.starts_with(&decoded.bytes), "{coding}");
    }
    for coding in CODINGS {
        let packed = pack(coding, &page);
        // So few bytes of brotli could as well be text.
        let least = if coding == "br" { 8 } else { 1 };
        for length in least..30 {
            let decoded = decode(coding, &packed[..length], ROOMY);
            assert!(decoded.is_broken(), "{length} bytes of {coding}: {:?}", decoded.cut);
        }
    }
    let mut packed = gzip(&page);
    let end = packed.len();
    packed[end - 6] ^= 1;
    let decoded = decode("gzip", &packed, ROOMY);
    assert_eq!(decoded.bytes, page);
    assert_eq!(decoded.cut, Some(Truncation::Corrupt { coding: Coding::Gzip, at: page.len() }));
}

#[test]
fn what_is_not_coded_at_all_is_handed_back() {
    let page = b"<html>plain, whatever the header says</html>";
    for coding in CODINGS {
        let decoded = decode(coding, page, ROOMY);
        assert_eq!(&*decoded.bytes, page, "{coding}");
        assert_eq!(decoded.cut, Some(Truncation::Mislabelled), "{coding}");
        assert!(!decoded.is_broken());
    }
    for header in ["compress", "utf-8", "gzip, sdch", "gzip, gzip, gzip, gzip"] {
        assert_eq!(decode(header, b"", ROOMY).bytes.len(), 0);
        let cut = decode(header, &pack("gzip", page), ROOMY).cut;
        assert!(cut.is_some(), "{header}");
    }
    assert_eq!(
        decode("sdch", page, ROOMY),
        Decoded { bytes: page.into(), cut: Some(Truncation::UnknownCoding) }
    );
}

#[test]
fn a_bomb_gives_its_cap_and_no_more() {
    let zeros = vec![0; 48 << 20];
    for coding in CODINGS {
        let bomb = pack(coding, &zeros);
        let decoded = decode(coding, &bomb, DecodeLimits { bytes: 3 << 20, ratio: 1_000_000 });
        assert_eq!(
            (decoded.bytes.len(), decoded.cut),
            (3 << 20, Some(Truncation::Size)),
            "{coding}"
        );
        let room = decoded.bytes.into_owned().capacity();
        assert!(room <= (3 << 20) + 1, "{coding} took {room} bytes");

        let decoded = decode(coding, &bomb, DecodeLimits { bytes: 256 << 20, ratio: 50 });
        let most = (50 * bomb.len()).max(1 << 20);
        assert_eq!((decoded.bytes.len(), decoded.cut), (most, Some(Truncation::Ratio)), "{coding}");
    }
    let twice = gzip(&gzip(&zeros));
    let decoded = decode("gzip, gzip", &twice, DecodeLimits { bytes: 1 << 20, ratio: 1_000_000 });
    assert_eq!((decoded.bytes.len(), decoded.cut), (1 << 20, Some(Truncation::Size)));
}

#[test]
fn a_body_of_exactly_the_cap_is_whole() {
    let page = sample(70_000);
    for coding in CODINGS {
        let packed = pack(coding, &page);
        assert_eq!(
            whole(&decode(coding, &packed, DecodeLimits { bytes: 70_000, ratio: 250 })),
            page
        );
        let decoded = decode(coding, &packed, DecodeLimits { bytes: 69_999, ratio: 250 });
        assert_eq!(
            (decoded.bytes.len(), decoded.cut),
            (69_999, Some(Truncation::Size)),
            "{coding}"
        );
        assert_eq!(
            decode(coding, &packed, DecodeLimits { bytes: 0, ratio: 0 }).cut,
            Some(Truncation::Size)
        );
    }
}

#[test]
fn a_zstd_window_too_large_to_hold_is_refused() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(27).unwrap();
    encoder.write_all(&sample(200_000)).unwrap();
    let packed = encoder.finish().unwrap();
    assert!(matches!(decode("zstd", &packed, ROOMY).cut, Some(Truncation::Corrupt { at: 0, .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn any_bytes_under_any_header_stay_within_the_cap(
        body in prop::collection::vec(any::<u8>(), 0..600),
        header in "(gzip|deflate|br|zstd|x)(, (gzip|deflate|br|zstd))?",
        magic in 0usize..4,
        cap in 0usize..3_000,
    ) {
        let magic: &[u8] = [&[][..], &[0x1f, 0x8b, 8, 0], &[0x78, 0x9c], &[0x28, 0xb5, 0x2f, 0xfd]][magic];
        let body = [magic, &body].concat();
        let decoded = decode(&header, &body, DecodeLimits { bytes: cap, ratio: 250 });
        prop_assert!(decoded.bytes.len() <= cap.max(body.len()));
    }

    #[test]
    fn damage_anywhere_leaves_a_true_prefix_or_another_body(
        at in 0usize..1_000,
        flip in 1u8..,
        coding in prop::sample::select(&CODINGS[..]),
    ) {
        let mut packed = pack(coding, &sample(20_000));
        let index = at * packed.len() / 1_000;
        packed[index] ^= flip;
        let decoded = decode(coding, &packed, DecodeLimits { bytes: 1 << 20, ratio: 250 });
        prop_assert!(decoded.bytes.len() <= 1 << 20);
    }
}
