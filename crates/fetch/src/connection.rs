//! How does one request and its response go over a connection?
//!
//! An HTTP/1 connection is not given a task of its own: the task that waits for the response also moves
//! the bytes. That saves two task switches a read, and a connection that lies idle costs nothing.

use std::error::Error as _;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::task::AbortHandle;
use tokio::time::{Instant, Sleep};

use crate::access::RequestExtras;
use crate::body_buffer::BodyBuffer;
use crate::body_memory::BodyMemory;
use crate::config::{FetchLimits, RequestHeaders};
use crate::deadlines::Deadlines;
use crate::failure::{Failure, FetchPhase, TlsFailure};
use crate::proxy::Proxy;
use crate::recorded_stream::{RecordedStream, SharedWireRecord, Stream};
use crate::request::{Request, RequestForm};
use crate::response::{self, Protocol, Response, TlsInfo, Truncation};
use crate::wire_record::HeadTooLarge;

/// Bytes that an HTTP/2 server may send ahead of what was read.
const STREAM_WINDOW: u32 = 512 * 1024;

/// The most header fields a response may have.
const MOST_FIELDS: usize = 500;

/// An open connection to one address.
#[derive(Debug)]
pub(crate) struct HttpConnection {
    sender: Sender,
    driver: ConnectionDriver,
    tape: SharedWireRecord,
    route: Route,
    tls: Option<TlsInfo>,
    /// Held for its end alone.
    _task: Option<TaskGuard>,
}

/// Where a connection leads, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// The other end of the socket: the server, or the proxy.
    pub(crate) peer: SocketAddr,
    /// The proxy, and where it leads.
    pub(crate) proxied: Option<Proxied>,
    /// The crawl whose rules hold for it; 0 for all that have none.
    pub(crate) access: u64,
}

/// What a proxy was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proxied {
    pub(crate) proxy: Arc<Proxy>,
    pub(crate) host: Box<str>,
    pub(crate) port: u16,
    /// The server's address, where the URL names it.
    pub(crate) ip: Option<IpAddr>,
    /// Whether the proxy reads the requests itself.
    pub(crate) forwards: bool,
}

impl Route {
    /// The server's address, where it is known.
    pub(crate) fn server_ip(&self) -> Option<IpAddr> {
        self.proxied.as_ref().map_or(Some(self.peer.ip()), |proxied| proxied.ip)
    }
}

#[derive(Debug)]
enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>),
    Http2(http2::SendRequest<Empty<Bytes>>),
}

/// Ends the task of an HTTP/2 connection with the connection: a server must not be able to keep it.
#[derive(Debug)]
struct TaskGuard(AbortHandle);

impl Drop for TaskGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Moves the bytes while a response is awaited, and ends the waiting.
#[derive(Debug)]
struct ConnectionDriver {
    /// None once it has nothing left to do, and for HTTP/2, which moves by itself.
    connection: Option<Box<http1::Connection<TokioIo<RecordedStream>, Empty<Bytes>>>>,
    /// Kept from one exchange to the next: putting an alarm off is far cheaper than setting one.
    alarm: Pin<Box<Sleep>>,
}

impl HttpConnection {
    /// An HTTP/1.1 connection, as lenient as the web needs.
    pub(crate) async fn http1(
        stream: Stream,
        route: Route,
        tls: Option<TlsInfo>,
    ) -> Result<Self, Failure> {
        let tape = SharedWireRecord::new();
        let (sender, connection) = http1::Builder::new()
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .max_headers(MOST_FIELDS)
            .title_case_headers(true)
            .handshake(RecordedStream::on(stream, tape.clone()))
            .await
            .map_err(|error| classify_http_error(&error))?;
        let driver = ConnectionDriver::new(Some(Box::new(connection)));
        Ok(HttpConnection { sender: Sender::Http1(sender), driver, tape, route, tls, _task: None })
    }

    /// An HTTP/2 connection; it has a task of its own, as it may have to answer pings.
    pub(crate) async fn http2(
        stream: Stream,
        route: Route,
        tls: Option<TlsInfo>,
    ) -> Result<Self, Failure> {
        let tape = SharedWireRecord::new();
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(2 * STREAM_WINDOW)
            .handshake(RecordedStream::on(stream, tape.clone()))
            .await
            .map_err(|error| classify_http_error(&error))?;
        let task = TaskGuard(tokio::spawn(connection).abort_handle());
        let driver = ConnectionDriver::new(None);
        Ok(HttpConnection {
            sender: Sender::Http2(sender),
            driver,
            tape,
            route,
            tls,
            _task: Some(task),
        })
    }

