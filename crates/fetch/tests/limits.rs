//! Does every fetch end, in time and within its caps, whatever the server does?
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests, helpers included")]

use std::time::Duration;

use crate::support::{client, config, fetch, read_head, request, serve, serve_once, stall};
use evercrawl_fetch::{Client, ConnectFailure, Failure, FetchLimits, FetchPhase, Truncation};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::Instant;

const SHORT: Duration = Duration::from_millis(150);

/// More than a short timeout may take on a busy machine.
const SOON: Duration = Duration::from_secs(3);

fn limited(change: impl FnOnce(&mut FetchLimits)) -> Client {
    let mut config = config();
    change(&mut config.limits);
    Client::new(config).unwrap()
}

/// A client that gives every phase little time.
fn hasty() -> Client {
    limited(|limits| {
        (limits.connect, limits.tls, limits.head, limits.idle) = (SHORT, SHORT, SHORT, SHORT);
    })
}

#[tokio::test]
async fn a_silent_server_times_out_while_waiting_for_the_head() {
    for sent in ["", "HTTP/1.1 200 OK\r\nX: y\r\n"] {
        let address = serve(move |mut peer, _| async move {
            read_head(&mut peer).await;
            peer.write_all(sent.as_bytes()).await.unwrap();
            stall(peer).await;
        });
        let address = address.await;
        let started = Instant::now();
        let fetched = hasty().fetch(&request(address)).await;
        assert_eq!(fetched.result.unwrap_err(), Failure::Timeout(FetchPhase::Head), "{sent:?}");
        assert!(started.elapsed() >= SHORT && started.elapsed() < SOON);
        assert_eq!(fetched.bytes_on_wire, sent.len() as u64);
        assert!(fetched.request_bytes.starts_with(b"GET /page"));
    }
}

#[tokio::test]
async fn the_whole_fetch_has_a_limit_too() {
    let address = serve(|peer, _| stall(peer)).await;
    let client = limited(|limits| limits.total = SHORT / 2);
    let failure = client.fetch(&request(address)).await.result.unwrap_err();
    assert_eq!(failure, Failure::Timeout(FetchPhase::Total));
}

#[tokio::test]
async fn a_server_that_accepts_nobody_times_out_while_connecting() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queue = Vec::new();
    while let Ok(Ok(peer)) = tokio::time::timeout(SHORT, TcpStream::connect(address)).await {
        queue.push(peer);
    }
    let failure = hasty().fetch(&request(address)).await.result.unwrap_err();
    assert_eq!(failure, Failure::Timeout(FetchPhase::Connect));
}

#[tokio::test]
async fn a_server_that_says_no_hello_times_out_while_agreeing_on_keys() {
    let address = serve(|peer, _| stall(peer)).await;
    let request = evercrawl_fetch::Request::new(&format!("https://{address}/")).unwrap();
    let failure = hasty().fetch(&request).await.result.unwrap_err();
    assert_eq!(failure, Failure::Timeout(FetchPhase::Tls));
}

#[tokio::test]
async fn nobody_there_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let fetched = fetch(address).await;
    assert_eq!(fetched.result.unwrap_err(), ConnectFailure::Refused.into());
    assert!(fetched.request_bytes.is_empty());
}

#[tokio::test]
async fn a_body_that_stops_coming_is_cut_off_by_time() {
    let address = serve(|mut peer, _| async move {
        read_head(&mut peer).await;
        peer.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody").await.unwrap();
        stall(peer).await;
    });
    let response = hasty().fetch(&request(address.await)).await.result.unwrap();
    assert_eq!(
        (&*response.body.whole(), response.truncated),
        (&b"body"[..], Some(Truncation::Time))
    );
}

/// A server that sends a byte now and then, for ever.
async fn dripping(every: Duration) -> std::net::SocketAddr {
    serve(move |mut peer, _| async move {
        read_head(&mut peer).await;
        peer.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        while peer.write_all(b"x").await.is_ok() {
            tokio::time::sleep(every).await;
        }
    })
    .await
}

