//! Which part of a page is the main one, and what does the page say of itself?
//!
//! Elements that surround the main part on any page are passed over: menus, forms, sidebars, by their names, roles and
//! classes. Of what is left, what stands in a main element is taken; where there is none, all from the first long text
//! to the last.

use html5gum::{Token, Tokenizer};
use url::Url;

use crate::blocks::{Block, BlockKind, BlockReader};

/// The main part of a page, and what the page says of itself.
#[derive(Debug, Default)]
pub(crate) struct Article {
    pub(crate) blocks: Vec<Block>,
    pub(crate) title: Option<String>,
    pub(crate) byline: Option<String>,
    pub(crate) published: Option<String>,
    pub(crate) modified: Option<String>,
    pub(crate) image: Option<String>,
    pub(crate) declared_language: Option<String>,
}

/// The least bytes of text in a main element that is believed.
const LEAST_MAIN: usize = 250;
/// The least bytes of a text that is more than a label.
const LONG: usize = 60;
/// The share of a text in links from which on it is a menu.
const MENU: f64 = 0.33;

/// Words in classes and identifiers of what surrounds the main part.
const SURROUND: &[&str] = &[
    "nav",
    "navbar",
    "navigation",
    "navheader",
    "navfooter",
    "menu",
    "sidebar",
    "sphinxsidebar",
    "footer",
    "breadcrumb",
    "breadcrumbs",
    "cookie",
    "cookies",
    "share",
    "sharing",
    "social",
    "comments",
    "comment-list",
    "related",
    "promo",
    "newsletter",
    "advert",
    "advertisement",
    "ads",
    "banner",
    "pagination",
    "pager",
    "skip-link",
    "toolbar",
    "masthead",
    "tags",
    "popup",
    "modal",
    "searchbox",
    "search",
];

/// Finds the main part of a page.
pub(crate) fn find(html: &str, url: &str) -> Article {
    let (article, is_whole) = PageReader::new(url, true).read(html);
    let said: usize = article.blocks.iter().map(|block| block.text.len()).sum();
    // An element that was never closed would hide the rest of the page.
    match is_whole && said > 0 {
        true => article,
        false => PageReader::new(url, false).read(html).0,
    }
}

#[derive(Default)]
struct PageReader {
    blocks: BlockReader,
    found: Article,
    passes_over: bool,
    /// The element that is passed over, and how many of its name are open.
    hidden: Option<(String, u32)>,
    /// Main elements that are open.
    main: u32,
    in_title: bool,
    title: String,
}

impl PageReader {
    fn new(url: &str, passes_over: bool) -> Self {
        let blocks = BlockReader::at(Url::parse(url).ok());
        PageReader { blocks, passes_over, ..PageReader::default() }
    }

    /// The main part, and whether every element that was passed over ended.
    fn read(mut self, html: &str) -> (Article, bool) {
        for Ok(token) in Tokenizer::new(html) {
            match token {
                Token::StartTag(tag) => {
                    let name = String::from_utf8_lossy(&tag.name).into_owned();
                    let attribute = |name: &[u8]| {
                        let value = tag.attributes.get(name)?;
                        Some(String::from_utf8_lossy(value).into_owned())
                    };
                    self.start(&name, &attribute);
                }
                Token::EndTag(tag) => self.end(&String::from_utf8_lossy(&tag.name)),
                Token::String(text) => self.text(&String::from_utf8_lossy(&text)),
                _ => {}
            }
            if self.blocks.is_full() {
                break;
            }
        }
        self.blocks.finish_block();
        let is_whole = self.hidden.is_none();
        let mut article = self.found;
        article.blocks = main_blocks(self.blocks.blocks);
        let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        article.title = article.title.or_else(|| own_title(&title, &article.blocks));
        (article, is_whole)
    }

