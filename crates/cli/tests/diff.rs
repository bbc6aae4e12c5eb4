//! Does `diff` tell the words that changed, by what the archive holds?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use crate::common::site::{Answer, Request, Site};
use crate::common::{Place, wait_until};
use rustix::process::Signal;
use serde_json::json;

fn answer(request: &Request) -> Answer {
    let n = request.earlier;
    match request.page.as_str() {
        "a.test/" => Answer::page(
            "<a href=/edited>1</a><a href=/markup>2</a><a href=/same>3</a><a href=/twin>4</a>\
             <a href=/picture>5</a><a href=/evil>6</a><a href=/gone>7</a><a href=/clock>8</a>",
        ),
        // Every version is other content; what does not change stands far from what does.
        "a.test/edited" => {
            let filler: String = (0..40).map(|n| format!("word{n} ")).collect();
            Answer::page(format!(
                "<title>News</title><p>The tower is {} today</p><p>{filler}</p>",
                colour(n)
            ))
        }
        "a.test/markup" => Answer::page(format!("<p class=v{n}>Nothing but the markup changes")),
        "a.test/same" => Answer::page("<p>Always the same"),
        // What another page had before: its record refers to that page's.
        "a.test/twin" if n == 0 => Answer::page("<p>A beginning of its own"),
        "a.test/twin" => Answer::page("<p>Always the same"),
        "a.test/picture" => {
            let image = "Content-Type: image/png\r\n".to_owned();
            Answer("200 OK", image, format!("\u{1}PNG\u{0}{n}"))
        }
        "a.test/evil" => Answer::page(format!("<p>calm \u{1b}[2J{n} \u{7}")),
        "a.test/clock" => {
            let news = if n < 5 { "entered" } else { "left" };
            Answer::page(format!("<p>It is 12:{n:02} now</p><p>The mayor {news} the office</p>"))
        }
        "a.test/gone" if n > 0 => Answer::status("410 Gone"),
        "a.test/gone" => Answer::page("<p>Not for long"),
        _ => Answer::status("404 Not Found"),
    }
}

/// Another word at every visit; a number would soon be taken for a clock.
fn colour(visit: usize) -> &'static str {
    const COLOURS: [&str; 24] = [
        "red", "green", "blue", "white", "black", "grey", "brown", "pink", "yellow", "orange",
        "purple", "golden", "silver", "copper", "bronze", "ivory", "amber", "coral", "indigo",
        "violet", "scarlet", "crimson", "azure", "lime",
    ];
    COLOURS[visit % COLOURS.len()]
}

/// A data directory in which every page was visited often enough to know its noise.
fn visited() -> (Site, Place) {
    let (site, place) = (Site::serve(answer), Place::new());
    let running = place.start(&format!(
        "crawl http://a.test/ --delay 5ms --recrawl 300ms --quiet {}",
        site.flags()
    ));
    wait_until("eight visits", || site.asked("a.test/clock").len() > 7);
    running.signal(Signal::INT);
    running.wait().expect(11);
    (site, place)
}

/// The page with the clock alone, with second looks.
fn visited_with_second_looks() -> (Site, Place) {
    let (site, place) = (Site::serve(answer), Place::new());
    let running = place.start(&format!(
        "crawl http://a.test/clock --delay 5ms --recrawl 300ms --quiet {}",
        site.flags_with_second_looks()
    ));
    wait_until("ten visits", || site.asked("a.test/clock").len() > 9);
    running.signal(Signal::INT);
    running.wait().expect(11);
    (site, place)
}

