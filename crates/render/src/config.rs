//! Which browser is used, and how much may one page cost?

use std::path::PathBuf;
use std::time::Duration;

/// Where the browser is usually installed.
pub const BROWSERS: [&str; 5] = [
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/bin/chromium-headless-shell",
    "/usr/local/bin/chromium-headless-shell",
    "/usr/local/bin/chrome-headless-shell",
    "/usr/bin/chrome-headless-shell",
];

/// How pages are rendered.
#[derive(Clone, Debug)]
pub struct RenderConfig {
    /// The browser; `None`: one of [`BROWSERS`].
    pub program: Option<PathBuf>,
    /// Whether the browser may run where its own sandbox cannot.
    pub allow_no_sandbox: bool,
    /// What the browser says it is; the rest of its requests is the caller's.
    pub user_agent: String,
    /// How much one page may cost.
    pub caps: RenderCaps,
    /// What is done about images, fonts and media.
    pub assets: Assets,
    /// How many elements that react to clicks and the like are tried; 0: none.
    pub clicks: usize,
    /// Tabs that are kept between pages, one for each host.
    pub kept_tabs: usize,
    /// After so many pages the browser is started anew.
    pub pages_per_browser: u64,
}

impl Default for RenderConfig {
    fn default() -> Self {
        RenderConfig {
            program: None,
            allow_no_sandbox: false,
            user_agent: "evercrawl".to_owned(),
            caps: RenderCaps::default(),
            assets: Assets::Skip,
            clicks: 0,
            kept_tabs: 4,
            pages_per_browser: 500,
        }
    }
}

/// What is done about images, fonts and media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assets {
    /// None is requested: images are answered with an empty one, others refused.
    Skip,
    /// They are requested as all else is.
    Request,
}

/// The most that one page may cost. What was there when a cap was reached is taken.
#[derive(Clone, Debug)]
pub struct RenderCaps {
    /// Time on the page's own clock.
    pub virtual_time: Duration,
    /// CPU of the browser.
    pub cpu: Duration,
    /// Time beyond that spent on waiting for answers.
    pub wall: Duration,
    /// All time, with the waiting.
    pub total: Duration,
    /// Requests that are passed on.
    pub requests: usize,
    /// Frames.
    pub frames: usize,
    /// Bytes of answers.
    pub bytes: usize,
    /// Memory of the whole browser, in bytes.
    pub memory: u64,
}

impl Default for RenderCaps {
    fn default() -> Self {
        RenderCaps {
            virtual_time: Duration::from_secs(10),
            cpu: Duration::from_secs(3),
            wall: Duration::from_secs(10),
            total: Duration::from_secs(600),
            requests: 200,
            frames: 20,
            bytes: 32 << 20,
            memory: 1 << 30,
        }
    }
}
