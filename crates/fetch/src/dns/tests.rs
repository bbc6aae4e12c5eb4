//! Lookups against a name server of a few lines: it counts what it is asked, and says what it is
//! told to.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::UdpSocket;

use super::*;

/// What the name server does when asked for a name.
#[derive(Clone, Copy)]
enum Say {
    /// Gives IPv4 addresses that end in these, with a time to live in seconds.
    Addresses(&'static [u8], u32),
    /// Gives one IPv4 and one IPv6 address.
    Both,
    /// NXDOMAIN, with the negative time to live in seconds.
    NoSuchName(u32),
    /// The name exists but has no address.
    NoAddress,
    ServFail,
    Nothing,
}

struct NameServer {
    address: SocketAddr,
    says: Arc<Mutex<HashMap<&'static str, Say>>>,
    /// Questions for IPv4 addresses; those for IPv6 come beside them.
    asked: Arc<AtomicUsize>,
}

impl NameServer {
    async fn start(says: &[(&'static str, Say)]) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let says = Arc::new(Mutex::new(says.iter().copied().collect::<HashMap<_, _>>()));
        let asked = Arc::new(AtomicUsize::new(0));
        let server = NameServer { address, says: Arc::clone(&says), asked: Arc::clone(&asked) };
        tokio::spawn(async move {
            let mut packet = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut packet).await {
                let query = Query::read(&packet[..length]);
                asked.fetch_add(usize::from(query.kind == 1), Ordering::SeqCst);
                let say = *lock(&says).get(query.name.as_str()).unwrap_or(&Say::NoSuchName(60));
                if let Some(reply) = query.reply(say) {
                    socket.send_to(&reply, from).await.unwrap();
                }
            }
        });
        server
    }

    fn resolver(&self, change: impl FnOnce(&mut DnsSettings)) -> Arc<Resolver> {
        let mut settings = DnsSettings {
            servers: NameServers::These(vec![self.address]),
            try_timeout: Duration::from_secs(5),
            tries: 1,
            ..DnsSettings::default()
        };
        change(&mut settings);
        Resolver::new(settings).unwrap()
    }

    fn now_says(&self, name: &'static str, say: Say) {
        lock(&self.says).insert(name, say);
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

struct Query {
    id: [u8; 2],
    question: Vec<u8>,
    name: String,
    kind: u8,
}

impl Query {
    fn read(packet: &[u8]) -> Self {
        let (mut at, mut labels) = (12, Vec::new());
        while packet[at] != 0 {
            let end = at + 1 + usize::from(packet[at]);
            labels.push(String::from_utf8_lossy(&packet[at + 1..end]).to_lowercase());
            at = end;
        }
        let question = packet[12..at + 5].to_vec();
        Query { id: [packet[0], packet[1]], question, name: labels.join("."), kind: packet[at + 2] }
    }

    fn reply(&self, say: Say) -> Option<Vec<u8>> {
        let (mut code, mut answers, mut negative_ttl) = (0, Vec::new(), None);
        match (say, self.kind) {
            (Say::Nothing, _) => return None,
            (Say::ServFail, _) => code = 2,
            (Say::NoSuchName(ttl), _) => (code, negative_ttl) = (3, Some(ttl)),
            (Say::Addresses(lasts, ttl), 1) => {
                answers = lasts.iter().map(|last| record(1, ttl, &[192, 0, 2, *last])).collect();
            }
            (Say::Both, 1) => answers.push(record(1, 600, &[192, 0, 2, 1])),
            (Say::Both, 28) => answers.push(record(28, 600, &[0x20; 16])),
            _ => negative_ttl = Some(60),
        }
        let mut reply = self.id.to_vec();
        let authorities = u8::from(negative_ttl.is_some());
        let counts = [0, 1, 0, u8::try_from(answers.len()).unwrap(), 0, authorities, 0, 0];
        reply.extend([0x81, 0x80 | code]);
        reply.extend(counts);
        reply.extend(&self.question);
        reply.extend(answers.concat());
        reply.extend(negative_ttl.map(soa).unwrap_or_default());
        Some(reply)
    }
}

/// A record of the name that was asked for.
fn record(kind: u8, ttl: u32, data: &[u8]) -> Vec<u8> {
    let mut record = vec![0xc0, 12, 0, kind, 0, 1];
    record.extend(ttl.to_be_bytes());
    record.extend([0, u8::try_from(data.len()).unwrap()]);
    record.extend(data);
    record
}

fn soa(ttl: u32) -> Vec<u8> {
    let mut data = vec![0, 0];
    for number in [1, 60, 60, 60, ttl] {
        data.extend(number.to_be_bytes());
    }
    record(6, ttl, &data)
}

fn ips(lasts: &[u8]) -> DnsAnswer {
    Ok(lasts.iter().map(|last| IpAddr::from([192, 0, 2, *last])).collect())
}

#[tokio::test]
async fn an_answer_is_asked_for_once_and_kept() {
    let server = NameServer::start(&[("a.test", Say::Addresses(&[1, 2], 0))]).await;
    let resolver = server.resolver(|_| {});
    assert_eq!(resolver.cached_answer("a.test"), None);
    assert_eq!(resolver.lookup("a.test").await, ips(&[1, 2]));
    assert_eq!(resolver.lookup("a.test").await, ips(&[1, 2]));
    assert_eq!(resolver.cached_answer("a.test"), Some(ips(&[1, 2])));
    assert_eq!(server.asked(), 1);
}

#[tokio::test]
async fn many_who_wait_share_one_lookup() {
    let server = NameServer::start(&[("a.test", Say::Addresses(&[1], 600))]).await;
    let resolver = server.resolver(|_| {});
    let waiting: Vec<_> = (0..100)
        .map(|_| {
            let resolver = Arc::clone(&resolver);
            tokio::spawn(async move { resolver.lookup("a.test").await })
        })
        .collect();
    for lookup in waiting {
        assert_eq!(lookup.await.unwrap(), ips(&[1]));
    }
    assert_eq!(server.asked(), 1);
    assert!(lock(&resolver.flights).is_empty());
}

#[tokio::test]
async fn a_lookup_outlives_the_caller_that_started_it() {
    let server = NameServer::start(&[("a.test", Say::Addresses(&[1], 600))]).await;
    let resolver = server.resolver(|_| {});
    tokio::select! {
        biased;
        answer = resolver.lookup("a.test") => panic!("{answer:?} came at once"),
        () = std::future::ready(()) => {}
    }
    assert_eq!(resolver.lookup("a.test").await, ips(&[1]));
    assert_eq!(server.asked(), 1);
}

#[tokio::test]
async fn both_families_come_in_turns() {
    let server = NameServer::start(&[("a.test", Say::Both)]).await;
    let addresses = server.resolver(|_| {}).lookup("a.test").await.unwrap();
    assert_eq!(addresses.iter().map(IpAddr::is_ipv4).collect::<Vec<_>>(), [true, false]);
}

#[tokio::test]
async fn names_that_do_not_exist_are_remembered_too() {
    let says = [("gone.test", Say::NoSuchName(600)), ("bare.test", Say::NoAddress)];
    let server = NameServer::start(&says).await;
    let resolver = server.resolver(|_| {});
    for (asked, name) in ["gone.test", "bare.test"].into_iter().enumerate() {
        for _ in 0..3 {
            assert_eq!(resolver.lookup(name).await, Err(DnsFailure::NotFound), "{name}");
        }
        assert_eq!(server.asked(), asked + 1, "{name}");
    }
}

#[tokio::test]
async fn failing_name_servers_are_temporary_and_given_a_rest() {
    let says = [("a.test", Say::ServFail), ("b.test", Say::Nothing)];
    let server = NameServer::start(&says).await;
    let brief = Duration::from_millis(100);
    let resolver = server.resolver(|settings| settings.try_timeout = brief);
    for name in ["a.test", "b.test"] {
        let first = resolver.lookup(name).await;
        assert!(matches!(first, Err(DnsFailure::Temporary(_))), "{name}: {first:?}");
        let asked = server.asked();
        assert_eq!(resolver.lookup(name).await, first, "{name}");
        assert_eq!(server.asked(), asked, "{name} is not asked for again at once");
    }
    server.now_says("a.test", Say::Addresses(&[1], 600));
    let resolver = server.resolver(|settings| settings.failure_ttl = Duration::ZERO);
    assert_eq!(resolver.lookup("a.test").await, ips(&[1]));
}

#[tokio::test]
async fn answers_in_use_are_refreshed_before_they_run_out() {
    let server = NameServer::start(&[("a.test", Say::Addresses(&[1], 0))]).await;
    let ttl = Duration::from_millis(1500);
    let resolver = server.resolver(|settings| (settings.min_ttl, settings.max_ttl) = (ttl, ttl));
    assert_eq!(resolver.lookup("a.test").await, ips(&[1]));
    server.now_says("a.test", Say::Addresses(&[2], 0));
    tokio::time::sleep(ttl * 85 / 100).await;
    assert_eq!(resolver.cached_answer("a.test"), Some(ips(&[1])), "nobody waits for the refresh");
    let deadline = Instant::now() + ttl;
    while resolver.cached_answer("a.test") != Some(ips(&[2])) {
        assert!(Instant::now() < deadline, "the refresh brings the new address");
        tokio::time::sleep(ttl / 50).await;
    }
    assert_eq!(server.asked(), 2);
    tokio::time::sleep(ttl).await;
    assert_eq!(resolver.cached_answer("a.test"), None, "nobody used it, so nobody asked");
    assert_eq!(server.asked(), 2);
}

#[tokio::test]
async fn some_hosts_need_no_name_server() {
    let server = NameServer::start(&[]).await;
    let resolver = server.resolver(|_| {});
    for (host, wanted) in [
        ("192.0.2.7", &["192.0.2.7"][..]),
        ("[2001:db8::1]", &["2001:db8::1"]),
        ("localhost", &["127.0.0.1", "::1"]),
        ("LOCALHOST.", &["127.0.0.1", "::1"]),
        ("app.localhost", &["127.0.0.1", "::1"]),
    ] {
        let wanted: Arc<[IpAddr]> = wanted.iter().map(|ip| ip.parse().unwrap()).collect();
        assert_eq!(resolver.cached_answer(host), Some(Ok(wanted)), "{host}");
    }
    for odd in ["", ".", "a..b", &"x".repeat(300)] {
        assert_eq!(resolver.lookup(odd).await, Err(DnsFailure::NotFound), "{odd:?}");
    }
    assert_eq!(server.asked(), 0);
}

#[tokio::test]
async fn the_system_can_be_asked_instead() {
    let settings = DnsSettings { servers: NameServers::SystemResolver, ..DnsSettings::default() };
    let resolver = Resolver::new(settings).unwrap();
    let nowhere = resolver.lookup("no-such-host.invalid").await;
    assert!(nowhere.is_err(), "{nowhere:?}");
    let (news, ttl) = resolver.upstream.look_up("localhost").await;
    assert!(news.unwrap().iter().all(IpAddr::is_loopback));
    assert_eq!(ttl, None);
}
