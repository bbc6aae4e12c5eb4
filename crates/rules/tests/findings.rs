use evercrawl_rules::{
    Finding, Materials, Observation, PageVersion, Phrases, Rules, Watch, Works, word_changes,
};

fn watch(lines: &str) -> Watch {
    Rules::read(&format!("[watch.w]\n{lines}")).unwrap().watches.remove(0)
}

fn version(html: &str) -> PageVersion {
    let text = evercrawl_regions::Region::new("body", &[] as &[&str]).unwrap().read(html);
    PageVersion { html: Some(html.to_owned()), text: text.unwrap().text }
}

fn judge(lines: &str, before: &str, now: &str) -> Option<Finding> {
    let (before, now) = (version(before), version(now));
    let words = word_changes(&before.text, &now.text);
    let seen = Observation {
        url: "http://a.test/x",
        host: "a.test",
        change: "changed",
        status: Some(200),
        before: Some(&before),
        now: Some(&now),
        news: Some(&words),
        ..Observation::default()
    };
    watch(lines).judge(&seen, &Materials::default(), &|_| false)
}

fn offer(price: &str, state: &str) -> String {
    format!(
        r#"<title>Soup</title><script type=application/ld+json>{{"@type":"Product","offers":{{"price":{price},
        "priceCurrency":"EUR","availability":"{state}"}}}}</script><p>Soup for {price} €<p class=t>at {price}{price}"#
    )
}

#[test]
fn conditions_hold_of_changes() {
    let (a, b) = (offer("120", "InStock"), offer("95", "OutOfStock"));
    for (when, holds) in [
        ("price < 100", true),
        ("price < 90", false),
        ("price_change <= -10%", true),
        ("price_change <= -30%", false),
        ("price_change > 0%", false),
        ("availability = out_of_stock", true),
        ("availability != out_of_stock", false),
        ("currency = eur and price_before = 120", true),
        ("status >= 200 and status < 300", true),
        ("change", true),
        ("change = gone", false),
        ("words_added > 0 and words_removed >= 2", true),
        ("score >= 90%", false),
        ("score >= 20%", true),
        ("appears '95 €'", true),
        ("appears 'soup'", false),
        ("disappears \"soup FOR 120\"", true),
        ("contains 'soup-for'", true),
        ("not contains 'bread'", true),
        ("title contains 'sou'", false),
        ("title = soup and host = a.test", true),
        ("url contains 'test'", true),
        ("unchanged_for > 1d or gone_for > 1d or refused", false),
        ("price", true),
    ] {
        assert_eq!(judge(&format!("when = {when:?}"), &a, &b).is_some(), holds, "{when}");
    }
}

#[test]
fn a_finding_shows_what_changed() {
    let (a, b) = (offer("120", "InStock"), offer("95", "InStock"));
    let found = judge("when = 'price < 100'", &a, &b).unwrap();
    assert_eq!(found.fields["price"], "120 EUR → 95 EUR");
    assert_eq!(
        (found.evidence.as_str(), found.held_before, found.title.as_deref()),
        ("price=95", false, Some("Soup"))
    );
    let words = judge("when = 'change'", &a, &b).unwrap();
    assert_eq!(words.quote, "− Soup for 120 € at 120120\n+ Soup for 95 € at 9595");
    assert!(words.evidence.is_empty());
    let still = judge("when = 'price < 100'", &b, &b.replace("Soup for", "Bread for")).unwrap();
    assert!(still.held_before, "the price was low before");
    let said = judge("when = \"contains 'for 95'\"", &a, &b).unwrap();
    assert_eq!((said.quote.as_str(), said.held_before), ("Soup for 95 €", false));
}

#[test]
fn a_region_is_watched_alone_and_its_loss_is_a_fault() {
    let (a, b) = (offer("120", "InStock"), offer("95", "InStock"));
    let region = "region = { css = 'p', without = ['.t'] }\n";
    assert_eq!(
        judge(&format!("{region}when = 'change'"), &a, &b).unwrap().quote,
        "− Soup for 120 €\n+ Soup for 95 €"
    );
    let clock = b.replace("9595", "12:04");
    assert_eq!(
        judge(&format!("{region}when = 'change'"), &b, &clock),
        None,
        "only what is left out changed"
    );
    let seen = judge(
        "region = '.price'\nwhen = 'price < 3'",
        "<p class=price>3,20 €",
        "<p class=price>2,90 €",
    );
    assert_eq!(seen.unwrap().fields["price"], "3.20 EUR → 2.90 EUR", "as readers see it");
    let lost = judge("region = '#gone'", &a, &b).unwrap();
    assert!(lost.region_missing && lost.held_before && lost.quote.contains("#gone"));
    assert!(!judge("region = '.t'", &a, &b.replace("class=t", "")).unwrap().held_before);
}

