//! A web in memory that answers what a page asks for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use evercrawl_render::{
    PageToRender, RenderCaps, RenderConfig, RenderError, Rendered, Renderer, SubAnswer, SubRequest,
};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// Paths with their content types and bodies.
pub(crate) type Files = BTreeMap<&'static str, (&'static str, String)>;

/// A browser and a web for it.
pub(crate) struct Stage {
    runtime: Runtime,
    pub(crate) renderer: Renderer,
    files: Files,
    /// How long each answer takes.
    pub(crate) delay: Duration,
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

impl Stage {
    /// `None`, said loudly, where no browser is installed.
    pub(crate) fn new(files: Files) -> Option<Self> {
        Self::with(RenderConfig { caps: small_caps(), ..RenderConfig::default() }, files)
    }

    pub(crate) fn with(config: RenderConfig, files: Files) -> Option<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let renderer = match Renderer::new(config, "k3d9x".to_owned()) {
            Ok(renderer) => renderer,
            Err(error @ (RenderError::NoBrowser | RenderError::NoSandbox)) => {
                eprintln!("SKIPPED: {error}");
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        Some(Stage { runtime, renderer, files, delay: Duration::ZERO, asked: Arc::default() })
    }

    /// Renders a document as if it came from `url`.
    pub(crate) fn render(&self, url: &str, html: &str) -> Rendered {
        self.try_render(url, html).unwrap()
    }

    pub(crate) fn try_render(&self, url: &str, html: &str) -> Result<Rendered, RenderError> {
        let page = PageToRender {
            url: url.parse().unwrap(),
            status: 200,
            headers: vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())],
            body: html.as_bytes().to_vec(),
            screenshot: false,
        };
        self.render_page(&page)
    }

    pub(crate) fn render_page(&self, page: &PageToRender) -> Result<Rendered, RenderError> {
        let (sender, mut requests) = mpsc::unbounded_channel::<SubRequest>();
        self.runtime.block_on(async {
            let rendering = self.renderer.render(page, &sender);
            tokio::pin!(rendering);
            loop {
                tokio::select! {
                    rendered = &mut rendering => return rendered,
                    Some(request) = requests.recv() => self.answer(request),
                }
            }
        })
    }

    /// What was asked for since the last call: path or URL, and kind.
    pub(crate) fn asked(&self) -> Vec<(String, String)> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    fn answer(&self, request: SubRequest) {
        self.asked.lock().unwrap().push((request.url.to_string(), request.kind.clone()));
        let path = request.url.path();
        let found = self.files.get(path).cloned();
        let answer = match found {
            Some(("redirect", to)) => response(302, &[("location", &to)], ""),
            Some((kind, body)) => response(200, &[("content-type", kind)], &body),
            None if path.starts_with("/refused") => SubAnswer::Refused("robots.txt".to_owned()),
            None => response(404, &[("content-type", "text/plain")], "none"),
        };
        let delay = self.delay;
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            let _ = request.reply.send(answer);
        });
    }
}

fn response(status: u16, headers: &[(&str, &str)], body: &str) -> SubAnswer {
    let shared = ("access-control-allow-origin".to_owned(), "*".to_owned());
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    SubAnswer::Response {
        status,
        headers: headers.chain([shared]).collect(),
        body: body.as_bytes().to_vec(),
    }
}

/// Caps at which tests are done soon.
pub(crate) fn small_caps() -> RenderCaps {
    RenderCaps {
        cpu: Duration::from_millis(1500),
        wall: Duration::from_secs(8),
        total: Duration::from_secs(60),
        ..RenderCaps::default()
    }
}

pub(crate) fn files(list: &[(&'static str, &'static str, &str)]) -> Files {
    list.iter().map(|(path, kind, body)| (*path, (*kind, (*body).to_owned()))).collect()
}
