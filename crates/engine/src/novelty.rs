//! How much of what a page says is news? What was said before is in the page's row.

use evercrawl_compare::{
    self as compare, Comparison, Digest, Findings, LinePlace, NoiseReason, Observation, Outline,
    PageMemory, SecondLook, Similarity, SiteMemory, TemplateMemory, VisitText,
};
use evercrawl_model::{Change, Score, Time, Visited};
use evercrawl_state::Past;

/// From which share of news on a page counts as changed, not as near.
const CHANGED: f64 = 0.05;

/// What a text says, compared with what the page said before.
pub(crate) struct Read {
    outline: Outline,
    /// What to compare the next text with; `None` keeps what is remembered.
    memory: Option<PageMemory>,
    /// What was found.
    found: Findings,
    /// The share that is news, where that can be told.
    news: Option<f64>,
    /// Whether the visit before this one was in doubt.
    was_in_doubt: bool,
}

/// Where a text stands, and what is known of such places.
pub(crate) struct Surroundings<'a> {
    /// Tells the page from others of its site.
    pub(crate) page: u64,
    /// The places of the text's lines.
    pub(crate) places: &'a [LinePlace],
    pub(crate) site: &'a SiteMemory,
    pub(crate) template: &'a TemplateMemory,
    /// Whether what is in doubt may wait for a second look.
    pub(crate) second_look: SecondLook,
    /// When the visit ended.
    pub(crate) at: Time,
    /// Whether the bytes are those of the last visit.
    pub(crate) same_bytes: bool,
    /// Whether noise counts as a change, too.
    pub(crate) is_unmasked: bool,
    /// The declared part of the page that the text is of; 0: the whole page.
    pub(crate) region: u16,
}

impl Read {
    /// Reads the text of a page; news of less than `least` are kept until they add up to that.
    pub(crate) fn new(
        text: &str,
        past: Option<&Past>,
        around: &Surroundings<'_>,
        least: f64,
    ) -> Self {
        let outline = Outline::of_text(text);
        let mut read = Read {
            outline,
            memory: None,
            found: Findings::default(),
            news: None,
            was_in_doubt: false,
        };
        match past.and_then(|past| past.memory.as_deref()).and_then(PageMemory::from_bytes) {
            None => read.memory = Some(PageMemory::of_region(&read.outline, around.region)),
            Some(memory) if memory.region() != around.region => {
                // Another part counts from now on: what it said before is not known.
                read.memory = Some(PageMemory::of_region(&read.outline, around.region));
                read.news = Some(0.0);
            }
            Some(memory) if around.same_bytes && !memory.is_in_doubt() => {
                read.found.observed = memory.hold_still(around.template);
            }
            Some(memory) => read.compare(text, memory, around, least),
        }
        read
    }

    fn compare(
        &mut self,
        text: &str,
        mut memory: PageMemory,
        around: &Surroundings<'_>,
        least: f64,
    ) {
        let (no_site, no_template) = (SiteMemory::default(), TemplateMemory::default());
        if around.is_unmasked {
            memory.forget_noise(&mut TemplateMemory::default());
        }
        self.was_in_doubt = memory.is_in_doubt();
        self.found = memory.compare_visit(&VisitText {
            text,
            outline: &self.outline,
            places: around.places,
            page: around.page,
            site: if around.is_unmasked { &no_site } else { around.site },
            template: if around.is_unmasked { &no_template } else { around.template },
            second_look: if around.is_unmasked { SecondLook::Never } else { around.second_look },
            at: around.at.secs(),
        });
        self.news = match self.found.in_doubt {
            true => self.found.score,
            false => self.found.score.map(|news| memory.accumulate_news(news, least)),
        };
        self.memory = Some(memory);
    }

    /// Says what the text is to be compared with next, and what was found, in a visit.
    pub(crate) fn hand_over(mut self, visited: &mut Visited, comparison: &Comparison) {
        visited.simhash = self.print().map(compare::Fingerprint::to_bits);
        if let Some(memory) = &mut self.memory {
            if self.found.score.is_none() {
                memory.expect_news(comparison.score);
            }
            visited.memory = Some(memory.to_bytes().into());
        }
        let number = |(id, reason): &(u32, NoiseReason)| id & 0xFF_FFFF | (*reason as u32) << 24;
        visited.visit.noise.masked = self.found.masked.iter().map(number).collect();
        visited.visit.noise.in_doubt = self.found.in_doubt;
        visited.observed = observed(&self.found.observed);
        visited.differing = self.found.differing;
        visited.untold = self.found.untold;
    }

