//! Are connections used again when they can be, and only then?
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests, helpers included")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{client, config, keep_answering, read_head, request, serve};
use evercrawl_fetch::{AllowPrivate, Client, Failure, Fetched, Request, Truncation};
use tokio::io::AsyncWriteExt;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody";

/// A server that answers every request on its connections with `response`, and their count.
async fn counting(response: &'static [u8]) -> (SocketAddr, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let address = serve(move |peer, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        keep_answering(peer, response)
    });
    (address.await, count)
}

async fn fetch_twice(client: &Client, address: SocketAddr) -> [Fetched; 2] {
    [client.fetch(&request(address)).await, client.fetch(&request(address)).await]
}

#[tokio::test]
async fn a_connection_serves_as_long_as_both_sides_like() {
    for (response, connections) in [
        (OK, 1),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n", 1),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", 1),
        (b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", 1),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", 1),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 5),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 5),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody and more than was promised", 5),
    ] {
        let (address, count) = counting(response).await;
        let client = client();
        let text = String::from_utf8_lossy(response);
        for _ in 0..5 {
            let fetched = client.fetch(&request(address)).await;
            let head = text.find("HTTP/1.1 204").unwrap_or(0);
            assert!(text[head..].as_bytes().starts_with(&fetched.result.unwrap().head), "{text:?}");
        }
        assert_eq!(count.load(Ordering::SeqCst), connections, "{text:?}");
    }
}

#[tokio::test]
async fn every_exchange_is_recorded_by_itself() {
    let (address, _) = counting(OK).await;
    let [first, second] = fetch_twice(&client(), address).await;
    assert_eq!(first.request_bytes, second.request_bytes);
    assert_eq!((first.bytes_on_wire, second.bytes_on_wire), (42, 42));
    assert!(!first.times.connect.is_zero() && second.times.connect.is_zero());
    assert_eq!(first.result.unwrap().head, second.result.unwrap().head);
}

#[tokio::test]
async fn a_connection_closed_while_idle_is_replaced() {
    let address = serve(|mut peer, _| async move {
        read_head(&mut peer).await;
        peer.write_all(OK).await.unwrap();
    });
    let (address, client) = (address.await, client());
    for _ in 0..3 {
        let response = client.fetch(&request(address)).await.result.unwrap();
        assert_eq!(response.body, "body");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_request_lost_on_a_reused_connection_is_sent_once_more() {
    let address = serve(|mut peer, nth| async move {
        read_head(&mut peer).await;
        peer.write_all(OK).await.unwrap();
        // The first connection takes a second request, and hangs up on it.
        read_head(&mut peer).await;
        if nth > 0 {
            peer.write_all(OK).await.unwrap();
        }
    });
    let [first, second] = fetch_twice(&client(), address.await).await;
    assert_eq!(first.result.unwrap().body, "body");
    assert_eq!(second.result.unwrap().body, "body");
    assert!(!second.times.connect.is_zero(), "over a new connection");
}

#[tokio::test]
async fn a_request_is_not_repeated_without_end_nor_after_an_answer_began() {
    let hits = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&hits);
    let address = serve(move |mut peer, nth| {
        let counted = Arc::clone(&counted);
        async move {
            read_head(&mut peer).await;
            counted.fetch_add(1, Ordering::SeqCst);
            if nth == 0 {
                peer.write_all(OK).await.unwrap();
                read_head(&mut peer).await;
                counted.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    let [_, second] = fetch_twice(&client(), address.await).await;
    assert_eq!(second.result.unwrap_err(), Failure::Disconnected);
    assert_eq!(hits.load(Ordering::SeqCst), 3, "two on the first connection, one on a new one");

    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let address = serve(move |mut peer, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move {
            read_head(&mut peer).await;
            peer.write_all(OK).await.unwrap();
            read_head(&mut peer).await;
            peer.write_all(b"HTTP/1.1 2").await.unwrap();
        }
    });
    let [_, second] = fetch_twice(&client(), address.await).await;
    assert_eq!(second.result.unwrap_err(), Failure::Disconnected);
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_cut_off_body_ends_its_connection() {
    let (address, count) = counting(OK).await;
    let mut config = config();
    config.limits.body_bytes = 2;
    let [first, second] = fetch_twice(&Client::new(config).unwrap(), address).await;
    assert_eq!(first.result.unwrap().truncated, Some(Truncation::Size));
    assert_eq!(second.result.unwrap().body, "bo");
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_client_beside_another_shares_connections_that_both_may_open() {
    let (address, count) = counting(OK).await;
    let client = client();
    assert!(client.fetch(&request(address)).await.result.is_ok());
    let mut named = config();
    named.identity.product = "another/1.0".to_owned();
    let beside = client.beside(named).unwrap();
    let fetched = beside.fetch(&request(address)).await;
    assert!(String::from_utf8_lossy(&fetched.request_bytes).contains("another/1.0"));
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let mut other = config();
    other.tls.accept_invalid = true;
    let apart = client.beside(other).unwrap();
    assert!(apart.fetch(&request(address)).await.result.is_ok());
    assert_eq!(count.load(Ordering::SeqCst), 2, "it may not use what it would not have opened");
    let mut strict = config();
    strict.allow_private = AllowPrivate::none();
    let strict = client.beside(strict).unwrap();
    assert!(strict.fetch(&request(address)).await.result.is_err());
}

#[tokio::test]
async fn without_a_pool_every_request_says_so() {
    let (address, count) = counting(OK).await;
    let mut config = config();
    config.pool.total = 0;
    let [first, _] = fetch_twice(&Client::new(config).unwrap(), address).await;
    assert!(first.request_bytes.ends_with(b"Connection: close\r\n\r\n"));
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn many_fetches_at_once_share_a_client() {
    let (address, _) = counting(OK).await;
    let client = Arc::new(client());
    let fetches: Vec<_> = (0..50)
        .map(|i| {
            let client = Arc::clone(&client);
            let request = Request::new(&format!("http://{address}/{i}")).unwrap();
            tokio::spawn(async move { client.fetch(&request).await })
        })
        .collect();
    for (i, fetch) in fetches.into_iter().enumerate() {
        let fetched = fetch.await.unwrap();
        let line = format!("GET /{i} HTTP/1.1\r\n");
        assert!(fetched.request_bytes.starts_with(line.as_bytes()));
        assert_eq!(fetched.result.unwrap().body, "body");
    }
}
