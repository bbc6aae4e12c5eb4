//! `fetch --render` and `doctor`: pages made by scripts are shown, and every request is ours.

use serde_json::Value;

use crate::common::site::{Answer, Request, Site};
use crate::common::{Place, Ran};

const PAGE: &str = r#"<title>plain</title><div id=root></div><script src="/app.js"></script>
<script>fetch('/private/data'); fetch('http://other.test/x'); fetch('/write', { method: 'POST' })</script><img src=/i.png>"#;

const APP: &str = r#"fetch('/items.json', { headers: { Accept: 'application/json' } }).then(r => r.json()).then(items => {
    document.title = 'rendered';
    root.innerHTML = items.map(i => `<p><a href="/item/${i}">Item ${i}</a>`).join('');
    setTimeout(() => history.pushState({}, '', '/state'), 3000);
})"#;

fn answer(request: &Request) -> Answer {
    match request.page.as_str() {
        "shop.test/" => Answer::page(PAGE),
        "shop.test/app.js" => {
            Answer("200 OK", "Content-Type: text/javascript\r\n".to_owned(), APP.to_owned())
        }
        "shop.test/items.json" if request.has("accept: application/json") => {
            Answer("200 OK", "Content-Type: application/json\r\n".to_owned(), "[1, 2]".to_owned())
        }
        "shop.test/robots.txt" => {
            Answer::status("200 OK").body("User-agent: *\nDisallow: /private/\n")
        }
        _ => Answer::status("404 Not Found"),
    }
}

/// Whether a browser is installed; says loudly that a test is skipped where it is not.
fn has_browser(place: &Place) -> bool {
    let ran = place.run("doctor --json");
    let found = ran.json();
    let can = found["can_render"] == true;
    if !can {
        eprintln!("SKIPPED: pages cannot be rendered here: {found}");
    }
    can
}

fn result_of<'a>(rendered: &'a Value, url: &str) -> &'a Value {
    let requests = rendered["requests"].as_array().unwrap();
    requests.iter().find(|one| one["url"] == url).unwrap_or_else(|| panic!("{url} in {rendered}"))
}

fn render(place: &Place, site: &Site, more: &str) -> Ran {
    place.run(&format!("fetch http://shop.test/ --render {more} --delay 50ms {}", site.flags()))
}

#[test]
fn a_page_made_by_scripts_is_shown_with_all_its_requests() {
    let (site, place) = (Site::serve(answer), Place::new());
    if !has_browser(&place) {
        return;
    }
    let rendered = render(&place, &site, "--json").expect(0).json();
    assert_eq!((&rendered["title"], &rendered["ended"]), (&"rendered".into(), &"settled".into()));
    assert_eq!(rendered["text"].as_str().unwrap().trim(), "Item 1\n\nItem 2");
    let links = rendered["link_list"].as_array().unwrap();
    for url in ["http://shop.test/item/1", "http://shop.test/item/2", "http://shop.test/state"] {
        assert!(links.iter().any(|link| link["url"] == url), "{url} in {links:?}");
    }
    assert_eq!(result_of(&rendered, "http://shop.test/app.js")["status"], 200);
    assert_eq!(result_of(&rendered, "http://other.test/x")["status"], 404);
    for (url, reason) in [
        ("http://shop.test/private/data", "robots.txt line 2: Disallow: /private/"),
        ("http://shop.test/write", "may write"),
        ("http://shop.test/i.png", "an image"),
    ] {
        assert_eq!(result_of(&rendered, url)["reason"], reason);
    }
    let asked: Vec<String> = site.all_asked().into_iter().map(|(_, page)| page).collect();
    for page in ["shop.test/private/data", "shop.test/write", "shop.test/i.png"] {
        assert!(!asked.iter().any(|one| one == page), "{asked:?}");
    }
    assert!(!place.data().exists());
}

#[test]
fn requests_of_a_page_keep_the_pause_of_their_host() {
    let (site, place) = (Site::serve(answer), Place::new());
    if !has_browser(&place) {
        return;
    }
    render(&place, &site, "").expect(0);
    let shop = site.all_asked().into_iter().filter(|(_, page)| page.starts_with("shop.test/"));
    let times: Vec<_> = shop.map(|(at, _)| at).collect();
    assert!(times.len() >= 4, "{times:?}");
    for pair in times.windows(2) {
        let pause = pair[1] - pair[0];
        assert!(pause + crate::common::NOISE >= std::time::Duration::from_millis(50), "{pause:?}");
    }
}

#[test]
fn pictures_are_taken_and_private_addresses_refused() {
    let (site, place) = (Site::serve(answer), Place::new());
    if !has_browser(&place) {
        return;
    }
    render(&place, &site, "--screenshot page.png --json").expect(0);
    assert!(std::fs::read(place.path().join("page.png")).unwrap().starts_with(b"\x89PNG"));
    let dom = render(&place, &site, "--body").expect(0).out;
    assert!(dom.contains("<a href=\"/item/2\">"), "{dom}");
    place.run("fetch http://shop.test/ --screenshot page.png").expect(2);
}

