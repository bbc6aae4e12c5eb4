//! Are users told of what their rules name, once, and whatever happens in between?
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failing test panics; tests wait in real time"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::common::site::{Answer, Request, Site};
use crate::common::{Place, wait_until};

/// A request that a receiver got.
#[derive(Clone, Debug)]
struct Got {
    line: String,
    headers: Vec<String>,
    body: Value,
}

impl Got {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find_map(|line| {
                Some(line.split_once(": ")?).filter(|(has, _)| has.eq_ignore_ascii_case(name))
            })
            .map(|(_, value)| value)
    }
}

/// A receiver of messages, which answers the first, the second and so on as told; then with the last.
struct Receiver {
    address: SocketAddr,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Receiver {
    fn start(answers: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let got: Arc<Mutex<Vec<Got>>> = Arc::default();
        let all = Arc::clone(&got);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = receive(&stream, &all, answers);
            }
        });
        Receiver { address, got }
    }

    fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }
}

fn receive(mut stream: &TcpStream, all: &Mutex<Vec<Got>>, answers: &[&str]) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut line, mut headers, mut length) = (String::new(), Vec::new(), 0);
    reader.read_line(&mut line)?;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let header = header.trim_end().to_owned();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.to_lowercase().strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
        headers.push(header);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap();
    let count = {
        let mut all = all.lock().unwrap();
        all.push(Got { line: line.trim_end().to_owned(), headers, body });
        all.len()
    };
    let answer = answers[(count - 1).min(answers.len() - 1)];
    let (head, body) = answer.split_once('|').unwrap_or((answer, ""));
    write!(stream, "HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn shop(request: &Request) -> Answer {
    let price = if request.earlier == 0 { "120" } else { "95" };
    match request.page.as_str() {
        "a.test/" => Answer::page(
            "<title>Shop</title><a href=/soup>soup</a><a href=/copy>copy</a><a href=/terms>terms</a>",
        ),
        "a.test/soup" => Answer::page(format!(
            "<title>Soup</title><script type=application/ld+json>{{\"@type\":\"Product\",\"offers\":{{\"price\":{price},\
             \"priceCurrency\":\"EUR\"}}}}</script><p>Soup is {price} €"
        )),
        "a.test/copy" => Answer::page("<p>We sell ACME-Cola cheaply"),
        "a.test/terms" if request.earlier == 0 => {
            Answer::page("<main>You may return goods within thirty days</main>")
        }
        "a.test/terms" => Answer::page("<main>You may return goods within ten days</main>"),
        _ => Answer::status("404 Not Found"),
    }
}

const RULES: &str = r#"
[watch.price]
when = "price < 100"
[watch.mark]
phrases = "phrases.txt"
[watch.terms]
url = "/terms$"
region = "main"
when = "words_removed > 0"
[watch.lost]
url = "/terms$"
region = "\#lost"
"#;

/// A crawl of the shop, beside rules that tell `receiver`.
fn place(rules: &str) -> Place {
    let place = Place::new();
    place.run("init").expect(0);
    place.write("data/phrases.txt", "# marks\nacme cola\n");
    place.write("data/rules.toml", rules);
    place
}

