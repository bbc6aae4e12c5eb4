//! Is damage found, named and mended, wherever it is?
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failing test panics, and tells figures"
)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::site::{Answer, Request, Site};
use crate::common::{Place, Ran, Running, wait_until};
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

/// A crawl with several archive files, and pages that were visited more than once, while it runs.
fn crawling() -> (Site, Place, Running) {
    let (site, place) = (Site::serve(answer), Place::new());
    let flags = format!("--delay 2ms --recrawl 300ms -s archive.roll=20kB {}", site.flags());
    let crawl = place.start(&format!("crawl http://a.test/ --quiet --budget 200/s {flags}"));
    wait_until("visits", || site.asked("a.test/p24").len() > 2);
    (site, place, crawl)
}

/// The data directory of a crawl that was stopped.
fn crawled() -> (Site, Place) {
    let (site, place, crawl) = crawling();
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
        if path.is_dir() {
            copy(&path, &target);
        } else if path.is_file() {
            // A killed crawl leaves its socket.
            fs::copy(&path, &target).unwrap();
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

/// A number that whoever runs the test may give.
fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap())
}

/// Damages a file in so many ways, each kind of file in turn. `DAMAGE_SEED` draws others.
fn no_damage_goes_unnoticed(cases: usize) {
    let (site, place) = crawled();
    drop(site);
    let (whole, sound) = (place.path().join("whole"), contents(&place));
    copy(&place.data(), &whole);
    let kinds = files(&whole);
    let mut dice = Dice(number("DAMAGE_SEED", 2026));
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

/// Whether a command says which file it is.
fn names(ran: &Ran, file: &Path) -> bool {
    let said = format!("{}{}", ran.out, ran.err);
    if let Some((_, of_store)) = file.to_string_lossy().split_once("/state/store/") {
        // Of a list and of what says which list holds, each contradicts the other.
        let list = of_store.strip_suffix("current").map(|space| format!("{space}v"));
        return said.contains(of_store) || list.is_some_and(|list| said.contains(&list));
    }
    let name = file.file_name().unwrap().to_string_lossy();
    said.contains(name.split(".warc").next().unwrap().split(".cdxj").next().unwrap())
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
    let records = crate::common::tools::records(&warc);
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
    crate::common::tools::warcio_accepts(&place.archive_files(".warc.gz"));
}

#[test]
fn an_index_is_made_anew_and_a_lost_state_is_taken_from_the_archive() {
    let (site, place) = crawled();
    let index = place.archive_files(".cdxj").remove(0);
    let before = fs::read(&index).unwrap();
    fs::write(&index, &before[..before.len() / 2]).unwrap();
    let said = place.run("check --repair").expect(0).out;
    assert!(said.contains("rebuilt the index"), "{said}");
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

/// The list of tables of the space with most of them.
fn list_of_tables(place: &Place) -> PathBuf {
    let files = files(&place.data().join("state/store/keyspaces"));
    let is_list = |file: &&PathBuf| {
        file.file_name().unwrap().to_string_lossy().starts_with('v')
            && file.parent().unwrap().join("current").exists()
    };
    let longest = files.iter().filter(is_list).max_by_key(|file| fs::metadata(file).unwrap().len());
    longest.unwrap().clone()
}

#[test]
fn a_damaged_list_of_tables_is_named_by_every_verb_and_costs_nothing() {
    let (site, place) = crawled();
    let sound = contents(&place);
    let list = list_of_tables(&place);
    let whole = fs::read(&list).unwrap();
    let whole_copy = place.path().join("whole");
    copy(&place.data(), &whole_copy);
    // The first is how many levels there are, which the store asserts; others lead it to reserve memory that nobody has.
    for at in [0, whole.len() / 2, whole.len() - 20, whole.len() - 200] {
        copy(&whole_copy, &place.data());
        let mut bytes = whole.clone();
        bytes[at] ^= 0x80;
        fs::write(&list, bytes).unwrap();
        let crawl = format!("crawl --once http://a.test/ {}", site.flags());
        for verb in ["urls", "status", "why http://a.test/", "changes", "check", "retain", &crawl] {
            let ran = place.run(verb).expect(4);
            assert!(names(&ran, &list) && ran.err.contains("--repair"), "{verb}: {}", end(&ran));
        }
        let checked = place.run("check --deep").expect(1);
        assert!(names(&checked, &list), "{}", end(&checked));
        place.run("check --repair").expect(0);
        place.run("check --deep").expect(0);
        assert_eq!(contents(&place), sound, "byte {at}");
    }
}

#[test]
fn a_journal_with_a_damaged_commit_is_named_and_its_other_commits_are_kept() {
    let (site, place, crawl) = crawling();
    // Enough commits that the last one is a small part of the journal, also on a busy machine.
    wait_until("many commits", || site.asked("a.test/p24").len() > 9);
    crawl.signal(Signal::KILL);
    crawl.wait();
    let whole = place.path().join("whole");
    copy(&place.data(), &whole);
    let known = place.urls().len();
    let journal = files(&whole).into_iter().rfind(|file| file.extension() == Some("jnl".as_ref()));
    let journal = place.data().join(journal.unwrap().strip_prefix(&whole).unwrap());
    let mut dice = Dice(7);
    for _ in 0..4 {
        copy(&whole, &place.data());
        let mut bytes = fs::read(&journal).unwrap();
        let used = bytes.iter().rposition(|byte| *byte != 0).unwrap();
        let at = used / 4 + dice.below(used / 4);
        bytes[at] ^= 1 << dice.below(8);
        fs::write(&journal, bytes).unwrap();
        let ran = place.run("urls").expect(4);
        assert!(names(&ran, &journal), "byte {at}: {}", end(&ran));
        let checked = place.run("check --deep").expect(1);
        assert!(names(&checked, &journal), "{}", end(&checked));
        place.run("check --repair").expect(0);
        place.run("check --deep").expect(0);
        // What was found by the visits of that commit is found again.
        place.run(&format!("crawl --once --quiet --delay 2ms {}", site.flags())).expect(0);
        assert_eq!(place.urls().len(), known, "byte {at}");
        place.run("check --deep").expect(0);
    }
}
