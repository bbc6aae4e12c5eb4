//! What does a handler know of the request that it answers?

use evercrawl_httpd::{Request, Response};
use evercrawl_query::{Answer, At, Failed};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::access::Granted;
use crate::collections::{AskError, Flow};
use crate::problem::{Problem, ProblemCode};
use crate::resources::Resources;

use super::{Route, Value};

/// A request to be answered.
pub struct Call<'a> {
    /// What it works with.
    pub resources: &'a Resources,
    /// The request.
    pub request: &'a Request,
    /// Its route.
    pub route: &'static Route,
    /// Who asks; `None` where anybody may.
    pub granted: Option<Granted>,
    pub(crate) path: Vec<(&'static str, String)>,
}

impl Call<'_> {
    /// The value of a variable in the path.
    pub fn path(&self, name: &str) -> &str {
        let found = self.path.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// The name of the collection.
    pub fn collection(&self) -> &str {
        self.path("name")
    }

    /// A parameter, where it is given and not empty.
    pub fn text(&self, name: &str) -> Option<String> {
        let given = self.request.head.parameter(name);
        given.filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// A parameter that must be given.
    pub fn needed(&self, name: &str) -> Result<String, Problem> {
        self.text(name).ok_or_else(|| Problem::bad(format!("the parameter `{name}` is missing")))
    }

    /// A number.
    pub fn count(&self, name: &str) -> Option<u64> {
        self.text(name).and_then(|text| text.parse().ok())
    }

    /// Whether a flag is set.
    pub fn flag(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| text == "true")
    }

    /// A time.
    pub fn time(&self, name: &str) -> Option<At> {
        self.text(name).and_then(|text| time(&text, self.resources.now()))
    }

    /// One of some words, as the type that serializes to it.
    pub fn word<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let read = serde_json::from_value(serde_json::Value::String(text.clone()));
        read.map(Some).map_err(|_| Problem::bad(format!("`{text}` is not a value of `{name}`")))
    }

    /// How many items are asked for.
    pub fn limit(&self) -> usize {
        let limit = self.count("limit").unwrap_or(100);
        usize::try_from(limit).unwrap_or(100)
    }

    /// The body as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let kind = self.request.head.header("content-type").unwrap_or_default();
        let media = kind.split(';').next().unwrap_or_default().trim();
        if !media.eq_ignore_ascii_case("application/json") {
            return Err(Problem::new(ProblemCode::WrongMediaType, "the body must be JSON")
                .hint("send it with `Content-Type: application/json`"));
        }
        serde_json::from_slice(&self.request.body)
            .map_err(|error| Problem::bad(format!("the body cannot be used: {error}")))
    }

    /// A field of a form, where it is given and not empty.
    pub fn field(&self, name: &str) -> Option<String> {
        let mut fields = url::form_urlencoded::parse(&self.request.body);
        let found = fields.find(|(key, _)| key == name).map(|(_, value)| value.trim().to_owned());
        found.filter(|text| !text.is_empty())
    }

    /// Asks the collection in the path, for the first part of its answer.
    pub fn ask<T>(
        &self,
        request: evercrawl_query::Request,
        mut take: impl FnMut(Answer) -> Option<T>,
    ) -> Result<T, Problem> {
        let mut found = None;
        self.ask_parts(request, &mut |part| {
            found = take(part);
            Flow::Enough
        })?;
        found.ok_or_else(|| Problem::new(ProblemCode::Internal, "the crawl gave another answer"))
    }

    /// Asks the collection in the path, part by part.
    pub fn ask_parts(
        &self,
        request: evercrawl_query::Request,
        part: &mut dyn FnMut(Answer) -> Flow,
    ) -> Result<(), Problem> {
        let name = self.collection();
        self.resources.collections.ask(name, request, part).map_err(|error| problem(name, error))
    }
}

/// The problem that an error of a collection is.
pub(crate) fn problem(name: &str, error: AskError) -> Problem {
    match error {
        AskError::NoCollection => {
            Problem::new(ProblemCode::NotFound, format!("there is no collection `{name}`"))
                .hint("GET /api/v1/collections lists them")
        }
        AskError::Failed(failed) => failed_problem(failed),
    }
}

fn failed_problem(failed: Failed) -> Problem {
    Problem::from(failed)
}

/// A time as in RFC 3339, or how long ago as in `2d`.
pub(crate) fn time(text: &str, now: evercrawl_model::Time) -> Option<At> {
    if let Ok(at) = serde_json::from_value(serde_json::Value::String(text.to_owned())) {
        return Some(at);
    }
    let units = [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)];
    let found = units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let (number, seconds) = found?;
    let number: u64 = number.parse().ok()?;
    let ago = std::time::Duration::from_secs(number.checked_mul(*seconds)?);
    Some(At(now.before(ago)))
}

/// Refuses parameters that the route does not take, or whose values cannot be.
pub(crate) fn check_parameters(route: &Route, call: &Call<'_>) -> Result<(), Problem> {
    for (name, value) in &call.request.head.query {
        let Some(known) = route.parameters.iter().find(|known| known.name == name) else {
            let names: Vec<&str> = route.parameters.iter().map(|known| known.name).collect();
            let problem = Problem::bad(format!("there is no parameter `{name}` here"));
            return Err(match names.is_empty() {
                true => problem.hint("this request takes no parameters"),
                false => problem.hint(format!("there are: {}", names.join(", "))),
            });
        };
        if !value.is_empty() {
            check_value(known.value, value, call.resources.now())
                .map_err(|why| Problem::bad(format!("`{name}`: {why}")))?;
        }
    }
    for known in route.parameters.iter().filter(|known| known.needed) {
        call.needed(known.name)?;
    }
    Ok(())
}

fn check_value(kind: Value, text: &str, now: evercrawl_model::Time) -> Result<(), String> {
    let good = match kind {
        Value::Text(most) if text.len() > most => return Err(format!("longer than {most} bytes")),
        Value::Text(_) => true,
        Value::Count(most) => match text.parse::<u64>() {
            Ok(number) if number > most => return Err(format!("at most {most}")),
            parsed => parsed.is_ok(),
        },
        Value::Seconds => {
            text.parse::<f64>().is_ok_and(|number| number.is_finite() && number > 0.0)
        }
        Value::Time => time(text, now).is_some(),
        Value::Word(words) if !words.contains(&text) => {
            return Err(format!("use one of {}", words.join(", ")));
        }
        Value::Word(_) => true,
        Value::Flag => matches!(text, "true" | "false"),
    };
    let want = match kind {
        Value::Count(_) => "a whole number",
        Value::Seconds => "a number of seconds above 0",
        Value::Time => "a time as in RFC 3339, or how long ago as in `2d`",
        Value::Flag => "true or false",
        Value::Text(_) | Value::Word(_) => "a text",
    };
    if good { Ok(()) } else { Err(format!("`{text}` is not {want}")) }
}

/// A view as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<Response, Problem> {
    let body = serde_json::to_vec(value)
        .map_err(|error| Problem::new(ProblemCode::Internal, error.to_string()))?;
    Ok(Response::new(200).with("content-type", "application/json").body(body))
}

/// A page of a list.
#[derive(Serialize)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next: Option<String>,
}
