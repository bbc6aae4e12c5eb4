//! How are many independent computations shared out over the machine's cores?

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Computes `work` of every item, on as many threads as there are cores; answers are in order.
pub(crate) fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let share = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place) else { return done };
            done.push((place, work(item)));
        }
    };
    let mut all: Vec<(usize, R)> = thread::scope(|scope| {
        let others: Vec<_> = (1..cores.min(items.len())).map(|_| scope.spawn(share)).collect();
        let mut all = share();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_answered_in_order() {
        let items: Vec<u32> = (0..100).collect();
        assert_eq!(each(&items, |n| n * n), items.iter().map(|n| n * n).collect::<Vec<_>>());
        assert!(each(&[] as &[u32], |n| *n).is_empty());
    }
}
