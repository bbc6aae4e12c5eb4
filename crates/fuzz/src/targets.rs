//! The parsers, each with examples and with what must hold.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a target panics where something does not hold"
)]

use std::time::Duration;

use evercrawl_archive::{MemorySegments, SegmentId, SegmentStore, check_file, surt};
use evercrawl_compare::{
    Fingerprint, Outline, PageMemory, SecondLook, SiteMemory, TemplateMemory, VisitText,
};
use evercrawl_engine::schedule::parse_retry_after;
use evercrawl_extract::{
    Content, Document, Extractor, HeaderLinks, HtmlOptions, LinkSources, Listing, Unreadable,
    charset, decode, sniff,
};
use evercrawl_fetch::{ConnectTo, Network, Request};
use evercrawl_lab::synthetic::WorldSpec;
use evercrawl_lab::table::{Columns, DataTable, NumberRange};
use evercrawl_lab::{microsoft, recorded};
use evercrawl_model::Time;
use evercrawl_policy::registry::{Setup, find};
use evercrawl_regions::{PageTree, Region};
use evercrawl_robots::{Directives, RobotsTxt};
use evercrawl_urls::{Base, Canonical, CanonicalSteps, Patterns, family_of, parse_seed_line};

use crate::folder::in_folder;
use crate::importing::{import_archive, import_list};
use crate::reference;
use crate::stored::{batch, rows, store};

