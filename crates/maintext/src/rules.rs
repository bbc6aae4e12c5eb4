//! Which blocks only surround the main text? Told by their words, their links and their place.
//!
//! A rule that would take most of a page takes nothing: then the page is of that kind, such as a list of links.

use crate::blocks::{Block, BlockKind};

/// The longest block that is taken for a button or a note by its words.
const LONGEST_NOTE: usize = 120;
/// Bytes that are no link in a line of links.
const LONGEST_LABEL: usize = 40;
/// Items and paragraphs in a row that are hardly more than links.
const LINKS_IN_A_ROW: usize = 3;
/// The share of a text in links from which on it is hardly more than links.
const MOSTLY_LINKS: f64 = 0.8;
/// The share of the text that must stay.
const MUST_STAY: f64 = 0.4;

/// Notes that begin so, in small letters.
const BEGIN: &[&str] = &[
    "share on",
    "share this",
    "share via",
    "tweet",
    "follow us",
    "subscribe to",
    "sign up for",
    "sign up to",
    "log in to",
    "read more",
    "read also",
    "see also:",
    "related:",
    "related articles",
    "related posts",
    "more from",
    "more on this",
    "advertisement",
    "all rights reserved",
    "copyright",
    "©",
    "skip to",
    "leave a comment",
    "leave a reply",
    "post a comment",
    "add a comment",
    "view comments",
    "no comments",
    "print this",
    "email this",
    "filed under",
    "posted in",
    "posted by",
    "tagged with",
    "tags:",
    "categories:",
    "we use cookies",
    "this site uses cookies",
    "this website uses cookies",
    "by continuing to",
    "accept all",
    "click here to",
    "back to top",
    "previous post",
    "next post",
    "previous article",
    "next article",
    "edit this page",
    "was this page helpful",
    "was this article helpful",
    "last updated:",
    "image credit",
    "photo credit",
    "join our",
    "get our newsletter",
    "download our app",
    "enable javascript",
    "please enable",
    // German
    "teilen auf",
    "auf facebook teilen",
    "artikel teilen",
    "diesen artikel",
    "mehr zum thema",
    "lesen sie auch",
    "weitere artikel",
    "anzeige",
    "newsletter abonnieren",
    "jetzt abonnieren",
    "kommentar schreiben",
    "kommentare",
    "schlagwörter",
    "alle rechte vorbehalten",
    "diese website verwendet cookies",
    "wir verwenden cookies",
    "zum seitenanfang",
    "nach oben",
    "drucken",
    "per e-mail",
    "quelle:",
    "zur startseite",
    "verwandte artikel",
    // French
    "partager",
    "lire aussi",
    "à lire aussi",
    "publicité",
    "abonnez-vous",
    "tous droits réservés",
    "nous utilisons des cookies",
    "ce site utilise des cookies",
    "laisser un commentaire",
    "articles similaires",
    "en savoir plus",
    "haut de page",
    // Spanish, Italian, Portuguese, Dutch
    "compartir",
    "leer más",
    "lea también",
    "publicidad",
    "suscríbete",
    "todos los derechos reservados",
    "utilizamos cookies",
    "condividi",
    "leggi anche",
    "leggi tutto",
    "pubblicità",
    "iscriviti",
    "tutti i diritti",
    "compartilhe",
    "leia também",
    "leia mais",
    "publicidade",
    "delen",
    "lees ook",
    "lees meer",
    "advertentie",
    // Polish, Czech
    "udostępnij",
    "czytaj także",
    "czytaj więcej",
    "reklama",
    "wszelkie prawa",
    "sdílet",
    "čtěte také",
];

/// Notes that are no more than this.
const WHOLE: &[&str] = &[
    "share",
    "print",
    "email",
    "e-mail",
    "facebook",
    "twitter",
    "linkedin",
    "whatsapp",
    "pinterest",
    "reddit",
    "comments",
    "comment",
    "reply",
    "like",
    "menu",
    "search",
    "close",
    "home",
    "top",
    "login",
    "log in",
    "sign in",
    "sign up",
    "register",
    "subscribe",
    "newsletter",
    "next",
    "previous",
    "prev",
    "back",
    "continue reading",
    "read more",
    "more",
    "related",
    "tags",
    "categories",
    "archives",
    "navigation",
    "contents",
    "table of contents",
    "on this page",
    "edit",
    "ad",
    "ads",
    "sponsored",
    "loading...",
    "loading…",
    "|",
    "·",
    "teilen",
    "merken",
    "suche",
    "startseite",
    "zurück",
    "weiter",
    "mehr",
    "impressum",
    "datenschutz",
    "suivant",
    "précédent",
    "accueil",
    "rechercher",
];

