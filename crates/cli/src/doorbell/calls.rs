//! What does a call mean? A plain push, IndexNow, or WebSub.

use evercrawl_engine::EngineError;
use evercrawl_state::PageStatus;
use serde::Deserialize;

use super::Doorbell;
use super::http::{Answer, Request};
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
    /// Does what is asked, as far as it may be.
    pub(super) fn answer(&self, request: &Request) -> Answer {
        let done = match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/push") => self.plain(request),
            ("GET", "/indexnow") => self.index_now(request),
            ("POST", "/indexnow") => self.index_now_list(request),
            ("GET", "/websub") => self.challenge(request),
            ("POST", "/websub") => self.notified(request),
            (_, "/push" | "/indexnow" | "/websub") => Err(Answer::words(405, "not by this method")),
            _ => Err(Answer::words(404, "there are /push, /indexnow and /websub")),
        };
        done.unwrap_or_else(|refusal| refusal)
    }

    /// Lets in who knows the token; where there is none, whoever is here and no web page.
    fn admit(&self, request: &Request, key: Option<&str>) -> Result<(), Answer> {
        let Some(token) = &self.token else {
            let page = request.header("origin").is_some();
            let refusal = Answer::words(403, "web pages may ring only where push.token is set");
            return if page { Err(refusal) } else { Ok(()) };
        };
        let bearer = request.header("authorization").and_then(|text| text.strip_prefix("Bearer "));
        let given = [bearer, request.query("token"), key];
        let knows = given.into_iter().flatten().any(|given| same(given, token));
        if knows { Ok(()) } else { Err(Answer::words(403, "the token is missing or wrong")) }
    }

    /// One URL a line, or `{"urls": [..]}`.
    fn plain(&self, request: &Request) -> Result<Answer, Answer> {
        self.admit(request, None)?;
        let json = request.header("content-type").is_some_and(|kind| kind.contains("json"));
        if json {
            let Plain { urls } = read_json(&request.body, r#"{"urls": ["http://.."]}"#)?;
            return self.signal(&urls);
        }
        let text = std::str::from_utf8(&request.body)
            .map_err(|_| Answer::words(400, "the body is no UTF-8 text"))?;
        let urls: Vec<String> = text.lines().filter_map(url_of).map(str::to_owned).collect();
        self.signal(&urls)
    }

    fn index_now(&self, request: &Request) -> Result<Answer, Answer> {
        let (Some(url), Some(key)) = (request.query("url"), request.query("key")) else {
            return Err(Answer::words(400, "give ?url=..&key=.."));
        };
        self.admit(request, Some(key))?;
        self.signal(&[url.to_owned()])
    }

    fn index_now_list(&self, request: &Request) -> Result<Answer, Answer> {
        let form = r#"{"host": "..", "key": "..", "urlList": ["http://.."]}"#;
        let IndexNow { host, key, url_list } = read_json(&request.body, form)?;
        self.admit(request, Some(&key))?;
        let elsewhere = |url: &&String| {
            let url = canonical(&self.settings, url).ok();
            url.is_some_and(|url| ![url.host(), url.authority()].contains(&host.as_str()))
        };
        if let Some(url) = url_list.iter().take(MOST_URLS).find(elsewhere) {
            return Err(Answer::words(422, &format!("{url} is not of the host {host}")));
        }
        self.signal(&url_list)
    }

    /// A hub asks whether a subscription was meant: it was for what is crawled here.
    fn challenge(&self, request: &Request) -> Result<Answer, Answer> {
        self.admit(request, None)?;
        let topic = request.query("hub.topic").unwrap_or_default();
        let crawled = self.crawls(topic)?;
        let echo = request.query("hub.challenge").map(Answer::echo);
        match (request.query("hub.mode"), echo) {
            (Some("subscribe"), Some(echo)) if crawled => Ok(echo),
            // Nobody else is to end what is still of use.
            (Some("unsubscribe"), Some(echo)) if !crawled => Ok(echo),
            (Some("subscribe" | "unsubscribe"), Some(_)) => {
                Err(Answer::words(404, "that was not asked for"))
            }
            (Some("denied"), _) => Ok(Answer::words(200, "noted")),
            _ => Err(Answer::words(400, "give hub.mode, hub.topic and hub.challenge")),
        }
    }

    /// A hub says that a feed changed. What it sends along is not believed, but fetched.
    fn notified(&self, request: &Request) -> Result<Answer, Answer> {
        self.admit(request, None)?;
        if let Some(secret) = &self.secret {
            let signed = request.header("x-hub-signature");
            if !signed.is_some_and(|signed| signs(signed, &request.body, secret)) {
                return Err(Answer::words(403, "the signature is missing or wrong"));
            }
        }
        let own = || request.headers("link").find_map(own_link);
        let Some(topic) = request.query("topic").or_else(own) else {
            return Err(Answer::words(400, "which topic? Give ?topic=.. or a Link with rel=self"));
        };
        if !self.crawls(topic)? {
            return Err(Answer::words(410, "this is not crawled here"));
        }
        self.signal(&[topic.to_owned()])
    }

    /// Whether the page at `url` is known and may be fetched.
    fn crawls(&self, url: &str) -> Result<bool, Answer> {
        let broken = |_| Answer::words(503, "the state cannot be read");
        let Ok(url) = canonical(&self.settings, url) else { return Ok(false) };
        let view = self.reading.view().map_err(broken)?;
        let row = view.find(host_of(&view, &url), url.as_str()).map_err(broken)?;
        Ok(row.is_some_and(|(_, row)| !matches!(row.status, PageStatus::Refused(_))))
    }

    /// Tells the crawl that these changed.
    fn signal(&self, texts: &[String]) -> Result<Answer, Answer> {
        if texts.len() > MOST_URLS {
            return Err(Answer::words(413, "10,000 URLs a call at most"));
        }
        self.allow(texts.len().max(1))
            .map_err(|wait| Answer::words(429, "too many URLs; wait a little").after(wait))?;
        let mut pushed = Pushed::default();
        let urls = pushed.read(&self.settings, texts);
        for piece in urls.chunks(PIECE) {
            let ended = |_: EngineError| Answer::words(503, "the crawl has ended");
            pushed.count(&self.inbox.signal(piece.to_vec()).map_err(ended)?);
        }
        let status = if urls.is_empty() { 400 } else { 202 };
        let value = serde_json::to_value(&pushed.0);
        Ok(Answer::json(status, &value.unwrap_or_default()))
    }
}

fn read_json<'a, T: Deserialize<'a>>(body: &'a [u8], form: &str) -> Result<T, Answer> {
    serde_json::from_slice(body)
        .map_err(|error| Answer::words(400, &format!("the body must be {form}: {error}")))
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
