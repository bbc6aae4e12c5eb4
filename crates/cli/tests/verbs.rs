//! What does each verb say, and how does it refuse?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::common::site::{Answer, Request, Site};
use crate::common::{Place, wait_until};
use serde_json::Value;

/// A site with a page to be found, one to be left alone, and one elsewhere.
fn answer(request: &Request) -> Answer {
    match request.page.split_once('/').unwrap().1 {
        "robots.txt" => Answer::status("200 OK").body("User-agent: *\nDisallow: /private/\n"),
        "" => Answer::page(
            "<title>Front</title><a href=/p>p</a><a href=/private/x>x</a><a href=//b.test/>b</a>",
        ),
        "p" => Answer::page("<title>A page</title>"),
        _ => Answer::status("404 Not Found"),
    }
}

/// A crawl that is done.
fn crawled() -> (Site, Place) {
    let (site, place) = (Site::serve(answer), Place::new());
    place.run(&format!("crawl --once http://a.test/ --delay 5ms {}", site.flags())).expect(0);
    (site, place)
}

#[test]
fn usage_errors_end_with_2() {
    let place = Place::new();
    for wrong in ["", "frobnicate", "crawl --depth deep", "crawl", "add", "crawl ftp://a.test/"] {
        place.run(wrong).expect(2);
    }
    place.run("crawl http://127.0.0.1/ --for soon").expect(2).explains(&["--for", "soon"]);
    place.run("crawl --seeds nowhere.txt").expect(2).explains(&["nowhere.txt"]);
    place.run("config show -s nothing").expect(2).explains(&["NAME=VALUE"]);
    place.write("seeds.txt", "http://127.0.0.1/\n\n# fine so far\nhttp://[bad/\n");
    place.run("add --seeds seeds.txt").expect(2).explains(&["seeds.txt, line 4"]);
    place.run("--help").expect(0);
    place.run("--version").expect(0);
}

#[test]
fn a_directory_that_is_not_ours_ends_with_4() {
    let place = Place::new();
    place.run("urls").expect(4).explains(&["data does not exist", "evercrawl crawl URL"]);
    fs::create_dir(place.data()).unwrap();
    place.write("data/thesis.txt", "mine");
    for verb in ["crawl http://127.0.0.1/", "add http://127.0.0.1/", "urls", "init"] {
        place.run(verb).expect(4).explains(&["not an Evercrawl data directory", "--data"]);
    }
    assert_eq!(fs::read_dir(place.data()).unwrap().count(), 1, "it was left as it was");
    place.write("data/evercrawl.data", "evercrawl data directory, format 99\n");
    place.run("urls").expect(4).explains(&["newer", "99", "upgrade"]);
}

#[test]
fn a_directory_in_use_ends_with_4() {
    let (site, place) = (Site::serve(answer), Place::new());
    let crawl = place.start(&format!("crawl http://a.test/ --delay 5ms {}", site.flags()));
    wait_until("the crawl to begin", || place.data().join("control.sock").exists());
    for verb in ["crawl", "check", "add http://c.test/"] {
        let process = "process ";
        place.run(verb).expect(4).explains(&["in use", process, "stop it, or use another --data"]);
    }
    let status = place.run("status --json").expect(0).json();
    assert_eq!(status["running"], true);
    crawl.signal(rustix::process::Signal::INT);
    crawl.wait().expect(11);
    assert_eq!(place.run("status --json").expect(0).json()["running"], false);
}

#[test]
fn robots_answers_by_exit_code_and_names_the_line() {
    let place = Place::new();
    place.write(
        "robots.txt",
        "User-agent: *\nDisallow: /a\n\nUser-agent: mybot\nAllow: /a/b\nDisallow: /a\n",
    );
    let ask = |words: &str| place.run(&format!("robots {words} --file robots.txt"));
    let said = ask("http://x.test/a/b --agent mybot").expect(0);
    assert!(
        said.out.starts_with("allowed") && said.out.contains("line 5: Allow: /a/b"),
        "{}",
        said.out
    );
    let said = ask("http://x.test/a/c --agent mybot").expect(1);
    assert!(
        said.out.starts_with("disallowed") && said.out.contains("line 6: Disallow: /a"),
        "{}",
        said.out
    );
    let said = ask("http://x.test/a/b").expect(1);
    assert!(said.out.contains("line 2: Disallow: /a"), "{}", said.out);
    assert!(ask("http://x.test/other").expect(0).out.contains("no line applies"));
    let json = ask("http://x.test/a --json").expect(1).json();
    assert_eq!((&json["allowed"], &json["line"]), (&Value::from(false), &Value::from(2)));
    ask("http://x.test/ --config nowhere.toml").expect(3);
    place.run("robots http://x.test/ --file nowhere.txt").expect(2).explains(&["nowhere.txt"]);
}

