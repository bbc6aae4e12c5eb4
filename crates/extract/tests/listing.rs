//! Are feeds and sitemaps read, whole or broken?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use evercrawl_extract::listing::{AlternateLink, Frequency};
use evercrawl_extract::{
    Content, ContentKind, Document, Extractor, HtmlOptions, Listing, ListingEntry,
};

fn read(text: &str) -> Listing {
    Listing::read_listing(&Document {
        bytes: text.as_bytes(),
        content_type: None,
        url: "https://example.org/x",
    })
}

fn urls(listing: &Listing) -> Vec<&str> {
    listing.entries.iter().map(|entry| entry.url.as_str()).collect()
}

#[test]
fn a_sitemap_entry_has_all_that_its_owner_claims() {
    let listing = read(
        "<urlset><url><loc> /a </loc><lastmod>2024-05-06</lastmod><changefreq>Daily</changefreq>\
         <priority>0.5</priority><xhtml:link rel='alternate' hreflang='de' href='/de?a=1&amp;b=2'/>\
         <image:image><image:loc>/i.png</image:loc></image:image>\
         <video:video><video:content_loc>/v.mp4</video:content_loc></video:video>\
         <news:news><news:publication_date>2024-05-05</news:publication_date></news:news></url></urlset>",
    );
    let entry = &listing.entries[0];
    assert_eq!(entry.url, "/a");
    assert_eq!(entry.modified.unwrap().rfc3339(), "2024-05-06T00:00:00Z");
    assert_eq!(entry.published.unwrap().rfc3339(), "2024-05-05T00:00:00Z");
    assert_eq!((entry.frequency, entry.priority), (Some(Frequency::Daily), Some(0.5)));
    assert_eq!(entry.alternates, [AlternateLink { lang: "de".into(), url: "/de?a=1&b=2".into() }]);
    assert_eq!(entry.media, ["/i.png", "/v.mp4"]);
    assert!(!listing.damaged && !listing.cut);
}

#[test]
fn absurd_claims_are_dropped() {
    let listing = read(
        "<urlset><url><loc>/a</loc><lastmod>0000-00-00</lastmod><changefreq>often</changefreq>\
         <priority>11</priority></url><url><loc>/b</loc><lastmod>9999-01-01</lastmod><priority>NaN</priority></url></urlset>",
    );
    let bare = |url: &str| ListingEntry { url: url.to_owned(), ..ListingEntry::default() };
    assert_eq!(listing.entries, [bare("/a"), bare("/b")]);
}

#[test]
fn broken_xml_gives_what_can_be_read() {
    for (xml, want, damaged) in [
        ("<urlset><url><loc>/a?b=1&c=2&amp;d</loc></url></urlset>", &["/a?b=1&c=2&d"][..], false),
        ("<urlset><url><loc>/a&nbsp;b</loc></url></urlset>", &["/a&nbsp;b"], false),
        (
            "<urlset><url><loc>/a<lastmod>2024-01-01</lastmod></url><url><loc>/b</loc></url></urlset>",
            &["/a", "/b"],
            true,
        ),
        ("<urlset><url><loc>/a</loc><url><loc>/b</loc></urlset>", &["/a", "/b"], true),
        ("<urlset><url><loc>/a</loc></url><url><loc>/b", &["/a"], true),
        ("<urlset><url><loc>/a</loc></url></oops></urlset>", &["/a"], true),
        ("<URLSET><URL><LOC>/a</LOC></URL></URLSET>", &["/a"], false),
        ("<urlset><url><loc><!-- c -->/a<![CDATA[?b&c]]></loc></url></urlset>", &["/a?b&c"], false),
        (
            "<!DOCTYPE urlset [<!ENTITY x '/evil'>]><urlset><url><loc>&x;</loc></url></urlset>",
            &["&x;"],
            false,
        ),
        ("<urlset><url><loc></loc></url><url/></urlset>", &[], false),
        ("<urlset/>", &[], false),
        (
            "<br><b>Warning</b> in x.php\n<?xml version='1.0'?><urlset><url><loc>/a</loc></url></urlset>",
            &["/a"],
            true,
        ),
    ] {
        let listing = read(xml);
        assert_eq!(urls(&listing), want, "{xml}");
        assert_eq!(listing.damaged, damaged, "{xml}");
    }
}

