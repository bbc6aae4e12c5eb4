//! Do a host's `ETag` and `Last-Modified` say truly whether a page changed?
//!
//! With "changed since?" the server decides what is a change, and one that decides wrongly hides every
//! change from us. So now and then a page that is due is asked for without the condition: that costs
//! bytes, not a request. The first such looks at a host teach the most, so they come soon and then ever
//! more rarely. A page that was drawn to be audited is such a look as well, and where those come often
//! enough there are no others. A validator that stayed as it was where the page changed loses its say on
//! its host, until it proves true again.

use std::collections::BTreeMap;

use evercrawl_model::Validators;

use crate::Conditions;

/// Hosts whose validators are judged; those of the others are believed.
const MOST_HOSTS: usize = 1 << 16;

/// Requests with a condition between two without, after as many looks; and the most of them.
const PAUSE: u32 = 2;
const LONGEST_PAUSE: u32 = 50;

/// What a look counts for after the next: what a server did a hundred looks ago says little.
const FADING: f32 = 0.99;

/// True words that everyone is believed to have said.
const TRUST: f32 = 2.0;

/// What tells versions of a page apart by the server's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validator {
    /// `ETag`.
    ETag,
    /// `Last-Modified`.
    LastModified,
}

impl Validator {
    /// Both.
    pub const ALL: [Validator; 2] = [Validator::ETag, Validator::LastModified];

    /// Its name, as users see it.
    pub fn name(self) -> &'static str {
        match self {
            Validator::ETag => "etag",
            Validator::LastModified => "last_modified",
        }
    }

    fn of(self, all: &Validators) -> Option<&str> {
        match self {
            Validator::ETag => all.etag.as_deref().map(|tag| tag.trim_start_matches("W/")),
            Validator::LastModified => all.last_modified.as_deref(),
        }
    }
}

/// What looks without a condition found, beside what a validator said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Agreement {
    /// It was another, and so was the page.
    told: f32,
    /// It was another, and the page the same.
    cried: f32,
    /// It was the same, and the page another.
    missed: f32,
    /// Both were the same.
    kept: f32,
}

impl Agreement {
    /// Looks that it rests on; older ones count for less.
    pub fn looks(&self) -> f32 {
        self.told + self.cried + self.missed + self.kept
    }

    /// The share of pages that changed among those of which it said so.
    pub fn precision(&self) -> f64 {
        f64::from((self.told + TRUST) / (self.told + self.cried + TRUST))
    }

    /// The share of changes that it told of.
    pub fn recall(&self) -> f64 {
        f64::from((self.told + TRUST) / (self.told + self.missed + TRUST))
    }

    /// Whether "changed since?" can be asked by it.
    fn is_believed(&self) -> bool {
        self.recall() >= 0.5
    }

    fn learn(&mut self, differs: bool, changed: bool) {
        for count in [&mut self.told, &mut self.cried, &mut self.missed, &mut self.kept] {
            *count *= FADING;
        }
        *match (differs, changed) {
            (true, true) => &mut self.told,
            (true, false) => &mut self.cried,
            (false, true) => &mut self.missed,
            (false, false) => &mut self.kept,
        } += 1.0;
    }
}

/// What is known of a host's validators.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct OfHost {
    agreements: [Agreement; 2],
    looks: u32,
    /// Requests with a condition since the last look without.
    since: u32,
}

/// What is known of all hosts' validators.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Proofs(BTreeMap<u32, OfHost>);

impl Proofs {
    /// By what a page of `host` is asked for "changed since?", where `held` is known of it.
    pub(super) fn conditions(&mut self, host: u32, held: &Validators) -> Conditions {
        if *held == Validators::default() || !self.has_room_for(host) {
            return Conditions::ALL;
        }
        let known = self.0.entry(host).or_default();
        if known.since >= PAUSE.saturating_mul(1 + known.looks).min(LONGEST_PAUSE) {
            known.since = 0;
            return Conditions::NONE;
        }
        known.since += 1;
        let [etag, last_modified] = known.agreements.map(|agreement| agreement.is_believed());
        Conditions { etag, last_modified }
    }

    /// A page of `host` was looked at without a condition: what was said of it was `held`, and is `now`.
    pub(super) fn learn(&mut self, host: u32, held: &Validators, now: &Validators, changed: bool) {
        if !self.has_room_for(host) {
            return;
        }
        let known = self.0.entry(host).or_default();
        let mut taught = false;
        for (validator, agreement) in Validator::ALL.into_iter().zip(&mut known.agreements) {
            if let (Some(held), Some(now)) = (validator.of(held), validator.of(now)) {
                agreement.learn(held != now, changed);
                taught = true;
            }
        }
        if taught {
            (known.looks, known.since) = (known.looks.saturating_add(1), 0);
        }
    }

    /// Whether the dates of a host's pages say when they changed.
    pub(super) fn dates_are_true(&self, host: u32) -> bool {
        let dates = self.0.get(&host).map(|known| known.agreements[1]);
        dates.is_none_or(|dates| dates.is_believed() && dates.precision() >= 0.5)
    }

