//! How is something sent to a server of the user's own, such as a search index? One request a connection, with
//! limits for time and for the answer. The address of an index may be private: the user named it. That of a receiver of
//! messages is checked after DNS, as for crawls.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use url::Url;

use crate::allow_private::AllowPrivate;

/// How long each step may take, and the most bytes of an answer.
const PATIENCE: Duration = Duration::from_secs(60);
const MOST_ANSWER: u64 = 32 << 20;

/// A server of the user's own.
#[derive(Clone, Debug)]
pub struct Endpoint {
    url: Url,
    /// Further header fields, such as a key.
    headers: Vec<(String, String)>,
    /// Which private addresses may be connected to; `None`: all.
    allow: Option<AllowPrivate>,
}

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostAnswer {
    /// The HTTP status.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
    /// When to come again, as `Retry-After` says.
    pub retry_after: Option<String>,
}

/// Why nothing came back.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    /// The URL or a header cannot be used.
    #[error("{0}")]
    Usage(String),
    /// The server could not be reached, or broke off.
    #[error("cannot send to {0}: {1}")]
    Io(String, io::Error),
    /// What came back was not HTTP.
    #[error("{0} does not answer in HTTP")]
    NotHttp(String),
}

impl Endpoint {
    /// The server at `url`; each request has these header fields.
    pub fn new(url: &str, headers: Vec<(String, String)>) -> Result<Self, PostError> {
        let usage = |why: &str| {
            PostError::Usage(format!("`{url}` {why}; use e.g. http://127.0.0.1:9200/pages"))
        };
        let parsed = Url::parse(url).map_err(|_| usage("is not a URL"))?;
        if !matches!(parsed.scheme(), "http" | "https") || !parsed.has_host() {
            return Err(usage("is neither http nor https"));
        }
        if parsed.query().is_some() || parsed.fragment().is_some() {
            return Err(usage("has a query or a fragment"));
        }
        Self::of(parsed, headers)
    }

    /// A receiver of messages at `url`, which may have a query. Only those private addresses are connected to that
    /// `allow` permits.
    pub fn guarded(
        url: &str,
        headers: Vec<(String, String)>,
        allow: AllowPrivate,
    ) -> Result<Self, PostError> {
        // The URL may hold a secret, so no message shows it.
        let usage = |why: &str| PostError::Usage(format!("the address of the receiver {why}"));
        let parsed = Url::parse(url).map_err(|_| usage("is not a URL"))?;
        if !matches!(parsed.scheme(), "http" | "https") || !parsed.has_host() {
            return Err(usage("is neither http nor https"));
        }
        Ok(Endpoint { allow: Some(allow), ..Self::of(parsed, headers)? })
    }

    fn of(parsed: Url, headers: Vec<(String, String)>) -> Result<Self, PostError> {
        let is_broken = |text: &str| text.contains(['\r', '\n', '\0']);
        if let Some((name, _)) =
            headers.iter().find(|(name, value)| is_broken(name) || is_broken(value))
        {
            return Err(PostError::Usage(format!("the header `{}` has a line break", name.trim())));
        }
        Ok(Endpoint { url: parsed, headers, allow: None })
    }

    /// Where it is, without a password.
    pub fn name(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        format!("{}:{}", host, self.url.port_or_known_default().unwrap_or(0))
    }

    /// Sends a request to the URL followed by `path`.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        content_type: &str,
        body: &[u8],
    ) -> Result<PostAnswer, PostError> {
        let failed = |error| PostError::Io(self.name(), error);
        let head = self.head(method, path, content_type, body.len());
        let tcp = self.connect().map_err(failed)?;
        let answer = match self.url.scheme() {
            "https" => exchange(self.secure(tcp).map_err(failed)?, &head, body),
            _ => exchange(tcp, &head, body),
        };
        parse_answer(&answer.map_err(failed)?).ok_or_else(|| PostError::NotHttp(self.name()))
    }

    fn head(&self, method: &str, path: &str, content_type: &str, length: usize) -> String {
        let base = match path {
            "" => self.url.path(),
            _ => self.url.path().trim_end_matches('/'),
        };
        let query = self.url.query().map_or(String::new(), |query| format!("?{query}"));
        let target = format!("{base}{path}{query}").replace(' ', "%20");
        let host = &self.url[url::Position::BeforeHost..url::Position::AfterPort];
        let mut head = format!(
            "{method} {} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: evercrawl\r\nConnection: close\r\n\
             Content-Type: {content_type}\r\nContent-Length: {length}\r\n",
            if target.is_empty() { "/" } else { &target }
        );
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head + "\r\n"
    }

    fn connect(&self) -> io::Result<TcpStream> {
        connect(&self.name(), self.allow.as_ref())
    }

    fn secure(&self, tcp: TcpStream) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        secure(self.url.host_str().unwrap_or_default(), tcp)
    }
}