/// Headings from which on only surroundings follow, up to the next heading that is as high.
const SECTIONS: &[&str] = &[
    "related articles",
    "related posts",
    "related stories",
    "related news",
    "related content",
    "related",
    "more from",
    "more stories",
    "you may also like",
    "you might also like",
    "recommended",
    "recommended for you",
    "comments",
    "leave a comment",
    "leave a reply",
    "recent posts",
    "recent comments",
    "popular posts",
    "most read",
    "most popular",
    "trending",
    "latest news",
    "share this",
    "newsletter",
    "subscribe",
    "follow us",
    "about the author",
    "navigation",
    "mehr zum thema",
    "das könnte sie auch interessieren",
    "weitere artikel",
    "kommentare",
    "meistgelesen",
    "verwandte artikel",
    "articles similaires",
    "commentaires",
    "à lire aussi",
    "comentarios",
    "artículos relacionados",
    "commenti",
    "articoli correlati",
];

/// Leaves out the blocks that surround the main text, and those that are common on the site.
pub(crate) fn drop_surroundings(blocks: &mut Vec<Block>, is_common: &dyn Fn(u64) -> bool) {
    drop_where(blocks, |blocks| blocks.iter().map(|block| is_common(block.id())).collect());
    drop_where(blocks, sections);
    drop_where(blocks, runs_of_links);
    drop_where(blocks, |blocks| blocks.iter().map(is_line_of_links).collect());
    drop_where(blocks, |blocks| blocks.iter().map(is_note).collect());
}

/// Drops the blocks that a rule marks, unless hardly anything would stay.
fn drop_where(blocks: &mut Vec<Block>, rule: impl Fn(&[Block]) -> Vec<bool>) {
    let marked = rule(blocks);
    let size = |keep: bool| -> usize {
        let of_kind = blocks.iter().zip(&marked).filter(|(_, marked)| keep || !**marked);
        of_kind.map(|(block, _)| block.text.len()).sum()
    };
    #[allow(clippy::cast_precision_loss, reason = "a share of a text")]
    let stays = size(false) as f64 >= MUST_STAY * size(true) as f64;
    if stays {
        let mut marks = marked.into_iter();
        blocks.retain(|_| !marks.next().unwrap_or(false));
    }
}

/// A button, a label, a note about the site.
fn is_note(block: &Block) -> bool {
    if block.text.len() > LONGEST_NOTE
        || matches!(block.kind, BlockKind::Code(_) | BlockKind::Row { .. })
    {
        return false;
    }
    let text = block.text.to_lowercase();
    let text = text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, ':' | '»' | '›' | '→' | '«' | '.' | '•')
    });
    let begins = |start: &&str| {
        text.strip_prefix(*start).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let is_sentence =
        text.len() > 60 && block.text.trim_end().ends_with(['.', '!', '?']) && block.linked == 0;
    WHOLE.contains(&text) || !is_sentence && BEGIN.iter().any(begins)
}

/// A line of some short links, such as a menu or an index of letters; or a link to another article that stands alone.
fn is_line_of_links(block: &Block) -> bool {
    #[allow(clippy::cast_precision_loss, reason = "a share of a text")]
    let share = block.linked as f64 / block.text.len().max(1) as f64;
    let is_row = matches!(block.kind, BlockKind::Row { .. });
    let is_prose = matches!(block.kind, BlockKind::Heading(_) | BlockKind::Code(_));
    let least = if is_row { 0.35 } else { 0.6 };
    let is_short = block.links.len() >= 3 && block.text.len() < 300;
    // A label with names of languages, pages or tags behind it.
    let beside = block.text.len().saturating_sub(block.linked + 3 * block.links.len());
    let is_list = beside <= LONGEST_LABEL && !block.text.ends_with(['.', '!', '?', '。']);
    let is_menu = is_short && (share >= least || is_list && !is_row);
    let stands_alone =
        matches!(block.kind, BlockKind::Paragraph) && share > 0.95 && block.text.len() < 200;
    !is_prose && (is_menu || stands_alone)
}

