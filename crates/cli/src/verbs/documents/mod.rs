//! `evercrawl documents`: what a search index is to hold, as operations in the order of their numbers.
//!
//! They go to standard output, or to an index. Then the number that the index has reached is kept in the data
//! directory, under the name of the consumer, and is written after the index took a batch: a crash repeats at most
//! that batch, which changes nothing.

mod cursor;
mod sender;

use std::io::Write;

use evercrawl_engine::DataDir;
use evercrawl_engine::live::SystemClock;
use evercrawl_export::{Contents, DocumentForm, Documents, Operation};
use evercrawl_query::{Answer, LogRequest, LogView, Request};

use crate::args::{DocumentsArgs, DocumentsForm};
use crate::control::unexpected;
use crate::exit::{self, Failure};
use crate::print;
use crate::units::show_counted;
use cursor::Cursor;
use sender::Sender;

/// Prints or sends the documents that `args` asks for.
pub(crate) fn run(args: &DocumentsArgs) -> anyhow::Result<u8> {
    match &args.to {
        Some(url) => send(args, url),
        None => show(args),
    }
}

fn form(args: &DocumentsArgs) -> DocumentForm {
    match args.form {
        DocumentsForm::Jsonl => DocumentForm::JsonLines,
        DocumentsForm::Opensearch => DocumentForm::OpenSearch,
        DocumentsForm::Meilisearch => DocumentForm::Meilisearch,
        DocumentsForm::Typesense => DocumentForm::Typesense,
        DocumentsForm::Quickwit => DocumentForm::Quickwit,
    }
}

fn show(args: &DocumentsArgs) -> anyhow::Result<u8> {
    let (form, mut out) = (form(args), print::data());
    let (mut documents, mut last) = (documents(args), args.after);
    let shown = each_part(args, args.after, &mut documents, &mut |operations, part| {
        for operation in &operations {
            for line in form.lines(operation).lines() {
                writeln!(out, "{}", print::plain(line))?;
            }
        }
        last = part.last.or(last);
        Ok(out.flush()?)
    });
    out.flush()?;
    warn(&documents);
    match shown {
        Err(error) if exit::code_of(&error) == exit::INTERRUPTED => {
            let after =
                last.map_or("ask again".to_owned(), |last| format!("resume with --after {last}"));
            Err(Failure { code: exit::INTERRUPTED, message: format!("the crawl stopped; {after}") }
                .into())
        }
        shown => shown.map(|()| exit::OK),
    }
}

fn send(args: &DocumentsArgs, url: &str) -> anyhow::Result<u8> {
    let name = args.consumer.as_deref().unwrap_or("default");
    // Whether there is a data directory is said by the first question to it.
    if !args.common.data.is_dir() {
        super::open(&args.common)?;
    }
    let mut cursor = Cursor::open(&args.common.data, name, url)?;
    let mut sender = Sender::new(url, form(args), &args.header)?;
    let (mut documents, after) = (documents(args), args.after.or(cursor.after()));
    let sent = each_part(args, after, &mut documents, &mut |operations, part| {
        sender.send(&operations)?;
        cursor.reach(part.last)
    });
    warn(&documents);
    let (puts, deletes) = (show_counted(sender.puts, "document"), sender.deletes);
    let after = cursor.after().map_or("-".to_owned(), |after| after.to_string());
    if args.json {
        let view = serde_json::json!({
            "put": sender.puts, "deleted": deletes, "after": cursor.after(),
            "left_out": documents.reserved, "without_record": documents.without_record,
        });
        print::json_line(&mut print::data(), &view)?;
    } else {
        eprintln!("{puts} sent, {deletes} deleted; {name} has all up to number {after}");
    }
    sent.map(|()| exit::OK)
}

fn documents(args: &DocumentsArgs) -> Documents {
    let mut documents = Documents::default();
    documents.with_markdown = args.markdown;
    documents.with_reserved = args.all;
    documents
}

fn warn(documents: &Documents) {
    if documents.reserved > 0 {
        let pages = show_counted(documents.reserved, "page");
        eprintln!("{pages} left out: noindex, or reserved; --all includes them");
    }
    if documents.without_record > 0 {
        let visits = show_counted(documents.without_record, "visit");
        eprintln!("{visits} left out: their content is not in the archive");
    }
}

/// What is done with the operations of a part of the log.
type TakeOperations<'a> = dyn FnMut(Vec<Operation>, &LogView) -> anyhow::Result<()> + 'a;

/// Hands the operations of each part of the log to `take`.
fn each_part(
    args: &DocumentsArgs,
    after: Option<u64>,
    documents: &mut Documents,
    take: &mut TakeOperations<'_>,
) -> anyhow::Result<()> {
    let now = SystemClock.now();
    let mut request = LogRequest { news: true, after, ..LogRequest::default() };
    request.tag.clone_from(&args.tag);
    request.host.clone_from(&args.host);
    request.since = args.since.map(|since| evercrawl_query::At(since.at(now)));
    request.follow = args.follow;
    let mut contents = None;
    super::ask(&args.common, &Request::Log(request), &mut |answer| match answer {
        Answer::Log(part) => {
            let contents = match &mut contents {
                Some(contents) => contents,
                None => contents.insert(Contents::open(DataDir::segments_in(&args.common.data))?),
            };
            let rows: Vec<_> = part.rows.iter().collect();
            take(documents.operations(&rows, contents)?, &part)
        }
        other => Err(unexpected(&other)),
    })
}
