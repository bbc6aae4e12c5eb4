//! Do a host's `ETag` and `Last-Modified` change exactly when its pages change?
//!
//! In a conditional request the server decides what is a change, and a wrong decision hides every change. So now and
//! then a due page is requested without conditions: that costs bytes, not a request. The first such visits to a host
//! teach the most, so they come early, and then ever more rarely. An audit is such a visit as well; where audits are
//! frequent there are no others. A validator that stayed the same while the page changed is not used on its host
//! until it proves right again.

use std::collections::BTreeMap;

use evercrawl_model::Validators;

use crate::Conditions;

/// The most hosts whose validators are tested; those of other hosts are trusted.
const MAX_HOSTS: usize = 1 << 16;

/// The number of conditional requests between two unconditional ones: this times the number of tests so far, with an
/// upper bound.
const PAUSE: u32 = 2;
const LONGEST_PAUSE: u32 = 50;

/// The factor by which each test discounts earlier ones: what a server did a hundred tests ago says little.
const FADING: f32 = 0.99;

/// Each validator starts with credit for this many correct changes.
const TRUST: f32 = 2.0;

/// A validator by which a server tells versions of a page apart.
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

    /// Its name, as shown to users.
    pub fn name(self) -> &'static str {
        match self {
            Validator::ETag => "etag",
            Validator::LastModified => "last_modified",
        }
    }

    fn value_in(self, all: &Validators) -> Option<&str> {
        match self {
            Validator::ETag => all.etag.as_deref().map(|tag| tag.trim_start_matches("W/")),
            Validator::LastModified => all.last_modified.as_deref(),
        }
    }
}

/// What unconditional visits found, next to what a validator said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Agreement {
    /// The validator changed, and the page changed.
    told: f32,
    /// The validator changed, and the page did not.
    cried: f32,
    /// The validator did not change, and the page did.
    missed: f32,
    /// Neither changed.
    kept: f32,
}

impl Agreement {
    /// The number of tests behind it; older ones count less.
    pub fn observations(&self) -> f32 {
        self.told + self.cried + self.missed + self.kept
    }

    /// The share of pages that changed among those whose validator changed.
    pub fn precision(&self) -> f64 {
        f64::from((self.told + TRUST) / (self.told + self.cried + TRUST))
    }

    /// The share of page changes with a changed validator.
    pub fn recall(&self) -> f64 {
        f64::from((self.told + TRUST) / (self.told + self.missed + TRUST))
    }

    /// Whether conditional requests may use it.
    fn is_trusted(&self) -> bool {
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

/// What is known about a host's validators.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct HostValidators {
    agreements: [Agreement; 2],
    observed: u32,
    /// Conditional requests since the last unconditional one.
    since: u32,
}

/// What is known about the validators of all hosts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ValidatorTrust(BTreeMap<u32, HostValidators>);

impl ValidatorTrust {
    /// The validators to send for a page of `host`, given those `held`.
    pub(super) fn choose_conditions(&mut self, host: u32, held: &Validators) -> Conditions {
        if *held == Validators::default() || !self.has_room_for(host) {
            return Conditions::ALL;
        }
        let known = self.0.entry(host).or_default();
        if known.since >= PAUSE.saturating_mul(1 + known.observed).min(LONGEST_PAUSE) {
            known.since = 0;
            return Conditions::NONE;
        }
        known.since += 1;
        let [etag, last_modified] = known.agreements.map(|agreement| agreement.is_trusted());
        Conditions { etag, last_modified }
    }

    /// Learns from an unconditional visit to a page of `host`: its validators were `held`, and are `now`.
    pub(super) fn learn(&mut self, host: u32, held: &Validators, now: &Validators, changed: bool) {
        if !self.has_room_for(host) {
            return;
        }
        let known = self.0.entry(host).or_default();
        let mut taught = false;
        for (validator, agreement) in Validator::ALL.into_iter().zip(&mut known.agreements) {
            if let (Some(held), Some(now)) = (validator.value_in(held), validator.value_in(now)) {
                agreement.learn(held != now, changed);
                taught = true;
            }
        }
        if taught {
            (known.observed, known.since) = (known.observed.saturating_add(1), 0);
        }
    }

    /// Whether the `Last-Modified` dates of a host tell when its pages changed.
    pub(super) fn dates_are_true(&self, host: u32) -> bool {
        let dates = self.0.get(&host).map(|known| known.agreements[1]);
        dates.is_none_or(|dates| dates.is_trusted() && dates.precision() >= 0.5)
    }

