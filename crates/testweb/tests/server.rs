//! Does the server say over sockets what the world says, misbehave as told, and keep an honest log?

// Helpers of tests may panic as tests do; the lint only knows functions marked as tests.
#![allow(clippy::unwrap_used)]

use evercrawl_testweb::{
    Host, HostFault, PageTruth, ServeConfig, TestServer, World, WorldConfig, check_access_log,
    serve,
};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

struct Client(TcpStream);

struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Client {
    fn new(server: &TestServer) -> Self {
        let stream = TcpStream::connect(server.addr()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        Client(stream)
    }

    fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).unwrap();
    }

    fn get(&mut self, host: &str, path: &str) -> Reply {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: test\r\n\r\n"));
        self.read().unwrap()
    }

    /// Reads an answer, or says how far it came.
    fn read(&mut self) -> Result<Reply, String> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte).map_err(|error| format!("head: {error}"))?;
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: "))
            .map_or("0", str::trim);
        let mut body = vec![0; length.parse().unwrap()];
        self.0.read_exact(&mut body).map_err(|error| format!("body: {error}"))?;
        Ok(Reply { status: head[9..12].parse().unwrap(), head, body })
    }
}

fn start(config: WorldConfig) -> TestServer {
    serve(World::new(config), ServeConfig { threads: 2, ..ServeConfig::default() }).unwrap()
}

fn find_host(server: &TestServer, is: impl Fn(&Host) -> bool) -> String {
    let world = server.world();
    world.host_name((0..world.config().hosts).find(|&id| is(&world.host(id))).unwrap())
}

/// A world in which every leaf of every host suffers from some fault.
fn faulty_world() -> WorldConfig {
    let mut config = WorldConfig { hosts: 40, ..WorldConfig::calm() };
    config.host_shares.faulty = 1.0;
    config
}

/// Asks for leaves of a host with a fault until one of them is hit by it, and hands over the connection then.
fn hit_by(server: &TestServer, fault: HostFault) -> (Client, Result<Reply, String>) {
    let host = find_host(server, |host| host.fault == Some(fault));
    let world = server.world();
    for slot in (0..50).rev() {
        let url =
            world.url(evercrawl_testweb::PageId::first(world.find_host(&host).unwrap(), slot));
        let path = url.split_once(".test").unwrap().1;
        let mut client = Client::new(server);
        client.0.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        client.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        let reply = client.read();
        let overlong = fault == HostFault::WrongContentLength
            && client.0.read(&mut [0; 1]).is_ok_and(|read| read > 0);
        if reply.is_err() || overlong {
            return (client, reply);
        }
    }
    panic!("{fault:?} hit no page");
}

#[test]
fn one_connection_serves_many_requests_also_when_they_come_at_once() {
    let server = start(WorldConfig::calm());
    let mut client = Client::new(&server);
    assert_eq!(client.get("h0.test", "/").status, 200);
    assert_eq!(client.get("h1.test:99", "/no/such/page").status, 404);
    assert_eq!(client.get("elsewhere.test", "/").status, 421);
    let one = "GET / HTTP/1.1\r\nHost: h2.test\r\n\r\n";
    client.send(&one.repeat(3));
    let bodies: Vec<Vec<u8>> = (0..3).map(|_| client.read().unwrap().body).collect();
    assert!(!bodies[0].is_empty() && bodies.iter().all(|body| *body == bodies[0]));
}

#[test]
fn answers_are_those_of_the_world() {
    let server = start(WorldConfig::calm());
    let seeds = ["http://h0.test/"];
    let mut client = Client::new(&server);
    let urls: Vec<String> = server
        .world()
        .reachable(seeds, evercrawl_testweb::ReachScope::Host, false, server.now_ms())
        .collect();
    assert!(urls.len() > 20);
    for url in urls {
        let reply = client.get("h0.test", url.strip_prefix("http://h0.test").unwrap());
        assert_eq!(reply.status, 200, "{url}");
    }
}

