//! Do predictions come true? The predicted chance of a change, compared with how many visits found one.
//!
//! A belief that is right on average may be wrong in parts, for example too sure of pages that change often. So
//! visits are counted by how often their pages change, and again by the predicted chance.

/// Classes of change rates, fastest first: the longest time between changes in days, and a name.
pub const CLASSES: [(f64, &str); 5] = [
    (1.0 / 24.0, "within the hour"),
    (1.0, "within a day"),
    (7.0, "within a week"),
    (30.0, "within a month"),
    (f64::INFINITY, "more rarely"),
];

/// The class of a page with this many changes per day.
pub fn rate_class(rate: f64) -> usize {
    CLASSES.iter().position(|(days, _)| rate * days >= 1.0).unwrap_or(CLASSES.len() - 1)
}

/// Predicted chances are counted in ten classes.
const TENTHS: usize = 10;

/// After this many visits in a row of the table, older ones count less.
const MEMORY: f64 = 10_000.0;

/// Visits of one class: how many, how many changes were predicted, and how many were found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PredictionRecord {
    /// Visits.
    pub visits: f64,
    /// The changes that were predicted.
    pub predicted: f64,
    /// The changes that were found.
    pub observed: f64,
}

impl PredictionRecord {
    fn add(&mut self, chance: f64, changed: bool) {
        if self.visits >= MEMORY {
            self.visits /= 2.0;
            self.predicted /= 2.0;
            self.observed /= 2.0;
        }
        self.visits += 1.0;
        self.predicted += chance;
        self.observed += f64::from(u8::from(changed));
    }
}

/// Predictions for visits to known pages, compared with what they found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// By how often the page changes, as in [`CLASSES`].
    pub classes: [PredictionRecord; CLASSES.len()],
    /// By the predicted chance of a change, in tenths.
    pub tenths: [PredictionRecord; TENTHS],
}

impl Calibration {
    /// Counts a visit with this predicted chance of a change, to a page with this many changes per day.
    pub(super) fn add(&mut self, rate: f64, chance: f64, changed: bool) {
        if !(0.0..=1.0).contains(&chance) {
            return;
        }
        self.classes[rate_class(rate)].add(chance, changed);
        let tenth = (chance * TENTHS as f64) as usize;
        self.tenths[tenth.min(TENTHS - 1)].add(chance, changed);
    }

    /// The mean distance between predicted and found changes, over the ten classes of chances.
    pub fn error(&self) -> Option<f64> {
        let visits: f64 = self.tenths.iter().map(|row| row.visits).sum();
        let off: f64 = self.tenths.iter().map(|row| (row.predicted - row.observed).abs()).sum();
        (visits > 0.0).then(|| off / visits)
    }

    /// Appends the encoding to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        for row in self.classes.iter().chain(&self.tenths) {
            let counts = [row.visits, row.predicted, row.observed];
            out.extend(counts.iter().flat_map(|count| (*count as f32).to_le_bytes()));
        }
    }

    /// Reads what [`write`](Self::write) wrote.
    pub(super) fn read(from: &mut &[u8]) -> Option<Self> {
        let mut count = || {
            let (head, rest) = from.split_first_chunk()?;
            *from = rest;
            Some(f64::from(f32::from_le_bytes(*head)))
        };
        let mut calibration = Calibration::default();
        for row in calibration.classes.iter_mut().chain(&mut calibration.tenths) {
            *row = PredictionRecord { visits: count()?, predicted: count()?, observed: count()? };
        }
        Some(calibration)
    }
}

#[cfg(test)]
mod tests {
    use evercrawl_policy::SplitMix64;

    use super::*;

    #[test]
    fn classes_are_told_apart_by_how_often_pages_change() {
        for (every, want) in [(0.01, 0), (0.5, 1), (1.0, 1), (6.9, 2), (29.0, 3), (400.0, 4)] {
            assert_eq!(rate_class(1.0 / every), want, "every {every} days");
        }
        assert_eq!((rate_class(0.0), rate_class(f64::NAN)), (4, 4));
    }

    /// Visits with predicted chances, where a share of each predicted chance comes true.
    fn after(share: f64) -> Calibration {
        let (mut random, mut calibration) = (SplitMix64::new(5), Calibration::default());
        for _ in 0..30_000 {
            let chance = random.uniform();
            calibration.add(chance, chance, random.uniform() < share * chance);
        }
        calibration
    }

    #[test]
    fn who_is_right_is_told_from_who_is_not_and_it_is_kept() {
        let (right, wrong) = (after(1.0), after(0.5));
        assert!(right.error().unwrap() < 0.02, "{:?}", right.error());
        assert!((wrong.error().unwrap() - 0.25).abs() < 0.03, "{:?}", wrong.error());
        assert_eq!(Calibration::default().error(), None);
        let mut bytes = Vec::new();
        right.write(&mut bytes);
        let again = Calibration::read(&mut bytes.as_slice()).unwrap();
        assert!((again.error().unwrap() - right.error().unwrap()).abs() < 1e-6);
        assert!(Calibration::read(&mut &bytes[1..]).is_none());
    }

    #[test]
    fn nonsense_is_not_counted_and_counts_stay_bounded() {
        let mut calibration = Calibration::default();
        calibration.add(1.0, f64::NAN, true);
        calibration.add(1.0, 2.0, true);
        assert_eq!(calibration, Calibration::default());
        (0..50_000).for_each(|_| calibration.add(1.0, 1.0, true));
        assert!(calibration.classes[1].visits <= MEMORY);
    }
}
