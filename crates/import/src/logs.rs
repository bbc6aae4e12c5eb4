//! Which visits do logs and indexes tell of? Their contents are not there, only what identifies them.

use std::io::{self, BufRead};

use data_encoding::{BASE32, HEXLOWER_PERMISSIVE};
use evercrawl_compare::Digest;
use evercrawl_engine::walk::Seen;
use evercrawl_model::{Outcome, Time};

use crate::found::{FoundVisit, Place, Taker};
use crate::lines::{Line, Lines};

/// Bytes of a line of a log.
const LONGEST_LINE: usize = 256 << 10;

/// What identifies content, by the text of a digest, and whether it is the SHA-1 of the payload. Another digest can
/// be compared with its like all the same.
pub(crate) fn content_of(digest: &str) -> Option<([u8; 20], bool)> {
    let (name, value) = digest.split_once(':').unwrap_or(("sha1", digest));
    if value.is_empty() || value == "-" {
        return None;
    }
    let is_sha1 = name.eq_ignore_ascii_case("sha1") || name.eq_ignore_ascii_case("sha-1");
    let bytes = match value.len() {
        32 => BASE32.decode(value.to_ascii_uppercase().as_bytes()).ok(),
        40 => HEXLOWER_PERMISSIVE.decode(value.as_bytes()).ok(),
        _ => None,
    };
    let bytes: Option<[u8; 20]> = bytes.and_then(|bytes| bytes.try_into().ok());
    match bytes.filter(|_| is_sha1) {
        Some(sha1) => Some((sha1, true)),
        None => Some((Digest::of_bytes(value.to_ascii_lowercase().as_bytes()).to_bytes(), false)),
    }
}

/// Reads lines, each of which is a visit or says why it is none.
fn read_lines(
    input: impl BufRead,
    take: &mut dyn Taker,
    read: fn(&str) -> Result<Option<FoundVisit>, &'static str>,
) -> io::Result<()> {
    let mut lines = Lines::new(input, LONGEST_LINE);
    while let Some((number, line)) = lines.next()? {
        let place = Place::Line(number);
        let read = match line {
            Line::Text(text) if text.trim().is_empty() => Ok(None),
            Line::Text(text) => read(&text),
            Line::TooLong => Err("the line is too long"),
        };
        match read {
            Ok(Some(visit)) => take.visit(place, visit)?,
            Ok(None) => {}
            Err(why) => take.refuse(place, why),
        }
    }
    Ok(())
}

/// Reads an index of WARC files: the captures, without their contents.
pub(crate) fn read_cdxj(input: impl BufRead, take: &mut dyn Taker) -> io::Result<()> {
    read_lines(input, take, cdxj_line)
}

fn cdxj_line(line: &str) -> Result<Option<FoundVisit>, &'static str> {
    if line.starts_with('!') {
        return Ok(None);
    }
    let mut parts = line.splitn(3, ' ');
    let (Some(_), Some(time), Some(json)) = (parts.next(), parts.next(), parts.next()) else {
        return Err("it is no line of an index");
    };
    let at = Time::parse_digits(time).map_err(|_| "its time cannot be read")?;
    let fields: serde_json::Value =
        serde_json::from_str(json).map_err(|_| "its fields cannot be read")?;
    let text = |name: &str| match fields.get(name) {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(serde_json::Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let url = text("url");
    if url.is_empty() {
        return Err("it names no URL");
    }
    if !matches!(&*text("method"), "" | "GET") {
        return Err("the request was no GET");
    }
    // A revisit need not say it again.
    let status = text("status").parse().unwrap_or(200);
    let seen = Seen {
        outcome: Outcome::from_status(status),
        status,
        content: content_of(&text("digest")),
        bytes: 0,
    };
    let media_type = Some(text("mime")).filter(|mime| mime.contains('/') && mime != "warc/revisit");
    Ok(Some(FoundVisit { url, at, seen, media_type }))
}

/// Reads Heritrix's log of visits.
pub(crate) fn read_crawl_log(input: impl BufRead, take: &mut dyn Taker) -> io::Result<()> {
    read_lines(input, take, crawl_log_line)
}

fn crawl_log_line(line: &str) -> Result<Option<FoundVisit>, &'static str> {
    let words: Vec<&str> = line.split_ascii_whitespace().take(12).collect();
    let [logged, status, size, url, rest @ ..] = &words[..] else {
        return Err("it is no line of a crawl.log");
    };
    let word = |n: usize| rest.get(n).copied().unwrap_or("-");
    // After the path, the page before and the media type come the thread, the beginning, and the digest.
    let (media_type, began, digest) = (word(2), word(4), word(5));
    let began = began.split('+').next().and_then(|digits| Time::parse_digits(digits).ok());
    let at = began.or_else(|| Time::parse_iso(logged).ok()).ok_or("its time cannot be read")?;
    let status: i32 = status.parse().map_err(|_| "its status cannot be read")?;
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err("it is no web page (dns: and the like)");
    }
    let (outcome, status) = match status {
        100..=599 => {
            let status = u16::try_from(status).unwrap_or(0);
            (Outcome::from_status(status), status)
        }
        -1 => (Outcome::Dns, 0),
        -2 => (Outcome::Connect, 0),
        -3 => (Outcome::Disconnected, 0),
        -4 => (Outcome::Timeout, 0),
        _ => return Err("it was not fetched (a status below -4)"),
    };
    let content = Some(digest).filter(|_| status > 0).and_then(content_of);
    let seen = Seen { outcome, status, content, bytes: size.parse().unwrap_or(0) };
    let media_type = Some(media_type.to_owned()).filter(|mime| mime.contains('/'));
    Ok(Some(FoundVisit { url: (*url).to_owned(), at, seen, media_type }))
}

