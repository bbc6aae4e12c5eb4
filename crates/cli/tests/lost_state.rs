//! What happens where the archive has files that the state does not know?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::fs;

use crate::common::site::{Answer, Request, Site};
use crate::common::{Place, wait_until};
use rustix::process::Signal;

/// Six pages: one that changes, one that goes, one that never does either.
fn answer(request: &Request) -> Answer {
    let n = request.earlier;
    match request.page.split_once('/').unwrap().1 {
        "" => Answer::page((0..4).map(|n| format!("<a href=/p{n}>{n}</a>")).collect::<String>()),
        "p0" => Answer::page(format!("<title>news</title><p>{}", words(n))),
        "p1" if n > 0 => Answer::status("410 Gone"),
        "p1" | "p2" | "p3" => Answer::page("<title>still</title><p>always the same text"),
        _ => Answer::status("404 Not Found"),
    }
}

fn words(n: usize) -> String {
    // No two visits share a word, and no word has a digit: nothing of it is taken for noise.
    let letter = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap());
    let word = |w: usize| [letter(w), letter(n), letter(n / 26), letter(w * 7), ' '];
    (0..26).flat_map(word).collect()
}

fn crawled() -> (Site, Place) {
    let (site, place) = (Site::serve(answer), Place::new());
    let flags = format!("--delay 2ms --recrawl 200ms -s archive.roll=3kB {}", site.flags());
    let crawl = place.start(&format!("crawl http://a.test/ --quiet --budget 100/s {flags}"));
    wait_until("visits", || site.asked("a.test/p0").len() > 3 && site.asked("a.test/p1").len() > 1);
    crawl.signal(Signal::INT);
    crawl.wait().expect(11);
    (site, place)
}

