//! `evercrawl fetch --render`: what does a page show, and what does it ask for, once its scripts have run?

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use evercrawl_engine::Pace;
use evercrawl_extract::decode::{self, DecodeLimits};
use evercrawl_extract::{ContentKind, Document, Extractor, HtmlOptions, LinkSources};
use evercrawl_fetch::{Client, Hop, Response};
use evercrawl_render::{
    Exchange, ExchangeResult, Frame, PageToRender, Rendered, Renderer, SubRequest,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use url::Url;

use super::FoundLink;
use super::sub_requests::{SubRequests, header_pairs};
use crate::args::{Fetch, RunArgs};
use crate::crawl_config::{self, rendering};
use crate::exit::Failure;
use crate::settings::Settings;
use crate::units::{show_counted, show_duration, show_size};
use crate::url_rules::link_sources;
use crate::{exit, print};

/// What it takes to render one page.
pub(super) struct Rendering {
    renderer: Renderer,
    agent: String,
    pace: Pace,
    unpack: DecodeLimits,
    sources: LinkSources,
}

impl Rendering {
    pub(super) fn new(settings: &Settings) -> anyhow::Result<Self> {
        let walk = crawl_config::walk_config(settings, &RunArgs::default())?;
        Ok(Rendering {
            renderer: rendering::renderer(settings)?,
            agent: walk.reading.agent,
            pace: walk.frontier.pace,
            unpack: walk.reading.unpack,
            sources: link_sources(settings)?,
        })
    }

    /// Renders a response and prints what came of it.
    pub(super) fn show(
        &self,
        args: &Fetch,
        (hop, response): (&Hop, &Response),
        client: &Arc<Client>,
        runtime: &Runtime,
    ) -> anyhow::Result<u8> {
        let page = self.page(args, hop, response)?;
        let rendered = runtime.block_on(self.render(&page, client));
        let rendered = rendered.map_err(|error| rendering::failure(&error))?;
        if let (Some(path), Some(png)) = (&args.screenshot, &rendered.screenshot) {
            write_file(path, png)?;
        }
        let mut out = print::data();
        if args.body {
            out.write_all(rendered.dom().unwrap_or_default().as_bytes())?;
        } else {
            let links = links_of(&rendered, self.sources);
            if args.json {
                print::json_line(&mut out, &as_json(hop, response.status, &rendered, &links))?;
            } else {
                write_words(&mut out, (hop, response.status), &rendered, &links)?;
            }
        }
        out.flush()?;
        if rendered.frames.is_empty() {
            eprintln!("nothing could be read of the page: {}", rendered.ended.code());
            return Ok(exit::UNEXPECTED);
        }
        Ok(exit::OK)
    }

    fn page(&self, args: &Fetch, hop: &Hop, response: &Response) -> anyhow::Result<PageToRender> {
        let body = response.body.whole();
        let decoded = decode::decode(&response.content_codings(), &body, self.unpack);
        let content_type = response.header("content-type");
        let document = Document { bytes: &decoded.bytes, content_type, url: hop.url.as_str() };
        let kind = Extractor::new().extract(&document, &HtmlOptions::default()).kind;
        if kind != ContentKind::Html {
            let (url, mime) = (print::plain(hop.url.as_str()), kind.mime());
            return Err(Failure::usage(format!("{url} is {mime}; only HTML can be rendered")));
        }
        Ok(PageToRender {
            url: hop.url.clone(),
            status: response.status,
            headers: header_pairs(response),
            screenshot: args.screenshot.is_some(),
            body: decoded.bytes.into_owned(),
        })
    }

    async fn render(
        &self,
        page: &PageToRender,
        client: &Arc<Client>,
    ) -> Result<Rendered, evercrawl_render::RenderError> {
        let (sender, requests) = mpsc::unbounded_channel::<SubRequest>();
        let server = Arc::new(SubRequests {
            client: client.clone(),
            agent: self.agent.clone(),
            pace: self.pace,
            unpack: self.unpack,
            addresses: Default::default(),
        });
        tokio::spawn(server.serve(requests, page.url.clone()));
        let rendered = self.renderer.render(page, &sender).await;
        self.renderer.stop().await;
        rendered
    }
}

fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    std::fs::write(path, bytes)
        .map_err(|error| Failure::usage(format!("cannot write {}: {error}", path.display())))
}

/// Every address that a rendered page names, and where its scripts would have gone.
fn links_of(rendered: &Rendered, sources: LinkSources) -> Vec<FoundLink> {
    let mut found = Vec::new();
    for frame in rendered.frames.iter().chain(&rendered.after_clicks) {
        add_links(frame, sources, &mut found);
    }
    found.extend(rendered.leads.iter().map(|lead| FoundLink {
        url: lead.url.clone(),
        kind: lead.kind.name(),
        place: "script",
    }));
    let mut seen = HashSet::new();
    found.retain(|link| seen.insert((link.url.clone(), link.kind)));
    found
}

