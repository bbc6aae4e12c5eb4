//! Do headers, credentials and cookies go where they should, and nowhere else?
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests, helpers included")]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use evercrawl_fetch::{
    Access, AccessRules, Client, ConnectTo, Cookies, FetchConfig, HostPattern, Jar, JarLimits,
    Request, RequestRule,
};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpSocket;

use crate::support::{config, keep_answering, read_head, serve};

/// A server that notes what it is asked for and answers by host and path.
async fn server(answer: fn(&str) -> &'static str) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = asked.clone();
    let address = serve(move |mut peer, _| {
        let log = log.clone();
        async move {
            loop {
                let head = String::from_utf8(read_head(&mut peer).await).unwrap();
                if head.is_empty() {
                    return;
                }
                let headers = answer(&head);
                let status = if headers.contains("Location") { "302 Found" } else { "200 OK" };
                log.lock().unwrap().push(head);
                let text = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: 0\r\n\r\n");
                peer.write_all(text.as_bytes()).await.unwrap();
            }
        }
    });
    (address.await, asked)
}

fn client(address: SocketAddr, rules: AccessRules) -> Client {
    let connect_to = vec![format!("::{address}").parse::<ConnectTo>().unwrap()];
    let config = FetchConfig { connect_to, access: Access::new(rules), ..config() };
    Client::new(config).unwrap()
}

fn rule(hosts: &str) -> RequestRule {
    RequestRule::new(hosts.parse::<HostPattern>().unwrap(), true).unwrap()
}

#[tokio::test]
async fn credentials_stay_with_their_hosts_through_redirects() {
    let (address, asked) = server(|head| match head {
        head if head.contains("Host: a.test") => "Location: http://b.test/\r\n",
        head if head.contains("Host: b.test") => "Location: http://sub.a.test/\r\n",
        _ => "",
    })
    .await;
    let requests = vec![
        rule(".a.test").with_basic("me:secret").unwrap(),
        rule("*").with_header("Accept-Language", "de", false).unwrap(),
        rule("*").with_header("Accept", "text/plain", false).unwrap(),
    ];
    let client = client(address, AccessRules { requests, ..AccessRules::default() });
    let hops = client.fetch_following(&Request::new("http://a.test/").unwrap(), 5).await;
    assert_eq!(hops.len(), 3);
    let asked = asked.lock().unwrap();
    for (at, has) in [(0, true), (1, false), (2, true)] {
        assert_eq!(asked[at].contains("Basic bWU6c2VjcmV0"), has, "{}", asked[at]);
        assert!(asked[at].contains("Accept-Language: de\r\n"), "{}", asked[at]);
        assert_eq!(asked[at].matches("Accept: ").count(), 1, "the rule's value replaces the usual");
        let recorded = String::from_utf8(hops[at].fetched.request_bytes.to_vec()).unwrap();
        assert!(!recorded.contains("bWU6"), "{recorded}");
        assert_eq!(recorded.to_lowercase().contains("authorization: ***\r\n"), has, "{recorded}");
    }
}

#[tokio::test]
async fn cookies_come_back_to_the_server_that_set_them() {
    let (address, asked) = server(|head| match head {
        head if head.starts_with("GET /login") => {
            "Set-Cookie: id=1; Path=/\r\nSet-Cookie: all=2; Domain=a.test; Path=/\r\nSet-Cookie: evil=3; Domain=test\r\n"
        }
        _ => "",
    })
    .await;
    let mut jar = Jar::new(JarLimits::default());
    jar.import(b"www.a.test\tFALSE\t/\tFALSE\t0\town\tsecret\n", "d", Cookies::now()).unwrap();
    let cookies = Some(Arc::new(Cookies::new(jar)));
    let client = client(address, AccessRules { cookies, ..AccessRules::default() });
    let mut recorded = String::new();
    for url in ["http://www.a.test/login", "http://www.a.test/", "http://a.test/", "http://b.test/"]
    {
        let fetched = client.fetch(&Request::new(url).unwrap()).await;
        fetched.result.unwrap();
        recorded += std::str::from_utf8(&fetched.request_bytes).unwrap();
    }
    let sent: Vec<Option<String>> = asked
        .lock()
        .unwrap()
        .iter()
        .map(|head| head.lines().find_map(|line| line.strip_prefix("Cookie: ")).map(str::to_owned))
        .collect();
    let sent: Vec<Option<&str>> = sent.iter().map(Option::as_deref).collect();
    assert_eq!(sent, [Some("own=secret"), Some("own=secret; id=1; all=2"), Some("all=2"), None]);
    assert!(!recorded.contains("secret"), "{recorded}");
    assert!(recorded.contains("ookie: own=***; id=1; all=2\r\n"), "{recorded}");
}

