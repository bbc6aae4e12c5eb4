//! Which HTTP head is stored with a payload?
//!
//! The one received, byte for byte, except where it would mislead readers of the record: the
//! payload is stored without its transfer coding, HTTP/2 has no status line, and a line that
//! looks blank to some readers would end the head early. Common Crawl's conventions are followed.

use std::io::Write as _;

/// Builds the head to store out of the one received. `payload` is the length of the payload that
/// the head belongs to, or `None` where no payload came, as with a 304.
pub(crate) fn stored(received: &[u8], payload: Option<usize>) -> Vec<u8> {
    let mut out = Vec::with_capacity(received.len() + 64);
    let mut lines = final_head(received).filter(|line| !is_blank(line));
    push_status_line(lines.next().unwrap_or_default(), &mut out);
    let lines: Vec<&[u8]> = lines.collect();
    let coded = lines.iter().any(|line| is_named(line, b"transfer-encoding"));
    for line in lines {
        let misleads = is_named(line, b"transfer-encoding") || is_named(line, b"content-length");
        if coded && misleads {
            out.extend_from_slice(b"X-Crawler-");
        }
        push_line(line, &mut out);
    }
    if let (true, Some(length)) = (coded, payload) {
        // Writing to memory does not fail.
        let _ = write!(out, "Content-Length: {length}\r\n");
    }
    out.extend_from_slice(if received.ends_with(b"\n\n") { b"\n" } else { b"\r\n" });
    out
}

/// Divides a block into its HTTP head, blank line included, and the payload.
pub(crate) fn split(block: &[u8]) -> (&[u8], &[u8]) {
    let mut end = 0;
    for line in block.split_inclusive(|&b| b == b'\n') {
        end += line.len();
        if is_blank(line) {
            break;
        }
    }
    block.split_at(end)
}

/// The status code in a stored head.
pub(crate) fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|&b| b == b'\n').next()?;
    let code = line.split(|&b| b == b' ').filter(|word| !word.is_empty()).nth(1)?;
    str::from_utf8(code.trim_ascii()).ok()?.parse().ok()
}

/// The media type that a stored head names, in lower case and without parameters.
pub(crate) fn media_type(head: &[u8]) -> Option<String> {
    let line = head.split(|&b| b == b'\n').find(|line| is_named(line, b"content-type"))?;
    let value = &line[line.iter().position(|&b| b == b':')? + 1..];
    let end = |b: &u8| matches!(b, b';' | b',') || b.is_ascii_whitespace();
    let word = value.trim_ascii_start().split(end).next()?;
    let word = String::from_utf8_lossy(word).to_ascii_lowercase();
    (!word.is_empty()).then_some(word)
}

/// The value of a header as text: UTF-8 if it is, and otherwise with all other bytes percent-encoded.
pub(crate) fn text_of_value(value: &[u8]) -> String {
    let escape = |&byte: &u8| match byte {
        0..=0x7f => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    str::from_utf8(value).map_or_else(|_| value.iter().map(escape).collect(), str::to_owned)
}

/// The lines of the last head in `received`, which interim responses (100, 103) may precede.
fn final_head(received: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut at, mut start, mut after_blank) = (0, 0, true);
    for line in received.split_inclusive(|&b| b == b'\n') {
        if after_blank && line.starts_with(b"HTTP/") {
            start = at;
        }
        after_blank = is_blank(line);
        at += line.len();
    }
    received[start..].split_inclusive(|&b| b == b'\n')
}

/// Readers know the status lines of HTTP/1.0 and 1.1 only, so any other is rewritten as one.
fn push_status_line(line: &[u8], out: &mut Vec<u8>) {
    if line.starts_with(b"HTTP/1.0 ") || line.starts_with(b"HTTP/1.1 ") {
        return push_line(line, out);
    }
    out.extend_from_slice(b"HTTP/1.1 ");
    if !line.starts_with(b"HTTP/") {
        // HTTP/0.9 and its like have no status; what stands there is kept as a line of its own.
        out.extend_from_slice(b"200 \r\n");
        return push_line(line, out);
    }
    let words = line.iter().position(|&b| b == b' ').map_or(&b"200"[..], |space| &line[space..]);
    let words = words.trim_ascii();
    out.extend_from_slice(words);
    out.extend_from_slice(if words.contains(&b' ') { b"\r\n" } else { b" \r\n" });
}

/// Adds a line with its own ending, or with one if it has none.
fn push_line(line: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(line);
    if !line.is_empty() && !line.ends_with(b"\n") {
        out.extend_from_slice(b"\r\n");
    }
}

