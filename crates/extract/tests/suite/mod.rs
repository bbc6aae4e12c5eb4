//! Where do the shared test suites come from? A directory beside the project, which may be absent.

use serde_json::Value;

/// Reads a suite, or says loudly that its tests did not run.
#[allow(dead_code, reason = "each suite uses its part")]
pub(crate) fn load(name: &str) -> Option<Value> {
    let path = format!("{}/../../../shared/data/suites/{name}", env!("CARGO_MANIFEST_DIR"));
    let Ok(bytes) = std::fs::read(&path) else {
        skip(&path);
        return None;
    };
    Some(serde_json::from_slice(&bytes).unwrap())
}

/// The strings of a JSON array.
#[allow(dead_code, reason = "each suite uses its part")]
pub(crate) fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[allow(clippy::print_stderr, reason = "a test that did not run must be seen")]
fn skip(path: &str) {
    eprintln!("SKIPPED: no test data at {path}");
}