/// A parser under test.
#[derive(Debug)]
pub struct Target {
    /// What it is called.
    pub name: &'static str,
    /// Inputs to begin with.
    pub examples: &'static [&'static [u8]],
    /// Takes any bytes; panics when something does not hold.
    pub run: fn(&[u8]),
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target {
        name: "import_list",
        examples: &[
            b"url,tag,every\nhttp://a.test/,\"x, y\",6h\nhttp://b.test/,,often\n",
            b"name: A\nurl: 'http://a.test/'\nfilter:\n  - css: main\n---\ncommand: ls\n",
            b"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><H3>F</H3><DL><DT><A HREF='http://a.test/' TAGS='x'>A</A></DL>",
            b"<opml><body><outline text='F'><outline xmlUrl='http://a.test/f'/></outline></body></opml>",
            b"test,a)/ 20200101000000 {\"url\":\"http://a.test/\",\"status\":\"200\",\"digest\":\"sha1:AAAA\"}\n",
            b"2010-08-31T21:04:35.110Z 200 1 http://a.test/ L - text/html #1 20100831210434987+1 sha1:A - -\n",
            b"http://a.test/\tVersion: 7\nStatus: 2 (db_fetched)\nFetch time: Sat Aug 05 06:38:05 UTC 2023\nRetry interval: 9 s\n",
        ],
        run: import_list,
    },
    Target {
        name: "import_archive",
        examples: &[
            b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: <http://a.test/>\r\nWARC-Date: 2020-01-01T00:00:00Z\r\nContent-Length: 21\r\n\r\nHTTP/1.1 200 OK\r\n\r\nab\r\n\r\n",
            b"WARC/1.0\r\nWARC-Type: request\r\nWARC-Concurrent-To: <x>\r\nContent-Length: 4\r\n\r\nPOST\r\n\r\n",
            b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        ],
        run: import_archive,
    },
    Target {
        name: "url",
        examples: &[
            b"http://a.test/b?c=d#e",
            b"//user:pass@xn--bcher-kva.example:8080/%7Ea/../b;jsessionid=1?utm_source=x&b&a=1",
            b"http://[::ffff:127.0.0.1]/",
            b"HTTPS://EXAMPLE.ORG:443/A%2fb/./c//d?",
            "../\u{e9}/\u{4f60}?q=\u{1f600}".as_bytes(),
        ],
        run: url,
    },
    Target {
        name: "seed",
        examples: &[
            b"\xef\xbb\xbfhttp://a.test/ tag=news tag=b # both\nexample.org\r\n\n# a comment\nlocalhost:80\n",
            b"# a comment",
            b"example.org tag=",
            b"+http://(org,example,)/",
        ],
        run: seed,
    },
    Target {
        name: "robots",
        examples: &[
            b"User-agent: *\nDisallow: /a*b$\nAllow: /a/c\nCrawl-delay: 2.5\nSitemap: /s.xml\n",
            b"\xef\xbb\xbfuser-agent:evercrawl\r\nuser-agent: x\rdisallow:/%7e\xff\n\n",
            b"noindex, nofollow, max-snippet: 3, unavailable_after: 2020-01-01",
        ],
        run: robots,
    },
    Target {
        name: "verdicts",
        examples: &[
            b"/ab?a.b/\x00ab/*?.a\x03ab/*ab\x04*ab?a/\x01ab*b?a\x05a/b*a.",
            b"a/b.a/b?\x01\x02\x03\x04\x05\x06\x07\x08\x04\x03\x02\x01\x00\x03\x03\x03",
        ],
        run: verdicts,
    },
    Target {
        name: "html",
        examples: &[
            b"<!doctype html><title>T</title><base href=/b/><p>Text <a href=x rel=nofollow>y</a><img srcset='a 1x, b 2x'>",
            b"<meta charset=latin1><meta http-equiv=refresh content='0;url=/n'><script><!--<script></script>--></script>",
            b"<svg><title>a</title><style><![CDATA[x]]></style></svg><template><noscript><table><a href='&#x2f;q&amp;r'>",
        ],
        run: html,
    },
    Target {
        name: "places",
        examples: &[
            b"<style>@import 'a.css';p{b:image-set(\"c.png\" 1x,url( d\\65 .png))}</style><p style='x:url(y)'>",
            b"<script>a=`b${c}`;d='/e/f.html';g=/h'/;location='i'//http://j.test/\n</script><p onclick=\"open('/k')\">",
            b"<iframe srcdoc='<!-- <a href=/l> -->'></iframe><img src='data:image/svg+xml;base64,PHN2Zz4='>",
            b"<form action=/m><input type=hidden name=n value='o&p'><select name=q><option value=r></select></form>",
            b"<meta property=og:image content=/s><object codebase=/t archive='u v'><param name=movie value=w></object>",
        ],
        run: places,
    },
    Target {
        name: "region",
        examples: &[
            b"main > .price:not(.old)\x00.clock\x00<main><p class=price>1<i class=clock>2</i><p class='price old'>3",
            b"table tr:nth-child(2) td\x00b\x00<table><tr><td>1<tr><td>2<b>3</table>",
            b"ul:has(> li + li) [x|='y' i], *\x00#a\x00<ul><li x=y-z>1<li id=a>2</ul><svg><title>3</title></svg>",
        ],
        run: region,
    },
    Target {
        name: "pdf",
        examples: &[
            b"%PDF-1.7\n1 0 obj<</Pages 2 0 R>>endobj 2 0 obj<</Kids[3 0 R]>>endobj 3 0 obj<</Type/Page/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj 4 0 obj<</Length 40>>stream\nBT /F 9 Tf [(a) -300 (b)] TJ T* (c) ' ET\nendstream endobj 5 0 obj<</Subtype/Type1/Encoding<</Differences[1/eacute]>>/Widths[500 600]/FirstChar 97>>endobj trailer<</Root 1 0 R>>",
            b"%PDF-1.4\n7 0 obj<</Type/ObjStm/N 1/First 4/Length 30>>stream\n3 0 <</Type/Page/Annots[8 0 R]>>\nendstream endobj 8 0 obj<</A<</URI(http://a.test/)>>>>endobj",
            b"%PDF-1.4\n3 0 obj<</Type/Page/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj 4 0 obj<<>>stream\nBT /F 1 Tf <0001> Tj ET BI ID xx EI q Q\nendstream 5 0 obj<</Subtype/Type0/ToUnicode 6 0 R/DescendantFonts[<</W[1[2]3 4 5]>>]>> 6 0 obj<</Filter[/ASCIIHexDecode/LZWDecode/ASCII85Decode]>>stream\n1 beginbfrange<0001><0002><0041>endbfrange>\nendstream",
        ],
        run: pdf,
    },
    Target {
        name: "listing",
        examples: &[
            b"<urlset><url><loc>http://a.test/</loc><lastmod>2020-01-01T00:00:00Z</lastmod></url></urlset>",
            b"<sitemapindex><sitemap><loc>/s.xml</loc></sitemap></sitemapindex>",
            b"<rss version='2.0'><channel><item><link>/i</link><pubDate>Mon, 06 Sep 2021 00:01:00 +0000</pubDate></item></channel></rss>",
            b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='/e'/><updated>2003-12-13T18:30:02Z</updated></entry></feed>",
            b"<!DOCTYPE u [<!ENTITY a 'b'>]><urlset><url><loc>&a;</loc></url></urlset>",
            b"{\"version\":\"https://jsonfeed.org/version/1.1\",\"items\":[{\"url\":\"/j\",\"date_modified\":\"2020\"}]}",
        ],
        run: listing,
    },
    Target {
        name: "header",
        examples: &[
            b"Sun, 06 Nov 1994 08:49:37 GMT",
            b"1994-11-06T08:49:37+01:00",
            b"120",
            b"text/html; charset=\"utf-8\"",
            b"a.test:80:127.0.0.1:8080",
            b"127.0.0.0/8",
        ],
        run: header,
    },
    Target {
        name: "decode",
        examples: &[
            b"\x01\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x4b\x4c\x4a\x06\x00\xc2\x41\x24\x35\x03\x00\x00\x00",
            b"\x02\x78\x9c\x4b\x4c\x4a\x06\x00\x02\x4d\x01\x27",
            b"\x03\x0b\x01\x80abc\x03",
            b"\x04\x28\xb5\x2f\xfd\x00\x58\x19\x00\x00abc",
            b"\x05\x4b\x4c\x4a\x06\x00",
        ],
        run: undo_coding,
    },
    Target {
        name: "warc",
        examples: &[
            b"\x40\x00WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n\r\n",
            b"\x10\x00test,a)/ 20200101000000 {\"url\":\"http://a.test/\",\"offset\":\"0\",\"length\":\"10\",\"filename\":\"a.warc.gz\"}\n",
        ],
        run: warc,
    },
    Target {
        name: "batch",
        examples: &[
            b"\x00\x02\x00\x03abc\x01\x02xy\x02\x01d\x00\x07\x01\x00\x01g\x01\x03\x01\x00\x09",
            b"evbatch\x01\x00\x00\x00\x00\x00\x00\x00\x00",
        ],
        run: batch,
    },
    Target { name: "rows", examples: &[b"\x00\x00\x01\xff", b"\x03\x10\x80\x7f\x02"], run: rows },
    Target {
        name: "store",
        examples: &[
            b"\x2f\x00\x00\x00\x01\x01\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01\x00\x00\x00\x01\x00\x00\x00kv\x03\x00\x00\x00\x00\x00\x00\x00\x00FJL\x03",
            b"\x00\x00\x10\x00TOC!\x01\x00\x00\x00SFA!\x01\x00LSM\x03\x01",
        ],
        run: store,
    },
    Target { name: "learned", examples: &[b"\x00\x10\x80\x7f\x02", b"\x01\xff"], run: learned },
    Target {
        name: "text",
        examples: &[b"A page of text.\nIt is 12:30 now, 4711 visitors.\n", "\u{1f600} \u{301}\n\n\n".as_bytes()],
        run: text,
    },
    Target {
        name: "world",
        examples: &[
            b"pages = 100\nhosts = 3\n[rates]\nmean = 0.1\n",
            b"site,url\na,http://a.test/\n",
            b"{\"site\":\"a\",\"window_start\":1,\"window_end\":2}",
        ],
        run: world,
    },
    Target {
        name: "table",
        examples: &[
            b"page,changes,days\r\n\"a,\"\"b\"\"\",3,1.5\r\nb,,1e3\r\n",
            b"\xef\xbb\xbfdays;page\n2;x\n",
            b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x4b\x4c\x4a\x06\x00\xc2\x41\x24\x35\x03\x00\x00\x00",
        ],
        run: table,
    },
];

