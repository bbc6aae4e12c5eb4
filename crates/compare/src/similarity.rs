//! How does what a visit brought compare with the visit before?

use crate::{Digest, Fingerprint};

/// The summary of a page's content that the next visit is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentSummary {
    /// Digest of the payload.
    pub digest: Digest,
    /// Fingerprint of the extracted text; none for what has no text, such as images.
    pub fingerprint: Option<Fingerprint>,
    /// Bytes of the extracted text.
    pub text_len: u32,
}

/// How content compares with the content before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Similarity {
    /// There is nothing to compare with.
    First,
    /// The same bytes.
    Same,
    /// Other bytes, but nearly the same text: a clock, a counter, another advertisement.
    Near,
    /// Another text, or other bytes if there is no text.
    Changed,
}

/// The result of a comparison: the kind of change, and how much changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The kind of change.
    pub similarity: Similarity,
    /// The share that is other: 0 for the same bytes or text, 1 for all of it.
    pub score: f64,
}

/// Compares what a page holds now with what it held before.
///
/// Without text on both sides nothing can be measured, so other bytes count as all other.
pub fn compare_content(before: Option<&ContentSummary>, now: &ContentSummary) -> Comparison {
    let Some(before) = before else {
        return Comparison { similarity: Similarity::First, score: 1.0 };
    };
    if before.digest == now.digest {
        return Comparison { similarity: Similarity::Same, score: 0.0 };
    }
    let (Some(old), Some(new)) = (before.fingerprint, now.fingerprint) else {
        return Comparison { similarity: Similarity::Changed, score: 1.0 };
    };
    let similarity = if old.is_near(new) { Similarity::Near } else { Similarity::Changed };
    // A text that repeats itself keeps its fingerprint; its length gives it away.
    let score = old.changed_share(new).max(length_difference(before.text_len, now.text_len));
    Comparison { similarity, score }
}

/// Returns the share of the longer text by which the shorter one is shorter.
fn length_difference(a: u32, b: u32) -> f64 {
    f64::from(a.abs_diff(b)) / f64::from(a.max(b).max(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seen(payload: &str, bits: Option<u64>, text_len: u32) -> ContentSummary {
        ContentSummary {
            digest: Digest::of_bytes(payload.as_bytes()),
            fingerprint: bits.map(Fingerprint::from_bits),
            text_len,
        }
    }

    #[test]
    fn each_likeness_has_its_case() {
        let before = seen("a", Some(0), 1000);
        let table = [
            ("same bytes", seen("a", Some(0), 1000), Similarity::Same, 0.0..=0.0),
            ("same bytes, text read otherwise", seen("a", None, 0), Similarity::Same, 0.0..=0.0),
            ("same text", seen("b", Some(0), 1000), Similarity::Near, 0.0..=0.0),
            ("a few words", seen("b", Some(0b111), 1005), Similarity::Near, 0.01..=0.011),
            ("some text", seen("b", Some(0b1111), 1000), Similarity::Changed, 0.019..=0.02),
            ("the text twice", seen("b", Some(0), 2000), Similarity::Near, 0.5..=0.5),
            (
                "another text",
                seen("b", Some(u64::MAX >> 32), 1000),
                Similarity::Changed,
                0.999..=1.0,
            ),
            ("the opposite text", seen("b", Some(u64::MAX), 1000), Similarity::Changed, 1.0..=1.0),
            ("no text any more", seen("b", None, 0), Similarity::Changed, 1.0..=1.0),
        ];
        for (case, now, similarity, score) in table {
            let comparison = compare_content(Some(&before), &now);
            assert_eq!(comparison.similarity, similarity, "{case}");
            assert!(score.contains(&comparison.score), "{case}: {}", comparison.score);
        }
    }

    #[test]
    fn without_a_past_all_is_new() {
        let now = seen("a", None, 0);
        assert_eq!(
            compare_content(None, &now),
            Comparison { similarity: Similarity::First, score: 1.0 }
        );
    }

    #[test]
    fn without_text_the_digest_decides() {
        let [one, other] = ["a", "b"].map(|payload| seen(payload, None, 0));
        assert_eq!(compare_content(Some(&one), &one).similarity, Similarity::Same);
        assert_eq!(compare_content(Some(&one), &other).similarity, Similarity::Changed);
    }

    proptest! {
        #[test]
        fn comparing_is_fair_and_bounded(
            a in ("[ab]", any::<Option<u64>>(), any::<u32>()),
            b in ("[ab]", any::<Option<u64>>(), any::<u32>()),
        ) {
            let [a, b] = [a, b].map(|(payload, bits, length)| seen(&payload, bits, length));
            let comparison = compare_content(Some(&a), &b);
            prop_assert_eq!(compare_content(Some(&b), &a), comparison);
            prop_assert!((0.0..=1.0).contains(&comparison.score));
            prop_assert_eq!(comparison.similarity == Similarity::Same, a.digest == b.digest);
        }
    }
}
