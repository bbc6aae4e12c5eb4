//! How does a running crawl learn over HTTP that pages changed?
//!
//! Off unless `push.listen` is set. Without a token the listener binds to loopback only, and rejects web
//! pages in a browser on this machine. Everything is limited: concurrent callers, the size and duration
//! of a request, URLs per second. A push over HTTP is treated like `evercrawl push`: it never exceeds
//! budget, pauses, robots.txt or scope.

mod calls;
mod signature;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use evercrawl_engine::live::{Inbox, SystemClock};
use evercrawl_httpd::{Bounds, Handler, Head, Hosts, Method, Request, Response, Server};
use evercrawl_model::Time;
use evercrawl_state::{CommittedReader, DiskStore};

use crate::exit::Failure;
use crate::settings::Settings;
use calls::words;

/// What no caller can exceed: sixteen at a time, one request each, ten seconds for each part of it.
const BOUNDS: Bounds = Bounds {
    connections: 16,
    threads: 16,
    head_time: Duration::from_secs(10),
    head_bytes: 16 << 10,
    body_time: Duration::from_secs(10),
    patience: Duration::from_secs(10),
    keep_alive: false,
};
/// The longest body.
const MOST_BODY: usize = 2 << 20;
/// URLs a second over all callers, in the long run and at once.
const URLS_A_SECOND: f64 = 100.0;
const URLS_AT_ONCE: f64 = 20_000.0;

/// What is needed to answer.
pub(crate) struct Doorbell {
    settings: Arc<Settings>,
    reading: CommittedReader<DiskStore>,
    inbox: Inbox,
    token: Option<String>,
    secret: Option<String>,
    allowance: Mutex<Allowance>,
}

/// Opens the listener of `push.listen`; `None` if it is not set.
pub(crate) fn listener(settings: &Settings) -> anyhow::Result<Option<TcpListener>> {
    let Some(address) = settings.get("push.listen", address)? else { return Ok(None) };
    if !address.ip().is_loopback() && settings.items("push.token").is_empty() {
        return Err(Failure::config(format!(
            "push.listen: anyone who reaches {address} could push; set push.token, or listen on 127.0.0.1"
        )));
    }
    let listener = TcpListener::bind(address).map_err(|error| {
        let message = format!(
            "push.listen: cannot listen on {address}: {error}; stop what listens there, or use \
             another port"
        );
        Failure { code: crate::exit::UNEXPECTED, message }
    })?;
    Ok(Some(listener))
}

impl Doorbell {
    /// Starts to answer callers; ends when what is returned is dropped.
    pub(crate) fn open(
        listener: TcpListener,
        settings: Arc<Settings>,
        reading: CommittedReader<DiskStore>,
        inbox: Inbox,
    ) -> io::Result<Server> {
        let word = |name| settings.items(name).first().cloned();
        let (token, secret) = (word("push.token"), word("push.secret"));
        let allowance = Mutex::new(Allowance::at(SystemClock.now()));
        let bell = Doorbell { settings, reading, inbox, token, secret, allowance };
        // There are no pages here, and callers have a token or no origin: any name will do.
        Server::start(listener, BOUNDS, Hosts::Any, Arc::new(bell))
    }

    /// Admits `urls` more, or returns after how many seconds it could.
    fn allow(&self, urls: usize) -> Result<(), u64> {
        let mut allowance = self.allowance.lock().unwrap_or_else(PoisonError::into_inner);
        allowance.take(urls as f64, SystemClock.now())
    }
}

impl Handler for Doorbell {
    fn admit(&self, head: &Head) -> Result<usize, Response> {
        let is_sized = head.header("content-length").is_some();
        let is_chunked = head.header("transfer-encoding").is_some();
        if is_chunked || head.method == Method::POST && !is_sized {
            return Err(words(411, "Content-Length is missing"));
        }
        Ok(MOST_BODY)
    }

    fn answer(&self, request: Request) -> Response {
        self.respond(&request)
    }

    fn refuse(&self, status: u16, reason: &str) -> Response {
        words(status, reason)
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not an address and port; use e.g. 127.0.0.1:8090"))
}

/// How many URLs may still come now.
struct Allowance {
    left: f64,
    since: Time,
}

impl Allowance {
    fn at(now: Time) -> Self {
        Allowance { left: URLS_AT_ONCE, since: now }
    }

    /// Takes some, or says after how many seconds there are enough.
    fn take(&mut self, urls: f64, now: Time) -> Result<(), u64> {
        let more = now.since(self.since).as_secs_f64() * URLS_A_SECOND;
        (self.left, self.since) = ((self.left + more).min(URLS_AT_ONCE), now);
        if self.left < urls {
            return Err(((urls - self.left) / URLS_A_SECOND).ceil() as u64);
        }
        self.left -= urls;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_up_comes_back_with_time() {
        let start = Time::from_secs(1000);
        let mut allowance = Allowance::at(start);
        assert_eq!(allowance.take(20_000.0, start), Ok(()));
        assert_eq!(allowance.take(250.0, start), Err(3));
        assert_eq!(allowance.take(250.0, start.after(Duration::from_secs(3))), Ok(()));
        let later = start.after(Duration::from_secs(1_000_000));
        assert_eq!(allowance.take(20_000.0, later), Ok(()));
        assert!(allowance.take(1.0, later).is_err(), "what nobody used is not saved up");
        assert!(allowance.take(1.0, start).is_err(), "a clock set back gives nothing away");
    }

    #[test]
    fn addresses_have_a_port() {
        for good in ["127.0.0.1:0", "[::1]:8090", "0.0.0.0:80"] {
            assert!(address(good).is_ok(), "{good}");
        }
        for bad in ["127.0.0.1", "8090", "localhost:8090", ":80", "", "127.0.0.1:99999"] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }
}
