//! Who may ask? Tokens are listed, made and removed.

use evercrawl_httpd::Response;
use serde::{Deserialize, Serialize};

use crate::access::{Scope, TokenView};
use crate::problem::{Problem, ProblemCode};
use crate::route::{Access, Answers, Body, Call, Method, Page, Route, json};

const ADMIN: Access = Access::Scope(Scope::Admin);

pub(super) const TOKENS: &[Route] = &[
    Route::get("/api/v1/tokens", "List the tokens", &[], Answers::List("Token"), list).of(ADMIN),
    Route::change(
        Method::Post,
        "/api/v1/tokens",
        "Make a token; it is shown this once",
        Body::Json("NewToken"),
        Answers::Json("MadeToken"),
        make,
    )
    .of(ADMIN),
    Route::change(
        Method::Delete,
        "/api/v1/tokens/{id}",
        "Remove a token",
        Body::None,
        Answers::Empty(204),
        remove,
    )
    .of(ADMIN),
];

fn list(call: &Call<'_>) -> Result<Response, Problem> {
    json(&Page { items: call.resources.keyring.tokens(), next: None })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewToken {
    name: String,
    scope: String,
}

#[derive(Serialize)]
struct MadeToken {
    #[serde(flatten)]
    view: TokenView,
    token: String,
}

fn make(call: &Call<'_>) -> Result<Response, Problem> {
    let NewToken { name, scope } = call.json()?;
    let scope = Scope::named(&scope).ok_or_else(|| {
        Problem::bad(format!("`{scope}` is not a scope")).hint("use read, write or admin")
    })?;
    if name.is_empty() || name.len() > 100 {
        return Err(Problem::bad("a token needs a name of at most 100 bytes"));
    }
    let made = call.resources.keyring.make_token(&name, scope).map_err(not_kept)?;
    let full = || Problem::new(ProblemCode::Conflict, "there are too many tokens; remove some");
    let (view, token) = made.ok_or_else(full)?;
    let mut response = json(&MadeToken { view, token })?;
    response.status = 201;
    Ok(response)
}

fn remove(call: &Call<'_>) -> Result<Response, Problem> {
    let id = call.path("id").parse().ok();
    let removed =
        id.map(|id| call.resources.keyring.remove_token(id)).transpose().map_err(not_kept)?;
    match removed {
        Some(true) => Ok(Response::new(204)),
        _ => Err(Problem::new(ProblemCode::NotFound, "there is no token of this number")),
    }
}

fn not_kept(error: std::io::Error) -> Problem {
    Problem::new(ProblemCode::Storage, format!("cannot write the list of tokens: {error}"))
}
