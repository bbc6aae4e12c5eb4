//! Which hosts hold the same pages?
//!
//! A few pages of each host tell, if they are the same few everywhere: those whose paths have the
//! smallest hashes. So mirrors show after some dozen pages, whichever those were.

use std::collections::{BTreeMap, HashMap};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// How many pages of a host are kept in mind.
const SAMPLE: usize = 64;
/// Fewer pages in common prove nothing.
const LEAST_COMMON: usize = 2;
/// Fewer must be all that could be in common.
const ENOUGH: usize = 4;
/// Content that lies at the same path of more hosts than this is a template's.
const MOST_HOSTS: usize = 64;

/// Some pages of a host: paths and contents, as hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSample {
    /// By the hash of the path, the digest.
    pages: BTreeMap<u64, u64>,
}

impl HostSample {
    /// Adds a page: its path with the query, and any digest of its content.
    pub fn add(&mut self, path: &str, digest: u64) {
        self.pages.insert(xxh3_64_with_seed(path.as_bytes(), 2), digest);
        if self.pages.len() > SAMPLE {
            self.pages.pop_last();
        }
    }

    /// Pages that both samples must have, if both hosts have them: (paths in common, of which with
    /// equal content, paths that could be).
    fn compare_samples(&self, other: &HostSample) -> (usize, usize, usize) {
        // Beyond the end of a full sample there may be more that it forgot.
        let end = |sample: &HostSample| match sample.pages.last_key_value() {
            Some((last, _)) if sample.pages.len() == SAMPLE => *last,
            _ => u64::MAX,
        };
        let end = end(self).min(end(other));
        let within = |sample: &HostSample| sample.pages.range(..=end).count();
        let common = self.pages.range(..=end).filter_map(|(path, digest)| {
            other.pages.get(path).map(|their| usize::from(their == digest))
        });
        let common: Vec<usize> = common.collect();
        (common.len(), common.iter().sum(), within(self).min(within(other)))
    }
}

/// A host that holds what another does.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirror {
    /// The host, by its place.
    pub host: usize,
    /// The host that was there before, by its place.
    pub of: usize,
    /// The share of pages that are the same.
    pub same: f64,
    /// What was seen, for people.
    pub evidence: String,
}

/// Finds hosts that agree with an earlier one in at least the share `least` of pages.
///
/// Each is named once, as mirror of the earliest that it agrees with.
pub fn mirrors(samples: &[HostSample], least: f64) -> Vec<Mirror> {
    let mut holders: HashMap<(u64, u64), Vec<usize>> = HashMap::new();
    let mut found = Vec::new();
    for (host, sample) in samples.iter().enumerate() {
        let mut candidates: BTreeMap<usize, usize> = BTreeMap::new();
        for page in &sample.pages {
            let earlier = holders.entry((*page.0, *page.1)).or_default();
            earlier.iter().for_each(|&other| *candidates.entry(other).or_default() += 1);
        }
        let agrees = |(of, _): (&usize, &usize)| mirror(samples, host, *of, least);
        let enough = candidates.iter().filter(|(_, count)| **count >= LEAST_COMMON);
        match enough.filter_map(agrees).next() {
            Some(mirror) => found.push(mirror),
            // A mirror need not be found again through its own mirrors.
            None => note(&mut holders, sample, host),
        }
    }
    found
}

fn note(holders: &mut HashMap<(u64, u64), Vec<usize>>, sample: &HostSample, host: usize) {
    for (&path, &digest) in &sample.pages {
        let hosts = holders.entry((path, digest)).or_default();
        if hosts.len() < MOST_HOSTS {
            hosts.push(host);
        }
    }
}

fn mirror(samples: &[HostSample], host: usize, of: usize, least: f64) -> Option<Mirror> {
    let (common, equal, possible) = samples[host].compare_samples(&samples[of]);
    let same = equal as f64 / possible.max(1) as f64;
    let evidence = format!(
        "of {possible} pages that both may hold, {common} lie at the same paths, {equal} with the same content"
    );
    let enough = equal >= ENOUGH && same >= least || equal == possible;
    (equal >= LEAST_COMMON && enough).then_some(Mirror { host, of, same, evidence })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages `from..to` of a host whose content is that of `origin`.
    fn sample(origin: u64, from: u64, to: u64) -> HostSample {
        let mut sample = HostSample::default();
        for page in from..to {
            sample.add(&format!("/p{page}"), origin * 1_000_003 + page);
        }
        sample
    }

    #[test]
    fn mirrors_are_found_whatever_was_seen_of_them_first() {
        let samples =
            [sample(1, 0, 500), sample(2, 0, 500), sample(1, 0, 400), sample(1, 100, 500)];
        let found = mirrors(&samples, 0.5);
        let pairs: Vec<(usize, usize)> =
            found.iter().map(|mirror| (mirror.host, mirror.of)).collect();
        assert_eq!(pairs, [(2, 0), (3, 0)], "{found:?}");
        assert!(found[0].evidence.contains("same content"));
    }

    #[test]
    fn a_few_pages_in_common_make_no_mirror() {
        let mut other = sample(2, 0, 60);
        for page in 0..10 {
            other.add(&format!("/p{page}"), 1_000_003 + page);
        }
        assert_eq!(mirrors(&[sample(1, 0, 60), other], 0.5), []);
        assert_eq!(mirrors(&[sample(1, 0, 1), sample(1, 0, 9)], 0.5), [], "one page is no host");
        assert_eq!(mirrors(&[sample(1, 0, 3), sample(1, 1, 9)], 0.5), [], "two of three");
        assert_eq!(mirrors(&[sample(1, 0, 3), sample(1, 0, 9)], 0.5).len(), 1, "all three");
        assert_eq!(mirrors(&[HostSample::default(), HostSample::default()], 0.0), []);
    }
}