#[test]
fn a_crawl_tells_what_its_rules_find() {
    let (site, receiver) = (Site::serve(shop), Receiver::start(&["200 OK|{\"ok\":true}"]));
    let channel = format!(
        "[channel.team]\nurl = \"http://{}/hook\"\nprivate = true\nsecret = \"@env:SIGN\"\n\
         [channel.office]\nurl = \"slack://@env:SLACK\"\nprivate = true\nrules = [\"mark\"]\n\
         [channel.admin]\nurl = \"http://{}/faults\"\nprivate = true\nfaults = true\n",
        receiver.address, receiver.address
    );
    let place = place(&format!("{}{channel}", RULES.replace("\\#", "#")));
    let slack = Receiver::start(&["200 OK|no_service", "200 OK|ok"]);
    let mut crawl = place.command(&format!(
        "crawl http://a.test/ --delay 5ms --recrawl 1s --quiet --max-time 9s {}",
        site.flags()
    ));
    let hook = format!("http://{}/services/T/B/X", slack.address);
    crawl.env("SIGN", "hush").env("SLACK", &hook);
    place.start_command(crawl).wait().expect(15);
    let hits: BTreeSet<String> = receiver
        .got()
        .iter()
        .filter(|got| got.line.starts_with("POST /hook "))
        .flat_map(rules_in)
        .collect();
    let want = ["price /soup", "mark /copy", "terms /terms"].map(str::to_owned);
    assert_eq!(hits, BTreeSet::from(want), "{:?}", receiver.got());
    let price = receiver
        .got()
        .iter()
        .flat_map(|got| got.body["hits"].as_array().unwrap().clone())
        .find(|hit| hit["rule"] == "price");
    assert_eq!(price.unwrap()["fields"]["price"], "120 EUR → 95 EUR");
    let faults: Vec<Got> =
        receiver.got().into_iter().filter(|got| got.line.starts_with("POST /faults ")).collect();
    assert_eq!(faults.iter().flat_map(rules_in).collect::<Vec<_>>(), ["lost /terms"]);
    assert!(receiver.got().iter().all(|got| got.line.contains("/faults")
        || got.header("Evercrawl-Signature").unwrap().starts_with("t=")));
    // A 200 that carries an error is sent again, later than this run.
    assert_eq!(
        slack.got()[0].body["text"].as_str().unwrap().lines().next().unwrap(),
        "*[mark] new: http://a.test/copy*"
    );
    let waiting = place.run("notify deliveries --json").expect(0).json_lines();
    let arrived = slack.got().len() > 1;
    assert!(
        arrived || waiting[0]["answer"].as_str().unwrap().contains("no_service"),
        "{waiting:?}"
    );
    let files: String = ["hits", "decisions", "deliveries"]
        .iter()
        .map(|name| {
            std::fs::read_to_string(place.data().join(format!("alerts/{name}.jsonl"))).unwrap()
        })
        .collect();
    assert!(!files.contains("hush") && !files.contains("/services/T"), "no secret is kept");
}

/// The rules and paths of the hits in a message.
fn rules_in(got: &Got) -> Vec<String> {
    let hits = got.body["hits"].as_array().unwrap();
    let one = |hit: &Value| {
        format!(
            "{} {}",
            hit["rule"].as_str().unwrap(),
            hit["url"].as_str().unwrap().trim_start_matches("http://a.test")
        )
    };
    hits.iter().map(one).collect()
}

#[test]
fn stored_versions_are_judged_and_false_alarms_are_remembered() {
    let (site, place) = (Site::serve(shop), place(""));
    place
        .run(&format!(
            "crawl http://a.test/ --delay 5ms --recrawl 500ms --quiet --max-time 3s {}",
            site.flags()
        ))
        .expect(15);
    place.write(
        "data/rules.toml",
        "[watch.mark]\nphrases = \"phrases.txt\"\n[watch.price]\nwhen = \"price < 100\"",
    );
    let found = place.run("rules test --json").expect(0).json_lines();
    let rules: Vec<&str> = found.iter().map(|hit| hit["rule"].as_str().unwrap()).collect();
    assert_eq!(BTreeSet::from_iter(rules), BTreeSet::from(["mark", "price"]), "{found:?}");
    assert_eq!(found.len(), 2, "each is told once: {found:?}");
    assert!(place.run("hits --json").expect(0).json_lines().is_empty(), "a test keeps nothing");
    place.run("rules run --since 1h").expect(0);
    let hits = place.run("hits --json").expect(0).json_lines();
    let mark = hits.iter().find(|hit| hit["rule"] == "mark").unwrap();
    assert_eq!(mark["quote"], "We sell ACME-Cola cheaply");
    place.run(&format!("hits --false {}", mark["id"].as_str().unwrap())).expect(0);
    assert_eq!(place.run("hits --json").expect(0).json_lines().len(), 1);
    let feed = place.run("hits --all --rule mark --feed atom").expect(0).out;
    assert!(
        feed.contains("<title>Evercrawl: mark</title>") && feed.matches("<entry>").count() == 1,
        "{feed}"
    );
    place.run("rules run --since 1h").expect(0);
    assert_eq!(place.run("hits --all --json").expect(0).json_lines().len(), 2);
    place.run("hits --done nothing.7").expect(2);
}

#[test]
fn channels_are_tested_and_mistakes_told() {
    let receiver = Receiver::start(&["200 OK|", "200 OK|{\"ok\":false}", "410 Gone|"]);
    let channel = format!("http://{}/hook?x=1", receiver.address);
    let place = place(&format!(
        "[channel.team]\nurl = \"{channel}\"\nprivate = true\n[channel.guarded]\nurl = \"{channel}\"\n"
    ));
    assert!(place.run("notify test team").expect(0).out.contains("team: delivered"));
    assert_eq!(receiver.got()[0].line, "POST /hook?x=1 HTTP/1.1");
    assert_eq!(receiver.got()[0].body["test"], true);
    assert!(place.run("notify test team").expect(1).err.contains("but an error"));
    assert!(place.run("notify test team").expect(1).err.contains("410"));
    assert!(place.run("notify test guarded").expect(1).err.contains("private address"));
    assert_eq!(receiver.got().len(), 3, "nothing goes to a private address that is not allowed");
    assert!(place.run("notify test temm").expect(2).err.contains("there are: "));
    place.write(
        "data/rules.toml",
        "[watch.a]\nwhen = \"prise < 3\"\n[channel.b]\nurl = \"slack://T/B/X\"",
    );
    assert!(place.run("rules check").expect(3).err.contains("did you mean `price`?"));
    place.write("data/rules.toml", "[channel.b]\nurl = \"slack://T/B/X\"");
    let told = place.run("notify test b").expect(3).err;
    assert!(told.contains("must not stand here") && !told.contains("T/B/X"), "{told}");
}

