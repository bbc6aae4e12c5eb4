//! Does a crawl whose disk fills up stop cleanly, and go on when there is room?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::io::Write;
use std::process::Command;

use crate::common::Place;
use crate::common::site::{Answer, Request, Site};

const PAGES: usize = 60;

/// A page that leads to many, each of which takes a good part of the disk.
fn answer(request: &Request) -> Answer {
    let (_, path) = request.page.split_once('/').unwrap();
    match path {
        "" => Answer::page(
            (0..PAGES).map(|n| format!("<a href=/{n}.txt>{n}</a>")).collect::<String>(),
        ),
        "robots.txt" | "sitemap.xml" => Answer::status("404 Not Found"),
        _ => Answer("200 OK", "Content-Type: text/plain\r\n".to_owned(), noise(path)),
    }
}

/// Text that hardly packs.
fn noise(seed: &str) -> String {
    let mut state = seed.bytes().fold(7u64, |state, byte| state * 31 + u64::from(byte));
    let letter = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'!' + u8::try_from(state >> 33 & 63).unwrap())
    };
    (0..60_000).map(letter).collect()
}

/// Whether this user may have small disks of their own; says so aloud when not.
#[allow(clippy::explicit_write, reason = "the test runner keeps `eprintln` to itself")]
fn can_mount() -> bool {
    let tried = in_namespace("mount -t tmpfs -o size=1m none /mnt").output();
    let can = tried.is_ok_and(|tried| tried.status.success());
    if !can {
        let why = "SKIPPED: no user namespaces with mounts here";
        writeln!(std::io::stderr(), "{why}").unwrap();
    }
    can
}

/// A script that sees disks of its own.
fn in_namespace(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "bash", "-c", script]);
    command
}

#[test]
fn a_full_disk_stops_a_crawl_cleanly_and_it_goes_on_with_more_room() {
    if !can_mount() {
        return;
    }
    let (site, place) = (Site::serve(answer), Place::new());
    std::fs::create_dir_all(place.data()).unwrap();
    let flags = format!("--delay 1ms -s limits.min_free_disk=1B --quiet {}", site.flags());
    // Room for nothing at first, then a little more again and again, and enough in the end.
    let script = format!(
        "crawl=\"{} crawl --once http://a.test/ {flags}\"
         mount -t tmpfs -o size=500k none data
         for size in 600k 700k 900k 1200k 1600k 2000k 2500k 3000k 200m; do
             mount -o remount,size=$size data
             $crawl 2>>log; code=$?
             echo $size $code
             [ $code = 0 ] || [ $code = 16 ] || exit 1
         done
         {0} check --deep || exit 1
         {0} urls --json | grep -c '\"status\":200'",
        env!("CARGO_BIN_EXE_evercrawl")
    );
    let mut command = in_namespace(&script);
    command.current_dir(place.path()).env("EVERCRAWL_DATA", "data");
    let ran = command.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    let log = std::fs::read_to_string(place.path().join("log")).unwrap_or_default();
    assert!(ran.status.success(), "{said}\n{log}");
    assert!(said.contains("200m 0\n"), "{said}\n{log}");
    assert!(said.matches(" 16\n").count() >= 3, "{said}\n{log}");
    let held: usize = said.lines().last().unwrap().parse().unwrap();
    assert_eq!(held, PAGES + 1, "{said}\n{log}");
}
