//! How likely has a member changed, given that its top has or has not?

/// Counts of member visits by what was last seen at the top, and the probabilities they imply.
///
/// The worth of a top page differs from site to site (its members may change six times as often
/// when it has changed, or no more often at all), so it is learned, not assumed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coupling {
    unchanged: CheckCounts,
    changed: CheckCounts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct CheckCounts {
    checks: f64,
    changes: f64,
}

impl Coupling {
    /// Counts a visit of a member together with what was found at its top over the same time.
    pub fn observe(&mut self, top_changed: bool, member_changed: bool) {
        let tally = if top_changed { &mut self.changed } else { &mut self.unchanged };
        tally.checks += 1.0;
        tally.changes += f64::from(u8::from(member_changed));
    }

    /// How many member visits were counted with the top changed, or unchanged.
    pub fn checks(&self, top_changed: bool) -> f64 {
        self.tally(top_changed).checks
    }

    /// P(member changed | top changed, or unchanged) by this site's counts alone, with half a
    /// change and half a non-change added, so that it is never 0 or 1.
    pub fn probability(&self, top_changed: bool) -> f64 {
        let tally = self.tally(top_changed);
        (tally.changes + 0.5) / (tally.checks + 1.0)
    }

    /// The same, shrunk towards what holds for all sites: `strength` visits' worth of `overall`.
    pub fn shrunk(&self, top_changed: bool, overall: &Coupling, strength: f64) -> f64 {
        let tally = self.tally(top_changed);
        let strength = strength.max(f64::MIN_POSITIVE);
        (tally.changes + strength * overall.probability(top_changed)) / (tally.checks + strength)
    }

    /// How many times as likely a member has changed when its top has: 1 means no information.
    pub fn lift(&self) -> f64 {
        self.probability(true) / self.probability(false)
    }

    /// Fades what was counted to the share `keep`, for servers whose habits drift.
    pub fn fade(&mut self, keep: f64) {
        let keep = if keep.is_nan() { 1.0 } else { keep.clamp(0.0, 1.0) };
        for tally in [&mut self.unchanged, &mut self.changed] {
            tally.checks *= keep;
            tally.changes *= keep;
        }
    }

    fn tally(&self, top_changed: bool) -> CheckCounts {
        if top_changed { self.changed } else { self.unchanged }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(of_changed: (u32, u32), of_unchanged: (u32, u32)) -> Coupling {
        let mut coupling = Coupling::default();
        for (top, (checks, changes)) in [(true, of_changed), (false, of_unchanged)] {
            (0..checks).for_each(|i| coupling.observe(top, i < changes));
        }
        coupling
    }

    #[test]
    fn learns_both_probabilities() {
        let coupling = counted((199, 55), (999, 15));
        assert_eq!(coupling.probability(true), 55.5 / 200.0);
        assert_eq!(coupling.probability(false), 15.5 / 1000.0);
        assert!((coupling.lift() - 17.903).abs() < 1e-3);
    }

    #[test]
    fn knows_nothing_at_first_and_leans_on_the_whole() {
        let (nothing, all) = (Coupling::default(), counted((99, 29), (99, 4)));
        assert_eq!(nothing.probability(true), 0.5);
        assert_eq!(nothing.lift(), 1.0);
        assert_eq!(nothing.shrunk(true, &all, 5.0), 0.295);
        let site = counted((95, 95), (0, 0));
        assert!((site.shrunk(true, &all, 5.0) - (95.0 + 5.0 * 0.295) / 100.0).abs() < 1e-12);
        assert!(nothing.shrunk(true, &nothing, 0.0).is_finite());
    }

    #[test]
    fn fading_keeps_the_ratio_and_lowers_the_weight() {
        let mut coupling = counted((100, 50), (0, 0));
        coupling.fade(0.1);
        assert_eq!(coupling.checks(true), 10.0);
        assert!((coupling.probability(true) - 0.5).abs() < 1e-12);
        coupling.fade(f64::NAN);
        assert_eq!(coupling.checks(true), 10.0);
    }
}
