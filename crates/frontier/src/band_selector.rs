//! Which band is next? A biased choice: half of the time the first, a quarter the second, and so on.

use evercrawl_model::Band;

/// A seeded, biased chooser of bands.
pub(super) struct BandSelector {
    state: u64,
}

impl BandSelector {
    pub(super) fn new(seed: u64) -> Self {
        BandSelector { state: seed }
    }

    /// All bands, starting with a random one, biased towards the urgent bands. The rest follow in order, so that any
    /// queued host is found.
    pub(super) fn bands(&mut self) -> impl Iterator<Item = Band> + use<> {
        let first =
            u8::try_from(self.next_random().trailing_zeros()).unwrap_or(0).min(Band::LAST.number());
        (first..Band::COUNT).chain(0..first).map(Band::new)
    }

    /// The next number of the splitmix64 sequence.
    fn next_random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urgent_bands_come_first_more_often_and_every_band_comes() {
        let mut selector = BandSelector::new(1);
        let mut first = [0u32; Band::COUNT as usize];
        for _ in 0..10_000 {
            let bands: Vec<Band> = selector.bands().collect();
            assert_eq!(bands.len(), usize::from(Band::COUNT));
            first[usize::from(bands[0].number())] += 1;
        }
        assert!(first.is_sorted_by(|a, b| a >= b) || first[6] < first[7] + 50, "{first:?}");
        assert!((4_800..5_200).contains(&first[0]), "{first:?}");
        assert!(first.iter().all(|&n| n > 0));
    }
}
