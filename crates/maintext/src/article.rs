//! Which part of a page is the main one, and what does the page say of itself?
//!
//! Elements that surround the main part on any page are passed over: menus, forms, sidebars, by their names, roles and
//! classes. Of what is left, the part that holds the text is taken.

use html5gum::{Token, Tokenizer};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use crate::blocks::{Block, BlockKind, BlockReader};
use crate::main_part::MainParts;
use crate::surroundings::{Strictness, main_level, surrounds};

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

/// The least bytes of a text node that is more than a label.
const LONG: usize = 60;

/// Finds the main part of a page.
pub(crate) fn find(html: &str, url: &str) -> Article {
    for how in [Strictness::All, Strictness::Little] {
        let read = PageReader::new(url, how).read(html);
        // What looks like surroundings by its name may hold the page; an element may never have ended.
        if read.said > 0 && read.is_whole && read.hidden <= 2 * read.said {
            return read.article;
        }
    }
    PageReader::new(url, Strictness::None).read(html).article
}

/// What came of reading a page.
struct ReadPage {
    article: Article,
    /// Bytes of text that were found, in longer texts.
    said: usize,
    /// Bytes of text that were passed over, in longer texts.
    hidden: usize,
    /// Whether every element that was passed over ended.
    is_whole: bool,
}

#[derive(Default)]
struct PageReader {
    blocks: BlockReader,
    found: Article,
    how: Strictness,
    /// The element that is passed over: its place in `open`.
    hidden_at: Option<usize>,
    hidden_text: usize,
    /// Scripts and links in what is passed over.
    unread: u32,
    open: Vec<OpenElement>,
    main: MainParts,
    in_title: bool,
    title: String,
}

/// An element that may hold others of its kind.
struct OpenElement {
    name: String,
    /// Whether it is a part of [`MainParts`].
    is_part: bool,
}

/// Elements that are remembered while they are open; deeper ones are read, but not told apart.
const MOST_OPEN: usize = 400;

impl PageReader {
    fn new(url: &str, how: Strictness) -> Self {
        let blocks = BlockReader::at(Url::parse(url).ok());
        PageReader { blocks, how, ..PageReader::default() }
    }

    fn read(mut self, html: &str) -> ReadPage {
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
        let (is_whole, hidden) = (self.hidden_at.is_none(), self.hidden_text);
        let mut article = self.found;
        article.blocks = self.main.choose(self.blocks.blocks);
        let said = article.blocks.iter().map(|block| block.text.len()).filter(|len| *len >= LONG);
        let said = said.sum();
        let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        article.title = article.title.or_else(|| own_title(&title, &article.blocks));
        ReadPage { article, said, hidden, is_whole }
    }

    fn start(&mut self, name: &str, attribute: &dyn Fn(&[u8]) -> Option<String>) {
        self.end_implied(name);
        if let Some(at) = self.hidden_at {
            self.unread += u32::from(matches!(name, "script" | "style" | "a" | "template"));
            if is_container(name) || self.open.get(at).is_some_and(|open| open.name == name) {
                self.push(name, false);
            }
            return;
        }
        match name {
            "meta" => return self.meta(attribute),
            "html" => self.found.declared_language = attribute(b"lang"),
            "title" => self.in_title = self.title.is_empty(),
            _ => {}
        }
        let level = main_level(name, attribute);
        let in_main = self.main.is_in_main();
        if level == 0 && surrounds(name, attribute, in_main, self.how) {
            // A void or unknown one ends where its parent does.
            self.blocks.separate();
            if self.open.len() < MOST_OPEN {
                self.hidden_at = Some(self.open.len());
                self.open.push(OpenElement { name: name.to_owned(), is_part: false });
            }
            return;
        }
        self.blocks.start(name, attribute);
        if is_container(name) || level > 0 {
            if self.open.len() < MOST_OPEN {
                self.main.start(level, look_of(name, attribute));
            }
            self.push(name, true);
            self.blocks.part = self.main.current();
        }
    }

    /// Ends what has no end tag before an element that it cannot hold.
    fn end_implied(&mut self, name: &str) {
        let ended: &[&str] = match name {
            "td" | "th" => &["td", "th"],
            "tr" | "tbody" => &["td", "th", "tr"],
            "li" => &["li"],
            "p" | "div" | "section" | "article" | "ul" | "ol" | "table" | "h1" | "h2" | "h3"
            | "h4" | "figure" => &["p"],
            _ => return,
        };
        while let Some(last) = self.open.last().filter(|last| ended.contains(&last.name.as_str())) {
            let last = last.name.clone();
            self.end(&last);
        }
    }

    /// Remembers an element that may hold others.
    fn push(&mut self, name: &str, is_part: bool) {
        if self.open.len() < MOST_OPEN {
            self.open.push(OpenElement { name: name.to_owned(), is_part });
        }
    }

    fn end(&mut self, name: &str) {
        if self.hidden_at.is_some() {
            self.unread = match name {
                "script" | "style" | "a" | "template" => self.unread.saturating_sub(1),
                _ => self.unread,
            };
        } else {
            self.in_title &= name != "title";
            self.blocks.end(name);
        }
        let Some(at) = self.open.iter().rposition(|open| open.name == name) else { return };
        while self.open.len() > at {
            if self.open.pop().is_some_and(|open| open.is_part) {
                self.main.end();
            }
        }
        self.blocks.part = self.main.current();
        // It ends with its parent at the latest.
        if self.hidden_at.is_some_and(|hidden| self.open.len() <= hidden) {
            self.hidden_at = None;
            self.unread = 0;
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_title {
            self.title.push_str(text);
        } else if self.hidden_at.is_none() {
            self.blocks.text(text);
        } else if self.unread == 0 && text.trim().len() >= LONG {
            self.hidden_text += text.trim().len();
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
}

/// What tells elements of one kind from others: their name and classes.
fn look_of(name: &str, attribute: &dyn Fn(&[u8]) -> Option<String>) -> u64 {
    xxh3_64(format!("{name} {}", attribute(b"class").unwrap_or_default()).as_bytes())
}

/// Whether an element groups others, and has an end tag.
fn is_container(name: &str) -> bool {
    matches!(
        name,
        "html"
            | "body"
            | "div"
            | "section"
            | "article"
            | "main"
            | "table"
            | "tr"
            | "td"
            | "th"
            | "ul"
            | "ol"
            | "dl"
            | "form"
            | "nav"
            | "aside"
            | "header"
            | "footer"
            | "blockquote"
            | "figure"
            | "center"
            | "fieldset"
            | "details"
            | "dialog"
            | "menu"
            | "select"
            | "button"
    )
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
