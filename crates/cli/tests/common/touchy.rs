//! A web whose hosts all have rules of their own, and a judge of whether a caller kept them.
//!
//! Neither shares a line with the crawler: robots.txt files are made and read here, by a reader
//! that knows no more than RFC 9309 demands.
//!
//! The judge cannot err by what a busy machine does. The log has an answer *before* it is sent
//! and a request *after* it has come, so any pause that the caller made is at most as long as the
//! one in the log.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What hosts ask of their guests at most, beside robots.txt.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How long what a caller heard may wait until it is on its disk.
const UNCOMMITTED: Duration = Duration::from_secs(1);
/// How long a request may wait until a busy server reads it.
const ON_ITS_WAY: Duration = Duration::from_millis(100);
/// Clocks and pauses are kept in milliseconds.
const ROUNDING: Duration = Duration::from_millis(2);

/// A web of so many hosts on so many addresses, each with so many pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) hosts: usize,
    pub(crate) addresses: u8,
    pub(crate) pages: usize,
}

/// One request and its answer.
#[derive(Clone, Debug)]
struct Exchange {
    host: usize,
    address: u8,
    path: String,
    came: Instant,
    answered: Instant,
    status: u16,
    /// The robots.txt that was served, where it was asked for.
    robots: Option<Robots>,
}

/// A robots.txt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Robots {
    /// What paths begin with, and whether they are allowed.
    rules: Vec<(String, bool)>,
    delay: Duration,
}

impl Robots {
    /// One of many, by a number.
    fn drawn(number: u64) -> Self {
        let mut robots = Robots::default();
        for (n, section) in ["/a/", "/b/", "/c/", "/d/"].into_iter().enumerate() {
            match (number >> (3 * n)) % 8 {
                0 | 1 => robots.rules.push((section.to_owned(), false)),
                2 => {
                    robots.rules.push((section.to_owned(), false));
                    robots.rules.push((format!("{section}1"), true));
                }
                3 => robots.rules.push((format!("{section}2"), false)),
                _ => {}
            }
        }
        robots.delay = Duration::from_millis([0, 0, 0, 60, 90, 120][(number >> 13) as usize % 6]);
        robots
    }

    fn text(&self) -> String {
        let mut text = "User-agent: somebody\nDisallow: /\n\nUser-agent: *\n".to_owned();
        for (path, allowed) in &self.rules {
            text += &format!("{}: {path}\n", if *allowed { "Allow" } else { "Disallow" });
        }
        if !self.delay.is_zero() {
            text += &format!("Crawl-delay: {}\n", self.delay.as_secs_f64());
        }
        text
    }

    /// The longest rule that fits decides.
    fn allows(&self, path: &str) -> bool {
        let fitting = self.rules.iter().filter(|(start, _)| path.starts_with(start.as_str()));
        fitting.max_by_key(|(start, allowed)| (start.len(), *allowed)).is_none_or(|rule| rule.1)
    }
}

/// The web, served as long as the test runs.
pub(crate) struct Touchy {
    size: Size,
    port: u16,
    seen: Arc<Mutex<Seen>>,
}

/// What all hosts saw.
#[derive(Default)]
struct Seen {
    log: Vec<Exchange>,
    pages: HashSet<(usize, String)>,
    robots: HashMap<usize, u64>,
    kills: Vec<Instant>,
}

