//! Do proxies, credentials and cookies work for a user, and do secrets stay secret?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::proxy::Proxy;
use crate::common::site::{Answer, Site};
use crate::common::tools::records;
use crate::common::{Place, Running};

const PACE: &str = "--delay 5ms -s pace.slow_factor=0 --contact a@example.org";

/// Three pages; one of them is not for robots.
fn site() -> Site {
    Site::serve(|request| match request.page.split_once('/').unwrap().1 {
        "robots.txt" => Answer::status("200 OK").body("User-agent: *\nDisallow: /secret\n"),
        "" => Answer::page("<a href=/1>1</a><a href=/secret>2</a>"),
        "1" => Answer::page("one"),
        _ => Answer::status("404 Not Found"),
    })
}

/// Everything that a crawl left on disk, unpacked, as text.
fn left_behind(place: &Place) -> String {
    fn read(dir: &Path, all: &mut String) {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                read(&path, all);
            } else if path.to_string_lossy().ends_with(".warc.gz") {
                let shown: Vec<String> = records(&path)
                    .iter()
                    .map(|it| String::from_utf8_lossy(it.record.block()).into_owned())
                    .collect();
                *all += &shown.concat();
            } else if let Ok(bytes) = std::fs::read(&path) {
                *all += &String::from_utf8_lossy(&bytes);
            }
        }
    }
    let mut all = String::new();
    read(&place.data(), &mut all);
    all
}

fn with_variables(mut command: Command, variables: &[(&str, &str)]) -> Command {
    command.envs(variables.iter().copied());
    command
}

fn run_with(place: &Place, words: &str, variables: &[(&str, &str)]) -> Running {
    place.start_command(with_variables(place.command(words), variables))
}

#[test]
fn a_crawl_goes_through_an_http_proxy_as_politely_as_without() {
    let (site, place) = (site(), Place::new());
    let proxy = Proxy::http(Some(site.address()));
    let crawl = format!("crawl --once http://a.test/ --proxy {} {PACE}", proxy.url());
    place.run(&crawl).expect(0);
    let asked = proxy.asked();
    assert_eq!(asked[0], "GET http://a.test/robots.txt", "{asked:?}");
    assert!(asked.contains(&"GET http://a.test/1".to_owned()), "{asked:?}");
    assert!(!asked.iter().any(|line| line.ends_with("/secret")), "{asked:?}");
    let shown = place.run("fetch http://a.test/1").expect(0).out;
    let line = format!("proxy   {} (it looks up names", proxy.url());
    assert!(shown.contains(&line), "remembered, and said: {shown}");
    assert_eq!(place.run("fetch http://a.test/1 --json").expect(0).json()["proxy"], proxy.url());
    assert_eq!(place.run("why http://a.test/1 --json").expect(0).json()["proxy"], proxy.url());
    assert!(place.run("why http://a.test/1").expect(0).out.contains(&proxy.url()));
    let before = proxy.asked().len();
    place.run("robots http://a.test/secret").expect(1);
    assert_eq!(proxy.asked().len(), before + 1, "robots asks through it, too");
    let refused = place.run("fetch http://127.0.0.1/").expect(5);
    refused.explains(&["127.0.0.1 is not a public address"]);
    place.run("fetch http://intranet/").expect(5).explains(&["name of a private network"]);
    assert_eq!(proxy.asked().len(), before + 1);
}

#[test]
fn a_socks_proxy_takes_credentials_that_nobody_else_sees() {
    let (site, place) = (site(), Place::new());
    let proxy = Proxy::socks(Some(site.address()), Some("me:hunter2"));
    let crawl = format!(
        "crawl --once http://a.test/ --proxy {} -s fetch.proxy_credentials=@env:PROXY_LOGIN {PACE} --log debug",
        proxy.url()
    );
    let ran = run_with(&place, &crawl, &[("PROXY_LOGIN", "me:hunter2")]).wait().expect(0);
    assert_eq!(proxy.asked()[0], "SOCKS a.test:80");
    let config = place.run("config show").expect(0);
    assert!(config.out.contains("@env:PROXY_LOGIN"), "{}", config.out);
    let all = [left_behind(&place), ran.out, ran.err, config.out].concat();
    assert!(!all.contains("hunter2"));
    // Without the variable it is an error, not a request without credentials.
    place
        .run("crawl --once")
        .expect(3)
        .explains(&["fetch.proxy_credentials", "PROXY_LOGIN is not set"]);
}

