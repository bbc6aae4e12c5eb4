//! How does this client present itself, and how far does it go?

use std::sync::Arc;
use std::time::Duration;

use hyper::header::HeaderValue;
use thiserror::Error;

use crate::access::Access;
use crate::allow_private::AllowPrivate;
use crate::connect_to::ConnectTo;
use crate::dns::DnsSettings;

/// The configuration of a [`Client`](crate::Client), fixed at its start.
#[derive(Clone, Debug)]
pub struct FetchConfig {
    /// Who is asking.
    pub identity: Identity,
    /// The `Accept` header.
    pub accept: String,
    /// Timeouts and caps; a request may bring its own.
    pub limits: FetchLimits,
    /// Which addresses outside the public internet may be fetched from.
    pub allow_private: AllowPrivate,
    /// How names are looked up.
    pub dns: DnsSettings,
    /// Where to connect instead; the first rule that matches counts.
    pub connect_to: Vec<ConnectTo>,
    /// Which certificates to trust.
    pub tls: TlsSettings,
    /// How connections are kept.
    pub pool: PoolSettings,
    /// Whether HTTP/2 is spoken where the server offers it. One polite request at a time gains
    /// little by it, and its heads reach an archive only rebuilt.
    pub http2: bool,
    /// Proxies, headers, credentials and cookies of requests that bring none of their own.
    pub access: Arc<Access>,
}

impl FetchConfig {
    /// The defaults, under `identity`.
    pub fn new(identity: Identity) -> Self {
        FetchConfig {
            identity,
            accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8".to_owned(),
            limits: FetchLimits::default(),
            allow_private: AllowPrivate::none(),
            dns: DnsSettings::default(),
            connect_to: Vec::new(),
            tls: TlsSettings::default(),
            pool: PoolSettings::default(),
            http2: false,
            access: Access::plain(),
        }
    }
}

/// Who is asking: a webmaster must be able to find out and to complain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Name and version, as `evercrawl/0.1`.
    pub product: String,
    /// A page about the crawl, or a mail address; it stands in the `User-Agent`.
    pub contact: Option<String>,
    /// A mail address for the `From` header.
    pub from: Option<String>,
}

impl Identity {
    /// The value of the `User-Agent` header: `Name/version (+contact)`.
    pub fn user_agent(&self) -> String {
        match &self.contact {
            Some(contact) => format!("{} (+{contact})", self.product),
            None => self.product.clone(),
        }
    }
}

/// How long to wait, and how much to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchLimits {
    /// For looking the name up.
    pub dns: Duration,
    /// For opening a connection, over all addresses tried.
    pub connect: Duration,
    /// For agreeing on keys.
    pub tls: Duration,
    /// From sending the request until the response head is complete.
    pub head: Duration,
    /// Between two pieces of the body.
    pub idle: Duration,
    /// For all of it.
    pub total: Duration,
    /// Bytes of response head; hyper reads no more than about 400 KiB whatever is set here.
    pub head_bytes: usize,
    /// Bytes of body, as sent; what exceeds it is cut off.
    pub body_bytes: usize,
    /// The fewest bytes a second a body may bring, on average; slower ones are cut off.
    pub min_rate: Option<u32>,
}

impl Default for FetchLimits {
    fn default() -> Self {
        FetchLimits {
            dns: Duration::from_secs(10),
            connect: Duration::from_secs(10),
            tls: Duration::from_secs(10),
            head: Duration::from_secs(30),
            idle: Duration::from_secs(20),
            total: Duration::from_secs(120),
            head_bytes: 256 * 1024,
            body_bytes: 20 * 1024 * 1024,
            min_rate: None,
        }
    }
}

/// Which certificates to trust.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// Fetch even when a certificate is not valid, and record what is wrong with it.
    pub accept_invalid: bool,
    /// Root certificates (DER) to trust besides the usual ones.
    pub extra_roots: Vec<Vec<u8>>,
}

/// How connections are kept for later requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolSettings {
    /// How many may lie idle for a host.
    pub per_host: usize,
    /// How many may lie idle altogether; the longest idle goes first. With none, every request says
    /// `Connection: close`.
    pub total: usize,
    /// How long one may lie idle.
    pub idle: Duration,
}

impl Default for PoolSettings {
    fn default() -> Self {
        PoolSettings { per_host: 1, total: 1000, idle: Duration::from_secs(60) }
    }
}

/// The client cannot be made from this configuration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FetchConfigError {
    /// A header would hold what no header may hold.
    #[error("`{value}` is not valid in the {name} header; use printable characters only")]
    Header {
        /// The header's name.
        name: &'static str,
        /// What it was to hold.
        value: String,
    },
    /// A root certificate is invalid.
    #[error("cannot read an extra root certificate: {0}")]
    Root(String),
    /// The TLS library refuses to work.
    #[error("cannot set up TLS: {0}")]
    Tls(String),
    /// The name servers cannot be used.
    #[error("cannot set up DNS: {0}")]
    Dns(String),
}

/// The headers that are the same in every request, ready to send.
#[derive(Clone, Debug)]
pub(crate) struct RequestHeaders {
    pub(crate) user_agent: HeaderValue,
    pub(crate) from: Option<HeaderValue>,
    pub(crate) accept: HeaderValue,
    pub(crate) close: bool,
}

impl RequestHeaders {
    pub(crate) fn new(config: &FetchConfig) -> Result<Self, FetchConfigError> {
        let from = config.identity.from.clone();
        Ok(RequestHeaders {
            user_agent: header("User-Agent", config.identity.user_agent())?,
            from: from.map(|from| header("From", from)).transpose()?,
            accept: header("Accept", config.accept.clone())?,
            close: config.pool.total == 0 || config.pool.per_host == 0,
        })
    }
}

fn header(name: &'static str, value: String) -> Result<HeaderValue, FetchConfigError> {
    HeaderValue::from_str(&value).map_err(|_| FetchConfigError::Header { name, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(contact: Option<&str>) -> Identity {
        let contact = contact.map(str::to_owned);
        Identity { product: "evercrawl/0.1".to_owned(), contact, from: None }
    }

    #[test]
    fn the_user_agent_names_product_and_contact() {
        assert_eq!(identity(None).user_agent(), "evercrawl/0.1");
        let agent = identity(Some("https://example.org/bot")).user_agent();
        assert_eq!(agent, "evercrawl/0.1 (+https://example.org/bot)");
    }

    #[test]
    fn headers_cannot_be_smuggled_in_by_the_configuration() {
        let config = FetchConfig::new(identity(Some("x)\r\nCookie: y")));
        let error = RequestHeaders::new(&config).unwrap_err();
        assert!(matches!(error, FetchConfigError::Header { name: "User-Agent", .. }), "{error}");
    }
}