fn add_links(frame: &Frame, sources: LinkSources, found: &mut Vec<FoundLink>) {
    let Ok(base) = Url::parse(&frame.base).or_else(|_| Url::parse(&frame.url)) else { return };
    let document = Document {
        bytes: frame.html.as_bytes(),
        content_type: Some("text/html; charset=utf-8"),
        url: &frame.url,
    };
    let mut extractor = Extractor::new();
    let options = HtmlOptions { sources, ..HtmlOptions::default() };
    let extracted = extractor.extract(&document, &options);
    found.extend(extracted.links.iter().map(|link| FoundLink {
        url: base.join(link.href).map_or_else(|_| link.href.to_owned(), String::from),
        kind: link.kind.name(),
        place: link.place.name(),
    }));
}

fn as_json(hop: &Hop, status: u16, rendered: &Rendered, links: &[FoundLink]) -> Value {
    let text = rendered.text();
    let usage = rendered.usage;
    json!({
        "url": hop.url.as_str(),
        "status": status,
        "ended": rendered.ended.code(),
        "final_url": rendered.url,
        "title": rendered.title,
        "text": text,
        "text_bytes": text.len(),
        "frames": rendered.frames.iter().map(|frame| &frame.url).collect::<Vec<_>>(),
        "links": links.len(),
        "link_list": links.iter().map(FoundLink::to_json).collect::<Vec<_>>(),
        "requests": rendered.exchanges.iter().map(exchange_json).collect::<Vec<_>>(),
        "cpu_ms": usage.cpu.as_millis() as u64,
        "wall_ms": usage.wall.as_millis() as u64,
        "waited_ms": usage.waited.as_millis() as u64,
    })
}

fn exchange_json(exchange: &Exchange) -> Value {
    let (url, method, kind) = (&exchange.url, &exchange.method, &exchange.kind);
    match &exchange.result {
        ExchangeResult::Answered { status, bytes } => {
            json!({ "url": url, "method": method, "kind": kind, "result": "answered", "status": status, "bytes": bytes })
        }
        ExchangeResult::Refused(reason) => {
            json!({ "url": url, "method": method, "kind": kind, "result": "refused", "reason": reason })
        }
        ExchangeResult::Failed(reason) => {
            json!({ "url": url, "method": method, "kind": kind, "result": "failed", "reason": reason })
        }
    }
}

fn write_words(
    out: &mut impl Write,
    (hop, status): (&Hop, u16),
    rendered: &Rendered,
    links: &[FoundLink],
) -> std::io::Result<()> {
    let (text, usage) = (rendered.text(), rendered.usage);
    let [cpu, wall, waited] = [usage.cpu, usage.wall, usage.waited].map(show_duration);
    let is_made = |one: &&Exchange| !matches!(one.result, ExchangeResult::Refused(_));
    let made = rendered.exchanges.iter().filter(is_made).count() as u64;
    let refused = rendered.exchanges.len() as u64 - made;
    writeln!(out, "{status} {}", print::plain(hop.url.as_str()))?;
    writeln!(out, "title     {}", print::plain(&rendered.title))?;
    writeln!(
        out,
        "rendered  {}: {cpu} of CPU, {wall}, and {waited} of waiting",
        rendered.ended.code()
    )?;
    writeln!(
        out,
        "text      {}, in {}",
        show_size(text.len() as u64),
        show_counted(rendered.frames.len() as u64, "document")
    )?;
    writeln!(out, "requests  {made} made, {refused} refused")?;
    for exchange in &rendered.exchanges {
        writeln!(out, "  {}", exchange_line(exchange))?;
    }
    writeln!(out, "links     {}", links.len())?;
    for link in links {
        writeln!(out, "  {} ({})", print::plain(&link.url), link.kind)?;
    }
    writeln!(out, "\n{}", text.lines().map(print::plain).collect::<Vec<_>>().join("\n"))
}

fn exchange_line(exchange: &Exchange) -> String {
    let (method, kind) = (print::plain(&exchange.method), print::plain(&exchange.kind));
    let url = print::plain(&exchange.url);
    match &exchange.result {
        ExchangeResult::Answered { status, bytes } => {
            format!("{status} {method} {url} ({kind}, {})", show_size(*bytes as u64))
        }
        ExchangeResult::Refused(reason) => {
            format!("refused {method} {url} ({kind}): {}", print::plain(reason))
        }
        ExchangeResult::Failed(reason) => {
            format!("failed {method} {url} ({kind}): {}", print::plain(reason))
        }
    }
}
