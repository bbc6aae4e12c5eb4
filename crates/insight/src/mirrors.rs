//! Which hosts are copies of others, and which page can stand in for a mirror's page?
//!
//! A host is compared with one other at a time: the one on which the same content was found at the same path. Pages
//! that both have are compared when either is visited, and comparable pages come first. So a mirror shows after some
//! dozen pages, without crawling either host completely.

use std::collections::HashMap;

use evercrawl_model::{HostKey, HostLikeness, Outcome, PageKey, PageKind, Refusal, Time};
use evercrawl_state::{PageRow, PageStatus, StateError, Store, View};
use evercrawl_urls::Canonical;

/// The least number of alike pages before a host counts as a mirror.
const MIN_COMPARISONS: u32 = 12;
/// A host becomes a mirror when at least this share of the compared pages is alike (in percent), and stops being one
/// when the share falls below the second value.
const MIRROR_FROM_PERCENT: u32 = 90;
const MIRROR_ENDS_BELOW_PERCENT: u32 = 80;
/// Above this many comparisons, older ones count half: so a mirror that becomes independent is noticed.
const MEMORY: u32 = 64;
/// A host with fewer alike pages may be compared with another host instead.
const WEAK_COMPARISONS: u32 = 4;
/// One in this many pages is fetched from a mirror too, to notice when the hosts diverge.
const COUNTERPARTS_SAMPLED: u64 = 64;
/// The most hosts compared with others.
const MAX_HOSTS: usize = 200_000;
/// The most hosts compared with the same host.
const MAX_MIRRORS_PER_HOST: usize = 256;
/// The most mirrors of one host that are searched for a page that it lacks.
const MAX_STAND_INS: usize = 8;
/// The longest chain from a mirror to the host at its root.
const MAX_CHAIN: usize = 8;

/// The hosts compared with another, and the results.
#[derive(Debug, Default)]
pub struct Mirrors {
    known: HashMap<HostKey, HostLikeness>,
    followers: HashMap<HostKey, Vec<HostKey>>,
}

impl Mirrors {
    /// Reads the results of earlier comparisons.
    pub fn read<S: Store>(state: &View<S>) -> Result<Self, StateError> {
        let mut mirrors = Mirrors::default();
        for row in state.likenesses() {
            let (host, likeness) = row?;
            mirrors.set(host, likeness);
        }
        Ok(mirrors)
    }

    /// The result of comparing a host.
    pub fn likeness_of(&self, host: HostKey) -> Option<&HostLikeness> {
        self.known.get(&host)
    }

    /// The original of which a host is a mirror.
    pub fn original_of(&self, host: HostKey) -> Option<HostKey> {
        self.likeness_of(host)
            .filter(|likeness| likeness.is_mirror)
            .map(|likeness| likeness.compared_with)
    }

    /// The hosts compared with this one.
    pub fn mirrors_of(&self, host: HostKey) -> &[HostKey] {
        self.followers.get(&host).map_or(&[], Vec::as_slice)
    }

    /// The hosts whose pages can stand in for a mirror's: its original, and some of the other mirrors.
    fn stand_ins(&self, host: HostKey) -> impl Iterator<Item = HostKey> {
        let original = self.original_of(host);
        let followers = original.map_or(&[][..], |original| self.mirrors_of(original));
        let mirrors = followers.iter().copied().filter(move |other| *other != host);
        let siblings = mirrors.filter(move |other| self.original_of(*other) == original);
        original.into_iter().chain(siblings.take(MAX_STAND_INS))
    }

    /// The number of mirrors.
    pub fn count(&self) -> usize {
        self.known.values().filter(|likeness| likeness.is_mirror).count()
    }

    /// The host to compare `host` with from now on, after one of its pages was found on `other`. If `other` is itself
    /// compared with a host, that one is used, so that no two hosts wait for each other. `None` when nothing changes.
    pub fn candidate_likeness(
        &self,
        host: HostKey,
        other: HostKey,
        now: Time,
    ) -> Option<HostLikeness> {
        let of = self.root_of(other).filter(|of| *of != host)?;
        let full =
            self.known.len() >= MAX_HOSTS || self.mirrors_of(of).len() >= MAX_MIRRORS_PER_HOST;
        let fresh = HostLikeness {
            compared_with: of,
            alike_pages: 0,
            compared_pages: 0,
            is_mirror: false,
            since: now,
        };
        match self.likeness_of(host).copied() {
            _ if full => None,
            None => Some(fresh),
            Some(known) if known.compared_with == of || known.is_mirror => None,
            // The other turned out to resemble a third host: so compare with that one.
            Some(known) if self.root_of(known.compared_with) == Some(of) => {
                Some(HostLikeness { compared_with: of, ..known })
            }
            Some(known) => is_weak(&known).then_some(fresh),
        }
    }

