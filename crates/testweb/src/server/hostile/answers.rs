//! What do hostile responses contain? Whole responses, byte for byte.

use super::{HostileRequest, OK};

/// A page without any fault.
pub(super) fn plain(_: &HostileRequest<'_>) -> Vec<u8> {
    page("<title>A page</title><p>There is nothing to say against this page.</p>")
}

pub(super) fn missing() -> Vec<u8> {
    b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec()
}

pub(super) fn robots_with_sitemap(ask: &HostileRequest<'_>) -> Vec<u8> {
    let robots = format!("User-agent: *\nAllow: /\nSitemap: http://{}/sitemap.xml\n", ask.host);
    with_headers("Content-Type: text/plain\r\n", robots.as_bytes())
}

pub(super) fn page_with_feed() -> Vec<u8> {
    page(
        "<link rel=alternate type='application/rss+xml' href='/feed.xml'><a href='/feed.xml'>News</a>",
    )
}

/// A right answer with these headers and this body.
pub(super) fn with_headers(headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

fn page(html: &str) -> Vec<u8> {
    with_headers("Content-Type: text/html\r\n", html.as_bytes())
}

fn xml(text: &str) -> Vec<u8> {
    with_headers("Content-Type: application/xml\r\n", text.as_bytes())
}

fn raw(rest: &str) -> Vec<u8> {
    [OK, rest].concat().into_bytes()
}

pub(super) fn header_bomb(_: &HostileRequest<'_>) -> Vec<u8> {
    let headers: String = (0..100_000).map(|n| format!("X-{n}: {n}\r\n")).collect();
    with_headers(&headers, b"<p>Behind many headers.</p>")
}

pub(super) fn cookie_storm(_: &HostileRequest<'_>) -> Vec<u8> {
    let cookies: String =
        (0..2_000).map(|n| format!("Set-Cookie: c{n}={n}; Path=/; Domain=test\r\n")).collect();
    let headers = format!("Content-Type: text/html\r\n{cookies}");
    with_headers(&headers, b"<title>Cookies</title><p>Behind many cookies.</p>")
}

pub(super) fn length_too_long(_: &HostileRequest<'_>) -> Vec<u8> {
    raw("Content-Length: 1073741824\r\nConnection: close\r\n\r\n<p>One line.</p>")
}

pub(super) fn length_too_short(_: &HostileRequest<'_>) -> Vec<u8> {
    raw("Content-Length: 10\r\n\r\n<p>More than ten bytes of text.</p>")
}

pub(super) fn length_twice(_: &HostileRequest<'_>) -> Vec<u8> {
    raw("Content-Length: 10\r\nContent-Length: 20\r\nConnection: close\r\n\r\n0123456789")
}

pub(super) fn length_absurd(_: &HostileRequest<'_>) -> Vec<u8> {
    raw("Content-Length: 99999999999999999999999\r\n\r\n<p>Some text.</p>")
}

pub(super) fn garbage_chunks(_: &HostileRequest<'_>) -> Vec<u8> {
    raw("Transfer-Encoding: chunked\r\n\r\nzz\r\nno size at all\r\n-5\r\n\r\n")
}

pub(super) fn huge_chunk(_: &HostileRequest<'_>) -> Vec<u8> {
    raw("Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nsome\r\n0\r\n\r\n")
}

pub(super) fn http_0_9(_: &HostileRequest<'_>) -> Vec<u8> {
    b"<html><p>What heads? There were none in my time.</p></html>".to_vec()
}

pub(super) fn not_http(_: &HostileRequest<'_>) -> Vec<u8> {
    b"SSH-2.0-Server_1.0\r\n\x00\x00\x01\x14\x08\x14".to_vec()
}

pub(super) fn icy(_: &HostileRequest<'_>) -> Vec<u8> {
    b"ICY 200 OK\r\nicy-name: Radio\r\nContent-Type: text/html\r\n\r\n<p>Music.</p>".to_vec()
}

pub(super) fn mail(_: &HostileRequest<'_>) -> Vec<u8> {
    b"220 mail.hostile.test ESMTP\r\n500 What?\r\n".to_vec()
}

pub(super) fn tls_alert(_: &HostileRequest<'_>) -> Vec<u8> {
    b"\x15\x03\x01\x00\x02\x02\x0a".to_vec()
}

pub(super) fn lower_case(_: &HostileRequest<'_>) -> Vec<u8> {
    b"http/1.1 200 ok\r\ncontent-length: 12\r\n\r\n<p>Lower.</p>".to_vec()
}

pub(super) fn cut_in_chunk(_: &HostileRequest<'_>) -> Vec<u8> {
    raw("Transfer-Encoding: chunked\r\n\r\n40\r\n<title>Half</title><p>Half a chunk")
}

pub(super) fn cut_before_last_chunk(_: &HostileRequest<'_>) -> Vec<u8> {
    raw("Transfer-Encoding: chunked\r\n\r\na\r\n<p>0123456\r\n")
}

pub(super) fn unasked_part(_: &HostileRequest<'_>) -> Vec<u8> {
    let head = "HTTP/1.1 206 Partial Content\r\nContent-Type: text/html\r\nContent-Length: 10\r\n";
    format!("{head}Content-Range: bytes 0-9/100\r\nConnection: close\r\n\r\n<p>0123456")
        .into_bytes()
}

pub(super) fn unasked_304(_: &HostileRequest<'_>) -> Vec<u8> {
    b"HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\nConnection: close\r\n\r\n".to_vec()
}

pub(super) fn unasked_101(_: &HostileRequest<'_>) -> Vec<u8> {
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n".to_vec()
}

pub(super) fn old_chunks(_: &HostileRequest<'_>) -> Vec<u8> {
    b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n\
        1a\r\n<p>Old, but in chunks.</p>\r\n0\r\n\r\n"
        .to_vec()
}

pub(super) fn codings_twice(_: &HostileRequest<'_>) -> Vec<u8> {
    let codings = "Content-Encoding: identity\r\nContent-Encoding: x-nothing, identity\r\n";
    with_headers(&format!("Content-Type: text/html\r\n{codings}"), b"<p>Of unknown coding.</p>")
}

pub(super) fn cut_robots(_: &HostileRequest<'_>) -> Vec<u8> {
    raw("Content-Length: 1000\r\nConnection: close\r\n\r\nUser-agent: *\nAllow: /\n")
}

pub(super) fn absurd_status(_: &HostileRequest<'_>) -> Vec<u8> {
    b"HTTP/1.1 987 Whatever\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi".to_vec()
}

pub(super) fn coding_lie(_: &HostileRequest<'_>) -> Vec<u8> {
    let headers = "Content-Type: text/html\r\nContent-Encoding: gzip\r\n";
    with_headers(headers, b"<title>Plain</title><p>This is not packed at all.</p>")
}

fn redirect(location: &str) -> Vec<u8> {
    let head = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\nLocation: ";
    format!("{head}{location}\r\n\r\n").into_bytes()
}

pub(super) fn redirect_self(ask: &HostileRequest<'_>) -> Vec<u8> {
    redirect(&format!("http://{}{}", ask.host, ask.path))
}

/// From host to host below its own, each time another.
pub(super) fn redirect_chain(ask: &HostileRequest<'_>) -> Vec<u8> {
    redirect(&format!("http://n{}.{}{}", ask.nonce % 1000, own_host(ask), ask.path))
}

/// From one host to the other and back.
pub(super) fn redirect_loop(ask: &HostileRequest<'_>) -> Vec<u8> {
    let other = if ask.host.starts_with("a.") { "b" } else { "a" };
    redirect(&format!("http://{other}.{}{}", own_host(ask), ask.path))
}

pub(super) fn redirect_metadata(_: &HostileRequest<'_>) -> Vec<u8> {
    redirect("http://169.254.169.254/latest/meta-data/")
}

pub(super) fn redirect_private(_: &HostileRequest<'_>) -> Vec<u8> {
    redirect("http://[::ffff:10.0.0.1]/admin")
}

pub(super) fn redirect_file(_: &HostileRequest<'_>) -> Vec<u8> {
    redirect("file:///etc/passwd")
}

pub(super) fn redirect_script(_: &HostileRequest<'_>) -> Vec<u8> {
    redirect("javascript:alert(1)")
}

pub(super) fn redirect_nowhere(_: &HostileRequest<'_>) -> Vec<u8> {
    b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec()
}

pub(super) fn many_links(_: &HostileRequest<'_>) -> Vec<u8> {
    page(&(0..1_000_000).map(|n| format!("<a href=/l{n}>x</a>")).collect::<String>())
}

pub(super) fn long_links(_: &HostileRequest<'_>) -> Vec<u8> {
    let long = "a".repeat(1 << 20);
    page(&(0..5).map(|n| format!("<a href='/{n}/{long}'>x</a>")).collect::<String>())
}

pub(super) fn deep_markup(_: &HostileRequest<'_>) -> Vec<u8> {
    page(&format!("{}At the bottom.", "<div><b>".repeat(100_000)))
}

pub(super) fn wide_markup(_: &HostileRequest<'_>) -> Vec<u8> {
    let attributes: String = (0..100_000).map(|n| format!(" a{n}=v{n}")).collect();
    page(&format!("<p{attributes}>Wide.</p>"))
}

pub(super) fn open_markup(_: &HostileRequest<'_>) -> Vec<u8> {
    page(
        "<title>Open<p title='never closed <a href=/x>x</a><!-- <script> <style> <textarea> <![CDATA[ <a href=\"",
    )
}

/// The header, the mark at the beginning, the element and the bytes each say something else.
pub(super) fn charset_lies(_: &HostileRequest<'_>) -> Vec<u8> {
    let body = b"\xff\xfe<meta charset=shift_jis><title>\xe9\x80 \xed\xa0\x80</title><p>\x81\x00text\xfe</p>";
    with_headers("Content-Type: text/html; charset=x-no-such-thing\r\n", body)
}

pub(super) fn charset_mark(_: &HostileRequest<'_>) -> Vec<u8> {
    let body =
        "\u{feff}<meta charset=utf-16le><title>\u{e9}t\u{e9}</title><p>Un \u{e9}t\u{e9}.</p>";
    let body = [b"\xfe\xff".as_slice(), body.as_bytes()].concat();
    with_headers("Content-Type: text/html; charset=iso-8859-1\r\n", &body)
}

pub(super) fn charset_wide(_: &HostileRequest<'_>) -> Vec<u8> {
    let body = b"<title>Narrow</title><p>One byte a letter.</p><a href=/more>more</a>";
    with_headers("Content-Type: text/html; charset=utf-16\r\n", body)
}

pub(super) fn charset_smuggled(_: &HostileRequest<'_>) -> Vec<u8> {
    let body =
        b"<meta charset=utf-7><title>+ADw-script+AD4-</title><p>+ADw-a href=/hidden+AD4-</p>";
    with_headers("Content-Type: text/html; charset=\"utf-7\r\n", body)
}

pub(super) fn control_bytes(_: &HostileRequest<'_>) -> Vec<u8> {
    page(
        "<title>\x1b]0;owned\x07\x1b[2J\x1b[31mred</title><a href='/\x1b[2Jx'>y</a><p>\x00\x08\x1b[1A</p>",
    )
}

/// Two hosts more on every page: wildcard names without end.
pub(super) fn more_hosts(ask: &HostileRequest<'_>) -> Vec<u8> {
    let link = |n: u64| format!("<a href='http://w{n}.{}/'>more</a>", own_host(ask));
    page(&format!("{}{}", link(2 * ask.nonce), link(2 * ask.nonce + 1)))
}

/// A page for every month there ever was or will be, and for its days.
pub(super) fn calendar(ask: &HostileRequest<'_>) -> Vec<u8> {
    let numbers = ask.path.split('/').filter_map(|part| part.parse::<u32>().ok());
    let mut numbers = numbers.chain([2026, 11]);
    let (year, month) = (numbers.next().unwrap_or(2026), numbers.next().unwrap_or(1));
    let months = year.saturating_mul(12).saturating_add(month);
    let link = |months: u32| format!("/calendar/{}/{:02}/", months / 12, months % 12);
    let days: String =
        (1..31).map(|day| format!("<a href={}{day:02}>{day}</a> ", link(months))).collect();
    let (before, after) = (link(months.saturating_sub(1)), link(months.saturating_add(1)));
    let about = format!("<title>{year} {month}</title><p>Nothing happens in {month} of {year}.");
    page(&format!("{about}<a href={before}>before</a><a href={after}>after</a>{days}"))
}

/// Sorted and filtered in ever more ways.
pub(super) fn parameters(ask: &HostileRequest<'_>) -> Vec<u8> {
    let more = if ask.path.contains('?') { '&' } else { '?' };
    let link = |n: u64| {
        let (name, value) = (ask.nonce % 97 + n, ask.nonce);
        format!("<a href='{}{more}f{name}={value}'>more</a>", ask.path)
    };
    page(&format!("<title>List</title><p>A list.</p>{}", (0..5).map(link).collect::<String>()))
}

/// A relative link on every page.
pub(super) fn ever_deeper(ask: &HostileRequest<'_>) -> Vec<u8> {
    page(&format!(
        "<title>{}</title><a href='again/'>deeper</a><a href='on{}/'>on</a>",
        ask.path, ask.nonce
    ))
}

/// The trouble's own host, without labels before it.
fn own_host<'a>(ask: &HostileRequest<'a>) -> &'a str {
    let labels = ask.host.rmatch_indices('.').map(|(at, _)| at + 1);
    ask.host.get(labels.into_iter().nth(2).unwrap_or(0)..).unwrap_or(ask.host)
}

