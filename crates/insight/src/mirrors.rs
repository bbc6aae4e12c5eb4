//! Which hosts hold what another does, and which page of the other stands in for one of theirs?
//!
//! A host is compared with one other at a time: with the one where content of its pages was met at the
//! same path. Pages that both have are compared as they are visited, on whichever side that is, and those
//! that can be compared come first. So a mirror shows after some dozen pages, though neither host was
//! crawled to its end.

use std::collections::HashMap;

use evercrawl_model::{HostKey, Kind, Likeness, Outcome, PageKey, Refusal, Time};
use evercrawl_state::{PageRow, PageStatus, StateError, Store, View};
use evercrawl_urls::Canonical;

/// Pages that must be alike before a host is taken for a mirror.
const ENOUGH: u32 = 12;
/// The share of compared pages that must be alike for that, in percent; and less than which ends it.
const CALLED_FROM: u32 = 90;
const ENDED_BELOW: u32 = 80;
/// What was compared longer ago counts half once there is so much of it: a mirror that becomes a host
/// of its own is seen as one.
const MEMORY: u32 = 64;
/// One who is alike in fewer pages can be compared with another host instead.
const HARDLY: u32 = 4;
/// One page in so many is fetched from a mirror too, so that what is not the same any more is seen.
const CHECKED: u64 = 64;
/// Hosts that are compared with others, at most.
const MOST_HOSTS: usize = 200_000;
/// Hosts that are compared with one and the same, at most.
const MOST_FOLLOWERS: usize = 256;
/// Mirrors of one host that are asked whether they have a page that it lacks, at most.
const MOST_SIBLINGS: usize = 8;
/// Hosts on the way from a mirror to the host that all of them mirror.
const LONGEST_WAY: usize = 8;

/// The hosts that are compared with another, by what that has shown.
#[derive(Debug, Default)]
pub struct Mirrors {
    known: HashMap<HostKey, Likeness>,
    followers: HashMap<HostKey, Vec<HostKey>>,
}

impl Mirrors {
    /// What earlier comparisons have shown.
    pub fn read<S: Store>(state: &View<S>) -> Result<Self, StateError> {
        let mut mirrors = Mirrors::default();
        for row in state.likenesses() {
            let (host, likeness) = row?;
            mirrors.set(host, likeness);
        }
        Ok(mirrors)
    }

    /// What comparing a host has shown.
    pub fn of(&self, host: HostKey) -> Option<&Likeness> {
        self.known.get(&host)
    }

    /// The host that a host is taken to mirror.
    pub fn original(&self, host: HostKey) -> Option<HostKey> {
        self.of(host).filter(|likeness| likeness.mirror).map(|likeness| likeness.of)
    }

    /// The hosts that are compared with this one.
    pub fn followers(&self, host: HostKey) -> &[HostKey] {
        self.followers.get(&host).map_or(&[], Vec::as_slice)
    }

    /// The hosts whose pages can stand in for those of a mirror: its original, and some others that mirror it too.
    fn stand_ins(&self, host: HostKey) -> impl Iterator<Item = HostKey> {
        let original = self.original(host);
        let followers = original.map_or(&[][..], |original| self.followers(original));
        let mirrors = followers.iter().copied().filter(move |other| *other != host);
        let siblings = mirrors.filter(move |other| self.original(*other) == original);
        original.into_iter().chain(siblings.take(MOST_SIBLINGS))
    }

    /// How many hosts are taken for mirrors.
    pub fn count(&self) -> usize {
        self.known.values().filter(|likeness| likeness.mirror).count()
    }

    /// Whom to compare a host with from now on, where one of its pages was met on `other`: the host that
    /// `other` itself is compared with, if any, so that no two hosts wait for each other. `None` where it
    /// goes on as it was.
    pub fn candidate(&self, host: HostKey, other: HostKey, now: Time) -> Option<Likeness> {
        let of = self.root(other).filter(|of| *of != host)?;
        let full = self.known.len() >= MOST_HOSTS || self.followers(of).len() >= MOST_FOLLOWERS;
        let fresh = Likeness { of, alike: 0, compared: 0, mirror: false, since: now };
        match self.of(host).copied() {
            _ if full => None,
            None => Some(fresh),
            Some(known) if known.of == of || known.mirror => None,
            // The other turned out to be like a third: so is whoever is like the other.
            Some(known) if self.root(known.of) == Some(of) => Some(Likeness { of, ..known }),
            Some(known) => is_weak(&known).then_some(fresh),
        }
    }

    fn root(&self, host: HostKey) -> Option<HostKey> {
        let next = |host: &HostKey| self.of(*host).map(|likeness| likeness.of);
        let mut way = std::iter::successors(Some(host), next).take(LONGEST_WAY + 1);
        way.find(|host| self.of(*host).is_none())
    }

    /// Takes over what was compared.
    pub fn set(&mut self, host: HostKey, likeness: Likeness) {
        let before = self.known.insert(host, likeness).map(|before| before.of);
        if before == Some(likeness.of) {
            return;
        }
        if let Some(followers) = before.and_then(|before| self.followers.get_mut(&before)) {
            followers.retain(|follower| *follower != host);
        }
        self.followers.entry(likeness.of).or_default().push(host);
    }
}

