//! What does a page cost by HTTP/1.1 and by HTTP/2? Fetches the same pages over TLS from a server on loopback, one at a
//! time on kept connections as a polite crawl does, and prints the client's CPU time for a page.
//!
//! `cargo run --release -p evercrawl-fetch --example http2_cost [PAGES [BYTES [HOSTS]]]`
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement, not a part of the crawler"
)]

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use evercrawl_fetch::{AllowPrivate, Client, FetchConfig, Identity, Request};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::generate_simple_self_signed;
use rustix::time::{ClockId, clock_gettime};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

fn main() {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse().unwrap());
    let mut next = |usual: usize| numbers.next().unwrap_or(usual);
    let (pages, bytes, hosts) = (next(20_000), next(20_000), next(16));
    let (address, der) = serve(bytes);
    println!("{pages} pages of {bytes} bytes from {hosts} hosts, microseconds of CPU a page");
    // By turns, so that what else the machine does hits both.
    let mut costs = [Vec::new(), Vec::new()];
    for _ in 0..5 {
        for (http2, costs) in [false, true].into_iter().zip(&mut costs) {
            costs.push(cost(address, &der, http2, pages / 5, hosts));
        }
    }
    for (name, costs) in ["http/1.1", "h2"].into_iter().zip(&mut costs) {
        costs.sort_by(f64::total_cmp);
        println!("{name:9} median {:6.1}  least {:6.1}  most {:6.1}", costs[2], costs[0], costs[4]);
    }
}

/// The CPU time of this thread for a page, connections set up before.
fn cost(address: SocketAddr, der: &[u8], http2: bool, pages: usize, hosts: usize) -> f64 {
    let identity = Identity { product: "bench/1".to_owned(), contact: None, from: None };
    let mut config = FetchConfig::new(identity);
    config.http2 = http2;
    config.allow_private = AllowPrivate::loopback();
    config.connect_to = vec![format!("::{address}").parse().unwrap()];
    config.tls.extra_roots = vec![der.to_vec()];
    let client = Client::new(config).unwrap();
    let request = |n: usize| Request::new(&format!("https://h{}.test/{n}", n % hosts)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for n in 0..hosts {
            client.fetch(&request(n)).await.result.unwrap();
        }
        let began = thread_time();
        for n in 0..pages {
            let response = client.fetch(&request(n)).await.result.unwrap();
            assert_eq!(response.protocol.name() == "h2", http2);
        }
        (thread_time() - began).as_secs_f64() * 1e6 / pages as f64
    })
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

/// A server of pages with usual headers, on a thread of its own.
fn serve(bytes: usize) -> (SocketAddr, Vec<u8>) {
    let names: Vec<String> = (0..100).map(|n| format!("h{n}.test")).collect();
    let own = generate_simple_self_signed(names).unwrap();
    let key = PrivateKeyDer::Pkcs8(own.signing_key.serialize_der().into());
    let mut config =
        ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)
            .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            let page = Bytes::from("<p>x</p>".repeat(bytes / 8));
            loop {
                let (tcp, _) = listener.accept().await.unwrap();
                let (acceptor, page) = (acceptor.clone(), page.clone());
                tokio::spawn(async move {
                    let Ok(tls) = acceptor.accept(tcp).await else { return };
                    let h2 = tls.get_ref().1.alpn_protocol() == Some(b"h2");
                    let service = service_fn(move |_: hyper::Request<Incoming>| {
                        let response = hyper::Response::builder()
                            .header("content-type", "text/html; charset=utf-8")
                            .header("server", "bench")
                            .header("cache-control", "max-age=600")
                            .header("etag", "\"5f3e-61a\"")
                            .header("last-modified", "Wed, 21 Oct 2026 07:28:00 GMT")
                            .body(Full::new(page.clone()));
                        async move { Ok::<_, Infallible>(response.unwrap()) }
                    });
                    let io = TokioIo::new(tls);
                    let _ = if h2 {
                        hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                            .serve_connection(io, service)
                            .await
                    } else {
                        hyper::server::conn::http1::Builder::new()
                            .serve_connection(io, service)
                            .await
                    };
                });
            }
        });
    });
    (told.recv().unwrap(), own.cert.der().to_vec())
}
