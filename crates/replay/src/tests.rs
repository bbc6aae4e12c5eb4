//! What is replayed, of an archive in memory?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::sync::Arc;

use evercrawl_archive::{
    Encoder, Exchange, Kind, MemorySegments, SegmentStore, Settings, Writer, payload_digest,
};
use evercrawl_extract::{Content, Document, Extractor, HtmlOptions};
use evercrawl_model::Time;
use proptest::prelude::*;

use super::*;

const NOW: Time = Time::from_secs(1_800_000_000);

fn at(days: u64) -> Time {
    Time::from_secs(1_600_000_000 + days * 86_400)
}

/// An archive with these captures: address, day, head without status line, body.
fn archive(captures: &[(&str, u64, &str, &str)]) -> Replay {
    let segments: Arc<dyn SegmentStore> = Arc::new(MemorySegments::default());
    let settings = Settings {
        prefix: "t".into(),
        host: "h".into(),
        software: "test".into(),
        operator: String::new(),
        user_agent: String::new(),
        robots: String::new(),
        is_part_of: String::new(),
        roll_at: 1 << 30,
        first_serial: 1,
    };
    let (mut writer, _) = Writer::open(Arc::clone(&segments), &[], settings, at(0)).unwrap();
    let mut encoder = Encoder::new(1);
    for (n, (url, day, head, body)) in captures.iter().enumerate() {
        let head = if head.starts_with("HTTP/") {
            (*head).to_owned()
        } else {
            format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n")
        };
        let exchange = Exchange {
            uri: url,
            date: at(*day),
            ip: None,
            request: b"",
            head: head.as_bytes(),
            payload: body.as_bytes(),
            payload_digest: payload_digest(body.as_bytes()),
            truncated: None,
            protocol: "http/1.1",
            tls: None,
            identified_type: None,
            metadata: &[],
        };
        let encoded =
            encoder.encode(&exchange, Kind::Response, [n as u8; 16], writer.file()).unwrap();
        writer.append(&encoded, at(*day)).unwrap();
    }
    let checkpoint = writer.checkpoint().unwrap();
    checkpoint.sync().unwrap();
    writer.close(&checkpoint).unwrap();
    Replay::open(segments, "/k/web").unwrap()
}

fn get(replay: &Replay, path: &str) -> Answer {
    let (path, query) =
        path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    replay.answer(&Asked { path, query, accept_datetime: None, now: NOW })
}

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.body.clone()).unwrap()
}

fn html_of(body: &str) -> String {
    let replay = archive(&[("http://a.test/d/p", 1, "Content-Type: text/html", body)]);
    text(&get(&replay, "/k/web/http://a.test/d/p"))
}

#[test]
fn addresses_lead_back_to_the_replay() {
    let page = html_of(
        "<base href='/e/'><a href='x?y=1&amp;z'>A</a><img src=i.png srcset='j.png 1x, k.png 2x'>\
         <link rel=stylesheet href=//b.test/s.css><div style='background:url(u)'>B</div>\
         <style>p{background:url(v)}</style><meta http-equiv=refresh content='3; url=/r'><a href='#f'>C</a>",
    );
    let day = at(1).digits14();
    for want in [
        format!("href=\"/k/web/{day}/http://a.test/e/x?y=1&amp;z\""),
        format!("src=\"/k/web/{day}/http://a.test/e/i.png\""),
        format!("/k/web/{day}/http://a.test/e/j.png 1x, /k/web/{day}/http://a.test/e/k.png 2x"),
        format!("href=\"/k/web/{day}/http://b.test/s.css\""),
        format!("/k/web/{day}/http://a.test/e/u"),
        format!("url(\"/k/web/{day}/http://a.test/e/v\")"),
        format!("content=\"3;url=/k/web/{day}/http://a.test/r\""),
        "href=\"#f\"".to_owned(),
    ] {
        assert!(page.contains(&want), "{want}\n{page}");
    }
}

