//! How did a page look at a time? From a request to a response, over an archive, without sockets and without scripts.
//!
//! Whatever an archived page holds, its replay runs nothing and loads nothing from elsewhere: HTML is written anew out
//! of its tokens with what is known to be harmless, all addresses lead back to the replay, and a browser is told to
//! hold the page to that.
//!
//! - `route`: what is asked for?
//! - `page`: which bytes, with which headers?
//! - `html`, `css`: a page and a style sheet with addresses of the replay
//! - `memento`: which other captures are there, as RFC 7089 says it?
//! - `cdx`: the captures, as other replay tools ask for them

mod cdx;
mod css;
mod html;
mod memento;
mod page;
mod route;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use evercrawl_archive::{CaptureIndex, SegmentStore};
use evercrawl_export::{Contents, ExportError};
use evercrawl_model::Time;

use route::Route;

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The path, as it came.
    pub path: &'a str,
    /// What stands after the first `?`, as it came.
    pub query: Option<&'a str>,
    /// The header `Accept-Datetime`.
    pub accept_datetime: Option<&'a str>,
    /// The present.
    pub now: Time,
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The header fields.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// Replays the pages of an archive below one path.
pub struct Replay {
    /// What paths begin with, without a slash at the end.
    base: String,
    archive: Mutex<Archive>,
}

/// What is read.
struct Archive {
    index: CaptureIndex,
    contents: Contents,
}

impl Replay {
    /// Replays the archive in `segments` below `base`, such as `/mysite`.
    pub fn open(segments: Arc<dyn SegmentStore>, base: &str) -> Result<Self, ExportError> {
        let index = CaptureIndex::open(Arc::clone(&segments))?;
        let contents = Contents::open(segments)?;
        let base = base.trim_end_matches('/').to_owned();
        Ok(Replay { base, archive: Mutex::new(Archive { index, contents }) })
    }

    /// What paths begin with.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Answers a request.
    pub fn answer(&self, asked: &Asked<'_>) -> Answer {
        let answered = match Route::read(&self.base, asked) {
            None => Ok(Answer::message(404, "There is nothing here.", "")),
            Some(Route::Start) => Ok(self.start()),
            Some(Route::Page { at, raw, url }) => self.page(&url, at.unwrap_or(asked.now), raw),
            Some(Route::Captures { url }) => self.captures(&url),
            Some(Route::TimeGate { url }) => self.time_gate(&url, asked),
            Some(Route::TimeMap { url }) => self.time_map(&url),
            Some(Route::Cdx) => self.cdx(asked.query.unwrap_or_default()),
        };
        let answer = answered.unwrap_or_else(|error| {
            Answer::message(500, "The archive cannot be read.", &error.to_string())
        });
        answer.held_to_rules()
    }

    /// Reads in the archive, one reader at a time.
    fn read<T>(
        &self,
        read: impl FnOnce(&mut Archive) -> Result<T, ExportError>,
    ) -> Result<T, ExportError> {
        read(&mut self.archive.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The replay's address of a page at a time.
    fn address(&self, at: Time, url: &str) -> String {
        format!("{}/{}/{url}", self.base, at.digits14())
    }

    fn start(&self) -> Answer {
        let base = html::escaped(&self.base);
        let text = format!(
            "Put the address of a page behind this one: <code>{base}/http://example.org/</code> shows its latest \
             capture, <code>{base}/20260101000000/http://example.org/</code> the one nearest to a time, and \
             <code>{base}/*/http://example.org/</code> lists them."
        );
        Answer::html(200, &format!("<title>Replay</title><h1>Replay</h1><p>{text}"))
    }
}

/// What a browser holds every page to.
const RULES: [(&str, &str); 5] = [
    (
        "Content-Security-Policy",
        "sandbox; default-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; font-src 'self'; \
         media-src 'self'; frame-src 'self'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("X-DNS-Prefetch-Control", "off"),
    ("Cross-Origin-Resource-Policy", "same-site"),
];

impl Answer {
    /// An answer without a body.
    fn new(status: u16) -> Self {
        Answer { status, headers: Vec::new(), body: Vec::new() }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        // A line end would begin another header field.
        let value: String = value.into().chars().filter(|c| !c.is_control()).collect();
        self.headers.push((name, value));
        self
    }

    fn body(mut self, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.with("Content-Type", media_type)
    }

    fn html(status: u16, text: &str) -> Self {
        Answer::new(status).body("text/html; charset=utf-8", format!("<!DOCTYPE html>{text}"))
    }

    /// A page that says something, about `subject` if that is not empty.
    fn message(status: u16, words: &str, subject: &str) -> Self {
        let (words, subject) = (html::escaped(words), html::escaped(subject));
        Answer::html(status, &format!("<title>{words}</title><p>{words}<p>{subject}"))
    }

    fn held_to_rules(mut self) -> Self {
        self.headers.extend(RULES.map(|(name, value)| (name, value.to_owned())));
        self
    }

    /// The value of a header field.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

impl Archive {
    fn nearest(&mut self, url: &str, at: Time) -> io::Result<Option<evercrawl_archive::Capture>> {
        self.index.nearest(url, at)
    }
}

#[cfg(test)]
mod tests;
