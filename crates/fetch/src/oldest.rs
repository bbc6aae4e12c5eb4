//! What to let go of when a bounded table is full?

use tokio::time::Instant;

/// The moment up to which entries must have been used last to be let go, so that about an eighth of
/// them go, the oldest first; `None` when there are none.
///
/// Letting an eighth go at a time makes one pass over the table pay for many insertions.
pub(crate) fn cutoff(last_used: impl Iterator<Item = Instant>) -> Option<Instant> {
    let mut moments: Vec<Instant> = last_used.collect();
    if moments.is_empty() {
        return None;
    }
    let last_to_go = (moments.len() / 8).saturating_sub(1);
    Some(*moments.select_nth_unstable(last_to_go).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_oldest_eighth_goes_and_at_least_one() {
        let start = Instant::now();
        let after = |s: u64| start + Duration::from_secs(s);
        assert_eq!(cutoff([].into_iter()), None);
        assert_eq!(cutoff([after(5)].into_iter()), Some(after(5)));
        assert_eq!(cutoff([9, 3, 7].map(after).into_iter()), Some(after(3)));
        assert_eq!(cutoff((0..80).rev().map(after)), Some(after(9)));
    }
}
