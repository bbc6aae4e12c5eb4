//! Does what other tools keep come in, once, and as the crawl would have seen it?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use evercrawl_testweb::WorldConfig;
use serde_json::Value;

use crate::common::site::{Answer, Site};
use crate::common::tools::tool;
use crate::common::web::Web;
use crate::common::{Place, pause};
use crate::tools::{Wayback, get};

/// What an import says of itself.
fn import(place: &Place, words: &str) -> Value {
    place.run(&format!("import {words} --json")).expect(0).json_lines().remove(0)
}

/// Time, change, status and digest of each visit to a page.
fn story(place: &Place, url: &str) -> Vec<[Value; 4]> {
    let fields = ["time", "change", "status", "digest"];
    // Those of pages that moved here name their own URL; and what is not archived is in no package.
    let own = |visit: &&Value| visit.get("url").is_none() && visit["warc"] != Value::Null;
    let visits = place.history(url);
    visits.iter().filter(own).map(|visit| fields.map(|field| visit[field].clone())).collect()
}

#[test]
fn lists_of_all_kinds_become_seeds_with_tags_and_pins() {
    let place = Place::new();
    place.write("list.txt", "http://a.test/ tag=news\nb.test\nftp://no.test/\n");
    place.write("table.csv", "url,tag,every\nhttp://c.test/,Shop,6h\n");
    place.write("map.xml", "<urlset><url><loc>http://d.test/</loc></url></urlset>");
    place.write(
        "feeds.opml",
        "<opml><body><outline text='F'><outline xmlUrl='http://e.test/feed'/></outline></body></opml>",
    );
    place.write(
        "bookmarks.html",
        "<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF='http://f.test/'>F</A></DL>",
    );
    place.write("urls.yaml", "name: G\nurl: http://g.test/\nfilter:\n  - css: main\n");
    let files = "list.txt table.csv map.xml feeds.opml bookmarks.html urls.yaml";
    let told = import(&place, &format!("{files} --dry-run"));
    assert_eq!((&told["seeds"], &told["dry_run"]), (&Value::from(7), &Value::from(true)));
    assert!(!place.data().exists(), "a dry run makes nothing");
    let told = import(&place, files);
    let counts = ["seeds", "new_seeds", "pinned"].map(|name| told[name].as_u64().unwrap());
    assert_eq!(counts, [7, 7, 1]);
    let named = told["named"].as_array().unwrap();
    assert_eq!(named.len(), 2, "{named:?}");
    assert_eq!(named[0]["place"], "list.txt, line 3");
    let shops = place.run("urls --tag shop --json").expect(0).json_lines();
    assert_eq!(shops.len(), 1);
    assert!(place.run("overrides").expect(0).out.contains("http://c.test/ is visited every 6 h"));
    let again = import(&place, files);
    assert_eq!((&again["new_seeds"], place.urls().len()), (&Value::from(0), 7));
    place.write("prose.txt", "This is a letter.\n");
    place
        .run("import prose.txt")
        .expect(2)
        .explains(&["prose.txt", "nothing that can be imported"]);
    place.run("import missing.warc").expect(2).explains(&["missing.warc"]);
}

/// A page that is another each time, one that stays, and one that is gone.
fn changing() -> Site {
    let seen = AtomicUsize::new(0);
    Site::serve(move |asked| match asked.page.split_once('/').unwrap().1 {
        "" => Answer::page("<a href=/news>news</a> <a href=/same>same</a> <a href=/gone>gone</a>"),
        "same" => Answer::page("<p>This page stays as it is.").with("ETag: \"1\""),
        "news" => {
            let version = seen.fetch_add(1, Ordering::Relaxed);
            Answer::page(format!("<p>The news of today has number {version} and some more words."))
        }
        _ => Answer::status("404 Not Found"),
    })
}