/// A canonical URL is its own canonical form, and stays one of the web. Where no step is taken it is what
/// browsers make of the link.
fn url(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    const BASE: &str = "http://base.test/dir/page?q";
    let plain = Base::new(BASE, CanonicalSteps::NONE).unwrap().join(&text);
    let slashes = text.chars().filter(|c| *c > ' ').take_while(|c| matches!(c, '/' | '\\')).count();
    // The crate reads three slashes otherwise than browsers do, which our own tests look at; and a link
    // that is too long may be given up before all of it is read.
    if slashes < 3 && text.len() <= Canonical::MAX_LEN {
        let browser = reference::browser_link(BASE, &text);
        let browser = browser.filter(|url| url.len() <= Canonical::MAX_LEN);
        assert_eq!(plain.ok().map(|url| url.as_str().to_owned()), browser, "{text:?}");
    }
    let base = Base::new(BASE, CanonicalSteps::default()).unwrap();
    let _ = base.with_base_href(&text);
    let Ok(url) = base.join(&text) else { return };
    let again = base.join(url.as_str());
    assert_eq!(again.as_ref().map(Canonical::as_str), Ok(url.as_str()), "{text:?}");
    assert!(url.as_str().starts_with("http://") || url.as_str().starts_with("https://"));
    assert!(url.path_and_query().starts_with('/'), "{url:?}");
    let _ = (family_of(&url), surt(url.as_str()), Request::new(url.as_str()).map(drop));
}

