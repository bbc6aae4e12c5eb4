//! Does a URL belong to the scope of the crawl?

use std::collections::HashSet;

use memchr::memchr_iter;
use xxhash_rust::xxh3::xxh3_64;

use crate::Canonical;

/// How far around its seeds a crawl reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ScopeKind {
    /// The seeds themselves and nothing else.
    Page,
    /// What lies in a seed's folder or below: `/docs/intro.html` opens `/docs/`.
    Prefix,
    /// What a seed's host serves.
    #[default]
    Host,
    /// What all hosts of a seed's registered domain serve, at any port.
    Domain,
    /// Everything.
    Any,
}

impl ScopeKind {
    /// Every kind, the narrowest first.
    pub const ALL: [ScopeKind; 5] =
        [ScopeKind::Page, ScopeKind::Prefix, ScopeKind::Host, ScopeKind::Domain, ScopeKind::Any];

    /// The kind's name in configuration.
    pub const fn name(self) -> &'static str {
        match self {
            ScopeKind::Page => "page",
            ScopeKind::Prefix => "prefix",
            ScopeKind::Host => "host",
            ScopeKind::Domain => "domain",
            ScopeKind::Any => "any",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The part of the web that a set of seeds opens.
///
/// A URL is in scope when it is in scope of any seed. Sites move from `http` to `https` and to or
/// from `www.`, so for [`Page`](ScopeKind::Page), [`Prefix`](ScopeKind::Prefix) and
/// [`Host`](ScopeKind::Host) neither makes a difference: `http://example.org` opens
/// `https://www.example.org` and the reverse. A port that is not the scheme's own does: another
/// port is another server. A seed that redirects to another host opens that host only once the
/// target has been [added](Scope::add).
///
/// Each seed costs one 64-bit hash of what it opens, so that millions of seeds fit in memory.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    kind: ScopeKind,
    opened: HashSet<u64>,
    /// The most slashes in a folder that a seed opened: no deeper folder need be looked up.
    deepest: usize,
}

impl Scope {
    /// A scope of that kind without seeds: only [`ScopeKind::Any`] lets anything in.
    pub fn new(kind: ScopeKind) -> Self {
        Scope { kind, ..Scope::default() }
    }

    /// Opens what lies around one more seed.
    pub fn add(&mut self, seed: &Canonical) {
        let key = match self.kind {
            ScopeKind::Any => return,
            ScopeKind::Page => without_www(seed, seed.as_str().len()),
            ScopeKind::Prefix => {
                self.deepest = self.deepest.max(seed.segments().count());
                without_www(seed, seed.directory().len())
            }
            ScopeKind::Host => without_www(seed, seed.origin().len()),
            ScopeKind::Domain => seed.domain(),
        };
        self.opened.insert(xxh3_64(key.as_bytes()));
    }

    /// Whether any seed opens `url`.
    pub fn contains(&self, url: &Canonical) -> bool {
        match self.kind {
            ScopeKind::Any => true,
            ScopeKind::Page => self.opens(without_www(url, url.as_str().len())),
            ScopeKind::Prefix => {
                let root = url.origin().len();
                memchr_iter(b'/', url.path().as_bytes())
                    .take(self.deepest)
                    .any(|slash| self.opens(without_www(url, root + slash + 1)))
            }
            ScopeKind::Host => self.opens(without_www(url, url.origin().len())),
            ScopeKind::Domain => self.opens(url.domain()),
        }
    }

    /// How far the scope reaches.
    pub fn kind(&self) -> ScopeKind {
        self.kind
    }

    /// How many different pages, folders, hosts or domains the seeds have opened.
    pub fn len(&self) -> usize {
        self.opened.len()
    }

    /// Whether no seed has been added.
    pub fn is_empty(&self) -> bool {
        self.opened.is_empty()
    }

    fn opens(&self, key: &str) -> bool {
        self.opened.contains(&xxh3_64(key.as_bytes()))
    }
}

/// The URL up to byte `end`, without the scheme and without a `www.` before a name of at least two
/// labels: the same for a site's twins.
fn without_www(url: &Canonical, end: usize) -> &str {
    let scheme = url.origin().len() - url.authority().len();
    let twin = url.host().strip_prefix("www.").is_some_and(|name| name.contains('.'));
    let start = if twin { scheme + "www.".len() } else { scheme };
    &url.as_str()[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Canonical {
        Canonical::parse(text).unwrap()
    }

    fn scope(kind: ScopeKind, seeds: &[&str]) -> Scope {
        let mut scope = Scope::new(kind);
        seeds.iter().for_each(|seed| scope.add(&url(seed)));
        scope
    }

    #[test]
    fn each_kind_reaches_as_far_as_it_says() {
        use ScopeKind::{Any, Domain, Host, Page, Prefix};
        let seed = "http://www.a.co.uk/docs/intro.html?v=1";
        for (text, kinds) in [
            (seed, &[Page, Prefix, Host, Domain, Any][..]),
            ("https://a.co.uk/docs/intro.html?v=1", &[Page, Prefix, Host, Domain, Any]),
            ("http://www.a.co.uk/docs/intro.html", &[Prefix, Host, Domain, Any]),
            ("https://www.a.co.uk/docs/b/c", &[Prefix, Host, Domain, Any]),
            ("http://www.a.co.uk/docs", &[Host, Domain, Any]),
            ("http://www.a.co.uk/docs2/", &[Host, Domain, Any]),
            ("http://a.co.uk:8080/docs/", &[Domain, Any]),
            ("http://shop.a.co.uk/docs/", &[Domain, Any]),
            ("http://b.co.uk/docs/", &[Any]),
            ("http://a.co.uk.evil.org/docs/", &[Any]),
        ] {
            for kind in ScopeKind::ALL {
                let want = kinds.contains(&kind);
                assert_eq!(scope(kind, &[seed]).contains(&url(text)), want, "{kind:?} {text}");
            }
        }
    }

    #[test]
    fn seeds_can_be_added_later_and_count_once() {
        let mut scope = scope(ScopeKind::Host, &["http://a.org/x", "https://www.a.org/y"]);
        assert_eq!((scope.len(), scope.is_empty()), (1, false));
        assert!(!scope.contains(&url("http://b.org/")));
        scope.add(&url("http://b.org/"));
        assert!(scope.contains(&url("http://b.org/z")) && scope.contains(&url("http://a.org/z")));
    }

    #[test]
    fn nothing_is_open_without_seeds() {
        for kind in ScopeKind::ALL {
            let open = Scope::new(kind).contains(&url("http://a.org/"));
            assert_eq!(open, kind == ScopeKind::Any);
            assert_eq!(ScopeKind::from_name(kind.name()), Some(kind));
        }
    }

    #[test]
    fn a_deeper_seed_does_not_open_its_parents() {
        let scope = scope(ScopeKind::Prefix, &["http://a.org/x/y/z/", "http://b.org/"]);
        assert!(scope.contains(&url("http://a.org/x/y/z/deep/er")));
        assert!(!scope.contains(&url("http://a.org/x/y/")));
        assert!(scope.contains(&url("http://b.org/any/thing")));
    }

    #[test]
    fn www_is_no_twin_of_a_suffix() {
        assert!(!scope(ScopeKind::Host, &["http://www.com/"]).contains(&url("http://com/")));
    }
}