pub(super) fn huge_robots(_: &HostileRequest<'_>) -> Vec<u8> {
    let rules = "Disallow: /some/path/that/nobody/has\n";
    let body = format!("User-agent: *\n{}", rules.repeat(100_000_000 / rules.len()));
    with_headers("Content-Type: text/plain\r\n", body.as_bytes())
}

pub(super) fn binary_robots(_: &HostileRequest<'_>) -> Vec<u8> {
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    with_headers("Content-Type: text/plain\r\n", &bytes)
}

pub(super) fn sitemap_cycle(ask: &HostileRequest<'_>) -> Vec<u8> {
    let one = |name: &str| format!("<sitemap><loc>http://{}/{name}</loc></sitemap>", ask.host);
    let more = format!("sitemap-{}.xml", ask.nonce);
    let maps = [one("sitemap.xml"), one(&more)].concat();
    let space = "http://www.sitemaps.org/schemas/sitemap/0.9";
    xml(&format!("<sitemapindex xmlns='{space}'>{maps}</sitemapindex>"))
}

/// A gigabyte of text, for parsers that expand entities.
pub(super) fn entities(ask: &HostileRequest<'_>) -> Vec<u8> {
    let levels: String = (1..10).map(|n| entity(n, &format!("&e{};", n - 1).repeat(10))).collect();
    let first = entity(0, "lol");
    let url = format!("<url><loc>http://{}/&e9;</loc></url>", ask.host);
    xml(&format!("<?xml version='1.0'?><!DOCTYPE u [{first}{levels}]><urlset>{url}</urlset>"))
}