#[tokio::test]
async fn a_body_that_drips_is_cut_off_by_time() {
    let address = dripping(SHORT / 10).await;
    let total = limited(|limits| limits.total = 2 * SHORT);
    let started = Instant::now();
    let response = total.fetch(&request(address)).await.result.unwrap();
    assert_eq!(response.truncated, Some(Truncation::Time));
    assert!(response.body.len() > 5 && started.elapsed() < SOON);

    let rate = limited(|limits| (limits.idle, limits.min_rate) = (2 * SHORT, Some(1000)));
    let started = Instant::now();
    let response = rate.fetch(&request(address)).await.result.unwrap();
    assert_eq!(response.truncated, Some(Truncation::Time));
    assert!(response.body.len() > 2 && started.elapsed() < SOON);
}

#[tokio::test]
async fn an_endless_body_is_cut_off_by_size() {
    let address = serve(|mut peer, _| async move {
        read_head(&mut peer).await;
        peer.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        while peer.write_all(&[b'x'; 10_000]).await.is_ok() {}
    })
    .await;
    let client = limited(|limits| limits.body_bytes = 123_457);
    let fetched = client.fetch(&request(address)).await;
    let response = fetched.result.unwrap();
    assert_eq!((response.body.len(), response.truncated), (123_457, Some(Truncation::Size)));
    assert!(fetched.bytes_on_wire < 2_000_000, "{} bytes were read", fetched.bytes_on_wire);
}

#[tokio::test]
async fn a_body_is_cut_only_where_it_exceeds_its_cap() {
    for (length, cut) in [(9, None), (10, None), (11, Some(Truncation::Size))] {
        let body = "x".repeat(length);
        let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
        let client = limited(|limits| limits.body_bytes = 10);
        let response = client.fetch(&request(serve_once(text).await)).await.result.unwrap();
        assert_eq!((response.body.len(), response.truncated), (length.min(10), cut), "{length}");
    }
}

#[tokio::test]
async fn a_request_may_bring_its_own_limits() {
    let address = serve_once("HTTP/1.1 200 OK\r\n\r\nbody").await;
    let limits = FetchLimits { body_bytes: 2, ..FetchLimits::default() };
    let response = client().fetch(&request(address).with_limits(limits)).await.result.unwrap();
    assert_eq!((&*response.body.whole(), response.truncated), (&b"bo"[..], Some(Truncation::Size)));
}

/// A server that resets the connection after it has read a request and sent `sent`.
async fn resetting(sent: &'static str) -> std::net::SocketAddr {
    serve(move |mut peer, _| async move {
        read_head(&mut peer).await;
        peer.write_all(sent.as_bytes()).await.unwrap();
        // What was sent must arrive before the reset overtakes it.
        tokio::time::sleep(SHORT / 3).await;
        peer.set_zero_linger().unwrap();
    })
    .await
}

#[tokio::test]
async fn a_reset_before_the_end_of_the_head_is_a_disconnection() {
    let at_once = serve(|peer, _| async move { peer.set_zero_linger().unwrap() }).await;
    assert_eq!(fetch(at_once).await.result.unwrap_err(), Failure::Disconnected);
    for sent in ["", "HTTP/1.1", "HTTP/1.1 200 OK\r\nContent-Le"] {
        let failure = fetch(resetting(sent).await).await.result.unwrap_err();
        assert_eq!(failure, Failure::Disconnected, "{sent:?}");
    }
}

#[tokio::test]
async fn a_close_before_the_end_of_the_head_is_a_disconnection() {
    let at_once = serve(|peer, _| async move { drop(peer) }).await;
    assert_eq!(fetch(at_once).await.result.unwrap_err(), Failure::Disconnected);
    for sent in ["", "HTTP/1.1", "HTTP/1.1 200 OK\r\nContent-Le", "\r\n"] {
        let failure = fetch(serve_once(sent).await).await.result.unwrap_err();
        assert_eq!(failure, Failure::Disconnected, "{sent:?}");
    }
}

#[tokio::test]
async fn a_reset_within_the_body_keeps_what_came() {
    for sent in [
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n",
        "HTTP/1.1 200 OK\r\n\r\nbody",
    ] {
        let response = fetch(resetting(sent).await).await.result.unwrap();
        assert_eq!(response.body, "body", "{sent:?}");
        assert_eq!(response.truncated, Some(Truncation::Reset), "{sent:?}");
    }
}
