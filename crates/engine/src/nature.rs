//! Is this the page that was asked for, or something that was put in its place?
//!
//! Three things are: a page that says "not found" with status 200, a form that asks for a password,
//! and the page of a domain that nobody uses. Words alone prove none of them, so what they make
//! suspect is compared with how the host answers for an address that cannot exist.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use evercrawl_compare::{Outline, Soft404Profile};
use evercrawl_extract::HtmlPage;
use evercrawl_model::Outcome;

/// A page with more words than this is no form, no excuse and no sign on an empty lot.
const SHORT: u32 = 250;
/// Words of a page that has little to say beside its form.
const FORM_WORDS: u32 = 150;
/// How much of a text is searched for telling words.
const HEAD: usize = 400;

/// What came in answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nature {
    /// The page itself.
    Itself,
    /// Perhaps something else: how the host answers for an address that cannot exist would tell.
    Suspect(Outcome),
    /// Something else.
    Substitute(Outcome),
}

/// What a page is that came with status 200 for `url`. `held` says that content of it is held.
pub(crate) fn of_page(
    url: &str,
    page: &HtmlPage,
    outline: &Outline,
    held: bool,
    profile: Option<&Soft404Profile>,
) -> Nature {
    if is_login_form(url, page, outline, held) {
        return Nature::Substitute(Outcome::LoginWall);
    }
    if outline.words() > SHORT {
        return Nature::Itself;
    }
    let shown = profile.and_then(|profile| profile.shows.as_ref());
    let alike = shown.is_some_and(|shown| shown.is_like(outline));
    let signs = [offers_domain(page), is_of_parking_service(page), alike];
    let parked = signs.iter().filter(|sign| **sign).count();
    match (parked, profile) {
        (2.., _) => Nature::Substitute(Outcome::Parked),
        (1, None) => Nature::Suspect(Outcome::Parked),
        _ if !says_not_found(page) || is_root(url) => Nature::Itself,
        (_, None) => Nature::Suspect(Outcome::SoftGone),
        _ if alike => Nature::Substitute(Outcome::SoftGone),
        _ => Nature::Itself,
    }
}

/// What a redirect of `url` to `target` is. `held` says that content of the page is held.
pub(crate) fn of_redirect(
    url: &str,
    target: &str,
    held: bool,
    profile: Option<&Soft404Profile>,
) -> Nature {
    // It leads back to itself, often to see whether a cookie comes along: a loop, and nothing else.
    if target == url {
        return Nature::Itself;
    }
    if is_login_address(target) && !is_login_address(url) {
        return Nature::Substitute(Outcome::LoginWall);
    }
    let telling = is_root(target) || has_word(path_of(target), &["404", "notfound", "not-found"]);
    match profile {
        Some(profile) if profile.leads_to == Some(hash(target)) => {
            Nature::Substitute(Outcome::SoftGone)
        }
        None if held && telling => Nature::Suspect(Outcome::SoftGone),
        _ => Nature::Itself,
    }
}

/// Where a redirect leads, as it is remembered.
pub(crate) fn hash(target: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(target.as_bytes())
}

/// A password is asked for, and there is little else; a page that asks by its very address is
/// itself.
fn is_login_form(url: &str, page: &HtmlPage, outline: &Outline, held: bool) -> bool {
    let expected = || is_login_address(url) || is_root(url) && !held;
    page.password_fields > 0 && outline.words() <= FORM_WORDS && !expected()
}

fn is_login_address(url: &str) -> bool {
    has_word(path_of(url), &LOGIN_WORDS)
}

const LOGIN_WORDS: [&str; 14] = [
    "login",
    "log-in",
    "log_in",
    "logon",
    "signin",
    "sign-in",
    "sign_in",
    "signup",
    "register",
    "sso",
    "auth",
    "oauth",
    "anmelden",
    "connexion",
];

/// The page says that something is not there.
fn says_not_found(page: &HtmlPage) -> bool {
    static WORDS: LazyLock<Phrases> = LazyLock::new(|| Phrases::new(&NOT_FOUND));
    let title = page.title.as_deref().unwrap_or_default();
    WORDS.are_in(title) || WORDS.are_in(head(&page.text))
}

