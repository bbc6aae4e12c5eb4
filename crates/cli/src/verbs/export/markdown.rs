//! How does a crawl become a folder of Markdown files? By the operations that a search index would be told.

use std::time::Duration;

use evercrawl_engine::live::SystemClock;
use evercrawl_export::{Contents, Documents, MarkdownFiles, VISIT_FIELDS};
use evercrawl_model::Time;
use evercrawl_query::{LogRow, LogView};

use super::args::MarkdownArgs;
use super::log_rows::{LogRows, stopped};
use super::say;
use crate::units::show_counted;
use crate::{exit, print};

/// How often lists are written again while files come, and the note with them.
const PAUSE: Duration = Duration::from_secs(30);

/// Writes the pages that `args` selects.
pub(super) fn run(args: &MarkdownArgs) -> anyhow::Result<u8> {
    // Whether there is a data directory is said by the first question to it.
    if !args.common.data.is_dir() {
        super::super::open(&args.common)?;
    }
    let mut what = args.selection.words("markdown");
    if args.all {
        what += ", all";
    }
    let filter = args.selection.filter(VISIT_FIELDS)?;
    let mut documents = Documents::default();
    (documents.with_markdown, documents.with_reserved) = (true, args.all);
    let files = MarkdownFiles::open(&args.out, &what, args.overwrite)?;
    let mut export = Export { documents, files, saved: SystemClock.now() };
    let mut last = export.files.after();
    let mut rows = LogRows::new(&args.common, &args.selection, filter).with_news_only();
    let read = rows.read(last, args.follow, &mut |part, rows, contents| {
        export.take(part, rows, contents)?;
        last = part.last.or(last);
        export.save_now_and_then(last)
    });
    let interrupted = match &read {
        Err(error) => exit::code_of(error) == exit::INTERRUPTED,
        Ok(()) => false,
    };
    if read.is_ok() || interrupted {
        export.files.save(last)?;
    }
    match interrupted {
        true => Err(stopped()),
        false => read.and_then(|()| export.tell(args)),
    }
}

struct Export {
    documents: Documents,
    files: MarkdownFiles,
    saved: Time,
}

impl Export {
    /// What is not wanted any more is removed: a page may have left the selection.
    fn take(
        &mut self,
        part: &LogView,
        rows: &LogRows<'_>,
        contents: &mut Contents,
    ) -> anyhow::Result<()> {
        let mut wanted: Vec<&LogRow> = Vec::new();
        for row in &part.rows {
            match rows.is_wanted(row, contents)? {
                true => wanted.push(row),
                false if Documents::concerns(row) => {
                    self.apply(&std::mem::take(&mut wanted), contents)?;
                    self.files.remove(&row.page.url)?;
                }
                false => {}
            }
        }
        self.apply(&wanted, contents)
    }

    fn apply(&mut self, rows: &[&LogRow], contents: &mut Contents) -> anyhow::Result<()> {
        for operation in self.documents.operations(rows, contents)? {
            self.files.apply(&operation)?;
        }
        Ok(())
    }

    fn save_now_and_then(&mut self, last: Option<u64>) -> anyhow::Result<()> {
        let now = SystemClock.now();
        if now.since(self.saved) >= PAUSE {
            self.files.save(last)?;
            self.saved = now;
        }
        Ok(())
    }

    fn tell(&self, args: &MarkdownArgs) -> anyhow::Result<u8> {
        let (written, removed) = (self.files.written, self.files.removed);
        if args.json {
            let view = serde_json::json!({
                "path": args.out.display().to_string(), "written": written, "removed": removed,
                "left_out": self.documents.reserved, "after": self.files.after(),
            });
            print::json_line(&mut print::data(), &view)?;
            return Ok(exit::OK);
        }
        let left_out = match self.documents.reserved {
            0 => String::new(),
            count => {
                let pages = show_counted(count, "page");
                format!("; {pages} left out: noindex, or reserved; --all includes them")
            }
        };
        let files = show_counted(written, "file");
        say(format_args!("{files} written, {removed} removed in {}{left_out}", args.out.display()));
        Ok(exit::OK)
    }
}