/// Kills `rules run` again and again while it finds and sends. No hit is lost, and what comes twice has the same
/// delivery.
fn kills_lose_no_hit(kills: u64, pages: usize) {
    let site = Site::serve(move |request| match request.page.as_str() {
        "a.test/" => {
            Answer::page((0..pages).map(|n| format!("<a href=/{n}>{n}</a>")).collect::<String>())
        }
        page => Answer::page(format!("<p>Page {page} sells acme cola")),
    });
    let receiver = Receiver::start(&["200 OK|"]);
    let place = place("");
    place
        .run(&format!("crawl --once http://a.test/ --delay 1ms --quiet {}", site.flags()))
        .expect(0);
    let channels: String = (0..8)
        .map(|n| {
            format!("[channel.c{n}]\nurl = \"http://{}/c{n}\"\nprivate = true\n", receiver.address)
        })
        .collect();
    place.write("data/rules.toml", &format!("[watch.mark]\nphrases = \"phrases.txt\"\n{channels}"));
    let mut random = 88_172_645_463_325_252_u64;
    for _ in 0..kills {
        let mut running = place.start("rules run --since 1h");
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(Duration::from_millis(random % 500));
        let _ = running.child().kill();
        let _ = running.child().wait();
    }
    place.run("rules run --since 1h").expect(0);
    let want: BTreeSet<String> = (0..pages).map(|n| format!("http://a.test/{n}")).collect();
    let mut deliveries: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for got in receiver.got() {
        for hit in got.body["hits"].as_array().unwrap() {
            let (url, id) = (hit["url"].as_str().unwrap(), hit["delivery"].as_str().unwrap());
            let channel = got.line.split(' ').nth(1).unwrap().to_owned();
            let message = got.header("Evercrawl-Delivery").unwrap();
            let ids = deliveries.entry((channel, url.to_owned())).or_default();
            ids.insert(format!("{id} in {message}"));
        }
    }
    for n in 0..8 {
        let told = deliveries.keys().filter(|(channel, _)| *channel == format!("/c{n}"));
        assert_eq!(told.map(|(_, url)| url.clone()).collect::<BTreeSet<_>>(), want, "channel {n}");
    }
    let twice: Vec<_> = deliveries.values().filter(|ids| ids.len() > 1).collect();
    assert!(twice.is_empty(), "a repetition has another delivery: {twice:?}");
    let kept = place.run("hits --json").expect(0).json_lines();
    assert_eq!(kept.len(), pages, "each hit is kept once");
}

#[test]
fn kills_while_notifying_lose_no_hit() {
    kills_lose_no_hit(5, 30);
}

#[test]
#[ignore = "takes minutes: make check-large"]
fn a_hundred_kills_while_notifying_lose_no_hit() {
    kills_lose_no_hit(100, 300);
}

#[test]
fn a_receiver_that_is_down_gets_all_in_order_later() {
    let site = Site::serve(shop);
    let receiver = Receiver::start(&["503 Busy|", "200 OK|"]);
    let place = place(&format!(
        "[watch.mark]\nphrases = \"phrases.txt\"\n[watch.shop]\nwhen = \"title contains 'shop'\"\n\
         [channel.team]\nurl = \"http://{}/\"\nprivate = true\n",
        receiver.address
    ));
    place
        .run(&format!("crawl --once http://a.test/ --delay 5ms --quiet {}", site.flags()))
        .expect(0);
    let first = receiver.got()[0].clone();
    let mut running = place.start("rules run --follow");
    running.wait_until("the message came again", || receiver.got().len() > 1);
    let again = receiver.got()[1].clone();
    assert_eq!(again.header("Evercrawl-Delivery"), first.header("Evercrawl-Delivery"));
    assert_eq!(again.body, first.body, "a repetition says the same");
    wait_until("nothing waits", || {
        place.run("notify deliveries --json").expect(0).json_lines().is_empty()
    });
}