/// Pages that would run or reach something.
const HOSTILE: &str = "<script>alert(1)</script><script src=//e.test/x></script><img src=x onerror=alert(1)>\
    <a href=' java&#9;script:alert(1)'>L</a><a href='data:text/html,<script>alert(1)</script>'>D</a>\
    <iframe srcdoc='<script>alert(1)</script>' src='javascript:alert(1)'></iframe><object data=//e.test/o></object>\
    <embed src=//e.test/e><svg><script>alert(1)</script><style><img src=//e.test/i onerror=alert(1)></style>\
    <animate attributeName=href values='javascript:alert(1)'/><a xlink:href='javascript:alert(1)'>S</a></svg>\
    <form action=//e.test/f><button formaction='javascript:alert(1)'>F</button></form><math><mtext><table><mglyph>\
    <style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'></table></mtext></math>\
    <noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript><xmp></xmp><script>alert(1)</script>\
    <style>@import '//e.test/c.css';p{background:url(//e.test/u);content:'</style><script>alert(1)</script>'}</style>\
    <link rel=preload href=//e.test/p><link rel=dns-prefetch href=//e.test><meta http-equiv=refresh content='0;url=javascript:alert(1)'>\
    <textarea></textarea><script>alert(1)</script><plaintext><script>alert(1)</script>";

#[test]
fn hostile_pages_run_nothing_and_reach_nothing() {
    let page = html_of(HOSTILE);
    let small = page.to_ascii_lowercase();
    for never in [
        "<script",
        "javascript:",
        "srcdoc",
        "<object",
        "<embed",
        "<animate",
        "formaction",
        "action=",
        "=\"//e",
        "'//e",
        "(//e",
        "preload",
        "dns-prefetch",
    ] {
        assert!(!small.contains(never), "{never}\n{page}");
    }
    // No tag has a handler: what is written of one is text.
    for tag in small.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap();
        assert!(!tag.contains(" on"), "{tag}");
    }
    let answer = get(
        &archive(&[("http://a.test/", 1, "Content-Type: text/html", HOSTILE)]),
        "/k/web/http://a.test/",
    );
    assert!(
        answer
            .header("Content-Security-Policy")
            .unwrap()
            .starts_with("sandbox; default-src 'none'")
    );
    assert_eq!(answer.header("X-Content-Type-Options"), Some("nosniff"));
}

