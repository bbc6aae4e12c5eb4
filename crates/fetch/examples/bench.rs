//! What does a fetch cost beside the same loop over a bare hyper connection?
//!
//! `cargo run --release -p evercrawl-fetch --example bench [fetches] [body bytes]`
//!
//! One keep-alive connection to a trivial server in another thread; CPU time of the fetching thread
//! alone, and the best of many short rounds in turns, so that other work on the machine hardly counts.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measuring program, not the product"
)]

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use evercrawl_fetch::{AllowPrivate, Client, FetchConfig, Identity, Request};
use http_body_util::{BodyExt, Empty};
use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

const ROUNDS: usize = 20;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>().unwrap());
    let fetches = arguments.next().unwrap_or(1000);
    let body = arguments.next().unwrap_or(32_800);
    let address = start_server(body);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (mut bare, mut ours) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        bare = bare.min(runtime.block_on(cpu_of(bare_loop(address, fetches))));
        // A new one each round, as above: on which core the server's thread lands matters more than
        // anything measured here.
        let client = client();
        ours = ours.min(runtime.block_on(cpu_of(our_loop(&client, address, fetches))));
    }
    let each = |cpu: Duration| cpu.as_secs_f64() * 1e6 / fetches as f64;
    println!("body of {body} bytes, best of {ROUNDS} rounds of {fetches} fetches, CPU us a fetch:");
    println!("hyper alone {:.2}, evercrawl {:.2}", each(bare), each(ours));
    println!("ratio {:.2}", each(ours) / each(bare));
}

/// Answers every request with the same page, on threads of its own.
fn start_server(body: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let head = format!(
        "HTTP/1.1 200 OK\r\nServer: bench\r\nDate: Sun, 15 Nov 2026 22:15:50 GMT\r\n\
         Content-Type: text/html\r\nContent-Length: {body}\r\nETag: \"abc\"\r\n\r\n"
    );
    let page = [head.into_bytes(), vec![b'x'; body]].concat();
    std::thread::spawn(move || {
        for peer in listener.incoming() {
            let (mut peer, page) = (peer.unwrap(), page.clone());
            std::thread::spawn(move || {
                let mut lines = BufReader::new(peer.try_clone().unwrap());
                let mut line = String::new();
                while lines.read_line(&mut line).unwrap_or(0) > 0 {
                    if line == "\r\n" && peer.write_all(&page).is_err() {
                        return;
                    }
                    line.clear();
                }
            });
        }
    });
    address
}

/// The CPU time this thread spends on `work`.
async fn cpu_of(work: impl Future<Output = ()>) -> Duration {
    let before = thread_cpu();
    work.await;
    thread_cpu() - before
}

/// Time on a CPU so far, as the kernel's scheduler counts it.
fn thread_cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split_whitespace().next().unwrap().parse().unwrap())
}

fn client() -> Client {
    let identity = Identity { product: "bench/1".to_owned(), contact: None, from: None };
    let mut config = FetchConfig::new(identity);
    config.allow_private = AllowPrivate::loopback();
    Client::new(config).unwrap()
}

async fn our_loop(client: &Client, address: SocketAddr, fetches: usize) {
    for i in 0..fetches {
        let request = Request::new(&format!("http://{address}/{i}")).unwrap();
        let response = client.fetch(&request).await.result.unwrap();
        assert!(response.status == 200 && !response.head.is_empty());
    }
}

async fn bare_loop(address: SocketAddr, fetches: usize) {
    let tcp = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(Bare(tcp)).await.unwrap();
    tokio::spawn(connection);
    for i in 0..fetches {
        let request = hyper::Request::get(format!("/{i}"))
            .header("host", address.to_string())
            .header("user-agent", "bench/1")
            .header("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
            .header("accept-encoding", "gzip, deflate, br, zstd")
            .body(Empty::<Bytes>::new())
            .unwrap();
        sender.ready().await.unwrap();
        let response = sender.send_request(request).await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert!(!body.is_empty());
    }
}

/// Tokio's stream as hyper wants it, through one warm buffer, since unsafe code is forbidden here.
struct Bare(TcpStream);

thread_local! {
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; 64 * 1024].into());
}

impl Read for Bare {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut out: ReadBufCursor<'_>,
    ) -> Poll<std::io::Result<()>> {
        SCRATCH.with_borrow_mut(|bytes| {
            let most = out.remaining().min(bytes.len());
            let mut read = ReadBuf::new(&mut bytes[..most]);
            ready!(Pin::new(&mut self.0).poll_read(cx, &mut read))?;
            out.put_slice(read.filled());
            Poll::Ready(Ok(()))
        })
    }
}

impl Write for Bare {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
