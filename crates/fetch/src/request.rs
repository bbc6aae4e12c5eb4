//! What does a request ask for, and with which headers?

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Uri, Version};
use thiserror::Error;
use url::{Position, Url};

use crate::access::{Access, RequestExtras};
use crate::config::{FetchLimits, RequestHeaders};
use crate::failure::Failure;

/// One GET request. It carries no credentials that its URL may contain.
#[derive(Clone, Debug)]
pub struct Request {
    url: Url,
    target: Uri,
    authority: HeaderValue,
    validators: RequestValidators,
    extra: Vec<(HeaderName, HeaderValue)>,
    limits: Option<FetchLimits>,
    access: Option<Arc<Access>>,
}

/// How a request names what it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestForm {
    /// HTTP/1.1 to the server: by path.
    Origin,
    /// HTTP/1.1 to a proxy: by the whole URL.
    Absolute,
    /// HTTP/2: by the whole URL, in parts.
    Http2,
}

/// What an earlier response said of its version, word for word. Given these, an unchanged page comes
/// back as a bare 304.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestValidators {
    /// The `ETag` header.
    pub etag: Option<String>,
    /// The `Last-Modified` header.
    pub last_modified: Option<String>,
}

impl Request {
    /// Asks for `url`, without its fragment.
    pub fn new(url: &str) -> Result<Self, BadUrl> {
        Self::from_url(Url::parse(url).map_err(|error| BadUrl::NotOne(error.to_string()))?)
    }

