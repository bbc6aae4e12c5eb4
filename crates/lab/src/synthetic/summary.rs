//! What is a described world like, in one line?

use super::spec::WorldSpec;
use crate::world::LabWorld;

/// Pages that are looked at; more would say the same.
const SAMPLE: u32 = 12_000;

/// A world in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldSummary {
    /// Pages at the start.
    pub pages: u32,
    /// Hosts.
    pub hosts: u32,
    /// Mean changes of a live page in a week.
    pub changes: f64,
    /// The share of live pages that change in a week.
    pub changing: f64,
}

impl WorldSpec {
    /// Measures a small world of this description over its scored time.
    pub fn summary(&self) -> WorldSummary {
        let scale = f64::from(SAMPLE) / f64::from(self.pages.max(SAMPLE));
        let hosts = (f64::from(self.hosts) * scale).ceil() as u32;
        let small = WorldSpec { pages: self.pages.min(SAMPLE), hosts, links: 0, ..self.clone() };
        let (changes, changing) = weekly(&small.world("sample", 0, 0.0));
        WorldSummary { pages: self.pages, hosts: self.hosts, changes, changing }
    }
}

/// Changes and changed weeks over all weeks of all pages' lives.
fn weekly(world: &LabWorld) -> (f64, f64) {
    let (mut weeks, mut changes, mut changed) = (0.0, 0u64, 0u64);
    for (page, fact) in (0u32..).zip(&world.pages) {
        let (from, to) = (fact.born.max(world.span.from), fact.dies.min(world.span.to));
        weeks += (to - from).max(0.0) / 7.0;
        let (mut cursor, mut last) = (world.truth.first(page), f64::NEG_INFINITY);
        while cursor.at() < to {
            let week = (cursor.at() / 7.0).floor();
            let counts = cursor.at() >= from;
            changes += u64::from(counts);
            changed += u64::from(counts && week > last);
            last = if counts { week } else { last };
            cursor = world.truth.next(page, cursor);
        }
    }
    (changes as f64 / weeks, changed as f64 / weeks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_says_what_the_description_means() {
        let spec =
            WorldSpec::parse("w", "pages = 50000\nhosts = 10\n[[class]]\nrate = 0.5").unwrap();
        let summary = spec.summary();
        assert_eq!((summary.pages, summary.hosts), (50_000, 10));
        assert!((summary.changes - spec.mean_rate()).abs() < 5.0 * (0.5 / 208_000f64).sqrt());
        let changing = 1.0 - (-0.5f64).exp();
        assert!((summary.changing - changing).abs() < 5.0 * (0.25 / 208_000f64).sqrt());
    }
}
