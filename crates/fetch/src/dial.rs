//! How does a new connection come about?

use std::io;
use std::net::{IpAddr, SocketAddr};

use tokio::net::TcpStream;
use tokio::time::Instant;
use tracing::{debug, warn};

use crate::addr::AllowPrivate;
use crate::config::{FetchConfig, FetchConfigError, FetchLimits};
use crate::connection::HttpConnection;
use crate::deadlines::{Deadlines, after};
use crate::failure::{ConnectFailure, DnsFailure, Failure, FetchPhase};
use crate::recorded_stream::Stream;
use crate::response::Times;
use crate::tls::TlsHandshaker;

/// The most addresses of one host that are tried.
const MOST_ATTEMPTS: usize = 3;

/// Opens connections, and only to where we may go.
pub(crate) struct Dialer {
    tls: TlsHandshaker,
    allow_private: AllowPrivate,
}

/// Where a new connection should lead.
pub(crate) struct Destination<'a> {
    /// The URL's host, which a certificate must name.
    pub(crate) host: &'a str,
    pub(crate) secure: bool,
    pub(crate) ips: &'a [IpAddr],
    pub(crate) port: u16,
}

impl Dialer {
    pub(crate) fn new(config: &FetchConfig) -> Result<Self, FetchConfigError> {
        let tls = TlsHandshaker::new(&config.tls, config.http2)?;
        Ok(Dialer { tls, allow_private: config.allow_private.clone() })
    }

    /// The first of `ips` that may be connected to.
    pub(crate) fn choose_address(&self, ips: &[IpAddr]) -> Result<IpAddr, Failure> {
        let permitted = ips.iter().find(|ip| self.allow_private.permits(**ip));
        permitted.copied().ok_or_else(|| refusal(ips))
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
        let (tcp, peer) = self.connect(to, limits, patience).await?;
        times.connect += started.elapsed();
        // Requests are written in one piece; waiting for more would only delay them.
        let _ = tcp.set_nodelay(true);
        if !to.secure {
            return HttpConnection::http1(Stream::Plain(tcp), peer, None).await;
        }
        let started = Instant::now();
        let secured = self.tls.secure(tcp, to.host);
        let (stream, info) = patience.wait(FetchPhase::Tls, limits.tls, secured).await??;
        times.tls += started.elapsed();
        let chosen = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let stream = Stream::Tls(Box::new(stream));
        if chosen {
            let opened = HttpConnection::http2(stream, peer, Some(info));
            patience.wait(FetchPhase::Head, limits.head, opened).await?
        } else {
            HttpConnection::http1(stream, peer, Some(info)).await
        }
    }

    /// Tries the permitted addresses in order, each for its share of the time that is left.
    async fn connect(
        &self,
        to: &Destination<'_>,
        limits: &FetchLimits,
        patience: Deadlines,
    ) -> Result<(TcpStream, SocketAddr), Failure> {
        let permitted = to.ips.iter().filter(|ip| self.allow_private.permits(**ip));
        let permitted: Vec<IpAddr> = permitted.take(MOST_ATTEMPTS).copied().collect();
        if permitted.is_empty() {
            return Err(refusal(to.ips));
        }
        let mut failure = DnsFailure::NotFound.into();
        let end = after(limits.connect);
        for (tried, ip) in permitted.iter().enumerate() {
            let peer = SocketAddr::new(*ip, to.port);
            let left = end.saturating_duration_since(Instant::now());
            let share = left / u32::try_from(permitted.len() - tried).unwrap_or(1);
            match patience.wait(FetchPhase::Connect, share, TcpStream::connect(peer)).await {
                Ok(Ok(tcp)) => return Ok((tcp, peer)),
                Ok(Err(error)) => failure = classify_connect_error(&error).into(),
                Err(timeout) => failure = timeout,
            }
            log_failure(to.host, peer, &failure);
        }
        Err(failure)
    }
}

/// A server that does not answer is usual; a failure of this machine is not.
fn log_failure(host: &str, peer: SocketAddr, failure: &Failure) {
    match failure {
        Failure::Connect(ConnectFailure::Local(error)) => {
            warn!(host, %peer, %error, "cannot open connections");
        }
        failure => debug!(host, %peer, error = %failure, "connect failed"),
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
