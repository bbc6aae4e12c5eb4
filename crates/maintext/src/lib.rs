//! What does a page say, without what surrounds it, and in which language?
//!
//! The page is read as blocks: headings, paragraphs, items, code, tables. Elements that surround the main part are
//! passed over, then blocks that only surround other texts: by their words and links, and by what other pages of the
//! site show as well ([`SitePassages`]).
//!
//! ```
//! let html = "<title>Soup</title><nav><a href=/>Home</a></nav><article><h1>Soup</h1>\
//!     <p>Cut the onions, and fry them slowly in a pot until they are brown.</p></article>";
//! let page = evercrawl_maintext::extract(html, "http://example.org/soup", &|_| false);
//! assert_eq!(page.text(), "Soup\nCut the onions, and fry them slowly in a pot until they are brown.");
//! assert_eq!(page.title.as_deref(), Some("Soup"));
//! ```

mod article;
mod blocks;
mod language;
mod main_part;
mod markdown;
mod markup;
mod rules;
mod site;
mod surroundings;

pub use blocks::{Block, BlockKind, Link};
pub use language::{detect_language, three_letters};
pub use site::SitePassages;

/// The most bytes of HTML that are read.
const MOST_HTML: usize = 8 << 20;

/// What a page says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MainText {
    /// Its title, without the name of the site.
    pub title: Option<String>,
    /// Who wrote it, as the page says.
    pub byline: Option<String>,
    /// When it was published, as the page says.
    pub published: Option<String>,
    /// When it was changed, as the page says.
    pub modified: Option<String>,
    /// A picture of it, as the page says.
    pub image: Option<String>,
    /// Its language in two letters: as its words show, else as the page says.
    pub language: Option<String>,
    /// Its main part.
    pub blocks: Vec<Block>,
}

/// Reads the main part of a page. `is_common` says which passages other pages of the site show as well, by their
/// [`Block::id`]; they are left out.
pub fn extract(html: &str, url: &str, is_common: &dyn Fn(u64) -> bool) -> MainText {
    let cut = (0..=MOST_HTML.min(html.len())).rev().find(|at| html.is_char_boundary(*at));
    let article = article::find(&html[..cut.unwrap_or(0)], url);
    let mut blocks = article.blocks;
    rules::drop_surroundings(&mut blocks, is_common);
    let declared = article.declared_language.as_deref().and_then(language::short);
    let language = language::of_blocks(&blocks).or(declared);
    MainText {
        title: article.title,
        byline: article.byline,
        published: article.published,
        modified: article.modified,
        image: article.image,
        language,
        blocks,
    }
}

impl MainText {
    /// What a plain text says: its paragraphs.
    pub fn of_plain(text: &str) -> Self {
        let blocks = blocks::of_plain(text);
        MainText { language: language::of_blocks(&blocks), blocks, ..MainText::default() }
    }

    /// Its text, a line a block.
    pub fn text(&self) -> String {
        let lines: Vec<&str> = self.blocks.iter().map(|block| &*block.text).collect();
        lines.join("\n")
    }

    /// As Markdown: headings, lists, code, tables, links, emphasis.
    pub fn markdown(&self) -> String {
        markdown::write(&self.blocks)
    }

    /// As HTML without scripts, styles, forms and attributes other than addresses.
    pub fn html(&self) -> String {
        markup::write(&self.blocks)
    }

    /// Its headings, with their levels.
    pub fn headings(&self) -> impl Iterator<Item = (u8, &str)> {
        self.blocks.iter().filter_map(|block| match block.kind {
            BlockKind::Heading(level) => Some((level, &*block.text)),
            _ => None,
        })
    }

    /// The links in it.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.blocks.iter().flat_map(|block| &block.links)
    }
}
