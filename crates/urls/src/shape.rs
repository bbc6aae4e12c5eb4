//! To which family does a URL belong, when families can grow without end?

use evercrawl_model::Refusal;
use xxhash_rust::xxh3::xxh3_64;

use crate::{Canonical, calendar};

/// A family of URLs of one host that differ only in numbers, dates and parameter values.
///
/// The store counts how many URLs of each host and family it knows and refuses more than a cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UrlFamily {
    /// The family's hash: path with its numbers folded, names of its parameters in order. The host
    /// is not part of it; hashes are the same on every machine and release.
    pub hash: u64,
    /// What makes the family grow.
    pub risk: Risk,
}

/// What makes a family of URLs grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Risk {
    /// Dates: a day's or month's page without a title of its own. A paper of thirty years has ten
    /// thousand of them.
    Dates,
    /// Parameters: sorting, filters, views and sessions multiply.
    Parameters,
    /// Numbers in the path: mostly items of a catalogue, so the cap should be generous.
    Numbers,
}

impl Risk {
    /// The reason to give for a URL beyond the family's cap.
    pub const fn refusal(self) -> Refusal {
        match self {
            Risk::Dates => Refusal::Calendar,
            Risk::Parameters | Risk::Numbers => Refusal::ParameterExplosion,
        }
    }
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The family that `url` belongs to; `None` where neither query nor numbers let it grow.
pub fn family_of(url: &Canonical) -> Option<UrlFamily> {
    let numbers = url.path().bytes().any(|byte| byte.is_ascii_digit());
    if url.query().is_none() && !numbers {
        return None;
    }
    let risk = if calendar::has_date(url) {
        Risk::Dates
    } else if url.query().is_some() {
        Risk::Parameters
    } else {
        Risk::Numbers
    };
    let mut folded = String::with_capacity(url.path_and_query().len());
    fold(&mut folded, url.path(), risk == Risk::Dates);
    if let Some(query) = url.query() {
        folded.push('?');
        folded.push_str(&names(query).join("&"));
    }
    Some(UrlFamily { hash: xxh3_64(folded.as_bytes()), risk })
}

/// The names of a query's parameters, folded, each once and in order.
fn names(query: &str) -> Vec<String> {
    let mut names: Vec<String> = query
        .split('&')
        .map(|parameter| {
            // What stands alone, as in `?1750`, varies as values do.
            let name = parameter.split_once('=').map_or("", |(name, _)| name);
            let mut folded = String::with_capacity(name.len());
            fold(&mut folded, name, false);
            folded
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Writes `text` with `0` for every number, drawn id and, beside dates, month's name.
fn fold(out: &mut String, text: &str, dated: bool) {
    for piece in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let word = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        if is_random(word) || dated && is_month(word) {
            out.push('0');
        } else {
            fold_digits(out, word);
        }
        out.push_str(&piece[word.len()..]);
    }
}

fn fold_digits(out: &mut String, word: &str) {
    let mut before = ' ';
    for c in word.chars() {
        let c = if c.is_ascii_digit() { '0' } else { c };
        if c != '0' || before != '0' {
            out.push(c);
        }
        before = c;
    }
}

/// Whether a word is a hash or a random id: hexadecimal, with a digit, of 16 digits and more.
fn is_random(word: &str) -> bool {
    word.len() >= 16
        && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        && word.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_month(word: &str) -> bool {
    MONTHS
        .iter()
        .any(|month| month.eq_ignore_ascii_case(word) || month[..3].eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> Option<UrlFamily> {
        family_of(&Canonical::parse(&format!("http://a.org{path}")).unwrap())
    }

    #[test]
    fn families_hold_together_and_apart() {
        for (a, b, same) in [
            ("/item/7", "/item/123456", true),
            ("/item/7", "/items/7", false),
            ("/item7a", "/item99a", true),
            ("/list?sort=a&page=1", "/list?page=2&sort=b", true),
            ("/list?sort=a", "/list?sort=a&page=1", false),
            ("/list?f[0]=a", "/list?f[1]=b&f[12]=c", true),
            ("/list?17", "/list?/category/3", true),
            ("/list?q", "/list", false),
            ("/2024/05/01/", "/2031/12/24/", true),
            ("/2024/05/01/title", "/2024/05/01/other", false),
            ("/day/2024-05-01", "/day/1999-12-31", true),
            ("/2024/05/may/", "/2024/06/June/", true),
            ("/1/may/", "/1/june/", false),
            ("/v/9f86d081884c7d65", "/v/1a79a4d60de6718e", true),
            ("/v/1/deadbeefdeadbeef", "/v/1/feedfacefeedface", false),
        ] {
            let (one, two) = (of(a).map(|s| s.hash), of(b).map(|s| s.hash));
            assert_eq!(one == two, same, "{a} {b}");
        }
    }

    #[test]
    fn risks() {
        for (path, risk, refusal) in [
            ("/item/7", Risk::Numbers, Refusal::ParameterExplosion),
            ("/list?a=1", Risk::Parameters, Refusal::ParameterExplosion),
            ("/item/7?a=1", Risk::Parameters, Refusal::ParameterExplosion),
            ("/2024/05/01/", Risk::Dates, Refusal::Calendar),
            ("/list?from=2024-05-01", Risk::Dates, Refusal::Calendar),
            ("/list?year=2024&month=5", Risk::Dates, Refusal::Calendar),
        ] {
            assert_eq!(
                of(path).map(|s| (s.risk, s.risk.refusal())),
                Some((risk, refusal)),
                "{path}"
            );
        }
        assert_eq!(of("/about/us.html"), None);
    }

    #[test]
    fn hashes_never_move() {
        assert_eq!(of("/item/7?b=1&a=2").map(|s| s.hash), Some(xxh3_64(b"/item/0?a&b")));
    }
}
