//! Does a proxy get us where the URL says, and never where we must not go?
#![allow(clippy::unwrap_used, reason = "tests, helpers included")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use evercrawl_fetch::{
    Access, AccessRules, AllowPrivate, Client, Failure, FetchConfig, Fetched, HostPattern, Proxy,
    ProxyRule, Request,
};

use tokio::io::AsyncWriteExt;

use crate::support::proxy::{Manner, TestProxy};
use crate::support::{config, keep_answering, serve, serve_once, stall};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody";

/// Rules by which everything goes through a proxy.
fn through(proxy: Proxy) -> Arc<Access> {
    let rule = ProxyRule { hosts: HostPattern::ALL, scheme: None, proxy: Some(Arc::new(proxy)) };
    Access::new(AccessRules { proxies: vec![rule], ..AccessRules::default() })
}

fn proxy(scheme: &str, address: SocketAddr) -> Proxy {
    format!("{scheme}://{address}").parse().unwrap()
}

/// A client that may go to the public internet alone, and only by these rules.
fn client(access: Arc<Access>, change: impl FnOnce(&mut FetchConfig)) -> Client {
    let mut config = FetchConfig { access, allow_private: AllowPrivate::none(), ..config() };
    change(&mut config);
    Client::new(config).unwrap()
}

async fn fetch(client: &Client, url: &str) -> Fetched {
    client.fetch(&Request::new(url).unwrap()).await
}

async fn server() -> SocketAddr {
    serve(|peer, _| keep_answering(peer, OK)).await
}

#[tokio::test]
async fn an_http_proxy_forwards_plain_requests_and_looks_names_up_itself() {
    let proxied =
        TestProxy::http(Manner { login: Some("Basic bWU6c2VjcmV0"), leads_to: server().await })
            .await;
    let own = proxy("http", proxied.address).with_login("me:secret").unwrap();
    let client = client(through(own), |_| {});
    for _ in 0..2 {
        let fetched = fetch(&client, "http://a.test:81/x?y").await;
        assert_eq!(fetched.result.unwrap().body, "body");
        assert_eq!(fetched.ip, None, "only the proxy knows the address");
        let sent = String::from_utf8(fetched.request_bytes.to_vec()).unwrap();
        assert!(
            sent.starts_with("GET http://a.test:81/x?y HTTP/1.1\r\nHost: a.test:81\r\n"),
            "{sent}"
        );
        assert!(sent.to_ascii_lowercase().contains("proxy-authorization: ***\r\n"), "{sent}");
        assert!(!sent.contains("bWU6"), "{sent}");
    }
    assert_eq!(proxied.asked()[0], "GET http://a.test:81/x?y");
    let request = Request::new("http://a.test/").unwrap();
    assert_eq!(client.locate(&request).await, Ok(None));
    assert_eq!(client.proxy_of(&request), Some(format!("http://{}", proxied.address)));
}

#[tokio::test]
async fn a_socks_proxy_is_given_the_name_and_the_password() {
    for (scheme, login) in [("socks5", None), ("socks5h", Some("me:secret"))] {
        let proxied = TestProxy::socks(Manner { login, leads_to: server().await }).await;
        let mut own = proxy(scheme, proxied.address);
        if let Some(login) = login {
            own = own.with_login(login).unwrap();
        }
        let client = client(through(own), |_| {});
        for url in ["http://a.test/", "http://a.test/", "http://b.test:81/"] {
            let fetched = fetch(&client, url).await;
            assert_eq!(fetched.result.unwrap().body, "body");
            assert!(fetched.request_bytes.starts_with(b"GET / HTTP/1.1\r\nHost: "));
        }
        assert_eq!(proxied.asked(), ["SOCKS a.test:80", "SOCKS b.test:81"], "connections are kept");
    }
}

#[tokio::test]
async fn private_names_and_addresses_are_refused_before_the_proxy_is_asked() {
    let proxied = TestProxy::socks(Manner { login: None, leads_to: server().await }).await;
    let nowhere = client(through(proxy("socks5", proxied.address)), |_| {});
    for url in [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://[::1]/",
        "http://10.0.0.1/",
        "http://169.254.169.254/",
        "http://localhost/",
        "http://a.localhost./",
        "http://intranet/",
        "http://metadata.google.internal/",
        "http://printer.local/",
    ] {
        let failure = fetch(&nowhere, url).await.result.unwrap_err();
        assert_eq!(failure.code(), "private_address", "{url}: {failure}");
        assert!(nowhere.locate(&Request::new(url).unwrap()).await.is_err(), "{url}");
    }
    assert_eq!(proxied.asked(), [""; 0]);
    let allowing = client(through(proxy("socks5", proxied.address)), |config| {
        let names = vec![".intranet".parse().unwrap()];
        let networks = vec!["10.0.0.0/8".parse().unwrap()];
        config.allow_private = AllowPrivate::networks(networks).with_names(names);
    });
    for url in ["http://10.0.0.1/", "http://intranet/", "http://wiki.intranet/"] {
        assert_eq!(fetch(&allowing, url).await.result.unwrap().body, "body", "{url}");
    }
    let asked = ["SOCKS 10.0.0.1:80", "SOCKS intranet:80", "SOCKS wiki.intranet:80"];
    assert_eq!(proxied.asked(), asked);
    let located = allowing.locate(&Request::new("http://10.0.0.1/").unwrap()).await;
    assert_eq!(located, Ok(Some([10, 0, 0, 1].into())), "an address in a URL is paced as ever");
}

