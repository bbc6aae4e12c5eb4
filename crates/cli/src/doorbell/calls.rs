//! What does a request to the push listener mean: a plain push, IndexNow, or WebSub?

use evercrawl_engine::EngineError;
use evercrawl_httpd::{Request, Response};
use evercrawl_state::PageStatus;
use serde::Deserialize;

use super::Doorbell;
use super::signature::{same, signs};
use crate::verbs::push::{Pushed, url_of};
use crate::verbs::{canonical, host_of};

/// URLs in a call: what IndexNow allows.
const MOST_URLS: usize = 10_000;
/// URLs that the crawl is told at a time: it does nothing else meanwhile.
const PIECE: usize = 2000;

/// The body of a plain push in JSON.
#[derive(Deserialize)]
struct Plain {
    urls: Vec<String>,
}

/// The body of an IndexNow call.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IndexNow {
    host: String,
    key: String,
    url_list: Vec<String>,
}

impl Doorbell {
    /// Answers a request.
    pub(super) fn respond(&self, request: &Request) -> Response {
        let done = match (request.head.method.as_str(), request.head.path.as_str()) {
            ("POST", "/push") => self.plain(request),
            ("GET", "/indexnow") => self.index_now(request),
            ("POST", "/indexnow") => self.index_now_list(request),
            ("GET", "/websub") => self.challenge(request),
            ("POST", "/websub") => self.notified(request),
            (_, "/push" | "/indexnow" | "/websub") => {
                Err(words(405, "this method is not supported here"))
            }
            _ => Err(words(404, "unknown path; use /push, /indexnow or /websub")),
        };
        done.unwrap_or_else(|refusal| refusal)
    }

    /// Accepts callers with the token; without a token, local callers that are not web pages.
    fn admit(&self, request: &Request, key: Option<&str>) -> Result<(), Response> {
        let Some(token) = &self.token else {
            let page = request.head.header("origin").is_some();
            let refusal = words(403, "requests from web pages need a token; set push.token");
            return if page { Err(refusal) } else { Ok(()) };
        };
        let bearer =
            request.head.header("authorization").and_then(|text| text.strip_prefix("Bearer "));
        let given = [bearer, request.head.parameter("token"), key];
        let knows = given.into_iter().flatten().any(|given| same(given, token));
        if knows { Ok(()) } else { Err(words(403, "the token is missing or wrong")) }
    }

