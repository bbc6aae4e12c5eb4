//! Has every mistake one exit code, wherever it is made, and are errors JSON where JSON is asked for?
//!
//! 2: the command line cannot be understood. 3: the value of a setting is wrong, wherever it was set. 4: the data
//! directory cannot be used. 1: something else failed, such as a port that is in use.
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::fs;
use std::net::TcpListener;

use crate::common::Place;
use crate::common::site::{Answer, Site};
use serde_json::Value;

/// Verbs that read or change a data directory, with what else they need.
const VERBS: [&str; 22] = [
    "status",
    "urls",
    "why http://a.test/",
    "plan",
    "history http://a.test/",
    "changes",
    "diff http://a.test/",
    "rates",
    "rank",
    "spam",
    "overrides",
    "pin http://a.test/",
    "boost /x/ --weight 2",
    "pause a.test",
    "trust a.test",
    "exclude /x/",
    "resume a.test",
    "budget 5/s",
    "push http://a.test/",
    "check",
    "retain",
    "config show",
];

/// Runs a command with `--json` and gives its error.
#[track_caller]
fn json_error(place: &Place, words: &str, code: i32) -> Value {
    let ran = place.run(&format!("{words} --json")).expect(code);
    let line = ran.err.lines().last().unwrap_or_default();
    let error: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{words}: {line}"));
    assert!(ran.out.is_empty(), "{words}: {}", ran.out);
    assert!(error["error"]["message"].as_str().is_some_and(|text| text.len() > 5), "{words}");
    assert_eq!(error["error"]["exit_code"], code, "{words}");
    error["error"].clone()
}

#[test]
fn a_missing_data_directory_is_4_for_every_verb() {
    let place = Place::new();
    for verb in VERBS.iter().filter(|verb| **verb != "config show") {
        place.run(verb).expect(4).explains(&["does not exist", "crawl URL"]);
        let error = json_error(&place, verb, 4);
        assert_eq!(error["code"], "storage", "{verb}");
        assert!(error["hint"].as_str().unwrap().contains("create it"), "{verb}: {error}");
    }
    assert!(!place.data().exists());
}

#[test]
fn a_wrong_value_of_a_setting_is_3_for_every_verb_and_wherever_it_was_set() {
    let site = Site::serve(|_| Answer::page("<p>here"));
    let place = Place::new();
    place.run(&format!("crawl --once http://a.test/ {}", site.flags())).expect(0);
    for verb in VERBS {
        for wrong in [
            "-s pace.delay=soon",
            "-s pace.dealy=1s",
            "-s crawl.scope=galaxy",
            "-s crawl.include=[",
        ] {
            place.run(&format!("{verb} {wrong}")).expect(3);
        }
        place.run(&format!("{verb} --config nowhere.toml")).expect(3);
        place.run(&format!("{verb} -s nothing")).expect(2);
        assert_eq!(
            json_error(&place, &format!("{verb} -s pace.delay=soon"), 3)["code"],
            "configuration"
        );
    }
    for (flag, setting) in [
        ("--delay soon", "pace.delay=soon"),
        ("--scope galaxy", "crawl.scope=galaxy"),
        ("--depth deep", "crawl.depth=deep"),
        ("--depth -1", "crawl.depth=-1"),
        ("--concurrency many", "budget.concurrency=many"),
        ("--per-host -2", "pace.per_host=-2"),
        ("--budget fast", "budget.rate=fast"),
        ("--budget -1/s", "budget.rate=-1/s"),
        ("--max-bytes-per-day -1", "budget.bytes_per_day=-1"),
        ("--goal fame", "schedule.goal=fame"),
        ("--policy oracle", "schedule.policy=oracle"),
        ("--user-agent a/b", "identity.user_agent=a/b"),
        ("--contact me", "identity.contact=me"),
        ("--allow-private=lan", "fetch.allow_private=lan"),
        ("--connect-to nonsense", "fetch.connect_to=nonsense"),
        ("--include [", "crawl.include=["),
    ] {
        let said = |words: &str| place.run(&format!("crawl http://a.test/ {words}")).expect(3).err;
        let (by_flag, by_setting) = (said(flag), said(&format!("-s {setting}")));
        assert_eq!(by_flag, by_setting, "{flag}");
        let (section, rest) = setting.split_once('.').unwrap();
        let (name, value) = rest.split_once('=').unwrap();
        place.write("wrong.toml", &format!("[{section}]\n{name} = \"{value}\"\n"));
        assert!(!said("--config wrong.toml").is_empty(), "{flag}");
        let mut command = place.command("crawl http://a.test/");
        let variable = format!("EVERCRAWL_{}_{}", section.to_uppercase(), name.to_uppercase());
        command.env(variable, value);
        place.start_command(command).wait().expect(3);
    }
    place.run("budget fast").expect(3).explains(&["budget.rate", "is not a valid rate"]);
    place.run("fetch http://a.test/ --delay soon").expect(3);
    place.run("robots http://a.test/ --delay soon").expect(3);
    let init = "init --data other --contact me";
    place.run(init).expect(3).explains(&["identity.contact", "you@example.org"]);
    assert!(!place.path().join("other").exists(), "nothing was begun");
}

