//! Where do draws come from? From a seed that is handed in, so that the same run can be had again.

/// Steele, Lea and Flood's SplitMix64: a counter, well mixed. Small, fast, no state to speak of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator whose draws depend on `seed` alone.
    pub fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The next number between 0 and 1, never either.
    pub fn uniform(&mut self) -> f64 {
        ((self.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// The next number below `end`; 0 when `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next_u64()) * end as u128) >> 64) as usize
    }

    /// Brings `count` randomly drawn items to the front, in random order.
    pub fn shuffle_front<T>(&mut self, items: &mut [T], count: usize) {
        for front in 0..count.min(items.len()) {
            let drawn = front + self.below(items.len() - front);
            items.swap(front, drawn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_those_of_the_published_generator() {
        let mut random = SplitMix64::new(42);
        let first: Vec<f64> = (0..3).map(|_| random.uniform()).collect();
        assert_eq!(first, [0.7415648787718234, 0.15991039287692016, 0.2786011302551387]);
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut random = SplitMix64::new(1);
        let mut counts = [0; 5];
        (0..5000).for_each(|_| counts[random.below(5)] += 1);
        assert!(counts.iter().all(|&n| (900..1100).contains(&n)), "{counts:?}");
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn shuffling_keeps_every_item() {
        let mut items: Vec<u32> = (0..20).collect();
        SplitMix64::new(3).shuffle_front(&mut items, 50);
        assert_ne!(items, (0..20).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..20).collect::<Vec<_>>());
    }
}
