//! What does a caller request? One request per connection, with limits on size and time.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use evercrawl_engine::live::SystemClock;
use evercrawl_model::Time;
use url::form_urlencoded;

/// The longest request line with its headers, and the longest body.
const MOST_HEAD: usize = 16 << 10;
const MOST_BODY: usize = 2 << 20;
const MOST_HEADERS: usize = 64;
/// How long a caller may take to ask, and to take the answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long, and for how much, one is heard out who was answered before the end.
const FAREWELL: Duration = Duration::from_secs(2);
const MOST_UNREAD: usize = 16 << 20;

/// A request.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    query: Vec<(String, String)>,
    /// With names in lower case.
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// The first value of a name in the query.
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The first value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Every value of a header.
    pub(super) fn headers<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Reads the head of a request; `None` while it is not whole.
    fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, Answer> {
        let bad = || Answer::words(400, "not an HTTP request");
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        let length = match parsed.parse(bytes).map_err(|_| bad())? {
            httparse::Status::Complete(length) => length,
            httparse::Status::Partial => return Ok(None),
        };
        let target = parsed.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        let request = Request {
            method: parsed.method.unwrap_or_default().to_owned(),
            path: path.to_owned(),
            query: form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
            headers: parsed
                .headers
                .iter()
                .map(|header| (header.name.to_ascii_lowercase(), text(header.value)))
                .collect(),
            body: Vec::new(),
        };
        Ok(Some((request, length)))
    }

    /// How long the body is.
    fn body_length(&self) -> Result<usize, Answer> {
        if self.header("transfer-encoding").is_some() {
            return Err(Answer::words(411, "Content-Length is missing"));
        }
        let mut lengths = self.headers("content-length");
        let (first, others) = (lengths.next(), lengths.count());
        let Some(length) = first else {
            let none = Answer::words(411, "Content-Length is missing");
            return if self.method == "POST" { Err(none) } else { Ok(0) };
        };
        match length.parse() {
            Ok(length) if length > MOST_BODY => Err(Answer::words(
                413,
                "the body is larger than 2 MiB; split it into several requests",
            )),
            Ok(length) if others == 0 => Ok(length),
            _ => Err(Answer::words(400, "Content-Length is not a number")),
        }
    }
}

/// Reads a request, or the answer that rejects it; an error if the caller is gone or too slow.
pub(super) fn read(caller: &TcpStream) -> io::Result<Result<Request, Answer>> {
    let deadline = SystemClock.now().after(PATIENCE);
    caller.set_write_timeout(Some(PATIENCE))?;
    let mut bytes = Vec::new();
    let (mut request, head) = loop {
        match Request::parse(&bytes) {
            Ok(Some(whole)) => break whole,
            Ok(None) if bytes.len() > MOST_HEAD => {
                return Ok(Err(Answer::words(431, "the headers are too long")));
            }
            Ok(None) => read_some(caller, &mut bytes, MOST_HEAD, deadline)?,
            Err(answer) => return Ok(Err(answer)),
        }
    };
    let length = match request.body_length() {
        Ok(length) => length,
        Err(answer) => return Ok(Err(answer)),
    };
    let waits = |words: &str| words.eq_ignore_ascii_case("100-continue");
    if length > 0 && request.header("expect").is_some_and(waits) {
        (&*caller).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    while bytes.len() < head + length {
        let missing = head + length - bytes.len();
        read_some(caller, &mut bytes, missing, deadline)?;
    }
    request.body = bytes[head..head + length].to_vec();
    Ok(Ok(request))
}

fn read_some(
    mut caller: &TcpStream,
    bytes: &mut Vec<u8>,
    most: usize,
    deadline: Time,
) -> io::Result<()> {
    let left = deadline.since(SystemClock.now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    caller.set_read_timeout(Some(left))?;
    let mut buffer = [0; 8192];
    let most = most.clamp(1, buffer.len());
    match caller.read(&mut buffer[..most])? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        n => {
            bytes.extend_from_slice(&buffer[..n]);
            Ok(())
        }
    }
}

/// Closes a connection so that the answer arrives even if the caller is still sending.
pub(super) fn hang_up(caller: &TcpStream) -> io::Result<()> {
    caller.shutdown(Shutdown::Write)?;
    let deadline = SystemClock.now().after(FAREWELL);
    let (mut unread, mut heard) = (Vec::new(), 0);
    while heard < MOST_UNREAD && read_some(caller, &mut unread, usize::MAX, deadline).is_ok() {
        heard += unread.len();
        unread.clear();
    }
    Ok(())
}

/// A response.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    media_type: &'static str,
    body: String,
    retry_after: Option<u64>,
}

impl Answer {
    /// A status with an explanation.
    pub(super) fn words(status: u16, words: &str) -> Self {
        let body = format!("{words}\n");
        Answer { status, media_type: "text/plain; charset=utf-8", body, retry_after: None }
    }

    /// A status with JSON.
    pub(super) fn json(status: u16, value: &serde_json::Value) -> Self {
        Answer { media_type: "application/json", ..Answer::words(status, &value.to_string()) }
    }

    /// Exactly this text, without a line end.
    pub(super) fn echo(words: &str) -> Self {
        Answer { body: words.to_owned(), ..Answer::words(200, "") }
    }

    /// The same, with the seconds after which to retry.
    pub(super) fn after(self, seconds: u64) -> Self {
        Answer { retry_after: Some(seconds), ..self }
    }

    pub(super) fn write(&self, mut caller: &TcpStream) -> io::Result<()> {
        let Answer { status, media_type, body, retry_after } = self;
        let retry = retry_after.map_or(String::new(), |s| format!("Retry-After: {s}\r\n"));
        let whole = format!(
            "HTTP/1.1 {status} {}\r\nContent-Type: {media_type}\r\nX-Content-Type-Options: nosniff\r\n\
             Content-Length: {}\r\n{retry}Connection: close\r\n\r\n{body}",
            phrase(*status),
            body.len(),
        );
        caller.write_all(whole.as_bytes())
    }
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        410 => "Gone",
        411 => "Length Required",
        413 => "Content Too Large",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        _ => "Service Unavailable",
    }
}