fn entity(n: u32, text: &str) -> String {
    format!("<!ENTITY e{n} \"{text}\">")
}

pub(super) fn entity_file(ask: &HostileRequest<'_>) -> Vec<u8> {
    let doctype = "<!DOCTYPE u [<!ENTITY f SYSTEM \"file:///etc/passwd\">]>";
    xml(&format!("{doctype}<urlset><url><loc>http://{}/&f;</loc></url></urlset>", ask.host))
}

pub(super) fn absurd_feed(ask: &HostileRequest<'_>) -> Vec<u8> {
    let dates = ["Mon, 99 Foo 99999 99:99:99 +9999", "-1", "", "Thu, 01 Jan 1970 00:00:00 GMT"];
    let items = dates.iter().enumerate().map(|(n, date)| {
        format!("<item><link>http://{}/i{n}</link><pubDate>{date}</pubDate></item>", ask.host)
    });
    let items: String = items.collect();
    with_headers(
        "Content-Type: application/rss+xml\r\n",
        format!("<rss version='2.0'><channel><title>F</title>{items}</channel></rss>").as_bytes(),
    )
}

pub(super) fn too_many(_: &HostileRequest<'_>) -> Vec<u8> {
    b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec()
}

pub(super) fn retry_never(_: &HostileRequest<'_>) -> Vec<u8> {
    b"HTTP/1.1 503 Unavailable\r\nRetry-After: 315360000000\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec()
}

pub(super) fn one_in_ten(ask: &HostileRequest<'_>) -> Vec<u8> {
    if ask.nonce.is_multiple_of(10) {
        return plain(ask);
    }
    b"HTTP/1.1 500 Broken\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec()
}

pub(super) fn clock_skew(_: &HostileRequest<'_>) -> Vec<u8> {
    let headers = "Content-Type: text/html\r\nDate: Fri, 31 Dec 9999 23:59:59 GMT\r\n\
        Last-Modified: Thu, 01 Jan 1601 00:00:00 GMT\r\nExpires: 0\r\nAge: -7\r\nETag: \"\r\n";
    with_headers(headers, b"<title>When</title><p>Nobody knows what time it is here.</p>")
}
