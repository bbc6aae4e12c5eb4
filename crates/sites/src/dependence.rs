//! How closely do a member's updates follow those of its top?

/// Which update of the top a member's update is measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// The nearest one, before or after: how S1's formula is read here.
    Nearest,
    /// The nearest one not after it: the only one that a crawler can know at the time.
    Preceding,
}

/// The dependence value of a member on its top (S1, section 5.1): the mean absolute gap between
/// each update of the member and the paired update of the top, in the unit of the times.
///
/// The smaller, the closer; infinite where there is no pair. S1 leaves sign and pairing open: signed
/// gaps would cancel, so absolute ones are taken. Times that are not numbers are left out.
pub fn dependence(top_updates: &[f64], member_updates: &[f64], pairing: Pairing) -> f64 {
    let top = sorted(top_updates);
    let gaps = member_updates.iter().filter_map(|&at| gap(&top, at, pairing));
    let (sum, count) = gaps.fold((0.0, 0u32), |(sum, count), gap| (sum + gap, count + 1));
    if count == 0 { f64::INFINITY } else { sum / f64::from(count) }
}

/// The mean time between updates; infinite with fewer than two.
pub fn mean_gap(updates: &[f64]) -> f64 {
    let updates = sorted(updates);
    match (updates.first(), updates.last()) {
        (Some(first), Some(last)) if updates.len() > 1 => {
            (last - first) / (updates.len() - 1) as f64
        }
        _ => f64::INFINITY,
    }
}

fn sorted(times: &[f64]) -> Vec<f64> {
    let mut times: Vec<f64> = times.iter().copied().filter(|at| at.is_finite()).collect();
    times.sort_unstable_by(f64::total_cmp);
    times
}

fn gap(top: &[f64], at: f64, pairing: Pairing) -> Option<f64> {
    if !at.is_finite() {
        return None;
    }
    let after = top.partition_point(|&update| update <= at);
    let before = after.checked_sub(1).map(|i| at - top[i]);
    let ahead = top.get(after).map(|update| update - at);
    match (pairing, before, ahead) {
        (Pairing::Nearest, Some(before), Some(ahead)) => Some(before.min(ahead)),
        (Pairing::Nearest, before, ahead) => before.or(ahead),
        (Pairing::Preceding, before, _) => before,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_with_the_nearest_or_with_the_preceding_update() {
        let (top, member) = ([10.0, 0.0, 30.0], [1.0, 9.0, 19.0, 33.0]);
        // Nearest: 1, 1, 9, 3. Preceding: 1, 9, 9, 3.
        assert_eq!(dependence(&top, &member, Pairing::Nearest), 3.5);
        assert_eq!(dependence(&top, &member, Pairing::Preceding), 5.5);
    }

    #[test]
    fn no_pair_means_no_dependence() {
        for (top, member) in [(&[][..], &[1.0][..]), (&[1.0], &[]), (&[f64::NAN], &[1.0])] {
            assert_eq!(dependence(top, member, Pairing::Nearest), f64::INFINITY);
        }
        assert_eq!(dependence(&[5.0], &[1.0], Pairing::Preceding), f64::INFINITY);
        assert_eq!(dependence(&[5.0], &[1.0], Pairing::Nearest), 4.0);
    }

    #[test]
    fn mean_gap_needs_two_updates() {
        assert_eq!(mean_gap(&[3.0, 1.0, 9.0]), 4.0);
        assert_eq!(mean_gap(&[3.0]), f64::INFINITY);
    }
}
