//! `evercrawl history`: a page's visits, one per line, the earliest first.

use std::io::Write;

use evercrawl_model::Change;
use evercrawl_query::{Answer, Request, UrlRequest, VisitView};

use crate::args::History;
use crate::control::unexpected;
use crate::units::show_size;
use crate::{exit, print};

/// Shows the visits of the page that `args` names.
pub(crate) fn run(args: &History) -> anyhow::Result<u8> {
    let request = Request::History(UrlRequest { url: args.url.clone() });
    let mut out = print::data();
    super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::History(part) => part.visits.iter().try_for_each(|visit| match args.json {
            true => Ok(print::json_line(&mut out, visit)?),
            false => write(visit, &mut out),
        }),
        other => Err(unexpected(&other)),
    })?;
    out.flush()?;
    Ok(exit::OK)
}

fn write(visit: &VisitView, out: &mut dyn Write) -> anyhow::Result<()> {
    Ok(writeln!(
        out,
        "{}  {:<8} {:>5} {:<3} {:<12} {:>8} {:>6} ms  {}{}",
        visit.time,
        if visit.in_doubt { "in doubt" } else { visit.change.text() },
        percent(visit),
        visit.status.unwrap_or(0),
        visit.outcome.text(),
        show_size(visit.bytes),
        visit.ms,
        place(visit),
        visit.cause.map_or(String::new(), |cause| format!("  ({cause}: {})", cause.0.words())),
    )?)
}

/// How much of the text is new; nothing where that goes without saying.
pub(super) fn percent(visit: &VisitView) -> String {
    if !matches!(visit.change.0, Change::Changed | Change::Near) {
        return String::new();
    }
    let percent = 100.0 * visit.score;
    if percent < 1.0 { "<1 %".to_owned() } else { format!("{percent:.0} %") }
}

fn place(visit: &VisitView) -> String {
    match (&visit.warc, visit.offset) {
        (Some(warc), Some(offset)) => format!("{} at {offset}", print::plain(warc)),
        _ => "no record".to_owned(),
    }
}
