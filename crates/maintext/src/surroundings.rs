//! Which elements surround the main part of a page? Told by their names, their roles, and the words in their classes and
//! identifiers.
//!
//! Classes are written in many ways: `site-footer`, `relatedPosts`, `post__share`. They are taken apart into words.

/// How much is passed over: first all that looks like surroundings; where that hides most of what a page says, less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strictness {
    /// Nothing but what no reader sees.
    None,
    /// Elements and classes that mean nothing else.
    Little,
    /// Whatever looks like it.
    #[default]
    All,
}

/// Classes and identifiers that mean nothing else.
const NAMES: &[&str] = &[
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
    "commentlist",
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
    "widget",
    "widget-area",
    "sr-only",
    "visually-hidden",
    "screen-reader-text",
    "noprint",
    "mw-editsection",
    "navbox",
    "headerlink",
    "disqus_thread",
    "respond",
    "entry-meta",
    "post-meta",
    "article-meta",
    "meta",
    "print-only",
];

/// Words of which one is enough.
const WORDS: &[&str] = &[
    "nav",
    "navbar",
    "navi",
    "navigation",
    "subnav",
    "menu",
    "submenu",
    "sidebar",
    "rightbar",
    "leftbar",
    "footer",
    "breadcrumb",
    "breadcrumbs",
    "crumbs",
    "cookie",
    "cookies",
    "consent",
    "gdpr",
    "share",
    "shares",
    "sharing",
    "sharebar",
    "sharedaddy",
    "addtoany",
    "addthis",
    "social",
    "sociable",
    "socials",
    "comments",
    "commentlist",
    "commentaires",
    "kommentare",
    "disqus",
    "related",
    "relatedposts",
    "recommended",
    "recommendations",
    "recirc",
    "yarpp",
    "promo",
    "promotion",
    "promobox",
    "newsletter",
    "signup",
    "subscribe",
    "subscription",
    "abo",
    "advert",
    "adverts",
    "advertisement",
    "advertising",
    "ads",
    "adsense",
    "anzeige",
    "werbung",
    "publicite",
    "sponsored",
    "sponsor",
    "banner",
    "pagination",
    "pager",
    "pagenav",
    "prevnext",
    "toolbar",
    "topbar",
    "masthead",
    "tags",
    "taglist",
    "tagcloud",
    "popup",
    "modal",
    "overlay",
    "lightbox",
    "searchbox",
    "searchform",
    "trending",
    "popular",
    "mostread",
    "outbrain",
    "taboola",
    "login",
    "paywall",
    "rating",
    "ratings",
    "byline",
    "bylines",
    "copyright",
    "disclaimer",
    "tooltip",
    "dropdown",
    "skiplink",
    "skip",
    "feedback",
    "infobox",
    "navbox",
    "catlinks",
];

/// Pairs of words in one class: `author-bio`, `read-more`.
const PAIRS: &[(&str, &str)] = &[
    ("author", "bio"),
    ("author", "box"),
    ("author", "info"),
    ("author", "card"),
    ("author", "profile"),
    ("author", "block"),
    ("author", "description"),
    ("author", "image"),
    ("about", "author"),
    ("read", "more"),
    ("read", "next"),
    ("see", "also"),
    ("more", "stories"),
    ("more", "articles"),
    ("more", "posts"),
    ("more", "news"),
    ("most", "read"),
    ("most", "popular"),
    ("latest", "news"),
    ("latest", "posts"),
    ("recent", "posts"),
    ("recent", "comments"),
    ("entry", "meta"),
    ("post", "meta"),
    ("article", "meta"),
    ("post", "info"),
    ("article", "info"),
    ("article", "tools"),
    ("post", "navigation"),
    ("post", "date"),
    ("post", "author"),
    ("entry", "utility"),
    ("screen", "reader"),
    ("visually", "hidden"),
    ("sr", "only"),
    ("comment", "form"),
    ("comment", "list"),
    ("comment", "respond"),
    ("comment", "section"),
    ("you", "like"),
    ("print", "only"),
    ("no", "print"),
    ("post", "tags"),
    ("back", "top"),
    ("article", "date"),
    ("image", "credit"),
];

/// Words that turn the meaning: `no-sidebar`, `has-related`.
const TURNING: &[&str] = &["no", "has", "with", "without", "hide", "is", "js"];

/// What begins classes that tell the topic of a page, whatever it is.
const TOPICS: &[&str] = &[
    "tag-",
    "category-",
    "cat-",
    "format-",
    "status-",
    "type-",
    "postid-",
    "term-",
    "page-template",
];

/// Classes of what holds the text of an article, without dashes and underscores.
const BODIES: &[&str] = &[
    "articlebody",
    "articlecontent",
    "articletext",
    "articlemain",
    "articlecopy",
    "postbody",
    "postcontent",
    "posttext",
    "entrycontent",
    "entrybody",
    "entrytext",
    "storybody",
    "storycontent",
    "storytext",
    "newsbody",
    "newscontent",
    "newstext",
    "blogcontent",
    "blogpost",
    "bodytext",
    "bodycopy",
    "maintext",
    "textcontent",
    "articledetail",
    "articlefulltext",
    "contentbody",
    "richtext",
    "postentry",
    "singlecontent",
    "themepostcontent",
    "artikeltext",
    "articlepagecontent",
    "pagecontent",
    "mwparseroutput",
    "contenttext",
    "fulltext",
];