    fn root_of(&self, host: HostKey) -> Option<HostKey> {
        let next = |host: &HostKey| self.likeness_of(*host).map(|likeness| likeness.compared_with);
        let mut way = std::iter::successors(Some(host), next).take(MAX_CHAIN + 1);
        way.find(|host| self.likeness_of(*host).is_none())
    }

    /// Records the result of a comparison.
    pub fn set(&mut self, host: HostKey, likeness: HostLikeness) {
        let before = self.known.insert(host, likeness).map(|before| before.compared_with);
        if before == Some(likeness.compared_with) {
            return;
        }
        if let Some(followers) = before.and_then(|before| self.followers.get_mut(&before)) {
            followers.retain(|follower| *follower != host);
        }
        self.followers.entry(likeness.compared_with).or_default().push(host);
    }
}

/// Updates the result after one more page was compared.
pub fn update_likeness(mut likeness: HostLikeness, alike: bool, now: Time) -> HostLikeness {
    if likeness.compared_pages >= MEMORY {
        likeness.compared_pages /= 2;
        likeness.alike_pages /= 2;
    }
    likeness.compared_pages += 1;
    likeness.alike_pages += u32::from(alike);
    let share = 100 * likeness.alike_pages / likeness.compared_pages;
    let mirror = match likeness.is_mirror {
        true => share >= MIRROR_ENDS_BELOW_PERCENT,
        false => likeness.alike_pages >= MIN_COMPARISONS && share >= MIRROR_FROM_PERCENT,
    };
    if mirror != likeness.is_mirror {
        likeness.since = now;
    }
    HostLikeness { is_mirror: mirror, ..likeness }
}

/// Whether more comparisons are needed to tell if it is a mirror.
pub fn is_undecided(likeness: &HostLikeness) -> bool {
    !likeness.is_mirror
        && likeness.compared_pages < 2 * MIN_COMPARISONS
        && 2 * likeness.alike_pages >= likeness.compared_pages
}

fn is_weak(likeness: &HostLikeness) -> bool {
    likeness.alike_pages < WEAK_COMPARISONS || 2 * likeness.alike_pages < likeness.compared_pages
}

/// A host and its name.
#[derive(Clone, Debug)]
pub struct Counterpart {
    /// The host.
    pub host: HostKey,
    /// Its name, with the port unless it is the scheme's default.
    pub authority: String,
}

