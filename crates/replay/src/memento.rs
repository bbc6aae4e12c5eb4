//! Which other captures of a page are there, as RFC 7089 (Memento) says it?

use evercrawl_archive::Capture;
use evercrawl_export::ExportError;
use evercrawl_model::Time;

use crate::html::escaped;
use crate::{Answer, Asked, Replay};

/// Captures in one list.
const MOST: usize = 100_000;

impl Replay {
    /// Adds what a capture is one of.
    pub(crate) fn with_memento(
        &self,
        answer: Answer,
        capture: &Capture,
    ) -> Result<Answer, ExportError> {
        let (base, url) = (&self.base, header_url(&capture.url));
        let link = format!(
            "<{url}>; rel=\"original\", <{base}/timegate/{url}>; rel=\"timegate\", \
             <{base}/timemap/link/{url}>; rel=\"timemap\"; type=\"application/link-format\", \
             <{}>; rel=\"memento\"; datetime=\"{}\"",
            self.address(capture.at, &url),
            capture.at.http_date(),
        );
        Ok(answer.with("Memento-Datetime", capture.at.http_date()).with("Link", link))
    }

    /// Leads to the capture that is nearest to the time that is asked for.
    pub(crate) fn time_gate(&self, url: &str, asked: &Asked<'_>) -> Result<Answer, ExportError> {
        let at = match asked.accept_datetime.map(Time::parse_http) {
            None => asked.now,
            Some(Ok(at)) => at,
            Some(Err(_)) => {
                return Ok(Answer::message(400, "Accept-Datetime is no date of HTTP.", ""));
            }
        };
        let Some(capture) = self.read(|archive| Ok(archive.nearest(url, at)?))? else {
            return Ok(Answer::message(404, "This page is not in the archive.", url));
        };
        let (base, original) = (&self.base, header_url(&capture.url));
        let link = format!(
            "<{original}>; rel=\"original\", <{base}/timemap/link/{original}>; rel=\"timemap\"; \
             type=\"application/link-format\""
        );
        let to = self.address(capture.at, &original);
        Ok(Answer::new(302).with("Location", to).with("Vary", "accept-datetime").with("Link", link))
    }

    /// All captures, for programs.
    pub(crate) fn time_map(&self, url: &str) -> Result<Answer, ExportError> {
        let captures = self.read(|archive| Ok(archive.index.captures(url, MOST)?))?;
        let (Some(first), Some(last)) = (captures.first(), captures.last()) else {
            return Ok(Answer::message(404, "This page is not in the archive.", url));
        };
        let (base, original) = (&self.base, header_url(url));
        let mut lines = vec![
            format!("<{original}>; rel=\"original\""),
            format!("<{base}/timegate/{original}>; rel=\"timegate\""),
            format!(
                "<{base}/timemap/link/{original}>; rel=\"self\"; type=\"application/link-format\"; from=\"{}\"; until=\"{}\"",
                first.at.http_date(),
                last.at.http_date()
            ),
        ];
        lines.extend(captures.iter().map(|capture| {
            let to = self.address(capture.at, &header_url(&capture.url));
            format!("<{to}>; rel=\"memento\"; datetime=\"{}\"", capture.at.http_date())
        }));
        Ok(Answer::new(200).body("application/link-format", lines.join(",\n")))
    }

    /// All captures, for people.
    pub(crate) fn captures(&self, url: &str) -> Result<Answer, ExportError> {
        let captures = self.read(|archive| Ok(archive.index.captures(url, MOST)?))?;
        if captures.is_empty() {
            return Ok(Answer::message(404, "This page is not in the archive.", url));
        }
        let line = |capture: &Capture| {
            let to = escaped(&self.address(capture.at, &capture.url));
            let status = capture.status.map_or_else(String::new, |status| format!(" {status}"));
            format!("<li><a href=\"{to}\">{}</a>{status}", capture.at.rfc3339())
        };
        let list: String = captures.iter().map(line).collect();
        let url = escaped(url);
        let text = format!(
            "<title>{url}</title><h1>{url}</h1><p>{} captures<ul>{list}</ul>",
            captures.len()
        );
        Ok(Answer::html(200, &text))
    }
}

/// An address that ends nothing in a header.
fn header_url(url: &str) -> String {
    url.chars()
        .filter(|c| !c.is_control())
        .map(|c| match c {
            '<' => "%3C".to_owned(),
            '>' => "%3E".to_owned(),
            '"' => "%22".to_owned(),
            c => c.to_string(),
        })
        .collect()
}
