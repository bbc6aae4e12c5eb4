//! Which requests are there? One table says it, and routing, scopes, limits, checks of parameters, the OpenAPI
//! description and docs/api.md follow from it.

mod call;

use evercrawl_httpd::Response;

use crate::access::Scope;
use crate::problem::Problem;

pub use call::Call;
pub(crate) use call::{Page, check_parameters, json, problem};

/// The methods in use; HEAD is answered wherever GET is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Makes or does something.
    Post,
    /// Sets something.
    Put,
    /// Changes something.
    Patch,
    /// Removes something.
    Delete,
}

impl Method {
    /// As it stands in a request.
    pub const fn code(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}

/// Who may make a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anybody who gets here, from no other site.
    Open,
    /// Who has a token of this scope.
    Scope(Scope),
    /// Who has the key of this route, which its handler checks: pushes and feeds come from other programs.
    OwnKey,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Programs: problems are JSON.
    Api,
    /// People: who is not signed in is led to the form for that.
    Screen,
    /// What screens are made of.
    Asset,
}

/// What the value of a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Any text of up to so many bytes.
    Text(usize),
    /// A whole number up to this.
    Count(u64),
    /// A number above zero.
    Seconds,
    /// A time as in RFC 3339, or how long ago as in `2d`.
    Time,
    /// One of these words.
    Word(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
}

/// A parameter in the query.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What its value may be.
    pub value: Value,
    /// Whether it must be given.
    pub needed: bool,
    /// What it means.
    pub about: &'static str,
}

impl Parameter {
    /// One that may be left out.
    pub const fn new(name: &'static str, value: Value, about: &'static str) -> Self {
        Parameter { name, value, needed: false, about }
    }

    /// One that must be given.
    pub const fn needed(name: &'static str, value: Value, about: &'static str) -> Self {
        Parameter { name, value, needed: true, about }
    }
}

/// What the body of a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// There is none.
    None,
    /// JSON of this schema.
    Json(&'static str),
    /// The fields of a form.
    Form,
    /// What its handler makes of it.
    Any,
}

/// What an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// JSON of this schema.
    Json(&'static str),
    /// A page of `{"items": [..], "next": ..}` with items of this schema.
    List(&'static str),
    /// Another media type.
    Media(&'static str),
    /// Nothing, with this status.
    Empty(u16),
}

/// A request that can be made.
#[derive(Clone, Copy)]
pub struct Route {
    /// Its method.
    pub method: Method,
    /// Its path; `{name}` stands for one segment.
    pub path: &'static str,
    /// What it is for.
    pub kind: Kind,
    /// Who may make it.
    pub access: Access,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// The parameters that it takes.
    pub parameters: &'static [Parameter],
    /// Its body.
    pub body: Body,
    /// The longest body, in bytes.
    pub body_bytes: usize,
    /// What comes back.
    pub answers: Answers,
    /// Does it.
    pub handle: fn(&Call<'_>) -> Result<Response, Problem>,
}

/// The longest body of most requests.
const USUAL_BODY: usize = 64 << 10;

impl Route {
    /// A question of a program.
    pub(crate) const fn get(
        path: &'static str,
        about: &'static str,
        parameters: &'static [Parameter],
        answers: Answers,
        handle: fn(&Call<'_>) -> Result<Response, Problem>,
    ) -> Self {
        Route {
            method: Method::Get,
            path,
            kind: Kind::Api,
            access: Access::Scope(Scope::Read),
            about,
            parameters,
            body: Body::None,
            body_bytes: 0,
            answers,
            handle,
        }
    }

    /// A change by a program.
    pub(crate) const fn change(
        method: Method,
        path: &'static str,
        about: &'static str,
        body: Body,
        answers: Answers,
        handle: fn(&Call<'_>) -> Result<Response, Problem>,
    ) -> Self {
        let body_bytes = if matches!(body, Body::None) { 0 } else { USUAL_BODY };
        Route {
            method,
            access: Access::Scope(Scope::Write),
            body,
            body_bytes,
            ..Route::get(path, about, &[], answers, handle)
        }
    }

    /// A page for people.
    pub(crate) const fn screen(
        path: &'static str,
        about: &'static str,
        parameters: &'static [Parameter],
        handle: fn(&Call<'_>) -> Result<Response, Problem>,
    ) -> Self {
        let answers = Answers::Media("text/html");
        Route { kind: Kind::Screen, ..Route::get(path, about, parameters, answers, handle) }
    }

    /// What a form of a screen sends.
    pub(crate) const fn form(
        path: &'static str,
        about: &'static str,
        scope: Scope,
        handle: fn(&Call<'_>) -> Result<Response, Problem>,
    ) -> Self {
        let answers = Answers::Empty(303);
        let route = Route::change(Method::Post, path, about, Body::Form, answers, handle);
        Route { kind: Kind::Screen, access: Access::Scope(scope), ..route }
    }

    /// The same for others.
    pub(crate) const fn of(self, access: Access) -> Self {
        Route { access, ..self }
    }

    /// The same with a longer body.
    pub(crate) const fn up_to(self, body_bytes: usize) -> Self {
        Route { body_bytes, ..self }
    }

    /// The values of the path's variables, where `path` is one of this route.
    pub fn matches(&self, path: &str) -> Option<Vec<(&'static str, String)>> {
        let mut found = Vec::new();
        let (mut pattern, mut segments) = (self.path.split('/'), path.split('/'));
        loop {
            match (pattern.next(), segments.next()) {
                (None, None) => return Some(found),
                (Some(part), Some(segment)) => match part.strip_prefix('{') {
                    Some(_) if segment.is_empty() => return None,
                    Some(name) => found.push((name.trim_end_matches('}'), decoded(segment)?)),
                    None if part == segment => {}
                    None => return None,
                },
                _ => return None,
            }
        }
    }

    /// Whether it changes anything.
    pub fn is_unsafe(&self) -> bool {
        self.method != Method::Get
    }
}

/// A path segment without its percent signs; `None` where it is no text.
fn decoded(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let [first, more @ ..] = rest {
        let (byte, after) = match (first, more) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                (u8::try_from(digit(high)? * 16 + digit(low)?).ok()?, after)
            }
            (b'%', _) => return None,
            (byte, after) => (*byte, after),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_matched_segment_by_segment() {
        fn nothing(_: &Call<'_>) -> Result<Response, Problem> {
            Ok(Response::new(204))
        }
        let route = Route::get("/a/{name}/b", "", &[], Answers::Empty(204), nothing);
        assert_eq!(route.matches("/a/x%2Fy/b"), Some(vec![("name", "x/y".to_owned())]));
        for other in
            ["/a/x", "/a//b", "/a/x/b/", "/a/x/c", "/a/%zz/b", "/a/%f/b", "/a/%ff/b", "a/x/b"]
        {
            assert_eq!(route.matches(other), None, "{other}");
        }
    }
}
