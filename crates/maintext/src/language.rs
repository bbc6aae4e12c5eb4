//! In which language is a text? By its words (`whatlang`), where they are enough to tell.

use whatlang::{Lang, detect};

use crate::blocks::{Block, BlockKind};

/// Bytes of text that are looked at, and that are needed.
const MOST: usize = 4000;
const LEAST: usize = 40;
/// How sure the detection must be of a short text.
const SURE: f64 = 0.5;

/// The language of a text in two letters (ISO 639-1); `None` where its words do not tell.
pub fn detect_language(text: &str) -> Option<String> {
    let end = (0..=MOST.min(text.len())).rev().find(|at| text.is_char_boundary(*at))?;
    let text = &text[..end];
    if text.trim().len() < LEAST {
        return None;
    }
    let found = detect(text)?;
    (found.is_reliable() || found.confidence() >= SURE)
        .then(|| two_letters(found.lang()).to_owned())
}

/// The language of what is said in blocks; code is in none.
pub(crate) fn of_blocks(blocks: &[Block]) -> Option<String> {
    let mut text = String::new();
    for block in blocks.iter().filter(|block| !matches!(block.kind, BlockKind::Code(_))) {
        text.push_str(&block.text);
        text.push('\n');
        if text.len() > MOST {
            break;
        }
    }
    detect_language(&text)
}

/// `de` of `de-CH`; `None` where it is no name of a language.
pub(crate) fn short(declared: &str) -> Option<String> {
    let name = declared.trim().split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    let is_name = matches!(name.len(), 2 | 3) && name.bytes().all(|byte| byte.is_ascii_lowercase());
    is_name.then_some(name)
}

/// ISO 639-1 where it has a name for the language.
fn two_letters(lang: Lang) -> &'static str {
    let code = lang.code();
    NAMES.iter().find_map(|both| both.strip_prefix(code)).unwrap_or(code)
}

/// `deu` of `de` (ISO 639-3 of ISO 639-1), for the languages that are told by their words.
pub fn three_letters(two: &str) -> Option<&'static str> {
    NAMES.iter().find(|both| &both[3..] == two).map(|both| &both[..3])
}

/// Three letters (ISO 639-3) and two (ISO 639-1).
#[rustfmt::skip]
const NAMES: [&str; 70] = [
    "epoeo", "engen", "rusru", "cmnzh", "spaes", "porpt", "itait", "benbn", "frafr", "deude",
    "ukruk", "katka", "araar", "hinhi", "jpnja", "hebhe", "yidyi", "polpl", "amham", "javjv",
    "korko", "nobnb", "danda", "swesv", "finfi", "turtr", "nldnl", "hunhu", "cescs", "ellel",
    "bulbg", "belbe", "marmr", "kankn", "ronro", "slvsl", "hrvhr", "srpsr", "mkdmk", "litlt",
    "lavlv", "estet", "tamta", "vievi", "urdur", "thath", "gujgu", "uzbuz", "panpa", "azeaz",
    "indid", "telte", "pesfa", "malml", "orior", "myamy", "nepne", "sinsi", "khmkm", "tuktk",
    "akaak", "zulzu", "snasn", "afraf", "latla", "slksk", "catca", "tgltl", "hyehy", "cymcy",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_by_their_words() {
        for (text, want) in [
            ("The council will decide on Tuesday whether the old bridge can be saved.", Some("en")),
            (
                "Der Stadtrat entscheidet am Dienstag, ob die alte Brücke gerettet werden kann. Bis dahin \
                 bleibt sie gesperrt, und wer auf die andere Seite will, muss einen Umweg machen.",
                Some("de"),
            ),
            (
                "Le conseil décidera mardi si le vieux pont peut encore être sauvé. En attendant, il reste \
                 fermé, et ceux qui veulent passer de l'autre côté doivent faire un long détour.",
                Some("fr"),
            ),
            ("市議会は火曜日に、古い橋を救うことができるかどうかを決定します。", Some("ja")),
            ("short", None),
            ("1234567890 1234567890 1234567890 1234567890 1234567890", None),
        ] {
            assert_eq!(detect_language(text).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn every_language_has_a_short_name() {
        for lang in Lang::all() {
            assert_eq!(two_letters(*lang).len(), 2, "{lang:?}");
        }
        assert_eq!((three_letters("de"), three_letters("xx")), (Some("deu"), None));
        assert_eq!(short(" de-CH"), Some("de".to_owned()));
        assert_eq!(short("x"), None);
        assert_eq!(short("d1"), None);
    }
}
