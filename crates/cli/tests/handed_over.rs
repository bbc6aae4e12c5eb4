//! Is what is handed over to others whole: pages as Markdown files, and one page as evidence?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::site::{Answer, Request, Site};
use crate::common::tools::tool;
use crate::common::{Place, wait_until};
use crate::export::python;
use rustix::process::Signal;

const PICTURE: &str = "no real picture";

fn typed(media_type: &str, body: &str) -> Answer {
    Answer("200 OK", format!("Content-Type: {media_type}\r\n"), body.to_owned())
}

/// A site whose front page changes, with a page that goes and one that asks to be left out.
fn answer(request: &Request) -> Answer {
    let text = |n: usize| {
        format!("The council met for the {n}th time and spoke about the bridge, which is old.")
    };
    let page = |title: &str, body: &str| {
        Answer::page(format!(
            "<html lang=en><title>{title}</title><link rel=stylesheet href=/style.css><body><main><h1>{title}</h1>{body}\
             <img src=/logo.png><img src=http://elsewhere.test/never.png></main></body></html>"
        ))
    };
    match request.page.split_once('/').unwrap().1 {
        "robots.txt" => Answer::status("404 Not Found"),
        "" => page(
            "Front",
            &format!(
                "<p>{}</p><a href=/story>Story</a> <a href=/gone>Gone</a> <a href=/no>No</a>",
                text(request.earlier)
            ),
        ),
        "gone" if request.earlier > 0 => Answer::status("410 Gone"),
        "gone" => page("Going", &format!("<p>{}</p>", text(3))),
        "story" => page("Story [1]", &format!("<p>{}</p><ul><li>One thing</li></ul>", text(8))),
        "no" => page("No", &format!("<meta name=robots content=noindex><p>{}</p>", text(9))),
        "style.css" => typed("text/css", "body { background: url(/back.png) }"),
        "logo.png" | "back.png" => typed("image/png", PICTURE),
        _ => Answer::status("404 Not Found"),
    }
}

fn flags(site: &Site) -> String {
    format!("--delay 5ms --recrawl 300ms -s schedule.min_interval=100ms --embeds {}", site.flags())
}

/// The files of a folder by their names, without the note.
fn files(dir: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            let inner = files(&entry.path()).into_iter();
            found.extend(inner.map(|(file, text)| (format!("{name}/{file}"), text)));
        } else if name != ".export" {
            found.insert(name, fs::read_to_string(entry.path()).unwrap());
        }
    }
    found
}

#[test]
fn pages_become_markdown_files_and_stay_current() {
    let (site, place) = (Site::serve(answer), Place::new());
    let mut crawl = place.start(&format!("crawl http://a.test/ {}", flags(&site)));
    crawl.wait_until("the crawl to answer", || place.data().join("control.sock").exists());
    let mut follow = place.start("export markdown --out md --follow");
    wait_until("the page to be gone", || site.asked("a.test/gone").len() > 1);
    wait_until("changes", || site.asked("a.test/").len() > 3);
    follow.child().kill().unwrap();
    let mut follow = place.start("export markdown --out md --follow");
    wait_until("more changes", || site.asked("a.test/").len() > 5);
    assert!(follow.is_running());
    crawl.signal(Signal::INT);
    crawl.wait().expect(11);
    follow.wait().expect(11);
    place.run("export markdown --out md").expect(0);
    let found = files(&place.path().join("md"));
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(names.len(), 4, "two pages and two lists: {names:?}");
    let story = found.iter().find(|(name, _)| name.starts_with("a.test/story-")).unwrap().1;
    for part in [
        "---\ntitle: \"Story [1]\"\nurl: \"http://a.test/story\"\n",
        "lang: \"en\"\n",
        "# Story \\[1\\]\n\nThe council met for the 8th time",
        "- One thing",
    ] {
        assert!(story.contains(part), "{part} in {story}");
    }
    assert!(found["a.test/index.md"].contains("- [Story \\[1\\]](story-"), "{found:?}");
    assert_eq!(found["index.md"], "# Hosts\n\n- [a.test](a.test/index.md)\n");
    // Written at once, the same.
    place.run("export markdown --out again").expect(0);
    assert_eq!(files(&place.path().join("again")), found);
    let all = place.run("export markdown --out all --all --json").expect(0).json();
    assert_eq!(all["written"].as_u64().map(|count| count >= 3), Some(true), "{all}");
    assert!(files(&place.path().join("all")).keys().any(|name| name.starts_with("a.test/no-")));
    markdown_files_can_be_chosen(&place);
}

fn markdown_files_can_be_chosen(place: &Place) {
    for (expression, want) in [("lang = de", 0), ("lang = en and url ~ story", 3)] {
        let mut command = place.command("export markdown --out chosen --overwrite --where");
        command.arg(expression);
        place.start_command(command).wait().expect(0);
        let found = files(&place.path().join("chosen"));
        let pages = found.keys().filter(|name| name.contains('/')).count();
        assert_eq!(pages, if want == 0 { 0 } else { 2 }, "{expression}: {found:?}");
    }
    place
        .run("export markdown --out again --host a.test")
        .expect(2)
        .explains(&["another selection"]);
    place.write("mine", "");
    place.run("export markdown --out .").expect(2).explains(&["is not empty"]);
}