    /// What the text says, passage by passage.
    pub(crate) fn outline(&self) -> &Outline {
        &self.outline
    }

    /// The fingerprint of the text.
    pub(crate) fn print(&self) -> Option<compare::Fingerprint> {
        self.outline.fingerprint()
    }
}

/// What was seen of places, as an event carries it.
pub(crate) fn observed(observed: &[Observation]) -> Option<Box<[u8]>> {
    (!observed.is_empty()).then(|| Observation::encode(observed))
}

/// How the bytes and the text of a page compare with those of its last visit.
pub(crate) fn compare_with_past(
    past: Option<&Past>,
    digest: Digest,
    read: Option<&Read>,
) -> Comparison {
    let seen = |digest, text| compare::ContentSummary { digest, fingerprint: text, text_len: 0 };
    let before = past.and_then(|past| {
        let digest = Digest::from_bytes(past.digest?);
        Some(seen(digest, past.simhash.map(compare::Fingerprint::from_bits)))
    });
    let now = seen(digest, read.and_then(Read::print));
    compare::compare_content(before.as_ref(), &now)
}

/// What became of a page's content since the last visit that was not in doubt, and how much of it is news. Less than
/// `least` is no change.
pub(crate) fn judge(comparison: &Comparison, read: Option<&Read>, least: f64) -> (Change, Score) {
    let news = read.and_then(|read| read.news);
    match (comparison.similarity, news) {
        (Similarity::First, _) => (Change::New, Score::ALL),
        _ if read.is_some_and(|read| read.found.in_doubt) => (Change::Same, Score::NONE),
        // It was compared with what stood before the visit in doubt.
        (_, Some(news)) if read.is_some_and(|read| read.was_in_doubt) => judge_news(news, least),
        (Similarity::Same, _) => (Change::Same, Score::NONE),
        (Similarity::Near, Some(news)) if news >= CHANGED && news >= least => {
            // A word in a passage that never ends.
            (Change::Near, Score::new(CHANGED))
        }
        (_, Some(news)) => judge_news(news, least),
        // More differs than can be told passage by passage, or nothing is remembered.
        (Similarity::Near, None) => {
            (Change::Near, Score::new(comparison.score.max(f64::MIN_POSITIVE)))
        }
        (Similarity::Changed, None) => (Change::Changed, Score::new(comparison.score)),
    }
}

