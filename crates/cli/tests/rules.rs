//! Which pages does a crawl take under its scope, its filters and what pages themselves ask for?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use crate::common::Place;
use crate::common::site::{Answer, Request, Site};

fn answer(request: &Request) -> Answer {
    match request.page.as_str() {
        "www.a.test/docs/" => Answer::page(
            "<a href=one>1</a> <a href=/top>2</a> <a href=//blog.a.test/>3</a>
             <a href=//b.test/>4</a> <a href=photo.jpg>5</a> <a href=?sid=1&page=2>6</a>
             <a href=seldom rel=nofollow>7</a> <img src=image>",
        ),
        "www.a.test/docs/one" => Answer::page("<a href=two>deeper</a>"),
        "www.a.test/docs/two" => {
            Answer::page("<meta name=robots content=nofollow><a href=never>not to be followed</a>")
        }
        "www.a.test/top" => {
            Answer::page("<a href=/docs/one>back</a>").with("X-Robots-Tag: noarchive")
        }
        page if page.ends_with("/robots.txt") || page.ends_with("/sitemap.xml") => {
            Answer::status("404 Not Found")
        }
        _ => Answer::page("<p>an end</p>"),
    }
}

/// What a crawl with these flags asks for, but for lists and rules.
fn taken(flags: &str) -> Vec<String> {
    let (site, place) = (Site::serve(answer), Place::new());
    let crawl = format!("crawl --once http://www.a.test/docs/ --delay 2ms {flags}");
    place.run(&format!("{crawl} {}", site.flags())).expect(0);
    let mut pages: Vec<_> = site.all_asked().into_iter().map(|(_, page)| page).collect();
    pages.retain(|page| !page.ends_with(".txt") && !page.ends_with(".xml"));
    pages.sort();
    pages
}

const FRONT: &str = "www.a.test/docs/";
const QUERY: &str = "www.a.test/docs/?page=2&sid=1";
const ONE: &str = "www.a.test/docs/one";
const TWO: &str = "www.a.test/docs/two";
const TOP: &str = "www.a.test/top";

#[test]
fn scope_is_as_wide_as_asked() {
    let query = "www.a.test/docs/?sid=1&page=2";
    assert_eq!(taken("--scope page"), [FRONT]);
    assert_eq!(taken("--scope prefix"), [FRONT, query, ONE, TWO]);
    assert_eq!(taken(""), [FRONT, query, ONE, TWO, TOP]);
    assert_eq!(taken("--scope domain"), ["blog.a.test/", FRONT, query, ONE, TWO, TOP]);
    assert_eq!(taken("--scope any"), ["b.test/", "blog.a.test/", FRONT, query, ONE, TWO, TOP]);
}

#[test]
fn a_query_is_written_in_the_encoding_of_its_page() {
    let front = "<meta charset=windows-1251><a href='/&#1103;?q=&#1103;&amp;r=&#9731;'>x</a>";
    let site = Site::serve(move |request| match request.page.as_str() {
        "a.test/" => Answer::page(front),
        page if page.contains("q=") => Answer::page("found"),
        _ => Answer::status("404 Not Found"),
    });
    Place::new()
        .run(&format!("crawl --once http://a.test/ --delay 2ms {}", site.flags()))
        .expect(0);
    let asked = site.all_asked();
    let found = asked.iter().find(|(_, page)| page.contains("q=")).map(|(_, page)| page.as_str());
    assert_eq!(found, Some("a.test/%D1%8F?q=%FF&r=%26%239731%3B"));
}

#[test]
fn filters_and_depth_narrow_it() {
    assert_eq!(taken("--exclude /docs/o --exclude [?]"), [FRONT, TOP]);
    assert_eq!(taken("--include /docs/.*o"), [FRONT, ONE, TWO]);
    assert_eq!(taken("--depth 0"), [FRONT]);
    assert_eq!(taken("--depth 1 --exclude page="), [FRONT, ONE, TOP]);
    assert_eq!(
        taken("--depth 1 -s crawl.url_steps=sorted_parameters --scope prefix"),
        [FRONT, QUERY, ONE]
    );
    assert_eq!(
        taken("--scope prefix --depth 1 --exclude [?] --embeds"),
        [FRONT, "www.a.test/docs/image", ONE, "www.a.test/docs/photo.jpg",]
    );
}

#[test]
fn directives_of_pages_are_heeded_unless_told_otherwise() {
    let bold = taken("--scope prefix --exclude [?] -s crawl.page_directives=false");
    assert_eq!(bold, [FRONT, "www.a.test/docs/never", ONE, "www.a.test/docs/seldom", TWO]);
    let (site, place) = (Site::serve(answer), Place::new());
    let flags = format!("--delay 2ms {}", site.flags());
    place.run(&format!("crawl --once http://www.a.test/docs/ {flags}")).expect(0);
    let visit = &place.history("http://www.a.test/top")[0];
    assert_eq!((&visit["change"], &visit["warc"]), (&"new".into(), &serde_json::Value::Null));
    let refused = &place.run("status --json").expect(0).json()["total"]["refused_by_reason"];
    assert_eq!(refused["nofollow"], 2, "{refused}");
    assert_eq!(refused["out_of_scope"], 2, "{refused}");
    assert_eq!(refused["extension"], 1, "{refused}");
}

#[test]
fn a_bare_domain_is_found_by_http_too() {
    let (site, place) = (Site::serve(answer), Place::new());
    place.run(&format!("crawl --once plain.test --delay 2ms {}", site.flags())).expect(0);
    assert_eq!(site.asked("plain.test/").len(), 1);
}
