//! How many runs are made at a time, and what stops them?

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// As many as there are processors.
pub(super) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What Ctrl-C sets. Runs under way are then given up, and what is done is kept.
pub(super) fn stop_on_ctrl_c() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let pressed = stop.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            if tokio::signal::ctrl_c().await.is_ok() {
                pressed.store(true, Ordering::Relaxed);
            }
        });
    });
    stop
}