/// A list of seeds, line by line, as it is read from a file.
fn seed(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines() {
        if let Ok(Some(seed)) = parse_seed_line(line, CanonicalSteps::default()) {
            assert!(!seed.target.candidates(CanonicalSteps::default()).is_empty(), "{line:?}");
            assert!(seed.tags.iter().all(|tag| !tag.is_empty()), "{line:?}");
        }
    }
    if let Ok(patterns) = Patterns::new("fuzz", &[text.into_owned()]) {
        let _ = patterns.matches("http://a.test/some/path");
    }
}

/// A verdict names the line that decides, and what allows everything disallows nothing.
fn robots(bytes: &[u8]) {
    let robots = RobotsTxt::parse(bytes, "evercrawl");
    for path in ["/", "/a", "/a/c?d=e", "/%7E", "/robots.txt"] {
        let verdict = robots.verdict(path);
        assert!(verdict.allowed || verdict.line.is_some(), "{path}");
    }
    assert!(robots.crawl_delay().is_none_or(|delay| delay < Duration::from_secs(1 << 40)));
    robots.sitemaps().for_each(|url| assert!(!url.contains('\n')));
    let text = String::from_utf8_lossy(bytes);
    let _ = Directives::from_meta("robots", &text, "evercrawl");
    let _ = Directives::from_header(&text, "evercrawl");
}

/// Whatever a well-formed file says, all read it alike: the first bytes are a path, the others the file.
fn verdicts(bytes: &[u8]) {
    let (path, file) = bytes.split_at(bytes.len().min(8));
    let (path, file) = (reference::path(path, b"ab/?.", false), reference::Robots::of(file));
    let text = file.text();
    for agent in ["evercrawl", "else"] {
        let ours = RobotsTxt::parse(text.as_bytes(), agent).verdict(&path).allowed;
        let robotxt = robotxt::Robots::parse(text.as_bytes(), agent).is_allowed(&path);
        let all = [ours, file.allows(agent, &path), robotxt];
        assert_eq!(all, [ours; 3], "ours, by definition, robotxt: {agent} at {path} by\n{text}");
    }
}

