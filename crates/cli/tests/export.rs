//! Does what is exported hold what the crawl knows, and go on where it ended?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use evercrawl_testweb::{PageShares, WorldConfig};
use serde_json::Value;

use crate::common::Place;
use crate::common::tools::{records, tool, warcio_accepts};
use crate::common::web::Web;
use crate::tools::{Wayback, get};

const HOSTS: u32 = 4;

/// A crawl with redirects, duplicates and pages that were visited again.
pub(crate) fn crawl() -> (Web, Place) {
    let calm = WorldConfig::calm().page_shares;
    let shares = PageShares { duplicate: 0.2, broken_link: 0.3, ..calm };
    let world = WorldConfig { hosts: HOSTS, pages: 12, page_shares: shares, ..WorldConfig::calm() };
    let (web, place) = (Web::serve(world), Place::new());
    let flags = format!("--delay 5ms --recrawl 1s -s archive.roll=60kB {}", web.flags());
    place.run(&format!("crawl --once {} {flags}", web.seeds(HOSTS).join(" "))).expect(0);
    place.run("crawl --for 2s").expect(15);
    (web, place)
}

/// All visits, as `changes --all` tells them.
pub(crate) fn visits(place: &Place) -> Vec<Value> {
    let mut lines = place.run("changes --all --json").expect(0).json_lines();
    lines.retain(|line| line.get("outcome").is_some());
    lines
}

#[test]
fn exports_hold_what_the_crawl_knows() {
    let (_web, place) = crawl();
    urls_are_listed_and_filtered(&place);
    a_sitemap_has_the_pages_that_answer(&place);
    a_crawl_log_has_a_line_a_visit(&place);
    a_warc_file_stands_alone_and_goes_on(&place);
    mistakes_are_told(&place);
}

fn urls_are_listed_and_filtered(place: &Place) {
    let known: BTreeSet<String> =
        place.urls().iter().map(|page| page["url"].as_str().unwrap().to_owned()).collect();
    let listed = place.run("export urls").expect(0);
    let lines: BTreeSet<String> = listed.out.lines().map(str::to_owned).collect();
    assert_eq!(lines, known);
    let want = place.urls().iter().filter(|page| page["status"] == 404).count();
    let mut command = place.command("export urls --json --where");
    command.arg("status = 404 and depth > 0");
    let got = place.start_command(command).wait().expect(0).json_lines();
    assert_eq!(got.len(), want, "404s are never seeds");
    place.run("export urls --host h1.test --out urls.txt").expect(0);
    let file = fs::read_to_string(place.path().join("urls.txt")).unwrap();
    let own = known.iter().filter(|url| url.starts_with("http://h1.test/")).count();
    assert!(own > 5 && file.lines().count() == own, "{file}");
}

fn a_sitemap_has_the_pages_that_answer(place: &Place) {
    let told = place.run("export sitemap --out sitemap.xml --json").expect(0).json_lines();
    let file = fs::read_to_string(place.path().join("sitemap.xml")).unwrap();
    let is_live = |page: &&Value| {
        let live = page["state"] == "due" || page["state"] == "resting";
        live && matches!(page["status"].as_u64(), Some(200 | 304)) && page["kind"] == "page"
    };
    let want = place.urls().iter().filter(is_live).count();
    assert_eq!((file.matches("<loc>").count(), &told[0]["rows"]), (want, &Value::from(want)));
}

fn a_crawl_log_has_a_line_a_visit(place: &Place) {
    let visits = visits(place);
    let printed = place.run("export crawl-log").expect(0).out;
    let lines: Vec<Vec<&str>> =
        printed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), visits.len());
    for (line, visit) in lines.iter().zip(&visits) {
        assert_eq!(line.len(), 12, "{line:?}");
        assert_eq!(visit["url"], line[3]);
        assert_eq!(visit["status"].as_i64().unwrap_or(-3).to_string(), line[1]);
    }
    let html = lines.iter().filter(|line| line[6] == "text/html").count();
    place.run("export crawl-log --out part.log").expect(0);
    let mut command = place.command("export crawl-log --out html.log --where");
    command.arg("mime = text/html");
    place.start_command(command).wait().expect(0);
    let file = fs::read_to_string(place.path().join("html.log")).unwrap();
    assert!(html > 0 && file.lines().count() == html);
}

fn a_warc_file_stands_alone_and_goes_on(place: &Place) {
    let words = "export warc --host h2.test --out h2.warc.gz";
    place.run(words).expect(0);
    let path = place.path().join("h2.warc.gz");
    let whole = fs::read(&path).unwrap();
    let held = records(&path);
    let visits = visits(place);
    let of_host = |visit: &&Value| {
        visit["url"].as_str().unwrap().starts_with("http://h2.test/") && !visit["warc"].is_null()
    };
    let ids: BTreeSet<&str> =
        held.iter().filter_map(|one| one.record.header("WARC-Record-ID")).collect();
    assert_eq!(ids.len(), held.len(), "no record twice");
    let is_visit = |kind: &str| kind == "response" || kind == "revisit";
    let captures = held.iter().filter(|one| is_visit(one.record.header("WARC-Type").unwrap()));
    // Besides the visits of the host only what they refer to is there.
    assert!(captures.count() >= visits.iter().filter(of_host).count());
    let dates: BTreeSet<&str> =
        held.iter().filter_map(|one| one.record.header("WARC-Date")).collect();
    for one in &held {
        if let Some(date) = one.record.header("WARC-Refers-To-Date") {
            assert!(dates.contains(date), "what it refers to is there: {date}");
        }
    }
    warcio_accepts(std::slice::from_ref(&path));
    // A crash left more than was noted.
    fs::write(&path, [whole.as_slice(), b"half a record"].concat()).unwrap();
    place.run(words).expect(0);
    assert_eq!(fs::read(&path).unwrap(), whole);
    place
        .run("export warc --host h3.test --out h2.warc.gz")
        .expect(2)
        .explains(&["another selection"]);
    place.run("export warc --host h3.test --out h2.warc.gz --overwrite").expect(0);
}

