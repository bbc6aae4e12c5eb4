//! What is asked for?

use evercrawl_model::Time;

use crate::Asked;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// How to ask.
    Start,
    /// A page at a time, or its latest capture; `raw` as it was received.
    Page {
        /// When.
        at: Option<Time>,
        /// As it was received.
        raw: bool,
        /// The address.
        url: String,
    },
    /// A list of the captures of a page, for people.
    Captures {
        /// The address.
        url: String,
    },
    /// The capture nearest to what `Accept-Datetime` says.
    TimeGate {
        /// The address.
        url: String,
    },
    /// A list of the captures of a page, for programs.
    TimeMap {
        /// The address.
        url: String,
    },
    /// Questions to the index.
    Cdx,
}

impl Route {
    /// Reads a path below `base`.
    pub(crate) fn read(base: &str, asked: &Asked<'_>) -> Option<Self> {
        let rest = asked.path.strip_prefix(base)?;
        let rest = match rest {
            "" | "/" => return Some(Route::Start),
            "/cdx" | "/index" => return Some(Route::Cdx),
            rest => rest.strip_prefix('/')?,
        };
        let url = |text: &str| address(text, asked.query);
        if let Some(text) = rest.strip_prefix("timemap/link/") {
            return Some(Route::TimeMap { url: url(text)? });
        }
        if let Some(text) = rest.strip_prefix("timegate/") {
            return Some(Route::TimeGate { url: url(text)? });
        }
        if let Some(text) = rest.strip_prefix("*/") {
            return Some(Route::Captures { url: url(text)? });
        }
        if let Some((first, text)) = rest.split_once('/')
            && let Some((at, raw)) = moment(first)
        {
            return Some(Route::Page { at: Some(at), raw, url: url(text)? });
        }
        Some(Route::Page { at: None, raw: false, url: url(rest)? })
    }
}

/// A time of 1 to 14 digits, and whether raw bytes are wanted: `20260101000000id_`. Other tools put other letters there,
/// for which there is one answer.
fn moment(text: &str) -> Option<(Time, bool)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, letters) = text.split_at(end);
    let known = matches!(letters, "" | "id_" | "mp_" | "if_" | "im_" | "cs_" | "js_" | "fw_");
    (!digits.is_empty() && known).then_some((time_of(digits, false)?, letters == "id_"))
}

/// A time of which only the first digits are given: the first moment that they mean, or the last.
pub(crate) fn time_of(digits: &str, last: bool) -> Option<Time> {
    let is_time =
        (4..=14).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_time {
        return None;
    }
    let padding = if last { "99991231235959" } else { "00000101000000" };
    let full = format!("{digits}{}", &padding[digits.len()..]);
    // Not all months have 31 days.
    (0..4).find_map(|less| {
        let day = full.get(6..8)?.parse::<u32>().ok()?.checked_sub(less)?;
        let less_is_fine = less == 0 || last && digits.len() < 8;
        let text = format!("{}{day:02}{}", &full[..6], &full[8..]);
        Time::parse_digits(&text).ok().filter(|_| less_is_fine)
    })
}

/// An address that stands in a path, with the query that belongs to it.
fn address(text: &str, query: Option<&str>) -> Option<String> {
    let mut url = text.to_owned();
    // Some programs take a second slash away.
    for scheme in ["http", "https"] {
        let short = format!("{scheme}:/");
        if url.starts_with(&short) && !url.starts_with(&format!("{short}/")) {
            url.insert(short.len(), '/');
        }
    }
    if !url.starts_with("http://") && !url.starts_with("https://") {
        if url.contains("://") || !url.split('/').next()?.contains(['.', ':']) {
            return None;
        }
        url.insert_str(0, "http://");
    }
    if let Some(query) = query {
        url.push('?');
        url.push_str(query);
    }
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str, query: Option<&str>) -> Option<Route> {
        let asked = Asked { path, query, accept_datetime: None, now: Time::EPOCH };
        Route::read("/t/a", &asked)
    }

    #[test]
    fn paths_say_what_is_asked_for() {
        let at = |text: &str| Some(Time::parse_digits(text).unwrap());
        let page = |at, raw, url: &str| Some(Route::Page { at, raw, url: url.to_owned() });
        let url = "http://a.test/x".to_owned();
        for (path, want) in [
            ("/t/a", Some(Route::Start)),
            ("/t/a/20200101000000/http://a.test/x", page(at("20200101000000"), false, &url)),
            ("/t/a/2020id_/http:/a.test/x", page(at("20200101000000"), true, &url)),
            ("/t/a/http://a.test/x", page(None, false, &url)),
            ("/t/a/a.test/x", page(None, false, &url)),
            ("/t/a/*/http://a.test/x", Some(Route::Captures { url: url.clone() })),
            ("/t/a/timegate/http://a.test/x", Some(Route::TimeGate { url: url.clone() })),
            ("/t/a/timemap/link/http://a.test/x", Some(Route::TimeMap { url: url.clone() })),
            ("/t/a/cdx", Some(Route::Cdx)),
            ("/t/a/javascript:alert(1)", None),
            ("/t/a/ftp://a.test/", None),
            ("/t/b/http://a.test/", None),
            ("/", None),
        ] {
            assert_eq!(read(path, None), want, "{path}");
        }
        let with_query = page(None, false, "http://a.test/x?y=1&z");
        assert_eq!(read("/t/a/http://a.test/x", Some("y=1&z")), with_query);
    }

    #[test]
    fn the_rest_of_a_time_is_its_beginning_or_end() {
        let digits = |text: &str, last| time_of(text, last).map(|time| time.digits14());
        assert_eq!(digits("2020", false).unwrap(), "20200101000000");
        assert_eq!(digits("2020", true).unwrap(), "20201231235959");
        assert_eq!(digits("202002", true).unwrap(), "20200229235959");
        assert_eq!(digits("20", false), None);
        assert_eq!(digits("20209999", false), None);
    }
}
