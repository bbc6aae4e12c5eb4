//! What is to be done about a request that the browser holds?

use data_encoding::BASE64;
use serde_json::{Value, json};
use url::Url;

use crate::config::{Assets, RenderCaps};
use crate::rendered::{ExchangeResult, PageToRender, SubAnswer};

/// Header fields that are the client's own, or say something of the connection.
const NOT_PASSED_ON: [&str; 16] = [
    "accept-encoding",
    "connection",
    "content-length",
    "cookie",
    "dnt",
    "from",
    "host",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "pragma",
    "cache-control",
    "te",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

/// Header fields of answers that the browser must not see: the body comes without coding, nothing is to be remembered
/// beyond the page, and a document is never saved as a file.
const NOT_SHOWN: [&str; 14] = [
    "alt-svc",
    "clear-site-data",
    "connection",
    "content-disposition",
    "content-encoding",
    "content-length",
    "expect-ct",
    "keep-alive",
    "nel",
    "refresh",
    "report-to",
    "reporting-endpoints",
    "strict-transport-security",
    "transfer-encoding",
];

/// The smallest image: pages wait for the size of images.
const EMPTY_IMAGE: &[u8] =
    b"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"></svg>";

/// A request that the browser holds.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) session: String,
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) method: String,
    /// In lower case.
    pub(crate) kind: String,
    pub(crate) is_main_document: bool,
    headers: Vec<(String, String)>,
}

/// What is to be done about it.
#[derive(Clone, Debug)]
pub(crate) enum Judgement {
    /// It is for the document that was given.
    GiveDocument,
    /// It never leaves the browser.
    Local,
    /// Somebody is asked to answer it.
    Ask(Url),
    /// The page would go elsewhere.
    Leave,
    /// It is answered here.
    Answer(u16, &'static str, &'static [u8], Option<&'static str>),
    /// It is refused.
    Refuse(&'static str),
}

/// What one page has asked for so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) has_document: bool,
    pub(crate) requests: usize,
    pub(crate) bytes: usize,
    pub(crate) frames: usize,
}

impl Held {
    pub(crate) fn read(session: &str, params: &Value, main_frame: &str) -> Option<Self> {
        let request = params.get("request")?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let kind = text(&params["resourceType"]).to_ascii_lowercase();
        let fields = request["headers"].as_object();
        let headers = fields.into_iter().flatten();
        Some(Held {
            session: session.to_owned(),
            id: params.get("requestId")?.as_str()?.to_owned(),
            url: text(&request["url"]),
            method: text(&request["method"]),
            is_main_document: kind == "document" && params["frameId"] == main_frame,
            kind,
            headers: headers.map(|(name, value)| (name.clone(), text(value))).collect(),
        })
    }

    /// The header fields that go with it.
    pub(crate) fn passed_on(&self) -> Vec<(String, String)> {
        let is_passed = |name: &str| {
            let name = name.to_ascii_lowercase();
            !NOT_PASSED_ON.contains(&name.as_str())
                && !name.starts_with("sec-")
                && !name.starts_with("proxy-")
                && !name.starts_with("upgrade-")
        };
        self.headers.iter().filter(|(name, _)| is_passed(name)).cloned().collect()
    }

    fn header(&self, wanted: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        all.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.as_str())
    }

