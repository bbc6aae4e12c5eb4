//! Does `evercrawl lab report` write documents that can be read, and say what it lacks?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::fs;
use std::path::Path;

use crate::common::Place;

const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/traces");

fn read(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A page that needs nothing from elsewhere, with a caption for every figure, and no empty number.
fn assert_whole(html: &str) {
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    let inside = html.replace("http://www.w3.org/2000/svg", "");
    for outside in ["src=", "<script", "<link", "@import", "NaN", ">inf"] {
        assert!(!inside.contains(outside), "{outside}");
    }
    assert_eq!(html.matches("<figure>").count(), html.matches("<figcaption>").count());
    assert!(html.matches("<dl class=\"beside\">").count() > 3);
}

#[test]
fn the_survey_needs_no_recorded_sites_and_comes_out_the_same_twice() {
    let place = Place::new();
    let ran = place.run("lab report s3 --quick --out one").expect(0);
    assert_eq!(ran.out.trim(), Path::new("one").join("index.html").display().to_string());
    place.run("lab report s3 --quick --quiet --out two").expect(0);
    for name in ["s3.html", "s3.md", "index.html", "s3/table1.csv", "s3/orders.svg"] {
        assert_eq!(read(&place, &format!("one/{name}")), read(&place, &format!("two/{name}")));
    }
    assert_whole(&read(&place, "one/s3.html"));
    assert!(read(&place, "one/index.html").contains("href=\"s3.html\""));
    let carney = read(&place, "one/s3/carney.csv");
    assert!(carney.lines().any(|line| line.starts_with("10,86.57")), "{carney}");
}

#[test]
fn what_is_missing_is_named() {
    let place = Place::new();
    for (words, complaint) in [
        ("lab report s0 --out x", "--traces"),
        ("lab report all --out x", "--traces"),
        (
            "lab report s1 --traces nowhere --out x",
            "openbsd-www is not a recorded site; choose others with --sites",
        ),
        ("lab report s0 --traces . --sites nothing --out x", "nothing is not a recorded site"),
    ] {
        let ran = place.run(words).expect(2);
        assert!(ran.err.contains(complaint), "{words}: {}", ran.err);
        assert!(!place.path().join("x").exists(), "{words}: something was written");
    }
    place.run("lab report s9 --out x").expect(2);
}

#[test]
fn a_site_without_links_is_refused() {
    let place = Place::new();
    fs::create_dir(place.path().join("plain")).unwrap();
    place.write(
        "plain/trace.json",
        r#"{"site":"plain","window_start":604800,"window_end":1209600}"#,
    );
    place.write("plain/pages.csv", "page,url,created\n0,/,0\n1,/a,0\n");
    place.write("plain/changes.csv", "page,time,kind\n1,700000,M\n");
    let ran = place.run("lab report s0 --traces . --sites plain --out x").expect(2);
    assert!(ran.err.contains("plain has no recorded links"), "{}", ran.err);
}

#[test]
fn recorded_sites_fill_every_table() {
    if !Path::new(TRACES).is_dir() {
        eprintln!("SKIPPED: no recorded sites at {TRACES}");
        return;
    }
    let place = Place::new();
    for (document, tables) in [
        (
            "s0",
            &["table2", "table3", "told", "methods", "site-cover", "site-update-rate", "combined"]
                [..],
        ),
        ("s1", &["groups", "dependence", "widths", "same-year", "next-year"][..]),
    ] {
        let words =
            format!("lab report {document} --traces {TRACES} --sites httpd-manual --out out");
        place.run(&words).expect(0);
        assert_whole(&read(&place, &format!("out/{document}.html")));
        for table in tables {
            let text = read(&place, &format!("out/{document}/{table}.csv"));
            assert!(text.lines().count() > 1, "{table}: {text}");
        }
    }
}
