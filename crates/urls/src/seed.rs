//! What does a line of a seed list mean?

use evercrawl_model::Refusal;

use crate::{Canonical, CanonicalSteps};

/// One seed: where to begin, and the tags that discovered pages inherit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// Where to begin.
    pub target: SeedTarget,
    /// Tags in the order given, such as `country:jp` or `news`.
    pub tags: Vec<String>,
}

/// Where a crawl begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeedTarget {
    /// A URL with its scheme.
    Url(Canonical),
    /// A host, with its port and path if given, whose scheme is to be found out: `example.org/`.
    Domain(String),
}

impl SeedTarget {
    /// What to try, in this order: a URL as it is; a bare domain by `https`, then by `http`.
    pub fn candidates(&self, steps: CanonicalSteps) -> Vec<Canonical> {
        match self {
            SeedTarget::Url(url) => vec![url.clone()],
            SeedTarget::Domain(rest) => ["https", "http"]
                .into_iter()
                .filter_map(|scheme| steps.canonicalize(&format!("{scheme}://{rest}")).ok())
                .collect(),
        }
    }
}

/// What is wrong with a line of a seed list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SeedError {
    /// The line has tags only.
    #[error("no URL or domain on this line; tags go after one, as in `example.org tag=news`")]
    NoTarget,
    /// A second URL where only tags are allowed.
    #[error("`{0}` is a second URL on one line; write one a line, and tags as `tag=...`")]
    SecondTarget(String),
    /// A word is neither URL nor tag.
    #[error("`{0}` is neither a URL nor a domain; write `example.org` or `https://example.org/`")]
    Unreadable(String),
    /// The URL is not on the web.
    #[error("`{0}` cannot be crawled: only http and https can")]
    Scheme(String),
    /// The URL is longer than any can be.
    #[error("the URL is longer than {} bytes", Canonical::MAX_LEN)]
    TooLong,
    /// A tag says nothing.
    #[error("`tag=` needs a value without blanks, as in `tag=news`")]
    EmptyTag,
}

/// Reads one line of a seed list: a URL or a bare domain, and any number of `tag=...` beside it.
///
/// Blank lines are `None`, and so are comments: from a `#` that begins the line or follows a
/// blank. A name without dots counts as a domain only with a port or as `localhost`.
pub fn parse_seed_line(line: &str, steps: CanonicalSteps) -> Result<Option<Seed>, SeedError> {
    let mut target = None;
    let mut tags = Vec::new();
    let words = line.trim_start_matches('\u{feff}').split_whitespace();
    for word in words.take_while(|word| !word.starts_with('#')) {
        match word.strip_prefix("tag=") {
            Some("") => return Err(SeedError::EmptyTag),
            Some(tag) => tags.push(tag.to_owned()),
            None if target.is_some() => return Err(SeedError::SecondTarget(word.to_owned())),
            None => target = Some(parse_target(word, steps)?),
        }
    }
    match target {
        Some(target) => Ok(Some(Seed { target, tags })),
        None if tags.is_empty() => Ok(None),
        None => Err(SeedError::NoTarget),
    }
}

fn parse_target(word: &str, steps: CanonicalSteps) -> Result<SeedTarget, SeedError> {
    let fault = |why: Refusal| match why {
        Refusal::Scheme => SeedError::Scheme(word.to_owned()),
        Refusal::TooLong => SeedError::TooLong,
        _ => SeedError::Unreadable(word.to_owned()),
    };
    if has_scheme(word) {
        return steps.canonicalize(word).map(SeedTarget::Url).map_err(fault);
    }
    let url = steps.canonicalize(&format!("https://{word}")).map_err(fault)?;
    if !is_domain(word, &url) {
        return Err(fault(Refusal::BadUrl));
    }
    let path = if url.path_and_query() == "/" { "" } else { url.path_and_query() };
    Ok(SeedTarget::Domain(format!("{}{path}", url.authority())))
}

