//! How many requests of which kind were there?

use crate::HostClass;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters by class of host and status; the last class stands for hosts that are not of this world.
#[derive(Debug)]
pub(crate) struct Stats {
    counts: [[AtomicU64; STATUSES]; CLASSES],
}

impl Default for Stats {
    fn default() -> Self {
        Stats { counts: std::array::from_fn(|_| std::array::from_fn(|_| AtomicU64::new(0))) }
    }
}

impl Stats {
    /// Counts a request; status 0 stands for no answer.
    pub(crate) fn count(&self, class: Option<HostClass>, status: u16) {
        let row = class.map_or(CLASSES - 1, |class| class as usize);
        self.counts[row][usize::from(status).min(STATUSES - 1)].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut total = 0;
        let mut classes = Map::new();
        let names = HostClass::ALL.iter().map(|class| json!(class)).chain([json!("unknown")]);
        for (name, row) in names.zip(&self.counts) {
            let counts = row.iter().map(|count| count.load(Ordering::Relaxed)).enumerate();
            let seen: Map<_, _> = counts
                .filter(|(_, count)| *count > 0)
                .map(|(status, count)| (status.to_string(), count.into()))
                .collect();
            total += seen.values().filter_map(Value::as_u64).sum::<u64>();
            if !seen.is_empty() {
                classes.insert(name.as_str().unwrap_or_default().to_owned(), seen.into());
            }
        }
        json!({ "requests": total, "classes": classes })
    }
}

const STATUSES: usize = 512;
const CLASSES: usize = HostClass::ALL.len() + 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_appear_under_their_class_and_status() {
        let stats = Stats::default();
        stats.count(Some(HostClass::Slow), 200);
        stats.count(Some(HostClass::Slow), 200);
        stats.count(Some(HostClass::Silent), 0);
        stats.count(None, 421);
        let expected = json!({
            "requests": 4,
            "classes": { "slow": { "200": 2 }, "silent": { "0": 1 }, "unknown": { "421": 1 } },
        });
        assert_eq!(stats.to_json(), expected);
    }
}