#[test]
fn a_conditional_request_gets_304_and_a_head_request_no_body() {
    let server = start(WorldConfig::calm());
    let mut client = Client::new(&server);
    let first = client.get("h0.test", "/");
    let etag = first.head.lines().find_map(|line| line.strip_prefix("ETag: ")).unwrap();
    client.send(&format!("GET / HTTP/1.1\r\nHost: h0.test\r\nIf-None-Match: {etag}\r\n\r\n"));
    let second = client.read().unwrap();
    assert_eq!((second.status, second.body.len()), (304, 0));
    client.send("HEAD / HTTP/1.1\r\nHost: h0.test\r\nConnection: close\r\n\r\n");
    let mut rest = String::new();
    client.0.read_to_string(&mut rest).unwrap();
    assert!(
        rest.contains(&format!("Content-Length: {}\r\n", first.body.len()))
            && rest.ends_with("\r\n\r\n")
    );
    let mut client = Client::new(&server);
    client.send("DELETE / HTTP/1.1\r\nHost: h0.test\r\n\r\n");
    assert_eq!(client.read().unwrap().status, 405);
}

#[test]
fn a_limited_host_refuses_whoever_calls_too_fast() {
    let mut config = WorldConfig { limit_gap_ms: 60_000, ..WorldConfig::calm() };
    config.host_shares.limited = 1.0;
    let server = start(config);
    let host = find_host(&server, |host| {
        host.limit.is_some_and(|limit| {
            limit.status == 429 && limit.retry_after == evercrawl_testweb::RetryAfter::Seconds
        })
    });
    let mut client = Client::new(&server);
    assert_eq!(client.get(&host, "/").status, 200);
    let refused = client.get(&host, "/");
    assert_eq!(refused.status, 429);
    assert!(refused.head.contains("Retry-After: 60\r\n"), "{}", refused.head);
}

#[test]
fn faults_break_answers_in_their_way() {
    let server = start(faulty_world());
    let (mut short, reply) = hit_by(&server, HostFault::ShortBody);
    assert!(reply.is_err_and(|error| error.starts_with("body:")));
    assert_eq!(short.0.read(&mut [0; 1]).unwrap(), 0, "closed after half a body");
    let (_, reply) = hit_by(&server, HostFault::ResetAfterHeaders);
    assert!(reply.is_err_and(|error| error.contains("reset")));
    let (_, reply) = hit_by(&server, HostFault::WrongContentLength);
    assert_eq!(reply.unwrap().status, 200);
    let (_, reply) = hit_by(&server, HostFault::Drip);
    assert!(reply.is_err_and(|error| error.starts_with("body:")));
}

#[test]
fn a_silent_host_never_answers_and_is_logged_when_the_caller_leaves() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("access.jsonl");
    let mut config = WorldConfig::calm();
    config.host_shares.silent = 1.0;
    let serving = ServeConfig { access_log: Some(log.clone()), ..ServeConfig::default() };
    let server = serve(World::new(config), serving).unwrap();
    let mut client = Client::new(&server);
    client.0.set_read_timeout(Some(Duration::from_millis(150))).unwrap();
    client.send("GET /robots.txt HTTP/1.1\r\nHost: h0.test\r\n\r\n");
    assert!(client.read().is_err_and(|error| error.starts_with("head:")));
    server.shutdown().unwrap();
    let line = std::fs::read_to_string(&log).unwrap();
    assert!(line.contains("\"status\":0,") && line.lines().count() == 1, "{line}");
}

#[test]
fn the_log_shows_a_polite_caller_as_polite_and_a_rude_one_as_rude() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("access.jsonl");
    let mut config = WorldConfig { slow_ms: 100, ..WorldConfig::calm() };
    config.host_shares.slow = 1.0;
    let serving =
        ServeConfig { access_log: Some(log.clone()), threads: 2, ..ServeConfig::default() };
    let server = serve(World::new(config), serving).unwrap();
    let (mut one, mut other) = (Client::new(&server), Client::new(&server));
    one.get("h0.test", "/");
    other.get("h1.test", "/");
    let report = check_access_log(&log, Duration::ZERO, |_, _| true);
    assert!(report.is_ok(), "the log can be read while it grows");
    one.send("GET / HTTP/1.1\r\nHost: h2.test\r\n\r\n");
    other.get("h2.test", "/private/x");
    one.read().unwrap();
    let world = World::new(server.world().config().clone());
    server.shutdown().unwrap();
    let report =
        check_access_log(&log, Duration::ZERO, |host, path| world.allows(host, path)).unwrap();
    assert_eq!((report.requests, report.hosts, report.overlaps), (4, 3, 1));
    let forbidden = u64::from(!world.allows("h2.test", "/private/x"));
    assert_eq!(report.forbidden, forbidden);
    let impatient = check_access_log(&log, Duration::from_secs(1), |_, _| false).unwrap();
    assert_eq!(
        (impatient.too_close, impatient.too_close_start_to_start, impatient.forbidden),
        (1, 1, 4)
    );
}

