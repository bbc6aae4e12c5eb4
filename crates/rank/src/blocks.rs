//! How is a sweep divided over threads with bit-identical results?
//!
//! Numbers are cut into blocks of one size. A block is computed by whichever thread comes first; what
//! it adds up stands alone, and blocks are added up in their own order.

use std::sync::{Mutex, PoisonError};

/// How many numbers make a block: enough to be worth a lock, few enough to share out evenly.
pub(crate) const BLOCK: usize = 1 << 13;

/// What a sweep adds up besides what it writes.
pub(crate) type Sums = [f64; 2];

/// Lets `compute` write every block of a list, told where the block begins, and returns the sums of
/// what it returned.
pub(crate) fn sweep(
    threads: usize,
    list: &mut [f64],
    compute: impl Fn(usize, &mut [f64]) -> Sums + Sync,
) -> Sums {
    let count = list.len().div_ceil(BLOCK);
    let mut sums = vec![[0.0; 2]; count];
    let blocks = Mutex::new(list.chunks_mut(BLOCK).zip(&mut sums).enumerate());
    let work = || {
        loop {
            let next = blocks.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, (block, sum))) = next else { return };
            *sum = compute(number * BLOCK, block);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            scope.spawn(work);
        }
        work();
    });
    sums.iter().fold([0.0; 2], |sum, part| [sum[0] + part[0], sum[1] + part[1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let run = |threads| {
            let mut list = vec![0.0; 50_000];
            let sums = sweep(threads, &mut list, |start, block| {
                let mut sums = [0.0; 2];
                for (place, value) in (start..).zip(block) {
                    *value = 1.0 / (place + 1) as f64;
                    sums = [sums[0] + *value, sums[1] + value.sqrt()];
                }
                sums
            });
            (sums, list)
        };
        let alone = run(1);
        assert!(alone.0[0] > 11.0 && alone.1[49_999] == 1.0 / 50_000.0);
        for threads in [0, 2, 3, 8, 100] {
            assert_eq!(run(threads), alone);
        }
        assert_eq!(sweep(4, &mut [], |_, _| [1.0; 2]), [0.0; 2]);
    }
}
