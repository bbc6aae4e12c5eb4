//! Which pages are there for people?

use evercrawl_httpd::Response;

use crate::access::{Refused, Scope};
use crate::problem::{Problem, ProblemCode};
use crate::route::{Access, Call, Parameter, Route, Value};
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
];

fn overview(call: &Call<'_>) -> Result<Response, Problem> {
    if let Some(token) = call.text("token") {
        return sign_in(call, &token);
    }
    let Some(granted) = &call.granted else {
        return Err(Problem::new(ProblemCode::NoToken, "nobody is signed in"));
    };
    Ok(screens::overview(&call.resources.collections.list(), &granted.form_token()))
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