fn html(bytes: &[u8]) {
    let options =
        HtmlOptions { anchor_text: true, max_links: 100, max_text: 1000, ..HtmlOptions::default() };
    let document = Document { bytes, content_type: None, url: "https://example.org/" };
    let mut extractor = Extractor::new();
    let kind = extractor.extract(&document, &options).kind;
    assert_eq!(kind, sniff::sniff(bytes, None, document.url));
    let document = Document { content_type: Some("text/html"), ..document };
    if let Content::Page(page) = extractor.extract(&document, &options).content {
        assert!(page.links.len() <= 100 && page.text.len() <= 1000);
    }
    let _ = extractor.extract_xhtml(&String::from_utf8_lossy(bytes), &options);
    let _ = charset::decode_text(bytes, Some("shift_jis"), Some("a.jp"));
}

/// Every kind of document, looked through for links wherever they may stand.
fn places(bytes: &[u8]) {
    let sources = LinkSources::All;
    let options = HtmlOptions { max_links: 50, max_text: 1000, sources, ..HtmlOptions::default() };
    const TYPES: [&str; 7] = [
        "text/html",
        "application/xhtml+xml",
        "text/css",
        "text/javascript",
        "application/json",
        "text/plain",
        "image/svg+xml",
    ];
    for content_type in TYPES {
        let content_type = Some(content_type);
        let document = Document { bytes, content_type, url: "https://a.test/manifest.json" };
        let mut extractor = Extractor::new();
        let links = extractor.extract(&document, &options).links;
        assert!(links.len() <= 50, "{content_type:?}");
        assert!(links.iter().all(|link| !link.href.starts_with("javascript:")));
    }
    let mut headers = HeaderLinks::default();
    headers.add_link_header(&String::from_utf8_lossy(bytes));
    assert!(headers.links().len() <= 256);
}

fn pdf(bytes: &[u8]) {
    let options = HtmlOptions { max_links: 50, max_text: 1000, ..HtmlOptions::default() };
    let bytes = &[b"%PDF-1.7\n", bytes].concat();
    let document = Document { bytes, content_type: None, url: "https://a.test/a.pdf" };
    let mut extractor = Extractor::new();
    let extracted = extractor.extract(&document, &options);
    assert_ne!(extracted.unreadable, Some(Unreadable::Failed), "the reader panicked");
    match extracted.content {
        Content::Page(page) => assert!(page.links.len() <= 50 && page.text.len() <= 1000),
        other => assert!(other == Content::Nothing && extracted.unreadable.is_some()),
    }
}

/// A selector, one for what is left out, and a page. What is left out changes nothing of
/// what is chosen.
fn region(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.splitn(3, '\0');
    let (css, without, html) = (parts.next(), parts.next(), parts.next());
    let (css, without, html) =
        (css.unwrap_or_default(), without.unwrap_or_default(), html.unwrap_or_default());
    let tree = PageTree::read(html);
    let Ok(whole) = Region::new(css, &[] as &[&str]) else { return };
    let whole = whole.read_in(&tree);
    if let Some(whole) = &whole {
        assert!(whole.elements > 0);
        assert!(whole.html.len() <= html.len() + whole.elements, "{css} of {html}");
    }
    let Ok(part) = Region::new(css, &[without]) else { return };
    let part = part.read_in(&tree);
    assert_eq!(
        part.map(|part| part.elements),
        whole.map(|whole| whole.elements),
        "{css} {without}"
    );
}

fn listing(bytes: &[u8]) {
    let document = Document { bytes, content_type: None, url: "https://example.org/s.xml" };
    let listing = Listing::read_listing(&document);
    assert!(listing.entries.len() <= bytes.len(), "every entry is made of something");
}

fn header(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for time in [Time::parse_http(&text), Time::parse_iso(&text)].into_iter().flatten() {
        assert_eq!(Time::parse_iso(&time.rfc3339()), Ok(time), "{text:?}");
    }
    let _ = parse_retry_after(&text, Time::from_secs(1_000_000_000));
    let _ = charset::header_charset(&text);
    let _ = text.parse::<ConnectTo>();
    if let Ok(network) = text.parse::<Network>() {
        assert_eq!(network.to_string().parse::<Network>(), Ok(network), "{text:?}");
    }
}

