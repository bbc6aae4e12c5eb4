//! Hiromichi et al. (2010), update dependence for incremental archiving: every table and figure, on
//! recorded sites, tuned on one year and scored on the next.

mod archive;
mod dependence;
mod groups;

use evercrawl_policy::Days;
use evercrawl_sites::PartitionMethod;

use super::ReportDocument;
use super::trace::{SiteTrace, WEEK};

/// The ways to cut a server that are compared.
const METHODS: [(PartitionMethod, &str); 3] =
    [(PartitionMethod::A, "A"), (PartitionMethod::B, "B"), (PartitionMethod::Open, "open")];
const YEAR: Days = 52.0 * WEEK;

/// Measures the paper again on `traces`.
pub fn s1(traces: &[SiteTrace], progress: &(dyn Fn(&str) + Sync)) -> ReportDocument {
    let mut document = ReportDocument::new(
        "s1",
        "S1: pages that follow their top, collected together",
        "Hiromichi, Yoshii, Takata and Joe (2010) watched the site of one university every hour for nine \
         months, grouped pages by how closely their updates follow those of their top page, and collected \
         each group at one interval. They tuned and scored on the same nine months; here intervals are \
         tuned on one year and scored on the next, with the same year beside it.",
    );
    document.paragraph(
        "Of the three ways to cut a site, A and B are those of the paper it builds on (B leaves out sites of \
         one page, as this paper's C does), and open is B with its gaps closed: members of members belong to \
         the site.",
    );
    groups::write(&mut document, traces);
    dependence::write(&mut document, traces);
    archive::write(&mut document, traces, progress);
    document
}

/// The days on which a page was updated within `(from, to]`: the paper counts by date, so that a bout of
/// edits in an hour is one update.
fn updates(trace: &SiteTrace, page: u32, from: Days, to: Days) -> Vec<Days> {
    let within = trace.changes.changes_of(page).filter(|&at| from < at && at <= to);
    let mut days: Vec<Days> = within.map(Days::floor).collect();
    days.dedup();
    days
}

/// Spearman's rank correlation; NaN values are left out.
fn rank_correlation(pairs: &[(f64, f64)]) -> f64 {
    let pairs: Vec<(f64, f64)> =
        pairs.iter().copied().filter(|(a, b)| a.is_finite() && b.is_finite()).collect();
    let first = ranks(pairs.iter().map(|pair| pair.0).collect());
    let second = ranks(pairs.iter().map(|pair| pair.1).collect());
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let sum = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    sum(&first, &second) / (sum(&first, &first) * sum(&second, &second)).sqrt()
}

/// The rank of each value from 0; equal values share the mean of theirs.
fn ranks(values: Vec<f64>) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut place = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let mean = place as f64 + (equal.len() as f64 - 1.0) / 2.0;
        equal.iter().for_each(|&at| ranks[at] = mean);
        place += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_of_one_day_are_one() {
        let trace =
            crate::report::trace::testing::trace(&[0], &[], &[(0, 60.01), (0, 60.02), (0, 61.0)]);
        assert_eq!(updates(&trace, 0, trace.from, trace.to), [420.0, 427.0]);
    }

    #[test]
    fn ranks_of_equals_are_shared_and_order_decides() {
        assert_eq!(ranks(vec![3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
        let rising = [(1.0, 10.0), (2.0, 11.0), (9.0, 400.0), (f64::NAN, 1.0)];
        assert!((rank_correlation(&rising) - 1.0).abs() < 1e-12);
        let falling = rising.map(|(a, b)| (a, -b));
        assert!((rank_correlation(&falling) + 1.0).abs() < 1e-12);
    }
}
