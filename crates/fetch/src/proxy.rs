//! Which proxy is asked, and how does it lead to a server?

mod http;
mod socks;

use std::fmt;
use std::str::FromStr;

use hyper::header::HeaderValue;
use thiserror::Error;
use tokio::net::TcpStream;
use url::Url;

use crate::failure::{ConnectFailure, Failure, ProxyFailure, ProxyTrouble};

/// A proxy: `http://HOST:PORT` or `socks5://HOST:PORT`. It looks up the names of servers itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    kind: ProxyKind,
    host: String,
    port: u16,
    login: Option<Login>,
}

/// What a proxy speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProxyKind {
    Http,
    Socks5,
}

/// What a proxy knows its user by.
#[derive(Clone, PartialEq, Eq)]
struct Login {
    user: String,
    password: String,
    authorization: HeaderValue,
}

/// Where a proxy is to lead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProxyTarget<'a> {
    /// As a URL writes it: IPv6 addresses stand in brackets.
    pub(crate) host: &'a str,
    pub(crate) port: u16,
}

impl Proxy {
    /// The same proxy, known by `user:password`.
    pub fn with_login(mut self, login: &str) -> Result<Self, BadProxy> {
        let (user, password) = login.split_once(':').ok_or(BadProxy::Login)?;
        let is_short = user.len() <= 255 && password.len() <= 255;
        if self.kind == ProxyKind::Socks5 && !(is_short && !user.is_empty()) {
            return Err(BadProxy::Login);
        }
        let basic = crate::login::basic(login);
        let mut authorization = HeaderValue::from_str(&basic).map_err(|_| BadProxy::Login)?;
        authorization.set_sensitive(true);
        let (user, password) = (user.to_owned(), password.to_owned());
        self.login = Some(Login { user, password, authorization });
        Ok(self)
    }

    /// Whether it is known by a user name and password.
    pub fn has_login(&self) -> bool {
        self.login.is_some()
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Whether it reads plain requests itself instead of leading to the server.
    pub(crate) fn forwards_requests(&self) -> bool {
        self.kind == ProxyKind::Http
    }

    pub(crate) fn authorization(&self) -> Option<&HeaderValue> {
        self.login.as_ref().map(|login| &login.authorization)
    }

    /// Agrees with the proxy on how it is spoken to. A proxy that does not get this far does not work.
    pub(crate) async fn greet(&self, tcp: &mut TcpStream) -> Result<(), Failure> {
        match self.kind {
            ProxyKind::Http => Ok(()),
            ProxyKind::Socks5 => {
                let greeted = socks::greet(tcp, self.login.as_ref()).await;
                greeted.map_err(|trouble| self.failure_of(trouble))
            }
        }
    }

    /// Has the proxy connect to `target`; afterwards `tcp` leads there.
    pub(crate) async fn lead(
        &self,
        tcp: &mut TcpStream,
        target: ProxyTarget<'_>,
    ) -> Result<(), Failure> {
        let led = match self.kind {
            ProxyKind::Http => http::connect(tcp, target, self.authorization()).await,
            ProxyKind::Socks5 => socks::connect(tcp, target).await,
        };
        led.map_err(|trouble| self.failure_of(trouble))
    }

    fn failure_of(&self, trouble: LeadTrouble) -> Failure {
        match trouble {
            LeadTrouble::Proxy(trouble) => self.failure(trouble),
            LeadTrouble::Server(failure) => failure.into(),
        }
    }

    /// A failure of this proxy.
    pub(crate) fn failure(&self, trouble: ProxyTrouble) -> Failure {
        ProxyFailure { proxy: self.to_string(), trouble }.into()
    }
}

/// Why a proxy did not lead to the server.
#[derive(Debug)]
enum LeadTrouble {
    /// The proxy is to blame.
    Proxy(ProxyTrouble),
    /// The proxy could not reach the server.
    Server(ConnectFailure),
}

impl From<ProxyTrouble> for LeadTrouble {
    fn from(trouble: ProxyTrouble) -> Self {
        LeadTrouble::Proxy(trouble)
    }
}

impl From<std::io::Error> for LeadTrouble {
    fn from(_: std::io::Error) -> Self {
        LeadTrouble::Proxy(ProxyTrouble::HungUp)
    }
}

/// Never with the password.
impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.kind {
            ProxyKind::Http => "http",
            ProxyKind::Socks5 => "socks5",
        };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({self})")
    }
}

