//! A server that says exactly what a test tells it to, and a client to ask it.

pub(crate) mod proxy;

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use evercrawl_fetch::{AllowPrivate, Client, Failure, FetchConfig, FetchLimits, Fetched, Identity};
use evercrawl_fetch::{NameServers, Request, Response};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Serves every connection with `handler`, which is told which connection it is, from 0.
pub(crate) async fn serve<F, Fut>(handler: F) -> SocketAddr
where
    F: Fn(TcpStream, usize) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for nth in 0.. {
            let (peer, _) = listener.accept().await.unwrap();
            tokio::spawn(handler(peer, nth));
        }
    });
    address
}

/// Serves one response to every connection, then hangs up.
pub(crate) async fn serve_once(response: impl Into<Vec<u8>>) -> SocketAddr {
    let response = response.into();
    serve(move |mut peer, _| {
        let response = response.clone();
        async move {
            read_head(&mut peer).await;
            let _ = peer.write_all(&response).await;
            let _ = peer.shutdown().await;
        }
    })
    .await
}

/// Reads up to the blank line that ends a request; empty once the client is gone.
pub(crate) async fn read_head(peer: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match peer.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return Vec::new(),
        }
    }
    head
}

/// Answers every request on one connection with `response`, until the client is gone.
pub(crate) async fn keep_answering(mut peer: impl AsyncRead + AsyncWrite + Unpin, response: &[u8]) {
    while !read_head(&mut peer).await.is_empty() {
        if peer.write_all(response).await.is_err() {
            return;
        }
    }
}

/// Keeps a connection open and silent.
pub(crate) async fn stall(peer: impl Send) {
    std::future::pending::<()>().await;
    drop(peer);
}

pub(crate) fn config() -> FetchConfig {
    let identity = Identity {
        product: "evercrawl/0.1".to_owned(),
        contact: Some("https://example.org/bot".to_owned()),
        from: None,
    };
    let mut config = FetchConfig::new(identity);
    config.allow_private = AllowPrivate::loopback();
    config.dns.servers = NameServers::These(vec![]);
    // Far more than anything here takes, even on a busy machine.
    config.limits = FetchLimits { total: Duration::from_secs(10), ..FetchLimits::default() };
    config
}

pub(crate) fn client() -> Client {
    Client::new(config()).unwrap()
}

pub(crate) fn request(address: SocketAddr) -> Request {
    Request::new(&format!("http://{address}/page?x=1")).unwrap()
}

pub(crate) async fn fetch(address: SocketAddr) -> Fetched {
    client().fetch(&request(address)).await
}

pub(crate) async fn fetch_ok(response: impl Into<Vec<u8>>) -> Response {
    let fetched = fetch(serve_once(response).await).await;
    fetched.result.unwrap()
}

pub(crate) async fn fetch_err(response: impl Into<Vec<u8>>) -> Failure {
    let fetched = fetch(serve_once(response).await).await;
    fetched.result.unwrap_err()
}
