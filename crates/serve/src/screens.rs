//! What do people see? Whole pages as answers.

use evercrawl_httpd::Response;

use crate::collections::CollectionView;
use crate::problem::Problem;

/// The form that asks for a token, after `fault` where there was one.
pub(crate) fn login(fault: Option<&str>) -> Response {
    let fault =
        fault.map_or(String::new(), |words| format!("<p role=\"alert\">{}</p>", escaped(words)));
    let body = format!(
        "<h1>Evercrawl</h1>{fault}<form method=\"post\" action=\"/login\"><label>Token \
         <input name=\"token\" type=\"password\" autocomplete=\"current-password\" autofocus required>\
         </label> <button>Sign in</button></form><p><code>evercrawl serve</code> prints an address with a \
         token when it starts.</p>"
    );
    page(if fault.is_empty() { 200 } else { 401 }, "Sign in", &body)
}

/// All collections.
pub(crate) fn overview(collections: &[CollectionView], form_token: &str) -> Response {
    let row = |one: &CollectionView| {
        let (name, state) = (escaped(&one.name), one.state.code());
        let message = escaped(one.message.as_deref().unwrap_or_default());
        format!("<tr><th scope=\"row\">{name}</th><td>{state}</td><td>{message}</td></tr>")
    };
    let rows: String = collections.iter().map(row).collect();
    let body = format!(
        "<h1>Collections</h1><table><thead><tr><th>Name</th><th>State</th><th></th></tr></thead>\
         <tbody>{rows}</tbody></table><form method=\"post\" action=\"/logout\"><input type=\"hidden\" \
         name=\"form_token\" value=\"{}\"><button>Sign out</button></form>",
        escaped(form_token)
    );
    page(200, "Collections", &body)
}

/// A problem in words.
pub(crate) fn problem(problem: &Problem) -> Response {
    let hint =
        problem.hint.as_deref().map_or(String::new(), |hint| format!("<p>{}</p>", escaped(hint)));
    let (title, detail) = (problem.code.title(), escaped(&problem.detail));
    let body = format!("<h1>{title}</h1><p>{detail}</p>{hint}<p><a href=\"/\">Overview</a></p>");
    page(problem.code.status(), title, &body)
}

fn page(status: u16, title: &str, body: &str) -> Response {
    let text = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>{title} - Evercrawl</title></head>\
         <body>{body}</body></html>"
    );
    Response::new(status).with("content-type", "text/html; charset=utf-8").body(text)
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}
