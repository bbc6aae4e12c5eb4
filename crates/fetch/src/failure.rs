//! Why did no response come, and what should the caller do next?

use std::net::IpAddr;

use thiserror::Error;

/// A fetch that got no response head. The variants differ in what the caller does next: ask again
/// later, give the host a rest, give the page up, or ask the operator.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Failure {
    /// The host's name leads nowhere: give the host a rest.
    #[error("{0}")]
    Dns(#[from] DnsFailure),
    /// There was no connection: back off from the host, unless the failure is local.
    #[error("{0}")]
    Connect(#[from] ConnectFailure),
    /// No secure connection came about: give the host a rest, or ask the operator.
    #[error("{0}")]
    Tls(#[from] TlsFailure),
    /// The proxy failed, so the host was not asked: use the proxy later.
    #[error("{0}")]
    Proxy(#[from] ProxyFailure),
    /// The address is outside the public internet and not allowed: never fetch it.
    #[error("{0} is not a public address; use --allow-private=NETWORK to crawl it")]
    Forbidden(IpAddr),
    /// The name is one of a private network, where a proxy would look it up: never fetch it.
    #[error(
        "`{0}` is a name of a private network; use --allow-private=.{0} to let the proxy look it up"
    )]
    ForbiddenName(String),
    /// A phase took longer than allowed: ask again later.
    #[error("timed out while {}", .0.doing())]
    Timeout(FetchPhase),
    /// The connection ended before the response head was complete: ask again later.
    #[error("the connection ended before the response headers were complete")]
    Disconnected,
    /// The response head is larger, or has more fields, than allowed: give the page up.
    #[error("the response headers are too large")]
    HeadTooLarge,
    /// What came is neither HTTP/1 nor HTTP/2: give the page up.
    #[error("the server does not speak HTTP: its answer begins with `{0}`")]
    NotHttp(String),
    /// The status is not one that HTTP has: give the page up.
    #[error("the server answered with a status that HTTP does not have")]
    BadStatus,
    /// The response head breaks the rules of HTTP: give the page up.
    #[error("the server violated the HTTP protocol: {0}")]
    Protocol(String),
}

impl Failure {
    /// The failure's code, as users see and filter it.
    pub const fn code(&self) -> &'static str {
        match self {
            Failure::Dns(DnsFailure::NotFound) => "dns_not_found",
            Failure::Dns(DnsFailure::Temporary(_)) => "dns_temporary",
            Failure::Connect(ConnectFailure::Refused) => "connect_refused",
            Failure::Connect(ConnectFailure::Unreachable) => "connect_unreachable",
            Failure::Connect(ConnectFailure::Reset) => "connect_reset",
            Failure::Connect(ConnectFailure::Local(_)) => "connect_local",
            Failure::Tls(TlsFailure::Certificate(_)) => "tls_certificate",
            Failure::Tls(TlsFailure::Handshake(_)) => "tls_handshake",
            Failure::Proxy(_) => "proxy",
            Failure::Forbidden(_) | Failure::ForbiddenName(_) => "private_address",
            Failure::Timeout(FetchPhase::Dns) => "timeout_dns",
            Failure::Timeout(FetchPhase::Connect) => "timeout_connect",
            Failure::Timeout(FetchPhase::Tls) => "timeout_tls",
            Failure::Timeout(FetchPhase::Head) => "timeout_head",
            Failure::Timeout(FetchPhase::Total) => "timeout_total",
            Failure::Disconnected => "disconnected",
            Failure::HeadTooLarge => "head_too_large",
            Failure::NotHttp(_) => "not_http",
            Failure::BadStatus => "bad_status",
            Failure::Protocol(_) => "bad_head",
        }
    }
}

/// Why a name gave no address.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DnsFailure {
    /// The name does not exist, or has no address.
    #[error("DNS lookup failed: no such host")]
    NotFound,
    /// The name servers failed or did not answer; the name may well exist.
    #[error("DNS lookup failed: {0}")]
    Temporary(String),
}

