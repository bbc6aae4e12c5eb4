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
    fn each_band_comes_first_half_as_often_as_the_band_before_it() {
        let mut selector = BandSelector::new(1);
        let mut first = [0u32; Band::COUNT as usize];
        for _ in 0..10_000 {
            let bands: Vec<Band> = selector.bands().collect();
            assert_eq!(bands.len(), usize::from(Band::COUNT));
            first[usize::from(bands[0].number())] += 1;
        }
        // Each band has half of the share of the band before it; the last has the same share as the one before.
        for (band, &times) in first.iter().enumerate() {
            let share = 0.5_f64.powi(i32::try_from(band + 1).unwrap().min(7));
            let (expected, noise) = (10_000.0 * share, (10_000.0 * share * (1.0 - share)).sqrt());
            let off = (f64::from(times) - expected).abs();
            assert!(off < 4.0 * noise, "band {band}: {times} times, expected {expected}");
        }
    }
}
