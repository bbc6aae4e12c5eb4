//! How are the rows of the log exported? One after the other, by number, to a file that can go on later.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use evercrawl_archive::SegmentStore;
use evercrawl_engine::DataDir;
use evercrawl_engine::live::SystemClock;
use evercrawl_export::{
    Contents, ExportError, Filter, GrowingFile, VISIT_FIELDS, Value, Wacz, WaczSettings,
    WarcCopier, crawl_log_line, page_text, visit_value,
};
use evercrawl_query::{Answer, LogRequest, LogRow, LogView, Request};

use super::Written;
use super::args::{CrawlLogArgs, Selection, WaczArgs, WarcArgs};
use crate::args::Common;
use crate::control::unexpected;
use crate::exit::{self, Failure};
use crate::print;

/// What Evercrawl calls itself in files.
pub(super) const SOFTWARE: &str = concat!("evercrawl/", env!("CARGO_PKG_VERSION"));

/// Copies the records of the visits that `args` selects.
pub(super) fn warc(args: &WarcArgs) -> anyhow::Result<u8> {
    let what =
        args.selection.words(if args.no_requests { "warc without requests" } else { "warc" });
    let filter = args.selection.filter(VISIT_FIELDS)?;
    let mut file = GrowingFile::open(&args.out, &what, args.overwrite)?;
    if file.is_empty() {
        let name = args.out.file_name().unwrap_or_default().to_string_lossy();
        file.write(&WarcCopier::warcinfo(&name, SOFTWARE, SystemClock.now())?)?;
    }
    let mut rows = LogRows::new(&args.common, &args.selection, filter);
    let mut copier = WarcCopier::new(!args.no_requests);
    let (mut written, mut without) = (Written::to(&args.out), 0);
    rows.export(&mut file, args.follow, &mut |row, contents, file| {
        let Some(visit) = &row.visit else { return Ok(()) };
        let bytes = copier.copy(contents, visit)?;
        match bytes.is_empty() {
            true => without += u64::from(visit.warc.is_none()),
            false => written.rows += 1,
        }
        Ok(file.write(&bytes)?)
    })?;
    written.without_record = Some(without);
    (written.bytes, written.after) = (file.len(), file.after());
    written.print_summary("visit", args.json)
}

/// Packs the visits that `args` selects as a web archive package.
pub(super) fn wacz(args: &WaczArgs) -> anyhow::Result<u8> {
    let filter = args.selection.filter(VISIT_FIELDS)?;
    let settings = WaczSettings {
        software: SOFTWARE.to_owned(),
        title: args.title.clone(),
        with_text: !args.no_text,
        now: SystemClock.now(),
        signer: args.key.as_deref().map(super::evidence::signer).transpose()?,
    };
    let what = args.selection.words("wacz");
    let mut package = Wacz::open(&args.out, &what, settings, args.overwrite)?;
    let mut rows = LogRows::new(&args.common, &args.selection, filter);
    let (mut copier, mut without) = (WarcCopier::new(true), 0);
    rows.export(&mut package.file, false, &mut |row, contents, file| {
        let Some(visit) = &row.visit else { return Ok(()) };
        without += u64::from(visit.warc.is_none());
        Ok(file.write(&copier.copy(contents, visit)?)?)
    })?;
    let after = package.file.after();
    let found = package.finish()?;
    let mut written = Written::to(&args.out);
    (written.rows, written.bytes, written.after) = (found.captures, found.bytes, after);
    (written.pages, written.without_record) = (Some(found.pages), Some(without));
    written.print_summary("capture", args.json)
}

/// Lists the visits that `args` selects as Heritrix does.
pub(super) fn crawl_log(args: &CrawlLogArgs) -> anyhow::Result<u8> {
    let filter = args.selection.filter(VISIT_FIELDS)?;
    let mut rows = LogRows::new(&args.common, &args.selection, filter);
    let Some(out) = &args.out else {
        return print_crawl_log(&mut rows, args.follow);
    };
    let mut file = GrowingFile::open(out, &args.selection.words("crawl-log"), args.overwrite)?;
    let mut written = Written::to(out);
    rows.export(&mut file, args.follow, &mut |row, contents, file| {
        if let Some(line) = log_line(row, contents)? {
            file.write(line.as_bytes())?;
            written.rows += 1;
        }
        Ok(())
    })?;
    (written.bytes, written.after) = (file.len(), file.after());
    written.print_summary("visit", args.json)
}

fn print_crawl_log(rows: &mut LogRows<'_>, follow: bool) -> anyhow::Result<u8> {
    let mut out = print::data();
    let shown = rows.read(None, follow, &mut |part, rows, contents| {
        for row in part.rows.iter().filter(|row| row.visit.is_some()) {
            if rows.is_wanted(row, contents)? {
                let line = log_line(row, contents)?.unwrap_or_default();
                writeln!(out, "{}", print::plain(line.trim_end()))?;
            }
        }
        Ok(out.flush()?)
    });
    out.flush()?;
    shown.map(|()| exit::OK)
}