/// Why no connection came about.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConnectFailure {
    /// Nothing listens there.
    #[error("the server refused the connection")]
    Refused,
    /// No route leads there.
    #[error("the server is unreachable")]
    Unreachable,
    /// The server, or something before it, cut the connection off.
    #[error("the server reset the connection")]
    Reset,
    /// This machine could not open a socket; the host is not to blame.
    #[error("this machine could not open a connection: {0}")]
    Local(String),
}

/// What a proxy did not do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the proxy {proxy} {trouble}")]
pub struct ProxyFailure {
    /// The proxy, without its password.
    pub proxy: String,
    /// What it did.
    pub trouble: ProxyTrouble,
}

impl ProxyFailure {
    /// Whether other hosts would fare no better.
    pub fn is_for_all_hosts(&self) -> bool {
        !matches!(self.trouble, ProxyTrouble::Refused { .. })
    }
}

/// What a proxy did that cannot be connected to.
fn words_of(failure: &ConnectFailure) -> String {
    match failure {
        ConnectFailure::Refused => "refused the connection".to_owned(),
        ConnectFailure::Unreachable => "is unreachable".to_owned(),
        ConnectFailure::Reset => "reset the connection".to_owned(),
        ConnectFailure::Local(why) => format!("could not be connected to: {why}"),
    }
}

/// How a proxy failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProxyTrouble {
    /// Its name leads nowhere.
    #[error("has no address: {0}")]
    Name(DnsFailure),
    /// It cannot be connected to.
    #[error("{}", words_of(.0))]
    Connect(ConnectFailure),
    /// It did not answer in time.
    #[error("does not answer")]
    Timeout,
    /// It hung up before it led anywhere.
    #[error("closed the connection without an answer")]
    HungUp,
    /// It asks for credentials, or refuses those it was given.
    #[error("asks for a user name and password, or refused those that it was given")]
    Login,
    /// It does not lead to this host.
    #[error("does not lead to {target}: {answer}")]
    Refused {
        /// Host and port.
        target: String,
        /// What it said.
        answer: String,
    },
    /// It does not speak as a proxy does.
    #[error("does not speak the protocol of its URL: {0}")]
    Protocol(String),
}

/// Why no secure connection came about.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TlsFailure {
    /// The server's certificate is not to be trusted.
    #[error("the server's certificate is invalid: {0}")]
    Certificate(String),
    /// The two sides could not agree, or the server does not speak TLS.
    #[error("TLS handshake failed: {0}")]
    Handshake(String),
}

/// A phase of a fetch that has a timeout of its own. A body that takes too long is not a failure
/// but a truncated response, so it has no phase here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FetchPhase {
    /// Looking the name up.
    Dns,
    /// Opening the connection.
    Connect,
    /// Agreeing on keys.
    Tls,
    /// From sending the request until the response head is complete.
    Head,
    /// All of it together.
    Total,
}

impl FetchPhase {
    const fn doing(self) -> &'static str {
        match self {
            FetchPhase::Dns => "looking up the name",
            FetchPhase::Connect => "connecting",
            FetchPhase::Tls => "negotiating TLS",
            FetchPhase::Head => "waiting for the response headers",
            FetchPhase::Total => "fetching",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_say_what_happened_in_plain_words() {
        for (failure, code, words) in [
            (Failure::Timeout(FetchPhase::Head), "timeout_head", "timed out while waiting for the"),
            (DnsFailure::NotFound.into(), "dns_not_found", "DNS lookup failed: no such host"),
            (Failure::Forbidden([10, 0, 0, 1].into()), "private_address", "10.0.0.1 is not a pub"),
        ] {
            assert_eq!(failure.code(), code);
            assert!(failure.to_string().starts_with(words), "{failure}");
        }
    }
}
