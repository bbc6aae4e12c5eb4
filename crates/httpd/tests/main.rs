//! Callers who are slow, greedy, many or in the way.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failing test panics")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use evercrawl_httpd::{
    Bounds, Handler, Head, Hosts, Request, Response, Server, StreamEnd, StreamSender, stream,
};

/// Answers `/echo` with the body, `/wait` once it is let go, `/stream` piece by piece, and fails at `/panic`.
struct Test {
    gate: Mutex<mpsc::Receiver<()>>,
    streams: Mutex<Vec<StreamSender>>,
}

impl Handler for Test {
    fn admit(&self, head: &Head) -> Result<usize, Response> {
        if head.path == "/no" { Err(Response::new(403).body("no")) } else { Ok(1000) }
    }

    fn answer(&self, request: Request) -> Response {
        match request.head.path.as_str() {
            "/wait" => {
                let _ = self.gate.lock().unwrap().recv_timeout(Duration::from_secs(20));
                Response::new(200).body("waited")
            }
            "/stream" => {
                let (sender, body) = stream();
                self.streams.lock().unwrap().push(sender);
                Response::new(200).streaming(body)
            }
            "/panic" => panic!("as asked"),
            _ => Response::new(200)
                .with("x-query", request.head.parameter("q").unwrap_or(""))
                .body(request.body),
        }
    }

    fn refuse(&self, status: u16, reason: &str) -> Response {
        Response::new(status).body(reason.to_owned())
    }
}

struct Place {
    server: Option<Server>,
    address: SocketAddr,
    handler: Arc<Test>,
    open: mpsc::Sender<()>,
}

fn place(bounds: Bounds) -> Place {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (open, gate) = mpsc::channel();
    let handler = Arc::new(Test { gate: Mutex::new(gate), streams: Mutex::default() });
    let hosts = Hosts::Listed { port: address.port(), names: Vec::new() };
    let server = Server::start(listener, bounds, hosts, handler.clone()).unwrap();
    Place { server: Some(server), address, handler, open }
}

impl Place {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    fn send(&self, text: &str) -> TcpStream {
        let mut stream = self.connect();
        let text = text.replace("HOST", &format!("Host: {}\r\nConnection: close", self.address));
        let _ = stream.write_all(text.as_bytes());
        stream
    }

    fn ask(&self, text: &str) -> String {
        read(self.send(text))
    }
}

fn read(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

#[test]
fn requests_are_answered_or_refused() {
    let place = place(Bounds::default());
    let got = place.ask("POST /echo?q=a%20b HTTP/1.1\r\nHOST\r\nContent-Length: 5\r\n\r\nhello");
    assert!(got.contains("x-query: a b") && got.ends_with("hello"), "{got}");
    let long = "x".repeat(3 << 20);
    for (request, want) in [
        ("GET /no HTTP/1.1\r\nHOST\r\n\r\n".to_owned(), "403"),
        ("GET / HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n".to_owned(), "421"),
        ("GET / HTTP/1.1\r\nConnection: close\r\n\r\n".to_owned(), "421"),
        (format!("POST / HTTP/1.1\r\nHOST\r\nContent-Length: {}\r\n\r\n{long}", long.len()), "413"),
        (
            format!(
                "POST / HTTP/1.1\r\nHOST\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n{}\r\n0\r\n\r\n",
                "x".repeat(2000)
            ),
            "413",
        ),
        (
            format!("POST /no HTTP/1.1\r\nHOST\r\nContent-Length: {}\r\n\r\n{long}", long.len()),
            "403",
        ),
        ("POST / HTTP/1.1\r\nHOST\r\nContent-Length: -1\r\n\r\n".to_owned(), "400"),
        ("\x16\x03\x01 this is TLS\r\n\r\n".to_owned(), "400"),
        (format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(20_000)), "431"),
        ("GET /panic HTTP/1.1\r\nHOST\r\n\r\n".to_owned(), "500"),
        ("GET / HTTP/1.1\r\nHOST\r\n\r\n".to_owned(), "200"),
    ] {
        let got = place.ask(&request);
        assert_eq!(status(&got), want, "{}: {got}", request.get(..60).unwrap_or(&request));
    }
}

#[test]
fn too_many_callers_are_told_to_come_again() {
    let place = place(Bounds { connections: 2, ..Bounds::default() });
    let waiting = [(); 2].map(|()| place.send("GET /wait HTTP/1.1\r\nHOST\r\n\r\n"));
    let mut refused = String::new();
    for _ in 0..100 {
        refused = place.ask("GET / HTTP/1.1\r\nHOST\r\n\r\n");
        if status(&refused) == "503" {
            break;
        }
    }
    assert!(status(&refused) == "503" && refused.contains("Retry-After"), "{refused}");
    place.open.send(()).unwrap();
    place.open.send(()).unwrap();
    for one in waiting {
        assert!(read(one).ends_with("waited"));
    }
}

#[test]
fn a_head_that_does_not_come_is_not_waited_for() {
    let place = place(Bounds { head_time: Duration::from_millis(200), ..Bounds::default() });
    let slow = place.send("GET / HTTP/1.1\r\n");
    let got = read(slow);
    assert!(got.is_empty() || status(&got) == "408", "{got}");
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let place = place(Bounds { body_time: Duration::from_millis(200), ..Bounds::default() });
    let got = place.ask("POST / HTTP/1.1\r\nHOST\r\nContent-Length: 5\r\n\r\nhe");
    assert_eq!(status(&got), "408", "{got}");
}

#[test]
fn streams_come_piece_by_piece_and_end_with_their_sender() {
    let place = place(Bounds::default());
    let stream = place.send("GET /stream HTTP/1.1\r\nHOST\r\n\r\n");
    let sender = loop {
        if let Some(sender) = place.handler.streams.lock().unwrap().pop() {
            break sender;
        }
        std::thread::yield_now();
    };
    sender.try_send("one ").unwrap();
    sender.send("two").unwrap();
    drop(sender);
    let got = read(stream);
    assert!(got.contains("one ") && got.contains("two"), "{got}");
}

#[test]
fn a_caller_who_takes_nothing_is_left() {
    let place = place(Bounds { patience: Duration::from_millis(300), ..Bounds::default() });
    let _idle = place.send("GET /stream HTTP/1.1\r\nHOST\r\n\r\n");
    let sender = loop {
        if let Some(sender) = place.handler.streams.lock().unwrap().pop() {
            break sender;
        }
        std::thread::yield_now();
    };
    let piece = vec![b'x'; 1 << 20];
    let ended = (0..200).find_map(|_| sender.send(piece.clone()).err());
    assert_eq!(ended, Some(StreamEnd::Gone));
}

#[test]
fn a_server_that_stops_lets_answers_end() {
    let mut place = place(Bounds::default());
    let waiting = place.send("GET /wait HTTP/1.1\r\nHOST\r\n\r\n");
    // Once this is answered, the other has been taken.
    place.ask("GET / HTTP/1.1\r\nHOST\r\n\r\n");
    let server = place.server.take().unwrap();
    let stopping = std::thread::spawn(move || server.stop());
    place.open.send(()).unwrap();
    assert!(read(waiting).ends_with("waited"));
    stopping.join().unwrap();
    assert!(TcpStream::connect(place.address).is_err());
}
