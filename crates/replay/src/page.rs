//! Which bytes, with which headers, is a capture replayed as?

use evercrawl_archive::{Capture, Record};
use evercrawl_export::{Content, ExportError};
use evercrawl_extract::charset::{decode_text, header_charset};
use evercrawl_model::Time;
use evercrawl_urls::Url;

use crate::css::rewrite_css;
use crate::html::{Addresses, rewrite_html};
use crate::{Answer, Replay};

impl Replay {
    /// The capture of a page that is nearest to a time.
    pub(crate) fn page(&self, url: &str, at: Time, raw: bool) -> Result<Answer, ExportError> {
        let found = self.read(|archive| {
            let Some(capture) = archive.nearest(url, at)? else { return Ok(None) };
            let content = archive.contents.read_capture(&capture)?;
            Ok(Some((capture, content)))
        })?;
        let Some((capture, content)) = found else {
            return Ok(Answer::message(404, "This page is not in the archive.", url));
        };
        let Some(content) = content else {
            return Ok(Answer::message(
                404,
                "The content of this capture is not kept any more.",
                url,
            ));
        };
        let answer = match raw {
            true => raw_answer(&content),
            false => self.shown(&capture, &content),
        };
        self.with_memento(answer, &capture)
    }

    /// A capture as a browser may show it.
    fn shown(&self, capture: &Capture, content: &Content) -> Answer {
        let status = status_of(&content.own, capture);
        let base = Url::parse(&capture.url).ok();
        let addresses = Within { replay: self, at: capture.at, base };
        if (300..400).contains(&status)
            && let Some(target) = content.header("location").and_then(|to| addresses.link(&to))
        {
            return Answer::new(status).with("Location", target);
        }
        let media_type = content.media_type().unwrap_or_default();
        let declared = content.header("content-type").unwrap_or_default();
        let body = content.body();
        let status = if (200..600).contains(&status) && status != 304 { status } else { 200 };
        match kind_of(&media_type) {
            Kind::Html => {
                let text = text_of(&body, &declared);
                let bar = format!("{}  {}", capture.at.rfc3339(), capture.url);
                let mut addresses = addresses;
                let page = rewrite_html(&text, &mut addresses, &bar);
                Answer::new(status).body("text/html; charset=utf-8", page)
            }
            Kind::Css => {
                let link = |address: &str| addresses.link(address).unwrap_or_default();
                let sheet = rewrite_css(&text_of(&body, &declared), &link);
                Answer::new(status).body("text/css; charset=utf-8", sheet)
            }
            Kind::Text => {
                Answer::new(status).body("text/plain; charset=utf-8", text_of(&body, &declared))
            }
            Kind::Media => Answer::new(status).body(&media_type, body),
            Kind::Other => Answer::new(status).body("application/octet-stream", body),
        }
    }
}

/// The bytes as they were received, but for the coding of their transfer.
fn raw_answer(content: &Content) -> Answer {
    let media_type = content.header("content-type");
    let media_type = media_type.as_deref().unwrap_or("application/octet-stream");
    let answer = Answer::new(200).body(media_type, content.whole.payload());
    match content.header("content-encoding") {
        Some(coding) => answer.with("Content-Encoding", coding),
        None => answer,
    }
}

fn status_of(record: &Record, capture: &Capture) -> u16 {
    let head = record.http_head();
    let code = head.split(|byte| *byte == b' ').nth(1).and_then(|code| code.get(..3));
    let code = code.and_then(|code| std::str::from_utf8(code).ok()?.parse().ok());
    code.or(capture.status).unwrap_or(200)
}

/// The text of a page or style sheet, whatever its charset.
fn text_of(body: &[u8], declared: &str) -> String {
    let text = decode_text(body, header_charset(declared), None);
    text.map_or_else(|| String::from_utf8_lossy(body).into_owned(), |text| text.text.into_owned())
}

/// How something is replayed.
enum Kind {
    Html,
    Css,
    /// Shown as it is written.
    Text,
    /// Pictures, sounds, films, fonts.
    Media,
    /// Offered as a file.
    Other,
}

fn kind_of(media_type: &str) -> Kind {
    let (kind, rest) = media_type.split_once('/').unwrap_or((media_type, ""));
    match (kind, rest) {
        ("text", "html") | ("application", "xhtml+xml") | ("", _) => Kind::Html,
        ("text", "css") => Kind::Css,
        ("image" | "audio" | "video" | "font", _) => Kind::Media,
        ("application", "pdf") => Kind::Media,
        ("application", rest) if rest.contains("font") => Kind::Media,
        ("text", _) => Kind::Text,
        ("application", rest)
            if rest.ends_with("xml") || rest.ends_with("json") || rest.ends_with("javascript") =>
        {
            Kind::Text
        }
        _ => Kind::Other,
    }
}

/// Addresses on a capture.
struct Within<'a> {
    replay: &'a Replay,
    at: Time,
    base: Option<Url>,
}

impl Addresses for Within<'_> {
    fn link(&self, address: &str) -> Option<String> {
        let joined = self.base.as_ref()?.join(address.trim()).ok()?;
        let is_web = matches!(joined.scheme(), "http" | "https");
        is_web.then(|| self.replay.address(self.at, joined.as_str()))
    }

    fn rebase(&mut self, address: &str) {
        let joined = self.base.as_ref().and_then(|base| base.join(address.trim()).ok());
        self.base =
            joined.filter(|base| matches!(base.scheme(), "http" | "https")).or(self.base.take());
    }
}
