//! An evolving, misbehaving web on loopback, for tests, demo and benchmarks.
