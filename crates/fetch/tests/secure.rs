//! Is the server who it says it is, and what if it is not?
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests, helpers included")]

use std::net::SocketAddr;
use std::sync::Arc;

use crate::support::{config, keep_answering, serve};
use evercrawl_fetch::{
    Client, ConnectTo, Failure, FetchConfig, Fetched, Protocol, Request, TlsFailure,
};
use rcgen::{CertificateParams, CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody";

fn certificate(name: &str) -> CertifiedKey<KeyPair> {
    generate_simple_self_signed([name.to_owned()]).unwrap()
}

fn acceptor(own: &CertifiedKey<KeyPair>, protocols: &[&[u8]]) -> TlsAcceptor {
    let key = PrivateKeyDer::Pkcs8(own.signing_key.serialize_der().into());
    let mut server =
        ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)
            .unwrap();
    server.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    TlsAcceptor::from(Arc::new(server))
}

/// A server that shows `own` and answers every request.
async fn serve_tls(own: &CertifiedKey<KeyPair>) -> SocketAddr {
    let acceptor = acceptor(own, &[b"http/1.1"]);
    serve(move |peer, _| {
        let acceptor = acceptor.clone();
        async move {
            if let Ok(stream) = acceptor.accept(peer).await {
                keep_answering(stream, OK).await;
            }
        }
    })
    .await
}

/// Fetches `https://name/` from `address`, after `change` to the configuration.
async fn fetch_as(
    name: &str,
    address: SocketAddr,
    change: impl FnOnce(&mut FetchConfig),
) -> Fetched {
    let mut config = config();
    config.connect_to = vec![format!("::{address}").parse::<ConnectTo>().unwrap()];
    change(&mut config);
    let request = Request::new(&format!("https://{name}/")).unwrap();
    Client::new(config).unwrap().fetch(&request).await
}

fn trust(own: &CertifiedKey<KeyPair>) -> impl FnOnce(&mut FetchConfig) {
    let der = own.cert.der().to_vec();
    move |config| config.tls.extra_roots.push(der)
}

#[tokio::test]
async fn a_trusted_server_is_fetched_and_its_security_described() {
    let own = certificate("a.test");
    let fetched = fetch_as("a.test", serve_tls(&own).await, trust(&own)).await;
    let response = fetched.result.unwrap();
    assert_eq!((response.status, &*response.body.whole()), (200, &b"body"[..]));
    assert_eq!(response.head, &OK[..OK.len() - 4]);
    assert!(fetched.request_bytes.starts_with(b"GET / HTTP/1.1\r\nHost: a.test\r\n"));
    assert_eq!(fetched.bytes_on_wire, OK.len() as u64);
    assert!(!fetched.times.tls.is_zero());
    let tls = response.tls.unwrap();
    assert_eq!(tls.version, "tls/1.3");
    assert!(tls.cipher.starts_with("TLS_AES_"), "{}", tls.cipher);
    assert_eq!(tls.verify_error, None);
}

#[tokio::test]
async fn untrusted_wrongly_named_and_expired_servers_are_refused() {
    let own = certificate("a.test");
    let address = serve_tls(&own).await;
    let unknown = fetch_as("a.test", address, |_| {}).await.result.unwrap_err();
    assert!(matches!(unknown, Failure::Tls(TlsFailure::Certificate(_))), "{unknown:?}");
    assert_eq!(unknown.code(), "tls_certificate");

    let misnamed = fetch_as("b.test", address, trust(&own)).await.result.unwrap_err();
    assert!(misnamed.to_string().contains("b.test"), "{misnamed}");

    let key = KeyPair::generate().unwrap();
    let mut old = CertificateParams::new(["a.test".to_owned()]).unwrap();
    old.not_after = rcgen::date_time_ymd(2001, 1, 1);
    let own = CertifiedKey { cert: old.self_signed(&key).unwrap(), signing_key: key };
    let expired = fetch_as("a.test", serve_tls(&own).await, trust(&own)).await.result.unwrap_err();
    assert!(expired.to_string().contains("expired"), "{expired}");
}

#[tokio::test]
async fn invalid_certificates_can_be_accepted_and_their_fault_recorded() {
    let own = certificate("a.test");
    let address = serve_tls(&own).await;
    let accept = |config: &mut FetchConfig| config.tls.accept_invalid = true;
    let response = fetch_as("b.test", address, accept).await.result.unwrap();
    assert_eq!(response.body, "body");
    assert!(response.tls.unwrap().verify_error.is_some());

    let trusting = trust(&own);
    let both = |config: &mut FetchConfig| {
        accept(config);
        trusting(config);
    };
    let response = fetch_as("a.test", address, both).await.result.unwrap();
    assert_eq!(response.tls.unwrap().verify_error, None, "nothing is wrong with this one");
}