    /// Where it leads.
    pub(crate) fn route(&self) -> &Route {
        &self.route
    }

    /// Whether TLS lies under it.
    pub(crate) fn is_secure(&self) -> bool {
        self.tls.is_some()
    }

    /// What was recorded of the exchange that is under way or was the last.
    pub(crate) fn tape(&self) -> &SharedWireRecord {
        &self.tape
    }

    /// Whether another request can be sent, as far as can be known without sending one.
    pub(crate) async fn is_ready(&mut self) -> bool {
        poll_fn(|cx| {
            self.driver.poll_connection(cx);
            Poll::Ready(())
        })
        .await;
        match &self.sender {
            Sender::Http1(sender) => self.driver.is_running() && sender.is_ready(),
            Sender::Http2(sender) => sender.is_ready(),
        }
    }

    /// Whether nothing came back in the last exchange, so that the server cannot have taken it up.
    pub(crate) fn is_unanswered(&self) -> bool {
        matches!(self.sender, Sender::Http2(..)) || self.tape.lock().bytes_received() == 0
    }

    /// Sends the request and reads its response.
    pub(crate) async fn exchange(
        &mut self,
        (request, extras): (&Request, &RequestExtras),
        persona: &RequestHeaders,
        limits: &FetchLimits,
        room: &BodyMemory,
        patience: Deadlines,
    ) -> Result<Response, Failure> {
        let outgoing = self.prepare((request, extras), persona, limits)?;
        let answer = self.send_request(outgoing, limits, patience).await?;
        let (parts, mut incoming) = answer.into_parts();
        let mut gathered = BodyBuffer::new(incoming.size_hint().lower(), limits);
        let truncated = self.read_body(&mut incoming, &mut gathered, room, patience).await;
        if truncated.is_some() {
            self.driver.stop();
        }
        let (mut head, interim) = {
            let mut tape = self.tape.lock();
            (tape.head(), tape.interim())
        };
        let protocol = Protocol::of(parts.version, &head);
        if protocol == Protocol::H2 {
            head = response::synthetic_head(parts.status, &parts.headers);
        }
        if !response::keeps_alive(protocol, &parts.headers) {
            self.driver.stop();
        }
        Ok(Response {
            head,
            interim,
            status: parts.status.as_u16(),
            chunked: protocol != Protocol::H2 && response::is_chunked(&parts.headers),
            headers: parts.headers,
            body: gathered.into_body(),
            truncated,
            protocol,
            tls: self.tls.clone(),
        })
    }

    /// Rewinds the record and writes the request for this protocol.
    fn prepare(
        &self,
        (request, extras): (&Request, &RequestExtras),
        persona: &RequestHeaders,
        limits: &FetchLimits,
    ) -> Result<hyper::Request<Empty<Bytes>>, Failure> {
        let form = self.form();
        let outgoing = request.outgoing(persona, extras, form)?;
        let mut tape = self.tape.lock();
        if form == RequestForm::Http2 {
            tape.rewind_counting(&request.synthetic_head(outgoing.headers()));
        } else {
            tape.rewind(limits.head_bytes);
        }
        Ok(outgoing)
    }

    fn form(&self) -> RequestForm {
        let forwards = self.route.proxied.as_ref().is_some_and(|proxied| proxied.forwards);
        match self.sender {
            Sender::Http2(..) => RequestForm::Http2,
            Sender::Http1(_) if forwards => RequestForm::Absolute,
            Sender::Http1(_) => RequestForm::Origin,
        }
    }

    /// Sends the request and waits for the response head.
    async fn send_request(
        &mut self,
        outgoing: hyper::Request<Empty<Bytes>>,
        limits: &FetchLimits,
        patience: Deadlines,
    ) -> Result<hyper::Response<Incoming>, Failure> {
        let deadline = patience.until(limits.head);
        let answer = match &mut self.sender {
            Sender::Http1(sender) => {
                self.driver.run(deadline, pin!(sender.send_request(outgoing))).await
            }
            Sender::Http2(sender) => {
                self.driver.run(deadline, pin!(sender.send_request(outgoing))).await
            }
        };
        let answer = answer.ok_or_else(|| patience.timed_out(FetchPhase::Head))?;
        answer.map_err(|error| match self.tape.lock().other_protocol() {
            Some(start) => Failure::NotHttp(start),
            None => classify_http_error(&error),
        })
    }

