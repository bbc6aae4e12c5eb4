//! What can go wrong before a connection is secure?

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::Acceptor;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::sleep;
use tokio_rustls::{LazyConfigAcceptor, StartHandshake};

use super::{
    HostileAct, HostileRequest, Trouble, answers, drip, send, wait_for_the_caller_to_leave,
};

/// The key of all certificates here, which is no secret.
const KEY: &[u8] = include_bytes!("tls/key.der");
pub(super) const EXPIRED: &[u8] = include_bytes!("tls/expired.der");
pub(super) const WRONG_NAME: &[u8] = include_bytes!("tls/wrong_name.der");
pub(super) const SELF_SIGNED: &[u8] = include_bytes!("tls/self_signed.der");

/// The first byte of a record in which a client says hello.
const HANDSHAKE: u8 = 0x16;

/// How a client's hello is returned.
#[derive(Clone, Copy, Debug)]
pub(super) enum Greeting {
    /// It is not.
    Never,
    /// By the beginning of a long hello, a byte a second.
    Drip,
    /// By a reset.
    Reset,
    /// By an answer in plain text.
    Plain,
    /// Rightly, with this certificate.
    Show(&'static [u8]),
}

/// Whether the caller begins by agreeing on keys.
pub(in crate::server) async fn wants_keys(stream: &TcpStream) -> bool {
    let mut first = [0];
    matches!(stream.peek(&mut first).await, Ok(1)) && first == [HANDSHAKE]
}

/// Meets a caller who wants a secure connection, as the host that is asked for does.
pub(in crate::server) async fn converse(stream: TcpStream, suffix: &str) -> io::Result<()> {
    let start = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
    let name = start.client_hello().server_name().unwrap_or_default().to_owned();
    let greeting = match Trouble::of(&name, suffix).map(|trouble| trouble.act) {
        Some(HostileAct::Greet(greeting)) => greeting,
        // All other hosts are served without TLS only.
        _ => Greeting::Reset,
    };
    greet(greeting, start).await
}

async fn greet(greeting: Greeting, mut start: StartHandshake<TcpStream>) -> io::Result<()> {
    let io = &mut start.io;
    match greeting {
        Greeting::Never => wait_for_the_caller_to_leave(io).await.map(drop),
        Greeting::Drip => {
            // A record of 16 kB is announced, and begins like a hello.
            let begun = [HANDSHAKE, 3, 3, 0x40, 0, 2, 0, 0x3f, 0xfc];
            drip(io, &[&begun[..], &[3; 10_000]].concat()).await.map(drop)
        }
        Greeting::Reset => io.set_zero_linger(),
        Greeting::Plain => {
            let ask = HostileRequest { host: "", path: "/", nonce: 0 };
            send(io, &answers::plain(&ask)).await?;
            sleep(Duration::from_millis(100)).await;
            Ok(())
        }
        Greeting::Show(certificate) => show(certificate, start).await,
    }
}

/// Continues as a server with this certificate, for clients that accept it.
async fn show(certificate: &'static [u8], start: StartHandshake<TcpStream>) -> io::Result<()> {
    let mut stream = start.into_stream(Arc::new(server(certificate)?)).await?;
    let ask = HostileRequest { host: "", path: "/", nonce: 0 };
    stream.write_all(&answers::plain(&ask)).await?;
    stream.shutdown().await
}

fn server(certificate: &'static [u8]) -> io::Result<ServerConfig> {
    let key = PrivateKeyDer::try_from(KEY).map_err(io::Error::other)?;
    ServerConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .and_then(|config| {
            let config = config.with_no_client_auth();
            config.with_single_cert(vec![CertificateDer::from(certificate)], key)
        })
        .map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_certificate_goes_with_the_key() {
        for certificate in [EXPIRED, WRONG_NAME, SELF_SIGNED] {
            assert!(server(certificate).is_ok());
        }
    }
}
