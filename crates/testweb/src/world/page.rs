//! What is a page, where does it stand in its host's tree, and what is its fate?
//!
//! The slots of a host form a heap: slot 0 is `/`, and slot s has the children s*fanout+1 to s*fanout+fanout. Slots
//! with
//! children are sections: plain and immortal, so that whatever befalls leaves, every page that is linked at all stays
//! reachable from `/`.

use super::dice::{DicePurpose, WorldDice};
use super::{Host, HostRobots, World};
use std::ops::Range;

/// A page: the so-manieth tenant of a slot of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageId {
    /// The host's number.
    pub host: u32,
    /// The slot in the host's tree.
    pub slot: u32,
    /// How many pages have lived in the slot before.
    pub generation: u32,
}

impl PageId {
    /// The first page of a slot.
    pub fn first(host: u32, slot: u32) -> Self {
        PageId { host, slot, generation: 0 }
    }

    pub(crate) fn key(&self) -> u64 {
        slot_key(self.host, self.slot)
    }
}

/// What is special about a page, one thing at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing.
    Plain,
    /// No page links to it.
    Orphan,
    /// All links to it say nofollow.
    NoFollow,
    /// It lies where robots.txt forbids.
    Private,
    /// It lies in the allowed part of the forbidden directory.
    PrivateOpen,
    /// Links name a former URL, so many redirects away.
    Moved(u8),
    /// It always answers 500.
    Failing,
    /// It answers 503 at times.
    Flaky,
}

/// Whose bytes a page shows: its own, or another page's with or without a word changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContentSource {
    pub(crate) page: PageId,
    pub(crate) one_word_differs: bool,
}

impl World {
    /// Whether a slot has children.
    pub(crate) fn is_section(&self, slot: u32) -> bool {
        slot == 0 || !self.children(slot).is_empty()
    }

    pub(crate) fn parent(&self, slot: u32) -> u32 {
        slot.saturating_sub(1) / self.config.fanout
    }

    pub(crate) fn children(&self, slot: u32) -> Range<u32> {
        let pages = u64::from(self.config.pages);
        let first = u64::from(slot) * u64::from(self.config.fanout) + 1;
        let end = first + u64::from(self.config.fanout);
        first.min(pages) as u32..end.min(pages) as u32
    }

    /// Draws the fate of all pages of a slot.
    pub fn fate(&self, host: &Host, slot: u32) -> Fate {
        if self.is_section(slot) {
            return Fate::Plain;
        }
        let shares = &self.config.page_shares;
        let dice =
            &mut WorldDice::new(self.config.seed, DicePurpose::Fate, slot_key(host.id, slot), 0);
        let fate = dice.pick(
            &[
                (shares.orphan, Fate::Orphan),
                (shares.nofollow, Fate::NoFollow),
                (shares.private, Fate::Private),
                (shares.moved, Fate::Moved(1)),
                (shares.failing, Fate::Failing),
                (shares.flaky, Fate::Flaky),
            ],
            Fate::Plain,
        );
        match fate {
            Fate::Private if host.robots != HostRobots::Disallow => Fate::Plain,
            Fate::Private if dice.chance(0.3) => Fate::PrivateOpen,
            Fate::Moved(_) => Fate::Moved(1 + dice.below(3) as u8),
            fate => fate,
        }
    }

    /// Whether the page asks, in a meta element, that its links not be followed.
    pub(crate) fn says_nofollow(&self, page: PageId) -> bool {
        let dice = &mut WorldDice::new(self.config.seed, DicePurpose::Fate, page.key(), 1);
        dice.chance(self.config.page_shares.meta_nofollow) && !self.is_section(page.slot)
    }

    /// Whether the page's answers suffer from its host's fault. Sections are spared, so that there is something to
    /// find.
    pub(crate) fn is_cut(&self, host: &Host, slot: u32) -> bool {
        let dice =
            &mut WorldDice::new(self.config.seed, DicePurpose::Cut, slot_key(host.id, slot), 0);
        host.fault.is_some() && dice.chance(0.5) && !self.is_section(slot)
    }