fn log_line(row: &LogRow, contents: &mut Contents) -> Result<Option<String>, ExportError> {
    let media_type = media_type(row, contents)?;
    Ok(crawl_log_line(row, media_type.as_deref()))
}

fn media_type(row: &LogRow, contents: &mut Contents) -> Result<Option<String>, ExportError> {
    let visit = row.visit.as_ref();
    let content = visit.map_or(Ok(None), |visit| contents.read(visit))?;
    Ok(content.and_then(|content| content.media_type()))
}

fn language(row: &LogRow, contents: &mut Contents) -> Result<Option<String>, ExportError> {
    let visit = row.visit.as_ref();
    let content = visit.map_or(Ok(None), |visit| contents.read(visit))?;
    let page = content.and_then(|content| page_text(&content, &row.page.url, &|_| false));
    Ok(page.and_then(|page| page.main.language))
}

/// The rows of the log that a user selects.
pub(super) struct LogRows<'a> {
    common: &'a Common,
    selection: &'a Selection,
    filter: Option<Filter>,
    /// Whether only rows that change a document are asked for.
    news: bool,
}

/// What is done with a part of the log.
type TakePart<'a> = dyn FnMut(&LogView, &LogRows<'_>, &mut Contents) -> anyhow::Result<()> + 'a;

/// What is done with a row.
type TakeRow<'a> = dyn FnMut(&LogRow, &mut Contents, &mut GrowingFile) -> anyhow::Result<()> + 'a;

impl<'a> LogRows<'a> {
    pub(super) fn new(
        common: &'a Common,
        selection: &'a Selection,
        filter: Option<Filter>,
    ) -> Self {
        LogRows { common, selection, filter, news: false }
    }

    /// Only rows that change what is known of a page.
    pub(super) fn with_news_only(self) -> Self {
        LogRows { news: true, ..self }
    }

    /// Hands each row that is wanted to `take`, from where `file` ended, and notes in it how far that came.
    fn export(
        &mut self,
        file: &mut GrowingFile,
        follow: bool,
        take: &mut TakeRow<'_>,
    ) -> anyhow::Result<()> {
        let mut last = file.after();
        let ended = self.read(last, follow, &mut |part, rows, contents| {
            for row in &part.rows {
                if rows.is_wanted(row, contents)? {
                    take(row, contents, file)?;
                }
            }
            last = part.last.or(last);
            if follow {
                file.save(last)?
            } else {
                file.reached(last)?
            }
            Ok(())
        });
        match ended {
            Err(error) if exit::code_of(&error) == exit::INTERRUPTED => {
                file.save(last)?;
                Err(stopped())
            }
            // What was not noted yet is cut off when the export resumes.
            Err(error) => Err(error),
            Ok(()) => Ok(file.save(last)?),
        }
    }

    /// Hands each part of the log after number `after` to `take`.
    pub(super) fn read(
        &mut self,
        after: Option<u64>,
        follow: bool,
        take: &mut TakePart<'_>,
    ) -> anyhow::Result<()> {
        let asked = self.selection.log(SystemClock.now(), after, follow);
        let request = Request::Log(LogRequest { news: self.news, ..asked });
        let mut contents = None;
        super::super::ask_and_close(self.common, &request, &mut |answer| match answer {
            Answer::Log(part) => {
                let contents = match &mut contents {
                    Some(contents) => contents,
                    None => contents.insert(Contents::open(segments(&self.common.data))?),
                };
                take(&part, self, contents)
            }
            other => Err(unexpected(&other)),
        })
    }

    /// Whether the expression is true of a row.
    pub(super) fn is_wanted(
        &self,
        row: &LogRow,
        contents: &mut Contents,
    ) -> Result<bool, ExportError> {
        let Some(filter) = &self.filter else { return Ok(true) };
        filter.matches(&mut |field| match field {
            "mime" => {
                Ok(media_type(row, contents)?
                    .map_or(Value::Missing, |text| Value::Text(text.into())))
            }
            "lang" => {
                Ok(language(row, contents)?.map_or(Value::Missing, |text| Value::Text(text.into())))
            }
            field => Ok(visit_value(row, field)),
        })
    }
}

fn segments(dir: &Path) -> Arc<dyn SegmentStore> {
    DataDir::segments_in(dir)
}

pub(super) fn stopped() -> anyhow::Error {
    let message = "the crawl stopped; run the same command again to continue".to_owned();
    Failure { code: exit::INTERRUPTED, message }.into()
}
