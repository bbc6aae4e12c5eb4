//! Does everything that must hold of parsers hold on inputs that a seed makes? `FUZZ_INPUTS` says how many
//! a target, `FUZZ_SEED` where to begin.
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use evercrawl_fuzz::{Mutator, TARGETS};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn every_parser_takes_any_bytes() {
    let (inputs, seed) = (number("FUZZ_INPUTS", 1500), number("FUZZ_SEED", 1));
    let only = std::env::var("FUZZ_TARGET").unwrap_or_default();
    for target in TARGETS.iter().filter(|target| only.is_empty() || target.name == only) {
        let mut mutator = Mutator::new(seed);
        target.examples.iter().for_each(|example| (target.run)(example));
        for n in 0..inputs {
            let input = mutator.next(target.examples);
            let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(&input)));
            let name = target.name;
            assert!(
                outcome.is_ok(),
                "{name} panics at input {n} of seed {seed}: {:?}\nreplay: FUZZ_TARGET={name} FUZZ_SEED={seed} \
                 cargo test -p evercrawl-fuzz",
                String::from_utf8_lossy(&input)
            );
        }
    }
}