#[test]
fn robots_fetches_the_rules_itself() {
    let (site, place) = (Site::serve(answer), Place::new());
    let said = place.run(&format!("robots http://a.test/private/x {}", site.flags())).expect(1);
    assert!(said.out.contains("line 2: Disallow: /private/"), "{}", said.out);
    assert_eq!(site.asked("a.test/private/x").len(), 0);
}

#[test]
fn urls_tells_all_about_every_url() {
    let (_site, place) = crawled();
    let known = place.urls();
    let page = |url: &str| known.iter().find(|page| page["url"] == url).unwrap();
    let fields = [
        "url",
        "state",
        "reason",
        "status",
        "depth",
        "via",
        "visits",
        "last_visit",
        "last_change",
        "next_due",
        "kind",
        "tags",
        "seed",
        "found",
    ];
    for page in &known {
        assert!(fields.iter().all(|field| page.get(field).is_some()), "{page}");
    }
    let (front, found, refused) =
        (page("http://a.test/"), page("http://a.test/p"), page("http://a.test/private/x"));
    assert_eq!(
        (&front["depth"], &front["via"], &front["seed"]),
        (&0.into(), &Value::Null, &true.into())
    );
    assert_eq!((&found["depth"], &found["via"]), (&1.into(), &"http://a.test/".into()));
    assert_eq!(
        (&found["state"], &found["status"], &found["visits"]),
        (&"resting".into(), &200.into(), &1.into())
    );
    assert!(found["next_due"].as_str() > found["last_visit"].as_str(), "{found}");
    assert_eq!((&refused["state"], &refused["reason"]), (&"refused".into(), &"robots".into()));
    assert_eq!((&refused["visits"], &refused["last_visit"]), (&0.into(), &Value::Null));
    let listed = |filter: &str| place.run(&format!("urls {filter}")).expect(0).out;
    assert_eq!(listed("").lines().count(), known.len());
    assert_eq!(listed("--state refused").lines().count(), 1);
    assert!(listed("--reason robots").contains("http://a.test/private/x"));
    place.run("urls --reason robot").expect(2).explains(&["no such reason", "robots"]);
    assert_eq!(listed("--state new"), "");
}

#[test]
fn why_explains_known_and_unknown_urls() {
    let (_site, place) = crawled();
    let why = |url: &str| place.run(&format!("why {url} --json")).expect(0).json();
    let step = |why: &Value, code: &str| -> Value {
        let steps = why["steps"].as_array().unwrap();
        steps.iter().find(|step| step["code"] == code).cloned().unwrap_or_default()
    };
    let has = |url: &str, words: &[&str]| {
        let said = place.run(&format!("why {url}")).expect(0).out;
        assert!(words.iter().all(|words| said.contains(words)), "{words:?} in {said}");
    };
    let known = why("http://a.test/p");
    assert_eq!((&known["state"], &known["page"]["state"]), (&"resting".into(), &"resting".into()));
    assert_eq!(step(&known, "known")["via"], "http://a.test/");
    let visits = step(&known, "visits");
    assert_eq!((&visits["outcome"], &visits["status"]), (&"ok".into(), &200.into()));
    let next = step(&known, "next");
    assert_eq!((&next["waits"], &next["verdict"]), (&"due".into(), &"wait".into()));
    let words =
        ["state        resting", "a link on http://a.test/", "ok 200", "next         due at"];
    has("http://a.test/p", &words);
    let private = why("http://a.test/private/x");
    let line = serde_json::json!({"number": 2, "text": "Disallow: /private/"});
    assert_eq!(step(&private, "robots")["line"], line);
    assert_eq!(step(&private, "robots")["verdict"], "refuse");
    assert_eq!(step(&private, "known")["reason"], "robots");
    has("http://a.test/private/x", &["line 2 `Disallow: /private/`", "reason       robots"]);
    let unknown = why("http://a.test/never/seen");
    assert_eq!((&unknown["state"], &unknown["page"]), (&Value::Null, &Value::Null));
    assert_eq!(step(&unknown, "scope")["verdict"], "pass");
    assert_eq!(step(&unknown, "robots")["allowed"], true);
    has("http://a.test/never/seen", &["never seen", "in scope", "robots       allowed"]);
    assert_eq!(step(&why("http://elsewhere.test/"), "scope")["reason"], "out_of_scope");
    assert_eq!(step(&why("http://a.test/photo.jpg"), "scope")["reason"], "extension");
    place.run("why ftp://a.test/").expect(2);
    place.run("history http://a.test/never/seen").expect(1).explains(&["not known"]);
}