/// What must hold of an archive of `changing` that others made twice.
fn is_as_crawled(place: &Place, site: &str) {
    let change = |page: &str| {
        let visits = place.history(&format!("{site}/{page}"));
        visits.iter().map(|visit| visit["change"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(change("same"), ["new", "same"]);
    assert_eq!(change("gone"), ["gone", "gone"]);
    assert_eq!(change("news").len(), 2);
    let diff = place.run(&format!("diff {site}/news")).expect(0).out;
    assert!(diff.contains("number"), "{diff}");
    assert!(place.run(&format!("text {site}/same")).expect(0).out.contains("stays as it is"));
    place.run("check --deep").expect(0);
    // Nobody who follows the log is told of it.
    assert_eq!(place.run("changes --json").expect(0).out, "");
    assert!(!place.run("changes --imported --json").expect(0).json_lines().is_empty());
}

#[test]
fn what_wget_recorded_is_history() {
    let Some(wget) =
        ["/usr/bin/wget", "/bin/wget"].map(Path::new).into_iter().find(|at| at.exists())
    else {
        eprintln!("SKIPPED: no wget; run tools/install");
        return;
    };
    let (site, place) = (changing(), Place::new());
    let root = format!("http://{}", site.address());
    for n in 1..=2 {
        let status = Command::new(wget)
            .args(["-q", "-r", "-l1", "-e", "robots=off", "--no-warc-keep-log"])
            .args([&format!("--warc-file=w{n}"), &format!("{root}/")])
            .current_dir(place.path())
            .status()
            .unwrap();
        // 8: some answer was an error.
        assert!(matches!(status.code(), Some(0 | 8)), "{status}");
        pause(Duration::from_millis(1100));
    }
    let told = import(&place, "w1.warc.gz w2.warc.gz");
    assert_eq!(told["visits"], told["taken"], "{told}");
    is_as_crawled(&place, &root);
    let again = import(&place, "w1.warc.gz w2.warc.gz");
    assert_eq!((&again["taken"], &again["known"]), (&Value::from(0), &told["taken"]));
    // Packed as one, the same file says the same.
    let (one, other) = (place.path().join("w1.warc.gz"), Place::new());
    let packed = Command::new("sh")
        .args(["-c", "gzip -dc \"$0\" | gzip -c > \"$1\"/w1.warc.gz"])
        .args([one.as_path(), other.path()])
        .status()
        .unwrap();
    assert!(packed.success());
    let whole = import(&other, "w1.warc.gz");
    assert_eq!((&whole["taken"], &whole["visits"]), (&Value::from(4), &Value::from(4)), "{whole}");
    let url = format!("{root}/news");
    assert_eq!(story(&other, &url)[..], story(&place, &url)[..1]);
}

#[test]
fn what_pywb_recorded_is_history() {
    let (Some(wayback), Some(manager)) = (tool("wayback"), tool("wb-manager")) else { return };
    let (site, place) = (changing(), Place::new());
    let root = format!("http://{}", site.address());
    let made =
        Command::new(manager).args(["init", "c"]).current_dir(place.path()).output().unwrap();
    assert!(made.status.success());
    place.write("config.yaml", "recorder: live\ncollections:\n  live: $live\n");
    let server = Wayback::start(&wayback, place.path());
    for _ in 0..2 {
        for page in ["", "same", "news", "gone"] {
            get(server.1, "localhost", &format!("/c/record/id_/{root}/{page}"));
        }
        pause(Duration::from_millis(1100));
    }
    drop(server);
    let dir = place.path().join("collections/c/archive");
    let told = import(&place, &dir.display().to_string());
    assert_eq!(told["taken"], 8, "{told}");
    is_as_crawled(&place, &root);
}

/// A crawl that visited its pages several times, exported as a package.
fn exported() -> (Web, Place) {
    let world = WorldConfig { hosts: 2, pages: 10, ..WorldConfig::calm() };
    let (web, place) = (Web::serve(world), Place::new());
    let flags = format!("--delay 5ms --recrawl 1s {}", web.flags());
    place.run(&format!("crawl --once {} {flags}", web.seeds(2).join(" "))).expect(0);
    place.run("crawl --for 3s").expect(15);
    place.run("export wacz --out crawl.wacz").expect(0);
    (web, place)
}

#[test]
fn a_package_comes_back_as_the_crawl_that_it_is_of() {
    let (web, place) = exported();
    let other = Place::new();
    other.run(&format!("add {}", web.seeds(2).join(" "))).expect(0);
    let package = place.path().join("crawl.wacz");
    let told = import(&other, &package.display().to_string());
    assert!(told["taken"].as_u64().unwrap() > 30, "{told}");
    let mut compared = 0;
    for page in other.urls() {
        let url = page["url"].as_str().unwrap();
        let visits = story(&other, url);
        if visits.is_empty() {
            continue;
        }
        assert_eq!(visits, story(&place, url), "{url}");
        compared += 1;
    }
    assert!(compared > 15, "{compared}");
    other.run("check --deep").expect(0);
}

#[test]
fn an_import_that_is_killed_again_and_again_ends_as_one_that_was_not() {
    let (_web, place) = exported();
    let package = place.path().join("crawl.wacz").display().to_string();
    let (whole, killed) = (Place::new(), Place::new());
    import(&whole, &package);
    for n in 0..12 {
        let mut running = killed.start(&format!("import {package}"));
        pause(Duration::from_millis(20 + 37 * n));
        running.child().kill().unwrap();
        drop(running);
    }
    import(&killed, &package);
    assert!(!killed.data().join("importing").exists());
    killed.run("check --deep").expect(0);
    for page in whole.urls() {
        let url = page["url"].as_str().unwrap();
        assert_eq!(story(&killed, url), story(&whole, url), "{url}");
    }
}

fn warc_record(kind: &str, url: &str, date: &str, block: &str) -> String {
    let content =
        if kind == "response" { "application/http;msgtype=response" } else { "text/plain" };
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n\
         Content-Type: {content}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

#[test]
fn broken_and_hostile_files_are_named_and_the_rest_comes_in() {
    let place = Place::new();
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Words of a page that is here.";
    let good = warc_record("response", "http://a.test/", "2020-01-01T00:00:00Z", page);
    let bad = [
        warc_record("response", "dns:a.test", "2020-01-01T00:00:00Z", page),
        warc_record("response", "http://a.test/x", "yesterday", page),
        warc_record("response", "http://a.test/x", "2999-01-01T00:00:00Z", page),
        warc_record("response", "http://a.test/y", "2020-01-01T00:00:00Z", "no head"),
        warc_record("resource", "http://a.test/r", "2020-01-02T00:00:00Z", "A resource."),
    ];
    let lies = good.replace("Content-Length: ", "Content-Length: 99999999");
    place.write("a.warc", &[good.as_str(), &bad.concat(), &lies].concat());
    place.write("long.cdxj", &format!("test,a)/ 20200101000000 {{\"url\":\"http://a.test/z\",\"status\":\"200\",\"digest\":\"AAAA\"}}\n{}\n", "x".repeat(3_000_000)));
    let told = import(&place, "a.warc long.cdxj");
    assert_eq!(told["taken"], 3, "{told}");
    let places: Vec<&str> = told["named"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["place"].as_str().unwrap())
        .collect();
    assert_eq!(places.len(), 7, "{told}");
    assert!(places.iter().filter(|place| place.starts_with("a.warc, byte ")).count() == 6);
    assert!(places.contains(&"long.cdxj, line 2"));
    assert_eq!(story(&place, "http://a.test/").len(), 1);
    place.run("check --deep").expect(0);
    // What is older than the last visit to a page is not put before it.
    let late = warc_record("response", "http://a.test/", "2019-01-01T00:00:00Z", page);
    place.write("late.warc", &late);
    let told = import(&place, "late.warc");
    let why = "a later visit to the page is in the log already";
    assert_eq!((&told["taken"], &told["not_taken"][why]), (&Value::from(0), &Value::from(1)));
}

#[test]
fn imported_pages_that_the_scope_leaves_out_are_history_alone() {
    let place = Place::new();
    place.run("add http://a.test/").expect(0);
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Words.";
    let image = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\nbytes";
    let date = "2020-01-01T00:00:00Z";
    let records = [("a.test/p", page), ("a.test/i.png", image), ("b.test/p", page)]
        .map(|(url, block)| warc_record("response", &format!("http://{url}"), date, block));
    place.write("a.warc", &records.concat());
    import(&place, "a.warc");
    let waits: Vec<(String, bool)> = place
        .urls()
        .iter()
        .map(|page| (page["url"].as_str().unwrap().to_owned(), page["next_due"] != Value::Null))
        .collect();
    let waits = |url: &str| waits.iter().find(|(known, _)| known == url).unwrap().1;
    assert!(waits("http://a.test/p"), "{:?}", place.urls());
    assert!(!waits("http://a.test/i.png") && !waits("http://b.test/p"), "{:?}", place.urls());
    assert_eq!(place.history("http://b.test/p").len(), 1);
}
