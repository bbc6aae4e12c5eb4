//! Where do the pages of a site send their visitors, instead of showing content?
//!
//! Many good sites send visitors on too: to the same path where they have moved, to a form that sends them back
//! where they must say who they are, each to another place where addresses are shortened. A doorway sends them to
//! one place, whatever they asked for, and goes on to show that there is something to ask for.

use std::collections::{HashMap, HashSet};

use evercrawl_urls::Canonical;
use xxhash_rust::xxh3::xxh3_64;

use crate::page_features::PageFeatures;
use crate::sign::{Sign, SignKind};

/// The most hosts, and places there, that are remembered of a site.
const MOST: usize = 1000;
/// Fewer pages do not make a pattern.
const LEAST_PAGES: u32 = 4;
/// Pages that answer by leading to the same place, at least, for each such place.
const MANY_TO_ONE: usize = 3;
/// How sure it can be of a site that shows nothing and says that all of it is elsewhere for good: it may have moved,
/// and its owner may not have cared about single pages.
const MAY_HAVE_MOVED: f64 = 0.4;

/// What was seen of where a site's pages lead.
#[derive(Clone, Debug, Default)]
pub struct DoorwayEvidence {
    pages: u32,
    shows_something: bool,
    /// By the host that they lead to.
    doors: HashMap<String, Door>,
}

/// Pages that lead to one host.
#[derive(Clone, Debug, Default)]
struct Door {
    /// Those that say something, and send their readers on before it can be read.
    by_content: u32,
    /// Those that answer with the other address.
    by_answer: u32,
    /// Of those, the ones that say so for good.
    for_good: u32,
    /// The different places there, as hashes; the query of a URL does not count.
    places: HashSet<u64>,
}

impl DoorwayEvidence {
    /// How many pages were counted.
    pub fn pages_counted(&self) -> u32 {
        self.pages
    }

    /// The site shows something of its own: a page, or a list of pages.
    pub fn record_content(&mut self) {
        self.shows_something = true;
    }

    /// Adds a page that has content.
    pub fn add_page(&mut self, url: &str, features: &PageFeatures) {
        self.pages += 1;
        self.record_content();
        let target = features.sends_to.as_deref().and_then(|to| off_host_target(url, to));
        if let Some(door) = target.and_then(|target| self.door(&target)) {
            door.by_content += 1;
        }
    }

    /// Adds a page that answers with another address, `for_good` or for now.
    pub fn add_redirect(&mut self, url: &str, target: &str, for_good: bool) {
        self.pages += 1;
        let Some(target) = off_host_target(url, target) else { return };
        if let Some(door) = self.door(&target) {
            door.by_answer += 1;
            door.for_good += u32::from(for_good);
            door.places.insert(xxh3_64(target.path().as_bytes()));
        }
    }

    fn door(&mut self, target: &Canonical) -> Option<&mut Door> {
        let known = self.doors.len() < MOST || self.doors.contains_key(target.host());
        known.then(|| self.doors.entry(target.host().to_owned()).or_default())
    }

    /// The sign that most pages lead to one other host.
    pub fn sign(&self) -> Option<Sign> {
        let signs = self.doors.iter().filter_map(|(there, door)| self.sign_of(there, door));
        let surer =
            |a: &Sign, b: &Sign| a.score.total_cmp(&b.score).then(b.evidence.cmp(&a.evidence));
        signs.max_by(surer).filter(|_| self.pages >= LEAST_PAGES)
    }

    fn sign_of(&self, there: &str, door: &Door) -> Option<Sign> {
        let (all, by_answer) = (self.pages, door.counted_answers());
        let count = door.by_content + by_answer;
        let share = f64::from(count) / f64::from(all);
        if by_answer == 0 {
            let evidence = format!("{count} of its {all} pages send their readers to {there}");
            return (count > 0)
                .then(|| Sign::measured(SignKind::Doorway, share, 0.1, 0.7, evidence));
        }
        let may_have_moved = !self.shows_something && 2 * door.for_good > door.by_answer;
        let but = if may_have_moved { ", for good: it may have moved" } else { "" };
        let evidence = format!(
            "{count} of its {all} pages send every visitor on to {there}, whatever was asked for{but}"
        );
        let sign = Sign::measured(SignKind::Doorway, share, 0.2, 0.75, evidence);
        let most = if may_have_moved { MAY_HAVE_MOVED } else { 1.0 };
        Some(Sign { score: sign.score.min(most), ..sign })
    }
}