#[tokio::test]
async fn who_speaks_no_tls_is_a_failed_handshake() {
    for said in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b""] {
        let address = serve(move |mut peer, _| async move { peer.write_all(said).await.unwrap() });
        let failure = fetch_as("a.test", address.await, |_| {}).await.result.unwrap_err();
        assert!(matches!(failure, Failure::Tls(TlsFailure::Handshake(_))), "{failure:?}");
    }
}

#[tokio::test]
async fn a_server_that_hangs_up_without_goodbye_is_judged_by_its_framing() {
    for (said, whole) in [
        ("HTTP/1.1 200 OK\r\n\r\nbody", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody", false),
    ] {
        let own = certificate("a.test");
        let acceptor = acceptor(&own, &[]);
        let address = serve(move |peer, _| {
            let acceptor = acceptor.clone();
            async move {
                let mut stream = acceptor.accept(peer).await.unwrap();
                crate::support::read_head(&mut stream).await;
                stream.write_all(said.as_bytes()).await.unwrap();
                stream.flush().await.unwrap();
                stream.into_inner().0.shutdown().await.unwrap();
            }
        });
        let response = fetch_as("a.test", address.await, trust(&own)).await.result.unwrap();
        assert_eq!(response.body, "body", "{said:?}");
        assert_eq!(response.truncated.is_none(), whole, "{said:?}");
    }
}

#[tokio::test]
async fn secure_connections_are_reused_too() {
    let own = certificate("a.test");
    let address = serve_tls(&own).await;
    let mut config = config();
    config.connect_to = vec![format!("::{address}").parse().unwrap()];
    trust(&own)(&mut config);
    let client = Client::new(config).unwrap();
    let request = Request::new("https://a.test/").unwrap();
    for reused in [false, true, true] {
        let fetched = client.fetch(&request).await;
        assert_eq!(fetched.times.tls.is_zero(), reused);
        assert_eq!(fetched.result.unwrap().body, "body");
    }
}

mod http2 {
    use std::convert::Infallible;
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};

    use http_body_util::Full;
    use hyper::rt::{Executor, Read, ReadBufCursor, Write};
    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
    use tokio::net::TcpStream;
    use tokio_rustls::server::TlsStream;

    use super::*;

    /// Tokio's streams as hyper's server wants them.
    struct Io(TlsStream<TcpStream>);

    impl Read for Io {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            mut out: ReadBufCursor<'_>,
        ) -> Poll<io::Result<()>> {
            let mut bytes = [0; 4096];
            let most = out.remaining().min(bytes.len());
            let mut read = ReadBuf::new(&mut bytes[..most]);
            ready!(Pin::new(&mut self.0).poll_read(cx, &mut read))?;
            out.put_slice(read.filled());
            Poll::Ready(Ok(()))
        }
    }

    impl Write for Io {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.0).poll_write(cx, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(cx)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(cx)
        }
    }

    #[derive(Clone)]
    struct Spawn;

    impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Spawn {
        fn execute(&self, task: F) {
            tokio::spawn(task);
        }
    }

    async fn answer(
        request: hyper::Request<hyper::body::Incoming>,
    ) -> Result<hyper::Response<Full<bytes::Bytes>>, Infallible> {
        let body =
            format!("{} {}", request.uri(), request.headers()["user-agent"].to_str().unwrap());
        let response = hyper::Response::builder().header("x-a", "1").header("x-a", "2");
        Ok(response.body(Full::from(body)).unwrap())
    }

    async fn serve_http2(own: &CertifiedKey<KeyPair>) -> SocketAddr {
        let acceptor = acceptor(own, &[b"h2"]);
        serve(move |peer, _| {
            let acceptor = acceptor.clone();
            async move {
                let stream = acceptor.accept(peer).await.unwrap();
                let service = hyper::service::service_fn(answer);
                let server = hyper::server::conn::http2::Builder::new(Spawn);
                server.serve_connection(Io(stream), service).await.unwrap_or_default();
            }
        })
        .await
    }

    #[tokio::test]
    async fn http_2_is_spoken_when_wanted_and_its_heads_rebuilt() {
        let own = certificate("a.test");
        let mut config = config();
        config.http2 = true;
        config.connect_to = vec![format!("::{}", serve_http2(&own).await).parse().unwrap()];
        trust(&own)(&mut config);
        let client = Client::new(config).unwrap();
        let request = Request::new("https://a.test/p?q").unwrap();
        for reused in [false, true] {
            let fetched = client.fetch(&request).await;
            assert_eq!(fetched.times.connect.is_zero(), reused);
            assert!(fetched.bytes_on_wire > 0);
            let sent = "GET /p?q HTTP/1.1\r\nhost: a.test\r\nuser-agent: evercrawl/0.1 (+";
            assert!(fetched.request_bytes.starts_with(sent.as_bytes()));
            let response = fetched.result.unwrap();
            assert_eq!(response.protocol, Protocol::H2);
            let head = "HTTP/1.1 200 \r\nx-a: 1\r\nx-a: 2\r\n";
            assert!(response.head.starts_with(head.as_bytes()), "{:?}", response.head);
            assert!(response.head.ends_with(b"\r\n\r\n"));
            let body = "https://a.test/p?q evercrawl/0.1 (+https://example.org/bot)";
            assert_eq!(response.body, body);
        }
    }
}