#[test]
fn what_is_declared_is_seen_beneath_noise() {
    let (a, b) = (version(&offer("120", "InStock")), version(&offer("95", "InStock")));
    let seen =
        Observation { change: "same", before: Some(&a), now: Some(&b), ..Observation::default() };
    let judge = |lines: &str| watch(lines).judge(&seen, &Materials::default(), &|_| false);
    assert!(judge("when = 'price < 100'").is_some());
    assert!(judge("region = 'p'\nwhen = 'change'").is_some());
    assert!(judge("when = 'words_added > 0'").is_none(), "words outside a region are masked");
    assert!(watch("when = 'price < 100'").looks_beneath_noise());
    assert!(!watch("when = 'words_added > 0'").looks_beneath_noise());
}

#[test]
fn phrases_and_copies_are_quoted_and_false_alarms_teach() {
    let text: String = (0..80).map(|n| format!("word{} ", n * 31 % 97)).collect();
    let mut works = Works::default();
    works.add("novel.txt", &text);
    let materials =
        Materials { phrases: Some(Phrases::read("Acme Cola").unwrap()), works: Some(works) };
    let now = PageVersion {
        html: None,
        text: format!("Hello\nBuy ACME-cola here\n{text}\nacme cola too"),
    };
    let seen = Observation { change: "new", now: Some(&now), ..Observation::default() };
    let both = watch("phrases = 'p'\nworks = 'w'");
    let found = both.judge(&seen, &materials, &|_| false).unwrap();
    assert_eq!(found.quote, "Buy ACME-cola here");
    assert_eq!(
        (found.fields["phrase"].as_str(), found.fields["copied_words"].as_str()),
        ("Acme Cola", "80 of novel.txt")
    );
    let taught = both.judge(&seen, &materials, &|quote| quote.starts_with("Buy")).unwrap();
    assert_eq!(taught.quote, "acme cola too");
    let copies = watch("works = 'w'");
    let found = copies.judge(&seen, &materials, &|_| false).unwrap();
    assert!(found.quote.starts_with("word0 word31"));
    assert_eq!(copies.judge(&seen, &materials, &|quote| quote == found.quote), None);
}

#[test]
fn silence_is_told_once_an_episode() {
    let silent = watch("when = 'unchanged_for > 14d or gone_for > 1d or refused'");
    let mut seen = Observation {
        change: "same",
        unchanged: Some((15.0 * 86400.0, "2026-01-01")),
        ..Observation::default()
    };
    let found = silent.judge(&seen, &Materials::default(), &|_| false).unwrap();
    assert_eq!(found.fields["unchanged_for"], "15 d");
    assert!(found.held_before && found.evidence.contains("2026-01-01"));
    seen.unchanged = Some((86400.0, "2026-01-01"));
    assert_eq!(silent.judge(&seen, &Materials::default(), &|_| false), None);
    seen.refused = true;
    assert!(silent.judge(&seen, &Materials::default(), &|_| false).is_some());
}

#[test]
fn the_first_look_at_a_page_is_no_change() {
    let now = version("<p>sold out, 5 €");
    let seen = Observation { change: "new", now: Some(&now), ..Observation::default() };
    for (lines, told) in [
        ("when = 'change'", false),
        ("when = 'change = new'", true),
        ("when = \"appears 'sold out'\"", false),
        ("when = \"contains 'sold out'\"", true),
        ("region = 'p'\nwhen = 'words_added > 0 or change'", false),
    ] {
        let found = watch(lines).judge(&seen, &Materials::default(), &|_| false);
        assert_eq!(found.is_some(), told, "{lines}");
    }
}

#[test]
fn pages_are_chosen_by_tag_host_and_address() {
    let tags = ["shop".to_owned()];
    for (lines, wanted) in [
        ("tag = 'shop'", true),
        ("tag = ['x', 'shop']", true),
        ("tag = 'x'", false),
        ("host = 'a.test'", true),
        ("host = 'test'", true),
        ("host = 'est'", false),
        ("url = '/x$'", true),
        ("url = '^/x'", false),
        ("tag = 'shop'\nhost = 'b.test'", false),
        ("except = { host = 'a.test' }", false),
        ("tag = 'shop'\nexcept = { url = '/y' }", true),
        ("", true),
    ] {
        assert_eq!(
            watch(lines).is_about("http://a.test:8080/x", "a.test:8080", &tags),
            wanted,
            "{lines}"
        );
    }
}
