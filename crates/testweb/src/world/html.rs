//! What does a page look like? Its HTML at a moment, written from its links and its sentences.

use super::bytes::{push, push_hex, push_number};
use super::dice::{DicePurpose, WorldDice};
use super::links::{LinkStyle, PageLink};
use super::page::ContentSource;
use super::prose::Sentences;
use super::{Charset, Edit, Host, PageId, World};
use std::ops::Range;

/// The circumstances of one look at a page.
#[derive(Clone, Copy)]
pub(crate) struct PageAppearance {
    pub(crate) now_ms: u64,
    /// Different at every look, for whatever must not be the same twice.
    pub(crate) nonce: u64,
    pub(crate) style: LinkStyle,
}

/// Buffers kept from page to page.
#[derive(Debug, Default)]
pub(crate) struct PageScratch {
    links: Vec<PageLink>,
    hrefs: Vec<u8>,
    spans: Vec<Range<usize>>,
}

impl World {
    /// Appends the HTML of a page, or of the original that it copies.
    pub(crate) fn push_page(
        &self,
        out: &mut Vec<u8>,
        source: ContentSource,
        look: PageAppearance,
        scratch: &mut PageScratch,
    ) {
        let page = source.page;
        let host = &self.host(page.host);
        self.links(host, page, look.now_ms, &mut scratch.links);
        self.write_hrefs(host, look, scratch);
        let title = self.spam_title(page).unwrap_or_else(|| self.title(page));
        self.push_head(out, host, page, &title, look.style);
        push_nav(out, scratch);
        push(out, "<main>\n<h1>");
        push(out, &title);
        push(out, "</h1>\n<p>Filed under ");
        push(out, self.prose.word(page.key() + u64::from(source.one_word_differs)));
        push(out, ".</p>\n");
        if self.push_storefront(out, host, page, look) {
            // Its text is among its parts.
        } else if self.push_spam_text(out, host, page) {
            self.push_text(out, host, page, look.now_ms, scratch);
        }
        push(out, "</main>\n");
        self.push_noise(out, host, page, look);
        self.push_footer(out, host, look.now_ms);
        push(out, "</body>\n</html>\n");
    }

    /// The title of a page, which no change alters.
    pub(crate) fn title(&self, page: PageId) -> String {
        let dice = &mut WorldDice::new(
            self.config.seed,
            DicePurpose::Text,
            page.key(),
            u64::from(page.generation),
        );
        let mut word = || self.prose.word(dice.next());
        format!("The {} {} of the {} {}", word(), word(), word(), page.slot)
    }

    fn write_hrefs(&self, host: &Host, look: PageAppearance, scratch: &mut PageScratch) {
        scratch.hrefs.clear();
        scratch.spans.clear();
        for link in &scratch.links {
            let start = scratch.hrefs.len();
            self.push_href(&mut scratch.hrefs, host, link.target, look.style);
            scratch.spans.push(start..scratch.hrefs.len());
        }
    }