#[test]
fn every_feed_gives_its_entries_hubs_and_topic() {
    let rss = "<rss version='2.0'><channel><link>/home</link><atom:link rel='self' href='/rss'/>\
        <atom:link rel='hub' href='/hub'/><image><url>/i.png</url><link>/home</link></image>\
        <item><link>/a</link><guid>http://x/g</guid><pubDate>Thu, 05 Jan 2017 13:34:51 +0100</pubDate></item>\
        <item><guid isPermaLink='true'>http://x/b</guid><dc:date>2017-01-05</dc:date></item>\
        <item><guid isPermaLink='false'>http://x/c</guid></item>\
        <item><description><![CDATA[<link>/no</link>]]></description></item></channel></rss>";
    let atom = "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='self' href='/rss'/><link rel='hub' href='/hub'/>\
        <link href='/home'/><entry><link rel='edit' href='/edit'/><link href='/a'/><updated>2017-01-05T12:34:51Z</updated>\
        <source><link href='/no'/><updated>2001-01-01</updated></source>\
        <content type='xhtml'><div><link href='/no'/></div></content></entry>\
        <entry><id>http://x/b</id><published>2017-01-05</published></entry></feed>";
    let json = r#"{"version": "https://jsonfeed.org/version/1.1", "feed_url": "/rss", "hubs": [{"type": "WebSub", "url": "/hub"}],
        "items": [{"id": 1, "url": "/a", "date_modified": "2017-01-05T12:34:51Z"},
                  {"id": "2", "url": "http://x/b", "date_published": "2017-01-05"}, {"id": "3"}]}"#;
    for (feed, kind) in
        [(rss, ContentKind::Rss), (atom, ContentKind::Atom), (json, ContentKind::JsonFeed)]
    {
        let listing = read(feed);
        assert_eq!((listing.kind, listing.damaged), (kind, false));
        assert_eq!(urls(&listing), ["/a", "http://x/b"], "{kind:?}");
        let dates: Vec<String> = listing
            .entries
            .iter()
            .filter_map(|entry| entry.modified.or(entry.published))
            .map(|time| time.rfc3339())
            .collect();
        assert_eq!(dates, ["2017-01-05T12:34:51Z", "2017-01-05T00:00:00Z"], "{kind:?}");
        assert_eq!(
            (listing.topic.as_deref(), listing.hubs.as_slice()),
            (Some("/rss"), &["/hub".to_owned()][..])
        );
    }
}

#[test]
fn other_encodings_are_read() {
    let (bytes, _, _) = encoding_rs::WINDOWS_1252.encode(
        "<?xml version='1.0' encoding='iso-8859-1'?><urlset><url><loc>/é</loc></url></urlset>",
    );
    let document = Document { bytes: &bytes, content_type: Some("text/xml"), url: "" };
    assert_eq!(urls(&Listing::read_listing(&document)), ["/é"]);
    let wide: Vec<u8> = "\u{feff}<urlset><url><loc>/é</loc></url></urlset>"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let document = Document { bytes: &wide, content_type: None, url: "" };
    assert_eq!(urls(&Listing::read_listing(&document)), ["/é"]);
}

#[test]
fn the_front_door_knows_what_it_is_given() {
    let mut extractor = Extractor::new();
    let mut kinds = Vec::new();
    for (bytes, content_type) in [
        (&b"<p>a page"[..], Some("text/html")),
        (b"<urlset><url><loc>/a</loc></url></urlset>", Some("text/html")),
        (b"plain", Some("text/plain")),
        (b"%PDF-1.7", Some("text/html")),
        (b"x", Some("text/html; charset=iso-2022-kr")),
    ] {
        let document = Document { bytes, content_type, url: "https://example.org/" };
        let extracted = extractor.extract(&document, &HtmlOptions::default());
        kinds.push(match extracted.content {
            Content::Page(page) => format!("page: {}", page.text),
            Content::Listing(listing) => format!("listing: {}", listing.entries.len()),
            Content::Text(text) => format!("text: {text}"),
            Content::Nothing => format!("nothing: {}", extracted.kind.mime()),
        });
    }
    assert_eq!(
        kinds,
        [
            "page: a page",
            "listing: 1",
            "text: plain",
            "nothing: application/pdf",
            "nothing: text/html"
        ]
    );
}
