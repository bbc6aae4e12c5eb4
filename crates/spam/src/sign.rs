//! How sure is one detector, and how sure are several together?

/// What a page or site is suspected of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SignKind {
    /// The same words over and over, for search engines to count.
    Stuffed,
    /// Text that no reader sees.
    Hidden,
    /// Pages that exist to be found and send the reader elsewhere.
    Doorway,
    /// A name without a site behind it.
    Parked,
    /// Sites that link to each other for no reader's sake.
    Farm,
    /// One text with a few words exchanged, page after page.
    Generated,
    /// An address made of search words.
    Address,
    /// Sites of one address or template that link to each other rather than to anybody else.
    Network,
    /// Far more links than sites of like size have.
    Outlier,
    /// High rank, with little of it from trusted sites.
    Untrusted,
}

impl SignKind {
    /// All kinds.
    pub const ALL: [SignKind; 10] = [
        SignKind::Stuffed,
        SignKind::Hidden,
        SignKind::Doorway,
        SignKind::Parked,
        SignKind::Farm,
        SignKind::Generated,
        SignKind::Address,
        SignKind::Network,
        SignKind::Outlier,
        SignKind::Untrusted,
    ];

    /// Its name, as in reports.
    pub fn name(self) -> &'static str {
        match self {
            SignKind::Stuffed => "stuffed",
            SignKind::Hidden => "hidden",
            SignKind::Doorway => "doorway",
            SignKind::Parked => "parked",
            SignKind::Farm => "farm",
            SignKind::Generated => "generated",
            SignKind::Address => "address",
            SignKind::Network => "network",
            SignKind::Outlier => "outlier",
            SignKind::Untrusted => "untrusted",
        }
    }
}

/// A suspicion, with its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Sign {
    /// The kind of spam.
    pub kind: SignKind,
    /// How surely, from 0 to 1: the share that would be right among many such suspicions.
    pub score: f64,
    /// What was seen, for people.
    pub evidence: String,
}

impl Sign {
    /// A sign from a measure. `usual` is what one good page in a thousand reaches, `spam` what nearly all
    /// spam of the kind does; the score runs from 1 % there to 99 % here.
    pub(crate) fn measured(
        kind: SignKind,
        value: f64,
        usual: f64,
        spam: f64,
        evidence: String,
    ) -> Self {
        let place = (value - usual) / (spam - usual);
        // Where the odds are 99 to 1 at either end.
        let odds = (2.0 * place - 1.0) * 99f64.ln();
        let score = 1.0 / (1.0 + (-odds).exp());
        Sign { kind, score: if score.is_nan() { 0.0 } else { score }, evidence }
    }
}

/// All signs against a page or site, and their combined score.
#[derive(Clone, Debug, PartialEq)]
pub struct SpamVerdict {
    /// The probability that it is spam, if signs of different kinds are mistaken independently.
    pub probability: f64,
    /// The signs, surest first.
    pub signs: Vec<Sign>,
}

impl SpamVerdict {
    /// Puts signs together. Of several of one kind only the surest counts: they saw the same.
    pub fn new(mut signs: Vec<Sign>) -> Self {
        signs.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.kind.cmp(&b.kind)));
        let mut counted = Vec::new();
        let mut innocent = 1.0;
        for sign in &signs {
            if !counted.contains(&sign.kind) {
                counted.push(sign.kind);
                innocent *= 1.0 - sign.score.clamp(0.0, 1.0);
            }
        }
        SpamVerdict { probability: 1.0 - innocent, signs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(kind: SignKind, score: f64) -> Sign {
        Sign { kind, score, evidence: String::new() }
    }

    #[test]
    fn a_measure_is_sure_at_its_ends_and_undecided_between() {
        let score = |value| Sign::measured(SignKind::Stuffed, value, 2.0, 4.0, String::new()).score;
        for (value, want) in [(2.0, 0.01), (3.0, 0.5), (4.0, 0.99)] {
            assert!((score(value) - want).abs() < 1e-12);
        }
        assert!(score(0.0) < 1e-5 && score(100.0) > 0.999 && score(f64::NAN) == 0.0);
    }

    #[test]
    fn kinds_add_up_and_what_saw_the_same_counts_once() {
        assert_eq!(SpamVerdict::new(vec![]).probability, 0.0);
        let twice = SpamVerdict::new(vec![sign(SignKind::Farm, 0.2), sign(SignKind::Farm, 0.5)]);
        assert_eq!((twice.probability, twice.signs[0].score), (0.5, 0.5));
        let two = SpamVerdict::new(vec![sign(SignKind::Farm, 0.5), sign(SignKind::Parked, 0.5)]);
        assert_eq!(two.probability, 0.75);
    }
}
