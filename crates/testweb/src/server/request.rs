//! How are requests read from a connection, one after another?

use std::io;
use tokio::io::{AsyncRead, AsyncReadExt};

/// The bytes of a connection that have been received but not dealt with.
#[derive(Debug, Default)]
pub(crate) struct RequestBuffer {
    bytes: Vec<u8>,
}

/// A request, still in the inbox.
#[derive(Debug, Default)]
pub(crate) struct Head<'a> {
    pub(crate) method: &'a str,
    pub(crate) target: &'a str,
    pub(crate) host: &'a str,
    pub(crate) agent: &'a str,
    pub(crate) if_none_match: Option<&'a str>,
    pub(crate) if_modified_since: Option<&'a str>,
    pub(crate) content_length: usize,
    pub(crate) keep_alive: bool,
}

impl RequestBuffer {
    /// Waits until a whole request is there and says how long its head and its body are, or that the caller has left.
    pub(crate) async fn fill(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
    ) -> io::Result<Option<(usize, usize)>> {
        let head = loop {
            match find_end(&self.bytes) {
                Some(head) => break head,
                None if self.bytes.len() > HEAD_LIMIT => {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                None if self.read_more(stream).await? == 0 => return Ok(None),
                None => {}
            }
        };
        let body = Head::parse(&self.bytes[..head]).map_or(0, |head| head.content_length);
        if body > BODY_LIMIT {
            return Err(io::ErrorKind::InvalidData.into());
        }
        while self.bytes.len() < head + body {
            if self.read_more(stream).await? == 0 {
                return Ok(None);
            }
        }
        Ok(Some((head, body)))
    }

    /// The bytes of a request whose lengths are known.
    pub(crate) fn parts(&self, (head, body): (usize, usize)) -> (&[u8], &[u8]) {
        let (head, rest) = self.bytes.split_at(head);
        (head, &rest[..body])
    }

    /// Forgets a request that has been dealt with.
    pub(crate) fn consume(&mut self, (head, body): (usize, usize)) {
        self.bytes.drain(..head + body);
    }

    async fn read_more(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<usize> {
        self.bytes.reserve(4096);
        stream.read_buf(&mut self.bytes).await
    }
}

impl<'a> Head<'a> {
    /// Reads a request's head; none when it is not one.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(bytes).ok()?.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let mut head = Head { method: words.next()?, target: words.next()?, ..Head::default() };
        head.keep_alive = words.next()? == "HTTP/1.1";
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            head.take(name, value.trim());
        }
        // A request to a proxy names the whole URL; the host in it outranks the header.
        if let Some(rest) = head.target.strip_prefix("http://") {
            let (host, target) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            head.host = host;
            head.target = if target.is_empty() { "/" } else { target };
        }
        Some(head)
    }

    fn take(&mut self, name: &str, value: &'a str) {
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted);
        match name.len() {
            4 if is("host") => self.host = value,
            10 if is("user-agent") => self.agent = value,
            10 if is("connection") => self.keep_alive &= !value.eq_ignore_ascii_case("close"),
            13 if is("if-none-match") => self.if_none_match = Some(value),
            14 if is("content-length") => self.content_length = value.parse().unwrap_or(usize::MAX),
            17 if is("if-modified-since") => self.if_modified_since = Some(value),
            _ => {}
        }
    }
}

const HEAD_LIMIT: usize = 64 * 1024;
const BODY_LIMIT: usize = 64 * 1024 * 1024;

fn find_end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_parts_that_matter_are_read() {
        let bytes = b"GET /a?b HTTP/1.1\r\nhost: h1.test:81\r\nUser-Agent: it \r\nIF-NONE-MATCH: \"x\"\r\n\r\n";
        let head = Head::parse(bytes).unwrap();
        assert_eq!(
            (head.method, head.target, head.host, head.agent),
            ("GET", "/a?b", "h1.test:81", "it")
        );
        assert_eq!((head.if_none_match, head.if_modified_since), (Some("\"x\""), None));
        assert!(head.keep_alive);
    }

    #[test]
    fn connections_are_kept_as_the_caller_wishes() {
        for (text, kept) in [
            ("GET / HTTP/1.1\r\n\r\n", true),
            ("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", false),
            ("GET / HTTP/1.0\r\n\r\n", false),
        ] {
            assert_eq!(Head::parse(text.as_bytes()).unwrap().keep_alive, kept, "{text}");
        }
    }

    #[test]
    fn a_proxy_request_names_its_host_itself() {
        let head = Head::parse(b"GET http://h2.test/x HTTP/1.1\r\nHost: proxy\r\n\r\n").unwrap();
        assert_eq!((head.host, head.target), ("h2.test", "/x"));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            let _ = Head::parse(&bytes);
        }
    }
}
