//! Who is served, and within which bounds?

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc as std_mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;

use crate::hosts::Hosts;
use crate::patient::Patient;
use crate::request::{Head, Request};
use crate::response::{Response, ResponseBody};

/// What no caller can exceed.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Connections at a time; further ones get 503.
    pub connections: usize,
    /// Threads that run the handler.
    pub threads: usize,
    /// How long a head may take to come, and an idle connection is kept.
    pub head_time: Duration,
    /// The longest head, in bytes.
    pub head_bytes: usize,
    /// How long a body may take to come.
    pub body_time: Duration,
    /// How long a caller may take nothing of what it is sent.
    pub patience: Duration,
    /// Whether a connection serves more than one request.
    pub keep_alive: bool,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            connections: 64,
            threads: 16,
            head_time: Duration::from_secs(15),
            head_bytes: 16 << 10,
            body_time: Duration::from_secs(60),
            patience: Duration::from_secs(30),
            keep_alive: true,
        }
    }
}

/// How long, and for how much, a caller is heard out who is answered before the end of its request.
const FAREWELL: Duration = Duration::from_secs(2);
const MOST_UNREAD: usize = 16 << 20;
/// How long requests may take that are being served when the server stops.
const LAST_WORDS: Duration = Duration::from_secs(5);
const MOST_HEADERS: usize = 64;

/// Whoever answers requests.
pub trait Handler: Send + Sync + 'static {
    /// Whether a request is welcome, by its head alone, and how long its body may be. Runs on the thread that reads
    /// and writes, so it must be quick.
    fn admit(&self, head: &Head) -> Result<usize, Response>;

    /// Answers a request that was admitted. May wait.
    fn answer(&self, request: Request) -> Response;

    /// The answer to a request that the server itself refuses, with the reason in words.
    fn refuse(&self, status: u16, reason: &str) -> Response;
}

/// A server that runs; it stops when this is dropped.
pub struct Server {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Begins to serve.
    pub fn start(
        listener: TcpListener,
        bounds: Bounds,
        hosts: Hosts,
        handler: Arc<dyn Handler>,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(bounds.threads)
            .enable_all()
            .build()?;
        let (stop, stopped) = watch::channel(false);
        let (begun, begins) = std_mpsc::sync_channel(1);
        let thread = std::thread::Builder::new().name("httpd".into()).spawn(move || {
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener);
                let _ = begun.send(listener.as_ref().err().map(io::Error::kind));
                if let Ok(listener) = listener {
                    serve(listener, Served { bounds, hosts, handler }, stopped).await;
                }
            });
            runtime.shutdown_timeout(Duration::from_secs(1));
        })?;
        match begins.recv() {
            Ok(None) => Ok(Server { address, stop, thread: Some(thread) }),
            Ok(Some(kind)) => Err(kind.into()),
            Err(_) => Err(io::ErrorKind::Other.into()),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more requests, lets those that are being answered end within some seconds, and returns then.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// What every connection needs.
struct Served {
    bounds: Bounds,
    hosts: Hosts,
    handler: Arc<dyn Handler>,
}

async fn serve(listener: tokio::net::TcpListener, served: Served, stopped: watch::Receiver<bool>) {
    let most = served.bounds.connections;
    let (served, room) = (Arc::new(served), Arc::new(Semaphore::new(most)));
    let refusals = Arc::new(Semaphore::new(most));
    let mut stop = stopped.clone();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => break,
        };
        let Ok((stream, peer)) = accepted else {
            // Out of file descriptors, most likely: some will be free soon.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        match (room.clone().try_acquire_owned(), refusals.clone().try_acquire_owned()) {
            (Ok(permit), _) => {
                tokio::spawn(connection(stream, peer, served.clone(), stopped.clone(), permit));
            }
            (Err(_), Ok(permit)) => {
                tokio::spawn(turn_away(stream, permit));
            }
            // Not even refused politely any more: the connection ends.
            (Err(_), Err(_)) => drop(stream),
        }
    }
    drop(listener);
    let _ = timeout(LAST_WORDS, room.acquire_many(most as u32)).await;
}