impl Door {
    /// The answers that count: many that lead to few places.
    fn counted_answers(&self) -> u32 {
        let many = self.by_answer >= LEAST_PAGES
            && self.by_answer as usize >= MANY_TO_ONE * self.places.len();
        if many { self.by_answer } else { 0 }
    }
}

/// A page's target, if it belongs to somebody else, as far as names tell: another registered domain, and not the
/// same name under another suffix.
pub(crate) fn off_site_target(url: &str, target: &str) -> Option<Canonical> {
    let scheme = if target.starts_with("//") { "http:" } else { "" };
    let target = Canonical::parse(&format!("{scheme}{target}")).ok()?;
    let url = Canonical::parse(url).ok()?;
    let name = |url: &Canonical| url.domain().split('.').next().unwrap_or_default().to_owned();
    let other = match (url.ip(), target.ip()) {
        (None, None) => name(&url) != name(&target),
        _ => url.host() != target.host(),
    };
    other.then_some(target)
}

/// A page's target, if it belongs to somebody else and is neither the same page nor leads back to it.
fn off_host_target(url: &str, target: &str) -> Option<Canonical> {
    let (url, target) = (Canonical::parse(url).ok()?, off_site_target(url, target)?);
    let owed = is_kept(&url, &target) || is_login_redirect(&url, &target);
    (!owed).then_some(target)
}

/// Whether the target is the same page elsewhere: by its whole path, or by its name. A front page cannot be compared.
fn is_kept(url: &Canonical, target: &Canonical) -> bool {
    let asked = url.path_and_query().trim_end_matches('/');
    let whole = target.path_and_query().trim_end_matches('/').ends_with(asked);
    whole || has_its_name(url, target)
}

/// Whether a page's name is part of its target too: as a parameter, or else as the last part of its path.
fn has_its_name(url: &Canonical, target: &Canonical) -> bool {
    if let Some(asked) = url.query() {
        let given = target.query().unwrap_or_default();
        return asked
            .split('&')
            .any(|pair| !pair.is_empty() && given.split('&').any(|one| one == pair));
    }
    let own = url.segments().rfind(|part| !part.is_empty()).map(stem);
    own.is_some_and(|own| target.segments().any(|part| stem(part) == own))
}

/// A file name without its extension.
fn stem(segment: &str) -> &str {
    segment.rsplit_once('.').map_or(segment, |(stem, _)| stem)
}

/// Words in addresses of login pages.
const ASKING: [&str; 12] = [
    "login", "log-in", "logon", "signin", "sign-in", "sso", "auth", "oauth", "oauth2", "saml",
    "cas", "consent",
];

