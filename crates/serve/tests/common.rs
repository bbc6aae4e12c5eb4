//! A server over made-up collections, and a caller that sends what it is told.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use evercrawl_httpd::{Bounds, Hosts, Server};
use evercrawl_query::{Answer, ChangesView, Failed, FailureKind, MetricsView, PagesView, Request};
use evercrawl_serve::{
    App, AskError, CollectionView, Collections, CrawlProcessView, Flow, Keyring, NewCollection,
    Parts, PushKeys, RunState, SeedPreview,
};

/// One collection, `a`, of which little is known; it notes what it is asked.
#[derive(Default)]
pub(crate) struct Fake {
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Fake {
    fn note(&self, what: &str) {
        self.asked.lock().unwrap().push(what.to_owned());
    }
}

/// A log that ends with its fourth entry.
fn changes(after: Option<u64>) -> ChangesView {
    let entry = r#"{"number": 4, "time": "2026-01-01T00:00:00Z", "change": "site", "host": "a.test", "passages": 1}"#;
    let is_new = after.is_none_or(|after| after < 4);
    let entries = is_new.then(|| serde_json::from_str(entry).unwrap());
    ChangesView { changes: entries.into_iter().collect(), last: Some(4), masked: 0, complete: true }
}

fn view() -> CollectionView {
    CollectionView {
        name: "a".to_owned(),
        path: "/a".to_owned(),
        state: RunState::Running,
        supervised: true,
        message: None,
    }
}

impl Collections for Fake {
    fn list(&self) -> Vec<CollectionView> {
        vec![view()]
    }

    fn process(&self) -> Option<CrawlProcessView> {
        None
    }

    fn ask(&self, name: &str, request: Request, part: &mut Parts<'_>) -> Result<(), AskError> {
        if name != "a" {
            return Err(AskError::NoCollection);
        }
        self.note(&serde_json::to_string(&request).unwrap());
        match request {
            Request::Pages(_) => {
                // A part may be empty and yet have a next one.
                for next in ["00", "01", "02", "03", "04", "05"] {
                    let next = Some(next.to_owned());
                    if part(Answer::Pages(PagesView { pages: Vec::new(), next })) == Flow::Enough {
                        return Ok(());
                    }
                }
                Ok(())
            }
            Request::Changes(asked) => {
                part(Answer::Changes(changes(asked.after)));
                Ok(())
            }
            Request::Metrics => {
                part(Answer::Metrics(Box::new(MetricsView { metrics: Vec::new() })));
                Ok(())
            }
            _ => {
                let (kind, message) = (FailureKind::NotKnown, "nothing is known".to_owned());
                Err(AskError::Failed(Failed { kind, message }))
            }
        }
    }

    fn start(&self, _: &str) -> Result<(), AskError> {
        self.note("start");
        Ok(())
    }

    fn stop(&self, _: &str) -> Result<(), AskError> {
        self.note("stop");
        Ok(())
    }

    fn create(&self, _: &NewCollection) -> Result<CollectionView, AskError> {
        self.note("create");
        Ok(view())
    }

    fn preview(&self, _: &NewCollection) -> Result<Vec<SeedPreview>, AskError> {
        self.note("preview");
        Ok(Vec::new())
    }

    fn settings(&self, _: &str) -> Result<serde_json::Value, AskError> {
        Ok(serde_json::Value::Array(Vec::new()))
    }

    fn push_keys(&self, _: &str) -> Result<PushKeys, AskError> {
        Ok(PushKeys::default())
    }
}

/// A server and what it stands on.
pub(crate) struct Serving {
    pub(crate) fake: Arc<Fake>,
    pub(crate) token: String,
    address: SocketAddr,
    _server: Server,
    _dir: tempfile::TempDir,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (has, value) = line.split_once(": ")?;
            has.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl Serving {
    pub(crate) fn begin() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let keyring = Keyring::open(dir.path(), address.port(), false).unwrap();
        let token = keyring.first().to_owned();
        let fake = Arc::new(Fake::default());
        let app = Arc::new(App::new(fake.clone(), keyring));
        let hosts = Hosts::Listed { port: address.port(), names: vec!["own.test".to_owned()] };
        let server = Server::start(listener, Bounds::default(), hosts, app).unwrap();
        Serving { fake, token, address, _server: server, _dir: dir }
    }

    /// The host and port, as they stand in `Host`.
    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    /// Sends a request with these header lines; `Host` is ours unless it is among them.
    pub(crate) fn send(&self, method: &str, target: &str, headers: &[&str], body: &str) -> Got {
        let mut head = format!("{method} {target} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|line| line.starts_with("Host:")) {
            head += &format!("Host: {}\r\n", self.host());
        }
        for line in headers.iter().filter(|line| **line != "Host:") {
            head += &format!("{line}\r\n");
        }
        if !body.is_empty() || method != "GET" {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        Got { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// Asks with the first token.
    pub(crate) fn get(&self, target: &str) -> Got {
        self.send("GET", target, &[&self.bearer()], "")
    }

    /// Sends JSON with the first token.
    pub(crate) fn json(&self, method: &str, target: &str, body: &str) -> Got {
        self.send(method, target, &[&self.bearer(), "Content-Type: application/json"], body)
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Authorization: Bearer {}", self.token)
    }

    /// Signs in; returns the header line with the cookie, and the form token.
    pub(crate) fn sign_in(&self) -> (String, String) {
        let got = self.send("GET", &format!("/?token={}", self.token), &[], "");
        assert_eq!((got.status, got.header("location")), (303, Some("/")), "{got:?}");
        let cookie = got.header("set-cookie").unwrap();
        for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
            assert!(cookie.contains(part), "{cookie}");
        }
        let line = format!("Cookie: {}", cookie.split(';').next().unwrap());
        let page = self.send("GET", "/", &[&line], "").body;
        let rest = page.split_once("name=\"form_token\" value=\"").expect("a form").1;
        // That page asks how collections are doing; what is asked from here on is what tests are about.
        self.fake.asked.lock().unwrap().clear();
        (line, rest.split('"').next().unwrap().to_owned())
    }
}