/// What so much news makes of a page.
pub(crate) fn judge_news(news: f64, least: f64) -> (Change, Score) {
    let change = match news {
        _ if news == 0.0 || news < least => Change::Same,
        _ if news < CHANGED => Change::Near,
        _ => Change::Changed,
    };
    (change, Score::new(news))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evercrawl_model::{Outcome, PolicyNotes, Validators};

    /// Visits a page text by text; the bytes are the text and a number that differs each time.
    fn visits(texts: &[&str]) -> Vec<(Change, f64)> {
        visits_by(texts, 0.001)
    }

    /// The same where noise counts as a change.
    fn unmasked_visits(texts: &[&str]) -> Vec<Change> {
        visits_of(texts, 0.001, true).into_iter().map(|(change, _)| change).collect()
    }

    /// The same where less news than `least` is no change.
    fn visits_by(texts: &[&str], least: f64) -> Vec<(Change, f64)> {
        visits_of(texts, least, false)
    }

    fn visits_of(texts: &[&str], least: f64, unmasked: bool) -> Vec<(Change, f64)> {
        let mut past = None;
        let visit = |(number, text): (usize, &&str)| {
            let read = read(text, past.as_ref(), least, unmasked);
            let digest = Digest::of_bytes(format!("<!-- {number} -->{text}").as_bytes());
            let comparison = compare_with_past(past.as_ref(), digest, Some(&read));
            let (change, score) = judge(&comparison, Some(&read), least);
            past = Some(seen(digest, &read));
            (change, score.share())
        };
        texts.iter().enumerate().map(visit).collect()
    }

    fn read(text: &str, past: Option<&Past>, least: f64, unmasked: bool) -> Read {
        let around = Surroundings {
            page: 1,
            places: &[],
            site: &SiteMemory::default(),
            template: &TemplateMemory::default(),
            second_look: SecondLook::Never,
            at: Time::EPOCH,
            same_bytes: false,
            is_unmasked: unmasked,
            region: 0,
        };
        Read::new(text, past, &around, least)
    }

    fn seen(digest: Digest, read: &Read) -> Past {
        Past {
            visits: 1,
            checks: 0,
            changes: 0,
            watched: 0.0,
            last_visit: Time::EPOCH,
            last_look: None,
            last_change: None,
            outcome: Outcome::Ok,
            status: 200,
            failures: 0,
            digest: Some(digest.to_bytes()),
            simhash: read.print().map(compare::Fingerprint::to_bits),
            memory: read.memory.as_ref().map(|memory| memory.to_bytes().into()),
            validators: Validators::default(),
            log: 0,
            noted: PolicyNotes::default(),
            cause: None,
            is_cut: false,
        }
    }

    fn lines(edited: usize) -> String {
        let line =
            |n: usize| format!("{} {}\n", if n < edited { "new" } else { "old" }, "x".repeat(n));
        (1..101).map(line).collect()
    }

    #[test]
    fn a_clock_is_a_change_where_noise_counts() {
        let texts: Vec<String> = (10..18)
            .map(|minute| format!("Some words\nthat stay\nit is 12:{minute} now"))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let unmasked = unmasked_visits(&texts);
        assert!(unmasked[1..].iter().all(|change| *change != Change::Same), "{unmasked:?}");
        // Other bytes with the same words are no change in either case.
        assert_eq!(unmasked_visits(&["the same", "the same"])[1], Change::Same);
    }

    #[test]
    fn what_a_reader_sees_decides_and_not_the_bytes() {
        let [same, near, other] = [0, 2, 9].map(lines);
        let found = visits(&[&same, &same, &near, &other, &other]);
        let changes: Vec<Change> = found.iter().map(|(change, _)| *change).collect();
        use Change::{Changed, Near, New, Same};
        assert_eq!(changes, [New, Same, Near, Changed, Same]);
        assert!((0.005..0.015).contains(&found[2].1), "{found:?}");
        assert!((0.05..0.1).contains(&found[3].1), "{found:?}");
    }

    #[test]
    fn less_news_than_the_user_wants_is_no_change_but_has_its_score() {
        let [same, near, other] = [0, 2, 40].map(lines);
        let found = visits_by(&[&same, &near, &other], 0.1);
        assert_eq!((found[1].0, found[2].0), (Change::Same, Change::Changed));
        assert!((0.005..0.015).contains(&found[1].1), "{found:?}");
    }

    #[test]
    fn little_by_little_is_a_change_in_the_end() {
        // At each visit one line more of a hundred is new.
        let texts: Vec<String> = (1..12).map(lines).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let found = visits_by(&texts, 0.035);
        let told: Vec<usize> = (1..11).filter(|&n| found[n].0 != Change::Same).collect();
        assert_eq!(told, [4, 8], "{found:?}");
        assert!(found[4].1 >= 0.035 && found[3].1 < 0.015, "{found:?}");
    }

    #[test]
    fn one_word_of_a_passage_without_end_is_little() {
        let words: Vec<String> = (0..400).map(|n| format!("word{}", n * n % 97)).collect();
        let edited = [&words[..200], &["other".to_owned()], &words[201..]].concat();
        let found = visits(&[&words.join(" "), &edited.join(" ")]);
        assert_eq!(found[1].0, Change::Near);
    }

    #[test]
    fn a_text_written_anew_is_changed_by_about_all_of_it() {
        let anew: String =
            (0..100).map(|n| format!("something else {}\n", "y".repeat(n))).collect();
        let found = visits(&[&lines(0), &anew]);
        assert_eq!(found[1].0, Change::Changed);
        assert!(found[1].1 > 0.5, "{found:?}");
    }

    #[test]
    fn without_text_the_bytes_decide() {
        let [one, other] = ["a", "b"].map(|payload| Digest::of_bytes(payload.as_bytes()));
        let read = read("", None, 0.0, false);
        let judge = |past: Option<&Past>, digest| {
            super::judge(&compare_with_past(past, digest, None), None, 0.0)
        };
        let past = Past { memory: None, simhash: None, ..seen(one, &read) };
        assert_eq!(judge(None, one), (Change::New, Score::ALL));
        assert_eq!(judge(Some(&past), one), (Change::Same, Score::NONE));
        assert_eq!(judge(Some(&past), other), (Change::Changed, Score::ALL));
    }
}