    /// One URL per line, or `{"urls": [..]}`.
    fn plain(&self, request: &Request) -> Result<Response, Response> {
        self.admit(request, None)?;
        let json = request.head.header("content-type").is_some_and(|kind| kind.contains("json"));
        if json {
            let Plain { urls } = read_json(&request.body, r#"{"urls": ["http://.."]}"#)?;
            return self.signal(&urls);
        }
        let text = std::str::from_utf8(&request.body)
            .map_err(|_| words(400, "the body is not UTF-8 text"))?;
        let urls: Vec<String> = text.lines().filter_map(url_of).map(str::to_owned).collect();
        self.signal(&urls)
    }

    fn index_now(&self, request: &Request) -> Result<Response, Response> {
        let (Some(url), Some(key)) = (request.head.parameter("url"), request.head.parameter("key"))
        else {
            return Err(words(400, "parameters missing; use ?url=..&key=.."));
        };
        self.admit(request, Some(key))?;
        self.signal(&[url.to_owned()])
    }

    fn index_now_list(&self, request: &Request) -> Result<Response, Response> {
        let form = r#"{"host": "..", "key": "..", "urlList": ["http://.."]}"#;
        let IndexNow { host, key, url_list } = read_json(&request.body, form)?;
        self.admit(request, Some(&key))?;
        let elsewhere = |url: &&String| {
            let url = canonical(&self.settings, url).ok();
            url.is_some_and(|url| ![url.host(), url.authority()].contains(&host.as_str()))
        };
        if let Some(url) = url_list.iter().take(MOST_URLS).find(elsewhere) {
            return Err(words(422, &format!("{url} is not on the host {host}")));
        }
        self.signal(&url_list)
    }

    /// A hub asks whether a subscription was intended: yes, if the topic is crawled here.
    fn challenge(&self, request: &Request) -> Result<Response, Response> {
        self.admit(request, None)?;
        let topic = request.head.parameter("hub.topic").unwrap_or_default();
        let crawled = self.crawls(topic)?;
        let echo = request.head.parameter("hub.challenge").map(echo);
        match (request.head.parameter("hub.mode"), echo) {
            (Some("subscribe"), Some(echo)) if crawled => Ok(echo),
            // Others must not end a subscription that is still useful.
            (Some("unsubscribe"), Some(echo)) if !crawled => Ok(echo),
            (Some("subscribe" | "unsubscribe"), Some(_)) => {
                Err(words(404, "this subscription was not requested"))
            }
            (Some("denied"), _) => Ok(words(200, "noted")),
            _ => Err(words(400, "hub.mode, hub.topic or hub.challenge is missing")),
        }
    }

    /// A hub reports that a feed changed. The content it sends is not trusted; the feed is fetched.
    fn notified(&self, request: &Request) -> Result<Response, Response> {
        self.admit(request, None)?;
        if let Some(secret) = &self.secret {
            let signed = request.head.header("x-hub-signature");
            if !signed.is_some_and(|signed| signs(signed, &request.body, secret)) {
                return Err(words(403, "the signature is missing or wrong"));
            }
        }
        let own = || request.head.headers("link").find_map(own_link);
        let Some(topic) = request.head.parameter("topic").or_else(own) else {
            return Err(words(400, "no topic given; use ?topic=.. or a Link header with rel=self"));
        };
        if !self.crawls(topic)? {
            return Err(words(410, "this topic is not crawled here"));
        }
        self.signal(&[topic.to_owned()])
    }

    /// Whether the page at `url` is known and may be fetched.
    fn crawls(&self, url: &str) -> Result<bool, Response> {
        let broken = |_| words(503, "cannot read the state");
        let Ok(url) = canonical(&self.settings, url) else { return Ok(false) };
        let view = self.reading.view().map_err(broken)?;
        let row = view.find(host_of(&view, &url), url.as_str()).map_err(broken)?;
        Ok(row.is_some_and(|(_, row)| !matches!(row.status, PageStatus::Refused(_))))
    }

    /// Tells the crawl that these changed.
    fn signal(&self, texts: &[String]) -> Result<Response, Response> {
        if texts.len() > MOST_URLS {
            return Err(words(413, "too many URLs; send at most 10,000 per request"));
        }
        self.allow(texts.len().max(1)).map_err(|wait| {
            words(429, "too many URLs per second; retry later")
                .with("retry-after", &wait.to_string())
        })?;
        let mut pushed = Pushed::default();
        let urls = pushed.read(&self.settings, texts);
        for piece in urls.chunks(PIECE) {
            let ended = |_: EngineError| words(503, "the crawl has ended");
            pushed.count(&self.inbox.signal(piece.to_vec()).map_err(ended)?);
        }
        let status = if urls.is_empty() { 400 } else { 202 };
        let value = serde_json::to_value(&pushed.0);
        Ok(json(status, &value.unwrap_or_default()))
    }
}

/// A status with an explanation.
pub(super) fn words(status: u16, words: &str) -> Response {
    let plain = Response::new(status).with("content-type", "text/plain; charset=utf-8");
    plain.body(format!("{words}\n"))
}

/// A status with JSON.
fn json(status: u16, value: &serde_json::Value) -> Response {
    Response::new(status).with("content-type", "application/json").body(value.to_string())
}

/// Exactly this text, without a line end.
fn echo(text: &str) -> Response {
    words(200, "").body(text.to_owned())
}

fn read_json<'a, T: Deserialize<'a>>(body: &'a [u8], form: &str) -> Result<T, Response> {
    serde_json::from_slice(body)
        .map_err(|error| words(400, &format!("the body is not {form}: {error}")))
}

/// The target of the link with `rel=self` in a `Link` header.
fn own_link(header: &str) -> Option<&str> {
    header.split(',').find_map(|link| {
        let (target, rest) = link.trim().strip_prefix('<')?.split_once('>')?;
        let mut parameters = rest.split(';').map(|word| word.trim().replace(['"', ' '], ""));
        parameters.any(|word| word.eq_ignore_ascii_case("rel=self")).then_some(target)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feed_names_itself_by_a_link() {
        let hub = r#"<http://hub.test/>; rel="hub""#;
        for (header, want) in [
            (format!(r#"{hub}, <http://a.test/feed>; rel="self""#), Some("http://a.test/feed")),
            ("<http://a.test/feed>;rel=self".to_owned(), Some("http://a.test/feed")),
            (
                r#"<http://a.test/feed>; type="x"; REL = "self""#.to_owned(),
                Some("http://a.test/feed"),
            ),
            (hub.to_owned(), None),
            ("http://a.test/feed; rel=self".to_owned(), None),
            ("<http://a.test/feed; rel=self".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(own_link(&header), want, "{header}");
        }
    }
}
