//! Do `hosts`, `queue` and `archive` list what there is, alike while a crawl runs and after?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use crate::common::Place;
use crate::common::web::Web;
use evercrawl_testweb::WorldConfig;
use rustix::process::Signal;
use serde_json::Value;

#[test]
fn hosts_queues_and_files_are_listed_alike_running_or_not() {
    let calm = WorldConfig::calm();
    let web = Web::serve(WorldConfig { hosts: 3, pages: 30, seed: 5, ..calm });
    let place = Place::new();
    let seeds = web.seeds(3).join(" ");
    let mut running = place.start(&format!("crawl {seeds} --delay 20ms --quiet {}", web.flags()));
    let names = |place: &Place| -> Vec<String> {
        let mut lines = place.run("hosts --json").expect(0).json_lines();
        lines.iter_mut().map(|line| line["host"].as_str().unwrap().to_owned()).collect()
    };
    running.wait_until("three hosts", || {
        place.data().join("control.sock").exists() && names(&place).len() == 3
    });
    place.run(&format!("pause {}", names(&place)[0])).expect(0);
    running.wait_until("an archived record", || {
        place.run("archive --json").expect(0).json()["bytes"].as_u64() > Some(1000)
    });
    running.signal(Signal::INT);
    running.wait().expect(11);

    let hosts = place.run("hosts --json").expect(0).json_lines();
    let pages: u64 = hosts.iter().map(|host| host["pages"].as_u64().unwrap()).sum();
    let total = &place.run("status --json").expect(0).json()["total"]["pages"];
    assert_eq!(Some(pages), total.as_u64());
    assert_eq!((&hosts[0]["paused"], &hosts[0]["waits_for"]), (&true.into(), &"paused".into()));
    let text = place.run("hosts").expect(0).out;
    assert!(text.lines().count() == 3 && text.contains("paused by you"), "{text}");
    assert_eq!(place.run("hosts --limit 2").expect(0).out.lines().count(), 2);

    let queue = place.run("queue --json").expect(0).json();
    let queued: Vec<&Value> = queue["hosts"].as_array().unwrap().iter().collect();
    assert_eq!(queued.len(), 3, "{queue}");
    let text = place.run("queue").expect(0).out;
    assert!(text.contains("1 host is paused by you") && text.contains("waits for"), "{text}");

    let archive = place.run("archive --json").expect(0).json();
    let on_disk = place.archive_files(".warc.gz");
    assert_eq!(archive["files"].as_array().unwrap().len(), on_disk.len(), "{archive}");
    let size = std::fs::metadata(&on_disk[0]).unwrap().len();
    assert_eq!(archive["files"][0]["bytes"], size);
    let text = place.run("archive").expect(0).out;
    let name = on_disk[0].file_name().unwrap().to_str().unwrap();
    assert!(text.contains(name) && text.contains("finished"), "{text}");
}
