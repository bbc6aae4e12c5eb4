//! Is damage found, named and mended, wherever it is?
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failing test panics, and tells figures"
)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::site::{Answer, Request, Site};
use common::{Place, Ran, wait_until};
use rustix::process::Signal;

fn answer(request: &Request) -> Answer {
    let n = request.earlier;
    let (_, path) = request.page.split_once('/').unwrap();
    match path {
        "" => Answer::page((0..25).map(|n| format!("<a href=/p{n}>{n}</a>")).collect::<String>()),
        "robots.txt" => Answer::status("404 Not Found"),
        _ if path.starts_with('p') => {
            let words: String = (0..80).map(|w| format!("{path}word{} ", w * (n + 1))).collect();
            Answer::page(format!("<title>{path}</title><p>{words}"))
        }
        _ => Answer::status("404 Not Found"),
    }
}

/// A data directory with several archive files, and pages that were visited more than once.
fn crawled() -> (Site, Place) {
    let (site, place) = (Site::serve(answer), Place::new());
    let flags = format!("--delay 2ms --recrawl 300ms -s archive.roll=20kB {}", site.flags());
    let crawl = place.start(&format!("crawl http://a.test/ --quiet --budget 200/s {flags}"));
    wait_until("visits", || site.asked("a.test/p24").len() > 2);
    crawl.signal(Signal::INT);
    crawl.wait().expect(11);
    place.run("check --deep").expect(0);
    // From then on what is told of them stays the same.
    wait_until("all to be due", || place.urls().iter().all(|page| page["state"] == "due"));
    (site, place)
}

/// What a user can read of a data directory.
fn contents(place: &Place) -> String {
    place.run("urls --json").expect(0).out + &place.run("changes --json").expect(0).out
}

/// Every file below a directory that holds data.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if !path.ends_with("lock") && fs::metadata(&path).unwrap().len() > 0 {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, &target).unwrap()),
        }
    }
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

/// Flips a bit of a file, or cuts it off; says what it did.
fn damage(path: &Path, dice: &mut Dice) -> String {
    let mut bytes = fs::read(path).unwrap();
    let at = dice.below(bytes.len());
    let what = if dice.below(3) == 0 {
        bytes.truncate(at);
        format!("cut to {at} bytes")
    } else {
        bytes[at] ^= 1 << dice.below(8);
        format!("a bit flipped at {at}")
    };
    fs::write(path, bytes).unwrap();
    format!("{}: {what}", path.display())
}

#[test]
fn no_damage_goes_unnoticed_and_what_is_left_can_be_used() {
    no_damage_goes_unnoticed(14);
}

#[test]
#[ignore = "some minutes; `make check-large`"]
fn no_damage_goes_unnoticed_in_three_hundred_cases() {
    no_damage_goes_unnoticed(300);
}

/// Damages a file in so many ways, each kind of file in turn.
fn no_damage_goes_unnoticed(cases: usize) {
    let (site, place) = crawled();
    drop(site);
    let (whole, sound) = (place.path().join("whole"), contents(&place));
    copy(&place.data(), &whole);
    let kinds = files(&whole);
    let mut dice = Dice(2026);
    let mut harmless = 0;
    for case in 0..cases {
        copy(&whole, &place.data());
        let file = &kinds[case * 7 % kinds.len()];
        let file = place.data().join(file.strip_prefix(&whole).unwrap());
        let what = damage(&file, &mut dice);
        let checked = place.run("check --deep");
        match checked.code {
            // Nobody reads that part, or it is written anew: then nothing may be missing.
            Some(0) => {
                assert_eq!(contents(&place), sound, "{what}: it was not noticed");
                harmless += 1;
            }
            Some(1) => mended(&place, &file, &what, &checked, &sound),
            Some(3 | 4) => assert!(names(&checked, &file), "{what}: {}", end(&checked)),
            _ => panic!("{what}: {}", end(&checked)),
        }
    }
    eprintln!("{harmless} of {cases} cases did no harm");
}

