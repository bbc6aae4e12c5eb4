//! Runs the target that this binary is named after.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| evercrawl_fuzz::run(env!("CARGO_BIN_NAME"), bytes));
