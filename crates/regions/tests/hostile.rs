use std::fmt::Write;
use std::time::{Duration, Instant};

use evercrawl_regions::Region;

/// Reads a page twice as long in not much more than twice the time.
#[track_caller]
#[allow(clippy::disallowed_methods, reason = "the time that it takes is what is tested")]
fn takes_linear_time(what: &str, css: &str, page: impl Fn(usize) -> String) {
    let region = Region::new(css, &[".cut"]).unwrap();
    let time = |count| {
        let html = page(count);
        let start = Instant::now();
        region.read(&html);
        start.elapsed()
    };
    let short = (0..3).map(|_| time(2_000)).min().unwrap();
    let most = short.max(Duration::from_millis(4)) * 8 * 4;
    // A busy machine makes some runs slow, and a slow reader all of them.
    let runs = (0..6).map(|_| time(16_000));
    let longs: Vec<Duration> = runs.take_while(|long| *long >= most).collect();
    assert!(longs.len() < 6, "{what}: {short:?} for 2,000, {longs:?} for 16,000");
}

#[test]
fn hostile_pages_take_linear_time() {
    let css = "div div > span ~ p:not(div span):has(> b), [x] p:nth-last-of-type(2)";
    let many = |piece: &'static str| move |count: usize| piece.repeat(count);
    takes_linear_time("nested", css, many("<div>"));
    takes_linear_time("nested and closed", css, |count| {
        "<div>".repeat(count) + &"</div>".repeat(count)
    });
    takes_linear_time("siblings", css, many("<p>a<span>b</span>"));
    takes_linear_time("tables", css, many("<table><tr><td>a"));
    takes_linear_time("formatting", css, many("<b><i>a</b></p><p>"));
    takes_linear_time("ends without starts", css, many("</div></b></p></td>"));
    takes_linear_time("chosen", "p", many("<p>a"));
    takes_linear_time("cut", "div", |count| {
        "<div>".to_owned() + &"a<i class=cut>b</i>".repeat(count)
    });
    takes_linear_time("attributes", css, |count| {
        let mut html = "<p ".to_owned();
        (0..count).for_each(|n| write!(html, "a{n} ").unwrap());
        html + ">"
    });
    takes_linear_time("names", css, |count| {
        let mut html = String::new();
        (0..count).for_each(|n| write!(html, "<x{n}>").unwrap());
        html
    });
    takes_linear_time("drawings", css, many("<svg><p>a<math><title>"));
}

#[test]
fn megabytes_are_read_in_part() {
    let html = "<p>é</p>".repeat(2 << 20);
    let content = Region::new("p", &[] as &[&str]).unwrap().read(&html).unwrap();
    assert!(content.elements > 100_000 && content.html.len() < 9 << 20);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]
    #[test]
    fn any_tags_are_read_and_parts_stand_in_the_page(
        html in "(<(/?)(a|b|p|div|li|ul|tr|td|table|h1|body|html|title|svg|script|template|br|select|option)\
            ( class=x| id=y)?/?>|[a é,.&;<\r\n]{0,9}){0,60}",
        css in "(p|div|li|\\*|\\.x|#y|td|svg)([ >+~](p|b|\\.x|:not\\(div\\))){0,3}",
    ) {
        let region = Region::new(&css, &[] as &[&str]).unwrap();
        if let Some(content) = region.read(&html) {
            for part in content.html.split('\n') {
                proptest::prop_assert!(html.contains(part));
            }
        }
    }

    #[test]
    fn any_text_is_a_selector_or_not(css in "[a-z.#:\\[\\]()>+~,*=\"'\\\\ 0-9n/é-]{0,40}") {
        let _ = Region::new(&css, &[] as &[&str]);
    }
}