/// The end of what a command said.
fn end(ran: &Ran) -> String {
    let last = |text: &str| {
        let lines: Vec<&str> = text.lines().rev().take(12).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    };
    format!("{:?}\n{}\n{}", ran.code, last(&ran.out), last(&ran.err))
}

/// Whether a check says which file it is; of the store it says which space.
fn names(checked: &Ran, file: &Path) -> bool {
    let name = file.file_name().unwrap().to_string_lossy();
    let stem = name.split(".warc").next().unwrap().split(".cdxj").next().unwrap();
    let said = format!("{}{}", checked.out, checked.err);
    said.contains(stem) || file.to_string_lossy().contains("store") && said.contains("state")
}

fn mended(place: &Place, file: &Path, what: &str, checked: &Ran, sound: &str) {
    assert!(names(checked, file), "{what}: {}", end(checked));
    let repaired = place.run("check --repair");
    assert_eq!(repaired.code, Some(0), "{what}: {}\n{}", end(checked), end(&repaired));
    let again = place.run("check --deep");
    assert_eq!(again.code, Some(0), "{what}: {}", end(&again));
    let left = contents(place);
    let pages = |text: &str| text.lines().filter(|line| line.contains("\"found\"")).count();
    assert!(!left.is_empty() && pages(&left) <= pages(sound), "{what}");
    let aside = fs::read_dir(place.data()).unwrap().filter(|entry| {
        entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("damaged-")
    });
    assert_eq!(aside.count(), 1, "{what}: what was replaced is kept");
}

#[test]
fn a_damaged_record_costs_itself_alone() {
    let (_site, place) = crawled();
    let warc = place.archive_files(".warc.gz").remove(1);
    let records = common::tools::records(&warc);
    let victim = records.iter().find(|r| r.record.header("WARC-Type") == Some("response")).unwrap();
    let url = victim.record.header("WARC-Target-URI").unwrap().to_owned();
    let mut bytes = fs::read(&warc).unwrap();
    bytes[usize::try_from(victim.offset).unwrap() + 30] ^= 0x40;
    fs::write(&warc, bytes).unwrap();

    let faults = place.run("check --deep --json").expect(1).json_lines();
    let named = |fault: &serde_json::Value| {
        fault["offset"] == victim.offset && fault["url"] == url.as_str() && fault["visit"].is_u64()
    };
    assert!(faults.iter().any(named), "{faults:#?}");
    let visits = place.history(&url).len();
    let said = place.run("check --repair").expect(0).out;
    assert!(said.contains("lost: the record of visit") && said.contains(&url), "{said}");
    assert_eq!(place.history(&url).len(), visits, "the visit is still in the log");
    place.run("check --deep").expect(0);
    common::tools::warcio_accepts(&place.archive_files(".warc.gz"));
}

#[test]
fn an_index_is_made_anew_and_a_lost_state_is_taken_from_the_archive() {
    let (site, place) = crawled();
    let index = place.archive_files(".cdxj").remove(0);
    let before = fs::read(&index).unwrap();
    fs::write(&index, &before[..before.len() / 2]).unwrap();
    let said = place.run("check --repair").expect(0).out;
    assert!(said.contains("made the index"), "{said}");
    assert_eq!(fs::read(&index).unwrap(), before);

    let known = place.urls().len();
    for file in files(&place.data().join("state/store")) {
        fs::write(file, b"nothing").unwrap();
    }
    place.run("check --deep").expect(1);
    let said = place.run("check --repair").expect(0).out;
    assert!(said.contains("the state cannot be opened"), "{said}");
    assert!(place.urls().len() + 2 >= known, "{} of {known}", place.urls().len());
    assert!(place.history("http://a.test/p24").len() > 2);
    place.run(&format!("crawl --once http://a.test/ --delay 2ms {}", site.flags())).expect(0);
    place.run("check --deep").expect(0);
}
