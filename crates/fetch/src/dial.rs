//! How does a new connection come about?

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::time::Instant;
use tracing::{debug, warn};

use crate::allow_private::AllowPrivate;
use crate::config::{FetchConfig, FetchConfigError, FetchLimits};
use crate::connection::{HttpConnection, Proxied, Route};
use crate::deadlines::Deadlines;
use crate::failure::{ConnectFailure, DnsFailure, Failure, FetchPhase, ProxyTrouble};
use crate::proxy::{Proxy, ProxyTarget};
use crate::race::{self, LostRace};
use crate::recorded_stream::Stream;
use crate::response::Times;
use crate::tls::TlsHandshaker;

/// Opens connections, and only to where we may go.
pub(crate) struct Dialer {
    tls: TlsHandshaker,
    allow_private: AllowPrivate,
    /// Whether this machine has an IPv6 route, so that IPv6 is tried first.
    ipv6_first: bool,
}

/// Where a new connection should lead.
pub(crate) struct Destination<'a> {
    /// The URL's host, which a certificate must name.
    pub(crate) host: &'a str,
    pub(crate) secure: bool,
    /// Whether its certificate may be invalid.
    pub(crate) accept_invalid: bool,
    /// The addresses of the server, or of the proxy.
    pub(crate) ips: &'a [IpAddr],
    /// The port of the server, also where a proxy leads there.
    pub(crate) port: u16,
    pub(crate) via: Option<Via<'a>>,
    /// The crawl whose connection it is.
    pub(crate) access: u64,
}

/// The proxy to take, and what to ask it for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Via<'a> {
    pub(crate) proxy: &'a Arc<Proxy>,
    pub(crate) target: &'a str,
    /// Whether a rule leads elsewhere than the URL says, which the proxy could not read from it.
    pub(crate) is_led_elsewhere: bool,
    /// The server's address, where the URL names it.
    pub(crate) ip: Option<IpAddr>,
}

impl Destination<'_> {
    /// The proxy, where it reads the requests itself.
    pub(crate) fn forwarding_proxy(&self) -> Option<&Proxy> {
        self.via.filter(|via| via.forwards(self)).map(|via| &**via.proxy)
    }

    /// Whether a connection that took `route` leads here, and may be used.
    pub(crate) fn suits(&self, route: &Route) -> bool {
        let is_way = match (&self.via, &route.proxied) {
            (Some(via), Some(proxied)) => {
                **via.proxy == *proxied.proxy
                    && (via.target, self.port) == (&*proxied.host, proxied.port)
            }
            (None, None) => self.port == route.peer.port() && self.ips.contains(&route.peer.ip()),
            _ => false,
        };
        is_way && self.access == route.access
    }
}

impl Dialer {
    pub(crate) fn new(config: &FetchConfig) -> Result<Self, FetchConfigError> {
        let tls = TlsHandshaker::new(&config.tls, config.http2)?;
        let allow_private = config.allow_private.clone();
        Ok(Dialer { tls, allow_private, ipv6_first: race::has_ipv6() })
    }

    /// The first of `ips` that may be connected to.
    pub(crate) fn choose_address(&self, ips: &[IpAddr]) -> Result<IpAddr, Failure> {
        self.permitted(ips).first().copied().ok_or_else(|| refusal(ips))
    }

    /// Whether a proxy may be asked for a host whose name it looks up.
    pub(crate) fn judge_name(&self, host: &str) -> Result<(), Failure> {
        let permitted = self.allow_private.permits_name(host);
        if permitted { Ok(()) } else { Err(Failure::ForbiddenName(host.to_owned())) }
    }

    /// Those of `ips` that may be connected to, in the order in which they are tried.
    fn permitted(&self, ips: &[IpAddr]) -> Vec<IpAddr> {
        let permitted = ips.iter().copied().filter(|ip| self.allow_private.permits(*ip));
        race::in_turns(permitted, self.ipv6_first)
    }

    /// Opens a connection and notes in `times` what that took.
    pub(crate) async fn dial(
        &self,
        to: &Destination<'_>,
        limits: &FetchLimits,
        patience: Deadlines,
        times: &mut Times,
    ) -> Result<HttpConnection, Failure> {
        let started = Instant::now();
        let (tcp, route) = self.connect(to, limits, patience).await?;
        times.connect += started.elapsed();
        if !to.secure {
            return HttpConnection::http1(Stream::Plain(tcp), route, None).await;
        }
        let started = Instant::now();
        let secured = self.tls.secure(tcp, to.host, to.accept_invalid);
        let (stream, info) = patience.wait(FetchPhase::Tls, limits.tls, secured).await??;
        times.tls += started.elapsed();
        let chosen = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let stream = Stream::Tls(Box::new(stream));
        if chosen {
            let opened = HttpConnection::http2(stream, route, Some(info));
            patience.wait(FetchPhase::Head, limits.head, opened).await?
        } else {
            HttpConnection::http1(stream, route, Some(info)).await
        }
    }

