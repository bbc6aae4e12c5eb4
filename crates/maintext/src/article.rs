//! Which part of the page's tree is the main one?
//!
//! Readability finds it on most pages. Where it finds nothing, or much less than the page says outside of menus, the
//! element that is marked as the main one is taken, or the body without what is marked as something else.

use dom_query::Document;
use dom_smoothie::{Article as Found, Config, Readability};

/// The main part of a page, and what the page says of itself.
#[derive(Debug, Default)]
pub(crate) struct Article {
    pub(crate) html: String,
    pub(crate) title: Option<String>,
    pub(crate) byline: Option<String>,
    pub(crate) published: Option<String>,
    pub(crate) modified: Option<String>,
    pub(crate) image: Option<String>,
    pub(crate) declared_language: Option<String>,
}

/// Elements of a page that are looked at; others have no main part that is worth the time.
const MOST_ELEMENTS: usize = 100_000;
/// How deep elements may be nested. The crates that build and write trees do so by recursion in places.
const DEEPEST: usize = 400;

/// What is outside of the main part on any page.
const SURROUNDINGS: &str = "script, style, noscript, template, iframe, svg, form, button, select, nav, aside, \
    dialog, [role=navigation], [role=banner], [role=contentinfo], [role=search], [role=complementary], \
    [aria-hidden=true], [hidden]";
/// The same, unless a main element holds them.
const EDGES: &str = "header, footer";
/// What marks the main part.
const MAIN: [&str; 4] = ["main", "[role=main]", "article", "[itemprop=articleBody]"];

/// Texts that are shorter than this are held against what else the page says.
const SHORT: usize = 250;
/// How many times as much the page must say elsewhere.
const MUCH_MORE: usize = 3;

/// Finds the main part of a page.
pub(crate) fn find(html: &str, url: &str) -> Article {
    if is_too_deep(html) {
        return Article { html: html.to_owned(), ..Article::default() };
    }
    let document = Document::from(html);
    let declared = declared_language(&document);
    let plain = without_surroundings(html);
    let found = readable(document, url);
    let found_text = found.as_ref().map_or(0, |found| found.text_content.trim().len());
    let plain_text = plain.text.trim().len();
    // Where Readability finds little, it may have given up and taken all, menus included.
    let is_cleaner = plain_text > 0 && plain_text < found_text;
    let takes_plain = found_text < SHORT && (is_cleaner || plain_text > MUCH_MORE * found_text);
    let html = match &found {
        Some(found) if !takes_plain => found.content.to_string(),
        _ => plain.html,
    };
    let some = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let found = found.unwrap_or_else(nothing);
    Article {
        html,
        title: some(Some(found.title)).or(some(plain.title)),
        byline: some(found.byline),
        published: some(found.published_time),
        modified: some(found.modified_time),
        image: some(found.image),
        declared_language: some(found.lang).or(declared),
    }
}

fn readable(document: Document, url: &str) -> Option<Found> {
    let config = Config { max_elements_to_parse: MOST_ELEMENTS, ..Config::default() };
    Readability::with_document(document, Some(url), Some(config)).ok()?.parse().ok()
}

fn nothing() -> Found {
    Found {
        title: String::new(),
        byline: None,
        content: "".into(),
        text_content: "".into(),
        length: 0,
        excerpt: None,
        site_name: None,
        dir: None,
        lang: None,
        published_time: None,
        modified_time: None,
        image: None,
        favicon: None,
        url: None,
    }
}

/// The part that is marked as the main one, or all but what is marked as something else.
#[derive(Default)]
struct Plain {
    html: String,
    text: String,
    title: Option<String>,
}

fn without_surroundings(html: &str) -> Plain {
    let document = Document::from(html);
    let title = document.select("title").iter().next().map(|title| title.text().trim().to_owned());
    document.select(SURROUNDINGS).remove();
    let marked = MAIN.iter().find_map(|marked| {
        let found = document.select(marked);
        (found.length() == 1 && found.text().trim().len() > SHORT).then_some(found)
    });
    let main = marked.unwrap_or_else(|| {
        document.select(EDGES).remove();
        document.select("body")
    });
    Plain { html: main.html().to_string(), text: main.text().to_string(), title }
}

fn declared_language(document: &Document) -> Option<String> {
    document.select("html").attr("lang").map(|lang| lang.to_string())
}

/// Whether elements are nested deeper than any page for people has them. An upper bound, by tags alone.
fn is_too_deep(html: &str) -> bool {
    const VOID: [&str; 14] = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source",
        "track", "wbr", "p",
    ];
    let (mut depth, mut deepest) = (0_usize, 0);
    for part in html.split('<').skip(1) {
        let (is_end, name) = match part.strip_prefix('/') {
            Some(rest) => (true, rest),
            None => (false, part),
        };
        let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
        if end == 0 || VOID.iter().any(|void| name[..end].eq_ignore_ascii_case(void)) {
            continue;
        }
        depth = if is_end { depth.saturating_sub(1) } else { depth + 1 };
        deepest = deepest.max(depth);
    }
    deepest > DEEPEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_are_nested_too_deep_are_read_as_they_are() {
        let deep = "<div>".repeat(100_000) + "words" + &"</div>".repeat(100_000);
        assert!(is_too_deep(&deep));
        assert_eq!(find(&deep, "http://a.org/").html, deep);
        assert!(!is_too_deep(&"<p>x<br><li>y</li>".repeat(10_000)));
        assert!(!is_too_deep("a < b </div> <"));
    }

    #[test]
    fn a_short_page_is_not_lost() {
        let html =
            "<html lang=de><title>T</title><nav><a href=/>Home</a></nav><main><p>Kurz.</p></main>";
        let found = find(html, "http://a.org/");
        assert!(found.html.contains("Kurz.") && !found.html.contains("Home"), "{}", found.html);
        assert_eq!(
            (found.title.as_deref(), found.declared_language.as_deref()),
            (Some("T"), Some("de"))
        );
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(60))]
        #[test]
        fn any_tags_are_read(
            html in "(<(/?)(a|b|p|div|li|ul|pre|td|tr|table|h1|body|html|head|title|svg|article|br|template|form)\
                ( href=x| class=article| id=comment)?>|[a é,.&;<]{0,9}){0,60}",
        ) {
            crate::extract(&html, "http://a.org/", &|_| false).markdown();
        }
    }

    #[test]
    fn nothing_is_made_of_nothing() {
        for html in ["", "<", "plain words", "<table><td>", "\0"] {
            find(html, "http://a.org/");
            find(html, "no url");
        }
    }
}
