//! What is the result of a fetch?

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{self, HeaderMap};
use hyper::{StatusCode, Version};
use url::Url;

use crate::body::Body;
use crate::failure::Failure;

/// Everything known about one fetch.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The response, or the failure.
    pub result: Result<Response, Failure>,
    /// The request head as it was sent; empty when nothing was.
    pub request_bytes: Bytes,
    /// What the phases took.
    pub times: Times,
    /// The address that was asked, once there was one.
    pub ip: Option<IpAddr>,
    /// Bytes received above TLS, framing and abandoned attempts included.
    pub bytes_on_wire: u64,
}

/// What the phases of a fetch took; zero for a phase that was not needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Looking the name up.
    pub dns: Duration,
    /// Opening the connection.
    pub connect: Duration,
    /// Agreeing on keys.
    pub tls: Duration,
    /// From sending the request to the first byte of the response.
    pub first_byte: Duration,
    /// All of it.
    pub total: Duration,
}

/// A response whose head was read to its end. Its body may have been cut off.
#[derive(Clone, Debug)]
pub struct Response {
    /// Status line and header fields as they were received, to the blank line that ends them. Rebuilt as
    /// HTTP/1.1 for HTTP/2.
    pub head: Bytes,
    /// Interim (1xx) heads that came before, as they were received.
    pub interim: Bytes,
    /// The status code.
    pub status: u16,
    /// The header fields, parsed.
    pub headers: HeaderMap,
    /// The body with its transfer coding removed and its content coding as sent.
    pub body: Body,
    /// Why the body is not whole, if it is not.
    pub truncated: Option<Truncation>,
    /// Whether the body came in chunks.
    pub chunked: bool,
    /// Which HTTP was spoken.
    pub protocol: Protocol,
    /// How the connection was secured, if it was.
    pub tls: Option<TlsInfo>,
}

impl Response {
    /// A header's value, where it is there and plain text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// A header's value that holds an address, as browsers read it: bytes that are no UTF-8 are
    /// percent-encoded.
    pub fn header_address(&self, name: &str) -> Option<String> {
        Some(address_text(self.headers.get(name)?.as_bytes()))
    }

    /// The content codings of the body as one list, in the order in which they were applied.
    pub fn content_codings(&self) -> String {
        let lines = self.headers.get_all(header::CONTENT_ENCODING).iter();
        let lines: Vec<&str> = lines.filter_map(|line| line.to_str().ok()).collect();
        lines.join(",")
    }

    /// Where a redirect from `base` leads, if this is one to another page of the web.
    pub fn location(&self, base: &Url) -> Option<Url> {
        if !matches!(self.status, 300 | 301 | 302 | 303 | 307 | 308) {
            return None;
        }
        let location = self.header_address("location")?;
        let url = base.join(location.trim()).ok()?;
        matches!(url.scheme(), "http" | "https").then_some(url)
    }
}

/// Why a body is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truncation {
    /// It was larger than allowed: we cut it.
    Size,
    /// It took longer than allowed.
    Time,
    /// The connection was closed before the declared length, or before the last chunk.
    Disconnect,
    /// The connection was reset.
    Reset,
    /// A chunk is malformed.
    Chunk,
}

impl Truncation {
    /// Whether more would have come: the cut is our cap, and the server is not to blame.
    pub const fn is_our_cap(self) -> bool {
        matches!(self, Truncation::Size)
    }
}

/// Which HTTP was spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2.
    H2,
}

impl Protocol {
    /// The name as archives write it: `http/1.1`, `h2`.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Http10 => "http/1.0",
            Protocol::Http11 => "http/1.1",
            Protocol::H2 => "h2",
        }
    }
}

impl Protocol {
    /// What was spoken, by the parsed version and the head as it was received. The parser is told that
    /// HTTP/1.0 is HTTP/1.1, since it reads no chunks in the former.
    pub(crate) fn of(version: Version, head: &[u8]) -> Self {
        match version {
            Version::HTTP_2 => Protocol::H2,
            _ if head.starts_with(b"HTTP/1.0") => Protocol::Http10,
            _ => Protocol::Http11,
        }
    }
}

/// Whether the connection can serve again after a response: in HTTP/1.0 only where the server says so.
pub(crate) fn keeps_alive(protocol: Protocol, headers: &HeaderMap) -> bool {
    let says = |value: &header::HeaderValue| {
        value
            .as_bytes()
            .split(is_comma)
            .any(|word| word.trim_ascii().eq_ignore_ascii_case(b"keep-alive"))
    };
    protocol != Protocol::Http10 || headers.get_all(header::CONNECTION).iter().any(says)
}

