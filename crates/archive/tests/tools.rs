//! Do the tools of web archives accept what is written here, and replay it?
//!
//! `python3 -m venv V && V/bin/pip install warcio pywb`, then `TEST_TOOLS=V/bin cargo test`.
//! Without the variable the tools are looked for on the PATH; without them the tests are skipped.
#![allow(
    clippy::unwrap_used,
    clippy::explicit_write,
    reason = "a failing test panics, a skipped one is loud"
)]

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::common::{CAP, NOW, id, page, settings};
use evercrawl_archive::{
    Encoder, Exchange, FileSegments, Kind, Original, Scan, Scanned, SegmentId, Tls, Truncated,
    Writer,
};
use evercrawl_model::Time;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::Value;

const PAGE: &[u8] = b"<html>\xff\x00 caf\xe9 <a href='/x'>not rewritten</a>\r\n\r\n</html>";
const GZIP: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xcbH\xcd\xc9\xc9\x07\x00\x86\xa6\x106\x05\x00\x00\x00";

fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("TEST_TOOLS").or_else(|| std::env::var_os("PATH"))?;
    let found = std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file());
    if found.is_none() {
        // Not by `eprintln`, which the test runner keeps to itself.
        let why = "is neither in $TEST_TOOLS nor on the PATH";
        writeln!(std::io::stderr(), "SKIPPED: {name} {why}").unwrap();
    }
    found
}

fn in_files(dir: &Path) -> Arc<FileSegments> {
    Arc::new(FileSegments::new(dir))
}

/// What we find in a sealed WARC file.
fn scan(warc: &Path) -> Vec<Scanned> {
    let segments = in_files(warc.parent().unwrap());
    let name = warc.file_name().unwrap().to_str().unwrap();
    let scan = Scan::open(&*segments, &SegmentId::sealed(name), CAP).unwrap();
    scan.map(Result::unwrap).collect()
}

fn later(seconds: u64) -> Time {
    NOW.after(Duration::from_secs(seconds))
}

