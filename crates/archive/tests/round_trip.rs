//! Does what was fetched come back, byte for byte, whatever bytes it had?
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test panics")]

use crate::common::{CAP, NOW, Place, id, page, settings};
use evercrawl_archive::{
    Encoder, Exchange, Kind, Original, ReadError, Record, Scan, Scanned, SegmentId, Tls, Truncated,
    Writer, check_file, payload_digest, read_record,
};
use evercrawl_model::Time;
use proptest::prelude::*;

/// Archives exchanges in a new place and gives its one WARC file and its index.
fn archive(place: &Place, exchanges: &[(Exchange, Kind)]) -> (SegmentId, SegmentId) {
    let (mut writer, _) = Writer::open(place.open(), &[], settings(u64::MAX), NOW).unwrap();
    let mut encoder = Encoder::new(6);
    for (n, (exchange, kind)) in exchanges.iter().enumerate() {
        let encoded = encoder.encode(exchange, *kind, id(4 * n), writer.file()).unwrap();
        writer.append(&encoded, NOW).unwrap();
    }
    let last = writer.checkpoint().unwrap();
    let warc = SegmentId::sealed(last.files[0].warc_name());
    let index = SegmentId::sealed(format!("{}.cdxj", last.files[0].name));
    writer.close(&last).unwrap();
    (warc, index)
}

/// What comes back of exchanges, which is the same from memory and from files.
fn records(exchanges: &[(Exchange, Kind)]) -> Vec<Record> {
    let [records, others] = Place::both().map(|place| {
        let (warc, _) = archive(&place, exchanges);
        let segments = place.open();
        assert_eq!(check_file(&*segments, &warc, CAP, |_| {}).unwrap().problems, []);
        let scan = Scan::open(&*segments, &warc, CAP).unwrap();
        scan.map(|scanned| scanned.unwrap().record).collect::<Vec<_>>()
    });
    assert_eq!(records, others);
    records
}

fn text(record: &Record) -> String {
    let headers: String = record.headers().map(|(n, v)| format!("{n}: {v}\n")).collect();
    format!("{headers}\n{}", String::from_utf8_lossy(record.block()).replace('\r', ""))
}

