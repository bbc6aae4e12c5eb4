//! `chile`: the Universidad de Chile's crawler, which values pages by quality, size and freshness.

use std::collections::HashMap;

use crate::page::{Days, NEVER, Page, VisitEvidence};
use crate::policy::{Policy, Round};
use crate::schedulers::worklist::Worklist;
use crate::schedulers::{dated_rate, mean};

/// What the long-term scheduler takes the pages by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChileVariant {
    /// V = q^a s^b p^c as printed (eq. 25), p being the chance that the copy is still fresh. It takes
    /// fresh pages first.
    Literal,
    /// What a fetch gains: q^a s^b (1 - p^c). The recommended reading.
    Gain,
}

/// Two schedulers in one (eq. 25 to 27): the long-term one takes the most valuable pages for the next
/// period, the short-term one orders them so that no host is asked twice in a row.
#[derive(Debug)]
pub struct Chile {
    reading: ChileVariant,
    /// The exponents a, b and c of quality (weight), representation (cost) and freshness.
    exponents: [f64; 3],
    /// What a page is taken to change at before it has been checked.
    usual_rate: f64,
    list: Worklist,
}

impl Chile {
    /// Values pages by `reading`, with all exponents 1.
    pub fn new(reading: ChileVariant) -> Self {
        Chile::with_exponents(reading, [1.0; 3])
    }

    /// The same with other exponents.
    pub(crate) fn with_exponents(reading: ChileVariant, exponents: [f64; 3]) -> Self {
        Chile { reading, exponents, usual_rate: 1.0, list: Worklist::default() }
    }

    fn rate(&self, page: &Page) -> f64 {
        dated_rate(page).unwrap_or(self.usual_rate)
    }

    fn value(&self, page: &Page, now: Days) -> f64 {
        let [a, b, c] = self.exponents;
        let fresh =
            if page.is_known() { (-self.rate(page) * page.elapsed(now)).exp() } else { 0.0 };
        let worth = f64::from(page.weight).powf(a) * f64::from(page.cost).powf(b);
        match self.reading {
            ChileVariant::Literal => worth * fresh.powf(c),
            ChileVariant::Gain => worth * (1.0 - fresh.powf(c)),
        }
    }
}

impl Policy for Chile {
    fn record_discovery(&mut self, page: &mut Page, _now: Days) {
        page.due = NEVER;
    }

    fn record_visit(&mut self, _page: &mut Page, _seen: &VisitEvidence) {}

    fn plan_round(&mut self, round: &Round, pages: &mut [Page]) -> bool {
        let now = round.start + round.length;
        let alive = pages.iter().filter(|page| page.alive);
        self.usual_rate = mean(alive.clone().filter_map(dated_rate)).unwrap_or(self.usual_rate);
        let mut valued: Vec<(f64, u32)> = alive.map(|p| (self.value(p, now), p.id)).collect();
        let best_first = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if round.fetches < valued.len() {
            valued.select_nth_unstable_by(round.fetches, best_first);
            valued.truncate(round.fetches);
        }
        valued.sort_unstable_by(best_first);
        self.list.set(alternating(valued.into_iter().map(|(_, id)| id), pages));
        false
    }

    fn choose_pages(&mut self, _now: Days, room: usize, pages: &[Page], out: &mut Vec<u32>) {
        self.list.take_pages(room, pages, out);
    }

    fn explain(&self, page: &Page, now: Days) -> Vec<(&'static str, f64)> {
        vec![("rate", self.rate(page)), ("value", self.value(page, now))]
    }
}

/// The short-term scheduler: the first page of every host, then the second of every host, and so on.
fn alternating(ids: impl Iterator<Item = u32>, pages: &[Page]) -> Vec<u32> {
    let mut turns: HashMap<u32, u32> = HashMap::new();
    let mut batch: Vec<(u32, u32)> = ids
        .map(|id| {
            let turn = turns.entry(pages[id as usize].host).or_default();
            *turn += 1;
            (*turn, id)
        })
        .collect();
    batch.sort_by_key(|&(turn, _)| turn);
    batch.into_iter().map(|(_, id)| id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;

    /// Page 0 changed at every check, page 1 at none; both were last seen a day ago.
    fn world() -> World {
        let mut world = World::still(3);
        world.fetch_all(0.0);
        for (page, changes) in world.pages.iter_mut().zip([9, 0, 3]) {
            (page.checks, page.changes, page.watched, page.unmodified) = (10, changes, 10.0, 5.0);
        }
        world
    }

    fn first(reading: ChileVariant) -> u32 {
        let mut fetched = Vec::new();
        world().round(&mut Chile::new(reading), 1.0, 1, |page| fetched.push(page));
        fetched[0]
    }

    #[test]
    fn the_printed_value_takes_the_fresh_and_the_gain_the_stale() {
        assert_eq!(first(ChileVariant::Literal), 1);
        assert_eq!(first(ChileVariant::Gain), 0);
    }

    #[test]
    fn quality_counts_and_hosts_alternate() {
        let mut world = World::still(6);
        for page in &mut world.pages {
            (page.host, page.weight) = (page.id / 4, 10.0 - page.id as f32);
        }
        let mut fetched = Vec::new();
        world.round(&mut Chile::new(ChileVariant::Gain), 1.0, 5, |page| fetched.push(page));
        assert_eq!(fetched, [0, 4, 1, 2, 3]);
    }
}
