//! Why did a visit fail, in detail? An outcome names the kind of failure, a cause what exactly went wrong.

/// What exactly went wrong with a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The host's name does not exist, or has no address.
    DnsNotFound,
    /// The name servers failed or did not answer.
    DnsTemporary,
    /// Nothing listens at the address.
    ConnectRefused,
    /// No route leads to the address.
    ConnectUnreachable,
    /// The connection was reset before it was open.
    ConnectReset,
    /// This machine could not open a connection.
    ConnectLocal,
    /// The server's certificate is not valid.
    TlsCertificate,
    /// The TLS handshake failed.
    TlsHandshake,
    /// Looking up the name took too long.
    TimeoutDns,
    /// Opening the connection took too long.
    TimeoutConnect,
    /// The TLS handshake took too long.
    TimeoutTls,
    /// The head of the response did not come in time.
    TimeoutHead,
    /// The fetch as a whole took too long.
    TimeoutTotal,
    /// The address is not public.
    PrivateAddress,
    /// The connection ended before the head of the response was complete.
    Disconnected,
    /// The head of the response is too large.
    HeadTooLarge,
    /// The server answered, but not with HTTP/1 or HTTP/2.
    NotHttp,
    /// The head of the response breaks the rules of HTTP.
    BadHead,
    /// A status that no server may send: below 200 where a final answer is due, or above 599.
    BadStatus,
    /// A 304, though the request had no validators.
    Unasked304,
    /// The body is shorter than its declared length, or the connection ended before its last chunk.
    CutShort,
    /// The connection was reset within the body.
    CutReset,
    /// The body did not come in time.
    CutTime,
    /// A chunk of the body is malformed.
    CutChunk,
    /// The body ends or breaks within its content coding (gzip, deflate, br, zstd).
    CutCoding,
    /// A 206 with a part of the page, though no part was asked for.
    CutPartial,
    /// The proxy failed, so the host was not asked.
    Proxy,
}

impl Cause {
    /// All causes, ordered by number.
    pub const ALL: [Cause; 27] = [
        Cause::DnsNotFound,
        Cause::DnsTemporary,
        Cause::ConnectRefused,
        Cause::ConnectUnreachable,
        Cause::ConnectReset,
        Cause::ConnectLocal,
        Cause::TlsCertificate,
        Cause::TlsHandshake,
        Cause::TimeoutDns,
        Cause::TimeoutConnect,
        Cause::TimeoutTls,
        Cause::TimeoutHead,
        Cause::TimeoutTotal,
        Cause::PrivateAddress,
        Cause::Disconnected,
        Cause::HeadTooLarge,
        Cause::NotHttp,
        Cause::BadHead,
        Cause::BadStatus,
        Cause::Unasked304,
        Cause::CutShort,
        Cause::CutReset,
        Cause::CutTime,
        Cause::CutChunk,
        Cause::CutCoding,
        Cause::CutPartial,
        Cause::Proxy,
    ];

    /// The cause's code, as users see it.
    pub const fn code(self) -> &'static str {
        match self {
            Cause::DnsNotFound => "dns_not_found",
            Cause::DnsTemporary => "dns_temporary",
            Cause::ConnectRefused => "connect_refused",
            Cause::ConnectUnreachable => "connect_unreachable",
            Cause::ConnectReset => "connect_reset",
            Cause::ConnectLocal => "connect_local",
            Cause::TlsCertificate => "tls_certificate",
            Cause::TlsHandshake => "tls_handshake",
            Cause::TimeoutDns => "timeout_dns",
            Cause::TimeoutConnect => "timeout_connect",
            Cause::TimeoutTls => "timeout_tls",
            Cause::TimeoutHead => "timeout_head",
            Cause::TimeoutTotal => "timeout_total",
            Cause::PrivateAddress => "private_address",
            Cause::Disconnected => "disconnected",
            Cause::HeadTooLarge => "head_too_large",
            Cause::NotHttp => "not_http",
            Cause::BadHead => "bad_head",
            Cause::BadStatus => "bad_status",
            Cause::Unasked304 => "unasked_304",
            Cause::CutShort => "cut_short",
            Cause::CutReset => "cut_reset",
            Cause::CutTime => "cut_time",
            Cause::CutChunk => "cut_chunk",
            Cause::CutCoding => "cut_coding",
            Cause::CutPartial => "cut_partial",
            Cause::Proxy => "proxy",
        }
    }

    /// What happened, in plain words.
    pub const fn words(self) -> &'static str {
        match self {
            Cause::DnsNotFound => "the host's name does not exist",
            Cause::DnsTemporary => "the name servers did not answer",
            Cause::ConnectRefused => "the server refused the connection",
            Cause::ConnectUnreachable => "no route leads to the server",
            Cause::ConnectReset => "the server reset the connection before it was open",
            Cause::ConnectLocal => "this machine could not open a connection",
            Cause::TlsCertificate => "the server's certificate is not valid",
            Cause::TlsHandshake => "the TLS handshake failed",
            Cause::TimeoutDns => "looking up the name took too long",
            Cause::TimeoutConnect => "opening the connection took too long",
            Cause::TimeoutTls => "the TLS handshake took too long",
            Cause::TimeoutHead => "the response headers did not come in time",
            Cause::TimeoutTotal => "the fetch took too long",
            Cause::PrivateAddress => "the address is not public",
            Cause::Disconnected => "the connection ended within the response headers or before",
            Cause::HeadTooLarge => "the response headers are too large",
            Cause::NotHttp => "the server does not speak HTTP",
            Cause::BadHead => "the response headers break the rules of HTTP",
            Cause::BadStatus => "the status is not one that HTTP allows here",
            Cause::Unasked304 => "the server said \"not modified\" to a request without validators",
            Cause::CutShort => "the connection ended before the body was complete",
            Cause::CutReset => "the connection was reset within the body",
            Cause::CutTime => "the body did not come in time",
            Cause::CutChunk => "the body has a malformed chunk",
            Cause::CutCoding => "the body breaks off within its content coding",
            Cause::CutPartial => {
                "the server sent a part of the page, though all of it was asked for"
            }
            Cause::Proxy => "the proxy failed",
        }
    }

    /// Its number in compact rows: from 1, so that 0 can mean "none".
    pub fn number(self) -> u8 {
        self as u8 + 1
    }

    /// Reads what [`number`](Self::number) gave; `None` for 0 and for numbers of later versions.
    pub fn from_number(n: u8) -> Option<Self> {
        Self::ALL.get(usize::from(n).checked_sub(1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_codes_belong_to_one_cause_each() {
        for (at, cause) in Cause::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(cause.number()), at + 1);
            assert_eq!(Cause::from_number(cause.number()), Some(cause));
            let alike = Cause::ALL.iter().filter(|other| other.code() == cause.code());
            assert_eq!(alike.count(), 1, "{}", cause.code());
            assert!(!cause.words().is_empty());
        }
        assert_eq!(Cause::from_number(0), None);
        assert_eq!(Cause::from_number(200), None);
    }
}
