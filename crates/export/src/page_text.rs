//! What does a capture say? Its main text, whatever it is written in.

use evercrawl_extract::charset::{decode_text, header_charset};
use evercrawl_extract::{
    Content as Extracted, ContentKind, Document, Extractor, HtmlOptions, sniff,
};
use evercrawl_maintext::MainText;

use crate::contents::Content;

/// What was read from a capture.
#[derive(Clone, Debug, Default)]
pub struct PageText {
    /// What the page says, without what surrounds it.
    pub main: MainText,
    /// The address that the page says is its true one, as it is written.
    pub canonical: Option<String>,
    /// Directives to robots: name and content of each `<meta>`.
    pub robots: Vec<(String, String)>,
}

/// Reads what a capture of `url` says; `None` where readers see no text: for data, scripts, feeds and sitemaps.
pub fn page_text(
    content: &Content,
    url: &str,
    is_common: &dyn Fn(u64) -> bool,
) -> Option<PageText> {
    let body = content.body();
    let content_type = content.header("content-type");
    let content_type = content_type.as_deref();
    let kind = sniff::sniff(&body, content_type, url);
    if matches!(kind, ContentKind::Html | ContentKind::Xhtml) {
        let header = content_type.and_then(header_charset);
        let html = decode_text(&body, header, host_of(url))?.text;
        let mut extractor = Extractor::new();
        let page = extractor.extract_html(&html, &HtmlOptions::default());
        return Some(PageText {
            canonical: page.canonical().map(str::to_owned),
            robots: page.robots.clone(),
            main: evercrawl_maintext::extract(&html, url, is_common),
        });
    }
    let document = Document { bytes: &body, content_type, url };
    match Extractor::new().extract(&document, &HtmlOptions::default()).content {
        Extracted::Text(text) if kind == ContentKind::Text && !is_program(content_type) => {
            Some(PageText { main: MainText::of_plain(&text), ..PageText::default() })
        }
        // A PDF, whose text has a line a block.
        Extracted::Page(page) => {
            let main = MainText::of_plain(&page.text.replace('\n', "\n\n"));
            Some(PageText {
                main: MainText { title: page.title.clone(), ..main },
                ..PageText::default()
            })
        }
        _ => None,
    }
}

/// Style sheets and scripts are text, but say nothing to readers.
fn is_program(content_type: Option<&str>) -> bool {
    content_type.is_some_and(|kind| kind.contains("css") || kind.contains("javascript"))
}

/// The host of a URL, as a hint to guess an encoding by.
fn host_of(url: &str) -> Option<&str> {
    let authority = url.split_once("://")?.1.split(['/', '?', '#']).next()?;
    Some(authority.split(':').next().unwrap_or(authority))
}