impl FromStr for Proxy {
    type Err = BadProxy;

    fn from_str(text: &str) -> Result<Self, BadProxy> {
        let text = text.trim();
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        // The scheme is replaced, since only the web's own schemes have hosts in every spelling.
        let (scheme, rest) = whole.split_once("://").ok_or(BadProxy::Url)?;
        let (kind, default_port) = match scheme.to_ascii_lowercase().as_str() {
            "http" => (ProxyKind::Http, 80),
            "socks5" | "socks5h" => (ProxyKind::Socks5, 1080),
            other => return Err(BadProxy::Scheme(other.to_owned())),
        };
        let url = Url::parse(&format!("http://{rest}")).map_err(|_| BadProxy::Url)?;
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return Err(BadProxy::Url);
        }
        let host = url.host_str().ok_or(BadProxy::Url)?.to_owned();
        // The parser drops the port that is usual for http.
        let explicit_80 = rest.trim_end_matches('/').ends_with(":80");
        let port = url.port().unwrap_or(if explicit_80 { 80 } else { default_port });
        let proxy = Proxy { kind, host, port, login: None };
        match (url.username(), url.password()) {
            ("", None) => Ok(proxy),
            (user, password) => proxy.with_login(&format!(
                "{}:{}",
                percent_decoded(user),
                percent_decoded(password.unwrap_or_default())
            )),
        }
    }
}

fn percent_decoded(text: &str) -> String {
    String::from_utf8_lossy(&percent_bytes(text.as_bytes())).into_owned()
}

fn percent_bytes(text: &[u8]) -> Vec<u8> {
    let digit =
        |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, others @ ..] = rest {
        rest = others;
        if let (b'%', [high, low, others @ ..]) = (first, others)
            && let (Some(high), Some(low)) = (digit(high), digit(low))
        {
            out.push(high << 4 | low);
            rest = others;
        } else {
            out.push(*first);
        }
    }
    out
}

/// The text names no proxy. No message shows a password.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BadProxy {
    /// It is not a URL of a host.
    #[error("not a proxy; use e.g. http://127.0.0.1:3128 or socks5://127.0.0.1:1080")]
    Url,
    /// It is of another scheme.
    #[error("cannot use {0} proxies; use http:// or socks5://")]
    Scheme(String),
    /// Its credentials cannot be used.
    #[error("the credentials of a proxy are not of the form user:password, or too long")]
    Login,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn proxies_are_read_as_users_write_them() {
        for (text, want) in [
            ("127.0.0.1:3128", "http://127.0.0.1:3128"),
            ("http://Proxy.test", "http://proxy.test:80"),
            ("http://proxy.test:80/", "http://proxy.test:80"),
            ("socks5://[::1]:9050", "socks5://[::1]:9050"),
            ("socks5h://tor.test", "socks5://tor.test:1080"),
            ("socks5://tor.test:80", "socks5://tor.test:80"),
            ("http://me:p%40ss@proxy.test:1", "http://proxy.test:1"),
        ] {
            let proxy: Proxy = text.parse().unwrap();
            assert_eq!(proxy.to_string(), want, "{text}");
        }
        let proxy: Proxy = "http://me:p%40ss@proxy.test:1".parse().unwrap();
        assert_eq!(proxy.authorization().unwrap(), "Basic bWU6cEBzcw==");
        let shown = format!("{proxy:?}{:?}", proxy.authorization());
        assert!(!shown.contains("ss"), "{shown}");
    }

    #[test]
    fn what_is_no_proxy_is_refused_without_its_password() {
        for (text, reason) in [
            ("https://me:secret@proxy.test", "https proxies"),
            ("socks4://proxy.test", "socks4 proxies"),
            ("http://me:secret@proxy.test/path", "not a proxy"),
            ("http://", "not a proxy"),
            ("", "not a proxy"),
            ("socks5://:secret@proxy.test", "user:password"),
        ] {
            let error = text.parse::<Proxy>().unwrap_err().to_string();
            assert!(error.contains(reason) && !error.contains("secret"), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_proxy_or_refused(text in "[a-z0-9:/@%.\\[\\]]{0,30}") {
            let _ = text.parse::<Proxy>();
        }
    }
}
