//! Which gzip level pays? Encodes the files given as arguments, or invented pages, at each level.
//!
//! `cargo run --release -p evercrawl-archive --example levels -- $(find DIR -name '*.html' -size -200k)`
#![allow(clippy::print_stdout, reason = "it prints its findings")]

use evercrawl_archive::{Encoder, Exchange, FileId, Kind, Uuid, payload_digest};
use evercrawl_model::Time;

/// The best of so many passes counts: whatever else the machine does can only add time.
const PASSES: usize = 9;

fn main() -> std::io::Result<()> {
    let pages: Vec<Vec<u8>> =
        std::env::args().skip(1).map(std::fs::read).collect::<Result<_, _>>()?;
    let pages = if pages.is_empty() { invented() } else { pages };
    let bytes: usize = pages.iter().map(Vec::len).sum();
    println!("{} pages, mean {} bytes", pages.len(), bytes / pages.len());
    let digests: Vec<[u8; 20]> = pages.iter().map(|page| payload_digest(page)).collect();
    println!("level  ms a page   MB/s  size %");
    for level in [1, 2, 3, 4, 5, 6, 9] {
        let mut encoder = Encoder::new(level);
        let (mut seconds, mut size) = (f64::INFINITY, 0);
        for _ in 0..PASSES {
            let started = cpu_seconds()?;
            size = pages
                .iter()
                .zip(&digests)
                .map(|(page, digest)| encode(&mut encoder, page, *digest))
                .sum();
            seconds = seconds.min(cpu_seconds()? - started);
        }
        println!(
            "{level:5}  {:9.3}  {:5.0}  {:6.1}",
            seconds * 1e3 / pages.len() as f64,
            bytes as f64 / seconds / 1e6,
            size as f64 * 100.0 / bytes as f64,
        );
    }
    Ok(())
}

/// CPU time of this thread, which a busy machine does not lengthen much (Linux only).
fn cpu_seconds() -> std::io::Result<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text.split(' ').next().and_then(|n| n.parse::<f64>().ok());
    Ok(nanoseconds.unwrap_or(f64::NAN) / 1e9)
}

fn encode(encoder: &mut Encoder, payload: &[u8], payload_digest: [u8; 20]) -> usize {
    let exchange = Exchange {
        uri: "https://docs.example.org/reference/chapter-12/section.html",
        date: Time::from_secs(1_794_780_950),
        ip: Some([192, 0, 2, 1].into()),
        request: b"GET /reference/chapter-12/section.html HTTP/1.1\r\nHost: docs.example.org\r\n\
            User-Agent: Evercrawl/0.1 (+https://example.org/bot)\r\nAccept: */*\r\n\r\n",
        head: b"HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Sun, 15 Nov 2026 22:15:50 GMT\r\n\
            Content-Type: text/html\r\nLast-Modified: Mon, 02 Nov 2026 10:00:00 GMT\r\n\
            ETag: \"6725f3a0-80e8\"\r\nAccept-Ranges: bytes\r\n\r\n",
        payload,
        payload_digest,
        truncated: None,
        protocol: "http/1.1",
        tls: None,
        identified_type: None,
        metadata: &[],
    };
    let file = FileId { serial: 1, warcinfo: Uuid::named("levels") };
    encoder.encode(&exchange, Kind::Response, [7; 16], file).map_or(0, |encoded| encoded.size())
}

/// Pages of about 38 kB out of a small vocabulary: a stand-in where no real ones are at hand.
fn invented() -> Vec<Vec<u8>> {
    (0..100_usize).map(|page| (0..1100).map(|n| line(page, n)).collect::<String>().into()).collect()
}

fn line(page: usize, n: usize) -> String {
    let word = (page * 31 + n * n * 7) % 1009;
    format!("<li><a href=\"/w/{word}\">w{n}</a></li>\n")
}
