//! `evercrawl text`: what a page said at a time, without what surrounds it.

use std::io::Write;

use evercrawl_engine::DataDir;
use evercrawl_engine::live::SystemClock;
use evercrawl_export::{Content, Contents, PageText, page_text};
use evercrawl_model::{Outcome, Time};
use evercrawl_query::{Answer, QueryError, Request, UrlRequest, VisitView};
use serde_json::json;

use crate::args::{Common, Text, TextForm};
use crate::control::unexpected;
use crate::{exit, print};

/// Shows the main text of the page that `args` names.
pub(crate) fn run(args: &Text) -> anyhow::Result<u8> {
    let (url, visits) = history(&args.common, &args.url)?;
    let at = args.at.map(|at| at.at(SystemClock.now()));
    let mut contents = Contents::open(DataDir::segments_in(&args.common.data))?;
    let (visit, content) = held_at(&visits, at, &url, &mut contents)?;
    let nothing =
        || QueryError::Nothing(format!("{url} had no text in the version of {}", visit.time));
    let page = page_text(&content, &url, &|_| false).ok_or_else(nothing)?;
    show(args, &url, visit, &page)
}

/// The canonical URL of a page, and the visits to it.
pub(super) fn history(common: &Common, asked: &str) -> anyhow::Result<(String, Vec<VisitView>)> {
    let request = Request::History(UrlRequest { url: asked.to_owned() });
    let (mut visits, mut url) = (Vec::new(), asked.to_owned());
    super::ask(common, &request, &mut |answer| match answer {
        Answer::History(part) => {
            url.clone_from(&part.url);
            visits.extend(part.visits);
            Ok(())
        }
        other => Err(unexpected(&other)),
    })?;
    Ok((url, visits))
}

/// The last visit up to `at` that saw content of the page, and that content.
pub(super) fn held_at<'a>(
    visits: &'a [VisitView],
    at: Option<Time>,
    url: &str,
    contents: &mut Contents,
) -> anyhow::Result<(&'a VisitView, Content)> {
    let saw = |visit: &&VisitView| matches!(visit.outcome.0, Outcome::Ok | Outcome::NotModified);
    let seen: Vec<&VisitView> = visits.iter().filter(saw).collect();
    let until = |visit: &&VisitView| at.is_none_or(|at| visit.time.0 <= at);
    let Some(last) = seen.iter().copied().rfind(until) else {
        let message = match (at, seen.first()) {
            (Some(at), Some(first)) => {
                let first = first.time;
                format!("nothing of {url} is archived by {at}; the first version is of {first}")
            }
            _ => format!("{url} is known, but no visit brought content yet"),
        };
        return Err(QueryError::Nothing(message).into());
    };
    // The same content may have been recorded by an earlier or a later visit.
    let same = seen.iter().filter(|visit| visit.digest == last.digest);
    for visit in std::iter::once(&last).chain(same) {
        if let Some(content) = contents.read(visit)? {
            return Ok((last, content));
        }
    }
    let message = format!("the version of {} of {url} is not in the archive", last.time);
    Err(QueryError::Nothing(message).into())
}

fn show(args: &Text, url: &str, visit: &VisitView, page: &PageText) -> anyhow::Result<u8> {
    let mut out = print::data();
    let main = &page.main;
    let text = match args.form {
        TextForm::Text => main.text(),
        TextForm::Markdown => main.markdown(),
        TextForm::Html => main.html(),
    };
    if args.json {
        let headings: Vec<_> =
            main.headings().map(|(level, text)| json!({"level": level, "text": text})).collect();
        let links: Vec<_> =
            main.links().map(|link| json!({"url": link.url, "text": link.text})).collect();
        let name = args.form.name();
        let view = json!({
            "url": url, "time": visit.time, "digest": visit.digest, "title": main.title,
            "byline": main.byline, "published": main.published, "lang": main.language,
            "canonical": page.canonical, "headings": headings, "links": links, name: text,
        });
        print::json_line(&mut out, &view)?;
    } else {
        for line in text.lines() {
            writeln!(out, "{}", print::plain(line))?;
        }
    }
    out.flush()?;
    Ok(exit::OK)
}
