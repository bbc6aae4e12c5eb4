//! A proxy as others build it, HTTP or SOCKS5, that notes what it is asked for.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A proxy that is served as long as the test runs.
pub(crate) struct Proxy {
    address: SocketAddr,
    scheme: &'static str,
    shared: Arc<Shared>,
}

struct Shared {
    /// Where it leads whatever it is asked for; without it, to the address that it is asked for.
    leads_to: Option<SocketAddr>,
    /// `user:password` that it asks for.
    login: Option<&'static str>,
    is_broken: AtomicBool,
    asked: Mutex<Vec<String>>,
}

impl Proxy {
    /// An HTTP proxy.
    pub(crate) fn http(leads_to: Option<SocketAddr>) -> Self {
        Self::serve("http", leads_to, None)
    }

    /// A SOCKS5 proxy.
    pub(crate) fn socks(leads_to: Option<SocketAddr>, login: Option<&'static str>) -> Self {
        Self::serve("socks5", leads_to, login)
    }

    fn serve(
        scheme: &'static str,
        leads_to: Option<SocketAddr>,
        login: Option<&'static str>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (is_broken, asked) = (AtomicBool::new(false), Mutex::default());
        let shared = Arc::new(Shared { leads_to, login, is_broken, asked });
        let serving = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = serving.clone();
                std::thread::spawn(move || match scheme {
                    "http" => drop(shared.http(&stream)),
                    _ => drop(shared.socks(&stream)),
                });
            }
        });
        Proxy { address, scheme, shared }
    }

    /// As it is given to `--proxy`.
    pub(crate) fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// What it was asked for, as `CONNECT host:port`, `GET http://...` or `SOCKS host:port`.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// Closes every connection at once from now on, or no longer.
    pub(crate) fn set_broken(&self, is_broken: bool) {
        self.shared.is_broken.store(is_broken, Ordering::SeqCst);
    }
}

impl Shared {
    fn http(&self, peer: &TcpStream) -> std::io::Result<()> {
        if self.is_broken.load(Ordering::SeqCst) {
            return Ok(());
        }
        // Byte by byte: what follows the head of a CONNECT is the server's.
        let head = read_head(peer)?;
        let line = head.lines().next().unwrap_or_default();
        let mut words = line.split(' ');
        let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(()) };
        self.note(format!("{method} {target}"));
        let server = self.connect(target)?;
        if method == "CONNECT" {
            (&*peer).write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
        } else {
            // The test's own servers read paths alone.
            let rest = target.split_once("://").map_or(target, |(_, rest)| rest);
            let path = rest.find('/').map_or("/", |at| &rest[at..]);
            (&server).write_all(head.replacen(target, path, 1).as_bytes())?;
            let mut lines = BufReader::new(peer.try_clone()?);
            return self.forward(peer, &server, &mut lines);
        }
        pass_on(peer, &server)
    }

    /// Later requests on the same connection.
    fn forward(
        &self,
        peer: &TcpStream,
        server: &TcpStream,
        lines: &mut impl BufRead,
    ) -> std::io::Result<()> {
        let (from, to) = (server.try_clone()?, peer.try_clone()?);
        std::thread::spawn(move || copy(&from, &to));
        let mut line = String::new();
        while lines.read_line(&mut line)? > 0 {
            if let Some(target) = line.strip_prefix("GET ").and_then(|rest| rest.split(' ').next())
            {
                self.note(format!("GET {target}"));
                let rest = target.split_once("://").map_or(target, |(_, rest)| rest);
                let path = rest.find('/').map_or("/", |at| &rest[at..]).to_owned();
                line = format!("GET {path} HTTP/1.1\r\n");
            }
            { server }.write_all(line.as_bytes())?;
            line.clear();
        }
        server.shutdown(Shutdown::Both)
    }

    fn socks(&self, mut peer: &TcpStream) -> std::io::Result<()> {
        if self.is_broken.load(Ordering::SeqCst) {
            return Ok(());
        }
        let [_, methods] = read(peer)?;
        for _ in 0..methods {
            let [_] = read(peer)?;
        }
        peer.write_all(&[5, if self.login.is_some() { 2 } else { 0 }])?;
        if let Some(login) = self.login {
            let [_] = read(peer)?;
            let (user, password) = (read_text(peer)?, read_text(peer)?);
            let right = format!("{user}:{password}") == login;
            peer.write_all(&[1, u8::from(!right)])?;
            if !right {
                return Ok(());
            }
        }
        let [_, _, _, kind] = read(peer)?;
        let host = match kind {
            1 => Ipv4Addr::from(read::<4>(peer)?).to_string(),
            _ => read_text(peer)?,
        };
        let target = format!("{host}:{}", u16::from_be_bytes(read(peer)?));
        self.note(format!("SOCKS {target}"));
        let server = self.connect(&target)?;
        peer.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?;
        pass_on(peer, &server)
    }

    fn note(&self, what: String) {
        self.asked.lock().unwrap().push(what);
    }

    fn connect(&self, target: &str) -> std::io::Result<TcpStream> {
        match self.leads_to {
            Some(address) => TcpStream::connect(address),
            None => TcpStream::connect(target),
        }
    }
}

fn read_head(mut peer: &TcpStream) -> std::io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        peer.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(String::from_utf8(head).unwrap())
}

fn read<const N: usize>(mut peer: &TcpStream) -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    peer.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_text(mut peer: &TcpStream) -> std::io::Result<String> {
    let [length] = read(peer)?;
    let mut text = vec![0; length.into()];
    peer.read_exact(&mut text)?;
    Ok(String::from_utf8(text).unwrap())
}

/// Passes bytes on both ways until one side ends.
fn pass_on(peer: &TcpStream, server: &TcpStream) -> std::io::Result<()> {
    let (from, to) = (server.try_clone()?, peer.try_clone()?);
    std::thread::spawn(move || copy(&from, &to));
    copy(peer, server);
    Ok(())
}

fn copy(mut from: &TcpStream, mut to: &TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
