//! Which links does a rendered page have beside those in its own DOM?

use evercrawl_compare::Digest;
use evercrawl_extract::{ContentKind, Document, Extractor, HtmlOptions, LinkRef, Links};
use evercrawl_model::Outcome;
use evercrawl_render::{Frame, LeadKind, Rendered};
use evercrawl_state::{PageRow, Store};
use url::Url;

use super::Processor;
use super::answer::{self, whole_past};
use super::processed::{Job, Processed};

/// What the identity of a rendered page begins with: what a browser made of a page is never compared with its source.
const MARK: [u8; 4] = *b"DOM\0";

/// The identity of a page by its DOM.
pub(super) fn identity(dom: &str) -> Digest {
    let mut identity = Digest::of_bytes(dom.as_bytes()).to_bytes();
    identity[..MARK.len()].copy_from_slice(&MARK);
    Digest::from_bytes(identity)
}

/// Whether a page was rendered when it was last held.
pub(crate) fn was_rendered(row: &PageRow) -> bool {
    let held = whole_past(row).and_then(|past| past.digest);
    held.is_some_and(|identity| identity.starts_with(&MARK))
}

/// Markup that is ours, or a browser's.
pub(super) fn document<'a>(html: &'a str, url: &'a str) -> Document<'a> {
    Document { bytes: html.as_bytes(), content_type: Some("text/html; charset=utf-8"), url }
}

/// Whether a page was rendered when it was held and is not now, or the other way round. Then nothing can be said of a
/// change: the first of its kind is what later ones are compared with.
pub(super) fn is_incomparable(row: &PageRow, is_rendered: bool, kind: ContentKind) -> bool {
    let is_page = whole_past(row).is_some_and(|past| past.outcome != Outcome::Redirect);
    is_page && kind == ContentKind::Html && was_rendered(row) != is_rendered
}

/// The DOM of a page as a document, where it was rendered; relative links refer to where the page says that it is.
pub(super) fn dom_of(job: &Job) -> Option<String> {
    let frame = job.rendered.as_ref()?.page.frames.first()?;
    if frame.base == job.lease.row.url {
        return Some(frame.html.clone());
    }
    Some(format!("<base href=\"{}\">{}", escaped(&frame.base), frame.html))
}

/// A document of all other links: of frames, of what clicks showed, where scripts would have gone, and what was asked
/// for.
pub(super) fn other_links(rendered: &Rendered, options: &HtmlOptions) -> String {
    let mut found = String::new();
    let frames = rendered.frames.iter().skip(1).chain(&rendered.after_clicks);
    let mut extractor = Extractor::new();
    for frame in frames {
        add_links(frame, (&mut extractor, options), &mut found);
    }
    let is_page = |kind| kind != LeadKind::Connection;
    for lead in rendered.leads.iter().filter(|lead| is_page(lead.kind)) {
        add(&lead.url, &mut found);
    }
    for exchange in rendered.exchanges.iter().filter(|exchange| exchange.url.starts_with("http")) {
        let url = escaped(&exchange.url);
        // What the page is made of; and where it would have sent something, which is a URL like those in scripts.
        found += &match exchange.method.as_str() {
            "GET" => format!("<img src=\"{url}\">"),
            _ if exchange.url.contains("--") => continue,
            _ => format!("<!-- {} -->", exchange.url),
        };
    }
    found
}

fn add_links(
    frame: &Frame,
    (extractor, options): (&mut Extractor, &HtmlOptions),
    found: &mut String,
) {
    let Ok(base) = Url::parse(&frame.base) else { return };
    let extracted = extractor.extract(&document(&frame.html, &frame.base), options);
    let leads_on = |link: &LinkRef<'_>| link.kind.leads_to_page() && !link.rel.nofollow;
    for link in extracted.links.iter().filter(leads_on) {
        if let Ok(url) = base.join(link.href) {
            add(url.as_str(), found);
        }
    }
}

fn add(url: &str, found: &mut String) {
    *found += &format!("<a href=\"{}\"></a>", escaped(url));
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

impl<S: Store> Processor<S> {
    /// Reads where a rendered page leads beside the links in its own DOM, and where its source does.
    pub(super) fn read_other_links(
        &mut self,
        processed: &mut Processed,
        unpacked: &[u8],
        nofollow: bool,
    ) {
        let (Some(rendered), Ok(response)) =
            (&processed.job.rendered, &processed.job.fetched.result)
        else {
            return;
        };
        let (lease, at) = (&processed.job.lease, processed.job.ended);
        let others = other_links(&rendered.page, self.links.options());
        let others = self::document(&others, &lease.row.url);
        let source = answer::document(response, unpacked, &lease.row.url);
        for document in [others, source] {
            let extracted = self.extractor.extract(&document, self.links.options());
            let read_from = (&extracted, &Links::default());
            self.links.read(lease, read_from, nofollow, at, &mut processed.links);
        }
    }
}
