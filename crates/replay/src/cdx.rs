//! Which captures are there, as other replay tools ask for them? The parameters of pywb's CDX server.

use evercrawl_archive::{Capture, surt};
use evercrawl_export::ExportError;
use evercrawl_model::Time;
use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

use crate::route::time_of;
use crate::{Answer, Replay};

/// Lines of one answer, and captures that are looked at for it.
const MOST: usize = 10_000;
const MOST_READ: usize = 200_000;
/// Lines of a page.
const PAGE: usize = 1_000;
/// The size of a compiled pattern.
const LARGEST_PATTERN: usize = 1 << 18;

/// A question.
#[derive(Debug, Default)]
struct Question {
    url: String,
    prefix: Option<String>,
    from: Option<Time>,
    to: Option<Time>,
    limit: Option<usize>,
    page: usize,
    closest: Option<Time>,
    reverse: bool,
    as_json: bool,
    filters: Vec<Filter>,
}

/// A condition on a field.
#[derive(Debug)]
struct Filter {
    field: String,
    is_not: bool,
    test: Test,
}

#[derive(Debug)]
enum Test {
    Contains(String),
    Equals(String),
    Matches(Regex),
}

impl Replay {
    /// Answers a question to the index.
    pub(crate) fn cdx(&self, query: &str) -> Result<Answer, ExportError> {
        let question = match Question::read(query) {
            Ok(question) => question,
            Err(why) => {
                let body = json!({ "message": why }).to_string();
                return Ok(Answer::new(400).body("application/json", body));
            }
        };
        let mut captures = self.read(|archive| {
            Ok(match &question.prefix {
                Some(prefix) => archive.index.captures_below(prefix, MOST_READ)?,
                None => archive.index.captures(&question.url, MOST_READ)?,
            })
        })?;
        captures.retain(|capture| question.wants(capture));
        if let Some(at) = question.closest {
            captures.sort_by_key(|capture| capture.at.secs().abs_diff(at.secs()));
        } else if question.reverse {
            captures.reverse();
        }
        let (skip, most) = match question.limit {
            Some(limit) => (question.page.saturating_mul(limit), limit.min(MOST)),
            None if question.page > 0 => (question.page.saturating_mul(PAGE), PAGE),
            None => (0, MOST),
        };
        let lines = captures.iter().skip(skip).take(most);
        let text: String = lines.map(|capture| line(capture, question.as_json)).collect();
        let media_type = if question.as_json { "text/x-ndjson" } else { "text/x-cdxj" };
        Ok(Answer::new(200).body(media_type, text))
    }
}

fn fields(capture: &Capture) -> Value {
    json!({
        "url": capture.url,
        "mime": capture.media_type,
        "status": capture.status.map_or_else(|| "-".to_owned(), |status| status.to_string()),
        "digest": capture.digest,
        "length": capture.length.to_string(),
        "offset": capture.offset.to_string(),
        "filename": capture.warc,
    })
}

fn line(capture: &Capture, as_json: bool) -> String {
    let (key, at, mut fields) = (surt(&capture.url), capture.at.digits14(), fields(capture));
    if !as_json {
        return format!("{key} {at} {fields}\n");
    }
    fields["urlkey"] = key.into();
    fields["timestamp"] = at.into();
    format!("{fields}\n")
}