/// True of a line that some reader would take for the end of the head: only white space and
/// control characters, whether read as UTF-8 or as Latin-1.
fn is_blank(line: &[u8]) -> bool {
    // Nearly every line begins with what can be seen.
    if line.iter().any(u8::is_ascii_graphic) {
        return false;
    }
    let empty = |c: char| c.is_whitespace() || c.is_control();
    match str::from_utf8(line) {
        Ok(text) => text.chars().all(empty),
        Err(_) => line.iter().all(|&b| empty(char::from(b))),
    }
}

fn is_named(line: &[u8], name: &[u8]) -> bool {
    let colon = line.iter().position(|&b| b == b':');
    colon.is_some_and(|at| line[..at].trim_ascii_end().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(received: &str, payload: Option<usize>, want: &str) {
        let got = stored(received.as_bytes(), payload);
        assert_eq!(String::from_utf8(got).unwrap(), want, "from {received:?}");
    }

    #[test]
    fn an_ordinary_head_is_stored_as_received() {
        for head in [
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX: a\r\n b\r\n\r\n",
            "HTTP/1.0 404\r\n\r\n",
            "HTTP/1.1 200 OK\nServer: odd\n\n",
        ] {
            check(head, Some(3), head);
        }
    }

    #[test]
    fn a_transfer_coding_is_renamed_and_the_length_is_right() {
        check(
            "HTTP/1.1 200 OK\r\ntransfer-encoding : chunked\r\nContent-Length: 9\r\nA: b\r\n\r\n",
            Some(5),
            "HTTP/1.1 200 OK\r\nX-Crawler-transfer-encoding : chunked\r\n\
             X-Crawler-Content-Length: 9\r\nA: b\r\nContent-Length: 5\r\n\r\n",
        );
        check(
            "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
            None,
            "HTTP/1.1 304 Not Modified\r\nX-Crawler-Transfer-Encoding: chunked\r\n\r\n",
        );
    }

    #[test]
    fn odd_status_lines_become_http_1_1() {
        check("HTTP/2 200\r\na: b\r\n\r\n", None, "HTTP/1.1 200 \r\na: b\r\n\r\n");
        check("HTTP/2.0 404 Gone\r\n\r\n", None, "HTTP/1.1 404 Gone\r\n\r\n");
        check("HTTP/3\r\n\r\n", None, "HTTP/1.1 200 \r\n\r\n");
        check("ICY 200 OK\r\na: b\r\n\r\n", None, "HTTP/1.1 200 \r\nICY 200 OK\r\na: b\r\n\r\n");
        check("", None, "HTTP/1.1 200 \r\n\r\n");
    }

    #[test]
    fn nothing_before_the_end_looks_like_the_end() {
        check("\r\nHTTP/1.1 200 OK\r\na: b", None, "HTTP/1.1 200 OK\r\na: b\r\n\r\n");
        check(
            "HTTP/1.1 200 OK\r\n \t\r\n\u{a0}\r\na: b\r\n\r\n",
            None,
            "HTTP/1.1 200 OK\r\na: b\r\n\r\n",
        );
        check(
            "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\na: b\r\n\r\n",
            None,
            "HTTP/1.1 200 OK\r\na: b\r\n\r\n",
        );
    }

    #[test]
    fn status_and_type_are_read_off() {
        let head = b"HTTP/1.1 200 \r\nCONTENT-TYPE:  Text/HTML; charset=x\r\n\r\n";
        assert_eq!(status(head), Some(200));
        assert_eq!(media_type(head).as_deref(), Some("text/html"));
        assert_eq!(status(b"HTTP/1.0 404\r\n\r\n"), Some(404));
        assert_eq!(status(b"HTTP/1.1 abc\r\n"), None);
        assert_eq!(media_type(b"HTTP/1.1 200 \r\nContent-Type: ;\r\n\r\n"), None);
        assert_eq!(media_type(b"HTTP/1.1 200 \r\n\r\n"), None);
    }

    #[test]
    fn a_block_is_divided_at_its_first_blank_line() {
        assert_eq!(split(b"a\r\n\r\nb\r\n\r\n"), (&b"a\r\n\r\n"[..], &b"b\r\n\r\n"[..]));
        assert_eq!(split(b"a\n\nb"), (&b"a\n\n"[..], &b"b"[..]));
        assert_eq!(split(b"a"), (&b"a"[..], &b""[..]));
    }
}