/// Whatever it is, it does not become more than it may.
fn undo_coding(bytes: &[u8]) {
    const CODINGS: [&str; 8] =
        ["", "gzip", "deflate", "br", "zstd", "x-gzip, deflate", "gzip, gzip, br", "gzip;q=1,,"];
    let Some((&coding, body)) = bytes.split_first() else { return };
    let caps = decode::DecodeLimits { bytes: 3 << 20, ratio: 20 };
    let decoded = decode::decode(CODINGS[usize::from(coding) % CODINGS.len()], body, caps);
    assert!(decoded.bytes.len() <= (3 << 20).max(body.len()));
}

/// The first two bytes say where the archive ends and its index begins.
fn warc(bytes: &[u8]) {
    let Some((length, rest)) = bytes.split_first_chunk() else { return };
    let (warc, index) = rest.split_at(usize::from(u16::from_le_bytes(*length)).min(rest.len()));
    let segments = MemorySegments::new();
    for (name, bytes) in [("a.warc", warc), ("a.cdxj", index)] {
        segments.create(name).unwrap();
        segments.append(name, 0, bytes).unwrap();
        segments.seal(name, name).unwrap();
    }
    let _ = check_file(&segments, &SegmentId::sealed("a.warc"), 1 << 20, |_| {});
}

/// What policies learned, read back from any bytes.
fn learned(bytes: &[u8]) {
    for name in ["index", "gamma", "uniform"] {
        let mut policy = find(name).and_then(|entry| entry.make(&Setup::default())).unwrap();
        let _ = policy.restore_learned(bytes);
        let mut written = policy.encode_learned();
        for (byte, hurt) in written.iter_mut().zip(bytes.iter().cycle()) {
            *byte ^= hurt;
        }
        let _ = policy.restore_learned(&written);
    }
}

fn text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let outline = Outline::of_text(&text);
    let _ = Fingerprint::of_text(&text);
    let watch = PageMemory::new(&outline);
    assert!(PageMemory::from_bytes(&watch.to_bytes()).is_some());
    let memories = [Some(watch), PageMemory::from_bytes(bytes)];
    for mut memory in memories.into_iter().flatten() {
        let found = memory.compare_visit(&VisitText {
            text: &text,
            outline: &outline,
            places: &[],
            page: 1,
            site: &SiteMemory::from_bytes(bytes),
            template: &TemplateMemory::from_bytes(bytes),
            second_look: SecondLook::Soon,
            at: 0,
        });
        let masked: Vec<u32> = found.masked.iter().map(|(id, _)| *id).collect();
        for range in outline.ranges_of(&masked) {
            assert!(text.get(range).is_some(), "noise begins and ends between characters");
        }
        assert_eq!(PageMemory::from_bytes(&memory.to_bytes()).as_ref(), Some(&memory));
    }
}

fn world(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = WorldSpec::parse("fuzz.toml", &text);
    let files = ["trace.json", "pages.csv", "changes.csv", "links.csv", "experiment.csv"];
    in_folder(&files.map(|name| (name, bytes)), |folder| {
        let _ = recorded::read(&[folder.to_owned()], true);
        let _ = microsoft::read(folder);
    });
}

/// A table as users bring them: every cell is read as what it should be, or an error says where it is wrong.
fn table(bytes: &[u8]) {
    const COLUMNS: Columns =
        Columns { required: &["page", "days"], optional: &["changes"], unused: &["note"] };
    for name in ["t.csv", "t.csv.gz"] {
        in_folder(&[(name, bytes)], |folder| {
            let Ok(table) = DataTable::open(&folder.join(name), &COLUMNS) else { return };
            let rows = table.rows().inspect(|row| {
                let _ = (row.text(0), row.number(1, NumberRange::Positive), row.flag(2));
            });
            assert_eq!(rows.count(), table.row_count());
            let _ = table.names(0);
        });
    }
}
