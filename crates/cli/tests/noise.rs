//! Is news told and noise not, by the crawler as users run it?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use crate::common::site::{Answer, Request, Site};
use crate::common::{Place, wait_until};
use rustix::process::Signal;
use serde_json::Value;

/// Requests from one price to the next.
const PRICE_HOLDS: usize = 8;

/// Pages of one template with a counter, a token and a teaser drawn for the request; on one a price changes at times.
fn answer(request: &Request) -> Answer {
    const TEASERS: [&str; 5] =
        ["new boots", "warm gloves", "wool hats", "rain coats", "long scarves"];
    let n = request.earlier;
    let price = if request.page.ends_with("/2") { 10 + n / PRICE_HOLDS } else { 10 };
    match request.page.as_str() {
        "a.test/" => Answer::page("<a href=/p/1>1</a><a href=/p/2>2</a><a href=/p/3>3</a>"),
        "a.test/p/1" | "a.test/p/2" | "a.test/p/3" => Answer::page(format!(
            "<nav><a href=/>Home</a></nav><h1>Product of {page}</h1><p class=price>Price {price}.50</p>\
             <p class=text>It is made of wool and rain</p><p class=count>Shown {n} times</p>\
             <p class=token>Request {token:x}</p><p class=teaser>{teaser}</p>",
            page = request.page,
            token = (n + 1) * 0x9E37_79B9,
            teaser = TEASERS[n * 3 % 5],
        )),
        _ => Answer::status("404 Not Found"),
    }
}

fn crawled() -> (Site, Place) {
    let (site, place) = (Site::serve(answer), Place::new());
    let running = place.start(&format!(
        "crawl http://a.test/ --delay 5ms --recrawl 400ms --quiet {}",
        site.flags_with_second_looks()
    ));
    wait_until("five prices", || site.asked("a.test/p/2").len() > 4 * PRICE_HOLDS + 3);
    running.signal(Signal::INT);
    running.wait().expect(11);
    (site, place)
}

fn told(place: &Place, url: &str) -> Vec<Value> {
    let visits = place.history(url).into_iter().skip(1);
    visits.filter(|visit| visit["change"] == "near" || visit["change"] == "changed").collect()
}

#[test]
fn noise_drawn_for_the_request_is_never_told_and_each_price_is() {
    let (site, place) = crawled();
    for quiet in ["http://a.test/p/1", "http://a.test/p/3"] {
        assert_eq!(told(&place, quiet), Vec::<Value>::new(), "{quiet}");
    }
    let prices = (site.asked("a.test/p/2").len() - 1) / PRICE_HOLDS;
    let found = told(&place, "http://a.test/p/2").len();
    assert!((prices - 1..=prices).contains(&found), "{found} of {prices} prices");

    let diff = place.run("diff http://a.test/p/2 --json").expect(0).json();
    assert_eq!((&diff["deleted"], &diff["inserted"]), (&1.into(), &1.into()), "{diff}");

    let noise = place.run("noise http://a.test/p/2 --json").expect(0).json();
    let reasons: Vec<&Value> =
        noise["passages"].as_array().unwrap().iter().map(|passage| &passage["reason"]).collect();
    assert_eq!(reasons, ["drawn", "drawn", "drawn"], "{noise}");
    let why = place.run("why http://a.test/p/2").expect(0).out;
    assert!(why.contains("differences in 3 places of noise"), "{why}");

    let said = place.run("noise http://a.test/p/2 --forget").expect(0).out;
    assert!(said.contains("is forgotten: "), "{said}");
    let noise = place.run("noise http://a.test/p/2 --json").expect(0).json();
    assert_eq!((&noise["places"], &noise["template_places"]), (&0.into(), &0.into()), "{noise}");
    place.run("noise http://a.test/nowhere").expect(1).explains(&["is not known"]);
    place.run("check --deep").expect(0);
}

#[test]
fn a_declared_region_is_all_that_counts_and_in_it_nothing_is_masked() {
    let site = Site::serve(|request| match request.page.as_str() {
        "a.test/" => Answer::page(format!(
            "<h1>Words {n}</h1><div id=shop>Price 10<p class=clock>It is {n}</p></div>\
             <div id=counted>{n} visitors</div>",
            n = request.earlier
        )),
        "a.test/other" => Answer::page(format!("<p id=shop>Visit {}</p>", request.earlier)),
        _ => Answer::status("404 Not Found"),
    });
    let place = Place::new();
    let run = |rules: &str, visits: usize| {
        std::fs::create_dir_all(place.data()).unwrap();
        std::fs::write(place.data().join("evercrawl.toml"), rules).unwrap();
        let before = site.asked("a.test/").len().min(site.asked("a.test/other").len());
        let running = place.start(&format!(
            "crawl http://a.test/ http://a.test/other --delay 5ms --recrawl 300ms --quiet {}",
            site.flags_with_second_looks()
        ));
        wait_until("visits", || {
            site.asked("a.test/").len().min(site.asked("a.test/other").len()) > before + visits
        });
        running.signal(Signal::INT);
        running.wait().expect(11);
    };
    run("[[region]]\nurl = 'test/'\ncss = '#shop'\nwithout = ['.clock']\n", 5);
    assert_eq!(told(&place, "http://a.test/"), Vec::<Value>::new(), "the price stays");
    let visits = place.history("http://a.test/other").len();
    assert_eq!(told(&place, "http://a.test/other").len(), visits - 1, "what differs counts");
    let diff = place.run("diff http://a.test/other").expect(0).out;
    assert!(diff.contains("Visit"), "{diff}");
    let quiet = place.run("diff http://a.test/").expect(0).out;
    assert!(quiet.contains("no significant change"), "{quiet}");

    // Another rule is no change of the page.
    let before = place.history("http://a.test/").len();
    run("[[region]]\nurl = 'test/'\ncss = '#counted'\n", 2);
    let visits = place.history("http://a.test/");
    assert_eq!(visits[before]["change"], "same", "{visits:?}");
    assert_eq!(visits[before + 1]["change"], "changed", "{visits:?}");

    std::fs::write(place.data().join("evercrawl.toml"), "[[region]]\nurl = 'a'\ncss = 'p['\n")
        .unwrap();
    let said = place.run("crawl http://a.test/");
    assert!(said.err.contains("[[region]] number 1, css"), "{}", said.err);
}
