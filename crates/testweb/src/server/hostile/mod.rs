//! What can a server do to a crawler? One host per hostile case, named after it.
//!
//! A trouble is a row of [`TROUBLES`]: a name, what it does, where on its host, and how. `tarpit.hostile.test` is the
//! host of
//! the trouble `tarpit`. All else on such a host is plain, so that whatever a crawler makes of it is owed to the
//! trouble.

mod answers;
mod bombs;
mod tls;

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::request::Head;
use tls::Greeting;
pub(super) use tls::{converse as secure, wants_keys};

/// The part of a host name between a case's name and the world's suffix.
const MARK: &str = ".hostile";

/// One way to misbehave.
#[derive(Debug)]
pub struct Trouble {
    /// The first label of its host.
    pub name: &'static str,
    /// What it does, in a few words.
    pub what: &'static str,
    at: HostilePlace,
    act: HostileAct,
}

/// Which part of a host is hostile; the rest is plain and links there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostilePlace {
    Everywhere,
    Robots,
    Sitemap,
    Feed,
    Pages,
}

/// What happens to a request for it.
#[derive(Clone, Copy, Debug)]
enum HostileAct {
    /// A whole answer, head and body.
    Say(fn(&HostileRequest<'_>) -> Vec<u8>),
    /// The same, a byte a second.
    Drip(fn(&HostileRequest<'_>) -> Vec<u8>),
    /// A beginning, and then the same again without end.
    Forever(&'static str, &'static str),
    /// Something is sent, then the connection is reset.
    Reset(&'static str),
    /// Our half of the connection is closed, and nothing comes.
    HalfClose,
    /// Nothing comes.
    Silence,
    /// Something is wrong before the connection is secure.
    Greet(Greeting),
}

/// The request.
#[derive(Debug)]
struct HostileRequest<'a> {
    /// The Host header.
    host: &'a str,
    path: &'a str,
    /// A number that is another at every call.
    nonce: u64,
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";

/// All of them.
#[rustfmt::skip]
pub const TROUBLES: &[Trouble] = {
    use HostileAct::{Drip, Forever, Greet, HalfClose, Reset, Say, Silence};
    use HostilePlace::{Everywhere, Feed, Pages, Robots, Sitemap};
    const fn row(name: &'static str, at: HostilePlace, act: HostileAct, what: &'static str) -> Trouble {
        Trouble { name, what, at, act }
    }
    &[
        row("silence", Everywhere, Silence, "takes requests and never answers"),
        row("tarpit", Pages, Drip(answers::plain), "answers a byte a second, head and all"),
        row("tarpit-body", Pages, Forever(SLOW_BODY, ""), "gives a head at once and then nothing"),
        row("endless-body", Pages, Forever("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", "<p>And on it goes.</p>\n"), "a body without end"),
        row("endless-chunks", Pages, Forever("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n", "a\r\n0123456789\r\n"), "chunks without end"),
        row("endless-head", Pages, Forever("HTTP/1.1 200 OK\r\n", "X-More: of the same, and more of it\r\n"), "headers without end"),
        row("endless-line", Pages, Forever("HTTP/1.1 200 OK\r\nX-Line: ", "and so on, "), "one header without end"),
        row("endless-interim", Pages, Forever("", "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"), "interim answers without end"),
        row("header-bomb", Pages, Say(answers::header_bomb), "a hundred thousand headers"),
        row("cookie-storm", Pages, Say(answers::cookie_storm), "two thousand cookies"),
        row("half-close", Pages, HalfClose, "closes its half of the connection instead of an answer"),
        row("reset-at-once", Everywhere, Reset(""), "resets instead of an answer"),
        row("reset-in-head", Pages, Reset("HTTP/1.1 200 OK\r\nContent-Ty"), "resets within the head"),
        row("reset-after-head", Pages, Reset("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"), "resets after the head"),
        row("reset-in-body", Pages, Reset("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<title>Half</title><p>Half a page"), "resets within the body"),
        row("length-too-long", Pages, Say(answers::length_too_long), "promises a gigabyte and sends a line"),
        row("length-too-short", Pages, Say(answers::length_too_short), "sends more than it promised"),
        row("length-twice", Pages, Say(answers::length_twice), "two lengths that contradict each other"),
        row("length-absurd", Pages, Say(answers::length_absurd), "a length beyond all numbers"),
        row("chunks-of-garbage", Pages, Say(answers::garbage_chunks), "chunks whose sizes are none"),
        row("chunk-too-large", Pages, Say(answers::huge_chunk), "a chunk beyond all numbers"),
        row("http-0-9", Pages, Say(answers::http_0_9), "a body without a head"),
        row("not-http", Pages, Say(answers::not_http), "another protocol"),
        row("not-http-icy", Pages, Say(answers::icy), "a stream that begins like HTTP"),
        row("not-http-mail", Pages, Say(answers::mail), "the greeting of a mail server"),
        row("not-http-alert", Pages, Say(answers::tls_alert), "an alert of TLS in plain text"),
        row("not-http-case", Pages, Say(answers::lower_case), "HTTP in lower case"),
        row("cut-in-chunk", Pages, Say(answers::cut_in_chunk), "closes within a chunk"),
        row("cut-before-last-chunk", Pages, Say(answers::cut_before_last_chunk), "closes before the last chunk"),
        row("cut-in-gzip", Pages, Say(bombs::half_of_gzip), "half of a gzip stream, and all that was promised"),
        row("cut-in-half", Pages, Reset("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Half a page"), "resets a body without length"),
        row("cut-part", Pages, Say(answers::unasked_part), "a part of a page that nobody asked for"),
        row("unasked-304", Pages, Say(answers::unasked_304), "not modified, though nobody asked for changes"),
        row("unasked-101", Pages, Say(answers::unasked_101), "another protocol by status 101"),
        row("old-chunks", Pages, Say(answers::old_chunks), "HTTP/1.0 in chunks"),
        row("codings-twice", Pages, Say(answers::codings_twice), "codings on two lines"),
        row("gzip-and-more", Pages, Say(bombs::gzip_and_more), "a gzip stream with garbage after it"),
        row("status-absurd", Pages, Say(answers::absurd_status), "a status that does not exist"),
        row("bomb-gzip", Pages, Say(bombs::gzip), "64 MiB packed to 400 kB"),
        row("bomb-deflate", Pages, Say(bombs::deflate), "the same as deflate"),
        row("bomb-brotli", Pages, Say(bombs::brotli), "64 MiB packed to 54 bytes"),
        row("bomb-zstd", Pages, Say(bombs::zstd), "a gigabyte packed to 32 kB"),
        row("bomb-nested", Pages, Say(bombs::nested), "a bomb within a bomb"),
        row("coding-lie", Pages, Say(answers::coding_lie), "says gzip and sends text"),
        row("redirect-self", Pages, Say(answers::redirect_self), "redirects to itself"),
        row("redirect-chain", Pages, Say(answers::redirect_chain), "redirects on and on"),
        row("redirect-loop", Pages, Say(answers::redirect_loop), "redirects to another host, which redirects back"),
        row("redirect-metadata", Pages, Say(answers::redirect_metadata), "redirects to a cloud's metadata service"),
        row("redirect-private", Pages, Say(answers::redirect_private), "redirects to a private address"),
        row("redirect-file", Pages, Say(answers::redirect_file), "redirects to a file of ours"),
        row("redirect-script", Pages, Say(answers::redirect_script), "redirects to a script"),
        row("redirect-nowhere", Pages, Say(answers::redirect_nowhere), "redirects without saying where"),
        row("many-links", Pages, Say(answers::many_links), "a million links"),
        row("long-links", Pages, Say(answers::long_links), "URLs of a megabyte"),
        row("deep-markup", Pages, Say(answers::deep_markup), "a hundred thousand elements inside each other"),
        row("wide-markup", Pages, Say(answers::wide_markup), "an element with a hundred thousand attributes"),
        row("open-markup", Pages, Say(answers::open_markup), "quotes, comments and scripts that never end"),
        row("charset-lies", Pages, Say(answers::charset_lies), "four charsets at once, none of them right"),
        row("charset-mark", Pages, Say(answers::charset_mark), "begins like UTF-16, says Latin-1, is UTF-8"),
        row("charset-wide", Pages, Say(answers::charset_wide), "says UTF-16 and is ASCII"),
        row("charset-smuggled", Pages, Say(answers::charset_smuggled), "says UTF-7, in which markup hides"),
        row("control-bytes", Pages, Say(answers::control_bytes), "escape sequences for terminals in titles and links"),
        row("more-hosts", Pages, Say(answers::more_hosts), "links to ever more hosts of its own"),
        row("calendar", Pages, Say(answers::calendar), "a calendar without first or last month"),
        row("parameters", Pages, Say(answers::parameters), "every page links to itself with more parameters"),
        row("ever-deeper", Pages, Say(answers::ever_deeper), "every page links to one that lies deeper"),
        row("robots-huge", Robots, Say(answers::huge_robots), "a robots.txt of 100 MB"),
        row("robots-bomb", Robots, Say(bombs::gzip), "a robots.txt that is a bomb"),
        row("robots-endless", Robots, Forever("HTTP/1.1 200 OK\r\n\r\n", "Disallow: /x\n"), "a robots.txt without end"),
        row("robots-redirects", Robots, Say(answers::redirect_chain), "a robots.txt that redirects for ever"),
        row("robots-private", Robots, Say(answers::redirect_private), "a robots.txt that redirects to a private address"),
        row("robots-cut", Robots, Say(answers::cut_robots), "a robots.txt that is shorter than promised"),
        row("robots-cut-chunk", Robots, Say(answers::garbage_chunks), "a robots.txt of bad chunks"),
        row("robots-cut-gzip", Robots, Say(bombs::half_of_gzip), "a robots.txt whose gzip stream breaks off"),
        row("robots-not-http", Robots, Say(answers::not_http), "another protocol instead of a robots.txt"),
        row("robots-304", Robots, Say(answers::unasked_304), "a robots.txt that was not modified, though it was never seen"),
        row("robots-binary", Robots, Say(answers::binary_robots), "a robots.txt of all bytes"),
        row("sitemap-cycle", Sitemap, Say(answers::sitemap_cycle), "sitemap indexes that name themselves and ever more"),
        row("sitemap-bomb", Sitemap, Say(bombs::gzip_file), "a packed sitemap that is a bomb"),
        row("sitemap-entities", Sitemap, Say(answers::entities), "a sitemap of entities that double"),
        row("sitemap-files", Sitemap, Say(answers::entity_file), "a sitemap that includes a file of ours"),
        row("feed-dates", Feed, Say(answers::absurd_feed), "a feed with dates beyond all calendars"),
        row("always-429", Pages, Say(answers::too_many), "too many requests, whatever one does"),
        row("retry-never", Pages, Say(answers::retry_never), "unavailable for ten thousand years"),
        row("one-in-ten", Pages, Say(answers::one_in_ten), "answers well once in ten"),
        row("clock-skew", Pages, Say(answers::clock_skew), "dates of the far past and the far future"),
        row("tls-silence", Everywhere, Greet(Greeting::Never), "begins to agree on keys and never ends"),
        row("tls-slow", Everywhere, Greet(Greeting::Drip), "agrees on keys a byte a second"),
        row("tls-reset", Everywhere, Greet(Greeting::Reset), "resets while keys are agreed on"),
        row("tls-plain", Everywhere, Greet(Greeting::Plain), "answers in plain text where keys are expected"),
        row("tls-expired", Everywhere, Greet(Greeting::Show(tls::EXPIRED)), "a certificate that has expired"),
        row("tls-wrong-name", Everywhere, Greet(Greeting::Show(tls::WRONG_NAME)), "the certificate of another"),
        row("tls-self-signed", Everywhere, Greet(Greeting::Show(tls::SELF_SIGNED)), "a certificate that nobody vouches for"),
    ]
};

const SLOW_BODY: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n<p>";

/// How much of what has no end is sent in one go.
const PIECE: usize = 64 * 1024;

impl Trouble {
    /// Where it is met first, in a world whose names end in `suffix`.
    pub fn url(&self, suffix: &str) -> String {
        let scheme = if matches!(self.act, HostileAct::Greet(_)) { "https" } else { "http" };
        format!("{scheme}://{}/", self.host(suffix))
    }

    /// Its host in a world whose names end in `suffix`.
    pub fn host(&self, suffix: &str) -> String {
        format!("{}{MARK}{suffix}", self.name)
    }

    /// The case whose host a Host header names; `a.b.tarpit.hostile.test` belongs to `tarpit` too.
    pub(super) fn of(authority: &str, suffix: &str) -> Option<&'static Trouble> {
        let name = authority.split(':').next()?.strip_suffix(suffix)?.strip_suffix(MARK)?;
        let name = name.rsplit('.').next()?;
        TROUBLES.iter().find(|trouble| trouble.name == name)
    }

    /// Answers a request as it does; the connection is of no use afterwards. Returns the bytes sent.
    pub(super) async fn serve_case(
        &self,
        stream: &mut TcpStream,
        head: &Head<'_>,
        nonce: u64,
    ) -> io::Result<u64> {
        let ask = HostileRequest { host: head.host, path: head.target, nonce };
        match self.plain_part(&ask) {
            Some(answer) => send(stream, &answer).await,
            None => self.act.perform_act(stream, &ask).await,
        }
    }

    /// The plain pages of the host that link to the hostile part.
    fn plain_part(&self, ask: &HostileRequest<'_>) -> Option<Vec<u8>> {
        match (self.at, ask.path) {
            (HostilePlace::Everywhere, _) => None,
            (HostilePlace::Robots, path) if path != "/robots.txt" => Some(answers::plain(ask)),
            (HostilePlace::Robots, _) => None,
            (HostilePlace::Sitemap, "/robots.txt") => Some(answers::robots_with_sitemap(ask)),
            (_, "/robots.txt") => Some(answers::missing()),
            (HostilePlace::Sitemap, path) if path.contains("sitemap") => None,
            (HostilePlace::Feed, "/feed.xml") | (HostilePlace::Pages, _) => None,
            (HostilePlace::Feed, _) => Some(answers::page_with_feed()),
            (HostilePlace::Sitemap, _) => Some(answers::plain(ask)),
        }
    }
}

impl HostileAct {
    async fn perform_act(
        self,
        stream: &mut TcpStream,
        ask: &HostileRequest<'_>,
    ) -> io::Result<u64> {
        match self {
            HostileAct::Say(answer) => send(stream, &answer(ask)).await,
            HostileAct::Drip(answer) => drip(stream, &answer(ask)).await,
            HostileAct::Forever(first, again) => send_forever(stream, first, again).await,
            HostileAct::Reset(first) => {
                let sent = send(stream, first.as_bytes()).await?;
                stream.set_zero_linger()?;
                Ok(sent)
            }
            HostileAct::HalfClose => {
                stream.shutdown().await?;
                wait_for_the_caller_to_leave(stream).await
            }
            // Requests without TLS are answered plainly.
            HostileAct::Greet(_) => send(stream, &answers::plain(ask)).await,
            HostileAct::Silence => wait_for_the_caller_to_leave(stream).await,
        }
    }
}

async fn send(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<u64> {
    stream.write_all(bytes).await?;
    Ok(bytes.len() as u64)
}

async fn drip(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<u64> {
    for byte in bytes {
        stream.write_all(&[*byte]).await?;
        sleep(Duration::from_secs(1)).await;
    }
    Ok(bytes.len() as u64)
}

/// Sends until the client leaves. With nothing to repeat, it only waits for that.
async fn send_forever(stream: &mut TcpStream, first: &str, again: &str) -> io::Result<u64> {
    stream.write_all(first.as_bytes()).await?;
    if again.is_empty() {
        return wait_for_the_caller_to_leave(stream).await;
    }
    let piece = again.repeat(PIECE / again.len());
    loop {
        stream.write_all(piece.as_bytes()).await?;
    }
}

/// Waits for the other side to close; nothing is sent meanwhile.
pub(super) async fn wait_for_the_caller_to_leave(stream: &mut TcpStream) -> io::Result<u64> {
    let mut ignored = [0; 1024];
    while stream.read(&mut ignored).await? > 0 {}
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_trouble_has_a_host_of_its_own() {
        let hosts: HashSet<String> = TROUBLES.iter().map(|trouble| trouble.host(".test")).collect();
        assert_eq!(hosts.len(), TROUBLES.len());
        for trouble in TROUBLES {
            let below = format!("a7.{}:80", trouble.host(".test"));
            for host in [trouble.host(".test"), below] {
                assert_eq!(Trouble::of(&host, ".test").unwrap().name, trouble.name);
            }
        }
        for host in ["h0.test", "tarpit.test", "hostile.test", "", "peace.hostile.test"] {
            assert!(Trouble::of(host, ".test").is_none(), "{host}");
        }
    }

    #[test]
    fn what_is_no_trouble_is_plain_and_leads_there() {
        let find = |name| TROUBLES.iter().find(|trouble| trouble.name == name).unwrap();
        let plain = |name, path| {
            let ask = HostileRequest { host: "x.hostile.test", path, nonce: 1 };
            find(name).plain_part(&ask).map(|bytes| String::from_utf8(bytes).unwrap())
        };
        assert_eq!(plain("tarpit", "/"), None);
        assert!(plain("tarpit", "/robots.txt").unwrap().contains(" 404 "));
        assert_eq!(plain("robots-huge", "/robots.txt"), None);
        assert!(plain("robots-huge", "/").unwrap().contains(" 200 "));
        let robots = plain("sitemap-cycle", "/robots.txt").unwrap();
        assert!(robots.contains("Sitemap: http://x.hostile.test/sitemap.xml"), "{robots}");
        assert_eq!(plain("sitemap-cycle", "/sitemap.xml"), None);
        assert!(plain("feed-dates", "/").unwrap().contains("/feed.xml"));
        assert_eq!(plain("feed-dates", "/feed.xml"), None);
        assert_eq!(plain("silence", "/robots.txt"), None);
    }
}
