//! What do people see? Whole pages as answers, drawn by `evercrawl_screens`.

use evercrawl_httpd::Response;
use evercrawl_query::{Answer, Request};
use evercrawl_screens::entrance::{self, Beginning, SeedLook};
use evercrawl_screens::overview::{CollectionLine, collections};

use crate::collections::{Flow, SeedPreview};
use crate::problem::Problem;
use crate::route::Call;

/// Collections whose state of health is shown in the list of all.
const MOST_ASKED: usize = 20;

/// Takes an answer of one kind.
macro_rules! one_of {
    ($kind:ident) => {
        |answer| match answer {
            evercrawl_query::Answer::$kind(view) => Some(view),
            _ => None,
        }
    };
}
pub(crate) use one_of;

/// A page.
pub(crate) fn html(status: u16, text: String) -> Response {
    Response::new(status).with("content-type", "text/html; charset=utf-8").body(text)
}

/// The form that asks for a token, after `fault` where there was one.
pub(crate) fn login(fault: Option<&str>) -> Response {
    html(if fault.is_none() { 200 } else { 401 }, entrance::login(fault))
}

/// All collections.
pub(crate) fn overview(call: &Call<'_>, form_token: &str) -> Response {
    let all = call.resources.collections.list();
    let mut statuses = Vec::new();
    for one in all.iter().take(MOST_ASKED) {
        let mut found = None;
        // One that cannot be asked is listed without its figures.
        let _ = call.resources.collections.ask(&one.name, Request::Status, &mut |answer| {
            if let Answer::Status(status) = answer {
                found = Some(status);
            }
            Flow::Enough
        });
        statuses.push(found);
    }
    let lines: Vec<CollectionLine<'_>> = all
        .iter()
        .enumerate()
        .map(|(at, one)| CollectionLine {
            name: &one.name,
            state: one.state.code(),
            message: one.message.as_deref(),
            status: statuses.get(at).and_then(|status| status.as_deref()),
        })
        .collect();
    html(200, collections(&lines, form_token, env!("CARGO_PKG_VERSION")))
}

/// A problem in words.
pub(crate) fn problem(problem: &Problem) -> Response {
    let (code, hint) = (problem.code, problem.hint.as_deref());
    html(code.status(), entrance::problem(code.title(), &problem.detail, hint))
}

/// The form for a new collection, with what its addresses look like, or what is wrong.
pub(crate) fn begin(
    form_token: &str,
    given: &Beginning,
    looks: Option<&[SeedPreview]>,
    fault: Option<&Problem>,
) -> Response {
    let looks: Option<Vec<SeedLook>> = looks.map(|looks| looks.iter().map(look_of).collect());
    let status = fault.map_or(200, |problem| problem.code.status());
    let words = fault.map(|problem| problem.detail.as_str());
    html(status, entrance::begin(form_token, given, looks.as_deref(), words))
}

fn look_of(preview: &SeedPreview) -> SeedLook {
    SeedLook {
        seed: preview.seed.clone(),
        url: preview.url.clone(),
        verdict: preview.verdict.clone(),
        reason: preview.reason.clone(),
        sitemaps: preview.sitemaps.clone(),
        pages: preview.pages_listed.map(|pages| (pages, preview.pages_listed_complete)),
    }
}