/// Rules by which the certificates of some hosts may be invalid.
fn lenient_for(hosts: &str) -> std::sync::Arc<evercrawl_fetch::Access> {
    let invalid_certificates = vec![hosts.parse().unwrap()];
    let rules = evercrawl_fetch::AccessRules {
        invalid_certificates,
        ..evercrawl_fetch::AccessRules::default()
    };
    evercrawl_fetch::Access::new(rules)
}

#[tokio::test]
async fn invalid_certificates_can_be_accepted_for_some_hosts_alone() {
    let own = certificate("a.test");
    let address = serve_tls(&own).await;
    let lenient = |config: &mut FetchConfig| config.access = lenient_for("*.intranet.test");
    let accepted = fetch_as("b.intranet.test", address, lenient).await.result.unwrap();
    assert!(accepted.tls.unwrap().verify_error.is_some());
    let refused = fetch_as("b.test", address, lenient).await.result.unwrap_err();
    assert_eq!(refused.code(), "tls_certificate");
    assert!(refused.to_string().contains("its issuer is unknown"), "{refused}");
}

#[tokio::test]
async fn a_lenient_crawls_connection_serves_no_strict_one() {
    let own = certificate("a.test");
    let address = serve_tls(&own).await;
    let mut config = config();
    config.connect_to = vec![format!("::{address}").parse::<ConnectTo>().unwrap()];
    let client = Client::new(config).unwrap();
    let strict = Request::new("https://b.test/").unwrap();
    let lenient = strict.clone().with_access(lenient_for("b.test"));
    assert!(client.fetch(&lenient).await.result.is_ok());
    assert_eq!(client.fetch(&strict).await.result.unwrap_err().code(), "tls_certificate");
}

#[tokio::test]
async fn a_proxy_leads_to_tls_and_only_the_server_reads_the_request() {
    use crate::support::proxy::{Manner, TestProxy};
    let own = certificate("a.test");
    let server = serve_tls(&own).await;
    let manner = Manner { login: None, leads_to: server };
    let (http, socks) = (TestProxy::http(manner.clone()).await, TestProxy::socks(manner).await);
    for (proxy, scheme, asked) in
        [(http, "http", "CONNECT a.test:443"), (socks, "socks5", "SOCKS a.test:443")]
    {
        let trusting = trust(&own);
        let rule = evercrawl_fetch::ProxyRule {
            hosts: evercrawl_fetch::HostPattern::ALL,
            scheme: None,
            proxy: Some(Arc::new(format!("{scheme}://{}", proxy.address).parse().unwrap())),
        };
        let rules = evercrawl_fetch::AccessRules { proxies: vec![rule], ..Default::default() };
        let fetched = fetch_as("a.test", server, |config| {
            trusting(config);
            config.connect_to = Vec::new();
            config.access = evercrawl_fetch::Access::new(rules);
        });
        let fetched = fetched.await;
        assert!(fetched.request_bytes.starts_with(b"GET / HTTP/1.1\r\nHost: a.test\r\n"));
        assert_eq!(fetched.result.unwrap().tls.unwrap().version, "tls/1.3");
        assert_eq!(proxy.asked(), [asked]);
    }
}

#[test]
fn root_certificates_are_read_from_pem() {
    let own = certificate("a.test");
    let two = own.cert.pem() + &own.cert.pem();
    let der = own.cert.der().to_vec();
    assert_eq!(evercrawl_fetch::certificates_in_pem(two.as_bytes()), Ok(vec![der.clone(), der]));
    for (text, reason) in
        [("", "no certificate"), ("-----BEGIN CERTIFICATE-----\n!!\n", "cannot be read")]
    {
        let error = evercrawl_fetch::certificates_in_pem(text.as_bytes()).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}
