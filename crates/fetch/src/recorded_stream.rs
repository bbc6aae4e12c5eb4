//! How do bytes get from the socket to hyper, and past the record?

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::wire_record::WireRecord;

/// The most that is read at once. hyper makes room for twice what came whenever that filled its buffer, up to 400 kB;
/// a body keeps the buffer that it came in, so a few large pages would have each small one after them lie in memory
/// that
/// no cache holds. One byte less than what hyper would double.
const AT_ONCE: u64 = 64 * 1024 - 1;

/// A connection, plain or secured.
#[derive(Debug)]
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A connection whose every byte passes the tape. It sits above TLS, so the tape holds plain text.
#[derive(Debug)]
pub(crate) struct RecordedStream {
    stream: Stream,
    tape: SharedWireRecord,
}

/// The record, shared by the stream inside hyper and the connection outside it.
#[derive(Clone, Debug)]
pub(crate) struct SharedWireRecord(Arc<Mutex<WireRecord>>);

impl SharedWireRecord {
    pub(crate) fn new() -> Self {
        SharedWireRecord(Arc::new(Mutex::new(WireRecord::new())))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, WireRecord> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecordedStream {
    /// A connection as hyper wants it: what comes goes straight into hyper's buffer.
    pub(crate) fn on(stream: Stream, tape: SharedWireRecord) -> TokioIo<Self> {
        TokioIo::new(RecordedStream { stream, tape })
    }
}

impl AsyncRead for RecordedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        read: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = read.filled().len();
        ready!(self.stream.poll_read(cx, read))?;
        let received = self.tape.lock().record_received(&read.filled()[before..]);
        for minor in received.map_err(io::Error::other)? {
            // To hyper it is HTTP/1.1: of HTTP/1.0 it would not read chunks, which some servers send, and of HTTP/1.2
            // nothing, although that is read as HTTP/1.1 is.
            if let Some(byte) = read.filled_mut().get_mut(before + minor) {
                *byte = b'1';
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for RecordedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(self.stream.poll_write(cx, bytes))?;
        self.tape.lock().record_sent(&bytes[..written]);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_flush(cx),
            Stream::Tls(tls) => Pin::new(tls).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_shutdown(cx),
            Stream::Tls(tls) => Pin::new(tls).poll_shutdown(cx),
        }
    }
}

impl Stream {
    fn poll_read(&mut self, cx: &mut Context<'_>, read: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Plain(tcp) => Pin::new(&mut tcp.take(AT_ONCE)).poll_read(cx, read),
            Stream::Tls(tls) => match ready!(Pin::new(tls).poll_read(cx, read)) {
                // Many servers just hang up, without TLS's goodbye. Whether the message was whole
                // is known from its own framing, as it is without TLS.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
                done => Poll::Ready(done),
            },
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Stream::Plain(tcp) => Pin::new(tcp).poll_write(cx, bytes),
            Stream::Tls(tls) => Pin::new(tls).poll_write(cx, bytes),
        }
    }
}
