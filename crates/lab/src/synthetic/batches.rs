//! Which pages change together, and when?
//!
//! Events are few, so they are listed: one list a directory, those of its host and of the whole world
//! among them.

use evercrawl_policy::{Days, NEVER};

use super::spec::{Batch, BatchScope};
use crate::dice::{Dice, Purpose, exponential};

/// The events of all groups, and who takes part.
#[derive(Clone, Debug)]
pub(super) struct Batches {
    part: Dice,
    /// Where each directory's events begin, and the end of the last.
    starts: Vec<u32>,
    events: Vec<BatchEvent>,
    /// Mean events per day of ordinary pages and of hubs.
    rate: f64,
    hub_rate: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct BatchEvent {
    at: Days,
    share: f32,
    hub: f32,
}

impl Batches {
    /// Nothing ever happens together.
    pub(super) fn none() -> Self {
        let part = Dice::new(0, Purpose::TakingPart);
        Batches { part, starts: Vec::new(), events: Vec::new(), rate: 0.0, hub_rate: 0.0 }
    }

    /// Draws the events of `hosts` hosts with `directories` directories each.
    pub(super) fn new(
        seed: u64,
        batches: &[Batch],
        (hosts, directories): (u32, u32),
        (start, end): (Days, Days),
    ) -> Self {
        let dice = Dice::new(seed, Purpose::GroupEvents);
        let mut made = Batches { part: Dice::new(seed, Purpose::TakingPart), ..Batches::none() };
        if batches.is_empty() {
            return made;
        }
        for directory in 0..hosts * directories {
            let first = made.events.len();
            made.starts.push(first as u32);
            for (kind, batch) in (0u64..).zip(batches) {
                let group = batch.of.group(directory, directories);
                let key = kind << 33 | u64::from(group);
                made.events.extend(events(dice, key, batch, start, end));
            }
            made.events[first..].sort_by(|a, b| a.at.total_cmp(&b.at));
        }
        made.starts.push(made.events.len() as u32);
        made.rate = batches.iter().map(|batch| batch.rate * batch.share / 7.0).sum();
        made.hub_rate = batches.iter().map(|batch| batch.rate * batch.hub / 7.0).sum();
        made
    }

    /// How many events per day a page takes part in.
    pub(super) fn rate(&self, hub: bool) -> f64 {
        if hub { self.hub_rate } else { self.rate }
    }

    /// The place of the group's first event after `start`.
    pub(super) fn first(&self, group: u32, start: Days) -> u32 {
        self.of(group).partition_point(|event| event.at <= start) as u32
    }

    /// The first event from place `from` on in which `page` takes part: its place and moment.
    pub(super) fn next(&self, page: u32, group: u32, hub: bool, from: u32) -> (u32, Days) {
        let events = self.of(group);
        let dice = Dice::of_key(self.part.key(page.into()));
        for (place, event) in (from..).zip(events.get(from as usize..).unwrap_or_default()) {
            let share = if hub { event.hub } else { event.share };
            if share >= 1.0 || dice.uniform(place.into()) < f64::from(share) {
                return (place, event.at);
            }
        }
        (events.len() as u32, NEVER)
    }

    fn of(&self, group: u32) -> &[BatchEvent] {
        let bound = |group: usize| self.starts.get(group).map(|start| *start as usize);
        let bounds = bound(group as usize).zip(bound(group as usize + 1));
        bounds.map_or(&[], |(start, end)| &self.events[start..end])
    }
}

impl BatchScope {
    /// The number of the group of this kind that a directory belongs to.
    fn group(self, directory: u32, directories: u32) -> u32 {
        match self {
            BatchScope::Directory => directory,
            BatchScope::Host => directory / directories,
            BatchScope::World => 0,
        }
    }
}

/// A Poisson process of events. The same key gives the same ones.
fn events(dice: Dice, key: u64, batch: &Batch, start: Days, end: Days) -> Vec<BatchEvent> {
    let mut random = dice.roll(key);
    let mean_gap = 7.0 / batch.rate;
    let mut list = Vec::new();
    let mut at = start + mean_gap * exponential(&mut random);
    while at < end {
        list.push(BatchEvent { at, share: batch.share as f32, hub: batch.hub as f32 });
        at += mean_gap * exponential(&mut random);
    }
    list
}