const NOT_FOUND: [&str; 22] = [
    "404",
    "not found",
    "not be found",
    "could not find",
    "couldn't find",
    "does not exist",
    "doesn't exist",
    "no longer available",
    "no longer exists",
    "nothing here",
    "nicht gefunden",
    "existiert nicht",
    "introuvable",
    "n'existe pas",
    "no encontrad",
    "no existe",
    "non trovata",
    "não encontrad",
    "niet gevonden",
    "не найден",
    "找不到",
    "見つかりません",
];

/// The page offers its domain.
fn offers_domain(page: &HtmlPage) -> bool {
    static WORDS: LazyLock<Phrases> = LazyLock::new(|| Phrases::new(&FOR_SALE));
    let title = page.title.as_deref().unwrap_or_default();
    WORDS.are_in(title) || WORDS.are_in(&page.text)
}

const FOR_SALE: [&str; 14] = [
    "domain is for sale",
    "domain may be for sale",
    "domain name is for sale",
    "buy this domain",
    "domain is parked",
    "parked free",
    "parked domain",
    "domain parking",
    "domain has expired",
    "domain steht zum verkauf",
    "domain kaufen",
    "domaine est à vendre",
    "dominio en venta",
    "dominio è in vendita",
];

/// The page is made of parts of a service that fills unused domains.
fn is_of_parking_service(page: &HtmlPage) -> bool {
    let served = |host: &str| PARKING.iter().any(|name| host.ends_with(name));
    // Nearly all links of most pages name no host.
    page.links.iter().filter(|link| link.href.contains("//")).any(|link| served(host_of(link.href)))
}

const PARKING: [&str; 12] = [
    "sedoparking.com",
    "sedo.com",
    "bodis.com",
    "parkingcrew.net",
    "parklogic.com",
    "above.com",
    "dan.com",
    "afternic.com",
    "hugedomains.com",
    "cashparking.com",
    "uniregistry.com",
    "domainmarket.com",
];

/// Telling words, prepared to be looked for all at once: every short page is searched for them.
struct Phrases(Option<AhoCorasick>);

impl Phrases {
    /// Words in small letters. Too many would be none: those that there are fit.
    fn new(phrases: &[&str]) -> Self {
        Phrases(AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(phrases).ok())
    }

    /// True when a text has one of them, in capitals or not.
    fn are_in(&self, text: &str) -> bool {
        let text = match has_other_letters(text) {
            true => text.to_lowercase(),
            false => text.to_ascii_lowercase(),
        };
        self.0.as_ref().is_some_and(|words| words.is_match(&text))
    }
}

/// Whether a text has letters of which there are capitals, besides those of ASCII: in UTF-8 they have two bytes, as have signs
/// that begin with 0xC2. Most texts have quotation marks and dashes alone.
fn has_other_letters(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, 0xC3..=0xDF))
}

/// The beginning of a text.
fn head(text: &str) -> &str {
    let end = text.char_indices().nth(HEAD).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

fn is_root(url: &str) -> bool {
    matches!(path_of(url), "" | "/")
}

/// True when a path has one of these words between its separators.
fn has_word(path: &str, words: &[&str]) -> bool {
    let path = path.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    path.split(['/', '.']).any(|part| words.contains(&part))
}

/// Path and query of an absolute URL.
fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("", |at| &rest[at..])
}

