//! Which text do pages have? A pool of sentences, made once, from which pages take theirs.

use super::dice::{DicePurpose, WorldDice};

/// Sentences in both encodings that pages come in.
#[derive(Debug)]
pub(crate) struct Prose {
    pub(crate) utf8: Sentences,
    pub(crate) latin1: Sentences,
    words: Vec<&'static str>,
}

/// Sentences of one encoding, laid end to end.
#[derive(Debug)]
pub(crate) struct Sentences {
    text: Vec<u8>,
    ends: Vec<u32>,
}

impl Prose {
    pub(crate) fn new(seed: u64) -> Self {
        let words: Vec<&str> = WORDS.split_whitespace().collect();
        let accented: Vec<&str> = ACCENTED.split_whitespace().collect();
        let mut dice = WorldDice::new(seed, DicePurpose::Pool, 0, 0);
        let sentences: Vec<String> =
            (0..POOL).map(|_| sentence(&mut dice, &words, &accented)).collect();
        Prose {
            utf8: Sentences::new(sentences.iter().map(|text| text.as_bytes().to_vec())),
            latin1: Sentences::new(sentences.iter().map(|text| to_latin1(text))),
            words,
        }
    }

    /// A word in plain letters, for titles and paths.
    pub(crate) fn word(&self, draw: u64) -> &'static str {
        self.words[(draw % self.words.len() as u64) as usize]
    }
}

impl Sentences {
    fn new(sentences: impl Iterator<Item = Vec<u8>>) -> Self {
        let (mut text, mut ends) = (Vec::new(), Vec::new());
        for sentence in sentences {
            text.extend_from_slice(&sentence);
            ends.push(text.len() as u32);
        }
        Sentences { text, ends }
    }

    /// A sentence, ending with a full stop and a space.
    pub(crate) fn get(&self, draw: u64) -> &[u8] {
        let index = (draw % POOL) as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.text[start..self.ends[index] as usize]
    }

    pub(crate) fn mean_bytes(&self) -> u32 {
        self.text.len() as u32 / POOL as u32
    }
}

/// Enough that two pages seldom share a sentence, few enough to stay in a processor's cache.
const POOL: u64 = 4_096;

fn sentence(dice: &mut WorldDice, words: &[&str], accented: &[&str]) -> String {
    let length = 7 + dice.below(10);
    let mut text = String::new();
    for position in 0..length {
        let list = if dice.chance(0.03) { accented } else { words };
        let word = list[dice.below(list.len() as u64) as usize];
        match position {
            0 => text.extend(
                word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)),
            ),
            _ => text.extend([" ", word]),
        }
    }
    text + ". "
}

fn to_latin1(text: &str) -> Vec<u8> {
    text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap_or(b'?')).collect()
}

const ACCENTED: &str =
    "café naïve façade über señor crème rôle déjà piñata fjörd garçon élan Zürich Malmö";

const WORDS: &str = "about above across after again against almost along already also although always among anchor \
animal another answer apple archive around arrive autumn avenue back balance bank barley basket beach because become \
before begin behind believe below bench beside better between beyond bicycle birch bird black blue boat book border both \
bottle bread bridge bright bring broad brother build butter button candle canvas carbon careful carry castle cellar centre \
chair chalk change chapter cheese cherry circle city clear clock close cloud coast coffee cold colour common copper copy \
corner cotton could country cover crown curtain cycle dance dark daughter decide deep desk different distance doctor door \
double down draw dream drift early earth east edge eight either empty engine enough equal evening every evidence example \
fabric fact family farm father feather fence field figure final find finger fire first flame flat floor flour flower follow \
forest forget forward fountain four fresh friend front fruit future garden gather gentle glass gold good grain granite grass \
great green grey ground group grow guide half hammer handle harbour harvest hazel heart heavy hedge help herald high hill \
history hold hollow honey horse hotel hour house however hundred idea inside iron island ivory jacket journal journey judge \
keep kettle kitchen ladder lake lamp language lantern large late laugh lead leaf learn leather left lemon letter level \
library light linen listen little long machine maple marble march market matter meadow measure member middle minute mirror \
model moment morning mother mountain mouth music narrow nation nature near needle never north notice number ocean office \
often olive open orange orchard order other outside paint palace paper parcel people pepper perhaps picture pillar place \
plain planet plant plate pocket point pond poplar present pretty print quarter question quick quiet railway rain rather \
reach ready reason record rest ribbon ridge river road rocket roof room rope round saddle salt sand school science season \
second secret seven shadow shelf shell shine shore short signal silver simple sister slate small smoke snow soft soldier \
song south spring square stable station steady stone storm story straight stream street strong sugar summer supper surface \
table tailor teacher temple thread three through thunder timber together tower town travel tree tunnel twelve under until \
upper valley velvet village violet visit voice wagon walnut warm water wave weather west wheat wheel while white willow \
window winter wonder wooden write yellow young";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_whole_in_both_encodings() {
        let prose = Prose::new(3);
        for draw in [0, 1, 17, POOL - 1, POOL, u64::MAX] {
            let text = std::str::from_utf8(prose.utf8.get(draw)).unwrap();
            assert!(text.ends_with(". ") && text.starts_with(char::is_uppercase), "{text}");
            assert_eq!(prose.latin1.get(draw).len(), text.chars().count());
        }
        assert!((50..100).contains(&prose.utf8.mean_bytes()), "{}", prose.utf8.mean_bytes());
    }

    #[test]
    fn some_sentences_need_their_encoding_to_be_known() {
        let prose = Prose::new(3);
        let accented = (0..POOL).filter(|&draw| !prose.utf8.get(draw).is_ascii()).count();
        assert!(accented as u64 > POOL / 10);
    }
}
