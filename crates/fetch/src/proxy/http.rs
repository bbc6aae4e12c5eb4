//! How does an HTTP proxy lead to a server? By CONNECT (RFC 9110, 9.3.6).

use hyper::header::HeaderValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{LeadTrouble, ProxyTarget};
use crate::failure::{ConnectFailure, ProxyTrouble};

/// The most bytes of a proxy's answer.
const MOST_HEAD: usize = 16 * 1024;

/// Has the proxy connect to `target`.
pub(super) async fn connect(
    tcp: &mut TcpStream,
    target: ProxyTarget<'_>,
    authorization: Option<&HeaderValue>,
) -> Result<(), LeadTrouble> {
    let ProxyTarget { host, port } = target;
    let mut request =
        format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n").into_bytes();
    if let Some(value) = authorization {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(value.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    tcp.write_all(&request).await?;
    let head = read_head(tcp).await?;
    judge(&head, target)
}

/// Reads to the blank line that ends a head, and no further: what follows is the server's.
async fn read_head(tcp: &mut TcpStream) -> Result<Vec<u8>, LeadTrouble> {
    let mut head = Vec::with_capacity(256);
    while !(head.ends_with(b"\r\n\r\n") || head.ends_with(b"\n\n")) {
        head.push(tcp.read_u8().await?);
        let shown = &head[..head.len().min(5)];
        if !b"HTTP/".starts_with(shown) || head.len() > MOST_HEAD {
            return Err(ProxyTrouble::Protocol("its answer is not HTTP".to_owned()).into());
        }
    }
    Ok(head)
}

/// What an answer to CONNECT means. A gateway's error says that the server could not be reached.
fn judge(head: &[u8], target: ProxyTarget<'_>) -> Result<(), LeadTrouble> {
    let line = head.split(|&byte| byte == b'\r' || byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let (_, status) = line.split_once(' ').unwrap_or_default();
    match status.get(..3).and_then(|code| code.parse().ok()) {
        Some(200..=299) => Ok(()),
        Some(407) => Err(ProxyTrouble::Login.into()),
        Some(500 | 502..=504) => Err(LeadTrouble::Server(ConnectFailure::Unreachable)),
        Some(300..=599u16) => {
            let (target, answer) = (format!("{}:{}", target.host, target.port), short(status));
            Err(ProxyTrouble::Refused { target, answer }.into())
        }
        _ => Err(ProxyTrouble::Protocol(format!("it answered `{}`", short(&line))).into()),
    }
}

/// What a proxy says, as far as a message needs it.
fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_the_proxys_or_the_servers_fault() {
        let target = ProxyTarget { host: "a.test", port: 443 };
        for (head, want) in [
            ("HTTP/1.1 200 Connection established\r\n\r\n", "Ok(())"),
            ("HTTP/1.0 200 OK\n\n", "Ok(())"),
            ("HTTP/1.1 407 Who are you?\r\n\r\n", "Err(Proxy(Login))"),
            ("HTTP/1.1 502 Bad Gateway\r\n\r\n", "Err(Server(Unreachable))"),
            ("HTTP/1.1 504 Late\r\n\r\n", "Err(Server(Unreachable))"),
            (
                "HTTP/1.1 403 Forbidden\r\n\r\n",
                "Err(Proxy(Refused { target: \"a.test:443\", answer: \"403 Forbidden\" }))",
            ),
            (
                "HTTP/1.1 100 Continue\r\n\r\n",
                "Err(Proxy(Protocol(\"it answered `HTTP/1.1 100 Continue`\")))",
            ),
            ("HTTP/1.1\r\n\r\n", "Err(Proxy(Protocol(\"it answered `HTTP/1.1`\")))"),
        ] {
            assert_eq!(format!("{:?}", judge(head.as_bytes(), target)), want, "{head:?}");
        }
    }
}