fn names(place: &Place) -> Vec<String> {
    let files = place.archive_files(".warc.gz");
    files.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

/// The changes of a page, as the log has them.
fn changes(place: &Place, url: &str) -> Vec<String> {
    let visits = place.history(url);
    let mut changes: Vec<String> =
        visits.iter().map(|visit| visit["change"].as_str().unwrap().to_owned()).collect();
    changes.retain(|change| change != "same");
    changes
}

#[test]
fn an_archive_without_a_state_is_damage_and_the_state_comes_back_from_it() {
    let (site, place) = crawled();
    let files = names(&place);
    assert!(files.len() > 2, "{files:?}");
    let before = (changes(&place, "http://a.test/p0"), changes(&place, "http://a.test/p1"));
    fs::remove_dir_all(place.data().join("state")).unwrap();

    for verb in ["check", "check --deep"] {
        let ran = place.run(verb).expect(1);
        for name in &files {
            assert!(ran.out.contains(name.as_str()), "{verb}: {}", ran.out);
        }
        assert!(ran.err.contains("--repair"), "{verb}: {}", ran.err);
        let lines = place.run(&format!("{verb} --json")).expect(1).json_lines();
        let faults = lines.iter().filter(|line| line["event"] == "fault").count();
        assert_eq!(faults, files.len(), "{lines:#?}");
        assert_eq!(lines.last().unwrap()["ok"], false);
    }
    let crawl = format!("crawl http://a.test/ --once --delay 2ms {}", site.flags());
    for verb in ["urls", "status", "changes", "add http://a.test/", &crawl] {
        let ran = place.run(verb).expect(4);
        assert!(ran.err.contains("check --repair"), "{verb}: {}", ran.err);
        assert!(!place.data().join("state/store").exists(), "{verb} made a state");
    }

    place.run("check --repair").expect(0);
    place.run("check --deep").expect(0);
    assert_eq!(names(&place), files, "sound files stay as they are");
    let after = (changes(&place, "http://a.test/p0"), changes(&place, "http://a.test/p1"));
    assert_eq!(after.0, before.0);
    assert_eq!(after.1, before.1);
    place.run(&crawl).expect(0);
    place.run("check --deep").expect(0);
}

#[test]
fn answers_as_odd_as_they_come_are_recovered_as_what_they_are() {
    let site = Site::serve_bytes(|request| {
        match request.page.as_str() {
        // No word after the status; half a page; half a packed one.
        "a.test/bare" => b"HTTP/1.1 200\r\nContent-Length: 4\r\n\r\nbare".to_vec(),
        "a.test/cut" => b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf".to_vec(),
        "a.test/packed" => {
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 10\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec()
        }
        _ => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
    }
    });
    let place = Place::new();
    let seeds = "http://a.test/bare http://a.test/cut http://a.test/packed";
    place.run(&format!("crawl --once --delay 2ms --max-time 3s {seeds} {}", site.flags()));
    let told = || -> Vec<String> {
        let mut all: Vec<_> = place
            .urls()
            .iter()
            .filter(|page| page["digest"].is_string())
            .map(|page| {
                format!("{} {} {} {}", page["url"], page["cause"], page["cut"], page["digest"])
            })
            .collect();
        all.sort();
        all
    };
    let before = told();
    assert_eq!(before.len(), 3, "{before:?}");
    fs::remove_dir_all(place.data().join("state")).unwrap();
    place.run("check --repair").expect(0);
    place.run("check --deep").expect(0);
    assert_eq!(told(), before);
}

#[test]
fn an_unknown_warc_file_is_named_and_taken_in_under_a_number_of_its_own() {
    let (site, place) = crawled();
    let (_other_site, other) = crawled();
    let (known, foreign) = (names(&place), names(&other).remove(0));
    let own = place.data().join("archive");
    fs::copy(other.data().join("archive").join(&foreign), own.join(&foreign)).unwrap();
    fs::write(own.join("downloaded.warc.gz"), b"of another tool").unwrap();
    fs::write(own.join("notes.txt"), b"mine").unwrap();

    let ran = place.run("check").expect(1);
    for name in [foreign.as_str(), "downloaded.warc.gz"] {
        assert!(ran.out.contains(&format!("archive/{name}: ")), "{}", ran.out);
    }
    assert!(ran.out.contains("note: archive/notes.txt"), "{}", ran.out);
    assert!(!ran.out.contains(&known[0]), "{}", ran.out);
    let crawl = format!("crawl http://a.test/ --once --delay 2ms {}", site.flags());
    let refused = place.run(&crawl).expect(4);
    assert!(refused.err.contains("check --data"), "{}", refused.err);
    place.run("status").expect(0);

    let visits = || place.run("changes --all --json").expect(0).json_lines().len();
    let before = visits();
    place.run("check --repair").expect(0);
    place.run("check --deep").expect(0);
    assert!(visits() > before, "its visits were recovered");
    assert!(own.join("notes.txt").exists());
    assert!(!own.join("downloaded.warc.gz").exists());
    place.run(&crawl).expect(0);
    place.run("check --deep").expect(0);
}

#[test]
fn a_state_older_than_its_archive_is_noticed_and_brought_up_to_date() {
    let (site, place) = crawled();
    let (state, copy) = (place.data().join("state"), place.path().join("older"));
    copy_dir(&state, &copy);
    let crawl = format!("crawl --delay 2ms --recrawl 200ms --max-pages 40 {}", site.flags());
    place.run(&crawl).expect(14);
    let visits = place.history("http://a.test/p0").len();
    fs::remove_dir_all(&state).unwrap();
    copy_dir(&copy, &state);

    place.run("check").expect(1);
    let refused = place.run(&crawl).expect(4);
    assert!(refused.err.contains("does not know"), "{}", refused.err);
    place.run("check --repair").expect(0);
    place.run("check --deep").expect(0);
    assert_eq!(place.history("http://a.test/p0").len(), visits);
    place.run(&crawl).expect(14);
    place.run("check --deep").expect(0);
}

fn copy_dir(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy_dir(&path, &target),
            false => drop(fs::copy(&path, &target).unwrap()),
        }
    }
}