#[test]
fn words_that_changed_are_told_stopped_and_running() {
    let (site, place) = visited();
    let visits = place.history("http://a.test/edited");
    let (older, newest) = (colour(visits.len() - 2), colour(visits.len() - 1));
    let said = place.run("diff http://a.test/edited").expect(0).out;
    let change = format!("News The tower is [-{older}-] {{+{newest}+}} today word0");
    let on_one_line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(on_one_line.contains(&change), "{said}");
    assert!(said.contains("word0 word1 word2 word3 word4 word5 word6 \u{2026}"), "{said}");
    assert!(said.ends_with("1 of 46 words deleted, 1 inserted\n"), "{said}");
    let painted = place.run("diff http://a.test/edited --color always").expect(0).out;
    assert!(painted.contains(&format!("\u{1b}[32m{newest}\u{1b}[0m")), "{painted:?}");

    let first = visits[0]["time"].as_str().unwrap();
    let from_first = format!("diff a.test/edited --from {first} --json");
    let line = place.run(&from_first).expect(0).json();
    assert_eq!(line["from"]["since"], first);
    assert_eq!((&line["deleted"], &line["inserted"]), (&json!(1), &json!(1)));
    assert_eq!(line["changes"][0][1], json!({"deleted": "red"}));
    assert_eq!(line["changes"][0][2], json!({"inserted": newest}));
    place.run("diff http://a.test/edited --exit-code").expect(10);
    let same = format!("diff a.test/edited --from {first} --to {first} --exit-code");
    assert!(place.run(&same).expect(0).out.contains("no significant change"));

    let crawl = place.start(&format!("crawl --quiet --recrawl 1d {}", site.flags()));
    wait_until("the door to open", || place.data().join("control.sock").exists());
    let running = place.run(&from_first).expect(0).json();
    assert_eq!(running["changes"][0][1], line["changes"][0][1]);
    place.run("diff http://a.test/edited --exit-code").expect(10);
    place.run("diff http://a.test/nowhere").expect(1).explains(&["is not known"]);
    drop(crawl);
}

#[test]
fn what_is_no_change_of_words_is_told_from_what_cannot_be_compared() {
    let (_site, place) = visited();
    let markup = place.run("diff http://a.test/markup --exit-code").expect(0).out;
    assert!(markup.contains("no significant change; the bytes differ"), "{markup}");
    let twin = place.run("diff http://a.test/twin").expect(0).out;
    assert!(twin.contains("{+Always the same+}"), "{twin}");
    let (_site, with_second_looks) = visited_with_second_looks();
    let clock = with_second_looks.run("diff http://a.test/clock --exit-code").expect(10).out;
    // Which visits were in doubt depends on whether the clock happens to be right.
    assert!(clock.contains("It is (-12:0") && clock.contains("(+12:0"), "{clock}");
    assert!(clock.contains("The mayor [-entered-] {+left+} the office"), "{clock}");
    assert!(clock.contains("1 of 9 words deleted, 1 inserted; 2 ignored"), "{clock}");
    let evil = place.run("diff http://a.test/evil --color always").expect(0).out;
    assert!(!evil.contains("\u{1b}[2J") && !evil.contains('\u{7}'), "{evil:?}");
    for (words, code, explained) in [
        ("diff http://a.test/same", 1, "only one version"),
        ("diff http://a.test/gone", 1, "only one version"),
        ("diff http://a.test/edited --from 2000-01-01", 1, "the first version is of"),
        ("diff http://a.test/edited --from soon", 2, "is not a valid time"),
        ("diff http://a.test/never", 1, "is not known"),
        ("diff http://a.test/picture", 1, "no text to compare"),
    ] {
        place.run(words).expect(code).explains(&[explained]);
    }
    let visits = place.history("http://a.test/edited");
    let (first, last) = (&visits[0]["time"], &visits[visits.len() - 1]["time"]);
    let turned = format!(
        "diff http://a.test/edited --from {} --to {}",
        last.as_str().unwrap(),
        first.as_str().unwrap()
    );
    place.run(&turned).expect(2).explains(&["--from is later than --to"]);
    for file in place.archive_files(".warc.gz") {
        std::fs::remove_file(file).unwrap();
    }
    place.run("diff http://a.test/edited").expect(1).explains(&["cannot read the record"]);
}
