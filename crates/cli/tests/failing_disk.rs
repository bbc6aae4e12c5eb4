//! Does a crawl whose disk fails to sync stop at once, say so, and lose nothing? The system itself is
//! made to fail, by `strace`; so it is with one that takes its time.
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

mod common;

use std::io::Write;
use std::process::Command;

use common::site::{Answer, Request, Site};
use common::{Place, Ran};

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
    let plain = place.command(words);
    let mut command = Command::new("strace");
    command.args(["-f", "-q", "-o", "trace", "-e", &format!("trace={SYNCS}")]);
    command.args(["-e", &format!("inject={SYNCS}:{with}")]);
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
