//! Are sitemaps and feeds read as another crawler's tests expect?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use crate::suite::{load, strings};
use evercrawl_extract::{ContentKind, Document, Listing};
use serde_json::Value;

#[test]
fn reads_every_sitemap_as_expected() {
    let Some(suite) = load("sitemaps.json") else { return };
    let mut read = 0;
    for case in suite["cases"].as_array().unwrap() {
        if case["contested"].as_bool() == Some(true) {
            continue;
        }
        check(case);
        read += 1;
    }
    assert!(read > 20, "only {read} cases");
}

fn check(case: &Value) {
    let id = &case["id"];
    let content = case["content"].as_str().unwrap();
    let bytes =
        if case["base64"] == true { unbase64(content) } else { content.as_bytes().to_vec() };
    let document = Document {
        bytes: &bytes,
        content_type: case["content_type"].as_str(),
        url: case["url"].as_str().unwrap(),
    };
    let listing = Listing::read_listing(&document);
    let urls: Vec<String> = listing.entries.iter().map(|entry| entry.url.clone()).collect();
    assert_eq!(urls, strings(&case["expected_urls"]), "{id}");
    assert_eq!(kind_name(listing.kind, urls.is_empty()), case["kind"].as_str().unwrap(), "{id}");

    let dates: BTreeMap<String, String> = listing
        .entries
        .iter()
        .filter_map(|entry| {
            let claimed = entry
                .modified
                .or(entry.published.filter(|_| listing.kind != ContentKind::Sitemap))?;
            Some((entry.url.clone(), claimed.rfc3339().replace("T00:00:00Z", "")))
        })
        .collect();
    let expected: BTreeMap<String, String> = case["expected_lastmod"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(url, date)| (url.clone(), date.as_str().unwrap().replace("T00:00:00Z", "")))
        .collect();
    assert_eq!(dates, expected, "{id}");
}

fn kind_name(kind: ContentKind, empty: bool) -> &'static str {
    match kind {
        ContentKind::Sitemap => "urlset",
        ContentKind::SitemapIndex => "index",
        ContentKind::Rss => "rss",
        ContentKind::Atom => "atom",
        ContentKind::Text if empty => "none",
        ContentKind::Text => "text",
        _ => "other",
    }
}

fn unbase64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<u32> = text
        .bytes()
        .filter_map(|byte| ALPHABET.iter().position(|letter| *letter == byte))
        .map(|digit| digit as u32)
        .collect();
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let bits = group.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}
