//! When is a page born and when does it die?
//!
//! A mortal slot repeats a cycle of its own: a page lives in it, then it stands empty, then the next page is born under
//! another URL. So the world goes on for ever, and the page in a slot at any moment is a division away.

use super::dice::{DicePurpose, WorldDice};
use super::page::slot_key;
use super::{PageId, World};

/// From when to when a page exists, in Unix milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LifeSpan {
    /// The first moment.
    pub created_ms: u64,
    /// The first moment after its end, if it has one.
    pub deleted_ms: Option<u64>,
}

impl LifeSpan {
    /// Whether the page exists at a moment. What never dies also exists before its own and the world's beginning.
    pub fn covers(&self, at_ms: u64) -> bool {
        self.deleted_ms.is_none_or(|deleted_ms| self.created_ms <= at_ms && at_ms < deleted_ms)
    }
}

/// The lives of a mortal slot: all as long, one after another.
#[derive(Clone, Copy)]
pub(crate) struct Cycle {
    life_ms: u64,
    period_ms: u64,
    phase_ms: u64,
}

impl World {
    /// The cycle of a mortal slot; none for what never dies.
    pub(crate) fn cycle(&self, host: u32, slot: u32) -> Option<Cycle> {
        if self.config.page_shares.mortal <= 0.0 || self.is_section(slot) {
            return None;
        }
        let dice =
            &mut WorldDice::new(self.config.seed, DicePurpose::Life, slot_key(host, slot), 0);
        dice.chance(self.config.page_shares.mortal).then(|| {
            let life_ms = (self.days_ms(self.config.life_days) * dice.exponential()).max(1_000.0);
            let gap_ms = life_ms * (0.1 + 0.2 * dice.unit());
            let period_ms = (life_ms + gap_ms) as u64;
            Cycle { life_ms: life_ms as u64, period_ms, phase_ms: dice.below(period_ms) }
        })
    }

    /// From when to when a page exists.
    pub fn life(&self, page: PageId) -> LifeSpan {
        match self.cycle(page.host, page.slot) {
            Some(cycle) => self.mortal_life(&cycle, page.generation),
            None => LifeSpan { created_ms: self.founding_ms(page), deleted_ms: None },
        }
    }

    /// The page that lives in a slot at a moment.
    pub(crate) fn tenant(&self, host: u32, slot: u32, at_ms: u64) -> Option<PageId> {
        let Some(cycle) = self.cycle(host, slot) else { return Some(PageId::first(host, slot)) };
        let generation = self.generation(&cycle, at_ms);
        self.mortal_life(&cycle, generation).covers(at_ms).then_some(PageId {
            host,
            slot,
            generation,
        })
    }

    /// All pages that lived in a slot at any time from the beginning of the world to a moment.
    pub(crate) fn tenants(
        &self,
        host: u32,
        slot: u32,
        until_ms: u64,
    ) -> impl Iterator<Item = PageId> {
        let last = self.cycle(host, slot).map_or(0, |cycle| self.generation(&cycle, until_ms));
        let origin_ms = self.config.origin_ms;
        (0..=last).map(move |generation| PageId { host, slot, generation }).filter(move |&page| {
            self.life(page).deleted_ms.is_none_or(|deleted_ms| deleted_ms > origin_ms)
        })
    }

    /// The latest birth or death in a mortal slot at or before a moment.
    pub(crate) fn latest_turn(&self, cycle: &Cycle, at_ms: u64) -> u64 {
        let life = self.mortal_life(cycle, self.generation(cycle, at_ms));
        life.deleted_ms.filter(|&deleted_ms| deleted_ms <= at_ms).unwrap_or(life.created_ms)
    }

    /// Appends the births and deaths in a mortal slot after one moment, up to and including another.
    pub(crate) fn turns_between(
        &self,
        cycle: &Cycle,
        after_ms: u64,
        until_ms: u64,
        out: &mut Vec<u64>,
    ) {
        for generation in self.generation(cycle, after_ms)..=self.generation(cycle, until_ms) {
            let life = self.mortal_life(cycle, generation);
            let turns = [Some(life.created_ms), life.deleted_ms];
            out.extend(turns.into_iter().flatten().filter(|&at| at > after_ms && at <= until_ms));
        }
    }

    fn generation(&self, cycle: &Cycle, at_ms: u64) -> u32 {
        let since = at_ms.saturating_sub(self.config.origin_ms).saturating_add(cycle.phase_ms);
        u32::try_from(since / cycle.period_ms).unwrap_or(u32::MAX)
    }

    fn mortal_life(&self, cycle: &Cycle, generation: u32) -> LifeSpan {
        let turn = self
            .config
            .origin_ms
            .saturating_add(cycle.period_ms.saturating_mul(u64::from(generation)));
        let created_ms = turn.saturating_sub(cycle.phase_ms);
        LifeSpan {
            created_ms,
            deleted_ms: Some(turn.saturating_add(cycle.life_ms).saturating_sub(cycle.phase_ms)),
        }
    }

    /// When an immortal page came to be: some time in the year before the world's beginning.
    fn founding_ms(&self, page: PageId) -> u64 {
        let year_ms = self.days_ms(365.0) as u64;
        let before =
            WorldDice::new(self.config.seed, DicePurpose::Life, page.key(), 1).below(year_ms);
        self.config.origin_ms.saturating_sub(before)
    }

    /// The milliseconds of this many days of the world.
    pub(crate) fn days_ms(&self, days: f64) -> f64 {
        days * 86_400_000.0 / self.config.time_scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorldConfig;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    static MORTAL: LazyLock<World> = LazyLock::new(|| {
        let mut config = WorldConfig::demo();
        config.page_shares.mortal = 1.0;
        World::new(config)
    });

    proptest! {
        #[test]
        fn a_slot_has_at_most_one_tenant_and_it_is_alive(slot in 10u32..30, after in 0u64..100_000_000) {
            let world = &*MORTAL;
            let at_ms = world.config().origin_ms + after;
            let living: Vec<PageId> =
                world.tenants(2, slot, at_ms).filter(|&page| world.life(page).covers(at_ms)).collect();
            prop_assert_eq!(living, world.tenant(2, slot, at_ms).into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn turns_are_the_births_and_deaths_of_tenants(slot in 10u32..30, after in 0u64..50_000_000, span in 0u64..50_000_000) {
            let world = &*MORTAL;
            let from = world.config().origin_ms + after;
            let cycle = world.cycle(2, slot).unwrap();
            let mut turns = Vec::new();
            world.turns_between(&cycle, from, from + span, &mut turns);
            let lives = world.tenants(2, slot, from + span).map(|page| world.life(page));
            let expected: Vec<u64> = lives
                .flat_map(|life| [Some(life.created_ms), life.deleted_ms])
                .flatten()
                .filter(|&at| at > from && at <= from + span)
                .collect();
            if let Some(&last) = expected.last() {
                prop_assert_eq!(world.latest_turn(&cycle, from + span), last);
            }
            prop_assert_eq!(turns, expected);
        }
    }

    #[test]
    fn a_generation_from_a_made_up_url_does_not_overflow() {
        let world = &*MORTAL;
        let page = PageId { host: 0, slot: 20, generation: u32::MAX };
        assert!(world.life(page).created_ms > world.config().origin_ms);
        assert!(world.tenant(0, 20, u64::MAX).is_none_or(|page| page.generation > 0));
    }
}
