//! What does a planner keep for its next run, beyond what stands in the rows of pages?

use super::audit::Audits;
use super::calibration::Calibration;
use super::sample::Sample;
use super::signals::Names;
use super::validators::Proofs;
use super::yields::Yields;
use super::{AUDIT_SEED, Planner};

/// The format in which it is written down what a planner knows.
const FORMAT: u8 = 4;

impl Planner {
    /// What it knows, to be taken up again by [`resume`](Self::resume).
    pub fn learned(&self) -> Vec<u8> {
        let mut out = vec![FORMAT, self.plan.policy.len() as u8];
        out.extend_from_slice(self.plan.policy.as_bytes());
        self.audits.write(&mut out);
        self.names.write(&mut out);
        self.proofs.write(&mut out);
        self.calibration.write(&mut out);
        self.yields.write(&mut out);
        out.extend_from_slice(&self.usual_news.to_le_bytes());
        self.sample.write(&mut out);
        out.extend_from_slice(&self.policy.learned());
        let sum = xxhash_rust::xxh3::xxh3_64(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// Takes up what another planner of the same policy has learned; false where that cannot be
    /// read, and nothing is changed.
    pub fn resume(&mut self, learned: &[u8]) -> bool {
        let Some(mut from) = checked(learned, self.plan.policy) else { return false };
        let mut audits = Audits::new(self.plan.audits, AUDIT_SEED);
        let mut read = || {
            audits.read(&mut from)?;
            let names = (Names::read(&mut from)?, Proofs::read(&mut from)?);
            let known = (Calibration::read(&mut from)?, Yields::read(&mut from)?);
            let (news, rest) = from.split_first_chunk()?;
            from = rest;
            Some((names, known, f32::from_le_bytes(*news), Sample::read(&mut from)?))
        };
        let Some((names, (calibration, yields), news, sample)) = read() else { return false };
        if !self.policy.resume(from) {
            return false;
        }
        ((self.names, self.proofs), self.calibration) = (names, calibration);
        (self.yields, self.usual_news) = (yields, news);
        (self.sample, self.audits) = (sample, audits);
        true
    }
}

/// The part of `learned` that is the sample's and the policy's, where it is whole and of `policy`.
fn checked<'a>(learned: &'a [u8], policy: &str) -> Option<&'a [u8]> {
    let (body, sum) = learned.split_last_chunk()?;
    let whole = xxhash_rust::xxh3::xxh3_64(body) == u64::from_le_bytes(*sum);
    let (&[format, length], rest) = body.split_first_chunk()?;
    let (name, rest) = rest.split_at_checked(usize::from(length))?;
    (whole && format == FORMAT && name == policy.as_bytes()).then_some(rest)
}
