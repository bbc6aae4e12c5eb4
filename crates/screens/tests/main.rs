//! What must hold of every screen, with views of a real crawl and with hostile ones?
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failing test panics")]

mod contrast;
mod gallery;

use std::collections::BTreeSet;

use gallery::{HOSTILE, every_screen};

/// What the user wrote into the form for a new collection, as it comes back.
const TEXT_AREA: &str = "spellcheck=\"false\">\u{202e}";

/// The values of an attribute, in their order.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    html.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn a_screen_is_light_and_has_nothing_inline_and_nothing_from_elsewhere() {
    for (name, html) in every_screen("h5.test") {
        let most = if name == "report" { 120_000 } else { 60_000 };
        assert!(html.len() < most, "{name} weighs {} bytes", html.len());
        assert!(!html.contains(" style=") && !html.contains(" onclick="), "{name}");
        if name != "report" {
            assert!(!html.contains("<style"), "{name}");
            assert_eq!(
                html.matches("<script").count(),
                html.matches("<script type=\"module\" src=\"/assets/").count()
            );
        }
        let hrefs = values(&html, "href");
        for address in values(&html, "src").iter().chain(&hrefs).chain(&values(&html, "action")) {
            let own = address.starts_with('/') || address.starts_with('#');
            assert!(own || address.starts_with("http://h"), "{name}: {address}");
        }
    }
}

#[test]
fn ids_are_unique_and_references_to_them_lead_somewhere() {
    for (name, html) in every_screen("h5.test") {
        let ids = values(&html, "id");
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        let twice: Vec<&&str> =
            ids.iter().filter(|id| ids.iter().filter(|other| other == id).count() > 1).collect();
        assert!(twice.is_empty(), "{name}: {twice:?}");
        for attribute in ["for", "aria-labelledby", "aria-describedby"] {
            for id in values(&html, attribute).iter().flat_map(|list| list.split(' ')) {
                assert!(unique.contains(id), "{name}: {attribute}={id}");
            }
        }
    }
}

/// A page without what is in its fields and forms, which must come back as it was.
fn without_values(html: &str) -> String {
    let mut parts = html.split(" value=\"");
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| part.split_once('"').map_or("", |(_, rest)| rest)).collect::<String>()
}

#[test]
fn text_of_others_is_only_text_on_every_screen() {
    for (name, html) in every_screen(HOSTILE) {
        let html = without_values(&html).replace(TEXT_AREA, "");
        let in_tags: String = html.split('<').filter_map(|tag| tag.split('>').next()).collect();
        assert!(!in_tags.contains("\" onmouseover="), "{name}");
        for raw in ["<script>alert", "\u{202e}", "=\"javascript:"] {
            let at = html.find(raw);
            let around = at.map(|at| html[..at].chars().rev().take(80).collect::<Vec<_>>());
            assert!(
                at.is_none(),
                "{name} shows {raw:?} after {:?}",
                around.map(|text| text.iter().rev().collect::<String>())
            );
        }
    }
    let pages = every_screen(HOSTILE);
    let shown = pages.iter().filter(|(_, html)| html.contains("U+202E")).count();
    assert!(shown > 6, "the hostile host is shown on {shown} screens only");
}

#[test]
fn every_control_has_a_name() {
    for (name, html) in every_screen("h5.test") {
        for (at, tag) in
            ["<input", "<select", "<textarea"].iter().flat_map(|tag| html.match_indices(tag))
        {
            let whole = html[at..].split('>').next().unwrap();
            if whole.contains("type=\"hidden\"") {
                continue;
            }
            let labelled = values(whole, "id")
                .first()
                .is_some_and(|id| html.contains(&format!("for=\"{id}\"")));
            let before = &html[..at];
            let inside =
                before.rfind("<label").is_some_and(|label| !before[label..].contains("</label>"));
            assert!(labelled || inside, "{name}: {tag} has no label: {whole}");
        }
    }
}

#[test]
fn forms_carry_the_token_and_who_may_only_read_gets_none() {
    for (name, html) in every_screen("h5.test") {
        let forms = html.matches("method=\"post\" action=\"/c/").count();
        assert!(html.matches("name=\"form_token\"").count() >= forms, "{name}");
    }
    for (name, html) in gallery::for_readers() {
        assert!(!html.contains("method=\"post\""), "{name}");
    }
}