impl Touchy {
    /// Serves it on loopback addresses of its own.
    pub(crate) fn serve(size: Size) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let mut port = 0;
        for address in 1..=size.addresses {
            let listener = TcpListener::bind(SocketAddr::from(([127, 0, 77, address], port)));
            let listener = listener.unwrap();
            port = listener.local_addr().unwrap().port();
            let seen = seen.clone();
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let host = Host { size, address, seen: seen.clone() };
                    std::thread::spawn(move || host.converse(&stream));
                }
            });
        }
        Touchy { size, port, seen }
    }

    /// The front pages of all hosts, one a line.
    pub(crate) fn seeds(&self) -> String {
        (0..self.size.hosts).map(|host| format!("http://h{host}.test/\n")).collect()
    }

    /// Settings with which every host is found at its address.
    pub(crate) fn settings(&self) -> String {
        let rule = |host: usize| {
            let address = host % usize::from(self.size.addresses) + 1;
            format!("  \"h{host}.test::127.0.77.{address}:{}\",\n", self.port)
        };
        let rules: String = (0..self.size.hosts).map(rule).collect();
        format!("[fetch]\nconnect_to = [\n{rules}]\n")
    }

    /// How many requests came so far.
    pub(crate) fn requests(&self) -> usize {
        self.seen.lock().unwrap().log.len()
    }

    /// The caller is being killed.
    pub(crate) fn note_kill(&self) {
        self.seen.lock().unwrap().kills.push(now());
    }

    /// What the log says of a caller that promised these pauses for hosts and addresses.
    pub(crate) fn judge(&self, delay: Duration, ip_delay: Duration) -> Judgement {
        let seen = self.seen.lock().unwrap();
        let mut log = seen.log.clone();
        log.sort_by_key(|exchange| exchange.came);
        let kills = seen.kills.clone();
        let mut judgement = Judgement { requests: log.len(), kills, ..Judgement::default() };
        let mut hosts: BTreeMap<usize, Vec<&Exchange>> = BTreeMap::new();
        let mut addresses: BTreeMap<u8, Vec<Instant>> = BTreeMap::new();
        for exchange in &log {
            hosts.entry(exchange.host).or_default().push(exchange);
            addresses.entry(exchange.address).or_default().push(exchange.came);
        }
        judgement.hosts = hosts.len();
        judgement.addresses = addresses.len();
        hosts.values().for_each(|exchanges| judgement.host(exchanges, delay));
        addresses.values().for_each(|came| judgement.address(came, ip_delay));
        judgement
    }
}

/// How a caller behaved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) requests: usize,
    pub(crate) hosts: usize,
    pub(crate) addresses: usize,
    /// Answers that asked for a pause.
    pub(crate) pauses_asked: usize,
    /// Times that a robots.txt was served, and how many of them asked for a delay.
    pub(crate) robots_served: usize,
    pub(crate) delays_asked: usize,
    /// Requests that the robots.txt served last forbade, or that came before any was served.
    pub(crate) against_robots: usize,
    /// Requests that came before the pause of their host was over.
    pub(crate) too_early: usize,
    /// Requests that came before the one before was answered.
    pub(crate) parallel: usize,
    /// Requests that came while a `Retry-After` held.
    pub(crate) inside_retry_after: usize,
    /// Those of hosts whose `Retry-After` came just before the caller was killed: it could not be
    /// remembered any more.
    pub(crate) forgotten_by_kill: usize,
    kills: Vec<Instant>,
    /// Times at which an address was asked far more often than its pause allows.
    pub(crate) bursts: usize,
    /// The first few offences.
    pub(crate) examples: Vec<String>,
}

impl Judgement {
    /// Everything that is an offence.
    pub(crate) fn offences(&self) -> usize {
        self.against_robots + self.too_early + self.parallel + self.inside_retry_after + self.bursts
    }

    fn host(&mut self, exchanges: &[&Exchange], delay: Duration) {
        let mut rules: Option<&Robots> = None;
        let mut before: Option<&Exchange> = None;
        let mut blocked: Option<&Exchange> = None;
        for &exchange in exchanges {
            if let Some(before) = before {
                let pause = rules.map_or(delay, |rules| rules.delay.max(delay));
                let gap = exchange.came.saturating_duration_since(before.answered);
                self.note(gap + ROUNDING < pause, exchange, |this| &mut this.too_early);
                let parallel = exchange.came < before.answered;
                self.note(parallel, exchange, |this| &mut this.parallel);
            }
            let over = |asked: &Exchange| asked.answered + RETRY_AFTER;
            if let Some(asked) = blocked.filter(|asked| exchange.came + ROUNDING < over(asked)) {
                // Whoever was killed before the answer came never heard it; and what was sent before a
                // kill may be read after it.
                let lost = asked.came..asked.answered + UNCOMMITTED;
                let lost =
                    |kill: Instant| lost.contains(&kill) || lost.contains(&(kill + ON_ITS_WAY));
                let mut kills = self.kills.iter();
                let forgotten = kills.any(|kill| lost(*kill) && *kill < exchange.came);
                self.forgotten_by_kill += usize::from(forgotten);
                self.note(!forgotten, exchange, |this| &mut this.inside_retry_after);
            }
            if exchange.path == "/robots.txt" {
                self.robots_served += 1;
                rules = exchange.robots.as_ref().or(rules);
                self.delays_asked += usize::from(rules.is_some_and(|rules| !rules.delay.is_zero()));
            } else {
                let allowed = rules.is_some_and(|rules| rules.allows(&exchange.path));
                self.note(!allowed, exchange, |this| &mut this.against_robots);
            }
            if matches!(exchange.status, 429 | 503) {
                self.pauses_asked += 1;
                blocked = Some(exchange);
            }
            before = Some(exchange);
        }
    }