fn is_mostly_links(block: &Block) -> bool {
    #[allow(clippy::cast_precision_loss, reason = "a share of a text")]
    let share = block.linked as f64 / block.text.len().max(1) as f64;
    share >= MOSTLY_LINKS && !matches!(block.kind, BlockKind::Heading(_) | BlockKind::Code(_))
}

/// Menus and lists of other articles.
fn runs_of_links(blocks: &[Block]) -> Vec<bool> {
    let mut marked = vec![false; blocks.len()];
    let mut start = 0;
    while start < blocks.len() {
        let run = blocks[start..].iter().take_while(|block| is_mostly_links(block)).count();
        if run >= LINKS_IN_A_ROW {
            marked[start..start + run].fill(true);
        }
        start += run.max(1);
    }
    marked
}

/// What follows headings such as "Related articles".
fn sections(blocks: &[Block]) -> Vec<bool> {
    let mut inside: Option<u8> = None;
    blocks
        .iter()
        .map(|block| {
            if let BlockKind::Heading(level) = block.kind {
                let text = block.text.to_lowercase();
                let text = text.trim_matches(|c: char| !c.is_alphanumeric());
                let without_count =
                    text.trim_end_matches(|c: char| c.is_ascii_digit() || " ()".contains(c));
                if SECTIONS.contains(&without_count) {
                    inside = Some(inside.map_or(level, |open| open.min(level)));
                } else if inside.is_some_and(|open| level <= open) {
                    inside = None;
                }
            }
            inside.is_some()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks;

    const STORY: &str = "<p>The council has decided that the bridge will be saved, after a long debate about money.</p>";

    fn left(html: &str) -> Vec<String> {
        let mut blocks = blocks::read(&format!("{STORY}{html}{STORY}"));
        drop_surroundings(&mut blocks, &|_| false);
        let texts = blocks
            .into_iter()
            .map(|block| block.text)
            .filter(|text| !text.starts_with("The council"));
        texts.collect()
    }

    #[test]
    fn notes_go_and_sentences_stay() {
        for note in [
            "Share",
            "Share on Facebook",
            "READ MORE »",
            "Lesen Sie auch: Die Brücke",
            "© 2026 The Paper",
            "Comments",
            "Tags: bridge, town",
            "Advertisement",
        ] {
            assert_eq!(left(&format!("<p>{note}</p>")), Vec::<String>::new(), "{note}");
        }
        for sentence in [
            "Share prices fell on Tuesday.",
            "Related work by others is older.",
            "Tagged animals were followed.",
            "Sign up for the course was open to all who live in the town and its villages.",
        ] {
            assert_eq!(left(&format!("<p>{sentence}</p>")), [sentence], "{sentence}");
        }
        assert_eq!(left("<pre>share</pre>"), ["share"]);
    }

    #[test]
    fn menus_and_sections_about_other_pages_go() {
        let links = "<ul><li><a href=/1>One story</a><li><a href=/2>Another story</a><li><a href=/3>A third</a></ul>";
        assert_eq!(left(links), Vec::<String>::new());
        assert_eq!(left("<ul><li><a href=/1>One story</a> is here</ul>"), ["One story is here"]);
        assert_eq!(
            left(
                "<h2>Related articles</h2><p>Another bridge</p><h3>Older</h3><p>x</p><h2>The river</h2>"
            ),
            ["The river"]
        );
        assert_eq!(left("<h2>Comments (12)</h2><p>I like it</p><h1>End</h1>"), ["End"]);
    }

    #[test]
    fn a_page_of_links_stays_one() {
        let mut blocks =
            blocks::read(&"<p><a href=/x>A link that is the content</a></p>".repeat(9));
        drop_surroundings(&mut blocks, &|_| false);
        assert_eq!(blocks.len(), 9);
    }
}
