//! Which value holds, who said so, and what if it makes no sense?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use crate::common::Place;
use crate::common::site::{Answer, Site};

/// Value and origin of a setting, as `config show` with these words tells.
fn setting(place: &Place, words: &str, name: &str, variables: &[(&str, &str)]) -> (String, String) {
    let mut command = place.command(&format!("config show --json {words}"));
    command.envs(variables.iter().copied());
    let shown = place.start_command(command).wait().expect(0).json_lines();
    let line = shown.iter().find(|line| line["name"] == name).unwrap();
    let word = |field: &str| line[field].as_str().unwrap().to_owned();
    (word("value"), word("from"))
}

#[test]
fn flag_over_environment_over_file_over_default() {
    let place = Place::new();
    let delay =
        |words: &str, variables: &[(&str, &str)]| setting(&place, words, "pace.delay", variables);
    let said = |value: &str, from: &str| (value.to_owned(), from.to_owned());
    let variable = [("EVERCRAWL_PACE_DELAY", "3s")];
    assert_eq!(delay("", &[]), said("1s", "default"));
    place.write("evercrawl.toml", "[pace]\ndelay = \"2s\"\n");
    assert_eq!(delay("", &[]), said("2s", "evercrawl.toml"));
    assert_eq!(delay("", &variable), said("3s", "$EVERCRAWL_PACE_DELAY"));
    assert_eq!(delay("-s pace.delay=4s", &variable), said("4s", "command line"));
    place.write("other.toml", "[pace]\ndelay = \"5s\"\n");
    assert_eq!(delay("--config other.toml", &[]), said("5s", "other.toml"));
}

#[test]
fn every_setting_is_shown_with_its_meaning() {
    let place = Place::new();
    let mut command = place.command("config show --json");
    command.env_remove("EVERCRAWL_LIMITS_MIN_FREE_DISK");
    let settings = place.start_command(command).wait().expect(0).json_lines();
    assert!(settings.len() > 30, "{}", settings.len());
    for setting in &settings {
        assert_eq!(setting["value"], setting["default"], "{setting}");
        assert!(!setting["help"].as_str().unwrap().is_empty(), "{setting}");
    }
    let table = place.run("config show").expect(0).out;
    assert_eq!(table.lines().count(), settings.len() + 1);
}

#[test]
fn what_was_said_is_remembered() {
    let site = Site::serve(|_| Answer::page("<a href='/x'>x</a><a href='/no/y'>y</a>"));
    let place = Place::new();
    let flags = format!("--delay 5ms --exclude /no/ --depth 3 {}", site.flags());
    place.run(&format!("crawl --once http://a.test/ {flags}")).expect(0);
    let remembered = |name: &str| setting(&place, "", name, &[]);
    let earlier = "an earlier command on this data directory".to_owned();
    assert_eq!(remembered("pace.delay"), ("5ms".to_owned(), earlier.clone()));
    assert_eq!(remembered("crawl.exclude"), ("/no/".to_owned(), earlier.clone()));
    assert_eq!(remembered("crawl.depth"), ("3".to_owned(), earlier.clone()));
    // The second run reaches the site and keeps to the rules without being told again.
    place.run("crawl --once http://b.test/ --delay 6ms").expect(0);
    assert_eq!(site.asked("b.test/x").len(), 1);
    assert_eq!(site.asked("b.test/no/y").len(), 0);
    assert_eq!(remembered("pace.delay"), ("6ms".to_owned(), earlier.clone()));
    assert_eq!(remembered("crawl.exclude"), ("/no/".to_owned(), earlier));
}

#[test]
fn a_mistake_ends_with_3_and_a_suggestion() {
    let place = Place::new();
    place
        .run("config show -s pace.dealy=1s")
        .expect(3)
        .explains(&["pace.dealy", "did you mean `pace.delay`?"]);
    place.run("crawl http://127.0.0.1/ -s pace.delay=soon").expect(3).explains(&[
        "pace.delay",
        "soon",
        "10s",
    ]);
    place.run("crawl http://127.0.0.1/ --include [").expect(3).explains(&["["]);
    place.run("crawl http://127.0.0.1/ --connect-to nonsense").expect(3).explains(&["nonsense"]);
    let mut command = place.command("config show");
    command.env("EVERCRAWL_PACE_DELAI", "1s");
    let ran = place.start_command(command).wait().expect(3);
    ran.explains(&["did you mean `EVERCRAWL_PACE_DELAY`?"]);
    place.write("evercrawl.toml", "[pace]\ndelays = \"2s\"\n");
    place.run("config show").expect(3).explains(&[
        "evercrawl.toml",
        "pace.delays",
        "`pace.delay`?",
    ]);
    place.write("evercrawl.toml", "[pace\n");
    place.run("config show").expect(3).explains(&["evercrawl.toml", "line 1"]);
}

#[test]
fn whoever_crawls_others_says_who_they_are() {
    let place = Place::new();
    place
        .run("crawl --once http://example.test/")
        .expect(3)
        .explains(&["--contact", "identity.contact"]);
}

#[test]
fn init_writes_a_file_that_counts() {
    let place = Place::new();
    let made = place.run("init --contact mailto:me@example.org --agent mybot").expect(0);
    assert_eq!(made.out.trim(), "data/evercrawl.toml");
    let from = "data/evercrawl.toml".to_owned();
    assert_eq!(setting(&place, "", "identity.user_agent", &[]), ("mybot".to_owned(), from.clone()));
    let contact = ("mailto:me@example.org".to_owned(), from);
    assert_eq!(setting(&place, "", "identity.contact", &[]), contact);
    place.run("init").expect(3).explains(&["already exists"]);
}
