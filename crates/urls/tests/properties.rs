//! What holds for every input, however hostile?

#![allow(clippy::expect_used, reason = "tests may fail")]

use evercrawl_model::Time;
use evercrawl_urls::{
    Base, Canonical, CanonicalStep, CanonicalSteps, FilterRules, Scope, ScopeKind, UrlFilter,
    family_of, parse_seed_line,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Pieces of URLs at their worst, to be strung together.
const PIECES: [&str; 64] = [
    "http://",
    "https://",
    "HTTP:",
    "//",
    "/",
    "\\",
    ".",
    "..",
    "%2e",
    "%2E.",
    ":",
    ":80",
    ":443",
    ":8080",
    "@",
    "user:pw@",
    "a.org",
    "A.ORG.",
    "www.",
    "é.de",
    "xn--bcher-kva.de",
    "1.2.3.4",
    "0x7f.1",
    "[::1]",
    "[::ffff:1.2.3.4]",
    "?",
    "&",
    "=",
    "#",
    ";",
    ";jsessionid=1",
    "PHPSESSID=1",
    "sid=9f86d081884c7d65",
    "CFID=1&CFTOKEN=2",
    "utm_source=x",
    "gclid",
    "b=1",
    "a=2",
    "%",
    "%%36",
    "%7e",
    "%c3%a9",
    "%zz",
    "%25",
    "[",
    "]",
    "{",
    "|",
    "^",
    "`",
    "'",
    "\"",
    " ",
    "\t",
    "\n",
    "日本",
    "\u{80}",
    "(S(4jhnkk45ebq3yi45z0cjyq55))",
    "foo/bar/",
    "2031/05",
    "calendar",
    "year=2031",
    "month=5",
    "a.jpg",
];

fn mangled() -> impl Strategy<Value = String> {
    let strung = vec(select(&PIECES[..]), 0..14).prop_map(|pieces| pieces.concat());
    prop_oneof![
        6 => strung.clone().prop_map(|rest| format!("http://a.org/{rest}")),
        3 => strung.clone().prop_map(|rest| format!("https://{rest}")),
        2 => strung,
        1 => any::<String>(),
        1 => any::<String>().prop_map(|rest| format!("http://{rest}")),
    ]
}

fn steps() -> impl Strategy<Value = CanonicalSteps> {
    subsequence(CanonicalStep::ALL.to_vec(), 0..=CanonicalStep::ALL.len())
        .prop_map(|steps| steps.into_iter().fold(CanonicalSteps::NONE, CanonicalSteps::with))
}

fn gate() -> UrlFilter {
    let rules = FilterRules { denied_hosts: vec!["evil.org".into()], ..FilterRules::default() };
    UrlFilter::new(Scope::new(ScopeKind::Any), rules).expect("the rules are sound")
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2048,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn canonical_urls_stay_as_they_are(text in mangled(), steps in steps()) {
        let base = Base::new("http://user@base.org/dir/page;jsessionid=1?x", steps);
        let base = base.expect("a URL");
        for once in [steps.canonicalize(&text), base.join(&text)].into_iter().flatten() {
            prop_assert_eq!(steps.canonicalize(once.as_str()), Ok(once.clone()));
            prop_assert_eq!(base.join(once.as_str()), Ok(once));
        }
    }

    #[test]
    fn canonical_urls_are_plain_and_rebuilt_from_their_text(text in mangled(), steps in steps()) {
        let Ok(url) = steps.canonicalize(&text) else { return Ok(()) };
        prop_assert!(url.as_str().bytes().all(|byte| byte.is_ascii_graphic()));
        prop_assert!(!url.as_str().contains('#') && !url.authority().contains('@'));
        prop_assert_eq!(Canonical::from_trusted(url.as_str().to_owned()), Some(url.clone()));
        let parsed = url.to_url().expect("canonical URLs are URLs");
        prop_assert_eq!(parsed.path(), url.path());
        prop_assert_eq!(parsed.query(), url.query());
        prop_assert_eq!(parsed.port_or_known_default(), Some(url.port()));
        prop_assert_eq!(parsed.scheme() == "https", url.is_https());
        prop_assert!(url.host().contains(url.domain()));
        prop_assert!(url.as_str().starts_with(url.directory()));
    }

    #[test]
    fn a_seed_opens_itself_in_every_scope(text in mangled()) {
        let Ok(url) = Canonical::parse(&text) else { return Ok(()) };
        for kind in ScopeKind::ALL {
            let mut scope = Scope::new(kind);
            scope.add(&url);
            prop_assert!(scope.contains(&url));
        }
    }

    #[test]
    fn judging_is_total_and_explained(text in mangled(), depth: u16, now: u64) {
        let (gate, now) = (gate(), Time::from_millis(now));
        let Ok(url) = Canonical::parse(&text) else { return Ok(()) };
        let refused = gate.check_url(&url, depth, now).is_err();
        let words = gate.explain(&url, depth, now);
        prop_assert_eq!(words.is_some(), refused);
        prop_assert!(words.is_none_or(|words| !words.contains("``")));
        prop_assert_eq!(family_of(&url), family_of(&url.clone()));
    }

    #[test]
    fn seed_lines_give_targets_that_can_be_tried(line in mangled()) {
        if let Ok(Some(seed)) = parse_seed_line(&line, CanonicalSteps::default()) {
            prop_assert!(!seed.target.candidates(CanonicalSteps::default()).is_empty());
        }
    }

    #[test]
    fn damaged_texts_are_read_without_panic(text in mangled(), cut in 0usize..40) {
        let text: String = text.chars().skip(cut).collect();
        if let Some(url) = Canonical::from_trusted(text) {
            prop_assert!(url.as_str().ends_with(url.path_and_query()));
            prop_assert!(url.host().len() <= url.authority().len());
            let _ = (url.port(), url.ip(), url.domain(), url.segments().count(), url.directory());
        }
    }
}

/// Work that grew with the square of the length would hang the suite here.
#[test]
fn the_longest_inputs_are_read_like_any_other() {
    let rules =
        FilterRules { max_length: usize::MAX, max_segments: usize::MAX, ..FilterRules::default() };
    let gate = UrlFilter::new(Scope::new(ScopeKind::Any), rules).expect("the rules are sound");
    let base = Base::new("http://a.org/", CanonicalSteps::default()).expect("a URL");
    for unit in ["cfid&", "a/", "../", "a;", "%%36", "(S(", "1/", "2031/05/", "&", "sid=1&", "["] {
        let tail = unit.repeat(60_000 / unit.len());
        for href in [tail.clone(), format!("?{tail}"), format!("http://{tail}b/")] {
            let Ok(url) = base.join(&href) else { continue };
            let again = base.join(url.as_str());
            assert_eq!(again.as_ref(), Ok(&url), "{unit}");
            assert_eq!(gate.check_url(&url, 0, Time::EPOCH), gate.check_url(&url, 0, Time::EPOCH));
            assert_eq!(family_of(&url), family_of(&url.clone()));
        }
    }
}
