//! A server, the crawl process beside it, and what befalls them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use serde_json::Value;

use crate::common::site::{Answer, Site};
use crate::common::{Place, Running, wait_until};

/// A site whose pages link to some others.
fn site() -> Site {
    Site::serve(|request| {
        let (_, path) = request.page.split_once('/').unwrap();
        match path {
            "robots.txt" => Answer::page("")
                .body("User-agent: *\nDisallow: /secret\nSitemap: http://a.test/map"),
            "map" => Answer::page("")
                .with("Content-Type: text/plain")
                .body("http://a.test/1\nhttp://a.test/2\n"),
            _ => Answer::page(format!(
                "<p>The page at /{path} has some words. <a href='/1'>one</a> <a href='/2'>two</a>"
            )),
        }
    })
}

/// A server of the directory `home`, and how to ask it.
struct Serving {
    running: Running,
    address: String,
    token: String,
}

impl Serving {
    fn begin(place: &Place, site: &Site, flags: &str) -> Self {
        let mut command = place.command(&format!("serve --listen 127.0.0.1:0 {flags}"));
        let (key, value) = ("EVERCRAWL_FETCH_CONNECT_TO", format!("::{}", site.address()));
        command.env(key, value).env("EVERCRAWL_FETCH_ALLOW_PRIVATE", "loopback");
        command.env("EVERCRAWL_PACE_DELAY", "20ms").env("EVERCRAWL_PACE_IP_DELAY", "0");
        let mut running = place.start_command(command);
        let mut said = String::new();
        while !said.ends_with('\n') {
            let [out, err] = running.said();
            assert!(running.is_running(), "{err}");
            said = out;
            crate::common::pause(Duration::from_millis(5));
        }
        let rest = said.trim().strip_prefix("http://").unwrap();
        let (address, token) = rest.split_once("/?token=").unwrap();
        Serving { running, address: address.to_owned(), token: token.to_owned() }
    }

    fn send(&self, method: &str, target: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!(
            "{method} {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn get(&self, target: &str) -> Value {
        let (status, body) = self.send("GET", target, "");
        serde_json::from_str(&body).unwrap_or_else(|_| panic!("{target}: {status} {body}"))
    }

    fn post(&self, target: &str, body: &str) -> (u16, Value) {
        let (status, body) = self.send("POST", target, body);
        (
            status,
            serde_json::from_str(&body).unwrap_or_else(|_| panic!("{target}: {status} {body}")),
        )
    }

    fn state(&self, name: &str) -> String {
        let view = self.get(&format!("/api/v1/collections/{name}"));
        view["state"].as_str().unwrap_or_default().to_owned()
    }

    fn crawl_process(&self) -> Option<u64> {
        self.get("/api/v1/system")["crawl_process"]["pid"].as_u64()
    }

    /// How many visits a collection counts, once it can be asked.
    fn visits(&self, name: &str) -> u64 {
        self.get(&format!("/api/v1/collections/{name}/status"))["total"]["visits"]
            .as_u64()
            .unwrap_or(0)
    }

    fn wait_for(&self, name: &str, state: &str) {
        wait_until(&format!("{name} to be {state}"), || self.state(name) == state);
    }

    fn stop(self) -> String {
        self.running.signal(Signal::TERM);
        self.running.wait().expect(0).err
    }
}

fn kill(pid: u64) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
}

fn is_alive(pid: u64) -> bool {
    // One that ended and waits for its parent is not.
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
}

const NEW: &str = r#"{"contact": "x@example.org", "seeds": ["http://a.test/"], "scope": "host"}"#;