#[test]
fn lines_reach_the_log_while_the_server_runs() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("access.jsonl");
    let serving = ServeConfig { access_log: Some(log.clone()), ..ServeConfig::default() };
    let server = serve(World::new(WorldConfig::calm()), serving).unwrap();
    let reply = Client::new(&server).get("h3.test", "/?q=\"\\");
    let deadline = server.now_ms() + 2_000;
    while std::fs::read_to_string(&log).unwrap().is_empty() {
        assert!(server.now_ms() < deadline, "no line within two seconds");
        std::thread::yield_now();
    }
    let line: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&log).unwrap()).unwrap();
    assert_eq!((line["host"].as_str(), line["path"].as_str()), (Some("h3.test"), Some("/?q=\"\\")));
    assert_eq!(
        (line["agent"].as_str(), line["conditional"].as_bool()),
        (Some("test"), Some(false))
    );
    assert_eq!(line["bytes"].as_u64(), Some(reply.body.len() as u64));
    assert!(line["start_us"].as_u64() <= line["end_us"].as_u64());
}

#[test]
fn truth_stats_and_freshness_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let truth_file = directory.path().join("truth.jsonl");
    let serving = ServeConfig { truth: Some(truth_file.clone()), ..ServeConfig::default() };
    let config = WorldConfig { hosts: 2, pages: 5, ..WorldConfig::calm() };
    let server = serve(World::new(config), serving).unwrap();
    let mut client = Client::new(&server);
    client.get("h0.test", "/");
    let one: PageTruth = serde_json::from_slice(
        &client.get("h0.test", "/.testweb/truth?url=http%3A%2F%2Fh1.test%2F").body,
    )
    .unwrap();
    assert_eq!(
        (one.url.as_str(), one.host.as_str(), one.changes.len()),
        ("http://h1.test/", "h1.test", 0)
    );
    assert_eq!(client.get("h0.test", "/.testweb/truth?url=x").status, 404);
    let all = client.get("h0.test:81", "/.testweb/truth");
    let urls: Vec<String> = all
        .body
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice::<PageTruth>(line).unwrap().url)
        .collect();
    assert!(urls.len() == 10 && urls.iter().all(|url| url.contains(".test:81/")), "{urls:?}");
    let stats: serde_json::Value =
        serde_json::from_slice(&client.get("h0.test", "/.testweb/stats").body).unwrap();
    assert_eq!(stats, serde_json::json!({ "requests": 1, "classes": { "plain": { "200": 1 } } }));
    let copies = format!("http://h0.test/\t{}\n", server.now_ms());
    let length = copies.len();
    client.send(&format!("POST /.testweb/freshness HTTP/1.1\r\nHost: h0.test\r\nContent-Length: {length}\r\n\r\n{copies}"));
    let freshness: serde_json::Value =
        serde_json::from_slice(&client.read().unwrap().body).unwrap();
    assert_eq!((freshness["fresh"].as_u64(), freshness["share"].as_f64()), (Some(1), Some(1.0)));
    server.shutdown().unwrap();
    assert_eq!(std::fs::read_to_string(truth_file).unwrap().lines().count(), 10);
}

#[test]
fn an_address_in_use_is_named() {
    let server = start(WorldConfig::calm());
    let taken = ServeConfig { listen: vec![server.addr()], ..ServeConfig::default() };
    let error = serve(World::new(WorldConfig::calm()), taken).unwrap_err().to_string();
    assert!(error.contains(&server.addr().to_string()), "{error}");
}

#[test]
fn garbage_ends_the_connection_and_nothing_else() {
    let server = start(WorldConfig::calm());
    let mut client = Client::new(&server);
    client.0.write_all(b"\xff\xfe\r\n\r\n").unwrap();
    assert!(client.read().is_err());
    assert_eq!(Client::new(&server).get("h0.test", "/").status, 200);
}
