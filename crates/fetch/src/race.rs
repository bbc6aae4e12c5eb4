//! Which of a host's addresses answers first? Happy eyeballs (RFC 8305): the families take turns, each attempt has a
//! quarter of a second before the next one begins beside it.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The most addresses of one host that are tried.
const MOST_ATTEMPTS: usize = 4;
/// How long an attempt has before the next one begins.
const STAGGER: Duration = Duration::from_millis(250);

/// How a race went wrong.
pub(crate) enum LostRace {
    /// Every address refused; this is what the last one said.
    Refused(SocketAddr, io::Error),
    /// The time is over.
    Late,
}

/// Whether this machine has a route to the public IPv6 internet. No packet is sent to find out.
pub(crate) fn has_ipv6() -> bool {
    let probe = UdpSocket::bind("[::]:0");
    probe.is_ok_and(|socket| socket.connect("[2001:4860:4860::8888]:53").is_ok())
}

/// `addresses` in the order in which they are tried: by turns of the families, and IPv6 first where that is preferred.
pub(crate) fn in_turns(addresses: impl Iterator<Item = IpAddr>, ipv6_first: bool) -> Vec<IpAddr> {
    let (first, second): (Vec<_>, Vec<_>) =
        addresses.partition(|address| address.is_ipv6() == ipv6_first);
    let longer = first.len().max(second.len());
    let turns = (0..longer).flat_map(|n| [first.get(n), second.get(n)]).flatten();
    turns.copied().take(MOST_ATTEMPTS).collect()
}

/// Connects to the first of `peers` that answers.
pub(crate) async fn connect(
    peers: &[SocketAddr],
    deadline: Instant,
) -> Result<(TcpStream, SocketAddr), LostRace> {
    // Most hosts have one address, and need no race.
    if let [peer] = peers {
        let connected = tokio::time::timeout_at(deadline, TcpStream::connect(peer)).await;
        return match connected {
            Ok(Ok(tcp)) => Ok((tcp, *peer)),
            Ok(Err(error)) => Err(LostRace::Refused(*peer, error)),
            Err(_) => Err(LostRace::Late),
        };
    }
    let (mut attempts, mut waiting) = (JoinSet::new(), peers.iter().copied());
    let mut lost = LostRace::Late;
    let mut next_at = Instant::now();
    let mut more = true;
    loop {
        if more && (attempts.is_empty() || Instant::now() >= next_at) {
            match waiting.next() {
                Some(peer) => {
                    attempts.spawn(async move { (peer, TcpStream::connect(peer).await) });
                    next_at = Instant::now() + STAGGER;
                }
                None => more = false,
            }
        }
        let wake = if more { next_at.min(deadline) } else { deadline };
        match tokio::time::timeout_at(wake, attempts.join_next()).await {
            Ok(Some(Ok((peer, Ok(tcp))))) => return Ok((tcp, peer)),
            Ok(Some(Ok((peer, Err(error))))) => {
                lost = LostRace::Refused(peer, error);
                next_at = Instant::now();
            }
            Ok(Some(Err(_))) => {}
            Ok(None) if !more => return Err(lost),
            Ok(None) => {}
            Err(_) if Instant::now() >= deadline => return Err(LostRace::Late),
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_take_turns() {
        let addresses = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "::1", "::2"];
        let parsed = || addresses.iter().map(|text| text.parse().unwrap());
        let texts = |six| -> Vec<String> {
            in_turns(parsed(), six).iter().map(ToString::to_string).collect()
        };
        assert_eq!(texts(false), ["10.0.0.1", "::1", "10.0.0.2", "::2"]);
        assert_eq!(texts(true), ["::1", "10.0.0.1", "::2", "10.0.0.2"]);
    }
}