/// Whether what stands before the first colon is a scheme: `mailto:me`, but not `localhost:8080`.
fn has_scheme(word: &str) -> bool {
    let after = authority(word).split_once(':').map(|(_, after)| after);
    let is_port = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    !word.starts_with('[') && after.is_some_and(|after| !is_port(after))
}

fn is_domain(word: &str, url: &Canonical) -> bool {
    let authority = authority(word);
    let named = url.host().contains('.') || url.host() == "localhost" || url.ip().is_some();
    !authority.is_empty() && !authority.contains('@') && (named || authority.contains(':'))
}

fn authority(word: &str) -> &str {
    word.split(['/', '\\', '?', '#']).next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Seed>, SeedError> {
        parse_seed_line(line, CanonicalSteps::default())
    }

    #[test]
    fn targets() {
        let url = |text: &str| SeedTarget::Url(Canonical::parse(text).unwrap());
        let domain = |text: &str| SeedTarget::Domain(text.to_owned());
        for (line, want) in [
            ("https://Example.org/a", url("https://example.org/a")),
            ("http:example.org", url("http://example.org/")),
            ("example.org", domain("example.org")),
            ("\u{feff}Example.ORG/\r\n", domain("example.org")),
            ("example.org/path?q=http://x", domain("example.org/path?q=http://x")),
            ("localhost:8080", domain("localhost:8080")),
            ("localhost", domain("localhost")),
            ("intranet:80/wiki", domain("intranet:80/wiki")),
            ("127.0.0.1", domain("127.0.0.1")),
            ("[::1]:8080/x", domain("[::1]:8080/x")),
            ("日本語.jp", domain("xn--wgv71a119e.jp")),
        ] {
            assert_eq!(parse(line).unwrap().unwrap().target, want, "{line}");
        }
    }

    #[test]
    fn tags_and_comments() {
        let seed = parse("  example.org/a#b tag=country:jp\ttag=news # tag=no").unwrap().unwrap();
        assert_eq!(seed.target, SeedTarget::Domain("example.org/a".to_owned()));
        assert_eq!(seed.tags, ["country:jp", "news"]);
        assert_eq!(parse("tag=a example.org").unwrap().unwrap().tags, ["a"]);
        for blank in ["", "  \t\r\n", "# example.org", "   # x"] {
            assert_eq!(parse(blank), Ok(None), "{blank:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let word = |text: &str| text.to_owned();
        for (line, want) in [
            ("tag=news", SeedError::NoTarget),
            ("example.org tag=", SeedError::EmptyTag),
            ("a.org b.org", SeedError::SecondTarget(word("b.org"))),
            ("a.org news", SeedError::SecondTarget(word("news"))),
            ("news", SeedError::Unreadable(word("news"))),
            ("me@example.org", SeedError::Unreadable(word("me@example.org"))),
            ("http://", SeedError::Unreadable(word("http://"))),
            ("//example.org", SeedError::Unreadable(word("//example.org"))),
            ("example.org:99999", SeedError::Unreadable(word("example.org:99999"))),
            ("ftp://example.org/", SeedError::Scheme(word("ftp://example.org/"))),
            ("mailto:me@example.org", SeedError::Scheme(word("mailto:me@example.org"))),
            ("C:\\seeds.txt", SeedError::Scheme(word("C:\\seeds.txt"))),
        ] {
            assert_eq!(parse(line), Err(want), "{line}");
        }
        let long = format!("https://a.org/{}", "x".repeat(Canonical::MAX_LEN));
        assert_eq!(parse(&long), Err(SeedError::TooLong));
    }

    #[test]
    fn a_bare_domain_is_tried_by_https_first() {
        let seed = parse("example.org/a").unwrap().unwrap();
        let tried = seed.target.candidates(CanonicalSteps::default());
        let tried: Vec<&str> = tried.iter().map(Canonical::as_str).collect();
        assert_eq!(tried, ["https://example.org/a", "http://example.org/a"]);
        let seed = parse("http://example.org/a").unwrap().unwrap();
        assert_eq!(seed.target.candidates(CanonicalSteps::default()).len(), 1);
    }
}
