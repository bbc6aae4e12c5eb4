//! `evercrawl status`: how is a crawl doing?

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use evercrawl_metrics::{CollectionSamples, Metric, MetricsSnapshot, prometheus_text};
use evercrawl_query::{Answer, MetricsView, Request, Status as StatusView};

use crate::args::Status;
use crate::control::unexpected;
use crate::{exit, print, report};

/// Shows it once, or again and again.
pub(crate) fn run(args: &Status) -> anyhow::Result<u8> {
    let Some(seconds) = args.watch else {
        print::data().write_all(&shown(args)?)?;
        return Ok(exit::OK);
    };
    let redraw = std::io::stdout().is_terminal() && !args.json;
    if redraw {
        print::data().write_all(b"\x1b[2J")?;
    }
    // Ctrl-C ends the process; nobody ever sends.
    let (_sender, never) = mpsc::channel::<()>();
    loop {
        let block = shown(args)?;
        let mut out = print::data();
        out.write_all(&if redraw { over_the_last(&block) } else { block })?;
        out.flush()?;
        drop(out);
        let _ = never.recv_timeout(Duration::from_secs(seconds));
    }
}

/// A block that takes the place of what stands on the terminal. Nothing is wiped before it is written
/// over, so nothing flickers.
fn over_the_last(block: &[u8]) -> Vec<u8> {
    let mut out = b"\x1b[H".to_vec();
    for line in block.split_inclusive(|byte| *byte == b'\n') {
        let (text, end) = line.split_at(line.len() - usize::from(line.ends_with(b"\n")));
        out.extend_from_slice(text);
        out.extend_from_slice(b"\x1b[K");
        out.extend_from_slice(end);
    }
    out.extend_from_slice(b"\x1b[J");
    out
}

/// How the crawl is doing now, as it is to be shown.
fn shown(args: &Status) -> anyhow::Result<Vec<u8>> {
    let mut out = Vec::new();
    if args.metrics {
        super::ask(&args.common, &Request::Metrics, &mut |answer| match answer {
            Answer::Metrics(view) if args.json => Ok(print::json_line(&mut out, &view)?),
            Answer::Metrics(view) => {
                out.extend_from_slice(metrics_text(&view, &args.common.data).as_bytes());
                Ok(())
            }
            other => Err(unexpected(&other)),
        })?;
        return Ok(out);
    }
    super::ask(&args.common, &Request::Status, &mut |answer| match answer {
        Answer::Status(status) if args.json => Ok(print::json_line(&mut out, &status)?),
        Answer::Status(status) => write(args, &status, &mut out),
        other => Err(unexpected(&other)),
    })?;
    Ok(out)
}

/// The figures of the crawl in `dir` and of this program, as Prometheus reads them.
fn metrics_text(view: &MetricsView, dir: &Path) -> String {
    let mut program = MetricsSnapshot::default();
    program.add_count(Metric::BuildInfo, &[env!("CARGO_PKG_VERSION")], 1);
    let whole = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let name = whole.file_name().unwrap_or_default().to_string_lossy();
    prometheus_text(&[
        CollectionSamples { collection: None, snapshot: &program },
        CollectionSamples { collection: Some(&name), snapshot: &view.snapshot() },
    ])
}

fn write(args: &Status, status: &StatusView, out: &mut Vec<u8>) -> anyhow::Result<()> {
    let data = args.common.data.display();
    match status.running {
        true => writeln!(out, "{data}: running, as of {}", status.at)?,
        false => writeln!(out, "{data}: not running")?,
    }
    Ok(report::write_status(out, status)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_written_over_the_last_one_without_wiping_it_first() {
        let text = String::from_utf8(over_the_last(b"one\ntwo\n")).unwrap();
        assert_eq!(text, "\x1b[Hone\x1b[K\ntwo\x1b[K\n\x1b[J");
    }
}
