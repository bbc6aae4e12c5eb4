//! Do we ever go where we must not, and where rules lead us instead?
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests, helpers included")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::support::{config, serve, serve_once, stall};
use evercrawl_fetch::{
    AllowPrivate, Client, Failure, FetchConfig, FetchConfigError, NameServers, Request,
};

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
    body.map(|body| String::from_utf8(body.whole().into_owned()).unwrap())
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

/// Ways to write addresses that are nobody's business, and the address that each must be taken for;
/// none where it is no URL at all.
#[rustfmt::skip]
const SPELLINGS: &[(&str, &str)] = &[
    // Loopback, as numbers of every base and length.
    ("127.0.0.1", "127.0.0.1"), ("127.1", "127.0.0.1"), ("127.0.1", "127.0.0.1"), ("2130706433", "127.0.0.1"),
    ("0x7f000001", "127.0.0.1"), ("0x7F.0x00.0x00.0x01", "127.0.0.1"), ("0x7f.1", "127.0.0.1"),
    ("017700000001", "127.0.0.1"), ("0177.0.0.1", "127.0.0.1"), ("0177.0.0.01", "127.0.0.1"),
    ("00000177.0.0.1", "127.0.0.1"), ("127.0.0.1.", "127.0.0.1"), ("0x7f.0.1", "127.0.0.1"),
    ("127.000.000.001", "127.0.0.1"), ("127.255.255.254", "127.255.255.254"), ("0177.0xff.65535", "127.255.255.255"),
    // In letters that only look like digits, and escaped.
    ("１２７.０.０.１", "127.0.0.1"), ("①②⑦.⓪.⓪.①", "127.0.0.1"), ("127。0。0。1", "127.0.0.1"),
    ("127．0．0．1", "127.0.0.1"), ("%31%32%37.0.0.1", "127.0.0.1"), ("０ｘ７ｆ.1", "127.0.0.1"), ("𝟭𝟮𝟳.0.0.1", "127.0.0.1"),
    // By name.
    ("localhost", "127.0.0.1"), ("LOCALHOST", "127.0.0.1"), ("localhost.", "127.0.0.1"), ("ｌｏｃａｌｈｏｓｔ", "127.0.0.1"),
    ("a.localhost", "127.0.0.1"), ("a.b.localhost.", "127.0.0.1"), ("loc%61lhost", "127.0.0.1"), ("ⓛocalhost", "127.0.0.1"),
    // "This" network.
    ("0.0.0.0", "0.0.0.0"), ("0", "0.0.0.0"), ("0x0", "0.0.0.0"), ("0.1", "0.0.0.1"), ("00.00", "0.0.0.0"),
    // Private, shared, link-local and metadata.
    ("10.0.0.1", "10.0.0.1"), ("10.1", "10.0.0.1"), ("167772161", "10.0.0.1"), ("012.0.0.1", "10.0.0.1"),
    ("172.16.0.1", "172.16.0.1"), ("172.31.255.255", "172.31.255.255"), ("0xac.0x10.1", "172.16.0.1"),
    ("192.168.0.1", "192.168.0.1"), ("0xc0a80001", "192.168.0.1"), ("192.168.257", "192.168.1.1"), ("3232235777", "192.168.1.1"),
    ("100.64.0.1", "100.64.0.1"), ("100.127.255.255", "100.127.255.255"),
    ("169.254.169.254", "169.254.169.254"), ("2852039166", "169.254.169.254"), ("0xa9fea9fe", "169.254.169.254"),
    ("0251.0376.0251.0376", "169.254.169.254"), ("169.16689662", "169.254.169.254"), ("168.63.129.16", "168.63.129.16"),
    ("100.100.100.200", "100.100.100.200"), ("192.0.0.192", "192.0.0.192"),
    // Of no host at all.
    ("224.0.0.1", "224.0.0.1"), ("239.255.255.250", "239.255.255.250"), ("240.0.0.1", "240.0.0.1"),
    ("255.255.255.255", "255.255.255.255"), ("4294967295", "255.255.255.255"), ("192.0.2.1", "192.0.2.1"),
    ("198.18.0.1", "198.18.0.1"), ("198.51.100.1", "198.51.100.1"), ("203.0.113.1", "203.0.113.1"),
    // IPv6, plain and with an IPv4 address inside.
    ("[::1]", "::1"), ("[0:0:0:0:0:0:0:1]", "::1"), ("[::0001]", "::1"), ("[::]", "::"), ("[fe80::1]", "fe80::1"),
    ("[febf::1]", "febf::1"), ("[fec0::1]", "fec0::1"), ("[fc00::1]", "fc00::1"), ("[fd00:ec2::254]", "fd00:ec2::254"),
    ("[ff02::1]", "ff02::1"), ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1"), ("[::ffff:7f00:1]", "::ffff:127.0.0.1"),
    ("[::FFFF:A9FE:A9FE]", "::ffff:169.254.169.254"), ("[0:0:0:0:0:ffff:10.0.0.1]", "::ffff:10.0.0.1"),
    ("[::127.0.0.1]", "::127.0.0.1"), ("[::7f00:1]", "::127.0.0.1"), ("[64:ff9b::127.0.0.1]", "64:ff9b::7f00:1"),
    ("[64:ff9b::a9fe:a9fe]", "64:ff9b::a9fe:a9fe"), ("[64:ff9b:1::1]", "64:ff9b:1::1"), ("[2002:7f00:1::]", "2002:7f00:1::"),
    ("[2002:a9fe:a9fe::1]", "2002:a9fe:a9fe::1"), ("[2001:db8::1]", "2001:db8::1"), ("[100::1]", "100::1"),
    ("[2001:0:7f00:1::]", "2001:0:7f00:1::"),
    // Not URLs.
    ("[fe80::1%25eth0]", ""), ("[::1", ""), ("127.0.0.256", ""), ("0x7f000001ff", ""), ("[::ffff:127.1]", ""), ("127.0.0.1.5", ""),
];

