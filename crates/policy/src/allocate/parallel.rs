//! How is a sum over many pages spread over the machine's cores, always with the same result?
//!
//! Sums are formed per block and added in order, so the number of threads never shows in a digit.

use std::thread;

const BLOCK: usize = 1 << 14;
const WORTH_A_THREAD: usize = 4 * BLOCK;

/// Returns the sum of `value` over all items.
pub(super) fn sum<T: Sync>(items: &[T], value: impl Fn(&T) -> f64 + Sync) -> f64 {
    let block = |items: &[T]| items.iter().map(&value).sum::<f64>();
    let share = share(items.len());
    if share >= items.len() {
        return items.chunks(BLOCK).map(block).sum();
    }
    let blocks = |items: &[T]| items.chunks(BLOCK).map(block).collect::<Vec<f64>>();
    thread::scope(|scope| {
        let workers: Vec<_> =
            items.chunks(share).map(|part| scope.spawn(|| blocks(part))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).sum()
    })
}

/// Returns `value` of every item.
pub(super) fn map<T: Sync>(items: &[T], value: impl Fn(&T) -> f64 + Sync) -> Vec<f64> {
    let mut values = vec![0.0; items.len()];
    let fill = |items: &[T], values: &mut [f64]| {
        items.iter().zip(values).for_each(|(item, slot)| *slot = value(item));
    };
    let share = share(items.len());
    if share >= items.len() {
        fill(items, &mut values);
        return values;
    }
    thread::scope(|scope| {
        for (items, values) in items.chunks(share).zip(values.chunks_mut(share)) {
            scope.spawn(|| fill(items, values));
        }
    });
    values
}

/// How many items each thread takes: whole blocks, and all of them where threads do not pay.
fn share(items: usize) -> usize {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = items.div_ceil(threads).max(WORTH_A_THREAD);
    share.div_ceil(BLOCK) * BLOCK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_do_not_show_in_the_result() {
        let items: Vec<f64> = (0..300_000).map(|i| 1.0 / f64::from(i + 1)).collect();
        let alone: f64 = items.chunks(BLOCK).map(|block| block.iter().sum::<f64>()).sum();
        assert_eq!(sum(&items, |x| *x), alone);
        assert!(map(&items, |x| 2.0 * x).iter().zip(&items).all(|(twice, x)| *twice == 2.0 * x));
        assert!(map(&items[..0], |x| *x).is_empty());
    }
}
