//! Do we ever go where we must not, and where rules lead us instead?
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests, helpers included")]

mod support;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use evercrawl_fetch::{AllowPrivate, BadConfig, Client, Config, Failure, NameServers, Request};
use support::{config, serve, serve_once, stall};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody";

/// A client that may go to `networks`, led by `rules`.
fn client(networks: &[&str], rules: &[String]) -> Client {
    let mut config = config();
    let networks = networks.iter().map(|network| network.parse().unwrap()).collect();
    config.allow_private = AllowPrivate::networks(networks);
    config.connect_to = rules.iter().map(|rule| rule.parse().unwrap()).collect();
    Client::new(config).unwrap()
}

async fn fetch(client: &Client, url: &str) -> Result<String, Failure> {
    let fetched = client.fetch(&Request::new(url).unwrap()).await;
    let body = fetched.result.map(|response| response.body);
    body.map(|body| String::from_utf8(body.to_vec()).unwrap())
}

fn forbidden(ip: impl Into<IpAddr>) -> Result<String, Failure> {
    Err(Failure::Forbidden(ip.into()))
}

#[tokio::test]
async fn private_addresses_are_never_connected_to() {
    let address = serve(|_, _| async { panic!("nobody may come here") }).await;
    let port = address.port();
    let nowhere = client(&[], &[]);
    for host in ["127.0.0.1", "2130706433", "0x7f.1", "017700000001", "localhost", "a.localhost."] {
        let got = fetch(&nowhere, &format!("http://{host}:{port}/")).await;
        assert_eq!(got, forbidden(Ipv4Addr::LOCALHOST), "{host}");
    }
    let mapped = fetch(&nowhere, &format!("http://[::ffff:127.0.0.1]:{port}/")).await;
    assert_eq!(mapped, forbidden(Ipv4Addr::LOCALHOST.to_ipv6_mapped()));
    let metadata = fetch(&nowhere, "http://169.254.169.254/latest/meta-data/").await;
    assert_eq!(metadata, forbidden([169, 254, 169, 254]));
}

#[tokio::test]
async fn rules_do_not_open_private_addresses_either() {
    let address = serve(|_, _| async { panic!("nobody may come here") }).await;
    let led = client(&[], &[format!("a.test:80:{address}")]);
    assert_eq!(fetch(&led, "http://a.test/").await, forbidden(Ipv4Addr::LOCALHOST));
}

#[tokio::test]
async fn allowed_networks_are_fetched_from() {
    let address = serve_once(OK).await;
    let local = client(&["127.0.0.0/8"], &[]);
    let port = address.port();
    for host in ["127.0.0.1", "localhost"] {
        assert_eq!(fetch(&local, &format!("http://{host}:{port}/")).await.unwrap(), "body");
    }
    assert_eq!(fetch(&local, "http://10.0.0.1/").await, forbidden([10, 0, 0, 1]));
}

#[tokio::test]
async fn rules_lead_connections_without_dns_and_keep_the_host() {
    let address = serve_once(OK).await;
    let led = client(&["127.0.0.0/8"], &[format!("a.test:80:{address}")]);
    let request = Request::new("http://a.test/").unwrap();
    let fetched = led.fetch(&request).await;
    assert!(fetched.request_bytes.starts_with(b"GET / HTTP/1.1\r\nHost: a.test\r\n"));
    assert_eq!((fetched.ip, fetched.result.unwrap().status), (Some(address.ip()), 200));
    let elsewhere = fetch(&led, "http://b.test/").await.unwrap_err();
    assert_eq!(elsewhere.code(), "dns_temporary", "no name server is set, so others lead nowhere");
}

#[tokio::test]
async fn every_redirect_is_checked_like_the_first() {
    let secret = serve(|_, _| async { panic!("nobody may come here") }).await;
    let location = format!("http://127.0.0.2:{}/secret", secret.port());
    let text = format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
    let address = serve_once(text).await;
    let client = client(&["127.0.0.1"], &[]);
    let hops =
        client.fetch_following(&Request::new(&format!("http://{address}/")).unwrap(), 5).await;
    assert_eq!(hops.len(), 2);
    assert_eq!(hops[1].url.as_str(), location);
    let failure = hops[1].fetched.result.as_ref().unwrap_err();
    assert_eq!(*failure, Failure::Forbidden([127, 0, 0, 2].into()));
}

#[tokio::test]
async fn a_second_address_is_tried_when_the_first_fails() {
    // This host has two addresses, 127.0.0.1 and ::1; only the second has a server.
    let Ok(listener) = tokio::net::TcpListener::bind("[::1]:0").await else {
        eprintln!("SKIPPED: this machine has no IPv6 loopback");
        return;
    };
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (peer, _) = listener.accept().await.unwrap();
        support::keep_answering(peer, OK.as_bytes()).await;
    });
    let client = Client::new(config()).unwrap();
    let request = Request::new(&format!("http://localhost:{port}/")).unwrap();
    let fetched = client.fetch(&request).await;
    assert_eq!(fetched.ip, Some("::1".parse().unwrap()));
    assert_eq!(fetched.result.unwrap().body, "body");
}

#[tokio::test]
async fn a_name_server_that_is_silent_times_out() {
    let silent = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let mut config = config();
    config.dns.servers = NameServers::These(vec![silent.local_addr().unwrap()]);
    config.limits.dns = Duration::from_millis(100);
    let client = Client::new(config).unwrap();
    let failure = fetch(&client, "http://a.test/").await.unwrap_err();
    assert_eq!(failure.code(), "timeout_dns");
}

#[tokio::test]
async fn a_connection_is_not_reused_for_another_host_at_the_same_address() {
    let address = serve(|peer, nth| async move {
        let body = format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{nth}");
        support::keep_answering(peer, body.as_bytes()).await;
    })
    .await;
    let led = client(&["127.0.0.0/8"], &[format!("::{address}")]);
    for (host, connection) in [("a.test", "0"), ("b.test", "1"), ("a.test", "0"), ("b.test", "1")] {
        assert_eq!(fetch(&led, &format!("http://{host}/")).await.unwrap(), connection, "{host}");
    }
}

#[tokio::test]
async fn what_cannot_be_configured_is_said_at_the_start() {
    fn refused(change: impl FnOnce(&mut Config)) -> BadConfig {
        let mut config = config();
        change(&mut config);
        Client::new(config).err().unwrap()
    }
    let bad = refused(|config| config.accept = "text/html\n".to_owned());
    assert!(matches!(bad, BadConfig::Header { name: "Accept", .. }), "{bad}");
    let bad = refused(|config| config.tls.extra_roots.push(vec![1, 2, 3]));
    assert!(matches!(bad, BadConfig::Root(_)), "{bad}");
}

#[tokio::test]
async fn dropping_a_fetch_drops_its_connection() {
    let (tell, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let address: SocketAddr = serve(move |mut peer, _| {
        let tell = tell.clone();
        async move {
            support::read_head(&mut peer).await;
            tell.send("asked").unwrap();
            support::read_head(&mut peer).await;
            tell.send("closed").unwrap();
            stall(peer).await;
        }
    })
    .await;
    let fetch = tokio::spawn(async move { support::fetch(address).await });
    assert_eq!(heard.recv().await, Some("asked"));
    fetch.abort();
    assert_eq!(heard.recv().await, Some("closed"));
}
