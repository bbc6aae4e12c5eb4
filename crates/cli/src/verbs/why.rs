//! `evercrawl why`: where a URL is in the crawl and why; also for URLs never seen.

mod words;

use std::io::Write;

use evercrawl_query::{Answer, Inputs, Request, Step, UrlRequest, WhyView};

use crate::args::Why;
use crate::control::unexpected;
use crate::{exit, print};
use words::Context;

/// Where the text of a line begins.
const COLUMN: usize = 13;

/// Shows where the URL is and why.
pub(crate) fn run(args: &Why) -> anyhow::Result<u8> {
    let request = Request::Why(UrlRequest { url: args.url.clone() });
    let mut out = print::data();
    super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::Why(why) if args.json => Ok(print::json_line(&mut out, &why)?),
        Answer::Why(why) => write(&why, &mut out),
        other => Err(unexpected(&other)),
    })?;
    out.flush()?;
    Ok(exit::OK)
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
