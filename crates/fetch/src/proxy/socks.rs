//! How does a SOCKS5 proxy lead to a server? RFC 1928, with user name and password by RFC 1929.

use std::net::IpAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{LeadTrouble, Login, ProxyTarget};
use crate::addr::literal_address;
use crate::failure::{ConnectFailure, ProxyTrouble};

const VERSION: u8 = 5;
const NO_LOGIN: u8 = 0;
const PASSWORD: u8 = 2;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;

/// Has the proxy connect to `target`. It looks up names itself.
pub(super) async fn connect(
    tcp: &mut TcpStream,
    target: ProxyTarget<'_>,
) -> Result<(), LeadTrouble> {
    let request = request(target)?;
    tcp.write_all(&request).await?;
    let [version, reply, _, kind] = read(tcp).await?;
    check_version(version)?;
    judge(reply, target)?;
    // The address that it connects from, which is of no use.
    let length = match kind {
        1 => 4,
        4 => 16,
        3 => usize::from(tcp.read_u8().await?),
        _ => return Err(protocol("its reply has an unknown type of address")),
    };
    let mut address = [0; 255 + 2];
    tcp.read_exact(&mut address[..length + 2]).await?;
    Ok(())
}

/// Agrees on how the user is known.
pub(super) async fn greet(tcp: &mut TcpStream, login: Option<&Login>) -> Result<(), LeadTrouble> {
    let methods: &[u8] =
        if login.is_some() { &[VERSION, 2, NO_LOGIN, PASSWORD] } else { &[VERSION, 1, NO_LOGIN] };
    tcp.write_all(methods).await?;
    let [version, method] = read(tcp).await?;
    check_version(version)?;
    match (method, login) {
        (NO_LOGIN, _) => Ok(()),
        (PASSWORD, Some(login)) => log_in(tcp, login).await,
        (NO_METHOD, _) => Err(ProxyTrouble::Login.into()),
        _ => Err(protocol("it asks for a way to log in that was not offered")),
    }
}

async fn log_in(tcp: &mut TcpStream, login: &Login) -> Result<(), LeadTrouble> {
    let mut message = vec![1];
    for text in [&login.user, &login.password] {
        message.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
        message.extend_from_slice(text.as_bytes());
    }
    tcp.write_all(&message).await?;
    let [_, status] = read(tcp).await?;
    if status == 0 { Ok(()) } else { Err(ProxyTrouble::Login.into()) }
}

fn request(target: ProxyTarget<'_>) -> Result<Vec<u8>, LeadTrouble> {
    let mut request = vec![VERSION, CONNECT, 0];
    match literal_address(target.host) {
        Some(IpAddr::V4(ip)) => {
            request.push(1);
            request.extend_from_slice(&ip.octets());
        }
        Some(IpAddr::V6(ip)) => {
            request.push(4);
            request.extend_from_slice(&ip.octets());
        }
        None => {
            let name = target.host.trim_end_matches('.');
            let length =
                u8::try_from(name.len()).map_err(|_| refused(target, "the name is too long"))?;
            request.extend_from_slice(&[3, length]);
            request.extend_from_slice(name.as_bytes());
        }
    }
    request.extend_from_slice(&target.port.to_be_bytes());
    Ok(request)
}

/// What a reply means. Most say that the server could not be reached.
fn judge(reply: u8, target: ProxyTarget<'_>) -> Result<(), LeadTrouble> {
    match reply {
        0 => Ok(()),
        2 => Err(refused(target, "not allowed by its rules")),
        1 | 3 | 4 | 6 => Err(LeadTrouble::Server(ConnectFailure::Unreachable)),
        5 => Err(LeadTrouble::Server(ConnectFailure::Refused)),
        7 | 8 => Err(refused(target, "not supported")),
        other => Err(protocol(&format!("it replied with the unknown code {other}"))),
    }
}

fn check_version(version: u8) -> Result<(), LeadTrouble> {
    if version == VERSION { Ok(()) } else { Err(protocol("its answer is not SOCKS5")) }
}

fn refused(target: ProxyTarget<'_>, answer: &str) -> LeadTrouble {
    let target = format!("{}:{}", target.host, target.port);
    ProxyTrouble::Refused { target, answer: answer.to_owned() }.into()
}

fn protocol(what: &str) -> LeadTrouble {
    ProxyTrouble::Protocol(what.to_owned()).into()
}

async fn read<const N: usize>(tcp: &mut TcpStream) -> Result<[u8; N], LeadTrouble> {
    let mut bytes = [0; N];
    tcp.read_exact(&mut bytes).await?;
    Ok(bytes)
}
