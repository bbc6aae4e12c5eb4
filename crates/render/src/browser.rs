//! Which browser runs, and which tabs does it keep?

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use crate::config::RenderConfig;
use crate::connection::{Connection, lock};
use crate::error::RenderError;
use crate::isolation::Isolation;
use crate::meter::Meter;
use crate::process::Process;
use crate::tab::Tab;

/// How long it may take to start, and to show that it still answers.
const START: Duration = Duration::from_secs(20);
const PING: Duration = Duration::from_secs(5);
/// A tab serves so many pages: its clock runs ahead of ours with each.
const PAGES_PER_TAB: u64 = 50;

/// A running browser.
#[derive(Debug)]
pub(crate) struct Browser {
    connection: Connection,
    pub(crate) meter: Meter,
    pub(crate) version: String,
    kept: Mutex<Vec<(String, Tab)>>,
    next_tab: AtomicU64,
    pages: AtomicU64,
    secret: String,
}

impl Browser {
    /// Starts a browser and waits until it answers.
    pub(crate) async fn start(
        program: &std::path::Path,
        isolation: &Isolation,
        (sandbox, secret): (bool, String),
    ) -> Result<Self, RenderError> {
        let (process, stream) = Process::start(program, isolation, sandbox)?;
        let connection = Connection::new(stream)?;
        let version = connection.call("", "Browser.getVersion", json!({}));
        let version = match timeout(START, version).await {
            Ok(Ok(version)) => version["product"].as_str().unwrap_or("unknown").to_owned(),
            Ok(Err(RenderError::Gone)) => {
                let text = format!("{} ended at once", program.display());
                return Err(RenderError::Start(text));
            }
            Ok(Err(other)) => return Err(other),
            Err(_) => return Err(RenderError::Start("it did not answer within 20 s".to_owned())),
        };
        let deny = json!({ "behavior": "deny" });
        let denied = connection.call("", "Browser.setDownloadBehavior", deny);
        timeout(START, denied).await.unwrap_or(Err(RenderError::Gone))?;
        Ok(Browser {
            connection,
            meter: Meter::new(process),
            version,
            kept: Mutex::default(),
            next_tab: AtomicU64::new(1),
            pages: AtomicU64::new(0),
            secret,
        })
    }

    /// Whether it should be replaced before the next page.
    pub(crate) fn is_spent(&self, config: &RenderConfig) -> bool {
        self.connection.is_gone()
            || self.pages.load(Ordering::Relaxed) >= config.pages_per_browser
            || self.meter.memory() > config.caps.memory
    }

    /// A tab for a page of `host`: the one that served it last, or a new one.
    pub(crate) async fn tab(&self, host: &str, config: &RenderConfig) -> Result<Tab, RenderError> {
        self.pages.fetch_add(1, Ordering::Relaxed);
        let kept = {
            let mut kept = lock(&self.kept);
            let at = kept.iter().position(|(of, _)| of == host);
            at.map(|at| kept.remove(at).1)
        };
        match kept {
            Some(tab) => Ok(tab),
            None => {
                let number = self.next_tab.fetch_add(1, Ordering::Relaxed);
                let secret = format!("_{}{number}", self.secret);
                let open = Tab::open(&self.connection, config, (number, secret));
                timeout(START, open).await.unwrap_or(Err(RenderError::Gone))
            }
        }
    }

    /// Keeps a tab whose page ended well.
    pub(crate) fn keep(&self, host: &str, tab: Tab, config: &RenderConfig) {
        if tab.pages >= PAGES_PER_TAB || config.kept_tabs == 0 {
            return tab.close();
        }
        let mut kept = lock(&self.kept);
        kept.retain(|(of, _)| of != host);
        kept.push((host.to_owned(), tab));
        if kept.len() > config.kept_tabs {
            kept.remove(0).1.close();
        }
    }

    /// Whether it still answers.
    pub(crate) async fn answers(&self) -> bool {
        let ping = self.connection.call("", "Browser.getVersion", json!({}));
        matches!(timeout(PING, ping).await, Ok(Ok(_)))
    }
}