    /// Reads the body to its end; says why where it does not get there.
    async fn read_body(
        &mut self,
        incoming: &mut Incoming,
        gathered: &mut BodyBuffer,
        room: &BodyMemory,
        patience: Deadlines,
    ) -> Option<Truncation> {
        while !incoming.is_end_stream() {
            if !gathered.wait_for_memory(room, patience).await {
                return Some(Truncation::Size);
            }
            let deadline = gathered.deadline(patience);
            let Some(frame) = self.driver.run(deadline, incoming.frame()).await else {
                return Some(Truncation::Time);
            };
            match frame {
                Some(Ok(frame)) => {
                    let data = frame.into_data().unwrap_or_default();
                    if !gathered.add(data) {
                        return Some(Truncation::Size);
                    }
                }
                Some(Err(error)) => return Some(classify_body_error(&error)),
                None => break,
            }
        }
        None
    }
}

impl ConnectionDriver {
    fn new(
        connection: Option<Box<http1::Connection<TokioIo<RecordedStream>, Empty<Bytes>>>>,
    ) -> Self {
        ConnectionDriver { connection, alarm: Box::pin(tokio::time::sleep(Duration::ZERO)) }
    }

    /// Polls `work`, and the connection under it, until `work` is done; `None` if the deadline passes
    /// first.
    async fn run<T>(
        &mut self,
        deadline: Instant,
        mut work: impl Future<Output = T> + Unpin,
    ) -> Option<T> {
        let mut is_set = false;
        poll_fn(|cx| {
            if let Poll::Ready(done) = Pin::new(&mut work).poll(cx) {
                return Poll::Ready(Some(done));
            }
            self.poll_connection(cx);
            if let Poll::Ready(done) = Pin::new(&mut work).poll(cx) {
                return Poll::Ready(Some(done));
            }
            if !is_set {
                self.alarm.as_mut().reset(deadline);
                is_set = true;
            }
            self.alarm.as_mut().poll(cx).map(|()| None)
        })
        .await
    }

    /// Moves what can be moved now.
    fn poll_connection(&mut self, cx: &mut Context<'_>) {
        if let Some(connection) = &mut self.connection
            && Pin::new(connection).poll(cx).is_ready()
        {
            self.stop();
        }
    }

    fn is_running(&self) -> bool {
        self.connection.is_some()
    }

    /// Closes the connection: later bytes on it belong to no response.
    fn stop(&mut self) {
        self.connection = None;
    }
}

/// Why no response head came. hyper does not show its kinds of errors, only asks and answers.
fn classify_http_error(error: &hyper::Error) -> Failure {
    let io = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    if let Some(cause) = io.and_then(io::Error::get_ref) {
        if cause.is::<HeadTooLarge>() {
            return Failure::HeadTooLarge;
        }
        if cause.is::<rustls::Error>() {
            return TlsFailure::Handshake(cause.to_string()).into();
        }
    }
    if error.is_parse_too_large() {
        Failure::HeadTooLarge
    } else if error.is_parse() {
        Failure::Protocol(error.to_string())
    } else if io.is_none() && !is_hang_up(error) {
        Failure::Protocol(source_or_self(error))
    } else {
        Failure::Disconnected
    }
}

/// Why a body broke off.
fn classify_body_error(error: &hyper::Error) -> Truncation {
    use io::ErrorKind as Kind;
    let io = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    let is_tls = io.and_then(io::Error::get_ref).is_some_and(|cause| cause.is::<rustls::Error>());
    match io.map(io::Error::kind) {
        Some(Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe) => {
            Truncation::Reset
        }
        Some(Kind::InvalidInput | Kind::InvalidData) if !is_tls => Truncation::Chunk,
        Some(Kind::UnexpectedEof) => Truncation::Disconnect,
        _ if is_hang_up(error) => Truncation::Disconnect,
        _ => Truncation::Reset,
    }
}

fn is_hang_up(error: &hyper::Error) -> bool {
    error.is_incomplete_message() || error.is_closed() || error.is_canceled()
}

fn source_or_self(error: &hyper::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}
