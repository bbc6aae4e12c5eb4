//! A small web site that a test writes by hand: what each path answers the first time, the second
//! time, and so on.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What is asked of a site.
pub(crate) struct Request {
    /// Host and path, as in `a.test/page`.
    pub(crate) page: String,
    /// Header lines in lower case, as in `if-none-match: "1"`.
    pub(crate) headers: Vec<String>,
    /// How often this page was asked for before.
    pub(crate) earlier: usize,
}

impl Request {
    pub(crate) fn has(&self, header: &str) -> bool {
        self.headers.iter().any(|line| line == header)
    }
}

/// An answer: status line, further header lines, body.
pub(crate) struct Answer(pub(crate) &'static str, pub(crate) String, pub(crate) String);

impl Answer {
    /// A page of HTML.
    pub(crate) fn page(body: impl Into<String>) -> Self {
        Answer("200 OK", "Content-Type: text/html\r\n".to_owned(), body.into())
    }

    /// An answer without headers of its own, and with a word for a body.
    pub(crate) fn status(line: &'static str) -> Self {
        Answer(line, String::new(), line.to_owned())
    }

    /// The same with another body.
    pub(crate) fn body(mut self, body: &str) -> Self {
        self.2 = body.to_owned();
        self
    }

    /// The same with one more header line.
    pub(crate) fn with(mut self, header: &str) -> Self {
        self.1 += &format!("{header}\r\n");
        self
    }
}

type Asked = Arc<Mutex<HashMap<String, Vec<Instant>>>>;

/// A site that is served as long as the test runs.
pub(crate) struct Site {
    address: SocketAddr,
    asked: Asked,
}

impl Site {
    /// Serves what `answer` says.
    pub(crate) fn serve(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Asked::default();
        let (answer, log) = (Arc::new(answer), asked.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, log) = (answer.clone(), log.clone());
                std::thread::spawn(move || converse(&stream, &*answer, &log));
            }
        });
        Site { address, asked }
    }

    /// Serves these very bytes, and closes the connection after each answer.
    pub(crate) fn serve_bytes(
        answer: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Asked::default();
        let (answer, log) = (Arc::new(answer), asked.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, log) = (answer.clone(), log.clone());
                std::thread::spawn(move || {
                    let mut input = BufReader::new(&stream);
                    if let Some(request) = read_request(&mut input, &log) {
                        let _ = (&stream).write_all(&answer(&request));
                    }
                });
            }
        });
        Site { address, asked }
    }

    /// Where it is served.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a command needs to see this site under any name.
    pub(crate) fn flags(&self) -> String {
        // Answers differ from request to request, which a second look would take for noise.
        format!("{} -s schedule.second_look=0s", self.flags_with_second_looks())
    }

    /// The same where noise is to be learned.
    pub(crate) fn flags_with_second_looks(&self) -> String {
        format!("--allow-private=127.0.0.0/8 --connect-to ::{}", self.address)
    }

    /// When anything was asked for, and what, in the order of time.
    pub(crate) fn all_asked(&self) -> Vec<(Instant, String)> {
        let log = self.asked.lock().unwrap();
        let each = log.iter().flat_map(|(page, times)| times.iter().map(|&at| (at, page.clone())));
        let mut all: Vec<_> = each.collect();
        all.sort();
        all
    }

    /// When a page was asked for.
    pub(crate) fn asked(&self, page: &str) -> Vec<Instant> {
        self.asked.lock().unwrap().get(page).cloned().unwrap_or_default()
    }
}

/// Answers requests on a connection until the caller closes it.
fn converse(stream: &TcpStream, answer: &dyn Fn(&Request) -> Answer, log: &Asked) {
    let mut input = BufReader::new(stream);
    while let Some(request) = read_request(&mut input, log) {
        let Answer(status, headers, body) = answer(&request);
        let length = if status.starts_with("304") {
            String::new()
        } else {
            format!("Content-Length: {}\r\n", body.len())
        };
        let whole = format!("HTTP/1.1 {status}\r\n{headers}{length}\r\n{body}");
        if (&*stream).write_all(whole.as_bytes()).is_err() {
            return;
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "when it was asked is what tests want to know")]
fn read_request(input: &mut impl BufRead, log: &Asked) -> Option<Request> {
    let mut lines = input.lines().map_while(Result::ok);
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: Vec<String> =
        lines.take_while(|line| !line.is_empty()).map(|line| line.to_ascii_lowercase()).collect();
    let host = headers.iter().find_map(|line| line.strip_prefix("host: "))?;
    let page = format!("{host}{path}");
    let mut log = log.lock().unwrap();
    let times = log.entry(page.clone()).or_default();
    times.push(Instant::now());
    Some(Request { earlier: times.len() - 1, page, headers })
}
