//! `evercrawl robots`: does robots.txt allow a URL, and by which line?

use std::io::Write;
use std::path::Path;

use evercrawl_engine::outcome_of_answer;
use evercrawl_extract::decode::{self, DecodeLimits};
use evercrawl_fetch::{Client, Request};
use evercrawl_model::Outcome;
use evercrawl_robots::{MIN_REDIRECTS, RobotsTxt};
use serde_json::json;

use crate::args::Robots;
use crate::exit::Failure;
use crate::{access, crawl_config, exit, print};

pub(crate) fn run(args: &Robots) -> anyhow::Result<u8> {
    let settings = crawl_config::settings(&args.common, Some(&args.rules))?;
    let agent = settings.items("identity.user_agent").first().cloned().unwrap_or_default();
    let (robots, source) = match &args.file {
        Some(path) => {
            let bytes = std::fs::read(path).map_err(|error| {
                Failure::usage(format!("cannot read {}: {error}", path.display()))
            })?;
            (RobotsTxt::parse(&bytes, &agent), path.display().to_string())
        }
        None => fetch(&settings, &args.common.data, &args.url, &agent)?,
    };
    // The rules are matched against the URL as it is, not against its canonical form.
    let verdict = robots.verdict_for_url(&args.url);
    let word = if verdict.allowed { "allowed" } else { "disallowed" };
    let mut out = print::data();
    if args.json {
        let line = json!({
            "url": args.url,
            "agent": agent,
            "allowed": verdict.allowed,
            "line": verdict.line.map(|line| line.number),
            "text": verdict.line.map(|line| line.text),
            "source": source,
            "crawl_delay_seconds": robots.crawl_delay().map(|delay| delay.as_secs_f64()),
            "sitemaps": robots.sitemaps().collect::<Vec<_>>(),
        });
        print::json_line(&mut out, &line)?;
    } else {
        let why = verdict.line.map_or("no rule applies".to_owned(), |line| {
            format!("line {}: {}", line.number, print::plain(line.text))
        });
        writeln!(out, "{word} for {agent}: {why} ({source})")?;
    }
    Ok(if verdict.allowed { exit::OK } else { exit::UNEXPECTED })
}

/// Fetches the robots.txt that speaks for a URL.
pub(crate) fn fetch(
    settings: &crate::settings::Settings,
    data: &Path,
    url: &str,
    agent: &str,
) -> anyhow::Result<(RobotsTxt, String)> {
    let url = super::canonical(settings, url)?;
    let address = format!("{}/robots.txt", url.origin());
    let request = Request::new(&address).map_err(|error| Failure::usage(error.to_string()))?;
    let mut config = crawl_config::fetch_config(settings)?;
    config.access = access::read(settings, data)?.access;
    let client = Client::new(config).map_err(|error| Failure::config(error.to_string()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut hops = runtime.block_on(client.fetch_following(&request, MIN_REDIRECTS + 5));
    let result = hops.pop().map(|hop| hop.fetched.result);
    let (status, body, words) = match result {
        Some(Ok(response)) => {
            let body = response.body.whole();
            let caps = DecodeLimits::default();
            let unpacked = decode::decode(&response.content_codings(), &body, caps);
            let (outcome, cause) = outcome_of_answer(&response, Some(&unpacked), false);
            let status = response.status;
            match cause.filter(|_| matches!(outcome, Outcome::Cut | Outcome::Protocol)) {
                None => (Some(status), unpacked.bytes.into_owned(), format!("status {status}")),
                // What is missing may forbid what the rest allows.
                Some(cause) => {
                    (None, Vec::new(), format!("status {status}, {cause}", cause = cause.words()))
                }
            }
        }
        Some(Err(failure)) => (None, Vec::new(), failure.to_string()),
        None => (None, Vec::new(), "no response".to_owned()),
    };
    Ok((RobotsTxt::from_response(status, &body, agent), format!("{address}: {words}")))
}
