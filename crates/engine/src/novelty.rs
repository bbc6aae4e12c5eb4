//! How much of what a page says is news? What was said before is in the page's row.

use evercrawl_compare::{self as compare, Digest, Outline, PageMemory, Similarity, SiteMemory};
use evercrawl_model::{Change, Score};
use evercrawl_state::Past;

/// From which share of news on a page counts as changed, not as near.
const CHANGED: f64 = 0.05;

/// What a text says, compared with what the page said before.
pub(crate) struct Read {
    outline: Outline,
    /// What to compare the next text with.
    pub(crate) memory: Box<[u8]>,
    /// Passages that differ.
    pub(crate) differing: Vec<u32>,
    /// What differs, where that is too much to be told passage by passage.
    pub(crate) untold: Option<Box<[u8]>>,
    /// The share that is news, where that can be told.
    news: Option<f64>,
}

impl Read {
    /// Reads the text of a page that is told from others of its site by `page`; news of less than
    /// `least` are kept until they add up to that.
    pub(crate) fn new(
        text: &str,
        before: Option<PageMemory>,
        site: &SiteMemory,
        page: u64,
        least: f64,
    ) -> Self {
        let outline = Outline::of_text(text);
        let Some(mut memory) = before else {
            let memory = PageMemory::new(&outline).to_bytes().into();
            return Read { outline, memory, differing: Vec::new(), untold: None, news: None };
        };
        let findings = memory.compare_visit(text, &outline, site, page);
        let news = findings.score.map(|news| memory.accumulate_news(news, least));
        let memory = memory.to_bytes().into();
        let (differing, untold) = (findings.differing, findings.untold);
        Read { outline, memory, differing, untold, news }
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

/// What is remembered of a page's text; without its noise where that counts as a change too.
pub(crate) fn memory_of(past: Option<&Past>, is_unmasked: bool) -> Option<PageMemory> {
    let mut memory = PageMemory::from_bytes(past?.memory.as_deref()?)?;
    if is_unmasked {
        memory.forget_noise();
    }
    Some(memory)
}

/// What became of a page's content since the last visit, and how much of it is news. Less than `least` is
/// no change.
pub(crate) fn judge(
    past: Option<&Past>,
    digest: Digest,
    read: Option<&Read>,
    least: f64,
) -> (Change, Score) {
    let seen = |digest, text| compare::ContentSummary { digest, fingerprint: text, text_len: 0 };
    let before = past.and_then(|past| {
        let digest = Digest::from_bytes(past.digest?);
        Some(seen(digest, past.simhash.map(compare::Fingerprint::from_bits)))
    });
    let now = seen(digest, read.and_then(Read::print));
    let comparison = compare::compare_content(before.as_ref(), &now);
    match (comparison.similarity, read.and_then(|read| read.news)) {
        (Similarity::First, _) => (Change::New, Score::ALL),
        (Similarity::Same, _) => (Change::Same, Score::NONE),
        (_, Some(news)) if news == 0.0 || news < least => (Change::Same, Score::new(news)),
        (_, Some(news)) if news < CHANGED => (Change::Near, Score::new(news)),
        // A word in a passage that never ends.
        (Similarity::Near, Some(_)) => (Change::Near, Score::new(CHANGED)),
        (_, Some(news)) => (Change::Changed, Score::new(news)),
        // More differs than can be told passage by passage, or nothing is remembered.
        (Similarity::Near, None) => {
            (Change::Near, Score::new(comparison.score.max(f64::MIN_POSITIVE)))
        }
        (Similarity::Changed, None) => (Change::Changed, Score::new(comparison.score)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evercrawl_model::{Outcome, PolicyNotes, Time, Validators};

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
            let before = memory_of(past.as_ref(), unmasked);
            let read = Read::new(text, before, &SiteMemory::default(), 1, least);
            let digest = Digest::of_bytes(format!("<!-- {number} -->{text}").as_bytes());
            let (change, score) = judge(past.as_ref(), digest, Some(&read), least);
            past = Some(seen(digest, &read));
            (change, score.share())
        };
        texts.iter().enumerate().map(visit).collect()
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
            memory: Some(read.memory.clone()),
            validators: Validators::default(),
            log: 0,
            noted: PolicyNotes::default(),
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
        let last = visits(&texts).pop().unwrap().0;
        assert_eq!(last, Change::Same, "it is noise by then");
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
        let read = Read::new("", None, &SiteMemory::default(), 1, 0.0);
        let past = Past { memory: None, simhash: None, ..seen(one, &read) };
        assert_eq!(judge(None, one, None, 0.0), (Change::New, Score::ALL));
        assert_eq!(judge(Some(&past), one, None, 0.0), (Change::Same, Score::NONE));
        assert_eq!(judge(Some(&past), other, None, 0.0), (Change::Changed, Score::ALL));
    }
}
