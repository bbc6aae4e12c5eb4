//! How do we get these bytes, exactly as sent, without ever hanging, bloating or going where we
//! must not?
//!
//! [`Client::fetch`] makes one GET request and returns a [`Fetched`]: the request and the response
//! head byte for byte, the body with only its transfer coding removed, what every phase took, or a
//! [`Failure`] that says what to do next. It follows no redirect and decodes no content coding. These are the only
//! sockets of the crawler that lead outwards.
//!
//! - Every phase has a timeout and every buffer a cap ([`FetchLimits`]); what was cut is kept and marked
//!   ([`Truncation`]). Large bodies share a bounded room.
//! - Every address is checked after DNS, just before connecting ([`AllowPrivate`]).
//! - Proxies, headers, credentials and cookies are those of the crawl that asks ([`Access`]); without any, requests go out
//!   directly.
//! - Names are looked up once for all who wait, and cached ([`DnsSettings`]).

mod access;
mod addr;
mod allow_private;
mod body;
mod body_buffer;
mod body_memory;
mod client;
mod config;
mod connect_to;
mod connection;
mod deadlines;
mod dial;
mod dns;
mod failure;
mod host_pattern;
mod login;
mod mail;
mod oldest;
mod pool;
mod post;
mod proxy;
mod race;
mod recorded_stream;
mod request;
mod response;
mod tls;
mod wire_record;

pub use access::{Access, AccessRules, BadHeader, Cookies, ProxyRule, RequestRule};
pub use addr::{BadNetwork, Network, is_private_name, is_public};
pub use allow_private::AllowPrivate;
pub use body::Body;
pub use client::{Client, Hop};
pub use config::{FetchConfig, FetchConfigError, FetchLimits, Identity, PoolSettings, TlsSettings};
pub use connect_to::{BadConnectTo, ConnectTo};
pub use dns::{DnsSettings, NameServers};
pub use evercrawl_cookies::{BadCookieFile, Imported, Jar, JarLimits};
pub use failure::{
    ConnectFailure, DnsFailure, Failure, FetchPhase, ProxyFailure, ProxyTrouble, TlsFailure,
};
pub use host_pattern::{BadHostPattern, HostPattern};
pub use hyper::header::{HeaderMap, HeaderName, HeaderValue};
pub use mail::{MailError, MailServer, MailTls};
pub use post::{Endpoint, PostAnswer, PostError};
pub use proxy::{BadProxy, Proxy};
pub use request::{BadUrl, Request, RequestValidators};
pub use response::{Fetched, Protocol, Response, Times, TlsInfo, Truncation, address_text};
pub use tls::certificates_in_pem;
