//! How does a request become a fetch?

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use tokio::time::Instant;
use tracing::debug;
use url::Url;

use crate::access::{Access, RequestExtras};
use crate::body_memory::BodyMemory;
use crate::config::{FetchConfig, FetchConfigError, FetchLimits, RequestHeaders};
use crate::connect_to::ConnectTo;
use crate::connection::HttpConnection;
use crate::deadlines::Deadlines;
use crate::dial::{Destination, Dialer, Via};
use crate::dns::{DnsAnswer, Resolver};
use crate::failure::{ConnectFailure, Failure, FetchPhase, ProxyTrouble};
use crate::pool::Pool;
use crate::proxy::Proxy;
use crate::request::Request;
use crate::response::{Fetched, Response, Times};

/// Fetches pages. It is shared by all who fetch; what it holds (connections, names) is bounded.
pub struct Client {
    config: FetchConfig,
    persona: RequestHeaders,
    resolver: Arc<Resolver>,
    dialer: Dialer,
    pool: Arc<Pool>,
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
            resolver: Resolver::new(config.dns.clone())?,
            pool: Arc::new(Pool::new(config.pool.clone())),
            room: BodyMemory::new(),
            config,
        })
    }

    /// Makes a client for another configuration that shares with this one the memory for bodies, the table of names
    /// if both ask the same name servers, and the idle connections if both may connect to the same addresses in the
    /// same way.
    pub fn beside(&self, config: FetchConfig) -> Result<Self, FetchConfigError> {
        let mut client = Client { room: self.room.clone(), ..Client::new(config)? };
        let (own, other) = (&client.config, &self.config);
        if own.dns == other.dns {
            client.resolver = self.resolver.clone();
        }
        if own.connects_like(other) {
            client.pool = self.pool.clone();
        }
        Ok(client)
    }

    /// What it was made from.
    pub fn config(&self) -> &FetchConfig {
        &self.config
    }

    /// Fetches once, following no redirect. Never waits longer than the limits say.
    pub async fn fetch(&self, request: &Request) -> Fetched {
        let mut visit =
            FetchProgress::start(request.limits_override().unwrap_or(&self.config.limits));
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

    /// The address that a request would go to first, without asking anything of it: a caller that
    /// paces requests by address needs it beforehand. `None` where a proxy looks it up.
    pub async fn locate(&self, request: &Request) -> Result<Option<IpAddr>, Failure> {
        let mut visit =
            FetchProgress::start(request.limits_override().unwrap_or(&self.config.limits));
        let (host, _) = ConnectTo::route(&self.config.connect_to, request.host(), request.port());
        if self.access(request).proxy_for(request.url()).is_some() {
            return self.judge_unresolved(host);
        }
        let ips = self.addresses(host, &mut visit).await?;
        self.dialer.choose_address(&ips).map(Some)
    }

    /// The proxy that a request would go through, without its password.
    pub fn proxy_of(&self, request: &Request) -> Option<String> {
        self.access(request).proxy_for(request.url()).map(ToString::to_string)
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
        let access = self.access(request);
        let (host, port) =
            ConnectTo::route(&self.config.connect_to, request.host(), request.port());
        let via = match access.proxy_for(request.url()) {
            Some(proxy) => Some(Via {
                proxy,
                target: host,
                is_led_elsewhere: (host, port) != (request.host(), request.port()),
                ip: self.judge_unresolved(host)?,
            }),
            None => None,
        };
        let ips = match via {
            Some(via) => self.proxy_addresses(via.proxy, visit).await?,
            None => self.addresses(host, visit).await?,
        };
        let to = Destination {
            host: request.host(),
            secure: request.is_secure(),
            accept_invalid: access.accepts_invalid(request.url()),
            ips: &ips,
            port,
            via,
            access: access.id(),
        };
        let mut extras = access.extras(request.url());
        if let Some(proxy) = to.forwarding_proxy() {
            extras.authorize_proxy(proxy);
        }
        let result = self.ask(&to, (request, &extras), visit).await;
        visit.request_bytes = extras.redact(std::mem::take(&mut visit.request_bytes));
        let response = judge_forwarded(result?, &to)?;
        access.take_cookies(request.url(), &response.headers);
        Ok(response)
    }

    /// Asks over a connection that lies idle, or over a new one.
    async fn ask(
        &self,
        to: &Destination<'_>,
        request: (&Request, &RequestExtras),
        visit: &mut FetchProgress<'_>,
    ) -> Result<Response, Failure> {
        if let Some(mut link) = self.reuse_connection(to).await {
            let result = self.exchange(&mut link, request, visit).await;
            // A server may close a connection that lay idle just as we use it. Where nothing came
            // back it never took the request up, so it is safe, and right, to ask once more.
            if !(matches!(result, Err(Failure::Disconnected)) && link.is_unanswered()) {
                return self.finish(link, to.host, result).await;
            }
        }
        let dialed = self.dialer.dial(to, visit.limits, visit.patience, &mut visit.times);
        // On the heap: few requests dial, and each would carry the room for it about.
        let mut link = Box::pin(dialed).await?;
        let result = self.exchange(&mut link, request, visit).await;
        self.finish(link, to.host, result).await
    }

    /// The rules by which a request goes out.
    fn access<'a>(&'a self, request: &'a Request) -> &'a Access {
        request.access_override().unwrap_or(&self.config.access)
    }

    /// What can be known of a host whose name a proxy looks up: literal addresses and this machine's own names are
    /// judged as without a proxy.
    fn judge_unresolved(&self, host: &str) -> Result<Option<IpAddr>, Failure> {
        match Resolver::answer_without_dns(host) {
            Some(ips) => self.dialer.choose_address(&ips).map(Some),
            None => self.dialer.judge_name(host).map(|()| None),
        }
    }

    async fn proxy_addresses(
        &self,
        proxy: &Proxy,
        visit: &mut FetchProgress<'_>,
    ) -> Result<Arc<[IpAddr]>, Failure> {
        let found = self.addresses(proxy.host(), visit).await;
        found.map_err(|failure| match failure {
            Failure::Dns(failure) => proxy.failure(ProxyTrouble::Name(failure)),
            Failure::Timeout(FetchPhase::Dns) => proxy.failure(ProxyTrouble::Timeout),
            other => other,
        })
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
    async fn reuse_connection(&self, to: &Destination<'_>) -> Option<HttpConnection> {
        let suits = |link: &HttpConnection| link.is_secure() == to.secure && to.suits(link.route());
        let mut link = self.pool.take(to.host, suits)?;
        link.is_ready().await.then_some(link)
    }

    async fn exchange(
        &self,
        link: &mut HttpConnection,
        request: (&Request, &RequestExtras),
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
        host: &str,
        result: Result<Response, Failure>,
    ) -> Result<Response, Failure> {
        if result.is_ok() && link.is_ready().await {
            self.pool.put(host, link);
        }
        result
    }
}

/// What a response means where a proxy reads the requests itself: it may be the proxy's own, not the server's.
fn judge_forwarded(response: Response, to: &Destination<'_>) -> Result<Response, Failure> {
    let Some(proxy) = to.forwarding_proxy() else { return Ok(response) };
    let says_error = |name: &str, word: &str| {
        response
            .headers
            .get_all(name)
            .iter()
            .any(|value| String::from_utf8_lossy(value.as_bytes()).contains(word))
    };
    match response.status {
        407 => Err(proxy.failure(ProxyTrouble::Login)),
        // RFC 9209, and what was usual before.
        500.. if says_error("proxy-status", "error=") || says_error("x-squid-error", "ERR_") => {
            Err(ConnectFailure::Unreachable.into())
        }
        _ => Ok(response),
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
        self.ip = link.route().server_ip();
        self.request_bytes = tape.request();
        self.bytes_on_wire += tape.bytes_received();
        if let Some(first_byte) = tape.first_byte() {
            self.times.first_byte = first_byte.duration_since(asked);
        }
    }
}
