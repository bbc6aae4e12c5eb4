//! Do any bytes at all give an answer, soon and within the caps?

use evercrawl_extract::{Content, ContentKind, Document, Extractor, HtmlOptions, Listing};
use proptest::prelude::*;

/// Enough repetitions that anything worse than linear would never end.
const MANY: usize = 20_000;

fn document(bytes: &[u8]) -> Document<'_> {
    Document { bytes, content_type: None, url: "https://example.org/" }
}

#[test]
fn hostile_markup_is_read_in_linear_time() {
    let mut extractor = Extractor::new();
    let options = HtmlOptions { anchor_text: true, ..HtmlOptions::default() };
    for piece in [
        "<div>",
        "<svg>",
        "</svg>",
        "<svg><title>",
        "<template>",
        "</template><noscript>",
        "<math><mi>",
        "<a href=x>",
        "<a href='",
        "<a b c ",
        "<!--",
        "<!--->",
        "<![CDATA[",
        "<svg><![CDATA[",
        "<script><!--<script>",
        "<title>",
        "</title",
        "&",
        "&amp",
        "&#x",
        "<",
        "</",
        "<?",
        "<table><tr>",
        "<img srcset='a 1x,'>",
        "<img srcset=',,,(",
        "<meta http-equiv=refresh content='0;url=x'>",
        "<frameset>",
        "<option><select>",
        "\0",
        "\u{e9}<\u{e9}",
        "<b\u{e9} \u{e9}=\u{e9}>",
    ] {
        let html = piece.repeat(MANY);
        let page = extractor.extract_html(&html, &options);
        assert!(page.links.len() <= options.max_links, "{piece}");
        assert!(page.text.len() <= options.max_text, "{piece}");
    }
}

#[test]
fn hostile_listings_are_read_in_linear_time() {
    for piece in [
        "<url>",
        "<url><loc>x",
        "<url><loc>http://a/</loc></url>",
        "</url>",
        "<a>",
        "</a>",
        "<loc>",
        "&",
        "&a;",
        "&#1;",
        "<",
        "<!--",
        "<![CDATA[",
        "<![CDATA[x]]>",
        "<?",
        "<!DOCTYPE x [",
        "<link href='a' ",
        "<link rel='x' rel='y' href='&'/>",
        "\0",
    ] {
        for root in ["<urlset>", "<rss>", "<feed>"] {
            let xml = format!("{root}{}", piece.repeat(MANY));
            assert!(
                Listing::read_listing(&document(xml.as_bytes())).entries.len() <= 50_000,
                "{piece}"
            );
        }
    }
    for piece in ["[", "{\"items\":", "{\"items\":[{\"url\":\"a\"},"] {
        let json = format!(
            "{{\"version\":\"https://jsonfeed.org/version/1\",\"x\":{}",
            piece.repeat(MANY)
        );
        let listing = Listing::read_listing(&document(json.as_bytes()));
        assert_eq!((listing.kind, listing.damaged), (ContentKind::JsonFeed, true), "{piece}");
    }
    let lines = "https://example.org/\n".repeat(60_000);
    let listing = Listing::read_listing(&document(lines.as_bytes()));
    assert_eq!((listing.entries.len(), listing.cut), (50_000, true));
}

fn markup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z<>&;/='\" \n\0\u{e9}]{0,12}",
        Just("<a href=".to_owned()),
        Just("<svg>".to_owned()),
        Just("</svg>".to_owned()),
        Just("<title>".to_owned()),
        Just("<script>".to_owned()),
        Just("<template>".to_owned()),
        Just("<meta http-equiv=refresh content='1;".to_owned()),
        Just("<img srcset='".to_owned()),
        Just("<url><loc>".to_owned()),
        Just("<![CDATA[".to_owned()),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn any_bytes_give_an_answer(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        content_type in prop::option::of("(text|application|image)/(html|xml|plain|json|x)(;charset=[a-z0-9-]{0,10})?"),
        url in "[a-z:/.@?#\u{e9}]{0,20}",
    ) {
        let mut extractor = Extractor::new();
        let document = Document { bytes: &bytes, content_type: content_type.as_deref(), url: &url };
        let extracted = extractor.extract(&document, &HtmlOptions::default());
        prop_assert_eq!(extracted.content == Content::Nothing, extracted.charset.is_none());
        prop_assert!(!extracted.kind.mime().is_empty());
        Listing::read_listing(&document);
    }

    #[test]
    fn caps_hold_on_any_markup(html in markup(), max_links in 0usize..4, max_text in 0usize..9) {
        let options = HtmlOptions { max_links, max_text, max_title: max_text, anchor_text: true, ..HtmlOptions::default() };
        let mut extractor = Extractor::new();
        let page = extractor.extract_html(&html, &options);
        prop_assert!(page.links.len() <= max_links);
        prop_assert!(page.text.len() <= max_text);
        prop_assert!(page.title.as_ref().is_none_or(|title| title.len() <= max_text));
        prop_assert!(page.text.lines().all(|line| !line.is_empty() && line.trim_ascii() == line));
        prop_assert!(!page.text.contains("  "));
    }

    #[test]
    fn reading_again_with_used_buffers_changes_nothing(first in markup(), second in markup()) {
        let options = HtmlOptions { anchor_text: true, ..HtmlOptions::default() };
        let mut used = Extractor::new();
        used.extract_html(&first, &options);
        let mut fresh = Extractor::new();
        prop_assert_eq!(used.extract_html(&second, &options), fresh.extract_html(&second, &options));
    }

    #[test]
    fn any_xml_keeps_what_it_lists_within_bounds(xml in markup(), root in "(urlset|rss|feed|sitemapindex)") {
        let xml = format!("<{root}>{xml}");
        let listing = Listing::read_listing(&document(xml.as_bytes()));
        prop_assert!(listing.entries.iter().all(|entry| !entry.url.is_empty()));
    }
}
