//! `evercrawl archive`: which WARC files are there, and how large are they?

use std::io::Write;

use evercrawl_query::{Answer, ArchiveFileView, ArchiveView, Request};

use crate::args::ArchiveArgs;
use crate::control::unexpected;
use crate::units::{show_counted, show_size};
use crate::{exit, print};

/// Shows the files of the archive.
pub(crate) fn run(args: &ArchiveArgs) -> anyhow::Result<u8> {
    let mut out = print::data();
    super::ask(&args.common, &Request::Archive, &mut |answer| match answer {
        Answer::Archive(view) if args.json => Ok(print::json_line(&mut out, &view)?),
        Answer::Archive(view) => write(&view, &mut out),
        other => Err(unexpected(&other)),
    })?;
    out.flush()?;
    Ok(exit::OK)
}

fn write(view: &ArchiveView, out: &mut dyn Write) -> anyhow::Result<()> {
    for file in &view.files {
        let (size, index) = (show_size(file.bytes), show_size(file.index_bytes));
        let index = format!("index {index}");
        writeln!(out, "{:<8} {size:>9}  {index:<16} {}", state(file), file_name(file))?;
    }
    let files = show_counted(view.files.len() as u64, "file");
    Ok(writeln!(out, "{files}, {} of committed records", show_size(view.bytes))?)
}

fn state(file: &ArchiveFileView) -> &'static str {
    match (file.open, file.finished) {
        (true, _) => "growing",
        (false, true) => "finished",
        (false, false) => "full",
    }
}

/// The name that the file has on disk.
fn file_name(file: &ArchiveFileView) -> String {
    let growing = if file.finished { "" } else { ".open" };
    format!("{}{growing}", print::plain(&file.warc))
}