    pub(crate) fn judge(&self, asked: Asked, caps: &RenderCaps, assets: Assets) -> Judgement {
        let Ok(url) = Url::parse(&self.url) else { return Judgement::Refuse("not a URL") };
        match url.scheme() {
            "http" | "https" => {}
            "data" | "blob" | "about" => return Judgement::Local,
            _ => return Judgement::Refuse("neither http nor https"),
        }
        if self.is_main_document {
            return if asked.has_document { Judgement::Leave } else { Judgement::GiveDocument };
        }
        match self.method.as_str() {
            "GET" => {}
            // Asks whether another request may be sent; the answer to that one says whether the page may read it.
            "OPTIONS" => return Judgement::Answer(204, "", b"", None),
            _ => return Judgement::Answer(204, "", b"", Some("may write")),
        }
        match (self.kind.as_str(), assets) {
            ("ping" | "cspviolationreport" | "preflight", _) => {
                return Judgement::Answer(204, "", b"", Some("a report"));
            }
            ("eventsource", _) => return Judgement::Answer(204, "", b"", Some("never ends")),
            ("prefetch", _) => return Judgement::Refuse("not needed"),
            ("image", Assets::Skip) => {
                return Judgement::Answer(200, "image/svg+xml", EMPTY_IMAGE, Some("an image"));
            }
            ("font", Assets::Skip) => return Judgement::Refuse("a font"),
            ("media" | "texttrack", Assets::Skip) => return Judgement::Refuse("media"),
            _ => {}
        }
        if asked.requests >= caps.requests {
            return Judgement::Refuse("too many requests");
        }
        if asked.bytes >= caps.bytes {
            return Judgement::Refuse("too many bytes");
        }
        if self.kind == "document" && asked.frames > caps.frames {
            return Judgement::Refuse("too many frames");
        }
        Judgement::Ask(url)
    }

    /// The command that refuses it.
    pub(crate) fn refusal(&self) -> (&'static str, Value) {
        ("Fetch.failRequest", json!({ "requestId": self.id, "errorReason": "AccessDenied" }))
    }

    /// The command that lets the browser answer it itself.
    pub(crate) fn local(&self) -> (&'static str, Value) {
        ("Fetch.continueRequest", json!({ "requestId": self.id }))
    }

    /// The command that answers it with the document of the page.
    pub(crate) fn document(&self, page: &PageToRender) -> (&'static str, Value) {
        let mut headers = page.headers.clone();
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            headers.push(("content-type".to_owned(), "text/html".to_owned()));
        }
        self.fulfilment(page.status, &headers, &page.body)
    }

    /// The command that answers it here. Scripts of other origins may read that there is nothing.
    pub(crate) fn own_answer(&self, status: u16, kind: &str, body: &[u8]) -> (&'static str, Value) {
        let mut headers = Vec::new();
        let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
        if !kind.is_empty() {
            add("content-type", kind);
        }
        if let Some(origin) = self.header("origin") {
            add("access-control-allow-origin", origin);
            add("access-control-allow-credentials", "true");
            add("access-control-allow-methods", "GET, HEAD, POST, PUT, PATCH, DELETE");
            let wanted = self.header("access-control-request-headers");
            wanted.into_iter().for_each(|names| add("access-control-allow-headers", names));
        }
        self.fulfilment(status, &headers, body)
    }

    /// The command that hands on an answer, and what is noted of it.
    pub(crate) fn handed_on(&self, answer: &SubAnswer) -> ((&'static str, Value), ExchangeResult) {
        match answer {
            SubAnswer::Response { status, headers, body } => (
                self.fulfilment(*status, headers, body),
                ExchangeResult::Answered { status: *status, bytes: body.len() },
            ),
            SubAnswer::Refused(reason) => (self.refusal(), ExchangeResult::Refused(reason.clone())),
            SubAnswer::Failed(reason) => {
                let params = json!({ "requestId": self.id, "errorReason": "ConnectionFailed" });
                (("Fetch.failRequest", params), ExchangeResult::Failed(reason.clone()))
            }
        }
    }

    fn fulfilment(
        &self,
        status: u16,
        headers: &[(String, String)],
        body: &[u8],
    ) -> (&'static str, Value) {
        let is_shown =
            |name: &str| !NOT_SHOWN.iter().any(|hidden| name.eq_ignore_ascii_case(hidden));
        let shown: Vec<Value> = headers
            .iter()
            .filter(|(name, _)| is_shown(name))
            .map(|(name, value)| json!({ "name": name, "value": value }))
            .collect();
        let params = json!({
            "requestId": self.id,
            "responseCode": status.clamp(200, 599),
            "responseHeaders": shown,
            "body": BASE64.encode(body),
        });
        ("Fetch.fulfillRequest", params)
    }
}
