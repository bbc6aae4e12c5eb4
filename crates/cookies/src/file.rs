//! How are cookies read from a file, and written to one?
//!
//! The format is the cookies.txt of browsers and curl: a line a cookie, seven fields with tabs between them. Our own
//! files have a first line that says so, and an eighth field where the user imported the cookie.

use thiserror::Error;
use url::Host;

use crate::cookie::Cookie;
use crate::jar::{Jar, JarLimits};
use crate::matching::is_public_suffix;
use crate::set_cookie::MOST_BYTES;

/// The first line of a file of our own.
const MARK: &str = "# evercrawl cookies 1";
/// What follows says which file was imported last.
const IMPORTED_FROM: &str = "# imported ";
/// Marks a cookie that scripts may not read.
const HTTP_ONLY: &[u8] = b"#HttpOnly_";
/// The eighth field of a cookie that the user imported.
const IMPORTED: &[u8] = b"imported";

/// What came of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Cookies taken in.
    pub taken: usize,
    /// Cookies that had expired.
    pub expired: usize,
}

/// A file is no cookies.txt. The message shows no value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct BadCookieFile {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl Jar {
    /// Takes in the cookies of a cookies.txt; none of them where a line is wrong. `digest` names the file's content, so
    /// that [`imported_from`](Self::imported_from) can tell whether it was imported before.
    pub fn import(
        &mut self,
        text: &[u8],
        digest: &str,
        now: i64,
    ) -> Result<Imported, BadCookieFile> {
        let cookies = read_lines(text, now)?;
        let found = cookies.len();
        let live: Vec<Cookie> = cookies.into_iter().filter(|it| !it.is_expired(now)).collect();
        let imported = Imported { taken: live.len(), expired: found - live.len() };
        for cookie in live {
            self.put(Cookie { imported: true, ..cookie }, now);
        }
        self.imported_from = Some(digest.to_owned());
        Ok(imported)
    }

    /// The digest of the file that was imported last.
    pub fn imported_from(&self) -> Option<&str> {
        self.imported_from.as_deref()
    }

    /// The jar as a file.
    pub fn to_file(&self, now: i64) -> Vec<u8> {
        let mut out = format!("{MARK}\n# These are logins: keep this file secret.\n").into_bytes();
        if let Some(digest) = &self.imported_from {
            out.extend_from_slice(format!("{IMPORTED_FROM}{digest}\n").as_bytes());
        }
        for cookie in self.in_order().into_iter().filter(|cookie| !cookie.is_expired(now)) {
            write_line(cookie, &mut out);
        }
        out
    }

    /// Reads a file that [`to_file`](Self::to_file) wrote.
    pub fn read_file(text: &[u8], limits: JarLimits, now: i64) -> Result<Self, BadCookieFile> {
        let mut lines = text.split(|&byte| byte == b'\n');
        if lines.next() != Some(MARK.as_bytes()) {
            let problem = format!("`{MARK}` is missing; this is not a cookie file of a crawl");
            return Err(BadCookieFile { line: 1, problem });
        }
        let digest = lines.find_map(|line| line.strip_prefix(IMPORTED_FROM.as_bytes()));
        let mut jar = Jar::new(limits);
        jar.imported_from = digest.map(|digest| String::from_utf8_lossy(digest).into_owned());
        for cookie in read_lines(text, now)? {
            jar.put(cookie, now);
        }
        Ok(jar)
    }
}

fn write_line(cookie: &Cookie, out: &mut Vec<u8>) {
    let word = |yes: bool| if yes { "TRUE" } else { "FALSE" };
    if cookie.http_only {
        out.extend_from_slice(HTTP_ONLY);
    }
    let Cookie { domain, path, .. } = cookie;
    let (dot, below) = if cookie.host_only { ("", "FALSE") } else { (".", "TRUE") };
    let (secure, expires) = (word(cookie.secure), cookie.expires.unwrap_or(0));
    let start = format!("{dot}{domain}\t{below}\t{path}\t{secure}\t{expires}\t");
    out.extend_from_slice(start.as_bytes());
    out.extend_from_slice(&cookie.name);
    out.push(b'\t');
    out.extend_from_slice(&cookie.value);
    if cookie.imported {
        out.push(b'\t');
        out.extend_from_slice(IMPORTED);
    }
    out.push(b'\n');
}

fn read_lines(text: &[u8], now: i64) -> Result<Vec<Cookie>, BadCookieFile> {
    let mut cookies = Vec::new();
    for (at, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let (line, http_only) = match line.strip_prefix(HTTP_ONLY) {
            Some(rest) => (rest, true),
            None => (line, false),
        };
        let is_comment = !http_only && line.starts_with(b"#");
        if is_comment || line.trim_ascii().is_empty() {
            continue;
        }
        let cookie = read_line(line, http_only, now);
        cookies.push(cookie.map_err(|problem| BadCookieFile { line: at + 1, problem })?);
    }
    Ok(cookies)
}

fn read_line(line: &[u8], http_only: bool, now: i64) -> Result<Cookie, String> {
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
    let [domain, below, path, secure, expires, name, rest @ ..] = fields.as_slice() else {
        return Err(format!("{} fields with tabs between them; a cookie has 7", fields.len()));
    };
    let value: &[u8] = rest.first().copied().unwrap_or_default();
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let host_only = !flag(below, "the second field")?;
    let domain = text(domain);
    let domain = domain.strip_prefix('.').unwrap_or(&domain);
    let host = Host::parse(domain).map_err(|_| format!("`{domain}` is not a domain"))?.to_string();
    if !host_only && is_public_suffix(&host) {
        return Err(format!("`{host}` is shared by many owners; a cookie for it would go to all"));
    }
    let path = text(path);
    if !path.starts_with('/') {
        return Err(format!("`{path}` is not a path; paths begin with `/`"));
    }
    let expires = text(expires);
    // Some exporters write fractions of a second.
    let expires: f64 =
        expires.parse().map_err(|_| format!("`{expires}` is not a time in seconds"))?;
    let is_bad =
        |field: &[u8]| field.iter().any(|&byte| byte < 0x20 || byte == 0x7f || byte == b';');
    if is_bad(name) || is_bad(value) || name.len() + value.len() > MOST_BYTES {
        return Err(
            "a name or value with a character that no cookie may have, or too long".to_owned()
        );
    }
    Ok(Cookie {
        name: (*name).into(),
        value: value.into(),
        domain: host.into(),
        host_only,
        path: path.into(),
        secure: flag(secure, "the fourth field")?,
        http_only,
        expires: (expires > 0.0).then_some(expires as i64),
        imported: rest.get(1) == Some(&IMPORTED),
        sequence: 0,
        used: now,
    })
}

fn flag(field: &[u8], which: &str) -> Result<bool, String> {
    if field.eq_ignore_ascii_case(b"true") {
        Ok(true)
    } else if field.eq_ignore_ascii_case(b"false") {
        Ok(false)
    } else {
        let found = String::from_utf8_lossy(field);
        Err(format!("`{found}` in {which}; use TRUE or FALSE"))
    }
}
