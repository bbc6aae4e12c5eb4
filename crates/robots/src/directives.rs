//! What does a page ask of those who store, show or follow it?

use std::ops::{BitOr, BitOrAssign};

/// The requests of a page's meta robots tags and X-Robots-Tag headers to one agent.
///
/// Requests only ever restrict, so several sources are merged with `|` and words that permit
/// (`all`, `index`, `follow`) say nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// Do not list the page.
    pub noindex: bool,
    /// Do not follow its links.
    pub nofollow: bool,
    /// Do not keep or show a copy.
    pub noarchive: bool,
    /// Do not show an excerpt.
    pub nosnippet: bool,
    /// Do not list its images.
    pub noimageindex: bool,
    /// Do not train on it.
    pub noai: bool,
    /// Do not train on its images.
    pub noimageai: bool,
    /// Do not list the page after this date, as written.
    pub unavailable_after: Option<Box<str>>,
}

impl Directives {
    /// Reads a meta tag; one that is neither for `robots` nor for the agent asks nothing.
    pub fn from_meta(name: &str, content: &str, agent: &str) -> Self {
        if is_for(name.trim(), agent) { Self::read(content, |_| true) } else { Self::default() }
    }

    /// Reads one X-Robots-Tag header's value.
    ///
    /// `name:` in front binds what follows to that agent, up to the next `name:`. A response with
    /// several such headers is read one by one and merged, as joining them would widen the scopes.
    pub fn from_header(value: &str, agent: &str) -> Self {
        Self::read(value, |name| is_for(name, agent))
    }

    /// Reads a list of requests, in which `binds_us` tells whom what follows a `name:` is for.
    fn read(list: &str, binds_us: impl Fn(&str) -> bool) -> Self {
        let mut found = Self::default();
        let mut for_us = true;
        let mut parts = list.split([',', ';']).map(str::trim);
        while let Some(mut part) = parts.next() {
            while let Some((name, rest)) = split_name(part)
                && !takes_value(name)
            {
                for_us = binds_us(name);
                part = rest;
            }
            match split_name(part) {
                Some((name, day)) if name.eq_ignore_ascii_case("unavailable_after") => {
                    let date = whole_date(day, &mut parts);
                    if for_us {
                        found.unavailable_after.get_or_insert(date.into());
                    }
                }
                // How much of the page to preview concerns search engines only.
                Some(_) => {}
                None if for_us => part.split_ascii_whitespace().for_each(|word| found.add(word)),
                None => {}
            }
        }
        found
    }

    fn add(&mut self, word: &str) {
        match word.to_ascii_lowercase().as_str() {
            "noindex" => self.noindex = true,
            "nofollow" => self.nofollow = true,
            "none" => (self.noindex, self.nofollow) = (true, true),
            "noarchive" | "nocache" => self.noarchive = true,
            "nosnippet" => self.nosnippet = true,
            "noimageindex" => self.noimageindex = true,
            "noai" => self.noai = true,
            "noimageai" => self.noimageai = true,
            _ => {}
        }
    }
}

impl BitOr for Directives {
    type Output = Self;

    fn bitor(mut self, other: Self) -> Self {
        self |= other;
        self
    }
}

impl BitOrAssign for Directives {
    fn bitor_assign(&mut self, other: Self) {
        self.noindex |= other.noindex;
        self.nofollow |= other.nofollow;
        self.noarchive |= other.noarchive;
        self.nosnippet |= other.nosnippet;
        self.noimageindex |= other.noimageindex;
        self.noai |= other.noai;
        self.noimageai |= other.noimageai;
        self.unavailable_after = self.unavailable_after.take().or(other.unavailable_after);
    }
}

fn is_for(name: &str, agent: &str) -> bool {
    name == "*"
        || name.eq_ignore_ascii_case("robots")
        || (!agent.is_empty() && name.eq_ignore_ascii_case(agent))
}

fn split_name(part: &str) -> Option<(&str, &str)> {
    part.split_once(':').map(|(name, rest)| (name.trim(), rest.trim()))
}

