//! Does the extractor read pages as browsers and other crawlers do? Shared suites of both.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use crate::suite::{load, strings};
use evercrawl_extract::html::{Extractor, HtmlOptions, LinkKind};
use serde_json::Value;
use url::Url;

/// Of the html5lib tree construction cases, how many come out as the tree has them. Raise them when
/// the extractor gets better; a fall is a regression.
const EXACT_HREFS: usize = 1589;
const EXACT_TEXTS: usize = 1575;

#[test]
fn agrees_with_tree_construction() {
    let Some(suite) = load("html_links.json") else { return };
    let cases = suite.as_array().unwrap();
    let mut extractor = Extractor::new();
    let (mut hrefs, mut href_sets, mut texts) = (0, 0, 0);
    for case in cases {
        let html = case["html"].as_str().unwrap();
        let page = extractor.extract_html(html, &HtmlOptions::default());
        let anchors = page.links.iter().filter(|link| link.kind == LinkKind::Anchor);
        let found: Vec<String> = anchors.map(|link| link.href.to_owned()).collect();
        let want = strings(&case["hrefs"]);
        hrefs += usize::from(found == want);
        href_sets += usize::from(sorted(&found) == sorted(&want));
        let same_text = letters(&page.text) == letters(case["text"].as_str().unwrap());
        texts += usize::from(same_text);
        if !same_text && std::env::var_os("SHOW_MISSES").is_some() {
            eprintln!("{} {html:?}\n  want {}\n  have {:?}", case["file"], case["text"], page.text);
        }
    }
    eprintln!("of {}: hrefs {hrefs}, as sets {href_sets}, texts {texts}", cases.len());
    assert_eq!(href_sets, cases.len());
    assert!(hrefs >= EXACT_HREFS, "{hrefs} hrefs");
    assert!(texts >= EXACT_TEXTS, "{texts} texts");
}

#[test]
fn finds_the_links_that_other_crawlers_find() {
    let Some(suite) = load("links_more.json") else { return };
    for case in suite["cases"].as_array().unwrap() {
        let found = resolved_links(case);
        let expected: BTreeSet<String> = strings(&case["expected"]).into_iter().collect();
        let may: BTreeSet<String> = strings(&case["may"]).into_iter().collect();
        let missing: Vec<_> = expected.difference(&found).collect();
        let wrong: Vec<_> =
            found.iter().filter(|url| !expected.contains(*url) && !may.contains(*url)).collect();
        assert!(
            missing.is_empty() && wrong.is_empty(),
            "{}: missing {missing:?}, wrong {wrong:?}",
            case["id"]
        );
    }
}

/// The addresses a page leads to, without fragments and without the page itself.
fn resolved_links(case: &Value) -> BTreeSet<String> {
    let page_url = Url::parse(case["base_url"].as_str().unwrap()).unwrap();
    let mut extractor = Extractor::new();
    let page = extractor.extract_html(case["html"].as_str().unwrap(), &HtmlOptions::default());
    let base = page.base.as_deref().and_then(|base| page_url.join(base).ok());
    let base = base.unwrap_or_else(|| page_url.clone());
    let mut found = BTreeSet::new();
    for link in page.links.iter() {
        let Ok(mut url) = base.join(link.href) else { continue };
        url.set_fragment(None);
        if matches!(url.scheme(), "http" | "https") && url != page_url {
            found.insert(url.to_string());
        }
    }
    found
}

fn sorted(list: &[String]) -> BTreeSet<&String> {
    list.iter().collect()
}

/// The text without white space: we set blocks apart, the tree's text does not.
fn letters(text: &str) -> String {
    text.split_ascii_whitespace().collect()
}