    /// No run of requests to an address may be much shorter than its pauses add up to. When a
    /// request was sent cannot be known here, only when it was read: so there is some slack.
    fn address(&mut self, came: &[Instant], ip_delay: Duration) {
        const RUN: usize = 100;
        let due = ip_delay * RUN as u32;
        for pair in came.windows(RUN + 1).step_by(RUN) {
            let took = pair[RUN].saturating_duration_since(pair[0]);
            self.bursts += usize::from(took + due / 4 < due);
        }
    }

    fn note(&mut self, wrong: bool, what: &Exchange, count: fn(&mut Self) -> &mut usize) {
        if wrong {
            *count(self) += 1;
            if self.examples.len() < 10 {
                self.examples.push(format!("{what:?}"));
            }
        }
    }
}

/// One side of a connection to an address.
struct Host {
    size: Size,
    address: u8,
    seen: Arc<Mutex<Seen>>,
}

impl Host {
    fn converse(&self, stream: &TcpStream) {
        let mut input = BufReader::new(stream);
        while let Some((host, path)) = read_request(&mut input) {
            let came = now();
            let draw = mixed(host as u64, &path);
            let robots = (path == "/robots.txt").then(|| self.next_robots(host));
            let (status, body) = match &robots {
                Some(robots) => (200, robots.text()),
                // One page in sixty asks for a pause, the first time that it is asked for.
                None if self.is_first(host, &path) && draw % 60 == 7 => {
                    (if draw.is_multiple_of(2) { 429 } else { 503 }, String::new())
                }
                None if path == "/" => (200, self.front_page()),
                None => (200, format!("<p>{path} of {host}</p>")),
            };
            std::thread::sleep(Duration::from_millis(draw % 12));
            let answered = now();
            let whole = answer(status, &body);
            let exchange =
                Exchange { host, address: self.address, path, came, answered, status, robots };
            self.seen.lock().unwrap().log.push(exchange);
            if (&*stream).write_all(whole.as_bytes()).is_err() {
                return;
            }
        }
    }

    /// Each time that it is asked for, a host has another robots.txt.
    fn next_robots(&self, host: usize) -> Robots {
        let mut seen = self.seen.lock().unwrap();
        let count = seen.robots.entry(host).or_default();
        *count += 1;
        Robots::drawn(mixed(host as u64, &count.to_string()))
    }

    fn is_first(&self, host: usize, path: &str) -> bool {
        self.seen.lock().unwrap().pages.insert((host, path.to_owned()))
    }

    fn front_page(&self) -> String {
        let link = |n: usize| format!("<a href=/{}/{n}>{n}</a>\n", ["a", "b", "c", "d"][n % 4]);
        (0..self.size.pages).map(link).collect()
    }
}

fn answer(status: u16, body: &str) -> String {
    let retry = match status {
        200 => String::new(),
        _ => format!("Retry-After: {}\r\n", RETRY_AFTER.as_secs()),
    };
    let length = body.len();
    format!(
        "HTTP/1.1 {status} X\r\nContent-Type: text/html\r\n{retry}Content-Length: {length}\r\n\r\n{body}"
    )
}

/// The number of the host that is asked, and the path.
fn read_request(input: &mut impl BufRead) -> Option<(usize, String)> {
    let mut lines = input.lines().map_while(Result::ok);
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let mut host = None;
    for line in lines.take_while(|line| !line.is_empty()) {
        let line = line.to_ascii_lowercase();
        let name = line.strip_prefix("host: h").and_then(|rest| rest.strip_suffix(".test"));
        host = host.or(name.and_then(|number| number.parse().ok()));
    }
    Some((host?, path))
}

fn mixed(host: u64, path: &str) -> u64 {
    let hash = path.bytes().fold(host ^ 0x9e37_79b9_7f4a_7c15, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ hash >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 17
}

#[allow(clippy::disallowed_methods, reason = "when it was asked is what is judged")]
fn now() -> Instant {
    Instant::now()
}
