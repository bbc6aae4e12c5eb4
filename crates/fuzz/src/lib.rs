//! What must hold of every parser, whatever bytes it is given?
//!
//! A [`Target`] takes any bytes and panics when something does not hold: not only that the parser comes to
//! an end, but what its output must be. A fuzzer searches for such bytes for as long as it is let
//! (`make fuzz`, in the `fuzz` directory beside `crates`); the tests try the same targets on inputs that a
//! seed makes of examples.

mod folder;
mod importing;
mod mutate;
mod reference;
mod stored;
mod targets;

pub use mutate::Mutator;
pub use targets::{TARGETS, Target};

/// Runs the target of that name; bytes for a target that does not exist are a mistake of the caller's.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    assert!(target.is_some(), "there is no target named {name}");
    target.into_iter().for_each(|target| (target.run)(bytes));
}