    /// The test results of each validator of a host, if it was tested.
    pub(super) fn agreements_of(
        &self,
        host: u32,
    ) -> impl Iterator<Item = (Validator, Agreement)> + use<> {
        let known = self.0.get(&host).map(|known| known.agreements).unwrap_or_default();
        Validator::ALL
            .into_iter()
            .zip(known)
            .filter(|(_, agreement)| agreement.observations() > 0.0)
    }

    fn has_room_for(&self, host: u32) -> bool {
        self.0.len() < MAX_HOSTS || self.0.contains_key(&host)
    }

    /// Appends the encoding to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.0.len() as u32).to_le_bytes());
        for (host, known) in &self.0 {
            out.extend_from_slice(&host.to_le_bytes());
            out.extend_from_slice(&known.observed.to_le_bytes());
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
        let mut proofs = ValidatorTrust::default();
        for _ in 0..count {
            let (host, observed) = (u32::from_le_bytes(take()?), u32::from_le_bytes(take()?));
            let mut agreements = [Agreement::default(); 2];
            for agreement in &mut agreements {
                let mut number = || Some(f32::from_le_bytes(take()?).max(0.0));
                let (told, cried) = (number()?, number()?);
                *agreement = Agreement { told, cried, missed: number()?, kept: number()? };
            }
            proofs.0.insert(host, HostValidators { agreements, observed, since: 0 });
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
        let mut proofs = ValidatorTrust::default();
        let is_believed = |proofs: &ValidatorTrust| proofs.0[&1].agreements[0].is_trusted();
        for observed in 1..=3 {
            proofs.learn(1, &tagged("a"), &tagged("W/a"), true);
            assert_eq!(is_believed(&proofs), observed < 3, "{observed}");
        }
        let (_, etag) = proofs.agreements_of(1).next().unwrap();
        assert!(etag.recall() < 0.5 && etag.precision() == 1.0);
        assert!(!proofs.choose_conditions(1, &tagged("a")).etag);
        for _ in 0..3 {
            proofs.learn(1, &tagged("a"), &tagged("b"), true);
        }
        assert!(is_believed(&proofs));
        assert!(proofs.agreements_of(2).next().is_none());
    }

    #[test]
    fn dates_that_are_always_new_are_no_dates() {
        let mut proofs = ValidatorTrust::default();
        let dated = |day: u8| Validators { etag: None, last_modified: Some(day.to_string()) };
        assert!(proofs.dates_are_true(1));
        for day in 0..5 {
            proofs.learn(1, &dated(day), &dated(day + 1), false);
        }
        assert!(!proofs.dates_are_true(1));
        // Sending them in a condition costs bytes and hides nothing.
        assert!(proofs.choose_conditions(1, &dated(0)).last_modified);
    }

    #[test]
    fn looks_without_a_condition_come_soon_and_then_rarely() {
        let mut proofs = ValidatorTrust::default();
        let mut observed = Vec::new();
        for request in 0..1000 {
            if proofs.choose_conditions(1, &tagged("a")) == Conditions::NONE {
                observed.push(request);
                proofs.learn(1, &tagged("a"), &tagged("a"), false);
            }
        }
        assert_eq!(observed[..3], [2, 7, 14]);
        assert_eq!(observed[observed.len() - 1] - observed[observed.len() - 2], 51);
        assert_eq!(proofs.choose_conditions(2, &Validators::default()), Conditions::ALL);
    }

    #[test]
    fn an_audit_is_a_look_as_well() {
        let mut proofs = ValidatorTrust::default();
        (0..50).for_each(|_| proofs.learn(1, &tagged("a"), &tagged("a"), false));
        let mut observed = 0;
        for request in 0..5000 {
            observed += usize::from(proofs.choose_conditions(1, &tagged("a")) == Conditions::NONE);
            if request % 50 == 0 {
                proofs.learn(1, &tagged("a"), &tagged("a"), false);
            }
        }
        assert_eq!(observed, 0);
    }

    #[test]
    fn what_is_written_down_is_read_again() {
        let mut proofs = ValidatorTrust::default();
        proofs.learn(1, &tagged("a"), &tagged("b"), true);
        proofs.learn(7, &tagged("a"), &tagged("a"), true);
        let mut bytes = Vec::new();
        proofs.write(&mut bytes);
        assert_eq!(ValidatorTrust::read(&mut bytes.as_slice()), Some(proofs));
        for cut in 0..bytes.len() {
            assert_eq!(ValidatorTrust::read(&mut &bytes[..cut]), None, "{cut}");
        }
    }
}
