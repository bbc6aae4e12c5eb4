//! Do the screens hold up in a browser: nothing from elsewhere, nothing that the policy forbids, every word can be read, at
//! 360 px as at 1,280, in the light and in the dark, by keyboard, and without scripts?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::common::site::{Answer, Request, Site};
use crate::common::{Place, wait_until};

/// The browser, and the library that drives it; `None` where one of them is missing.
fn browser() -> Option<(PathBuf, PathBuf)> {
    let known =
        ["chromium-headless-shell", "chromium"].map(|name| PathBuf::from("/usr/bin").join(name));
    let browser = known.into_iter().find(|path| path.exists())?;
    // TEST_TOOLS is .tools/venv/bin.
    let tools = std::env::var_os("TEST_TOOLS").map(PathBuf::from)?;
    let library = tools.ancestors().nth(2)?.join("node/node_modules/playwright-core");
    let has_node = Command::new("node").arg("--version").output().is_ok();
    (has_node && library.exists()).then_some((browser, library))
}

/// A site whose front page changes at every visit, and with a page that robots.txt forbids.
fn changing(request: &Request) -> Answer {
    match request.page.split_once('/').map_or("", |(_, path)| path) {
        "robots.txt" => Answer::page("User-agent: *\nDisallow: /secret"),
        "gone" => Answer::status("410 Gone"),
        path => {
            let now = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_millis() / 100);
            Answer::page(format!(
                "<title>&lt;script&gt;</title><p>The page at /{path} says number {now} among words that stay.</p>\
                 <a href='/1'>one</a> <a href='/gone'>gone</a> <a href='/secret'>secret</a>"
            ))
        }
    }
}

fn paths() -> String {
    let url = "url=http%3A%2F%2Fa.test%2F";
    let page = format!("page?{url}");
    let diffs = [format!("diff?{url}"), format!("diff?{url}&as=beside&unmask=true")];
    let others = [
        "",
        "changes",
        "changes?sort=score&change=changed",
        "page",
        "sites",
        "queue?pattern=/1",
        "budget",
        "refusals?reason=robots",
        "archive",
        "settings",
        "analytics?period=1h",
    ];
    let rests = others.into_iter().map(str::to_owned).chain([page]).chain(diffs);
    let screens: Vec<String> = rests.map(|rest| format!("/c/data/{rest}")).collect();
    format!("/ /begin {}", screens.join(" "))
}

#[test]
fn every_screen_holds_up_in_a_browser() {
    let Some((browser, library)) = browser() else {
        eprintln!("SKIPPED: no Chromium, node or playwright-core, so no screen is looked at");
        return;
    };
    let (site, place) = (Site::serve(changing), Place::new());
    let flags =
        format!("--delay 1ms --revisit-every 200ms --quiet --contact me@a.test {}", site.flags());
    let crawl = place.start(&format!("crawl http://a.test/ {flags}"));
    wait_until("visits", || site.asked("a.test/").len() > 8);
    crawl.signal(rustix::process::Signal::INT);
    crawl.wait().expect(11);
    let mut serve = place.start("serve --data data --no-crawl --listen 127.0.0.1:0");
    let mut said = String::new();
    while !said.ends_with('\n') {
        said = serve.said()[0].clone();
        assert!(serve.is_running(), "{}", serve.said()[1]);
        crate::common::pause(Duration::from_millis(20));
    }
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/browser/check.mjs");
    let mut look = Command::new("node");
    look.arg(script).arg(library).arg(browser).arg(said.trim()).arg(paths());
    look.args(std::env::var_os("SCREENSHOTS"));
    let found = look.output().unwrap();
    serve.signal(rustix::process::Signal::TERM);
    serve.wait();
    let (out, err) =
        (String::from_utf8_lossy(&found.stdout), String::from_utf8_lossy(&found.stderr));
    assert!(found.status.success(), "{out}{err}");
}