/// Connects to `host:port`, at the first address that answers and may be connected to.
pub(crate) fn connect(name: &str, allow: Option<&AllowPrivate>) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in name.to_socket_addrs()? {
        if allow.is_some_and(|allow| !allow.permits(address.ip())) {
            last = io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("{} is a private address; `private = true` allows it", address.ip()),
            );
            continue;
        }
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Speaks TLS with the server `host`.
pub(crate) fn secure(
    host: &str,
    tcp: TcpStream,
) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = host.trim_matches(['[', ']']).to_owned();
    let name = ServerName::try_from(name).map_err(io::Error::other)?;
    let session = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(StreamOwned::new(session, tcp))
}

/// Sends all, and reads until the server closes; a server that answers early may close before all is sent.
fn exchange(mut stream: impl Read + Write, head: &str, body: &[u8]) -> io::Result<Vec<u8>> {
    let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
    let sent = sent.and_then(|()| stream.flush());
    let mut answer = Vec::new();
    let read = stream.take(MOST_ANSWER).read_to_end(&mut answer);
    match (sent, read) {
        _ if parse_answer(&answer).is_some() => Ok(answer),
        (Err(error), _) | (Ok(()), Err(error)) => Err(error),
        (Ok(()), Ok(_)) => Ok(answer),
    }
}

/// The status and the whole body of an answer.
fn parse_answer(answer: &[u8]) -> Option<PostAnswer> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let rest = &answer[end + 4..];
    let mut lines = head.lines();
    let status = lines.next()?.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()?;
    if (100..200).contains(&status) {
        return parse_answer(rest);
    }
    let field = |wanted: &str| {
        let mut fields = lines.clone().filter_map(|line| line.split_once(':'));
        fields.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
    };
    let body = if field("transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
        unchunked(rest)?
    } else {
        let length = field("content-length").and_then(|length| length.parse().ok());
        rest.get(..length.unwrap_or(rest.len()))?.to_vec()
    };
    let retry_after = field("retry-after").map(str::to_owned);
    Some(PostAnswer { status, body, retry_after })
}

fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n")?;
        let size = std::str::from_utf8(&rest[..end]).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        rest = &rest[end + 2..];
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(..size)?);
        rest = rest.get(size.checked_add(2)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A server that answers one request, and what it was sent.
    fn serve(answer: &'static str) -> (String, std::thread::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/base/", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut sent, mut piece) = (Vec::new(), [0; 1024]);
            while !sent.ends_with(b"body") {
                let count = stream.read(&mut piece).unwrap();
                sent.extend_from_slice(&piece[..count]);
            }
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8(sent).unwrap()
        });
        (url, server)
    }

    #[test]
    fn a_request_is_sent_and_its_answer_read() {
        for answer in [
            "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 201 x\r\n\r\nok",
            "HTTP/1.1 201 x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;x\r\nk\r\n0\r\n\r\n",
        ] {
            let (url, server) = serve(answer);
            let headers = vec![("X-Key".to_owned(), "secret".to_owned())];
            let endpoint = Endpoint::new(&url, headers).unwrap();
            let answer = endpoint.send("POST", "/_bulk?x=1", "text/plain", b"body").unwrap();
            assert_eq!((answer.status, answer.body.as_slice()), (201, b"ok".as_slice()));
            let sent = server.join().unwrap();
            assert!(
                sent.starts_with("POST /base/_bulk?x=1 HTTP/1.1\r\nHost: 127.0.0.1:"),
                "{sent}"
            );
            assert!(sent.contains("X-Key: secret\r\n") && sent.contains("Content-Length: 4\r\n"));
        }
    }

    #[test]
    fn receivers_of_messages_are_where_they_may_be() {
        let (url, server) = serve("HTTP/1.1 429 x\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n");
        let guarded =
            |allow| Endpoint::guarded(&format!("{url}a?key=x"), Vec::new(), allow).unwrap();
        let refused = guarded(AllowPrivate::default()).send("POST", "", "a/b", b"body");
        assert!(refused.unwrap_err().to_string().contains("private address"));
        let all = AllowPrivate::networks(vec!["127.0.0.0/8".parse().unwrap()]);
        let answer = guarded(all).send("POST", "", "a/b", b"body").unwrap();
        assert_eq!((answer.status, answer.retry_after.as_deref()), (429, Some("7")));
        assert!(server.join().unwrap().starts_with("POST /base/a?key=x HTTP/1.1\r\n"));
        let secret = Endpoint::guarded("ftp://hunter2/", Vec::new(), AllowPrivate::default());
        assert!(!secret.unwrap_err().to_string().contains("hunter2"));
    }

    #[test]
    fn what_does_not_answer_is_told() {
        let (url, _server) = serve("what?");
        let endpoint = Endpoint::new(&url, Vec::new()).unwrap();
        assert!(matches!(endpoint.send("POST", "", "a/b", b"body"), Err(PostError::NotHttp(_))));
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let endpoint = Endpoint::new(&format!("http://{closed}"), Vec::new()).unwrap();
        assert!(matches!(endpoint.send("POST", "", "a/b", b"body"), Err(PostError::Io(..))));
        for url in ["pages", "ftp://a/", "http://a/?x"] {
            assert!(matches!(Endpoint::new(url, Vec::new()), Err(PostError::Usage(_))), "{url}");
        }
        let broken = vec![("A".to_owned(), "b\r\nc: d".to_owned())];
        assert!(Endpoint::new("http://a/", broken).is_err());
    }
}
