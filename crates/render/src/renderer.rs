//! How are pages rendered one after another, whatever becomes of the browser?

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;
use tracing::debug;

use crate::browser::Browser;
use crate::config::{BROWSERS, RenderConfig};
use crate::error::RenderError;
use crate::isolation::Isolation;
use crate::rendered::{Ended, PageToRender, Rendered, SubRequest};

/// How long reading a page may take beyond its cap on all time.
const BEYOND: Duration = Duration::from_secs(60);

/// Renders pages. It starts its browser with the first page, and anew when that is needed.
#[derive(Debug)]
pub struct Renderer {
    config: RenderConfig,
    program: PathBuf,
    isolation: Isolation,
    secret: String,
    browser: Mutex<Option<Arc<Browser>>>,
}

impl Renderer {
    /// Finds the browser and what isolates it. `secret` is a word of letters and digits that no page can guess.
    pub fn new(config: RenderConfig, secret: String) -> Result<Self, RenderError> {
        let program = find(config.program.as_deref())?;
        let isolation = Isolation::probe();
        if !isolation.sandbox && !config.allow_no_sandbox {
            return Err(RenderError::NoSandbox);
        }
        Ok(Renderer { config, program, isolation, secret, browser: Mutex::default() })
    }

    /// What holds for its browser.
    pub fn isolation(&self) -> &Isolation {
        &self.isolation
    }

    /// The browser's file.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The browser's name and version; starts it.
    pub async fn version(&self) -> Result<String, RenderError> {
        Ok(self.browser().await?.version.clone())
    }

    /// Runs the scripts of a page. Its requests go to `requests`, to be answered at any time. A page whose browser
    /// ends under it, by whatever page, is rendered a second time.
    pub async fn render(
        &self,
        page: &PageToRender,
        requests: &mpsc::UnboundedSender<SubRequest>,
    ) -> Result<Rendered, RenderError> {
        if !matches!(page.url.scheme(), "http" | "https") {
            return Err(RenderError::BadUrl(page.url.to_string()));
        }
        match self.render_once(page, requests).await {
            Err(RenderError::Gone | RenderError::Io(_)) => self.render_once(page, requests).await,
            result => result,
        }
    }

    /// Ends the browser. It starts again with the next page.
    pub async fn stop(&self) {
        if let Some(browser) = self.browser.lock().await.take() {
            browser.meter.kill();
        }
    }

    async fn render_once(
        &self,
        page: &PageToRender,
        requests: &mpsc::UnboundedSender<SubRequest>,
    ) -> Result<Rendered, RenderError> {
        let browser = self.browser().await?;
        let host = page.url.origin().ascii_serialization();
        let mut tab = match browser.tab(&host, &self.config).await {
            Ok(tab) => tab,
            Err(error) => {
                self.give_up(&browser).await;
                return Err(error);
            }
        };
        let rendering = tab.render(page, (&self.config, &browser.meter), requests);
        let longest = self.config.caps.total + BEYOND;
        let result = timeout(longest, rendering).await.unwrap_or(Err(RenderError::Gone));
        match &result {
            Ok(rendered) if rendered.ended == Ended::Settled => {
                browser.keep(&host, tab, &self.config);
            }
            Ok(rendered) => {
                debug!(url = %page.url, ended = rendered.ended.code(), "a page reached a cap");
                tab.close();
                if rendered.ended == Ended::Memory || !browser.answers().await {
                    self.give_up(&browser).await;
                }
            }
            Err(error) => {
                debug!(url = %page.url, %error, "the browser failed");
                self.give_up(&browser).await;
            }
        }
        result
    }

    /// The browser that runs, or a new one.
    async fn browser(&self) -> Result<Arc<Browser>, RenderError> {
        let mut running = self.browser.lock().await;
        if let Some(browser) = running.as_ref().filter(|browser| !browser.is_spent(&self.config)) {
            return Ok(browser.clone());
        }
        // The old one ends when its last page has.
        *running = None;
        let started = (self.isolation.sandbox, self.secret.clone());
        let browser = Arc::new(Browser::start(&self.program, &self.isolation, started).await?);
        *running = Some(browser.clone());
        Ok(browser)
    }

    /// Ends a browser that failed, if it is still the one in use.
    async fn give_up(&self, failed: &Arc<Browser>) {
        failed.meter.kill();
        let mut running = self.browser.lock().await;
        if running.as_ref().is_some_and(|browser| Arc::ptr_eq(browser, failed)) {
            *running = None;
        }
    }
}

fn find(named: Option<&Path>) -> Result<PathBuf, RenderError> {
    if let Some(path) = named {
        let is_there = path.is_file();
        return is_there
            .then(|| path.to_owned())
            .ok_or_else(|| RenderError::NoSuchBrowser(path.display().to_string()));
    }
    BROWSERS.iter().map(PathBuf::from).find(|path| path.is_file()).ok_or(RenderError::NoBrowser)
}
