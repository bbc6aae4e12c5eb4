//! What does a planner keep for its next run, beyond the rows of pages?

use super::audit::Audits;
use super::calibration::Calibration;
use super::rechecks::Rechecks;
use super::sample::Sample;
use super::signals::HostNames;
use super::validators::ValidatorTrust;
use super::yields::LinkYields;
use super::{AUDIT_SEED, Planner};

/// The version of the encoding.
const FORMAT: u8 = 5;

impl Planner {
    /// Encodes what it learned, for [`restore_learned`](Self::restore_learned).
    pub fn encode_learned(&self) -> Vec<u8> {
        let mut out = vec![FORMAT, self.plan.policy.len() as u8];
        out.extend_from_slice(self.plan.policy.as_bytes());
        self.audits.write(&mut out);
        self.host_names.write(&mut out);
        self.validator_trust.write(&mut out);
        self.calibration.write(&mut out);
        self.yields.write(&mut out);
        self.rechecks.write(&mut out);
        out.extend_from_slice(&self.usual_news.to_le_bytes());
        self.sample.write(&mut out);
        out.extend_from_slice(&self.policy.encode_learned());
        let sum = xxhash_rust::xxh3::xxh3_64(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// Restores what a planner of the same policy learned. Returns false, and changes nothing, when it cannot be
    /// read.
    pub fn restore_learned(&mut self, learned: &[u8]) -> bool {
        let Some(mut from) = verified_body(learned, self.plan.policy) else { return false };
        let mut audits = Audits::new(self.plan.audits, AUDIT_SEED);
        let mut read = || {
            audits.read(&mut from)?;
            let names = (HostNames::read(&mut from)?, ValidatorTrust::read(&mut from)?);
            let known = (Calibration::read(&mut from)?, LinkYields::read(&mut from)?);
            let rechecks = Rechecks::read(&mut from)?;
            let (news, rest) = from.split_first_chunk()?;
            from = rest;
            Some((names, known, rechecks, f32::from_le_bytes(*news), Sample::read(&mut from)?))
        };
        let Some((names, (calibration, yields), rechecks, news, sample)) = read() else {
            return false;
        };
        if !self.policy.restore_learned(from) {
            return false;
        }
        ((self.host_names, self.validator_trust), self.calibration) = (names, calibration);
        (self.yields, self.rechecks, self.usual_news) = (yields, rechecks, news);
        (self.sample, self.audits) = (sample, audits);
        true
    }
}

/// The body after the header, if checksum, version and policy match.
fn verified_body<'a>(learned: &'a [u8], policy: &str) -> Option<&'a [u8]> {
    let (body, sum) = learned.split_last_chunk()?;
    let whole = xxhash_rust::xxh3::xxh3_64(body) == u64::from_le_bytes(*sum);
    let (&[format, length], rest) = body.split_first_chunk()?;
    let (name, rest) = rest.split_at_checked(usize::from(length))?;
    (whole && format == FORMAT && name == policy.as_bytes()).then_some(rest)
}
