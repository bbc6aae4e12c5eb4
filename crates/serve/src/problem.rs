//! What is a caller told who gets no answer? RFC 9457, with a code from one closed list and a hint.

use evercrawl_httpd::Response;
use evercrawl_query::{Failed, FailureKind};
use serde::Serialize;

/// What went wrong, for programs. The list is closed: callers may rely on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemCode {
    /// A parameter or the body cannot be used.
    BadRequest,
    /// No token, or one that does not hold.
    NoToken,
    /// The token does not allow this.
    WrongScope,
    /// The request comes from another site, or lacks the form token.
    ForeignOrigin,
    /// There is no such path, collection, page or item.
    NotFound,
    /// The path does not take this method.
    WrongMethod,
    /// The request took too long to come.
    TooSlow,
    /// It cannot be done in the present state.
    Conflict,
    /// The body is too large.
    TooLarge,
    /// The body has the wrong media type.
    WrongMediaType,
    /// The server does not answer to this host name.
    WrongHost,
    /// Too many requests of this kind.
    TooMany,
    /// The configuration of a collection or of the server is wrong.
    Configuration,
    /// The data directory cannot be used now.
    Storage,
    /// The disk is full.
    DiskFull,
    /// Nobody answers now; ask again.
    Unavailable,
    /// A fault of the server.
    Internal,
}

impl ProblemCode {
    /// All codes.
    pub const ALL: [ProblemCode; 17] = [
        ProblemCode::BadRequest,
        ProblemCode::NoToken,
        ProblemCode::WrongScope,
        ProblemCode::ForeignOrigin,
        ProblemCode::NotFound,
        ProblemCode::WrongMethod,
        ProblemCode::TooSlow,
        ProblemCode::Conflict,
        ProblemCode::TooLarge,
        ProblemCode::WrongMediaType,
        ProblemCode::WrongHost,
        ProblemCode::TooMany,
        ProblemCode::Configuration,
        ProblemCode::Storage,
        ProblemCode::DiskFull,
        ProblemCode::Unavailable,
        ProblemCode::Internal,
    ];

    /// The code, its HTTP status, and its title.
    const fn parts(self) -> (&'static str, u16, &'static str) {
        match self {
            ProblemCode::BadRequest => ("bad_request", 400, "The request cannot be used"),
            ProblemCode::NoToken => ("no_token", 401, "A token is needed"),
            ProblemCode::WrongScope => ("wrong_scope", 403, "The token does not allow this"),
            ProblemCode::ForeignOrigin => {
                ("foreign_origin", 403, "The request comes from another site")
            }
            ProblemCode::NotFound => ("not_found", 404, "There is no such thing"),
            ProblemCode::WrongMethod => ("wrong_method", 405, "The method is not supported here"),
            ProblemCode::TooSlow => ("too_slow", 408, "The request took too long"),
            ProblemCode::Conflict => ("conflict", 409, "It cannot be done now"),
            ProblemCode::TooLarge => ("too_large", 413, "The body is too large"),
            ProblemCode::WrongMediaType => {
                ("wrong_media_type", 415, "The body has the wrong media type")
            }
            ProblemCode::WrongHost => ("wrong_host", 421, "The host name is not accepted"),
            ProblemCode::TooMany => ("too_many", 429, "Too many requests"),
            ProblemCode::Configuration => ("configuration", 409, "The configuration is wrong"),
            ProblemCode::Storage => ("storage", 503, "The data directory cannot be used now"),
            ProblemCode::DiskFull => ("disk_full", 507, "The disk is full"),
            ProblemCode::Unavailable => ("unavailable", 503, "Nobody answers now"),
            ProblemCode::Internal => ("internal", 500, "The server failed"),
        }
    }

    /// The code as callers see it.
    pub const fn code(self) -> &'static str {
        self.parts().0
    }

    /// Its HTTP status.
    pub const fn status(self) -> u16 {
        self.parts().1
    }

    /// It in words.
    pub const fn title(self) -> &'static str {
        self.parts().2
    }

    /// The code for a status that the HTTP server itself gives.
    pub(crate) fn of_status(status: u16) -> Self {
        let found = ProblemCode::ALL.into_iter().find(|code| code.status() == status);
        found.unwrap_or(ProblemCode::Internal)
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What went wrong, for programs.
    pub code: ProblemCode,
    /// What went wrong this time, in words.
    pub detail: String,
    /// The command, setting or parameter that helps.
    pub hint: Option<String>,
    /// After how many seconds to ask again.
    pub retry_after: Option<u64>,
}

/// A problem as it travels.
#[derive(Serialize)]
struct ProblemBody<'a> {
    r#type: String,
    title: &'a str,
    status: u16,
    code: &'a str,
    detail: &'a str,
    hint: Option<&'a str>,
}

impl Problem {
    /// A problem without a hint.
    pub fn new(code: ProblemCode, detail: impl Into<String>) -> Self {
        Problem { code, detail: detail.into(), hint: None, retry_after: None }
    }

    /// A parameter or body that cannot be used.
    pub(crate) fn bad(detail: impl Into<String>) -> Self {
        Problem::new(ProblemCode::BadRequest, detail)
    }

    /// With what helps.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Problem { hint: Some(hint.into()), ..self }
    }

    /// With the seconds after which to ask again.
    #[must_use]
    pub(crate) fn after(self, seconds: u64) -> Self {
        Problem { retry_after: Some(seconds), ..self }
    }

    /// The response that tells it.
    pub fn response(&self) -> Response {
        let Problem { code, detail, hint, retry_after } = self;
        let body = ProblemBody {
            r#type: format!("urn:evercrawl:problem:{}", code.code()),
            title: code.title(),
            status: code.status(),
            code: code.code(),
            detail,
            hint: hint.as_deref(),
        };
        let body = serde_json::to_vec(&body).unwrap_or_default();
        let mut response = Response::new(code.status())
            .with("content-type", "application/problem+json")
            .body(body);
        if let Some(seconds) = retry_after {
            response = response.with("retry-after", &seconds.to_string());
        }
        response
    }
}

impl From<Failed> for Problem {
    fn from(failed: Failed) -> Self {
        let code = match failed.kind {
            FailureKind::Unexpected => ProblemCode::Internal,
            FailureKind::NotKnown => ProblemCode::NotFound,
            FailureKind::BadRequest => ProblemCode::BadRequest,
            FailureKind::Configuration => ProblemCode::Configuration,
            FailureKind::Storage | FailureKind::Protocol => ProblemCode::Storage,
            FailureKind::DiskFull => ProblemCode::DiskFull,
            FailureKind::Ended | FailureKind::Busy => ProblemCode::Unavailable,
        };
        let problem = Problem::new(code, failed.message);
        if code.status() == 503 { problem.after(2) } else { problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_named_as_they_serialize() {
        for code in ProblemCode::ALL {
            let text = serde_json::to_value(code).unwrap();
            assert_eq!(text, code.code());
        }
    }
}
