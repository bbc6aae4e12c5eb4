//! Does a search index that is fed by `documents` hold what is on the web, whatever is interrupted?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use evercrawl_testweb::WorldConfig;
use serde_json::{Value, json};

use crate::common::Place;
use crate::common::web::Web;

/// What an index holds: version and document by id. A deleted one stays as `null`.
type Held = BTreeMap<String, (u64, Value)>;

/// An index that takes bulk requests as OpenSearch does.
struct Index {
    address: SocketAddr,
    held: Arc<Mutex<Held>>,
    /// Requests that it answers with 503 before it works.
    busy: Arc<Mutex<u32>>,
}

impl Index {
    fn start(busy: u32) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let index = Index { address, held: Arc::default(), busy: Arc::new(Mutex::new(busy)) };
        let (held, busy) = (Arc::clone(&index.held), Arc::clone(&index.busy));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = answer(stream.unwrap(), &held, &busy);
            }
        });
        index
    }

    fn url(&self) -> String {
        format!("http://{}/pages", self.address)
    }

    /// The URLs of the documents that are held.
    fn urls(&self) -> Vec<String> {
        let held = self.held.lock().unwrap();
        let live = held.values().filter(|(_, document)| !document.is_null());
        let mut urls: Vec<String> =
            live.map(|(_, document)| document["url"].as_str().unwrap().to_owned()).collect();
        urls.sort();
        urls
    }
}

fn answer(mut stream: TcpStream, held: &Mutex<Held>, busy: &Mutex<u32>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line)?;
    assert!(line.starts_with("POST /pages/_bulk "), "{line}");
    while line.trim() != "" {
        line.clear();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut busy = busy.lock().unwrap();
    let (status, text) = if *busy > 0 {
        *busy -= 1;
        ("503 Busy", String::new())
    } else {
        ("200 OK", bulk(std::str::from_utf8(&body).unwrap(), &mut held.lock().unwrap()))
    };
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{text}", text.len())
}

/// Applies a bulk request, as `version_type: external_gte` has it.
fn bulk(body: &str, held: &mut Held) -> String {
    let mut lines = body.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut items = Vec::new();
    while let Some(action) = lines.next() {
        let (name, of) = action.as_object().unwrap().iter().next().unwrap();
        assert_eq!(of["version_type"], "external_gte");
        let document = if name == "index" { lines.next().unwrap() } else { Value::Null };
        let (id, version) =
            (of["_id"].as_str().unwrap().to_owned(), of["version"].as_u64().unwrap());
        let known = held.get(&id).map_or(0, |(version, _)| *version);
        let status = if version >= known { 200 } else { 409 };
        if status == 200 {
            held.insert(id.clone(), (version, document));
        }
        items.push(json!({name: {"_id": id, "status": status}}));
    }
    json!({"errors": false, "items": items}).to_string()
}

/// The pages that a search index should hold.
fn live_pages(place: &Place) -> Vec<String> {
    let is_live = |page: &Value| {
        let state = page["state"].as_str().unwrap();
        let held = matches!(state, "due" | "resting") && !page["digest"].is_null();
        held && page["kind"] == "page" && matches!(page["status"].as_u64(), Some(200 | 304))
    };
    let mut urls: Vec<String> = place
        .urls()
        .iter()
        .filter(|page| is_live(page))
        .map(|page| page["url"].as_str().unwrap().to_owned())
        .collect();
    urls.sort();
    urls
}

fn crawl(seconds: u32) -> (Web, Place) {
    let world = WorldConfig { hosts: 3, pages: 12, ..WorldConfig::calm() };
    let (web, place) = (Web::serve(world), Place::new());
    let flags = format!("--delay 5ms --recrawl 1s {}", web.flags());
    place.run(&format!("crawl --once {} {flags}", web.seeds(3).join(" "))).expect(0);
    place.run(&format!("crawl --for {seconds}s")).expect(15);
    (web, place)
}