#[test]
fn the_environment_names_proxies_only_where_that_is_asked_for() {
    let (site, place) = (site(), Place::new());
    let proxy = Proxy::http(Some(site.address()));
    let (url, flags) = (proxy.url(), site.flags());
    let variables = [("http_proxy", url.as_str()), ("no_proxy", "b.test")];
    run_with(&place, &format!("fetch http://a.test/1 {flags}"), &variables).wait().expect(0);
    assert!(proxy.asked().is_empty(), "not asked for");
    for (host, through) in [("a.test", 1), ("b.test", 1)] {
        let words = format!("fetch http://{host}/1 --proxy env {flags}");
        run_with(&place, &words, &variables).wait().expect(0);
        assert_eq!(proxy.asked().len(), through, "{host}");
    }
    let direct = format!("fetch http://a.test/1 --proxy {url} --no-proxy *.test,a.test {flags}");
    place.run(&direct).expect(0);
    assert_eq!(proxy.asked().len(), 1);
}

#[test]
fn a_proxy_per_host_comes_from_the_file() {
    let (site, place) = (site(), Place::new());
    let (one, other) =
        (Proxy::http(Some(site.address())), Proxy::socks(Some(site.address()), None));
    let rules = format!(
        "[fetch]\nproxy = \"{}\"\n[[proxy]]\nhost = \"direct.test\"\nurl = \"none\"\n\
         [[proxy]]\nhost = [\"b.test\", \"*.b.test\"]\nurl = \"{}\"\n",
        one.url(),
        other.url()
    );
    place.write("evercrawl.toml", &rules);
    for host in ["a.test", "b.test", "c.b.test"] {
        place.run(&format!("fetch http://{host}/1 --contact a@example.org")).expect(0);
    }
    place.run(&format!("fetch http://direct.test/1 {}", site.flags())).expect(0);
    assert_eq!(one.asked(), ["GET http://a.test/1"]);
    assert_eq!(other.asked(), ["SOCKS b.test:80", "SOCKS c.b.test:80"]);
    let shown = place.run("config show").expect(0).out;
    assert!(shown.contains("proxy[2]") && shown.contains(&other.url()), "{shown}");
}

#[test]
fn a_broken_proxy_is_named_and_no_page_pays_for_it() {
    let (site, place) = (site(), Place::new());
    let proxy = Proxy::socks(Some(site.address()), None);
    proxy.set_broken(true);
    let words =
        format!("crawl --once http://a.test/ http://b.test/ --proxy {} {PACE}", proxy.url());
    let mut crawl = place.start(&words);
    let said = format!(
        "the proxy {} closed the connection without an answer; next attempt in 5 s",
        proxy.url()
    );
    loop {
        let err = crawl.said()[1].clone();
        if err.contains(&said) {
            break;
        }
        assert!(crawl.is_running(), "{err}");
        crate::common::pause(std::time::Duration::from_millis(20));
    }
    proxy.set_broken(false);
    let ran = crawl.wait().expect(0);
    assert_eq!(ran.err.matches("the proxy").count(), 1, "told of once: {}", ran.err);
    for url in ["http://a.test/", "http://a.test/1", "http://b.test/"] {
        let visits = place.history(url);
        assert_eq!(visits.len(), 1, "{visits:?}");
        assert_eq!(visits[0]["outcome"], "ok", "{visits:?}");
    }
    place.run("check --deep").expect(0);
}

