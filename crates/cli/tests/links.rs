//! Where does a crawl find links, by what it is told to look through?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::collections::BTreeSet;

use rustix::process::Signal;

use crate::common::Place;
use crate::common::site::{Answer, Request, Site};

/// Markup, and what it leads to: with page requisites, or only where all links are looked for.
const CASES: &[(&str, &str, bool)] = &[
    ("<a href=/x ping='/f/ping'>", "ping", true),
    ("<link rel=stylesheet href=/sheet.css>", "font", true),
    ("<p style='background:url(/f/style)'>", "style", true),
    ("<svg><image xlink:href=/f/svg /><script xlink:href=/f/svgscript /></svg>", "svgscript", true),
    ("<object codebase=/f/codebase></object>", "codebase", true),
    ("<object><param name=movie value=/f/movie></object>", "movie", true),
    ("<applet archive=/f/archive></applet>", "archive", true),
    ("<iframe srcdoc='<img src=/f/srcdoc>'></iframe>", "srcdoc", true),
    ("<img dynsrc=/f/dynsrc lowsrc=/y longdesc=/z>", "dynsrc", true),
    ("<img data-src=/f/lazy>", "lazy", true),
    ("<meta name=msapplication-config content=/f/config>", "config", true),
    ("<blockquote cite=/f/cite>x</blockquote>", "cite", true),
    ("<link rel=manifest href=/app.webmanifest>", "icon", true),
    ("<form action=/f/get><input type=hidden name=a value='b c'></form>", "get?a=b+c", false),
    (
        "<form action=/f/search><input name=q></form><form method=post action=/f/post></form>",
        "",
        false,
    ),
    ("<form><button formaction=/f/button>x</button></form>", "button", false),
    ("<!--[if IE]><link rel=stylesheet href=/f/comment><![endif]-->", "comment", false),
    ("<script>var a = '/f/script', b = 'text/html', c = '/f/' + d;</script>", "script", false),
    ("<button onclick=\"location.href='/f/click'\">x</button>", "click", false),
    ("<div data-href=/f/data>x</div>", "data", false),
    ("<p>see ../f/text.html or http://a.test/f/whole.", "whole", false),
    ("<meta http-equiv=content-security-policy content='report-uri /f/csp'>", "csp", false),
    ("<a href='/f/api.json'>data</a>", "named", false),
    ("<template><a href=/f/template>x</a></template>", "template", false),
    ("<a href=/moved>x</a>", "body-of-redirect", false),
    ("<a href=/created>x</a>", "created", false),
];

fn answer(request: &Request) -> Answer {
    let path = request.page.strip_prefix("a.test").unwrap_or_default();
    if let Some(case) = path.strip_prefix("/case/").and_then(|n| n.parse::<usize>().ok()) {
        return Answer::page(format!("<title>{case}</title>{}", CASES[case].0));
    }
    match path {
        "/" => {
            let links = (0..CASES.len()).map(|n| format!("<a href=/case/{n}>{n}</a> "));
            Answer::page(links.collect::<String>()).with("Link: </f/header>; rel=preload")
        }
        "/sheet.css" => typed("text/css", "@font-face{src:url('f/font')}"),
        "/app.webmanifest" => {
            typed("application/manifest+json", "{\"icons\":[{\"src\":\"/f/icon\"}]}")
        }
        "/f/api.json" => typed("application/json", "{\"url\":\"/f/named\",\"type\":\"text/html\"}"),
        "/moved" => Answer(
            "301 Moved",
            "Location: /\r\nContent-Type: text/html\r\n".to_owned(),
            "<a href=/f/body-of-redirect>here</a>".to_owned(),
        ),
        "/created" => {
            Answer("201 Created", "Content-Location: /f/created\r\n".to_owned(), "x".to_owned())
        }
        found if found.starts_with("/f/") => {
            Answer::page(format!("<title>{found}</title><p>content of {found}"))
        }
        _ => Answer::status("404 Not Found"),
    }
}

fn typed(content_type: &str, body: &str) -> Answer {
    Answer("200 OK", format!("Content-Type: {content_type}\r\n"), body.to_owned())
}

/// What a crawl with these flags asks for below `/f/`.
fn found(flags: &str) -> BTreeSet<String> {
    let (site, place) = (Site::serve(answer), Place::new());
    let crawl = format!("crawl --once http://a.test/ --delay 1ms {flags}");
    place.run(&format!("{crawl} {}", site.flags())).expect(0);
    let pages = site.all_asked().into_iter();
    pages.filter_map(|(_, page)| page.strip_prefix("a.test/f/").map(str::to_owned)).collect()
}

