//! What did a page say at a visit?

use evercrawl_export::Content;
use evercrawl_extract::charset::{decode_text, header_charset};
use evercrawl_extract::{
    Content as Extracted, ContentKind, Document, Extractor, HtmlOptions, sniff,
};
use evercrawl_rules::PageVersion;

/// What was read from a capture of `url`; `None` where readers see no text.
pub(crate) fn version_of(content: &Content, url: &str) -> Option<PageVersion> {
    let body = content.body();
    let content_type = content.header("content-type");
    let content_type = content_type.as_deref();
    let kind = sniff::sniff(&body, content_type, url);
    let mut extractor = Extractor::new();
    if matches!(kind, ContentKind::Html | ContentKind::Xhtml) {
        let html = decode_text(&body, content_type.and_then(header_charset), None)?.text;
        let page = extractor.extract_html(&html, &HtmlOptions::default());
        return Some(PageVersion {
            text: with_title(page.title.as_deref(), &page.text),
            html: Some(html.into_owned()),
        });
    }
    let document = Document { bytes: &body, content_type, url };
    match extractor.extract(&document, &HtmlOptions::default()).content {
        Extracted::Page(page) => {
            Some(PageVersion { html: None, text: with_title(page.title.as_deref(), &page.text) })
        }
        Extracted::Text(text) => Some(PageVersion { html: None, text: text.into_owned() }),
        Extracted::Listing(listing) => {
            let text = listing.entries.iter().map(|entry| format!("{}\n", entry.url)).collect();
            Some(PageVersion { html: None, text })
        }
        Extracted::Nothing => None,
    }
}

/// The title stands first, as in the text that is compared.
fn with_title(title: Option<&str>, text: &str) -> String {
    title.map(|title| format!("{title}\n")).unwrap_or_default() + text
}