#[test]
fn credentials_open_a_site_and_are_shown_nowhere() {
    let site = Site::serve(|request| {
        let (host, path) = request.page.split_once('/').unwrap();
        // Header lines come in lower case.
        let known = request.has("authorization: basic bwu6ahvudgvymg==");
        let keyed = request.has("x-key: hunter3");
        match (host, path) {
            (_, "robots.txt") => Answer::status("404 Not Found"),
            ("b.test", _) if known || keyed => Answer::status("500 Leaked"),
            ("b.test", _) => Answer::page("b"),
            (_, "") if known && keyed => Answer::page("<a href=/1>1</a><a href=/away>2</a>"),
            (_, "1") if known => Answer::page("one"),
            (_, "away") if known => Answer::status("302 Found").with("Location: http://b.test/"),
            _ => Answer::status("401 Unauthorized"),
        }
    });
    let place = Place::new();
    place.write("key", "hunter3\n");
    place.write(
        "evercrawl.toml",
        "[[request]]\nhost = \"a.test\"\nbasic = \"@env:LOGIN\"\nplain_http = true\n\
         headers = { X-Key = \"@file:key\", Accept-Language = \"de\" }\n",
    );
    let variables = [("LOGIN", "me:hunter2")];
    let crawl =
        format!("crawl --once http://a.test/ http://b.test/ {PACE} {} --log debug", site.flags());
    let ran = run_with(&place, &crawl, &variables).wait().expect(0);
    for url in ["http://a.test/", "http://a.test/1", "http://b.test/"] {
        assert_eq!(place.history(url)[0]["status"], 200, "{url}");
    }
    let config = place.run("config show").expect(0).out;
    assert!(config.contains("@env:LOGIN") && config.contains("request[1]"), "{config}");
    let all = [left_behind(&place), ran.out, ran.err, config].concat();
    assert!(
        all.to_lowercase().contains("authorization: ***"),
        "the record says that there was one"
    );
    for secret in ["hunter", "bWU6aHVudGVy", "bwu6ahvudgvymg"] {
        assert!(!all.contains(secret), "{secret}");
    }
    // Without TLS no secret goes, unless the rule says so.
    place.write("evercrawl.toml", "[[request]]\nhost = \"a.test\"\nbasic = \"@env:LOGIN\"\n");
    let fetch = format!("fetch http://a.test/1 --json {}", site.flags());
    let shown = run_with(&place, &fetch, &variables).wait().expect(0).json();
    assert_eq!(shown["status"], 401);
}

/// A site whose pages need the cookie that its front page sets.
fn cookie_site() -> Site {
    Site::serve(|request| {
        let known = request
            .headers
            .iter()
            .any(|line| line.starts_with("cookie:") && line.contains("id=42"));
        match request.page.split_once('/').unwrap().1 {
            "" => Answer::page("<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a>")
                .with("Set-Cookie: id=42; Path=/"),
            "1" | "2" | "3" if known => Answer::page(request.page.clone()),
            "1" | "2" | "3" => Answer::status("403 Forbidden"),
            _ => Answer::status("404 Not Found"),
        }
    })
}

fn statuses(place: &Place, site: &str) -> Vec<Value> {
    (1..=3)
        .flat_map(|n| place.history(&format!("{site}{n}")).into_iter().next_back())
        .map(|it| it["status"].clone())
        .collect()
}

#[test]
fn cookies_are_off_unless_asked_for() {
    for (flag, status) in [("", 403), ("--cookies session", 200), ("--cookies keep", 200)] {
        let (site, place) = (cookie_site(), Place::new());
        let words = format!("crawl --once http://a.test/ {flag} {PACE} {}", site.flags());
        place.run(&words).expect(0);
        assert_eq!(statuses(&place, "http://a.test/"), [status; 3], "{flag}");
        assert_eq!(place.data().join("cookies").exists(), flag.contains("keep"), "{flag}");
    }
}

#[test]
fn kept_cookies_survive_a_kill_and_are_for_the_owner_alone() {
    let (site, place) = (cookie_site(), Place::new());
    let flags =
        format!("--cookies keep --contact a@example.org -s pace.slow_factor=0 {}", site.flags());
    // The pause is long, so that the crawl is killed between the first page and the others.
    let mut crawl = place.start(&format!("crawl http://a.test/ --delay 30s {flags}"));
    let file = place.data().join("cookies");
    crawl.wait_until("the cookie on disk", || {
        std::fs::read_to_string(&file).is_ok_and(|text| text.contains("\tid\t42"))
    });
    crawl.child().kill().unwrap();
    crawl.wait();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let shown = place.run(&format!("fetch http://a.test/1 --json {flags}")).expect(0).json();
    assert_eq!(shown["status"], 200, "fetch sends the cookies of the collection");
    place.write("data/cookies", "nonsense\n");
    place.run("fetch http://a.test/1").expect(3).explains(&["data/cookies", "line 1"]);
}

