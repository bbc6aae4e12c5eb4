//! `evercrawl why`: where a URL is in the crawl and why; also for URLs never seen.

mod words;

use std::io::Write;

use evercrawl_query::{Answer, Inputs, Request, Step, UrlRequest, WhyView};

use crate::args::Why;
use crate::control::unexpected;
use crate::{access, crawl_config, exit, print};
use words::Context;

/// Where the text of a line begins.
const COLUMN: usize = 13;

/// Shows where the URL is and why.
pub(crate) fn run(args: &Why) -> anyhow::Result<u8> {
    let request = Request::Why(UrlRequest { url: args.url.clone() });
    let proxy = proxy_of(args)?;
    let mut out = print::data();
    super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::Why(why) if args.json => {
            let mut line = serde_json::to_value(&why)?;
            line["proxy"] = proxy.clone().into();
            Ok(print::json_line(&mut out, &line)?)
        }
        Answer::Why(why) => {
            write(&why, &mut out)?;
            let Some(proxy) = &proxy else { return Ok(()) };
            let text = format!("{proxy} ({})", access::PROXY_LOOKS_UP);
            Ok(print::labelled(&mut out, "proxy", COLUMN, &text)?)
        }
        other => Err(unexpected(&other)),
    })?;
    out.flush()?;
    Ok(exit::OK)
}

/// The proxy that the URL would be fetched through.
fn proxy_of(args: &Why) -> anyhow::Result<Option<String>> {
    let settings = crawl_config::settings(&args.common, None)?;
    let url = super::canonical(&settings, &args.url).ok();
    Ok(url.and_then(|url| access::proxy_of(&settings, url.as_str())))
}

/// Writes where a URL is and why.
pub(super) fn write(why: &WhyView, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut line =
        |label: &str, text: &str| print::labelled(out, label, COLUMN, &print::plain(text));
    line("url", &why.url)?;
    line("state", why.state.map_or("never seen", |state| state.code()))?;
    let context = Context { now: why.at.0, spam_host: why.steps.iter().find_map(spam_host) };
    for step in &why.steps {
        for (label, text) in words::of_step(step, context) {
            line(label, &text)?;
        }
    }
    Ok(())
}

/// The host that a step says is taken for spam.
fn spam_host(step: &Step) -> Option<&str> {
    match &step.what {
        Inputs::Spam(of) => Some(&of.host),
        _ => None,
    }
}
