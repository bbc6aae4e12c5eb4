//! How many runs are made at a time, what stops them, and how far are they?

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::print;

/// As many as there are processors.
pub(super) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How far the work is, as a bar on one line of standard error.
pub(super) fn show_progress(what: &str, done: f64) {
    const WIDTH: usize = 30;
    let full = ((done * WIDTH as f64) as usize).min(WIDTH);
    let (bar, percent) = ("=".repeat(full), (100.0 * done).floor());
    eprint!("\r\x1b[2K[{bar:<WIDTH$}] {percent} %  {}", print::plain(what));
    let _ = std::io::stderr().flush(); // It is only shown.
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