/// What is known once one more page was compared.
pub fn compared(mut likeness: Likeness, alike: bool, now: Time) -> Likeness {
    if likeness.compared >= MEMORY {
        likeness.compared /= 2;
        likeness.alike /= 2;
    }
    likeness.compared += 1;
    likeness.alike += u32::from(alike);
    let share = 100 * likeness.alike / likeness.compared;
    let mirror = match likeness.mirror {
        true => share >= ENDED_BELOW,
        false => likeness.alike >= ENOUGH && share >= CALLED_FROM,
    };
    if mirror != likeness.mirror {
        likeness.since = now;
    }
    Likeness { mirror, ..likeness }
}

/// Whether more comparisons would tell if it is a mirror.
pub fn is_undecided(likeness: &Likeness) -> bool {
    !likeness.mirror && likeness.compared < 2 * ENOUGH && 2 * likeness.alike >= likeness.compared
}

fn is_weak(likeness: &Likeness) -> bool {
    likeness.alike < HARDLY || 2 * likeness.alike < likeness.compared
}

/// A host and its name.
#[derive(Clone, Debug)]
pub struct Named {
    /// The host.
    pub host: HostKey,
    /// Its name, with the port where it is not the scheme's own.
    pub authority: String,
}

/// The page of `other` at the path of `url`.
pub fn counterpart<S: Store>(
    state: &View<S>,
    other: &Named,
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

/// The page of another host that is, or will be, fetched instead of a page of a mirror; `None` where the
/// mirror's own is to be fetched.
///
/// That is so for pages that the user named or that were fetched before, lists of pages, some few that
/// are compared again and again, and whatever the original does not have or cannot be asked for. What it
/// lacks may stand on several of its mirrors: then one of them is enough. Hosts that are not asked stand in for
/// nobody.
pub fn stand_in<S: Store>(
    state: &View<S>,
    mirrors: &Mirrors,
    page: PageKey,
    row: &PageRow,
    is_asked: impl Fn(HostKey) -> bool,
) -> Result<Option<PageRow>, StateError> {
    let own = row.seed || row.past.is_some() || row.kind != Kind::Page;
    if own || page.url.is_multiple_of(CHECKED) {
        return Ok(None);
    }
    let Some(url) = Canonical::from_trusted(row.url.clone()) else { return Ok(None) };
    for host in mirrors.stand_ins(page.host).filter(|host| is_asked(*host)) {
        let Some(other) = state.host(host)?.map(|row| Named { host, authority: row.authority })
        else {
            continue;
        };
        let found = counterpart(state, &other, &url)?.map(|(_, row)| row).filter(stands_in);
        // Of two mirrors, the second waits for the first, or both would wait for each other.
        let first = mirrors.original(page.host) == Some(host) || host < page.host;
        if let Some(found) = found.filter(|found| first || found.past.is_some()) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Whether a page was or will be fetched, so that no mirror need be asked for it.
pub fn stands_in(row: &PageRow) -> bool {
    match row.status {
        PageStatus::New => row.past.is_none(),
        // Where the original only sends elsewhere, the mirror may still have the page.
        PageStatus::Live => row.held() && !redirects(row),
        // It waits for what stands in for it in turn.
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

    fn likeness(of: u64, alike: u32, compared: u32, mirror: bool) -> Likeness {
        Likeness { of: host(of), alike, compared, mirror, since: Time::EPOCH }
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
            let after = compared(before, alike, now);
            assert_eq!(after.mirror, want, "{before:?}");
            assert_eq!(after.since == now, want != before.mirror, "{before:?}");
        }
    }

    #[test]
    fn a_mirror_that_departs_is_seen_however_long_it_was_one() {
        let mut long = likeness(1, 0, 0, false);
        (0..10_000).for_each(|_| long = compared(long, true, Time::EPOCH));
        assert!(long.mirror);
        let differing = (1..).find(|_| {
            long = compared(long, false, Time::EPOCH);
            !long.mirror
        });
        assert!(differing.unwrap() <= 16, "{long:?}");
    }

    #[test]
    fn all_mirrors_are_compared_with_one_host_and_no_two_with_each_other() {
        let mut mirrors = Mirrors::default();
        mirrors.set(host(2), likeness(1, 0, 0, false));
        let candidate = |mirrors: &Mirrors, of, other| {
            mirrors.candidate(host(of), host(other), Time::EPOCH).map(|found| found.of)
        };
        assert_eq!(candidate(&mirrors, 3, 2), Some(host(1)));
        mirrors.set(host(3), likeness(1, 0, 0, false));
        assert_eq!(candidate(&mirrors, 1, 3), None, "it is the one itself");
        assert_eq!(candidate(&mirrors, 3, 2), None, "it is compared so already");
        assert_eq!(mirrors.followers(host(1)), [host(2), host(3)]);
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
            let found = mirrors.candidate(host(2), host(7), Time::EPOCH);
            assert_eq!(found.map(|found| found.of), want, "{now:?}");
        }
        mirrors.set(host(2), likeness(7, 1, 1, false));
        assert!(mirrors.followers(host(1)).is_empty() && mirrors.count() == 0);
    }
}