/// The page of `other` at the path of `url`.
pub fn find_counterpart<S: Store>(
    state: &View<S>,
    other: &Counterpart,
    url: &Canonical,
) -> Result<Option<(PageKey, PageRow)>, StateError> {
    let schemes = if url.is_https() { ["https", "http"] } else { ["http", "https"] };
    for scheme in schemes {
        let url = format!("{scheme}://{}{}", other.authority, url.path_and_query());
        if let Some(found) = state.find(other.host, &url)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The page of another host that is, or will be, fetched instead of a mirror's page; `None` when the mirror's own
/// page is to be fetched.
///
/// The mirror's own page is fetched if the user named it, if it was fetched before, if it is a sitemap or feed, if it
/// belongs to the few that are compared again and again, and if the original does not have it or may not be
/// requested. When several mirrors have a page that the original lacks, one of them is enough. Hosts that may not be
/// requested stand in for no other.
pub fn find_stand_in<S: Store>(
    state: &View<S>,
    mirrors: &Mirrors,
    page: PageKey,
    row: &PageRow,
    is_asked: impl Fn(HostKey) -> bool,
) -> Result<Option<PageRow>, StateError> {
    let own = row.seed || row.past.is_some() || row.kind != PageKind::Page;
    if own || page.url.is_multiple_of(COUNTERPARTS_SAMPLED) {
        return Ok(None);
    }
    let Some(url) = Canonical::from_trusted(row.url.clone()) else { return Ok(None) };
    for host in mirrors.stand_ins(page.host).filter(|host| is_asked(*host)) {
        let Some(other) =
            state.host(host)?.map(|row| Counterpart { host, authority: row.authority })
        else {
            continue;
        };
        let found = find_counterpart(state, &other, &url)?.map(|(_, row)| row).filter(may_stand_in);
        // Of two mirrors, the second waits for the first, or both would wait for each other.
        let first = mirrors.original_of(page.host) == Some(host) || host < page.host;
        if let Some(found) = found.filter(|found| first || found.past.is_some()) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Whether a page was or will be fetched, so that no mirror's page is needed.
pub fn may_stand_in(row: &PageRow) -> bool {
    match row.status {
        PageStatus::New => row.past.is_none(),
        // The original only redirects; the mirror may still have the page.
        PageStatus::Live => row.held() && !redirects(row),
        // It waits in turn for the page that stands in for it.
        PageStatus::Refused(reason) => reason == Refusal::Mirror,
        PageStatus::Gone => false,
    }
}

fn redirects(row: &PageRow) -> bool {
    row.past.as_ref().is_some_and(|past| past.outcome == Outcome::Redirect)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(host: u64) -> HostKey {
        HostKey { shard: 0, host }
    }

    fn likeness(of: u64, alike: u32, compared: u32, mirror: bool) -> HostLikeness {
        HostLikeness {
            compared_with: host(of),
            alike_pages: alike,
            compared_pages: compared,
            is_mirror: mirror,
            since: Time::EPOCH,
        }
    }

    #[test]
    fn a_mirror_is_called_by_many_pages_alike_and_ends_when_they_differ() {
        let now = Time::from_secs(5);
        for (before, alike, want) in [
            (likeness(1, 10, 10, false), true, false),
            (likeness(1, 11, 11, false), true, true),
            (likeness(1, 11, 12, false), true, true),
            (likeness(1, 11, 13, false), true, false),
            (likeness(1, 20, 24, true), false, true),
            (likeness(1, 20, 25, true), false, false),
        ] {
            let after = update_likeness(before, alike, now);
            assert_eq!(after.is_mirror, want, "{before:?}");
            assert_eq!(after.since == now, want != before.is_mirror, "{before:?}");
        }
    }

    #[test]
    fn a_mirror_that_departs_is_seen_however_long_it_was_one() {
        let mut long = likeness(1, 0, 0, false);
        (0..10_000).for_each(|_| long = update_likeness(long, true, Time::EPOCH));
        assert!(long.is_mirror);
        let differing = (1..).find(|_| {
            long = update_likeness(long, false, Time::EPOCH);
            !long.is_mirror
        });
        assert!(differing.unwrap() <= 16, "{long:?}");
    }

    #[test]
    fn all_mirrors_are_compared_with_one_host_and_no_two_with_each_other() {
        let mut mirrors = Mirrors::default();
        mirrors.set(host(2), likeness(1, 0, 0, false));
        let candidate = |mirrors: &Mirrors, of, other| {
            mirrors
                .candidate_likeness(host(of), host(other), Time::EPOCH)
                .map(|found| found.compared_with)
        };
        assert_eq!(candidate(&mirrors, 3, 2), Some(host(1)));
        mirrors.set(host(3), likeness(1, 0, 0, false));
        assert_eq!(candidate(&mirrors, 1, 3), None, "it is the one itself");
        assert_eq!(candidate(&mirrors, 3, 2), None, "it is compared so already");
        assert_eq!(mirrors.mirrors_of(host(1)), [host(2), host(3)]);
        mirrors.set(host(1), likeness(9, 0, 0, false));
        assert_eq!(candidate(&mirrors, 9, 2), None, "by way of two");
        assert_eq!(candidate(&mirrors, 4, 2), Some(host(9)));
        assert_eq!(
            candidate(&mirrors, 3, 2),
            Some(host(9)),
            "as the one that it was compared with"
        );
    }

    #[test]
    fn the_original_stands_in_before_other_mirrors_of_it() {
        let mut mirrors = Mirrors::default();
        for (follower, mirror) in [(2, true), (3, false), (4, true)] {
            mirrors.set(host(follower), likeness(1, 12, 12, mirror));
        }
        let of = |follower| mirrors.stand_ins(host(follower)).collect::<Vec<_>>();
        assert_eq!(of(4), [host(1), host(2)]);
        assert_eq!((of(3), of(1)), (vec![], vec![]), "these are no mirrors");
    }

    #[test]
    fn another_candidate_takes_over_only_while_little_speaks_for_the_first() {
        let mut mirrors = Mirrors::default();
        for (now, want) in [
            (likeness(1, 3, 3, false), Some(host(7))),
            (likeness(1, 4, 4, false), None),
            (likeness(1, 4, 9, false), Some(host(7))),
            (likeness(1, 16, 40, true), None),
        ] {
            mirrors.set(host(2), now);
            let found = mirrors.candidate_likeness(host(2), host(7), Time::EPOCH);
            assert_eq!(found.map(|found| found.compared_with), want, "{now:?}");
        }
        mirrors.set(host(2), likeness(7, 1, 1, false));
        assert!(mirrors.mirrors_of(host(1)).is_empty() && mirrors.count() == 0);
    }
}