/// The target asks something first, and leads back to what was asked for.
fn is_login_redirect(url: &Canonical, target: &Canonical) -> bool {
    let query = target.query().unwrap_or_default().replace("%2F", "/").replace("%2f", "/");
    let leads_back = url.path().len() > 1 && query.contains(url.path());
    let asks = |part: &str| ASKING.contains(&stem(part).to_ascii_lowercase().as_str());
    leads_back || target.segments().any(asks)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a page of some number leads.
    type Target<'a> = &'a dyn Fn(u32) -> String;

    /// How sure a doorway is where forty pages answer by leading to `target`, each with its number.
    fn score(host: &str, for_good: bool, shows: bool, target: impl Fn(u32) -> String) -> f64 {
        let mut doors = DoorwayEvidence::default();
        for page in 0..40 {
            let url = format!("http://{host}/offers/item-{page}.html");
            doors.add_redirect(&url, &target(page), for_good);
        }
        if shows {
            doors.record_content();
        }
        doors.sign().map_or(0.0, |sign| sign.score)
    }

    #[test]
    fn hosts_that_send_every_visitor_to_one_place_are_doorways() {
        let shop = |_| "http://shop.example/".to_owned();
        for (target, for_good, shows) in [
            (&shop as Target<'_>, false, false),
            (&shop, false, true),
            (&shop, true, true),
            (&|page| format!("https://www.shop.example/land?from=item-{page}"), false, false),
            (&|page| format!("http://shop.example/land{}", page % 3), false, true),
        ] {
            let sure = score("cheap.example", for_good, shows, target);
            assert!(sure > 0.95, "{}: {sure}", target(7));
        }
    }

    #[test]
    fn good_hosts_that_send_visitors_on_are_no_doorways() {
        let cases: [(&str, &str, Target<'_>); 14] = [
            ("a safe scheme", "a.example", &|page| {
                format!("https://a.example/offers/item-{page}.html")
            }),
            ("a safe scheme, carelessly", "a.example", &|_| "https://a.example/".to_owned()),
            ("with www", "a.example", &|page| {
                format!("http://www.a.example/offers/item-{page}.html")
            }),
            ("without www, carelessly", "www.a.example", &|_| "http://a.example/".to_owned()),
            ("a language", "a.example", &|_| "http://de.a.example/start".to_owned()),
            ("another suffix", "a.co.uk", &|_| "http://www.a.example/".to_owned()),
            ("moved", "old.example", &|page| format!("http://new.example/offers/item-{page}.html")),
            ("moved below", "old.example", &|page| {
                format!("http://new.example/old/offers/item-{page}.html")
            }),
            ("moved and renamed", "old.example", &|page| {
                format!("http://new.example/2026/item-{page}/")
            }),
            ("shortener of many", "sho.rt", &|page| format!("http://site{page}.example/x")),
            ("shortener of one", "sho.rt", &|page| {
                format!("http://big.example/story/{}", page * 7 + 100)
            }),
            ("login", "a.example", &|_| "https://id.example/login".to_owned()),
            ("comes back", "a.example", &|page| {
                format!(
                    "https://id.example/check?to=http%3A%2F%2Fa.example%2Foffers%2Fitem-{page}.html"
                )
            }),
            ("sso", "a.example", &|page| format!("https://id.example/realms/sso/start?n={page}")),
        ];
        for (what, host, target) in cases {
            for (for_good, shows) in [(true, true), (true, false), (false, true), (false, false)] {
                let sure = score(host, for_good, shows, target);
                assert!(sure < 0.1, "{what}: {sure}");
            }
        }
    }

    #[test]
    fn a_site_that_moved_with_its_parameters_or_by_its_pages_is_no_doorway() {
        let (mut by_answer, mut by_content) =
            (DoorwayEvidence::default(), DoorwayEvidence::default());
        for page in 0..40 {
            let url = format!("http://old.example/view.php?id={page}");
            let target = format!("http://new.example/article?lang=en&id={page}");
            by_answer.add_redirect(&url, &target, false);
            let url = format!("http://old.example/notes/{page}/");
            let sends_to = Some(format!("http://new.example/notes/{page}/"));
            by_content.add_page(&url, &PageFeatures { sends_to, ..PageFeatures::default() });
        }
        assert_eq!((by_answer.sign(), by_content.sign()), (None, None));
    }

    #[test]
    fn a_host_that_shows_nothing_and_leads_on_for_good_may_have_moved() {
        let sure = score("old.example", true, false, |_| "http://new.example/".to_owned());
        assert_eq!(sure, MAY_HAVE_MOVED);
    }

    #[test]
    fn a_site_with_some_pages_that_lead_on_is_no_doorway() {
        let mut doors = DoorwayEvidence::default();
        for page in 0..40 {
            let url = format!("http://blog.example/p{page}");
            match page % 3 {
                0 => doors.add_redirect(&url, "http://sponsor.example/?ad=1", false),
                _ => doors.add_page(&url, &PageFeatures::default()),
            }
        }
        assert!(doors.sign().is_some_and(|sign| sign.score < 0.5), "{:?}", doors.sign());
    }

    #[test]
    fn what_pages_and_answers_do_counts_together_and_few_prove_nothing() {
        let features = PageFeatures {
            sends_to: Some("//shop.example/".to_owned()),
            ..PageFeatures::default()
        };
        let mut doors = DoorwayEvidence::default();
        for page in 0..20 {
            doors.add_page(&format!("http://a.example/c{page}"), &features);
            doors.add_redirect(&format!("http://a.example/r{page}"), "http://shop.example/", true);
        }
        let sign = doors.sign().unwrap();
        assert!(sign.score > 0.99 && sign.evidence.starts_with("40 of its 40 pages"), "{sign:?}");
        let mut few = DoorwayEvidence::default();
        (0..3).for_each(|page| few.add_page(&format!("http://a.example/c{page}"), &features));
        assert_eq!(few.sign(), None);
    }
}