fn page_text(html: &str) -> String {
    let document = Document {
        bytes: html.as_bytes(),
        content_type: Some("text/html; charset=utf-8"),
        url: "http://a.test/",
    };
    let mut extractor = Extractor::new();
    let extraction = extractor.extract(&document, HtmlOptions::default());
    let Content::Page(page) = extraction.content else { panic!("no page") };
    page.text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_text_of_a_page_is_that_of_the_archive() {
    for page in [
        "<title>T</title><h1>A &amp; B</h1><p>One <b>two</b>&nbsp;three<p>four &lt;five&gt;<pre>\n six</pre><textarea>a&b</textarea>",
        "<table><tr><td>x<td>y</table><ul><li>z<li>\u{e9}\u{4f60}</ul><p title='<q>'>w<!-- c --></p>",
        "<p>a<script>if (a<b) c()</script>d<noscript>e</noscript><style>f{}</style>g",
    ] {
        assert_eq!(page_text(&html_of(page)), page_text(page), "{page}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_a_page_is_what_is_written_reads_as_harmless(
        parts in prop::collection::vec(prop_oneof![
            Just("<script>"), Just("</script>"), Just("<style>"), Just("</style>"), Just("<svg>"), Just("<math>"),
            Just("<!--"), Just("-->"), Just("<![CDATA["), Just("]]>"), Just("<p title=\""), Just("\">"), Just("'"),
            Just("<img src=x onerror=a>"), Just("<textarea>"), Just("</textarea>"), Just("<title>"), Just("<iframe>"),
            Just("</iframe>"), Just("<xmp>"), Just("<plaintext>"), Just("&lt;script&gt;"), Just("\0"), Just("<a href=javascript:b>"),
        ], 0..24),
    ) {
        let page = html_of(&parts.concat());
        for token in html5gum::Tokenizer::new(&page) {
            let Ok(token) = token;
            if let html5gum::Token::StartTag(tag) = token {
                prop_assert!(&**tag.name != b"script");
                for (name, value) in &tag.attributes {
                    prop_assert!(!name.starts_with(b"on"), "{page}");
                    prop_assert!(!value.value.starts_with(b"javascript"), "{page}");
                }
            }
        }
    }
}

#[test]
fn captures_are_found_by_time_with_their_headers() {
    let html = "Content-Type: text/html";
    let replay = archive(&[
        ("http://a.test/", 1, html, "<p>first"),
        ("http://a.test/", 10, html, "<p>second"),
        (
            "http://a.test/gone",
            3,
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n",
            "<p>none",
        ),
        ("http://a.test/to", 3, "HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\n", ""),
        ("http://a.test/s.css", 3, "Content-Type: text/css", "p{background:url(i)}"),
        ("http://a.test/j", 3, "Content-Type: application/json", "{}"),
    ]);
    let page =
        |days: u64| text(&get(&replay, &format!("/k/web/{}/http://a.test/", at(days).digits14())));
    assert!(page(2).contains("first") && page(9).contains("second"));
    assert!(text(&get(&replay, "/k/web/http://a.test/")).contains("second"));
    let answer = get(&replay, &format!("/k/web/{}/http://a.test/", at(2).digits14()));
    assert_eq!(answer.header("Memento-Datetime"), Some(&*at(1).http_date()));
    assert!(answer.header("Link").unwrap().contains("rel=\"timemap\""));
    assert_eq!(get(&replay, "/k/web/http://a.test/gone").status, 404);
    let moved = get(&replay, "/k/web/http://a.test/to");
    assert_eq!(
        (moved.status, moved.header("Location").unwrap()),
        (301, &*format!("/k/web/{}/http://a.test/x", at(3).digits14()))
    );
    assert!(text(&get(&replay, "/k/web/http://a.test/s.css")).contains("/k/web/"));
    assert_eq!(
        get(&replay, "/k/web/http://a.test/j").header("Content-Type"),
        Some("text/plain; charset=utf-8")
    );
    let raw = get(&replay, "/k/web/2020id_/http://a.test/");
    assert_eq!(
        (text(&raw), raw.header("Content-Type").unwrap()),
        ("<p>first".to_owned(), "text/html")
    );
    assert_eq!(get(&replay, "/k/web/http://b.test/").status, 404);
    assert_eq!(get(&replay, "/other/http://a.test/").status, 404);

    let gate = Asked {
        path: "/k/web/timegate/http://a.test/",
        query: None,
        accept_datetime: Some(&at(2).http_date()),
        now: NOW,
    };
    let gate = replay.answer(&gate);
    assert_eq!((gate.status, gate.header("Vary")), (302, Some("accept-datetime")));
    assert!(gate.header("Location").unwrap().contains(&at(1).digits14()));
    let map = text(&get(&replay, "/k/web/timemap/link/http://a.test/"));
    assert_eq!(map.matches("rel=\"memento\"").count(), 2, "{map}");
    assert_eq!(text(&get(&replay, "/k/web/*/http://a.test/")).matches("<li>").count(), 2);
}

#[test]
fn the_index_is_asked_as_pywb_is() {
    let html = "Content-Type: text/html";
    let urls = [
        "http://a.test/",
        "http://a.test/x/1",
        "http://a.test/x/2",
        "http://b.a.test/",
        "http://ab.test/",
    ];
    let captures: Vec<_> =
        urls.iter().flat_map(|url| [(*url, 1, html, "<p>1"), (*url, 9, html, "<p>2")]).collect();
    let replay = archive(&captures);
    let ask = |query: &str| text(&get(&replay, &format!("/k/web/cdx?{query}")));
    for (query, want) in [
        ("url=http://a.test/", 2),
        ("url=a.test&matchType=host", 6),
        ("url=a.test&matchType=domain", 8),
        ("url=http://a.test/x/&matchType=prefix", 4),
        ("url=http%3A%2F%2Fa.test%2Fx%2F*", 4),
        ("url=http://a.test/&limit=1", 1),
        ("url=http://a.test/&filter==status:404", 0),
        ("url=http://a.test/&filter=!=status:404", 2),
        ("url=a.test&matchType=host&filter=~url:.*/[12]", 4),
        ("url=http://a.test/&to=20200915", 1),
        ("url=http://a.test/&from=2020&to=2020&output=json", 2),
        ("url=a.test&matchType=host&limit=4&page=1", 2),
    ] {
        assert_eq!(ask(query).lines().count(), want, "{query}\n{}", ask(query));
    }
    assert!(ask("url=http://a.test/").starts_with("test,a)/ "));
    let last = ask("url=http://a.test/&sort=reverse&limit=1&output=json");
    let last: serde_json::Value = serde_json::from_str(&last).unwrap();
    assert_eq!(last["timestamp"], at(9).digits14());
    for query in [
        "",
        "url=a&matchType=some",
        "url=a&output=xml",
        "url=a&from=x",
        "url=a&filter=~url:(",
        "url=a&limit=x",
    ] {
        assert_eq!(get(&replay, &format!("/k/web/cdx?{query}")).status, 400, "{query}");
    }
}