/// Reads what `nutch readdb -dump` writes: a page, and lines about it.
pub(crate) fn read_nutch(input: impl BufRead, take: &mut dyn Taker) -> io::Result<()> {
    let mut lines = Lines::new(input, LONGEST_LINE);
    let mut page: Option<NutchPage> = None;
    while let Some((number, line)) = lines.next()? {
        let Line::Text(text) = line else {
            take.refuse(Place::Line(number), "the line is too long");
            continue;
        };
        match text.split_once('\t') {
            Some((url, rest)) if rest.trim().starts_with("Version: ") => {
                page.replace(NutchPage {
                    line: number,
                    url: url.to_owned(),
                    ..NutchPage::default()
                })
                .map_or(Ok(()), |page| page.finish(take))?;
            }
            _ => {
                if let (Some(page), Some((key, value))) = (&mut page, text.split_once(": ")) {
                    page.field(key, value.trim());
                }
            }
        }
    }
    page.map_or(Ok(()), |page| page.finish(take))
}

#[derive(Default)]
struct NutchPage {
    line: u64,
    url: String,
    status: Option<u8>,
    next: Option<Time>,
    interval: Option<u64>,
    signature: Option<String>,
}

impl NutchPage {
    fn field(&mut self, key: &str, value: &str) {
        let first = value.split_ascii_whitespace().next().unwrap_or_default();
        match key {
            "Status" => self.status = first.parse().ok(),
            "Fetch time" => self.next = java_date(value),
            "Retry interval" => self.interval = first.parse().ok(),
            "Signature" => self.signature = Some(first.to_owned()).filter(|text| text != "null"),
            _ => {}
        }
    }

    fn finish(self, take: &mut dyn Taker) -> io::Result<()> {
        let place = Place::Line(self.line);
        let status = match self.status {
            Some(2 | 6 | 7) => 200,
            Some(3) => 404,
            Some(4) => 302,
            Some(5) => 301,
            Some(1) => return refuse(place, "it was never fetched (db_unfetched)", take),
            _ => return refuse(place, "its status is not known", take),
        };
        let (Some(next), Some(interval)) = (self.next, self.interval) else {
            return refuse(place, "its times cannot be read (only UTC and GMT are known)", take);
        };
        // What is written down is when it is to be fetched next.
        let at = next.before(std::time::Duration::from_secs(interval));
        let content =
            self.signature.as_deref().and_then(|text| content_of(&format!("nutch:{text}")));
        let seen = Seen { outcome: Outcome::from_status(status), status, content, bytes: 0 };
        take.visit(place, FoundVisit { url: self.url, at, seen, media_type: None })
    }
}

fn refuse(place: Place, why: &str, take: &mut dyn Taker) -> io::Result<()> {
    take.refuse(place, why);
    Ok(())
}

