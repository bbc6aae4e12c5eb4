//! Which pages are there for people?

use evercrawl_httpd::Response;
use evercrawl_screens::entrance::Beginning;

use crate::access::{Refused, Scope};
use crate::collections::NewCollection;
use crate::problem::{Problem, ProblemCode};
use crate::route::{Access, Call, Parameter, Route, Value, problem};
use crate::screens;

pub(super) const SCREENS: &[Route] = &[
    Route::screen(
        "/",
        "Show all collections",
        &[Parameter::new("token", Value::Text(200), "Signs in, and shows the page without it")],
        overview,
    )
    .of(Access::Open),
    Route::screen("/login", "Ask for a token", &[], login_form).of(Access::Open),
    Route::form("/login", "Sign in", Scope::Read, login).of(Access::Open),
    Route::form("/logout", "Sign out", Scope::Read, logout),
    Route::screen("/begin", "Ask what is to be crawled", &[], begin_form)
        .of(Access::Scope(Scope::Admin)),
    Route::form("/begin", "Look at addresses, or begin to crawl them", Scope::Admin, begin),
];

fn overview(call: &Call<'_>) -> Result<Response, Problem> {
    if let Some(token) = call.text("token") {
        return sign_in(call, &token);
    }
    let Some(granted) = &call.granted else {
        return Err(Problem::new(ProblemCode::NoToken, "nobody is signed in"));
    };
    if call.resources.collections.list().is_empty() {
        return Ok(Response::new(303).with("location", "/begin"));
    }
    Ok(screens::overview(call, &granted.form_token()))
}

fn login_form(_: &Call<'_>) -> Result<Response, Problem> {
    Ok(screens::login(None))
}

fn login(call: &Call<'_>) -> Result<Response, Problem> {
    match call.field("token") {
        Some(token) => sign_in(call, &token),
        None => Ok(screens::login(Some("Enter a token."))),
    }
}

fn sign_in(call: &Call<'_>, token: &str) -> Result<Response, Problem> {
    match call.resources.keyring.admit_token(token) {
        Ok(granted) => {
            let cookie = call.resources.keyring.begin_session(granted.scope).map_err(not_kept)?;
            Ok(Response::new(303).with("location", "/").with("set-cookie", &cookie))
        }
        Err(Refused::TooMany) => {
            Err(Problem::new(ProblemCode::TooMany, "too many wrong tokens lately").after(10))
        }
        Err(_) => Ok(screens::login(Some("This token does not hold."))),
    }
}

fn logout(call: &Call<'_>) -> Result<Response, Problem> {
    let session = call.granted.as_ref().and_then(|granted| granted.session.as_deref());
    let cookie =
        call.resources.keyring.end_session(session.unwrap_or_default()).map_err(not_kept)?;
    Ok(Response::new(303).with("location", "/login").with("set-cookie", &cookie))
}

fn not_kept(error: std::io::Error) -> Problem {
    Problem::new(ProblemCode::Storage, format!("cannot write the list of sessions: {error}"))
}

/// What must be sent with forms of whoever asks.
fn form_token(call: &Call<'_>) -> String {
    call.granted.as_ref().map(|granted| granted.form_token()).unwrap_or_default()
}

fn begin_form(call: &Call<'_>) -> Result<Response, Problem> {
    Ok(screens::begin(&form_token(call), &Beginning::default(), None, None))
}

/// What the form for a new collection says.
fn beginning(call: &Call<'_>) -> Beginning {
    let field = |name: &str| call.field(name).unwrap_or_default();
    Beginning {
        contact: field("contact"),
        seeds: field("seeds"),
        name: field("name"),
        scope: field("scope"),
        budget: field("budget"),
    }
}

fn begin(call: &Call<'_>) -> Result<Response, Problem> {
    let given = beginning(call);
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let asked = NewCollection {
        name: some(&given.name),
        contact: some(&given.contact),
        seeds: given.seeds.split_whitespace().map(str::to_owned).collect(),
        scope: some(&given.scope),
        budget: some(&given.budget),
        tags: Vec::new(),
        start: true,
    };
    let token = form_token(call);
    let name = given.name.as_str();
    if call.field("do").as_deref() == Some("look") {
        return Ok(match call.resources.collections.preview(&asked) {
            Ok(looks) => screens::begin(&token, &given, Some(&looks), None),
            Err(error) => screens::begin(&token, &given, None, Some(&problem(name, error))),
        });
    }
    match call.resources.collections.create(&asked) {
        Ok(made) => {
            let place = format!("/c/{}/", evercrawl_screens::words::in_query(&made.name));
            Ok(Response::new(303).with("location", &place))
        }
        Err(error) => Ok(screens::begin(&token, &given, None, Some(&problem(name, error)))),
    }
}
