//! A proxy as others build it: HTTP or SOCKS5, with or without a password, that notes what it is asked for.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;

use super::{read_head, serve};

/// A proxy, and what it was asked for: `CONNECT host:port`, `GET http://...` or `SOCKS name:port`.
#[derive(Clone)]
pub(crate) struct TestProxy {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

/// What a proxy wants to know of its users, and where it leads whatever it is asked for.
#[derive(Clone)]
pub(crate) struct Manner {
    pub(crate) login: Option<&'static str>,
    pub(crate) leads_to: SocketAddr,
}

impl TestProxy {
    pub(crate) async fn http(manner: Manner) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        let address = serve(move |peer, _| {
            let (log, manner) = (log.clone(), manner.clone());
            async move { drop(http(peer, manner, &log).await) }
        });
        TestProxy { address: address.await, asked }
    }

    pub(crate) async fn socks(manner: Manner) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        let address = serve(move |peer, _| {
            let (log, manner) = (log.clone(), manner.clone());
            async move { drop(socks(peer, manner, &log).await) }
        });
        TestProxy { address: address.await, asked }
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

type Log = Mutex<Vec<String>>;

async fn http(mut peer: TcpStream, manner: Manner, log: &Log) -> std::io::Result<()> {
    loop {
        let head = read_head(&mut peer).await;
        if head.is_empty() {
            return Ok(());
        }
        let text = String::from_utf8(head.clone()).unwrap();
        let line = text.lines().next().unwrap().to_owned();
        log.lock().unwrap().push(line.rsplit_once(' ').unwrap().0.to_owned());
        let login = text.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("proxy-authorization").then(|| value.to_owned())
        });
        if manner.login.is_some() && login.as_deref() != manner.login {
            peer.write_all(b"HTTP/1.1 407 Who?\r\nContent-Length: 0\r\n\r\n").await?;
            continue;
        }
        let mut server = TcpStream::connect(manner.leads_to).await?;
        if line.starts_with("CONNECT ") {
            peer.write_all(b"HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n").await?;
        } else {
            server.write_all(&head).await?;
        }
        copy_bidirectional(&mut peer, &mut server).await?;
    }
}

async fn socks(mut peer: TcpStream, manner: Manner, log: &Log) -> std::io::Result<()> {
    assert_eq!(peer.read_u8().await?, 5);
    let mut methods = vec![0; usize::from(peer.read_u8().await?)];
    peer.read_exact(&mut methods).await?;
    match manner.login {
        None => peer.write_all(&[5, 0]).await?,
        Some(_) if !methods.contains(&2) => return peer.write_all(&[5, 0xff]).await,
        Some(login) => {
            peer.write_all(&[5, 2]).await?;
            assert_eq!(peer.read_u8().await?, 1);
            let (user, password) = (read_text(&mut peer).await?, read_text(&mut peer).await?);
            let right = format!("{user}:{password}") == login;
            peer.write_all(&[1, u8::from(!right)]).await?;
            if !right {
                return Ok(());
            }
        }
    }
    let mut request = [0; 4];
    peer.read_exact(&mut request).await?;
    assert_eq!(request[..3], [5, 1, 0]);
    let host = match request[3] {
        1 => std::net::Ipv4Addr::from_bits(peer.read_u32().await?).to_string(),
        3 => read_text(&mut peer).await?,
        4 => std::net::Ipv6Addr::from_bits(peer.read_u128().await?).to_string(),
        other => panic!("address type {other}"),
    };
    let port = peer.read_u16().await?;
    log.lock().unwrap().push(format!("SOCKS {host}:{port}"));
    // What it cannot reach, it says by a code in the name.
    if let Some(code) = host.strip_prefix("code") {
        let code = code.split('.').next().unwrap().parse().unwrap();
        return peer.write_all(&[5, code, 0, 1, 0, 0, 0, 0, 0, 0]).await;
    }
    let mut server = TcpStream::connect(manner.leads_to).await?;
    peer.write_all(&[5, 0, 0, 3, 3, b'a', b'b', b'c', 0, 80]).await?;
    copy_bidirectional(&mut peer, &mut server).await.map(drop)
}

async fn read_text(peer: &mut TcpStream) -> std::io::Result<String> {
    let mut text = vec![0; usize::from(peer.read_u8().await?)];
    peer.read_exact(&mut text).await?;
    Ok(String::from_utf8(text).unwrap())
}