impl Question {
    fn read(query: &str) -> Result<Self, String> {
        let mut question = Question::default();
        let mut match_type = String::new();
        let mut sort = String::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = unescaped(value);
            let time = |last| {
                time_of(&value, last)
                    .ok_or_else(|| format!("`{value}` is no time of 4 to 14 digits"))
            };
            let number = || value.parse::<usize>().map_err(|_| format!("`{value}` is no number"));
            match name {
                "url" => question.url = value.clone(),
                "matchType" => match_type.clone_from(&value),
                "from" => question.from = Some(time(false)?),
                "to" => question.to = Some(time(true)?),
                "closest" => question.closest = Some(time(false)?),
                "limit" => question.limit = Some(number()?.max(1)),
                "page" => question.page = number()?,
                "sort" => sort.clone_from(&value),
                "output" if value == "json" => question.as_json = true,
                "output" if value == "cdxj" || value == "text" => {}
                "output" => return Err(format!("`output={value}` is not known; use cdxj or json")),
                "filter" => question.filters.push(Filter::read(&value)?),
                // Others ask for fields, or how many pages there are; all fields are given.
                _ => {}
            }
        }
        if question.url.is_empty() {
            return Err("`url` is missing".to_owned());
        }
        question.reverse = sort == "reverse";
        if sort != "closest" {
            question.closest = None;
        }
        question.find_below(&match_type)?;
        Ok(question)
    }

    /// What the keys begin with that are asked for.
    fn find_below(&mut self, match_type: &str) -> Result<(), String> {
        let (mut url, mut kind) = (self.url.clone(), match_type);
        if kind.is_empty() && url.ends_with('*') {
            url.pop();
            kind = "prefix";
        }
        if kind.is_empty() && url.starts_with("*.") {
            url.drain(..2);
            kind = "domain";
        }
        if !url.contains("://") {
            url.insert_str(0, "http://");
        }
        let key = surt(&url);
        let host = key.split(')').next().unwrap_or_default().to_owned();
        self.prefix = match kind {
            "" | "exact" => None,
            "prefix" => Some(key),
            "host" => Some(format!("{host})")),
            "domain" => Some(host),
            other => {
                return Err(format!(
                    "`matchType={other}` is not known; use exact, prefix, host or domain"
                ));
            }
        };
        self.url = url;
        Ok(())
    }

    fn wants(&self, capture: &Capture) -> bool {
        let key = || surt(&capture.url);
        // The key of another domain may begin with the same letters.
        let is_below = self.prefix.as_ref().is_none_or(|prefix| {
            prefix.contains(')')
                || matches!(key().as_bytes().get(prefix.len()), Some(b',' | b')' | b':'))
        });
        is_below
            && self.from.is_none_or(|from| capture.at.secs() >= from.secs())
            && self.to.is_none_or(|to| capture.at.secs() <= to.secs())
            && self.filters.iter().all(|filter| filter.passes(capture))
    }
}

impl Filter {
    /// `=status:200`, `!mime:image`, `~url:.*[.]pdf`.
    fn read(text: &str) -> Result<Self, String> {
        let (is_not, rest) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let kind = rest.chars().next().filter(|c| matches!(c, '=' | '~'));
        let rest = if kind.is_some() { &rest[1..] } else { rest };
        let (field, value) = rest
            .split_once(':')
            .ok_or_else(|| format!("`filter={text}` has no field and value"))?;
        let test = match kind {
            Some('=') => Test::Equals(value.to_owned()),
            Some(_) => {
                let pattern = RegexBuilder::new(&format!("^(?:{value})$"))
                    .size_limit(LARGEST_PATTERN)
                    .build();
                Test::Matches(pattern.map_err(|_| format!("`{value}` is no pattern"))?)
            }
            None => Test::Contains(value.to_owned()),
        };
        Ok(Filter { field: field.to_owned(), is_not, test })
    }

    fn passes(&self, capture: &Capture) -> bool {
        let fields = fields(capture);
        let value = match &*self.field {
            "urlkey" => surt(&capture.url),
            "timestamp" => capture.at.digits14(),
            name => fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned(),
        };
        let passes = match &self.test {
            Test::Contains(text) => value.contains(text),
            Test::Equals(text) => value == *text,
            Test::Matches(pattern) => pattern.is_match(&value),
        };
        passes != self.is_not
    }
}

/// A value of a query without its escapes.
fn unescaped(value: &str) -> String {
    let bytes = value.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
        let code = digits.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| byte == b'%');
        match (code, byte) {
            (Some(code), _) => out.push(code),
            (None, b'+') => out.push(b' '),
            (None, byte) => out.push(byte),
        }
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}