#[test]
fn a_browsers_cookies_are_imported_and_their_values_not_archived() {
    let (site, place) = (cookie_site(), Place::new());
    place.write(
        "cookies.txt",
        "# Netscape HTTP Cookie File\n#HttpOnly_a.test\tFALSE\t/\tFALSE\t0\tlogin\tid=42\n",
    );
    let words = format!(
        "crawl --once http://a.test/1 --cookies keep --cookies-file cookies.txt --scope page {PACE} {}",
        site.flags()
    );
    place.run(&words).expect(0);
    assert_eq!(place.history("http://a.test/1")[0]["status"], 200);
    let warcs = place.archive_files(".warc.gz");
    let blocks: String = warcs
        .iter()
        .flat_map(|path| records(path))
        .map(|it| String::from_utf8_lossy(it.record.block()).into_owned())
        .collect();
    assert!(
        blocks.to_lowercase().contains("cookie: login=***\r\n") && !blocks.contains("id=42"),
        "{blocks}"
    );
    // The file was imported before: what the site changed since is not undone.
    let kept = std::fs::read_to_string(place.data().join("cookies")).unwrap();
    assert!(kept.contains("login\tid=42\timported"), "{kept}");
}

#[test]
fn wrong_settings_are_clear_errors() {
    let place = Place::new();
    place.write("bad.txt", "a.test TRUE\n");
    for (words, reasons) in [
        ("--proxy https://p.test", &["fetch.proxy", "cannot use https proxies"][..]),
        (
            "--proxy http://me:secret@p.test:1",
            &["must not stand in the URL", "fetch.proxy_credentials"],
        ),
        ("--proxy @env:NO_SUCH_PROXY", &["NO_SUCH_PROXY is not set"]),
        ("--proxy nonsense:port", &["not a proxy"]),
        ("--no-proxy a.*.test", &["fetch.no_proxy", "not a host pattern"]),
        ("--cookies maybe", &["use off, session or keep"]),
        ("--cookies-file bad.txt", &["no effect with fetch.cookies=off"]),
        ("--cookies keep --cookies-file bad.txt", &["bad.txt", "line 1"]),
        ("--cookies keep --cookies-file none.txt", &["none.txt"]),
        ("--ca-file none.pem", &["fetch.ca_file", "none.pem"]),
        ("--ca-file bad.txt", &["no certificate in PEM format"]),
        ("-s fetch.accept_invalid_certificates=maybe*", &["not a host pattern"]),
    ] {
        let ran = place.run(&format!("crawl http://127.0.0.1:9/ {words}")).expect(3);
        assert!(!ran.err.contains("secret"), "{}", ran.err);
        ran.explains(reasons);
        assert!(!place.data().exists(), "nothing is made before settings are right: {words}");
    }
    place
        .run("crawl http://a.test/ -s fetch.proxy_credentials=me:secret")
        .expect(2)
        .explains(&["is a secret"]);
    for (rules, reasons) in [
        ("[[request]]\nbasic = \"@env:X\"", &["[[request]] number 1, host", "is missing"][..]),
        ("[[request]]\nhost = \"a.test\"\nbasic = \"me:hunter2\"", &["basic", "@env:NAME"]),
        ("[[request]]\nhost = \"a.test\"\nheaders = { Host = \"b\" }", &["Host cannot be set"]),
        (
            "[[request]]\nhost = \"a.test\"\nheaders = { Content-Length = \"0\" }",
            &["cannot be set"],
        ),
        ("[[request]]\nhost = \"a.test\"\nheaders = { Authorization = \"x\" }", &["is a secret"]),
        ("[[request]]\nhost = \"*\"\nbearer = \"@file:bad.txt\"", &["hosts of many owners"]),
        ("[[request]]\nhost = \"a.test\"\nbearer = \"@file:none\"", &["cannot read none"]),
        ("[[request]]\nhost = \"a.test\"\ncookie = \"x\"", &["cookie", "not a key"]),
        ("[request]\nhost = \"a.test\"", &["begin each with a line [[request]]"]),
        ("[[proxy]]\nhost = \"a.test\"", &["[[proxy]] number 1, url", "is missing"]),
        ("[[proxy]]\nhost = \"a.test\"\nurl = \"ftp://p\"", &["cannot use ftp"]),
    ] {
        place.write("evercrawl.toml", rules);
        let ran = place.run("fetch http://127.0.0.1:9/").expect(3);
        assert!(!ran.err.contains("hunter2"), "{}", ran.err);
        ran.explains(reasons);
        let shown = place.run("config show");
        assert!(!shown.out.contains("hunter2"), "{}", shown.out);
    }
}