#[test]
fn an_index_holds_what_is_live_whatever_is_repeated() {
    let (_web, place) = crawl(2);
    let live = live_pages(&place);
    let index = Index::start(1);
    let words = format!("documents --as opensearch --to {} --consumer search --json", index.url());
    let told = place.run(&words).expect(0).json();
    assert_eq!(index.urls(), live);
    assert!(live.len() > 10 && told["put"].as_u64().unwrap() >= live.len() as u64, "{told}");
    let once = index.held.lock().unwrap().clone();
    // A second time there is nothing to send; told again from the beginning, nothing changes.
    let again = place.run(&words).expect(0).json();
    assert_eq!((&again["put"], &again["after"]), (&json!(0), &told["after"]));
    place.run(&format!("{words} --after 0")).expect(0);
    assert_eq!(*index.held.lock().unwrap(), once);
    documents_say_what_pages_say(&place, &once);
    // What changes goes on from there.
    place.run("crawl --for 2s").expect(15);
    place.run(&words).expect(0);
    assert_eq!(index.urls(), live_pages(&place));
    mistakes_are_told(&place, &index);
}

fn documents_say_what_pages_say(place: &Place, held: &Held) {
    let printed = place.run("documents --markdown").expect(0).json_lines();
    assert!(printed.is_sorted_by_key(|one| one["seq"].as_u64()));
    let mut last: BTreeMap<&str, &Value> = BTreeMap::new();
    for one in &printed {
        last.insert(one["id"].as_str().unwrap(), one);
    }
    for (id, (version, document)) in held {
        let one = last[id.as_str()];
        assert_eq!(one["seq"].as_u64(), Some(*version));
        if document.is_null() {
            assert_eq!(one["op"], "delete");
            continue;
        }
        let url = document["url"].as_str().unwrap();
        let text = place.run(&format!("text {url} --json")).expect(0).json();
        assert_eq!((&one["op"], &document["title"]), (&json!("put"), &text["title"]), "{url}");
        assert!(text["text"].as_str().unwrap().len() >= document["text"].as_str().unwrap().len());
        assert!(!one["markdown"].as_str().unwrap().is_empty());
        if held.len() > 20 {
            break;
        }
    }
}

fn mistakes_are_told(place: &Place, index: &Index) {
    let url = index.url();
    place.run("documents --to pages").expect(2).explains(&["`pages` is not a URL"]);
    place.run(&format!("documents --to {url} --consumer a/b")).expect(2).explains(&["not a name"]);
    place
        .run("documents --as opensearch --to http://127.0.0.1:1/x --consumer search")
        .expect(2)
        .explains(&["the consumer `search` feeds"]);
    place.run("documents --consumer x").expect(2);
    place.run(&format!("documents --to {url} --data nowhere")).expect(4);
}

#[test]
fn a_follower_that_is_killed_continues() {
    let world = WorldConfig { hosts: 3, pages: 12, ..WorldConfig::calm() };
    let (web, place) = (Web::serve(world), Place::new());
    let flags = format!("--delay 5ms --recrawl 1s {}", web.flags());
    let mut crawl = place.start(&format!("crawl {} {flags} --for 90s", web.seeds(3).join(" ")));
    crawl.wait_until("the crawl to answer", || place.data().join("control.sock").exists());
    let index = Index::start(0);
    let words = format!("documents --as opensearch --to {} --follow", index.url());
    for wanted in [3, 8] {
        let mut follow = place.start(&words);
        crawl.wait_until("documents", || index.held.lock().unwrap().len() >= wanted);
        follow.child().kill().unwrap();
        follow.child().wait().unwrap();
    }
    crawl.signal(rustix::process::Signal::INT);
    crawl.wait().expect(11);
    place.run(&words).expect(0);
    assert_eq!(index.urls(), live_pages(&place));
}

#[test]
fn the_text_of_a_page_is_shown_in_three_forms() {
    let (web, place) = crawl(1);
    let live = live_pages(&place);
    let url = live.iter().find(|url| url.matches('/').count() > 3 || url.len() > 20).unwrap();
    let text = place.run(&format!("text {url}")).expect(0).out;
    let json = place.run(&format!("text {url} --as markdown --json")).expect(0).json();
    assert!(!text.trim().is_empty() && json["url"] == url.as_str(), "{text}");
    let html = place.run(&format!("text {url} --as html")).expect(0).out;
    assert!(html.contains("<p>") || html.contains("<h"), "{html}");
    assert!(!html.contains("<script"));
    place
        .run(&format!("text {url} --at 2001"))
        .expect(1)
        .explains(&["nothing of", "is archived by"]);
    place.run("text http://nowhere.test/").expect(1).explains(&["is not known"]);
    drop(web);
}
