//! What time is it? The one place of this crate that reads a clock.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A clock that starts at the system's time and never jumps.
#[derive(Debug)]
pub(crate) struct ServerClock {
    started: Instant,
    started_us: u64,
}

impl ServerClock {
    // The server answers in real time; the world itself is always told what time it is.
    #[allow(clippy::disallowed_methods)]
    pub(crate) fn start() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        ServerClock { started: Instant::now(), started_us: since.as_micros() as u64 }
    }

    pub(crate) fn now_us(&self) -> u64 {
        self.started_us + self.started.elapsed().as_micros() as u64
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.now_us() / 1000
    }
}