    /// Whether a flaky page is down at a moment; it makes up its mind every ten seconds.
    pub(crate) fn is_down(&self, page: PageId, now_ms: u64) -> bool {
        WorldDice::new(self.config.seed, DicePurpose::Outage, page.key(), now_ms / 10_000)
            .chance(0.3)
    }

    /// Finds whose bytes a page shows.
    pub(crate) fn source(&self, page: PageId) -> ContentSource {
        let shares = &self.config.page_shares;
        // A mirror shows the page of the same slot.
        let page = PageId { host: self.mirrored(page.host).unwrap_or(page.host), ..page };
        let own = ContentSource { page, one_word_differs: false };
        if shares.duplicate + shares.near_duplicate <= 0.0 {
            return own;
        }
        let dice = &mut WorldDice::new(self.config.seed, DicePurpose::Copy, page.key(), 0);
        let kinds = [(shares.duplicate, Some(false)), (shares.near_duplicate, Some(true))];
        let Some(one_word_differs) = dice.pick(&kinds, None) else { return own };
        if self.is_section(page.slot) {
            return own;
        }
        let original = (0..4).find_map(|_| self.draw_original(dice, page));
        original.map_or(own, |page| ContentSource { page, one_word_differs })
    }

    /// Draws a page worth copying: a leaf that is always there, is no copy itself, and whose links mean the same
    /// elsewhere.
    fn draw_original(&self, dice: &mut WorldDice, copy: PageId) -> Option<PageId> {
        let elsewhere = dice.chance(0.5);
        let other = dice.below(u64::from(self.config.hosts)) as u32;
        let host = self.host(if elsewhere { other } else { copy.host });
        let slot = dice.below(u64::from(self.config.pages)) as u32;
        let original = PageId::first(host.id, slot);
        let portable = host.id == copy.host
            || (host.absolute_links && host.trap.is_none() && host.noise.is_none());
        let lasting = !self.is_section(slot) && self.cycle(host.id, slot).is_none();
        (portable && lasting && original != copy && !self.draws_a_copy(original))
            .then_some(original)
    }

    fn draws_a_copy(&self, page: PageId) -> bool {
        let shares = &self.config.page_shares;
        WorldDice::new(self.config.seed, DicePurpose::Copy, page.key(), 0)
            .chance(shares.duplicate + shares.near_duplicate)
    }
}

pub(crate) fn slot_key(host: u32, slot: u32) -> u64 {
    u64::from(host) << 32 | u64::from(slot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorldConfig;

    #[test]
    fn the_tree_holds_every_slot_once() {
        let world = World::new(WorldConfig { pages: 137, fanout: 5, ..WorldConfig::calm() });
        let mut seen: Vec<u32> = (0..137).flat_map(|slot| world.children(slot)).collect();
        seen.sort_unstable();
        assert_eq!(seen, (1..137).collect::<Vec<_>>());
        assert!((1..137).all(|slot| world.children(world.parent(slot)).contains(&slot)));
    }

    #[test]
    fn sections_are_always_plain() {
        let world = World::new(WorldConfig::wild());
        let host = world.host(3);
        let sections: Vec<u32> = (0..50).filter(|&slot| world.is_section(slot)).collect();
        assert!(
            sections.len() > 5
                && sections.iter().all(|&slot| world.fate(&host, slot) == Fate::Plain)
        );
    }

    #[test]
    fn a_copy_is_never_a_copy_of_a_copy() {
        let world = World::new(WorldConfig::wild());
        let pages = (0..100).flat_map(|host| (0..50).map(move |slot| PageId::first(host, slot)));
        let copies: Vec<PageId> = pages.filter(|&page| world.source(page).page != page).collect();
        assert!(copies.len() > 200, "{}", copies.len());
        for copy in copies {
            let original = world.source(copy).page;
            assert_eq!(world.source(original).page, original);
        }
    }

    #[test]
    fn the_largest_world_does_not_overflow() {
        let world =
            World::new(WorldConfig { hosts: u32::MAX, pages: u32::MAX, ..WorldConfig::wild() });
        assert!(world.children(u32::MAX - 1).is_empty());
        assert_eq!(world.fate(&world.host(u32::MAX - 1), 1), Fate::Plain);
    }
}