#[test]
fn links_are_found_where_the_crawl_looks_for_them() {
    let expected = |least: usize| -> BTreeSet<String> {
        let cases = CASES.iter().filter(|(_, _, requisite)| least == 2 || *requisite);
        let cases = cases.map(|(_, name, _)| (*name).to_owned());
        let more = ["svg", "header"].map(str::to_owned);
        let all = if least == 2 { &["text.html", "api.json"][..] } else { &["api.json"] };
        cases
            .chain(more)
            .chain(all.iter().map(|&s| s.to_owned()))
            .filter(|s| !s.is_empty())
            .collect()
    };
    assert_eq!(found(""), BTreeSet::from(["api.json".to_owned()]));
    assert_eq!(found("-p"), expected(1));
    assert_eq!(found("--links all"), expected(2));
}

#[test]
fn guesses_that_lead_nowhere_are_given_up_on_their_host() {
    let front = (0..20).map(|n| format!("<a href=/page{n}>x</a> ")).collect::<String>();
    let site = Site::serve(move |request| match request.page.strip_prefix("a.test/") {
        Some("") => Answer::page(front.clone()),
        Some(page) if page.starts_with("page") => {
            let guesses = (0..10).map(|n| format!("a('/none/{page}-{n}');")).collect::<String>();
            Answer::page(format!("<title>{page}</title><script>{guesses}</script>"))
        }
        _ => Answer::status("404 Not Found"),
    });
    let place = Place::new();
    let crawl = format!("crawl --once http://a.test/ --links all --delay 1ms {}", site.flags());
    place.run(&crawl).expect(0);
    let guesses = site.all_asked().iter().filter(|(_, page)| page.contains("/none/")).count();
    assert!((10..=60).contains(&guesses), "{guesses} of 200 were asked for");
    let refused = &place.run("status --json").expect(0).json()["total"]["refused_by_reason"];
    assert_eq!(refused["unlikely"].as_u64(), Some(200 - guesses as u64), "{refused}");
}

#[test]
fn fetch_tells_where_each_link_stands() {
    let (site, place) = (Site::serve(answer), Place::new());
    let show =
        |flags: &str| place.run(&format!("fetch http://a.test/case/17 {flags} {}", site.flags()));
    let line = show("--json --links all").expect(0).json();
    assert_eq!(line["links"], 1, "{line}");
    let link = serde_json::json!({ "url": "http://a.test/f/script", "kind": "mention", "place": "script" });
    assert_eq!(line["link_list"][0], link);
    assert!(show("--links all").expect(0).out.contains("links   1 script"));
    assert_eq!(show("--json").expect(0).json()["links"], 0);
    assert!(show("--links some").expect(3).err.contains("`some` is no place to look for links"));
}

fn pdf(text: &str) -> String {
    let program = format!("BT /F 12 Tf ({text}) Tj ET");
    format!(
        "%PDF-1.4\n1 0 obj<</Pages 2 0 R>>endobj\n2 0 obj<</Kids[3 0 R]>>endobj\n\
         3 0 obj<</Contents 4 0 R/Resources<</Font<</F<</Subtype/Type1>>>>>>\
         /Annots[<</A<</URI(http://a.test/from-pdf)>>>>]>>endobj\n\
         4 0 obj<</Length {}>>stream\n{program}\nendstream endobj\n\
         trailer<</Root 1 0 R/Info<</Title(Report)>>>>",
        program.len()
    )
}

#[test]
fn a_pdf_is_a_page_like_others() {
    let words = "the report of this year says that the river is higher than in any year since the bridge was built";
    let site = Site::serve(move |request| match request.page.as_str() {
        "a.test/" => Answer::page("<a href=/report.pdf>report</a>"),
        "a.test/report.pdf" => typed(
            "application/pdf",
            &pdf(&format!("{words} {}", if request.earlier > 0 { "again" } else { "once" })),
        ),
        "a.test/from-pdf" => Answer::page("found in it"),
        _ => Answer::status("404 Not Found"),
    });
    let place = Place::new();
    let crawl = format!(
        "crawl http://a.test/ -s crawl.skip_extensions=default,-pdf --delay 1ms {}",
        site.flags()
    );
    let mut running = place.start(&format!("{crawl} --revisit-every 300ms --quiet"));
    running.wait_until("two visits", || site.asked("a.test/report.pdf").len() > 1);
    running.wait_until("a page that only the PDF links to", || {
        site.asked("a.test/from-pdf").len() > 0
    });
    running.signal(Signal::INT);
    running.wait().expect(11);
    let diff = place.run("diff http://a.test/report.pdf").expect(0).out;
    assert!(diff.contains("once") && diff.contains("again"), "{diff}");
    let shown =
        place.run(&format!("fetch http://a.test/report.pdf {}", site.flags())).expect(0).out;
    assert!(shown.contains("title   Report") && shown.contains("links   1 pdf"), "{shown}");
}