/// What is asked of an element.
type Attribute<'a> = &'a dyn Fn(&[u8]) -> Option<String>;

/// Whether an element holds what surrounds the main part. `in_main` tells whether it stands inside a main element.
pub(crate) fn surrounds(
    name: &str,
    attribute: Attribute<'_>,
    in_main: bool,
    how: Strictness,
) -> bool {
    if how == Strictness::None {
        return false;
    }
    match name {
        "nav" | "aside" | "button" | "select" | "dialog" | "footer" | "menu" => return true,
        "form" => return how == Strictness::All,
        "header" => return !in_main,
        "div" | "section" | "ul" | "ol" | "dl" | "p" | "table" | "td" | "span" | "li"
        | "figure" | "h2" | "h3" | "h4" | "a" => {}
        _ => return false,
    }
    is_unseen(attribute) || has_role(attribute) || is_named_so(name, attribute, how)
}

fn is_unseen(attribute: Attribute<'_>) -> bool {
    let style = attribute(b"style").unwrap_or_default().replace(' ', "").to_ascii_lowercase();
    attribute(b"hidden").is_some()
        || attribute(b"aria-hidden").is_some_and(|text| text == "true")
        || style.contains("display:none")
        || style.contains("visibility:hidden")
}

fn has_role(attribute: Attribute<'_>) -> bool {
    const ROLES: [&str; 7] =
        ["navigation", "banner", "contentinfo", "search", "complementary", "dialog", "alertdialog"];
    attribute(b"role").is_some_and(|role| ROLES.contains(&role.as_str()))
}

fn is_named_so(element: &str, attribute: Attribute<'_>, how: Strictness) -> bool {
    // A link in a text may be called anything, and a section is often called by its heading.
    let by_class = how == Strictness::All && element != "a";
    let by_id = by_class && matches!(element, "div" | "ul" | "table" | "td" | "p");
    [(b"class".as_slice(), by_class), (b"id", by_id)].iter().any(|(of, by_words)| {
        let Some(names) = attribute(of) else { return false };
        names.split_ascii_whitespace().any(|name| {
            NAMES.contains(&name.to_ascii_lowercase().as_str()) || *by_words && is_compound_of(name)
        })
    })
}

fn is_compound_of(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    if name.len() > 80 || TOPICS.iter().any(|topic| lower.starts_with(topic)) {
        return false;
    }
    let words = words_of(name);
    if words.iter().any(|word| TURNING.contains(&word.as_str())) {
        return false;
    }
    let has = |word: &str| words.iter().any(|own| own == word);
    words.iter().any(|word| WORDS.contains(&word.as_str()))
        || PAIRS.iter().any(|(one, next)| has(one) && has(next))
}

/// `related`, `posts` of `related-posts`, `relatedPosts` and `related__posts`.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let begins = !c.is_alphanumeric() || c.is_uppercase() && before.is_lowercase();
        if begins && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words
}

/// How sure it is that an element holds the main part: 0 where nothing says so, 2 for the text of an article.
pub(crate) fn main_level(name: &str, attribute: Attribute<'_>) -> u8 {
    let is = |of: &[u8], value: &str| {
        attribute(of).is_some_and(|own| own.trim().eq_ignore_ascii_case(value))
    };
    if is(b"itemprop", "articleBody")
        || is(b"itemprop", "blogPost")
        || is(b"property", "content:encoded")
    {
        return 2;
    }
    if matches!(name, "div" | "section" | "td" | "span" | "article" | "main") {
        let is_body = |names: String| {
            names.split_ascii_whitespace().any(|name| {
                let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
                let plain = plain.to_ascii_lowercase();
                BODIES
                    .iter()
                    .any(|body| plain == *body || plain.len() < 40 && plain.ends_with(body))
            })
        };
        if [b"class".as_slice(), b"id"].iter().any(|of| attribute(of).is_some_and(is_body)) {
            return 2;
        }
    }
    u8::from(matches!(name, "main" | "article") || is(b"role", "main") || is(b"role", "article"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str) -> bool {
        let attribute = |of: &[u8]| (of == b"class").then(|| name.to_owned());
        surrounds("div", &attribute, false, Strictness::All)
    }

    #[test]
    fn classes_are_taken_apart() {
        for name in [
            "site-footer",
            "relatedPosts",
            "post__share",
            "jp-relatedposts",
            "top navbar",
            "author-bio",
            "entry-meta",
            "cookie-consent",
            "comments-area",
            "widget",
            "td-post-sharing-top",
            "mainMenu",
            "newsletter_signup",
        ] {
            assert!(class(name), "{name}");
        }
        for name in [
            "no-sidebar",
            "content",
            "post tag-social category-ads",
            "entry-content",
            "article",
            "hentry has-related",
            "author",
            "main-column",
            "story",
            "elementor-widget-text-editor",
            "layout",
        ] {
            assert!(!class(name), "{name}");
        }
    }

    #[test]
    fn bodies_of_articles_are_known() {
        let level = |name: &str, class: &str| {
            main_level(name, &|of: &[u8]| (of == b"class").then(|| class.to_owned()))
        };
        assert_eq!(level("div", "entry-content clear"), 2);
        assert_eq!(level("div", "td-post-content"), 2);
        assert_eq!(level("div", "article__body"), 2);
        assert_eq!(
            (level("main", ""), level("div", "content"), level("p", "post-body")),
            (1, 0, 0)
        );
    }
}
