//! Where does a link on a page lead? Plain links are joined directly, all others parsed in full.

use std::borrow::Cow;

use evercrawl_model::Refusal;
use memchr::{memchr, memrchr};
use url::{EncodingOverride, Url};

use crate::{Canonical, CanonicalSteps, parameters, read, steps::CanonicalStep};

/// What the links of a page are relative to: its URL, or what its `<base>` says.
///
/// Made once a page, then asked for every link. Nearly all links need no parser: they consist of
/// plain letters that no step touches, below a folder that is canonical already.
#[derive(Clone, Debug)]
pub struct Base {
    steps: CanonicalSteps,
    canonical: Canonical,
    directory_end: usize,
    path_as_read: bool,
    read: Url,
}

impl Base {
    /// A base for links that are canonicalized by `steps`.
    ///
    /// `url` is where the page was found, after redirects; it need not be canonical.
    pub fn new(url: &str, steps: CanonicalSteps) -> Result<Self, Refusal> {
        Self::of(read::read(None, url, None)?, steps)
    }

    /// The base that a page's `<base href>` sets in place of this one.
    pub fn with_base_href(&self, href: &str) -> Result<Self, Refusal> {
        Self::of(read::read(Some(&self.read), href, None)?, self.steps)
    }

    /// Where `href` leads.
    ///
    /// Refuses what is not a URL, has another scheme than `http` and `https`, or is longer than
    /// [`Canonical::MAX_LEN`].
    pub fn join(&self, href: &str) -> Result<Canonical, Refusal> {
        self.join_plain(href).map_or_else(|| self.join_any(href, None), Ok)
    }

    /// As [`join`](Self::join), on a page that is not in UTF-8: browsers write the query of a link
    /// in the encoding of the page, by `encode`.
    pub fn join_encoded(
        &self,
        href: &str,
        encode: &dyn Fn(&str) -> Cow<'_, [u8]>,
    ) -> Result<Canonical, Refusal> {
        self.join_plain(href).map_or_else(|| self.join_any(href, Some(encode)), Ok)
    }

    /// The base itself.
    pub fn canonical(&self) -> &Canonical {
        &self.canonical
    }

    fn of(read: Url, steps: CanonicalSteps) -> Result<Self, Refusal> {
        let canonical = steps.rewrite(read.clone())?;
        let directory_end = canonical.directory().len();
        let path_as_read = canonical.path() == read.path();
        Ok(Base { steps, canonical, directory_end, path_as_read, read })
    }

    fn join_any(&self, href: &str, encode: EncodingOverride<'_>) -> Result<Canonical, Refusal> {
        self.steps.rewrite(read::read(Some(&self.read), href, encode)?)
    }

    /// Joins a link in which nothing is to be resolved but `../` at its front, nothing escaped, and
    /// nothing dropped but its fragment; `None` for all others.
    fn join_plain(&self, href: &str) -> Option<Canonical> {
        let origin = self.canonical.origin();
        let below = href.strip_prefix(origin).filter(|rest| rest.starts_with('/'));
        let (folder, href) = self.climb(below.unwrap_or(href));
        let (path, rest) = href.split_at(plain_path(href.as_bytes())?);
        let query = &rest[..plain_query(rest.as_bytes())?];
        if !query.is_empty() && !self.is_settled(&query[1..]) {
            return None;
        }
        let keep = match (path.as_bytes().first(), folder) {
            (Some(b'/'), None) => origin.len(),
            (Some(b'/'), Some(_)) => return None,
            (Some(_), folder) => folder.unwrap_or(self.directory_end),
            (None, Some(folder)) => folder,
            (None, None) if query.is_empty() => return Some(self.canonical.clone()),
            (None, None) => origin.len() + self.canonical.path().len(),
        };
        self.canonical.with_tail(keep, path, query)
    }

    /// The end of the folder that `../`s at the front lead to, if there are any, and what follows.
    fn climb<'a>(&self, href: &'a str) -> (Option<usize>, &'a str) {
        let (mut folder, mut rest) = (None, href);
        // A step may have taken segments out of the path, and those count when climbing.
        while self.path_as_read
            && let Some(above) = rest.strip_prefix("../")
        {
            folder = Some(self.parent(folder.unwrap_or(self.directory_end)));
            rest = above;
        }
        (folder, rest)
    }

    fn parent(&self, folder: usize) -> usize {
        let root = self.canonical.origin().len();
        let before_slash = &self.canonical.as_str().as_bytes()[root..folder - 1];
        root + 1 + memrchr(b'/', before_slash).unwrap_or(0)
    }

    /// Whether no step drops or moves a parameter.
    fn is_settled(&self, query: &str) -> bool {
        !self.steps.has(CanonicalStep::SortedParameters) && !parameters::may_have_tracking(query)
    }
}

