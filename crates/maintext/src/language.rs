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
    match lang.code() {
        "epo" => "eo",
        "eng" => "en",
        "rus" => "ru",
        "cmn" => "zh",
        "spa" => "es",
        "por" => "pt",
        "ita" => "it",
        "ben" => "bn",
        "fra" => "fr",
        "deu" => "de",
        "ukr" => "uk",
        "kat" => "ka",
        "ara" => "ar",
        "hin" => "hi",
        "jpn" => "ja",
        "heb" => "he",
        "yid" => "yi",
        "pol" => "pl",
        "amh" => "am",
        "jav" => "jv",
        "kor" => "ko",
        "nob" => "nb",
        "dan" => "da",
        "swe" => "sv",
        "fin" => "fi",
        "tur" => "tr",
        "nld" => "nl",
        "hun" => "hu",
        "ces" => "cs",
        "ell" => "el",
        "bul" => "bg",
        "bel" => "be",
        "mar" => "mr",
        "kan" => "kn",
        "ron" => "ro",
        "slv" => "sl",
        "hrv" => "hr",
        "srp" => "sr",
        "mkd" => "mk",
        "lit" => "lt",
        "lav" => "lv",
        "est" => "et",
        "tam" => "ta",
        "vie" => "vi",
        "urd" => "ur",
        "tha" => "th",
        "guj" => "gu",
        "uzb" => "uz",
        "pan" => "pa",
        "aze" => "az",
        "ind" => "id",
        "tel" => "te",
        "pes" => "fa",
        "mal" => "ml",
        "ori" => "or",
        "mya" => "my",
        "nep" => "ne",
        "sin" => "si",
        "khm" => "km",
        "tuk" => "tk",
        "aka" => "ak",
        "zul" => "zu",
        "sna" => "sn",
        "afr" => "af",
        "lat" => "la",
        "slk" => "sk",
        "cat" => "ca",
        "tgl" => "tl",
        "hye" => "hy",
        "cym" => "cy",
        other => other,
    }
}

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
        assert_eq!(short(" de-CH"), Some("de".to_owned()));
        assert_eq!(short("x"), None);
        assert_eq!(short("d1"), None);
    }
}