/// Two small files: a page, a chunked and compressed one, a redirect, an odd URL, and revisits of
/// the first under its own and another URL, and by a 304.
fn write_sample(dir: &Path) -> Vec<PathBuf> {
    let original = Original { uri: "http://example.org/", date: NOW };
    let first = page("http://example.org/", NOW, PAGE);
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\
        Content-Encoding: gzip\r\nContent-Type: text/plain\r\n\r\n";
    let moved = b"HTTP/2 301\r\nlocation: http://example.org/\r\n\r\n";
    let tls = Some(Tls { version: "tls/1.3", cipher: "TLS13_AES_128_GCM_SHA256" });
    let not_modified = b"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n";
    let exchanges = [
        (first, Kind::Response),
        (Exchange { head: chunked, ..page("http://example.org/gz", NOW, GZIP) }, Kind::Response),
        (
            Exchange {
                head: moved,
                protocol: "h2",
                tls,
                ..page("https://example.org/m", NOW, b"")
            },
            Kind::Response,
        ),
        (
            Exchange {
                truncated: Some(Truncated::Disconnect),
                metadata: &[("via", "http://example.org/")],
                ..page("http://www.example.org/Ü b?q=1&a=\"", NOW, b"cut")
            },
            Kind::Response,
        ),
        (Exchange { date: later(60), ..first }, Kind::SamePayload(original)),
        (Exchange { uri: "http://example.org/copy", ..first }, Kind::SamePayload(original)),
        (
            Exchange { date: later(120), head: not_modified, payload: b"", ..first },
            Kind::NotModified(original),
        ),
    ];
    let (mut writer, _) = Writer::open(in_files(dir), &[], settings(2000), NOW).unwrap();
    let mut encoder = Encoder::new(1);
    for (n, (exchange, kind)) in exchanges.iter().enumerate() {
        let mut encode = |file| encoder.encode(exchange, *kind, id(4 * n), file).unwrap();
        let encoded = encode(writer.file());
        if writer.append(&encoded, NOW).is_err() {
            writer.append(&encode(writer.file()), NOW).unwrap();
        }
    }
    let last = writer.checkpoint().unwrap();
    writer.close(&last).unwrap();
    last.files.iter().map(|file| dir.join(file.warc_name())).collect()
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn warcio_finds_every_record_and_every_digest_right() {
    let Some(warcio) = tool("warcio") else { return };
    let dir = tempfile::tempdir().unwrap();
    let files = write_sample(dir.path());
    assert!(files.len() > 1, "the sample spans several files");
    for file in files {
        let records = scan(&file);
        let checked = run(Command::new(&warcio).args(["check", "-v"]).arg(&file));
        // A revisit's payload is elsewhere, so warcio leaves its digests alone.
        let good = ["digest pass", "not checked (revisit)"].map(|w| checked.matches(w).count());
        assert_eq!(good.iter().sum::<usize>(), records.len(), "{checked}");
        let index = run(Command::new(&warcio).args(["index", "-f", "offset,length"]).arg(&file));
        let places: Vec<String> = records
            .iter()
            .map(|r| format!("{{\"offset\": \"{}\", \"length\": \"{}\"}}", r.offset, r.length))
            .collect();
        assert_eq!(index.lines().collect::<Vec<_>>(), places);
    }
}

#[test]
fn warcio_finds_the_payload_behind_any_head() {
    let Some(warcio) = tool("warcio") else { return };
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = Writer::open(in_files(dir.path()), &[], settings(u64::MAX), NOW).unwrap();
    let mut encoder = Encoder::new(1);
    let heads: [&[u8]; 12] = [
        b"",
        b"\r\n\r\n",
        b"HTTP/1.1 200 OK",
        b"HTTP/1.1 200 OK\nA: b\n\n",
        b"ICY 200 OK\r\nA: b\r\n\r\n",
        b"HTTP/2 204\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n \t\r\nA: b\r\n\xa0\r\n\xc2\xa0\r\n\x1c\r\n\x85\r\nC: d\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\x00\xff: \xe9\r\nno colon\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nContent-Length: 77\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nWARC/1.1\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\rA: b\r\r\n\r\r\nC: d\r\n\r\n",
    ];
    for (n, head) in heads.into_iter().enumerate() {
        let exchange = Exchange { head, ..page("http://example.org/", NOW, b"\r\n\r\n5\r\nWARC") };
        let encoded = encoder.encode(&exchange, Kind::Response, id(4 * n), writer.file()).unwrap();
        writer.append(&encoded, NOW).unwrap();
    }
    let last = writer.checkpoint().unwrap();
    writer.close(&last).unwrap();
    let file = dir.path().join(last.files[0].warc_name());
    let checked = run(Command::new(&warcio).args(["check", "-v"]).arg(&file));
    assert_eq!(checked.matches("digest pass").count(), 1 + 2 * heads.len(), "{checked}");
}

/// Pieces that heads and payloads are made of, so that readers could take one for the other.
const PIECES: [&[u8]; 16] = [
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.0 404\n",
    b"HTTP/2 200\r\n",
    b"Content-Type: text/html\r\n",
    b"Content-Length: 3\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Encoding: gzip\r\n",
    b" folded\r\n",
    b"no colon\r\n",
    b"\xc3\xa9\xff\x00: \x85\r\n",
    b"\r\n",
    b"\r\n\r\n",
    b"\n",
    b"WARC/1.1\r\nWARC-Type: response\r\n",
    b"\x1f\x8b\x08\x00",
    b"5\r\nhello\r\n0\r\n\r\n",
];

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => proptest::sample::select(&PIECES[..]).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..300),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// Another reader of the format, written by others, finds the same records in the same places, of the
/// same types and URLs, and every digest right.
#[test]
fn warcio_reads_whatever_is_written_as_we_do() {
    let Some(warcio) = tool("warcio") else { return };
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = Writer::open(in_files(dir.path()), &[], settings(u64::MAX), NOW).unwrap();
    let mut encoder = Encoder::new(1);
    let mut dice = TestRunner::deterministic();
    let uri = proptest::string::string_regex("http://[a-z]{1,8}\\.test/[!-~]{0,40}").unwrap();
    let drawn = (uri, bytes(), bytes(), any::<bool>());
    let original = Original { uri: "http://example.org/", date: NOW };
    for n in 0..400 {
        let (uri, head, payload, again) = drawn.new_tree(&mut dice).unwrap().current();
        let kind = if again { Kind::SamePayload(original) } else { Kind::Response };
        let exchange = Exchange { head: &head, ..page(&uri, NOW, &payload) };
        let encoded = encoder.encode(&exchange, kind, id(4 * n), writer.file()).unwrap();
        writer.append(&encoded, NOW).unwrap();
    }
    let last = writer.checkpoint().unwrap();
    writer.close(&last).unwrap();
    let file = dir.path().join(last.files[0].warc_name());
    let records = scan(&file);
    let checked = run(Command::new(&warcio).args(["check", "-v"]).arg(&file));
    let good = ["digest pass", "not checked (revisit)"].map(|w| checked.matches(w).count());
    assert_eq!(good.iter().sum::<usize>(), records.len(), "{checked}");
    let fields = "offset,length,warc-type,warc-target-uri";
    let index = run(Command::new(&warcio).args(["index", "-f", fields]).arg(&file));
    let theirs = index.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    for (theirs, ours) in theirs.zip(&records) {
        assert_eq!(theirs["offset"], ours.offset.to_string());
        assert_eq!(theirs["length"], ours.length.to_string());
        for (field, header) in [("warc-type", "WARC-Type"), ("warc-target-uri", "WARC-Target-URI")]
        {
            assert_eq!(theirs.get(field).and_then(Value::as_str), ours.record.header(header));
        }
    }
    assert_eq!(index.lines().count(), records.len());
}