    /// Asks for a URL that is already parsed.
    pub(crate) fn from_url(url: Url) -> Result<Self, BadUrl> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(BadUrl::Scheme(url.scheme().to_owned()));
        }
        let target = &url[Position::BeforePath..Position::AfterQuery];
        let target = Uri::try_from(target).map_err(|error| BadUrl::NotOne(error.to_string()))?;
        let authority = HeaderValue::from_str(&url[Position::BeforeHost..Position::AfterPort])
            .map_err(|error| BadUrl::NotOne(error.to_string()))?;
        let validators = RequestValidators::default();
        let (extra, limits, access) = (Vec::new(), None, None);
        Ok(Request { url, target, authority, validators, extra, limits, access })
    }

    /// Asks only for a version other than the one `validators` name.
    #[must_use]
    pub fn with_validators(mut self, validators: RequestValidators) -> Self {
        self.validators = validators;
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.extra.push((name, value));
        self
    }

    /// Takes these limits instead of the client's.
    #[must_use]
    pub fn with_limits(mut self, limits: FetchLimits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Goes out by these rules instead of the client's.
    #[must_use]
    pub fn with_access(mut self, access: Arc<Access>) -> Self {
        self.access = Some(access);
        self
    }

    /// The URL asked for.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The same request for another URL, to which the validators say nothing. Headers added to it stay with its host.
    pub(crate) fn redirected(&self, url: Url) -> Result<Self, BadUrl> {
        let is_same_host = self.url.host() == url.host();
        let extra = if is_same_host { self.extra.clone() } else { Vec::new() };
        let (limits, access) = (self.limits.clone(), self.access.clone());
        Ok(Request { extra, limits, access, ..Request::from_url(url)? })
    }

    pub(crate) fn limits_override(&self) -> Option<&FetchLimits> {
        self.limits.as_ref()
    }

    pub(crate) fn access_override(&self) -> Option<&Arc<Access>> {
        self.access.as_ref()
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The host as the URL writes it: IPv6 addresses stand in brackets.
    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    pub(crate) fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or_default()
    }

    /// The request for hyper, in the form that the other side wants it.
    pub(crate) fn outgoing(
        &self,
        persona: &RequestHeaders,
        extras: &RequestExtras,
        form: RequestForm,
    ) -> Result<hyper::Request<Empty<Bytes>>, Failure> {
        let mut request = hyper::Request::new(Empty::new());
        let http2 = form == RequestForm::Http2;
        if http2 {
            *request.version_mut() = Version::HTTP_2;
        }
        *request.uri_mut() = match form {
            RequestForm::Origin => self.target.clone(),
            RequestForm::Absolute | RequestForm::Http2 => self.absolute_uri()?,
        };
        self.fill_headers(request.headers_mut(), persona, http2);
        for (name, value) in &extras.headers {
            request.headers_mut().insert(name.clone(), value.clone());
        }
        Ok(request)
    }

    /// The request head as HTTP/1.1 would have put it, for protocols whose heads are not text.
    pub(crate) fn synthetic_head(&self, headers: &HeaderMap) -> Bytes {
        let mut head = format!("GET {} HTTP/1.1\r\nhost: ", self.target).into_bytes();
        head.extend_from_slice(self.authority.as_bytes());
        head.extend_from_slice(b"\r\n");
        crate::response::write_fields(headers, &mut head);
        head.into()
    }

    fn absolute_uri(&self) -> Result<Uri, Failure> {
        let mut uri = Uri::builder().scheme(self.url.scheme()).authority(self.authority.as_bytes());
        if let Some(target) = self.target.path_and_query() {
            uri = uri.path_and_query(target.clone());
        }
        uri.build().map_err(|error| Failure::Protocol(error.to_string()))
    }

    fn fill_headers(&self, headers: &mut HeaderMap, persona: &RequestHeaders, http2: bool) {
        if !http2 {
            headers.insert(header::HOST, self.authority.clone());
        }
        headers.insert(header::USER_AGENT, persona.user_agent.clone());
        if let Some(from) = &persona.from {
            headers.insert(header::FROM, from.clone());
        }
        headers.insert(header::ACCEPT, persona.accept.clone());
        let codings = HeaderValue::from_static("gzip, deflate, br, zstd");
        headers.insert(header::ACCEPT_ENCODING, codings);
        self.validators.fill(headers);
        for (name, value) in &self.extra {
            // A request that says what it accepts does not accept all else as well.
            if name == header::ACCEPT {
                headers.insert(name.clone(), value.clone());
            } else {
                headers.append(name.clone(), value.clone());
            }
        }
        if persona.close && !http2 {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

impl RequestValidators {
    /// Sets the conditional headers. A validator that no header can hold is none.
    fn fill(&self, headers: &mut HeaderMap) {
        let conditions =
            [(header::IF_NONE_MATCH, &self.etag), (header::IF_MODIFIED_SINCE, &self.last_modified)];
        for (name, validator) in conditions {
            let value = validator.as_ref().map(|text| HeaderValue::from_bytes(text.as_bytes()));
            if let Some(Ok(value)) = value {
                headers.insert(name, value);
            }
        }
    }
}

/// This cannot be fetched, whatever the server would say.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BadUrl {
    /// The text is not a URL, or not one that HTTP can request.
    #[error("not a valid URL: {0}")]
    NotOne(String),
    /// It is of another scheme.
    #[error("cannot fetch {0} URLs; use http or https")]
    Scheme(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{FetchConfig, Identity};
    use proptest::prelude::*;

    fn persona() -> RequestHeaders {
        let identity =
            Identity { product: "t/1".to_owned(), contact: None, from: Some("a@b.c".to_owned()) };
        RequestHeaders::new(&FetchConfig::new(identity)).unwrap()
    }

    fn outgoing(request: &Request, form: RequestForm) -> Option<hyper::Request<Empty<Bytes>>> {
        request.outgoing(&persona(), &RequestExtras::default(), form).ok()
    }

    fn names(request: &Request, form: RequestForm) -> Vec<String> {
        let outgoing = outgoing(request, form).unwrap();
        outgoing.headers().keys().map(|name| name.to_string()).collect()
    }

    #[test]
    fn requests_say_what_they_must_and_no_more() {
        let plain = ["host", "user-agent", "from", "accept", "accept-encoding"];
        let request = Request::new("http://me:secret@Example.ORG:80/a b?c=d#e").unwrap();
        assert_eq!(names(&request, RequestForm::Origin), plain);
        assert_eq!(names(&request, RequestForm::Http2), plain[1..]);
        let outgoing = self::outgoing(&request, RequestForm::Origin).unwrap();
        assert_eq!(outgoing.uri(), "/a%20b?c=d");
        assert_eq!(outgoing.headers()["host"], "example.org");
        let outgoing = self::outgoing(&request, RequestForm::Http2).unwrap();
        assert_eq!(outgoing.uri(), "http://example.org/a%20b?c=d");
    }

    #[test]
    fn validators_become_conditions() {
        let etag = Some("W/\"x\"".to_owned());
        let last_modified = Some("bad\r\nvalue".to_owned());
        let request = Request::new("http://h/").unwrap();
        let request = request.with_validators(RequestValidators { etag, last_modified });
        let outgoing = self::outgoing(&request, RequestForm::Origin).unwrap();
        assert_eq!(outgoing.headers()["if-none-match"], "W/\"x\"");
        assert!(!outgoing.headers().contains_key("if-modified-since"));
    }

    #[test]
    fn only_http_urls_are_requests() {
        for url in ["ftp://h/", "file:///etc/passwd", "data:,x", "javascript:1"] {
            assert!(matches!(Request::new(url), Err(BadUrl::Scheme(_))), "{url}");
        }
        for url in ["", "h/", "http://", "http://[::1", "http://h:99999/"] {
            assert!(matches!(Request::new(url), Err(BadUrl::NotOne(_))), "{url}");
        }
        let long = format!("http://h/{}", "a".repeat(70_000));
        assert!(matches!(Request::new(&long), Err(BadUrl::NotOne(_))));
    }

    proptest! {
        #[test]
        fn whatever_parses_can_be_sent(path in "\\PC{0,30}", query in "\\PC{0,30}") {
            let request = Request::new(&format!("https://h.test:8443/{path}?{query}"));
            if let Ok(request) = request {
                prop_assert!(outgoing(&request, RequestForm::Origin).is_some());
                prop_assert!(outgoing(&request, RequestForm::Absolute).is_some());
            }
        }
    }
}