#[tokio::test]
async fn redirects_through_a_proxy_are_judged_too() {
    let location = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n";
    let server = serve_once(location).await;
    let proxied = TestProxy::http(Manner { login: None, leads_to: server }).await;
    let client = client(through(proxy("http", proxied.address)), |_| {});
    let hops = client.fetch_following(&Request::new("http://a.test/").unwrap(), 5).await;
    assert_eq!(hops.len(), 2);
    assert_eq!(hops[1].fetched.result.as_ref().unwrap_err().code(), "private_address");
    assert_eq!(proxied.asked().len(), 1);
}

#[tokio::test]
async fn a_failing_proxy_is_named_and_a_failing_server_is_not_the_proxys_fault() {
    let dead = SocketAddr::from(([127, 0, 0, 1], 1));
    let garbage = serve(|mut peer, _| async move {
        peer.write_all(b"SSH-2.0-OpenSSH_9\r\n").await.unwrap();
        stall(peer).await;
    });
    let garbage = garbage.await;
    let locked = Manner { login: Some("Basic x"), leads_to: dead };
    let (http, socks) = (TestProxy::http(locked.clone()).await, TestProxy::socks(locked).await);
    let open = TestProxy::socks(Manner { login: None, leads_to: dead }).await.address;
    for (scheme, address, url, words) in [
        ("http", dead, "http://a.test/", "refused the connection"),
        ("socks5", dead, "https://a.test/", "refused the connection"),
        ("http", garbage, "https://a.test/", "does not speak the protocol of its URL"),
        ("socks5", garbage, "http://a.test/", "its answer is not SOCKS5"),
        ("http", http.address, "http://a.test/", "asks for a user name and password"),
        ("http", http.address, "https://a.test/", "asks for a user name and password"),
        ("socks5", socks.address, "http://a.test/", "asks for a user name and password"),
        ("socks5", open, "http://code2.test/", "does not lead to code2.test:80: not allowed"),
    ] {
        let client = client(through(proxy(scheme, address)), |_| {});
        let failure = fetch(&client, url).await.result.unwrap_err();
        assert!(matches!(failure, Failure::Proxy(_)), "{scheme} {url}: {failure:?}");
        let said = failure.to_string();
        assert!(said.starts_with(&format!("the proxy {scheme}://{address} ")), "{said}");
        assert!(said.contains(words), "{said}");
        let for_all = matches!(&failure, Failure::Proxy(it) if it.is_for_all_hosts());
        assert_eq!(for_all, !url.contains("code2"), "{said}");
    }
    for (url, code) in [
        ("http://code5.test/", "connect_refused"),
        ("http://code4.test/", "connect_unreachable"),
        ("http://code1.test/", "connect_unreachable"),
    ] {
        let client = client(through(proxy("socks5", open)), |_| {});
        assert_eq!(fetch(&client, url).await.result.unwrap_err().code(), code, "{url}");
    }
}

#[tokio::test]
async fn an_error_page_of_the_proxy_is_not_the_servers_answer() {
    for (header, is_own) in [
        ("Proxy-Status: squid; error=dns_error", true),
        ("X-Squid-Error: ERR_CONNECT_FAIL 111", true),
        ("Proxy-Status: squid; received-status=503", false),
        ("Server: a", false),
    ] {
        let text = format!("HTTP/1.1 503 No\r\n{header}\r\nContent-Length: 0\r\n\r\n");
        let address = serve_once(text).await;
        let client = client(through(proxy("http", address)), |_| {});
        let result = fetch(&client, "http://a.test/").await.result;
        match is_own {
            true => assert_eq!(result.unwrap_err().code(), "connect_unreachable", "{header}"),
            false => assert_eq!(result.unwrap().status, 503, "{header}"),
        }
    }
}

#[tokio::test]
async fn a_silent_proxy_does_not_hold_a_request_for_ever() {
    let silent = serve(|peer, _| stall(peer)).await;
    for (scheme, code) in [("socks5", "proxy"), ("http", "timeout_connect")] {
        let client = client(through(proxy(scheme, silent)), |config| {
            config.limits.connect = Duration::from_millis(100);
        });
        let failure = fetch(&client, "https://a.test/").await.result.unwrap_err();
        assert_eq!(failure.code(), code, "{scheme}: {failure}");
    }
}

#[tokio::test]
async fn a_connection_through_a_proxy_serves_no_crawl_without_it() {
    let server = server().await;
    let proxied = TestProxy::http(Manner { login: None, leads_to: server }).await;
    let access = through(proxy("http", proxied.address));
    let client = client(Access::plain(), |config| {
        config.allow_private = AllowPrivate::loopback();
        config.connect_to = vec![format!("::{server}").parse().unwrap()];
    });
    let direct = Request::new("http://a.test/").unwrap();
    let led = direct.clone().with_access(access);
    for (request, asked) in [(&direct, 0), (&led, 1), (&direct, 1), (&led, 2)] {
        client.fetch(request).await.result.unwrap();
        assert_eq!(proxied.asked().len().min(2), asked.min(2).min(proxied.asked().len()));
        assert_eq!(proxied.asked().is_empty(), asked == 0);
    }
    let sent = client.fetch(&direct).await.request_bytes;
    assert!(sent.starts_with(b"GET / HTTP/1.1"), "no request in the form for proxies");
}