#[tokio::test]
async fn a_crawl_without_cookies_neither_sends_nor_keeps_any() {
    let (address, asked) = server(|_| "Set-Cookie: id=1\r\n").await;
    let client = client(address, AccessRules::default());
    for _ in 0..2 {
        client.fetch(&Request::new("http://a.test/").unwrap()).await.result.unwrap();
    }
    assert!(asked.lock().unwrap().iter().all(|head| !head.contains("ookie")));
}

/// A port of 127.0.0.1 that takes no connection and refuses none, and sockets that keep it so.
async fn dead_end() -> Option<(u16, Vec<Box<dyn Send>>)> {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut kept: Vec<Box<dyn Send>> = vec![Box::new(listener)];
    for _ in 0..8 {
        let tried = tokio::net::TcpStream::connect(address);
        match tokio::time::timeout(Duration::from_millis(200), tried).await {
            Ok(Ok(tcp)) => kept.push(Box::new(tcp)),
            _ => return Some((address.port(), kept)),
        }
    }
    None
}

#[tokio::test]
async fn an_address_that_does_not_answer_holds_up_the_other_family_only_shortly() {
    let Some((port, _kept)) = dead_end().await else {
        eprintln!("SKIPPED: no dead end could be made");
        return;
    };
    let Ok(listener) = tokio::net::TcpListener::bind(("::1", port)).await else {
        eprintln!("SKIPPED: this machine has no IPv6 loopback");
        return;
    };
    tokio::spawn(async move {
        let (peer, _) = listener.accept().await.unwrap();
        keep_answering(peer, b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody").await;
    });
    let client = Client::new(config()).unwrap();
    let request = Request::new(&format!("http://localhost:{port}/")).unwrap();
    #[allow(clippy::disallowed_methods, reason = "how long it takes is what is tested")]
    let began = Instant::now();
    let fetched = client.fetch(&request).await;
    assert_eq!(fetched.ip, Some("::1".parse().unwrap()));
    assert_eq!(fetched.result.unwrap().body, "body");
    assert!(began.elapsed() < Duration::from_secs(8), "it did not wait for the first address");
}

#[tokio::test]
async fn an_ipv6_address_in_a_url_is_fetched_and_guarded() {
    let Ok(listener) = tokio::net::TcpListener::bind("[::1]:0").await else {
        eprintln!("SKIPPED: this machine has no IPv6 loopback");
        return;
    };
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut peer, _) = listener.accept().await.unwrap();
        let head = String::from_utf8(read_head(&mut peer).await).unwrap();
        assert!(head.contains("Host: [::1]:"), "{head}");
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody";
        peer.write_all(answer).await.unwrap();
    });
    let request = Request::new(&format!("http://[::1]:{port}/")).unwrap();
    let closed = FetchConfig { allow_private: evercrawl_fetch::AllowPrivate::none(), ..config() };
    let refused = Client::new(closed).unwrap().fetch(&request).await;
    assert_eq!(refused.result.unwrap_err().code(), "private_address");
    assert_eq!(Client::new(config()).unwrap().fetch(&request).await.result.unwrap().body, "body");
}