#[test]
fn a_page_is_handed_over_as_evidence() {
    let (site, place) = (Site::serve(answer), Place::new());
    place.run(&format!("crawl --once http://a.test/ {}", flags(&site))).expect(0);
    let told = place
        .run("export evidence http://a.test/story --out story.wacz --key key.pem --json")
        .expect(0)
        .json();
    let urls: Vec<&str> = told["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["url"].as_str().unwrap())
        .collect();
    let want = [
        "http://a.test/story",
        "http://a.test/style.css",
        "http://a.test/logo.png",
        "http://a.test/back.png",
    ];
    assert_eq!(urls, want, "the page, and what it is made of");
    assert_eq!(told["missing"], serde_json::json!(["http://elsewhere.test/never.png"]));
    let page = &told["records"][0];
    assert_eq!((&page["role"], &page["status"]), (&"page".into(), &"HTTP/1.1 200 OK".into()));
    assert!(page["payload_digest"].as_str().unwrap().starts_with("sha1:"), "{page}");
    assert_eq!(page["address"], "127.0.0.1");
    let key = place.path().join("key.pem");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let again = "export evidence http://a.test/story --out again.wacz --key key.pem --json";
    assert_eq!(place.run(again).expect(0).json()["public_key"], told["public_key"], "the same key");
    place
        .run("export evidence http://a.test/story --out story.wacz")
        .expect(2)
        .explains(&["is there already"]);
    place
        .run("export evidence http://a.test/never --out x.wacz")
        .expect(1)
        .explains(&["not known"]);
    place
        .run("export evidence http://a.test/ --at 2001-01-01 --out x.wacz")
        .expect(1)
        .explains(&["the first version"]);
    place.write("no.pem", "no key");
    place
        .run("export evidence http://a.test/ --out x.wacz --key no.pem")
        .expect(2)
        .explains(&["not a private key"]);
    others_verify(&place, &place.path().join("story.wacz"));
}

/// As the instructions in the package say, with the tools that they name.
fn others_verify(place: &Place, package: &Path) {
    if let Some(wacz) = tool("wacz") {
        let output = Command::new(wacz).args(["validate", "-f"]).arg(package).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success() && said.contains("Valid"), "{said}");
    }
    let dir = place.path().join("package");
    let said = python(
        "import base64, hashlib, json, os, sys, zipfile\n\
         dir = os.path.join(os.path.dirname(sys.argv[1]), 'package')\n\
         zipfile.ZipFile(sys.argv[1]).extractall(dir); os.chdir(dir)\n\
         digest = lambda path: 'sha256:' + hashlib.sha256(open(path, 'rb').read()).hexdigest()\n\
         listed = json.load(open('datapackage-digest.json')); signed = listed['signedData']\n\
         assert listed['hash'] == signed['hash'] == digest('datapackage.json')\n\
         files = json.load(open('datapackage.json'))['resources']\n\
         assert all(one['hash'] == digest(one['path']) for one in files)\n\
         assert {'evidence/readme.txt', 'evidence/records.json'} <= {one['path'] for one in files}\n\
         open('hash', 'w').write(signed['hash']); open('sig', 'wb').write(base64.b64decode(signed['signature']))\n\
         open('key', 'wb').write(base64.b64decode(signed['publicKey']))\n\
         record = json.load(open('evidence/records.json'))['records'][0]\n\
         line = next(l for l in open('indexes/index.cdx') if '/story ' in l)\n\
         assert json.loads(line.split(' ', 2)[2])['digest'] == record['payload_digest'].split(':')[1]\n\
         print(json.loads(line.split(' ', 2)[2])['offset'])",
        package,
    );
    if said.is_empty() {
        return;
    }
    let verify = |hash: &str| {
        let words = ["dgst", "-sha256", "-verify", "key", "-keyform", "DER", "-signature", "sig"];
        Command::new("openssl").args(words).arg(hash).current_dir(&dir).output()
    };
    match verify("hash") {
        Ok(output) => {
            assert!(output.status.success(), "{output:?}");
            fs::write(dir.join("other"), "sha256:00").unwrap();
            assert!(!verify("other").unwrap().status.success());
        }
        Err(_) => eprintln!("SKIPPED: no openssl to verify the signature with"),
    }
    let readme = fs::read_to_string(dir.join("evidence/readme.txt")).unwrap();
    for part in [
        "http://a.test/story",
        "127.0.0.1",
        "Not archived",
        "http://elsewhere.test/never.png",
        "warcio check",
    ] {
        assert!(readme.contains(part), "{part} in {readme}");
    }
    let archive: PathBuf = dir.join("archive/data.warc.gz");
    crate::common::tools::warcio_accepts(std::slice::from_ref(&archive));
}
