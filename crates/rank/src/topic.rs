//! How relevant is a text to the topic?
//!
//! A focused crawl fetches first what is likely to be about its topic, and knows of a page that was not
//! fetched yet only how it is linked to: the words of the link, those of its address, and what the page
//! is about that links to it (Chakrabarti, van den Berg and Dom 1999). They are put together as in
//! Shark-search (Hersovici and others 1998): a page inherits from the page that leads to it, and a page
//! that is not about the topic passes on what it inherited itself.

/// The share of its relevance that a page passes on to the pages it links to.
const PASSED_ON: f64 = 0.5;
/// How much of a page's expected relevance is inherited; the rest comes from the link itself.
const INHERITED: f64 = 0.5;
/// A word that occurs once in this many words is what a text is about.
const OFTEN: f64 = 200.0;

/// Words; one that ends with `*` matches any ending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topic {
    words: Vec<Word>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    text: String,
    any_ending: bool,
}

impl Word {
    fn matches(&self, word: &str) -> bool {
        if self.any_ending { word.starts_with(&self.text) } else { word == self.text }
    }
}

impl Topic {
    /// The topic given by some words. Anything else is ignored.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let word = |text: &str| {
            let (text, any_ending) = text.strip_suffix('*').map_or((text, false), |t| (t, true));
            let is_word = !text.is_empty() && text.chars().all(char::is_alphanumeric);
            is_word.then(|| Word { text: text.to_lowercase(), any_ending })
        };
        Topic { words: words.into_iter().filter_map(word).collect() }
    }

    /// Whether it names nothing.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How much a text is about the topic, from 0 to 1: each word of the topic that the text is about
    /// halves what is missing to 1. In a long text, a word counts in full where it stands once in 200.
    pub fn match_text(&self, text: &str) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let (mut counts, mut all) = (vec![0u32; self.words.len()], 0u32);
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            all += 1;
            let word = word.to_lowercase();
            for (count, _) in
                counts.iter_mut().zip(&self.words).filter(|(_, topic)| topic.matches(&word))
            {
                *count += 1;
            }
        }
        let strength = |count: &u32| (OFTEN * f64::from(*count) / f64::from(all.max(1))).min(1.0);
        aboutness(counts.iter().map(strength).sum())
    }
}

/// The relevance that a number of matching words adds up to.
pub fn aboutness(words: f64) -> f64 {
    1.0 - (-words.max(0.0)).exp2()
}

/// The relevance that a page passes on to the pages it links to: its own, or what was expected of it if it turned out
/// to be about something else.
pub fn inherit_expectation(about: f64, expected: f64) -> f64 {
    PASSED_ON * if about > 0.0 { about } else { expected * INHERITED }
}

/// The expected relevance of a page: from the page that links to it, and from the words of the link.
pub fn combine_expectations(inherited: f64, link: f64) -> f64 {
    INHERITED * inherited + (1.0 - INHERITED) * link
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_that_a_text_is_about_halves_what_is_missing() {
        let topic = Topic::new(["Solar", "wind", "photovolt*", "--", ""]);
        for (text, want) in [
            ("", 0.0),
            ("On cooking", 0.0),
            ("solar panels", 0.5),
            ("http://a.test/solar-wind.html", 0.75),
            ("SOLAR, wind and photovoltaics", 0.875),
            ("solarium", 0.0),
        ] {
            assert!((topic.match_text(text) - want).abs() < 1e-12, "{text}");
        }
        let long = "word ".repeat(1999) + "wind";
        assert!((topic.match_text(&long) - aboutness(0.1)).abs() < 1e-12);
        assert_eq!(Topic::new([]).match_text("solar"), 0.0);
    }

    #[test]
    fn a_page_off_the_topic_passes_on_less_at_every_step() {
        let on = inherit_expectation(0.8, 0.0);
        let next = combine_expectations(on, 0.0);
        let after = combine_expectations(inherit_expectation(0.0, next), 0.0);
        assert!(on > next && next > after && after > 0.0, "{on} {next} {after}");
        assert!(combine_expectations(on, 0.5) > combine_expectations(on, 0.0));
    }
}