/// Tells a caller for whom there is no room to come again.
async fn turn_away(mut stream: TcpStream, _permit: OwnedSemaphorePermit) {
    let words = "too many connections; retry later\n";
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Retry-After: 5\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{words}",
        words.len()
    );
    let farewell = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        // Where what it sends is left unread, the caller may not get to see the answer.
        let mut unread = [0; 1024];
        while stream.read(&mut unread).await? > 0 {}
        io::Result::Ok(())
    };
    let _ = timeout(FAREWELL, farewell).await;
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    served: Arc<Served>,
    mut stopped: watch::Receiver<bool>,
    _permit: OwnedSemaphorePermit,
) {
    let _ = stream.set_nodelay(true);
    let bounds = served.bounds;
    let io = TokioIo::new(Patient::new(stream, bounds.patience));
    let service = service_fn(move |request| {
        let served = served.clone();
        async move { Ok::<_, Infallible>(served.respond(request, peer).await) }
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.head_time)
        .max_buf_size(bounds.head_bytes.max(8 << 10))
        .max_headers(MOST_HEADERS)
        .keep_alive(bounds.keep_alive);
    let mut connection = pin!(builder.serve_connection(io, service));
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopped.changed() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(LAST_WORDS, connection).await;
}

impl Served {
    async fn respond(
        &self,
        request: hyper::Request<Incoming>,
        peer: SocketAddr,
    ) -> hyper::Response<ResponseBody> {
        let (parts, body) = request.into_parts();
        let head = Head::new(&parts, peer);
        let admitted = match self.is_for_us(&parts) {
            true => self.handler.admit(&head),
            false => Err(self.handler.refuse(421, "this server does not answer to that host name")),
        };
        let response = match admitted {
            Ok(most) => self.with_body(head, body, most).await,
            Err(refusal) => Err((refusal, Some((head, body)))),
        };
        let response = match response {
            Ok(response) => response,
            Err((refusal, unread)) => {
                if let Some((head, body)) = unread {
                    hear_out(&head, body).await;
                }
                refusal
            }
        };
        response.into_http()
    }

    fn is_for_us(&self, parts: &hyper::http::request::Parts) -> bool {
        let in_target = parts.uri.authority().map(|authority| authority.as_str());
        let mut named =
            parts.headers.get_all("host").iter().map(|host| host.to_str().unwrap_or(""));
        let first = named.next();
        let is_one = named.next().is_none();
        is_one
            && in_target.is_none_or(|host| self.hosts.accept(host))
            && first.map_or(self.hosts.accept(""), |host| self.hosts.accept(host))
    }

    async fn with_body(
        &self,
        head: Head,
        body: Incoming,
        most: usize,
    ) -> Result<Response, (Response, Option<(Head, Incoming)>)> {
        if head.body_length().is_some_and(|length| length > most as u64) {
            let refusal =
                self.handler.refuse(413, &format!("the body is larger than {most} bytes"));
            return Err((refusal, Some((head, body))));
        }
        let read = timeout(self.bounds.body_time, Limited::new(body, most).collect()).await;
        let body: Bytes = match read {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(_)) => {
                let reason = format!("the body is larger than {most} bytes, or broke off");
                return Err((self.handler.refuse(413, &reason), None));
            }
            Err(_) => return Err((self.handler.refuse(408, "the body took too long"), None)),
        };
        let handler = self.handler.clone();
        let answered =
            tokio::task::spawn_blocking(move || handler.answer(Request { head, body })).await;
        Ok(answered
            .unwrap_or_else(|_| self.handler.refuse(500, "the server failed on this request")))
    }
}

/// Reads on for a moment, so that the answer arrives even if the caller is still sending.
async fn hear_out(head: &Head, mut body: Incoming) {
    // Who waits to be told to go on sends nothing.
    if head.header("expect").is_some() {
        return;
    }
    let mut heard = 0;
    let listen = async {
        while let Some(Ok(frame)) = body.frame().await {
            heard += frame.data_ref().map_or(0, Bytes::len);
            if heard > MOST_UNREAD {
                break;
            }
        }
    };
    let _ = timeout(FAREWELL, listen).await;
}