/// How many bytes at the front are a plain path: no empty segment and none that begins with a dot.
fn plain_path(href: &[u8]) -> Option<usize> {
    let start = usize::from(href.first() == Some(&b'/'));
    let mut before = b'/';
    for (at, &byte) in href.iter().enumerate().skip(start) {
        match byte {
            b'?' | b'#' => return Some(at),
            b'/' | b'.' if before == b'/' => return None,
            _ if !is_plain(byte) => return None,
            _ => before = byte,
        }
    }
    Some(href.len())
}

/// How many bytes at the front are a plain query, with its question mark; none where there is none.
fn plain_query(rest: &[u8]) -> Option<usize> {
    if rest.first() != Some(&b'?') {
        return Some(0);
    }
    let end = memchr(b'#', rest).unwrap_or(rest.len());
    let is_allowed = |byte: &u8| is_plain(*byte) || b"=&+,:;@!$*()?".contains(byte);
    rest[..end].iter().all(is_allowed).then_some(end)
}

/// Unreserved in RFC 3986, or a slash.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn links_join_to_their_page() {
        let base = Base::new("https://u@a.org/dir/page?x=1#y", CanonicalSteps::default()).unwrap();
        assert_eq!(base.canonical().as_str(), "https://a.org/dir/page?x=1");
        for (href, want) in [
            ("", "https://a.org/dir/page?x=1"),
            ("#top", "https://a.org/dir/page?x=1"),
            ("other", "https://a.org/dir/other"),
            ("other/#a b", "https://a.org/dir/other/"),
            ("other #a", "https://a.org/dir/other%20"),
            ("/other?y=2#z", "https://a.org/other?y=2"),
            ("/", "https://a.org/"),
            (".", "https://a.org/dir/"),
            ("../x", "https://a.org/x"),
            ("../", "https://a.org/"),
            ("../?q", "https://a.org/?q"),
            ("../../x", "https://a.org/x"),
            ("..//x", "https://a.org//x"),
            ("./x", "https://a.org/dir/x"),
            (".x", "https://a.org/dir/.x"),
            ("?y", "https://a.org/dir/page?y"),
            ("?", "https://a.org/dir/page"),
            ("?utm_source=y", "https://a.org/dir/page"),
            ("//b.org", "https://b.org/"),
            ("///b.org/c", "https://b.org/c"),
            (" \\\\\\b.org/c", "https://b.org/c"),
            ("https:c", "https://a.org/dir/c"),
            ("https://a.org/x", "https://a.org/x"),
            ("https://a.org", "https://a.org/"),
            ("https://a.org//b", "https://a.org//b"),
            ("https://a.org.evil/x", "https://a.org.evil/x"),
            ("a\nb", "https://a.org/dir/ab"),
            ("a:b", "scheme"),
            ("é", "https://a.org/dir/%C3%A9"),
        ] {
            let got = base.join(href);
            let got = got.as_ref().map_or_else(|why| why.code(), Canonical::as_str);
            assert_eq!(got, want, "{href}");
        }
    }

    #[test]
    fn a_base_element_moves_the_base() {
        let page = Base::new("http://a.org/x/y", CanonicalSteps::default()).unwrap();
        let moved = page.with_base_href("//b.org/z/").unwrap();
        assert_eq!(moved.join("w").unwrap().as_str(), "http://b.org/z/w");
        assert_eq!(page.with_base_href("data:x").map(|_| ()), Err(Refusal::Scheme));
    }

    #[test]
    fn a_page_in_another_encoding_writes_its_queries_so() {
        fn latin1(text: &str) -> Cow<'_, [u8]> {
            Cow::Owned(text.chars().map(|c| c as u8).collect())
        }
        let base = Base::new("http://a.jp/", CanonicalSteps::default()).unwrap();
        let url = base.join_encoded("/é?q=é", &latin1).unwrap();
        assert_eq!(url.as_str(), "http://a.jp/%C3%A9?q=%E9");
        assert_eq!(base.join_encoded("x", &latin1), base.join("x"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn plain_links_lead_where_the_parser_says(
            href in "(https?://a\\.org|(\\.\\./){1,3})?[a-c./?#&=:;~_ +-]{0,12}",
            base in "https?://(u@)?a\\.org(:81)?/([ab]/|/|a;jsessionid=1/){0,4}[a-c./?;&-]{0,8}",
            bits: u8,
        ) {
            let wanted = CanonicalStep::ALL.into_iter().filter(|step| bits >> *step as u8 & 1 != 0);
            let steps = wanted.fold(CanonicalSteps::NONE, CanonicalSteps::with);
            let Ok(base) = Base::new(&base, steps) else { return Ok(()) };
            if let Some(plain) = base.join_plain(&href) {
                prop_assert_eq!(Ok(plain), base.join_any(&href, None));
            }
        }
    }
}