#[test]
fn an_exchange_becomes_a_response_a_request_and_metadata() {
    let exchange = Exchange {
        head: b"HTTP/2 200\r\ncontent-type: text/html\r\n\r\n",
        truncated: Some(Truncated::Length),
        protocol: "h2",
        tls: Some(Tls { version: "tls/1.3", cipher: "TLS13_AES_256_GCM_SHA384" }),
        identified_type: Some("text/html"),
        metadata: &[("via", "http://example.org/"), ("fetchTimeMs", "12")],
        ..page("http://example.org/a b", NOW, b"hello")
    };
    let records = records(&[(exchange, Kind::Response)]);
    assert_eq!(records.len(), 4);
    assert_eq!(
        text(&records[0]),
        "WARC-Type: warcinfo
WARC-Record-ID: <urn:uuid:9dfd1730-dfe8-5ef6-891f-5d966e4489a4>
WARC-Date: 2026-11-15T22:15:50.007Z
WARC-Filename: test-20261115221550007-00001-crawler-1.example.org.warc.gz
Content-Type: application/warc-fields
WARC-Block-Digest: sha1:5R2TO24Y7O2WHIXPKZHGC2SFCX53GMQO
Content-Length: 307

software: Evercrawl test
format: WARC File Format 1.1
conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/
operator: Åse, ase@example.org
http-header-user-agent: Evercrawl (+https://example.org/bot)
robots: obey
hostname: crawler-1.example.org
isPartOf: tests
"
    );
    assert_eq!(
        text(&records[1]),
        "WARC-Type: response
WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>
WARC-Warcinfo-ID: <urn:uuid:9dfd1730-dfe8-5ef6-891f-5d966e4489a4>
WARC-Date: 2026-11-15T22:15:50.007Z
WARC-Target-URI: http://example.org/a%20b
WARC-IP-Address: 192.0.2.1
WARC-Protocol: h2
WARC-Protocol: tls/1.3
WARC-Cipher-Suite: TLS13_AES_256_GCM_SHA384
WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N
WARC-Truncated: length
WARC-Identified-Payload-Type: text/html
Content-Type: application/http; msgtype=response
Content-Length: 47

HTTP/1.1 200 
content-type: text/html

hello"
    );
    assert_eq!(records[2].header("WARC-Type"), Some("request"));
    assert_eq!(records[2].header("WARC-Concurrent-To"), records[1].header("WARC-Record-ID"));
    assert_ne!(records[2].header("WARC-Record-ID"), records[1].header("WARC-Record-ID"));
    assert_eq!(records[2].block(), exchange.request);
    assert_eq!(records[3].header("WARC-Type"), Some("metadata"));
    assert_eq!(records[3].block(), b"via: http://example.org/\r\nfetchTimeMs: 12\r\n");
}

#[test]
fn revisits_keep_the_head_and_say_where_the_payload_is() {
    let original = Original { uri: "http://example.org/", date: Time::from_secs(1_700_000_000) };
    let same = page("http://example.org/b", NOW, b"hello");
    let coded = Exchange { head: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", ..same };
    let not_modified =
        Exchange { head: b"HTTP/1.1 304 Not Modified\r\n\r\n", payload: b"", ..same };
    let records = records(&[
        (coded, Kind::SamePayload(original)),
        (not_modified, Kind::NotModified(original)),
    ]);
    let profile = |n: usize| records[n].header("WARC-Profile").unwrap();
    assert!(profile(1).ends_with("/warc/1.1/revisit/identical-payload-digest"));
    assert!(profile(3).ends_with("/warc/1.1/revisit/server-not-modified"));
    for revisit in [&records[1], &records[3]] {
        assert_eq!(revisit.header("WARC-Type"), Some("revisit"));
        assert_eq!(revisit.header("WARC-Refers-To-Target-URI"), Some("http://example.org/"));
        assert_eq!(revisit.header("WARC-Refers-To-Date"), Some("2023-11-14T22:13:20Z"));
        assert_eq!(
            revisit.header("WARC-Payload-Digest"),
            Some("sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N")
        );
        assert_eq!(revisit.payload(), b"");
    }
    assert_eq!(
        records[1].http_head(),
        b"HTTP/1.1 200 OK\r\nX-Crawler-Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"
    );
}

#[test]
fn the_index_is_sorted_and_complete() {
    for place in Place::both() {
        let original = Original { uri: "http://b.org/", date: NOW };
        let (warc, index) = archive(
            &place,
            &[
                (page("http://b.org/", NOW, b"one"), Kind::Response),
                (page("http://b.org/z", NOW, b"one"), Kind::SamePayload(original)),
                (page("https://www.a.org/x", NOW, b"two"), Kind::Response),
            ],
        );
        let lines = String::from_utf8(place.read(&index)).unwrap();
        let keys: Vec<&str> = lines.lines().map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(keys, ["org,a)/x", "org,b)/", "org,b)/z"]);
        let revisit: serde_json::Value =
            serde_json::from_str(lines.lines().nth(2).unwrap().splitn(3, ' ').nth(2).unwrap())
                .unwrap();
        assert_eq!(revisit["mime"], "warc/revisit");
        assert_eq!(revisit["filename"], warc.name);
        let number = |name: &str| revisit[name].as_str().unwrap().parse::<u64>().unwrap();
        let length = u32::try_from(number("length")).unwrap();
        let record = read_record(&*place.open(), &warc, number("offset"), length, CAP).unwrap();
        assert_eq!(record.header("WARC-Target-URI"), Some("http://b.org/z"));
    }
}

#[test]
fn reading_stops_at_the_cap_and_at_wrong_coordinates() {
    for place in Place::both() {
        let payload = vec![b'a'; 1_000_000];
        let (warc, _) = archive(&place, &[(page("http://a.org/", NOW, &payload), Kind::Response)]);
        let segments = place.open();
        let all: Vec<Scanned> =
            Scan::open(&*segments, &warc, CAP).unwrap().map(Result::unwrap).collect();
        let (offset, length) = (all[1].offset, u32::try_from(all[1].length).unwrap());
        let read = |offset, length, cap| read_record(&*segments, &warc, offset, length, cap);
        assert_eq!(read(offset, length, CAP).unwrap().payload(), payload);
        assert!(matches!(read(offset, length, 500_000), Err(ReadError::TooLarge { cap: 500_000 })));
        assert!(matches!(read(offset, length + 1, CAP), Err(ReadError::Broken(_))));
        assert!(matches!(read(offset, length - 1, CAP), Err(ReadError::Io(_))));
        assert!(matches!(read(offset + 1, length, CAP), Err(ReadError::Io(_))));
        let small: Vec<_> = Scan::open(&*segments, &warc, 500_000).unwrap().collect();
        assert!(small.len() == 3 && small[1].is_err(), "a scan goes on behind what it cannot read");
    }
}

#[test]
fn a_check_finds_every_kind_of_damage() {
    for place in Place::both() {
        let pages = [
            (page("http://b.org/", NOW, b"one"), Kind::Response),
            (page("http://a.org/", NOW, b"two"), Kind::Response),
        ];
        let (warc, index) = archive(&place, &pages);
        let (good_warc, good_index) =
            (place.read(&warc), String::from_utf8(place.read(&index)).unwrap());
        let lines: Vec<&str> = good_index.split_inclusive('\n').collect();
        let wrong_digest = Exchange { payload_digest: [7; 20], ..pages[0].0 };
        let other = Place::files();
        let (lying, lying_index) = archive(&other, &[(wrong_digest, Kind::Response)]);
        let (lying, lying_index) =
            (other.read(&lying), String::from_utf8(other.read(&lying_index)).unwrap());

        let mut flipped = good_warc.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 0x10;
        for (warc_bytes, index_text, problem) in [
            (good_warc.clone(), good_index.clone(), None),
            (good_warc.clone(), format!("{}{}", lines[1], lines[0]), Some("not sorted by bytes")),
            (good_warc.clone(), lines[0].to_owned(), Some("this line is missing: org,b)/")),
            (good_warc.clone(), good_index.repeat(2), Some("2 lines are repeated")),
            (
                good_warc.clone(),
                format!("{good_index}zz 1 {{}}\n"),
                Some("matches no record: zz 1 {}"),
            ),
            (good_warc[..good_warc.len() - 9].to_vec(), good_index.clone(), Some("good records")),
            (flipped, good_index.clone(), Some("good records")),
            (lying, lying_index, Some("payload digest is wrong")),
            (Vec::new(), String::new(), None),
        ] {
            place.put(&warc, &warc_bytes);
            place.put(&index, index_text.as_bytes());
            let problems = check_file(&*place.open(), &warc, CAP, |_| {}).unwrap().problems;
            match problem {
                None => assert_eq!(problems, []),
                Some(words) => {
                    assert!(problems.iter().any(|p| p.what.contains(words)), "{problems:?}")
                }
            }
        }
    }
}

/// Bytes that are likely to hurt: line ends, colons, blanks, high bytes and header names.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\r\n".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r\n\r\n".to_vec()),
        Just(b" \t\r\n".to_vec()),
        Just(b"\xa0\r\n".to_vec()),
        Just(b"HTTP/1.1 200 OK\r\n".to_vec()),
        Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
        Just(b"Content-Length: 5\r\n".to_vec()),
        Just(b"WARC/1.1\r\n".to_vec()),
        prop::collection::vec(any::<u8>(), 0..9),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn hostile_text() -> impl Strategy<Value = String> {
    hostile().prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever the bytes, records keep their frames, the payload comes back, and the head has one
    /// end: `check_file` also holds the index against the records.
    #[test]
    fn any_bytes_come_back(
        uri in prop_oneof![any::<String>(), hostile_text()],
        cipher in prop_oneof![any::<String>(), hostile_text()],
        head in hostile(),
        request in hostile(),
        payload in prop_oneof![hostile(), prop::collection::vec(any::<u8>(), 0..5000)],
        facts in prop::collection::vec((hostile_text(), hostile_text()), 0..3),
        same in any::<bool>(),
    ) {
        let metadata: Vec<(&str, &str)> = facts.iter().map(|(n, v)| (&n[..], &v[..])).collect();
        let exchange = Exchange {
            head: &head,
            request: &request,
            payload_digest: payload_digest(&payload),
            tls: Some(Tls { version: &cipher, cipher: &cipher }),
            identified_type: Some(&cipher),
            metadata: &metadata,
            ..page(&uri, NOW, &payload)
        };
        let original = Original { uri: &uri, date: NOW };
        let kind = if same { Kind::SamePayload(original) } else { Kind::Response };
        let records = records(&[(exchange, kind)]);
        let parts = [true, !request.is_empty(), !facts.is_empty()];
        prop_assert_eq!(records.len(), 1 + parts.iter().filter(|&&part| part).count());
        prop_assert_eq!(records[1].payload(), if same { &b""[..] } else { &payload[..] });
        prop_assert!(records[1].http_head().starts_with(b"HTTP/1."));
        if !request.is_empty() {
            prop_assert_eq!(records[2].block(), &request[..]);
        }
        if !facts.is_empty() {
            let lines = records[records.len() - 1].block().split(|&b| b == b'\n').count();
            prop_assert_eq!(lines, facts.len() + 1);
        }
        let fields = records[1].headers().filter(|(name, _)| name.starts_with("WARC-")).count();
        // A response has the digest of its payload alone; a revisit, that of its block too, and three that refer.
        prop_assert_eq!(fields, if same { 15 } else { 11 });
    }

    /// No file, however broken, does more than end the scan.
    #[test]
    fn any_file_can_be_scanned(bytes in prop::collection::vec(any::<u8>(), 0..300), cut in 0usize..900) {
        let scanned = Place::both().map(|place| {
            let (warc, _) = archive(&place, &[(page("http://a.org/", NOW, b"x"), Kind::Response)]);
            let mut file = place.read(&warc);
            file.truncate(cut);
            file.extend(&bytes);
            place.put(&warc, &file);
            let segments = place.open();
            let found = Scan::open(&*segments, &warc, CAP).unwrap().count();
            (found, check_file(&*segments, &warc, CAP, |_| {}).unwrap())
        });
        prop_assert!(scanned[0].0 <= 5);
        prop_assert_eq!(&scanned[0], &scanned[1]);
    }
}
