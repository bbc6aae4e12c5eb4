//! Is this host being called too fast? The only thing the server remembers about callers.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// When each host with a limit was called last.
#[derive(Debug, Default)]
pub(crate) struct RateLimits {
    last_us: Mutex<HashMap<u32, u64>>,
}

impl RateLimits {
    /// Notes a call and says whether it came too soon after the one before, be that one served or refused.
    pub(crate) fn too_soon(&self, host: u32, gap_ms: u32, now_us: u64) -> bool {
        let mut last_us = self.last_us.lock().unwrap_or_else(PoisonError::into_inner);
        let before = last_us.insert(host, now_us);
        before.is_some_and(|before| now_us.saturating_sub(before) < u64::from(gap_ms) * 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_to_the_same_host_within_the_gap_are_too_soon() {
        let limits = RateLimits::default();
        assert!(!limits.too_soon(1, 10, 1_000));
        assert!(!limits.too_soon(2, 10, 1_000));
        assert!(limits.too_soon(1, 10, 10_999));
        assert!(!limits.too_soon(1, 10, 20_999));
    }
}
