//! What does the index say of a record?
//!
//! One CDXJ line a response or revisit: `surt timestamp {json}`, with the fields and the order
//! that pywb writes. The offset is known only when the record is appended, so a line is made in
//! two steps; the costly one is done while encoding.
//!
//! A 304 has no line: replay tools would show it as it is, which is an empty page. Without it they
//! show the capture that it confirms.

use std::fmt::Write as _;

use evercrawl_model::Time;

use crate::head;
use crate::read::Record;
use crate::surt::surt;

/// What a line says of the record itself.
pub(crate) struct Entry<'a> {
    /// The target URI as it stands in the record.
    pub(crate) uri: &'a str,
    pub(crate) date: Time,
    /// The payload digest in base 32.
    pub(crate) digest: &'a str,
    /// The HTTP head as it stands in the record.
    pub(crate) head: &'a [u8],
    pub(crate) is_revisit: bool,
    /// Why the payload is not whole, in WARC's words.
    pub(crate) truncated: Option<&'a str>,
}

impl Entry<'_> {
    /// The line up to where the record's place belongs; `None` for a 304.
    pub(crate) fn start(&self) -> Option<String> {
        let status = head::status(self.head);
        if status == Some(304) {
            return None;
        }
        let media_type = match self.is_revisit {
            true => "warc/revisit".to_owned(),
            false => head::media_type(self.head).unwrap_or_else(|| "unk".to_owned()),
        };
        let mut line = format!("{} {} {{\"url\":", surt(self.uri), self.date.digits14());
        push_json(self.uri, &mut line);
        line.push_str(",\"mime\":");
        push_json(&media_type, &mut line);
        // Writing to memory does not fail.
        let _ = match status {
            Some(status) => write!(line, ",\"status\":\"{status}\""),
            None => write!(line, ",\"status\":\"-\""),
        };
        line.push_str(",\"digest\":");
        push_json(self.digest, &mut line);
        if let Some(why) = self.truncated {
            line.push_str(",\"truncated\":");
            push_json(why, &mut line);
        }
        Some(line)
    }
}

/// Ends the line that `start` began with the record's place, and adds it to `out`.
pub(crate) fn push_line(start: &str, offset: u64, length: u64, file: &str, out: &mut Vec<u8>) {
    let mut end = format!(",\"length\":\"{length}\",\"offset\":\"{offset}\",\"filename\":");
    push_json(file, &mut end);
    end.push_str("}\n");
    out.extend_from_slice(start.as_bytes());
    out.extend_from_slice(end.as_bytes());
}

/// The line that belongs to a record read back, newline included; `None` where it has none.
pub(crate) fn line_of(record: &Record, offset: u64, length: u64, file: &str) -> Option<Vec<u8>> {
    let kind = record.header("WARC-Type")?;
    if !matches!(kind, "response" | "revisit") {
        return None;
    }
    let digest = record.header("WARC-Payload-Digest").unwrap_or("-");
    let start = Entry {
        uri: record.header("WARC-Target-URI")?,
        date: Time::parse_iso(record.header("WARC-Date")?).ok()?,
        digest: digest.strip_prefix("sha1:").unwrap_or(digest),
        head: record.http_head(),
        is_revisit: kind == "revisit",
        truncated: record.header("WARC-Truncated"),
    }
    .start()?;
    let mut line = Vec::with_capacity(start.len() + 128);
    push_line(&start, offset, length, file, &mut line);
    Some(line)
}

/// The lines in the order of their bytes, which is the one that searches rely on.
pub(crate) fn sorted(lines: &[u8]) -> Vec<&[u8]> {
    let mut order: Vec<&[u8]> = lines.split_inclusive(|&b| b == b'\n').collect();
    order.sort_unstable();
    order
}

fn push_json(text: &str, line: &mut String) {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\') {
        line.push('"');
        line.push_str(text);
        line.push('"');
    } else {
        line.push_str(&serde_json::Value::from(text).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_what_replay_needs() {
        let entry = Entry {
            uri: "http://www.a.org/%C3%BC?\"x\\",
            date: Time::from_secs(1_794_780_950),
            digest: "VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5",
            head: b"HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=x\r\n\r\n",
            is_revisit: false,
            truncated: Some("disconnect"),
        };
        let mut line = Vec::new();
        push_line(&entry.start().unwrap(), 7, 9, "x.warc.gz", &mut line);
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "org,a)/%c3%bc?\"x\\ 20261115221550 {\"url\":\"http://www.a.org/%C3%BC?\\\"x\\\\\",\
             \"mime\":\"text/html\",\"status\":\"200\",\
             \"digest\":\"VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\",\"truncated\":\"disconnect\",\
             \"length\":\"9\",\"offset\":\"7\",\"filename\":\"x.warc.gz\"}\n"
        );
    }

    #[test]
    fn a_304_has_no_line() {
        let head = b"HTTP/1.1 304 Not Modified\r\n\r\n";
        let (uri, date) = ("http://a/", Time::EPOCH);
        let entry = Entry { uri, date, digest: "", head, is_revisit: true, truncated: None };
        assert_eq!(entry.start(), None);
    }

    #[test]
    fn lines_sort_by_bytes() {
        assert_eq!(sorted(b"b\na,\na)\na\n").concat(), b"a\na)\na,\nb\n");
    }
}