    fn start(&mut self, name: &str, attribute: &dyn Fn(&[u8]) -> Option<String>) {
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth += u32::from(hidden == name);
            return;
        }
        match name {
            "meta" => return self.meta(attribute),
            "html" => self.found.declared_language = attribute(b"lang"),
            "title" => self.in_title = self.title.is_empty(),
            _ => {}
        }
        let is_main = is_main(name, attribute);
        if self.passes_over && !is_main && self.surrounds(name, attribute) {
            self.hidden = Some((name.to_owned(), 1));
            return;
        }
        if is_main {
            self.main += 1;
        }
        self.blocks.in_main = self.main > 0;
        self.blocks.start(name, attribute);
    }

    fn end(&mut self, name: &str) {
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth -= u32::from(hidden == name);
            if *depth == 0 {
                self.hidden = None;
            }
            return;
        }
        self.in_title &= name != "title";
        self.blocks.end(name);
        if matches!(name, "main" | "article") {
            self.main = self.main.saturating_sub(1);
            self.blocks.in_main = self.main > 0;
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_title {
            self.title.push_str(text);
        } else if self.hidden.is_none() {
            self.blocks.text(text);
        }
    }

    fn meta(&mut self, attribute: &dyn Fn(&[u8]) -> Option<String>) {
        let Some(content) = attribute(b"content").filter(|text| !text.trim().is_empty()) else {
            return;
        };
        let name = attribute(b"property").or(attribute(b"name")).unwrap_or_default();
        let field = match name.to_ascii_lowercase().as_str() {
            "og:title" => &mut self.found.title,
            "author" | "article:author" => &mut self.found.byline,
            "article:published_time" | "date" | "dc.date" => &mut self.found.published,
            "article:modified_time" | "og:updated_time" => &mut self.found.modified,
            "og:image" => &mut self.found.image,
            _ => return,
        };
        field.get_or_insert_with(|| content.trim().to_owned());
    }

    /// Whether an element holds what surrounds the main part.
    fn surrounds(&self, name: &str, attribute: &dyn Fn(&[u8]) -> Option<String>) -> bool {
        match name {
            "nav" | "aside" | "form" | "button" | "select" | "dialog" | "footer" => return true,
            "header" => return self.main == 0,
            "div" | "section" | "ul" | "ol" | "p" | "table" | "span" => {}
            _ => return false,
        }
        let is_hidden = attribute(b"hidden").is_some()
            || attribute(b"aria-hidden").is_some_and(|text| text == "true");
        let roles = ["navigation", "banner", "contentinfo", "search", "complementary"];
        let has_role = attribute(b"role").is_some_and(|role| roles.contains(&role.as_str()));
        is_hidden
            || has_role
            || [b"class".as_slice(), b"id"].iter().any(|of| {
                let text = attribute(of).unwrap_or_default().to_ascii_lowercase();
                text.split_whitespace().any(|word| SURROUND.contains(&word))
            })
    }
}

fn is_main(name: &str, attribute: &dyn Fn(&[u8]) -> Option<String>) -> bool {
    matches!(name, "main" | "article")
        || attribute(b"role").is_some_and(|role| role == "main")
        || attribute(b"itemprop").is_some_and(|of| of == "articleBody")
}

/// The blocks of main elements; where these say little, all from the first long text to the last.
fn main_blocks(blocks: Vec<Block>) -> Vec<Block> {
    let said: usize =
        blocks.iter().filter(|block| block.in_main).map(|block| block.text.len()).sum();
    if said >= LEAST_MAIN {
        return blocks.into_iter().filter(|block| block.in_main).collect();
    }
    let Some(first) = blocks.iter().position(is_long) else { return blocks };
    let last = blocks.iter().rposition(is_long).unwrap_or(first);
    // What leads to the first text: its headings, and labels between them.
    let before = blocks[..first].iter().rposition(|block| share_in_links(block) >= MENU);
    let heading =
        blocks[..first].iter().position(|block| matches!(block.kind, BlockKind::Heading(_)));
    let start = heading.unwrap_or(first).max(before.map_or(0, |at| at + 1)).min(first);
    blocks.into_iter().take(last + 1).skip(start).collect()
}

