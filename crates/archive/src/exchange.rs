//! What was asked, and what was answered?

use std::net::IpAddr;

use evercrawl_model::Time;

/// One request and its response, as they crossed the wire.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// The URL asked for.
    pub uri: &'a str,
    /// When the request was sent.
    pub date: Time,
    /// The server's address; `None` when a proxy hides it.
    pub ip: Option<IpAddr>,
    /// The request as sent; empty when it is not kept.
    pub request: &'a [u8],
    /// Status line and header lines as received, or as rebuilt from HTTP/2 fields.
    pub head: &'a [u8],
    /// The body without its transfer coding, but still content-encoded; given even when only a
    /// revisit is written, since its length may enter the stored head.
    pub payload: &'a [u8],
    /// SHA-1 of the payload; for a 304, of the payload that it confirms.
    pub payload_digest: [u8; 20],
    /// Why the payload is not whole, if it is not.
    pub truncated: Option<Truncated>,
    /// The protocol spoken, by the name under which it is negotiated: `http/1.1`, `h2`.
    pub protocol: &'a str,
    /// How the connection was encrypted, if it was.
    pub tls: Option<Tls<'a>>,
    /// The payload's media type as found by looking at it.
    pub identified_type: Option<&'a str>,
    /// Further facts on the visit, kept in a record of their own; none is written when empty.
    pub metadata: &'a [(&'a str, &'a str)],
}

/// Which record tells of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// The whole response.
    Response,
    /// The response came in full, but its payload is the one already stored there.
    SamePayload(Original<'a>),
    /// The server said 304: what is stored there still holds.
    NotModified(Original<'a>),
}

/// The earlier record that holds the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Original<'a> {
    /// Its target URI.
    pub uri: &'a str,
    /// Its date.
    pub date: Time,
}

/// Why a payload is not whole, in WARC's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncated {
    /// It exceeded the size limit.
    Length,
    /// It exceeded the time limit.
    Time,
    /// The connection broke.
    Disconnect,
    /// Some other or unknown reason.
    Unspecified,
}

impl Truncated {
    /// The word that stands in the record.
    pub const fn word(self) -> &'static str {
        match self {
            Truncated::Length => "length",
            Truncated::Time => "time",
            Truncated::Disconnect => "disconnect",
            Truncated::Unspecified => "unspecified",
        }
    }
}

/// How a connection was encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tls<'a> {
    /// The version: `tls/1.2`, `tls/1.3`.
    pub version: &'a str,
    /// The cipher suite by its registered name.
    pub cipher: &'a str,
}
