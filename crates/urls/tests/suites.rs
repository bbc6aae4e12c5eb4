//! Do the public suites hold? They live outside the project; without them the tests say so.

#![allow(clippy::expect_used, clippy::print_stderr, reason = "tests may fail, and say so")]

use std::collections::BTreeMap;

use evercrawl_urls::{Base, Canonical, CanonicalStep, CanonicalSteps};
use serde_json::Value;

fn suite(name: &str) -> Option<Value> {
    let path = format!("{}/../../../shared/data/suites/{name}", env!("CARGO_MANIFEST_DIR"));
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: no suite at {path}");
        return None;
    };
    Some(serde_json::from_str(&text).expect("the suite is JSON"))
}

fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap_or_default()
}

fn canon(steps: CanonicalSteps, input: &str) -> String {
    let url = steps.canonicalize(input);
    url.map_or_else(|why| why.code().to_owned(), Canonical::into_string)
}

#[test]
fn what_normalisers_agree_on_holds() {
    let Some(suite) = suite("urlnorm.json") else { return };
    let cases = suite["uncontested"].as_array().expect("a list of cases");
    for case in cases {
        let got = canon(CanonicalSteps::default(), text(case, "in"));
        assert_eq!(got, text(case, "out"), "{case}");
    }
    assert_eq!(cases.len(), 163);
}

/// What the table of `Step` says about each kind of choice, as numbers of cases.
#[test]
fn choices_are_made_as_documented() {
    let Some(suite) = suite("urlnorm.json") else { return };
    let mut decided = BTreeMap::new();
    for case in suite["choice"].as_array().expect("a list of cases") {
        *decided.entry(decision(case)).or_insert(0) += 1;
    }
    let want = [
        ("followed", 51),
        ("followed by an optional step", 25),
        ("not followed: another scheme", 15),
        ("not followed: encoding of the page", 2),
        ("not followed: fragment kept", 4),
        ("not followed: international host in Unicode", 14),
        ("not followed: names of IDNA 2003", 1),
        ("not followed: no host", 10),
        ("not followed: parameters rewritten", 13),
        ("not followed: user and password kept", 4),
    ];
    assert_eq!(decided, BTreeMap::from(want));
}

fn decision(case: &Value) -> &'static str {
    let (input, want, note) = (text(case, "in"), text(case, "out"), text(case, "note"));
    let optional = CanonicalSteps::default()
        .with(CanonicalStep::SingleSlashes)
        .with(CanonicalStep::SortedParameters);
    let got = canon(CanonicalSteps::default(), input);
    match () {
        () if got == want => "followed",
        () if canon(optional, input) == want => "followed by an optional step",
        () if got == "scheme" => "not followed: another scheme",
        () if got == "bad_url" => "not followed: no host",
        () if note.contains("keep_fragments") => "not followed: fragment kept",
        () if note.contains("userinfo") => "not followed: user and password kept",
        () if note.contains("encoding") => "not followed: encoding of the page",
        () if !want.is_ascii() => "not followed: international host in Unicode",
        () if input.contains("straße") => "not followed: names of IDNA 2003",
        () => "not followed: parameters rewritten",
    }
}

/// Left out: hosts with an `xn--` label that is no Punycode. Browsers let them through; the `url`
/// crate does not, and no such name can be registered.
const NO_PUNYCODE: [&str; 7] = [
    "http://a.b.c.xn--pokxncvks",
    "http://10.0.0.xn--pokxncvks",
    "http://a.b.c.XN--pokxncvks",
    "http://a.b.c.Xn--pokxncvks",
    "http://10.0.0.XN--pokxncvks",
    "http://10.0.0.xN--pokxncvks",
    "https://xn--/",
];

#[test]
fn whatwg_cases_of_the_web_hold() {
    let Some(suite) = suite("url_whatwg.json") else { return };
    let (mut held, mut left_out) = (0, 0);
    for case in suite.as_array().expect("a list of cases").iter().filter(|case| case.is_object()) {
        let (input, base) = (text(case, "input"), case["base"].as_str());
        let is_web = |text: &str| text.trim_start().to_ascii_lowercase().starts_with("http");
        if !is_web(input) && !base.is_some_and(is_web) && !is_web(text(case, "href")) {
            continue;
        }
        if NO_PUNYCODE.contains(&input) {
            left_out += 1;
            continue;
        }
        // What stands on its own needs no base, and no other can be relative to one of no web.
        let got = match base.filter(|base| is_web(base)) {
            Some(base) => Base::new(base, CanonicalSteps::NONE).and_then(|base| base.join(input)),
            None => CanonicalSteps::NONE.canonicalize(input),
        };
        assert_eq!(got.ok().map(Canonical::into_string), expected(case), "{case}");
        held += 1;
    }
    assert_eq!((held, left_out), (476, NO_PUNYCODE.len()));
}

/// The case's answer, without what canonical URLs never have: user, password and fragment. `None`
/// where it is no URL, or none of the web.
fn expected(case: &Value) -> Option<String> {
    if case["failure"] == true || !matches!(text(case, "protocol"), "http:" | "https:") {
        return None;
    }
    let (_, after) = text(case, "href").split('#').next()?.split_once("://")?;
    let has_user = [text(case, "username"), text(case, "password")].concat() != "";
    let rest = if has_user { after.split_once('@')?.1 } else { after };
    Some(format!("{}//{rest}", text(case, "protocol")))
}