#[test]
fn every_json_output_is_json() {
    let (site, place) = crawled();
    for verb in
        ["status", "check", "urls", "config show", "why http://a.test/", "history http://a.test/"]
    {
        assert!(!place.run(&format!("{verb} --json")).expect(0).json_lines().is_empty(), "{verb}");
    }
    let crawl = place.run("crawl --once --json http://c.test/").expect(0).json_lines();
    let report = crawl.last().unwrap();
    assert_eq!((&report["event"], &report["finish_reason"]), (&"report".into(), &"done".into()));
    assert_eq!(report["exit_code"], 0);
    let fetched =
        place.run(&format!("fetch http://a.test/p --json {}", site.flags())).expect(0).json();
    assert_eq!((&fetched["status"], &fetched["title"]), (&200.into(), &"A page".into()));
    let checked = place.run("check --json").expect(0).json();
    assert_eq!((&checked["ok"], &checked["faults"]), (&true.into(), &0.into()));
}

#[test]
fn fetch_shows_and_changes_nothing() {
    let (site, place) = (Site::serve(answer), Place::new());
    let fetched = place.run(&format!("fetch http://a.test/p {}", site.flags())).expect(0);
    assert!(fetched.out.starts_with("HTTP/1.1 200 OK") && fetched.out.contains("A page"));
    let body = place.run(&format!("fetch http://a.test/p --body {}", site.flags())).expect(0);
    assert_eq!(body.out, "<title>A page</title>");
    assert!(!place.data().exists());
}

#[test]
fn check_finds_what_was_spoilt() {
    let (_site, place) = crawled();
    let warc = place.archive_files(".warc.gz").remove(0);
    let mut bytes = fs::read(&warc).unwrap();
    let last = bytes.len() - 40;
    bytes[last] ^= 0xff;
    fs::write(&warc, &bytes).unwrap();
    let checked = place.run("check --json").expect(1).json_lines();
    assert_eq!(
        (&checked[0]["event"], &checked.last().unwrap()["ok"]),
        (&"fault".into(), &false.into())
    );
    assert!(checked[0]["offset"].as_u64().is_some_and(|offset| offset > 0), "{checked:?}");
    fs::remove_file(&warc).unwrap();
    let said = place.run("check").expect(1).out;
    assert!(said.contains("missing") && said.contains("DISAGREE"), "{said}");
}

#[test]
fn seeds_with_tags_are_added_from_standard_input() {
    let (site, place) = (Site::serve(answer), Place::new());
    let mut command = place.command("add --seeds - --tag all --json");
    command.stdin(Stdio::piped());
    let mut add = place.start_command(command);
    let list = "# two countries\nhttp://a.test/ tag=at\n\nhttp://c.test/ tag=ch tag=news\n";
    add.child().stdin.take().unwrap().write_all(list.as_bytes()).unwrap();
    let added = add.wait().expect(0).json();
    assert_eq!((&added["given"], &added["new"]), (&2.into(), &2.into()));
    place.run(&format!("crawl --once --delay 5ms {}", site.flags())).expect(0);
    let tagged = |tag: &str| -> Vec<String> {
        let pages = place.run(&format!("urls --json --tag {tag}")).expect(0).json_lines();
        let mut urls: Vec<_> =
            pages.iter().map(|page| page["url"].as_str().unwrap().to_owned()).collect();
        urls.retain(|url| !url.contains("/private/") && !url.ends_with("sitemap.xml"));
        urls.sort();
        urls
    };
    assert_eq!(
        tagged("at"),
        ["http://a.test/", "http://a.test/p"],
        "a tag is kept on what it leads to"
    );
    assert_eq!(tagged("news"), ["http://c.test/", "http://c.test/p"]);
    assert_eq!(tagged("all").len(), 4);
    assert_eq!(tagged("nothing"), [""; 0]);
}

#[test]
fn completions_name_the_verbs() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.run(&format!("completions {shell}")).expect(0).out;
        assert!(script.contains("crawl") && script.contains("history"), "{shell}");
    }
    place.run("completions cobol").expect(2);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let (_site, place) = crawled();
    let mut upset = Vec::new();
    for verb in [
        "urls --json",
        "urls",
        "history http://a.test/",
        "why http://a.test/",
        "status",
        "check",
        "config show",
        "robots http://a.test/",
        "add http://c.test/",
        "crawl --once --json",
        "crawl --once",
        "completions bash",
    ] {
        let mut command = place.command(verb);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        if output.status.code() != Some(0) {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            upset.push(format!("{verb}: {:?} {said}", output.status.code()));
        }
    }
    assert!(upset.is_empty(), "{}", upset.join("\n"));
}
