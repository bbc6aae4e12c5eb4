//! `evercrawl urls`: every known URL, with its state and why.

use std::io::Write;

use evercrawl_query::{Answer, PageState, PageView, PagesRequest, Request};

use crate::args::{StateArg, Urls};
use crate::control::unexpected;
use crate::{exit, print};

/// Shows the known URLs that `args` asks for.
pub(crate) fn run(args: &Urls) -> anyhow::Result<u8> {
    let request = Request::Pages(PagesRequest {
        state: args.state.map(page_state),
        reason: args.reason.clone(),
        tag: args.tag.clone(),
        spam: args.spam,
        ..PagesRequest::default()
    });
    let mut out = print::data();
    super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::Pages(part) => part.pages.iter().try_for_each(|page| match args.json {
            true => Ok(print::json_line(&mut out, page)?),
            false => write(page, &mut out),
        }),
        other => Err(unexpected(&other)),
    })?;
    out.flush()?;
    Ok(exit::OK)
}

fn write(page: &PageView, out: &mut dyn Write) -> anyhow::Result<()> {
    let (state, status) = (page.state.code(), page.status.unwrap_or(0));
    let reason = reason_text(page);
    Ok(writeln!(out, "{state:<10} {status:<3} {reason:<20} {}", print::plain(&page.url))?)
}

/// Why a page is where it is, with what went wrong where that says more.
fn reason_text(page: &PageView) -> String {
    let (reason, cause) = (page.reason.as_deref(), page.cause.as_deref());
    match (reason, cause) {
        (Some(reason), Some(cause)) if reason != cause => format!("{reason} ({cause})"),
        (Some(one), _) | (None, Some(one)) => one.to_owned(),
        (None, None) => "-".to_owned(),
    }
}

fn page_state(state: StateArg) -> PageState {
    match state {
        StateArg::New => PageState::New,
        StateArg::Due => PageState::Due,
        StateArg::Resting => PageState::Resting,
        StateArg::Failing => PageState::Failing,
        StateArg::Gone => PageState::Gone,
        StateArg::Moved => PageState::Moved,
        StateArg::SoftGone => PageState::SoftGone,
        StateArg::LoginWall => PageState::LoginWall,
        StateArg::Parked => PageState::Parked,
        StateArg::Refused => PageState::Refused,
    }
}
