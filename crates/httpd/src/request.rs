//! What does a caller want?

use std::net::SocketAddr;

use bytes::Bytes;
use hyper::{HeaderMap, Method};
use url::form_urlencoded;

/// A request without its body.
#[derive(Clone, Debug)]
pub struct Head {
    /// The method.
    pub method: Method,
    /// The path as it came, still percent-encoded.
    pub path: String,
    /// The parameters after `?`, decoded, in their order.
    pub query: Vec<(String, String)>,
    /// Who asks.
    pub peer: SocketAddr,
    headers: HeaderMap,
}

impl Head {
    pub(crate) fn new(parts: &hyper::http::request::Parts, peer: SocketAddr) -> Self {
        let query = parts.uri.query().unwrap_or_default();
        Head {
            method: parts.method.clone(),
            path: parts.uri.path().to_owned(),
            query: form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
            peer,
            headers: parts.headers.clone(),
        }
    }

    /// The first value of a parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The first value of a header, where it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Every value of a header that is text.
    pub fn headers<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers.get_all(name).iter().filter_map(|value| value.to_str().ok())
    }

    /// The value of a cookie.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let pairs = self.headers("cookie").flat_map(|line| line.split(';'));
        let mut pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// How long the body is, by the header; `None` where there is no such header.
    pub fn body_length(&self) -> Option<u64> {
        self.header("content-length").and_then(|text| text.parse().ok())
    }
}

/// A request with its body.
#[derive(Clone, Debug)]
pub struct Request {
    /// All but the body.
    pub head: Head,
    /// The body, whole.
    pub body: Bytes,
}
