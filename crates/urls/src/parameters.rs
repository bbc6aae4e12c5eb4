//! Which parameters of a query only track clicks, and in which order are the others?

use std::borrow::Cow;

use memchr::memchr_iter;

use crate::sessions;

/// Beginnings of names that only ad and mail senders use.
const PREFIXES: [&str; 4] = ["utm_", "mtm_", "hsa_", "oly_"];

/// Names that only ad and mail senders use: Google, Facebook, Microsoft, Yandex, TikTok, Twitter,
/// LinkedIn, Mailchimp, HubSpot, Marketo, Matomo and others.
const NAMES: [&str; 35] = [
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "srsltid",
    "_ga",
    "_gl",
    "fbclid",
    "igsh",
    "igshid",
    "msclkid",
    "yclid",
    "ysclid",
    "_openstat",
    "ttclid",
    "twclid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "_hsenc",
    "_hsmi",
    "mkt_tok",
    "pk_campaign",
    "pk_kwd",
    "pk_source",
    "pk_medium",
    "pk_content",
    "pk_cid",
    "vero_id",
    "vero_conv",
    "wickedid",
    "epik",
    "s_kwcid",
    "ef_id",
];

/// By their first letter, the second letters of all names known here and in [`sessions`]; letters
/// count by their lowest five bits, so in either case.
const STARTS: [u32; 32] = {
    let mut starts = [0; 32];
    note_starts(&mut starts, &PREFIXES);
    note_starts(&mut starts, &NAMES);
    note_starts(&mut starts, &sessions::RESERVED);
    note_starts(&mut starts, &sessions::AMBIGUOUS);
    note_starts(&mut starts, &sessions::SPECIAL);
    starts
};

const fn note_starts(starts: &mut [u32; 32], names: &[&str]) {
    let mut index = 0;
    while index < names.len() {
        let name = names[index].as_bytes();
        starts[(name[0] & 31) as usize] |= 1 << (name[1] & 31);
        index += 1;
    }
}

/// Whether a parameter of the query is empty or begins as a session id or tracking parameter does.
/// Most queries have none, and this tells it in one pass.
pub(crate) fn may_have_tracking(query: &str) -> bool {
    let rest = memchr_iter(b'&', query.as_bytes()).map(|at| &query.as_bytes()[at + 1..]);
    std::iter::once(query.as_bytes()).chain(rest).any(|parameter| match parameter {
        [] | [b'&', ..] => true,
        [first, second, ..] => STARTS[usize::from(first & 31)] >> (second & 31) & 1 != 0,
        _ => false,
    })
}

/// Whether `name=value` only tells the site where a click came from.
pub(crate) fn is_tracking(parameter: &str) -> bool {
    let name = name(parameter);
    let prefix = name.get(..4).unwrap_or_default();
    PREFIXES.iter().any(|known| known.eq_ignore_ascii_case(prefix))
        || NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The query with its parameters in the order of their names, equal names as they were: the order
/// of a list's values is the list.
pub(crate) fn sorted(query: &str) -> Cow<'_, str> {
    if query.split('&').is_sorted_by_key(name) {
        return Cow::Borrowed(query);
    }
    let mut parameters: Vec<&str> = query.split('&').collect();
    parameters.sort_by_key(|parameter| name(parameter));
    Cow::Owned(parameters.join("&"))
}

/// The name of a parameter `name=value`; one without a value is a name.
pub(crate) fn name(parameter: &str) -> &str {
    parameter.split_once('=').map_or(parameter, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracking() {
        for parameter in ["utm_source=a", "UTM_X", "gclid=1", "_ga=2.1", "mc_eid="] {
            assert!(is_tracking(parameter), "{parameter}");
        }
        for parameter in ["utm=1", "id=gclid", "pk_id=3", "ref=a", "ga=1", "", "=utm_source"] {
            assert!(!is_tracking(parameter), "{parameter}");
        }
    }

    #[test]
    fn every_known_name_is_worth_a_look() {
        let lists = [&PREFIXES[..], &NAMES, &sessions::RESERVED, &sessions::AMBIGUOUS];
        for name in lists.concat().into_iter().chain(sessions::SPECIAL) {
            for query in [name.to_owned(), format!("x=1&{}=1", name.to_ascii_uppercase())] {
                assert!(may_have_tracking(&query), "{query}");
            }
        }
        for query in ["", "&a", "a&", "a&&b"] {
            assert!(may_have_tracking(query), "{query}");
        }
        for query in ["a", "page=2&sort=name", "q=utm_source&id=3"] {
            assert!(!may_have_tracking(query), "{query}");
        }
    }

    #[test]
    fn sorting_is_by_name_and_stable() {
        assert_eq!(sorted("c=1&b=2&a=3"), "a=3&b=2&c=1");
        assert_eq!(sorted("b=5&b=2&a"), "a&b=5&b=2");
        assert!(matches!(sorted("a=2&a=1&b"), Cow::Borrowed(_)));
    }
}