#[test]
fn a_collection_is_looked_at_made_crawled_steered_stopped_and_begun_again() {
    let (site, place) = (site(), Place::new());
    let serving = Serving::begin(&place, &site, "");
    let (status, looks) = serving.post("/api/v1/collections/preview", NEW);
    assert_eq!((status, &looks["items"][0]["verdict"]), (200, &"allowed".into()), "{looks}");
    assert_eq!(looks["items"][0]["pages_listed"], 2, "{looks}");
    assert!(serving.crawl_process().is_none(), "nothing is there to be crawled yet");

    let (status, made) = serving.post("/api/v1/collections", NEW);
    assert_eq!((status, &made["name"]), (201, &"a.test".into()), "{made}");
    serving.wait_for("a.test", "running");
    wait_until("the pages", || serving.visits("a.test") >= 3);
    let base = "/api/v1/collections/a.test";
    let urls = serving.get(&format!("{base}/urls?limit=2"));
    assert_eq!(urls["items"].as_array().unwrap().len(), 2, "{urls}");
    let cursor = urls["next"].as_str().unwrap();
    let rest = serving.get(&format!("{base}/urls?cursor={cursor}"));
    assert!(!rest["items"].as_array().unwrap().is_empty() && rest["next"].is_null(), "{rest}");
    let changes = serving.get(&format!("{base}/changes"));
    assert_eq!(changes["items"][0]["change"], "new", "{changes}");

    // While it runs: seeds, an override, a budget. They are verbs, too.
    let (status, added) = serving.post(&format!("{base}/urls"), r#"{"urls": ["http://b.test/"]}"#);
    assert_eq!((status, &added["new"]), (200, &1.into()), "{added}");
    wait_until("the new host", || !site.asked("b.test/").is_empty());
    let (status, _) =
        serving.post(&format!("{base}/overrides"), r#"{"pause": {"host": "b.test"}}"#);
    assert_eq!(status, 200);
    assert!(place.run("overrides --data a.test").expect(0).out.contains("b.test"));
    assert_eq!(serving.send("PUT", &format!("{base}/budget"), r#"{"rate": "3/s"}"#).0, 200);
    // A crawl says once a second how it is doing.
    let budget = || serving.get(&format!("{base}/budget"))["budget_a_second"].as_f64();
    wait_until("the budget", || budget() == Some(3.0));

    let (status, _) = serving.post(&format!("{base}/actions/stop"), "");
    assert_eq!(status, 200);
    serving.wait_for("a.test", "stopped");
    let visits = serving.visits("a.test");
    assert!(visits >= 4, "a stopped collection answers too: {visits}");
    // While nobody crawls it, too.
    let (status, added) = serving.post(&format!("{base}/urls"), r#"{"urls": ["http://c.test/"]}"#);
    assert_eq!((status, &added["new"]), (200, &1.into()), "{added}");
    let (status, view) =
        serving.post(&format!("{base}/overrides"), r#"{"remove": {"what": "b.test"}}"#);
    assert_eq!(status, 200, "{view}");
    assert!(site.asked("c.test/").is_empty());
    assert_eq!(serving.post(&format!("{base}/actions/start"), "").0, 200);
    wait_until("the seed", || !site.asked("c.test/").is_empty());
    serving.stop();
    place.run("check --data a.test").expect(0);

    // What ran, runs again.
    let serving = Serving::begin(&place, &site, "");
    serving.wait_for("a.test", "running");
    serving.stop();
}

#[test]
fn kill_9_of_either_loses_nothing() {
    let (site, place) = (site(), Place::new());
    place.run("init --contact x@example.org").expect(0);
    place.run("add http://a.test/").expect(0);
    let serving = Serving::begin(&place, &site, "--data data");
    serving.wait_for("data", "running");
    wait_until("the pages", || serving.visits("data") >= 3);
    let before = serving.get("/api/v1/collections/data/changes?all=true")["items"].clone();
    let first = serving.crawl_process().unwrap();
    kill(first);
    wait_until("another process", || serving.crawl_process().is_some_and(|pid| pid != first));
    let system = serving.get("/api/v1/system");
    assert_eq!(system["crawl_process"]["last_fault"], "signal 9", "{system}");
    serving.wait_for("data", "running");
    let after = serving.get("/api/v1/collections/data/changes?all=true")["items"].clone();
    let count = before.as_array().unwrap().len();
    assert_eq!(before.as_array().unwrap()[..], after.as_array().unwrap()[..count]);

    let second = serving.crawl_process().unwrap();
    let Serving { mut running, .. } = serving;
    running.child().kill().unwrap();
    // Nobody orders it to do anything any more.
    wait_until("the end of the crawl process", || !is_alive(second));
    place.run("check").expect(0);
    let serving = Serving::begin(&place, &site, "--data data");
    serving.wait_for("data", "running");
    let said = serving.stop();
    assert!(said.contains("Finishing requests in flight"), "{said}");
    place.run("check --deep").expect(0);
}

#[test]
fn a_collection_that_cannot_run_says_why_and_holds_up_no_other() {
    let (site, place) = (site(), Place::new());
    for name in ["good", "bad"] {
        place.run(&format!("init --contact x@example.org --data {name}")).expect(0);
        place.run(&format!("add http://a.test/ --data {name}")).expect(0);
    }
    place.write("bad/evercrawl.toml", "[archive]\nlevel = \"soon\"\n");
    let serving = Serving::begin(&place, &site, "--data good --data bad");
    serving.wait_for("bad", "failed");
    serving.wait_for("good", "running");
    let bad = serving.get("/api/v1/collections/bad");
    assert!(bad["message"].as_str().unwrap().contains("archive.level"), "{bad}");
    place.write("bad/evercrawl.toml", "[identity]\ncontact = \"x@example.org\"\n");
    serving.wait_for("bad", "running");
    serving.stop();
}

#[test]
fn a_crawl_beside_the_server_is_shown() {
    let (site, place) = (site(), Place::new());
    let serving_flags = "--data data --no-crawl";
    place.run("init --contact x@example.org").expect(0);
    place.run("add http://a.test/").expect(0);
    let serving = Serving::begin(&place, &site, serving_flags);
    assert_eq!(serving.state("data"), "stopped");
    assert_eq!(serving.visits("data"), 0);
    let crawl = place.start(&format!("crawl --quiet --delay 20ms {}", site.flags()));
    serving.wait_for("data", "running");
    wait_until("the pages", || serving.visits("data") >= 3);
    let (status, problem) = serving.post("/api/v1/collections/data/actions/stop", "");
    assert_eq!((status, &problem["code"]), (400, &"bad_request".into()), "{problem}");
    crawl.signal(Signal::INT);
    crawl.wait().expect(11);
    serving.stop();
}

#[test]
fn a_server_that_cannot_be_is_refused() {
    let place = Place::new();
    for (flags, code, words) in [
        ("--listen 0.0.0.0:0", 3, "tls = \"proxy\""),
        ("--listen 7700", 3, "is not an address and port"),
        ("--home nowhere", 2, "is not a directory"),
    ] {
        place.run(&format!("serve {flags}")).expect(code).explains(&[words]);
    }
    place.write("serve.toml", "listn = \"127.0.0.1:0\"\n");
    place.run("serve").expect(3).explains(&["serve.toml", "listn"]);
}