/// A date as Java prints it: `Sat Aug 05 06:38:05 UTC 2023`.
fn java_date(text: &str) -> Option<Time> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [day_name, month, day, clock, "UTC" | "GMT", year] = words[..] else { return None };
    Time::parse_http(&format!("{day_name}, {day:0>2} {month} {year} {clock} GMT")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lists::testing::Kept;

    const SHA1: &str = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";

    #[test]
    fn captures_of_an_index_are_visits() {
        let mut kept = Kept::default();
        let text = format!(
            "!meta {{\"format\": \"CDXJ-1.0\"}}\ntest,a)/ 20200101000000 {{\"url\":\"http://a.test/\",\"mime\":\"text/html\",\
             \"status\":\"200\",\"digest\":\"sha1:{SHA1}\"}}\ntest,a)/b 20200102000000123 {{\"url\":\"http://a.test/b\",\
             \"mime\":\"warc/revisit\",\"status\":404,\"digest\":\"sha256:abc\"}}\ntest,a)/ 2020 {{}}\ntest,a)/ 20200101000000 x\n\
             test,a)/ 20200101000000 {{\"url\":\"http://a.test/\",\"method\":\"POST\"}}\n"
        );
        read_cdxj(text.as_bytes(), &mut kept).unwrap();
        assert_eq!(kept.visits.len(), 2);
        assert_eq!(kept.visits[0].at.rfc3339(), "2020-01-01T00:00:00Z");
        assert!(kept.visits[0].seen.content.is_some_and(|(_, is_sha1)| is_sha1));
        assert_eq!(kept.visits[1].seen.outcome, Outcome::ClientError);
        assert!(kept.visits[1].seen.content.is_some_and(|(_, is_sha1)| !is_sha1));
        assert_eq!(kept.visits[1].media_type, None);
        assert_eq!(kept.refused.len(), 3, "{:?}", kept.refused);
    }

    #[test]
    fn visits_of_a_crawl_log_are_read() {
        let mut kept = Kept::default();
        let text = format!(
            "2010-08-31T21:04:35.110Z   200       1234 http://a.test/x LL http://a.test/ text/html #001 \
             20100831210434987+120 sha1:{SHA1} - -\n2010-08-31T21:04:36.110Z    -2          - http://b.test/ - - - #002 - - - -\n\
             2010-08-31T21:04:36.110Z     1         47 dns:a.test P http://a.test/ text/dns #002 20100831210436000+1 - - -\n\
             2010-08-31T21:04:36.110Z -9998          - http://b.test/r - - - #002 - - - -\nnonsense\n"
        );
        read_crawl_log(text.as_bytes(), &mut kept).unwrap();
        let seen: Vec<_> =
            kept.visits.iter().map(|visit| (visit.at.rfc3339(), visit.seen.outcome)).collect();
        assert_eq!(
            seen,
            [
                ("2010-08-31T21:04:34.987Z".to_owned(), Outcome::Ok),
                ("2010-08-31T21:04:36.110Z".to_owned(), Outcome::Connect)
            ]
        );
        assert_eq!(
            (kept.visits[0].seen.bytes, kept.visits[0].media_type.as_deref()),
            (1234, Some("text/html"))
        );
        assert_eq!(kept.refused.len(), 3, "{:?}", kept.refused);
    }

    #[test]
    fn pages_of_a_nutch_dump_were_fetched_an_interval_before_they_are_due() {
        let mut kept = Kept::default();
        let text = "http://a.test/\tVersion: 7\nStatus: 2 (db_fetched)\nFetch time: Sat Aug 05 06:38:05 UTC 2023\n\
                    Retry interval: 2592000 seconds (30 days)\nSignature: 0123456789abcdef0123456789abcdef\nMetadata: \n\n\
                    http://b.test/\tVersion: 7\nStatus: 1 (db_unfetched)\n\nhttp://c.test/\tVersion: 7\nStatus: 3 (db_gone)\n\
                    Fetch time: Sat Aug 05 06:38:05 CEST 2023\nRetry interval: 1 seconds\n";
        read_nutch(text.as_bytes(), &mut kept).unwrap();
        assert_eq!(kept.visits.len(), 1);
        assert_eq!(kept.visits[0].at.rfc3339(), "2023-07-06T06:38:05Z");
        assert_eq!(kept.visits[0].seen.status, 200);
        assert!(kept.visits[0].seen.content.is_some());
        assert_eq!(kept.refused.len(), 2);
    }
}