/// A replay server that ends with the test.
struct Wayback(Child, u16);

impl Wayback {
    fn start(program: &Path, dir: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Command::new(program)
            .args(["-b", "127.0.0.1", "-p", &port.to_string()])
            .current_dir(dir)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Wayback(server, port);
        let (_never, pause) = mpsc::channel::<()>();
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return server;
            }
            pause.recv_timeout(Duration::from_millis(100)).unwrap_err();
        }
        panic!("the replay server did not start");
    }

    /// Head and body of what is replayed for `url` at `time`, unchanged (`id_`).
    fn get(&self, time: Time, url: &str) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.1)).unwrap();
        let path = format!("/sample/{}id_/{url}", time.digits14());
        let fields = "Host: localhost\r\nAccept-Encoding: gzip";
        write!(stream, "GET {path} HTTP/1.0\r\n{fields}\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
        let body = answer.split_off(end);
        (String::from_utf8_lossy(&answer).into_owned(), body)
    }
}

impl Drop for Wayback {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn pywb_replays_pages_and_revisits_byte_for_byte() {
    let Some(wayback) = tool("wayback") else { return };
    let dir = tempfile::tempdir().unwrap();
    let collection = dir.path().join("collections/sample");
    let (archive, indexes) = (collection.join("archive"), collection.join("indexes"));
    fs::create_dir_all(&indexes).unwrap();
    for warc in write_sample(&archive) {
        let index = warc.to_str().unwrap().replace(".warc.gz", ".cdxj");
        fs::rename(&index, indexes.join(Path::new(&index).file_name().unwrap())).unwrap();
    }
    let server = Wayback::start(&wayback, dir.path());
    for (time, url, status, body) in [
        (NOW, "http://example.org/", "200 OK", PAGE),
        (later(60), "http://example.org/", "200 OK", PAGE),
        (NOW, "http://example.org/copy", "200 OK", PAGE),
        (NOW, "http://example.org/gz", "200 OK", GZIP),
        (NOW, "http://www.example.org/%C3%9C%20b?q=1&a=%22", "200 OK", b"cut"),
        (later(120), "http://example.org/", "200 OK", PAGE),
    ] {
        let (head, replayed) = server.get(time, url);
        assert!(head.lines().next().unwrap().ends_with(status), "{url}: {head}");
        assert_eq!(replayed, body, "{url}: {head}");
    }
}
