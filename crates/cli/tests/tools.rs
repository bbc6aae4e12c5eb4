//! Do other people's tools read the archive of a crawl, find everything in its index, and replay
//! its pages?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::common::tools::{records, tool, warcio_accepts};
use crate::common::web::Web;
use crate::common::{Place, wait_until};
use evercrawl_archive::{Scanned, surt};
use evercrawl_testweb::{PageShares, WorldConfig};
use serde_json::Value;

const HOSTS: u32 = 6;

/// A crawl whose archive has all there is: several files, redirects, duplicates, and visits
/// that found nothing changed.
fn crawl() -> (Web, Place) {
    let shares = PageShares { duplicate: 0.2, ..WorldConfig::calm().page_shares };
    let world = WorldConfig { hosts: HOSTS, pages: 15, page_shares: shares, ..WorldConfig::calm() };
    let (web, place) = (Web::serve(world), Place::new());
    let flags = format!("--delay 10ms --recrawl 1s -s archive.roll=60kB {}", web.flags());
    place.run(&format!("crawl --once {} {flags}", web.seeds(HOSTS).join(" "))).expect(0);
    place.run("crawl --for 3s").expect(15);
    (web, place)
}

#[test]
fn others_read_the_archive() {
    let (web, place) = crawl();
    place.run("check").expect(0);
    let files = place.archive_files(".warc.gz");
    assert!(files.len() > 2, "several files were wanted: {files:?}");
    the_index_is_sorted_and_complete(&place);
    warcio_accepts(&files);
    if let Some(wayback) = tool("wayback") {
        pywb_replays_every_page(&wayback, &web, &place);
    }
}

/// Whether a record belongs into the index: not a 304, which would be replayed as an empty page.
fn is_capture(scanned: &Scanned) -> bool {
    let answer = matches!(scanned.record.header("WARC-Type"), Some("response" | "revisit"));
    answer && !scanned.record.http_head().starts_with(b"HTTP/1.1 304")
}

fn the_index_is_sorted_and_complete(place: &Place) {
    let mut kinds = BTreeSet::new();
    for warc in place.archive_files(".warc.gz") {
        let index = warc.to_string_lossy().replace(".warc.gz", ".cdxj");
        let text = fs::read_to_string(index).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.is_sorted(), "as bytes, as `LC_ALL=C sort` has it");
        let mut listed: Vec<_> = lines.iter().map(|line| entry(line)).collect();
        let captures = records(&warc).into_iter().filter(is_capture);
        let name = warc.file_name().unwrap().to_string_lossy().into_owned();
        let mut held: Vec<_> = captures.map(|capture| held(&capture, &name)).collect();
        kinds.extend(held.iter().map(|capture| capture.5.clone()));
        listed.sort();
        held.sort();
        assert_eq!(listed, held);
    }
    assert!(kinds.contains("response") && kinds.contains("revisit"), "{kinds:?}");
}

/// Key, URL, file, offset, length, and whether it is a revisit.
type Capture = (String, String, String, String, String, String);

/// What a line of the index says.
fn entry(line: &str) -> Capture {
    let mut parts = line.splitn(3, ' ');
    let (key, time, json) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    let json: Value = serde_json::from_str(json).unwrap();
    let field = |name: &str| json[name].as_str().unwrap().to_owned();
    let revisit = json["mime"] == "warc/revisit";
    let kind = if revisit { "revisit" } else { "response" };
    assert!(field("digest").len() >= 32 && field("status").len() == 3, "{line}");
    (
        format!("{key} {time}"),
        field("url"),
        field("filename"),
        field("offset"),
        field("length"),
        kind.to_owned(),
    )
}

/// What it should say of a record.
fn held(capture: &Scanned, file: &str) -> Capture {
    let field = |name: &str| capture.record.header(name).unwrap().to_owned();
    let url = field("WARC-Target-URI");
    let digits: String = field("WARC-Date").chars().filter(char::is_ascii_digit).collect();
    let key = format!("{} {}", surt(&url), &digits[..14]);
    let (offset, length) = (capture.offset.to_string(), capture.length.to_string());
    (key, url, file.to_owned(), offset, length, field("WARC-Type"))
}

/// A replay server that ends with the test.
pub(crate) struct Wayback(Child, pub(crate) SocketAddr);

impl Wayback {
    pub(crate) fn start(program: &Path, dir: &Path) -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let server = Command::new(program)
            .args(["-b", "127.0.0.1", "-p", &address.port().to_string()])
            .current_dir(dir)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Wayback(server, address);
        wait_until("the replay server", || TcpStream::connect(address).is_ok());
        server
    }
}

impl Drop for Wayback {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Status and body that a server has for a path.
pub(crate) fn get(server: SocketAddr, host: &str, path: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(server).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
    let body = answer.split_off(end);
    let head = String::from_utf8_lossy(&answer).into_owned();
    (head.split(' ').nth(1).unwrap().to_owned(), body)
}

/// Byte for byte as the server has it.
fn pywb_replays_every_page(wayback: &Path, web: &Web, place: &Place) {
    let dir = tempfile::tempdir().unwrap();
    let collection = dir.path().join("collections/crawl");
    for (ending, into) in [(".warc.gz", "archive"), (".cdxj", "indexes")] {
        fs::create_dir_all(collection.join(into)).unwrap();
        for file in place.archive_files(ending) {
            fs::copy(&file, collection.join(into).join(file.file_name().unwrap())).unwrap();
        }
    }
    let server = Wayback::start(wayback, dir.path());
    let mut replayed = 0;
    let answers = |page: &&Value| page["status"] == 200 || page["status"] == 304;
    for page in place.urls().iter().filter(answers) {
        let url = page["url"].as_str().unwrap();
        let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let (_, original) = get(web.address(), host, &format!("/{path}"));
        // The last capture of most is a revisit, so this also finds what they refer to.
        let (status, body) = get(server.1, "localhost", &format!("/crawl/2100id_/{url}"));
        assert_eq!(status, "200", "{url}");
        assert_eq!(body, original, "{url}");
        replayed += 1;
    }
    assert!(replayed > 50, "{replayed}");
}
