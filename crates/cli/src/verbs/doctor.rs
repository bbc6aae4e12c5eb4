//! `evercrawl doctor`: what can this machine do beside plain crawling, and what is missing for the rest?

use std::io::Write;

use evercrawl_render::{Ended, PageToRender, RenderError, Renderer};
use serde_json::json;
use tokio::sync::mpsc;

use crate::args::Doctor;
use crate::crawl_config::{self, rendering};
use crate::{exit, print};

/// Debian's package of the browser.
const INSTALL: &str =
    "apt-get update && apt-get install --yes --no-install-recommends chromium-headless-shell";

/// A page whose text its script makes.
const PAGE: &str = "<p id=p>plain</p><script>p.textContent = 'made by a script'</script>";

/// One thing that was looked at.
struct Finding {
    name: &'static str,
    is_good: bool,
    words: String,
    /// What mends it.
    command: Option<&'static str>,
}

pub(crate) fn run(args: &Doctor) -> anyhow::Result<u8> {
    let settings = crawl_config::settings(&args.common, None)?;
    let config = rendering::config(&settings)?;
    let findings = match rendering::renderer(&settings) {
        Ok(renderer) => examine(&renderer, config.allow_no_sandbox)?,
        Err(error) => vec![missing(&error.to_string(), config.program.is_some())],
    };
    let can_render = findings.iter().all(|finding| finding.is_good || finding.name != "browser");
    let mut out = print::data();
    if args.json {
        let list = findings.iter().map(|one| {
            json!({ "name": one.name, "ok": one.is_good, "text": one.words, "command": one.command })
        });
        let line = json!({ "can_render": can_render, "findings": list.collect::<Vec<_>>() });
        print::json_line(&mut out, &line)?;
    } else {
        for one in &findings {
            let mark = if one.is_good { "ok" } else { "!!" };
            writeln!(out, "{mark}  {:<10} {}", one.name, print::plain(&one.words))?;
            if let Some(command) = one.command {
                writeln!(out, "    run: {command}")?;
            }
        }
    }
    out.flush()?;
    Ok(if can_render { exit::OK } else { exit::UNEXPECTED })
}

fn missing(error: &str, is_named: bool) -> Finding {
    let words = error.split("; ").next().unwrap_or(error).to_owned();
    let command = (!is_named && words.starts_with("no browser")).then_some(INSTALL);
    let words = if command.is_some() { words } else { error.to_owned() };
    Finding { name: "browser", is_good: false, words, command }
}

/// Renders a page, and says how the browser is shut in.
fn examine(renderer: &Renderer, may_lack_sandbox: bool) -> anyhow::Result<Vec<Finding>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let tried = runtime.block_on(try_page(renderer));
    let finding = |name, is_good, words: String| Finding { name, is_good, words, command: None };
    let browser = match tried {
        Ok(version) => {
            finding("browser", true, format!("{version} ({})", renderer.program().display()))
        }
        Err(error) => finding("browser", false, error.to_string()),
    };
    let shut_in = renderer.isolation();
    let say = |name, holds: bool, yes: &str, no: &str| {
        finding(name, holds, if holds { yes } else { no }.to_owned())
    };
    let sandbox_off = if may_lack_sandbox {
        "off: this system refuses user namespaces, and render.sandbox is off"
    } else {
        "off: this system refuses user namespaces"
    };
    Ok(vec![
        browser,
        say("sandbox", shut_in.sandbox, "on", sandbox_off),
        say(
            "network",
            shut_in.no_network,
            "the browser has no network interface",
            "the browser's only way out is a proxy that does not exist; no network namespace here",
        ),
        say("user", shut_in.unprivileged, "the browser is not root", "the browser runs as root"),
        say(
            "end",
            shut_in.ends_with_us,
            "the system ends the browser when the crawler ends, however that ends",
            "the browser ends when its pipe closes; no process namespace here",
        ),
    ])
}

async fn try_page(renderer: &Renderer) -> Result<String, RenderError> {
    let url = "http://localhost/";
    let page = PageToRender {
        url: url.parse().map_err(|_| RenderError::BadUrl(url.to_owned()))?,
        status: 200,
        headers: Vec::new(),
        body: PAGE.into(),
        screenshot: false,
    };
    let (requests, _nobody) = mpsc::unbounded_channel();
    let rendered = renderer.render(&page, &requests).await?;
    if rendered.ended != Ended::Settled || rendered.text().trim() != "made by a script" {
        let ended = rendered.ended.code();
        return Err(RenderError::Start(format!("a page was not rendered as it should ({ended})")));
    }
    renderer.version().await
}
