//! Where do the tests take their chance from, and how do they reach the reference numbers?

use serde_json::Value;

/// The splitmix64 stream of the reference numbers: seeded, so that every run sees the same chance.
pub(crate) struct Uniforms(u64);

impl Uniforms {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next uniform number strictly between 0 and 1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        ((z >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// The next exponential gap of a Poisson process.
    pub(crate) fn gap(&mut self, rate: f64) -> f64 {
        -self.next().ln() / rate
    }
}

/// The reference numbers, or `None` (loudly) where they are not at hand.
pub(crate) fn golden() -> Option<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/golden/scheduling.json");
    match std::fs::read_to_string(path) {
        Ok(text) => Some(serde_json::from_str(&text).expect("the reference numbers are JSON")),
        Err(error) => {
            eprintln!("SKIPPED: no reference numbers at {path}: {error}");
            None
        }
    }
}

/// One number of a reference row.
pub(crate) fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} is not a number in {row}"))
}

/// All rows under a key.
pub(crate) fn rows<'a>(golden: &'a Value, key: &str) -> &'a [Value] {
    golden[key].as_array().unwrap_or_else(|| panic!("{key} is not a list"))
}

/// A list of numbers.
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).collect()
}

/// Fails unless two numbers agree to `tolerance`, relative above 1 and absolute below.
#[track_caller]
pub(crate) fn assert_close(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance * want.abs().max(1.0), "got {got}, want {want}");
}
