//! What becomes of a request: is it for us, may it be made, who answers, and what goes with every answer?

use std::sync::Arc;

use evercrawl_httpd::{Handler, Head, Method, Request, Response};

use crate::access::{Granted, Keyring, Refused, Scope, is_form_token};
use crate::collections::Collections;
use crate::problem::{Problem, ProblemCode};
use crate::resources::Resources;
use crate::route::{Access, Call, Kind, Route, check_parameters};
use crate::routes::ROUTES;

/// Whoever answers requests.
pub struct App {
    resources: Resources,
}

/// Nothing from elsewhere, nothing inline, and nobody may show us in a frame.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; \
    base-uri 'none'; require-trusted-types-for 'script'";

impl App {
    /// An application over these collections.
    pub fn new(collections: Arc<dyn Collections>, keyring: Keyring) -> Self {
        App { resources: Resources::new(collections, keyring) }
    }

    /// Ends all streams, so that the server can stop.
    pub fn close(&self) {
        self.resources.events.close();
    }

    /// Whether a request may be made, by its head.
    fn check(&self, head: &Head) -> Result<(&'static Route, Option<Granted>), Problem> {
        let route = find(head)?;
        if route.access != Access::OwnKey {
            check_origin(head, route)?;
        }
        let granted = match route.access {
            // Whoever is signed in sees it on open pages, too.
            Access::Open if route.kind == Kind::Screen => self.resources.keyring.admit(head).ok(),
            Access::Open | Access::OwnKey => None,
            Access::Scope(needed) => Some(self.granted(head, needed)?),
        };
        Ok((route, granted))
    }

    fn granted(&self, head: &Head, needed: Scope) -> Result<Granted, Problem> {
        let granted = self.resources.keyring.admit(head).map_err(refused)?;
        if granted.scope < needed {
            let (has, needs) = (granted.scope.code(), needed.code());
            return Err(Problem::new(
                ProblemCode::WrongScope,
                format!("this token has the scope `{has}`, and this needs `{needs}`"),
            )
            .hint("make a token with that scope: POST /api/v1/tokens"));
        }
        Ok(granted)
    }

    fn respond(&self, request: &Request) -> Result<Response, Problem> {
        let (route, granted) = self.check(&request.head)?;
        let path = route.matches(&request.head.path).unwrap_or_default();
        let call = Call { resources: &self.resources, request, route, granted, path };
        if route.is_unsafe() {
            check_form_token(&call)?;
        }
        if route.access != Access::OwnKey {
            check_parameters(route, &call)?;
        }
        (route.handle)(&call)
    }

    /// The answer to a problem: JSON for programs, a page or the form to sign in for people.
    fn explain(&self, head: &Head, problem: &Problem) -> Response {
        let is_screen = find(head).is_ok_and(|route| route.kind == Kind::Screen);
        let wants_html = head.header("accept").is_some_and(|kinds| kinds.contains("text/html"));
        match problem.code {
            ProblemCode::NoToken if is_screen && head.method == Method::GET => {
                Response::new(303).with("location", "/login")
            }
            _ if is_screen && wants_html => crate::screens::problem(problem),
            _ => problem.response(),
        }
    }
}

impl Handler for App {
    fn admit(&self, head: &Head) -> Result<usize, Response> {
        let checked = self.check(head).map(|(route, _)| route.body_bytes);
        checked.map_err(|problem| guarded(self.explain(head, &problem)))
    }

    fn answer(&self, request: Request) -> Response {
        let response = self.respond(&request);
        let response = response.unwrap_or_else(|problem| self.explain(&request.head, &problem));
        guarded(tagged(response, &request.head))
    }

    fn refuse(&self, status: u16, reason: &str) -> Response {
        guarded(Problem::new(ProblemCode::of_status(status), reason).response())
    }
}

/// The route of a request.
fn find(head: &Head) -> Result<&'static Route, Problem> {
    let method = if head.method == Method::HEAD { "GET" } else { head.method.as_str() };
    let mut others = Vec::new();
    for route in ROUTES.iter().flat_map(|some| some.iter()) {
        if route.matches(&head.path).is_none() {
            continue;
        }
        if route.method.code() == method {
            return Ok(route);
        }
        others.push(route.method.code());
    }
    if others.is_empty() {
        return Err(Problem::new(ProblemCode::NotFound, "there is no such address")
            .hint("GET /api/v1/ lists all requests"));
    }
    let detail = format!("{} is not supported here", head.method);
    Err(Problem::new(ProblemCode::WrongMethod, detail).hint(format!("use {}", others.join(", "))))
}

