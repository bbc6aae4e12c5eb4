//! `evercrawl hosts`: every known host, with what it waits for.

use std::io::Write;

use evercrawl_query::{Answer, HostView, HostWaits, HostsRequest, Request};

use crate::args::Listing;
use crate::control::unexpected;
use crate::units::{show_count, show_counted};
use crate::{exit, print};

/// Shows the known hosts.
pub(crate) fn run(args: &Listing) -> anyhow::Result<u8> {
    let request = Request::Hosts(HostsRequest { after: None, limit: args.limit });
    let mut out = print::data();
    super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::Hosts(part) => part.hosts.iter().try_for_each(|host| match args.json {
            true => Ok(print::json_line(&mut out, host)?),
            false => write(host, &mut out),
        }),
        other => Err(unexpected(&other)),
    })?;
    out.flush()?;
    Ok(exit::OK)
}

fn write(host: &HostView, out: &mut dyn Write) -> anyhow::Result<()> {
    let pages = show_counted(host.pages, "page");
    let new = format!("{} new", show_count(host.new_pages));
    let text = state_text(host);
    Ok(writeln!(out, "{:<30} {pages:>13} {new:>12}  {text}", print::plain(&host.host))?)
}

/// What is to be known of a host: what it waits for, and what is unusual about it.
fn state_text(host: &HostView) -> String {
    let waits = host.waits_for.map_or("nothing to fetch", waits_text).to_owned();
    let until = host.blocked_until.as_ref().filter(|_| host.waits_for != Some(HostWaits::Paused));
    let parts = [
        Some(until.map_or(waits.clone(), |until| format!("{waits} until {until}"))),
        (host.failures > 0).then(|| show_counted(host.failures.into(), "failure")),
        host.mirror_of.as_ref().map(|of| format!("mirror of {}", print::plain(of))),
        host.spam_probability.map(|share| format!("spam {:.0} %", 100.0 * share)),
        host.trusted.then(|| "trusted".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What a host waits for.
pub(super) fn waits_text(waits: HostWaits) -> &'static str {
    match waits {
        HostWaits::Turn => "queued",
        HostWaits::Pace => "pauses between requests",
        HostWaits::BackOff => "backoff",
        HostWaits::Robots => "waits for robots.txt",
        HostWaits::Paused => "paused by you",
        HostWaits::NotDue => "nothing due yet",
    }
}