fn mistakes_are_told(place: &Place) {
    place.run("export urls --where statsu=404").expect(2).explains(&["`statsu` is not a field"]);
    place.run("export warc --out no/such/dir/x.warc.gz").expect(1).explains(&["cannot write"]);
    place.write("mine.warc.gz", "mine");
    place.run("export warc --out mine.warc.gz").expect(2).explains(&["is there already"]);
    place.run("export urls --data nowhere").expect(4);
}

#[test]
fn a_running_crawl_is_followed() {
    let world = WorldConfig { hosts: 2, pages: 8, ..WorldConfig::calm() };
    let (web, place) = (Web::serve(world), Place::new());
    let flags = format!("--delay 5ms --recrawl 1s {}", web.flags());
    let mut crawl = place.start(&format!("crawl {} {flags} --for 60s", web.seeds(2).join(" ")));
    crawl.wait_until("the crawl to answer", || place.data().join("control.sock").exists());
    let mut follow = place.start("export warc --follow --out all.warc.gz");
    let path = place.path().join("all.warc.gz");
    let bytes = || fs::metadata(&path).map_or(0, |file| file.len());
    crawl.wait_until("records", || bytes() > 20_000);
    assert!(follow.is_running());
    crawl.signal(rustix::process::Signal::INT);
    crawl.wait().expect(11);
    follow.wait().expect(11).explains(&["run the same command again to continue"]);
    place.run("export warc --out all.warc.gz").expect(0);
    let visits = visits(&place).iter().filter(|visit| !visit["warc"].is_null()).count();
    let held = records(&path);
    let requests = held.iter().filter(|one| one.record.header("WARC-Type") == Some("request"));
    assert_eq!(requests.count(), visits, "every visit once");
}

#[test]
fn a_package_is_valid_and_replays() {
    let (_web, place) = crawl();
    let told = place.run("export wacz --out crawl.wacz --title Test --json").expect(0).json();
    let path = place.path().join("crawl.wacz");
    let captures = visits(&place).iter().filter(|visit| is_capture(visit)).count();
    assert!(told["rows"].as_u64().unwrap() >= captures as u64, "{told}");
    assert!(told["pages"].as_u64().unwrap() > 10, "{told}");
    let left: Vec<_> = fs::read_dir(place.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("crawl.wacz"))
        .collect();
    assert_eq!(left, ["crawl.wacz"], "nothing else is left");
    place.run("export wacz --out crawl.wacz").expect(2).explains(&["is there already"]);
    if let Some(wacz) = tool("wacz") {
        let output = Command::new(wacz).args(["validate", "-f"]).arg(&path).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(output.status.success() && said.contains("Valid"), "{said}");
    }
    python(
        "import sys, zipfile, json, gzip\n\
         z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None\n\
         lines = z.read('indexes/index.cdx').decode().splitlines(); assert lines == sorted(lines)\n\
         warc = z.read('archive/data.warc.gz')\n\
         for line in lines:\n\
         \x20   f = json.loads(line.split(' ', 2)[2]); o = int(f['offset'])\n\
         \x20   r = gzip.decompress(warc[o:o + int(f['length'])])\n\
         \x20   assert ('WARC-Target-URI: ' + f['url'] + '\\r\\n').encode() in r, line\n\
         pages = [json.loads(l) for l in z.read('pages/pages.jsonl').decode().splitlines()]\n\
         assert pages[0]['hasText'] and all(p['title'] and p['text'] for p in pages[1:3])\n",
        &path,
    );
    pywb_replays(&place, &path);
}

/// pywb takes the package apart, makes an index of its own, and serves every page.
fn pywb_replays(place: &Place, package: &Path) {
    let (Some(manager), Some(wayback)) = (tool("wb-manager"), tool("wayback")) else { return };
    let dir = tempfile::tempdir().unwrap();
    let manage = |words: &[&str]| {
        let mut command = Command::new(&manager);
        let output = command.args(words).arg(package).current_dir(dir.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
    };
    let init = Command::new(&manager).args(["init", "crawl"]).current_dir(dir.path()).output();
    assert!(init.unwrap().status.success());
    manage(&["add", "--unpack-wacz", "crawl"]);
    let server = Wayback::start(&wayback, dir.path());
    let mut replayed = 0;
    let answers = |page: &&Value| page["status"] == 200 || page["status"] == 304;
    for page in place.urls().iter().filter(answers).take(20) {
        let url = page["url"].as_str().unwrap();
        let (status, body) = get(server.1, "localhost", &format!("/crawl/2100id_/{url}"));
        assert!(status == "200" && !body.is_empty(), "{status} {url}");
        replayed += 1;
    }
    assert!(replayed > 10, "{replayed}");
}

/// Whether a visit has a record that belongs into an index.
pub(crate) fn is_capture(visit: &Value) -> bool {
    !visit["warc"].is_null() && visit["status"] != 304
}

/// Runs a program in Python with the tools' packages; it fails where an assertion in it does.
pub(crate) fn python(program: &str, argument: &Path) -> String {
    let Some(python) = tool("python3") else { return String::new() };
    let output = Command::new(python).args(["-c", program]).arg(argument).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