/// Tells whether a name before a colon is a request with a value and not an agent.
fn takes_value(name: &str) -> bool {
    name.eq_ignore_ascii_case("unavailable_after")
        || name.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("max-"))
}

/// Puts a date back together that begins with a day's name and a comma.
fn whole_date<'a>(day: &str, parts: &mut impl Iterator<Item = &'a str>) -> String {
    if day.bytes().any(|byte| byte.is_ascii_digit()) {
        return day.to_owned();
    }
    parts.next().map_or_else(|| day.to_owned(), |rest| format!("{day}, {rest}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Names the requests found, to keep the tables readable.
    fn names(found: &Directives) -> String {
        let flags = [
            (found.noindex, "noindex"),
            (found.nofollow, "nofollow"),
            (found.noarchive, "noarchive"),
            (found.nosnippet, "nosnippet"),
            (found.noimageindex, "noimageindex"),
            (found.noai, "noai"),
            (found.noimageai, "noimageai"),
        ];
        let set = flags.iter().filter(|(on, _)| *on).map(|(_, name)| *name);
        set.chain(found.unavailable_after.as_deref()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn meta_tags_are_read() {
        let table = [
            ("robots", "noindex, nofollow", "noindex nofollow"),
            ("ROBOTS", "NoIndex,NOFOLLOW", "noindex nofollow"),
            (" robots ", " none ", "noindex nofollow"),
            ("us", "noarchive", "noarchive"),
            ("Us", "nosnippet noimageindex", "nosnippet noimageindex"),
            ("them", "noindex", ""),
            ("", "noindex", ""),
            ("robots", "index, follow, all", ""),
            ("robots", "noai, noimageai", "noai noimageai"),
            ("robots", "max-snippet:0, noindex", "noindex"),
            ("robots", "max-image-preview: none", ""),
            ("robots", "xnoindex, noindexx", ""),
            ("robots", "noindex; nofollow", "noindex nofollow"),
            (
                "robots",
                "unavailable_after: 2030-01-01T00:00:00Z, noindex",
                "noindex 2030-01-01T00:00:00Z",
            ),
        ];
        for (name, content, expected) in table {
            assert_eq!(names(&Directives::from_meta(name, content, "us")), expected, "{content}");
        }
    }

    #[test]
    fn headers_are_read_in_their_scopes() {
        let table = [
            ("noindex", "noindex"),
            ("us: noindex, nofollow", "noindex nofollow"),
            ("them: noindex, nofollow", ""),
            ("them: noindex, us: nofollow", "nofollow"),
            ("us: nofollow, them: noindex", "nofollow"),
            ("noarchive, them: noindex", "noarchive"),
            ("*: noindex", "noindex"),
            ("US : none", "noindex nofollow"),
            ("max-snippet: 5, noindex", "noindex"),
            ("them: max-snippet: 5, noindex", ""),
            ("unavailable_after: 25 Jun 2030 15:00:00 PST", "25 Jun 2030 15:00:00 PST"),
            (
                "unavailable_after: Friday, 25-Jun-30 15:00:00 UTC, noindex",
                "noindex Friday, 25-Jun-30 15:00:00 UTC",
            ),
            ("them: unavailable_after: Fri, 25 Jun 2030 15:00:00 GMT, noindex", ""),
            ("us: unavailable_after: 2030-06-25", "2030-06-25"),
            ("", ""),
            (":,:;,", ""),
            ("unavailable_after:", ""),
        ];
        for (value, expected) in table {
            assert_eq!(names(&Directives::from_header(value, "us")), expected, "{value}");
        }
    }

    proptest! {
        #[test]
        fn merging_only_restricts(a in "(us|them)?:?[ ,a-z]{0,20}(noindex)?", b in "\\PC{0,30}") {
            let [a, b] = [a, b].map(|value| Directives::from_header(&value, "us"));
            let merged = a.clone() | b.clone();
            prop_assert_eq!(merged.noindex, a.noindex || b.noindex);
            prop_assert_eq!(merged.clone() | a.clone(), merged.clone());
            prop_assert_eq!(a.clone() | a.clone(), a);
        }
    }
}