#[test]
fn a_command_line_that_cannot_be_understood_is_2_for_every_verb() {
    let place = Place::new();
    for verb in VERBS {
        let wrong = format!("{verb} --nonsense");
        place.run(&wrong).expect(2);
        assert_eq!(json_error(&place, &wrong, 2)["code"], "usage", "{wrong}");
    }
    for wrong in [
        "frobnicate",
        "crawl",
        "add",
        "crawl ftp://a.test/",
        "crawl --seeds nowhere.txt",
        "crawl http://a.test/ --max-time soon",
        "crawl http://a.test/ --max-pages many",
        "crawl http://a.test/ --max-bytes much",
        "urls --state asleep",
        "urls --reason because",
        "changes --since yesterday",
        "plan --ahead far",
        "rates --by moon",
        "rates --level 100%",
        "status --watch 0",
    ] {
        let error = json_error(&place, wrong, 2);
        assert!(error["hint"].is_string() || error["message"].is_string(), "{wrong}");
    }
}

#[test]
fn a_network_after_a_space_is_no_seed() {
    let place = Place::new();
    place.write("networks.toml", "");
    for network in ["127.0.0.1", "10.0.0.0/8", "::1", "fd00::/8", "loopback", "127.0.0.1,::1"] {
        for verb in ["crawl http://a.test/", "fetch http://a.test/", "robots http://a.test/"] {
            for before in ["", "--config networks.toml "] {
                let line = format!("{verb} {before}--allow-private {network}");
                place.run(&line).expect(2).explains(&[network, "--allow-private="]);
            }
        }
    }
    assert!(!place.data().exists());
}

#[test]
fn a_crawl_without_a_contact_begins_nothing() {
    let place = Place::new();
    place.run("crawl http://a.example/").expect(3).explains(&["no contact set", "--contact"]);
    assert!(!place.data().exists());
}

#[test]
fn a_port_that_is_in_use_is_1_wherever_it_is_asked_for() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let place = Place::new();
    for words in [
        format!("crawl http://127.0.0.1:9/ --push {address}"),
        format!("crawl http://127.0.0.1:9/ -s push.listen={address}"),
        format!("testweb --listen {address} --max-time 1s"),
    ] {
        place.run(&words).expect(1).explains(&[&address.to_string()]);
    }
}

#[test]
fn a_quiet_crawl_prints_nothing_but_errors() {
    let site = Site::serve(|request| match request.page.as_str() {
        "a.test/" => Answer::page("<a href=/1>1</a><a href=http://10.0.0.1/>private</a>"),
        _ => Answer::page("<p>here"),
    });
    let place = Place::new();
    let flags = format!("--delay 1ms {}", site.flags());
    for run in ["--once", "--max-time 1s", "--once --report report.json"] {
        let ran = place.run(&format!("crawl http://a.test/ --quiet {run} {flags}"));
        assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""), "{run}");
    }
    let report = fs::read_to_string(place.path().join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["finish_reason"], "done");
    assert_eq!(report["exit_code"], 0);
    let wrong = place.run("crawl --quiet --delay soon").expect(3);
    assert!(wrong.out.is_empty() && wrong.err.contains("soon"), "{}", wrong.err);
}

#[test]
fn an_empty_directory_is_no_world() {
    let place = Place::new();
    fs::create_dir(place.path().join("empty")).unwrap();
    place.run("lab run empty --policy uniform").expect(2).explains(&["does not contain a world"]);
    place.run("init --contact you@example.org").expect(0);
    place.run("lab run data --policy uniform").expect(2).explains(&["no page was visited"]);
    assert_eq!(json_error(&place, "lab run data --policy uniform", 2)["code"], "usage");
}