    /// What each validator of a host proved to be, where it was ever looked at.
    pub(super) fn of(&self, host: u32) -> impl Iterator<Item = (Validator, Agreement)> + use<> {
        let known = self.0.get(&host).map(|known| known.agreements).unwrap_or_default();
        Validator::ALL.into_iter().zip(known).filter(|(_, agreement)| agreement.looks() > 0.0)
    }

    fn has_room_for(&self, host: u32) -> bool {
        self.0.len() < MOST_HOSTS || self.0.contains_key(&host)
    }

    /// Writes it down behind what is in `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.0.len() as u32).to_le_bytes());
        for (host, known) in &self.0 {
            out.extend_from_slice(&host.to_le_bytes());
            out.extend_from_slice(&known.looks.to_le_bytes());
            for Agreement { told, cried, missed, kept } in known.agreements {
                [told, cried, missed, kept]
                    .iter()
                    .for_each(|count| out.extend_from_slice(&count.to_le_bytes()));
            }
        }
    }

    /// Reads what [`write`](Self::write) wrote.
    pub(super) fn read(from: &mut &[u8]) -> Option<Self> {
        let mut take = || {
            let (head, rest) = from.split_first_chunk::<4>()?;
            *from = rest;
            Some(*head)
        };
        let count = u32::from_le_bytes(take()?);
        let mut proofs = Proofs::default();
        for _ in 0..count {
            let (host, looks) = (u32::from_le_bytes(take()?), u32::from_le_bytes(take()?));
            let mut agreements = [Agreement::default(); 2];
            for agreement in &mut agreements {
                let mut number = || Some(f32::from_le_bytes(take()?).max(0.0));
                let (told, cried) = (number()?, number()?);
                *agreement = Agreement { told, cried, missed: number()?, kept: number()? };
            }
            proofs.0.insert(host, OfHost { agreements, looks, since: 0 });
        }
        Some(proofs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tagged(tag: &str) -> Validators {
        Validators { etag: Some(tag.into()), last_modified: Some("Sun, 15 Nov 2026".into()) }
    }

    #[test]
    fn a_tag_that_hides_changes_loses_its_say_and_can_win_it_back() {
        let mut proofs = Proofs::default();
        let is_believed = |proofs: &Proofs| proofs.0[&1].agreements[0].is_believed();
        for looks in 1..=3 {
            proofs.learn(1, &tagged("a"), &tagged("W/a"), true);
            assert_eq!(is_believed(&proofs), looks < 3, "{looks}");
        }
        let (_, etag) = proofs.of(1).next().unwrap();
        assert!(etag.recall() < 0.5 && etag.precision() == 1.0);
        assert!(!proofs.conditions(1, &tagged("a")).etag);
        for _ in 0..3 {
            proofs.learn(1, &tagged("a"), &tagged("b"), true);
        }
        assert!(is_believed(&proofs));
        assert!(proofs.of(2).next().is_none());
    }

    #[test]
    fn dates_that_are_always_new_are_no_dates() {
        let mut proofs = Proofs::default();
        let dated = |day: u8| Validators { etag: None, last_modified: Some(day.to_string()) };
        assert!(proofs.dates_are_true(1));
        for day in 0..5 {
            proofs.learn(1, &dated(day), &dated(day + 1), false);
        }
        assert!(!proofs.dates_are_true(1));
        // A condition by them costs bytes and hides nothing.
        assert!(proofs.conditions(1, &dated(0)).last_modified);
    }

    #[test]
    fn looks_without_a_condition_come_soon_and_then_rarely() {
        let mut proofs = Proofs::default();
        let mut looks = Vec::new();
        for request in 0..1000 {
            if proofs.conditions(1, &tagged("a")) == Conditions::NONE {
                looks.push(request);
                proofs.learn(1, &tagged("a"), &tagged("a"), false);
            }
        }
        assert_eq!(looks[..3], [2, 7, 14]);
        assert_eq!(looks[looks.len() - 1] - looks[looks.len() - 2], 51);
        assert_eq!(proofs.conditions(2, &Validators::default()), Conditions::ALL);
    }

    #[test]
    fn an_audit_is_a_look_as_well() {
        let mut proofs = Proofs::default();
        (0..50).for_each(|_| proofs.learn(1, &tagged("a"), &tagged("a"), false));
        let mut looks = 0;
        for request in 0..5000 {
            looks += usize::from(proofs.conditions(1, &tagged("a")) == Conditions::NONE);
            if request % 50 == 0 {
                proofs.learn(1, &tagged("a"), &tagged("a"), false);
            }
        }
        assert_eq!(looks, 0);
    }

    #[test]
    fn what_is_written_down_is_read_again() {
        let mut proofs = Proofs::default();
        proofs.learn(1, &tagged("a"), &tagged("b"), true);
        proofs.learn(7, &tagged("a"), &tagged("a"), true);
        let mut bytes = Vec::new();
        proofs.write(&mut bytes);
        assert_eq!(Proofs::read(&mut bytes.as_slice()), Some(proofs));
        for cut in 0..bytes.len() {
            assert_eq!(Proofs::read(&mut &bytes[..cut]), None, "{cut}");
        }
    }
}
