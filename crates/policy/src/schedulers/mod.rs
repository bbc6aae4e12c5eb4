//! The named schedulers, one per file, all behind [`Policy`](crate::Policy).

pub mod adaptive;
pub mod breadth;
pub mod chile;
pub mod dependence;
pub mod gamma;
pub mod history;
pub mod index;
pub mod optimal;
pub mod oracle;
pub mod proportional;
pub mod sample_size;
pub mod sampling;
pub mod tianwang;
pub mod tops;
pub mod uniform;
pub mod webfountain;

mod beliefs;
mod clusters;
mod price;
mod signals;
mod walk;
mod worklist;

use evercrawl_estimate::last_modified::eq27;
use evercrawl_estimate::regular::RegularChecks;

use crate::page::{Days, NEVER, Page};

/// The change rate by eq. 13 from a page's history, with a floor of half a change in the observed time.
pub(crate) fn estimated_rate(page: &Page) -> Option<f64> {
    let (checks, changes) = (u64::from(page.checks), u64::from(page.changes));
    let rate = RegularChecks { checks, changes, span: f64::from(page.watched) }.eq13_floored();
    (rate > 0.0).then_some(rate)
}

/// The change rate by eq. 27 if every change of the page has a date, else as [`estimated_rate`]. Eq. 27 gives 0 or
/// infinity without evidence; such values are not used.
pub(crate) fn dated_rate(page: &Page) -> Option<f64> {
    let (checks, changes) = (u64::from(page.checks), u64::from(page.changes));
    let rate = eq27(checks, changes, f64::from(page.unmodified));
    if rate > 0.0 && rate.is_finite() { Some(rate) } else { estimated_rate(page) }
}

/// The mean, if there are any values.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0u64), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

/// The due time after a visit at `at` of a page that is to be fetched every `interval`.
///
/// It is counted from the previous due time, not from the visit, so that a queue that runs a little ahead or late
/// does not change how often the page is fetched. A due time more than an interval off starts anew.
pub(crate) fn advance(due: Days, at: Days, interval: Days) -> Days {
    let next = if (due - at).abs() <= interval { due + interval } else { at + interval };
    if next.is_nan() { NEVER } else { next }
}

/// The first due time of a page with a copy: within its first interval, spread evenly over pages, so that they do not
/// all come due at once.
pub(crate) fn spread(page: &Page, interval: Days) -> Days {
    const GOLDEN_RATIO: f64 = 0.618_033_988_749_894_9;
    page.last + interval * (f64::from(page.id) * GOLDEN_RATIO).fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_ahead_or_late_keeps_the_pace() {
        assert_eq!(advance(10.0, 9.5, 2.0), 12.0);
        assert_eq!(advance(10.0, 11.0, 2.0), 12.0);
        assert_eq!(advance(10.0, 50.0, 2.0), 52.0);
        assert_eq!(advance(NEVER, 1.0, 2.0), 3.0);
        assert_eq!(advance(0.0, 1.0, NEVER), NEVER);
    }

    #[test]
    fn rates_need_a_check_and_are_never_zero() {
        let mut page = Page::new(0);
        assert_eq!(estimated_rate(&page), None);
        (page.checks, page.watched) = (2, 4.0);
        assert_eq!(estimated_rate(&page), Some(0.125));
        (page.changes, page.unmodified) = (1, 3.0);
        assert_eq!(dated_rate(&page), Some(eq27(2, 1, 3.0)));
        page.unmodified = f32::NAN;
        assert_eq!(dated_rate(&page), estimated_rate(&page));
    }
}
