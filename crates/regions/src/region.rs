//! What does a declared part of a page say? The text is what `extract` reads from the same source, so that it can be
//! compared like the text of a whole page.

use std::ops::Range;

use evercrawl_extract::{Extractor, HtmlOptions};

use crate::implied::BLOCKS;
use crate::selector::{BadSelector, Selector, matches};
use crate::tree::{Id, PageTree};

/// A part of a page: what some selectors choose, without what others choose inside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    css: Selector,
    without: Vec<Selector>,
}

/// What a region holds on a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionContent {
    /// What readers see of it: white space collapsed, a line a block.
    pub text: String,
    /// Its source, as the page has it.
    pub html: String,
    /// How many elements were chosen, not counting those inside others.
    pub elements: usize,
}

impl Region {
    /// The region of `css`, without what each of `without` chooses.
    pub fn new(css: &str, without: &[impl AsRef<str>]) -> Result<Self, BadSelector> {
        let without = without.iter().map(|one| one.as_ref().parse());
        Ok(Region { css: css.parse()?, without: without.collect::<Result<_, _>>()? })
    }

    /// What it holds on a page; `None` where no element is chosen: the region is missing.
    pub fn read(&self, html: &str) -> Option<RegionContent> {
        self.read_in(&PageTree::read(html))
    }

    /// The same, of a page that was read.
    pub fn read_in(&self, tree: &PageTree<'_>) -> Option<RegionContent> {
        let mut cut = vec![false; tree.elements.len()];
        for one in &self.without {
            for (cut, matched) in cut.iter_mut().zip(matches(&one.list, tree)) {
                *cut |= matched;
            }
        }
        let parts = parts(&self.css, tree);
        let mut content = RegionContent { elements: parts.len(), ..RegionContent::default() };
        let mut extractor = Extractor::new();
        for part in &parts {
            let html = source_without(tree, *part, &cut);
            let page = extractor.extract_html(&html, &HtmlOptions::default());
            // The title is no part of the text of a page, but somebody chose it.
            let title = page.title.as_deref().filter(|_| page.text.is_empty());
            push_lines(&mut content.text, title.unwrap_or(&page.text));
            push_lines(&mut content.html, &html);
        }
        (!parts.is_empty()).then_some(content)
    }
}

fn push_lines(text: &mut String, lines: &str) {
    if !text.is_empty() && !lines.is_empty() {
        text.push('\n');
    }
    text.push_str(lines);
}

/// The elements that are chosen, without those inside others.
fn parts(css: &Selector, tree: &PageTree<'_>) -> Vec<Id> {
    let chosen = matches(&css.list, tree);
    let (mut parts, mut next) = (Vec::new(), 0);
    while let Some(found) = (next..chosen.len()).find(|id| chosen[*id]) {
        parts.push(found);
        next = tree.elements[found].after;
    }
    parts
}

/// The source of an element without what is cut in it. Where a block was cut, a line ends.
fn source_without(tree: &PageTree<'_>, part: Id, cut: &[bool]) -> String {
    let Range { start: mut from, end } = tree.elements[part].outer.clone();
    let (mut html, mut next) = (String::new(), part);
    while next < tree.elements[part].after {
        let element = &tree.elements[next];
        if !cut[next] {
            next += 1;
            continue;
        }
        html.push_str(tree.html.get(from..element.outer.start).unwrap_or_default());
        if BLOCKS.contains(&&*element.name) {
            html.push_str("<br>");
        }
        (from, next) = (element.outer.end, element.after);
    }
    html.push_str(tree.html.get(from..end).unwrap_or_default());
    html
}