fn host_of(url: &str) -> &str {
    let rest = url.split_once("//").map_or("", |(_, rest)| rest);
    rest.split(['/', '?', '#', ':']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use evercrawl_compare::NotFoundPage;

    use super::*;
    use evercrawl_extract::{Extractor, HtmlOptions};

    fn nature(url: &str, html: &str, held: bool, profile: Option<&Soft404Profile>) -> Nature {
        let mut extractor = Extractor::new();
        let page = extractor.extract_html(html, &HtmlOptions::default());
        of_page(url, page, &Outline::of_text(&page.text), held, profile)
    }

    fn shows(html: &str) -> Soft404Profile {
        let mut extractor = Extractor::new();
        let page = extractor.extract_html(html, &HtmlOptions::default());
        let shows = Some(NotFoundPage::of_outline(&Outline::of_text(&page.text)));
        Soft404Profile { shows, leads_to: None }
    }

    const SORRY: &str = "<title>Not found</title><p>Home<p>Contact<p>We looked everywhere.";

    #[test]
    fn words_make_suspect_and_the_likeness_proves() {
        let page =
            |profile: Option<&Soft404Profile>| nature("http://a.test/x", SORRY, true, profile);
        assert_eq!(page(None), Nature::Suspect(Outcome::SoftGone));
        assert_eq!(page(Some(&shows(SORRY))), Nature::Substitute(Outcome::SoftGone));
        assert_eq!(page(Some(&Soft404Profile::HONEST)), Nature::Itself);
        let root = nature("http://a.test/", SORRY, true, Some(&shows(SORRY)));
        assert_eq!(root, Nature::Itself);
        let essay = format!("<title>On 404 and not found</title>{}", "<p>A word more. ".repeat(99));
        assert_eq!(nature("http://a.test/essay", &essay, false, None), Nature::Itself);
    }

    #[test]
    fn profiles_round_trip() {
        let led = Soft404Profile { shows: None, leads_to: Some(7) };
        for profile in [Soft404Profile::HONEST, led, shows(SORRY)] {
            assert_eq!(Soft404Profile::from_bytes(&profile.to_bytes()), profile);
        }
        assert_eq!(Soft404Profile::from_bytes(&[1]), Soft404Profile::HONEST);
    }

    #[test]
    fn the_same_shell_for_all_is_no_excuse() {
        let shell = "<title>App</title><p>Loading";
        assert_eq!(nature("http://a.test/x", shell, true, Some(&shows(shell))), Nature::Itself);
    }

    #[test]
    fn a_password_form_where_none_was_asked_for_is_a_wall() {
        let form = "<p>Please sign in<form><input name=u><input type=PASSWORD name=p></form>";
        let wall = Nature::Substitute(Outcome::LoginWall);
        for (url, held, want) in [
            ("http://a.test/article", false, wall),
            ("http://a.test/article", true, wall),
            ("http://a.test/", true, wall),
            ("http://a.test/", false, Nature::Itself),
            ("http://a.test/login", true, Nature::Itself),
            ("http://a.test/user/sign-in.php?next=/", false, Nature::Itself),
        ] {
            assert_eq!(nature(url, form, held, None), want, "{url}");
        }
        let article = format!("{form}{}", "<p>And much to read besides.".repeat(50));
        assert_eq!(nature("http://a.test/article", &article, false, None), Nature::Itself);
    }

    #[test]
    fn two_signs_make_a_parked_domain() {
        let parked = Nature::Substitute(Outcome::Parked);
        let sale = "<title>a.test</title><p>This domain is for sale!<p>Related searches";
        assert_eq!(nature("http://a.test/", sale, true, None), Nature::Suspect(Outcome::Parked));
        assert_eq!(nature("http://a.test/", sale, true, Some(&shows(sale))), parked);
        assert_eq!(
            nature("http://a.test/", sale, true, Some(&Soft404Profile::HONEST)),
            Nature::Itself
        );
        let served = format!("{sale}<script src=https://img.sedoparking.com/x.js></script>");
        assert_eq!(nature("http://a.test/", &served, false, None), parked);
    }

    #[test]
    fn redirects_to_a_login_or_where_nonsense_leads_are_told() {
        let wall = Nature::Substitute(Outcome::LoginWall);
        let gone = Nature::Substitute(Outcome::SoftGone);
        let home = Soft404Profile { shows: None, leads_to: Some(hash("http://a.test/")) };
        for (target, held, profile, want) in [
            ("http://a.test/login?next=/x", false, None, wall),
            ("http://id.test/oauth/authorize", true, None, wall),
            ("http://a.test/", true, Some(&home), gone),
            ("http://a.test/", false, Some(&home), gone),
            ("http://a.test/", true, None, Nature::Suspect(Outcome::SoftGone)),
            ("http://a.test/", false, None, Nature::Itself),
            ("http://a.test/elsewhere", true, None, Nature::Itself),
            ("http://a.test/logins-of-the-rich", true, None, Nature::Itself),
        ] {
            assert_eq!(of_redirect("http://a.test/x", target, held, profile), want, "{target}");
        }
        for profile in [None, Some(&home)] {
            let itself = of_redirect("http://a.test/", "http://a.test/", true, profile);
            assert_eq!(itself, Nature::Itself);
        }
        let from_login = of_redirect("http://a.test/login", "http://a.test/sso", false, None);
        assert_eq!(from_login, Nature::Itself);
    }
}
