//! Populations and reference numbers for the tests of allocation.

use serde_json::Value;

use super::Demand;
use crate::random::SplitMix64;

/// The reference's populations: all rates are drawn first, then all weights.
pub(super) fn population(
    seed: u64,
    count: usize,
    rate: impl Fn(f64) -> f64,
    weight: impl Fn(f64) -> f64,
) -> Vec<Demand> {
    let mut random = SplitMix64::new(seed);
    let rates: Vec<f64> = (0..count).map(|_| rate(random.uniform())).collect();
    rates.into_iter().map(|rate| Demand::new(rate, weight(random.uniform()))).collect()
}

pub(super) fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} is not a number in {row}"))
}

pub(super) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).collect()
}

#[track_caller]
pub(super) fn assert_close(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance * want.abs().max(1.0), "got {got}, want {want}");
}
