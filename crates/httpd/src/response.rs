//! What does a caller get?

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{HeaderName, HeaderValue};
use tokio::sync::mpsc;

/// Pieces of a stream that wait to be written.
const MOST_WAITING: usize = 64;

/// An answer to a request.
#[derive(Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: ResponseBody,
}

impl Response {
    /// An answer without a body.
    pub fn new(status: u16) -> Self {
        Response { status, headers: Vec::new(), body: ResponseBody::Whole(Some(Bytes::new())) }
    }

    /// With one more header. One that cannot be sent is left out.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((HeaderName::from_static(name), value));
        }
        self
    }

    /// With this header unless there is one of its name.
    #[must_use]
    pub fn or(self, name: &'static str, value: &str) -> Self {
        if self.header(name).is_some() { self } else { self.with(name, value) }
    }

    /// With this body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = ResponseBody::Whole(Some(body.into()));
        self
    }

    /// With a body that comes piece by piece.
    #[must_use]
    pub fn streaming(mut self, body: StreamBody) -> Self {
        self.body = ResponseBody::Stream(body.0);
        self
    }

    /// The body, where it is whole.
    pub fn whole_body(&self) -> Option<&Bytes> {
        match &self.body {
            ResponseBody::Whole(bytes) => bytes.as_ref(),
            ResponseBody::Stream(_) => None,
        }
    }

    /// The first value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(has, _)| has.as_str() == name);
        found.and_then(|(_, value)| value.to_str().ok())
    }

    pub(crate) fn into_http(self) -> hyper::Response<ResponseBody> {
        let mut http = hyper::Response::new(self.body);
        let status = hyper::StatusCode::from_u16(self.status);
        *http.status_mut() = status.unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
        for (name, value) in self.headers {
            http.headers_mut().append(name, value);
        }
        http
    }
}

/// The end of a stream that goes into a response.
#[derive(Debug)]
pub struct StreamBody(mpsc::Receiver<Bytes>);

/// The end of a stream where its pieces come from; the response ends when this is dropped.
#[derive(Clone, Debug)]
pub struct StreamSender(mpsc::Sender<Bytes>);

/// Why a piece was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// The caller does not take what waits for it.
    Full,
    /// The caller has left.
    Gone,
}

impl StreamSender {
    /// Sends a piece, unless too many wait.
    pub fn try_send(&self, piece: impl Into<Bytes>) -> Result<(), StreamEnd> {
        self.0.try_send(piece.into()).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => StreamEnd::Full,
            mpsc::error::TrySendError::Closed(_) => StreamEnd::Gone,
        })
    }

    /// Sends a piece once there is room for it: from a thread that may wait.
    pub fn send(&self, piece: impl Into<Bytes>) -> Result<(), StreamEnd> {
        self.0.blocking_send(piece.into()).map_err(|_| StreamEnd::Gone)
    }

    /// Whether the caller has left.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

/// The two ends of a stream.
pub fn stream() -> (StreamSender, StreamBody) {
    let (sender, receiver) = mpsc::channel(MOST_WAITING);
    (StreamSender(sender), StreamBody(receiver))
}

/// The body of a response as it is written.
#[derive(Debug)]
pub(crate) enum ResponseBody {
    Whole(Option<Bytes>),
    Stream(mpsc::Receiver<Bytes>),
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            ResponseBody::Whole(bytes) => {
                let rest = bytes.take().filter(|bytes| !bytes.is_empty());
                Poll::Ready(rest.map(|bytes| Ok(Frame::data(bytes))))
            }
            ResponseBody::Stream(pieces) => {
                pieces.poll_recv(context).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, ResponseBody::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            ResponseBody::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            ResponseBody::Stream(_) => SizeHint::default(),
        }
    }
}