#[test]
fn a_missing_browser_is_named_with_what_to_do() {
    let place = Place::new();
    let ran = place.run("doctor -s render.browser=/nowhere/browser --json").expect(1).json();
    assert_eq!(ran["can_render"], false);
    let ran = place.run("fetch http://shop.test/ --render -s render.browser=/nowhere/browser");
    let ran = ran.expect(3);
    assert!(ran.err.contains("/nowhere/browser does not exist"), "{}", ran.err);
}

/// A shop whose pages are all made by one script; `/same` says the same each time, the front page does not.
fn shop(request: &Request) -> Answer {
    let html = "<!doctype html><title>Shop</title><div id=root></div><script type=module src=/shop.js></script>";
    let json =
        |body: String| Answer("200 OK", "Content-Type: application/json\r\n".to_owned(), body);
    let words =
        |n: usize| format!("[\"what is new for the {n}th time, and some more words about it\"]");
    match request.page.as_str() {
        "shop.test/shop.js" => Answer(
            "200 OK",
            "Content-Type: text/javascript\r\n".to_owned(),
            "const data = await (await fetch('/data' + location.pathname + '.json')).json();
             document.title = location.pathname;
             root.innerHTML = data.map(d => d[0] === '/' ? `<a href=\"${d}\">${d}</a>` : `<p>${d}</p>`).join(' ');
             root.insertAdjacentHTML('beforeend', '<p>some words that are there always, on each of the pages of this shop</p>');
             fetch('/private/x');"
                .to_owned(),
        ),
        "shop.test/data/.json" => json("[\"/same\", \"/news\", \"/only-by-script\"]".to_owned()),
        "shop.test/data/same.json" => json(words(0)),
        "shop.test/data/news.json" => json(words(request.earlier)),
        "shop.test/data/only-by-script.json" => json("[]".to_owned()),
        "shop.test/robots.txt" => Answer::status("200 OK").body("User-agent: *\nDisallow: /private/\n"),
        "shop.test/" | "shop.test/same" | "shop.test/news" | "shop.test/only-by-script" => {
            Answer::page(html).with("ETag: \"1\"")
        }
        _ => Answer::status("404 Not Found"),
    }
}

#[test]
fn a_crawl_that_renders_finds_what_scripts_make_and_keeps_its_pauses() {
    let (site, place) = (Site::serve(shop), Place::new());
    if !has_browser(&place) {
        return;
    }
    let plain = Place::new();
    plain.run(&format!("crawl --once http://shop.test/ --delay 40ms {}", site.flags())).expect(0);
    assert_eq!(plain.run("urls --json --state resting").expect(0).json_lines().len(), 1);
    let site = Site::serve(shop);
    let flags = format!("--once --render always --delay 40ms {}", site.flags());
    place.run(&format!("crawl http://shop.test/ {flags}")).expect(0);
    let known = place.run("urls --json").expect(0).json_lines();
    for path in ["/same", "/news", "/only-by-script"] {
        let url = format!("http://shop.test{path}");
        assert!(known.iter().any(|page| page["url"] == url.as_str()), "{url} in {known:?}");
    }
    assert!(site.asked("shop.test/private/x").is_empty());
    assert_eq!(site.asked("shop.test/robots.txt").len(), 1, "the rules that the crawl has");
    let times: Vec<_> = site.all_asked().into_iter().map(|(at, _)| at).collect();
    assert!(times.len() >= 10, "{times:?}");
    for pair in times.windows(2) {
        let pause = pair[1] - pair[0];
        assert!(pause + crate::common::NOISE >= std::time::Duration::from_millis(40), "{pause:?}");
    }
    place.run("check --deep").expect(0);
}

#[test]
fn changed_data_behind_an_unchanged_document_is_a_change() {
    let (site, place) = (Site::serve(shop), Place::new());
    if !has_browser(&place) {
        return;
    }
    let pace = "--delay 5ms --revisit-every 300ms -s schedule.min_interval=100ms";
    let flags = format!("--render always {pace} --max-pages 12 {}", site.flags());
    place.run(&format!("crawl http://shop.test/ {flags}")).expect(14);
    let changes = |path: &str| -> Vec<String> {
        let visits = place.history(&format!("http://shop.test{path}"));
        visits.iter().skip(1).map(|visit| visit["change"].as_str().unwrap().to_owned()).collect()
    };
    let (news, same) = (changes("/news"), changes("/same"));
    assert!(!news.is_empty() && !same.is_empty(), "{news:?} {same:?}");
    assert!(news.iter().all(|change| change == "changed" || change == "near"), "{news:?}");
    assert!(same.iter().all(|change| change == "same"), "{same:?}");
}

#[test]
fn a_crawl_that_cannot_render_says_so_before_it_asks_anything() {
    let (site, place) = (Site::serve(shop), Place::new());
    let browser = "-s render.browser=/nowhere/browser";
    let flags = format!("--once --render always {browser} {}", site.flags());
    let ran = place.run(&format!("crawl http://shop.test/ {flags}")).expect(3);
    assert!(ran.err.contains("/nowhere/browser does not exist"), "{}", ran.err);
    assert!(site.all_asked().is_empty());
    place.run(&format!("crawl http://shop.test/ --render sometimes {}", site.flags())).expect(3);
}