/// Refuses what pages of other origins make a browser send. The replay of archived pages is such an origin: cookies
/// ignore ports, so a browser sends ours from there.
fn check_origin(head: &Head, route: &Route) -> Result<(), Problem> {
    let foreign = |why: &str| {
        Problem::new(ProblemCode::ForeignOrigin, why.to_owned())
            .hint("programs send no Origin and no Sec-Fetch-Site, and a bearer token")
    };
    let host = head.header("host").unwrap_or_default();
    let site = head.header("sec-fetch-site");
    if let Some(origin) = head.header("origin") {
        // Our pages tell nobody where they are, so browsers send their forms from the origin `null`; that the form is
        // ours is then known by the header beside it, which no page can set.
        let is_hidden = origin == "null" && site == Some("same-origin");
        let own = is_hidden
            || origin.split_once("://").is_some_and(|(scheme, authority)| {
                matches!(scheme, "http" | "https") && authority.eq_ignore_ascii_case(host)
            });
        if !own {
            return Err(foreign("the request comes from a page of another origin"));
        }
    }
    if matches!(site, None | Some("same-origin" | "none")) {
        return Ok(());
    }
    // A link on another page may lead to a screen, but not into a frame.
    let is_document = head.header("sec-fetch-dest") == Some("document");
    let is_visit = head.header("sec-fetch-mode") == Some("navigate") && is_document;
    if is_visit && route.kind == Kind::Screen && !route.is_unsafe() {
        return Ok(());
    }
    Err(foreign("the request comes from a page of another site"))
}

/// A session must prove that a change comes from one of our pages.
fn check_form_token(call: &Call<'_>) -> Result<(), Problem> {
    let Some(granted) = call.granted.as_ref().filter(|granted| granted.session.is_some()) else {
        return Ok(());
    };
    let head = &call.request.head;
    let same_origin = head.header("sec-fetch-site") == Some("same-origin");
    if !same_origin && head.header("origin").is_none() {
        let why = "the browser does not say that the request comes from our own page";
        return Err(Problem::new(ProblemCode::ForeignOrigin, why));
    }
    let in_form = call.field("form_token");
    let given = head.header("x-form-token").map(str::to_owned).or(in_form);
    if given.is_some_and(|given| is_form_token(granted, &given)) {
        return Ok(());
    }
    Err(Problem::new(ProblemCode::ForeignOrigin, "the form token is missing or wrong")
        .hint("load the page again, and repeat"))
}

fn refused(why: Refused) -> Problem {
    match why {
        Refused::Nothing => Problem::new(ProblemCode::NoToken, "no token was sent")
            .hint("send `Authorization: Bearer TOKEN`; `evercrawl serve` prints one at its start"),
        Refused::Wrong => Problem::new(ProblemCode::NoToken, "the token does not hold")
            .hint("`evercrawl serve` prints one at its start; POST /api/v1/tokens makes others"),
        Refused::TooMany => {
            Problem::new(ProblemCode::TooMany, "too many wrong tokens lately").after(10)
        }
    }
}

/// An answer that did not change since the caller got it need not be sent again.
fn tagged(response: Response, head: &Head) -> Response {
    let is_get = matches!(head.method, Method::GET | Method::HEAD);
    let Some(body) = response.whole_body().filter(|_| is_get && response.status == 200) else {
        return response;
    };
    let digest = ring::digest::digest(&ring::digest::SHA256, body);
    let tag = data_encoding::HEXLOWER.encode(&digest.as_ref()[..12]);
    let tag = format!("\"{tag}\"");
    let known = head.headers("if-none-match").flat_map(|line| line.split(','));
    let mut known = known.map(|one| one.trim().trim_start_matches("W/"));
    match known.any(|one| one == tag || one == "*") {
        true => Response::new(304).with("etag", &tag),
        false => response.with("etag", &tag),
    }
}

/// What goes with every answer.
fn guarded(response: Response) -> Response {
    response
        .or("content-security-policy", CONTENT_SECURITY_POLICY)
        .or("x-content-type-options", "nosniff")
        .or("referrer-policy", "no-referrer")
        .or("cross-origin-opener-policy", "same-origin")
        .or("cross-origin-resource-policy", "same-origin")
        .or("x-frame-options", "DENY")
        .or("cache-control", "no-store")
}