    fn push_head(
        &self,
        out: &mut Vec<u8>,
        host: &Host,
        page: PageId,
        title: &str,
        style: LinkStyle,
    ) {
        push(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n");
        if host.charset == Charset::Latin1Meta {
            push(out, "<meta charset=\"iso-8859-1\">\n");
        }
        push(out, "<title>");
        push(out, title);
        push(out, "</title>\n");
        if self.says_nofollow(page) {
            push(out, "<meta name=\"robots\" content=\"nofollow\">\n");
        }
        if host.feed {
            push(out, "<link rel=\"alternate\" type=\"application/rss+xml\" href=\"/feed.xml\">\n");
        }
        self.push_spam_head(out, host, page, style);
        match self.ring_template(host.id) {
            Some(classes) => push(out, &format!("</head>\n<body class=\"{classes}\">\n")),
            None => push(out, "</head>\n<body>\n"),
        }
    }

    /// Appends the paragraphs, with repeated links between them until the page shows as many links as configured.
    fn push_text(
        &self,
        out: &mut Vec<u8>,
        host: &Host,
        page: PageId,
        now_ms: u64,
        scratch: &PageScratch,
    ) {
        let pool = self.pool(host);
        let mut text = WorldDice::new(
            self.config.seed,
            DicePurpose::Text,
            page.key(),
            1 + u64::from(page.generation),
        );
        let sentences = self.sentences(&mut text, pool.mean_bytes());
        let edition = self.edition(page, now_ms);
        let edited = edited_part(host.edit, text.below(u64::from(sentences)) as u32, sentences);
        let mut news = WorldDice::new(self.config.seed, DicePurpose::Edition, page.key(), edition);
        let repeats = u64::from(self.config.anchors).saturating_sub(scratch.links.len() as u64);
        let mut repeated = 0;
        for number in 0..sentences {
            if number % PARAGRAPH == 0 {
                push(out, "<p>");
            }
            let draw = text.next();
            let is_edited = edition > 0 && edited.contains(&number);
            if is_edited && number == edited.start {
                push(out, "Edition ");
                push_hex(out, edition);
                push(out, ". ");
            }
            out.extend_from_slice(pool.get(if is_edited { news.next() } else { draw }));
            if number % PARAGRAPH == PARAGRAPH - 1 || number == sentences - 1 {
                let due = repeats * u64::from(number + 1) / u64::from(sentences);
                push_repeats(out, scratch, repeated..due);
                repeated = due;
                push(out, "</p>\n");
            }
        }
    }

    /// The sentences that a host's pages are made of.
    pub(crate) fn pool(&self, host: &Host) -> &Sentences {
        match host.charset {
            Charset::Latin1 | Charset::Latin1Meta => &self.prose.latin1,
            Charset::Utf8 | Charset::Undeclared => &self.prose.utf8,
        }
    }

    fn sentences(&self, dice: &mut WorldDice, mean_bytes: u32) -> u32 {
        let bytes = f64::from(self.config.page_bytes) * (0.5 + dice.unit());
        ((bytes / f64::from(mean_bytes)) as u32).max(3)
    }
}

const PARAGRAPH: u32 = 5;

/// Which sentences a change rewrites: always the same ones of a page, so that two versions differ there and nowhere
/// else.
fn edited_part(edit: Edit, spot: u32, sentences: u32) -> Range<u32> {
    let paragraph = spot - spot % PARAGRAPH;
    match edit {
        Edit::Sentence => spot..spot + 1,
        Edit::Paragraph => paragraph..(paragraph + PARAGRAPH).min(sentences),
        Edit::Everything => 0..sentences,
    }
}

fn push_nav(out: &mut Vec<u8>, scratch: &PageScratch) {
    push(out, "<nav>\n<ul>\n");
    for (number, (link, span)) in scratch.links.iter().zip(&scratch.spans).enumerate() {
        push(out, if link.nofollow { "<li><a rel=\"nofollow\" href=\"" } else { "<li><a href=\"" });
        push_escaped(out, &scratch.hrefs[span.clone()]);
        push(out, "\">Link ");
        push_number(out, number as u64);
        push(out, "</a></li>\n");
    }
    push(out, "</ul>\n</nav>\n");
}

/// Appends links that the page has shown already, each to another of its fragments.
fn push_repeats(out: &mut Vec<u8>, scratch: &PageScratch, numbers: Range<u64>) {
    for number in numbers {
        let index = (number % scratch.links.len() as u64) as usize;
        push(
            out,
            if scratch.links[index].nofollow {
                "<a rel=\"nofollow\" href=\""
            } else {
                "<a href=\""
            },
        );
        push_escaped(out, &scratch.hrefs[scratch.spans[index].clone()]);
        push(out, "#s");
        push_number(out, number);
        push(out, "\">section ");
        push_number(out, number);
        push(out, "</a> ");
    }
}

/// Appends a URL as an attribute value; the only character of our URLs that needs care is the ampersand.
pub(crate) fn push_escaped(out: &mut Vec<u8>, url: &[u8]) {
    match url.iter().position(|&byte| byte == b'&') {
        None => out.extend_from_slice(url),
        Some(at) => {
            out.extend_from_slice(&url[..at]);
            push(out, "&amp;");
            push_escaped(out, &url[at + 1..]);
        }
    }
}
