//! What did a server answer, as a record keeps it?

use bytes::Bytes;
use evercrawl_fetch::{
    Body, Fetched, HeaderMap, HeaderName, HeaderValue, Protocol, Response, Times, Truncation,
};
use std::net::IpAddr;

/// The longest head that is read as one.
const LONGEST_HEAD: usize = 256 << 10;

/// An answer out of the block of a record: head and body. `None` where that begins with no status line.
pub(crate) fn answer(
    block: &[u8],
    truncated: Option<Truncation>,
    ip: Option<IpAddr>,
) -> Option<Fetched> {
    let (head, body) = block.split_at(head_length(block)?);
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    let status = status_of(lines.next()?)?;
    let headers = header_map(lines);
    let coded = headers.get_all("transfer-encoding").iter();
    let chunked = coded.into_iter().any(|value| value.as_bytes().ends_with(b"chunked"));
    // Some programs keep the chunks, and others only the header that tells of them.
    let body = chunked.then(|| without_chunks(body)).flatten().unwrap_or_else(|| body.to_vec());
    let response = Response {
        head: Bytes::copy_from_slice(head),
        interim: Bytes::new(),
        status,
        headers,
        body: Body::from(body),
        truncated,
        chunked,
        protocol: if head.starts_with(b"HTTP/1.0") { Protocol::Http10 } else { Protocol::Http11 },
        tls: None,
    };
    Some(Fetched {
        bytes_on_wire: block.len() as u64,
        result: Ok(response),
        request_bytes: Bytes::new(),
        times: Times::default(),
        ip,
    })
}

/// An answer that has a body and no head: with the head that says what it is.
pub(crate) fn answer_with_head(media_type: &str, body: &[u8]) -> Option<Fetched> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    answer(&[head.as_bytes(), body].concat(), None, None)
}

/// The same answer with the body of another.
pub(crate) fn with_body(fetched: Fetched, body: Vec<u8>) -> Fetched {
    let result = fetched.result.map(|response| Response { body: Body::from(body), ..response });
    Fetched { result, ..fetched }
}

fn head_length(block: &[u8]) -> Option<usize> {
    let looked_at = &block[..block.len().min(LONGEST_HEAD)];
    let mut end = 0;
    for line in looked_at.split_inclusive(|byte| *byte == b'\n') {
        end += line.len();
        if line.trim_ascii().is_empty() {
            return Some(end);
        }
    }
    // A record of a head alone need not end with a blank line.
    (looked_at.len() == block.len()).then_some(end)
}

/// `HTTP/1.1 200 OK`, `HTTP/2 200`.
fn status_of(line: &[u8]) -> Option<u16> {
    let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let is_http = words.next()?.starts_with(b"HTTP/");
    let code = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
    (is_http && (100..1000).contains(&code)).then_some(code)
}

fn header_map<'a>(lines: impl Iterator<Item = &'a [u8]>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(line[..colon].trim_ascii());
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value)
            && headers.len() < 4096
        {
            headers.append(name, value);
        }
    }
    headers
}

/// A body without its chunks; `None` where it is not made of any.
fn without_chunks(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::with_capacity(body.len());
    loop {
        let end = body.iter().take(64).position(|byte| *byte == b'\n')?;
        let size = std::str::from_utf8(&body[..end]).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        body = &body[end + 1..];
        if size == 0 {
            return Some(whole);
        }
        // The last chunk of a body that did not arrive whole.
        let Some(chunk) = body.get(..size) else {
            whole.extend_from_slice(body);
            return Some(whole);
        };
        whole.extend_from_slice(chunk);
        body = body[size..].strip_prefix(b"\r\n").or_else(|| body[size..].strip_prefix(b"\n"))?;
        if body.is_empty() {
            return Some(whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(block: &str) -> Option<(u16, Vec<u8>)> {
        let response = answer(block.as_bytes(), None, None)?.result.ok()?;
        Some((response.status, response.body.whole().into_owned()))
    }

    #[test]
    fn answers_are_read_however_their_bodies_are_kept() {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        for (block, want) in [
            ("HTTP/1.1 404 No\r\nA: b\r\n\r\nbody".to_owned(), Some((404, "body"))),
            ("HTTP/2 200\nA: b\n\nbody".to_owned(), Some((200, "body"))),
            (format!("{chunked}4\r\nbody\r\n0\r\n\r\n"), Some((200, "body"))),
            (format!("{chunked}2;x=y\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n"), Some((200, "body"))),
            (format!("{chunked}9\r\nbody"), Some((200, "body"))),
            (format!("{chunked}<p>not in chunks</p>"), Some((200, "<p>not in chunks</p>"))),
            ("HTTP/1.1 304 Not Modified\r\nETag: x".to_owned(), Some((304, ""))),
            ("GET / HTTP/1.1\r\n\r\n".to_owned(), None),
            ("HTTP/1.1 abc\r\n\r\n".to_owned(), None),
            (String::new(), None),
        ] {
            let want = want.map(|(status, body)| (status, body.as_bytes().to_vec()));
            assert_eq!(read(&block), want, "{block}");
        }
    }

    #[test]
    fn a_body_without_a_head_gets_one() {
        let fetched = answer_with_head("text/plain", b"x").unwrap();
        assert_eq!(fetched.result.unwrap().header("content-type"), Some("text/plain"));
    }
}
