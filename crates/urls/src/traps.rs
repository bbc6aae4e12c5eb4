//! Does a path go round in circles?

use memchr::memchr_iter;

/// The longest cycle looked for, in segments; it bounds the work on hostile paths.
const LONGEST_CYCLE: usize = 8;

/// How often a cycle must follow itself to count as endless.
const ROUNDS: usize = 3;

/// Finds a run of one or more segments that follows itself three times or more, as in
/// `/foo/bar/foo/bar/foo/bar`: the mark of relative links that resolve deeper and deeper.
///
/// Numbers alone make no cycle: `/11/11/11` is a day and `/0/0/0` a map tile. A slash at the end
/// makes no segment, but slashes in a row within the path do.
pub(crate) fn cycle(path: &str) -> Option<&str> {
    let body = path.strip_prefix('/').unwrap_or(path);
    let body = body.strip_suffix('/').unwrap_or(body);
    if memchr_iter(b'/', body.as_bytes()).count() + 1 < ROUNDS {
        return None;
    }
    let segments: Vec<&str> = body.split('/').collect();
    let longest = LONGEST_CYCLE.min(segments.len() / ROUNDS);
    let (start, length) = (1..=longest).find_map(|length| {
        let start = first_round(&segments, length)?;
        Some((start, length))
    })?;
    let before: usize = segments[..start].iter().map(|segment| segment.len() + 1).sum();
    let cycle: usize =
        segments[start..start + length].iter().map(|segment| segment.len() + 1).sum();
    body.get(before..before + cycle - 1)
}

/// Where a cycle of `length` segments begins.
fn first_round(segments: &[&str], length: usize) -> Option<usize> {
    let mut matched = 0;
    for at in length..segments.len() {
        matched = if segments[at] == segments[at - length] { matched + 1 } else { 0 };
        let start = (at + 1).saturating_sub(ROUNDS * length);
        if matched >= (ROUNDS - 1) * length
            && segments[start..start + length].iter().any(|segment| !is_number(segment))
        {
            return Some(start);
        }
    }
    None
}

fn is_number(segment: &str) -> bool {
    !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_of_every_length_anywhere() {
        for (path, want) in [
            ("/foo/bar/foo/bar/foo/bar", Some("foo/bar")),
            ("/foo/bar/foo/bar/foo/bar/page.html", Some("foo/bar")),
            ("/start/a/a/a/", Some("a")),
            ("/x/a/b/c/a/b/c/a/b/c/d", Some("a/b/c")),
            ("/a////b", Some("")),
            ("/n/1/n/1/n/1", Some("n/1")),
            ("/foo/bar/foo/bar/", None),
            ("/foo/bar/foo/bar/foo/baz", None),
            ("/a/b/a/c/a/d/a/e", None),
            ("/2011/11/11/11/title", None),
            ("/tiles/0/0/0.png", None),
            ("/1/1/1/1", None),
            ("/a//b/", None),
            ("/", None),
            ("", None),
        ] {
            assert_eq!(cycle(path), want, "{path}");
        }
    }

    #[test]
    fn every_round_is_needed_for_each_length() {
        for length in 1..=LONGEST_CYCLE {
            let round: String = (0..length).map(|i| format!("/s{i}")).collect();
            assert!(cycle(&round.repeat(3)).is_some(), "{length}");
            assert!(cycle(&round.repeat(2)).is_none(), "{length}");
        }
    }
}