    /// Opens a socket to the server, or to the proxy and has it lead to the server.
    async fn connect(
        &self,
        to: &Destination<'_>,
        limits: &FetchLimits,
        patience: Deadlines,
    ) -> Result<(TcpStream, Route), Failure> {
        let Some(via) = to.via else {
            let ips = self.permitted(to.ips);
            if ips.is_empty() {
                return Err(refusal(to.ips));
            }
            let (tcp, peer) = open(&ips, to.port, limits, patience).await?;
            return Ok((tcp, Route { peer, proxied: None, access: to.access }));
        };
        let (tcp, peer) = self.connect_via(via, to, limits, patience).await?;
        let proxied = Some(via.proxied(to));
        Ok((tcp, Route { peer, proxied, access: to.access }))
    }

    /// The user named the proxy, so its address may be private. Until it has answered, a failure is its own.
    async fn connect_via(
        &self,
        via: Via<'_>,
        to: &Destination<'_>,
        limits: &FetchLimits,
        patience: Deadlines,
    ) -> Result<(TcpStream, SocketAddr), Failure> {
        let ips = race::in_turns(to.ips.iter().copied(), self.ipv6_first);
        let opened = open(&ips, via.proxy.port(), limits, patience).await;
        let (mut tcp, peer) = opened.map_err(|failure| match failure {
            Failure::Connect(failure @ ConnectFailure::Local(_)) => failure.into(),
            Failure::Connect(failure) => via.proxy.failure(ProxyTrouble::Connect(failure)),
            Failure::Timeout(FetchPhase::Connect) => via.proxy.failure(ProxyTrouble::Timeout),
            other => other,
        })?;
        if !via.forwards(to) {
            let greeted = via.proxy.greet(&mut tcp);
            patience.wait(FetchPhase::Connect, limits.connect, greeted).await.map_err(
                |late| match late {
                    Failure::Timeout(FetchPhase::Connect) => {
                        via.proxy.failure(ProxyTrouble::Timeout)
                    }
                    total => total,
                },
            )??;
            let target = ProxyTarget { host: via.target, port: to.port };
            let led = via.proxy.lead(&mut tcp, target);
            patience.wait(FetchPhase::Connect, limits.connect, led).await??;
        }
        Ok((tcp, peer))
    }
}

impl Via<'_> {
    /// Whether the proxy reads the requests itself: without TLS it can.
    fn forwards(&self, to: &Destination<'_>) -> bool {
        self.proxy.forwards_requests() && !to.secure && !self.is_led_elsewhere
    }

    fn proxied(&self, to: &Destination<'_>) -> Proxied {
        Proxied {
            proxy: Arc::clone(self.proxy),
            host: self.target.into(),
            port: to.port,
            ip: self.ip,
            forwards: self.forwards(to),
        }
    }
}

/// Opens a socket to the first of `ips` that answers.
async fn open(
    ips: &[IpAddr],
    port: u16,
    limits: &FetchLimits,
    patience: Deadlines,
) -> Result<(TcpStream, SocketAddr), Failure> {
    let peers: Vec<SocketAddr> = ips.iter().map(|ip| SocketAddr::new(*ip, port)).collect();
    let failure = match race::connect(&peers, patience.until(limits.connect)).await {
        Ok((tcp, peer)) => {
            // Requests are written in one piece; waiting for more would only delay them.
            let _ = tcp.set_nodelay(true);
            return Ok((tcp, peer));
        }
        Err(LostRace::Refused(peer, error)) => {
            let failure = classify_connect_error(&error).into();
            log_failure(peer, &failure);
            failure
        }
        Err(LostRace::Late) => patience.timed_out(FetchPhase::Connect),
    };
    Err(failure)
}

/// A server that does not answer is usual; a failure of this machine is not.
fn log_failure(peer: SocketAddr, failure: &Failure) {
    match failure {
        Failure::Connect(ConnectFailure::Local(error)) => {
            warn!(%peer, %error, "cannot open connections");
        }
        failure => debug!(%peer, error = %failure, "connect failed"),
    }
}

fn classify_connect_error(error: &io::Error) -> ConnectFailure {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::ConnectionRefused => ConnectFailure::Refused,
        Kind::ConnectionReset | Kind::ConnectionAborted => ConnectFailure::Reset,
        Kind::HostUnreachable | Kind::NetworkUnreachable | Kind::TimedOut => {
            ConnectFailure::Unreachable
        }
        _ => ConnectFailure::Local(error.to_string()),
    }
}

/// What to say when none of a host's addresses may be connected to.
fn refusal(ips: &[IpAddr]) -> Failure {
    match ips.first() {
        Some(ip) => {
            debug!(%ip, "address refused: not public");
            Failure::Forbidden(*ip)
        }
        None => DnsFailure::NotFound.into(),
    }
}
