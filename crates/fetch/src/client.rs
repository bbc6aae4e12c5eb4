//! How does a request become a fetch?

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use tokio::time::Instant;
use tracing::debug;
use url::Url;

use crate::body_memory::BodyMemory;
use crate::config::{FetchConfig, FetchConfigError, FetchLimits, RequestHeaders};
use crate::connect_to::ConnectTo;
use crate::connection::HttpConnection;
use crate::deadlines::Deadlines;
use crate::dial::{Destination, Dialer};
use crate::dns::{DnsAnswer, Resolver};
use crate::failure::{Failure, FetchPhase};
use crate::pool::Pool;
use crate::request::Request;
use crate::response::{Fetched, Response, Times};

/// Fetches pages. It is shared by all who fetch; what it holds (connections, names) is bounded.
pub struct Client {
    persona: RequestHeaders,
    limits: FetchLimits,
    connect_to: Vec<ConnectTo>,
    resolver: Arc<Resolver>,
    dialer: Dialer,
    pool: Pool,
    room: BodyMemory,
}

/// One step of a chain of redirects.
#[derive(Clone, Debug)]
pub struct Hop {
    /// What was asked for.
    pub url: Url,
    /// What came of it.
    pub fetched: Fetched,
}

impl Client {
    /// Makes a client; it opens no connection yet.
    pub fn new(config: FetchConfig) -> Result<Self, FetchConfigError> {
        Ok(Client {
            persona: RequestHeaders::new(&config)?,
            dialer: Dialer::new(&config)?,
            resolver: Resolver::new(config.dns)?,
            limits: config.limits,
            connect_to: config.connect_to,
            pool: Pool::new(config.pool),
            room: BodyMemory::new(),
        })
    }

    /// Fetches once, following no redirect. Never waits longer than the limits say.
    pub async fn fetch(&self, request: &Request) -> Fetched {
        let mut visit = FetchProgress::start(request.limits_override().unwrap_or(&self.limits));
        let result = self.request_response(request, &mut visit).await;
        visit.times.total = visit.started.elapsed();
        Fetched {
            result,
            request_bytes: visit.request_bytes,
            times: visit.times,
            ip: visit.ip,
            bytes_on_wire: visit.bytes_on_wire,
        }
    }

    /// The address that a request would go to first, without asking anything of it: whoever paces
    /// requests by address needs it beforehand.
    pub async fn locate(&self, request: &Request) -> Result<IpAddr, Failure> {
        let mut visit = FetchProgress::start(request.limits_override().unwrap_or(&self.limits));
        let (host, _) = ConnectTo::route(&self.connect_to, request.host(), request.port());
        let ips = self.addresses(host, &mut visit).await?;
        self.dialer.choose_address(&ips)
    }

    /// Fetches and follows up to `max_redirects` redirects; every hop is checked as the first is, and
    /// all are returned, the last one last.
    pub async fn fetch_following(&self, request: &Request, max_redirects: usize) -> Vec<Hop> {
        let mut hops = Vec::new();
        let mut next = Some(request.clone());
        while let Some(request) = next.take() {
            let fetched = self.fetch(&request).await;
            if hops.len() < max_redirects
                && let Ok(response) = &fetched.result
                && let Some(url) = response.location(request.url())
            {
                debug!(from = %request.url(), to = %url, status = response.status, "redirect followed");
                next = request.redirected(url).ok();
            }
            hops.push(Hop { url: request.url().clone(), fetched });
        }
        hops
    }

    async fn request_response(
        &self,
        request: &Request,
        visit: &mut FetchProgress<'_>,
    ) -> Result<Response, Failure> {
        let (host, port) = ConnectTo::route(&self.connect_to, request.host(), request.port());
        let ips = self.addresses(host, visit).await?;
        if let Some(mut link) = self.reuse_connection(request, port, &ips).await {
            let result = self.exchange(&mut link, request, visit).await;
            // A server may close a connection that lay idle just as we use it. Where nothing came
            // back it never took the request up, so it is safe, and right, to ask once more.
            if !(matches!(result, Err(Failure::Disconnected)) && link.is_unanswered()) {
                return self.finish(link, request, result).await;
            }
        }
        let secure = request.is_secure();
        let to = Destination { host: request.host(), secure, ips: &ips, port };
        let dialed = self.dialer.dial(&to, visit.limits, visit.patience, &mut visit.times);
        // On the heap: few requests dial, and each would carry the room for it about.
        let mut link = Box::pin(dialed).await?;
        let result = self.exchange(&mut link, request, visit).await;
        self.finish(link, request, result).await
    }

    async fn addresses(
        &self,
        host: &str,
        visit: &mut FetchProgress<'_>,
    ) -> Result<Arc<[IpAddr]>, Failure> {
        let answer: DnsAnswer = match self.resolver.cached_answer(host) {
            Some(answer) => answer,
            None => {
                let lookup = Box::pin(self.resolver.lookup(host));
                let answer = visit.patience.wait(FetchPhase::Dns, visit.limits.dns, lookup).await;
                visit.times.dns = visit.started.elapsed();
                answer?
            }
        };
        Ok(answer?)
    }

    /// A parked connection that leads where a new one would.
    async fn reuse_connection(
        &self,
        request: &Request,
        port: u16,
        ips: &[IpAddr],
    ) -> Option<HttpConnection> {
        let suits = |link: &HttpConnection| {
            let peer = link.peer();
            link.is_secure() == request.is_secure()
                && peer.port() == port
                && ips.contains(&peer.ip())
        };
        let mut link = self.pool.take(request.host(), suits)?;
        link.is_ready().await.then_some(link)
    }

    async fn exchange(
        &self,
        link: &mut HttpConnection,
        request: &Request,
        visit: &mut FetchProgress<'_>,
    ) -> Result<Response, Failure> {
        let asked = Instant::now();
        let exchange =
            link.exchange(request, &self.persona, visit.limits, &self.room, visit.patience);
        let result = exchange.await;
        visit.record_connection(link, asked);
        result
    }

    /// Parks `link` if it can serve again.
    async fn finish(
        &self,
        mut link: HttpConnection,
        request: &Request,
        result: Result<Response, Failure>,
    ) -> Result<Response, Failure> {
        if result.is_ok() && link.is_ready().await {
            self.pool.put(request.host(), link);
        }
        result
    }
}

/// What a fetch has come to so far.
struct FetchProgress<'a> {
    limits: &'a FetchLimits,
    started: Instant,
    patience: Deadlines,
    times: Times,
    request_bytes: Bytes,
    ip: Option<IpAddr>,
    bytes_on_wire: u64,
}

impl<'a> FetchProgress<'a> {
    fn start(limits: &'a FetchLimits) -> Self {
        FetchProgress {
            limits,
            started: Instant::now(),
            patience: Deadlines::new(limits.total),
            times: Times::default(),
            request_bytes: Bytes::new(),
            ip: None,
            bytes_on_wire: 0,
        }
    }

    /// Notes what the tape of `link` has to say of an exchange begun at `asked`.
    fn record_connection(&mut self, link: &HttpConnection, asked: Instant) {
        let mut tape = link.tape().lock();
        self.ip = Some(link.peer().ip());
        self.request_bytes = tape.request();
        self.bytes_on_wire += tape.bytes_received();
        if let Some(first_byte) = tape.first_byte() {
            self.times.first_byte = first_byte.duration_since(asked);
        }
    }
}
