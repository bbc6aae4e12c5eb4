//! The browser ends with its crawler, and the crawler goes on without its browser.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Files, Stage};

/// All processes below one, by number.
fn descendants(of: u32) -> Vec<u32> {
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((_, rest)) = stat.rsplit_once(')') else { continue };
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        if fields[0] != "Z" {
            parents.push((pid, fields[1].parse::<u32>().unwrap()));
        }
    }
    let mut found = vec![of];
    let mut at = 0;
    while at < found.len() {
        let parent = found[at];
        found.extend(parents.iter().filter(|(_, its)| *its == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    found.split_off(1)
}

fn is_running(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

fn wait_until_ended(pids: &[u32]) {
    let began = Instant::now();
    while pids.iter().any(|pid| is_running(*pid)) {
        assert!(began.elapsed() < Duration::from_secs(20), "processes are left: {pids:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Set for the half of a test that runs in a process of its own, whose browser is the only one below it.
const INNER: &str = "TEST_HAS_ITS_OWN_PROCESS";

fn own_process(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", test, "--nocapture"]).env(INNER, "1");
    command
}

fn inner_stage() -> Option<Stage> {
    std::env::var_os(INNER)?;
    Stage::new(Files::new())
}

#[test]
fn a_killed_crawler_leaves_no_browser() {
    let Some(_stage) = Stage::new(Files::new()) else { return };
    let mut crawler = own_process("ending::a_crawler_to_be_killed");
    let mut crawler = crawler.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(crawler.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("rendered")), "it did not come to render");
    let browser = descendants(crawler.id());
    assert!(browser.len() > 3, "{browser:?}");
    crawler.kill().unwrap();
    crawler.wait().unwrap();
    wait_until_ended(&browser);
}

#[test]
#[ignore = "the other half of a_killed_crawler_leaves_no_browser"]
fn a_crawler_to_be_killed() {
    let Some(stage) = inner_stage() else { return };
    stage.render("http://a.test/", "<p>x</p>");
    println!("rendered");
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn a_killed_browser_is_replaced_and_a_stopped_one_is_gone() {
    let status = own_process("ending::the_browser_is_killed").status().unwrap();
    assert!(status.success());
}

#[test]
#[ignore = "the other half of a_killed_browser_is_replaced_and_a_stopped_one_is_gone"]
fn the_browser_is_killed() {
    let Some(stage) = inner_stage() else { return };
    stage.render("http://a.test/", "<p>one</p>");
    let mut pids = descendants(std::process::id());
    let browser = pids.iter().find(|pid| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.contains("remote-debugging-pipe") && line.starts_with("/") && !line.contains("--type=")
    });
    Command::new("kill").args(["-9", &browser.unwrap().to_string()]).status().unwrap();
    assert!(stage.render("http://a.test/", "<p>two</p>").text().contains("two"));
    pids.extend(descendants(std::process::id()));
    stage.block_on(stage.renderer.stop());
    wait_until_ended(&pids);
}
