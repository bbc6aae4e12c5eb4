//! Does a crawl whose disk fails to sync stop at once, say so, and lose nothing? The system itself is
//! made to fail, by `strace`; so it is with one that takes its time.
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::site::{Answer, Request, Site};
use crate::common::{Place, Ran};

const PAGES: usize = 30;
/// All ways to wait for a disk.
const SYNCS: &str = "fsync,fdatasync,sync_file_range,msync";

fn answer(request: &Request) -> Answer {
    match request.page.split_once('/').unwrap().1 {
        "" => Answer::page((0..PAGES).map(|n| format!("<a href=/{n}>{n}</a>")).collect::<String>()),
        "robots.txt" | "sitemap.xml" => Answer::status("404 Not Found"),
        path => Answer::page(format!("<p>This is page {path}.</p>").repeat(20)),
    }
}

/// Whether this system lets one process meddle with another; says so aloud when not.
#[allow(clippy::explicit_write, reason = "the test runner keeps `eprintln` to itself")]
fn can_meddle() -> bool {
    let tried = Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).status();
    let can = tried.is_ok_and(|status| status.success());
    if !can {
        writeln!(std::io::stderr(), "SKIPPED: no strace that works here").unwrap();
    }
    can
}

/// Runs a command to its end, with something done to its syncs.
fn meddled(place: &Place, words: &str, with: &str) -> Ran {
    let what = [format!("trace={SYNCS}"), format!("inject={SYNCS}:{with}")];
    watched(place, words, &["-e", &what[0], "-e", &what[1]])
}

/// Runs a command to its end under the eyes of `strace`, which writes what it sees to `trace`.
fn watched(place: &Place, words: &str, flags: &[&str]) -> Ran {
    let plain = place.command(words);
    let mut command = Command::new("strace");
    command.args(["-f", "-q", "-o", "trace"]).args(flags);
    command.arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        value.map(|value| command.env(name, value));
    }
    command.current_dir(place.path());
    place.start_command(command).wait()
}

fn pages_held(place: &Place) -> usize {
    place.urls().iter().filter(|row| row["status"] == 200).count()
}

#[test]
fn a_sync_that_fails_ends_a_crawl_and_the_next_one_has_everything() {
    if !can_meddle() {
        return;
    }
    // Small files, so that some are closed on the way.
    let site = Site::serve(answer);
    let flags = format!("--delay 1ms --quiet -s archive.roll=4kB {}", site.flags());
    let crawl = format!("crawl --once http://a.test/ {flags}");
    let mut failed = 0;
    for nth in [3, 9, 14, 17, 21, 26, 33, 47] {
        let place = Place::new();
        // Each thread counts for itself: whichever comes to its nth sync has it fail, and all after.
        let ran = meddled(&place, &crawl, &format!("error=EIO:when={nth}+"));
        if ran.code != Some(0) {
            failed += 1;
            assert_eq!(ran.code, Some(4), "{ran:?}");
            assert!(ran.err.contains("Input/output error"), "{ran:?}");
        }
        place.run(&crawl).expect(0);
        place.run("check --deep").expect(0);
        assert_eq!(pages_held(&place), PAGES + 1, "after sync {nth} failed");
    }
    assert!(failed >= 3, "{failed} crawls came to a sync that failed");
}

#[test]
fn a_slow_disk_costs_time_and_nothing_else() {
    if !can_meddle() {
        return;
    }
    let (site, place) = (Site::serve(answer), Place::new());
    let crawl = format!("crawl --once http://a.test/ --delay 1ms --quiet {}", site.flags());
    meddled(&place, &crawl, "delay_enter=50000").expect(0);
    place.run("check --deep").expect(0);
    assert_eq!(pages_held(&place), PAGES + 1);
}

/// What a process did to make a file last.
#[derive(Debug, PartialEq)]
enum Did {
    /// Waited until a file, or the names in a directory, were on disk.
    Synced(PathBuf),
    /// Gave a file another name.
    Renamed(PathBuf, PathBuf),
}

/// What `strace` saw, each at the moment when it was done; names begin at `dir`.
fn seen(trace: &str, dir: &Path) -> Vec<Did> {
    let (mut done, mut begun) = (Vec::new(), HashMap::new());
    for line in trace.lines() {
        let (thread, call) = line.split_once(' ').unwrap();
        let call = call.trim_start();
        let did = if call.starts_with("rename") {
            let names: Vec<_> = call.split('"').skip(1).step_by(2).map(|n| dir.join(n)).collect();
            Did::Renamed(names[0].clone(), names[1].clone())
        } else if call.starts_with("<...") {
            // What began earlier: a sync counts from its end, a name from its beginning.
            done.extend(begun.remove(thread));
            continue;
        } else {
            let name = call.split_once('<').map(|(_, rest)| rest.split('>').next().unwrap());
            let Some(name) = name else { continue };
            Did::Synced(name.into())
        };
        match did {
            Did::Synced(_) if line.contains("<unfinished") => drop(begun.insert(thread, did)),
            did => done.push(did),
        }
    }
    done
}

/// A power cut leaves a file under its old name or its new one, and whole: it is on disk before it gets
/// its new name, and the name is soon after.
#[test]
fn nothing_gets_its_name_before_it_is_on_disk() {
    if !can_meddle() {
        return;
    }
    let (site, place) = (Site::serve(answer), Place::new());
    let flags = format!("--delay 1ms --quiet -s archive.roll=4kB {}", site.flags());
    let calls = format!("trace=rename,renameat,renameat2,{SYNCS}");
    let mut renamed = Vec::new();
    for words in [
        format!("crawl --once http://a.test/ {flags}"),
        "retain -s retention.archive=last1".to_owned(),
        "check --repair".to_owned(),
    ] {
        watched(&place, &words, &["-y", "-e", &calls]).expect(0);
        let trace = std::fs::read_to_string(place.path().join("trace")).unwrap();
        let seen = seen(&trace, place.path());
        for (at, did) in seen.iter().enumerate() {
            let Did::Renamed(from, to) = did else { continue };
            let synced = |path: &Path| Did::Synced(path.to_owned());
            assert!(seen[..at].contains(&synced(from)), "{from:?} was not on disk: {words}");
            let dir = to.parent().unwrap();
            assert!(seen[at..].contains(&synced(dir)), "the name {to:?} was not: {words}");
            renamed.push(to.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    for name in ["evercrawl.data", "remembered.toml", "learned", "seen.filter"] {
        assert!(renamed.iter().any(|renamed| renamed == name), "{name} not in {renamed:?}");
    }
    assert!(renamed.iter().filter(|name| name.ends_with(".warc.gz")).count() > 3, "{renamed:?}");
}