/// How a connection was secured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsInfo {
    /// The version as archives write it: `tls/1.3`.
    pub version: &'static str,
    /// The cipher suite by its registered name.
    pub cipher: String,
    /// The error of an invalid certificate, if those are accepted.
    pub verify_error: Option<String>,
}

/// The response head as HTTP/1.1 would have put it, for protocols whose heads are not text.
pub(crate) fn synthetic_head(status: StatusCode, headers: &HeaderMap) -> Bytes {
    let mut head = format!("HTTP/1.1 {} \r\n", status.as_str()).into_bytes();
    write_fields(headers, &mut head);
    head.into()
}

/// Writes header fields and the blank line after them.
pub(crate) fn write_fields(headers: &HeaderMap, out: &mut Vec<u8>) {
    for (name, value) in headers {
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

/// Whether chunks are the last transfer coding, so the one that delimits the body.
pub(crate) fn is_chunked(headers: &HeaderMap) -> bool {
    let codings = headers.get_all(header::TRANSFER_ENCODING);
    let last =
        codings.iter().next_back().and_then(|value| value.as_bytes().rsplit(is_comma).next());
    last.is_some_and(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"chunked"))
}

fn is_comma(byte: &u8) -> bool {
    *byte == b','
}

/// Header bytes as text: UTF-8 if they are, and otherwise with every other byte percent-encoded, so
/// that a URL in an unknown encoding keeps its bytes.
pub fn address_text(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    let escape = |&byte: &u8| match byte {
        0..=0x7f => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    bytes.iter().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn redirect(status: u16, location: &[u8]) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::LOCATION, HeaderValue::from_bytes(location).unwrap());
        let response = Response {
            head: Bytes::new(),
            interim: Bytes::new(),
            status,
            headers,
            body: Body::default(),
            truncated: None,
            chunked: false,
            protocol: Protocol::Http11,
            tls: None,
        };
        response.location(&Url::parse("https://a.test/x/y?z").unwrap()).map(String::from)
    }

    #[test]
    fn redirects_lead_to_absolute_urls() {
        for (location, want) in [
            (&b"/b"[..], Some("https://a.test/b")),
            (b"b", Some("https://a.test/x/b")),
            (b" //c.test ", Some("https://c.test/")),
            (b"http://c.test/#f", Some("http://c.test/#f")),
            (b"/caf\xc3\xa9", Some("https://a.test/caf%C3%A9")),
            (b"/caf\xe9", Some("https://a.test/caf%E9")),
            (b"ftp://c.test/", None),
            (b"http://[", None),
        ] {
            assert_eq!(redirect(301, location).as_deref(), want, "{location:?}");
        }
        assert_eq!(redirect(200, b"/b"), None);
        assert_eq!(redirect(304, b"/b"), None);
    }

    #[test]
    fn http_1_0_keeps_a_connection_only_where_it_says_so() {
        let keeps = |protocol, connection: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in connection {
                headers.append(header::CONNECTION, value.parse().unwrap());
            }
            keeps_alive(protocol, &headers)
        };
        assert!(keeps(Protocol::Http11, &[]));
        assert!(!keeps(Protocol::Http10, &[]));
        assert!(keeps(Protocol::Http10, &["x, Keep-Alive"]));
        assert!(!keeps(Protocol::Http10, &["close"]));
    }

    #[test]
    fn only_a_last_chunked_counts() {
        for (codings, chunked) in [
            (&["chunked"][..], true),
            (&["gzip, Chunked "], true),
            (&["gzip", "chunked"], true),
            (&["chunked, gzip"], false),
            (&["identity"], false),
            (&[], false),
        ] {
            let mut headers = HeaderMap::new();
            for coding in codings {
                headers.append(header::TRANSFER_ENCODING, coding.parse().unwrap());
            }
            assert_eq!(is_chunked(&headers), chunked, "{codings:?}");
        }
    }

    #[test]
    fn synthetic_heads_read_as_http_1() {
        let mut headers = HeaderMap::new();
        headers.insert("a", HeaderValue::from_static("1"));
        headers.append("b", HeaderValue::from_static("2"));
        headers.append("b", HeaderValue::from_static("3"));
        let head = synthetic_head(StatusCode::OK, &headers);
        assert_eq!(head, "HTTP/1.1 200 \r\na: 1\r\nb: 2\r\nb: 3\r\n\r\n");
    }
}