#[tokio::test]
async fn no_spelling_of_a_private_address_gets_past() {
    let nowhere = client(&[], &[]);
    assert!(SPELLINGS.len() > 90);
    for (host, address) in SPELLINGS {
        let url = format!("http://{host}:1/");
        match Request::new(&url) {
            Err(_) => assert_eq!(*address, "", "{host} is no URL"),
            Ok(_) => {
                let got = fetch(&nowhere, &url).await;
                let want: IpAddr = address.parse().unwrap_or_else(|_| panic!("{host}: {got:?}"));
                assert_eq!(got, forbidden(want), "{host}");
            }
        }
    }
}

/// A name server that answers every question for an address with the next of `ips`, for no time.
async fn name_server(ips: &'static [[u8; 4]]) -> SocketAddr {
    let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut question, mut turn) = ([0; 512], 0);
        loop {
            let (size, peer) = socket.recv_from(&mut question).await.unwrap();
            let end = 12 + question[12..size].iter().position(|&byte| byte == 0).unwrap() + 5;
            let wants_v4 = question[end - 4..end - 2] == [0, 1];
            let mut answer = question[..end].to_vec();
            // A response without error, with one answer or none, and nothing else.
            answer[2..12].copy_from_slice(&[0x81, 0x80, 0, 1, 0, u8::from(wants_v4), 0, 0, 0, 0]);
            if wants_v4 {
                answer.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
                answer.extend_from_slice(&ips[turn.min(ips.len() - 1)]);
                turn += 1;
            }
            socket.send_to(&answer, peer).await.unwrap();
        }
    });
    address
}

#[tokio::test]
async fn no_name_of_a_private_address_gets_past() {
    let mut config = config();
    config.allow_private = AllowPrivate::none();
    for ip in [[192, 168, 0, 1], [169, 254, 169, 254]] {
        let names = name_server(Box::leak(Box::new([ip]))).await;
        config.dns.servers = NameServers::These(vec![names]);
        let client = Client::new(config.clone()).unwrap();
        for name in [
            "printer.local",
            "PRINTER.LOCAL",
            "printer.local.",
            "printer。local",
            "ｐrinter.local",
            "router.lan",
            "router",
            "metadata.google.internal",
            "metadata.google.internal.",
            "intranet.example.org",
            "xn--bcher-kva.example",
            "bücher.example",
            "127.0.0.1.nip.test",
            "10-0-0-1.sslip.test",
        ] {
            let got = fetch(&client, &format!("http://{name}:1/")).await;
            assert_eq!(got, forbidden(ip), "{name}");
        }
    }
}

#[tokio::test]
async fn what_a_name_leads_to_is_checked_each_time_and_not_looked_up_again() {
    let address = serve_once(OK).await;
    let names = name_server(&[[127, 0, 0, 1], [169, 254, 169, 254], [10, 0, 0, 1]]).await;
    let mut config = config();
    config.dns.servers = NameServers::These(vec![names]);
    (config.dns.min_ttl, config.dns.max_ttl) = (Duration::ZERO, Duration::ZERO);
    config.allow_private = AllowPrivate::networks(vec!["127.0.0.0/8".parse().unwrap()]);
    config.pool.total = 0;
    let client = Client::new(config).unwrap();
    let url = format!("http://rebinding.test:{}/", address.port());
    // One lookup serves check and connection: no answer in between can lead elsewhere.
    assert_eq!(fetch(&client, &url).await.unwrap(), "body");
    assert_eq!(fetch(&client, &url).await, forbidden([169, 254, 169, 254]));
    assert_eq!(fetch(&client, &url).await, forbidden([10, 0, 0, 1]));
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
        crate::support::keep_answering(peer, OK.as_bytes()).await;
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
        crate::support::keep_answering(peer, body.as_bytes()).await;
    })
    .await;
    let led = client(&["127.0.0.0/8"], &[format!("::{address}")]);
    for (host, connection) in [("a.test", "0"), ("b.test", "1"), ("a.test", "0"), ("b.test", "1")] {
        assert_eq!(fetch(&led, &format!("http://{host}/")).await.unwrap(), connection, "{host}");
    }
}

#[tokio::test]
async fn what_cannot_be_configured_is_said_at_the_start() {
    fn refused(change: impl FnOnce(&mut FetchConfig)) -> FetchConfigError {
        let mut config = config();
        change(&mut config);
        Client::new(config).err().unwrap()
    }
    let bad = refused(|config| config.accept = "text/html\n".to_owned());
    assert!(matches!(bad, FetchConfigError::Header { name: "Accept", .. }), "{bad}");
    let bad = refused(|config| config.tls.extra_roots.push(vec![1, 2, 3]));
    assert!(matches!(bad, FetchConfigError::Root(_)), "{bad}");
}

#[tokio::test]
async fn dropping_a_fetch_drops_its_connection() {
    let (tell, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let address: SocketAddr = serve(move |mut peer, _| {
        let tell = tell.clone();
        async move {
            crate::support::read_head(&mut peer).await;
            tell.send("asked").unwrap();
            crate::support::read_head(&mut peer).await;
            tell.send("closed").unwrap();
            stall(peer).await;
        }
    })
    .await;
    let fetch = tokio::spawn(async move { crate::support::fetch(address).await });
    assert_eq!(heard.recv().await, Some("asked"));
    fetch.abort();
    assert_eq!(heard.recv().await, Some("closed"));
}