fn is_long(block: &Block) -> bool {
    let is_text = block.text.len() >= LONG && !matches!(block.kind, BlockKind::Heading(_));
    (is_text || matches!(block.kind, BlockKind::Code(_))) && share_in_links(block) < MENU
}

fn share_in_links(block: &Block) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a share of a text")]
    let share = block.linked as f64 / block.text.len().max(1) as f64;
    share
}

/// The title without the name of the site: the first heading, if the title begins or ends with it.
fn own_title(title: &str, blocks: &[Block]) -> Option<String> {
    let is_heading = |block: &&Block| matches!(block.kind, BlockKind::Heading(1 | 2));
    let heading = blocks.iter().find(is_heading).map(|block| block.text.trim_end_matches('¶'));
    let own = heading
        .filter(|text| !text.is_empty() && (title.starts_with(*text) || title.ends_with(*text)));
    let title = own.unwrap_or(title);
    (!title.is_empty()).then(|| title.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(html: &str) -> String {
        let found = find(html, "http://a.org/x/y");
        found.blocks.iter().map(|block| &*block.text).collect::<Vec<_>>().join("|")
    }

    const LONG_TEXT: &str =
        "A text of some length that says what the page is about, and says it at length.";

    #[test]
    fn what_surrounds_the_main_part_is_passed_over() {
        for before in [
            "<nav><a href=/>Home</a></nav>",
            "<div class='top navbar'>Menu<div>x</div></div>",
            "<header>Site</header>",
            "<div role=navigation>Home</div>",
            "<form><p>Search</form>",
            "<p hidden>no</p>",
            "<ul id=sidebar><li>x</ul>",
        ] {
            assert_eq!(
                text(&format!("{before}<p>{LONG_TEXT}</p><footer>(c)</footer>")),
                LONG_TEXT,
                "{before}"
            );
        }
        let unclosed = format!("<nav><a href=/>Home</a><p>{LONG_TEXT}</p>");
        assert_eq!(text(&unclosed), LONG_TEXT, "a menu that never ends hides nothing");
        let marked =
            format!("<p>{LONG_TEXT} Not this.</p><main><p>{}</p></main>", LONG_TEXT.repeat(4));
        assert_eq!(text(&marked), LONG_TEXT.repeat(4));
    }

    #[test]
    fn a_page_says_what_it_is() {
        let html = "<html lang=de><title>Soup - My site</title><meta property=article:published_time content=2026>\
            <meta name=author content=' Me '><main><h1>Soup</h1><p>Kurz.</p></main>";
        let found = find(html, "http://a.org/");
        assert_eq!((found.title.as_deref(), found.byline.as_deref()), (Some("Soup"), Some("Me")));
        assert_eq!(
            (found.published.as_deref(), found.declared_language.as_deref()),
            (Some("2026"), Some("de"))
        );
        let linked = find(&format!("<p>{LONG_TEXT} <a href='../z'>on</a>"), "http://a.org/x/y");
        assert_eq!(linked.blocks[0].links[0].url, "http://a.org/z");
    }

    #[test]
    fn deep_nesting_and_nothing_are_read() {
        let deep = "<div>".repeat(200_000) + LONG_TEXT + &"</div>".repeat(200_000);
        assert_eq!(text(&deep), LONG_TEXT);
        for html in ["", "<", "plain words", "<table><td>", "\0"] {
            find(html, "http://a.org/");
            find(html, "no url");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(100))]
        #[test]
        fn any_tags_are_read(
            html in "(<(/?)(a|b|p|div|li|ul|pre|td|tr|table|h1|body|nav|main|title|svg|article|br|form)\
                ( href=x| class=nav| id=menu)?>|[a é,.&;<]{0,9}){0,60}",
        ) {
            crate::extract(&html, "http://a.org/", &|_| false).markdown();
        }
    }
}
