//! Which places differed at a visit, and which stayed as they were?

use std::collections::{HashMap, HashSet};

use super::{Arrival, Judge, short_text};
use crate::page_memory::PageMemory;
use crate::place::{KeyKind, PlaceKey};
use crate::template_memory::{NoiseReason, Observation, PlaceVerdict};

/// What a visit shows of places.
impl Judge<'_> {
    pub(super) fn add(&mut self, observation: Observation) {
        let several = PlaceKey(observation.key).kind() == KeyKind::Several;
        let seen = self.seen.entry(PlaceKey(observation.key)).or_insert(Observation {
            looked: 0,
            differed: 0,
            ..observation
        });
        seen.flags |= observation.flags;
        if several {
            seen.looked = seen.looked.saturating_add(observation.looked);
            seen.differed = seen.differed.saturating_add(observation.differed);
        } else {
            seen.looked = 1;
            seen.differed = seen.differed.max(observation.differed);
        }
    }

    /// Notes which places differed at this look, and which did not.
    pub(super) fn observe(&mut self, memory: &mut PageMemory, arrivals: &[Arrival], flag: u8) {
        let second = flag & Observation::SECOND != 0;
        self.observe_noise(memory, arrivals, second);
        for arrival in arrivals.iter().filter(|arrival| !arrival.is_left_out) {
            let drawn = arrival.verdict == PlaceVerdict::Noise(NoiseReason::Drawn);
            let came = if second { 0 } else { Observation::CAME };
            let again = memory.recent.contains(arrival.id) && !second;
            let returned = if again { Observation::RETURNED } else { 0 };
            for key in &arrival.keys {
                self.add(Observation::of(*key, flag | came | returned, drawn || !second));
            }
        }
        self.observe_stillness(memory, arrivals, flag);
    }

    /// A place of noise counts by what it showed last on this page.
    fn observe_noise(&mut self, memory: &mut PageMemory, arrivals: &[Arrival], second: bool) {
        let mut texts: HashMap<PlaceKey, (u16, u8)> = HashMap::new();
        for arrival in arrivals.iter().filter(|arrival| arrival.is_passing()) {
            let text = texts.entry(arrival.by).or_default();
            *text = (text.0 ^ short_text(arrival.id), text.1.saturating_add(1));
        }
        let mut texts: Vec<_> = texts.into_iter().collect();
        texts.sort_unstable_by_key(|(key, _)| *key);
        let left_out: HashSet<PlaceKey> = arrivals
            .iter()
            .filter(|arrival| arrival.is_left_out)
            .map(|arrival| arrival.by)
            .collect();
        for (key, (text, lines)) in texts {
            let before = memory.shown.text_of(key);
            let remembered = memory.shown.remember(key, text);
            if second || !remembered || !left_out.contains(&key) {
                continue;
            }
            let differs = before != Some(text);
            let several = key.kind() == KeyKind::Several;
            let looked = if several { lines } else { 1 };
            let differed = if differs { looked } else { 0 };
            self.add(Observation { key: key.0, flags: 0, looked, differed });
        }
    }

    /// Places that are known and did not differ.
    fn observe_stillness(&mut self, memory: &PageMemory, arrivals: &[Arrival], flag: u8) {
        let template = self.visit.template;
        if template.is_empty() {
            return;
        }
        let differing: HashSet<usize> = arrivals.iter().map(|arrival| arrival.number).collect();
        let still = |key: PlaceKey| Observation { key: key.0, flags: flag, looked: 1, differed: 0 };
        let mut seen: HashSet<PlaceKey> = HashSet::new();
        let mut found: Vec<Observation> = Vec::new();
        let known = |key: PlaceKey| template.knows(key) || self.seen.contains_key(&key);
        for (key, passages) in self.layout.paths().filter(|(key, _)| known(*key)) {
            let came = arrivals.iter().filter(|arrival| arrival.keys.contains(&key));
            let came: usize = came.map(|arrival| arrival.times).sum();
            let looked = usize::from(passages).saturating_sub(came).min(255) as u8;
            if looked > 0 && (key.kind() == KeyKind::Several || came == 0) {
                found.push(Observation { looked, ..still(key) });
            }
        }
        let beside = template.paths_beside();
        for number in (0..self.layout.passages().len()).filter(|number| !differing.contains(number))
        {
            let held = memory.recent.just_came(self.layout.passages()[number].id);
            let held = if held && flag == 0 { Observation::HELD } else { 0 };
            let mut keys = Vec::new();
            if template.has_numbers() {
                keys.extend(self.layout.number_keys(number));
            }
            if beside.contains(&self.layout.path_bits(number)) {
                keys.extend(self.layout.possible_keys(number));
                keys.extend(self.layout.row_keys(number));
            }
            if held != 0 {
                keys.push(self.layout.path_key(number));
            }
            for key in keys.into_iter().filter(|key| template.knows(*key)) {
                let fresh = seen.insert(key) && key.kind() != KeyKind::Several;
                if fresh && key.kind() != KeyKind::Path {
                    found.push(Observation { flags: flag | held, ..still(key) });
                } else if held != 0 {
                    found.push(Observation { flags: flag | held, looked: 0, ..still(key) });
                }
            }
        }
        for observation in found {
            self.add_still(observation);
        }
    }

    /// A place that differed in one of its passages did not stay.
    fn add_still(&mut self, observation: Observation) {
        let key = PlaceKey(observation.key);
        match self.seen.get_mut(&key) {
            Some(seen) if key.kind() == KeyKind::Several => {
                seen.looked = seen.looked.saturating_add(observation.looked);
                seen.flags |= observation.flags;
            }
            Some(seen) => seen.flags |= observation.flags,
            None if observation.looked > 0 => drop(self.seen.insert(key, observation)),
            None => {}
        }
    }
}
